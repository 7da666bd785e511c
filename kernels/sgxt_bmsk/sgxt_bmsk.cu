/*
 * Sign extension of fields and bit masks of variable width and position (SGXT, BMSK,
 * szext and bmsk of PTX), clamped and wrapped.
 */
#define OP(name, r, x, y) asm(name ".b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y))
#define SZEXT(mode, type, r) asm("szext." mode "." type " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(s))

extern "C" __global__ void sgxt_bmsk(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned v = in[i], s = in[n + i], w = in[2 * n + i], r[8];

    SZEXT("clamp", "s32", r[0]);
    SZEXT("clamp", "u32", r[1]);
    SZEXT("wrap", "s32", r[2]);
    SZEXT("wrap", "u32", r[3]);
    OP("bmsk.clamp", r[4], s, w);
    OP("bmsk.wrap", r[5], s, w);
    r[6] = (unsigned)((int)(v << 13) >> 13); /* 19 bits */
    r[7] = (unsigned)(signed char)v + (unsigned)(short)w;
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[k * n + i] = r[k];
}
