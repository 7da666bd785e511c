/* 64 accumulators in a kernel that may have 40 registers, against one that may have as many as it wants. */
__device__ void accumulate(const float *in, float *out, int n)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    float acc[64], sum = 0;

#pragma unroll
    for (int j = 0; j < 64; j++)
        acc[j] = (float)j;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        float x = in[i * 32 + (t & 31)];
#pragma unroll
        for (int j = 0; j < 64; j++)
            acc[j] = acc[j] * x + 1.0f;
    }
#pragma unroll
    for (int j = 0; j < 64; j++)
        sum += acc[j];
    out[t] = sum;
}

extern "C" __global__ void __maxnreg__(40) spill_slow(const float *in, float *out, int n)
{
    accumulate(in, out, n);
}

extern "C" __global__ void spill_fast(const float *in, float *out, int n)
{
    accumulate(in, out, n);
}
