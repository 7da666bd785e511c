/* Prepared operations: a decoded SASS instruction with its operands resolved to rows and its
 * handler chosen, once per launch. Stepping is: uop = &launch->uop[index]; uop->fn(…).
 */
#ifndef WS_FUNC_SASS_UOP_H
#define WS_FUNC_SASS_UOP_H

#include <stdint.h>

#include "func/sass/func_warp.h"
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

/* Executes one operation for the lanes in m (never 0 unless UOP_ALWAYS; those of the path for UOP_UNIFORM).
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
  uint8_t flags;                 /* enum uop_flag */
  uint8_t straight;              /* operations from here on, at most 255, that only touch registers: no
                                    effect, no fault, the path goes on behind them */
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
  UOP_UNIFORM = 1 << 3, /* uniform datapath: uniform rows hold the value in every lane of the path, so the handler
                           computes all of these with the code of the vector instruction */
  UOP_FAULTS = 1 << 4,  /* touches shared memory on its own and may fault */
  UOP_LOAD = 1 << 5,    /* plain load or store, which mem_plain can execute */
  UOP_STORE = 1 << 6,
  UOP_CLOCK = 1 << 7,   /* reads a clock of e */
};

/* Lanes for which an operation is called that executes in `exec` of the path's lanes `active`. */
static inline uint32_t uop_lanes(const struct uop *u, uint32_t active, uint32_t exec)
{
  return u->flags & UOP_UNIFORM ? active : exec;
}

/* Chooses the handler of one instruction. On entry *u is complete but for fn, imm and imm2; the
 * picker may refine all of it by the instruction's modifiers. NULL: not this file's semantics
 * id, or a form that is not executable yet. */
typedef uop_fn *sem_picker(const struct sass_inst *s, struct uop *u);

/* A piece of memory that some lanes access: the byte at addr[i] is at base + i * apart + (addr[i] & in). */
struct lane_block {
  uint8_t *base;
  uint64_t in;
  size_t apart;
  uint32_t lanes;
};

/* What handlers that are compiled once do with all 32 lanes (sem_rows.c), per x86 level. A row of memory data
 * has LANES_MAX words; the words of an access are in consecutive rows (mem.h). */
struct lane_ops {
  /* d = t, d = value in the lanes of m; lanes of a row that equal a value. */
  void (*blend)(uint32_t *d, const uint32_t *t, uint32_t m);
  void (*fill)(uint32_t *d, uint32_t value, uint32_t m);
  uint32_t (*equal)(const uint32_t *row, uint32_t value);
  /* digest[i] = hash of lane i's words in n rows and of its bits in n_bits words, from what it was on. */
  void (*digest)(uint32_t *digest, const uint32_t *rows, unsigned n, const uint32_t *bits, unsigned n_bits);

  /* d = t, a few rows from the data of an access to registers, in the lanes of m, and back. */
  void (*commit)(uint32_t *d, const uint32_t *data, unsigned rows, uint32_t m);
  void (*sample)(uint32_t *data, const uint32_t *s, unsigned rows);
  /* out = base + a pair of words, a word, a shifted word in 32 bits. dense, where not 0: of addresses that are the same
   * or that many bytes apart only the first and the last are written. */
  void (*add_wide)(uint64_t *out, struct lane_shape *, const uint32_t *lo, const uint32_t *hi,
                   uint64_t base, unsigned dense);
  void (*add_word)(uint64_t *out, struct lane_shape *, const uint32_t *a, uint64_t base, unsigned dense);
  void (*add_near)(uint64_t *out, struct lane_shape *, const uint32_t *a, unsigned shift, uint32_t base,
                   unsigned dense);
  /* Lanes whose address is not in [first, first + last]; both below 2^63. */
  uint32_t (*outside)(const uint64_t *addr, uint64_t first, uint64_t last);
  /* Data between the block and its lanes' rows; `bytes` each: 1, 2, 4, 8, 16, 32. Stores in ascending order. */
  void (*load)(uint32_t *rows, const struct lane_block *, const uint64_t *addr, unsigned bytes);
  void (*store)(const uint32_t *rows, const struct lane_block *, const uint64_t *addr, unsigned bytes);
  /* The same for all lanes side by side from p on. */
  void (*load_dense)(uint32_t *rows, const uint8_t *p, unsigned bytes);
  void (*store_dense)(const uint32_t *rows, uint8_t *p, unsigned bytes);
  /* The same between a block and consecutive registers. */
  void (*load_regs)(uint32_t *d, const struct lane_block *, const uint64_t *addr, unsigned bytes);
  void (*store_regs)(const uint32_t *s, const struct lane_block *, const uint64_t *addr, unsigned bytes);
  /* Between registers, at most four, of the lanes of m and memory from p on, side by side or (stride 0) the same
   * for all; reads that of all lanes. */
  void (*load_even)(uint32_t *d, const uint8_t *p, uint64_t stride, unsigned bytes, uint32_t m);
  /* All lanes, side by side. */
  void (*store_even)(const uint32_t *s, uint8_t *p, unsigned bytes);
};

/* ALU handlers, one table per x86 level; all three give bit-identical results. */
enum { SEM_PICKERS = 7 };
struct sem_table {
  const char *level; /* "x86-64", "x86-64-v3", "x86-64-v4" */
  const struct lane_ops *ops;
  sem_picker *pick[SEM_PICKERS];
};

#define SEM_DECLARE(level)                                                                         \
  sem_picker sem_int_handler_##level;     /* sem_int.c */                                          \
  sem_picker sem_uniform_handler_##level; /* sem_uniform.c */                                      \
  sem_picker sem_fp_handler_##level;      /* sem_fp.c: FP32, packed FP16 */                        \
  sem_picker sem_fp64_handler_##level;    /* sem_fp64.c */                                         \
  sem_picker sem_conv_handler_##level;    /* sem_conv.c */                                         \
  sem_picker sem_mma_handler_##level;     /* sem_mma.c */                                          \
  sem_picker sem_across_handler_##level;  /* sem_across.c: shuffles, votes, reductions */          \
  extern const struct lane_ops sem_lane_ops_##level

SEM_DECLARE(v1);
SEM_DECLARE(v3);
SEM_DECLARE(v4);

/* The table of an x86-64 level: 1, 3, 4, or 0 for the best this host can run. NULL: it cannot run this
 * one (sem_select.c). */
const struct sem_table *sem_select(unsigned level);

#endif
