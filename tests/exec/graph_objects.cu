// What hangs on graphs: attributes of kernel nodes, user objects, listings; and the ids of contexts.
#include <cstring>
#include <string>
#include <unistd.h>

#include "driver_check.h"

__global__ void twice(int *p)
{
  p[threadIdx.x] *= 2;
}

static cudaGraphNode_t kernel_node(cudaGraph_t g, int *p)
{
  cudaGraphNode_t node;
  void *args[] = {&p};
  cudaKernelNodeParams k = {};
  k.func = (void *)twice, k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = args;
  CUDA(cudaGraphAddKernelNode(&node, g, nullptr, 0, &k));
  return node;
}

static void attributes(int *p)
{
  cudaGraph_t g;
  CUDA(cudaGraphCreate(&g, 0));
  cudaGraphNode_t a = kernel_node(g, p), b = kernel_node(g, p), empty;
  cudaKernelNodeAttrValue v = {}, got = {};
  v.priority = -3;
  CUDA(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributePriority, &v));
  v = {};
  v.cooperative = 1;
  CUDA(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributeCooperative, &v));
  v = {};
  v.accessPolicyWindow.base_ptr = p, v.accessPolicyWindow.num_bytes = 128, v.accessPolicyWindow.hitRatio = 0.5f;
  CUDA(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributeAccessPolicyWindow, &v));
  CUDA(cudaGraphKernelNodeGetAttribute(b, cudaLaunchAttributePriority, &got));
  CHECK(got.priority == 0);
  CUDA(cudaGraphKernelNodeCopyAttributes(b, a));
  // New parameters leave them; so does a copy of the graph.
  cudaKernelNodeParams k;
  cudaGraph_t copy;
  CUDA(cudaGraphKernelNodeGetParams(b, &k));
  CUDA(cudaGraphKernelNodeSetParams(b, &k));
  CUDA(cudaGraphClone(&copy, g));
  CUDA(cudaGraphNodeFindInClone(&b, b, copy));
  CUDA(cudaGraphKernelNodeGetAttribute(b, cudaLaunchAttributePriority, &got));
  CHECK(got.priority == -3);
  CUDA(cudaGraphKernelNodeGetAttribute(b, cudaLaunchAttributeCooperative, &got));
  CHECK(got.cooperative == 1);
  CUkernelNodeAttrValue driver;
  CU(cuGraphKernelNodeGetAttribute(b, CU_KERNEL_NODE_ATTRIBUTE_ACCESS_POLICY_WINDOW, &driver));
  CHECK(driver.accessPolicyWindow.base_ptr == p && driver.accessPolicyWindow.num_bytes == 128);
  CUDA(cudaGraphAddEmptyNode(&empty, g, nullptr, 0));
  CHECK(cudaGraphKernelNodeGetAttribute(empty, cudaLaunchAttributePriority, &got) == cudaErrorInvalidValue);
  CHECK(cudaGraphKernelNodeGetAttribute(a, cudaLaunchAttributeID(77), &got) == cudaErrorInvalidValue);
  CUDA(cudaGraphDestroy(g));
  CUDA(cudaGraphDestroy(copy));
}

static void count(void *p)
{
  ++*(int *)p;
}

static void user_objects(int *p)
{
  int ended = 0;
  cudaUserObject_t object;
  cudaGraph_t g;
  cudaGraphExec_t x;
  CHECK(cudaUserObjectCreate(&object, &ended, count, 1, 0) == cudaErrorInvalidValue);
  CHECK(cudaUserObjectCreate(&object, &ended, count, 0, cudaUserObjectNoDestructorSync) == cudaErrorInvalidValue);
  CUDA(cudaUserObjectCreate(&object, &ended, count, 2, cudaUserObjectNoDestructorSync));
  CUDA(cudaUserObjectRetain(object, 1));
  CUDA(cudaUserObjectRelease(object, 2));
  CUDA(cudaGraphCreate(&g, 0));
  kernel_node(g, p);
  CHECK(cudaGraphRetainUserObject(g, object, 2, cudaGraphUserObjectMove) == cudaErrorInvalidValue);
  CUDA(cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove)); // nobody but the graph has it
  CUDA(cudaGraphRetainUserObject(g, object, 1, 0));
  CUDA(cudaGraphReleaseUserObject(g, object, 1));
  CUDA(cudaGraphInstantiate(&x, g, 0));
  CUDA(cudaGraphDestroy(g));
  CHECK(ended == 0); // the instantiated graph still refers to it
  CUDA(cudaGraphLaunch(x, 0));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaGraphExecDestroy(x));
  CHECK(ended == 1);
  CHECK(cudaUserObjectRelease(object, 1) == cudaErrorInvalidValue);
  CUuserObject other;
  CU(cuUserObjectCreate(&other, &ended, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CU(cuUserObjectRelease(other, 1));
  CHECK(ended == 2);
}

static std::string contents(const char *path)
{
  std::string all;
  FILE *f = fopen(path, "r");
  CHECK(f);
  for (int c; (c = getc(f)) != EOF;) all += char(c);
  fclose(f);
  return all;
}

static bool has(const std::string &text, const char *part)
{
  return text.find(part) != std::string::npos;
}

static void listing(int *p)
{
  char path[] = "/tmp/graph_objects.XXXXXX";
  cudaGraph_t g, child;
  cudaGraphNode_t a, b;
  CUDA(cudaGraphCreate(&g, 0));
  CUDA(cudaGraphCreate(&child, 0));
  a = kernel_node(g, p);
  kernel_node(child, p);
  CUDA(cudaGraphAddChildGraphNode(&b, g, &a, 1, child));
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  CUDA(cudaGraphDebugDotPrint(g, path, 0));
  std::string plain = contents(path);
  CU(cuGraphDebugDotPrint(g, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
  std::string all = contents(path);
  CHECK(has(plain, "digraph") && has(plain, "_Z5twicePi") && !has(plain, "<<<"));
  CHECK(has(plain, "\"graph_0_node_0\" -> \"graph_0_node_1\"") && has(plain, "subgraph cluster_1"));
  CHECK(has(all, "<<<(1,1,1),(32,1,1),0>>>"));
  unlink(path);
  CHECK(cudaGraphDebugDotPrint(g, "/no/such/folder/x.dot", 0) == cudaErrorOperatingSystem);
}

__device__ int variable[4];

// Copies to and from a variable, their parameters changed in the graph and in what was instantiated.
static void symbols()
{
  int in[4] = {1, 2, 3, 4}, other[4] = {5, 6, 7, 8}, out[4] = {};
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaGraphNode_t a, b;
  CUDA(cudaGraphCreate(&g, 0));
  CUDA(cudaGraphAddMemcpyNodeToSymbol(&a, g, nullptr, 0, variable, in, 8, 8, cudaMemcpyHostToDevice));
  CUDA(cudaGraphAddMemcpyNodeFromSymbol(&b, g, &a, 1, out, variable, 8, 0, cudaMemcpyDeviceToHost));
  CUDA(cudaGraphMemcpyNodeSetParamsFromSymbol(b, out, variable, 16, 0, cudaMemcpyDeviceToHost));
  CUDA(cudaGraphInstantiate(&x, g, 0));
  CUDA(cudaGraphLaunch(x, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0] == 0 && out[1] == 0 && out[2] == 1 && out[3] == 2);
  CUDA(cudaGraphExecMemcpyNodeSetParamsToSymbol(x, a, variable, other, 16, 0, cudaMemcpyHostToDevice));
  CUDA(cudaGraphLaunch(x, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(memcmp(out, other, sizeof out) == 0);
  CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(a, variable, in, 16, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(a, variable, in, 4, 0, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidMemcpyDirection);
  CUDA(cudaGraphExecDestroy(x));
  CUDA(cudaGraphDestroy(g));
}

static void context_ids()
{
  CUcontext first, second;
  unsigned long long a, b, now;
  CU(cuCtxGetCurrent(&first));
  CU(cuCtxGetId(first, &a));
  CU(cuCtxCreate(&second, nullptr, 0, 0));
  CU(cuCtxGetId(second, &b));
  CU(cuCtxGetId(nullptr, &now));
  CHECK(a != b && now == b);
  unsigned flags;
  CU(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
  CU(cuCtxGetFlags(&flags));
  CHECK(flags == CU_CTX_SCHED_BLOCKING_SYNC && cuCtxSetFlags(1u << 20) == CUDA_ERROR_INVALID_VALUE);
  CU(cuCtxDestroy(second));
  CHECK(cuCtxGetId(second, &b) == CUDA_ERROR_INVALID_CONTEXT);
}

int main()
{
  int *p;
  CUDA(cudaMalloc(&p, 32 * sizeof *p));
  attributes(p);
  user_objects(p);
  listing(p);
  symbols();
  context_ids();
  printf("right\n");
}
