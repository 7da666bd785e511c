// Thread block clusters: sizes from the launch and from the kernel, what the GPU holds of them, launches that cannot be.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each CTA writes the number of the next one in its cluster, which it finds in that one's shared memory.
__global__ void ring(int *out)
{
  __shared__ int mine;
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0) mine = 100 * (int)c.num_blocks() + (int)c.block_rank();
  c.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = *c.map_shared_rank(&mine, (c.block_rank() + 1) % c.num_blocks());
  c.sync();
}

__global__ void __cluster_dims__(2, 1, 1) pair(int *out)
{
  out[blockIdx.x] = (int)cg::this_cluster().block_rank();
}

// Every thread of the second CTA arrives at an mbarrier of the first one, which ends as soon as the cluster's barrier lets
// it: that arrival is relaxed, so that nobody waits for answers. Stores in many lines keep the queues full until then.
__global__ void __cluster_dims__(2, 1, 1) relaxed(volatile int *lines)
{
  __shared__ unsigned long long mbarrier;
  unsigned at = (unsigned)__cvta_generic_to_shared(&mbarrier), first;
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1000;" ::"r"(at) : "memory");
  c.sync();
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(first) : "r"(at));
  if (c.block_rank() == 1) {
    for (int i = 0; i < 8; i++) lines[(threadIdx.x * 2 + i % 2) * 32] = i;
    asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];" ::"r"(first) : "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

static cudaError_t launch(void (*kernel)(int *), int *out, int grid, int cluster, size_t shared = 0)
{
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute a;
  c.gridDim = grid;
  c.blockDim = 64;
  c.dynamicSmemBytes = shared;
  a.id = cudaLaunchAttributeClusterDimension;
  a.val.clusterDim.x = cluster;
  a.val.clusterDim.y = a.val.clusterDim.z = 1;
  c.attrs = &a;
  c.numAttrs = cluster ? 1 : 0;
  return cudaLaunchKernelEx(&c, kernel, out);
}

static int active(int cluster, int threads, int *largest)
{
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute a;
  int n = -1;
  c.gridDim = cluster;
  c.blockDim = threads;
  a.id = cudaLaunchAttributeClusterDimension;
  a.val.clusterDim.x = cluster;
  a.val.clusterDim.y = a.val.clusterDim.z = 1;
  c.attrs = &a;
  c.numAttrs = 1;
  CUDA(cudaOccupancyMaxActiveClusters(&n, ring, &c));
  c.numAttrs = 0;
  CUDA(cudaOccupancyMaxPotentialClusterSize(largest, ring, &c));
  return n;
}

int main()
{
  enum { N = 96 };
  int *out, host[N], can = 0, largest;
  CUDA(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
  CHECK(can == 1);
  CUDA(cudaMalloc(&out, sizeof host));
  for (int cluster = 1; cluster <= 8; cluster++) {
    if (N % cluster) continue;
    CUDA(launch(ring, out, N, cluster));
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) CHECK(host[i] == 100 * cluster + (i % cluster + 1) % cluster);
  }
  CUDA(launch(ring, out, N, 0)); // without: clusters of one
  CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[5] == 100);
  pair<<<N, 32>>>(out);
  CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; i++) CHECK(host[i] == i % 2);

  int *lines;
  CUDA(cudaMalloc(&lines, 256 * 64 * sizeof *lines));
  relaxed<<<N, 256>>>(lines);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaFree(lines));

  CHECK(launch(ring, out, 9, 2) == cudaErrorInvalidClusterSize);  // does not divide the grid
  CHECK(launch(ring, out, 16, 16) == cudaErrorInvalidClusterSize); // not portable
  CHECK(launch(pair, out, 16, 4) == cudaErrorInvalidClusterSize); // was compiled for 2
  cudaGetLastError();

  // CUDA programming guide: 2,048 threads per SM; H100: 132 SMs in 8 GPCs of 16 or 18.
  CHECK(active(1, 1024, &largest) == 264 && largest == 8);
  CHECK(active(2, 1024, &largest) == 132);
  CHECK(active(8, 1024, &largest) == 2 * 4 + 6 * 4); // 32 or 36 CTAs per GPC
  CUDA(cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(active(16, 1024, &largest) == 16 && largest == 16);
  CHECK(active(32, 1024, &largest) == 0); // asking for a size that no GPU has is no error then
  CUDA(launch(ring, out, 32, 16));
  CUDA(cudaMemcpy(host, out, 32 * sizeof *host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) CHECK(host[i] == 1600 + (i % 16 + 1) % 16);
  CUDA(cudaFree(out));
  return 0;
}
