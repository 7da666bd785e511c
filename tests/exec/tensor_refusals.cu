// Products into tensor memory that no document describes: the kernel is stopped, the message says why, and others run afterwards.
#include "check.h"

__device__ unsigned shared_address(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}

// FP16, 128 rows, 64 columns; of .ws A in shared memory, else in tensor memory.
enum { IDESC = 1 << 4 | 64 / 8 << 17 | 128 / 16 << 24, ANY = 39, SKIP = 40, USE = 48, SHIFT = 56 };
enum which { FINE, MOVES_A, MOVES_COLUMNS, STARTS_BEHIND };

template <which WHICH> __global__ void product()
{
  __shared__ __align__(1024) unsigned char matrix[8192];
  __shared__ unsigned where;
  unsigned long long b = shared_address(matrix) >> 4 | (unsigned long long)(2048 >> 4) << 16 | 128ull >> 4 << 32 | 1ull << 46;
  unsigned long long mask = WHICH == FINE ? 1ull << ANY
                            : WHICH == MOVES_COLUMNS ? 9ull << SHIFT // of 8, that the instruction descriptor allows
                                                     : 1ull << ANY | 2ull << USE | 3; // column 3 of a span of 3
  unsigned idesc = IDESC | (WHICH == MOVES_COLUMNS ? 1u << 30 : 0);
  for (unsigned i = threadIdx.x; i < sizeof matrix; i += 32) matrix[i] = 0;
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 512;" ::"r"(shared_address(&where)) : "memory");
  __syncwarp();
  if (threadIdx.x == 0) {
    if (WHICH == MOVES_A)
      asm volatile("{.reg .pred p; setp.ne.b32 p, 0, 0;\n"
                   "tcgen05.mma.cta_group::1.kind::f16.ashift [%0], [%1], %2, %3, p;}" ::"r"(where), "r"(where + 128),
                   "l"(b), "r"(idesc) : "memory");
    else
      asm volatile("{.reg .pred p; setp.ne.b32 p, 0, 0;\n"
                   "tcgen05.mma.ws.cta_group::1.kind::f16 [%0], %1, %1, %2, p, %3;}" ::"r"(where), "l"(b), "r"(idesc),
                   "l"(mask) : "memory");
  }
  __syncwarp();
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 512;" ::"r"(where));
}

template <which WHICH> static bool stops()
{
  product<WHICH><<<1, 32>>>();
  bool stopped = cudaDeviceSynchronize() != cudaSuccess;
  if (stopped) CUDA(cudaDeviceReset());
  return stopped;
}

int main()
{
  CHECK(stops<MOVES_A>());
  CHECK(stops<MOVES_COLUMNS>());
  CHECK(stops<STARTS_BEHIND>());
  CHECK(!stops<FINE>());
  return 0;
}
