// Green contexts: the sizes of groups as documented, on which SMs kernels of their streams run, and what asks for SMs.
#include <cooperative_groups.h>

#include "green.h"

static unsigned *sm;
static unsigned room;
static int major_of, sms;

// NVIDIA CUDA Driver API, "Green Contexts": least count and multiple for each compute architecture.
static unsigned least() { return major_of >= 9 ? 8 : major_of == 8 ? 4 : 2; }
static unsigned multiple() { return major_of >= 9 ? 8 : 2; }

static void sizes()
{
  CUdevResource all, part[8], rest;
  CU(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
  check(all.sm.smCount == (unsigned)sms, "all SMs");
  check(all.sm.minSmPartitionSize == least() && all.sm.smCoscheduledAlignment == multiple(), "its grain");
  unsigned n = 1;
  CU(cuDevSmResourceSplitByCount(part, &n, &all, &rest, 0, 1));
  check(n == 1 && part[0].sm.smCount == least() && rest.sm.smCount == sms - least(), "the smallest group");
  n = 2;
  CU(cuDevSmResourceSplitByCount(part, &n, &all, &rest, 0, 11));
  unsigned size = (11 + multiple() - 1) / multiple() * multiple();
  check(n == 2 && part[1].sm.smCount == size && rest.sm.smCount == sms - 2 * size, "eleven SMs are rounded up");
  n = 0;
  CU(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 0, 0));
  check(n >= 1 && n <= sms / least(), "how many groups there would be");

  check(cuDevSmResourceSplitByCount(part, &n, &all, &rest, 0, sms + 1) == CUDA_ERROR_INVALID_VALUE, "more than all");
  check(cuDevSmResourceSplitByCount(part, NULL, &all, &rest, 0, 8) == CUDA_ERROR_INVALID_VALUE, "no count");
  check(cuDeviceGetDevResource(0, &rest, CU_DEV_RESOURCE_TYPE_INVALID) == CUDA_ERROR_INVALID_RESOURCE_TYPE, "no type");
  n = 1;
  check(cuDevSmResourceSplitByCount(part + 2, &n, &part[0], NULL, 0, 2) == CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
        "a group is split again by way of a context");
  CUdevResource changed = all;
  changed.sm.smCount--;
  check(cuDevSmResourceSplitByCount(part + 2, &n, &changed, NULL, 0, 2) == CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
        "what the driver did not give");
  CUdevResourceDesc d;
  CUdevResource two[2] = {part[0], all};
  check(cuDevResourceGenerateDesc(&d, two, 2) == CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "of two splits");
}

// CUDA programming guide, "Green Contexts": what a GH200 with 132 SMs makes of requests.
static void published()
{
  static const struct { unsigned groups, least, flags, got, size, rest; } row[] = {
      {2, 72, 0, 1, 72, 60}, {6, 11, 0, 6, 16, 36},
      {6, 11, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 6, 12, 60}, {2, 1, 0, 2, 8, 116}};
  if (major_of != 9 || sms != 132) return;
  for (const auto &r : row) {
    CUdevResource all, part[6], rest;
    unsigned n = r.groups;
    CU(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    CU(cuDevSmResourceSplitByCount(part, &n, &all, &rest, r.flags, r.least));
    check(n == r.got && part[0].sm.smCount == r.size && rest.sm.smCount == r.rest, "a published split");
  }
}

// CTAs, more than the group has SMs, each of which fills one, run on all of them (without time one is run after the other,
// on the first), and on none that was seen before.
static void spread(cudaStream_t stream, unsigned size, unsigned n, std::set<unsigned> *seen)
{
  stay<<<n, 32, room, stream>>>(sm, 2000);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  std::set<unsigned> found = distinct(sm, n);
  for (unsigned x : found) {
    check(x < (unsigned)sms, "an SM of the GPU");
    check(seen->insert(x).second, "an SM of this group alone");
  }
  check(found.size() == 1 || found.size() == size, "all SMs of the group");
}

static bool is_within(const unsigned *found, unsigned n, const std::set<unsigned> &own)
{
  for (unsigned i = 0; i < n; i++)
    if (!own.count(found[i])) return false;
  return true;
}

// Ways to a group's SMs: its default stream, a graph captured in its stream or with its context, launched elsewhere.
static void ways(group &g, const std::set<unsigned> &own, CUcontext primary)
{
  const unsigned n = 2 * g.sms.sm.smCount;
  CU(cuCtxSetCurrent(g.context));
  stay<<<n, 32, room>>>(sm, 2000);
  CUDA(cudaDeviceSynchronize());
  check(is_within(sm, n, own), "the default stream of the context");
  cudaStream_t blocking;
  CUgreenCtx of;
  CUDA(cudaStreamCreate(&blocking));
  CU(cuStreamGetGreenCtx(blocking, &of));
  check(of == g.green, "a stream made while the context is current");
  stay<<<n, 32, room, blocking>>>(sm, 2000);
  CU(cuCtxSynchronize());
  check(is_within(sm, n, own), "its kernels");
  CUDA(cudaStreamDestroy(blocking));
  CU(cuCtxSetCurrent(primary));

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(g.stream, cudaStreamCaptureModeGlobal));
  stay<<<n, 32, room, g.stream>>>(sm, 2000);
  CUDA(cudaStreamEndCapture(g.stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  check(is_within(sm, n, own), "a captured kernel, launched in another stream");
  CUDA(cudaGraphExecDestroy(exec));

  cudaFunction_t f;
  CUgraph made;
  CUgraphNode node;
  long long cycles = 2000;
  void *args[] = {&sm, &cycles};
  CUDA(cudaGetFuncBySymbol(&f, (const void *)stay));
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = (CUfunction)f, p.gridDimX = n, p.gridDimY = p.gridDimZ = 1, p.blockDimX = 32, p.blockDimY = p.blockDimZ = 1;
  p.sharedMemBytes = room, p.kernelParams = args, p.ctx = g.context;
  CU(cuGraphCreate(&made, 0));
  CU(cuGraphAddKernelNode(&node, made, NULL, 0, &p));
  CUDA(cudaGraphInstantiate(&exec, made, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  check(is_within(sm, n, own), "a node with the context");
  CUDA(cudaGraphExecDestroy(exec));
  CU(cuGraphDestroy(made));
}

__global__ void meet(unsigned *found)
{
  if (threadIdx.x == 0) found[blockIdx.x] = sm_id();
  cooperative_groups::this_grid().sync();
}

static void together(group &g, const std::set<unsigned> &others)
{
  int per_sm;
  void *args[] = {&sm};
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, meet, 256, 0));
  const unsigned most = per_sm * g.sms.sm.smCount;
  check(cudaLaunchCooperativeKernel((const void *)meet, most + 1, 256, args, 0, g.stream) ==
            cudaErrorCooperativeLaunchTooLarge, "more CTAs than its SMs hold");
  (void)cudaGetLastError();
  CUDA(cudaLaunchCooperativeKernel((const void *)meet, most, 256, args, 0, g.stream));
  CUDA(cudaStreamSynchronize(g.stream));
  std::set<unsigned> found = distinct(sm, most);
  check(found.size() == g.sms.sm.smCount, "a cooperative kernel has all SMs");
  for (unsigned x : found) check(!others.count(x), "and none of others");
}

// Each SM of a group that clusters can use holds one CTA: as many clusters as fit its SMs of one GPC.
static void clusters(group &g)
{
  if (major_of < 9) return;
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute a = {};
  int n;
  a.id = cudaLaunchAttributeClusterDimension;
  a.val.clusterDim.x = 8, a.val.clusterDim.y = a.val.clusterDim.z = 1;
  c.gridDim = 8, c.blockDim = 32, c.dynamicSmemBytes = room, c.stream = g.stream, c.attrs = &a, c.numAttrs = 1;
  CUDA(cudaOccupancyMaxActiveClusters(&n, stay, &c));
  check(n == (int)g.sms.sm.smCount / 8, "clusters of a group");
}

int main()
{
  CUcontext primary, of;
  CUgreenCtx green;
  CUdevResource rest, again;
  CUDA(cudaSetDevice(0));
  CUDA(cudaDeviceGetAttribute(&major_of, cudaDevAttrComputeCapabilityMajor, 0));
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CUDA(cudaMallocManaged(&sm, 1 << 16));
  CU(cuCtxGetCurrent(&primary));
  room = alone_in_sm(0);
  sizes();
  published();

  std::vector<group> g = groups_of(0, 3, 8, &rest);
  std::set<unsigned> seen, first;
  for (group &x : g) {
    CU(cuStreamGetCtx_v2(x.stream, &of, &green));
    check(of == primary && green == x.green, "contexts of a stream");
    CU(cuGreenCtxGetDevResource(x.green, &again, CU_DEV_RESOURCE_TYPE_SM));
    check(again.sm.smCount == x.sms.sm.smCount, "SMs of a context");
    spread(x.stream, again.sm.smCount, 3 * again.sm.smCount, &seen);
    if (&x == &g[0]) first = seen;
  }
  ways(g[0], first, primary);
  std::set<unsigned> others = seen;
  for (unsigned x : first) others.erase(x);
  together(g[0], others);
  clusters(g[0]);

  // Two groups of a split together; what a context has is split again.
  CUdevResource all, part[2], both[2];
  CUdevResourceDesc d;
  unsigned n = 2;
  CU(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
  CU(cuDevSmResourceSplitByCount(both, &n, &all, NULL, 0, 8));
  CU(cuDevResourceGenerateDesc(&d, both, 2));
  check(cuGreenCtxCreate(&green, d, 0, 0) == CUDA_ERROR_INVALID_VALUE, "the default stream is required");
  CU(cuGreenCtxCreate(&green, d, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  CU(cuGreenCtxGetDevResource(green, &again, CU_DEV_RESOURCE_TYPE_SM));
  check(again.sm.smCount == 2 * both[0].sm.smCount, "two groups");
  CU(cuDevSmResourceSplitByCount(part, &n, &again, NULL, 0, 8));
  check(n == 2 && part[0].sm.smCount == both[0].sm.smCount, "a context's SMs, split");
  CU(cuGreenCtxDestroy(green));
  check(cuGreenCtxDestroy(green) == CUDA_ERROR_INVALID_CONTEXT, "a context that is gone");

  // An event behind all that a context does, for which another context waits.
  CUevent e;
  CU(cuEventCreate(&e, CU_EVENT_DEFAULT));
  stay<<<8, 32, room, g[0].stream>>>(sm, 20000);
  CU(cuGreenCtxRecordEvent(g[0].green, e));
  CU(cuGreenCtxWaitEvent(g[1].green, e));
  CUDA(cudaMemsetAsync(sm, 0xff, 32, g[1].stream));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 8; i++) check(sm[i] == 0xffffffff, "what comes behind the event");
  for (group &x : g) CU(cuGreenCtxDestroy(x.green));
  printf("SMs of green contexts: right\n");
  return 0;
}
