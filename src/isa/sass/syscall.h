/* Runtime services: device functions that the driver provides on hardware. A cubin calls them
 * through an address; the loader gives each one 16 bytes of the code space, decoded as SEM_SYSCALL
 * with src[0].imm = the number below, and the simulator executes it.
 */
#ifndef WS_ISA_SASS_SYSCALL_H
#define WS_ISA_SASS_SYSCALL_H

#include "isa/sass/copy_service.h"

enum sass_syscall {
  SYSCALL_VPRINTF,
  SYSCALL_MALLOC,
  SYSCALL_FREE,
  SYSCALL_ASSERTFAIL,
  SYSCALL_SET_CONDITION, /* of a graph: the handle is the guest address of a 32-bit word */
  SYSCALL_TEX_GRAD,       /* tex.grad of 3D images and cube maps from sm_90 on, */
  SYSCALL_TEX_GRAD_ARRAY, /* of layered cube maps */
  SYSCALL_DRIVER_PRIVATE, /* what the device runtime's library asks the driver for: a call is a fault */
  SYSCALL__COMMON,        /* those above come first in every module */
  SYSCALL__BEFORE_DEVICE = SYSCALL__COMMON - 1,
#define DEVICE_RUNTIME(number, name, arguments) DEVICE_##number,
#include "isa/sass/device_runtime.def"
  SYSCALL_COPY, /* from here on COPY_WORDS for each kind of copy (copy_service.h) */
  SYSCALL__N = SYSCALL_COPY + COPY_KINDS * COPY_WORDS
};

#endif
