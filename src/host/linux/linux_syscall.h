/* System calls of Linux for 64-bit RISC-V: the numbers of asm-generic/unistd.h. */
#ifndef WS_HOST_LINUX_LINUX_SYSCALL_H
#define WS_HOST_LINUX_LINUX_SYSCALL_H

#include "host/linux/linux_process.h"

/* The thread waits, or tries again: its registers stay as they are. */
#define LINUX_WAITS INT64_MIN
/* Registers are as the call has left them (rt_sigreturn, exit). */
#define LINUX_DONE (INT64_MIN + 1)

/* A call with its arguments a0..a5; returns what a0 gets: a negative number is an errno. */
typedef int64_t linux_call(struct linux_process *, const uint64_t *a);

#define LINUX_CALL(number, name) linux_call linux_sys_##name;
#include "host/linux/linux_syscalls.def"
#undef LINUX_CALL

/* Does what the running thread, which stopped at an ECALL, asks for. */
void linux_syscall(struct linux_process *);

#endif
