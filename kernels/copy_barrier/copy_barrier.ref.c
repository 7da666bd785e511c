/* Reference of copy_barrier: what each thread sums up, round after round, modulo 2^32. */
#include "../common/ref.h"

enum { ROUNDS = 5, N = 128 };

int main(int argc, char **argv)
{
    static int32_t in[ROUNDS * N];
    static uint32_t out[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < ROUNDS * N; i++)
        in[i] = (int32_t)ref_uniform_int(332, i, -1000, 1000);
    for (int r = 0; r < ROUNDS; r++)
        for (int t = 0; t < N; t++) {
            int other = t / 32 * 32 + (31 - t % 32);
            out[t] = out[t] * 7 + (uint32_t)in[r * N + (other ^ 5)];
            out[t] = out[t] * 3 + (uint32_t)in[r * N + (N - 1 - t)];
        }
    REF_WRITE("out.bin", out);
    return 0;
}
