/* A core of a CPU: in order, one instruction in a cycle.
 *
 *   issue     when its operands and its result's register are free; what it computes is there some cycles later
 *             (cpu_params). Divisions keep their unit. Loads that hit go on beside what follows; those that miss, too,
 *             up to `loads` of them
 *   control   as foreseen (cpu_branch.h), else the penalty
 *   code      a line at a time through tags of L1I, behind them the coherent cache
 *   data      tags of L1D say how long it takes; bytes are in the coherent cache (time/coh/coh_cache.h), where
 *             loads, stores, atomics are performed
 *   stores    a buffer, first in first out, one in a cycle; loads look into it. Fences wait until it is empty
 *   order     loads and stores on their way may overtake each other as RVWMO lets them; atomics, conditional stores and
 *             fences wait for all before them, and what follows waits for them
 *   pages     rights come from the operating system and are kept; TLBs say how long it takes
 *   asks      for what only the operating system can do, when all that it has begun is done; the core stands until it
 *             is answered
 *   not modelled: prefetch; a second half of an instruction in the next line; translation of code; several issues in a
 *             cycle
 */
#ifndef WS_TIME_CPU_CPU_CORE_H
#define WS_TIME_CPU_CPU_CORE_H

#include "config/cpu_params.h"
#include "isa/cpu_step.h"
#include "time/coh/coh_cache.h"
#include "time/cpu/cpu_branch.h"
#include "time/cpu/cpu_tags.h"

enum { CPU_MAX_LOADS = 32, CPU_MAX_STORES = 64, CPU_PAGE_SHIFT = 12, CPU_RIGHTS = 1024 };

enum cpu_state {
  CPU_IDLE,
  CPU_RUNS,
  CPU_ASKS, /* `ask` says for what */
};

enum cpu_ask {
  CPU_ASK_CODE,  /* of the page at `address` */
  CPU_ASK_PAGE,  /* rights of the page at `address`; `writes` */
  CPU_ASK_TRAP,  /* the instruction at pc */
  CPU_ASK_FENCE, /* code was stored; pc is behind the fence */
  CPU_ASK_STOP,  /* it was told to */
};

#define CPU_STAT_LIST(X)                                                                                             \
  X(cycles, "cycles in which a thread had the core")                                                                 \
  X(insts, "instructions")                                                                                           \
  X(loads, "loads") X(stores, "stores") X(atomics, "atomics, LR and SC")                                             \
  X(branches, "branches and jumps") X(mispredicted, "of these, foreseen wrongly")                                    \
  X(l1i_hits, "lines of code in L1I") X(l1i_misses, "lines of code that were not")                                   \
  X(l1d_hits, "loads that hit L1") X(l1d_misses, "loads that missed it") X(l2_misses, "loads that missed L2, too")   \
  X(forwarded, "loads that the store buffer answered")                                                               \
  X(tlb_misses, "accesses that missed the TLB") X(walks, "of these, the second one, too")                            \
  X(traps, "times that the operating system was asked")

struct cpu_stats {
#define X(id, what) uint64_t id;
  CPU_STAT_LIST(X)
#undef X
};

struct cpu_load {
  bool used;
  uint8_t dst;
  struct cpu_access access;
};

struct cpu_store {
  uint64_t addr, value; /* within a line */
  uint8_t bytes;
};

/* What is done alone in the pipeline: atomics, and loads from two lines. */
struct cpu_solo {
  bool active, out; /* out: at the cache */
  uint8_t class, dst;
  uint8_t done;     /* bytes */
  struct cpu_access access;
  uint64_t value;
};

struct cpu_rights {
  uint64_t page; /* number + 1 */
  bool reads, writes;
};

struct cpu_core {
  const struct cpu_params *params;
  const struct cpu_step_ops *ops;
  void *hart;
  picos period, at; /* the next issue */
  picos started;    /* it runs since */
  uint64_t pc;
  enum cpu_state state;
  enum cpu_ask ask;
  uint64_t address;
  bool writes, stop; /* stop: it shall ask */
  picos ready[CPU_REGS];
  uint64_t pending;  /* registers that loads will bring, by number */
  picos divider, fp_divider; /* free from then on */
  struct cpu_load load[CPU_MAX_LOADS];
  struct cpu_store store[CPU_MAX_STORES];
  uint32_t n_loads, first_store, n_stores;
  bool store_out;    /* the first one is at the cache */
  struct cpu_solo solo;
  uint64_t reserved; /* address of LR */
  uint64_t code_line, fetching; /* line of code that instructions come from; that is on its way */
  bool code_here, fetch_out;
  struct cpu_branch branch;
  struct cpu_tags l1i, l1d, tlb, tlb_l2, walks;
  struct cpu_rights rights[CPU_RIGHTS];
  struct cpu_stats stats;
};

/* The parameters live as long as the core. */
void cpu_core_init(struct cpu_core *, const struct cpu_params *, const struct cpu_step_ops *, void *hart,
                   struct arena *);

/* As coh_agent.cycle, coh_agent.busy: self is a struct cpu_core. */
picos cpu_core_cycle(void *self, struct coh_cache *, struct coh_queue *replies, picos now, picos until, bool *did);
bool cpu_core_busy(const void *self);
void cpu_core_dump(const struct cpu_core *, FILE *);

/* Between windows, while it does not run: it goes on at pc from `at` on. */
void cpu_core_run(struct cpu_core *, uint64_t pc, picos at);
/* Its thread is gone, at `now`. */
void cpu_core_idle(struct cpu_core *, picos now);
/* What it knows of a page. */
void cpu_core_allow(struct cpu_core *, uint64_t addr, bool reads, bool writes);
/* All that it knows of pages, of code. */
void cpu_core_forget_pages(struct cpu_core *);
void cpu_core_forget_code(struct cpu_core *);

#endif
