/* System calls of Linux for 64-bit RISC-V: the numbers of asm-generic/unistd.h. */
#ifndef WS_HOST_LINUX_LINUX_SYSCALL_H
#define WS_HOST_LINUX_LINUX_SYSCALL_H

#include "host/linux/linux_process.h"

/* The thread waits, or tries again: its registers stay as they are. */
#define LINUX_WAITS INT64_MIN
/* Registers are as the call has left them (rt_sigreturn, exit). */
#define LINUX_DONE (INT64_MIN + 1)
/* Of calls of GPUs alone (linux_gpu.h): memory that the program may not touch. */
#define LINUX_FAULTS (INT64_MIN + 2)

/* Numbers of calls that say where a region of interest begins and ends (include/warpstep/region.h). */
#define LINUX_REGION_BEGIN 0x57540001ull
#define LINUX_REGION_END 0x57540002ull

/* A call with its arguments a0..a5; returns what a0 gets: a negative number is an errno. */
typedef int64_t linux_call(struct linux_process *, const uint64_t *a);

#define LINUX_CALL(number, name) linux_call linux_sys_##name;
#include "host/linux/linux_syscalls.def"
#undef LINUX_CALL

/* Does what the running thread, which stopped at an ECALL, asks for. RV64_STOP_ECALL: it was done; another one: the
 * call is as an access that stops the core so. */
enum rv64_stop linux_syscall(struct linux_process *);

#endif
