/*
 * Exponentials, powers, error and gamma functions in double precision; exact
 * functions: fma, fmod, remainder, nextafter, ldexp, rint, round.
 */
extern "C" __global__ void fp64_exp(const double *in, const double *second, double *out,
                                    double *exact)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    double x = in[i], y = second[i];

    out[i] = exp(x);
    out[n + i] = exp2(x);
    out[2 * n + i] = exp10(x);
    out[3 * n + i] = expm1(x);
    out[4 * n + i] = pow(fabs(x), y);
    out[5 * n + i] = erf(x);
    out[6 * n + i] = erfc(x);
    out[7 * n + i] = tgamma(x);
    exact[i] = fma(x, y, -x);
    exact[n + i] = fmod(x, y);
    exact[2 * n + i] = remainder(x, y);
    exact[3 * n + i] = nextafter(x, y);
    exact[4 * n + i] = round(x);
    exact[5 * n + i] = sqrt(fabs(x));
    exact[6 * n + i] = x / y;
    exact[7 * n + i] = ldexp(x, (int)i - 60);
}
