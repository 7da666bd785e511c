/* The machine that `exec --machine` names. */
#ifndef WS_CLI_EXEC_MACHINE_H
#define WS_CLI_EXEC_MACHINE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/* Whether there is such a machine, in dir/machines or in a file, whose name becomes absolute (the program may change
 * its folder), and its GPUs take what is set in `out`, whose text this is (program_settings.h). *sms: the most SMs that
 * one of them has. mig: what its GPUs are cut into (mig.h), which they have room for; NULL: they are whole. */
bool exec_machine_check(const char **name, const char *mig, const char *dir, FILE *out, char *const *text,
                        unsigned *sms, struct err *e);

#endif
