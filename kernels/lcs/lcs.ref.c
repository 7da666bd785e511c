/* Reference of lcs: the recurrence with memory, top down. */
#include "../common/ref.h"

enum { N = 64 };

static int memo[N + 1][N + 1];

static int lcs(uint64_t base, int i, int j)
{
    if (i == N || j == N)
        return 0;
    if (memo[i][j] < 0) {
        int x = lcs(base, i + 1, j), y = lcs(base, i, j + 1);
        if (ref_uniform_int(304, base + (uint64_t)i, 97, 100) ==
            ref_uniform_int(305, base + (uint64_t)j, 97, 100))
            x = 1 + lcs(base, i + 1, j + 1);
        memo[i][j] = x > y ? x : y;
    }
    return memo[i][j];
}

int main(int argc, char **argv)
{
    int32_t length[2];

    ref_init(argc, argv);
    for (uint64_t b = 0; b < 2; b++) {
        memset(memo, -1, sizeof memo);
        length[b] = lcs(b * N, 0, 0);
    }
    REF_WRITE("length.bin", length);
    return 0;
}
