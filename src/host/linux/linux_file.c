/* Descriptors of a Linux process, and what reads and writes them (host/linux/linux_file.h). */
#include "host/linux/linux_file.h"

#include <asm/termbits.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "host/linux/linux_signal.h"
#include "host/linux/linux_syscall.h"
#include "host/linux/linux_thread.h"

enum { MOST_IOV = 1024 };

void linux_files_init(struct linux_process *p)
{
  for (int i = 0; i < LINUX_FILES; i++) p->file[i].host = -1;
  for (int i = 0; i < 3; i++)
    p->file[i] = (struct linux_file){.host = fcntl(i, F_DUPFD_CLOEXEC, 3), .description = (uint32_t)i};
  p->descriptions = 3;
}

void linux_files_free(struct linux_process *p)
{
  for (int i = 0; i < LINUX_FILES; i++)
    if (p->file[i].host >= 0) close(p->file[i].host);
}

int linux_file_host(const struct linux_process *p, uint64_t fd)
{
  return (uint32_t)fd < LINUX_FILES ? p->file[(uint32_t)fd].host : -1;
}

static int64_t place(struct linux_process *p, const struct linux_file *f, uint64_t least)
{
  if (f->host < 0) return -errno;
  for (uint64_t i = least; i < LINUX_FILES; i++) {
    if (p->file[i].host >= 0) continue;
    p->file[i] = *f;
    return (int64_t)i;
  }
  close(f->host);
  return -EMFILE;
}

int64_t linux_file_new(struct linux_process *p, int host, uint64_t least, bool close_on_exec)
{
  return place(p, &(struct linux_file){host, close_on_exec, p->descriptions++}, least);
}

int64_t linux_file_duplicate(struct linux_process *p, uint64_t of, uint64_t least, bool close_on_exec)
{
  const struct linux_file *f = &p->file[of];
  const int host = fcntl(f->host, F_DUPFD_CLOEXEC, 3);
  return place(p, &(struct linux_file){host, close_on_exec, f->description}, least);
}

int linux_file_buffer(struct linux_process *p, uint64_t addr, uint64_t bytes, enum rv64_access access,
                      struct iovec *iov, uint64_t *covered)
{
  int k = 0;
  uint64_t n;
  for (*covered = 0; *covered < bytes; *covered += n) {
    uint8_t *at = linux_vm_span(&p->vm, addr + *covered, bytes - *covered, access, &n);
    if (!at) break;
    if (k && (uint8_t *)iov[k - 1].iov_base + iov[k - 1].iov_len == at) {
      iov[k - 1].iov_len += n;
      continue;
    }
    if (k == LINUX_IOV) break;
    iov[k++] = (struct iovec){at, n};
  }
  return k;
}

/* Whether reading (or writing) would hold the host while other threads of the guest could go on. */
static bool must_wait(struct linux_process *p, int host, short events)
{
  if (!linux_thread_others(p)) return false;
  struct pollfd f = {.fd = host, .events = events};
  const int flags = fcntl(host, F_GETFL);
  return !(flags & O_NONBLOCK) && poll(&f, 1, linux_thread_patience(p)) == 0;
}

/* Tries again at the thread's next turn. Trying takes time, so that others who sleep wake. */
static int64_t wait_for_file(struct linux_process *p)
{
  enum { TRY_NS = 1000 };
  p->skipped += TRY_NS;
  p->tries++;
  linux_running(p)->state = LINUX_RETRIES;
  return LINUX_WAITS;
}

/* One transfer between a file and a buffer of the guest. at < 0: where the file is. */
static int64_t transfer_once(struct linux_process *p, int host, bool writes, const struct iovec *iov, int n, int64_t at)
{
  ssize_t r;
  do {
    if (writes)
      r = at < 0 ? writev(host, iov, n) : pwritev(host, iov, n, at);
    else
      r = at < 0 ? readv(host, iov, n) : preadv(host, iov, n, at);
  } while (r < 0 && errno == EINTR);
  if (r < 0 && errno == EPIPE && writes) linux_signal_raise(p, linux_running(p), LINUX_SIGPIPE);
  return r < 0 ? -errno : r;
}

/* All of a buffer, piece by piece; stops where a piece comes short. */
static int64_t transfer(struct linux_process *p, int host, bool writes, uint64_t addr, uint64_t bytes, int64_t at)
{
  struct iovec iov[LINUX_IOV];
  uint64_t done = 0, covered;
  if (bytes > INT32_MAX) bytes = INT32_MAX & RV64_PAGE_MASK;
  do {
    const int n = linux_file_buffer(p, addr + done, bytes - done, writes ? RV64_READ : RV64_WRITE, iov, &covered);
    if (n == 0 && done < bytes) return done ? (int64_t)done : -EFAULT;
    const int64_t r = transfer_once(p, host, writes, iov, n, at < 0 ? at : at + (int64_t)done);
    if (r < 0) return done ? (int64_t)done : r;
    done += (uint64_t)r;
    if ((uint64_t)r < covered) break;
    /* What is no regular file may have no more for now. */
    struct stat st;
    if (done < bytes && !writes && (fstat(host, &st) != 0 || !S_ISREG(st.st_mode))) break;
  } while (done < bytes);
  return (int64_t)done;
}

static int64_t transfer_now(struct linux_process *p, bool writes, uint64_t fd, uint64_t addr, uint64_t bytes)
{
  const int host = linux_file_host(p, fd);
  if (host < 0) return -EBADF;
  if (must_wait(p, host, writes ? POLLOUT : POLLIN)) return wait_for_file(p);
  return transfer(p, host, writes, addr, bytes, -1);
}

int64_t linux_sys_read(struct linux_process *p, const uint64_t *a)
{
  return transfer_now(p, false, a[0], a[1], a[2]);
}

int64_t linux_sys_write(struct linux_process *p, const uint64_t *a)
{
  return transfer_now(p, true, a[0], a[1], a[2]);
}

static int64_t transfer_at(struct linux_process *p, bool writes, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  if (host < 0) return -EBADF;
  return (int64_t)a[3] < 0 ? -EINVAL : transfer(p, host, writes, a[1], a[2], (int64_t)a[3]);
}

int64_t linux_sys_pread64(struct linux_process *p, const uint64_t *a)
{
  return transfer_at(p, false, a);
}

int64_t linux_sys_pwrite64(struct linux_process *p, const uint64_t *a)
{
  return transfer_at(p, true, a);
}

static int64_t transfer_list(struct linux_process *p, bool writes, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  int64_t done = 0;
  if (host < 0) return -EBADF;
  if (a[2] > MOST_IOV) return -EINVAL;
  if (must_wait(p, host, writes ? POLLOUT : POLLIN)) return wait_for_file(p);
  for (uint64_t i = 0; i < a[2]; i++) {
    uint64_t v[2]; /* address, bytes */
    if (!linux_vm_read(&p->vm, v, a[1] + i * sizeof v, sizeof v)) return done ? done : -EFAULT;
    if (v[1] == 0) continue;
    const int64_t n = transfer(p, host, writes, v[0], v[1], -1);
    if (n < 0) return done ? done : n;
    done += n;
    if ((uint64_t)n < v[1]) break;
  }
  return done;
}

int64_t linux_sys_readv(struct linux_process *p, const uint64_t *a)
{
  return transfer_list(p, false, a);
}

int64_t linux_sys_writev(struct linux_process *p, const uint64_t *a)
{
  return transfer_list(p, true, a);
}

int64_t linux_sys_close(struct linux_process *p, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  if (host < 0) return -EBADF;
  p->file[a[0]].host = -1;
  return close(host) == 0 ? 0 : -errno;
}

int64_t linux_sys_lseek(struct linux_process *p, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  if (host < 0) return -EBADF;
  const off_t at = lseek(host, (off_t)a[1], (int)a[2]);
  return at < 0 ? -errno : at;
}

int64_t linux_sys_dup(struct linux_process *p, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  return host < 0 ? -EBADF : linux_file_duplicate(p, a[0], 0, false);
}

int64_t linux_sys_dup3(struct linux_process *p, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  if (host < 0 || a[1] >= LINUX_FILES) return -EBADF;
  if (a[0] == a[1] || (a[2] & ~(uint64_t)O_CLOEXEC)) return -EINVAL;
  const int copy = fcntl(host, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return -errno;
  if (p->file[a[1]].host >= 0) close(p->file[a[1]].host);
  p->file[a[1]] = (struct linux_file){copy, (a[2] & O_CLOEXEC) != 0, p->file[a[0]].description};
  return (int64_t)a[1];
}

int64_t linux_sys_pipe2(struct linux_process *p, const uint64_t *a)
{
  int host[2];
  if (a[1] & ~(uint64_t)(O_CLOEXEC | O_NONBLOCK)) return -EINVAL;
  if (pipe2(host, (int)a[1] | O_CLOEXEC) != 0) return -errno;
  const bool on_exec = a[1] & O_CLOEXEC;
  const int64_t first = linux_file_new(p, host[0], 0, on_exec);
  const int64_t second = linux_file_new(p, host[1], 0, on_exec);
  const int32_t fd[2] = {(int32_t)first, (int32_t)second};
  if (first >= 0 && second >= 0 && linux_vm_write(&p->vm, a[0], fd, sizeof fd)) return 0;
  for (int i = 0; i < 2; i++) {
    const uint64_t close_one[6] = {(uint64_t)(int64_t)fd[i]};
    if (fd[i] >= 0) linux_sys_close(p, close_one);
  }
  return first < 0 || second < 0 ? -EMFILE : -EFAULT;
}

int64_t linux_sys_fcntl(struct linux_process *p, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  if (host < 0) return -EBADF;
  struct linux_file *f = &p->file[a[0]];
  int r;
  switch ((int)a[1]) {
  case F_DUPFD:
  case F_DUPFD_CLOEXEC:
    if (a[2] >= LINUX_FILES) return -EINVAL;
    return linux_file_duplicate(p, a[0], a[2], (int)a[1] == F_DUPFD_CLOEXEC);
  case F_GETFD: return f->close_on_exec ? FD_CLOEXEC : 0;
  case F_SETFD: f->close_on_exec = a[2] & FD_CLOEXEC; return 0;
  case F_GETFL: r = fcntl(host, F_GETFL); break;
  case F_SETFL: r = fcntl(host, F_SETFL, (int)a[2] & (O_APPEND | O_NONBLOCK)); break;
  default: return -EINVAL;
  }
  return r < 0 ? -errno : r;
}

/* What programs ask of a terminal: its settings, its size. */
int64_t linux_sys_ioctl(struct linux_process *p, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  struct termios t;
  struct winsize w;
  int n;
  if (host < 0) return -EBADF;
  switch ((uint32_t)a[1]) {
  case TCGETS:
    if (ioctl(host, TCGETS, &t) != 0) return -errno;
    return linux_vm_write(&p->vm, a[2], &t, sizeof t) ? 0 : -EFAULT;
  case TIOCGWINSZ:
    if (ioctl(host, TIOCGWINSZ, &w) != 0) return -errno;
    return linux_vm_write(&p->vm, a[2], &w, sizeof w) ? 0 : -EFAULT;
  case FIONREAD:
    if (ioctl(host, FIONREAD, &n) != 0) return -errno;
    return linux_vm_write(&p->vm, a[2], &n, sizeof n) ? 0 : -EFAULT;
  default: return -ENOTTY;
  }
}

int64_t linux_sys_getdents64(struct linux_process *p, const uint64_t *a)
{
  uint8_t list[32768]; /* entries have the same layout on all 64-bit machines */
  const int host = linux_file_host(p, a[0]);
  if (host < 0) return -EBADF;
  const long n = syscall(SYS_getdents64, host, list, a[2] < sizeof list ? a[2] : sizeof list);
  if (n < 0) return -errno;
  return linux_vm_write(&p->vm, a[1], list, (uint64_t)n) ? n : -EFAULT;
}

int64_t linux_sys_ftruncate(struct linux_process *p, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  if (host < 0) return -EBADF;
  return ftruncate(host, (off_t)a[1]) == 0 ? 0 : -errno;
}

int64_t linux_sys_fsync(struct linux_process *p, const uint64_t *a)
{
  const int host = linux_file_host(p, a[0]);
  if (host < 0) return -EBADF;
  return fsync(host) == 0 ? 0 : -errno;
}

int64_t linux_sys_fdatasync(struct linux_process *p, const uint64_t *a)
{
  return linux_sys_fsync(p, a);
}

/* Deadline of a relative time at `addr`, 0: none; kept while the call is tried again. */
static bool poll_deadline(struct linux_process *p, uint64_t addr)
{
  struct linux_thread *t = linux_running(p);
  int64_t time[2];
  if (t->state == LINUX_RETRIES || !addr) return true;
  if (!linux_vm_read(&p->vm, time, addr, sizeof time) || time[0] < 0 || time[1] < 0) return false;
  t->deadline = time[0] > INT32_MAX ? UINT64_MAX : linux_now(p) + (uint64_t)time[0] * 1000000000 + (uint64_t)time[1];
  return true;
}

/* The masks of signals of ppoll are not looked at. */
int64_t linux_sys_ppoll(struct linux_process *p, const uint64_t *a)
{
  struct linux_thread *t = linux_running(p);
  struct pollfd list[LINUX_FILES];
  int64_t guest[LINUX_FILES]; /* struct pollfd has 8 bytes */
  if (a[1] > LINUX_FILES) return -EINVAL;
  if (!linux_vm_read(&p->vm, guest, a[0], a[1] * 8) || !poll_deadline(p, a[2])) return -EFAULT;
  for (uint64_t i = 0; i < a[1]; i++) {
    memcpy(&list[i], &guest[i], sizeof list[i]);
    const int fd = list[i].fd;
    list[i].fd = fd < 0 ? -1 : linux_file_host(p, (uint64_t)fd);
    list[i].revents = 0;
  }
  /* The host waits only for files, and only when nobody of the guest could go on. */
  const bool forever = t->deadline == UINT64_MAX && !linux_thread_others(p);
  int n = poll(list, a[1], forever ? -1 : linux_thread_patience(p));
  if (n < 0) return -errno;
  for (uint64_t i = 0; i < a[1]; i++) {
    struct pollfd *g = (struct pollfd *)&guest[i];
    g->revents = list[i].revents;
    if (g->fd >= 0 && list[i].fd < 0) g->revents = POLLNVAL, n++;
  }
  if (n == 0 && linux_now(p) < t->deadline) {
    if (!linux_thread_others(p)) p->skipped += t->deadline - linux_now(p);
    return wait_for_file(p);
  }
  t->deadline = UINT64_MAX;
  return linux_vm_write(&p->vm, a[0], guest, a[1] * 8) ? n : -EFAULT;
}
