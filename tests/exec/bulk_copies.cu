// Bulk copies between CTAs of a cluster, to several of them at once, and bulk reductions of every kind of number.
#include "check.h"
#include <cstdint>
#include <cuda_fp16.h>

enum { BYTES = 512, CTAS = 4 };

static __device__ uint32_t shared_of(const void *p)
{
  return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ uint32_t map(uint32_t a, uint32_t rank)
{
  uint32_t r;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank));
  return r;
}

static __device__ void sync_cluster()
{
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

static __device__ void wait(uint32_t bar, uint32_t parity)
{
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W; }" ::"r"(bar),
               "r"(parity) : "memory");
}

// CTA 0 sends its row to CTAs 1 and 3 at once; then each passes what it has to the next one, which adds it.
__global__ void __cluster_dims__(CTAS, 1, 1) spread(const uint32_t *x, uint32_t *y)
{
  __shared__ alignas(128) uint32_t row[BYTES / 4], sum[BYTES / 4], copy[BYTES / 4];
  __shared__ alignas(8) uint64_t full, more;
  uint32_t rank, t = threadIdx.x, bar = shared_of(&full), bar2 = shared_of(&more);
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  row[t] = 7 * rank;
  sum[t] = t;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nmbarrier.init.shared.b64 [%1], 1;" ::"r"(bar), "r"(bar2));
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(BYTES));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar2), "r"(2 * BYTES));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  sync_cluster();
  if (rank == 0 && t == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                 ::"r"(shared_of(row)), "l"(x), "r"(BYTES), "r"(bar), "h"((uint16_t)0xa) : "memory");
  if (rank & 1) wait(bar, 0);
  sync_cluster();
  if (t == 0) {
    uint32_t next = (rank + 1) % CTAS, far = map(bar2, next);
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];"
                 ::"r"(map(shared_of(sum), next)), "r"(shared_of(row)), "r"(BYTES), "r"(far) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(map(shared_of(copy), next)), "r"(shared_of(row)), "r"(BYTES), "r"(far) : "memory");
  }
  wait(bar2, 0);
  y[(rank * 2) * (BYTES / 4) + t] = sum[t];
  y[(rank * 2 + 1) * (BYTES / 4) + t] = copy[t];
  sync_cluster();
}

#define REDUCE(name, type, how)                                                                                \
  __global__ void name(const type *x, type *y)                                                                 \
  {                                                                                                            \
    __shared__ alignas(128) type s[BYTES / sizeof(type)];                                                      \
    for (unsigned i = threadIdx.x; i < BYTES / sizeof(type); i += blockDim.x) s[i] = x[i];                     \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                               \
    __syncthreads();                                                                                           \
    if (threadIdx.x) return;                                                                                   \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." how " [%0], [%1], %2;"                  \
                 ::"l"(y), "r"(shared_of(s)), "r"(BYTES) : "memory");                                          \
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");                     \
  }

REDUCE(add_u32, uint32_t, "add.u32")
REDUCE(min_s32, int32_t, "min.s32")
REDUCE(max_u64, uint64_t, "max.u64")
REDUCE(add_f32, float, "add.f32")
REDUCE(add_f64, double, "add.f64")
REDUCE(add_f16, __half, "add.noftz.f16")
REDUCE(and_b32, uint32_t, "and.b32")
REDUCE(inc_u32, uint32_t, "inc.u32")

// Runs the kernel on two vectors, which ints can hold, and compares with what the function says.
template <class T, class F> static void check(void (*kernel)(const T *, T *), F want)
{
  const int n = BYTES / sizeof(T);
  T *x, *y;
  CUDA(cudaMallocManaged(&x, BYTES));
  CUDA(cudaMallocManaged(&y, BYTES));
  for (int i = 0; i < n; i++) x[i] = T(i * 37 % 101 - (T(-1) < T(0) ? 50 : 0)), y[i] = T(i * 53 % 89);
  T before[BYTES / sizeof(T)];
  for (int i = 0; i < n; i++) before[i] = y[i];
  kernel<<<2, 32>>>(x, y);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(double(y[i]) == double(want(want(before[i], x[i]), x[i])));
  CUDA(cudaFree(x));
  CUDA(cudaFree(y));
}

int main()
{
  enum { N = BYTES / 4 };
  uint32_t *x, *y;
  CUDA(cudaMallocManaged(&x, BYTES));
  CUDA(cudaMallocManaged(&y, 2 * CTAS * BYTES));
  for (uint32_t i = 0; i < N; i++) x[i] = 1000 + i;
  spread<<<CTAS, N>>>(x, y);
  CUDA(cudaDeviceSynchronize());
  for (uint32_t r = 0; r < CTAS; r++)
    for (uint32_t i = 0; i < N; i++) {
      uint32_t before = (r + CTAS - 1) % CTAS, row = before & 1 ? 1000 + i : 7 * before;
      CHECK(y[2 * r * N + i] == i + row && y[(2 * r + 1) * N + i] == row);
    }
  check<uint32_t>(add_u32, [](uint32_t a, uint32_t b) { return a + b; });
  check<int32_t>(min_s32, [](int32_t a, int32_t b) { return a < b ? a : b; });
  check<uint64_t>(max_u64, [](uint64_t a, uint64_t b) { return a > b ? a : b; });
  check<float>(add_f32, [](float a, float b) { return a + b; });
  check<double>(add_f64, [](double a, double b) { return a + b; });
  check<uint32_t>(and_b32, [](uint32_t a, uint32_t b) { return a & b; });
  check<uint32_t>(inc_u32, [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; });
  check<__half>(add_f16, [](__half a, __half b) { return __half(float(a) + float(b)); });
  return 0;
}
