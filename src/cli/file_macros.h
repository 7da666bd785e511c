/* Names of report files with what differs from run to run in them, as Nsight Compute has them: %h the host's name, %p a
 * process's number, %i the first number from 1 for which no such file is there, %q{VARIABLE} of the environment, %% a
 * %. */
#ifndef WS_CLI_FILE_MACROS_H
#define WS_CLI_FILE_MACROS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* The name with `suffix` behind it, where it is not there yet. False with *e filled: an unknown macro, a name that is
 * too long. */
bool file_macros(const char *name, const char *suffix, pid_t pid, char path[PATH_MAX], struct err *e);

#endif
