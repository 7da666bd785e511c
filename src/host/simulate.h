/* Running launches of one device, without time or on the timing model: what `warpstep run`, the library
 * and every other host interface share.
 *
 *   struct simulator *s = simulator_new(&params);
 *   simulate(s, &launch, &options, &result, &e);     … again: L2 stays warm from launch to launch
 *   simulator_free(s);
 */
#ifndef WS_HOST_SIMULATE_H
#define WS_HOST_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/params.h"
#include "host/launch.h"
#include "host/positions.h"
#include "isa/isa.h"
#include "isa/watch.h"
#include "stats/stat.h"

struct gpu_inst_profile;
struct gpu_instances;
struct hazard;
struct observer;
struct usage;
struct simulator; /* owns the timing model once it was needed */

/* What wrong control bits do in a timed run. */
enum sim_hazards {
  SIM_HAZARDS_OFF = 0,     /* nothing: results are right */
  SIM_HAZARDS_CHECK = 1,   /* they are reported (time/sm/hazard.h); results are right */
  SIM_HAZARDS_EMULATE = 2, /* results are wrong as on silicon (time/sm/emulate.h) */
  SIM_HAZARDS_BOTH = SIM_HAZARDS_CHECK | SIM_HAZARDS_EMULATE
};

/* Who observes the pipelines of a GPU. */
struct sim_observers {
  void *ctx;
  struct observer *(*of)(void *ctx, unsigned sm); /* the observer of an SM, NULL: none; asked once */
  void (*begin)(void *ctx, uint64_t cycle);       /* a run begins in this cycle of the SM clock; may be NULL */
};

/* Between windows of a timed run of one launch. */
struct sim_stops {
  const unsigned long *cycle; /* of the launch, ascending; each stop is at the first end of a window there or later */
  unsigned n;
  /* threads: *threads is 0; else those of the run are gone, and so many are started. False: the run fails, with e. */
  bool (*stop)(void *ctx, unsigned i, uint64_t cycle, unsigned *threads, struct err *e);
  void *ctx;
};

struct sim_options {
  bool timed;          /* false: results only */
  unsigned threads;    /* host threads, >= 1; results do not depend on it (without time: isa/watch.h) */
  enum sim_hazards hazards; /* timed runs */
  bool cold;           /* timed runs: all caches start empty, else as the last run left them */
  uint64_t start_ps;   /* not before this time of the simulator's clock, ps since it began */
  unsigned slice;      /* runs without time: isa/watch.h */
  /* Timed runs: only about so many CTAs are timed, at least three waves; the others run without time, and
   * the kernel's time is estimated from how fast the timed ones were done. 0: all are timed. Cooperative
   * launches are never sampled. */
  uint64_t sample_ctas;
  uint64_t first_ctas; /* timed runs: the grid is cut down to so many CTAs, the first; 0: all. Not with sample_ctas */
  uint64_t max_cycles; /* timed runs; 0: no limit */
  uint64_t max_insts;  /* warp instructions; 0: no limit */
  bool (*poll)(void *ctx, const struct run_progress *); /* isa/watch.h; may be NULL */
  void *ctx;
  uint64_t poll_insts; /* runs without time: isa/watch.h */
  const struct step_tap *tap; /* runs without time (isa/watch.h); may be NULL */
  /* Timed runs: who observes the pipeline of an SM (time/sm/observer.h); must live as long as the simulator. NULL:
   * nobody */
  const struct sim_observers *observers;
  bool instances;      /* timed runs: counters of each SM, slice and channel alone, too (sim_result.instances) */
  struct usage *usage; /* timed runs of one launch: filled over its time (host/usage.h). NULL: not asked for */
  const struct sim_stops *stops; /* NULL: none */
  FILE *report;        /* details of a deadlock of a timed run; may be NULL */
};

/* The timing model's clock goes to 2^52 ps, more than an hour (time/noc/inbox.c). */
#define SIM_LAST_START_PS (UINT64_C(1) << 51)

enum { SIM_MAX_GROUPS = 8 };

/* All pointers belong to the simulator and are valid until its next run. */
/* What a timed run had to do with memory behind links: of the host, of other GPUs. */
struct link_use {
  double taken;                /* of the run, 0 to 1: the GPU's busiest link in its busiest direction, by whomever */
  uint64_t requests;           /* of cores, a line each */
  uint64_t reads, read_wait_ps; /* those that cores waited for, loads and atomics, and for how long, summed */
};

struct sim_result {
  enum run_end end;         /* not RUN_REFUSED: that is an error */
  bool timed;               /* the fields of a timed run below are filled */
  struct fault fault;       /* RUN_FAULT */
  uint64_t warp_insts, thread_insts; /* thread: lanes with a true guard */
  const struct isa *isa;    /* whose instructions ran */
  const uint64_t *mix, *thread_mix; /* warp and thread instructions by its mnemonics */
  struct work work;         /* arithmetic of threads, as profilers count it */
  /* Where all resident warps were, most first; empty after RUN_DONE. */
  const struct positions *where;
  /* SM clock; of runs without time nominal, from the instructions executed (FUNC_CYCLES_PER_INST) */
  uint64_t time_ps;
  /* timed runs; after any end but RUN_DONE, what was so far */
  uint64_t cycles;
  unsigned stops;           /* of sim_options, those that were reached */
  uint64_t sampled_ctas;    /* CTAs that were timed; 0: all. Counters are of these, warp_insts of all */
  uint64_t error_cycles;    /* sampled: half-width of the 95 % interval of `cycles` */
  uint64_t start_ps;        /* when the launch started, on the simulator's clock */
  unsigned together;        /* launches that were there at the same time, this one with them; above 1 there are neither
                               groups nor mix nor profile, and where is that of all of them */
  uint64_t l2_sectors, dram_bytes; /* what this launch read and wrote there, without its code, if together > 1 */
  unsigned ctas_per_sm;     /* resident at once, by the limits of the SM */
  const char *limiter;      /* what limits ctas_per_sm */
  struct stat_group group[SIM_MAX_GROUPS];
  unsigned n_groups;
  struct link_use links;    /* together == 1; zeros: there are none */
  const struct gpu_instances *instances; /* time/gpu/instances.h; NULL: not asked for, or not timed */
  const struct gpu_inst_profile *profile; /* per instruction (time/gpu/gpu.h); NULL: not of one launch, or not timed */
  const struct hazard *hazards; /* NULL: not checked */
};

/* params must outlive the simulator. NULL: no host memory. */
struct simulator *simulator_new(const struct params *);
void simulator_free(struct simulator *);
/* In a process that goes on from a checkpoint: its threads are started again, once where several share them. Call it
 * for all simulators, between runs. threads: so many; 0: as many as before. */
void simulator_renew_threads(struct simulator *, unsigned threads);

/* Before its first run: the GPU stands in a machine of its own, with a link to a host's memory and copy engines
 * (host/surroundings.h). */
void simulator_surround(struct simulator *);
/* Before the first run of all of them: the GPU is one of a machine, at a node, and sees memory by this image. Their
 * runs have one clock. The surroundings go behind the simulators. */
struct surroundings;
void simulator_join(struct simulator *, struct surroundings *, unsigned node, struct gmem *image);
/* Before anything else: launches and copies (host/live_gpu.h) go to somebody who has the GPU (host/gpu_server.h), with
 * his context. */
struct gpu_server;
void simulator_serve_by(struct simulator *, const struct gpu_server *, void *server);
/* Between runs and calls of live_run: where the pages of [addr, addr + bytes), whole ones of 4 KiB, are: at a node of
 * its machine, a GPU or a socket; -1: at whoever looks. */
void simulator_place(struct simulator *, uint64_t addr, uint64_t bytes, int node);
/* … at the socket that is nearest; nothing without a machine. */
void simulator_place_at_host(struct simulator *, uint64_t addr, uint64_t bytes);
/* Its managed memory, from now on, of a GPU that has been surrounded and is alone; NULL: it has not. */
struct uvm_machine;
struct uvm_machine *simulator_manage(struct simulator *);
bool simulator_is_managed(const struct simulator *);
/* Another simulator of a GPU that stands alone and was surrounded: one of the two stands while the other one runs
 * (live_stand). With links and caches of its own, it finds memory where the first one does and has its part of L2 set
 * aside, as of the last time it followed it, which it does before a launch. */
struct simulator *simulator_beside(const struct simulator *);
void simulator_follow(struct simulator *, const struct simulator *first);
/* The host does this to it; what uvm_host_touch says. */
struct uvm_op;
struct uvm_host_fault simulator_act_managed(struct simulator *, struct uvm_machine *, const struct uvm_op *);
/* How bytes of the host's program are reached; NULL: they are this process's. Of one that has been surrounded. */
struct program_memory;
void simulator_set_program(struct simulator *, const struct program_memory *);
/* Before its first run: gets what its GPU and what stands around it change in any memory; NULL: nobody looks. */
struct span_list;
void simulator_set_written(struct simulator *, struct span_list *);
/* Before its first run, of a GPU that is alone: what its L2 and caches of CPUs on its memory tell each other; NULL:
 * there are none. */
struct l2_rights;
void simulator_set_rights(struct simulator *, struct l2_rights *, bool at_host);
/* … and page tables of a CPU that it walks (time/mem/page_tables.h); NULL: none. */
struct page_tables;
void simulator_set_tables(struct simulator *, struct page_tables *);

/* Before its first run, of a GPU that is alone: somebody outside simulates its memory (time/mem/outer_memory.h), with
 * times of the GPU's clock. */
struct outer_port;
void simulator_set_memory(struct simulator *, const struct outer_port *);
/* His answer to a read. False: none such waits. */
bool simulator_answer(struct simulator *, uint64_t id, uint64_t at_ps);
/* The GPU's clock, ps; 0: there is no GPU now. */
uint64_t simulator_now(const struct simulator *);
/* Between runs and calls of live_run, for all that follows: so many bytes of L2 are set aside for lines that persist
 * (base/access_window.h), and DRAM is read in pieces of fetch_bytes, 32, 64 or 128; 0: of l2.fetch_bytes. */
void simulator_set_l2(struct simulator *, uint64_t aside_bytes, unsigned fetch_bytes);
/* No line persists any more. */
void simulator_reset_residency(struct simulator *);

/* Runs one launch to its end (result->end). False with e filled: the kernel does not fit the GPU, or
 * the host has no memory. One thread at a time. */
bool simulate(struct simulator *, struct launch *, const struct sim_options *, struct sim_result *,
              struct err *e);

/* As simulate, of any step source and the memory behind it, whatever its instructions are. Without time they run on the
 * calling thread, and clusters are refused; traces, which have no values, only run with time. */
bool simulate_source(struct simulator *, struct step_source *, struct gmem *,
                     const struct sim_options *, struct sim_result *, struct err *e);

/* A counter of a timed run, summed over the GPU, by its name (*_stats.def). */
uint64_t sim_counter(const struct sim_result *, const char *name);
/* The same of a row with n elements. */
const uint64_t *sim_counters(const struct sim_result *, const char *name, unsigned n);

/* Whether all CTAs of the launch can be resident at once, which a cooperative launch must be. False with e
 * filled: how many can. */
bool simulate_fits_at_once(const struct params *, const struct launch *, struct err *e);

/* A device of this GPU: page size, SM ids, resident CTAs, limits. `timed`: one worker per SM, else one
 * that holds the CTAs of all. */
struct device_config device_config_for(const struct params *, bool timed);
/* Makes the launches that follow fit for runs with or without time. */
void device_shape(struct device *, const struct params *, bool timed);

#endif
