/* Reference of load_loop. */
#include "../common/ref.h"

enum { BLOCKS = 4, THREADS = 128, ITERS = 32, TABLE = 1024 };

int main(int argc, char **argv)
{
    static uint32_t out[BLOCKS][THREADS];

    ref_init(argc, argv);
    for (unsigned t = 0; t < THREADS; t++) {
        uint32_t sum = 0;
        for (unsigned k = 0; k < ITERS; k++)
            for (unsigned q = 0; q < 4; q++) {
                unsigned e = (t + 32 * k + 256 * q) % TABLE;
                uint32_t v = (uint32_t)ref_uniform_int(19, e, 0, 1000000000);
                sum = q % 2 ? sum ^ v : sum + v;
            }
        for (unsigned b = 0; b < BLOCKS; b++)
            out[b][t] = sum;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
