// Memory pools and stream-ordered allocation, what is known about memory, advice, entry points by name.
#include <cuda.h>

#include "check.h"

__global__ void fill(int *p, int n, int v)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = v + i;
}

static unsigned long long used(cudaMemPool_t pool, cudaMemPoolAttr which)
{
  unsigned long long v = 0;
  CUDA(cudaMemPoolGetAttribute(pool, which, &v));
  return v;
}

static void pools()
{
  const size_t bytes = 1 << 20;
  cudaMemPool_t first, mine, now;
  cudaStream_t stream;
  int *a, *b, back[4], policy;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaDeviceGetDefaultMemPool(&first, 0));
  CUDA(cudaDeviceGetMemPool(&now, 0));
  CHECK(now == first);
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.maxSize = 4 * bytes;
  CUDA(cudaMemPoolCreate(&mine, &props));
  CUDA(cudaMemPoolGetAttribute(mine, cudaMemPoolReuseAllowOpportunistic, &policy));
  CHECK(policy == 1);
  size_t before, after, total;
  CUDA(cudaMemGetInfo(&before, &total));
  CUDA(cudaMallocFromPoolAsync((void **)&a, bytes, mine, stream));
  CUDA(cudaMemGetInfo(&after, &total));
  CHECK(before - after == bytes && before <= total);
  CHECK(used(mine, cudaMemPoolAttrUsedMemCurrent) == bytes);
  CHECK(used(first, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(cudaMallocFromPoolAsync((void **)&b, 4 * bytes, mine, stream) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  fill<<<1, 32, 0, stream>>>(a, 4, 100);
  CUDA(cudaMemcpyAsync(back, a, sizeof back, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaFreeAsync(a, stream));
  CUDA(cudaStreamSynchronize(stream));
  for (int i = 0; i < 4; i++) CHECK(back[i] == 100 + i);
  CHECK(used(mine, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(used(mine, cudaMemPoolAttrUsedMemHigh) == bytes);
  unsigned long long zero = 0;
  CUDA(cudaMemPoolSetAttribute(mine, cudaMemPoolAttrUsedMemHigh, &zero));
  CHECK(used(mine, cudaMemPoolAttrUsedMemHigh) == 0);
  CUDA(cudaDeviceSetMemPool(0, mine));
  CUDA(cudaMallocAsync((void **)&a, bytes, stream));
  CHECK(used(mine, cudaMemPoolAttrUsedMemCurrent) == bytes);
  CUDA(cudaMemPoolTrimTo(mine, 0));
  CUDA(cudaMemPoolDestroy(mine)); // lives on until its memory is free
  CHECK(cudaMemPoolTrimTo(mine, 0) == cudaErrorInvalidValue);
  CUDA(cudaFreeAsync(a, stream));
  CUDA(cudaDeviceGetMemPool(&now, 0));
  CHECK(now == first);
  CHECK(cudaMemPoolDestroy(first) == cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaMemGetInfo(&after, &total));
  CHECK(after == before);
  CUDA(cudaStreamDestroy(stream));
}

// What is freed stays reserved until the program waits for the GPU, and behind that as much as the threshold says.
static void thresholds(cudaMemPool_t pool, cudaStream_t stream, size_t bytes)
{
  unsigned long long keep = 2 * bytes, zero = 0, all = ~0ull;
  void *p[3], *again;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &zero));
  for (int i = 0; i < 3; i++) CUDA(cudaMallocAsync(&p[i], bytes, stream));
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == 3 * bytes);
  for (int i = 0; i < 3; i++) CUDA(cudaFreeAsync(p[i], stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(used(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == 2 * bytes);
  CHECK(cudaFreeAsync(p[0], stream) == cudaErrorInvalidValue);
  CHECK(cudaFree(p[0]) == cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaMallocAsync(&again, bytes, stream));
  CHECK(again == p[0] || again == p[1] || again == p[2]);
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == 2 * bytes);
  CHECK(used(pool, cudaMemPoolAttrReservedMemHigh) == 3 * bytes);
  CUDA(cudaMemPoolTrimTo(pool, 0));
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == bytes); // it is in use
  for (int i = 0; i < 2; i++) CUDA(cudaMallocAsync(&p[i], bytes, stream));
  for (int i = 0; i < 2; i++) CUDA(cudaFreeAsync(p[i], stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == 2 * bytes); // what is in use counts, too
  CUDA(cudaMemPoolTrimTo(pool, 2 * bytes));
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == 2 * bytes);
  CUDA(cudaMemPoolTrimTo(pool, 2 * bytes - 1));
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == bytes);
  CUDA(cudaMallocAsync(&p[0], 64 << 20, stream)); // what is kept is there for the pool alone
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  CUDA(cudaFreeAsync(p[0], stream));
  CUDA(cudaStreamSynchronize(stream));
  size_t left, total;
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == bytes + (64 << 20));
  CUDA(cudaMemGetInfo(&left, &total));
  CHECK(cudaMalloc(&p[1], left + (32 << 20)) == cudaErrorMemoryAllocation);
  cudaGetLastError();
  CUDA(cudaMallocAsync(&p[1], left + (32 << 20), stream));
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == bytes + left + (32 << 20));
  CUDA(cudaFree(p[1]));
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &zero));
  CUDA(cudaFreeAsync(again, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
}

// What a stream gave back is that stream's again at once, at the same address, and no other's; what it held before is gone for the stream alone.
static void reuse()
{
  const int n = 1 << 18;
  const size_t bytes = n * sizeof(int);
  cudaStream_t stream, other;
  cudaMemPool_t pool;
  int *a, *b, *c, *d, first, last, theirs, later;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA(cudaDeviceSetMemPool(0, pool));
  unsigned long long zero = 0;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  CUDA(cudaMallocAsync((void **)&a, bytes, stream));
  fill<<<n / 256, 256, 0, stream>>>(a, n, 5);
  CUDA(cudaMemcpyAsync(&first, a + n - 1, sizeof first, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaFreeAsync(a, stream));
  CHECK(cudaFreeAsync(a, stream) == cudaErrorInvalidValue); // once is enough
  cudaGetLastError();
  CUDA(cudaMallocAsync((void **)&b, bytes, stream));
  CHECK(b == a);
  CHECK(used(pool, cudaMemPoolAttrUsedMemHigh) == bytes);
  fill<<<n / 256, 256, 0, stream>>>(b, n, 7);
  CUDA(cudaMemcpyAsync(&last, b + n - 1, sizeof last, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaMallocAsync((void **)&c, bytes, stream));
  CHECK(c != b); // it is in use
  for (int i = 0; i < 20; i++) fill<<<n / 256, 256, 0, stream>>>(b, n, 9); // while `other` goes on
  CUDA(cudaFreeAsync(b, stream));
  CUDA(cudaMallocAsync((void **)&d, bytes, other)); // nothing orders the two streams
  CHECK(d != c);
  CUDA(cudaMemsetAsync(d, 0, bytes, other));
  CUDA(cudaMemcpyAsync(&theirs, d + n - 1, sizeof theirs, cudaMemcpyDeviceToHost, other));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(first == n - 1 + 5 && last == n - 1 + 7);
  CUDA(cudaMemcpy(&later, d + n - 1, sizeof later, cudaMemcpyDeviceToHost));
  CHECK(theirs == 0 && later == 0); // it is not what the first stream still fills
  CUDA(cudaFreeAsync(c, stream));
  CUDA(cudaFreeAsync(d, other));
  CUDA(cudaDeviceSynchronize());
  CHECK(used(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(used(pool, cudaMemPoolAttrReservedMemCurrent) == 0); // the threshold is 0
  thresholds(pool, stream, bytes);
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaStreamDestroy(other));
}

static void driver_pools()
{
  CUmemoryPool pool;
  CUdeviceptr p;
  cuuint64_t bytes;
  CHECK(cuDeviceGetMemPool(&pool, 0) == CUDA_SUCCESS);
  CHECK(cuMemAllocAsync(&p, 4096, nullptr) == CUDA_SUCCESS);
  CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes) == CUDA_SUCCESS);
  CHECK(bytes == 4096);
  CHECK(cuMemFree(p) == CUDA_SUCCESS); // a plain release of pool memory is allowed
  CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes) == CUDA_SUCCESS);
  CHECK(bytes == 0);
}

static void advice()
{
  char *p;
  int v, by[3];
  cudaMemLocation device = { cudaMemLocationTypeDevice, { 0 } }, host = { cudaMemLocationTypeHost, { 0 } };
  CUDA(cudaMallocManaged(&p, 1 << 16));
  CUDA(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributePreferredLocation, p, 1 << 16));
  CHECK(v == cudaInvalidDeviceId);
  CUDA(cudaMemAdvise(p, 1 << 16, cudaMemAdviseSetReadMostly, device));
  CUDA(cudaMemAdvise(p, 1 << 16, cudaMemAdviseSetPreferredLocation, host));
  CUDA(cudaMemAdvise(p, 1 << 16, cudaMemAdviseSetAccessedBy, device));
  CUDA(cudaMemPrefetchAsync(p, 1 << 16, device, 0, 0));
  CUDA(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, p, 1 << 16));
  CHECK(v == 1);
  CUDA(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributePreferredLocation, p, 1 << 16));
  CHECK(v == cudaCpuDeviceId);
  CUDA(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeLastPrefetchLocation, p, 1 << 16));
  CHECK(v == 0);
  CUDA(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, p, 1 << 16));
  CHECK(by[0] == 0 && by[1] == cudaInvalidDeviceId && by[2] == cudaInvalidDeviceId);
  CHECK(cudaMemPrefetchAsync(p, (1 << 16) + 1, device, 0, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaFree(p));
}

static void entry_points()
{
  cudaDriverEntryPointQueryResult found;
  CUresult (*get_count)(int *) = nullptr;
  void *none = &found;
  int n = 0;
  CUDA(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", (void **)&get_count, 12000, cudaEnableDefault,
                                        &found));
  CHECK(found == cudaDriverEntryPointSuccess && get_count(&n) == CUDA_SUCCESS && n == 1);
  CUDA(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &none, 12000, cudaEnableDefault, &found));
  CHECK(found == cudaDriverEntryPointSymbolNotFound && none == nullptr);
}

// Occupancy from the other side: with the most shared memory it holds so many blocks, with more it does not.
static void occupancy()
{
  for (int blocks = 1; blocks <= 8; blocks *= 2) {
    size_t bytes;
    int held;
    CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, fill, blocks, 128));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, fill, 128, bytes));
    CHECK(held >= blocks);
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, fill, 128, bytes + 1));
    CHECK(held < blocks);
  }
}

static void volumes()
{
  cudaPitchedPtr p;
  static unsigned char back[4][8][16];
  CUDA(cudaMalloc3D(&p, make_cudaExtent(16, 8, 4)));
  CUDA(cudaMemset3D(p, 1, make_cudaExtent(16, 8, 4)));
  CUDA(cudaMemset3D(p, 7, make_cudaExtent(5, 3, 2)));
  cudaMemcpy3DParms c = {};
  c.srcPtr = p;
  c.dstPtr = make_cudaPitchedPtr(back, 16, 16, 8);
  c.extent = make_cudaExtent(16, 8, 4);
  c.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&c));
  for (int z = 0; z < 4; z++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 16; x++) CHECK(back[z][y][x] == (x < 5 && y < 3 && z < 2 ? 7 : 1));
  CUDA(cudaFree(p.ptr));
}

int main()
{
  pools();
  reuse();
  driver_pools();
  advice();
  entry_points();
  occupancy();
  volumes();
  printf("ok\n");
}
