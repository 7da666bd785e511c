/* System calls for threads: clone, futex, exit, and their signals. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "host/linux/linux_signal.h"
#include "host/linux/linux_syscall.h"
#include "host/linux/linux_thread.h"

enum { REG_SP = 2, REG_TP = 4, REG_A0 = 10 };

/* Threads alone: what shares memory, files, handlers. Processes are not served. */
int64_t linux_sys_clone(struct linux_process *p, const uint64_t *a)
{
  const uint64_t flags = a[0], needs = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
  if ((flags & needs) != needs) return -ENOSYS;
  const struct linux_thread *parent = linux_running(p);
  const uint64_t blocked = parent->blocked;
  struct linux_thread *t = linux_thread_new(p);
  if (!t) return -EAGAIN;
  t->hart = p->core->hart;
  t->hart.pc += 4;
  t->hart.x[REG_A0] = 0;
  t->hart.reserved = false;
  t->blocked = blocked;
  if (a[1]) t->hart.x[REG_SP] = a[1];
  if (flags & CLONE_SETTLS) t->hart.x[REG_TP] = a[3];
  if (flags & CLONE_CHILD_CLEARTID) t->clear_tid = a[4];
  if (flags & CLONE_PARENT_SETTID) linux_vm_write(&p->vm, a[2], &t->tid, sizeof t->tid);
  if (flags & CLONE_CHILD_SETTID) linux_vm_write(&p->vm, a[4], &t->tid, sizeof t->tid);
  return t->tid;
}

int64_t linux_sys_exit(struct linux_process *p, const uint64_t *a)
{
  linux_thread_end(p, (int)(a[0] & 0xff));
  return LINUX_DONE;
}

int64_t linux_sys_exit_group(struct linux_process *p, const uint64_t *a)
{
  p->exited = true;
  p->status = (int)(a[0] & 0xff);
  return LINUX_DONE;
}

int64_t linux_sys_set_tid_address(struct linux_process *p, const uint64_t *a)
{
  linux_running(p)->clear_tid = a[0];
  return linux_running(p)->tid;
}

/* Lists of robust mutexes matter to threads that die holding one. */
int64_t linux_sys_set_robust_list(struct linux_process *p, const uint64_t *a)
{
  (void)p, (void)a;
  return 0;
}

/* What the time in a call counts from. */
enum since { SINCE_NOW, SINCE_START, SINCE_1970 };

/* Until which moment of the clock. False: no such time. */
static bool read_deadline(struct linux_process *p, uint64_t addr, enum since since, uint64_t *deadline)
{
  int64_t t[2];
  *deadline = UINT64_MAX;
  if (!addr) return true;
  if (!linux_vm_read(&p->vm, t, addr, sizeof t) || t[0] < 0 || t[1] < 0 || t[1] >= 1000000000) return false;
  const uint64_t base = since == SINCE_NOW ? linux_now(p) : 0, most = (UINT64_MAX >> 1) / 1000000000;
  if (since == SINCE_1970) {
    if ((uint64_t)t[0] < LINUX_EPOCH) return *deadline = 0, true;
    t[0] -= (int64_t)LINUX_EPOCH;
  }
  if ((uint64_t)t[0] < most) *deadline = base + (uint64_t)t[0] * 1000000000 + (uint64_t)t[1];
  return true;
}

static int64_t futex_wait(struct linux_process *p, const uint64_t *a, enum since since, uint32_t bits)
{
  struct linux_thread *t = linux_running(p);
  uint32_t value;
  if (bits == 0) return -EINVAL;
  if (!linux_vm_read(&p->vm, &value, a[0], sizeof value)) return -EFAULT;
  if (value != (uint32_t)a[2]) return -EAGAIN;
  if (!read_deadline(p, a[3], since, &t->deadline)) return -EINVAL;
  t->state = LINUX_FUTEX;
  t->woken = false;
  t->futex = a[0];
  t->futex_bits = bits;
  return LINUX_WAITS;
}

/* The operation and the comparison of FUTEX_WAKE_OP; returns whether the second futex is woken, below 0: an errno. */
static int64_t futex_op(struct linux_process *p, uint64_t addr, uint32_t code)
{
  uint32_t old, new;
  const uint32_t op = code >> 28, cmp = code >> 24 & 15;
  const int32_t with = (int32_t)(code << 20) >> 20;
  int32_t by = (int32_t)(code << 8) >> 20;
  if (!linux_vm_read(&p->vm, &old, addr, sizeof old)) return -EFAULT;
  if (op & 8) by = (int32_t)(1u << (by & 31));
  switch (op & 7) {
  case FUTEX_OP_SET: new = (uint32_t)by; break;
  case FUTEX_OP_ADD: new = old + (uint32_t)by; break;
  case FUTEX_OP_OR: new = old | (uint32_t)by; break;
  case FUTEX_OP_ANDN: new = old & ~(uint32_t)by; break;
  case FUTEX_OP_XOR: new = old ^ (uint32_t)by; break;
  default: return -ENOSYS;
  }
  if (!linux_vm_write(&p->vm, addr, &new, sizeof new)) return -EFAULT;
  const int32_t was = (int32_t)old;
  switch (cmp) {
  case FUTEX_OP_CMP_EQ: return was == with;
  case FUTEX_OP_CMP_NE: return was != with;
  case FUTEX_OP_CMP_LT: return was < with;
  case FUTEX_OP_CMP_LE: return was <= with;
  case FUTEX_OP_CMP_GT: return was > with;
  case FUTEX_OP_CMP_GE: return was >= with;
  default: return -ENOSYS;
  }
}

static int64_t futex_wake_op(struct linux_process *p, const uint64_t *a)
{
  const int64_t both = futex_op(p, a[4], (uint32_t)a[5]);
  if (both < 0) return both;
  uint64_t n = linux_futex_wake(p, a[0], a[2], UINT32_MAX);
  if (both) n += linux_futex_wake(p, a[4], (uint32_t)a[3], UINT32_MAX);
  return (int64_t)n;
}

static int64_t futex_requeue(struct linux_process *p, const uint64_t *a, bool compares)
{
  uint32_t value;
  if (compares && !linux_vm_read(&p->vm, &value, a[0], sizeof value)) return -EFAULT;
  if (compares && value != (uint32_t)a[5]) return -EAGAIN;
  return (int64_t)linux_futex_requeue(p, a[0], (uint32_t)a[2], a[4], (uint32_t)a[3]);
}

/* Private or shared: there is one process. Futexes with priorities are not served. */
int64_t linux_sys_futex(struct linux_process *p, const uint64_t *a)
{
  const unsigned op = (unsigned)a[1] & ~(unsigned)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  if (a[0] % 4) return -EINVAL;
  switch (op) {
  case FUTEX_WAIT: return futex_wait(p, a, SINCE_NOW, UINT32_MAX);
  case FUTEX_WAIT_BITSET:
    return futex_wait(p, a, a[1] & FUTEX_CLOCK_REALTIME ? SINCE_1970 : SINCE_START, (uint32_t)a[5]);
  case FUTEX_WAKE: return (int64_t)linux_futex_wake(p, a[0], (uint32_t)a[2], UINT32_MAX);
  case FUTEX_WAKE_BITSET:
    return (uint32_t)a[5] ? (int64_t)linux_futex_wake(p, a[0], (uint32_t)a[2], (uint32_t)a[5]) : -EINVAL;
  case FUTEX_REQUEUE: return futex_requeue(p, a, false);
  case FUTEX_CMP_REQUEUE: return futex_requeue(p, a, true);
  case FUTEX_WAKE_OP: return futex_wake_op(p, a);
  default: return -ENOSYS;
  }
}

int64_t linux_sys_sched_yield(struct linux_process *p, const uint64_t *a)
{
  (void)a;
  linux_running(p)->yields = true;
  return 0;
}

static int64_t sleep_for(struct linux_process *p, uint64_t addr, enum since since)
{
  struct linux_thread *t = linux_running(p);
  uint64_t deadline;
  if (!addr) return -EFAULT;
  if (!read_deadline(p, addr, since, &deadline)) return -EINVAL;
  t->state = LINUX_SLEEPS;
  t->deadline = deadline;
  return LINUX_WAITS;
}

int64_t linux_sys_nanosleep(struct linux_process *p, const uint64_t *a)
{
  return sleep_for(p, a[0], SINCE_NOW);
}

int64_t linux_sys_clock_nanosleep(struct linux_process *p, const uint64_t *a)
{
  const enum since absolute = a[0] == CLOCK_REALTIME ? SINCE_1970 : SINCE_START;
  return sleep_for(p, a[2], a[1] & TIMER_ABSTIME ? absolute : SINCE_NOW);
}

static struct linux_thread *find_thread(struct linux_process *p, uint32_t tid)
{
  for (uint32_t i = 0; i < p->n_threads; i++)
    if (p->thread[i]->tid == tid) return p->thread[i];
  return NULL;
}

/* Signals to other processes are not sent. */
static int64_t send(struct linux_process *p, uint64_t tid, uint64_t number, bool to_process)
{
  if (number > LINUX_SIGNALS) return -EINVAL;
  struct linux_thread *t = find_thread(p, (uint32_t)tid);
  if (!t) return to_process ? -EPERM : -ESRCH;
  if (number) linux_signal_raise(p, to_process ? NULL : t, (int)number);
  return 0;
}

int64_t linux_sys_kill(struct linux_process *p, const uint64_t *a)
{
  return send(p, (int32_t)a[0] == 0 ? p->process_id : (uint32_t)a[0], a[1], true);
}

int64_t linux_sys_tkill(struct linux_process *p, const uint64_t *a)
{
  return send(p, a[0], a[1], false);
}

int64_t linux_sys_tgkill(struct linux_process *p, const uint64_t *a)
{
  return (uint32_t)a[0] == p->process_id ? send(p, a[1], a[2], false) : -ESRCH;
}

int64_t linux_sys_sigaltstack(struct linux_process *p, const uint64_t *a)
{
  struct linux_thread *t = linux_running(p);
  struct {
    uint64_t sp;
    uint32_t flags, pad;
    uint64_t size;
  } s = {t->alt_stack, t->alt_size ? 0 : SS_DISABLE, 0, t->alt_size};
  const uint64_t sp = p->core->hart.x[REG_SP];
  const bool inside = t->alt_size && sp - t->alt_stack <= t->alt_size;
  if (inside) s.flags = SS_ONSTACK;
  if (a[1] && !linux_vm_write(&p->vm, a[1], &s, sizeof s)) return -EFAULT;
  if (!a[0]) return 0;
  if (inside) return -EPERM;
  if (!linux_vm_read(&p->vm, &s, a[0], sizeof s)) return -EFAULT;
  if (s.flags & SS_DISABLE) {
    t->alt_stack = t->alt_size = 0;
    return 0;
  }
  if (s.size < 2048) return -ENOMEM;
  t->alt_stack = s.sp;
  t->alt_size = s.size;
  return 0;
}

/* SIGKILL and SIGSTOP cannot be blocked. */
static uint64_t can_block(uint64_t mask)
{
  return mask & ~((uint64_t)1 << (SIGKILL - 1) | (uint64_t)1 << (SIGSTOP - 1));
}

int64_t linux_sys_rt_sigsuspend(struct linux_process *p, const uint64_t *a)
{
  struct linux_thread *t = linux_running(p);
  uint64_t mask;
  if (a[1] != sizeof mask) return -EINVAL;
  if (!linux_vm_read(&p->vm, &mask, a[0], sizeof mask)) return -EFAULT;
  t->saved_blocked = t->blocked;
  t->blocked = can_block(mask);
  t->suspended = true;
  t->state = LINUX_SLEEPS;
  t->deadline = UINT64_MAX;
  return LINUX_WAITS;
}

int64_t linux_sys_rt_sigaction(struct linux_process *p, const uint64_t *a)
{
  const uint64_t n = a[0];
  uint64_t act[3]; /* handler, flags, mask */
  if (n == 0 || n > LINUX_SIGNALS || a[3] != 8) return -EINVAL;
  struct linux_action *to = &p->action[n - 1];
  const uint64_t old[3] = {to->handler, to->flags, to->mask};
  if (a[1]) {
    if (n == SIGKILL || n == SIGSTOP) return -EINVAL;
    if (!linux_vm_read(&p->vm, act, a[1], sizeof act)) return -EFAULT;
  }
  if (a[2] && !linux_vm_write(&p->vm, a[2], old, sizeof old)) return -EFAULT;
  if (a[1]) *to = (struct linux_action){act[0], act[1], can_block(act[2])};
  return 0;
}

int64_t linux_sys_rt_sigprocmask(struct linux_process *p, const uint64_t *a)
{
  struct linux_thread *t = linux_running(p);
  const uint64_t old = t->blocked;
  uint64_t mask;
  if (a[3] != 8) return -EINVAL;
  if (a[1]) {
    if (!linux_vm_read(&p->vm, &mask, a[1], sizeof mask)) return -EFAULT;
    switch (a[0]) {
    case SIG_BLOCK: t->blocked = can_block(old | mask); break;
    case SIG_UNBLOCK: t->blocked = old & ~mask; break;
    case SIG_SETMASK: t->blocked = can_block(mask); break;
    default: return -EINVAL;
    }
  }
  return !a[2] || linux_vm_write(&p->vm, a[2], &old, sizeof old) ? 0 : -EFAULT;
}

int64_t linux_sys_rt_sigpending(struct linux_process *p, const uint64_t *a)
{
  const uint64_t now = (linux_running(p)->pending | p->pending) & linux_running(p)->blocked;
  if (a[1] > 8) return -EINVAL;
  return linux_vm_write(&p->vm, a[0], &now, a[1]) ? 0 : -EFAULT;
}

int64_t linux_sys_rt_sigreturn(struct linux_process *p, const uint64_t *a)
{
  (void)a;
  if (!linux_signal_return(p)) linux_signal_raise(p, linux_running(p), LINUX_SIGKILL);
  return LINUX_DONE;
}
