#include "cuda/core/poll_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
  { SYS_openat, 1 }, { SYS_fstat, 1 }, { SYS_getdents64, 1 }, { SYS_ioctl, 2 },
};

/* Calls whose second argument names buffers: a filter cannot look there, so each is stopped, and told by what its sixth
 * argument holds, which it has not, when it is done. */
static const struct {
  unsigned number;
  bool message; /* a struct msghdr, else an array of struct iovec, of so many as the third argument says */
} of_lists[] = {
  { SYS_readv, false }, { SYS_writev, false }, { SYS_preadv, false }, { SYS_pwritev, false }, { SYS_sendmsg, true },
  { SYS_recvmsg, true },
};
#define OURS UINT32_C(0x57535043)
enum { MOST_BUFFERS = 1024 /* UIO_MAXIOV: more are an invalid argument */ };
enum { CALLS = sizeof of_bytes / sizeof of_bytes[0], HEAD = 4, EACH = 6 };
enum { LISTS = sizeof of_lists / sizeof of_lists[0], EACH_LIST = 5 };

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

/* Where the kernel finds it. */
static uint64_t reach(struct shim *s, uint64_t address)
{
  if (s && memory_is_for_host(address)) address = poll_trap_argument(s, address);
  return memory_is_for_host(address) ? NOWHERE : address; /* nothing is there; it would be stopped again */
}

/* From what may not be there: the kernel says so then. */
static bool fetch(void *to, uint64_t from, size_t bytes)
{
  const struct iovec here = { to, bytes }, there = { (void *)from, bytes };
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static void put_back(uint64_t to, const void *from, size_t bytes)
{
  const struct iovec here = { (void *)(uintptr_t)from, bytes }, there = { (void *)to, bytes };
  (void)!process_vm_writev(getpid(), &here, 1, &there, 1, 0);
}

/* Into `copy`: the buffers of a list, each where the kernel finds it. False: the list cannot be read or is too long. */
static bool reach_list(struct shim *s, uint64_t list, uint64_t n, struct iovec copy[MOST_BUFFERS])
{
  if (n > MOST_BUFFERS || !fetch(copy, list, n * sizeof *copy)) return false;
  for (uint64_t i = 0; i < n; i++) copy[i].iov_base = (void *)reach(s, (uint64_t)copy[i].iov_base);
  return true;
}

static uint64_t call_message(struct shim *s, unsigned number, uint64_t a[ARGUMENTS], struct iovec copy[MOST_BUFFERS])
{
  struct msghdr m;
  const uint64_t own = a[1];
  if (!fetch(&m, own, sizeof m) || !reach_list(s, reach(s, (uint64_t)m.msg_iov), m.msg_iovlen, copy))
    return call(number, a);
  struct msghdr ours = m;
  ours.msg_iov = copy;
  ours.msg_name = (void *)reach(s, (uint64_t)m.msg_name);
  ours.msg_control = (void *)reach(s, (uint64_t)m.msg_control);
  a[1] = (uint64_t)&ours;
  const uint64_t result = call(number, a);
  m.msg_namelen = ours.msg_namelen;
  m.msg_controllen = ours.msg_controllen;
  m.msg_flags = ours.msg_flags;
  if (number == SYS_recvmsg) put_back(own, &m, sizeof m);
  return result;
}

/* Addresses among its arguments are where the kernel finds them. */
static uint64_t call_list(struct shim *s, unsigned number, bool message, uint64_t a[ARGUMENTS])
{
  struct iovec copy[MOST_BUFFERS];
  a[ARGUMENTS - 1] = OURS;
  if (message) return call_message(s, number, a, copy);
  if (reach_list(s, a[1], a[2], copy)) a[1] = (uint64_t)copy;
  return call(number, a);
}

static uint64_t call_again(struct shim *s, unsigned number, uint64_t a[ARGUMENTS])
{
  for (unsigned i = 0; i < LISTS; i++)
    if (of_lists[i].number == number) return call_list(s, number, of_lists[i].message, a);
  return call(number, a);
}

static void on_call(int number, siginfo_t *info, void *context)
{
  static const int regs[ARGUMENTS] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };
  const int error = errno;
  ucontext_t *u = context;
  struct shim *s = shim_if_any();
  uint64_t a[ARGUMENTS];
  (void)number;
  for (unsigned i = 0; i < ARGUMENTS; i++) a[i] = reach(s, (uint64_t)u->uc_mcontext.gregs[regs[i]]);
  u->uc_mcontext.gregs[REG_RAX] = (greg_t)call_again(s, (unsigned)info->si_syscall, a);
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
  for (unsigned i = 0; i < LISTS; i++) {
    f[n++] = jump(BPF_JEQ, of_lists[i].number, 0, EACH_LIST - 1);
    f[n++] = load(offsetof(struct seccomp_data, args) + (ARGUMENTS - 1) * sizeof(uint64_t));
    f[n++] = jump(BPF_JEQ, OURS, 0, 1);
    f[n++] = answer(SECCOMP_RET_ALLOW);
    f[n++] = answer(SECCOMP_RET_TRAP);
  }
  f[n++] = answer(SECCOMP_RET_ALLOW);
  return n;
}

bool poll_calls_start(void)
{
  struct sock_filter f[HEAD + EACH * CALLS + EACH_LIST * LISTS + 1];
  const struct sigaction ours = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER };
  const struct sock_fprog program = { .len = (unsigned short)fill(f), .filter = f };
  return sigaction(SIGSYS, &ours, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}
