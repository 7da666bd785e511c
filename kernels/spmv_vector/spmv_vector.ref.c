/* Reference of spmv_vector: the dense product in integers. */
#include "../common/ref.h"

enum { ROWS = 60, COLS = 300, CAPACITY = 2500 };

int main(int argc, char **argv)
{
    static int64_t dense[ROWS][COLS];
    static int32_t start[ROWS + 1], col[CAPACITY];
    static double val[CAPACITY], x[COLS], y[64];
    int32_t n = 0;

    ref_init(argc, argv);
    for (unsigned r = 0; r < ROWS; r++) {
        start[r] = n;
        for (int k = (int)ref_uniform_int(209, r, 0, 40); k > 0; k--, n++) {
            int64_t v = ref_uniform_int(210, (uint64_t)n, -1000000, 1000000);
            col[n] = (int32_t)ref_uniform_int(211, (uint64_t)n, 0, COLS - 1);
            val[n] = (double)v;
            dense[r][col[n]] += v;
        }
    }
    start[ROWS] = n;
    for (unsigned c = 0; c < COLS; c++)
        x[c] = (double)ref_uniform_int(212, c, -1000000, 1000000);
    for (unsigned r = 0; r < ROWS; r++) {
        int64_t sum = 0;
        for (unsigned c = 0; c < COLS; c++)
            sum += dense[r][c] * ref_uniform_int(212, c, -1000000, 1000000);
        y[r] = (double)sum;
    }
    REF_WRITE("start.bin", start);
    REF_WRITE("col.bin", col);
    REF_WRITE("val.bin", val);
    REF_WRITE("x.bin", x);
    REF_WRITE("y.bin", y);
    return 0;
}
