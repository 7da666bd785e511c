/* Steps in which one warp of the CTA, another one each time, has eight times the work of the others. What a step exchanges
 * stays inside a warp: slow holds the whole CTA up for it, fast only the warp. */
template <bool CTA>
__device__ void steps(float *out, int n)
{
    __shared__ float cell[256];
    unsigned t = threadIdx.x, warp = t / 32;
    float v = (float)(t & 7);

#pragma unroll 1
    for (int step = 0; step < n; step++) {
        int work = warp == (step & 7) ? 64 : 8;
#pragma unroll 1
        for (int i = 0; i < work; i += 8)
#pragma unroll
            for (int k = 0; k < 8; k++)
                v = v * 0.5f + 1.0f;
        cell[t] = v;
        if (CTA) __syncthreads(); else __syncwarp();
        v += cell[t ^ 1];
        if (CTA) __syncthreads(); else __syncwarp();
    }
    out[blockIdx.x * blockDim.x + t] = v;
}

extern "C" __global__ void barrier_slow(float *out, int n)
{
    steps<true>(out, n);
}

extern "C" __global__ void barrier_fast(float *out, int n)
{
    steps<false>(out, n);
}
