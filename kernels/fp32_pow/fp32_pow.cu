/*
 * powf over bases and exponents of every size, with the special cases of C's annex F;
 * fmodf and remainderf, whose results are exact.
 */
extern "C" __global__ void fp32_pow(const float *x, const float *y, float *p, float *q, float *mod,
                                    float *rem)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    p[i] = powf(x[i], y[i]);
    q[i] = powf(-fabsf(x[i]), rintf(y[i])); /* a negative base and an integer */
    mod[i] = fmodf(x[i], y[i]);
    rem[i] = remainderf(x[i], y[i]);
}
