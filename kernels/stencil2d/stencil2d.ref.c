/* Reference of stencil2d; the scalings by powers of two are exact. */
#include "../common/ref.h"

enum { W = 64, H = 48 };

static float at(int x, int y)
{
    if (x < 0 || x >= W || y < 0 || y >= H)
        return 0.0f;
    return (float)ref_uniform(14, (uint64_t)(y * W + x), -1.0, 1.0);
}

int main(int argc, char **argv)
{
    static float out[H][W];

    ref_init(argc, argv);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float sum = (at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1));
            out[y][x] = 0.125f * sum + 0.5f * at(x, y);
        }
    REF_WRITE("out.bin", out);
    return 0;
}
