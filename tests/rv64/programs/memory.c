/* Memory: the heap, mappings that grow, move, lose their rights. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, BLOCKS = 400 };

int main(void)
{
  static unsigned char *block[BLOCKS];
  static size_t size[BLOCKS];
  unsigned s = 1, sum = 0;
  for (int i = 0; i < 6000; i++) {
    s = s * 1664525 + 1013904223;
    unsigned k = s >> 16 & 255, bytes = 1 + (s >> 8) % (i % 100 == 0 ? 300000 : 900);
    for (size_t j = 0; j < size[k]; j += 97) sum = sum * 7 + block[k][j];
    block[k] = realloc(block[k], bytes);
    if (bytes > size[k]) memset(block[k] + size[k], (int)k, bytes - size[k]);
    size[k] = bytes;
  }
  printf("sum %u\n", sum);
  char *m = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 8; i++) m[i * PAGE] = (char)('a' + i);
  munmap(m + 3 * PAGE, PAGE);
  printf("hole %d\n", mprotect(m, 8 * PAGE, PROT_READ) < 0 ? errno : 0);
  mprotect(m, 3 * PAGE, PROT_READ | PROT_WRITE); /* below the hole rights had changed */
  char *n = mremap(m, 3 * PAGE, 40 * PAGE, MREMAP_MAYMOVE);
  printf("moved %c%c%c, zero %d\n", n[0], n[PAGE], n[2 * PAGE], n[30 * PAGE]);
  printf("rest %c\n", m[4 * PAGE]);
  n[20 * PAGE] = 'q';
  madvise(n + 20 * PAGE, PAGE, MADV_DONTNEED);
  printf("zero %d\n", n[20 * PAGE]);
  char *f = mmap(n, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  printf("fixed %d %d\n", f == n, n[0]);
  uint64_t *big = mmap(NULL, 1ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (uint64_t i = 0; i < 1ul << 27; i += 1ul << 23) big[i] = i;
  uint64_t total = 0;
  for (uint64_t i = 0; i < 1ul << 27; i += 1ul << 22) total += big[i];
  printf("big %lx %d\n", total, munmap(big, 1ul << 30));
  char *heap = sbrk(1 << 20);
  memset(heap, 1, 1 << 20);
  printf("brk %d\n", (char *)sbrk(0) == heap + (1 << 20));
  int bad = errno = 0;
  bad = munmap((void *)1, 10);
  printf("bad %d %d\n", bad, errno);
  return 0;
}
