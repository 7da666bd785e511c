/* Prepared operations: a decoded SASS instruction with its operands resolved to rows and its
 * handler chosen, once per launch. Stepping is: uop = &launch->uop[index]; uop->fn(…).
 */
#ifndef WS_FUNC_UOP_H
#define WS_FUNC_UOP_H

#include <stdint.h>

#include "func/warp.h"
#include "isa/sass/sass.h"

/* A row operand: base number and byte offset of its first row; a wide operand continues in the next
 * rows. RZ and URZ as sources are zero rows, as destinations sink rows (as many as any operand
 * needs). Immediates are rows too: two of them, {imm, 0}, for FP64 instructions {0, imm} (the
 * encoding holds the high word). Constants always have two rows: the words at off and off + 4. */
struct row_ref {
  uint8_t base;  /* enum row_base */
  uint32_t off;  /* bytes */
};

struct uop;

/* Executes one operation for the lanes in m (never 0 unless UOP_ALWAYS; FULL_MASK for UOP_UNIFORM).
 * ALU handlers ignore e. False: fault, *f filled. */
typedef bool uop_fn(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                    struct fault *f);

/* Later commit points of a memory operation (isa/step.h). */
typedef bool uop_perform_fn(struct func_warp *w, const struct uop *u, struct effect *e,
                            uint32_t lanes, struct gmem_view *v, struct fault *f);
typedef void uop_finish_fn(struct func_warp *w, const struct uop *u, struct effect *e);

struct uop {
  uop_fn *fn;
  uint32_t guard_xor;            /* exec = active & (pred[guard] ^ guard_xor) */
  uint16_t flags;                /* enum uop_flag */
  uint8_t guard;                 /* predicates: 0..6 = P0..P6, 8..14 = UP0..UP6, 7, 15 = true */
  uint8_t pu, pv;                /* predicate destinations, PRED_NONE = none */
  uint8_t pp, pq, pr;            /* predicate sources */
  struct row_ref d, a, b, c;     /* destination (URd where there is one, else Rd), sources */
  /* Source modifiers: value = (raw & and) ^ xor. Filled before the picker runs, by family: FP32
   * clears / flips bit 31, packed FP16 bits 31 and 15, FP64 bit 31 of the high word; all others get
   * xor = ones for neg (complement: the handler adds the + 1 of a negation) and nothing for abs.
   * Pickers may change them. */
  uint32_t a_and, a_xor, b_and, b_xor, c_and, c_xor;
  uint32_t pp_xor, pq_xor, pr_xor; /* all ones when negated */
  uint32_t imm, imm2;            /* handler's own small constants: lut, compare code, rounding, … */
  const struct sass_inst *s;     /* for rare questions; hot handlers do not follow it */
  const struct inst *t;
  uop_perform_fn *perform;       /* UOP_MEM */
  uop_finish_fn *finish;         /* UOP_MEM; NULL: nothing to commit */
};

enum uop_flag {
  UOP_CONTROL = 1 << 0, /* handler moves the path itself (paths.c); else pc += 16 */
  UOP_MEM = 1 << 1,     /* handler fills e->mem */
  UOP_ALWAYS = 1 << 2,  /* call even when no lane executes */
  UOP_UNIFORM = 1 << 3, /* uniform datapath: uniform rows are broadcast, so the handler computes all
                           32 lanes (m = FULL_MASK) with the code of the vector instruction */
};

/* Chooses the handler of one instruction. On entry *u is complete but for fn, imm and imm2; the
 * picker may refine all of it by the instruction's modifiers. NULL: not this file's semantics
 * id, or a form that is not executable yet. */
typedef uop_fn *sem_picker(const struct sass_inst *s, struct uop *u);

/* What memory handlers do with the addresses of all 32 lanes (sem_addr.c), per x86 level. */
struct addr_table {
  /* out = base + a pair of words, a word, a shifted word in 32 bits */
  void (*add_wide)(uint64_t *out, const uint32_t *lo, const uint32_t *hi, uint64_t base);
  void (*add_word)(uint64_t *out, const uint32_t *a, uint64_t base);
  void (*add_near)(uint64_t *out, const uint32_t *a, unsigned shift, uint32_t base);
  uint64_t (*any_bits)(const uint64_t *addr);
  /* Difference of consecutive addresses if it is the same for all lanes. */
  bool (*even_stride)(const uint64_t *addr, uint64_t *stride);
  bool (*none_above)(const uint64_t *addr, uint64_t last); /* all below 2^63 */
  void (*gather)(uint32_t *row, const uint8_t *mem, const uint64_t *addr); /* a word per lane */
};

/* ALU handlers, one table per x86 level; all three give bit-identical results. */
enum { SEM_PICKERS = 6 };
struct sem_table {
  const char *level; /* "x86-64", "x86-64-v3", "x86-64-v4" */
  const struct addr_table *addr;
  sem_picker *pick[SEM_PICKERS];
};

#define SEM_DECLARE(level)                                                                         \
  sem_picker sem_int_handler_##level;     /* sem_int.c */                                          \
  sem_picker sem_uniform_handler_##level; /* sem_uniform.c */                                      \
  sem_picker sem_fp_handler_##level;      /* sem_fp.c: FP32, packed FP16 */                        \
  sem_picker sem_fp64_handler_##level;    /* sem_fp64.c */                                         \
  sem_picker sem_conv_handler_##level;    /* sem_conv.c */                                         \
  sem_picker sem_mma_handler_##level;     /* sem_mma.c */                                          \
  extern const struct addr_table sem_addr_table_##level

SEM_DECLARE(v1);
SEM_DECLARE(v3);
SEM_DECLARE(v4);

/* The table of an x86-64 level: 1, 3, 4, or 0 for the best this host can run. NULL: it cannot run this
 * one (sem_select.c). */
const struct sem_table *sem_select(unsigned level);

#endif
