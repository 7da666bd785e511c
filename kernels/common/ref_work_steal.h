/* References of work_steal and work_steal_pair. */
#ifndef KERNELS_COMMON_REF_WORK_STEAL_H
#define KERNELS_COMMON_REF_WORK_STEAL_H

#include "ref.h"

enum { NX = 30, NY = 5, NZ = 4, TILES = NX * NY * NZ, THREADS = 32 };

static uint32_t x[TILES][THREADS], out[TILES][THREADS], total[2] = {TILES, 1};

static int work_steal_main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (uint32_t i = 0; i < TILES; i++)
        for (uint32_t t = 0; t < THREADS; t++) {
            x[i][t] = (uint32_t)ref_splitmix64(31, i * THREADS + t);
            out[i][t] = x[i][t] * 3 + ((i % NX) << 16 ^ (i / NX % NY) << 8 ^ i / NX / NY);
        }
    REF_WRITE("x.bin", x);
    REF_WRITE("out.bin", out);
    REF_WRITE("total.bin", total);
    return 0;
}

#endif
