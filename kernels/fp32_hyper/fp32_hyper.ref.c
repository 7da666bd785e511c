/* Reference of fp32_hyper: double functions of libm, rounded. */
#include "../common/ref.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 2.0f, -2.0f,
                                    0.5f, -0.5f, 0x1p-149f, -0x1p-130f, 88.9f, 89.5f, -89.5f, 1e-5f,
                                    35.0f, 35.1f, 10.05f, -41.1f, -42.5f, 0.54f, 0.56f, 3.4e38f};
    enum { SPECIAL = sizeof special / sizeof special[0] };
    static float x[N], out[9][N];
    static const char *const name[9] = {"sh.bin", "ch.bin", "th.bin", "ash.bin", "ach.bin",
                                        "ath.bin", "ef.bin", "efc.bin", "gam.bin"};

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        x[i] = (float)ref_uniform(351, i, -5.0, 12.0);
        if (i >= 128)
            x[i] = (float)ref_uniform(351, i, -1.0, 1.0);
        if (i >= 192)
            x[i] = (float)ref_uniform(351, i, 1.0, 90.0);
        if (i >= 224)
            x[i] =
                (float)ldexp(ref_uniform(351, i, 0.5, 1.0), (int)ref_uniform_int(352, i, -60, 100));
        if (i < SPECIAL)
            x[i] = special[i];
        double v = (double)x[i];
        out[0][i] = (float)sinh(v);
        out[1][i] = (float)cosh(v);
        out[2][i] = (float)tanh(v);
        out[3][i] = (float)asinh(v);
        out[4][i] = (float)acosh(v);
        out[5][i] = (float)atanh(v);
        out[6][i] = (float)erf(v);
        out[7][i] = (float)erfc(v);
        out[8][i] = (float)tgamma(v);
    }
    REF_WRITE("x.bin", x);
    for (int k = 0; k < 9; k++)
        REF_WRITE(name[k], out[k]);
    return 0;
}
