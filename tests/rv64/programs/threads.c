/* Threads: mutexes, conditions, barriers, thread-local variables, joined results. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 8, ROUNDS = 500, QUEUE = 4, ITEMS = 1000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static long counter, queue[QUEUE], taken;
static int head, count;
static __thread long own;

static void *add(void *arg)
{
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&lock);
    counter += (intptr_t)arg;
    pthread_mutex_unlock(&lock);
    own++;
    if (i % 100 == 0) pthread_barrier_wait(&barrier);
  }
  return (void *)(own * (intptr_t)arg);
}

static void *produce(void *arg)
{
  (void)arg;
  for (long i = 1; i <= ITEMS; i++) {
    pthread_mutex_lock(&lock);
    while (count == QUEUE) pthread_cond_wait(&room, &lock);
    queue[(head + count++) % QUEUE] = i;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void *consume(void *arg)
{
  long sum = 0;
  (void)arg;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (count == 0 && taken < ITEMS) pthread_cond_wait(&more, &lock);
    if (taken == ITEMS) break;
    sum += queue[head];
    head = (head + 1) % QUEUE;
    count--;
    if (++taken == ITEMS) pthread_cond_broadcast(&more);
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return (void *)sum;
}

int main(void)
{
  pthread_t t[THREADS];
  long sum = 0;
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (intptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, add, (void *)(i + 1));
  for (int i = 0; i < THREADS; i++) {
    void *r;
    pthread_join(t[i], &r);
    sum += (long)r;
  }
  printf("counter %ld sum %ld\n", counter, sum);
  pthread_create(&t[0], NULL, produce, NULL);
  for (int i = 1; i < 4; i++) pthread_create(&t[i], NULL, consume, NULL);
  sum = 0;
  for (int i = 0; i < 4; i++) {
    void *r;
    pthread_join(t[i], &r);
    sum += (long)r;
  }
  printf("items %ld sum %ld\n", taken, sum);
  return 0;
}
