/* Runtime services: device functions that the driver provides on hardware. A cubin calls them
 * through an address; the loader gives each one 16 bytes of the code space, decoded as SEM_SYSCALL
 * with src[0].imm = the number below, and the simulator executes it.
 */
#ifndef WS_ISA_SASS_SYSCALL_H
#define WS_ISA_SASS_SYSCALL_H

enum sass_syscall {
  SYSCALL_VPRINTF,
  SYSCALL_MALLOC,
  SYSCALL_FREE,
  SYSCALL_ASSERTFAIL,
  SYSCALL_SET_CONDITION, /* of a graph: the handle is the guest address of a 32-bit word */
  SYSCALL_DEVICE_RUNTIME, /* all that launch kernels from the device: executing one is a fault */
  SYSCALL__N
};

#endif
