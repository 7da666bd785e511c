// Multicast objects in use: an all-reduce in which each GPU has the switches reduce a part and send it to all, between
// barriers by multimem.red; its rate against the links' (each GPU's link carries the whole once, and its own part again,
// either way); what the interface refuses; what kernels may not do at such addresses.
#include "multicast.h"

enum { CTAS = 16, THREADS = 256, DEEP = 4 };

// All CTAs of all GPUs, for the round-th time. What was written before is seen behind it.
__device__ void meet(unsigned *all, unsigned *own, unsigned members, unsigned round)
{
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned seen;
    asm volatile("multimem.red.release.sys.global.add.u32 [%0], 1;" : : "l"(__cvta_generic_to_global(all)) : "memory");
    do asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(own) : "memory");
    while (seen < members * round);
  }
  __syncthreads();
}

static __device__ unsigned long long now()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t) : : "memory");
  return t;
}

// The GPU's part: `n` vectors. times: when the first of its CTAs began, when what the last one wrote was everywhere.
__global__ void __launch_bounds__(THREADS) all_reduce(float4 *all, unsigned n, unsigned *all_flag, unsigned *own_flag,
                                                      unsigned members, unsigned long long *times)
{
  meet(all_flag, own_flag, members, 1);
  if (threadIdx.x == 0) atomicMin(&times[0], now());
  for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += DEEP * CTAS * THREADS) {
    float4 v[DEEP];
#pragma unroll
    for (int k = 0; k < DEEP; k++)
      asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(v[k].x), "=f"(v[k].y), "=f"(v[k].z), "=f"(v[k].w)
                   : "l"(__cvta_generic_to_global(all + i + k * CTAS * THREADS)));
#pragma unroll
    for (int k = 0; k < DEEP; k++)
      asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1,%2,%3,%4};"
                   :
                   : "l"(__cvta_generic_to_global(all + i + k * CTAS * THREADS)), "f"(v[k].x), "f"(v[k].y), "f"(v[k].z),
                     "f"(v[k].w)
                   : "memory");
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&times[1], now());
  meet(all_flag, own_flag, members, 2);
}

__global__ void fill(float *own, unsigned n, float v)
{
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own[i] = v + i % 1024;
}

__global__ void check(const float *own, unsigned n, float base, float times, unsigned *wrong)
{
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (own[i] != base + times * (i % 1024)) atomicAdd(wrong, 1);
}

// GB/s that each link carries one way.
static double reduce_all(int n, unsigned vectors)
{
  const size_t floats = (size_t)4 * vectors * n;
  team t = make_team(n, 5);
  const size_t flag = t.bytes / 5 * 4;
  std::vector<unsigned long long *> times(n);
  unsigned long long first = ~0ull, last = 0;
  CHECK(floats * 4 <= flag);
  for (int i = 0; i < n; i++) {
    CUDA(cudaSetDevice(i));
    CU(cuMemsetD32(t.own[i] + flag, 0, 1));
    CUDA(cudaMalloc(&times[i], 16));
    CUDA(cudaMemset(times[i], 0xff, 8));
    CUDA(cudaMemset(times[i] + 1, 0, 8));
    fill<<<16, 256, 0, t.stream[i]>>>((float *)t.own[i], floats, i);
  }
  finish(t);
  for (int i = 0; i < n; i++) {
    CUDA(cudaSetDevice(i));
    all_reduce<<<CTAS, THREADS, 0, t.stream[i]>>>((float4 *)t.all + (size_t)i * vectors, vectors,
                                                  (unsigned *)(t.all + flag), (unsigned *)(t.own[i] + flag), n * CTAS,
                                                  times[i]);
  }
  finish(t);
  for (int i = 0; i < n; i++) {
    unsigned *wrong, bad;
    unsigned long long of[2];
    CUDA(cudaSetDevice(i));
    CUDA(cudaMallocManaged(&wrong, 4));
    *wrong = 0;
    check<<<16, 256, 0, t.stream[i]>>>((float *)t.own[i], floats, n * (n - 1) / 2, n, wrong);
    CUDA(cudaStreamSynchronize(t.stream[i]));
    bad = *wrong;
    CHECK(bad == 0);
    CUDA(cudaMemcpy(of, times[i], 16, cudaMemcpyDeviceToHost));
    first = of[0] < first ? of[0] : first;
    last = of[1] > last ? of[1] : last;
    CUDA(cudaFree(times[i]));
    CUDA(cudaFree(wrong));
  }
  end_team(t);
  return (floats * 4.0 + vectors * 16.0) / (last - first);
}

static void refusals()
{
  CUmemGenericAllocationHandle object, memory, other;
  CUmulticastObjectProp prop = {};
  CUmemAllocationProp mem = memory_of_gpu(0);
  CUdeviceptr at;
  size_t g;
  prop.numDevices = 2, prop.size = 1;
  CU(cuMulticastGetGranularity(&g, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
  CHECK(cuMulticastCreate(&object, &prop) == CUDA_ERROR_INVALID_VALUE); // not whole granules
  prop.size = 2 * g, prop.numDevices = 9;
  CHECK(cuMulticastCreate(&object, &prop) == CUDA_ERROR_INVALID_VALUE); // more than there are
  prop.numDevices = 2;
  CU(cuMulticastCreate(&object, &prop));
  CU(cuMemCreate(&memory, 2 * g, &mem, 0));
  CU(cuMemAddressReserve(&at, 2 * g, 0, 0, 0));
  CU(cuMulticastAddDevice(object, 0));
  CHECK(cuMulticastAddDevice(object, 0) == CUDA_ERROR_INVALID_VALUE);              // is in already
  CHECK(cuMulticastAddDevice(object, 8) == CUDA_ERROR_INVALID_DEVICE);             // is not there
  CHECK(cuMulticastAddDevice(memory, 1) == CUDA_ERROR_INVALID_VALUE);              // memory
  CHECK(cuMulticastBindMem(object, 0, memory, 0, g, 0) == CUDA_ERROR_INVALID_VALUE); // not all devices are in
  CHECK(cuMemMap(at, 2 * g, 0, object, 0) == CUDA_ERROR_INVALID_VALUE);
  CU(cuMulticastAddDevice(object, 1));
  CHECK(cuMulticastAddDevice(object, 2) == CUDA_ERROR_INVALID_VALUE); // one too many
  mem = memory_of_gpu(2);
  CU(cuMemCreate(&other, g, &mem, 0));
  CHECK(cuMulticastBindMem(object, 0, other, 0, g, 0) == CUDA_ERROR_INVALID_DEVICE); // of no GPU of the team
  CHECK(cuMulticastBindMem(object, 0, memory, g, 2 * g, 0) == CUDA_ERROR_INVALID_VALUE); // more than the memory
  CHECK(cuMulticastBindMem(object, 2 * g, memory, 0, g, 0) == CUDA_ERROR_INVALID_VALUE); // behind the object
  CHECK(cuMulticastBindMem(object, 1, memory, 0, g, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMulticastBindMem(object, 0, memory, 0, g, 1) == CUDA_ERROR_INVALID_VALUE); // flags
  CU(cuMulticastBindMem(object, 0, memory, g, g, 0));
  CHECK(cuMulticastBindMem(object, 0, memory, 0, g, 0) == CUDA_ERROR_INVALID_VALUE); // taken
  CHECK(cuMulticastUnbind(object, 0, g, g) == CUDA_ERROR_INVALID_VALUE);             // nothing there
  CHECK(cuMulticastUnbind(object, 2, 0, g) == CUDA_ERROR_INVALID_DEVICE);
  CU(cuMemMap(at, 2 * g, 0, object, 0));
  const CUmemAccessDesc no = access_of_gpu(3), yes = access_of_gpu(1);
  CHECK(cuMemSetAccess(at, 2 * g, &no, 1) == CUDA_ERROR_INVALID_DEVICE);
  CU(cuMemSetAccess(at, 2 * g, &yes, 1));
  CHECK(cuMemcpyDtoH(&g, at, 4) == CUDA_ERROR_INVALID_VALUE); // no memory for copies
  CU(cuMulticastUnbind(object, 0, 0, g));
  CU(cuMemRelease(memory));
  CU(cuMemRelease(other));
  CU(cuMemRelease(object)); // the mapping keeps it
  CHECK(cuMulticastUnbind(object, 0, 0, g) == CUDA_ERROR_INVALID_VALUE);
  CU(cuMemUnmap(at, 2 * g));
  CU(cuMemAddressFree(at, 2 * g));
}

// Bindings in pieces, by address and of a pool; the object goes to itself as a file.
static void pieces()
{
  CUmemGenericAllocationHandle object, again, memory[2];
  CUmulticastObjectProp prop = {};
  CUdeviceptr at, own, pool;
  size_t g;
  int fd;
  prop.numDevices = 2, prop.size = 1, prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CU(cuMulticastGetGranularity(&g, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
  prop.size = 2 * g;
  CU(cuMulticastCreate(&object, &prop));
  CU(cuMemExportToShareableHandle(&fd, object, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CU(cuMemImportFromShareableHandle(&again, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CU(cuMemRelease(object));
  for (int i = 0; i < 2; i++) CU(cuMulticastAddDevice(again, i));
  for (int i = 0; i < 2; i++) {
    CUmemAllocationProp p = memory_of_gpu(i);
    CU(cuMemCreate(&memory[i], 2 * g, &p, 0));
    CHECK(cuMulticastBindMem(again, 0, memory[i], 0, g, 0) == CUDA_ERROR_INVALID_VALUE); // not shareable, the object is
    CU(cuMemRelease(memory[i]));
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CU(cuMemCreate(&memory[i], 2 * g, &p, 0));
  }
  const CUmemAccessDesc both[2] = {access_of_gpu(0), access_of_gpu(1)};
  CU(cuMemAddressReserve(&own, 2 * g, 0, 0, 0));
  CU(cuMemMap(own, 2 * g, 0, memory[1], 0));
  CU(cuMemSetAccess(own, 2 * g, &both[1], 1));
  CU(cuMulticastBindMem(again, 0, memory[0], g, g, 0)); // crosswise; GPU 0 has no mapping of it
  CU(cuMulticastBindMem(again, g, memory[0], 0, g, 0));
  CU(cuMulticastBindAddr(again, 0, own, 2 * g, 0));
  CU(cuMemAddressReserve(&at, 2 * g, 0, 0, 0));
  CU(cuMemMap(at, 2 * g, 0, again, 0));
  CU(cuMemSetAccess(at, 2 * g, both, 2));
  CUDA(cudaSetDevice(1));
  CUDA(cudaMallocManaged((void **)&pool, 16));
  CU(cuMemsetD32(own, 5, g / 2));
  unsigned *flags = (unsigned *)pool;
  all_reduce<<<CTAS, THREADS>>>((float4 *)at, 0, (unsigned *)(at + g), (unsigned *)(own + g), 0, (unsigned long long *)flags);
  CUDA(cudaDeviceSynchronize());
  unsigned got;
  CU(cuMemcpyDtoH(&got, own + g, 4));
  CHECK(got == 5 + 2 * CTAS);
  CUDA(cudaFree((void *)pool));
  CU(cuMemUnmap(own, 2 * g)); // the bindings keep the memory
  CUDA(cudaSetDevice(0));
  CU(cuMemAddressFree(own, 2 * g));
  CU(cuMemAddressReserve(&own, 2 * g, 0, 0, 0));
  CU(cuMemMap(own, 2 * g, 0, memory[0], 0));
  CU(cuMemSetAccess(own, 2 * g, &both[0], 1));
  CU(cuMemcpyDtoH(&got, own, 4));
  CHECK(got == 2 * CTAS); // the object's second half is its first
  CU(cuMemUnmap(own, 2 * g));
  CU(cuMemAddressFree(own, 2 * g));
  CU(cuMemUnmap(at, 2 * g));
  CU(cuMemAddressFree(at, 2 * g));
  for (int i = 0; i < 2; i++) CU(cuMemRelease(memory[i]));
  CU(cuMemRelease(again));
}

__global__ void read(const volatile int *p) { *p; }

__global__ void reduce(const int *p, int *sum)
{
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.s32 %0, [%1];"
               : "=r"(*sum)
               : "l"(__cvta_generic_to_global(p)));
}

__global__ void add(int *p, int *old) { *old = atomicAdd_system(p, 1); }

static void expect_fault(const char *what)
{
  const cudaError_t got = cudaDeviceSynchronize();
  if (got != cudaErrorIllegalAddress) printf("%s: %s\n", what, cudaGetErrorName(got));
  CHECK(got == cudaErrorIllegalAddress);
  CUDA(cudaDeviceReset());
}

// What PTX calls undefined is a fault, each with a line on stderr (multicast_reduce.expect).
static void faults()
{
  for (int i = 0; i < 4; i++) {
    team t = make_team(2, 1);
    int *p;
    CUDA(cudaSetDevice(0));
    CUDA(cudaMalloc(&p, 4));
    if (i == 0) read<<<1, 1>>>((int *)t.all);
    if (i == 1) reduce<<<1, 1>>>(p, p);
    if (i == 2) add<<<1, 1>>>((int *)t.all, p);
    if (i == 3) {
      CU(cuMulticastUnbind(t.object, 1, 0, t.bytes));
      reduce<<<1, 1>>>((int *)t.all, p); // a GPU without memory
    }
    expect_fault("fault");
  }
}

int main()
{
  CUDA(cudaFree(0));
  refusals();
  pieces();
  for (int n = 2; n <= 8; n *= 2) {
    const double rate = reduce_all(n, (1 << 17) / n);
    // Down: a packet of 17 bytes for each line that is read, 17 and the line for each that is written, an answer for each
    // of the own part. 18 links of 25 GB/s.
    const double bound = 450 * 128 * (1 + 1.0 / n) / (17 + 145 + 145.0 / n);
    printf("%d GPUs: %.0f of at most %.0f GB/s on each link\n", n, rate, bound);
    CHECK(rate <= bound);
  }
  faults();
  printf("right\n");
}
