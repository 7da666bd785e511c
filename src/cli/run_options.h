/* Options of `warpstep run`, and the launch case they and the file make. */
#ifndef WS_CLI_RUN_OPTIONS_H
#define WS_CLI_RUN_OPTIONS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/cli.h"
#include "config/presets.h"
#include "host/activity.h"
#include "host/launchfile.h"
#include "host/pipe_log.h"

/* Arguments of an option that may be given several times, in order. */
struct text_list {
  const char **item;
  unsigned n;
};

struct run_options {
  struct arena arena;
  const char *file;    /* the first */
  char **files;
  unsigned n_files;    /* several: objects that are linked */
  bool is_cubin;       /* file is a cubin: the launch comes from the options below */
  bool is_capture;     /* file is a captured launch */
  const char *kernel, *grid, *block, *cluster, *shmem;
  struct text_list buf, symbol, arg;
  const char *gpu, *presets, *data, *out, *json, *pipeline;
  const char *pipeline_warps, *pipeline_cycles, *pipeline_sm; /* NULL: not given */
  struct pipe_choice pipe; /* what these three choose */
  const char *html, *html_baseline; /* NULL: not given */
  const char *timeline;
  const char *timeline_sms, *timeline_warps, *timeline_cycles; /* NULL: not given */
  struct activity_choice activity; /* what these three choose */
  struct text_list set, print_buf;
  unsigned threads;
  unsigned interleave;                        /* instructions of a warp's turn without time; 0: not given */
  unsigned warm_up;                           /* launches before the one that is reported */
  unsigned long max_cycles, max_instructions; /* 0: no limit */
  enum hazard_option { HAZARDS_OFF, HAZARDS_CHECK, HAZARDS_GAPS, HAZARDS_EMULATE, HAZARDS_BOTH } hazards;
  const char *checkpoint, *restore;           /* NULL: not given */
  unsigned long *checkpoint_at;               /* cycles, ascending */
  unsigned n_checkpoints;
  bool threads_given;
  unsigned sanitize, print_level;             /* sanitize/sanitize.h: tools, 0: none; level */
  uint64_t what_if;                           /* bits of what_ifs[] (host/what_if.h) */
  bool print_level_given;
  bool functional, check, quiet, json_host, annotate, details;
};

/* CLI_OK: run; any other value (or CLI_OPT_HELP after the help was printed): stop with it. The options
 * point into argv. Call run_options_free in any case. */
int run_options_parse(const struct cli_command *, int argc, char **argv, struct run_options *);
void run_options_free(struct run_options *);

extern const struct cli_option run_option_table[];

/* Reads the launch file, or builds the case from the options. launch_case_free even on failure. */
bool run_options_case(const struct run_options *, struct launch_case *, struct err *e);
/* The GPU of a case, with what --set changes; *name: as it was asked for, or chosen. preset_free when true. */
bool run_options_gpu(const struct run_options *, const struct launch_case *, struct preset *, const char **name,
                     struct err *e);

#endif
