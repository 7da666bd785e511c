// Pages of the CPU's memory that a kernel touches first, and pages that the CPU has touched: one thread reads or writes a word of
// each. Prints "KEY PAGES" of what it did; tests/rv64_cuda/run.sh holds walks, entries read and pages brought against them.
//
//   pages PAGES FRESH      PAGES of 4 KiB, of which the CPU writes to all but the first FRESH
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

enum { PAGE_WORDS = 1024 };

__global__ void touch(unsigned *a, unsigned pages, unsigned *sum)
{
  unsigned s = 0;
  for (unsigned i = 0; i < pages; i++) {
    s += __ldcg(&a[(size_t)i * PAGE_WORDS + 3]);
    a[(size_t)i * PAGE_WORDS + 4] = i;
  }
  *sum = s;
}

int main(int argc, char **argv)
{
  const unsigned pages = argc > 1 ? (unsigned)atoi(argv[1]) : 600, fresh = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
  // From a multiple of the bytes that a table of 512 pages maps on.
  const size_t span = 2u << 20, bytes = (size_t)pages * 4096;
  char *all = (char *)mmap(NULL, bytes + span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned *a = (unsigned *)(((size_t)all + span - 1) / span * span), *sum, wrong = 0, expected = 0;
  if (all == MAP_FAILED || cudaMalloc(&sum, sizeof *sum) != cudaSuccess) return 1;
  for (unsigned i = fresh; i < pages; i++) a[(size_t)i * PAGE_WORDS + 3] = i, expected += i;
  touch<<<1, 1>>>(a, pages, sum);
  unsigned got = 0;
  wrong += cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess || got != expected;
  for (unsigned i = 0; i < pages; i++) wrong += a[(size_t)i * PAGE_WORDS + 4] != i;
  printf("pages %u\nfresh %u\n%s\n", pages, fresh, wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
