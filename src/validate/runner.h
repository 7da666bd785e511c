/* Runs the rows of a suite: one child process of this program for all rows with the same command. */
#ifndef WS_VALIDATE_RUNNER_H
#define WS_VALIDATE_RUNNER_H

#include "validate/suite.h"

struct runner_options {
  const char *self;      /* this program */
  const char *root;      /* folder that the files of `run` commands are named from */
  const char *programs;  /* folder that the programs of `exec` commands are named from; NULL: none */
  const char *keep;      /* folder for the JSON of each command, used again if present; NULL: none */
  const char *const *set; /* KEY=VALUE, behind the suite's own */
  unsigned n_set, jobs, limit_s; /* children at a time; seconds one may take */
  const char *presets;   /* NULL: as found */
  char *const *program;  /* of rows whose run is "": its words, ending with NULL; runs in the current folder */
  bool quiet;            /* no progress on stderr */
};

/* Rows of `exec` that name a kernel and no launch get the number of its first launch of that grid and block, from a run
 * without time. Then fills what a run tells of all rows for which wanted[i]. Rows whose command fails say why. False
 * with e filled: nothing can be run. */
bool runner_run(const struct runner_options *, struct suite *, const bool *wanted, struct err *e);

#endif
