/* The file that gdb believes to debug: an x86-64 ELF executable with the kernels' code at their addresses, their names,
 * their lines, what was inlined where, and how to find callers on the stack that the stub shows (gdb_registers.h). gdb
 * does not read lines out of cubins that have no .debug_info (nvcc -lineinfo), and no inlining records of nvcc's.
 * Formats: ELF-64; DWARF 4 (.debug_info, .debug_line, .debug_frame).
 */
#ifndef WS_DEBUG_GDB_SHADOW_H
#define WS_DEBUG_GDB_SHADOW_H

#include <stddef.h>
#include <stdint.h>

#include "debug/debugger.h"

/* The file, *bytes long; the caller frees it (mem_free). */
uint8_t *gdb_shadow(const struct debugger *, size_t *bytes);

#endif
