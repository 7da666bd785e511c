/* Contexts of one process on one GPU, which have it in turns. Kernels spin for as many cycles as they are told; each context has a stream of
 * its own. Memory that all of them see is portable memory of the host.
 *
 *   contexts pair MS MS...   context 0 is the primary one, the others are made; a kernel in each, started together
 *   contexts flag            a kernel in one context waits for a flag that one of another context sets
 *   contexts green MS        the primary context and a green one: at once
 *   contexts fault           a kernel of one faults while another one's spins
 *   contexts copies MS       copies of the primary context while a kernel of another one spins
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(x)                                                                                     \
  do {                                                                                               \
    cudaError_t e_ = (x);                                                                            \
    if (e_ != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); exit(1); }   \
  } while (0)
#define CU(x)                                                                                        \
  do {                                                                                               \
    CUresult e_ = (x);                                                                               \
    if (e_ != CUDA_SUCCESS) { printf("line %d: %d\n", __LINE__, (int)e_); exit(1); }                 \
  } while (0)

__global__ void spin(long long cycles, int *done)
{
  const long long start = clock64();
  while (clock64() - start < cycles) continue;
  *done = 1;
}

__global__ void wait_for(volatile int *flag, int *done)
{
  while (!*flag) continue;
  *done = 1;
}

__global__ void fault(int *p)
{
  *p = 1;
}

struct place {
  CUcontext context;
  cudaStream_t stream;
  cudaEvent_t begin, end;
};

static int khz;
static int *flags;

static place own(CUcontext c)
{
  place p = {c, NULL, NULL, NULL};
  CU(cuCtxSetCurrent(c));
  CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&p.begin));
  CHECK(cudaEventCreate(&p.end));
  return p;
}

static std::vector<place> places(int n)
{
  std::vector<place> all;
  CUcontext c;
  for (int i = 0; i < n; i++) {
    if (i == 0) CU(cuDevicePrimaryCtxRetain(&c, 0));
    else CU(cuCtxCreate(&c, NULL, 0, 0));
    all.push_back(own(c));
  }
  return all;
}

static void start(const place &p, double ms, int *done)
{
  CU(cuCtxSetCurrent(p.context));
  CHECK(cudaEventRecord(p.begin, p.stream));
  spin<<<1, 32, 0, p.stream>>>((long long)(ms * khz), done);
  CHECK(cudaEventRecord(p.end, p.stream));
}

static float took(const place &p)
{
  float ms;
  CU(cuCtxSetCurrent(p.context));
  CHECK(cudaStreamSynchronize(p.stream));
  CHECK(cudaEventElapsedTime(&ms, p.begin, p.end));
  return ms;
}

static int pair(int n, char **ms)
{
  std::vector<place> all = places(n);
  for (int i = 0; i < n; i++) start(all[i], atof(ms[i]), flags + i);
  for (int i = 0; i < n; i++) {
    const float t = took(all[i]);
    printf("context %d: %.1f ms, %d\n", i, t, flags[i]);
  }
  return 0;
}

static int flag()
{
  std::vector<place> all = places(2);
  CU(cuCtxSetCurrent(all[0].context));
  wait_for<<<1, 1, 0, all[0].stream>>>(flags, flags + 1);
  start(all[1], 0.01, flags);
  took(all[1]);
  CU(cuCtxSetCurrent(all[0].context));
  CHECK(cudaStreamSynchronize(all[0].stream));
  printf("flags %d %d\n", flags[0], flags[1]);
  return 0;
}

static int green(double ms)
{
  std::vector<place> all = places(1);
  CUdevResource sms, part;
  CUdevResourceDesc description;
  CUgreenCtx g;
  CUcontext c;
  unsigned groups = 1;
  CU(cuDeviceGetDevResource(0, &sms, CU_DEV_RESOURCE_TYPE_SM));
  CU(cuDevSmResourceSplitByCount(&part, &groups, &sms, NULL, 0, 8));
  CU(cuDevResourceGenerateDesc(&description, &part, 1));
  CU(cuGreenCtxCreate(&g, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  CU(cuCtxFromGreenCtx(&c, g));
  all.push_back(own(c));
  all.push_back(places(2)[1]); // another context, which does nothing
  start(all[0], ms, flags);
  start(all[1], ms, flags + 1);
  const float whole = took(all[0]), of_green = took(all[1]);
  printf("primary %.1f ms, %d\ngreen %.1f ms, %d\n", whole, flags[0], of_green, flags[1]);
  return 0;
}

static int faults()
{
  std::vector<place> all = places(2);
  start(all[0], 1e6, flags);
  CU(cuCtxSetCurrent(all[1].context));
  fault<<<1, 1, 0, all[1].stream>>>((int *)8);
  CU(cuCtxSetCurrent(all[0].context));
  printf("beside it: %s\n", cudaGetErrorName(cudaStreamSynchronize(all[0].stream)));
  cuCtxSetCurrent(all[1].context);
  printf("fault: %s\n", cudaGetErrorName(cudaStreamSynchronize(all[1].stream)));
  return 0;
}

static int copies(double ms)
{
  enum { BYTES = 8 << 20 };
  std::vector<place> all = places(2);
  char *here, *there;
  int same = 0;
  CU(cuCtxSetCurrent(all[0].context));
  CHECK(cudaHostAlloc(&here, 2 * BYTES, cudaHostAllocPortable));
  CHECK(cudaMalloc(&there, BYTES));
  memset(here, 7, BYTES);
  start(all[1], ms, flags);
  CU(cuCtxSetCurrent(all[0].context));
  CHECK(cudaEventRecord(all[0].begin, all[0].stream));
  CHECK(cudaMemcpyAsync(there, here, BYTES, cudaMemcpyHostToDevice, all[0].stream));
  CHECK(cudaMemcpyAsync(here + BYTES, there, BYTES, cudaMemcpyDeviceToHost, all[0].stream));
  CHECK(cudaEventRecord(all[0].end, all[0].stream));
  const float t = took(all[0]), of_kernel = took(all[1]);
  for (int i = 0; i < BYTES; i++) same += here[BYTES + i] == 7;
  printf("copies %s, %d\n", t < 2 ? "beside the kernel" : "late", same == BYTES);
  printf("kernel %.1f ms, %d\n", of_kernel, flags[0]);
  return 0;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  CHECK(cudaHostAlloc(&flags, 4096, cudaHostAllocPortable));
  memset(flags, 0, 4096);
  if (!strcmp(what, "pair")) return pair(argc - 2, argv + 2);
  if (!strcmp(what, "flag")) return flag();
  if (!strcmp(what, "green")) return green(atof(argv[2]));
  if (!strcmp(what, "fault")) return faults();
  return copies(atof(argv[2]));
}
