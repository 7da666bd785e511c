/* Reference of smith_waterman: plain tables, one per scoring. */
#include "../common/ref.h"

enum { N = 32 };

static int left_moves;

static int align(uint64_t pair, int match, int mismatch, int gap)
{
    int s[N + 1][N + 1] = {{0}}, best = 0;

    left_moves = 0;
    for (int x = 1; x <= N; x++)
        for (int y = 1; y <= N; y++) {
            int64_t c = ref_uniform_int(311, pair * N + (uint64_t)x - 1, 0, 3);
            int64_t d = ref_uniform_int(312, pair * N + (uint64_t)y - 1, 0, 3);
            int up = s[x - 1][y] + gap, left = s[x][y - 1] + gap;
            int v = s[x - 1][y - 1] + (c == d ? match : mismatch);
            v = up > v ? up : v;
            v = left > v ? left : v;
            v = v < 0 ? 0 : v;
            left_moves += v > 0 && left == v && left > up;
            s[x][y] = v;
            best = v > best ? v : best;
        }
    return best;
}

int main(int argc, char **argv)
{
    static int32_t best[N], left[N];
    static int16_t best2[N][2];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        best2[i][1] = (int16_t)align(i, 2, -1, -1);
        best2[i][0] = (int16_t)align(i, 3, -3, -2);
        best[i] = best2[i][0];
        left[i] = left_moves;
    }
    REF_WRITE("best.bin", best);
    REF_WRITE("from_left.bin", left);
    REF_WRITE("best2.bin", best2);
    return 0;
}
