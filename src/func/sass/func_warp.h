/* Architectural state of SASS execution: launch, CTA, warp.
 *
 * Registers are rows of 32 lanes x 32 bits (128 bytes). An operand of a prepared operation (uop.h)
 * is a base number and an offset; warp->base[] turns it into a row, so that registers, constants
 * and immediates are read by the same code.
 *
 * Uniform registers and predicates belong to the path of a warp that writes them: each lane has the value that its path
 * wrote last. So paths that split take their values with them, and no path sees what another writes while it waits
 * (docs/decisions/0018-uniform-registers-of-paths.md).
 */
#ifndef WS_FUNC_SASS_FUNC_WARP_H
#define WS_FUNC_SASS_FUNC_WARP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/bits.h"
#include "func/func.h"
#include "isa/step.h"

enum {
  LANES = 32,
  ROW_BYTES = 128,
  N_UREGS = 96,       /* 63 up to sm_90; compiler output for sm_120 uses UR79 */
  N_PREDS = 8,
  N_BREGS = 16,
  OWN_GROUPS = 32,    /* places for convergence groups in the warp itself, a power of two */
  YIELD_STATES = 4,   /* of a lane that are remembered (spin.h) */
  SPIN_LOOPS = 4,     /* that a warp knows */
  N_BARRIERS = 16,
  BAR_CLUSTER = STEP_CLUSTER_BARRIER,   /* the CTA's part of its cluster's barrier */
  WIDE_ROWS = 8,      /* rows of the widest operand */
  PRED_NONE = 7,      /* P7: reads as true, writes are dropped */
  PRED_UNIFORM = 8,   /* pred[PRED_UNIFORM + k] is UPk */
};
#define FULL_MASK 0xffffffffu

/* Operand bases. */
enum row_base {
  BASE_POOL, /* launch-wide rows: WIDE_ROWS zero rows (RZ, URZ), then immediates and constants,
                broadcast. Read only */
  BASE_REG,  /* warp: R0 …, then WIDE_ROWS sink rows that take writes to RZ */
  BASE_UREG, /* warp: UR0 … as rows, a value for each lane, then WIDE_ROWS sink rows (URZ) */
  BASE__N
};

/* One convergence group (groups.h). */
struct func_group {
  uint32_t id;
  uint32_t members; /* lanes that have not left it; those that have exited meanwhile may be among them */
  uint32_t kept;    /* lanes that hold the number elsewhere than in one B register */
  uint32_t mask;    /* lane set from which the program made it; 0: BSSY did */
  uint32_t depth;   /* calls open in its first lane when it was made */
  uint32_t rounds;  /* YIELDs of its lanes while others of it waited at a BSYNC, and for none that was opened later */
};

struct func_warp {
  struct step_warp step;      /* first: the seam's part */
  uint8_t *base[BASE__N];     /* rows of the three operand bases */
  uint32_t pred[2 * N_PREDS]; /* P0..P6: one bit per lane; [8..14] = UP0..UP6, the same; [7] and [15] = all ones */
  uint32_t mactive;           /* lanes that exist and have not exited */
  uint32_t lanes_present;     /* lanes with a thread (last warp of a CTA may be partial) */
  uint32_t warp_id;           /* in the CTA */
  uint8_t cur;                /* path being stepped; control handlers only */
  uint32_t spins; /* YIELDs of any path since a wait for convergence ended, at which all were blocked or yielded */
  uint32_t spinning; /* lanes that spin, as their last YIELD knew (spin.h) */
  uint32_t spin_loops; /* that were found */
  uint64_t spin_loop[SPIN_LOOPS]; /* pcs of their YIELDs; the oldest is forgotten */
  uint32_t exclusive;         /* lanes whose last WARPSYNC was .EXCLUSIVE or .COLLECTIVE */
  uint32_t red_pop;           /* results of the last BAR.RED, for B2R.RESULT */
  uint32_t red_pred;          /* all ones or zero */
  struct func_cta *cta;
  const struct func_launch *launch;
  uint8_t *local;             /* thread-local memory, lane-major: local + lane * local_bytes */
  const uint32_t (*tid)[LANES]; /* threadIdx of each lane: x, y, z; the launch's */
  uint16_t regs;              /* of a thread (USETMAXREG) */
  uint16_t bregs_set;         /* bit b: row b of breg may have ones */
  bool rare_set;              /* rpc, last_error may be other than zero */
  bool called;                /* depth may be other than zero */
  bool watched;               /* yield_state may be other than zero */
  uint16_t stride;            /* Without time: steps of its last slice, 0 behind a CTA barrier or a phase of an mbarrier
                                 and at its start. Warps that come from there together keep pace for a while on a GPU,
                                 and programs rely on it: they read shared memory behind a barrier and write it again
                                 ahead of the next, and look at every phase of an mbarrier that tells odd from even. */
  /* From here on a new warp only clears what is in use (launch.c). */
  uint8_t park[STEP_MAX_PATHS]; /* waiting path: barrier register or PARK_* (paths.h) */
  uint32_t park_mask[LANES];  /* per lane waiting in WARPSYNC: lanes it waits for */
  uint32_t rpc[2][LANES];     /* RPCMOV: two words per thread */
  uint16_t last_error[LANES]; /* cudaGetLastError of the device runtime */
  /* Convergence barriers: breg[b][i] = number of the group with which lane i entered barrier b (BSSY); kept per lane,
   * because diverged parts of a warp may use one register for different regions. Written through warp_breg. */
  uint32_t breg[N_BREGS][LANES];
  uint32_t yield_state[YIELD_STATES][LANES]; /* digests of a lane at its last YIELDs, the newest first (spin.h) */
  uint32_t depth[LANES];      /* calls that the lane has not returned from; wraps where a program returns more often */
  struct func_group *group;   /* number n is at n & group_last, or over; cleared where it was used (groups_begin) */
  uint32_t group_last;
  uint32_t group_id;          /* of the newest; 0: there was none */
  struct func_group own_groups[OWN_GROUPS];
};

/* Row b of breg, to be written. */
static inline uint32_t *warp_breg(struct func_warp *w, unsigned b)
{
  w->bregs_set |= (uint16_t)(1u << b);
  return w->breg[b];
}

/* One CTA barrier, all zeros while nobody has arrived. Counted in threads; lanes without a live thread count as
 * arrived with the last live lanes of their warp, so that counts stay multiples of the warp size. */
struct func_barrier {
  bool busy;         /* somebody has arrived in this phase */
  bool told;         /* BAR_CLUSTER: the CTA has arrived in this phase */
  uint32_t count;    /* threads to wait for; 0 = all threads of the CTA that have not exited */
  uint32_t arrived;  /* threads */
  uint32_t topped;   /* bit w: the dead lanes of warp w are counted in */
  uint32_t red_pop, red_and, red_or; /* predicates gathered so far: count, AND, OR (0 or ones) */
  uint32_t red_op;   /* 0 POPC, 1 AND, 2 OR */
  uint32_t lanes[32]; /* per warp: lanes that have arrived in this phase */
};

struct func_cta {
  struct step_cta step; /* first */
  uint8_t *shared;      /* shared_bytes */
  uint32_t ctaid[3];
  unsigned worker, slot, smid;
  struct func_cluster *cluster; /* NULL: the CTA is alone */
  unsigned rank;                /* number of the CTA in its cluster */
  struct func_barrier barrier[N_BARRIERS + 1];
  struct func_warp *warps; /* n_warps */
  unsigned free_regs;      /* that warps have given back, registers of a thread added up over them */
  struct gmem_view direct; /* image without log, for services (printf, malloc) */
  bool local_dirty;        /* local memory was written since it was last cleared */
};

static inline uint32_t *warp_reg(const struct func_warp *w, unsigned r)
{
  return (uint32_t *)(void *)(w->base[BASE_REG] + (size_t)r * ROW_BYTES);
}

static inline uint32_t *warp_ureg(const struct func_warp *w, unsigned r)
{
  return (uint32_t *)(void *)(w->base[BASE_UREG] + (size_t)r * ROW_BYTES);
}

/* Lanes of the path being stepped, helpers included. */
static inline uint32_t warp_path(const struct func_warp *w)
{
  return (uint32_t)w->step.paths.p[w->cur].mask;
}

/* Value of a uniform register by its code, as the path being stepped reads it; URZ is 0. */
static inline uint32_t warp_uniform(const struct func_warp *w, unsigned r)
{
  return r < N_UREGS ? warp_ureg(w, r)[bits_first(warp_path(w))] : 0;
}

#endif
