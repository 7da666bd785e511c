// A product by pairs of CTAs as libraries write it (sm_100a): each CTA of a pair copies its half of A and B by tensor
// maps and has the even CTA's mbarrier told (cp.async.bulk.tensor, cta_group::2; also by multicast), all warps wait for
// every step, the even CTA multiplies and commits to both. The even CTA comes late to the first allocation, for which
// the odd one sleeps until its mbarrier is told, and not for as long as it is allowed to.
#include <cuda.h>
#include <cuda_fp16.h>
#include <vector>

#include "../../kernels/common/tcgen05.cuh"
#include "check.h"

enum { ROWS = 256, COLUMNS = 64, STEP = 64, STEPS = 6, DEPTH = STEP * STEPS, PAIRS = 3, ALLOCATED = 64 };
enum { A_BYTES = ROWS / 2 * STEP * 2, B_BYTES = COLUMNS / 2 * STEP * 2, SHARED = A_BYTES + B_BYTES + 1024 };

__device__ u64 descriptor(unsigned at) // k contiguous, swizzle of 128 bytes
{
  return (u64)(at >> 4 & 0x3fff) | 1ull << 16 | (u64)(1024 >> 4) << 32 | 1ull << 46 | 2ull << 61;
}

template <bool MANY> __device__ void load(unsigned to, const CUtensorMap *map, int x, int y, unsigned bar, int rank)
{
  if (MANY) // to the own CTA alone, by its number
    asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(bar), "h"((unsigned short)(1 << rank))
                 : "memory");
  else
    asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(bar)
                 : "memory");
}

__device__ void multiply(unsigned d, u64 a, u64 b, bool add)
{
  const unsigned idesc = 1 << 4 | COLUMNS / 8 << 17 | ROWS / 16 << 24; // F16 x F16 to F32
  asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"
               "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d),
               "l"(a), "l"(b), "r"(idesc), "r"((unsigned)add)
               : "memory");
}

__device__ void patient_wait(u64 *bar, unsigned parity) // with a time it may sleep
{
  asm volatile("{.reg .pred p;\n"
               "more: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1, 10000000;\n"
               "@!p bra more;}" ::"r"(shared_address(bar)),
               "r"(parity)
               : "memory");
}

__device__ void both() { asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory"); }

template <bool MANY>
__global__ void __cluster_dims__(2) multiply_pairs(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *d)
{
  extern __shared__ unsigned char raw[];
  __shared__ unsigned where;
  __shared__ u64 loaded, multiplied;
  const unsigned start = (shared_address(raw) + 1023) & ~1023u, even = shared_address(&loaded) & ~(1u << 24);
  const int rank = blockIdx.x % 2, pair = blockIdx.x / 2;
  if (threadIdx.x == 0) barrier_init(&loaded, 1), barrier_init(&multiplied, 1);
  if (rank == 0) __nanosleep(4000);
  if (threadIdx.x < 32) tmem_allocate<2>(&where, ALLOCATED);
  __syncthreads();
  both();
  for (int k = 0; k < STEPS; k++) {
    if (threadIdx.x < 32 && elect_one()) {
      if (rank == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(even), "r"(2 * (A_BYTES + B_BYTES))
                     : "memory");
      load<MANY>(start, &a, k * STEP, pair * ROWS + rank * ROWS / 2, even, rank);
      load<MANY>(start + A_BYTES, &b, k * STEP, pair * COLUMNS + rank * COLUMNS / 2, even, rank);
    }
    if (rank == 0) {
      patient_wait(&loaded, k & 1);
      if (threadIdx.x < 32 && elect_one()) {
        for (int i = 0; i < STEP / 16; i++)
          multiply(where, descriptor(start) + 2 * i, descriptor(start + A_BYTES) + 2 * i, k || i);
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::
                         "r"(shared_address(&multiplied)), "h"((unsigned short)3)
                     : "memory");
      }
    }
    barrier_wait(&multiplied, k & 1);
  }
  fence_after();
  for (int c = 0; c < COLUMNS; c += 32) {
    unsigned r[32];
    tmem_load32(own_lanes(where) + (unsigned)rank * (128u << 16) + c, r); /* as if a pair had 256 lanes: 7 bits count */
    for (int i = 0; i < 32; i++) d[(blockIdx.x * 128 + threadIdx.x) * COLUMNS + c + i] = __uint_as_float(r[i]);
  }
  tmem_barrier();
  both();
  if (threadIdx.x < 32) tmem_free<2>(where, ALLOCATED);
}

static CUtensorMap map_of(void *p, unsigned rows, unsigned box)
{
  CUtensorMap m;
  cuuint64_t dim[2] = {DEPTH, rows}, pitch[1] = {DEPTH * 2};
  cuuint32_t size[2] = {STEP, box}, step[2] = {1, 1};
  CHECK(cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dim, pitch, size, step,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return m;
}

// Small integers: sums are exact.
static std::vector<int> fill(unsigned n, unsigned seed, void **device)
{
  std::vector<int> v(n);
  std::vector<__half> h(n);
  for (unsigned i = 0; i < n; i++) seed = seed * 1664525 + 1013904223, v[i] = (int)(seed >> 28) - 8, h[i] = __float2half((float)v[i]);
  CUDA(cudaMalloc(device, n * 2));
  CUDA(cudaMemcpy(*device, h.data(), n * 2, cudaMemcpyHostToDevice));
  return v;
}

template <bool MANY> static void run()
{
  void *pa, *pb;
  float *d, ms;
  const std::vector<int> a = fill(PAIRS * ROWS * DEPTH, 1, &pa), b = fill(PAIRS * COLUMNS * DEPTH, 2, &pb);
  std::vector<float> got(PAIRS * ROWS * COLUMNS);
  cudaEvent_t from, to;
  CUDA(cudaMalloc(&d, got.size() * 4));
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  CUDA(cudaFuncSetAttribute(multiply_pairs<MANY>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  CUDA(cudaEventRecord(from));
  multiply_pairs<MANY><<<2 * PAIRS, 128, SHARED>>>(map_of(pa, PAIRS * ROWS, ROWS / 2), map_of(pb, PAIRS * COLUMNS, COLUMNS / 2), d);
  CUDA(cudaEventRecord(to));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventElapsedTime(&ms, from, to));
  CHECK(ms < 1);
  CUDA(cudaMemcpy(got.data(), d, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < PAIRS * ROWS; i++)
    for (int n = 0; n < COLUMNS; n++) {
      int sum = 0;
      for (int k = 0; k < DEPTH; k++) sum += a[i * DEPTH + k] * b[(i / ROWS * COLUMNS + n) * DEPTH + k];
      CHECK(got[i * COLUMNS + n] == (float)sum);
    }
}

int main()
{
  CUDA(cudaFree(0));
  run<false>();
  run<true>();
  printf("%d pairs, twice\n", PAIRS);
  return 0;
}
