/* Reference of spmv_scalar: the dense product in integers. */
#include "../common/ref.h"

enum { ROWS = 250, COLS = 200, CAPACITY = 3000 };

int main(int argc, char **argv)
{
    static int64_t dense[ROWS][COLS];
    static int32_t start[ROWS + 1], col[CAPACITY];
    static float val[CAPACITY], x[COLS], y[256];
    int32_t n = 0;

    ref_init(argc, argv);
    for (unsigned r = 0; r < ROWS; r++) {
        start[r] = n;
        for (int k = (int)ref_uniform_int(205, r, 0, 11); k > 0; k--, n++) {
            int64_t v = ref_uniform_int(206, (uint64_t)n, -99, 99);
            col[n] = (int32_t)ref_uniform_int(207, (uint64_t)n, 0, COLS - 1);
            val[n] = (float)v;
            dense[r][col[n]] += v; /* the same column may come twice */
        }
    }
    start[ROWS] = n;
    for (unsigned c = 0; c < COLS; c++)
        x[c] = (float)ref_uniform_int(208, c, -50, 50);
    for (unsigned r = 0; r < ROWS; r++) {
        int64_t sum = 0;
        for (unsigned c = 0; c < COLS; c++)
            sum += dense[r][c] * ref_uniform_int(208, c, -50, 50);
        y[r] = (float)sum;
    }
    REF_WRITE("start.bin", start);
    REF_WRITE("col.bin", col);
    REF_WRITE("val.bin", val);
    REF_WRITE("x.bin", x);
    REF_WRITE("y.bin", y);
    return 0;
}
