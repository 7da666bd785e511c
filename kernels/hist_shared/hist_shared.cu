/*
 * Histogram of bytes, counted in shared memory (ATOMS, with many threads of a
 * warp hitting one word) and added to global memory at the end (RED).
 */
extern "C" __global__ void hist_shared(const uchar4 *data, unsigned *hist, unsigned n4)
{
    __shared__ unsigned bins[256];
    unsigned stride = gridDim.x * blockDim.x;

    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += stride) {
        uchar4 v = data[i];
        atomicAdd(&bins[v.x], 1u);
        atomicAdd(&bins[v.y], 1u);
        atomicAdd(&bins[v.z], 1u);
        atomicAdd(&bins[v.w], 1u);
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
        if (bins[b])
            atomicAdd(&hist[b], bins[b]);
}
