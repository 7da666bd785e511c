/*
 * Every floating-point comparison, ordered and unordered, of f32, f64 and f16, as
 * predicate and as mask or 1.0, with NaN, infinities, zeros of both signs and
 * subnormals (kept and flushed).
 */
#include <cuda_fp16.h>

#define SETP(op, type, c, x, y)                                                                    \
    asm("{ .reg .pred p; setp." op "." type " p, %1, %2; selp.u32 %0, 1, 0, p; }"                 \
        : "=r"(r)                                                                                  \
        : c(x), c(y));                                                                             \
    bits |= r << at++
#define ALL(type, c, x, y)                                                                         \
    SETP("eq", type, c, x, y);                                                                     \
    SETP("ne", type, c, x, y);                                                                     \
    SETP("lt", type, c, x, y);                                                                     \
    SETP("le", type, c, x, y);                                                                     \
    SETP("gt", type, c, x, y);                                                                     \
    SETP("ge", type, c, x, y);                                                                     \
    SETP("equ", type, c, x, y);                                                                    \
    SETP("neu", type, c, x, y);                                                                    \
    SETP("ltu", type, c, x, y);                                                                    \
    SETP("leu", type, c, x, y);                                                                    \
    SETP("gtu", type, c, x, y);                                                                    \
    SETP("geu", type, c, x, y);                                                                    \
    SETP("num", type, c, x, y);                                                                    \
    SETP("nan", type, c, x, y)

extern "C" __global__ void fp_compare(const float *in, unsigned *out, float *ones)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, bits, r, at;
    float x = in[i / 16], y = in[i % 16], f;
    double p = x, q = y;
    unsigned short h = __half_as_ushort(__float2half(x)), g = __half_as_ushort(__float2half(y));

    bits = at = 0;
    ALL("f32", "f", x, y);
    out[i] = bits;
    bits = at = 0;
    ALL("ftz.f32", "f", x, y);
    out[n + i] = bits;
    bits = at = 0;
    ALL("f64", "d", p, q);
    out[2 * n + i] = bits;
    bits = at = 0;
    ALL("f16", "h", h, g);
    out[3 * n + i] = bits;
    asm("set.lt.f32.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
    ones[i] = f;
    asm("set.geu.u32.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(y));
    out[4 * n + i] = r;
    asm("{ .reg .pred a, b; setp.gt.f32 a, %1, 0f00000000;\n\t"
        "setp.lt.and.f32 a|b, %1, %2, a; selp.u32 %0, 1, 0, a; @b add.u32 %0, %0, 2; }"
        : "=r"(r)
        : "f"(x), "f"(y));
    out[5 * n + i] = r;
}
