/* Reference of edit_distance: the classical table. */
#include "../common/ref.h"

enum { N = 64 };

int main(int argc, char **argv)
{
    static int32_t distance[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        int m = (int)ref_uniform_int(308, 2 * i, 1, 64);
        int n = (int)ref_uniform_int(308, 2 * i + 1, 1, 64);
        int t[65][65];
        for (int x = 0; x <= m; x++)
            for (int y = 0; y <= n; y++) {
                if (x == 0 || y == 0) {
                    t[x][y] = x + y;
                    continue;
                }
                int differ = ref_uniform_int(306, 64 * i + (uint64_t)x - 1, 64, 71) !=
                             ref_uniform_int(307, 64 * i + (uint64_t)y - 1, 64, 71);
                int best = t[x - 1][y - 1] + differ;
                best = t[x - 1][y] + 1 < best ? t[x - 1][y] + 1 : best;
                t[x][y] = t[x][y - 1] + 1 < best ? t[x][y - 1] + 1 : best;
            }
        distance[i] = t[m][n];
    }
    REF_WRITE("distance.bin", distance);
    return 0;
}
