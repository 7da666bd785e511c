/* Reference of half_funcs: double functions, rounded once. */
#include "../common/ref.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static const double special[16] = {
        0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 0x1p-24, 0x1p-14, 65504.0, -65504.0, 11.09,
        -17.4, 0.5, 2.5, 1000.5,
    };
    static uint16_t in[N], out[13][N], bout[4][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        double v = ldexp(ref_uniform(361, i, -1.0, 1.0), (int)ref_uniform_int(362, i, -14, 10));
        in[i] = ref_f16((long double)(i < 16 ? special[i] : v));
        double x = ref_from_f16(in[i]), b = ref_from_bf16(ref_bf16((long double)x)), a = fabs(x);
        const double f[13] = {exp(x), exp2(x), log(a), log2(a), sqrt(a), 1 / sqrt(a), 1 / x,
                              sin(x), cos(x), x / 3, rint(x), floor(x), trunc(x)};
        const double g[4] = {exp(b), log(fabs(b)), sqrt(fabs(b)), 1 / b};
        for (int k = 0; k < 13; k++)
            out[k][i] = ref_f16((long double)f[k]);
        for (int k = 0; k < 4; k++)
            bout[k][i] = ref_bf16((long double)g[k]);
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    REF_WRITE("bout.bin", bout);
    return 0;
}
