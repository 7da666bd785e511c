/*
 * Reference of mufu_sample: double functions of libm, rounded to float, with subnormal inputs and
 * results flushed to zero.
 */
#include "../common/ref.h"

enum { N = 4096 };

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* As sample_input in mufu_sample.cu. */
static uint32_t sample_input(uint32_t i)
{
    uint32_t k = (i >> 2) * 0x9e3779u & 0xffffffu;
    float f;

    if (i % 4 == 0)
        return i * 0x9e3779b1u;
    if (i % 4 == 1)
        return 0x3f800000u + k;
    f = i % 4 == 2 ? (float)k * 0x1p-24f : (float)((int32_t)k - 0x800000) * 0x1p-16f;
    memcpy(&k, &f, sizeof k);
    return k;
}

static double flush(double x)
{
    return fabs(x) < 0x1p-126 ? copysign(0.0, x) : x;
}

static float flushed(double x)
{
    return (float)flush((double)(float)x);
}

int main(int argc, char **argv)
{
    static uint32_t input[N];
    static float rcp[N], rsq[N], root[N], lg2[N], ex2[N], th[N];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        input[i] = sample_input(i);
        double raw = (double)from_bits(input[i]), x = flush(raw);

        rcp[i] = flushed(1.0 / x);
        rsq[i] = flushed(1.0 / sqrt(x));
        root[i] = flushed(sqrt(x));
        lg2[i] = flushed(log2(x));
        ex2[i] = flushed(exp2(x));
        th[i] = (float)tanh(raw);
    }
    REF_WRITE("input.bin", input);
    REF_WRITE("rcp.bin", rcp);
    REF_WRITE("rsq.bin", rsq);
    REF_WRITE("root.bin", root);
    REF_WRITE("lg2.bin", lg2);
    REF_WRITE("ex2.bin", ex2);
    REF_WRITE("tanh.bin", th);
    return 0;
}
