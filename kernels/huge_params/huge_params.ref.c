/* Reference of huge_params: every term is below 2^36 and a multiple of 1/2, so sums are exact. */
#include "../common/ref.h"

static double word(uint32_t k)
{
    return (double)(uint32_t)(k * k * 2654435761u);
}

int main(int argc, char **argv)
{
    static double out[2][64];

    ref_init(argc, argv);
    for (uint32_t b = 0; b < 2; b++)
        for (uint32_t t = 0; t < 64; t++) {
            uint32_t i = 64 * b + t;
            out[b][t] = 2.5 * word(i * 29 % 1500) + word(i * 37 % 1500) + word(1499) - 7 - 3000;
            for (uint32_t k = 0; k < 1500; k += 250) out[b][t] += word(k + b);
        }
    REF_WRITE("out.bin", out);
    return 0;
}
