/* Reference of bulk_pipeline: every tile backwards, doubled, and one. */
#include "../common/ref.h"

enum { TILE = 512, N = 8 * 5 * TILE };

static float x[N], y[N];

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int i = 0; i < N; i++)
        x[i] = (float)ref_uniform_int(11, (uint64_t)i, -1000, 1000);
    for (int i = 0; i < N; i++)
        y[i] = x[i / TILE * TILE + TILE - 1 - i % TILE] * 2 + 1;
    REF_WRITE("x.bin", x);
    REF_WRITE("y.bin", y);
    return 0;
}
