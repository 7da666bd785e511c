#include "host/datafile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "base/regular.h"

static bool cannot(struct err *e, const char *where, const char *path, const char *what)
{
  return err_set(e, "%s%s%s: cannot read: %s; make the data files first (make refs) or correct the "
                 "path", where ? where : "", where ? ": " : "", path, what);
}

bool datafile_read(const char *path, const char *where, uint8_t **data, size_t *bytes,
                   struct err *e)
{
  struct err why = {""};
  if (access(path, F_OK) == 0 && !file_is_regular(path, &why))
    return err_set(e, "%s%s%s", where ? where : "", where ? ": " : "", why.msg);
  FILE *f = fopen(path, "rb");
  if (!f) return cannot(e, where, path, host_error());
  long size = -1;
  if (fseek(f, 0, SEEK_END) == 0) size = ftell(f);
  rewind(f);
  uint8_t *buf = size < 0 ? NULL : malloc((size_t)size + 1);
  bool ok = buf && fread(buf, 1, (size_t)size, f) == (size_t)size;
  const int saved = errno;
  fclose(f);
  if (!ok) {
    free(buf);
    errno = saved;
    return cannot(e, where, path, saved ? host_error() : "not a regular file");
  }
  *data = buf;
  *bytes = (size_t)size;
  return true;
}

bool datafile_read_exact(const char *path, const char *where, size_t bytes, uint8_t **data,
                         struct err *e)
{
  size_t n;
  TRY(datafile_read(path, where, data, &n, e));
  if (n == bytes) return true;
  free(*data);
  *data = NULL;
  return err_set(e, "%s%s%s: has %zu bytes, want %zu; make the data files again or correct type "
                 "and count",
                 where ? where : "", where ? ": " : "", path, n, bytes);
}

bool datafile_write(const char *path, const void *data, size_t bytes, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, path, e);
  if (f) fwrite(data, 1, bytes, f);
  return f && output_close(&out, true, e);
}
