// Kernels that launch kernels (CUDA programming guide, "CUDA Dynamic Parallelism"): order, streams, events, copies,
// nesting, errors, and what the device runtime says of the device.
#include "check.h"
#include <vector>

struct wide {
  char c;
  double d;
  short s[5];
  const int *p;
};

__global__ void take(char a, wide w, long long b, int *out)
{
  out[0] = a;
  out[1] = (int)(w.d * 10) + w.c + w.s[4] + *w.p;
  out[2] = (int)(b >> 32);
  out[3] = (int)(blockIdx.z * 1000 + blockDim.y * 100 + gridDim.x * 10 + threadIdx.y);
}

__global__ void pass(int *out)
{
  wide w = {};
  w.c = 3, w.d = 2.5, w.s[4] = 7, w.p = out + 9;
  take<<<dim3(2, 1, 1), dim3(1, 3, 1)>>>(-5, w, 0x700000001ll, out);
}

// Appends a name to a list: children of one CTA run in the order of its NULL stream.
__global__ void append(int *list, int name)
{
  if (threadIdx.x == 0) list[1 + atomicAdd(list, 1)] = name;
}

// A grid is done when its children are: the next one in the stream comes after its grandchildren.
__global__ void chain(int *list, int name, int depth)
{
  append<<<1, 32>>>(list, name);
  if (depth) chain<<<1, 1>>>(list, name + 10, depth - 1);
  append<<<1, 32>>>(list, name + 1);
}

__global__ void tails(int *list)
{
  append<<<1, 32, 0, cudaStreamTailLaunch>>>(list, 8);
  append<<<1, 32, 0, cudaStreamTailLaunch>>>(list, 9);
  append<<<1, 32>>>(list, 1);
  append<<<1, 32, 0, cudaStreamFireAndForget>>>(list, 2);
}

// A chain of tail launches has no depth.
__global__ void again(int *count, int left)
{
  (*count)++;
  if (left) again<<<1, 1, 0, cudaStreamTailLaunch>>>(count, left - 1);
}

// Sum of a tree: every node adds itself, and launches its two children.
__global__ void tree(unsigned long long *sum, int node, int nodes)
{
  atomicAdd(sum, (unsigned long long)node);
  int child = 2 * node + threadIdx.x;
  if (child <= nodes) tree<<<1, 2>>>(sum, child, nodes);
}

__global__ void add(int *p, int v)
{
  p[threadIdx.x] += v;
}

__global__ void streams(int *p, int *q, int *result)
{
  cudaStream_t s, t;
  cudaEvent_t e;
  result[0] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  result[1] = cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  result[2] = cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  result[3] = cudaMemsetAsync(p, 0, 64 * sizeof *p, s);
  add<<<1, 64, 0, s>>>(p, 5);
  result[4] = cudaEventRecord(e, s);
  result[5] = cudaStreamWaitEvent(t, e, 0);
  result[6] = cudaMemcpyAsync(q, p, 64 * sizeof *p, cudaMemcpyDeviceToDevice, t);
  add<<<1, 64, 0, t>>>(q, 1);
  result[7] = cudaMemset2DAsync(q + 2, 32 * sizeof *q, 0xff, 2 * sizeof *q, 2, t);
  result[8] = cudaMemcpy2DAsync(q + 4, 32 * sizeof *q, q + 2, 32 * sizeof *q, 4, 2, cudaMemcpyDeviceToDevice, t);
  result[9] = cudaEventDestroy(e);
  result[10] = cudaStreamDestroy(s);
  result[11] = cudaStreamDestroy(t);
  result[12] = cudaStreamDestroy(t);
  result[13] = cudaGetLastError();
}

__global__ void errors(int *result, unsigned block, size_t shared)
{
  int *p = result + 100;
  add<<<1, block>>>(p, 1);
  result[0] = cudaPeekAtLastError();
  result[1] = cudaGetLastError();
  result[2] = cudaGetLastError();
  add<<<0, 32>>>(p, 1);
  result[3] = cudaGetLastError();
  add<<<1, 32, shared>>>(p, 1);
  result[4] = cudaGetLastError();
  cudaStream_t s;
  result[5] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
  cudaGetLastError();
  const char *name = cudaGetErrorName(cudaErrorInvalidConfiguration);
  for (int i = 0; i < 12; i++) result[10 + i] = name[i];
  add<<<1, 32>>>(p, 1);
  result[6] = cudaGetLastError();
}

__global__ void many(int *p, int n, int *result)
{
  for (int i = 0; i < n; i++) add<<<1, 1>>>(p, 1);
  *result = cudaGetLastError();
}

// Nesting ends at 24 levels below the host's launch.
__global__ void deep(int *level, int n)
{
  level[0] = n;
  if (n < 40) deep<<<1, 1>>>(level, n + 1);
  if (n == 24) level[1] = cudaGetLastError();
}

struct facts {
  int warp, sms, device, count, version, ctas, ctas_flags;
  size_t heap, pending;
  cudaFuncAttributes f;
};

__global__ void ask(facts *f)
{
  cudaDeviceGetAttribute(&f->warp, cudaDevAttrWarpSize, 0);
  cudaDeviceGetAttribute(&f->sms, cudaDevAttrMultiProcessorCount, 0);
  cudaGetDevice(&f->device);
  cudaGetDeviceCount(&f->count);
  cudaRuntimeGetVersion(&f->version);
  cudaDeviceGetLimit(&f->heap, cudaLimitMallocHeapSize);
  cudaDeviceGetLimit(&f->pending, cudaLimitDevRuntimePendingLaunchCount);
  cudaFuncGetAttributes(&f->f, (const void *)deep);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&f->ctas, (const void *)add, 256, 4096);
  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&f->ctas_flags, (const void *)add, 1024, 0, 0);
}

// Memory of the device's heap goes from parent to child.
__global__ void use_and_free(int *heap, int *out)
{
  for (int i = 0; i < 8; i++) *out += heap[i];
  cudaFree(heap);
}

__global__ void allocate(int *out)
{
  int *heap;
  *out = 1000 * cudaMalloc((void **)&heap, 8 * sizeof *heap);
  for (int i = 0; i < 8; i++) heap[i] = i;
  use_and_free<<<1, 1>>>(heap, out);
}

__global__ void print(int n)
{
  printf("child %d\n", n);
}

__global__ void printing(void)
{
  for (int i = 0; i < 3; i++) print<<<1, 1>>>(i);
  print<<<1, 1, 0, cudaStreamTailLaunch>>>(3);
  printf("parent\n");
}

// A kernel chosen by its address.
__device__ void (*const table[2])(int *, int) = { add, append };

__global__ void indirect(int *p, int which)
{
  auto f = table[which];
  f<<<1, 32>>>(p, 40);
}

static std::vector<int> fetch(const int *p, int n)
{
  std::vector<int> h(n);
  CUDA(cudaMemcpy(h.data(), p, n * sizeof h[0], cudaMemcpyDeviceToHost));
  return h;
}

static int *zeros(int n)
{
  int *p;
  CUDA(cudaMalloc(&p, n * sizeof *p));
  CUDA(cudaMemset(p, 0, n * sizeof *p));
  return p;
}

static void check_list(const int *list, std::vector<int> want)
{
  std::vector<int> h = fetch(list, 1 + (int)want.size());
  CHECK(h[0] == (int)want.size());
  for (size_t i = 0; i < want.size(); i++) CHECK(h[1 + i] == want[i]);
}

static void check_order()
{
  int *p = zeros(64);
  chain<<<1, 1>>>(p, 100, 2);
  check_list(p, { 100, 110, 120, 121, 111, 101 });
  CUDA(cudaMemset(p, 0, 64 * sizeof *p));
  tails<<<1, 1>>>(p);
  std::vector<int> h = fetch(p, 5);
  CHECK(h[0] == 4 && h[1] + h[2] == 3 && h[3] == 8 && h[4] == 9); /* 1 and 2 in any order */
  CUDA(cudaMemset(p, 0, 64 * sizeof *p));
  again<<<1, 1>>>(p, 59);
  CHECK(fetch(p, 1)[0] == 60);
  /* What follows in the host's stream sees the work of all descendants. */
  unsigned long long *sum, got;
  CUDA(cudaMalloc(&sum, sizeof *sum));
  CUDA(cudaMemset(sum, 0, sizeof *sum));
  tree<<<1, 2>>>(sum, 1, 31);
  CUDA(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got == 2ull * 31 * 32 / 2); /* two threads add each node */
}

static void check_streams()
{
  int *p = zeros(64), *q = zeros(64), *r = zeros(16);
  streams<<<1, 1>>>(p, q, r);
  std::vector<int> h = fetch(r, 14), a = fetch(p, 64), b = fetch(q, 64);
  for (int i = 0; i < 12; i++) CHECK(h[i] == cudaSuccess);
  CHECK(h[12] == cudaErrorInvalidResourceHandle && h[13] == cudaErrorInvalidResourceHandle);
  for (int i = 0; i < 64; i++) {
    CHECK(a[i] == 5);
    CHECK(b[i] == (i % 32 >= 2 && i % 32 < 5 ? -1 : 6));
  }
}

static void check_errors()
{
  int *r = zeros(200), *p = r + 100;
  errors<<<1, 1>>>(r, 2048, 1 << 20);
  std::vector<int> h = fetch(r, 132);
  CHECK(h[0] == cudaErrorInvalidConfiguration && h[1] == cudaErrorInvalidConfiguration && h[2] == cudaSuccess);
  CHECK(h[3] == cudaErrorInvalidConfiguration);
  CHECK(h[4] != cudaSuccess && h[5] == cudaErrorInvalidValue && h[6] == cudaSuccess);
  for (int i = 0; i < 12; i++) CHECK(h[10 + i] == "cudaErrorInv"[i]);
  CHECK(h[100] == 1 && h[131] == 1); /* one launch was right */
  CHECK(cudaGetLastError() == cudaSuccess); /* not the host's errors */

  size_t pending;
  CUDA(cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount));
  CHECK(pending == 2048);
  CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 60));
  CUDA(cudaMemset(p, 0, sizeof *p));
  many<<<1, 1>>>(p, 100, r);
  // 60 can be pending; how many have begun by the time of the others is the GPU's affair.
  int ran = fetch(p, 1)[0];
  CHECK(ran >= 60 && fetch(r, 1)[0] == (ran < 100 ? cudaErrorLaunchPendingCountExceeded : cudaSuccess));
  CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
  CUDA(cudaMemset(p, 0, sizeof *p));
  many<<<1, 1>>>(p, 100, r);
  CHECK(fetch(r, 1)[0] == cudaSuccess && fetch(p, 1)[0] == 100);
  deep<<<1, 1>>>(r, 0);
  h = fetch(r, 2);
  CHECK(h[0] == 24 && h[1] == cudaErrorLaunchMaxDepthExceeded);
}

static void check_facts()
{
  facts *f, h = {};
  int sms, ctas, ctas_flags;
  size_t heap;
  cudaFuncAttributes a;
  CUDA(cudaMalloc(&f, sizeof *f));
  ask<<<1, 1>>>(f);
  CUDA(cudaMemcpy(&h, f, sizeof h, cudaMemcpyDeviceToHost));
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CUDA(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  CUDA(cudaFuncGetAttributes(&a, deep));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, add, 256, 4096));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas_flags, add, 1024, 0));
  CHECK(h.warp == 32 && h.sms == sms && h.device == 0 && h.count == 1);
  CHECK(h.version / 1000 == CUDART_VERSION / 1000); /* the minor version is not known */
  CHECK(h.heap == heap && h.pending == 100);
  CHECK(h.f.numRegs == a.numRegs && h.f.maxThreadsPerBlock == a.maxThreadsPerBlock && h.f.binaryVersion == a.binaryVersion);
  CHECK(h.ctas == ctas && h.ctas_flags == ctas_flags);
}

int main()
{
  int *p = zeros(64);
  const int eleven = 11;
  CUDA(cudaMemcpy(p + 9, &eleven, sizeof eleven, cudaMemcpyHostToDevice));
  pass<<<1, 1>>>(p);
  std::vector<int> h = fetch(p, 4);
  CHECK(h[0] == -5 && h[1] == 25 + 3 + 7 + 11 && h[2] == 7);
  CHECK(h[3] >= 320 && h[3] <= 322); /* one of three threads wrote last */
  check_order();
  check_streams();
  check_errors();
  check_facts();

  CUDA(cudaMemset(p, 0, 64 * sizeof *p));
  allocate<<<1, 1>>>(p);
  CHECK(fetch(p, 1)[0] == 28);
  CUDA(cudaMemset(p, 0, 64 * sizeof *p));
  indirect<<<1, 1>>>(p, 0);
  h = fetch(p, 32);
  for (int i = 0; i < 32; i++) CHECK(h[i] == 40);
  CUDA(cudaMemset(p, 0, 64 * sizeof *p));
  indirect<<<1, 1>>>(p, 1);
  check_list(p, { 40 });

  printing<<<1, 1>>>();
  CUDA(cudaDeviceSynchronize());
}
