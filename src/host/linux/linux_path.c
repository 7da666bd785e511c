/* System calls that name files. Names that begin with "/" are looked for in the sysroot first. Files of the simulator's
 * own process (/proc) are not there for the guest.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/linux/linux_file.h"
#include "host/linux/linux_syscall.h"

/* A file as the host finds it. */
struct path_place {
  int dir;
  char name[PATH_MAX];
};

/* Where a name of the guest, relative to its descriptor dirfd, lies. 0, or an errno below 0. */
static int64_t locate(struct linux_process *p, uint64_t dirfd, uint64_t addr, struct path_place *to)
{
  char name[PATH_MAX];
  struct stat st;
  if (!linux_vm_string(&p->vm, name, sizeof name, addr)) return -EFAULT;
  to->dir = AT_FDCWD;
  if (*name != '/' && *name && (int32_t)dirfd != AT_FDCWD) {
    to->dir = linux_file_host(p, dirfd);
    if (to->dir < 0) return -EBADF;
  }
  if (*name == '/' && p->options.sysroot) {
    const int n = snprintf(to->name, sizeof to->name, "%s%s", p->options.sysroot, name);
    if (n < (int)sizeof to->name && lstat(to->name, &st) == 0) return 0;
  }
  memcpy(to->name, name, sizeof name);
  return 0;
}

/* Number of a descriptor in a name like /dev/fd/3; -1: another name. */
static int own_descriptor(const char *name)
{
  static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
  static const char *const stream[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (int i = 0; i < 3; i++)
    if (strcmp(name, stream[i]) == 0) return i;
  for (int i = 0; i < 2; i++) {
    char *end;
    const size_t n = strlen(folder[i]);
    if (strncmp(name, folder[i], n) != 0 || name[n] < '0' || name[n] > '9') continue;
    const unsigned long fd = strtoul(name + n, &end, 10);
    return *end == '\0' && fd < LINUX_FILES ? (int)fd : -1;
  }
  return -1;
}

/* Links of /proc to what a process has open are not followed: they would lead to files of the simulator. */
static int open_plain(const struct path_place *at, int flags, mode_t mode)
{
  struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_NO_MAGICLINKS};
  if (flags & (O_CREAT | O_TMPFILE)) how.mode = mode;
  const long fd = syscall(SYS_openat2, at->dir, at->name, &how, sizeof how);
  if (fd >= 0 || errno != ENOSYS) return (int)fd;
  return openat(at->dir, at->name, flags, mode);
}

int64_t linux_sys_openat(struct linux_process *p, const uint64_t *a)
{
  enum { KNOWN = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | O_DIRECTORY |
                 O_NOFOLLOW | O_TMPFILE | O_PATH };
  struct path_place at;
  struct statfs fs;
  const int64_t bad = locate(p, a[0], a[1], &at);
  if (bad) return bad;
  const bool on_exec = a[2] & O_CLOEXEC;
  const int own = own_descriptor(at.name);
  if (own >= 0) {
    return linux_file_host(p, (uint64_t)own) < 0 ? -ENOENT : linux_file_duplicate(p, (uint64_t)own, 0, on_exec);
  }
  if (strcmp(at.name, "/proc/self/exe") == 0) memcpy(at.name, p->program, sizeof at.name);
  const int fd = open_plain(&at, ((int)a[2] & KNOWN) | O_CLOEXEC, (mode_t)a[3] & 07777);
  if (fd < 0) return -errno;
  if (fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC) {
    close(fd);
    return -ENOENT;
  }
  return linux_file_new(p, fd, 0, on_exec);
}

/* struct stat of asm-generic/stat.h. */
struct guest_stat {
  uint64_t dev, ino;
  uint32_t mode, nlink, uid, gid;
  uint64_t rdev, pad1;
  int64_t size;
  int32_t blksize, pad2;
  int64_t blocks;
  int64_t atime;
  uint64_t atime_ns;
  int64_t mtime;
  uint64_t mtime_ns;
  int64_t ctime;
  uint64_t ctime_ns;
  uint32_t unused[2];
};
_Static_assert(sizeof(struct guest_stat) == 128, "layout of Linux");

static int64_t give_stat(struct linux_process *p, uint64_t addr, const struct stat *s)
{
  const struct guest_stat g = {
      .dev = s->st_dev, .ino = s->st_ino, .mode = s->st_mode, .nlink = (uint32_t)s->st_nlink, .uid = s->st_uid,
      .gid = s->st_gid, .rdev = s->st_rdev, .size = s->st_size, .blksize = (int32_t)s->st_blksize,
      .blocks = s->st_blocks, .atime = s->st_atim.tv_sec, .atime_ns = (uint64_t)s->st_atim.tv_nsec,
      .mtime = s->st_mtim.tv_sec, .mtime_ns = (uint64_t)s->st_mtim.tv_nsec, .ctime = s->st_ctim.tv_sec,
      .ctime_ns = (uint64_t)s->st_ctim.tv_nsec,
  };
  return linux_vm_write(&p->vm, addr, &g, sizeof g) ? 0 : -EFAULT;
}

int64_t linux_sys_fstat(struct linux_process *p, const uint64_t *a)
{
  struct stat st;
  const int host = linux_file_host(p, a[0]);
  if (host < 0) return -EBADF;
  return fstat(host, &st) == 0 ? give_stat(p, a[1], &st) : -errno;
}

int64_t linux_sys_newfstatat(struct linux_process *p, const uint64_t *a)
{
  struct path_place at;
  struct stat st;
  const int64_t bad = locate(p, a[0], a[1], &at);
  if (bad) return bad;
  if (a[3] & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT)) return -EINVAL;
  if (at.name[0] == '\0') {
    if (!(a[3] & AT_EMPTY_PATH)) return -ENOENT;
    if ((int32_t)a[0] != AT_FDCWD) return linux_sys_fstat(p, (const uint64_t[6]){a[0], a[2]});
    memcpy(at.name, ".", 2);
  }
  return fstatat(at.dir, at.name, &st, (int)a[3] & AT_SYMLINK_NOFOLLOW) == 0 ? give_stat(p, a[2], &st) : -errno;
}

int64_t linux_sys_readlinkat(struct linux_process *p, const uint64_t *a)
{
  struct path_place at;
  char to[PATH_MAX];
  const int64_t bad = locate(p, a[0], a[1], &at);
  if (bad) return bad;
  if ((int64_t)a[3] <= 0) return -EINVAL;
  ssize_t n;
  if (strcmp(at.name, "/proc/self/exe") == 0)
    n = snprintf(to, sizeof to, "%s", p->program);
  else
    n = readlinkat(at.dir, at.name, to, sizeof to);
  if (n < 0) return -errno;
  if ((uint64_t)n > a[3]) n = (ssize_t)a[3];
  return linux_vm_write(&p->vm, a[2], to, (uint64_t)n) ? n : -EFAULT;
}

int64_t linux_sys_faccessat(struct linux_process *p, const uint64_t *a)
{
  struct path_place at;
  const int64_t bad = locate(p, a[0], a[1], &at);
  if (bad) return bad;
  return faccessat(at.dir, at.name, (int)a[2], 0) == 0 ? 0 : -errno;
}

int64_t linux_sys_mkdirat(struct linux_process *p, const uint64_t *a)
{
  struct path_place at;
  const int64_t bad = locate(p, a[0], a[1], &at);
  if (bad) return bad;
  return mkdirat(at.dir, at.name, (mode_t)a[2] & 07777) == 0 ? 0 : -errno;
}

int64_t linux_sys_unlinkat(struct linux_process *p, const uint64_t *a)
{
  struct path_place at;
  const int64_t bad = locate(p, a[0], a[1], &at);
  if (bad) return bad;
  return unlinkat(at.dir, at.name, (int)a[2] & AT_REMOVEDIR) == 0 ? 0 : -errno;
}

int64_t linux_sys_renameat2(struct linux_process *p, const uint64_t *a)
{
  struct path_place from, to;
  int64_t bad = locate(p, a[0], a[1], &from);
  if (!bad) bad = locate(p, a[2], a[3], &to);
  if (bad) return bad;
  return renameat2(from.dir, from.name, to.dir, to.name, (unsigned)a[4]) == 0 ? 0 : -errno;
}

int64_t linux_sys_truncate(struct linux_process *p, const uint64_t *a)
{
  struct path_place at;
  const int64_t bad = locate(p, (uint64_t)AT_FDCWD, a[0], &at);
  if (bad) return bad;
  return truncate(at.name, (off_t)a[1]) == 0 ? 0 : -errno;
}

int64_t linux_sys_chdir(struct linux_process *p, const uint64_t *a)
{
  struct path_place at;
  const int64_t bad = locate(p, (uint64_t)AT_FDCWD, a[0], &at);
  if (bad) return bad;
  return chdir(at.name) == 0 ? 0 : -errno;
}

int64_t linux_sys_getcwd(struct linux_process *p, const uint64_t *a)
{
  char name[PATH_MAX];
  if (!getcwd(name, sizeof name)) return -errno;
  const uint64_t n = strlen(name) + 1;
  if (n > a[1]) return -ERANGE;
  return linux_vm_write(&p->vm, a[0], name, n) ? (int64_t)n : -EFAULT;
}
