/* Reference of mixed_float: fmaf of the C library in the rounding mode of the operation; f16 and bf16 are part of f32. */
#include "../common/ref.h"
#include <fenv.h>

enum { N = 256, FORMS = 11 };

static float operand(uint64_t seed, uint64_t i)
{
    static const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 65504.0f};
    enum { SPECIALS = sizeof special / sizeof special[0] };

    if (i < SPECIALS * SPECIALS) /* pairs of them, c the next of the row */
        return special[seed == 0 ? i % SPECIALS : seed == 1 ? i / SPECIALS : (i + i / SPECIALS) % SPECIALS];
    return (float)ldexp(ref_uniform(seed, i, -1.0, 1.0), (int)ref_uniform_int(seed + 9, i, -9, 5));
}

static float rounded(int mode, float a, float b, float c)
{
    volatile float x = a, y = b, z = c;
    fesetround(mode);
    volatile float r = fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}

static float saturated(float v)
{
    return !(v > 0) ? 0 : v > 1 ? 1 : v; /* NaN becomes 0 */
}

static void forms(float a, float b, float c, float out[][N], uint64_t i)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

    for (int m = 0; m < 4; m++) {
        out[m][i] = rounded(modes[m], a, 1, c);
        out[6 + m][i] = rounded(modes[m], a, b, c);
    }
    out[4][i] = saturated(out[0][i]);
    out[5][i] = rounded(FE_TONEAREST, a, 1, -c);
    out[10][i] = saturated(out[6][i]);
}

int main(int argc, char **argv)
{
    static float in[3][N], out[2 * FORMS][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        for (uint64_t k = 0; k < 3; k++)
            in[k][i] = operand(k, i);
        float a = in[0][i], b = in[1][i], c = in[2][i];
        forms((float)ref_from_f16(ref_f16(a)), (float)ref_from_f16(ref_f16(b)), c, out, i);
        forms((float)ref_from_bf16(ref_bf16(a)), (float)ref_from_bf16(ref_bf16(b)), c, out + FORMS, i);
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
