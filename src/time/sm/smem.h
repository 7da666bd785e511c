/* Shared-memory banks: 32 banks of 4 bytes, one word per bank and pass; identical words are broadcast
 * (CUDA C++ Programming Guide, Shared Memory). 32-bit accesses take the warp at once, 64-bit ones a half,
 * 128-bit ones a quarter at a time.
 *
 *   rule    loads: two parts of the warp go together when every lane reads the same address as the lane
 *           that differs from it in bit 0 of its number, or as the one in bit 1 (cicuvc/nvidia-sass-document,
 *           RTX 5090: wavefronts of LDS; stores and cp.async never do)
 */
#ifndef WS_TIME_SM_SMEM_H
#define WS_TIME_SM_SMEM_H

#include "isa/step.h"

/* Passes the access needs. Atomics serialise on a bank even when the words are equal. */
unsigned smem_passes(const struct mem_effect *m);

/* Passes of an access of this width in which every lane has its own words and no two meet in a bank: 32-bit or
 * narrower 1, 64-bit 2, 128-bit 4. LDSM: one per 8x8 matrix. */
unsigned smem_min_passes(const struct mem_effect *m);

/* Passes of MEM_LDGSTS through the data array: reading L1 and writing shared memory overlap, the slower
 * side of each part of the warp counts. Equal words of the destination are not merged. */
unsigned smem_ldgsts_passes(const struct mem_effect *m);

#endif
