/* Clocks: they never go back, sleeping takes as long as it says, a wait ends by time. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t c)
{
  struct timespec t;
  clock_gettime(c, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *nap(void *arg)
{
  usleep(20000);
  return arg;
}

int main(void)
{
  double last = seconds(CLOCK_MONOTONIC);
  int back = 0;
  for (int i = 0; i < 1000; i++) {
    const double now = seconds(CLOCK_MONOTONIC);
    back += now < last;
    last = now;
  }
  printf("back %d\n", back);
  const double before = seconds(CLOCK_MONOTONIC), day = seconds(CLOCK_REALTIME);
  struct timespec t = {0, 30000000};
  printf("sleep %d, long enough %d %d\n", nanosleep(&t, NULL), seconds(CLOCK_MONOTONIC) - before >= 0.03,
         seconds(CLOCK_REALTIME) - day >= 0.0299);
  printf("a date after 2019: %d\n", time(NULL) > 1546300800);
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += 10000000;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  pthread_mutex_lock(&m);
  printf("timed wait %d\n", pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT);
  pthread_t p[4];
  for (long i = 0; i < 4; i++) pthread_create(&p[i], NULL, nap, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(p[i], NULL);
  printf("slept, bad clock %d\n", clock_gettime(77, &t) < 0 ? errno : 0);
  return 0;
}
