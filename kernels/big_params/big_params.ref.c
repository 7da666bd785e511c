/* Reference of big_params: every term is below 2^36, so sums are exact. */
#include "../common/ref.h"

static double word(uint32_t k)
{
    return (double)(k * k * 2654435761u);
}

int main(int argc, char **argv)
{
    static const double head[3] = {1, -200, 3}, tail[5] = {11, 22, 33, 44, 255};
    static double out[2][64];

    ref_init(argc, argv);
    for (uint32_t b = 0; b < 2; b++)
        for (uint32_t i = 0; i < 64; i++) {
            out[b][i] = (i % 8 + 0.5) * word(i * 29 % 480) + head[i % 3];
            out[b][i] += word(479) + tail[i % 5] - 7 - 3000;
            out[b][i] += word(b) + word(160 + b) + word(320 + b);
        }
    REF_WRITE("out.bin", out);
    return 0;
}
