/* How a program comes to run on the simulated GPU: the shim libraries in its way, options in its environment. Used by
 * every command that starts one (exec, capture, sanitize, ncu). */
#ifndef WS_CLI_PROGRAM_START_H
#define WS_CLI_PROGRAM_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

/* Mistakes are better told before the program starts. False with *e filled: it cannot be started, or not with our
 * libraries. */
bool program_check(const char *path, struct err *e);
/* Behind a start that failed: why, and what to do when it is something else than a program. Always false. */
bool program_not_started(const char *path, struct err *e);
/* Folder of the shim libraries: $WARPSTEP_CUDA, else cuda/ beside this program, else ../lib/warpstep. */
bool program_libraries(char *dir, size_t size, struct err *e);
/* Puts them in the way of what is executed next, with what was written to `out`, whose text this is: lines KEY=VALUE
 * (cuda/core/options.h). `libs`: and our open libraries, in the place of NVIDIA's (docs/libraries.md). */
void program_hand_over(FILE *out, char *const *text, const char *dir, bool libs);
/* In the process that becomes the program, where that is a child of this command: it is the one that the options
 * name. */
void program_begins(void);
/* Other options than those that were handed over, for the next program. */
void program_options_set(const char *text);

#endif
