/*
 * The exponential family in single precision over the whole range, with subnormal
 * results and overflow: exp, exp2, exp10, expm1, ldexp, frexp, logb.
 */
extern "C" __global__ void fp32_exp(const float *in, float *e, float *e2, float *e10, float *em1,
                                    float *scaled, float *fraction, float *rough)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    int exponent = 0;

    e[i] = expf(x);
    e2[i] = exp2f(x);
    e10[i] = exp10f(x);
    em1[i] = expm1f(x);
    scaled[i] = ldexpf(x, (int)(i % 300) - 150);
    fraction[i] = frexpf(x, &exponent) + (float)exponent;
    rough[i] = logbf(x);
}
