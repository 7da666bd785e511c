/* What --set and its kin change of a GPU, tried before the program starts: its library can only tell the program, which
 * may not look, that there is no GPU. */
#ifndef WS_CLI_PROGRAM_SETTINGS_H
#define WS_CLI_PROGRAM_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "config/presets.h"

/* Applies the lines set=KEY=VALUE of what was written to `out`, whose text this is, as cuda/core/board.c will. */
bool program_settings_apply(FILE *out, char *const *text, struct preset *, struct err *);
/* The same on a preset of this name alone, to see whether they fit. */
bool program_settings_check(FILE *out, char *const *text, const char *gpu, const char *dir, struct err *);

#endif
