/* The files that a sweep is going to run. */
#ifndef WS_CLI_SWEEP_FILES_H
#define WS_CLI_SWEEP_FILES_H

#include "study/sweep.h"

/* Whether the operands of its runs are there and the programs of its `exec` lines can be started: mistakes are better
 * told before hours of other points. Prints one line when not. */
bool sweep_files_check(const struct sweep *);

#endif
