/* Atomics of all widths from several threads; compare and exchange as LR and SC. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 6, ROUNDS = 3000 };
static _Atomic uint32_t sum32, max32, bits;
static _Atomic int64_t sum64, min64;
static _Atomic uint8_t small;
static _Atomic uint16_t middle;
static atomic_flag spin = ATOMIC_FLAG_INIT;
static long guarded;

static void *work(void *arg)
{
  const long id = (long)arg;
  for (int i = 0; i < ROUNDS; i++) {
    atomic_fetch_add(&sum32, (uint32_t)id);
    atomic_fetch_sub(&sum64, id * i);
    atomic_fetch_or(&bits, 1u << (id + i % 4));
    atomic_fetch_add(&small, 1);
    uint16_t m = atomic_load(&middle);
    while (!atomic_compare_exchange_weak(&middle, &m, (uint16_t)(m + 3))) {}
    const uint32_t v = (uint32_t)(id * 7919 + i * 104729) & 0xffffff;
    uint32_t old = atomic_load(&max32);
    while (old < v && !atomic_compare_exchange_strong(&max32, &old, v)) {}
    int64_t low;
    __asm__ volatile("amomin.d %0, %2, %1" : "=r"(low), "+A"(min64) : "r"(-(int64_t)v) : "memory");
    while (atomic_flag_test_and_set(&spin)) {}
    guarded += i;
    atomic_flag_clear(&spin);
  }
  return NULL;
}

int main(void)
{
  pthread_t t[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
  printf("%u %ld %u %u %u\n", sum32, (long)sum64, bits, small, middle);
  printf("%u %ld %ld\n", max32, (long)min64, guarded);
  return 0;
}
