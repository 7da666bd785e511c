/* Sakharnykh, "GPU Pro Tip: Fast Histograms Using Shared Atomics on Maxwell" (NVIDIA blog): 256 bins counted by atomics on
 * global memory, against atomics on a copy in shared memory that each CTA adds to the result. */
extern "C" __global__ void histogram_slow(const unsigned *in, unsigned *out, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned w = in[i];
        for (int b = 0; b < 32; b += 8)
            atomicAdd(&out[w >> b & 255], 1u);
    }
}

extern "C" __global__ void histogram_fast(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned bin[256];

    bin[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned w = in[i];
        for (int b = 0; b < 32; b += 8)
            atomicAdd(&bin[w >> b & 255], 1u);
    }
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bin[threadIdx.x]);
}
