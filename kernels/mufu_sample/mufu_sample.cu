/*
 * Every operation of the special function unit on a fixed sample of inputs, one input per thread:
 * the bits that no document gives.  The input is a function of the index alone (sample_input), so
 * that two runs compare without a data file.  Quarters of the sample, by index modulo 4: any bit
 * pattern; the mantissas of [1, 4); fractions of [0, 1); [-128, 128).
 *
 * Each .approx form of PTX becomes one MUFU.  sin and cos are multiplied by 1 / (2 pi), rounded
 * towards zero, in front of it; rcp and rsqrt of doubles see and give the high word only.
 */
static __device__ unsigned sample_input(unsigned i)
{
    unsigned k = i >> 2;

    switch (i & 3) {
    case 0: return i * 0x9e3779b1u;
    case 1: return 0x3f800000u + (k * 0x9e3779u & 0xffffffu);
    case 2: return __float_as_uint((float)(k * 0x9e3779u & 0xffffffu) * 0x1p-24f);
    default: return __float_as_uint((float)((int)(k * 0x9e3779u & 0xffffffu) - 0x800000) * 0x1p-16f);
    }
}

#define UNARY(name, ptx)                                                                           \
    static __device__ unsigned name(unsigned x)                                                    \
    {                                                                                              \
        float y;                                                                                   \
        asm(ptx " %0, %1;" : "=f"(y) : "f"(__uint_as_float(x)));                                   \
        return __float_as_uint(y);                                                                 \
    }

#define UNARY64(name, ptx)                                                                         \
    static __device__ unsigned name(unsigned x)                                                    \
    {                                                                                              \
        double y;                                                                                  \
        asm(ptx " %0, %1;" : "=d"(y) : "d"(__hiloint2double((int)x, 0)));                          \
        return (unsigned)__double2hiint(y);                                                        \
    }

UNARY(mufu_rcp, "rcp.approx.ftz.f32")
UNARY(mufu_rsq, "rsqrt.approx.ftz.f32")
UNARY(mufu_sqrt, "sqrt.approx.ftz.f32")
UNARY(mufu_lg2, "lg2.approx.ftz.f32")
UNARY(mufu_ex2, "ex2.approx.ftz.f32")
UNARY(mufu_sin, "sin.approx.ftz.f32")
UNARY(mufu_cos, "cos.approx.ftz.f32")
UNARY(mufu_tanh, "tanh.approx.f32")
UNARY64(mufu_rcp64h, "rcp.approx.ftz.f64")
UNARY64(mufu_rsq64h, "rsqrt.approx.ftz.f64")

extern "C" __global__ void mufu_sample(unsigned *input, unsigned *rcp, unsigned *rsq,
                                       unsigned *root, unsigned *lg2, unsigned *ex2, unsigned *sin,
                                       unsigned *cos, unsigned *tanh, unsigned *rcp64h,
                                       unsigned *rsq64h)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = sample_input(i);

    input[i] = x;
    rcp[i] = mufu_rcp(x);
    rsq[i] = mufu_rsq(x);
    root[i] = mufu_sqrt(x);
    lg2[i] = mufu_lg2(x);
    ex2[i] = mufu_ex2(x);
    sin[i] = mufu_sin(x);
    cos[i] = mufu_cos(x);
    tanh[i] = mufu_tanh(x);
    rcp64h[i] = mufu_rcp64h(x);
    rsq64h[i] = mufu_rsq64h(x);
}
