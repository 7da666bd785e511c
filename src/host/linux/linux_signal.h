/* Signals of a Linux process: actions, delivery, frames on the guest's stack (the layout of Linux for RISC-V). */
#ifndef WS_HOST_LINUX_LINUX_SIGNAL_H
#define WS_HOST_LINUX_LINUX_SIGNAL_H

#include "host/linux/linux_process.h"

enum { LINUX_SIGILL = 4, LINUX_SIGTRAP = 5, LINUX_SIGABRT = 6, LINUX_SIGBUS = 7, LINUX_SIGFPE = 8, LINUX_SIGKILL = 9,
       LINUX_SIGSEGV = 11, LINUX_SIGPIPE = 13, LINUX_SIGSTOP = 19 };
enum { LINUX_SA_RESTART = 0x10000000 };

/* What a fault tells its handler: si_code, si_addr. */
struct linux_fault {
  int signal, code;
  uint64_t addr;
};

/* "SIGSEGV"; "signal 40". Returns buf where it needs it. */
const char *linux_signal_name(int number, char *buf, size_t size);

/* Makes a signal pending: of thread t; NULL: of any. */
void linux_signal_raise(struct linux_process *, struct linux_thread *t, int number);
/* The first signal that the running thread takes now; 0: none. It is not taken yet. */
int linux_signal_next(const struct linux_process *);
/* The running thread takes signal `number`: its handler is entered, or it is ignored. False: the process ends of it. */
bool linux_signal_deliver(struct linux_process *, int number);
/* The same of a fault of the running thread, which cannot be ignored or put off. False: no handler. */
bool linux_signal_fault(struct linux_process *, const struct linux_fault *);
/* rt_sigreturn. False: the frame cannot be read. */
bool linux_signal_return(struct linux_process *);

#endif
