/* Record of the launches of a program, for the table at its end. */
#ifndef WS_CUDA_RECORD_H
#define WS_CUDA_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "cuda/core/link_report.h"
#include "host/simulate.h"
#include "isa/work.h"
#include "time/uvm/uvm_stats.h"

struct json_t;
struct stalls;

struct launch_record {
  const char *kernel; /* owned by the record; NULL: it has not ended */
  uint32_t grid[3], block[3];
  uint32_t shared;      /* dynamic, bytes */
  unsigned gpu;         /* device of the program */
  uint64_t stream;      /* id; 0: the default stream */
  uint64_t parent;      /* number of the launch whose kernel launched it; 0: the host did */
  bool timed, faulted;
  unsigned together;    /* timed: launches that ran at the same time; above 1 neither L1 nor stalls are told apart */
  bool estimated;       /* from launches like it (sampling.h) */
  uint64_t cycles;      /* timed or estimated */
  uint64_t sampled_ctas, error_cycles; /* timed: as in host/simulate.h */
  uint64_t start_ps, end_ps; /* on the program's timeline */
  uint64_t warp_insts, thread_insts;
  struct work work;          /* arithmetic of threads */
  uint64_t l1_sectors, l2_sectors; /* timed: read and written, of 32 bytes */
  uint64_t dram_bytes;       /* timed: read and written */
  struct link_use links;     /* timed: memory behind links; zeros: none, or not told apart */
  struct stalls *stalls;     /* owned by the record; NULL: not known */
};

struct record {
  struct launch_record *launch;
  uint64_t n, cap;
  bool machine; /* launches name their GPU */
  struct link_report links; /* of the machine */
  const char *host_time; /* where the time of the program's own code comes from (host_clock.h); NULL: it takes none */
  bool spun;             /* the program was found waiting in its own code (idle_watch.h) */
  bool strict;           /* accesses to memory that kernels may write happen at simulated times (poll_trap.h) */
  uint64_t polls;        /* … of which so many were repeated */
  uint64_t graces;       /* … and so often a thread that ran was no longer waited for (host_turns.h) */
  const struct time_share_stats *share; /* of a GPU that other processes have, too; NULL: they have not */
  struct uvm_stats managed[UVM_GPUS]; /* managed memory that moved, of n_managed GPUs */
  unsigned n_managed;              /* 0: none was allocated */
};

#define RECORD_JSON_SCHEMA "warpstep-exec-1"

/* The number of the next launch, from 1; it is kept when it has ended, or never. */
uint64_t record_next(struct record *);
/* A launch has ended; the name is copied. */
void record_keep(struct record *, uint64_t number, const struct launch_record *);
/* Whether launches 1 to n have ended. */
bool record_has_all(const struct record *, uint64_t n);

/* The table: one line per launch (the middle of long tables is left out), then sums. total_ps: the
 * program's simulated time. */
void record_write_table(FILE *, const struct record *, const char *gpu, uint64_t total_ps);
/* Everything, as JSON (docs/json.md), of the first `most` launches; `launches_left_out` says how many are not there. A
 * new reference. */
struct json_t *record_json(const struct record *, const char *gpu, uint64_t total_ps, uint64_t most);
/* cpu: an object that becomes the member "cpu"; NULL: there is none. */
void record_write_json(FILE *, const struct record *, const char *gpu, uint64_t total_ps, const char *cpu);

#endif
