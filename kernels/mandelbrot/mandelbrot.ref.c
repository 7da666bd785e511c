/*
 * Reference of mandelbrot: z <- z * z + c until |z| > 2, each operation rounded
 * to float as the kernel's source says (the boundary is chaotic).
 */
#include "../common/ref.h"

enum { W = 64, H = 32, LIMIT = 64 };

static uint8_t escape_time(float cr, float ci)
{
    float zr = 0.0f, zi = 0.0f;
    unsigned k = 0;

    while (k < LIMIT && !(zr * zr + zi * zi > 4.0f)) {
        float re = (zr * zr - zi * zi) + cr;
        zi = 2.0f * (zr * zi) + ci;
        zr = re;
        k++;
    }
    return (uint8_t)k;
}

int main(int argc, char **argv)
{
    static uint8_t out[H][W];

    ref_init(argc, argv);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            out[y][x] = escape_time((float)(-2.25 + 3.0 * x / 64.0), (float)(-1.0 + y / 16.0));
    REF_WRITE("out.bin", out);
    return 0;
}
