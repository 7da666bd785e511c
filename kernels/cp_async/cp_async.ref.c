/* Reference of cp_async: weighted sums down the columns of a zero-extended input. */
#include "../common/ref.h"

enum { BLOCKS = 2, THREADS = 128, TILES = 8, WORDS = 4 * 2011 };

int main(int argc, char **argv)
{
    static uint32_t out[BLOCKS][THREADS];

    ref_init(argc, argv);
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned t = 0; t < THREADS; t++) {
            uint32_t factor = (uint32_t)ref_uniform_int(91, (t + 37) % THREADS, 1, 1000);
            for (unsigned k = 0; k < TILES; k++) {
                unsigned word = 4 * ((b * TILES + k) * THREADS + (t + 1) % THREADS);
                uint32_t dot = 0;
                for (unsigned j = 0; j < 4; j++, word++)
                    if (word < WORDS)
                        dot += (2 * j + 1) * (uint32_t)ref_uniform_int(90, word, 0, 1000000000);
                out[b][t] += dot * factor + k;
            }
        }
    REF_WRITE("out.bin", out);
    return 0;
}
