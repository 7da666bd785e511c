/*
 * Reference of fp32_math: double or long double functions of libm, rounded to
 * float.  Rounding twice moves a result by 2^-53 relative at most.
 */
#include <float.h>

#include "../common/ref.h"

enum { N = 256 };

static const float special[] = {
    0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN,
    0x1p-149f, -0x1p-149f, 0x1.8p-130f, FLT_MIN, FLT_MAX, -FLT_MAX,
    1.0f - 0x1p-24f, 1.0f + 0x1p-23f, 0.5f, 2.0f, 0x1p-26f, 0x1p24f,
    88.72f, 88.73f, -87.4f, -103.97f, -104.0f, 0.55f, 9.5f, /* exp and tanh: near their limits */
    3.14159274f, 1.57079637f, 6.28318548f, 105614.9f, 105616.0f, 1e10f, 1e38f, 16367173.0f * 0x1p72f,
};
enum { SPECIAL = sizeof special / sizeof special[0] };

int main(int argc, char **argv)
{
    static float a[N], b[N];
    static float quot[N], root[N], recip[N], ln[N], ex[N], sn[N], cs[N], th[N], rsq[N], pw[N];
    static float fsn[N], fcs[N], fex[N], fln[N], fdiv[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        if (i < SPECIAL) {
            a[i] = special[i];
            b[i] = special[(i * 5 + 3) % SPECIAL];
        } else if (i < 160) {
            a[i] = (float)ref_uniform(28, i, -20.0, 20.0);
            b[i] = (float)ref_uniform(29, i, -4.0, 4.0);
        } else {
            /* any sign and exponent */
            a[i] = (float)ldexp(ref_uniform(30, i, -1.0, 1.0), (int)ref_uniform_int(31, i, -148, 127));
            b[i] = (float)ldexp(ref_uniform(32, i, -1.0, 1.0), (int)ref_uniform_int(35, i, -148, 127));
        }
        double x = (double)a[i];
        double t = (double)(float)ref_uniform(33, i, -3.0, 3.0);
        double u = (double)(float)ref_uniform(34, i, 2.5, 1000.0);

        quot[i] = a[i] / b[i];
        root[i] = sqrtf(fabsf(a[i]));
        recip[i] = 1.0f / a[i];
        ln[i] = (float)log(fabs(x));
        ex[i] = (float)exp(x);
        sn[i] = (float)sin(x);
        cs[i] = (float)cos(x);
        th[i] = (float)tanh(x);
        rsq[i] = (float)(1.0 / sqrt(fabs(x)));
        pw[i] = (float)pow(fabs(x), t);
        fsn[i] = (float)sin(t);
        fcs[i] = (float)cos(t);
        fex[i] = (float)exp(t);
        fln[i] = (float)log(u);
        fdiv[i] = (float)(t / u);
    }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("quot.bin", quot);
    REF_WRITE("root.bin", root);
    REF_WRITE("recip.bin", recip);
    REF_WRITE("ln.bin", ln);
    REF_WRITE("ex.bin", ex);
    REF_WRITE("sn.bin", sn);
    REF_WRITE("cs.bin", cs);
    REF_WRITE("th.bin", th);
    REF_WRITE("rsq.bin", rsq);
    REF_WRITE("pw.bin", pw);
    REF_WRITE("fsn.bin", fsn);
    REF_WRITE("fcs.bin", fcs);
    REF_WRITE("fex.bin", fex);
    REF_WRITE("fln.bin", fln);
    REF_WRITE("fdiv.bin", fdiv);
    return 0;
}
