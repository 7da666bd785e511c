/* Shared-memory banks: 32 banks of 4 bytes, one word per bank and pass; identical words are broadcast
 * (CUDA C++ Programming Guide, Shared Memory). As many lanes go at a time as fill the banks: of a warp of 32 all with
 * 32 bits each, a half with 64, a quarter with 128. `lanes`: of a warp.
 *
 *   callers mem_access.c, as an instruction issues: how many passes it takes; the memory unit holds the data array for
 *           as long
 *   rule    loads: two parts of the warp go together when every lane reads the same address as the lane
 *           that differs from it in bit 0 of its number, or as the one in bit 1 (cicuvc/nvidia-sass-document,
 *           RTX 5090: wavefronts of LDS; stores and cp.async never do)
 */
#ifndef WS_TIME_SM_SMEM_H
#define WS_TIME_SM_SMEM_H

#include "isa/step.h"

/* Passes of an access, and the cycles for which they hold the data banks. Where the way from the banks is narrower than
 * they are (l1.bytes_per_cycle), neighbouring lanes take `turns`: lanes of a load meet in a bank only those of
 * their turn, each pass of a store or an atomic takes all turns (measured: loads of 32 lines take 33 cycles on an
 * RTX 2060 and a GTX 1650; R100001/Programming-Massively-Parallel-Processors). */
struct smem_time {
  unsigned passes, cycles;
};

/* Atomics serialise on a bank even when the words are equal, but for those that count their lanes (inst.mem.counts). */
struct smem_time smem_time(const struct mem_effect *m, bool counts, unsigned lanes, unsigned turns);

/* Of an access of this width in which every lane has its own words and no two meet in a bank: of 32 lanes with
 * 32 bits or less 1 pass, 64-bit 2, 128-bit 4. LDSM: one per 8x8 matrix. */
unsigned smem_min_passes(const struct mem_effect *m, unsigned lanes);

/* Of a fill, a row of all banks at a time (guess: no measurement of st.bulk is known). */
struct smem_time smem_fill_time(const struct mem_effect *m, unsigned turns);

/* Of MEM_LDGSTS through the data array: reading L1 and writing shared memory overlap, the slower
 * side of each part of the warp counts. Equal words of the destination are not merged. */
struct smem_time smem_ldgsts_time(const struct mem_effect *m, unsigned lanes, unsigned turns);

#endif
