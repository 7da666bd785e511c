/*
 * Roots and norms: cbrt, rcbrt, hypot, rhypot, norm3d, in single and double precision;
 * sqrt, division and reciprocal in the directed roundings, exact.
 */
extern "C" __global__ void fp_root(const double *x, const double *y, float *f, double *d,
                                   float *directed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    double a = x[i], b = y[i];
    float s = (float)a, t = (float)b;

    f[i] = cbrtf(s);
    f[n + i] = rcbrtf(s);
    f[2 * n + i] = hypotf(s, t);
    f[3 * n + i] = rhypotf(s, t);
    f[4 * n + i] = norm3df(s, t, 1.0f);
    d[i] = cbrt(a);
    d[n + i] = rcbrt(a);
    d[2 * n + i] = hypot(a, b);
    d[3 * n + i] = rhypot(a, b);
    d[4 * n + i] = rsqrt(fabs(a));
    directed[i] = __fsqrt_ru(fabsf(s));
    directed[n + i] = __fsqrt_rd(fabsf(s));
    directed[2 * n + i] = __fsqrt_rz(fabsf(s));
    directed[3 * n + i] = __fdiv_ru(s, t);
    directed[4 * n + i] = __fdiv_rd(s, t);
    directed[5 * n + i] = __fdiv_rz(s, t);
    directed[6 * n + i] = __frcp_ru(t);
    directed[7 * n + i] = __frcp_rd(t);
    directed[8 * n + i] = __fmaf_ru(s, t, 1.0f);
    directed[9 * n + i] = __fadd_rd(s, t);
    directed[10 * n + i] = __fmul_rz(s, t);
}
