/*
 * a = b + s * c with 128-bit loads and stores in a grid-stride loop.
 * Benchmark of DRAM bandwidth: raise n4 and the buffers for a long run.
 */
extern "C" __global__ void stream_triad(float4 *__restrict__ a, const float4 *__restrict__ b,
                                        const float4 *__restrict__ c, float s, unsigned n4)
{
    unsigned stride = gridDim.x * blockDim.x;

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += stride) {
        float4 x = b[i], y = c[i], z;
        z.x = __fmaf_rn(s, y.x, x.x);
        z.y = __fmaf_rn(s, y.y, x.y);
        z.z = __fmaf_rn(s, y.z, x.z);
        z.w = __fmaf_rn(s, y.w, x.w);
        a[i] = z;
    }
}
