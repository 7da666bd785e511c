/* What `warpstep run` leaves behind: one run with all that it owns, and its outputs. */
#ifndef WS_CLI_RUN_OUTPUTS_H
#define WS_CLI_RUN_OUTPUTS_H

#include "cli/checkpoint.h"
#include "cli/run_options.h"
#include "cli/run_what_if.h"
#include "config/presets.h"
#include "host/case.h"
#include "host/simulate.h"
#include "host/usage.h"
#include "load/line_table.h"
#include "sanitize/sanitize.h"
#include "view/konata.h"
#include "view/run_diff.h"

/* Everything one run owns. */
struct launch_run {
  struct run_options opt;
  struct checkpoint *checkpoint; /* where it runs, when it is to be saved; NULL: nowhere */
  struct launch_case lc;
  struct preset preset;
  bool has_preset;
  FILE *print; /* the kernel's own text */
  struct case_run *cr;
  struct simulator *simulator;
  struct sim_result result;
  struct report report;
  struct run_what_if what_if; /* --what-if */
  struct line_table lines; /* --annotate, --html */
  struct usage *usage;     /* --html */
  struct run_doc baseline; /* --html-baseline */
  struct pipe_log *pipe;   /* --pipeline */
  struct activity *activity; /* --timeline */
  struct sanitizer *sanitizer; /* --check; NULL: none */
  uint64_t defects;
};

/* Where the kernel's own text goes. */
FILE *run_printed_to(const struct run_options *);

/* All that the options ask for: buffers, tables on stdout (on stderr when the JSON goes to stdout), files. False: one
 * could not be written. */
bool run_write_outputs(const struct launch_run *, struct err *);

#endif
