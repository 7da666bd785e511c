/* Preloaded: the N-th request for host memory that the program itself makes (STARVE_AT=N, from 0) fails, once. Requests of
 * libraries are granted. STARVE_COUNT=FILE: how many there were, written at the end. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The host's own, which dlsym cannot find: it wants memory itself. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static uintptr_t from, to; /* the program's own code */
static atomic_long seen;
static long at = -1;

/* The first object that the loader lists is the program. */
static int first(struct dl_phdr_info *info, size_t size, void *data)
{
  (void)size, (void)data;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
    from = info->dlpi_addr + p->p_vaddr;
    to = from + p->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void begin(void)
{
  const char *n = getenv("STARVE_AT");
  if (n) at = atol(n);
  dl_iterate_phdr(first, NULL);
}

__attribute__((destructor)) static void end(void)
{
  const char *path = getenv("STARVE_COUNT");
  FILE *f = path ? fopen(path, "w") : NULL;
  if (!f) return;
  fprintf(f, "%ld\n", (long)seen);
  fclose(f);
}

static int fails(const void *caller)
{
  uintptr_t pc = (uintptr_t)caller;
  if (pc < from || pc >= to || seen++ != at) return 0;
  errno = ENOMEM;
  return 1;
}

/* The host's function of this name. */
#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

void *malloc(size_t bytes)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t size)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t bytes)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(align, bytes);
}

void *mmap(void *where, size_t bytes, int prot, int flags, int fd, off_t offset)
{
  NEXT(mmap);
  return fails(__builtin_return_address(0)) ? MAP_FAILED : next(where, bytes, prot, flags, fd, offset);
}

FILE *fopen(const char *path, const char *mode)
{
  NEXT(fopen);
  return fails(__builtin_return_address(0)) ? NULL : next(path, mode);
}

FILE *open_memstream(char **text, size_t *bytes)
{
  NEXT(open_memstream);
  return fails(__builtin_return_address(0)) ? NULL : next(text, bytes);
}

int scandir(const char *dir, struct dirent ***list, int (*filter)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **))
{
  NEXT(scandir);
  return fails(__builtin_return_address(0)) ? -1 : next(dir, list, filter, order);
}
