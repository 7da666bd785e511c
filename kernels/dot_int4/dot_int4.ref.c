/* Reference of dot_int4: integers, in units of the smallest scale. */
#include "../common/ref.h"

enum { ROWS = 64, COLS = 128, GROUPS = COLS / 32 };

int main(int argc, char **argv)
{
    static uint32_t w[ROWS * COLS / 8];
    static uint16_t scale[ROWS][GROUPS][2], x[COLS];
    static float y[ROWS];

    ref_init(argc, argv);
    for (uint64_t r = 0; r < ROWS; r++) {
        double sum = 0;
        for (uint64_t c = 0; c < COLS; c++) {
            uint64_t at = r * COLS + c, g = r * GROUPS + c / 32;
            /* element 2j of a word is its nibble j, element 2j + 1 nibble j + 4 */
            unsigned shift = (unsigned)(c % 8 / 2 * 4 + c % 2 * 16);
            int64_t q = ref_uniform_int(240, at, 0, 15), z = ref_uniform_int(241, g, 0, 15);
            int64_t v = ref_uniform_int(242, c, -20, 20);
            double s = ldexp(1, (int)ref_uniform_int(243, g, -4, 1));
            w[at / 8] |= (uint32_t)q << shift;
            scale[r][c / 32][0] = ref_f16((long double)s);
            scale[r][c / 32][1] = ref_f16((long double)z);
            x[c] = ref_f16((long double)v);
            sum += s * (double)((q - z) * v);
        }
        y[r] = (float)sum;
    }
    REF_WRITE("w.bin", w);
    REF_WRITE("scale.bin", scale);
    REF_WRITE("x.bin", x);
    REF_WRITE("y.bin", y);
    return 0;
}
