/* Reference of stencil3d, in integers. */
#include "../common/ref.h"

enum { NX = 32, NY = 16, NZ = 10 };

static int32_t grid[NZ + 2][NY + 2][NX + 2]; /* the border stays zero */

int main(int argc, char **argv)
{
    static float in[NZ][NY][NX], out[NZ][NY][NX];

    ref_init(argc, argv);
    for (unsigned i = 0; i < NX * NY * NZ; i++) {
        int32_t v = (int32_t)ref_uniform_int(203, i, -1000, 1000);
        grid[i / (NX * NY) + 1][i / NX % NY + 1][i % NX + 1] = v;
        in[i / (NX * NY)][i / NX % NY][i % NX] = (float)v;
    }
    for (int z = 1; z <= NZ; z++)
        for (int y = 1; y <= NY; y++)
            for (int x = 1; x <= NX; x++) {
                int32_t s = -6 * grid[z][y][x];
                s += grid[z - 1][y][x] + grid[z + 1][y][x];
                s += grid[z][y - 1][x] + grid[z][y + 1][x];
                s += grid[z][y][x - 1] + grid[z][y][x + 1];
                out[z - 1][y - 1][x - 1] = (float)s;
            }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
