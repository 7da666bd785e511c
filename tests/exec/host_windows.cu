// Memory of the host where programs' stacks and libraries lie, at the upper end of what Linux gives to a program. A kernel that gets a pointer
// to it by a generic address reads the host's values, or nothing (an illegal address); never its own shared or local memory.
#include "check.h"
#include <sys/mman.h>

enum { BYTES = 1 << 16, WORDS = BYTES / 4, THREADS = 256 };

// The first words, while shared and local memory hold other values.
__global__ void read(const unsigned *from, unsigned words, unsigned *to, int one)
{
  __shared__ unsigned shared[THREADS];
  unsigned local[16];
  shared[threadIdx.x] = 1;
  for (int i = 0; i < 16; i++) local[i * one] = 2;
  __syncthreads();
  const unsigned *own = one ? from : threadIdx.x % 2 ? local : shared; // the compiler does not know which
  for (unsigned i = threadIdx.x; i < words; i += THREADS) to[i] = own[i];
  if (shared[THREADS - 1 - threadIdx.x] != 1 || local[threadIdx.x % 16] != 2) to[0] = ~to[0];
}

static unsigned value(unsigned i) { return i * 2654435761u + 12345; }

// Free memory of 4 GiB from `first` on, near the beginning, where shared and local memory of a kernel would be.
static unsigned *map_near(unsigned long first)
{
  for (unsigned long at = first; at < first + (1ul << 32); at += BYTES) {
    void *p = mmap((void *)at, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == (void *)at) return (unsigned *)p;
    if (p != MAP_FAILED) munmap(p, BYTES);
  }
  return nullptr;
}

static unsigned right(const unsigned *from, unsigned *to)
{
  static unsigned have[WORDS];
  unsigned n = 0;
  read<<<1, THREADS>>>(from, WORDS, to, 1);
  CUDA(cudaMemcpy(have, to, BYTES, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < WORDS; i++) n += have[i] == value(i);
  return n;
}

static void check(unsigned long first)
{
  unsigned *to, *seen, *host = map_near(first);
  CHECK(host);
  for (unsigned i = 0; i < WORDS; i++) host[i] = value(i);
  CUDA(cudaMalloc(&to, BYTES));
  CUDA(cudaHostRegister(host, BYTES, cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer((void **)&seen, host, 0));
  CHECK(right(seen, to) == WORDS);
  int same;
  CUDA(cudaDeviceGetAttribute(&same, cudaDevAttrCanUseHostPointerForRegisteredMem, 0));
  if (same) CHECK(right(host, to) == WORDS);
  CUDA(cudaHostUnregister(host));
  read<<<1, THREADS>>>(host, 8, to, 1); // so few that a thread's own memory has as many
  int pageable;
  CUDA(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0));
  CHECK(cudaDeviceSynchronize() == (pageable ? cudaSuccess : cudaErrorIllegalAddress));
  CUDA(cudaDeviceReset());
  munmap(host, BYTES);
}

int main()
{
  for (unsigned long top = 0x7ff9; top <= 0x7fff; top++) check(top << 32);
  puts("right");
}
