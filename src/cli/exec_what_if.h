/* `warpstep exec --what-if`: launches of a CUDA program, each run again alone without each of its costs.
 *
 * The program runs without time, and the launches chosen are kept as `warpstep capture` keeps them (host/snapshot.h) in
 * a folder that goes away at the end. When the program has ended, each is run with `warpstep run FILE --what-if`: from
 * the memory that it found in the program, with cold caches.
 */
#ifndef WS_CLI_EXEC_WHAT_IF_H
#define WS_CLI_EXEC_WHAT_IF_H

#include "base/err.h"
#include "cli/exec_what_if_machine.h"

enum { EXEC_WHAT_IF_OPTIONS = 64 };

struct exec_what_if {
  const char *costs; /* of --what-if; NULL: not asked for */
  char folder[64];   /* of the launches; empty: none yet */
  /* Options of `run`: room for pairs of a name and a value. */
  const char *option[2 * EXEC_WHAT_IF_OPTIONS];
  unsigned n;
  char **environment; /* of this process, before the libraries of CUDA were put into it */
};

/* Hands "--NAME VALUE" to each run. False: too many. */
bool exec_what_if_option(struct exec_what_if *, const char *name, const char *value);
/* Makes the folder, and keeps the environment. */
bool exec_what_if_begin(struct exec_what_if *, struct err *e);
/* Starts the program, whose options have been handed over; waits for it; runs its launches. The exit status is that of
 * the program, else the first one that a launch's run has that is not 0. */
int exec_what_if_program(struct exec_what_if *, char **program);
/* The same of a program on a machine, which is run again as a whole; its folder is this one's. */
int exec_what_if_whole(struct exec_what_if *, const struct exec_what_if_machine *, char **program);

#endif
