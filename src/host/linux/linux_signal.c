/* Signals of a Linux process (host/linux/linux_signal.h). Layouts: Linux 6.1, arch/riscv/include/uapi/asm/ucontext.h,
 * sigcontext.h, ptrace.h; include/uapi/asm-generic/siginfo.h.
 */
#include "host/linux/linux_signal.h"

#include <stdio.h>
#include <string.h>

enum { SIG_DEFAULT = 0, SIG_IGNORE = 1 };
enum { SA_ON_STACK = 0x08000000, SA_NO_DEFER = 0x40000000 };
#define SA_RESET_HAND 0x80000000ull
enum { SS_DISABLE = 2 };
enum { REG_RA = 1, REG_SP = 2, REG_A0 = 10, REG_A1 = 11, REG_A2 = 12 };

struct frame {
  struct {
    int32_t signo, error, code, pad;
    uint64_t addr; /* of a fault; else pid and uid */
    uint8_t rest[104];
  } info;
  uint64_t flags, link;
  uint64_t stack, stack_flags, stack_size;
  uint64_t mask;
  uint8_t mask_rest[120];
  uint64_t pad;       /* the context of the machine is aligned to 16 bytes */
  uint64_t pc, x[31]; /* x1..x31 */
  uint64_t f[32];
  uint32_t fcsr;
  uint8_t quad_rest[268]; /* room for registers of 128 bits */
};
_Static_assert(offsetof(struct frame, pc) == 128 + 176 && sizeof(struct frame) == 1088, "layout of Linux");

static uint64_t bit(int number)
{
  return (uint64_t)1 << (number - 1);
}

const char *linux_signal_name(int number, char *buf, size_t size)
{
  static const char *const name[] = {
      NULL,      "SIGHUP",  "SIGINT",  "SIGQUIT", "SIGILL",  "SIGTRAP", "SIGABRT", "SIGBUS",
      "SIGFPE",  "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM",
  };
  if (number > 0 && number < (int)(sizeof name / sizeof *name)) return name[number];
  snprintf(buf, size, "signal %d", number);
  return buf;
}

void linux_signal_raise(struct linux_process *p, struct linux_thread *t, int number)
{
  *(t ? &t->pending : &p->pending) |= bit(number);
}

int linux_signal_next(const struct linux_process *p)
{
  const struct linux_thread *t = p->thread[p->running];
  const uint64_t now = (t->pending | p->pending) & ~t->blocked;
  return now ? __builtin_ctzll(now) + 1 : 0;
}

/* SIGCHLD, SIGCONT, SIGURG, SIGWINCH; and what would stop the process, which nobody could continue. */
static bool ignored_by_default(int number)
{
  const uint64_t ignored = bit(17) | bit(18) | bit(19) | bit(20) | bit(21) | bit(22) | bit(23) | bit(28);
  return bit(number) & ignored;
}

static bool on_alt_stack(const struct linux_thread *t, uint64_t sp)
{
  return sp - t->alt_stack <= t->alt_size && t->alt_size;
}

static void fill_frame(const struct linux_process *p, struct frame *f, const struct linux_fault *what)
{
  const struct linux_thread *t = p->thread[p->running];
  const struct rv64_hart *h = &p->core->hart;
  *f = (struct frame){0};
  f->info.signo = what->signal;
  f->info.code = what->code;
  f->info.addr = what->addr;
  f->stack = t->alt_stack;
  f->stack_size = t->alt_size;
  f->stack_flags = t->alt_size ? (on_alt_stack(t, h->x[REG_SP]) ? 1 : 0) : SS_DISABLE;
  f->mask = t->suspended ? t->saved_blocked : t->blocked;
  f->pc = h->pc;
  memcpy(f->x, &h->x[1], sizeof f->x);
  memcpy(f->f, h->f, sizeof f->f);
  f->fcsr = (uint32_t)h->frm << 5 | h->fflags;
}

/* Enters the handler. False: the frame cannot be written. */
static bool enter(struct linux_process *p, const struct linux_fault *what)
{
  struct linux_thread *t = linux_running(p);
  struct linux_action *a = &p->action[what->signal - 1];
  struct rv64_hart *h = &p->core->hart;
  struct frame f;
  uint64_t sp = h->x[REG_SP];
  if ((a->flags & SA_ON_STACK) && t->alt_size && !on_alt_stack(t, sp)) sp = t->alt_stack + t->alt_size;
  sp = (sp - sizeof f) & ~(uint64_t)15;
  fill_frame(p, &f, what);
  if (!linux_vm_write(&p->vm, sp, &f, sizeof f)) return false;
  h->x[REG_A0] = (uint64_t)what->signal;
  h->x[REG_A1] = sp;
  h->x[REG_A2] = sp + offsetof(struct frame, flags);
  h->x[REG_RA] = p->trampoline;
  h->x[REG_SP] = sp;
  h->pc = a->handler;
  h->reserved = false;
  t->blocked |= a->mask | (a->flags & SA_NO_DEFER ? 0 : bit(what->signal));
  t->suspended = false;
  if (a->flags & SA_RESET_HAND) a->handler = SIG_DEFAULT;
  return true;
}

bool linux_signal_deliver(struct linux_process *p, int number)
{
  struct linux_thread *t = linux_running(p);
  const struct linux_fault what = {.signal = number};
  const uint64_t handler = p->action[number - 1].handler;
  t->pending &= ~bit(number);
  p->pending &= ~bit(number);
  if (number == LINUX_SIGKILL) return false;
  if (handler == SIG_IGNORE || (handler == SIG_DEFAULT && ignored_by_default(number))) return true;
  return handler != SIG_DEFAULT && enter(p, &what);
}

bool linux_signal_fault(struct linux_process *p, const struct linux_fault *what)
{
  const uint64_t handler = p->action[what->signal - 1].handler;
  if (handler == SIG_DEFAULT || handler == SIG_IGNORE || (linux_running(p)->blocked & bit(what->signal))) return false;
  return enter(p, what);
}

bool linux_signal_return(struct linux_process *p)
{
  struct linux_thread *t = linux_running(p);
  struct rv64_hart *h = &p->core->hart;
  struct frame f;
  if (!linux_vm_read(&p->vm, &f, h->x[REG_SP], sizeof f)) return false;
  t->blocked = f.mask & ~(bit(LINUX_SIGKILL) | bit(LINUX_SIGSTOP));
  h->pc = f.pc & ~(uint64_t)1;
  memcpy(&h->x[1], f.x, sizeof f.x);
  memcpy(h->f, f.f, sizeof f.f);
  h->fflags = f.fcsr & 31;
  h->frm = f.fcsr >> 5 & 7;
  h->reserved = false;
  return true;
}
