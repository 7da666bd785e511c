/* What handlers ask of a launch: its constants, and how a fault of the simulated program is told. Below launch.c, which
 * knows the handlers. */
#ifndef WS_FUNC_SASS_GUEST_FAULT_H
#define WS_FUNC_SASS_GUEST_FAULT_H

#include "func/sass/func_warp.h"

/* Words of constant bank b. False: [off, off + bytes) is not inside it. */
bool func_const(const struct func_launch *l, unsigned b, uint32_t off, void *buf, uint32_t bytes);

/* Fills *f for lane `lane` of the instruction at e->pc and returns false. The text is prefixed
 * with the kernel's name and the pc. */
bool func_fault(const struct func_warp *w, const struct effect *e, struct fault *f,
                enum fault_kind kind, unsigned lane, uint64_t addr, const char *fmt, ...)
    __attribute__((format(printf, 7, 8), cold));

#endif
