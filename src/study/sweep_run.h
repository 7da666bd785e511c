/* Runs the points of a sweep that have no result yet, several at a time, each in a process of its own that dies with
 * this one. */
#ifndef WS_STUDY_SWEEP_RUN_H
#define WS_STUDY_SWEEP_RUN_H

#include <stdio.h>

#include "study/sweep_store.h"

struct sweep_options {
  const char *self;    /* path of the program */
  const char *presets; /* folder; NULL: the program's own */
  unsigned jobs;       /* processes at a time, from 1 */
  unsigned limit_s;    /* seconds of a run; 0: none */
  unsigned task, n_tasks; /* only points whose number is `task` modulo n_tasks, from 1 */
  bool retry;          /* points that failed, too */
  FILE *progress;      /* a line for each point that ended; NULL: none */
};

struct sweep_counts {
  bool stopped;               /* by SIGINT or SIGTERM */
  uint32_t ran, failed, kept; /* `failed` of those that ran; `kept`: had a result */
};

/* False with e filled: no process could be started, a result could not be stored. Results stored until then stay. */
bool sweep_run(const struct sweep *, struct sweep_store *, const struct sweep_options *, struct sweep_counts *,
               struct err *e);

#endif
