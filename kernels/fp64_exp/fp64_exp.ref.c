/* Reference of fp64_exp: long double functions of libm, rounded; the exact ones in double. */
#include "../common/ref.h"

enum { N = 128 };

int main(int argc, char **argv)
{
    static const double special[] = {
        0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 0.5, -2.5, 709.7, 709.8, -745.1, -745.2,
        1e-300, 170.6, 26.5, 27.3, -7.5,
    };
    enum { SPECIAL = sizeof special / sizeof special[0] };
    static double x[N], y[N], out[8][N], exact[8][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        x[i] = i < 64 ? ref_uniform(359, i, -700.0, 300.0) : ref_uniform(359, i, -6.0, 20.0);
        y[i] = ref_uniform(360, i, -9.0, 9.0);
        if (i < SPECIAL) {
            x[i] = special[i];
            y[i] = special[i * 5 % SPECIAL];
        }
        long double v = (long double)x[i], w = (long double)y[i];
        out[0][i] = (double)expl(v);
        out[1][i] = (double)exp2l(v);
        out[2][i] = (double)exp10l(v);
        out[3][i] = (double)expm1l(v);
        out[4][i] = (double)powl(fabsl(v), w);
        out[5][i] = (double)erfl(v);
        out[6][i] = (double)erfcl(v);
        out[7][i] = (double)tgammal(v);
        exact[0][i] = fma(x[i], y[i], -x[i]);
        exact[1][i] = fmod(x[i], y[i]);
        exact[2][i] = remainder(x[i], y[i]);
        exact[3][i] = nextafter(x[i], y[i]);
        exact[4][i] = round(x[i]);
        exact[5][i] = sqrt(fabs(x[i]));
        exact[6][i] = x[i] / y[i];
        exact[7][i] = ldexp(x[i], (int)i - 60);
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("y.bin", y);
    REF_WRITE("out.bin", out);
    REF_WRITE("exact.bin", exact);
    return 0;
}
