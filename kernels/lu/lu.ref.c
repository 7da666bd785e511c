/*
 * Reference of lu: the factors are made first and multiplied.  |L| < 1 below the
 * diagonal makes the diagonal the unique pivot once rows are swapped.
 */
#include "../common/ref.h"

enum { N = 16, BLOCKS = 2 };

int main(int argc, char **argv)
{
    static double matrix[BLOCKS][N][N], factors[BLOCKS][N][N];
    static int32_t pivot[BLOCKS][N];

    ref_init(argc, argv);
    for (unsigned b = 0; b < BLOCKS; b++) {
        for (unsigned i = 0; i < N; i++)
            for (unsigned j = 0; j < N; j++) {
                int64_t v = ref_uniform_int(301, (b * N + i) * N + j, -3, 3);
                factors[b][i][j] = j < i ? (double)v / 4 : (double)(8 * v + 1);
                if (i == j)
                    factors[b][i][j] = 64.0 + 8 * i;
            }
        for (unsigned i = 0; i < N; i++)
            for (unsigned j = 0; j < N; j++)
                for (unsigned k = 0; k <= (i < j ? i : j); k++)
                    matrix[b][i][j] += (k == i ? 1.0 : factors[b][i][k]) * factors[b][k][j];
        /* undo the exchanges from the last to the first */
        for (unsigned k = N; k-- > 0;) {
            unsigned p = (unsigned)ref_uniform_int(302, b * N + k, k, N - 1);
            pivot[b][k] = (int32_t)p;
            for (unsigned j = 0; j < N; j++) {
                double x = matrix[b][k][j];
                matrix[b][k][j] = matrix[b][p][j];
                matrix[b][p][j] = x;
            }
        }
    }
    REF_WRITE("matrix_in.bin", matrix);
    REF_WRITE("matrix.bin", factors);
    REF_WRITE("pivot.bin", pivot);
    return 0;
}
