// Two GPUs of a machine: memory, variables, streams and events of each, access to a peer's memory, copies between them,
// and a kernel on each that waits for the other. Values are computed on the host; the time of a copy is held against the
// rate of the bridge (presets/machines/2x-rtx-3090-nvlink.cfg: 4 links of 14.063 GB/s, 12 of 140 bytes are overhead).
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                                          \
  do {                                                                                                    \
    cudaError_t e_ = (call);                                                                              \
    if (e_ != cudaSuccess) {                                                                              \
      printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(e_));                               \
      exit(1);                                                                                            \
    }                                                                                                     \
  } while (0)
#define CHECK(cond)                                                                                       \
  do {                                                                                                    \
    if (!(cond)) {                                                                                        \
      printf("line %d: not %s\n", __LINE__, #cond);                                                       \
      exit(1);                                                                                            \
    }                                                                                                     \
  } while (0)

__device__ int seen;

__global__ void add_to(const int *from, int *to, int n, int k)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] * 3 + k;
  if (i == 0) seen += k;
}

/* Takes turns with the kernel on the other GPU: each waits for the other's word. */
__global__ void turns(volatile int *mine, volatile int *other, int rounds)
{
  for (int i = 1; i <= rounds; i++) {
    *other = i;
    __threadfence_system();
    while (*mine < i) {}
  }
}

static void values()
{
  const int n = 10000;
  std::vector<int> h(n), back(n);
  int *a, *b;
  for (int i = 0; i < n; i++) h[i] = i * 7 - 3;
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&a, n * sizeof(int)));
  OK(cudaMemcpy(a, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  add_to<<<(n + 255) / 256, 256>>>(a, a, n, 5);
  cudaEvent_t ready;
  OK(cudaEventCreate(&ready));
  OK(cudaEventRecord(ready));
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&b, n * sizeof(int)));
  cudaStream_t s;
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  OK(cudaStreamWaitEvent(s, ready, 0));
  add_to<<<(n + 255) / 256, 256, 0, s>>>(a, b, n, 11); /* reads the other GPU's memory */
  OK(cudaMemcpyAsync(back.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost, s));
  OK(cudaStreamSynchronize(s));
  for (int i = 0; i < n; i++) CHECK(back[i] == (h[i] * 3 + 5) * 3 + 11);
  int on[2];
  for (int d = 0; d < 2; d++) {
    OK(cudaSetDevice(d));
    OK(cudaMemcpyFromSymbol(&on[d], seen, sizeof(int)));
  }
  CHECK(on[0] == 5 && on[1] == 11); /* a variable on each */
  CHECK(cudaEventRecord(ready, s) == cudaErrorInvalidResourceHandle);
  cudaPointerAttributes at;
  OK(cudaPointerGetAttributes(&at, a));
  CHECK(at.device == 0 && at.type == cudaMemoryTypeDevice);
  OK(cudaPointerGetAttributes(&at, b));
  CHECK(at.device == 1);
  OK(cudaFree(a));
  OK(cudaFree(b));
  OK(cudaStreamDestroy(s));
}

static void waits()
{
  int *word[2], end[2];
  for (int d = 0; d < 2; d++) {
    OK(cudaSetDevice(d));
    OK(cudaMalloc(&word[d], 128));
    OK(cudaMemset(word[d], 0, 128));
    OK(cudaDeviceSynchronize());
  }
  for (int d = 0; d < 2; d++) {
    OK(cudaSetDevice(d));
    turns<<<1, 1>>>(word[d], word[1 - d], 5);
  }
  for (int d = 0; d < 2; d++) {
    OK(cudaSetDevice(d));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&end[d], word[d], sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(end[d] == 5);
    OK(cudaFree(word[d]));
  }
}

static void copies()
{
  const size_t bytes = 32 << 20;
  char *a, *b;
  std::vector<char> h(bytes), back(bytes);
  for (size_t i = 0; i < bytes; i++) h[i] = (char)(i * 31 + (i >> 12));
  cudaEvent_t begin, end;
  float ms;
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&b, bytes));
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&a, bytes));
  OK(cudaMemcpy(a, h.data(), bytes, cudaMemcpyHostToDevice));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaEventRecord(begin));
  OK(cudaMemcpyPeerAsync(b, 1, a, 0, bytes));
  OK(cudaEventRecord(end));
  OK(cudaEventSynchronize(end));
  OK(cudaEventElapsedTime(&ms, begin, end));
  OK(cudaMemcpy(back.data(), b, bytes, cudaMemcpyDefault));
  CHECK(back == h);
  double want = bytes / (4 * 14.063e9 * 128 / 140) * 1e3;
  if (ms < want || ms > want * 1.05) printf("%f ms for %f\n", ms, want);
  CHECK(ms >= want && ms <= want * 1.05);
}

int main()
{
  int n, can;
  OK(cudaGetDeviceCount(&n));
  CHECK(n == 2);
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  for (int d = 0; d < 2; d++) {
    OK(cudaSetDevice(d));
    OK(cudaDeviceEnablePeerAccess(1 - d, 0));
    CHECK(cudaDeviceEnablePeerAccess(1 - d, 0) == cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
  }
  values();
  waits();
  copies();
  puts("two GPUs: right");
  return 0;
}
