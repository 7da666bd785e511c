extern "C" __global__ void fp32_math(const float *a, const float *b, const float *small,
                                     const float *big, float *quot, float *root, float *recip,
                                     float *ln, float *ex, float *sn, float *cs, float *th,
                                     float *rsq, float *pw, float *fsn, float *fcs, float *fex,
                                     float *fln, float *fdiv)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = b[i];
    float t = small[i]; /* in [-3, 3] */
    float u = big[i];   /* in [2.5, 1000] */

    quot[i] = x / y;
    root[i] = sqrtf(fabsf(x));
    recip[i] = 1.0f / x;
    ln[i] = logf(fabsf(x));
    ex[i] = expf(x);
    sn[i] = sinf(x);
    cs[i] = cosf(x);
    th[i] = tanhf(x);
    rsq[i] = rsqrtf(fabsf(x));
    pw[i] = powf(fabsf(x), t);
    fsn[i] = __sinf(t);
    fcs[i] = __cosf(t);
    fex[i] = __expf(t);
    fln[i] = __logf(u);
    fdiv[i] = __fdividef(t, u);
}
