#include "host/linux/linux_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host_memory.h"

enum { STANDARD = 3 };

/* An open file, with all its descriptors. */
struct linux_kept {
  char path[PATH_MAX];
  uint32_t description;
  uint32_t kind; /* S_IFMT of its mode */
  int flags;
  int64_t at, bytes; /* offset, -1: it has none; size */
};

static bool keep_one(struct linux_kept *k, int fd, const struct linux_file *f, struct err *e)
{
  struct stat st;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", f->host);
  const ssize_t n = readlink(link, k->path, sizeof k->path - 1);
  if (n < 0 || fstat(f->host, &st) != 0 || (k->flags = fcntl(f->host, F_GETFL)) < 0)
    return err_set(e, "descriptor %d: %s", fd, host_error());
  k->path[n] = 0;
  k->description = f->description;
  k->kind = st.st_mode & S_IFMT;
  k->at = lseek(f->host, 0, SEEK_CUR);
  k->bytes = st.st_size;
  if (k->kind != S_IFREG && k->kind != S_IFDIR && k->kind != S_IFCHR)
    return err_set(e, "the program has descriptor %d open, which is no file: %s", fd, k->path);
  return st.st_nlink || err_set(e, "the program has descriptor %d open, a file that was removed: %s", fd, k->path);
}

static const struct linux_kept *find(const struct linux_process *p, uint32_t description)
{
  for (uint32_t i = 0; i < p->n_kept; i++)
    if (p->kept[i].description == description) return &p->kept[i];
  return NULL;
}

bool linux_files_keep(struct linux_process *p, struct err *e)
{
  p->n_kept = 0;
  for (int fd = 0; fd < LINUX_FILES; fd++) {
    const struct linux_file *f = &p->file[fd];
    if (f->host < 0 || f->description < STANDARD || find(p, f->description)) continue;
    p->kept = mem_resize(p->kept, p->n_kept + 1, sizeof *p->kept);
    TRY(keep_one(&p->kept[p->n_kept], fd, f, e));
    p->n_kept++;
  }
  return true;
}

/* What it had is there: a shorter file has lost something. What is in it is the file's own matter. */
static bool is_still_there(const struct linux_kept *k, int host, struct err *e)
{
  struct stat st;
  if (fstat(host, &st) != 0) return err_set(e, "%s: %s", k->path, host_error());
  if ((st.st_mode & S_IFMT) != k->kind) return err_set(e, "%s: not the kind of file it was", k->path);
  if (k->kind == S_IFREG && st.st_size < k->bytes)
    return err_set(e, "%s: has %lld bytes, %" PRId64 " when the program was saved", k->path, (long long)st.st_size,
                   k->bytes);
  if (k->at >= 0 && lseek(host, k->at, SEEK_SET) != k->at) return err_set(e, "%s: %s", k->path, host_error());
  return true;
}

static int open_one(const struct linux_kept *k, struct err *e)
{
  const int host = open(k->path, (k->flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC | O_NOCTTY);
  if (host < 0) err_fill(e, "%s, which the program has open: %s", k->path, host_error());
  else if (is_still_there(k, host, e)) return host;
  else close(host);
  return -1;
}

/* The first descriptor before fd of the same open file; -1: none. */
static int duplicate_of(const struct linux_process *p, int fd)
{
  for (int i = 0; i < fd; i++)
    if (p->file[i].host >= 0 && p->file[i].description == p->file[fd].description) return i;
  return -1;
}

static int again(const struct linux_process *p, int fd, struct err *e)
{
  const uint32_t description = p->file[fd].description;
  const int same = duplicate_of(p, fd);
  if (description >= STANDARD && same < 0) return open_one(find(p, description), e);
  const int host = fcntl(same < 0 ? (int)description : p->file[same].host, F_DUPFD_CLOEXEC, STANDARD);
  if (host < 0) err_fill(e, "descriptor %d: %s", fd, host_error());
  return host;
}

bool linux_files_open_again(struct linux_process *p, struct err *e)
{
  for (int fd = 0; fd < LINUX_FILES; fd++) {
    if (p->file[fd].host < 0) continue;
    const int host = again(p, fd, e);
    if (host < 0) return false;
    p->file[fd].host = host;
  }
  return true;
}
