/* FP32, packed FP16 and integer instructions in equal parts: each pipe is taken for two thirds of the time, the issue slots
 * for all of it. The integer part gives the same in every round; fast computes it in the first one only. */
#include <cuda_fp16.h>

template <bool AGAIN>
__device__ void rounds(const unsigned *seed, float *out, int n)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, first = seed[t & 31], s0 = first, s1 = ~first;
    float v0 = 1.0f, v1 = 3.0f, v2 = 5.0f;
    __half2 h0 = __float2half2_rn(1.0f), h1 = __float2half2_rn(3.0f), h2 = __float2half2_rn(5.0f);
    const __half2 half = __float2half2_rn(0.5f), one = __float2half2_rn(1.0f);

#pragma unroll 1
    for (int r = 0; r < 12; r++) {
        if (AGAIN || r == 0) {
            s0 = first;
            s1 = ~first;
#pragma unroll 8
            for (int i = 0; i < n; i++) {
                v0 = v0 * 0.5f + 1.0f;
                s0 = (s0 ^ s1) + 0x9e3779b9u;
                h0 = __hfma2(h0, half, one);
                v1 = v1 * 0.5f + 1.0f;
                s1 = s1 >> 5 ^ s0;
                h1 = __hfma2(h1, half, one);
                v2 = v2 * 0.5f + 1.0f;
                h2 = __hfma2(h2, half, one);
            }
        } else {
#pragma unroll 8
            for (int i = 0; i < n; i++) {
                v0 = v0 * 0.5f + 1.0f;
                h0 = __hfma2(h0, half, one);
                v1 = v1 * 0.5f + 1.0f;
                h1 = __hfma2(h1, half, one);
                v2 = v2 * 0.5f + 1.0f;
                h2 = __hfma2(h2, half, one);
            }
        }
    }
    out[t] = v0 + v1 + v2 + __low2float(h0) + __high2float(h1) + __low2float(h2) + (float)(s0 ^ s1);
}

extern "C" __global__ void issue_slow(const unsigned *seed, float *out, int n)
{
    rounds<true>(seed, out, n);
}

extern "C" __global__ void issue_fast(const unsigned *seed, float *out, int n)
{
    rounds<false>(seed, out, n);
}
