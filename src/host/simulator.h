/* Inside of a simulator (simulator.c): its GPU and what stands around it, and what its two ways of running share, one
 * launch from start to end (simulate.c) and launches that come and go while a program's clock passes
 * (live_gpu.c). */
#ifndef WS_HOST_SIMULATOR_H
#define WS_HOST_SIMULATOR_H

#include "host/simulate.h"
#include "time/gpu/gpu.h"

struct live;

struct machine;
struct surroundings;

struct simulator {
  const struct params *params;
  struct gpu *gpu;         /* NULL: not needed yet, or the last kernel is still in it */
  struct machine *machine; /* of this one GPU; NULL when it has joined others */
  struct surroundings *around; /* NULL: a GPU alone */
  unsigned node;               /* there */
  const struct outer_port *outside; /* who simulates the memory of a GPU alone; NULL: it has its own */
  bool alone_there;            /* they are its own */
  struct gpu *last;        /* counters of the last run, when it cannot run another kernel */
  unsigned n_open, open[GPU_SLOTS]; /* slots of the last run's launches, which are asked for until the next run */
  unsigned threads;
  uint64_t l2_aside;  /* bytes */
  unsigned l2_fetch;  /* bytes; 0: as the preset says */
  bool fresh; /* its GPU was made for another of its machine */
  enum sim_hazards hazards;
  const struct sim_observers *observers;
  const struct isa *isa;      /* of the last run */
  uint64_t *mix, *threads_by; /* warp and thread instructions by its mnemonics */
  struct gpu_inst_profile profile; /* of the last timed launch that ran alone */
  struct positions where;
  struct live *live; /* live_gpu.c; NULL: not used */
  const struct gpu_server *served; /* by whom its GPU is; NULL: it has it itself */
  void *server;
};

/* What the watcher of a run needs. */
struct sim_watcher {
  struct simulator *s;
  const struct sim_options *o;
};

/* live_gpu.c */
void live_free(struct simulator *);
/* Before a run: what the last one left goes. What comes is of this instruction set. */
void simulator_forget(struct simulator *, const struct isa *);
/* Its parameters, of a run that starts cold or not. */
struct params simulator_params(const struct simulator *, bool cold);
/* Its GPU is new: what the caller said of L2. */
void simulator_tell_l2(const struct simulator *);
/* The GPU for this run: the one of the last run, unless its number of threads, its hazard mode or who observes is
 * another one (then the caches start cold). */
struct gpu *simulator_gpu(struct simulator *, const struct sim_options *);
/* The GPU at the start of a run, at `start`, ps of its clock, or later. NULL with e filled: the options exclude each
 * other. */
struct gpu *simulator_gpu_at(struct simulator *, const struct sim_options *, uint64_t start, struct err *e);
void simulator_begin_observing(const struct simulator *, uint64_t start_ps);
/* w must live as long as the run. */
struct run_watch simulator_watch(struct sim_watcher *w);
/* Into a slot, the last of simulator.open. */
bool simulator_open(struct simulator *, const struct gpu_launch *, struct err *e);
/* Adds instructions by mnemonic, from the counts per instruction. */
void simulator_count_mix(struct simulator *, const struct gpu_inst_profile *, const struct code_view *);
/* What a run of the one launch in slot open[0] did. */
void simulator_collect(struct simulator *, struct gpu *, const struct code_view *, struct sim_result *);
struct machine *simulator_machine(const struct simulator *);
/* The next simulator of its machine with a GPU from *cursor on, which begins with 0, itself among them; NULL: no more.
 * The same of all, also those that have none. */
struct simulator *simulator_next(struct simulator *, unsigned *cursor);
struct simulator *simulator_next_member(struct simulator *, unsigned *cursor);
/* A run of one of them begins: its GPU, and those of others, which serve it, stand where it starts. */
void simulator_begin(struct simulator *, const struct step_source *first, struct gmem *image);
/* Before a launch is given to the GPU: where its memory is. */
void simulator_send(const struct simulator *, struct step_source *);
/* After any end but RUN_DONE the machine is only good for its counters. */
void simulator_keep(struct simulator *, enum run_end);

#endif
