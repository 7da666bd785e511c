/*
 * The logarithm family in single precision, from subnormals to the largest numbers
 * and closely around 1: log, log2, log10, log1p, and their double versions.
 */
extern "C" __global__ void fp32_log(const float *in, float *e, float *two, float *ten, float *onep,
                                    double *de, double *dtwo, double *dten, double *donep)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];

    e[i] = logf(x);
    two[i] = log2f(x);
    ten[i] = log10f(x);
    onep[i] = log1pf(x);
    de[i] = log((double)x);
    dtwo[i] = log2((double)x);
    dten[i] = log10((double)x);
    donep[i] = log1p((double)x);
}
