/*
 * Reference of fp_root: long double functions of libm, rounded.  A directed result is
 * the neighbour on the right side of the nearest one, decided by exact products.
 */
#include "../common/ref.h"

enum { N = 128 };

/* r moved to the wanted side; above: sign of (r - exact), in exact arithmetic */
static float direct(float r, int above, char mode)
{
    if (!isfinite(r) || above == 0)
        return r;
    if (mode == 'u')
        return above < 0 ? nextafterf(r, INFINITY) : r;
    if (mode == 'd')
        return above > 0 ? nextafterf(r, -INFINITY) : r;
    return r > 0 ? direct(r, above, 'd') : direct(r, above, 'u');
}

static int sign(long double x)
{
    return (x > 0) - (x < 0);
}

int main(int argc, char **argv)
{
    static double x[N], y[N], d[5][N];
    static float f[5][N], o[11][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        /* moderate exponents: quotients and squares stay normal; float operands */
        x[i] =
            (double)(float)ldexp(ref_uniform(353, i, -1.0, 1.0),
                                 (int)ref_uniform_int(354, i, -20, 20));
        y[i] =
            (double)(float)ldexp(ref_uniform(355, i, -1.0, 1.0),
                                 (int)ref_uniform_int(356, i, -20, 20));
        if (i % 8 == 0) /* exact roots and quotients */
            y[i] = (double)(float)ref_uniform_int(355, i, 1, 60), x[i] = y[i] * y[i] * y[i];
        long double a = (long double)x[i], b = (long double)y[i];
        d[0][i] = (double)cbrtl(a);
        d[1][i] = (double)(1 / cbrtl(a));
        d[2][i] = (double)hypotl(a, b);
        d[3][i] = (double)(1 / hypotl(a, b));
        d[4][i] = (double)(1 / sqrtl(fabsl(a)));
        f[0][i] = (float)cbrtl(a);
        f[1][i] = (float)(1 / cbrtl(a));
        f[2][i] = (float)hypotl(a, b);
        f[3][i] = (float)(1 / hypotl(a, b));
        f[4][i] = (float)sqrtl(a * a + b * b + 1);
        float r = sqrtf((float)fabsl(a)), q = (float)x[i] / (float)y[i], p = 1 / (float)y[i];
        int rs = sign((long double)r * (long double)r - fabsl(a));
        int qs = sign((long double)q * b - a) * sign(b);
        int ps = sign((long double)p * b - 1) * sign(b);
        o[0][i] = direct(r, rs, 'u');
        o[1][i] = direct(r, rs, 'd');
        o[2][i] = direct(r, rs, 'z');
        o[3][i] = direct(q, qs, 'u');
        o[4][i] = direct(q, qs, 'd');
        o[5][i] = direct(q, qs, 'z');
        o[6][i] = direct(p, ps, 'u');
        o[7][i] = direct(p, ps, 'd');
        /* the product has 48 bits; the sum with 1 is rounded to odd in 64 if it is longer */
        o[8][i] = (float)ref_round(a * b + 1, 24, -149, ceill);
        o[9][i] = (float)ref_round(a + b, 24, -149, floorl);
        o[10][i] = (float)ref_round(a * b, 24, -149, truncl);
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("y.bin", y);
    REF_WRITE("f.bin", f);
    REF_WRITE("d.bin", d);
    REF_WRITE("directed.bin", o);
    return 0;
}
