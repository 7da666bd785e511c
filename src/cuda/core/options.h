/* Options of `warpstep exec`, as they travel to the program: environment variable WARPSTEP_EXEC, lines
 * KEY=VALUE, each key at most once except `set`.
 *
 *   gpu machine presets set=KEY=VALUE mode threads interleave time stop cold report json trace quiet capture
 *   timeline timeline_sms timeline_warps timeline_us progress max_cycles max_insts sample sample_ctas
 *   sanitize leaks print_level print_limit error_exitcode log tally started program
 *   debug debug_gdb debug_commands debug_batch debug_turn html html_baseline
 *   host_time spin ranks_fd share mps
 *   ncu_stream ncu_log ncu_code ncu_schedulers ncu_waits ncu_quiet ncu_OPTION=VALUE (ncu/ncu_filter.h)
 */
#ifndef WS_CUDA_OPTIONS_H
#define WS_CUDA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "host/activity.h"
#include "host/choice.h"
#include "ncu/ncu_capture.h"

#define EXEC_OPTIONS_VARIABLE "WARPSTEP_EXEC"

struct exec_options {
  const char *gpu;      /* preset; default rtx-3070 */
  const char *machine;  /* its name or file; NULL: one GPU of that preset */
  const char *mig;      /* instances that the GPU is cut into, with commas; NULL: it is whole */
  const char *presets;  /* folder; NULL: as presets_dir finds it */
  const char **set;     /* KEY=VALUE */
  unsigned n_set;
  bool timed;           /* false: no launch is timed */
  unsigned threads;     /* host threads of a launch */
  unsigned interleave;  /* launches without time: instructions of a warp's turn (isa/watch.h); 0: not given */
  const char *capture;  /* folder for captured launches; NULL: none */
  const char *timeline; /* file for Perfetto; NULL: none */
  struct activity_choice activity; /* what it shows */
  const char *what_if;  /* a row of host/what_if_machine.h that all of this run is without; NULL: none */
  const char *html;     /* page for browsers; NULL: none */
  const char *html_baseline; /* what it compares with; NULL: nothing */
  const char *trace;    /* folder for traces of the chosen launches; NULL: none. No launch is timed then */
  struct choice choice; /* launches to time, to capture or to trace */
  bool stop_after_timed; /* the program ends after launch choice.last */
  const char *host_time; /* host/host_time.h; NULL: calls */
  bool spin_strict;      /* accesses to memory that kernels may write happen at simulated times (poll_trap.h) */
  bool cold;             /* each timed launch starts with empty caches */
  const char *report;    /* file for the table of launches; NULL: stderr */
  const char *json;      /* file, "-" is stdout; NULL: none */
  bool quiet;            /* no table */
  bool progress;         /* a progress line, also when stderr is no terminal */
  uint64_t max_cycles, max_insts; /* of each launch; 0: no limit */
  uint64_t sample_ctas;  /* about so many CTAs of a launch are timed; 0: all */
  /* warpstep sanitize: tools (sanitize/sanitize.h; 0: none), level and number of reports, the exit status of a program
   * that has defects and would end with 0, the file for reports (NULL: stdout) */
  unsigned sanitize, print_level;
  uint64_t print_limit, error_exitcode;
  const char *log;
  const char *tally;     /* counts of all processes (sanitize/error_tally.h); NULL: nobody reads them */
  /* warpstep debug: "console", "gdb" or "dap" (NULL: no debugger), and what goes with it (debug/debug_session.h) */
  const char *debug, *debug_gdb, *debug_commands;
  bool debug_batch;
  unsigned debug_turn;
  struct ncu_capture_options ncu; /* warpstep ncu; launches that it does not choose run without time */
  uint64_t ranks_fd;     /* of the socket to other ranks (base/ranks.h); 0: there are none */
  const char *mps;       /* the same of the server of the Multi-Process Service (cli/mps_hub.h) */
  const char *share;     /* NAME/PROCESS/DESCRIPTOR of who gives out the GPU (cli/share_hub.h); NULL: nobody does */
  uint64_t started;      /* when the program was: ns of the clock of files, 0: not known */
  uint64_t program;      /* process that says so when nothing used the GPU (cuda/unused_gpu.c); 0: none does */
  uint64_t sample;       /* launches alike that are timed before others are estimated; 0: all are timed */
  struct arena arena;
};

/* text == NULL: the defaults. What it holds lives as long as the process. */
bool exec_options_parse(struct exec_options *, const char *text, struct err *e);

/* Whether launch `number` (from 1) of this kernel is timed: chosen, or any when those chosen are captured. */
bool exec_options_timed(const struct exec_options *, uint64_t number, const char *kernel);
/* Whether kernels share the GPUs: launches are timed as a whole, each in the state that others leave behind, and nobody
 * looks at each of them. */
bool exec_options_share(const struct exec_options *);
/* Whether kernels of several GPUs take turns: none is timed, and nobody looks at each of them. */
bool exec_options_take_turns(const struct exec_options *);

#endif
