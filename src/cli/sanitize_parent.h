/* warpstep sanitize stays beside the program it starts: the exit status follows from what all its processes found. */
#ifndef WS_CLI_SANITIZE_PARENT_H
#define WS_CLI_SANITIZE_PARENT_H

#include <stdio.h>

#include "sanitize/error_tally.h"

/* Runs the program, found as execvp does, and waits for it. `out` gets a summary where processes had none of their own.
 * The exit status: the program's; error_status when that is 0 and there are errors. When a signal ends the program it
 * ends this process, too. */
int sanitize_parent(char **program, struct sanitize_tally *, FILE *out, int error_status);

#endif
