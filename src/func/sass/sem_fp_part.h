/* Parts of the picker sem_fp_handler: the semantics of sem.def's "floating point" group are spread
 * over sem_fp.c (FP32), sem_half.c (packed FP16 and BF16) and sem_mufu.c (special functions).
 */
#ifndef WS_FUNC_SASS_SEM_FP_PART_H
#define WS_FUNC_SASS_SEM_FP_PART_H

#include "func/sass/fpbits.h"
#include "func/sass/lanes.h"

/* Signature and contract of sem_picker (uop.h). */
sem_picker SEM_NAME(sem_half_part);
sem_picker SEM_NAME(sem_mufu_part);
/* Part of sem_mma_handler. */
sem_picker SEM_NAME(sem_hmma_part); /* FP16, BF16, TF32 */
sem_picker SEM_NAME(sem_imma_part); /* integers, bits */
sem_picker SEM_NAME(sem_hmma884_part); /* Volta */
sem_picker SEM_NAME(sem_dmma_part); /* FP64 */
sem_picker SEM_NAME(sem_qmma_part); /* FP8 and narrower */
sem_picker SEM_NAME(sem_omma_part); /* FP4 with scales */
sem_picker SEM_NAME(sem_gmma_part); /* products of a warpgroup */
sem_picker SEM_NAME(sem_utcmma_part); /* products into tensor memory */

/* Head of a handler (uop_fn). */
#define LANE_HANDLER(name)                                                                         \
  static bool name(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,         \
                   struct fault *f)

/* Row of source x, where the handler applies no modifiers. */
#define LANE_ROW(x) const uint32_t *const row_##x = row_src(w, u->x)

/* Comparison codes of FSETP, HSETP2 and DSETP are sets of outcomes (PTX ISA, set/setp). */
enum fp_outcome { FP_LT = 1, FP_EQ = 2, FP_GT = 4, FP_UNORDERED = 8 };

static inline uint32_t f32_outcome(float x, float y)
{
  return x < y ? FP_LT : x == y ? FP_EQ : x > y ? FP_GT : FP_UNORDERED;
}

static inline uint32_t f64_outcome(double x, double y)
{
  return x < y ? FP_LT : x == y ? FP_EQ : x > y ? FP_GT : FP_UNORDERED;
}

/* No source of the operation carries a modifier. */
static inline bool uop_is_raw(const struct uop *u)
{
  return (u->a_and & u->b_and & u->c_and) == FULL_MASK && !(u->a_xor | u->b_xor | u->c_xor);
}

/* The register that reads as zero. */
static inline bool is_rz(const struct sass_src *s)
{
  return s->kind == SRC_REG && s->index == SASS_RZ;
}

/* Combines lane bits with a predicate: 0 AND, 1 OR, 2 XOR. */
static inline uint32_t pred_combine(uint32_t bits, uint32_t p, unsigned op)
{
  return op == 0 ? bits & p : op == 1 ? bits | p : bits ^ p;
}

#endif
