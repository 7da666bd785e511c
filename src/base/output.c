#include "base/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool cannot(const char *path, int why, struct err *e)
{
  return err_set(e, "%s: cannot write: %s", path, why ? strerror(why) : "not all of it could be written");
}

/* A file that outgrows its limit is an error of write(), as on a full disk, not the end of the process. */
static void survive_size_limit(void)
{
  struct sigaction now;
  if (sigaction(SIGXFSZ, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
    signal(SIGXFSZ, SIG_IGN);
}

static bool is_direct(const char *path)
{
  struct stat s;
  return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

/* With the rights that a new file has, or those of the file that it replaces. */
static FILE *make_temporary(struct output *o)
{
  struct stat old;
  const mode_t mask = umask(0);
  umask(mask);
  snprintf(o->temporary, sizeof o->temporary, "%s.XXXXXX", o->path);
  const int fd = mkstemp(o->temporary);
  if (fd < 0) return NULL;
  (void)!fchmod(fd, stat(o->path, &old) == 0 ? old.st_mode & 0777 : 0666 & ~mask);
  FILE *f = fdopen(fd, "wb");
  if (f) return f;
  const int why = errno;
  close(fd);
  unlink(o->temporary);
  errno = why;
  return NULL;
}

FILE *output_open(struct output *o, const char *path, struct err *e)
{
  o->f = NULL;
  o->temporary[0] = '\0';
  survive_size_limit();
  if (!strcmp(path, "-")) {
    strcpy(o->path, "stdout");
    return o->f = stdout;
  }
  if (strlen(path) >= sizeof o->path) return err_fill(e, "%.60s…: the path is too long", path), NULL;
  if (!realpath(path, o->path)) strcpy(o->path, path);
  if (is_direct(o->path)) o->f = fopen(o->path, "wb");
  else if (access(o->path, F_OK) != 0 || access(o->path, W_OK) == 0) o->f = make_temporary(o);
  if (!o->f) cannot(path, errno, e);
  return o->f;
}

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

static bool commit(struct output *o, bool written, bool ok, bool fresh, struct err *e)
{
  int why = errno;
  if (!*o->temporary) return ok && (written || cannot(o->path, why, e));
  bool there = ok && written;
  if (there) {
    there = fresh ? link(o->temporary, o->path) == 0 : rename(o->temporary, o->path) == 0;
    why = errno;
  }
  if (!there || fresh) unlink(o->temporary);
  return there || (ok && cannot(o->path, why, e));
}

bool output_close(struct output *o, bool ok, struct err *e)
{
  return commit(o, finish_stream(o), ok, false, e);
}

bool output_close_new(struct output *o, bool ok, struct err *e)
{
  return commit(o, finish_stream(o), ok, true, e);
}

bool output_commit(struct output *o, bool ok, struct err *e)
{
  return commit(o, ok, true, false, e);
}

bool output_check(const char *path, struct err *e)
{
  struct output o;
  if (!output_open(&o, path, e)) return false;
  if (o.f != stdout) fclose(o.f);
  if (*o.temporary) unlink(o.temporary);
  return true;
}
