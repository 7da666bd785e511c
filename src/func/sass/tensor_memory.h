/* Private to func/: tensor memory (tcgen05, sm_100a and its kin), 128 lanes of 512 columns of 32 bits in each SM, which
 * the CTAs of the SM share. Software allocates it by 16 bits, one for 32 columns: UTCATOMSWS (sem_tmem.c).
 *
 * Timed runs have one for each worker; runs without time, which have no SMs, one for each resident CTA. The two CTAs of
 * a pair (cta_group::2: ranks 2k and 2k + 1 of a cluster) each use their own. Source of the sizes: PTX ISA, "Tensor
 * Memory"; of the layout of the reserved shared memory: compiler output (CUDA 13.0).
 */
#ifndef WS_FUNC_SASS_TENSOR_MEMORY_H
#define WS_FUNC_SASS_TENSOR_MEMORY_H

#include "func/sass/func_launch.h"

enum { TMEM_LANES = 128, TMEM_COLUMNS = 512, TMEM_UNIT = 32, TMEM_UNITS = TMEM_COLUMNS / TMEM_UNIT, TMEM_QUARTER = 32 };

struct tensor_memory {
  uint32_t used; /* bit u: columns 32 u to 32 u + 31 are allocated */
  uint32_t word[TMEM_LANES][TMEM_COLUMNS];
};

/* An address: lane in bits 31:16, column in 15:0. */
static inline unsigned tmem_lane(uint32_t address)
{
  return address >> 16;
}

static inline unsigned tmem_column(uint32_t address)
{
  return address & 0xffff;
}

/* The CTA's tensor memory, made when it is first asked for. */
struct tensor_memory *tensor_memory_of(const struct func_cta *);

/* The other CTA of the pair; NULL with *f filled: there is none, or it runs on the same SM. */
struct func_cta *tensor_pair(struct func_warp *w, const struct effect *e, struct fault *f);

/* A CTA begins: the words of reserved shared memory by which the allocations of a pair take turns. */
void tensor_memory_begin(struct func_cta *);

void tensor_memory_end(struct func_launch *);

#endif
