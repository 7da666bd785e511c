/*
 * Histogram straight into global memory: every element is one atomicAdd whose
 * result is not used (RED), with heavy contention inside and between warps.
 */
extern "C" __global__ void hist_global(const unsigned *data, unsigned *hist, unsigned n)
{
    unsigned stride = gridDim.x * blockDim.x;

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&hist[data[i] & 63], 1u);
}
