// Two GPUs of a machine: memory, variables, streams and events of each, access to a peer's memory, copies between them,
// and a kernel on each that waits for the other. Values are computed on the host; times are held against the rate of the
// bridge (presets/machines/2x-rtx-3090-nvlink.cfg: 4 links of 14.063 GB/s, packets of 128 bytes, of copy
// engines of 256, a header of 16, acknowledgements of 16).
#include <cstring>
#include <vector>

#include "check.h"

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
  CUDA(cudaSetDevice(0));
  CUDA(cudaMalloc(&a, n * sizeof(int)));
  CUDA(cudaMemcpy(a, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  add_to<<<(n + 255) / 256, 256>>>(a, a, n, 5);
  cudaEvent_t ready;
  CUDA(cudaEventCreate(&ready));
  CUDA(cudaEventRecord(ready));
  CUDA(cudaSetDevice(1));
  CUDA(cudaMalloc(&b, n * sizeof(int)));
  cudaStream_t s;
  CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA(cudaStreamWaitEvent(s, ready, 0));
  add_to<<<(n + 255) / 256, 256, 0, s>>>(a, b, n, 11); /* reads the other GPU's memory */
  CUDA(cudaMemcpyAsync(back.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost, s));
  CUDA(cudaStreamSynchronize(s));
  for (int i = 0; i < n; i++) CHECK(back[i] == (h[i] * 3 + 5) * 3 + 11);
  int on[2];
  for (int d = 0; d < 2; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaMemcpyFromSymbol(&on[d], seen, sizeof(int)));
  }
  CHECK(on[0] == 5 && on[1] == 11); /* a variable on each */
  CHECK(cudaEventRecord(ready, s) == cudaErrorInvalidResourceHandle);
  cudaPointerAttributes at;
  CUDA(cudaPointerGetAttributes(&at, a));
  CHECK(at.device == 0 && at.type == cudaMemoryTypeDevice);
  CUDA(cudaPointerGetAttributes(&at, b));
  CHECK(at.device == 1);
  CUDA(cudaFree(a));
  CUDA(cudaFree(b));
  CUDA(cudaStreamDestroy(s));
}

static void waits()
{
  int *word[2], end[2];
  for (int d = 0; d < 2; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaMalloc(&word[d], 128));
    CUDA(cudaMemset(word[d], 0, 128));
    CUDA(cudaDeviceSynchronize());
  }
  for (int d = 0; d < 2; d++) {
    CUDA(cudaSetDevice(d));
    turns<<<1, 1>>>(word[d], word[1 - d], 5);
  }
  for (int d = 0; d < 2; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&end[d], word[d], sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(end[d] == 5);
    CUDA(cudaFree(word[d]));
  }
}

static bool within(double got, double least, double most, const char *what)
{
  const bool ok = got >= least && got <= most;
  if (!ok) printf("%s: %g is not from %g to %g\n", what, got, least, most);
  return ok;
}

static const double raw = 4 * 14.063e6, copy_rate = raw * 256 / 272, core_rate = raw * 128 / 144; /* bytes per ms */

/* ms of n copies, one behind the other in a stream of device 0. */
static float copied(char *to, const char *from, size_t bytes, int n)
{
  cudaEvent_t begin, end;
  float ms;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaEventRecord(begin));
  for (int i = 0; i < n; i++) CUDA(cudaMemcpyPeerAsync(to, 1, from, 0, bytes));
  CUDA(cudaEventRecord(end));
  CUDA(cudaEventSynchronize(end));
  CUDA(cudaEventElapsedTime(&ms, begin, end));
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
  CUDA(cudaSetDevice(1));
  CUDA(cudaMalloc(&b, bytes));
  CUDA(cudaSetDevice(0));
  CUDA(cudaMalloc(&a, bytes));
  CUDA(cudaMemcpy(a, h.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(within(copied(b, a, 16, 1) * 1e3, 11, 20, "16 bytes through the host, us"));
  CHECK(within((bytes - 7) / copied(b + 5, a + 2, bytes - 7, 1) * 1e-6, 0.9 * 20, 1.1 * 22, "through the host, GB/s"));
  CUDA(cudaMemcpy(back.data(), b + 5, bytes - 7, cudaMemcpyDefault));
  CHECK(memcmp(back.data(), h.data() + 2, bytes - 7) == 0);
  CUDA(cudaMemcpy2D(b + 1, 4096, a + 3, pitch, 2777, rows, cudaMemcpyDefault));
  CUDA(cudaMemcpy2D(back.data(), pitch, b + 1, 4096, 2777, rows, cudaMemcpyDefault));
  for (size_t y = 0; y < rows; y++) CHECK(memcmp(&back[y * pitch], &h[3 + y * pitch], 2777) == 0);
  CUDA(cudaFree(a));
  CUDA(cudaFree(b));
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
    CUDA(cudaSetDevice(d));
    for (int i = 0; i < 2; i++) CUDA(cudaMalloc(&m[d][i], bytes));
    CUDA(cudaMemcpy(m[d][0], h.data(), bytes, cudaMemcpyHostToDevice));
    CUDA(cudaEventCreate(&begin[d]));
    CUDA(cudaEventCreate(&end[d]));
    CUDA(cudaStreamCreateWithFlags(&s[d], cudaStreamNonBlocking));
  }
  const double want = bytes / copy_rate, want_both = bytes / (raw * 512 / (2 * 272 + 16)); /* with an acknowledgement */
  CHECK(within(copied(m[1][1], m[0][0], bytes, 1), want, 1.05 * want, "one way, ms"));
  CUDA(cudaMemcpy(back.data(), m[1][1], bytes, cudaMemcpyDefault));
  CHECK(back == h);
  for (int d = 0; d < 2; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaEventRecord(begin[d], s[d]));
    CUDA(cudaMemcpyPeerAsync(m[1 - d][1], 1 - d, m[d][0], d, bytes, s[d]));
    CUDA(cudaEventRecord(end[d], s[d]));
  }
  for (int d = 0; d < 2; d++) {
    CUDA(cudaStreamSynchronize(s[d]));
    CUDA(cudaEventElapsedTime(&ms[d], begin[d], end[d]));
    CHECK(within(ms[d], want_both, 1.05 * want_both, "both ways, ms"));
  }
  /* Device 1 reads what device 0 copies to it: one direction. Device 0 writes there, too: the same. */
  const int n = 4 << 20, part = bytes / 4;
  CUDA(cudaSetDevice(0));
  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  for (int i = 0; i < 2; i++) {
    CUDA(cudaSetDevice(1 - i));
    CUDA(cudaEventRecord(begin[1 - i], i ? other : s[1]));
    add_to<<<n / 4 / 256, 256, 0, i ? other : s[1]>>>((int *)m[0][0], (int *)m[1][1], n / 4, 1);
    CUDA(cudaEventRecord(end[1 - i], i ? other : s[1]));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaEventElapsedTime(&ms[i], begin[1 - i], end[1 - i]));
    CHECK(within(ms[i], part / core_rate, 1.15 * part / core_rate, i ? "a kernel that writes, ms" : "a kernel that reads, ms"));
  }
  CUDA(cudaSetDevice(1));
  CUDA(cudaEventRecord(begin[1], s[1]));
  add_to<<<n / 4 / 256, 256, 0, s[1]>>>((int *)m[0][0], (int *)m[1][1], n / 4, 1);
  CUDA(cudaEventRecord(end[1], s[1]));
  CUDA(cudaSetDevice(0));
  CUDA(cudaEventRecord(begin[0], s[0]));
  CUDA(cudaMemcpyPeerAsync(m[1][0], 1, m[0][0], 0, part, s[0]));
  CUDA(cudaEventRecord(end[0], s[0]));
  for (int d = 0; d < 2; d++) {
    CUDA(cudaStreamSynchronize(s[d]));
    CUDA(cudaEventElapsedTime(&ms[d], begin[d], end[d]));
  }
  const double longest = ms[0] > ms[1] ? ms[0] : ms[1];
  const double both = part / copy_rate + part / core_rate;
  CHECK(within(longest, both, 1.15 * both, "a kernel that reads beside a copy, ms"));
  CHECK(within(ms[0] + ms[1], 1.25 * both, 2.3 * both, "the two, ms")); /* neither has it for itself */
  /* 16 bytes: dma.peer_ns and the way there and back (2 x 120 ns) at least, and as long again for crossbar and slices. */
  CHECK(within(copied(m[1][1], m[0][0], 16, 100) * 10, 1.1 + 0.24, 1.1 + 0.9, "16 bytes, us"));
}

int main()
{
  int n, can;
  CUDA(cudaGetDeviceCount(&n));
  CHECK(n == 2);
  CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  staged();
  for (int d = 0; d < 2; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaDeviceEnablePeerAccess(1 - d, 0));
    CHECK(cudaDeviceEnablePeerAccess(1 - d, 0) == cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
  }
  values();
  waits();
  copies();
  puts("two GPUs: right");
  return 0;
}
