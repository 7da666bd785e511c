// Windows of L2: which lines are still there behind a stream of twice L2's size follows from the set-aside, the
// window's properties and its ratio. A load that hits L2 is told from one that does not by its time, which the program
// measures first. Then the size of what DRAM is asked for.
#include <cmath>
#include <vector>

#include "check.h"

static const int LINE = 128, N = 2048; // lines of the window: 256 KiB
static const size_t WINDOW = (size_t)N * LINE;

// A thread loads one word of each line, past L1, one after the other: how many came in less than `limit` cycles; the
// least and the most that one took.
struct found {
  int hits;
  long long least, most;
};

__global__ void look(const int *p, int n, int stride, long long limit, found *f)
{
  __shared__ volatile int sink; // storing a word waits for it
  *f = found{0, 1 << 30, 0};
  for (int i = 0; i < n; i++) {
    long long begin = clock64();
    sink = __ldcg(p + (size_t)i * stride);
    long long took = clock64() - begin;
    f->hits += took < limit;
    if (took < f->least) f->least = took;
    if (took > f->most) f->most = took;
  }
}

// Loads a word of each line.
__global__ void touch(const int *p, int lines, int *out)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < lines && __ldcg(p + (size_t)i * (LINE / 4)) == 12345) *out = 1;
}

static int *memory, *others, *out;
static found *f;
static size_t n_others; // lines
static long long limit;

static int hits(const int *p, int n, int stride)
{
  look<<<1, 1>>>(p, n, stride, limit, f);
  CUDA(cudaDeviceSynchronize());
  return f->hits;
}

static void pass(cudaStream_t s = 0)
{
  touch<<<(unsigned)(n_others / 256), 256, 0, s>>>(others, (int)n_others, out);
  CUDA(cudaDeviceSynchronize());
}

static cudaStreamAttrValue window(float ratio, cudaAccessProperty hit, cudaAccessProperty miss, void *base, size_t bytes)
{
  cudaStreamAttrValue v = {};
  v.accessPolicyWindow.base_ptr = base;
  v.accessPolicyWindow.num_bytes = bytes;
  v.accessPolicyWindow.hitRatio = ratio;
  v.accessPolicyWindow.hitProp = hit;
  v.accessPolicyWindow.missProp = miss;
  return v;
}

static void touch_in(cudaStream_t s)
{
  touch<<<N / 256, 256, 0, s>>>(memory, N, out);
  CUDA(cudaDeviceSynchronize());
}

// What is left of the window, touched in a stream with this attribute, behind the others.
static int left(cudaStream_t s, cudaStreamAttrValue v)
{
  CUDA(cudaCtxResetPersistingL2Cache());
  pass();
  CUDA(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
  touch_in(s);
  pass();
  return hits(memory, N, LINE / 4);
}

static void expect(const char *what, int got, double want, double give)
{
  printf("%-58s %5d lines of %d\n", what, got, N);
  CHECK(fabs(got - want) <= give);
}

static void by_launch(cudaStreamAttrValue v)
{
  cudaLaunchAttribute a = {};
  cudaLaunchConfig_t c = {};
  a.id = cudaLaunchAttributeAccessPolicyWindow;
  a.val.accessPolicyWindow = v.accessPolicyWindow;
  c.gridDim = N / 256, c.blockDim = 256, c.attrs = &a, c.numAttrs = 1;
  pass();
  CUDA(cudaLaunchKernelEx(&c, touch, (const int *)memory, N, out));
  pass();
}

static void by_graph(cudaStream_t s, cudaStreamAttrValue v, bool node)
{
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaGraphNode_t n;
  size_t nodes = 1;
  cudaStreamAttrValue none = {}, back = {};
  pass();
  CUDA(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, node ? &none : &v));
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  touch<<<N / 256, 256, 0, s>>>(memory, N, out);
  CUDA(cudaStreamEndCapture(s, &g));
  CUDA(cudaGraphGetNodes(g, &n, &nodes));
  if (node) CUDA(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeAccessPolicyWindow, &v));
  CUDA(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributeAccessPolicyWindow, &back));
  CHECK(back.accessPolicyWindow.num_bytes == WINDOW);
  CUDA(cudaGraphInstantiate(&x, g, 0));
  CUDA(cudaGraphLaunch(x, 0));
  CUDA(cudaDeviceSynchronize());
  pass();
  CUDA(cudaGraphExecDestroy(x));
  CUDA(cudaGraphDestroy(g));
}

static void residency(const cudaDeviceProp &prop)
{
  const auto persist = cudaAccessPropertyPersisting, normal = cudaAccessPropertyNormal,
             streaming = cudaAccessPropertyStreaming;
  const double sigma = sqrt(N) / 2;
  const cudaStreamAttrValue all = window(1, persist, streaming, memory, WINDOW), none = {};
  cudaStream_t s;
  size_t aside = 0;
  CUDA(cudaStreamCreate(&s));
  CUDA(cudaDeviceGetLimit(&aside, cudaLimitPersistingL2CacheSize));
  CHECK(aside == 0);
  expect("nothing set aside", left(s, all), 0, 0);
  CUDA(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 2 * (size_t)prop.l2CacheSize));
  CUDA(cudaDeviceGetLimit(&aside, cudaLimitPersistingL2CacheSize));
  CHECK(aside == (size_t)prop.persistingL2CacheMaxSize);
  CUDA(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 4 * WINDOW));
  expect("no window", left(s, none), 0, 0);
  expect("all persist", left(s, all), N, 0);
  CUDA(cudaCtxResetPersistingL2Cache());
  pass();
  expect("... until they are reset", hits(memory, N, LINE / 4), 0, 0);
  expect("half of them persist", left(s, window(0.5f, persist, streaming, memory, WINDOW)), N / 2, 4 * sigma);
  expect("a quarter, the others are normal", left(s, window(0.25f, persist, normal, memory, WINDOW)), N / 4,
         4 * sigma);
  expect("the first half is in the window", left(s, window(1, persist, streaming, memory, WINDOW / 2)), N / 2, 0);
  left(s, all);
  cudaStreamAttrValue back = window(1, normal, normal, memory, WINDOW);
  CUDA(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &back));
  touch_in(s);
  pass();
  expect("touched again as normal ones", hits(memory, N, LINE / 4), 0, 0);
  by_launch(all);
  expect("said by the launch", hits(memory, N, LINE / 4), N, 0);
  CUDA(cudaCtxResetPersistingL2Cache());
  by_graph(s, all, false);
  expect("said by a stream that is captured", hits(memory, N, LINE / 4), N, 0);
  CUDA(cudaCtxResetPersistingL2Cache());
  by_graph(s, all, true);
  expect("said by a node of a graph", hits(memory, N, LINE / 4), N, 0);
  CUDA(cudaCtxResetPersistingL2Cache());
  // What streams by leaves first: it takes one way of each set and leaves the others.
  cudaStreamAttrValue leave = window(1, streaming, streaming, others, n_others * LINE);
  CUDA(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &leave));
  pass();
  touch_in(0);
  pass(s);
  expect("normal lines, others stream", hits(memory, N, LINE / 4), N, 0);
  CUDA(cudaStreamDestroy(s));
}

// Bytes that come from DRAM with a missed sector.
static void granularity()
{
  const size_t ask[] = {0, 32, 33, 64, 128, 4096}, have[] = {32, 32, 64, 64, 128, 128};
  for (int i = 0; i < 6; i++) {
    size_t is = 0;
    CUDA(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, ask[i]));
    CUDA(cudaDeviceGetLimit(&is, cudaLimitMaxL2FetchGranularity));
    CHECK(is == have[i]);
    pass();
    CHECK(hits(memory, N, LINE / 4) == 0);
    for (unsigned sector = 1; sector < 4; sector++) {
      const bool there = have[i] == 128 || (have[i] == 64 && sector == 3); // with the first, or with the third
      int got = hits(memory + sector * 8, N, LINE / 4);
      CHECK(got == (have[i] == 64 && sector == 1 ? N : there ? N : 0));
    }
  }
}

int main()
{
  cudaDeviceProp prop;
  CUDA(cudaGetDeviceProperties(&prop, 0));
  n_others = 2 * (size_t)prop.l2CacheSize / LINE;
  CUDA(cudaMalloc(&memory, WINDOW));
  CUDA(cudaMalloc(&others, n_others * LINE));
  CUDA(cudaMalloc(&out, sizeof *out));
  CUDA(cudaMallocManaged(&f, sizeof *f));
  hits(memory, N, LINE / 4); // TLBs, code
  pass();
  hits(memory, N, LINE / 4);
  const long long miss = f->least;
  hits(memory, N, LINE / 4);
  const long long hit = f->most;
  limit = (hit + miss) / 2;
  printf("a hit takes up to %lld cycles, a miss %lld or more\n", hit, miss);
  CHECK(hit < miss);
  residency(prop);
  granularity();
  return 0;
}
