/* The table of system calls (host/linux/linux_syscall.h). */
#include "host/linux/linux_syscall.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { REG_A0 = 10, REG_A7 = 17, CALLS = 512 };

static linux_call *const calls[CALLS] = {
#define LINUX_CALL(number, name) [number] = linux_sys_##name,
#include "host/linux/linux_syscalls.def"
#undef LINUX_CALL
};

/* Says once, where it was asked for, that a call is not there. */
static void name_missing(struct linux_process *p, uint64_t number)
{
  if (!p->options.name_missing || number >= CALLS || (p->missing[number / 64] >> number % 64 & 1)) return;
  p->missing[number / 64] |= (uint64_t)1 << number % 64;
  fprintf(stderr, "warpstep: system call %" PRIu64 " is not served: ENOSYS\n", number);
}

void linux_syscall(struct linux_process *p)
{
  struct rv64_hart *h = &p->core->hart;
  struct linux_thread *t = linux_running(p);
  const uint64_t number = h->x[REG_A7];
  linux_call *const call = number < CALLS ? calls[number] : NULL;
  p->core->instret++;
  const int64_t result = call ? call(p, &h->x[REG_A0]) : -ENOSYS;
  if (result == -ENOSYS) name_missing(p, number);
  if (result == LINUX_WAITS || result == LINUX_DONE) return;
  t->state = LINUX_RUNS;
  p->tries = 0;
  h->x[REG_A0] = (uint64_t)result;
  h->pc += 4;
}
