/* Which lines of the source a program executes, without compiling it anew: a library for LD_PRELOAD that puts a breakpoint (int3) at
 * each address of a list when the program starts. One that is met is noted and taken out, so that it costs a signal once.
 *
 *     MUTATE_POINTS  the list (struct points), written by cover.py
 *     MUTATE_COVER   a file with a byte for each point, shared by all processes of a test
 *
 * SIGTRAP is ours, and stays unblocked. x86-64 only.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

enum { INT3 = 0xcc, NAME = 56, MAX_LIBRARIES = 4 };

/* A library: its file's name, and which offsets are its own, in order. */
struct library {
  char name[NAME];
  uint32_t first, n;
};

struct points {
  struct library library[MAX_LIBRARIES];
  uint32_t offset[];
};

static const struct points *points;
static uint8_t *hit, *original;
static uintptr_t base[MAX_LIBRARIES]; /* 0: not in this process */

static void *map_file(const char *path, int access, int how)
{
  struct stat st;
  int fd = path ? open(path, access | O_CLOEXEC) : -1;
  if (fd < 0) return NULL;
  void *p = fstat(fd, &st) ? MAP_FAILED
                           : mmap(NULL, (size_t)st.st_size, how, access == O_RDWR ? MAP_SHARED : MAP_PRIVATE, fd, 0);
  close(fd);
  return p == MAP_FAILED ? NULL : p;
}

/* The point at an address, or -1. */
static int64_t find(uintptr_t at)
{
  for (unsigned k = 0; k < MAX_LIBRARIES; k++) {
    const struct library *l = &points->library[k];
    uint32_t low = l->first, high = l->first + l->n;
    if (!base[k] || at < base[k] || at - base[k] > UINT32_MAX) continue;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (points->offset[middle] < at - base[k])
        low = middle + 1;
      else
        high = middle;
    }
    if (low < l->first + l->n && points->offset[low] == at - base[k]) return low;
  }
  return -1;
}

static void trapped(int sig, siginfo_t *info, void *context)
{
  greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  int64_t i = find((uintptr_t)*pc - 1);
  (void)info;
  if (i < 0) { /* somebody else's */
    signal(sig, SIG_DFL);
    raise(sig);
    return;
  }
  *(volatile uint8_t *)((uintptr_t)*pc - 1) = original[i];
  hit[i] = 1;
  *pc -= 1;
}

/* Its code can be written from now on. */
static void open_code(const struct dl_phdr_info *o)
{
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (unsigned i = 0; i < o->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &o->dlpi_phdr[i];
    if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
    uintptr_t from = (o->dlpi_addr + h->p_vaddr) & ~(page - 1), to = o->dlpi_addr + h->p_vaddr + h->p_memsz;
    mprotect((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC);
  }
}

static int look_at(struct dl_phdr_info *o, size_t size, void *ctx)
{
  const char *slash = strrchr(o->dlpi_name, '/'), *name = slash ? slash + 1 : o->dlpi_name;
  (void)size, (void)ctx;
  for (unsigned k = 0; k < MAX_LIBRARIES; k++) {
    const struct library *l = &points->library[k];
    if (!l->n || strncmp(l->name, name, NAME) != 0) continue;
    open_code(o);
    base[k] = o->dlpi_addr;
    for (uint32_t i = l->first; i < l->first + l->n; i++) {
      uint8_t *at = (uint8_t *)(base[k] + points->offset[i]);
      original[i] = *at;
      if (!hit[i]) *at = INT3;
    }
  }
  return 0;
}

__attribute__((constructor)) static void begin(void)
{
  struct sigaction a = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
  struct stat st;
  const char *path = getenv("MUTATE_COVER");
  points = map_file(getenv("MUTATE_POINTS"), O_RDONLY, PROT_READ);
  hit = points ? map_file(path, O_RDWR, PROT_READ | PROT_WRITE) : NULL;
  if (!hit || stat(path, &st)) return;
  original = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (original == MAP_FAILED) return;
  sigaction(SIGTRAP, &a, NULL);
  dl_iterate_phdr(look_at, NULL);
}

/* Threads that block all signals would die of the first breakpoint. */
static int change_mask(const char *name, int how, const sigset_t *set, sigset_t *old)
{
  int (*next)(int, const sigset_t *, sigset_t *);
  sigset_t without;
  *(void **)&next = dlsym(RTLD_NEXT, name);
  if (set && how != SIG_UNBLOCK) {
    without = *set;
    sigdelset(&without, SIGTRAP);
    set = &without;
  }
  return next(how, set, old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
  return change_mask("pthread_sigmask", how, set, old);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
  return change_mask("sigprocmask", how, set, old);
}
