/* Step source: where timing gets a warp's architectural steps from.
 *
 * func/ implements it for real execution, trace/ for traces. Timing
 * (and the function-only runner) see nothing else of either. A step source offers CTAs; a CTA has
 * warps; a warp has one or more paths (sets of lanes with one pc). The caller picks a path and
 * steps it; the effect says what happened. An effect has three commit points, triggered by the
 * caller:
 *   step    - reads the sources; everything but memory results takes effect at once
 *   perform - touches memory (through the caller's view of it) for the lanes named
 *   finish  - commits what perform read to the destination registers
 * A caller that does not care calls the three in a row.
 *
 * A caller that decides itself when a register is read and when a result becomes visible (hazard
 * emulation) splits step in begin and execute, and moves register values with reg_read and
 * reg_write between them.
 */
#ifndef WS_ISA_STEP_H
#define WS_ISA_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/access_window.h"
#include "base/core_set.h"
#include "base/gmem_view.h"
#include "isa/inst.h"

enum { LANES_MAX = 64, STEP_MAX_PATHS = 32, STEP_CLUSTER_BARRIER = 16, MEM_MAX_BYTES = 32, MEM_MAX_TEXELS = 16 };

typedef uint64_t lane_mask; /* bit i = lane i; 64 bits, because wave64 will come */

/* Why a path cannot be stepped now. PATH_READY paths can. */
enum path_wait {
  PATH_READY,
  PATH_WAIT_BAR,      /* CTA barrier */
  PATH_WAIT_CONVERGE, /* BSYNC or WARPSYNC: other lanes of the warp must arrive */
};

struct step_path {
  uint64_t pc;
  lane_mask mask;
  lane_mask
      helpers;  /* of those, lanes that only complete a quad: other paths may have them, too, or they have exited */
  uint8_t wait; /* enum path_wait */
  bool yielded; /* ready, but executed YIELD: other ready paths should run first */
};

/* The paths of one warp; entry order is stable between steps of other warps. n == 0: all lanes
 * have exited. */
struct step_paths {
  uint8_t n, n_ready;
  struct step_path p[STEP_MAX_PATHS];
};

/* Effect flags. */
enum effect_flag {
  EFF_JUMP = 1 << 0,         /* the path does not continue at the next instruction */
  EFF_DIVERGED = 1 << 1,     /* the path split in two */
  EFF_BLOCKED = 1 << 2,      /* the path now waits (see its path_wait) */
  EFF_MERGED = 1 << 3,       /* waiting paths of this warp became ready or merged */
  EFF_EXITED = 1 << 4,       /* lanes exited */
  EFF_WARP_DONE = 1 << 5,    /* the last lane exited */
  EFF_BAR_RELEASED = 1 << 6, /* paths of other warps of the CTA became ready */
  EFF_CTA_DONE = 1 << 7,     /* the last warp of the CTA is done */
  EFF_BACKWARD = 1 << 8,     /* taken branch to a lower pc */
  EFF_MEM = 1 << 9,          /* mem is filled: perform (and finish) must follow */
  EFF_CLUSTER_ARRIVED = 1 << 10, /* all threads of the CTA have arrived at its cluster's barrier: cluster_release must
                                    follow when all CTAs of the cluster that have not exited have */
};

/* What a step source notes for itself about the addresses of all lanes, active or not. */
struct lane_shape {
  uint64_t bits;   /* those below which all addresses are aligned: of any address, or of the first and the stride */
  uint64_t stride; /* bytes between neighbours, less than 2^26 either way, where even */
  bool even;
};

/* What is known of an asynchronous copy. */
struct mem_copy {
  uint32_t ctas;  /* of the cluster, into whose shared memory it writes, a bit per number; 0: none */
  uint32_t bytes; /* it moves, into each of them; of a tensor copy known from the first copy_piece on */
  bool far;       /* some of them are not the own CTA */
  bool found;     /* COPY_WORK, an input of perform: CTAs that were not launched and will not be … */
  uint64_t cta;   /* … the first of their cluster */
};

/* Consecutive bytes of global memory that an asynchronous copy reads or writes. */
struct copy_piece {
  uint64_t addr;
  uint32_t bytes; /* 0: the piece lies out of bounds */
  bool last;
};

/* Memory part of an effect; only filled when EFF_MEM is set. A generic access is resolved to
 * one space per lane before it gets here: `space` is the space of the lanes in `lanes`, a mixed
 * access is reported as global and carries its shared/local lanes in `near_lanes`. MEM_CLUSTER: shared memory of other
 * CTAs of the cluster, near_lanes: of the own; an address is CTA number in the cluster << 24 | offset. */
struct mem_effect {
  _Alignas(64) uint64_t addr[LANES_MAX]; /* byte address; space-local offset for shared and local. Rows start host
                               cache lines: a vector that crosses one is slow to read back */
  uint8_t space; /* enum mem_space: MEM_GLOBAL, MEM_SHARED, MEM_CLUSTER, MEM_LOCAL, MEM_CONST,
                              MEM_TEXTURE, MEM_SCALAR (the first lane stands for the warp) */
  uint8_t op;    /* enum mem_op */
  uint8_t bytes; /* per lane */
  bool strong;
  lane_mask lanes;          /* lanes that access memory */
  lane_mask near_lanes;     /* generic access: lanes that go to shared or local memory instead */
  lane_mask far;            /* mixed: those of near_lanes that go to another CTA's shared memory */
  struct lane_shape shape;
  uint32_t shared_addr[LANES_MAX]; /* MEM_LDGSTS: destination in shared memory */
  uint32_t fill_bytes;             /* a fill (inst.mem.fill) alone: of shared memory, from addr of its first lane on */
  uint8_t n_texels, texture_axes;  /* MEM_TEXTURE: texels per lane, 1..16; directions of the image */
  uint64_t texel[MEM_MAX_TEXELS][LANES_MAX]; /* their addresses, 0: none. Only read by timing */
  struct mem_copy copy; /* asynchronous copies (inst.mem.copy) alone */
  _Alignas(64) uint8_t data[LANES_MAX][MEM_MAX_BYTES]; /* values to store, results to finish;
                                      the layout is the step source's own */
};

/* Arrival at a barrier. */
struct step_barrier {
  uint8_t id;     /* of the CTA: 0 to 15; STEP_CLUSTER_BARRIER: its part of the cluster's */
  bool waits;     /* false: the threads only arrive (bar.arrive) */
  uint16_t count; /* threads to wait for; 0: all of the CTA */
};

/* What a product or copy of tensor memory takes of the SM that issued it. */
struct tensor_work {
  uint32_t a_bytes, b_bytes; /* it reads from shared memory: of A (0: A is in tensor memory), of B; a copy: all of it */
  uint16_t columns;          /* of the product */
  uint8_t ctas;              /* 2: of a pair of CTAs */
  bool narrow;               /* a pair's product of 128 rows, half of them in each SM */
  bool scaled;               /* with block scales */
};

/* What one step did. The caller owns the storage and sets the inputs. */
struct effect {
  /* inputs */
  uint64_t clock;         /* SM clock, cycles, for clock reads */
  uint64_t time_ns;       /* global timer, ns */
  struct mem_effect *mem; /* storage for the memory part */
  /* outputs */
  const struct inst *inst;
  uint64_t pc;
  lane_mask active;  /* lanes of the path before the step */
  lane_mask exec;    /* of those, lanes whose guard was true */
  uint32_t flags;    /* enum effect_flag */
  uint32_t sleep_ns; /* NANOSLEEP: requested time */
  bool sleep_polls;  /* it ends before that when an mbarrier's phase does */
  bool waits;        /* performed, and the phase of no mbarrier is over (inst.mem.may_wait) */
  struct tensor_work tensor;   /* of a product or copy of tensor memory (inst.tmem) */
  struct step_barrier barrier; /* of an instruction of a CTA's or cluster's barrier */
  void *priv;        /* step source's own: the decoded operation, for perform and finish */
};

struct step_source;

/* A fault of the simulated program: it ends the kernel, never the host process. */
enum fault_kind {
  FAULT_NONE,
  FAULT_ILLEGAL_ADDRESS,
  FAULT_MISALIGNED,
  FAULT_SHARED_RANGE, /* outside the CTA's shared memory */
  FAULT_LOCAL_RANGE,  /* outside the thread's local memory: stack overflow */
  FAULT_ILLEGAL_INST, /* no row for this instruction word, registers the kernel has not */
  FAULT_ILLEGAL_PC,
  FAULT_TRAP,        /* BPT.TRAP */
  FAULT_DEADLOCK,    /* nothing can run */
  FAULT_UNSUPPORTED, /* an instruction, a service or a feature the simulator lacks */
  FAULT_ASSERT,      /* a device-side assert did not hold */
  FAULT__N,
};

struct fault {
  uint8_t kind; /* enum fault_kind */
  uint64_t pc, addr;
  uint32_t cta[3], thread[3]; /* ctaid, tid of the first faulting lane */
  char text[256];             /* one line: what, kernel + offset, opcode text where it matters */
  const struct step_source *source; /* of the CTA; NULL: of none */
};

/* Value of one register of any file. */
struct reg_value {
  uint32_t lane[LANES_MAX]; /* register; of a uniform one each lane has the value of its path */
  lane_mask bits;           /* predicate, a bit per lane; of a uniform one likewise */
};

struct step_warp;
struct step_cta;
struct line_op;
struct places;

struct step_ops {
  /* Builds CTA number `cta` (linear, x fastest) in resident slot `slot` of worker `worker` (an SM
   * in a timed run). `smid` is what %smid reads. The CTA is alive until cta_end. */
  struct step_cta *(*cta_begin)(struct step_source *, uint64_t cta, unsigned worker, unsigned slot,
                                unsigned smid);
  void (*cta_end)(struct step_source *, struct step_cta *);
  /* Sources with clusters. The phase of the cluster's barrier has ended for this CTA. */
  void (*cluster_release)(struct step_cta *);
  /* Worker of CTA number `rank` of the CTA's cluster; -1: it is not running. */
  int (*cluster_worker)(const struct step_cta *, unsigned rank);
  /* Steps path number `path`, which is ready or waits at a CTA barrier; in that case the instruction touches only
   * registers of its own threads. False: the warp faulted, see *fault. */
  bool (*step)(struct step_warp *, unsigned path, struct effect *, struct fault *);
  /* Touches memory for `lanes` of e->mem (a subset of mem->lanes | mem->near_lanes). */
  bool (*perform)(struct step_warp *, struct effect *, lane_mask lanes, struct gmem_view *,
                  struct fault *);
  void (*finish)(struct step_warp *, struct effect *);
  /* Sources with asynchronous copies (inst.mem.copy), for callers that time them: perform does all of one at once.
   * Piece number k of the global memory it touches, in the order in which it goes; k = 0 first. False: fault. */
  bool (*copy_piece)(struct step_warp *, struct effect *, uint32_t k, struct copy_piece *, struct gmem_view *,
                     struct fault *);
  /* In the place of perform, for a COPY_REDUCE, behind the first copy_piece: performs what piece k has in
   * [addr, addr + bytes). Callers may do so at once for bytes that do not overlap. */
  bool (*copy_part)(struct step_warp *, struct effect *, uint32_t k, uint64_t addr, uint32_t bytes, struct gmem_view *,
                    struct fault *);
  /* Atomics: what perform would do for these lanes, whose addresses lie in one line, for somebody else to apply.
   * False: an operation that only perform can do. NULL: none can be done elsewhere. */
  bool (*line_op)(struct step_warp *, struct effect *, lane_mask lanes, struct line_op *);
  /* The rest may be NULL in a source without STEP_CAP_VALUES.
   * step in two parts, for instructions with a decoded form (the path's pc is inside the code):
   * begin reads the guard, fills all outputs of *e but flags and sleep_ns, and moves the path on
   * unless the instruction moves it itself; returns false in that case. */
  bool (*begin)(struct step_warp *, unsigned path, struct effect *);
  /* Reads the other sources and does the rest. May follow later, behind other steps of the warp, when
   * begin returned true. False: the warp faulted. */
  bool (*execute)(struct step_warp *, struct effect *, struct fault *);
  /* Value of a register; reg_write changes the lanes named. Numbers: isa/hazard_role.h. */
  void (*reg_read)(const struct step_warp *, unsigned reg, struct reg_value *);
  void (*reg_write)(struct step_warp *, unsigned reg, lane_mask, const struct reg_value *);
};

enum step_cap {
  STEP_CAP_VALUES = 1 << 0,  /* effects carry real values */
  STEP_CAP_CONTROL = 1 << 1, /* instructions carry control bits */
};

/* First member of the implementation's own warp. */
struct step_warp {
  const struct step_ops *ops;
  struct step_cta *cta;
  struct step_paths paths;
  uint8_t cut_short; /* function-only: 1 + the path that goes on when its slice ended; 0: none */
};

/* First member of the implementation's own CTA. */
struct step_cta {
  struct step_source *source;
  uint64_t id; /* linear CTA number */
  unsigned n_warps, warps_left;
  struct step_warp **warp;
};

/* One kernel launch. First member of the implementation's own launch. */
struct step_source {
  const struct step_ops *ops;
  uint32_t caps; /* enum step_cap */
  struct code_view code;
  uint64_t entry_pc, code_bytes;                  /* of the kernel, without what it calls; 0 bytes: not known */
  uint64_t n_ctas;                                /* CTAs of the grid */
  unsigned warps_per_cta, threads_per_cta, lanes; /* lanes per warp */
  uint8_t in_order; /* mask of dependence counters that count down in the order in which instructions raised them */
  unsigned regs_per_thread;                       /* as allocated by the compiler */
  unsigned shared_bytes; /* per CTA, static + dynamic, before rounding, without what the system reserves */
  uint64_t local_bytes;                           /* per thread */
  uint8_t space; /* address space of global memory: sources of one mean the same byte by an address */
  const struct places *places; /* base/place.h; NULL: all its pages are the GPU's own */
  uint16_t node;               /* of the machine: the GPU that runs it */
  bool apart;                  /* bytes of other nodes are not in this process: only messages bring them */
  uint32_t grid[3], block[3];
  bool free_barriers;  /* the caller wants the barriers of a CTA, but those that reduce, to hold nobody */
  uint32_t cluster[3]; /* CTAs of a cluster, which divide the grid; all 0: no clusters */
  struct access_window window; /* what it says of lines in L2 */
  uint8_t shared_share; /* 1 + per cent of the largest share of the L1 array that it wants as shared memory, a hint;
                           0: it said nothing */
  const struct core_set *cores; /* of the GPU, those that its CTAs may run on; NULL: all */
  bool pairs;          /* CTAs 2k and 2k + 1 of a cluster want an SM each */
};

/* CTAs that are resident at the same time: those of a cluster. */
static inline unsigned step_cluster_ctas(const struct step_source *s)
{
  unsigned n = s->cluster[0] * s->cluster[1] * s->cluster[2];
  return n ? n : 1;
}

/* Number of the CTA's cluster. */
static inline uint64_t step_cluster_of(const struct step_source *s, uint64_t cta)
{
  const uint32_t *c = s->cluster, *g = s->grid;
  if (step_cluster_ctas(s) == 1) return cta;
  uint64_t x = cta % g[0] / c[0], y = cta / g[0] % g[1] / c[1], z = cta / g[0] / g[1] / c[2];
  return x + g[0] / c[0] * (y + g[1] / c[1] * z);
}

/* Number of the CTA that is handed out as number i: cluster after cluster, each in the order of its CTAs' numbers in
 * it. */
static inline uint64_t step_cta_at(const struct step_source *s, uint64_t i)
{
  const uint32_t *c = s->cluster, *g = s->grid;
  unsigned n = step_cluster_ctas(s);
  if (n == 1) return i;
  uint64_t k = i / n, r = i % n, nx = g[0] / c[0], ny = g[1] / c[1];
  uint64_t x = k % nx * c[0] + r % c[0], y = k / nx % ny * c[1] + r / c[0] % c[1];
  uint64_t z = k / nx / ny * c[2] + r / c[0] / c[1];
  return x + g[0] * (y + g[1] * z);
}

#endif
