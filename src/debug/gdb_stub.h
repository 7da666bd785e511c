/* gdb's remote serial protocol: a stock gdb 13 as a face of the debugger (docs/debug.md says what it shows and what
 * not). Warps are gdb's threads, the lanes of a warp elements of vector registers; generic addresses are its memory.
 */
#ifndef WS_DEBUG_GDB_STUB_H
#define WS_DEBUG_GDB_STUB_H

#include "debug/debug_session.h"

/* Waits for gdb at a port of this machine, or speaks on stdin and stdout. */
bool gdb_stub_open(struct debug_session *, struct debug_face *, struct err *e);

#endif
