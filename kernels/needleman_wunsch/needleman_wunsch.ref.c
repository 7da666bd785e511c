/*
 * Reference of needleman_wunsch: row by row, with the moves recorded on the way and
 * followed from the end.
 */
#include "../common/ref.h"

enum { N = 48 };

int main(int argc, char **argv)
{
    static int16_t score[N + 1][N + 1];
    static char move[N + 1][N + 1], path[2 * N];

    ref_init(argc, argv);
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++) {
            int best = i + j ? INT16_MIN : 0;
            if (j > 0) {
                best = score[i][j - 1] - 2;
                move[i][j] = 'l';
            }
            if (i > 0 && score[i - 1][j] - 2 >= best) {
                best = score[i - 1][j] - 2;
                move[i][j] = 'u';
            }
            if (i > 0 && j > 0) {
                int64_t x = ref_uniform_int(309, (uint64_t)i - 1, 65, 68);
                int64_t y = ref_uniform_int(310, (uint64_t)j - 1, 65, 68);
                int v = score[i - 1][j - 1] + (x == y ? 3 : -2);
                if (v >= best) {
                    best = v;
                    move[i][j] = 'd';
                }
            }
            score[i][j] = (int16_t)best;
        }
    for (int i = N, j = N, n = 0; i + j > 0; n++) {
        path[n] = move[i][j];
        i -= path[n] != 'l';
        j -= path[n] != 'u';
    }
    REF_WRITE("score.bin", score);
    REF_WRITE("path.bin", path);
    return 0;
}
