/* Reference of softmax, in double and without the shift by the maximum. */
#include "../common/ref.h"

enum { ROWS = 30, COLS = 100 };

int main(int argc, char **argv)
{
    static float out[ROWS][COLS];

    ref_init(argc, argv);
    for (uint64_t r = 0; r < ROWS; r++) {
        double e[COLS], sum = 0;
        for (uint64_t c = 0; c < COLS; c++) {
            e[c] = exp((double)(float)ref_uniform(15, r * COLS + c, -8.0, 8.0));
            sum += e[c];
        }
        for (uint64_t c = 0; c < COLS; c++)
            out[r][c] = (float)(e[c] / sum);
    }
    REF_WRITE("out.bin", out);
    return 0;
}
