/* What the integer handler files share; private to sem_int.c, sem_logic.c, sem_minmax.c, sem_wide.c
 * and sem_uniform.c. */
#ifndef WS_FUNC_SASS_SEM_INT_H
#define WS_FUNC_SASS_SEM_INT_H

#include "func/sass/lanes.h"

/* Head of a handler (uop_fn). */
#define LANE_HANDLER(name)                                                                         \
  static bool name(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,         \
                   struct fault *f)

/* Row of source x alone, for handlers whose sources carry no modifiers. */
#define LANE_ROW(x) const uint32_t *const row_##x = row_src(w, u->x)

/* A handler of one expression of the unmodified sources a, b, c and of the constant u->imm. */
#define LANE_OP(name, ...)                                                                         \
  LANE_HANDLER(name)                                                                               \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_ROW(a);                                                                                   \
    LANE_ROW(b);                                                                                   \
    LANE_ROW(c);                                                                                   \
    const uint32_t imm = u->imm;                                                                   \
    (void)imm;                                                                                     \
    LANE_ROWS(1, const uint32_t a = LANE_RAW(a); const uint32_t b = LANE_RAW(b);                   \
              const uint32_t c = LANE_RAW(c); (void)a, (void)b, (void)c; d[i] = (__VA_ARGS__););   \
    return true;                                                                                   \
  }

/* 1 in the lanes of mask `bits`, else 0: a carry. */
#define LANE_BIT(bits) ((uint32_t)(((bits) & lane_bit[i]) != 0))

/* Sign of a word as a word: 0 or all ones. */
#define SX32(x) ((uint32_t)((int32_t)(x) >> 31))

/* The source reads as v in every lane, whatever the registers hold. */
static inline bool src_is_value(const struct sass_src *s, uint32_t v)
{
  if (s->neg || s->abs) return false;
  switch (s->kind) {
  case SRC_IMM: return s->imm == v;
  case SRC_REG: return v == 0 && s->index == SASS_RZ;
  case SRC_UREG: return v == 0 && s->index == SASS_URZ;
  default: return false;
  }
}

/* No source of the operation carries a modifier. */
static inline bool uop_is_raw(const struct uop *u)
{
  return (u->a_and & u->b_and & u->c_and) == FULL_MASK && !(u->a_xor | u->b_xor | u->c_xor);
}

/* combine of ISETP and the like: 0 AND, 1 OR, 2 XOR. */
static inline uint32_t bool_combine(unsigned op, uint32_t x, uint32_t p)
{
  return op == 0 ? x & p : op == 1 ? x | p : x ^ p;
}

/* One picker for each file, each called by the one named; NULL: no handler. */
sem_picker SEM_NAME(sem_logic_handler);  /* by sem_int_handler, of what is not its own */
sem_picker SEM_NAME(sem_minmax_handler); /* by sem_logic_handler, likewise */
sem_picker SEM_NAME(sem_wide_handler);   /* by sem_int_handler and sem_minmax_handler: of 64 bits */

#endif
