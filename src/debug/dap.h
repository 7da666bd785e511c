/* The Debug Adapter Protocol (microsoft.github.io/debug-adapter-protocol) on stdin and stdout, for editors: warps are
 * its threads, registers of a lane the variables of a frame. What the program writes to stdout goes to stderr
 * meanwhile.
 */
#ifndef WS_DEBUG_DAP_H
#define WS_DEBUG_DAP_H

#include "debug/debug_session.h"

bool dap_open(struct debug_session *, struct debug_face *, struct err *e);

#endif
