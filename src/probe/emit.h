/* Writes the programs of windows out, for a real GPU: assembler text, cubin and launch file, which
 * build/silicon runs (tools/silicon/README.md). */
#ifndef WS_PROBE_EMIT_H
#define WS_PROBE_EMIT_H

#include "base/err.h"
#include "probe/window.h"

/* DIR/NAME.sass, .cubin and .launch, with characters of the window's name that files do not have replaced
 * by '_'. The folder is made when it is missing. False with e filled: text or file system. */
bool emit_window(const char *dir, const struct window *, unsigned sm, struct err *e);

#endif
