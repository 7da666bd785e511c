/* Reference of layernorm: two passes in double. */
#include "../common/ref.h"

enum { ROWS = 16, COLS = 128 };

int main(int argc, char **argv)
{
    static float x[ROWS][COLS], y[ROWS][COLS];

    ref_init(argc, argv);
    for (unsigned r = 0; r < ROWS; r++) {
        double mean = 0, var = 0;
        for (unsigned c = 0; c < COLS; c++) {
            x[r][c] = (float)ref_uniform_int(227, r * COLS + c, -100, 100);
            mean += (double)x[r][c] / COLS;
        }
        for (unsigned c = 0; c < COLS; c++)
            var += ((double)x[r][c] - mean) * ((double)x[r][c] - mean) / COLS;
        for (unsigned c = 0; c < COLS; c++) {
            double g = (double)(float)ref_uniform(228, c, 0.5, 2.0);
            double b = (double)(float)ref_uniform(229, c, -1.0, 1.0);
            y[r][c] = (float)(((double)x[r][c] - mean) / sqrt(var + (double)1e-5f) * g + b);
        }
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("y.bin", y);
    return 0;
}
