/* Reference of fp32_pow: double functions of libm, rounded. */
#include "../common/ref.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static const float special[] = {
        0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 2.0f, -3.0f, 0.5f, -0.5f, 0x1p-149f,
        16777216.0f, -8388609.0f, 3.4e38f, 1e-3f,
    };
    static float x[N], y[N], p[N], q[N], mod[N], rem[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        x[i] = (float)ldexp(ref_uniform(348, i, 0.5, 1.0), (int)ref_uniform_int(349, i, -30, 31));
        y[i] = (float)ref_uniform(350, i, -5.0, 5.0);
        if (i >= 192) {
            x[i] = (float)ref_uniform(348, i, 0.9, 1.1);
            y[i] = (float)ref_uniform(350, i, -900.0, 900.0);
        }
        if (i < 128) { /* every pair of the first eleven, roughly */
            x[i] = special[i % 16];
            y[i] = special[(i / 16 * 3 + i) % 16];
        }
        double a = (double)x[i], b = (double)y[i];
        p[i] = (float)pow(a, b);
        q[i] = (float)pow(-fabs(a), rint(b));
        mod[i] = (float)fmod(a, b);
        rem[i] = (float)remainder(a, b);
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("y.bin", y);
    REF_WRITE("p.bin", p);
    REF_WRITE("q.bin", q);
    REF_WRITE("mod.bin", mod);
    REF_WRITE("rem.bin", rem);
    return 0;
}
