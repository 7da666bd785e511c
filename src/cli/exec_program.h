/* A CUDA program on the simulated GPU: finds the shim libraries, puts them in the program's way, hands the options over
 * in the environment and becomes the program; or starts it and waits, where something is to be done behind it.
 */
#ifndef WS_CLI_EXEC_PROGRAM_H
#define WS_CLI_EXEC_PROGRAM_H

#include "cli/exec_run.h"

/* argv[0] is the command's name; the run has what the command line cannot say. Returns the exit status when it does not
 * become the program. */
int exec_program(const struct cli_command *, struct exec_run, int argc, char **argv);

#endif
