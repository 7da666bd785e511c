/* Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops": a CTA of one warp for every 32 elements, against as
 * many warps as the GPU holds, each with several elements. */
extern "C" __global__ void tiny_ctas_slow(const float *x, float *out, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = a * x[i & 16383] + 1.0f;
}

extern "C" __global__ void tiny_ctas_fast(const float *x, float *out, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a * x[i & 16383] + 1.0f;
}
