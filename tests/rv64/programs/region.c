/* A region of interest behind work that is none, with threads that run before, in and behind it. */
#include <pthread.h>
#include <stdio.h>

#include "../../../include/warpstep/region.h"

enum { THREADS = 3, BEFORE = 1000000, INSIDE = 50000 };

static unsigned sum[THREADS];

static void *work(void *p)
{
  unsigned *s = p;
  for (unsigned i = 0; i < 20000; i++) *s += i * 7 + (unsigned)(s - sum);
  return NULL;
}

/* A multiplication and an addition behind it, in a chain. */
static unsigned chain(unsigned x, unsigned n)
{
  while (n--) x = x * 1664525 + 1013904223;
  return x;
}

int main(void)
{
  pthread_t t[THREADS];
  unsigned x = chain(1, BEFORE);
  for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, &sum[i]);
  warpstep_region_begin();
  x = chain(x, INSIDE);
  warpstep_region_end();
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
  printf("%u %u\n", x, sum[0] + sum[1] + sum[2]);
  return 0;
}
