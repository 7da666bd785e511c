/* struct inst: all that timing knows of an instruction.
 *
 * Every instruction set decodes to this (128-bit SASS today; traces and AMD code objects later).
 * The timing model reads nothing else: no opcode numbers, no raw words. Semantics live behind the
 * step source (isa/step.h). One struct inst exists per static instruction, decoded once when the
 * module is loaded; struct code_view finds it by its pc.
 */
#ifndef WS_ISA_INST_H
#define WS_ISA_INST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Execution pipes of a sub-core (Huerta et al., MICRO 2025, figure 3). */
#define PIPE_LIST(X)                                                                               \
  X(ALU, "alu", "integer, logic, compare, FP32 min/max and select")                                \
  X(FMA, "fma", "FP32 multiply-add, IMAD")                                                         \
  X(HALF, "half", "packed FP16 / BF16")                                                            \
  X(FP64, "fp64", "double precision")                                                              \
  X(TENSOR, "tensor", "matrix multiply-accumulate")                                                \
  X(SFU, "sfu", "special functions, conversions, bit counts")                                      \
  X(UNIFORM, "uniform", "uniform datapath")                                                        \
  X(SCALAR, "scalar", "scalar unit: registers, flag and loads of a warp as a whole; not of SASS")  \
  X(MEM, "mem", "loads, stores, atomics, shuffles, special registers")                             \
  X(MISC, "misc", "votes, barriers, fences: no queue")                                             \
  X(BRANCH, "branch", "control flow")                                                              \
  X(FRONT, "front", "handled before any pipe: NOP, DEPBAR")

enum pipe {
#define X(id, name, text) PIPE_##id,
  PIPE_LIST(X)
#undef X
      PIPE__N
};

/* Latency classes: the preset states one latency in cycles for each (key lat.NAME). A class is
 * fixed when the compiler covers it by stall counts, variable when by dependence counters
 * (Huerta et al., MICRO 2025). Memory instructions use struct inst_mem instead. */
#define LAT_LIST(X)                                                                                \
  X(ALU, "alu")                     /* integer, logic, moves, FP32 compare             */          \
  X(FMA, "fma")                     /* FFMA FADD FMUL IMAD                             */          \
  X(IMAD_WIDE, "imad_wide")         /* IMAD.WIDE, IMAD.HI                              */          \
  X(HALF, "half")                   /* HADD2 HMUL2 HFMA2                               */          \
  X(HALF_MMA, "half_mma")           /* HFMA2.MMA; its pipe differs by target           */          \
  X(PRED, "pred")                   /* vector instructions whose result is a predicate */          \
  X(FP64, "fp64")                   /* DADD DMUL DFMA DSETP                            */          \
  X(MMA_16816_F32, "mma_16816_f32") /* HMMA.16816, FP32 accumulate             */                  \
  X(MMA_16816_F16, "mma_16816_f16") /* HMMA.16816, FP16 accumulate             */                  \
  X(MMA_1688, "mma_1688")           /* HMMA.1688, tf32 1684, HMMA.SP.16816             */          \
  X(MMA_884_F32, "mma_884_f32")     /* a step of HMMA.884, FP32 results                */          \
  X(MMA_884_F16, "mma_884_f16")     /* the same, FP16 results: twice as large          */          \
  X(MMA_INT, "mma_int")             /* IMMA, BMMA                                      */          \
  X(MMA_F64, "mma_f64")             /* DMMA                                            */          \
  X(GMMA, "gmma")                   /* HGMMA …: from the last column to the registers  */          \
  X(SFU, "sfu")                     /* MUFU, conversions, FLO, POPC, BREV              */          \
  X(UNIFORM, "uniform")             /* uniform datapath                                */          \
  X(SCALAR, "scalar")               /* scalar unit                                     */          \
  X(BRANCH, "branch")               /* control flow                                    */          \
  X(VOTE, "vote")                   /* VOTE, R2UR and other cheap cross-lane moves     */          \
  X(SHFL, "shfl")                   /* SHFL, MATCH, REDUX: through the memory pipe     */          \
  X(S2R, "s2r")                     /* special registers, barrier state                */          \
  X(BAR, "bar")                     /* CTA barrier                                     */          \
  X(FENCE, "fence")                 /* MEMBAR, ERRBAR, CCTL                            */          \
  X(NONE, "none")                   /* NOP, DEPBAR, EXIT: no result                    */

enum lat_class {
#define X(id, name) LAT_##id,
  LAT_LIST(X)
#undef X
      LAT__N
};

/* Register files an operand can name. */
enum reg_file {
  FILE_NONE,
  FILE_R,     /* vector register, index 0..254 (255 = RZ is never listed)  */
  FILE_UR,    /* uniform register                                          */
  FILE_P,     /* predicate register 0..6                                   */
  FILE_UP,    /* uniform predicate register 0..6                           */
  FILE_B,     /* convergence barrier register                              */
  FILE_CONST, /* constant-bank operand; index unused, see inst.const_*     */
  FILE_S,     /* scalar register; an instruction set has these or FILE_UR   */
  FILE__N
};

struct operand {
  uint8_t file;  /* enum reg_file */
  uint8_t index; /* first register */
  uint8_t width; /* consecutive registers, 1..8; accumulators of a warpgroup's product: up to 128 */
  uint8_t slot;  /* source position 0 = A, 1 = B, 2 = C: register-file cache slot */
  uint8_t reuse; /* source: reuse bit of the slot */
};

enum { INST_MAX_SRC = 8, INST_MAX_DST = 4, INST_MAX_LIMITS = 3, SB_NONE = 7, SB_COUNT = 6 };

/* Groups of a warpgroup's products are counted like results, by a counter of their own. */
enum { SB_GMMA = SB_COUNT, DEP_COUNTERS };

/* An instruction that drains (INST_DRAINS) has no counter in its word. It counts in the last one, beside those that
 * name it. Groups of asynchronous copies that close without one (sass/timing.c) count in the first. */
enum { SB_DRAIN = SB_COUNT - 1, SB_COPIES = 0 };

/* Control information (Huerta et al., MICRO 2025). */
struct inst_ctrl {
  uint8_t stall;    /* cycles before the warp may issue again, 0..15        */
  bool yield;       /* true: prefer another warp next cycle (stored bit 0)  */
  uint8_t write_sb; /* counter released at write-back, SB_NONE = none       */
  uint8_t read_sb;  /* counter released when sources are read, SB_NONE      */
  uint8_t wait;     /* mask of counters it waits for before issue, see inst.limit */
  uint8_t reuse;    /* bit i: reuse flag of operand slot i                  */
};

enum mem_space { MEM_NONE, MEM_GLOBAL, MEM_SHARED, MEM_LOCAL, MEM_GENERIC, MEM_CONST,
                 MEM_TEXTURE, MEM_CLUSTER /* effects only (isa/step.h) */,
                 MEM_SCALAR /* global memory, read by the scalar unit */ };
enum mem_op {
  MEM_LOAD,
  MEM_STORE,
  MEM_ATOMIC /* returns old value */,
  MEM_RED /* no result */,
  MEM_LDGSTS /* global to shared */,
  MEM_LDSM /* matrix load from shared */,
  MEM_PREFETCH /* into L2: no data come back */
};
/* Copies that a warp starts and an engine of the SM makes: bulk and tensor copies of sm_90 and later. */
enum mem_copy_way {
  COPY_NONE,
  COPY_LOAD,     /* global to shared memory of one or several CTAs of the cluster, told to mbarriers */
  COPY_STORE,    /* shared to global memory; counts in the warp's group of copies, as LDGSTS do */
  COPY_REDUCE,   /* the same, combined with what is there */
  COPY_SHARED,   /* shared memory to that of a CTA of the cluster, told to an mbarrier */
  COPY_PREFETCH, /* global memory to L2 */
  COPY__N,       /* those are copies */
  COPY_COMMIT = COPY__N, /* an arrival at mbarriers of CTAs of the cluster when earlier work of tensor memory is done */
  COPY_WORK,     /* which CTAs not yet launched are this cluster's now, to shared memory and mbarriers of its CTAs */
};
enum mem_scope { SCOPE_CTA, SCOPE_GPU, SCOPE_SYS };
enum addr_kind { ADDR_REGULAR, ADDR_UNIFORM, ADDR_IMMEDIATE };

/* What the memory pipeline must know before the addresses exist. */
struct inst_mem {
  uint8_t space;  /* enum mem_space; MEM_NONE: not a memory instruction */
  uint8_t op;     /* enum mem_op */
  uint8_t bytes;  /* per lane: 1 2 4 8 16 */
  uint8_t addr;   /* enum addr_kind (Huerta et al., MICRO 2025, Table 2) */
  bool strong;    /* volatile, .STRONG.*, atomics: performs at the L2 slice */
  bool image;     /* texture or surface: coordinates, no address */
  bool no_filter; /* MEM_TEXTURE: fetches texels without a sampler */
  bool bypass_l1; /* LDGSTS.BYPASS and strong loads of gpu scope or wider */
  bool late_address; /* its address is read as late as other sources of what waits in a queue */
  bool may_wait;  /* SYNCS.PHASECHK.TRYWAIT: its answer may come when the mbarrier's phase is over (effect.waits) */
  bool counts;    /* an atomic that adds to each word how many lanes name it (ATOMS.POPC.INC) */
  bool floats;    /* an atomic on floating point */
  bool fill;      /* its first lane stores to consecutive bytes, as many as mem_effect.fill_bytes says */
  bool copy_map;  /* a copy of a box that a tensor map in memory describes */
  uint8_t copy;   /* enum mem_copy_way; not COPY_NONE: one for the whole warp, at uniform addresses */
};

/* Four neighbouring warps multiply 64 rows of A by B, each its 16 rows; B, and mostly A, in shared memory. */
struct inst_gmma {
  uint16_t columns;   /* of B and the result: 8..256 */
  uint8_t row_bytes;  /* of A: 32 */
  uint8_t column_bytes; /* of a column of B: 32, or 64 with a sparse A */
  bool a_shared;      /* A is in shared memory, too */
  bool ends_group;    /* counts in SB_GMMA until it and all before it are done */
};

/* Work on the SM's tensor memory. What a product or copy takes is only known by its step: struct tensor_work. */
enum tmem_op { TMEM_LOAD, TMEM_STORE, TMEM_FENCE /* earlier stores of the warp are there */, TMEM_COPY, TMEM_PRODUCT };

struct inst_tmem {
  uint8_t op;        /* enum tmem_op */
  uint8_t registers; /* that a thread loads or stores: 1..128 */
  uint8_t lanes;     /* threads that do: 16, 32 */
};

/* What the front end and the issue stage must treat specially. */
enum inst_flag {
  INST_BRANCH = 1 << 0, /* may continue elsewhere than at the next instruction */
  INST_EXIT = 1 << 1,
  INST_BAR = 1 << 2,       /* CTA barrier: the step may block the path */
  INST_CONVERGE = 1 << 3,  /* BSYNC, WARPSYNC: the step may block the path */
  INST_YIELD = 1 << 4,     /* lets another path of the warp run */
  INST_DEPBAR = 1 << 5,    /* issues, and then holds its warp: see inst.hold_for */
  INST_LDGDEPBAR = 1 << 6, /* write counter drops when earlier LDGSTS are done */
  INST_MEMBAR = 1 << 7,
  INST_CLOCK = 1 << 8, /* reads the SM clock */
  INST_SLEEP = 1 << 9, /* NANOSLEEP */
  INST_HALF_RATE_PORT =
      1 << 10, /* IMAD: runs on the FMA pipe alone, at half the rate of FP32 */
  INST_UNDECODED = 1 << 11, /* no row matches: executing it is an error */
  INST_SYSCALL = 1 << 12,   /* runtime service (vprintf, malloc): executed by the simulator */
  INST_AFTER_LDGSTS = 1 << 13, /* performs when earlier LDGSTS of the warp are done: ARRIVES */
  INST_GMMA = 1 << 14,         /* product of a warpgroup, beside the warps: see inst.gmma */
  INST_TMEM = 1 << 15,         /* works on tensor memory: see inst.tmem */
  INST_EMPTIES_L1 = 1 << 16,   /* what L1 has of global memory is forgotten, behind a fence or a load that acquires */
  INST_DRAINS = 1 << 17, /* the warp issues again when it has read its sources and written its results: inst.hold_for */
};

/* A counter that is waited for, but may be so far above zero. */
struct inst_limit {
  uint8_t counter, at_most;
};

enum { GUARD_NONE = 7 };

struct inst {
  uint64_t pc; /* address in the code space */
  struct inst_ctrl ctrl;
  uint8_t pipe;      /* enum pipe */
  uint8_t lat;       /* enum lat_class */
  uint32_t flags;    /* enum inst_flag */
  uint8_t scope;     /* of a fence (INST_MEMBAR) or a strong access: enum mem_scope */
  uint8_t bytes;     /* its size: 4, 8, 12 or 16 */
  uint16_t mnemonic; /* id for instruction-mix counts only: index into the ISA's name table */
  struct inst_mem mem;
  uint8_t guard; /* guard predicate; GUARD_NONE: always */
  bool guard_not;
  bool has_const; /* a fixed-latency source comes from a constant bank (L0 FL cache) */
  uint8_t const_bank;
  uint32_t const_off; /* bytes */
  uint8_t n_src, n_dst;
  struct operand src[INST_MAX_SRC], dst[INST_MAX_DST]; /* guard predicate not listed */
  uint8_t next; /* bytes from its pc to that of the next instruction: its size, and control slots behind it */
  /* Counters it waits for (ctrl.wait) must be zero, but for those listed here (AMD's s_waitcnt: all of them). Of
   * INST_DEPBAR the list says it of hold_for. */
  uint8_t n_limits;
  struct inst_limit limit[INST_MAX_LIMITS];
  /* From here on, what only some instructions of one vendor have. */
  uint8_t hold_for; /* INST_DEPBAR, INST_DRAINS: mask of counters */
  struct inst_gmma gmma; /* INST_GMMA */
  struct inst_tmem tmem; /* INST_TMEM */
};

/* The counter whose limit an instruction states; SB_NONE: there is none. */
static inline unsigned inst_limit_counter(const struct inst *in)
{
  return in->n_limits ? in->limit[0].counter : (unsigned)SB_NONE;
}

struct isa;

/* Code of which some is not decoded yet: its instructions have pc 0, and nothing else of them may be read. Both
 * functions may be called by any thread at any time; what is decoded stays as it is. */
struct code_rest {
  void (*one)(struct code_rest *, uint64_t i); /* instruction i is decoded when it returns, if there is one */
  void (*all)(struct code_rest *);
};

/* Instructions [first, first + n) of a view. */
struct code_span {
  uint64_t first, n;
};

/* What a launch may execute as far as its kernel says: the kernel, and what others may call, too. All 0: all code. */
struct code_reach {
  struct code_span own;
  const struct code_span *shared;
  uint32_t n_shared;
};

/* The decoded code space. Instructions of one size lie at multiples of it: their number follows from the pc. Where
 * sizes differ, or some words are control slots (control information for the instructions beside them, as in the
 * bundles of Kepler and Maxwell: fetched, never executed), `number` knows it. A path is never at a control slot. */
struct code_view {
  uint64_t base, end; /* pc range [base, end) */
  unsigned shift;     /* log2 of what all pcs are multiples of, in bytes; of the instruction size where there is one */
  uint32_t n;         /* instructions, where `number` is there */
  const struct inst *inst; /* in order of address */
  uint64_t place; /* pc + place: where an instruction lies for the caches (code_place) */
  const uint32_t *number; /* of the instruction that starts at base + (index << shift), CODE_NO_INST: none does;
                             NULL: one size */
  const struct isa *isa; /* whose instructions they are (isa/isa.h), and … */
  const void *decoded;   /* … its own form of them, by the same numbers. NULL where nobody prints them */
  struct code_rest *rest; /* NULL: all is decoded */
};
#define CODE_NO_INST UINT32_MAX

/* A place for the decoded code, away from data: the same for the same instructions, so that code which is
 * launched again, or loaded again, is found in L2; another one for other code, but for one in 2^22. */
uint64_t code_place(const struct code_view *);
/* The same, one instruction after the other. */
#define CODE_PLACE_START UINT64_C(0xcbf29ce484222325)
uint64_t code_place_mix(uint64_t hash, const struct inst *);
uint64_t code_place_of(uint64_t hash);

/* A view of n instructions with fields pc, bytes and next filled, in order of address in [base, end). Fills `number`,
 * of (end - base) >> shift entries, which like inst stays the caller's. */
struct code_view code_mixed(const struct inst *inst, uint32_t n, uint64_t base, uint64_t end, unsigned shift,
                            uint32_t *number);

/* The instructions of a view. */
static inline uint64_t code_count(const struct code_view *c)
{
  return c->number ? c->n : (c->end - c->base) >> c->shift;
}

/* The rest of the functions below, where sizes differ. */
uint64_t code_mixed_index(const struct code_view *, uint64_t pc);
const struct inst *code_mixed_at(const struct code_view *, uint64_t pc);
uint64_t code_mixed_next(const struct code_view *, uint64_t pc);

/* The same where no instruction is in sight: it may not be decoded yet. */
__attribute__((cold)) const struct inst *code_rest_at(const struct code_view *, uint64_t pc);

/* Instruction i is decoded when it returns. */
static inline void code_want(const struct code_view *c, uint64_t i)
{
  if (c->rest && !__atomic_load_n(&c->inst[i].pc, __ATOMIC_ACQUIRE)) c->rest->one(c->rest, i);
}

/* All instructions are. */
static inline void code_want_all(const struct code_view *c)
{
  if (c->rest) c->rest->all(c->rest);
}

/* Number of the instruction at pc; code_count or more: there is none. */
static inline uint64_t code_index(const struct code_view *c, uint64_t pc)
{
  if (__builtin_expect(c->number != NULL, 0)) return code_mixed_index(c, pc);
  return (pc - c->base) >> c->shift;
}

/* NULL when pc lies outside the code space or no instruction starts there. */
static inline const struct inst *code_at(const struct code_view *c, uint64_t pc)
{
  if (__builtin_expect(c->number != NULL, 0)) return code_mixed_at(c, pc);
  uint64_t off = pc - c->base;
  if (off >= c->end - c->base) return NULL;
  const struct inst *in = &c->inst[off >> c->shift];
  if (__builtin_expect(__atomic_load_n(&in->pc, __ATOMIC_ACQUIRE) == pc, 1)) return in;
  return code_rest_at(c, pc);
}

/* Number of an instruction of the view. */
static inline uint64_t code_number(const struct code_view *c, const struct inst *in)
{
  return (uint64_t)(in - c->inst);
}

/* pc of instruction number i. */
static inline uint64_t code_pc(const struct code_view *c, uint64_t i)
{
  return c->number ? c->inst[i].pc : c->base + (i << c->shift);
}

/* pc behind the instruction at pc, or in which pc lies. */
static inline uint64_t code_next(const struct code_view *c, uint64_t pc)
{
  if (__builtin_expect(c->number != NULL, 0)) return code_mixed_next(c, pc);
  return pc + (UINT64_C(1) << c->shift);
}

/* pc behind the n instructions from pc on. */
static inline uint64_t code_skip(const struct code_view *c, uint64_t pc, unsigned n)
{
  if (__builtin_expect(c->number == NULL, 1)) return pc + ((uint64_t)n << c->shift);
  while (n--) pc = code_mixed_next(c, pc);
  return pc;
}

/* pc of the last byte of the instruction at pc. */
uint64_t code_last_byte(const struct code_view *, uint64_t pc);
/* pc of the instruction in front of the one at pc. */
uint64_t code_previous(const struct code_view *, uint64_t pc);

#endif
