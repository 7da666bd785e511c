/*
 * Double-precision division, sqrt, exp, log and sin as the compiler expands
 * them: MUFU.RCP64H and RSQ64H seeds with DFMA refinement, slow paths for
 * subnormal and huge operands behind calls, and the Payne-Hanek reduction of
 * huge arguments of sin, which indexes local memory.
 */
extern "C" __global__ void fp64_math(const double *a, const double *b, double *quot, double *root,
                                     double *e, double *l, double *s)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = a[i];

    quot[i] = x / b[i];
    root[i] = sqrt(fabs(x));
    e[i] = exp(x);
    l[i] = log(fabs(x));
    s[i] = sin(x);
}
