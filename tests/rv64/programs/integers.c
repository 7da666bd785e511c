/* Integer arithmetic against itself done another way; sorting, hashing, recursion, 128-bit products. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ull;
static uint64_t next(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static int compare(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static int64_t fib(int n)
{
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* The upper half of a product from four smaller ones. */
static uint64_t high(uint64_t a, uint64_t b)
{
  const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
  const uint64_t mid = ah * bl + (al * bl >> 32), mid2 = al * bh + (uint32_t)mid;
  return ah * bh + (mid >> 32) + (mid2 >> 32);
}

int main(void)
{
  static int64_t a[20000];
  uint64_t sum = 0, wrong = 0;
  for (int i = 0; i < 20000; i++) {
    const uint64_t x = next() >> (next() & 63), y = next() >> (next() & 63) | 1;
    wrong += (uint64_t)((unsigned __int128)x * y >> 64) != high(x, y);
    wrong += x / y * y + x % y != x;
    const int64_t s = (int64_t)x, t = (int64_t)y;
    wrong += t != -1 && s / t * t + s % t != s;
    wrong += (uint32_t)x / (uint32_t)y * (uint32_t)y + (uint32_t)x % (uint32_t)y != (uint32_t)x;
    sum = sum * 31 + (x << (y & 63)) + (uint64_t)(s >> (y & 63)) + (uint64_t)((int32_t)x >> (y & 31));
    sum += (uint64_t)__builtin_popcountll(x) + (uint64_t)__builtin_clzll(y) + (uint64_t)__builtin_bswap64(x);
  }
  printf("wrong %lu sum %lx\n", wrong, sum);
  for (int i = 0; i < 20000; i++) a[i] = (int64_t)next();
  qsort(a, 20000, sizeof *a, compare);
  for (int i = 1; i < 20000; i++) wrong += a[i - 1] > a[i];
  printf("sorted %lu %lx\n", wrong, (unsigned long)a[10000]);
  printf("fib %ld\n", (long)fib(24));
  jmp_buf j;
  volatile int times = 0;
  if (setjmp(j) < 5) longjmp(j, ++times);
  printf("jumps %d\n", times);
  volatile int64_t least = INT64_MIN, minus = -1, zero = 0;
  int64_t q, r;
  __asm__ volatile("div %0, %2, %3\n\trem %1, %2, %3" : "=&r"(q), "=&r"(r) : "r"(least), "r"(minus));
  printf("%ld %ld ", (long)q, (long)r);
  __asm__ volatile("div %0, %2, %3\n\trem %1, %2, %3" : "=&r"(q), "=&r"(r) : "r"(least), "r"(zero));
  printf("%ld %ld\n", (long)q, (long)r);
  return 0;
}
