/* Tensor memory of an SM (tcgen05, sm_100a and its kin) and the one tensor pipe that works on it.
 *
 *   params  tmem.*, ideal.tensor (what passes the pipe takes it one cycle and is done as late as alone)
 *   ports   in: loads, stores, fences, copies and products as warps issue them; commits that the memory unit grants
 *           out: when results are written and sources are read (the caller drops the counters); commits that are due
 *   rule    loads and stores pass a port of their sub-core, tmem.load_bytes or store_bytes a cycle, in order; a load's
 *           registers are written load_cycles later, so loads of a warp end in order. FENCE.VIEW.ASYNC.T ends when the
 *           warp's stores are there, fence_cycles at the least.
 *           Products and copies pass the pipe in the order of issue. A product takes it a cycle for two columns (narrow
 *           pairs: four), or as long as its matrices come out of shared memory at shared_bytes a cycle, the larger; the
 *           format does not matter, as k always has 32 bytes. It is done product_cycles, and the load of A, behind its
 *           columns; pairs and block scales take longer. (Fitted to SemiAnalysisAI/microbench-blackwell, B200, 264
 *           shapes.)
 *           A commit is due when all is done that its warp had issued before it.
 *   not modelled: the pipe of a pair's second SM; accesses of others to shared memory while matrices are read; a limit
 *           on products that wait
 */
#ifndef WS_TIME_SM_TMEM_H
#define WS_TIME_SM_TMEM_H

#include "base/arena.h"
#include "config/params.h"
#include "isa/step.h"
#include "time/sm/sm_stats.h"
#include "time/sm/warp.h"

enum { TMEM_SUB_CORES = 4 };

/* When an instruction's effects are there. */
struct tmem_times {
  uint64_t first, visible; /* cycle of the first register's write; from which its counter reads less */
  uint64_t read;           /* from which its sources may be overwritten */
  unsigned step;           /* cycles between two registers */
};

/* What the box does to the memory unit; the owner sets it. Commits are named by their transaction. */
struct tmem_ports {
  void *ctx;
  void (*due)(void *ctx, uint16_t id, uint64_t now);
};

struct tmem_commit {
  uint64_t at;
  uint16_t id;
};

struct tmem {
  unsigned load_cycles, load_bytes, store_cycles, store_bytes, fence_cycles, shared_bytes; /* params */
  unsigned copy_cycles, copy_bytes, product_cycles, pair_cycles, narrow_pair_cycles, pair_read_cycles, scaled_cycles;
  unsigned queue_cycles;
  bool ideal;
  uint64_t load_free_at[TMEM_SUB_CORES], store_free_at[TMEM_SUB_CORES];
  uint64_t stored_at[TMEM_SUB_CORES][SUB_CORE_MAX_WARPS]; /* all stores of the warp are there */
  uint64_t done_at[TMEM_SUB_CORES][SUB_CORE_MAX_WARPS];   /* all its products and copies are done */
  uint64_t free_at;                                       /* the tensor pipe */
  uint64_t *noted;                                        /* by transaction: a commit that was issued is due then */
  struct tmem_commit *queue;                              /* granted commits, by time */
  unsigned n, cap;
  uint64_t next_at;                                       /* nothing to do before this cycle */
  struct tmem_ports ports;
  struct sm_stats *stats;
};

void tmem_init(struct tmem *, struct arena *, const struct params *, unsigned txns);

/* INST_TMEM: warp slot `warp` of sub-core `sub_core` issues it. */
struct tmem_times tmem_issue(struct tmem *, unsigned sub_core, unsigned warp, const struct inst *,
                             const struct tensor_work *, uint64_t now);

/* A commit issues, as transaction `id`; and is granted by the memory unit. */
void tmem_note(struct tmem *, unsigned sub_core, unsigned warp, uint16_t id);
void tmem_commit(struct tmem *, uint16_t id, uint64_t now);

void tmem_cycle(struct tmem *, uint64_t now);

#endif
