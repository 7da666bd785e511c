/* Reference of fp32_exp: double functions of libm, rounded. */
#include "../common/ref.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static const float special[] = {
        0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1.8p-130f, 0x1p-126f, 1.0f, -1.0f,
        88.7228f, 88.73f, -87.3f, -87.4f, -103.9f, -104.1f, 127.99f, 128.0f, -126.0f, -126.5f,
        -149.0f, -149.6f, -151.0f, 38.53f, 38.54f, -37.9f, -45.1f, -46.0f, 1e-8f, -1e-8f, 0.5f,
        -16.5f, 3.4e38f,
    };
    enum { SPECIAL = sizeof special / sizeof special[0] };
    static float x[N], e[N], e2[N], e10[N], em1[N], scaled[N], fraction[N], rough[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        x[i] = (float)ref_uniform(340, i, -110.0, 90.0);
        if (i >= 128)
            x[i] = (float)ref_uniform(340, i, -2.0, 2.0);
        if (i >= 192)
            x[i] =
                (float)ldexp(ref_uniform(341, i, -1.0, 1.0), (int)ref_uniform_int(342, i, -148, 8));
        if (i < SPECIAL)
            x[i] = special[i];
        double v = (double)x[i];
        int exponent = 0;
        e[i] = (float)exp(v);
        e2[i] = (float)exp2(v);
        e10[i] = (float)exp10(v);
        em1[i] = (float)expm1(v);
        scaled[i] = (float)ldexp(v, (int)(i % 300) - 150);
        double part = frexp(v, &exponent);
        fraction[i] = isfinite(v) ? (float)(part + (double)exponent) : x[i];
        rough[i] = (float)logb(v);
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("e.bin", e);
    REF_WRITE("e2.bin", e2);
    REF_WRITE("e10.bin", e10);
    REF_WRITE("em1.bin", em1);
    REF_WRITE("scaled.bin", scaled);
    REF_WRITE("fraction.bin", fraction);
    REF_WRITE("rough.bin", rough);
    return 0;
}
