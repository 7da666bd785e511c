/* The timed part of `warpstep run`. */
#ifndef WS_CLI_RUN_TIMED_H
#define WS_CLI_RUN_TIMED_H

#include <stdbool.h>

#include "base/err.h"
#include "host/case.h"
#include "view/report.h"

struct timed_run; /* owns what the report points to */

/* Runs the launch on the timing model of r->preset with `threads` host threads and fills the timed part
 * of the report: cycles, statistics, mix and, when the program faulted, r->fault = fault. `show_progress`:
 * a progress line on stderr, when that is a terminal. False with e filled when the kernel does not fit the
 * GPU. *out must be freed in any case. */
bool run_timed(struct case_run *, unsigned threads, bool check_hazards, bool show_progress, struct report *r,
               struct fault *fault, struct timed_run **out, struct err *e);
void run_timed_free(struct timed_run *);

#endif
