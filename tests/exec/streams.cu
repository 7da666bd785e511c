// Streams and events: order of results, and times that follow from the rules of streams.
#include "check.h"

#include <cstring>

__global__ void add(int *p, int v, int n)
{
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] += v;
}

__global__ void clocks(long long *out)
{
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  out[0] = clock64();
  out[1] = (long long)ns;
}

static int called;
static void callback(void *p)
{
  called += *(int *)p;
}

static float elapsed(cudaEvent_t from, cudaEvent_t to)
{
  float ms = -1;
  CUDA(cudaEventElapsedTime(&ms, from, to));
  return ms;
}

// What a program says about a stream is kept; a launch may name a cluster of one block.
static void attributes()
{
  cudaStream_t a, b;
  cudaStreamAttrValue v = {}, back = {};
  cudaDeviceProp prop;
  CUDA(cudaGetDeviceProperties(&prop, 0));
  CHECK(prop.persistingL2CacheMaxSize > 0 && prop.persistingL2CacheMaxSize < prop.l2CacheSize);
  CUDA(cudaStreamCreate(&a));
  CUDA(cudaStreamCreate(&b));
  v.accessPolicyWindow.base_ptr = &v;
  v.accessPolicyWindow.num_bytes = 4096;
  v.accessPolicyWindow.hitRatio = 0.5f;
  v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  v.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  CUDA(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &v));
  CUDA(cudaStreamCopyAttributes(b, a));
  CUDA(cudaStreamGetAttribute(b, cudaStreamAttributeAccessPolicyWindow, &back));
  CHECK(memcmp(&v.accessPolicyWindow, &back.accessPolicyWindow, sizeof v.accessPolicyWindow) == 0);
  v.accessPolicyWindow.hitRatio = 1.5f;
  CHECK(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &v) == cudaErrorInvalidValue);
  v.accessPolicyWindow.hitRatio = 1;
  v.accessPolicyWindow.num_bytes = (size_t)prop.accessPolicyMaxWindowSize + 1;
  CHECK(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &v) == cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaCtxResetPersistingL2Cache());
  CUDA(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, prop.persistingL2CacheMaxSize));
  CUDA(cudaStreamDestroy(a));
  CUDA(cudaStreamDestroy(b));
}

int main()
{
  attributes();
  const int n = 1 << 16, bytes = n * sizeof(int);
  cudaStream_t a, b;
  cudaEvent_t e[6];
  int *p, *q, *h;
  CUDA(cudaStreamCreate(&a));
  CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  for (int i = 0; i < 6; i++) CUDA(cudaEventCreate(&e[i]));
  CUDA(cudaMalloc(&p, bytes));
  CUDA(cudaMalloc(&q, bytes));
  CUDA(cudaMallocHost(&h, bytes));
  for (int i = 0; i < n; i++) h[i] = i;

  // copy, kernel, copy in one stream; the other waits for it
  CUDA(cudaEventRecord(e[0], a));
  CUDA(cudaMemcpyAsync(p, h, bytes, cudaMemcpyHostToDevice, a));
  CUDA(cudaEventRecord(e[1], a));
  add<<<1, 256, 0, a>>>(p, 3, n);
  CUDA(cudaEventRecord(e[2], a));
  CHECK(cudaEventQuery(e[2]) == cudaErrorNotReady);
  CHECK(cudaStreamQuery(a) == cudaErrorNotReady);
  CHECK(cudaGetLastError() == cudaSuccess);
  CUDA(cudaStreamWaitEvent(b, e[2], 0));
  CUDA(cudaMemcpyAsync(q, p, bytes, cudaMemcpyDeviceToDevice, b));
  add<<<1, 256, 0, b>>>(q, 4, n);
  CUDA(cudaEventRecord(e[3], b));
  CUDA(cudaMemcpyAsync(h, q, bytes, cudaMemcpyDeviceToHost, b));
  CUDA(cudaEventRecord(e[4], b));
  int seven = 7;
  CUDA(cudaLaunchHostFunc(b, callback, &seven));
  CUDA(cudaStreamSynchronize(b));
  CHECK(called == 7);
  for (int i = 0; i < n; i++) CHECK(h[i] == i + 7);
  CUDA(cudaEventQuery(e[4]));

  float copy = elapsed(e[0], e[1]), kernel = elapsed(e[1], e[2]), back = elapsed(e[3], e[4]);
  CHECK(copy > 0 && kernel > 0 && back > 0);
  CHECK(elapsed(e[2], e[3]) > 0);
  // 256 KiB over a PCI Express link of at most 64 GB/s
  CHECK(copy > bytes / 64e9 * 1e3 && back > bytes / 64e9 * 1e3);
  CHECK(elapsed(e[0], e[2]) > 0.99f * (copy + kernel) && elapsed(e[0], e[2]) < 1.01f * (copy + kernel));
  // two launches behind each other take twice the time of one, when the caches are warm for all
  for (int round = 0; round < 2; round++) {
    CUDA(cudaEventRecord(e[0], a));
    add<<<1, 256, 0, a>>>(p, 1, n);
    CUDA(cudaEventRecord(e[1], a));
    CUDA(cudaEventSynchronize(e[1]));
  }
  kernel = elapsed(e[0], e[1]);
  CUDA(cudaEventRecord(e[0], a));
  add<<<1, 256, 0, a>>>(p, 1, n);
  add<<<1, 256, 0, a>>>(p, 1, n);
  CUDA(cudaEventRecord(e[1], a));
  CUDA(cudaEventSynchronize(e[1]));
  CHECK(elapsed(e[0], e[1]) > 1.9f * kernel && elapsed(e[0], e[1]) < 2.1f * kernel);

  // the device's clocks and events tell the same time
  long long *t, first[2], second[2];
  CUDA(cudaMalloc(&t, sizeof first));
  CUDA(cudaEventRecord(e[0]));
  clocks<<<1, 1>>>(t);
  CUDA(cudaMemcpy(first, t, sizeof first, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; i++) CUDA(cudaMemcpy(p, h, bytes, cudaMemcpyHostToDevice));
  CUDA(cudaEventRecord(e[1]));
  clocks<<<1, 1>>>(t);
  CUDA(cudaMemcpy(second, t, sizeof second, cudaMemcpyDeviceToHost));
  double ns = double(second[1] - first[1]), by_event = elapsed(e[0], e[1]) * 1e6;
  CHECK(ns > 0.95 * by_event - 3000 && ns < 1.05 * by_event + 3000);
  cudaDeviceProp prop;
  CUDA(cudaGetDeviceProperties(&prop, 0));
  int khz;
  CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  double cycles = double(second[0] - first[0]);
  CHECK(cycles > 0.99 * ns * khz / 1e6 && cycles < 1.01 * ns * khz / 1e6);

  // handles that do not exist any more, events that were never recorded
  CHECK(cudaEventElapsedTime(&copy, e[0], e[5]) == cudaErrorInvalidResourceHandle);
  CUDA(cudaStreamDestroy(a));
  CHECK(cudaStreamSynchronize(a) == cudaErrorInvalidResourceHandle);
}
