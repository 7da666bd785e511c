// What a machine of several GPUs does, for runs in one process and in several (run.sh): all that passes between GPUs and
// their host, with values that are computed on the host, and times. The second word of the command line says what:
//   all      launches, copies, fills, flags, printing, memory of the host, streams and host functions
//   fault    a kernel on the last GPU fails while another one runs on the first
//   managed, texture, wait, children   what is not served in several processes
//   launch, data, less  the process that makes the file named by the third word does something else than the others
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>
#include <cuda.h>

#include "../exec/check.h"

enum { N = 5000, MOST = 16 };
static int gpus;

__constant__ int factor;
__device__ int counter;

__global__ void scale(const int *from, int *to, int n, int rounds)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = from[i];
  for (int k = 0; k < rounds; k++) x = x * factor + k;
  to[i] = x;
  if (i % 1000 == 0) printf("%d of %d\n", i, rounds);
}

/* Loads, stores and atomics of memory that is at the host. */
__global__ void at_host(const int *in, int *out, int *sum, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i] ^ i;
  atomicAdd_system(sum, in[i]);
  atomicAdd(&counter, 1);
}

/* A ring of GPUs: each waits for the word of the one before, and adds to it. */
__global__ void ring(volatile int *mine, volatile int *next, int rounds, int first)
{
  for (int i = 1; i <= rounds; i++) {
    if (first) *next = i;
    while (*mine < i) {}
    __threadfence_system();
    if (!first) *next = i;
  }
}

__global__ void fails(int *p) { if (threadIdx.x == 3) p[1 << 28] = 1; }
__global__ void waits(volatile int *p) { while (!*p) {} }
__global__ void reads_texture(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); }

static int after(int x, int f, int rounds)
{
  unsigned y = x;
  for (int k = 0; k < rounds; k++) y = y * f + k;
  return (int)y;
}

static void peers()
{
  for (int d = 0; d < gpus; d++)
    for (int k = 0; k < gpus; k++) {
      CUDA(cudaSetDevice(d));
      if (k != d) CUDA(cudaDeviceEnablePeerAccess(k, 0));
    }
}

/* A kernel on each GPU at the same time, with what goes there and comes back; pageable, 2D, and between GPUs. */
static void kernels()
{
  static int *a[MOST], *b[MOST];
  std::vector<int> h(N), back(N);
  cudaEvent_t begin, end;
  float ms;
  for (int i = 0; i < N; i++) h[i] = i * 7 - 3;
  for (int d = 0; d < gpus; d++) {
    const int f = 3 + d;
    CUDA(cudaSetDevice(d));
    CUDA(cudaMemcpyToSymbol(factor, &f, sizeof f));
    CUDA(cudaMalloc(&a[d], N * sizeof(int)));
    CUDA(cudaMalloc(&b[d], N * sizeof(int)));
    CUDA(cudaMemset(b[d], 0x5a, N * sizeof(int)));
    CUDA(cudaMemcpy(a[d], h.data(), N * sizeof(int), cudaMemcpyHostToDevice));
  }
  for (int d = 0; d < gpus; d++) {
    CUDA(cudaSetDevice(d));
    scale<<<(N + 127) / 128, 128>>>(a[d], b[d], N, 20 + d);
  }
  for (int d = 0; d < gpus; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaEventRecord(begin));
    CUDA(cudaMemcpyPeerAsync(a[(d + 1) % gpus], (d + 1) % gpus, b[d], d, N * sizeof(int)));
    CUDA(cudaEventRecord(end));
    CUDA(cudaEventSynchronize(end));
    CUDA(cudaEventElapsedTime(&ms, begin, end));
    printf("to the next one: %.6f ms\n", ms);
  }
  for (int d = 0; d < gpus; d++) {
    const int from = (d + gpus - 1) % gpus;
    CUDA(cudaMemcpy(back.data(), a[d], N * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < N; i++) CHECK(back[i] == after(h[i], 3 + from, 20 + from));
    CUDA(cudaMemcpy2D(back.data(), 80, b[d], 96, 72, 100, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 100; y++)
      for (int x = 0; x < 18; x++) CHECK(back[20 * y + x] == after(h[24 * y + x], 3 + d, 20 + d));
  }
}

/* Pinned and registered memory. */
static void host_memory()
{
  int *in, *out, *sum, *seen;
  int *own = (int *)malloc(N * sizeof(int));
  CUDA(cudaMallocHost(&in, N * sizeof(int)));
  CUDA(cudaMallocHost(&out, N * sizeof(int)));
  CUDA(cudaMallocHost(&sum, sizeof(int)));
  *sum = 0;
  int want = 0;
  for (int i = 0; i < N; i++) in[i] = i * i, want += i * i;
  for (int d = 0; d < gpus; d++) {
    CUDA(cudaSetDevice(d));
    at_host<<<(N + 255) / 256, 256>>>(in, out, sum, N);
    if (d == 0) CUDA(cudaDeviceSynchronize());
  }
  for (int d = 0; d < gpus; d++) {
    int n;
    CUDA(cudaSetDevice(d));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpyFromSymbol(&n, counter, sizeof n));
    CHECK(n == N);
  }
  for (int i = 0; i < N; i++) CHECK(out[i] == (in[i] ^ i));
  CHECK(*sum == want * gpus);
  CUDA(cudaSetDevice(gpus - 1));
  memset(own, 0, N * sizeof(int));
  CUDA(cudaHostRegister(own, N * sizeof(int), cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer(&seen, own, 0));
  at_host<<<(N + 255) / 256, 256>>>(in, seen, sum, N);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < N; i++) CHECK(own[i] == (in[i] ^ i));
  CUDA(cudaHostUnregister(own));
}

static void flags()
{
  int *word[MOST], end;
  for (int d = 0; d < gpus; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaMalloc(&word[d], 128));
    CUDA(cudaMemset(word[d], 0, 128));
    CUDA(cudaDeviceSynchronize());
  }
  for (int d = 0; d < gpus; d++) {
    CUDA(cudaSetDevice(d));
    ring<<<1, 1>>>(word[d], word[(d + 1) % gpus], 4, d == 0);
  }
  for (int d = 0; d < gpus; d++) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&end, word[d], sizeof end, cudaMemcpyDeviceToHost));
    CHECK(end == 4);
  }
}

static void count(void *n) { ++*(int *)n; }

/* Streams of both ends, a value that one of them waits for, a function of the program. */
static void streams()
{
  cudaStream_t s[2];
  cudaEvent_t there;
  int *p[2], *word, called = 0;
  int *h;
  std::vector<int> back(N);
  CUDA(cudaMallocHost(&h, N * sizeof *h)); /* of pageable memory the call would wait */
  for (int i = 0; i < N; i++) h[i] = 5;
  CUDA(cudaMallocHost(&word, sizeof *word));
  *word = 0;
  for (int i = 0; i < 2; i++) {
    CUDA(cudaSetDevice(i ? gpus - 1 : 0));
    CUDA(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    CUDA(cudaMallocAsync(&p[i], N * sizeof(int), s[i]));
  }
  CHECK(cuStreamWaitValue32(s[0], (CUdeviceptr)word, 7, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  CUDA(cudaSetDevice(0));
  CUDA(cudaMemcpyAsync(p[0], h, N * sizeof(int), cudaMemcpyHostToDevice, s[0]));
  scale<<<2, 128, 0, s[0]>>>(p[0], p[0], 256, 3);
  CUDA(cudaEventCreate(&there));
  CUDA(cudaEventRecord(there, s[0]));
  CUDA(cudaLaunchHostFunc(s[0], count, &called));
  CUDA(cudaSetDevice(gpus - 1));
  CUDA(cudaStreamWaitEvent(s[1], there, 0));
  CUDA(cudaMemcpyAsync(p[1], p[0], N * sizeof(int), cudaMemcpyDefault, s[1]));
  *word = 7;
  CUDA(cudaMemcpyAsync(back.data(), p[1], N * sizeof(int), cudaMemcpyDeviceToHost, s[1]));
  CUDA(cudaStreamSynchronize(s[1]));
  CUDA(cudaStreamSynchronize(s[0]));
  CHECK(called == 1);
  for (int i = 0; i < N; i++) CHECK(back[i] == (i < 256 ? after(5, 3, 3) : 5));
}

static void fault()
{
  int *p, *q;
  CUDA(cudaSetDevice(0));
  CUDA(cudaMalloc(&p, 1 << 20));
  CUDA(cudaMemset(p, 0, 1 << 20));
  CUDA(cudaSetDevice(gpus - 1));
  CUDA(cudaMalloc(&q, 128));
  CUDA(cudaSetDevice(0));
  scale<<<200, 256>>>(p, p, 51200, 2000);
  CUDA(cudaSetDevice(gpus - 1));
  fails<<<1, 32>>>(q);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  CUDA(cudaSetDevice(0));
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

static void managed()
{
  int *p;
  printf("%s\n", cudaGetErrorName(cudaMallocManaged(&p, 128)));
}

static void texture()
{
  cudaTextureObject_t t;
  int *p, *q;
  CUDA(cudaSetDevice(1));
  CUDA(cudaMalloc(&p, 128));
  CUDA(cudaMemset(p, 1, 128));
  CUDA(cudaSetDevice(0));
  CUDA(cudaMalloc(&q, 128));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = p;
  r.res.linear.desc = cudaCreateChannelDesc<int>();
  r.res.linear.sizeInBytes = 128;
  cudaTextureDesc d = {};
  CUDA(cudaCreateTextureObject(&t, &r, &d, NULL));
  reads_texture<<<1, 32>>>(t, q);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

static void wait_for_gpu()
{
  int *p;
  CUDA(cudaMalloc(&p, 128));
  const CUresult r = cuStreamWaitValue32(0, (CUdeviceptr)p, 1, CU_STREAM_WAIT_VALUE_GEQ);
  printf("%s\n", r == CUDA_ERROR_NOT_SUPPORTED ? "refused" : "served");
}

/* True in one of the processes. */
static bool is_odd_one(const char *path)
{
  const int fd = open(path, O_CREAT | O_EXCL, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static void differ(const char *what, bool odd)
{
  int *p, x[32] = {odd && !strcmp(what, "data")};
  CUDA(cudaMalloc(&p, sizeof x));
  if (odd && !strcmp(what, "less")) return;
  CUDA(cudaMemcpy(p, x, sizeof x, cudaMemcpyHostToDevice));
  scale<<<1, 32>>>(p, p, 32, odd && !strcmp(what, "launch") ? 2 : 1);
  CUDA(cudaDeviceSynchronize());
  puts("not seen");
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "all";
  CUDA(cudaGetDeviceCount(&gpus));
  if (!strcmp(what, "managed")) managed();
  else if (!strcmp(what, "wait")) wait_for_gpu();
  else if (!strcmp(what, "fault")) fault();
  else if (argc > 2) differ(what, is_odd_one(argv[2]));
  else if (!strcmp(what, "texture")) peers(), texture();
  else if (!strcmp(what, "all")) {
    kernels(); /* between GPUs through the host */
    peers();
    kernels();
    host_memory();
    flags();
    streams();
    printf("%d GPUs: right\n", gpus);
  }
  return 0;
}
