/*
 * Texels fetched by integer coordinates at a level that differs by lane, in every shape that has levels: plain, layered,
 * with an offset in texels. All images have one level.
 */
#include <cuda_runtime.h>

typedef cudaTextureObject_t tex_t;

/* All four components of what INSTR writes at ADDRESS with the operands after it. */
#define FETCH(o, instr, address, after, ...)                                                     \
    asm(instr " {%0, %1, %2, %3}, [%4, " address "]" after ";"                                   \
        : "=f"((o).x), "=f"((o).y), "=f"((o).z), "=f"((o).w)                                     \
        : __VA_ARGS__)

extern "C" __global__ void tex_level_fetch(tex_t line, tex_t image, tex_t volume, tex_t lines, tex_t sheets,
                                           const int *at, const int *levels, float4 *out)
{
    int i = threadIdx.x, level = levels[i], x = at[4 * i], y = at[4 * i + 1], z = at[4 * i + 2], layer = at[4 * i + 3];
    float4 *o = out + i * 8;

    FETCH(o[0], "tex.level.1d.v4.f32.s32", "{%5}", ", %6", "l"(line), "r"(x), "r"(level));
    FETCH(o[1], "tex.level.2d.v4.f32.s32", "{%5, %6}", ", %7", "l"(image), "r"(x), "r"(y), "r"(level));
    FETCH(o[2], "tex.level.3d.v4.f32.s32", "{%5, %6, %7, %7}", ", %8", "l"(volume), "r"(x), "r"(y), "r"(z), "r"(level));
    FETCH(o[3], "tex.level.a1d.v4.f32.s32", "{%6, %5}", ", %7", "l"(lines), "r"(x), "r"(layer), "r"(level));
    FETCH(o[4], "tex.level.a2d.v4.f32.s32", "{%7, %5, %6, %6}", ", %8", "l"(sheets), "r"(x), "r"(y), "r"(layer), "r"(level));
    FETCH(o[5], "tex.level.a2d.v4.f32.s32", "{%7, %5, %6, %6}", ", %8, {1, -2}", "l"(sheets), "r"(x), "r"(y), "r"(layer),
          "r"(level));
    FETCH(o[6], "tex.level.2d.v4.f32.s32", "{%5, %6}", ", %7, {%8, %8}", "l"(image), "r"(x), "r"(y), "r"(level), "r"(z));
    FETCH(o[7], "tex.a2d.v4.f32.s32", "{%7, %5, %6, %6}", "", "l"(sheets), "r"(x), "r"(y), "r"(layer));
}
