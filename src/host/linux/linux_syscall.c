/* The table of system calls (host/linux/linux_syscall.h). */
#include "host/linux/linux_syscall.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { REG_A0 = 10, REG_A7 = 17, CALLS = 512 };
/* cudaErrorNoDevice: what CUDA says where there is no GPU. */
enum { NO_DEVICE = 100 };

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

static enum rv64_stop gpu_call(struct linux_process *p)
{
  const struct linux_gpu *gpu = p->options.gpu;
  struct rv64_hart *h = &p->core->hart;
  enum rv64_access access = RV64_READ;
  const int64_t result = gpu ? gpu->call(gpu->ctx, p, &access) : NO_DEVICE;
  if (result == LINUX_WAITS) return RV64_STOP_ECALL;
  if (result == LINUX_FAULTS) return access == RV64_WRITE ? RV64_STOP_STORE : RV64_STOP_LOAD;
  linux_running(p)->state = LINUX_RUNS;
  h->x[REG_A0] = (uint64_t)result;
  h->pc += 4;
  return RV64_STOP_ECALL;
}

static int64_t region(struct linux_process *p, bool begins)
{
  struct linux_regions *r = &p->regions;
  if (begins) {
    r->begun++;
    r->begin_ns = linux_now(p);
  } else if (r->ended < r->begun) {
    r->ended = r->begun;
    r->total_ns += linux_now(p) - r->begin_ns;
  }
  return 0;
}

static int64_t other_call(struct linux_process *p, uint64_t number, const uint64_t *a)
{
  if (number == LINUX_REGION_BEGIN || number == LINUX_REGION_END) return region(p, number == LINUX_REGION_BEGIN);
  linux_call *const call = number < CALLS ? calls[number] : NULL;
  return call ? call(p, a) : -ENOSYS;
}

enum rv64_stop linux_syscall(struct linux_process *p)
{
  struct rv64_hart *h = &p->core->hart;
  struct linux_thread *t = linux_running(p);
  const uint64_t number = h->x[REG_A7];
  p->core->instret++;
  if (number == LINUX_GPU_CALL) return gpu_call(p);
  const int64_t result = other_call(p, number, &h->x[REG_A0]);
  if (result == -ENOSYS) name_missing(p, number);
  if (result == LINUX_WAITS || result == LINUX_DONE) return RV64_STOP_ECALL;
  t->state = LINUX_RUNS;
  p->tries = 0;
  h->x[REG_A0] = (uint64_t)result;
  h->pc += 4;
  return RV64_STOP_ECALL;
}
