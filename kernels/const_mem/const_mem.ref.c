/* Reference of const_mem, in eighths. */
#include "../common/ref.h"

enum { N = 256, BLOCK = 64, STEP = 3 };

int main(int argc, char **argv)
{
    static const int32_t primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
    static const int32_t device_init[4] = {100, 200, 300, -1};
    static float coeff[16], out[N];
    static int32_t iout[N];
    int64_t eighths[16], strided = 0;
    uint32_t count = 0;

    ref_init(argc, argv);
    for (uint64_t k = 0; k < 16; k++) {
        eighths[k] = ref_uniform_int(101, k, -400, 400);
        coeff[k] = (float)eighths[k] / 8.0f;
        strided += k % STEP == 0 ? eighths[k] : 0;
    }
    for (uint64_t i = 0; i < N; i++) {
        uint32_t x = (uint32_t)ref_uniform_int(100, i, 0, 100000);
        out[i] = (float)(eighths[0] + eighths[STEP] + eighths[x % 16] + strided) / 8.0f;
        iout[i] = 7 + primes[i / BLOCK] + primes[x / 16 % 16] + 100 * (int32_t)(x % 3 + 1);
        count += x % 4;
    }
    REF_WRITE("coeff.bin", coeff);
    REF_WRITE("out.bin", out);
    REF_WRITE("iout.bin", iout);
    REF_WRITE("device_init.bin", device_init);
    ref_write("device_count.bin", &count, sizeof count);
    return 0;
}
