/* Reference of transpose_naive. */
#include "../common/ref.h"

enum { ROWS = 64, COLS = 96 };

int main(int argc, char **argv)
{
    static float out[COLS][ROWS];

    ref_init(argc, argv);
    for (uint64_t r = 0; r < ROWS; r++)
        for (uint64_t c = 0; c < COLS; c++)
            out[c][r] = (float)ref_uniform(13, r * COLS + c, -1.0, 1.0);
    REF_WRITE("out.bin", out);
    return 0;
}
