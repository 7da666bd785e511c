/*
 * Surface reads and writes of every width in the three boundary modes, in one to three dimensions and
 * layers, and reductions. Coordinates run over the edges where the mode allows it.
 */
#include <cuda_runtime.h>

extern "C" __global__ void surf_rw(cudaSurfaceObject_t line, cudaSurfaceObject_t flat,
                                   cudaSurfaceObject_t cube, cudaSurfaceObject_t layered,
                                   cudaSurfaceObject_t counts, int *out)
{
    int i = threadIdx.x, x = i - 8, *o = out + i * 16;

    /* Reads of 1 to 16 bytes; the line has 64 bytes. */
    o[0] = surf1Dread<unsigned char>(line, x * 3, cudaBoundaryModeZero);
    o[1] = surf1Dread<signed char>(line, x * 3, cudaBoundaryModeClamp);
    o[2] = surf1Dread<short>(line, x * 4, cudaBoundaryModeZero);
    o[3] = surf1Dread<int>(line, x * 4, cudaBoundaryModeClamp);
    int2 two = surf1Dread<int2>(line, x * 8, cudaBoundaryModeZero);
    o[4] = two.x ^ two.y;
    int4 four = surf1Dread<int4>(line, x * 16, cudaBoundaryModeClamp);
    o[5] = four.x ^ four.y ^ four.z ^ four.w;
    o[6] = surf1Dread<int>(line, (i & 15) * 4, cudaBoundaryModeTrap);
    o[7] = surf2Dread<int>(flat, x * 4, i / 4 - 2, cudaBoundaryModeZero);
    o[8] = surf2Dread<int>(flat, x * 4, i / 4 - 2, cudaBoundaryModeClamp);
    o[9] = surf3Dread<int>(cube, (i & 3) * 4, i >> 2 & 3, i / 8 - 1, cudaBoundaryModeClamp);
    o[10] = surf2DLayeredread<int>(layered, (i & 7) * 4, i >> 3, 1, cudaBoundaryModeTrap);

    /* Each write goes to its own place; those outside are dropped. */
    surf2Dwrite<int>(i + 1000, flat, x * 4, 5, cudaBoundaryModeZero);
    surf2Dwrite<short>((short)(i + 2000), flat, i * 2, 6, cudaBoundaryModeTrap);
    surf2Dwrite<unsigned char>((unsigned char)(i + 30), flat, i, 7, cudaBoundaryModeClamp);
    if (i < 4)
        surf2Dwrite<int4>(make_int4(i, i + 1, i + 2, i + 3), flat, i * 16, 4, cudaBoundaryModeTrap);
    if (i < 8)
        surf3Dwrite<int2>(make_int2(i, -i), cube, (i & 1) * 8, i >> 1, 3, cudaBoundaryModeZero);
    surf2DLayeredwrite<int>(i * i, layered, (i & 7) * 4, i >> 3, 2, cudaBoundaryModeTrap);

    /* 32 threads on 8 counters. */
    asm volatile("sured.b.1d.add.u32.zero [%0, {%1}], %2;" :: "l"(counts), "r"((i & 7) * 4), "r"(i));
    asm volatile("sured.b.1d.max.s32.zero [%0, {%1}], %2;" :: "l"(counts), "r"(32 + (i & 3) * 4), "r"(i - 40));
    asm volatile("sured.b.1d.or.b32.zero [%0, {%1}], %2;" :: "l"(counts), "r"(48), "r"(1 << i));
    asm volatile("sured.b.1d.add.u32.zero [%0, {%1}], %2;" :: "l"(counts), "r"(-4 - i * 4), "r"(i));
}
