/*
 * Trigonometric functions in double precision up to 2^1000 (Payne and Hanek's
 * reduction with a table of 2 / pi), their inverses, hyperbolic functions.
 */
extern "C" __global__ void fp64_trig(const double *in, double *out, double *inv)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    double x = in[i], u = 1.0 / (1.0 + fabs(x)), sn, cs;

    sincos(x, &sn, &cs);
    out[i] = sn;
    out[n + i] = cs;
    out[2 * n + i] = tan(x);
    out[3 * n + i] = atan(x);
    inv[i] = asin(u);
    inv[n + i] = acos(u);
    inv[2 * n + i] = atan2(x, u);
    inv[3 * n + i] = sinh(u);
    inv[4 * n + i] = tanh(u);
    inv[5 * n + i] = asinh(u);
    inv[6 * n + i] = cosh(u);
}
