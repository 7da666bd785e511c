/* Sums and products of f16 and bf16 numbers added to f32 by one instruction, in all roundings, with saturation. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define ADD(how, type, a, c) \
    ({ float r_; asm(how ".f32." type " %0, %1, %2;" : "=f"(r_) : "h"(a), "f"(c)); r_; })
#define FMA(how, type, a, b, c) \
    ({ float r_; asm(how ".f32." type " %0, %1, %2, %3;" : "=f"(r_) : "h"(a), "h"(b), "f"(c)); r_; })

#define FORMS(type)                                                                                 \
    o[0] = ADD("add.rn", type, a, c), o[n] = ADD("add.rz", type, a, c), o[2 * n] = ADD("add.rm", type, a, c); \
    o[3 * n] = ADD("add.rp", type, a, c), o[4 * n] = ADD("add.rn.sat", type, a, c);                 \
    o[5 * n] = ADD("sub.rn", type, a, c);                                                           \
    o[6 * n] = FMA("fma.rn", type, a, b, c), o[7 * n] = FMA("fma.rz", type, a, b, c);               \
    o[8 * n] = FMA("fma.rm", type, a, b, c), o[9 * n] = FMA("fma.rp", type, a, b, c);               \
    o[10 * n] = FMA("fma.rn.sat", type, a, b, c);

__device__ void halves(unsigned short a, unsigned short b, float c, float *o, unsigned n)
{
    FORMS("f16")
}

__device__ void bfloats(unsigned short a, unsigned short b, float c, float *o, unsigned n)
{
    FORMS("bf16")
}

extern "C" __global__ void mixed_float(const float *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float a = in[i], b = in[n + i], c = in[2 * n + i];

    halves(__half_as_ushort(__float2half_rn(a)), __half_as_ushort(__float2half_rn(b)), c, out + i, n);
    bfloats(__bfloat16_as_ushort(__float2bfloat16_rn(a)), __bfloat16_as_ushort(__float2bfloat16_rn(b)), c,
            out + 11 * n + i, n);
}
