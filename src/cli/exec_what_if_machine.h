/* `warpstep exec --machine --what-if`: a program on several GPUs, run as a whole once as it is and once without each of
 * its costs (host/what_if_machine.h). The first run has this process's input and output; the others read and write
 * nothing there.
 */
#ifndef WS_CLI_EXEC_WHAT_IF_MACHINE_H
#define WS_CLI_EXEC_WHAT_IF_MACHINE_H

#include "base/err.h"

struct exec_what_if_machine {
  const char *costs;   /* --what-if, good */
  const char *which;   /* --time-kernels: launches that get a table, good; NULL: the longest ones */
  const char *options; /* lines KEY=VALUE for the program's library, handed over but for what a run adds */
  const char *folder;  /* for files that nobody else needs */
};

/* Whether these are costs that a machine can be run without. */
bool exec_what_if_machine_check(const char *costs, struct err *e);
/* The exit status: that of the program as it is. The files in the folder stay. */
int exec_what_if_machine_run(const struct exec_what_if_machine *, char **program);

#endif
