/* Reference of dot_int8, in 64-bit integers. */
#include "../common/ref.h"

enum { ROWS = 64, COLS = 256 };

int main(int argc, char **argv)
{
    static float scale[ROWS], y[ROWS];
    static int32_t mixed[ROWS], wide[ROWS];

    ref_init(argc, argv);
    for (uint64_t r = 0; r < ROWS; r++) {
        int64_t s = 0, m = 0, h = 0;
        for (uint64_t c = 0; c < COLS; c++) {
            int64_t w = ref_uniform_int(236, r * COLS + c, -128, 127);
            s += w * ref_uniform_int(237, c, -128, 127);
            m += w * ref_uniform_int(238, c, 0, 255);
            h += w * ref_uniform_int(239, c, -32768, 32767);
        }
        scale[r] = ldexpf(1, (int)r % 20 - 10);
        y[r] = (float)s * scale[r];
        mixed[r] = (int32_t)m;
        wide[r] = (int32_t)h;
    }
    REF_WRITE("scale.bin", scale);
    REF_WRITE("y.bin", y);
    REF_WRITE("mixed.bin", mixed);
    REF_WRITE("wide.bin", wide);
    return 0;
}
