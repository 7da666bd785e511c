// Two GPUs of a machine: memory, variables, streams and events of each, access to a peer's memory, copies between them,
// and a kernel on each that waits for the other. Values are computed on the host; times are held against the rate of the
// bridge (presets/machines/2x-rtx-3090-nvlink.cfg: 4 links of 14.063 GB/s, 12 of 140 bytes are overhead).
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

static bool within(double got, double least, double most, const char *what)
{
  const bool ok = got >= least && got <= most;
  if (!ok) printf("%s: %g is not from %g to %g\n", what, got, least, most);
  return ok;
}

static const double rate = 4 * 14.063e6 * 128 / 140; /* bytes per ms */

/* ms of n copies, one behind the other in a stream of device 0. */
static float copied(char *to, const char *from, size_t bytes, int n)
{
  cudaEvent_t begin, end;
  float ms;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaEventRecord(begin));
  for (int i = 0; i < n; i++) OK(cudaMemcpyPeerAsync(to, 1, from, 0, bytes));
  OK(cudaEventRecord(end));
  OK(cudaEventSynchronize(end));
  OK(cudaEventElapsedTime(&ms, begin, end));
  return ms;
}

/* Without access, through the host: 16 bytes in 11 to 20 us, and 20 to 22 GB/s (p2pBandwidthLatencyTest of boards without
 * peer access, PCI Express 4.0). Parts of 512 KiB: also rows that are longer, and many that are shorter. */
static void staged()
{
  const size_t bytes = 8 << 20, pitch = 3000, rows = 2000;
  char *a, *b;
  std::vector<char> h(bytes), back(bytes);
  for (size_t i = 0; i < bytes; i++) h[i] = (char)(i * 31 + (i >> 12));
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&b, bytes));
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&a, bytes));
  OK(cudaMemcpy(a, h.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(within(copied(b, a, 16, 1) * 1e3, 11, 20, "16 bytes through the host, us"));
  CHECK(within((bytes - 7) / copied(b + 5, a + 2, bytes - 7, 1) * 1e-6, 0.9 * 20, 1.1 * 22, "through the host, GB/s"));
  OK(cudaMemcpy(back.data(), b + 5, bytes - 7, cudaMemcpyDefault));
  CHECK(memcmp(back.data(), h.data() + 2, bytes - 7) == 0);
  OK(cudaMemcpy2D(b + 1, 4096, a + 3, pitch, 2777, rows, cudaMemcpyDefault));
  OK(cudaMemcpy2D(back.data(), pitch, b + 1, 4096, 2777, rows, cudaMemcpyDefault));
  for (size_t y = 0; y < rows; y++) CHECK(memcmp(&back[y * pitch], &h[3 + y * pitch], 2777) == 0);
  OK(cudaFree(a));
  OK(cudaFree(b));
}

/* One way, both at once, and while kernels of the one read the memory of the other: the bridge gives each direction its
 * rate, which what goes there shares. */
static void copies()
{
  const size_t bytes = 16 << 20;
  char *m[2][2];
  std::vector<char> h(bytes), back(bytes);
  cudaEvent_t begin[2], end[2];
  cudaStream_t s[2], other;
  float ms[3];
  for (size_t i = 0; i < bytes; i++) h[i] = (char)(i * 31 + (i >> 12));
  for (int d = 1; d >= 0; d--) {
    OK(cudaSetDevice(d));
    for (int i = 0; i < 2; i++) OK(cudaMalloc(&m[d][i], bytes));
    OK(cudaMemcpy(m[d][0], h.data(), bytes, cudaMemcpyHostToDevice));
    OK(cudaEventCreate(&begin[d]));
    OK(cudaEventCreate(&end[d]));
    OK(cudaStreamCreateWithFlags(&s[d], cudaStreamNonBlocking));
  }
  const double want = bytes / rate;
  CHECK(within(copied(m[1][1], m[0][0], bytes, 1), want, 1.05 * want, "one way, ms"));
  OK(cudaMemcpy(back.data(), m[1][1], bytes, cudaMemcpyDefault));
  CHECK(back == h);
  for (int d = 0; d < 2; d++) {
    OK(cudaSetDevice(d));
    OK(cudaEventRecord(begin[d], s[d]));
    OK(cudaMemcpyPeerAsync(m[1 - d][1], 1 - d, m[d][0], d, bytes, s[d]));
    OK(cudaEventRecord(end[d], s[d]));
  }
  for (int d = 0; d < 2; d++) {
    OK(cudaStreamSynchronize(s[d]));
    OK(cudaEventElapsedTime(&ms[d], begin[d], end[d]));
    CHECK(within(ms[d], want, 1.05 * want, "both ways, ms"));
  }
  /* Device 1 reads what device 0 copies to it: one direction. Device 0 writes there, too: the same. */
  const int n = 4 << 20, part = bytes / 4;
  OK(cudaSetDevice(0));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  for (int i = 0; i < 2; i++) {
    OK(cudaSetDevice(1 - i));
    OK(cudaEventRecord(begin[1 - i], i ? other : s[1]));
    add_to<<<n / 4 / 256, 256, 0, i ? other : s[1]>>>((int *)m[0][0], (int *)m[1][1], n / 4, 1);
    OK(cudaEventRecord(end[1 - i], i ? other : s[1]));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms[i], begin[1 - i], end[1 - i]));
    CHECK(within(ms[i], part / rate, 1.15 * part / rate, i ? "a kernel that writes, ms" : "a kernel that reads, ms"));
  }
  OK(cudaSetDevice(1));
  OK(cudaEventRecord(begin[1], s[1]));
  add_to<<<n / 4 / 256, 256, 0, s[1]>>>((int *)m[0][0], (int *)m[1][1], n / 4, 1);
  OK(cudaEventRecord(end[1], s[1]));
  OK(cudaSetDevice(0));
  OK(cudaEventRecord(begin[0], s[0]));
  OK(cudaMemcpyPeerAsync(m[1][0], 1, m[0][0], 0, part, s[0]));
  OK(cudaEventRecord(end[0], s[0]));
  for (int d = 0; d < 2; d++) {
    OK(cudaStreamSynchronize(s[d]));
    OK(cudaEventElapsedTime(&ms[d], begin[d], end[d]));
  }
  const double longest = ms[0] > ms[1] ? ms[0] : ms[1];
  CHECK(within(longest, 2 * part / rate, 1.15 * 2 * part / rate, "a kernel that reads beside a copy, ms"));
  CHECK(within(ms[0] + ms[1], 2.5 * part / rate, 4.6 * part / rate, "the two, ms")); /* neither has it for itself */
  /* 16 bytes: dma.peer_ns and the way there and back (2 x 120 ns) at least, and as long again for crossbar and slices. */
  CHECK(within(copied(m[1][1], m[0][0], 16, 100) * 10, 1.1 + 0.24, 1.1 + 0.9, "16 bytes, us"));
}

int main()
{
  int n, can;
  OK(cudaGetDeviceCount(&n));
  CHECK(n == 2);
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  staged();
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
