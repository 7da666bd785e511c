/*
 * Samples at an offset in texels: every shape that PTX lets have one, with levels and gradients, gathers and
 * texel fetches. Offsets are immediate or differ by lane: both ends of their range are among them.
 */
#include <cuda_runtime.h>

typedef cudaTextureObject_t tex_t;

/* First component of what INSTR writes at ADDRESS with the operands after it. */
#define FIRST(instr, address, after, ...)                                                        \
    ({                                                                                           \
        float first_;                                                                            \
        asm("{ .reg .f32 y, z, w; " instr " {%0, y, z, w}, [%1, " address "]" after "; }"        \
            : "=f"(first_)                                                                       \
            : __VA_ARGS__);                                                                      \
        first_;                                                                                  \
    })

__device__ void gather(float *o, tex_t image, float x, float y, int dx, int dy)
{
    asm("tld4.r.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {-8, 7};"
        : "=f"(o[0]), "=f"(o[1]), "=f"(o[2]), "=f"(o[3]) : "l"(image), "f"(x), "f"(y));
    asm("tld4.r.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8};"
        : "=f"(o[4]), "=f"(o[5]), "=f"(o[6]), "=f"(o[7])
        : "l"(image), "f"(x), "f"(y), "r"(dx), "r"(dy));
}

extern "C" __global__ void tex_offset(tex_t line, tex_t image, tex_t volume, tex_t lines, tex_t sheets, tex_t texels,
                                      const float *xs, const float *ys, const float *zs, const int *shifts,
                                      float *out)
{
    int i = threadIdx.x, dx = shifts[3 * i], dy = shifts[3 * i + 1], dz = shifts[3 * i + 2];
    int layer = i % 4, col = i % 16, row = i / 8;
    float x = xs[i], y = ys[i], z = zs[i], *o = out + i * 24;

    o[0] = FIRST("tex.1d.v4.f32.f32", "{%2}", ", {-3}", "l"(line), "f"(x));
    o[1] = FIRST("tex.1d.v4.f32.f32", "{%2}", ", {%3}", "l"(line), "f"(x), "r"(dx));
    o[2] = FIRST("tex.2d.v4.f32.f32", "{%2, %3}", ", {7, -8}", "l"(image), "f"(x), "f"(y));
    o[3] = FIRST("tex.2d.v4.f32.f32", "{%2, %3}", ", {%4, %5}", "l"(image), "f"(x), "f"(y), "r"(dx), "r"(dy));
    o[4] = FIRST("tex.3d.v4.f32.f32", "{%2, %3, %4, %4}", ", {-1, 2, 5, 0}", "l"(volume), "f"(x), "f"(y), "f"(z));
    o[5] = FIRST("tex.3d.v4.f32.f32", "{%2, %3, %4, %4}", ", {%5, %6, %7, %7}", "l"(volume), "f"(x), "f"(y), "f"(z),
                 "r"(dx), "r"(dy), "r"(dz));
    o[6] = FIRST("tex.a1d.v4.f32.f32", "{%3, %2}", ", {4}", "l"(lines), "f"(x), "r"(layer));
    o[7] = FIRST("tex.a1d.v4.f32.f32", "{%3, %2}", ", {%4}", "l"(lines), "f"(x), "r"(layer), "r"(dx));
    o[8] = FIRST("tex.a2d.v4.f32.f32", "{%4, %2, %3, %3}", ", {1, -1}", "l"(sheets), "f"(x), "f"(y), "r"(layer));
    o[9] = FIRST("tex.a2d.v4.f32.f32", "{%4, %2, %3, %3}", ", {%5, %6}", "l"(sheets), "f"(x), "f"(y), "r"(layer),
                 "r"(dx), "r"(dy));
    o[10] = FIRST("tex.level.2d.v4.f32.f32", "{%2, %3}", ", %4, {%5, %6}", "l"(image), "f"(x), "f"(y), "f"(0.0f),
                  "r"(dx), "r"(dy));
    o[11] = FIRST("tex.grad.2d.v4.f32.f32", "{%2, %3}", ", {%2, %3}, {%3, %4}, {%5, %6}", "l"(image), "f"(x), "f"(y),
                  "f"(z), "r"(dx), "r"(dy));
    o[12] = FIRST("tex.grad.1d.v4.f32.f32", "{%2}", ", {%2}, {%3}, {%4}", "l"(line), "f"(x), "f"(y), "r"(dx));
    o[13] = FIRST("tex.2d.v4.f32.s32", "{%2, %3}", ", {%4, %5}", "l"(texels), "r"(col), "r"(row), "r"(dx), "r"(dy));
    o[14] = FIRST("tex.2d.v4.f32.s32", "{%2, %3}", ", {-2, 3}", "l"(texels), "r"(col), "r"(row));
    o[15] = FIRST("tex.level.3d.v4.f32.f32", "{%2, %3, %4, %4}", ", %5, {-8, 7, -8, 0}", "l"(volume), "f"(x), "f"(y),
                  "f"(z), "f"(0.0f));
    gather(o + 16, image, x, y, dx, dy);
}
