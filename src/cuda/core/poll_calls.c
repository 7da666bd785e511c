#include "cuda/core/poll_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "cuda/core/memory.h"
#include "cuda/core/poll_trap.h"
#include "cuda/core/shim.h"

enum { ARGUMENTS = 6, HIGH = 4 /* bytes behind the low half */, NOWHERE = 1 };

/* Calls that take bytes, and which argument says where. */
static const struct {
  unsigned number, argument;
} of_bytes[] = {
  { SYS_read, 1 }, { SYS_write, 1 }, { SYS_pread64, 1 }, { SYS_pwrite64, 1 }, { SYS_sendto, 1 }, { SYS_recvfrom, 1 },
  { SYS_getrandom, 0 }, { SYS_clock_gettime, 1 }, { SYS_nanosleep, 0 }, { SYS_poll, 0 }, { SYS_epoll_wait, 1 },
  { SYS_openat, 1 }, { SYS_fstat, 1 }, { SYS_getdents64, 1 }, { SYS_ioctl, 2 }, { SYS_writev, 1 }, { SYS_readv, 1 },
};
enum { CALLS = sizeof of_bytes / sizeof of_bytes[0], HEAD = 4, EACH = 6 };

static struct sock_filter load(size_t offset)
{
  return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static struct sock_filter answer(uint32_t what)
{
  return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what);
}

/* Goes on `yes` or `no` statements behind the next one. */
static struct sock_filter jump(uint16_t rule, uint32_t value, uint8_t yes, uint8_t no)
{
  return (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | rule | BPF_K), value, yes, no);
}

static uint64_t call(uint64_t number, const uint64_t a[ARGUMENTS])
{
  register uint64_t fourth __asm__("r10") = a[3];
  register uint64_t fifth __asm__("r8") = a[4];
  register uint64_t sixth __asm__("r9") = a[5];
  uint64_t result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth), "r"(fifth),
                   "r"(sixth) : "rcx", "r11", "memory");
  return result;
}

static void on_call(int number, siginfo_t *info, void *context)
{
  static const int regs[ARGUMENTS] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };
  const int error = errno;
  ucontext_t *u = context;
  struct shim *s = shim_if_any();
  uint64_t a[ARGUMENTS];
  (void)number;
  for (unsigned i = 0; i < ARGUMENTS; i++) {
    a[i] = (uint64_t)u->uc_mcontext.gregs[regs[i]];
    if (s && memory_is_for_host(a[i])) a[i] = poll_trap_argument(s, a[i]);
    if (memory_is_for_host(a[i])) a[i] = NOWHERE; /* nothing is there; it would be stopped again */
  }
  u->uc_mcontext.gregs[REG_RAX] = (greg_t)call((unsigned)info->si_syscall, a);
  errno = error;
}

/* The high half of an address says whether it is in the mappings. */
static unsigned fill(struct sock_filter *f)
{
  unsigned n = 0;
  f[n++] = load(offsetof(struct seccomp_data, arch));
  f[n++] = jump(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0);
  f[n++] = answer(SECCOMP_RET_ALLOW);
  f[n++] = load(offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < CALLS; i++) {
    f[n++] = jump(BPF_JEQ, of_bytes[i].number, 0, EACH - 1);
    f[n++] = load(offsetof(struct seccomp_data, args) + of_bytes[i].argument * sizeof(uint64_t) + HIGH);
    f[n++] = jump(BPF_JGE, HOST_MAPPINGS >> 32, 0, 1);
    f[n++] = jump(BPF_JGE, HOST_MAPPINGS_END >> 32, 0, 1);
    f[n++] = answer(SECCOMP_RET_ALLOW);
    f[n++] = answer(SECCOMP_RET_TRAP);
  }
  f[n++] = answer(SECCOMP_RET_ALLOW);
  return n;
}

bool poll_calls_start(void)
{
  struct sock_filter f[HEAD + EACH * CALLS + 1];
  const struct sigaction ours = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER };
  const struct sock_fprog program = { .len = (unsigned short)fill(f), .filter = f };
  return sigaction(SIGSYS, &ours, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}
