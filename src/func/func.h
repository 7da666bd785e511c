/* Execution of kernels: builds a step source from a loaded kernel and its arguments. Runs a kernel with no timing at
 * all when asked (func_run). What instructions do is in the folder of their set (sass/); a step source of any other
 * set runs by func/run_source.h.
 */
#ifndef WS_FUNC_FUNC_H
#define WS_FUNC_FUNC_H

#include <stdint.h>
#include <stdio.h>

#include "base/gmem.h"
#include "base/line_op.h"
#include "func/texture_desc.h"
#include "isa/step.h"
#include "isa/watch.h"

/* The device's heap: what malloc of kernels took stays taken until a kernel frees it. One launch uses it
 * at a time. */
struct func_heap;
struct device_runtime;
struct func_heap *func_heap_new(uint64_t base, uint64_t bytes); /* guest memory */
void func_heap_free(struct func_heap *);
/* A block of the heap; 0: there is no room, or no heap. */
uint64_t func_heap_take(struct func_heap *, uint64_t bytes);
bool func_heap_asked(const struct func_heap *); /* some kernel has asked for a block */
bool func_heap_give(struct func_heap *, uint64_t addr); /* false: no block starts there */

/* Its state: blocks in address order, which together are the heap. */
struct func_heap_block {
  uint64_t addr, bytes;
  bool used;
};

/* Writes at most `cap` blocks; returns how many there are. */
size_t func_heap_save(const struct func_heap *, struct func_heap_block *, size_t cap);
/* A heap in that state; n >= 1. */
struct func_heap *func_heap_restore(const struct func_heap_block *, size_t n);

/* Host memory that launches of a device have had, for those to come; one thread at a time. */
struct launch_room;
struct heap;
struct func_rooms {
  struct launch_room *room; /* the newest first */
  unsigned n;
  struct heap *heap; /* of the device */
};
void func_rooms_init(struct func_rooms *);
void func_rooms_free(struct func_rooms *); /* no launch has any of it */

/* Allocation unit of the shared memory of a CTA, bytes. */
enum { FUNC_SHARED_GRANULE = 128 };

/* Everything a launch needs; host/ fills it from module + arguments. All pointers stay owned by
 * the caller and must outlive the launch. */
struct func_params {
  unsigned sm;                      /* target of the code: 80, 86, 90 … */
  struct code_view code;            /* of the code space; code.decoded: what semantics see */
  struct code_reach reach;          /* what of it is prepared beforehand; the rest when a path comes there */
  uint64_t entry_pc, code_bytes;    /* of the kernel alone; 0: not known */
  uint32_t grid[3], block[3];
  uint32_t cluster[3];              /* CTAs of a cluster; all 0: no clusters */
  unsigned regs_per_thread;
  unsigned most_regs;               /* that a thread may have later (USETMAXREG); less: those are all */
  /* Bytes, in order of address; the system's are in front of the kernel's or behind them, from the next multiple of
   * FUNC_SHARED_GRANULE on. */
  uint32_t shared_reserved, shared_static, shared_dynamic, shared_behind;
  uint32_t shared_unused; /* of the system, too: no code of the kernel asks where they are, so they are not there */
  uint64_t local_bytes;             /* per thread: stack frame with calls */
  const uint8_t *bank[8];           /* constant banks of the kernel, bank 0 filled */
  uint32_t bank_bytes[8];
  uint64_t shared_window, local_window; /* generic-address windows (low 32 bits zero) */
  struct gmem *image;
  bool own_space;                   /* callers' views are of an image that shows memory of others, too: all accesses
                                       are of `image` */
  unsigned n_workers;               /* SMs (timed) or host threads (function-only) */
  unsigned slots_per_worker;        /* resident CTAs per worker */
  unsigned n_warpids;               /* warp slots of an SM, for %nwarpid */
  FILE *const *print;               /* where the stream of device printf is, whose owner may open it again; NULL: it
                                       is dropped. Records are ordered by the caller's calls */
  const char *kernel_name;
  struct func_heap *heap;           /* device malloc; NULL: none. Outlives its launches' blocks */
  bool on_demand;                   /* a launch for func_run*: code is prepared when a warp gets there */
  bool tmem_pairs;                  /* tensor memory is allocated for pairs of CTAs: words in reserved shared memory */
  bool grid_syncs;                  /* all CTAs are resident: they may wait for each other */
  const struct device_runtime *runtime; /* launches from kernels; NULL: they are faults */
  struct func_rooms *rooms;         /* NULL: the launch has its memory of the host */
  const struct tex_table *textures; /* objects that handles name; NULL: none */
  unsigned host_level;              /* x86-64 level of the handlers: 1, 3, 4; 0 = the host's best. The
                                       results do not depend on it */
};

struct func_launch; /* a step source (first member) */

/* line_apply_fn of what step_ops.line_op of a launch says. Operands may come from anywhere: what does not lie in the
 * line is left out. */
void func_line_apply(const struct line_op *, uint8_t line[LINE_OP_BYTES]);
/* line_reduce_fn of the same, for loads from multicast objects. */
void func_line_reduce(const struct line_op *, unsigned n, const uint8_t (*line)[LINE_OP_BYTES],
                      uint8_t out[LINE_OP_BYTES]);

/* NULL with e filled when the launch cannot be built. */
struct func_launch *func_launch_new(const struct func_params *, struct err *e);
void func_launch_free(struct func_launch *);
struct step_source *func_source(struct func_launch *);

/* There is no time in these runs, but programs read clocks, wait for them and divide by differences. The one rule: each
 * warp instruction that a launch executes, of whatever warp, takes so many cycles of the SM clock; what a launch takes,
 * its events and its clocks all follow it. It is nominal. With more than one cycle, kernels that wait for a time do not
 * take ages. */
enum { FUNC_CYCLES_PER_INST = 32 };

struct func_stats {
  uint64_t warp_insts, thread_insts; /* executed; thread: lanes with a true guard */
  uint64_t *mix;                     /* warp instructions by mnemonic id; NULL: do not count */
  uint64_t *threads;                 /* thread instructions by mnemonic id; NULL: do not count */
};

/* Runs the whole grid without time on the calling thread. False: guest fault in *f. */
bool func_run(struct func_launch *, struct func_stats *, struct fault *f);
/* The same with limits and a watcher (isa/watch.h; max_cycles has no meaning here). */
enum run_end func_run_watched(struct func_launch *, const struct run_watch *, struct func_stats *,
                              struct fault *f);
/* The same for the CTAs from number `first` on, behind those that somebody else has run. Adds to the stats. */
enum run_end func_run_from(struct func_launch *, uint64_t first, const struct run_watch *,
                           struct func_stats *, struct fault *f);

#endif
