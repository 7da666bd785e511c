/* Signals: handlers, masks, alternative stacks, faults that are caught and left. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static volatile uintptr_t where;
static sigjmp_buf out;
static char alt[65536];

static void count(int n)
{
  seen = seen * 100 + n;
}

static void caught(int n, siginfo_t *i, void *context)
{
  char here;
  (void)context;
  seen = n;
  where = (uintptr_t)i->si_addr;
  printf("code %d, on the alternative stack: %d\n", i->si_code, &here >= alt && &here < alt + sizeof alt);
  siglongjmp(out, 1);
}

/* Steps over the load that failed: 4 bytes, or 2 when it is compressed. */
static void skip(int n, siginfo_t *i, void *context)
{
  ucontext_t *u = context;
  (void)n, (void)i;
  uint16_t word;
  memcpy(&word, (void *)u->uc_mcontext.__gregs[0], 2);
  u->uc_mcontext.__gregs[0] += (word & 3) == 3 ? 4 : 2;
}

int main(void)
{
  sigset_t set, old;
  signal(SIGUSR1, count);
  signal(SIGUSR2, count);
  raise(SIGUSR1);
  printf("raised %d\n", (int)seen);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, &old);
  seen = 0;
  kill(getpid(), SIGUSR2);
  raise(SIGUSR1);
  sigpending(&set);
  printf("blocked %d pending %d %d\n", (int)seen, sigismember(&set, SIGUSR1), sigismember(&set, SIGHUP));
  sigprocmask(SIG_SETMASK, &old, NULL);
  printf("delivered %d\n", (int)seen != 0);
  stack_t s = {.ss_sp = alt, .ss_size = sizeof alt};
  sigaltstack(&s, NULL);
  struct sigaction a = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &a, NULL);
  if (sigsetjmp(out, 1) == 0) *(volatile int *)16 = 1;
  printf("caught %d at %lx\n", (int)seen, (long)where);
  char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sigsetjmp(out, 1) == 0) page[5] = 1;
  printf("caught %d at page + %ld\n", (int)seen, (long)(where - (uintptr_t)page));
  sigaction(SIGILL, &a, NULL);
  if (sigsetjmp(out, 1) == 0) __asm__ volatile("unimp");
  printf("caught %d\n", (int)seen);
  a.sa_sigaction = skip;
  sigaction(SIGSEGV, &a, NULL);
  long value = 42;
  __asm__ volatile("ld %0, 0(%1)" : "+r"(value) : "r"(0L) : "memory");
  printf("skipped: %ld\n", value);
  signal(SIGUSR1, SIG_IGN);
  raise(SIGUSR1);
  signal(SIGABRT, SIG_DFL);
  fflush(stdout);
  return 0;
}
