#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/host_memory.h"

/* FEW: descriptors up to this are kept for sealed files; the guest of `exec` needs some, too. */
enum { FEW = 128 };
enum { MAX_TRIES = 100, MAX_LINKS = 40 /* as the kernel's */, COPY = 1 << 16 };

static bool cannot(const char *path, int why, struct err *e)
{
  errno = why;
  return err_set(e, "%s: cannot write: %s", path, why ? host_error() : "not all of it could be written");
}

/* A file that outgrows its limit is an error of write(), as on a full disk, not the end of the process. */
static void survive_size_limit(void)
{
  struct sigaction now;
  if (sigaction(SIGXFSZ, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
    signal(SIGXFSZ, SIG_IGN);
}

/* ---- Which file is meant ---- */

/* The open descriptor that the path is another name of, or -1: stdout's or stderr's file, or by number. Others write
 * through it, too, so the file must neither be replaced nor cut. */
static int descriptor_of(const char *path)
{
  struct stat want, is;
  int fd, end = 0;
  if ((sscanf(path, "/dev/fd/%d%n", &fd, &end) == 1 || sscanf(path, "/proc/self/fd/%d%n", &fd, &end) == 1) &&
      !path[end])
    return fd;
  if (stat(path, &want) != 0) return -1;
  for (fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
    if (fstat(fd, &is) == 0 && is.st_dev == want.st_dev && is.st_ino == want.st_ino &&
        (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
      return fd;
  return -1;
}

/* What a chain of links leads to, whether it is there or not. False with errno set. */
static bool follow_links(char path[PATH_MAX])
{
  char to[PATH_MAX];
  for (int i = 0; i < MAX_LINKS; i++) {
    const ssize_t n = readlink(path, to, sizeof to - 1);
    if (n < 0) return true; /* no link */
    to[n] = '\0';
    const char *slash = strrchr(path, '/');
    const size_t folder = *to == '/' || !slash ? 0 : (size_t)(slash + 1 - path);
    if (folder + (size_t)n >= PATH_MAX) return errno = ENAMETOOLONG, false;
    memcpy(path + folder, to, (size_t)n + 1);
  }
  return errno = ELOOP, false;
}

/* ---- Temporaries ---- */

/* Calls `make` with names beside the target until one is free. */
static int with_free_name(struct output *o, int (*make)(const struct output *))
{
  const char *slash = strrchr(o->path, '/');
  const int folder = slash ? (int)(slash + 1 - o->path) : 0;
  for (int i = 0; i < MAX_TRIES; i++) {
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      bits = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() << 8 ^ (uint64_t)i;
    }
    snprintf(o->temporary, sizeof o->temporary, "%.*s.ws.%016" PRIx64, folder, o->path, bits);
    const int result = make(o);
    if (result >= 0) return result;
    if (errno != EEXIST) break;
  }
  o->temporary[0] = '\0';
  return -1;
}

static int make_named(const struct output *o)
{
  return open(o->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
}

/* By the thread: /proc/self is the first one of the process, which has no files any more once it has ended. */
static void descriptor_name(char *to, size_t bytes, int fd)
{
  snprintf(to, bytes, "/proc/thread-self/fd/%d", fd);
}

/* linkat wants a name of the descriptor; by the number alone it is a privilege. */
static int link_descriptor(int fd, const char *to)
{
  char name[48];
  descriptor_name(name, sizeof name, fd);
  return linkat(AT_FDCWD, name, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

static int give_name(const struct output *o)
{
  return link_descriptor(o->keep, o->temporary);
}

/* A file without a name, gone with the process however that ends, where the file system has such; -1: it has not. */
static int make_nameless(const struct output *o)
{
  char name[PATH_MAX];
  const char *slash = strrchr(o->path, '/');
  snprintf(name, sizeof name, "%.*s", slash ? (int)(slash + 1 - o->path) : 1, slash ? o->path : ".");
  const int fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  descriptor_name(name, sizeof name, fd);
  if (fd < 0 || access(name, F_OK) == 0) return fd;
  close(fd);
  return -1;
}

/* With the rights that a new file has, or those of the file that it replaces. */
static int open_temporary(struct output *o, const struct stat *old)
{
  int fd = make_nameless(o);
  if (fd < 0) fd = with_free_name(o, make_named);
  if (fd < 0) return -1;
  if (old) (void)!fchmod(fd, old->st_mode & 0777);
  o->keep = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (o->keep >= 0) return fd;
  const int why = errno;
  close(fd);
  return errno = why, -1;
}

static void drop_temporary(struct output *o)
{
  if (*o->temporary) unlink(o->temporary);
  if (o->keep >= 0) close(o->keep);
  o->temporary[0] = '\0';
  o->keep = -1;
}

/* ---- Opening ---- */

static int open_direct(const char *path)
{
  return open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
}

static int open_replacing(struct output *o)
{
  struct stat old;
  const bool there = stat(o->path, &old) == 0;
  if (!there && errno != ENOENT) return -1;
  if (there && access(o->path, W_OK) != 0) return -1;
  const int fd = open_temporary(o, there ? &old : NULL);
  if (fd >= 0 || !there) return fd;
  return errno == EACCES || errno == EROFS || errno == EPERM ? open_direct(o->path) : -1;
}

/* The descriptor to write to; -1 with errno set. */
static int open_file(struct output *o, const char *path)
{
  struct stat s;
  const int shared = descriptor_of(path);
  strcpy(o->path, path);
  if (shared >= 0) return fflush(stdout), fcntl(shared, F_DUPFD_CLOEXEC, 0);
  if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) return open_direct(path);
  return follow_links(o->path) ? open_replacing(o) : -1;
}

FILE *output_open(struct output *o, const char *path, struct err *e)
{
  o->f = NULL;
  o->keep = -1;
  o->temporary[0] = '\0';
  survive_size_limit();
  if (!strcmp(path, "-")) {
    strcpy(o->path, "stdout");
    return o->f = stdout;
  }
  if (strlen(path) >= sizeof o->path) return err_fill(e, "%.60s…: the path is too long", path), NULL;
  const int fd = open_file(o, path);
  o->f = fd < 0 ? NULL : fdopen(fd, "wb");
  if (o->f) return o->f;
  const int why = errno;
  if (fd >= 0) close(fd);
  drop_temporary(o);
  return cannot(path, why, e), NULL;
}

/* ---- Closing ---- */

/* Closes the stream; false with errno set. */
static bool finish_stream(struct output *o)
{
  bool bad = ferror(o->f) != 0;
  errno = 0;
  if (fflush(o->f) != 0) bad = true;
  int why = errno;
  if (o->f != stdout && fclose(o->f) != 0) {
    if (!why) why = errno;
    bad = true;
  }
  o->f = NULL;
  errno = why;
  return !bad;
}

/* For targets that can be written but not replaced: mounted files, files of others in folders like /tmp. */
static bool copy_over(const struct output *o)
{
  char bytes[COPY];
  ssize_t n = 0;
  const int to = open_direct(o->path);
  if (to < 0) return false;
  for (off_t at = 0; (n = pread(o->keep, bytes, sizeof bytes, at)) > 0; at += n) {
    errno = 0;
    if (write(to, bytes, (size_t)n) != n) break;
  }
  const int why = errno;
  if (close(to) == 0) errno = why;
  else n = -1;
  return n == 0;
}

static bool replace(struct output *o)
{
  if (!*o->temporary && with_free_name(o, give_name) < 0) return false;
  if (rename(o->temporary, o->path) != 0)
    return (errno == EBUSY || errno == EACCES || errno == EPERM) && copy_over(o);
  o->temporary[0] = '\0';
  return true;
}

/* Only where nothing has that name yet. */
static bool place_new(struct output *o)
{
  if (!*o->temporary) return link_descriptor(o->keep, o->path) == 0;
  if (renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->path, RENAME_NOREPLACE) == 0) {
    o->temporary[0] = '\0';
    return true;
  }
  return (errno == EINVAL || errno == ENOSYS) && link(o->temporary, o->path) == 0;
}

/* `taken`: only where nothing has the name yet; set to whether something had. */
static bool commit(struct output *o, bool written, bool ok, bool *taken, struct err *e)
{
  int why = errno;
  if (o->keep < 0) return ok && (written || cannot(o->path, why, e));
  bool there = ok && written;
  if (there) {
    there = taken ? place_new(o) : replace(o);
    why = errno;
    if (taken) *taken = !there && why == EEXIST;
  }
  drop_temporary(o);
  return there || (ok && cannot(o->path, why, e));
}

bool output_close(struct output *o, bool ok, struct err *e)
{
  return commit(o, finish_stream(o), ok, NULL, e);
}

bool output_close_new(struct output *o, bool *taken, struct err *e)
{
  *taken = false;
  return commit(o, finish_stream(o), true, taken, e);
}

bool output_seal(struct output *o, bool ok, struct err *e)
{
  int why = errno;
  if (o->f) {
    ok = finish_stream(o) && ok;
    why = errno;
  }
  if (!ok) {
    drop_temporary(o);
    return cannot(o->path, why, e);
  }
  if (o->keep >= FEW && (*o->temporary || with_free_name(o, give_name) >= 0)) {
    close(o->keep);
    o->keep = -1;
  }
  return true;
}

bool output_place(struct output *o, struct err *e)
{
  if (o->keep < 0 && *o->temporary) o->keep = open(o->temporary, O_RDONLY | O_CLOEXEC);
  if (o->keep >= 0 || !*o->temporary) return commit(o, true, true, NULL, e);
  const int why = errno;
  drop_temporary(o);
  return cannot(o->path, why, e);
}

void output_drop(struct output *o)
{
  if (o->f && o->f != stdout) fclose(o->f);
  o->f = NULL;
  drop_temporary(o);
}

/* ---- Logs ---- */

FILE *output_log_open(const char *path, bool first, struct err *e)
{
  enum { BUFFER = 1 << 16 }; /* reports of a launch, mostly: those of two processes shall not mix */
  survive_size_limit();
  if (!strcmp(path, "-")) return stdout;
  const int shared = descriptor_of(path);
  const int fd = shared >= 0 ? fcntl(shared, F_DUPFD_CLOEXEC, 0)
                             : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (first ? O_TRUNC : 0), 0666);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "ab");
  if (f) {
    setvbuf(f, NULL, _IOFBF, BUFFER);
    return f;
  }
  const int why = errno;
  if (fd >= 0) close(fd);
  return cannot(path, why, e), NULL;
}

bool output_log_close(FILE *f, const char *path, struct err *e)
{
  struct output o = {.f = f, .keep = -1};
  return finish_stream(&o) || cannot(path, errno, e);
}

/* The folder it is in and its name there; false: there is no such folder. */
static bool place_of(const char *path, char target[PATH_MAX], struct stat *folder, const char **name)
{
  char in[PATH_MAX];
  if (strlen(path) >= PATH_MAX) return false;
  strcpy(target, path);
  if (!follow_links(target)) return false;
  const char *slash = strrchr(target, '/');
  *name = slash ? slash + 1 : target;
  snprintf(in, sizeof in, "%.*s", slash ? (int)(slash + 1 - target) : 1, slash ? target : ".");
  return stat(in, folder) == 0;
}

bool output_same(const char *a, const char *b)
{
  char target[2][PATH_MAX];
  const char *name[2];
  struct stat folder[2], file;
  if (!a || !b || !strcmp(a, "-") || !strcmp(b, "-")) return a && b && !strcmp(a, b);
  if (stat(a, &file) == 0 && !S_ISREG(file.st_mode)) return false;
  return place_of(a, target[0], &folder[0], &name[0]) && place_of(b, target[1], &folder[1], &name[1]) &&
         folder[0].st_dev == folder[1].st_dev && folder[0].st_ino == folder[1].st_ino && !strcmp(name[0], name[1]);
}

bool output_is_open(const char *path)
{
  return descriptor_of(path) >= 0;
}

bool output_check(const char *path, struct err *e)
{
  struct output o;
  struct stat s;
  if (!strcmp(path, "-")) return true;
  if (stat(path, &s) == 0) { /* not opened: a pipe would wait for its reader, a file would be cut */
    if (S_ISDIR(s.st_mode)) return cannot(path, EISDIR, e);
    return access(path, W_OK) == 0 || cannot(path, errno, e);
  }
  if (!output_open(&o, path, e)) return false;
  output_drop(&o);
  return true;
}
