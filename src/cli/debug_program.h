/* `warpstep debug PROGRAM`: how the debugger's options travel to the program. */
#ifndef WS_CLI_DEBUG_PROGRAM_H
#define WS_CLI_DEBUG_PROGRAM_H

#include "cli/cli.h"
#include "debug/debug_session.h"

/* Becomes the program, as exec does, under the debugger. Returns the exit status when it cannot. */
int debug_program(const struct cli_command *, const struct debug_options *, int argc, char **argv);

#endif
