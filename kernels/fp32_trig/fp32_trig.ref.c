/*
 * Reference of fp32_trig: double functions of libm, rounded.  sin(pi x) and cos(pi x)
 * reduce x exactly first.
 */
#include "../common/ref.h"

enum { N = 256 };

static double sinpi_of(double x, int quarter)
{
    if (!isfinite(x))
        return NAN;
    double r = remainder(x, 2.0); /* exact, in [-1, 1] */
    const double pi = acos(-1.0);

    if (quarter) /* cos(pi r) */
        return fabs(r) == 0.5 ? 0.0 : fabs(r) < 0.25 ? cos(pi * r) : sin(pi * (0.5 - fabs(r)));
    if (r == 0 || fabs(r) == 1)
        return copysign(0.0, x);
    return fabs(r) > 0.5 ? sin(pi * (copysign(1.0, r) - r)) : sin(pi * r);
}

int main(int argc, char **argv)
{
    static const float special[] = {
        0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1.8p-130f, 1.0f, -1.0f, 0.5f, -0.5f,
        1.5f, 2.0f, 3.0f, 100.5f, 1e7f, 16777216.0f, 3.14159274f, 1.57079637f, 0.785398185f,
        105615.0f, 105616.0f, 1e10f, 3e38f, -3e38f, 16367173.0f * 0x1p72f, 0x1.921fb6p20f, 0x1p127f,
    };
    static const float edge[] = {1.0f, -1.0f, 0.0f, -0.0f, 1.5f, NAN, 0.5f, -0.5f, 0x1p-140f,
                                 1.0f - 0x1p-24f, INFINITY, -INFINITY};
    enum { SPECIAL = sizeof special / sizeof special[0], EDGE = sizeof edge / sizeof edge[0] };
    static float x[N], u[N], s[N], c[N], t[N], sp[N], cp[N], as[N], ac[N], at[N], at2[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        x[i] = (float)ref_uniform(345, i, -30.0, 30.0);
        if (i >= 128) /* large arguments */
            x[i] =
                (float)ldexp(ref_uniform(345, i, -1.0, 1.0), (int)ref_uniform_int(346, i, 10, 128));
        if (i >= 224)
            x[i] =
                (float)ldexp(ref_uniform(345, i, -1.0, 1.0), (int)ref_uniform_int(346, i, -140, 0));
        if (i < SPECIAL)
            x[i] = special[i];
        u[i] = i < 2 * SPECIAL ? edge[i % EDGE] : (float)ref_uniform(347, i, -1.0, 1.0);
        double v = (double)x[i], w = (double)u[i];
        s[i] = (float)sin(v);
        c[i] = (float)cos(v);
        t[i] = (float)tan(v);
        sp[i] = (float)sinpi_of(v, 0);
        cp[i] = (float)sinpi_of(v, 1);
        as[i] = (float)asin(w);
        ac[i] = (float)acos(w);
        at[i] = (float)atan(v);
        at2[i] = (float)atan2(v, w);
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("u.bin", u);
    REF_WRITE("s.bin", s);
    REF_WRITE("c.bin", c);
    REF_WRITE("t.bin", t);
    REF_WRITE("sp.bin", sp);
    REF_WRITE("cp.bin", cp);
    REF_WRITE("as.bin", as);
    REF_WRITE("ac.bin", ac);
    REF_WRITE("at.bin", at);
    REF_WRITE("at2.bin", at2);
    return 0;
}
