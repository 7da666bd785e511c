/*
 * Functions of halves and bfloat16s: exponentials, logarithms, roots, sine and cosine,
 * reciprocal, division, rounding; single and packed.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_funcs(const __half *in, __half *out, __nv_bfloat16 *bout)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    __half x = in[i], a = __habs(x);
    __nv_bfloat16 b = __float2bfloat16(__half2float(x));

    out[i] = hexp(x);
    out[n + i] = hexp2(x);
    out[2 * n + i] = hlog(a);
    out[3 * n + i] = hlog2(a);
    out[4 * n + i] = hsqrt(a);
    out[5 * n + i] = hrsqrt(a);
    out[6 * n + i] = hrcp(x);
    out[7 * n + i] = hsin(x);
    out[8 * n + i] = hcos(x);
    out[9 * n + i] = __hdiv(x, __float2half(3.0f));
    out[10 * n + i] = hrint(x);
    out[11 * n + i] = hfloor(x);
    out[12 * n + i] = __high2half(h2trunc(__halves2half2(a, x)));
    bout[i] = hexp(b);
    bout[n + i] = hlog(__habs(b));
    bout[2 * n + i] = hsqrt(__habs(b));
    bout[3 * n + i] = hrcp(b);
}
