/* Several passes over an array larger than L2: pass by pass, so that all of it comes from DRAM each time, against element
 * by element, so that all passes but the first hit L2. */
__device__ float4 load(const float4 *p)
{
    float4 v;
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
    return v;
}

extern "C" __global__ void dram_slow(const float4 *x, float *out, int chunks, int passes)
{
    unsigned threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

#pragma unroll 1
    for (int p = 0; p < passes; p++)
#pragma unroll 1
        for (int k = 0; k < chunks; k++) {
            float4 v = load(&x[k * threads + t]);
            sum += v.x + v.y + v.z + v.w;
        }
    out[t] = sum;
}

extern "C" __global__ void dram_fast(const float4 *x, float *out, int chunks, int passes)
{
    unsigned threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

#pragma unroll 1
    for (int k = 0; k < chunks; k++)
#pragma unroll 1
        for (int p = 0; p < passes; p++) {
            float4 v = load(&x[k * threads + t]);
            sum += v.x + v.y + v.z + v.w;
        }
    out[t] = sum;
}
