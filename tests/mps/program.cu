/* Clients of the Multi-Process Service (exec --share mps): processes whose kernels are on one GPU at the same time. Each prints a
 * line "WHICH: …" of what it measured or found; tests/mps/run.sh compares these with formulas.
 *
 *   program spin N CTAS US              N processes, each with a kernel of CTAS CTAs, one for an SM, that spins US microseconds:
 *                                       how long
 *   program ladder N CTAS US            N processes, whose kernels of CTAS CTAs fit together on an SM and spin US microseconds, twice
 *                                       as long, three times …
 *   program priority CTAS US            two, the first with a priority below normal and twice as many CTAs, the second behind a
 *                                       copy of some five microseconds: how long with that copy
 *   program read N MIB                  N processes that each read MIB MiB of their own: how long
 *   program copy N MIB                  … that each copy MIB MiB of pinned memory to the device, at the same time
 *   program values                      two processes: sums over memory of all kinds, a copy of each kind, printf, malloc
 *   program fault                       three processes: the second writes to memory of the first; the third comes too late
 *   program memory                      two processes that want more memory together than the GPU has
 *   program clients N                   N processes at once
 *   program context                     contexts with a number of SMs
 */
#include <string>
#include <vector>
#include <dlfcn.h>
#include <cuda.h>
#include "processes.h"

#define DRIVER(x)                                                                                               \
  do {                                                                                                          \
    CUresult e_ = (x);                                                                                          \
    if (e_ != CUDA_SUCCESS) { printf("line %d: error %d\n", __LINE__, (int)e_); fflush(stdout); exit(1); }        \
  } while (0)

__global__ void spin(long long cycles, int *ctas)
{
  const long long start = clock64();
  while (clock64() - start < cycles) continue;
  if (threadIdx.x == 0) atomicAdd(ctas, 1);
}

__global__ void read(const float4 *from, size_t n, float *to)
{
  float sum = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x)
    sum += from[i].x + from[i].y + from[i].z + from[i].w;
  if (sum == 1) *to = sum;
}

/* CTAs that take so much shared memory that an SM holds one. */
static void spin_on(int ctas, double us, int khz, int *done)
{
  const int bytes = 64 << 10;
  CHECK(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  spin<<<ctas, 32, bytes>>>((long long)(us * khz / 1000), done);
}

static int spin_for(int which, const struct start *s, int ctas, double us, size_t copied)
{
  int *done, khz, host = 0;
  char *from, *to;
  cudaEvent_t a, b;
  float took;
  CHECK(cudaMalloc(&done, sizeof *done));
  CHECK(cudaMalloc(&to, 1 << 20));
  CHECK(cudaMallocHost(&from, 1 << 20));
  CHECK(cudaMemset(done, 0, sizeof *done));
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  CHECK(cudaDeviceSynchronize());
  meet(s);
  CHECK(cudaEventRecord(a));
  if (copied) CHECK(cudaMemcpyAsync(to, from, copied, cudaMemcpyHostToDevice));
  spin_on(ctas, us, khz, done);
  CHECK(cudaEventRecord(b));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventElapsedTime(&took, a, b));
  CHECK(cudaMemcpy(&host, done, sizeof host, cudaMemcpyDeviceToHost));
  printf("%d: %.2f us, %d\n", which, took * 1000, host);
  return 0;
}

static int one_of_a_ladder(int which, const struct start *s, int ctas, int us)
{
  int *done, khz;
  CHECK(cudaMalloc(&done, sizeof *done));
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  CHECK(cudaDeviceSynchronize());
  meet(s);
  spin<<<ctas, 32>>>((long long)(which + 1) * us * khz / 1000, done);
  CHECK(cudaDeviceSynchronize());
  return 0;
}

static int read_mib(int which, const struct start *s, int mib)
{
  const size_t bytes = (size_t)mib << 20;
  float4 *from;
  float *to;
  cudaEvent_t a, b;
  float took;
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, sizeof *to));
  CHECK(cudaMemset(from, 0, bytes));
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  CHECK(cudaDeviceSynchronize());
  meet(s);
  CHECK(cudaEventRecord(a));
  read<<<46, 512>>>(from, bytes / sizeof *from, to);
  CHECK(cudaEventRecord(b));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventElapsedTime(&took, a, b));
  printf("%d: %.2f us\n", which, took * 1000);
  return 0;
}

static int copy_mib(int which, const struct start *s, int mib)
{
  const size_t bytes = (size_t)mib << 20;
  char *from, *to;
  cudaEvent_t a, b;
  float took;
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMallocHost(&from, bytes));
  memset(from, which + 1, bytes);
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  CHECK(cudaDeviceSynchronize());
  meet(s);
  CHECK(cudaEventRecord(a));
  CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaEventRecord(b));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventElapsedTime(&took, a, b));
  std::vector<char> back(bytes);
  CHECK(cudaMemcpy(back.data(), to, bytes, cudaMemcpyDeviceToHost));
  printf("%d: %.2f us, %s\n", which, took * 1000, memcmp(back.data(), from, bytes) ? "wrong" : "right");
  return 0;
}

__constant__ int factor;

__global__ void combine(const int *a, const int *b, const int *c, int *out, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int *mine = (int *)malloc(sizeof *mine);
  if (!mine) return;
  *mine = a[i] + b[i] + c[i];
  if (i < n) out[i] = factor * *mine;
  free(mine);
  if (i == n - 1) printf("kernel of factor %d\n", factor);
}

static int values(int which, const struct start *s)
{
  const int n = 1 << 12, f = which + 3;
  std::vector<int> a(n), out(n), registered(n);
  int *da, *pinned, *managed, *result, wrong = 0;
  for (int i = 0; i < n; i++) a[i] = i * (which + 1), registered[i] = i ^ which;
  CHECK(cudaMalloc(&da, n * sizeof(int)));
  CHECK(cudaMalloc(&result, n * sizeof(int)));
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  CHECK(cudaMallocManaged(&managed, n * sizeof(int)));
  for (int i = 0; i < n; i++) pinned[i] = 7 * i + which, managed[i] = registered[i];
  CHECK(cudaMemcpyToSymbol(factor, &f, sizeof f));
  meet(s);
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  combine<<<n / 128, 128>>>(da, pinned, managed, result, n);
  CHECK(cudaMemcpy(out.data(), result, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) wrong += out[i] != f * (a[i] + pinned[i] + managed[i]);
  CHECK(cudaFree(da));
  printf("%d: %d wrong\n", which, wrong);
  return wrong != 0;
}

__global__ void poke(int *p)
{
  *p = 1;
}

/* The second process knows an address of the first one. */
static int fault()
{
  int address[2], gone[2], late[2], status, bad = 0, *p = nullptr, value = 0;
  char word = 'x';
  if (pipe(address) || pipe(gone) || pipe(late)) return 1;
  if (fork() == 0) {
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 0, sizeof *p));
    CHECK(cudaDeviceSynchronize());
    if (write(address[1], &p, sizeof p) != sizeof p || read(gone[0], &word, 1) != 1) exit(1);
    printf("0: %s\n", cudaGetErrorName(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost)));
    fflush(stdout);
    if (write(late[1], &word, 1) != 1 || read(gone[0], &word, 1) != 1) exit(1);
    exit(0);
  }
  if (fork() == 0) {
    CHECK(cudaFree(0));
    if (read(address[0], &p, sizeof p) != sizeof p) exit(1);
    poke<<<1, 1>>>(p);
    printf("1: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    fflush(stdout);
    if (write(gone[1], &word, 1) != 1) exit(1);
    _exit(0);
  }
  if (fork() == 0) {
    if (read(late[0], &word, 1) != 1) exit(1);
    printf("2: %s\n", cudaGetErrorName(cudaFree(0)));
    fflush(stdout);
    exit(write(gone[1], &word, 1) != 1);
  }
  for (int i = 0; i < 3; i++) bad |= wait(&status) < 0 || status != 0;
  if (fork() == 0) {
    printf("3: %s\n", cudaGetErrorName(cudaFree(0)));
    fflush(stdout);
    exit(0);
  }
  return bad | (wait(&status) < 0 || status != 0);
}

/* The first has its memory when the second asks, and until that has had its answer. */
static int memory(int which, const struct start *s, const int answered[2])
{
  void *p = nullptr;
  size_t left, all;
  char word = 'x';
  cudaError_t e = cudaSuccess;
  CHECK(cudaMemGetInfo(&left, &all));
  if (which == 0) e = cudaMalloc(&p, all / 2);
  meet(s);
  if (which == 1) e = cudaMalloc(&p, all / 4 * 3);
  CHECK(cudaMemGetInfo(&left, &all));
  printf("%d: %s, %.0f %% left\n", which, cudaGetErrorName(e), 100.0 * left / all);
  fflush(stdout);
  return which ? write(answered[1], &word, 1) != 1 : read(answered[0], &word, 1) != 1;
}

static int both_want_memory()
{
  int answered[2];
  if (pipe(answered)) return 1;
  return processes(2, [&](int i, const struct start *s) { return memory(i, s, answered); });
}

static int client(int which, const struct start *s)
{
  const cudaError_t e = cudaFree(0);
  meet(s);
  if (e) printf("%s\n", cudaGetErrorName(e));
  return 0;
}

static CUresult create_limited(CUcontext *c, CUexecAffinityParam *p, CUdevice d)
{
#if CUDA_VERSION >= 13000
  CUctxCreateParams how = {};
  how.execAffinityParams = p;
  how.numExecAffinityParams = 1;
  return cuCtxCreate(c, &how, 0, d);
#else
  return cuCtxCreate_v3(c, p, 1, 0, d);
#endif
}

static int context()
{
  CUdevice d;
  int supported, sms, *done, khz;
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&d, 0));
  DRIVER(cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, d));
  DRIVER(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d));
  printf("supported %d, %d SMs\n", supported, sms);
  for (unsigned n : {10u, 1000u}) {
    CUcontext c;
    CUexecAffinityParam p = {}, got = {};
    cudaEvent_t a, b;
    float took;
    p.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
    p.param.smCount.val = n;
    DRIVER(create_limited(&c, &p, d));
    DRIVER(cuCtxGetExecAffinity(&got, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    CHECK(cudaMalloc(&done, sizeof *done));
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    CHECK(cudaEventRecord(a));
    spin_on(20, 10, khz, done);
    CHECK(cudaEventRecord(b));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventElapsedTime(&took, a, b));
    printf("asked for %u, has %u, %.2f us\n", n, got.param.smCount.val, took * 1000);
    DRIVER(cuCtxDestroy(c));
  }
  return 0;
}

/* What NVML says of both while both are there: a line of each, with what each client has in MiB, the smaller first. */
static int nvml(int which, const struct start *s)
{
  struct info {
    unsigned pid;
    unsigned long long used;
    unsigned gpu, compute;
  } list[48];
  typedef int lists(void *, unsigned *, info *);
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW), *gpu;
  if (!library) return 1;
  const auto init = (int (*)())dlsym(library, "nvmlInit_v2");
  const auto handle = (int (*)(unsigned, void **))dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
  const auto memory = (int (*)(void *, unsigned long long[3]))dlsym(library, "nvmlDeviceGetMemoryInfo");
  const auto clients = (lists *)dlsym(library, "nvmlDeviceGetMPSComputeRunningProcesses_v3");
  const auto compute = (lists *)dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
  unsigned n = 0, m = 48;
  unsigned long long all[3];
  void *mine;
  CHECK(cudaMalloc(&mine, (size_t)(which ? 32 : 16) << 20));
  if (init() || handle(0, &gpu)) return 1;
  meet(s);
  const int none = clients(gpu, &n, list), got = clients(gpu, &m, list);
  if (none != 7 || got || n != 2 || m != 2) return printf("%d: %d of %u, %d of %u\n", which, none, n, got, m), 1;
  const info *own = list[0].pid == (unsigned)getpid() ? &list[0] : &list[1], *other = own == list ? &list[1] : list;
  if (own->pid != (unsigned)getpid() || other->pid == own->pid || own->gpu != ~0u) return printf("%d: pids\n", which), 1;
  const unsigned long long first = which ? other->used : own->used, second = which ? own->used : other->used;
  if (memory(gpu, all) || all[2] != first + second) return printf("%d: memory\n", which), 1;
  m = 48;
  if (compute(gpu, &m, list) || m != 1 || list[0].pid == (unsigned)getpid()) return printf("%d: compute\n", which), 1;
  printf("%d: %llu and %llu MiB\n", which, first >> 20, second >> 20);
  fflush(stdout);
  meet_again(s);
  return 0;
}

int main(int argc, char **argv)
{
  const std::string what = argc > 1 ? argv[1] : "";
  const int n = argc > 2 ? atoi(argv[2]) : 0, x = argc > 3 ? atoi(argv[3]) : 0;
  const double us = argc > 4 ? atof(argv[4]) : 0;
  if (what == "spin") return processes(n, [=](int i, const struct start *s) { return spin_for(i, s, x, us, 0); });
  if (what == "priority")
    return processes(2, [=](int i, const struct start *s) {
      setenv("CUDA_MPS_CLIENT_PRIORITY", i ? "0" : "1", 1);
      return spin_for(i, s, i ? n : 2 * n, x, i ? 96 << 10 : 0);
    });
  if (what == "ladder") return processes(n, [=](int i, const struct start *s) { return one_of_a_ladder(i, s, x, (int)us); });
  if (what == "read") return processes(n, [=](int i, const struct start *s) { return read_mib(i, s, x); });
  if (what == "copy") return processes(n, [=](int i, const struct start *s) { return copy_mib(i, s, x); });
  if (what == "values") return processes(2, values);
  if (what == "fault") return fault();
  if (what == "memory") return both_want_memory();
  if (what == "clients") return processes(n, client);
  if (what == "context") return context();
  if (what == "nvml") return processes(2, nvml, true);
  return 2;
}
