/* The registers that a stock gdb sees. It takes no processor that it does not know, so this one says it is an x86-64:
 * rip is the warp's pc, rsp points into a stack of return addresses that only gdb sees (gdb_stub.c), the others are 0.
 * Behind these come ours: $R0[lane] …, $UR0, $P0 (a bit per lane), $UP0, $tid_x[lane], $ctaid_x, $active, $lane,
 * $position.
 */
#ifndef WS_DEBUG_GDB_REGISTERS_H
#define WS_DEBUG_GDB_REGISTERS_H

#include <stddef.h>

#include "debug/lane_view.h"

enum {
  GDB_RSP = 7,
  GDB_RIP = 16,
  GDB_CORE = 40, /* x86-64's */
  GDB_CORE_BYTES = 276,
  GDB_REGISTER_MOST = 128, /* bytes */
};
/* Where gdb's stack ends: it grows downwards from here, far from all that kernels see. */
#define GDB_STACK_TOP UINT64_C(0x00007ffdfffff000)

/* The description of all registers (target.xml), a string. The caller frees it (mem_free). */
char *gdb_registers_xml(void);

/* Value of a register of the lane's warp: returns how many bytes, 0: there is no such number; *known false: the kernel
 * does not have it. */
unsigned gdb_register_read(const struct lane_view *, unsigned number, uint8_t out[GDB_REGISTER_MOST], bool *known);
/* Changes one of ours that can be. */
bool gdb_register_write(const struct lane_view *, unsigned number, const uint8_t *data, size_t bytes);

#endif
