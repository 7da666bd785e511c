/*
 * Trigonometric functions in single precision up to the largest arguments, which take
 * the slow path of Payne and Hanek's reduction: sin, cos, tan, sincos, sinpi, cospi
 * and the inverses.
 */
extern "C" __global__ void fp32_trig(const float *in, const float *unit, float *s, float *c,
                                     float *t, float *sp, float *cp, float *as, float *ac,
                                     float *at, float *at2)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], u = unit[i], sn, cs;

    sincosf(x, &sn, &cs);
    s[i] = sn;
    c[i] = cs;
    t[i] = tanf(x);
    sp[i] = sinpif(x);
    cp[i] = cospif(x);
    as[i] = asinf(u);
    ac[i] = acosf(u);
    at[i] = atanf(x);
    at2[i] = atan2f(x, u);
}
