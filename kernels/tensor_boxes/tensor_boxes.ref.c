/* Tiles out of bounds hold zeros, to which the place in the tile is added like to all others. */
#include "../common/ref.h"

enum { ROWS = 70, COLUMNS = 92, TILE = 32 };

int main(int argc, char **argv)
{
    static uint32_t in[ROWS * COLUMNS], out[ROWS * COLUMNS], sum[TILE * TILE];
    ref_init(argc, argv);
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++) in[i] = i * 2654435761u;
    for (int y = 0; y < 3 * TILE; y++)
        for (int x = 0; x < 3 * TILE; x++) {
            int inside = y < ROWS && x < COLUMNS;
            uint32_t v = (inside ? in[y * COLUMNS + x] : 0) + (uint32_t)(y % TILE + x % TILE);
            if (inside) out[y * COLUMNS + x] = v;
            sum[y % TILE * TILE + x % TILE] += v;
        }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    REF_WRITE("sum.bin", sum);
    return 0;
}
