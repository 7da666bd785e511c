/* Reference of fp32_log: long double functions of libm, rounded. */
#include "../common/ref.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static const float special[] = {
        0.0f, -0.0f, INFINITY, -INFINITY, NAN, -1.0f, -0.999999f, -2.0f, 0x1p-149f, -0x1p-149f,
        0x1.8p-130f, 0x1p-126f, 0x1.fffffep127f, 1.0f, 1.0f + 0x1p-23f, 1.0f - 0x1p-24f, 2.0f,
        10.0f, 1000.0f, 0.1f, 0.5f, 1.41421354f, 0.70710677f, 1e-10f, -1e-10f,
    };
    enum { SPECIAL = sizeof special / sizeof special[0] };
    static float x[N], e[N], two[N], ten[N], onep[N];
    static double de[N], dtwo[N], dten[N], donep[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        x[i] = (float)ldexp(ref_uniform(343, i, 0.5, 1.0), (int)ref_uniform_int(344, i, -148, 128));
        if (i >= 160)
            x[i] = (float)ref_uniform(343, i, 0.4, 2.5);
        if (i >= 220)
            x[i] = (float)ref_uniform(343, i, -0.9, 0.9);
        if (i < SPECIAL)
            x[i] = special[i];
        long double v = (long double)x[i];
        e[i] = (float)logl(v);
        two[i] = (float)log2l(v);
        ten[i] = (float)log10l(v);
        onep[i] = (float)log1pl(v);
        de[i] = (double)logl(v);
        dtwo[i] = (double)log2l(v);
        dten[i] = (double)log10l(v);
        donep[i] = (double)log1pl(v);
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("e.bin", e);
    REF_WRITE("two.bin", two);
    REF_WRITE("ten.bin", ten);
    REF_WRITE("onep.bin", onep);
    REF_WRITE("de.bin", de);
    REF_WRITE("dtwo.bin", dtwo);
    REF_WRITE("dten.bin", dten);
    REF_WRITE("donep.bin", donep);
    return 0;
}
