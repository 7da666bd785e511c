/*
 * Hyperbolic functions and their inverses, error functions and gamma functions in
 * single precision.
 */
extern "C" __global__ void fp32_hyper(const float *in, float *sh, float *ch, float *th, float *ash,
                                      float *ach, float *ath, float *ef, float *efc, float *gam)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];

    sh[i] = sinhf(x);
    ch[i] = coshf(x);
    th[i] = tanhf(x);
    ash[i] = asinhf(x);
    ach[i] = acoshf(x);
    ath[i] = atanhf(x);
    ef[i] = erff(x);
    efc[i] = erfcf(x);
    gam[i] = tgammaf(x);
}
