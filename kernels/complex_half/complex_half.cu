/*
 * Complex products of f16 and bf16 pairs: the library's multiply-add, and a polynomial by Horner's rule.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void complex_half(const __half2 *a, const __half2 *b, const float2 *c, __half2 *out, float2 *wide)
{
    int i = threadIdx.x;
    __half2 sum = __hcmadd(a[i], b[i], b[31 - i]);
    out[2 * i] = sum;
    for (int k = 0; k < 2; k++)
        sum = __hcmadd(sum, make_half2(__float2half(0.5f), __float2half(-0.5f)), a[i]);
    out[2 * i + 1] = sum;
#if __CUDA_ARCH__ >= 800
    __nv_bfloat162 x = __floats2bfloat162_rn(c[i].x, c[i].y), y = __floats2bfloat162_rn(c[31 - i].x, c[31 - i].y);
    __nv_bfloat162 product = __hcmadd(x, y, x);
    wide[i] = make_float2(__bfloat162float(product.x), __bfloat162float(product.y));
#else
    float2 x = c[i], y = c[31 - i];
    wide[i] = make_float2(x.x * y.x - x.y * y.y + x.x, x.x * y.y + x.y * y.x + x.y);
#endif
}
