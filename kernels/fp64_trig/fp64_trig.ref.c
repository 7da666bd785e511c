/* Reference of fp64_trig: long double functions of libm, rounded. */
#include "../common/ref.h"

enum { N = 128 };

int main(int argc, char **argv)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, 3.141592653589793,
                                     1.5707963267948966, 1e22, 0x1p1000, -0x1.fffffffffffffp1023,
                                     6381956970095103.0 * 0x1p797, 1e5, 1e-300, 0x1p-1074};
    enum { SPECIAL = sizeof special / sizeof special[0] };
    static double x[N], out[4][N], inv[7][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        x[i] = ref_uniform(357, i, -100.0, 100.0);
        if (i >= 64)
            x[i] = ldexp(ref_uniform(357, i, -1.0, 1.0), (int)ref_uniform_int(358, i, 15, 1000));
        if (i < SPECIAL)
            x[i] = special[i];
        double u64 = 1.0 / (1.0 + fabs(x[i]));
        long double v = (long double)x[i], u = (long double)u64;
        out[0][i] = (double)sinl(v);
        out[1][i] = (double)cosl(v);
        out[2][i] = (double)tanl(v);
        out[3][i] = (double)atanl(v);
        inv[0][i] = (double)asinl(u);
        inv[1][i] = (double)acosl(u);
        inv[2][i] = (double)atan2l(v, u);
        inv[3][i] = (double)sinhl(u);
        inv[4][i] = (double)tanhl(u);
        inv[5][i] = (double)asinhl(u);
        inv[6][i] = (double)coshl(u);
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("out.bin", out);
    REF_WRITE("inv.bin", inv);
    return 0;
}
