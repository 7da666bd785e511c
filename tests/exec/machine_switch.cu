// GPUs behind switches (presets/machines/dgx-a100.cfg), held against what was published of an 8 x A100 SXM4 machine: 16 bytes
// in a stream to a peer in 2.8 to 3.4 us (p2pBandwidthLatencyTest, ABCI), 271 to 277 GB/s one way and 410 to 519 GB/s both
// (stas00/ml-engineering, ABCI), a hop of a flag and its data in 0.75 us (NVIDIA/nccl-tests, issue 123: slope of LL). And
// atomics of all GPUs on one word, and a ring of flags over all of them.
#include "check.h"

enum { GPUS = 8, ROUNDS = 20, WORDS = 64 };

__global__ void turns(volatile int *mine, volatile int *other, bool first, long long *cycles)
{
  const long long begin = clock64();
  for (int i = 1; i <= ROUNDS; i++) {
    if (first) *other = i;
    while (*mine < i) continue;
    if (!first) *other = i;
  }
  *cycles = clock64() - begin;
}

__global__ void count(unsigned *sum, unsigned *most, unsigned long long *old, unsigned gpu)
{
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_system(&sum[i % WORDS], gpu + 1);
  atomicMax_system(most, i * GPUS + gpu);
  atomicCAS_system(old, gpu ? ~0ull : 0ull, 7ull); /* by GPU 0 alone */
}

static bool within(double got, double least, double most, const char *what)
{
  const bool ok = got >= least && got <= most;
  if (!ok) printf("%s: %g is not from %g to %g\n", what, got, least, most);
  return ok;
}

static cudaStream_t stream[GPUS];

static double elapsed(cudaEvent_t from, cudaEvent_t to)
{
  float ms;
  CUDA(cudaEventElapsedTime(&ms, from, to));
  return ms;
}

static void copies()
{
  const size_t bytes = 24 << 20;
  char *m[2];
  cudaEvent_t mark[2][2];
  for (int d = 1; d >= 0; d--) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaMalloc(&m[d], 2 * bytes));
    for (int i = 0; i < 2; i++) CUDA(cudaEventCreate(&mark[d][i]));
  }
  for (int n = 1; n <= 100; n *= 100) {
    CUDA(cudaEventRecord(mark[0][0], stream[0]));
    for (int i = 0; i < n; i++) CUDA(cudaMemcpyPeerAsync(m[1], 1, m[0], 0, n == 1 ? bytes : 16, stream[0]));
    CUDA(cudaEventRecord(mark[0][1], stream[0]));
    CUDA(cudaStreamSynchronize(stream[0]));
    const double ms = elapsed(mark[0][0], mark[0][1]);
    CHECK(n == 1 ? within(bytes / ms * 1e-6, 0.95 * 274, 1.05 * 274, "one way, GB/s")
                 : within(ms * 10, 2.8, 3.4, "16 bytes, us"));
  }
  for (int d = 0; d < 2; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaEventRecord(mark[d][0], stream[d]));
    CUDA(cudaMemcpyPeerAsync(m[1 - d] + bytes, 1 - d, m[d], d, bytes, stream[d]));
    CUDA(cudaEventRecord(mark[d][1], stream[d]));
  }
  double both = 0;
  for (int d = 0; d < 2; d++) {
    CUDA(cudaStreamSynchronize(stream[d]));
    both += bytes / elapsed(mark[d][0], mark[d][1]) * 1e-6;
  }
  CHECK(within(both, 0.95 * 519, 1.05 * 2 * 274, "both ways, GB/s"));
}

/* A flag that goes around n GPUs: n hops. */
static void ring(unsigned n)
{
  int *word[GPUS], khz;
  long long *cycles[GPUS], took;
  CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  for (unsigned d = 0; d < n; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaMalloc(&word[d], 128));
    CUDA(cudaMalloc(&cycles[d], 8));
    CUDA(cudaMemset(word[d], 0, 128));
    CUDA(cudaDeviceSynchronize());
  }
  for (unsigned d = 0; d < n; d++) {
    CUDA(cudaSetDevice(d));
    turns<<<1, 1, 0, stream[d]>>>(word[d], word[(d + 1) % n], d == 0, cycles[d]);
  }
  for (unsigned d = 0; d < n; d++) CUDA(cudaStreamSynchronize(stream[d]));
  CUDA(cudaMemcpy(&took, cycles[0], 8, cudaMemcpyDefault));
  CHECK(within(took / (double)khz * 1e3 / ROUNDS / n, 0.8 * 0.75, 1.2 * 0.75, "a hop, us"));
}

static void atomics()
{
  const unsigned ctas = 20, threads = 128;
  unsigned *at, got[WORDS + 1];
  unsigned long long old;
  CUDA(cudaSetDevice(3));
  CUDA(cudaMalloc(&at, 1024));
  CUDA(cudaMemset(at, 0, 1024));
  CUDA(cudaDeviceSynchronize());
  for (unsigned d = 0; d < GPUS; d++) {
    CUDA(cudaSetDevice(d));
    count<<<ctas, threads, 0, stream[d]>>>(at, at + WORDS, (unsigned long long *)(at + WORDS + 2), d);
  }
  for (unsigned d = 0; d < GPUS; d++) CUDA(cudaStreamSynchronize(stream[d]));
  CUDA(cudaMemcpy(got, at, sizeof got, cudaMemcpyDefault));
  CUDA(cudaMemcpy(&old, at + WORDS + 2, sizeof old, cudaMemcpyDefault));
  for (unsigned i = 0; i < WORDS; i++) CHECK(got[i] == ctas * threads / WORDS * GPUS * (GPUS + 1) / 2);
  CHECK(got[WORDS] == (ctas * threads - 1) * GPUS + GPUS - 1);
  CHECK(old == 7);
}

int main()
{
  int n;
  CUDA(cudaGetDeviceCount(&n));
  CHECK(n == GPUS);
  for (int d = 0; d < GPUS; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
    for (int to = 0; to < GPUS; to++)
      if (to != d) CUDA(cudaDeviceEnablePeerAccess(to, 0));
  }
  copies();
  ring(2);
  ring(4);
  ring(GPUS);
  atomics();
  puts("eight GPUs: right");
  return 0;
}
