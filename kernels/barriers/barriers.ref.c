/* Reference of barriers. */
#include "../common/ref.h"

enum { BLOCKS = 3, THREADS = 128, ROUNDS = 6 };

int main(int argc, char **argv)
{
    static int32_t out[BLOCKS][THREADS][6];

    ref_init(argc, argv);
    for (unsigned b = 0; b < BLOCKS; b++) {
        int32_t x[THREADS], odd = 0, all = 1, any = 0, big = 0;
        for (unsigned t = 0; t < THREADS; t++) {
            x[t] = (int32_t)ref_uniform_int(120, b * THREADS + t, 0, 1000);
            odd += x[t] % 2;
            all &= x[t] < 990;
            any |= x[t] % 101 == 0;
            big += t < 100 && x[t] > 500;
        }
        for (unsigned t = 0; t < THREADS; t++) {
            int32_t *o = out[b][t];
            o[0] = t < 64 ? x[(t + 3) % 64] : x[64 + (t + 5) % 64];
            if (t >= 64)
                for (unsigned k = 0; k < ROUNDS; k++)
                    o[1] = o[1] * 3 + x[(t + k) % 64] + (int32_t)k;
            o[2] = odd;
            o[3] = all;
            o[4] = any;
            o[5] = big;
        }
    }
    REF_WRITE("out.bin", out);
    return 0;
}
