#include "draw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bug.h"

unsigned field_byte(struct draw *f)
{
  if (f->left == 0) return 0;
  f->left--;
  return *f->data++;
}

unsigned field_pick(struct draw *f, unsigned n)
{
  return n > 256 ? (field_byte(f) << 8 | field_byte(f)) % n : field_byte(f) % n;
}

uint64_t field_number(struct draw *f)
{
  unsigned kind = field_byte(f), at = kind & 63;
  uint64_t v = 0;
  if (kind < 96) return kind;
  if (kind < 160) return (UINT64_C(1) << at) + field_pick(f, 3) - 1;
  if (kind < 200) return field_byte(f) * UINT64_C(0x10);
  if (kind < 240) return field_byte(f) << 8 | field_byte(f);
  for (unsigned i = 0; i < 8; i++) v = v << 8 | field_byte(f);
  return v;
}

const char *field_numeral(struct draw *f, char text[40])
{
  static const char *const odd[] = {"", "-", "0x", "1e400", "nan", "1.5", "99999999999999999999", "1,2"};
  uint64_t v = field_number(f);
  switch (field_byte(f) & 31) {
  case 0: snprintf(text, 40, "-%" PRIu64, v); break;
  case 1: snprintf(text, 40, "0x%" PRIx64, v); break;
  case 2: snprintf(text, 40, "%s", odd[v % 8]); break;
  default: snprintf(text, 40, "%" PRIu64, v); break;
  }
  return text;
}

void fuzz_add(struct fuzz_text *t, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(t->at + t->n, sizeof t->at - t->n, fmt, ap);
  va_end(ap);
  if (n > 0 && (size_t)n < sizeof t->at - t->n) t->n += (size_t)n;
  t->at[t->n] = '\0';
}

void fuzz_file_open(struct fuzz_file *f, const char *suffix, const void *data, size_t bytes)
{
  snprintf(f->path, sizeof f->path, "/dev/shm/warpstep-fuzz-XXXXXX%s", suffix);
  f->fd = *suffix ? mkstemps(f->path, (int)strlen(suffix)) : memfd_create("fuzz", MFD_CLOEXEC);
  BUG_ON(f->fd < 0 || write(f->fd, data, bytes) != (ssize_t)bytes);
  if (!*suffix) snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->fd);
}

void fuzz_file_close(struct fuzz_file *f)
{
  if (strncmp(f->path, "/dev/shm", 8) == 0) unlink(f->path);
  close(f->fd);
}
