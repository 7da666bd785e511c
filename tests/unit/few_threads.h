/* A host that has few threads left, as under `ulimit -u`: stacks as large as the address space that there is room for. */
#ifndef TESTS_UNIT_FEW_THREADS_H
#define TESTS_UNIT_FEW_THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

struct few_threads {
  struct rlimit limit;
  pthread_attr_t attr;
};

/* From now on n more threads start, no others. */
static inline struct few_threads few_threads_begin(unsigned n)
{
  const uint64_t stack = UINT64_C(1) << 30; /* half of it is for everything else, heaps of threads, too */
  struct few_threads old;
  pthread_attr_t attr;
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%lu", &pages) != 1) fail_msg("no /proc/self/statm");
  fclose(f);
  assert_int_equal(getrlimit(RLIMIT_AS, &old.limit), 0);
  assert_int_equal(pthread_getattr_default_np(&old.attr), 0);
  struct rlimit now = old.limit;
  now.rlim_cur = pages * (uint64_t)sysconf(_SC_PAGESIZE) + stack * n + stack / 2;
  assert_int_equal(setrlimit(RLIMIT_AS, &now), 0);
  assert_int_equal(pthread_attr_init(&attr), 0);
  assert_int_equal(pthread_attr_setstacksize(&attr, stack), 0);
  assert_int_equal(pthread_setattr_default_np(&attr), 0);
  pthread_attr_destroy(&attr);
  return old;
}

static inline void few_threads_end(struct few_threads *old)
{
  assert_int_equal(pthread_setattr_default_np(&old->attr), 0);
  assert_int_equal(setrlimit(RLIMIT_AS, &old->limit), 0);
  pthread_attr_destroy(&old->attr);
}

#endif
