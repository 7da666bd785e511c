#include "cuda/core/save.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/host_memory.h"
#include "cuda/core/shim.h"
#include "host/datafile.h"

enum { NAME_CHARS = 40, MAX_TRIES = 100000 };

struct snapshot *save_before(struct shim *s, const struct loaded_module *m, const struct launch_desc *l,
                             uint64_t number)
{
  if (!s->options.capture || !choice_has(&s->options.choice, number, l->kernel->name)) return NULL;
  struct snapshot_bytes *code = shim_alloc(m->n_files * sizeof *code);
  for (unsigned i = 0; i < m->n_files; i++)
    code[i] = (struct snapshot_bytes){ m->file[i].elf, m->file[i].bytes };
  struct snapshot *snap = snapshot_take(&m->board->device, l, s->options.gpu, code, m->n_files);
  free(code);
  snap->number = number;
  return snap;
}

/* The kernel's symbol as part of a file name. */
static void file_name(const char *kernel, char out[NAME_CHARS + 1])
{
  unsigned n = 0;
  for (; *kernel && n < NAME_CHARS; kernel++)
    out[n++] = isalnum((unsigned char)*kernel) || *kernel == '_' ? *kernel : '-';
  out[n] = '\0';
}

/* A path that is not taken: several processes may write into one folder. */
static bool free_path(const struct shim *s, const struct snapshot *snap, char *path, size_t size)
{
  char name[NAME_CHARS + 1];
  file_name(snap->kernel, name);
  for (uint64_t n = snap->number; n < snap->number + MAX_TRIES; n++) {
    int len = snprintf(path, size, "%s/%04llu-%s.case", s->options.capture, (unsigned long long)n,
                       name);
    if (len >= (int)size) return false;
    if (access(path, F_OK) != 0) return true;
  }
  return false;
}

/* The list, locked (where the file system can), to append to; -1 with errno set. */
static int open_list(const char *list)
{
  for (;;) {
    struct stat s;
    const int fd = open(list, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    if (fstat(fd, &s) != 0 || s.st_nlink > 0) return fd;
    close(fd); /* another process has failed with its first line meanwhile, and removed the list */
  }
}

/* The whole line or nothing. */
static bool append(int fd, const char *list, const char *line, size_t bytes)
{
  struct stat before;
  if (fstat(fd, &before) != 0) return false;
  errno = 0;
  const ssize_t n = write(fd, line, bytes);
  if (n == (ssize_t)bytes) return true;
  const int why = errno;
  if (flock(fd, LOCK_EX) == 0) { /* else the end is perhaps the line of another process */
    if (n > 0) (void)!ftruncate(fd, before.st_size);
    if (before.st_size == 0) unlink(list);
  }
  return errno = why, false;
}

/* FILE BYTES CHECKSUM KERNEL GRID BLOCK */
static bool add_to_manifest(const struct shim *s, const struct snapshot *snap, const char *path,
                            struct err *e)
{
  char list[PATH_MAX];
  uint8_t *data;
  size_t bytes;
  TRY(datafile_read(path, NULL, &data, &bytes, e));
  snprintf(list, sizeof list, "%s/manifest.txt", s->options.capture);
  char *line = NULL;
  const int n = asprintf(&line, "%s %zu %016llx %s %ux%ux%u %ux%ux%u\n", strrchr(path, '/') + 1, bytes,
                         (unsigned long long)checksum64(data, bytes), snap->kernel, snap->grid[0], snap->grid[1],
                         snap->grid[2], snap->block[0], snap->block[1], snap->block[2]);
  NO_MEMORY_IF(n < 0);
  free(data);
  const int fd = open_list(list);
  const bool ok = fd >= 0 && append(fd, list, line, (size_t)n);
  const int why = errno;
  if (fd >= 0) close(fd);
  free(line);
  if (ok) return true;
  unlink(path); /* a case that the list does not name would not be missed */
  errno = why;
  return err_set(e, "%s: cannot write: %s", list, why ? host_error() : "not all of it could be written");
}

static bool save(const struct shim *s, const struct snapshot *snap, struct err *e)
{
  char path[PATH_MAX];
  bool taken = false;
  do {
    if (!free_path(s, snap, path, sizeof path))
      return err_set(e, "%s: no room for another case", s->options.capture);
    if (snapshot_write(snap, path, &taken, e)) return add_to_manifest(s, snap, path, e);
  } while (taken); /* by another process, since free_path looked */
  return false;
}

void save_after(struct shim *s, struct snapshot *snap, const struct sim_result *r)
{
  struct err e = {""};
  if (!snap) return;
  fflush(s->print.file);
  snapshot_finish(snap, &s->boards.of[0].device, r, s->print.text, s->print.bytes);
  bool ok = r->end == RUN_DONE || r->end == RUN_FAULT;
  if (ok && !s->lost && !save(s, snap, &e))
    shim_cannot_write(s, &e); /* one line: behind it nothing is captured any more */
  snapshot_free(snap);
}
