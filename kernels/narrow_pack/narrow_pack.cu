/*
 * Conversions of cuda_fp4.h, cuda_fp6.h and cuda_fp8.h in both directions: from float, double, half and bfloat16,
 * with and without saturation, and of every pattern back. Pairs, and eight FP4 numbers in a word.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#define RN cudaRoundNearest

__device__ unsigned halves(unsigned low, unsigned high)
{
    return low | high << 16;
}

__device__ unsigned raw(__half2_raw h)
{
    return halves(h.x, h.y);
}

__device__ void from_float(float2 f, unsigned *o, unsigned n)
{
    o[0] = halves(__nv_cvt_float2_to_fp4x2(f, __NV_E2M1, RN), __nv_cvt_float2_to_fp4x2(f, __NV_E2M1, cudaRoundZero));
    o[n] = halves(__nv_cvt_float2_to_fp6x2(f, __NV_E2M3, RN), __nv_cvt_float2_to_fp6x2(f, __NV_E3M2, RN));
    o[2 * n] = halves(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, __NV_E4M3),
                      __nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, __NV_E5M2));
    o[3 * n] = halves(__nv_cvt_float2_to_fp8x2(f, __NV_NOSAT, __NV_E4M3),
                      __nv_cvt_float2_to_fp8x2(f, __NV_NOSAT, __NV_E5M2));
    o[4 * n] = halves(__nv_cvt_float2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundZero),
                      __nv_cvt_float2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundPosInf));
    o[5 * n] = halves(__nv_cvt_float2_to_e8m0x2(f, __NV_NOSAT, cudaRoundZero),
                      __nv_cvt_float2_to_e8m0x2(f, __NV_NOSAT, cudaRoundPosInf));
}

__device__ void from_others(float2 f, unsigned *o, unsigned n)
{
    __half2_raw h = __float22half2_rn(f);
    __nv_bfloat162_raw b = __float22bfloat162_rn(f);
    double d = isnan(f.x) ? 0.0 : (double)f.x * (1 + 0x1p-40); /* E5M2 keeps the payload of a double NaN */

    o[0] = __nv_cvt_double_to_fp4(d, __NV_E2M1, RN) | __nv_cvt_double_to_fp6(d, __NV_E2M3, RN) << 8 |
           __nv_cvt_double_to_fp6(d, __NV_E3M2, RN) << 16;
    o[n] = halves(__nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E4M3),
                  __nv_cvt_double_to_fp8(d, __NV_NOSAT, __NV_E5M2));
    o[2 * n] = halves(__nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E4M3),
                      __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E5M2));
    o[3 * n] = halves(__nv_cvt_halfraw2_to_fp6x2(h, __NV_E2M3, RN), __nv_cvt_halfraw2_to_fp6x2(h, __NV_E3M2, RN));
    o[4 * n] = halves(__nv_cvt_halfraw2_to_fp4x2(h, __NV_E2M1, RN), __nv_cvt_bfloat16raw2_to_fp4x2(b, __NV_E2M1, RN));
    o[5 * n] = halves(__nv_cvt_bfloat16raw2_to_fp8x2(b, __NV_SATFINITE, __NV_E4M3),
                      __nv_cvt_bfloat162raw_to_e8m0x2(b, __NV_SATFINITE, cudaRoundPosInf));
}

__device__ void back(unsigned i, unsigned *o, unsigned n)
{
    __nv_fp8x2_storage_t bytes = (i & 255) | (~i & 255) << 8;
    __nv_fp6x2_storage_t six = (i & 63) | (~i & 63) << 8;

    o[0] = raw(__nv_cvt_fp8x2_to_halfraw2(bytes, __NV_E4M3));
    o[n] = raw(__nv_cvt_fp8x2_to_halfraw2(bytes, __NV_E5M2));
    o[2 * n] = raw(__nv_cvt_fp6x2_to_halfraw2(six, __NV_E2M3));
    o[3 * n] = raw(__nv_cvt_fp6x2_to_halfraw2(six, __NV_E3M2));
    o[4 * n] = raw(__nv_cvt_fp4x2_to_halfraw2(i & 255, __NV_E2M1));
    __nv_bfloat162_raw b = __nv_cvt_e8m0x2_to_bf162raw(bytes);
    o[5 * n] = halves(b.x, b.y);
}

extern "C" __global__ void narrow_pack(const float *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float v[8];

    for (int k = 0; k < 8; k++)
        v[k] = in[(i + k) % n];
    from_float(make_float2(v[0], v[1]), out + i, n);
    from_others(make_float2(v[0], v[1]), out + 6 * n + i, n);
    back(i, out + 12 * n + i, n);
    __nv_fp4x4_e2m1 low(make_float4(v[0], v[1], v[2], v[3])), high(make_float4(v[4], v[5], v[6], v[7]));
    out[18 * n + i] = halves(low.__x, high.__x);
}
