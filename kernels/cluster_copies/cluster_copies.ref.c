/* In every round the odd CTAs of a cluster get a row, and every CTA what the one before it has. */
#include "../common/ref.h"

enum { GRID = 12, CTAS = 4, ROW = 256, ROUNDS = 3 };

static uint32_t x[GRID * ROW], out[GRID * ROW], sum[ROW];
static uint64_t wide[ROW];

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int i = 0; i < GRID * ROW; i++) x[i] = (uint32_t)ref_splitmix64(5, (uint64_t)i);
    for (int b = 0; b < GRID; b++) {
        int first = b / CTAS * CTAS, before = first + (b - first + CTAS - 1) % CTAS;
        for (int t = 0; t < ROW; t++) {
            uint32_t added = (uint32_t)t;
            for (int k = 0; k < ROUNDS; k++) {
                uint32_t v = before & 1 ? x[(first + k) * ROW + t] : 100u * (uint32_t)before;
                added += v;
                wide[t] += (uint64_t)v << 20;
            }
            out[b * ROW + t] = added;
            sum[t] += added;
        }
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("out.bin", out);
    REF_WRITE("sum.bin", sum);
    REF_WRITE("wide.bin", wide);
    return 0;
}
