// Memory pools of the host and of managed memory (CUDA 13): kernels and the host reach what they allocate by one pointer,
// attributes say what it is and who has access (as libcu++'s tests of pointers expect it), releases come in the order of the stream, pools count and have limits.
#include <cstdio>

static int wrong;
#define IS(a, b)                                                                   \
  do {                                                                             \
    const long long x = (long long)(a), y = (long long)(b);                        \
    if (x != y) wrong++, printf("line %d: %s is %lld, not %lld\n", __LINE__, #a, x, y); \
  } while (0)
#define OK(call) IS(call, cudaSuccess)

__global__ void add(int *p, int n)
{
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] += i;
}

static unsigned long long used(cudaMemPool_t pool)
{
  unsigned long long v = ~0ull;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &v));
  return v;
}

static void of(cudaMemAllocationType type, cudaMemLocationType where, cudaMemoryType said)
{
  const int n = 5000;
  cudaMemPoolProps props = {};
  props.allocType = type;
  props.location.type = where;
  props.maxSize = 1 << 20;
  cudaMemPool_t pool;
  cudaStream_t stream;
  int *p, *q, back[n], there = -1;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemPoolCreate(&pool, &props));
  OK(cudaMallocFromPoolAsync(&p, n * sizeof(int), pool, stream));
  IS(used(pool), n * sizeof(int));
  IS(cudaMallocFromPoolAsync(&q, 1 << 20, pool, stream), cudaErrorMemoryAllocation);
  OK(cudaStreamSynchronize(stream));
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
  cudaMemAccessFlags flags;
  OK(cudaMemPoolGetAccess(&flags, pool, &host)); // the place of the pool alone has access
  IS(flags, where == cudaMemLocationTypeDevice ? cudaMemAccessFlagsProtNone : cudaMemAccessFlagsProtReadWrite);
  OK(cudaMemPoolGetAccess(&flags, pool, &here));
  const bool at_host = where == cudaMemLocationTypeHost || where == cudaMemLocationTypeHostNuma;
  IS(flags, at_host ? cudaMemAccessFlagsProtNone : cudaMemAccessFlagsProtReadWrite);
  cudaMemAccessDesc both[] = {{here, cudaMemAccessFlagsProtReadWrite}, {host, cudaMemAccessFlagsProtReadWrite}};
  OK(cudaMemPoolSetAccess(pool, both, 2));
  OK(cudaMemPoolGetAccess(&flags, pool, &here));
  IS(flags, cudaMemAccessFlagsProtReadWrite);
  for (int i = 0; i < n; i++) p[i] = 7;
  add<<<1, 128, 0, stream>>>(p, n);
  OK(cudaMemcpyAsync(back, p, sizeof back, cudaMemcpyDefault, stream));
  OK(cudaStreamSynchronize(stream));
  int bad = 0;
  for (int i = 0; i < n; i++) bad += p[i] != 7 + i || back[i] != 7 + i;
  IS(bad, 0);
  cudaPointerAttributes a;
  OK(cudaPointerGetAttributes(&a, p + 3));
  IS(a.type, said);
  IS(a.hostPointer == p + 3 && a.devicePointer == p + 3, 1);
  if (type == cudaMemAllocationTypeManaged) {
    OK(cudaMemRangeGetAttribute(&there, sizeof there, cudaMemRangeAttributePreferredLocation, p, n * sizeof(int)));
    IS(there, where == cudaMemLocationTypeHost ? cudaCpuDeviceId : where == cudaMemLocationTypeDevice ? 0 : cudaInvalidDeviceId);
  }
  OK(cudaFreeAsync(p, stream));
  OK(cudaStreamSynchronize(stream));
  IS(used(pool), 0);
  IS(cudaFreeAsync(p, stream), cudaErrorInvalidValue);
  OK(cudaMallocFromPoolAsync(&p, 100, pool, stream));
  OK(cudaMemPoolDestroy(pool)); // what is allocated stays
  p[3] = 4;
  OK(cudaFreeAsync(p, stream));
  OK(cudaStreamDestroy(stream));
}

static void standard(cudaMemAllocationType type)
{
  cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  cudaMemPool_t first, own, now;
  OK(cudaMemGetDefaultMemPool(&first, &host, type));
  OK(cudaMemGetMemPool(&now, &host, type));
  IS(now == first, 1);
  cudaMemPoolProps props = {};
  props.allocType = type;
  props.location = host;
  OK(cudaMemPoolCreate(&own, &props));
  OK(cudaMemSetMemPool(&host, type, own));
  OK(cudaMemGetMemPool(&now, &host, type));
  IS(now == own, 1);
  OK(cudaMemPoolDestroy(own));
  OK(cudaMemGetMemPool(&now, &host, type));
  IS(now == first, 1);
  IS(cudaMemPoolDestroy(first), cudaErrorInvalidValue);
}

int main()
{
  int pools = 0;
  OK(cudaDeviceGetAttribute(&pools, cudaDevAttrHostMemoryPoolsSupported, 0));
  IS(pools, 1);
  of(cudaMemAllocationTypePinned, cudaMemLocationTypeHost, cudaMemoryTypeHost);
  of(cudaMemAllocationTypePinned, cudaMemLocationTypeHostNuma, cudaMemoryTypeHost);
  of(cudaMemAllocationTypeManaged, cudaMemLocationTypeNone, cudaMemoryTypeManaged);
  of(cudaMemAllocationTypeManaged, cudaMemLocationTypeDevice, cudaMemoryTypeManaged);
  of(cudaMemAllocationTypeManaged, cudaMemLocationTypeHost, cudaMemoryTypeManaged);
  standard(cudaMemAllocationTypePinned);
  standard(cudaMemAllocationTypeManaged);
  cudaMemPoolProps props = {};
  cudaMemPool_t pool;
  props.allocType = cudaMemAllocationTypePinned; // of no place
  IS(cudaMemPoolCreate(&pool, &props), cudaErrorInvalidValue);
  int *m;
  OK(cudaMallocManaged(&m, 100));
  IS(cudaFreeAsync(m, 0), cudaErrorInvalidValue); // of no pool
  OK(cudaFree(m));
  OK(cudaDeviceReset());
  standard(cudaMemAllocationTypeManaged); // and once more
  printf(wrong ? "" : "right\n");
  return wrong != 0;
}
