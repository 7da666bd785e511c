// What a machine of several GPUs does, for runs in one process and in several (run.sh): all that passes between GPUs and
// their host, with values that are computed on the host, and times. The second word of the command line says what:
//   all      launches, copies, fills, flags, printing, memory of the host, streams and host functions
//   fault    a kernel on the last GPU fails while another one runs on the first
//   managed, texture, wait, children   what is not served in several processes
//   launch, data, less  the process that makes the file named by the third word does something else than the others
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>
#include <cuda.h>

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
      OK(cudaSetDevice(d));
      if (k != d) OK(cudaDeviceEnablePeerAccess(k, 0));
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
    OK(cudaSetDevice(d));
    OK(cudaMemcpyToSymbol(factor, &f, sizeof f));
    OK(cudaMalloc(&a[d], N * sizeof(int)));
    OK(cudaMalloc(&b[d], N * sizeof(int)));
    OK(cudaMemset(b[d], 0x5a, N * sizeof(int)));
    OK(cudaMemcpy(a[d], h.data(), N * sizeof(int), cudaMemcpyHostToDevice));
  }
  for (int d = 0; d < gpus; d++) {
    OK(cudaSetDevice(d));
    scale<<<(N + 127) / 128, 128>>>(a[d], b[d], N, 20 + d);
  }
  for (int d = 0; d < gpus; d++) {
    OK(cudaSetDevice(d));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin));
    OK(cudaMemcpyPeerAsync(a[(d + 1) % gpus], (d + 1) % gpus, b[d], d, N * sizeof(int)));
    OK(cudaEventRecord(end));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    printf("to the next one: %.6f ms\n", ms);
  }
  for (int d = 0; d < gpus; d++) {
    const int from = (d + gpus - 1) % gpus;
    OK(cudaMemcpy(back.data(), a[d], N * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < N; i++) CHECK(back[i] == after(h[i], 3 + from, 20 + from));
    OK(cudaMemcpy2D(back.data(), 80, b[d], 96, 72, 100, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 100; y++)
      for (int x = 0; x < 18; x++) CHECK(back[20 * y + x] == after(h[24 * y + x], 3 + d, 20 + d));
  }
}

/* Pinned and registered memory. */
static void host_memory()
{
  int *in, *out, *sum, *seen;
  int *own = (int *)malloc(N * sizeof(int));
  OK(cudaMallocHost(&in, N * sizeof(int)));
  OK(cudaMallocHost(&out, N * sizeof(int)));
  OK(cudaMallocHost(&sum, sizeof(int)));
  *sum = 0;
  int want = 0;
  for (int i = 0; i < N; i++) in[i] = i * i, want += i * i;
  for (int d = 0; d < gpus; d++) {
    OK(cudaSetDevice(d));
    at_host<<<(N + 255) / 256, 256>>>(in, out, sum, N);
    if (d == 0) OK(cudaDeviceSynchronize());
  }
  for (int d = 0; d < gpus; d++) {
    int n;
    OK(cudaSetDevice(d));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&n, counter, sizeof n));
    CHECK(n == N);
  }
  for (int i = 0; i < N; i++) CHECK(out[i] == (in[i] ^ i));
  CHECK(*sum == want * gpus);
  OK(cudaSetDevice(gpus - 1));
  memset(own, 0, N * sizeof(int));
  OK(cudaHostRegister(own, N * sizeof(int), cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&seen, own, 0));
  at_host<<<(N + 255) / 256, 256>>>(in, seen, sum, N);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < N; i++) CHECK(own[i] == (in[i] ^ i));
  OK(cudaHostUnregister(own));
}

static void flags()
{
  int *word[MOST], end;
  for (int d = 0; d < gpus; d++) {
    OK(cudaSetDevice(d));
    OK(cudaMalloc(&word[d], 128));
    OK(cudaMemset(word[d], 0, 128));
    OK(cudaDeviceSynchronize());
  }
  for (int d = 0; d < gpus; d++) {
    OK(cudaSetDevice(d));
    ring<<<1, 1>>>(word[d], word[(d + 1) % gpus], 4, d == 0);
  }
  for (int d = 0; d < gpus; d++) {
    OK(cudaSetDevice(d));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&end, word[d], sizeof end, cudaMemcpyDeviceToHost));
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
  OK(cudaMallocHost(&h, N * sizeof *h)); /* of pageable memory the call would wait */
  for (int i = 0; i < N; i++) h[i] = 5;
  OK(cudaMallocHost(&word, sizeof *word));
  *word = 0;
  for (int i = 0; i < 2; i++) {
    OK(cudaSetDevice(i ? gpus - 1 : 0));
    OK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    OK(cudaMallocAsync(&p[i], N * sizeof(int), s[i]));
  }
  CHECK(cuStreamWaitValue32(s[0], (CUdeviceptr)word, 7, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  OK(cudaSetDevice(0));
  OK(cudaMemcpyAsync(p[0], h, N * sizeof(int), cudaMemcpyHostToDevice, s[0]));
  scale<<<2, 128, 0, s[0]>>>(p[0], p[0], 256, 3);
  OK(cudaEventCreate(&there));
  OK(cudaEventRecord(there, s[0]));
  OK(cudaLaunchHostFunc(s[0], count, &called));
  OK(cudaSetDevice(gpus - 1));
  OK(cudaStreamWaitEvent(s[1], there, 0));
  OK(cudaMemcpyAsync(p[1], p[0], N * sizeof(int), cudaMemcpyDefault, s[1]));
  *word = 7;
  OK(cudaMemcpyAsync(back.data(), p[1], N * sizeof(int), cudaMemcpyDeviceToHost, s[1]));
  OK(cudaStreamSynchronize(s[1]));
  OK(cudaStreamSynchronize(s[0]));
  CHECK(called == 1);
  for (int i = 0; i < N; i++) CHECK(back[i] == (i < 256 ? after(5, 3, 3) : 5));
}

static void fault()
{
  int *p, *q;
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&p, 1 << 20));
  OK(cudaMemset(p, 0, 1 << 20));
  OK(cudaSetDevice(gpus - 1));
  OK(cudaMalloc(&q, 128));
  OK(cudaSetDevice(0));
  scale<<<200, 256>>>(p, p, 51200, 2000);
  OK(cudaSetDevice(gpus - 1));
  fails<<<1, 32>>>(q);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  OK(cudaSetDevice(0));
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
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&p, 128));
  OK(cudaMemset(p, 1, 128));
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&q, 128));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = p;
  r.res.linear.desc = cudaCreateChannelDesc<int>();
  r.res.linear.sizeInBytes = 128;
  cudaTextureDesc d = {};
  OK(cudaCreateTextureObject(&t, &r, &d, NULL));
  reads_texture<<<1, 32>>>(t, q);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

static void wait_for_gpu()
{
  int *p;
  OK(cudaMalloc(&p, 128));
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
  OK(cudaMalloc(&p, sizeof x));
  if (odd && !strcmp(what, "less")) return;
  OK(cudaMemcpy(p, x, sizeof x, cudaMemcpyHostToDevice));
  scale<<<1, 32>>>(p, p, 32, odd && !strcmp(what, "launch") ? 2 : 1);
  OK(cudaDeviceSynchronize());
  puts("not seen");
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "all";
  OK(cudaGetDeviceCount(&gpus));
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
