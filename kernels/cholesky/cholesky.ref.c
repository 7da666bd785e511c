/* Reference of cholesky: the factor is made first and squared. */
#include "../common/ref.h"

enum { N = 16, BLOCKS = 2 };

int main(int argc, char **argv)
{
    static float matrix[BLOCKS][N][N], factor[BLOCKS][N][N];

    ref_init(argc, argv);
    for (unsigned b = 0; b < BLOCKS; b++) {
        for (unsigned i = 0; i < N; i++)
            for (unsigned j = 0; j <= i; j++)
                factor[b][i][j] =
                    (float)ref_uniform_int(303, (b * N + i) * N + j, j < i ? -9 : 1, 9);
        for (unsigned i = 0; i < N; i++)
            for (unsigned j = 0; j < N; j++)
                for (unsigned k = 0; k < N; k++)
                    matrix[b][i][j] += factor[b][i][k] * factor[b][j][k];
    }
    REF_WRITE("matrix_in.bin", matrix);
    REF_WRITE("matrix.bin", factor);
    return 0;
}
