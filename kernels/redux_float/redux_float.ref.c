/* Reference of redux_float. PTX ISA, "redux.sync": without .NaN a NaN counts only where all inputs are NaN, and a NaN result
 * is 0x7fffffff; +0 is above -0. */
#include "../common/ref.h"
#include <stdbool.h>

enum { N = 256, WARP = 32, FORMS = 8 };

static float operand(uint64_t i)
{
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, 0x1p-149f, -0x1p-149f, 3.4e38f};
    uint64_t warp = i / WARP, lane = i % WARP;

    if (warp == 1 || (warp == 2 && lane % 5 == 1) || (warp == 3 && lane == 31))
        return NAN;
    if (warp == 4)
        return lane % 3 ? 0.0f : -0.0f;
    if (warp == 5 && lane < sizeof special / sizeof special[0])
        return special[lane];
    return (float)ldexp(ref_uniform(1, i, -1.0, 1.0), (int)ref_uniform_int(2, i, -4, 4));
}

/* Whether a is below b. */
static bool below(float a, float b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static uint32_t reduce(const float in[WARP], uint32_t mask, bool max, bool magnitude, bool keep_nan)
{
    bool nan = false, any = false;
    float best = 0;
    uint32_t bits;

    for (int lane = 0; lane < WARP; lane++) {
        float v = magnitude ? fabsf(in[lane]) : in[lane];
        if (!(mask >> lane & 1))
            continue;
        if (isnan(v)) {
            nan = true;
            continue;
        }
        if (!any || (max ? below(best, v) : below(v, best)))
            best = v;
        any = true;
    }
    if (!any || (nan && keep_nan))
        return 0x7fffffff;
    memcpy(&bits, &best, sizeof bits);
    return bits;
}

int main(int argc, char **argv)
{
    static float in[N];
    static uint32_t out[2 * FORMS][N];
    static const uint32_t part = 0x92492492;

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++)
        in[i] = operand(i);
    for (int i = 0; i < N; i++) {
        const float *warp = in + i / WARP * WARP;
        for (int f = 0; f < FORMS; f++) {
            bool max = f & 1, magnitude = f & 2, nan = f & 4;
            out[f][i] = reduce(warp, UINT32_MAX, max, magnitude, nan);
            if (part >> (i % WARP) & 1)
                out[FORMS + f][i] = reduce(warp, part, max, magnitude, nan);
        }
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
