/* Live registers (isa/live.h) of a module's code: with the targets of branches through registers and the functions
 * whose address is taken, which the file tells. */
#ifndef WS_LOAD_LIVE_CODE_H
#define WS_LOAD_LIVE_CODE_H

#include "isa/live.h"
#include "load/module.h"

/* Fills count for all instructions of the code of an instance of the module, by their numbers. False: not told. */
bool module_live_registers(const struct module *, const struct code_view *, struct live_count *count);

#endif
