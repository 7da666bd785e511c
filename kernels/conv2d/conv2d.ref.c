/* Reference of conv2d: floating-point sums, floor and clamping. */
#include "../common/ref.h"

enum { W = 50, H = 20 };

static int clamp(int v, int max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

int main(int argc, char **argv)
{
    static uint8_t out[H][W];

    ref_init(argc, argv);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double sum = 0;
            for (int k = 0; k < 25; k++) {
                int p = clamp(y + k / 5 - 2, H - 1) * W + clamp(x + k % 5 - 2, W - 1);
                sum += (double)ref_uniform_int(226, (uint64_t)k, -60, 81) *
                       (double)ref_uniform_int(225, (uint64_t)p, 0, 255);
            }
            out[y][x] = (uint8_t)fmin(fmax(floor(sum / 256 + 0.5), 0), 255);
        }
    REF_WRITE("out.bin", out);
    return 0;
}
