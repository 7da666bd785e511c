// Multicast: one CTA of a cluster copies a box to itself and to another one.
#include "driver_check.h"
#include <cuda_runtime.h>
#include <cstdint>
#include <vector>

enum { ROWS = 16, COLUMNS = 64, CTAS = 4, BYTES = ROWS * COLUMNS * 4 };

__global__ void __cluster_dims__(CTAS) spread(const __grid_constant__ CUtensorMap in, int *out)
{
  __shared__ __align__(128) int box[ROWS * COLUMNS];
  __shared__ uint64_t barrier;
  unsigned at = (unsigned)__cvta_generic_to_shared(box), bar = (unsigned)__cvta_generic_to_shared(&barrier), rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x) box[i] = -1;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(bar) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (rank != 2)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(BYTES) : "memory");
  }
  __syncthreads();
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 1 && threadIdx.x == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
                 "[%1, {%3, %4}], [%2], %5;" ::"r"(at), "l"(&in), "r"(bar), "r"(0), "r"((int)blockIdx.x / CTAS * ROWS),
                 "h"((unsigned short)0xb) : "memory");
  if (rank != 2)
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(bar)
                 : "memory");
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x) out[blockIdx.x * ROWS * COLUMNS + i] = box[i];
}

int main()
{
  enum { CLUSTERS = 3, N = CLUSTERS * ROWS * COLUMNS };
  std::vector<int> host(N), seen(N * CTAS);
  for (int i = 0; i < N; i++) host[i] = i * 7;
  int *in, *out;
  CUDA(cudaMalloc(&in, N * 4));
  CUDA(cudaMalloc(&out, N * CTAS * 4));
  CUDA(cudaMemcpy(in, host.data(), N * 4, cudaMemcpyHostToDevice));
  CUtensorMap map;
  cuuint64_t dim[2] = {COLUMNS, CLUSTERS * ROWS}, stride[1] = {COLUMNS * 4};
  cuuint32_t box[2] = {COLUMNS, ROWS}, step[2] = {1, 1};
  CU(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, in, dim, stride, box, step,
                            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  spread<<<CLUSTERS * CTAS, 64>>>(map, out);
  CUDA(cudaMemcpy(seen.data(), out, N * CTAS * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N * CTAS; i++) {
    int cta = i / (ROWS * COLUMNS), e = i % (ROWS * COLUMNS);
    CHECK(seen[i] == (cta % CTAS == 2 ? -1 : host[cta / CTAS * ROWS * COLUMNS + e]));
  }
  printf("every CTA that was named has the box\n");
}
