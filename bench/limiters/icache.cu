/* A loop whose body is 80 KiB of code, against the same arithmetic in a body of 1 KiB. */
template <int BODY>
__device__ void chains(float *out, int n)
{
    float v[5];

    for (int k = 0; k < 5; k++)
        v[k] = (float)((threadIdx.x + k) & 15);
#pragma unroll 1
    for (int i = 0; i < n; i += BODY)
#pragma unroll
        for (int j = 0; j < BODY; j++)
            for (int k = 0; k < 5; k++)
                v[k] = v[k] * 0.5f + 1.0f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] + v[1] + v[2] + v[3] + v[4];
}

extern "C" __global__ void icache_slow(float *out, int n)
{
    chains<1024>(out, n);
}

extern "C" __global__ void icache_fast(float *out, int n)
{
    chains<16>(out, n);
}
