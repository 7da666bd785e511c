/*
 * 4-bit weights with a scale and a zero point per group of 32, unpacked to halves
 * by the trick of LLM kernels: LOP3 puts a nibble into the mantissa of 1024.0, HADD2
 * takes the 1024 off again.
 */
#include <cuda_fp16.h>

#define COLS 128

static __device__ __half2 as_half2(unsigned u)
{
    return *reinterpret_cast<__half2 *>(&u);
}

extern "C" __global__ void dot_int4(const uint4 *w, const __half2 *scale, const __half2 *x,
                                    float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 bias = as_half2(0x64006400); /* 1024, 1024 */
    float sum = 0;

    for (int g = 0; g < COLS / 32; g++) {
        uint4 v = w[row * (COLS / 32) + g];
        unsigned word[4] = {v.x, v.y, v.z, v.w};
        __half2 sz = scale[row * (COLS / 32) + g]; /* scale and zero point */
        __half2 zero = __high2half2(sz);
        float part = 0;
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) { /* nibbles j and j + 4 make a pair */
                __half2 n = as_half2((word[i] >> (4 * j) & 0x000f000f) | 0x64006400);
                __half2 p = __hmul2(__hsub2(__hsub2(n, bias), zero), x[g * 16 + i * 4 + j]);
                part += __low2float(p) + __high2float(p);
            }
        sum += part * __low2float(sz);
    }
    y[row] = sum;
}
