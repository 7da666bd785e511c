/* Reference of generic_ptr: the spaces differ in their initial words only. */
#include "../common/ref.h"

enum { BLOCKS = 2, THREADS = 64 };

int main(int argc, char **argv)
{
    static uint32_t global[BLOCKS * THREADS][4], out[BLOCKS * THREADS][3], counters[8];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
        uint32_t t = i % THREADS, sum = i, after[4];
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t word[3] = {t + k, 3 * t + k, 1000 + 7 * (4 * i + k)};
            sum = sum * 5 + word[t % 3];
            after[k] = sum;
            global[i][k] = t % 3 == 2 ? sum : word[2];
        }
        out[i][0] = sum;
        out[i][1] = after[t % 3 == 1 ? t % 4 : 2];
        out[i][2] = 1u << t % 3;
        counters[(t % 2 ? 4 : 0) + t / 2 % 4] += t;
    }
    REF_WRITE("global.bin", global);
    REF_WRITE("out.bin", out);
    REF_WRITE("counters.bin", counters);
    return 0;
}
