/* Shared-memory banks: 32 banks of 4 bytes, one word per bank and pass; identical words are
 * broadcast (CUDA C++ Programming Guide, Shared Memory). */
#ifndef WS_TIME_SM_SMEM_H
#define WS_TIME_SM_SMEM_H

#include "isa/step.h"

/* Passes the access needs, at least smem_min_passes of its width. Atomics serialise on a bank even
 * when the words are equal. */
unsigned smem_passes(const struct mem_effect *m);

/* 32-bit or narrower: 1; 64-bit: 2 (per half warp); 128-bit: 4 (per quarter warp). LDSM: one pass
 * per 8x8 matrix. */
unsigned smem_min_passes(const struct mem_effect *m);

#endif
