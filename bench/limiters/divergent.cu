/* As simpleDivergence of Cheng, Grossman and McKercher, "Professional CUDA C Programming", chapter 3: two kinds of elements with as much work each; neighbouring lanes have
 * different kinds, against warps of one kind. */
__device__ void element(unsigned e, float *out, int n)
{
    float v = (float)(e & 15);

    if (e & 1) {
#pragma unroll 8
        for (int i = 0; i < n; i++)
            v = v * 0.5f + 1.0f;
    } else {
#pragma unroll 8
        for (int i = 0; i < n; i++)
            v = v * 0.25f + 2.0f;
    }
    out[e] = v;
}

extern "C" __global__ void divergent_slow(float *out, int n)
{
    element(blockIdx.x * blockDim.x + threadIdx.x, out, n);
}

extern "C" __global__ void divergent_fast(float *out, int n)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;

    element((t & ~63u) + (t & 31) * 2 + (t >> 5 & 1), out, n);
}
