/* The console: commands a line each, from a terminal, a pipe or a file, answers on stdout. `help` lists them.
 * On a terminal lines are edited with libedit where the machine has it.
 */
#ifndef WS_DEBUG_CONSOLE_H
#define WS_DEBUG_CONSOLE_H

#include "debug/debug_session.h"

/* A command that only looks, for another face; what it says goes to `out`. */
void console_look(struct debug_session *, struct debugger *, const char *line, FILE *out);

bool console_open(struct debug_session *, struct debug_face *, struct err *e);

#endif
