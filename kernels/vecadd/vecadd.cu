/*
 * z = x + y.  The smallest useful kernel: parameters, special registers, a
 * bounds check that is false for part of the last warp, coalesced loads and
 * stores.
 */
extern "C" __global__ void vecadd(const float *x, const float *y, float *z, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        z[i] = x[i] + y[i];
}
