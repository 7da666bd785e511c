/* System calls that ask what and when: clocks, names, numbers, limits. Nothing of the host shows but the user's ids;
 * all else is the same on every run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "host/linux/linux_syscall.h"

enum { NS = 1000000000, TICKS = 100 /* of times(), per second */ };

static bool give_time(struct linux_process *p, uint64_t addr, uint64_t seconds, uint64_t rest)
{
  const uint64_t t[2] = {seconds, rest};
  return linux_vm_write(&p->vm, addr, t, sizeof t);
}

/* Clocks of processor time tell instructions, the others also the time in which all slept. */
static bool read_clock(const struct linux_process *p, uint64_t clock, uint64_t *seconds, uint64_t *ns)
{
  uint64_t now = linux_now(p), base = 0;
  switch (clock) {
  case CLOCK_REALTIME:
  case CLOCK_REALTIME_COARSE:
  case CLOCK_TAI: base = LINUX_EPOCH; break;
  case CLOCK_MONOTONIC:
  case CLOCK_MONOTONIC_RAW:
  case CLOCK_MONOTONIC_COARSE:
  case CLOCK_BOOTTIME: break;
  case CLOCK_PROCESS_CPUTIME_ID:
  case CLOCK_THREAD_CPUTIME_ID: now = p->core->instret; break;
  default: return false;
  }
  *seconds = base + now / NS;
  *ns = now % NS;
  return true;
}

int64_t linux_sys_clock_gettime(struct linux_process *p, const uint64_t *a)
{
  uint64_t s, ns;
  if (!read_clock(p, a[0], &s, &ns)) return -EINVAL;
  return give_time(p, a[1], s, ns) ? 0 : -EFAULT;
}

int64_t linux_sys_clock_getres(struct linux_process *p, const uint64_t *a)
{
  uint64_t s, ns;
  if (!read_clock(p, a[0], &s, &ns)) return -EINVAL;
  return !a[1] || give_time(p, a[1], 0, 1) ? 0 : -EFAULT;
}

int64_t linux_sys_gettimeofday(struct linux_process *p, const uint64_t *a)
{
  const uint64_t now = linux_now(p), zone = 0;
  if (a[0] && !give_time(p, a[0], LINUX_EPOCH + now / NS, now % NS / 1000)) return -EFAULT;
  return !a[1] || linux_vm_write(&p->vm, a[1], &zone, sizeof zone) ? 0 : -EFAULT;
}

int64_t linux_sys_times(struct linux_process *p, const uint64_t *a)
{
  const uint64_t t[4] = {p->core->instret / (NS / TICKS)};
  if (a[0] && !linux_vm_write(&p->vm, a[0], t, sizeof t)) return -EFAULT;
  return (int64_t)(linux_now(p) / (NS / TICKS));
}

int64_t linux_sys_getrusage(struct linux_process *p, const uint64_t *a)
{
  uint64_t r[18] = {p->core->instret / NS, p->core->instret % NS / 1000};
  r[4] = p->vm.pages * (RV64_PAGE_BYTES / 1024); /* ru_maxrss, kB: of now */
  return linux_vm_write(&p->vm, a[1], r, sizeof r) ? 0 : -EFAULT;
}

int64_t linux_sys_uname(struct linux_process *p, const uint64_t *a)
{
  struct utsname u = {.sysname = "Linux", .nodename = "warpstep", .release = "6.1.0", .version = "#1",
                      .machine = "riscv64", .domainname = "(none)"};
  return linux_vm_write(&p->vm, a[0], &u, sizeof u) ? 0 : -EFAULT;
}

int64_t linux_sys_sysinfo(struct linux_process *p, const uint64_t *a)
{
  struct sysinfo s = {.uptime = (long)(linux_now(p) / NS), .totalram = p->vm.most * RV64_PAGE_BYTES,
                      .freeram = (p->vm.most - p->vm.pages) * RV64_PAGE_BYTES, .procs = 1, .mem_unit = 1};
  return linux_vm_write(&p->vm, a[0], &s, sizeof s) ? 0 : -EFAULT;
}

int64_t linux_sys_getpid(struct linux_process *p, const uint64_t *a)
{
  (void)a;
  return p->process_id;
}

int64_t linux_sys_getppid(struct linux_process *p, const uint64_t *a)
{
  (void)p, (void)a;
  return 1;
}

int64_t linux_sys_gettid(struct linux_process *p, const uint64_t *a)
{
  (void)a;
  return linux_running(p)->tid;
}

int64_t linux_sys_getuid(struct linux_process *p, const uint64_t *a)
{
  (void)p, (void)a;
  return getuid();
}

int64_t linux_sys_geteuid(struct linux_process *p, const uint64_t *a)
{
  (void)p, (void)a;
  return geteuid();
}

int64_t linux_sys_getgid(struct linux_process *p, const uint64_t *a)
{
  (void)p, (void)a;
  return getgid();
}

int64_t linux_sys_getegid(struct linux_process *p, const uint64_t *a)
{
  (void)p, (void)a;
  return getegid();
}

int64_t linux_sys_umask(struct linux_process *p, const uint64_t *a)
{
  (void)p;
  return umask((mode_t)a[0] & 0777);
}

/* One core. */
int64_t linux_sys_sched_getaffinity(struct linux_process *p, const uint64_t *a)
{
  const uint64_t mask = 1;
  if (a[1] < sizeof mask) return -EINVAL;
  return linux_vm_write(&p->vm, a[2], &mask, sizeof mask) ? (int64_t)sizeof mask : -EFAULT;
}

int64_t linux_sys_sched_setaffinity(struct linux_process *p, const uint64_t *a)
{
  (void)p, (void)a;
  return 0;
}

static void limit_of(const struct linux_process *p, uint64_t resource, uint64_t limit[2])
{
  limit[0] = limit[1] = UINT64_MAX;
  if (resource == RLIMIT_STACK) limit[0] = LINUX_STACK_SIZE;
  if (resource == RLIMIT_NOFILE) limit[0] = limit[1] = LINUX_FILES;
  if (resource == RLIMIT_AS) limit[0] = limit[1] = LINUX_TASK_SIZE;
  if (resource == RLIMIT_RSS) limit[0] = limit[1] = p->vm.most * RV64_PAGE_BYTES;
  if (resource == RLIMIT_CORE) limit[0] = 0;
}

int64_t linux_sys_getrlimit(struct linux_process *p, const uint64_t *a)
{
  uint64_t limit[2];
  if (a[0] >= RLIM_NLIMITS) return -EINVAL;
  limit_of(p, a[0], limit);
  return linux_vm_write(&p->vm, a[1], limit, sizeof limit) ? 0 : -EFAULT;
}

/* New limits are not kept. */
int64_t linux_sys_prlimit64(struct linux_process *p, const uint64_t *a)
{
  if ((uint32_t)a[0] != 0 && (uint32_t)a[0] != p->process_id) return -ESRCH;
  return a[3] ? linux_sys_getrlimit(p, (const uint64_t[6]){a[1], a[3]}) : a[1] < RLIM_NLIMITS ? 0 : -EINVAL;
}

/* A fixed sequence: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next_random(struct linux_process *p)
{
  uint64_t z = p->random += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

int64_t linux_sys_getrandom(struct linux_process *p, const uint64_t *a)
{
  const uint64_t bytes = a[1] < 0x1000000 ? a[1] : 0x1000000;
  for (uint64_t done = 0; done < bytes; done += 8) {
    const uint64_t r = next_random(p);
    if (!linux_vm_write(&p->vm, a[0] + done, &r, bytes - done < 8 ? bytes - done : 8)) return -EFAULT;
  }
  return (int64_t)bytes;
}
