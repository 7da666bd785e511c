/* What the program asks the host's C library for, when the linker sends it here (--wrap, in the Makefile): memory is
 * the region's while that is in use (cli/region.h). Only the program's own calls come here, none of a library's. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "cli/region.h"

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
void __real_free(void *);
char *__real_strdup(const char *);
char *__real_strndup(const char *, size_t);
void *__real_mmap(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);
FILE *__real_fopen(const char *, const char *);
FILE *__real_fdopen(int, const char *);
int __real_fclose(FILE *);

void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__wrap_aligned_alloc(size_t, size_t);
void __wrap_free(void *);
char *__wrap_strdup(const char *);
char *__wrap_strndup(const char *, size_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
int __wrap_munmap(void *, size_t);
FILE *__wrap_fopen(const char *, const char *);
FILE *__wrap_fdopen(int, const char *);
int __wrap_fclose(FILE *);

void *__wrap_malloc(size_t bytes)
{
  return region_in_use() ? region_take(bytes, false) : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t size)
{
  size_t bytes;
  if (!region_in_use()) return __real_calloc(n, size);
  return __builtin_mul_overflow(n, size, &bytes) ? NULL : region_take(bytes, true);
}

void *__wrap_realloc(void *p, size_t bytes)
{
  return region_has(p) || (!p && region_in_use()) ? region_resize(p, bytes) : __real_realloc(p, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
  return region_in_use() ? region_take_aligned(align, bytes) : __real_aligned_alloc(align, bytes);
}

void __wrap_free(void *p)
{
  if (region_has(p)) region_give(p);
  else __real_free(p);
}

char *__wrap_strndup(const char *s, size_t most)
{
  if (!region_in_use()) return __real_strndup(s, most);
  const size_t n = strnlen(s, most);
  char *copy = region_take(n + 1, false);
  memcpy(copy, s, n);
  copy[n] = 0;
  return copy;
}

char *__wrap_strdup(const char *s)
{
  return region_in_use() ? __wrap_strndup(s, SIZE_MAX) : __real_strdup(s);
}

/* ---- mappings ---- */

/* A mapping of a file becomes a copy of it. */
static void *copy_of_file(size_t bytes, int fd, off_t from)
{
  char *p = region_map(bytes);
  for (size_t n = 0; n < bytes;) {
    const ssize_t got = pread(fd, p + n, bytes - n, from + (off_t)n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return region_unmap(p, bytes), MAP_FAILED;
    if (got == 0) break; /* zeros behind the end */
    n += (size_t)got;
  }
  return p;
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
  if (!region_in_use()) return __real_mmap(at, bytes, protection, flags, fd, from);
  if (flags & MAP_SHARED) region_note_shared();
  if (at || !bytes || flags & MAP_SHARED) {
    void *elsewhere = __real_mmap(at, bytes, protection, flags, fd, from);
    if (elsewhere != MAP_FAILED && flags & MAP_ANONYMOUS && !region_has(at)) region_note(elsewhere, bytes);
    return elsewhere;
  }
  void *p = flags & MAP_ANONYMOUS ? region_map(bytes) : copy_of_file(bytes, fd, from);
  if (p != MAP_FAILED && protection == PROT_NONE) mprotect(p, bytes, protection);
  return p;
}

int __wrap_munmap(void *at, size_t bytes)
{
  if (!region_has(at)) {
    if (region_in_use()) region_forget(at, bytes);
    return __real_munmap(at, bytes);
  }
  return region_unmap(at, bytes), 0;
}

/* ---- streams, which live in the C library. Those in memory are their owner's matter (host/capture.h) ---- */

static FILE *count(FILE *f)
{
  if (f && region_in_use()) region_count_stream(1);
  return f;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
  return count(__real_fopen(path, mode));
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
  return count(__real_fdopen(fd, mode));
}

int __wrap_fclose(FILE *f)
{
  if (region_in_use() && fileno(f) >= 0) region_count_stream(-1);
  return __real_fclose(f);
}
