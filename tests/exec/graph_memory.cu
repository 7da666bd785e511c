// Graphs that allocate and release memory, made node by node and by capture; conditional nodes.
#include "check.h"

__global__ void square(int *out, const int *in, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

static const int N = 1000;
static const size_t BYTES = N * sizeof(int);

static void check_squares(const int *h)
{
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += h[i] != i * i;
  CHECK(wrong == 0);
}

static unsigned long long used(cudaGraphMemAttributeType which)
{
  unsigned long long v = ~0ull;
  CUDA(cudaDeviceGetGraphMemAttribute(0, which, &v));
  return v;
}

// Allocates x and y, squares, copies back, releases x and, when `all`, y.
static cudaGraph_t by_nodes(int *from, int *to, int **y, bool all)
{
  cudaGraph_t g;
  cudaGraphNode_t alloc[2], in, kernel, out, release[2];
  cudaMemAllocNodeParams p[2] = {};
  CUDA(cudaGraphCreate(&g, 0));
  for (int i = 0; i < 2; i++) {
    p[i].poolProps.allocType = cudaMemAllocationTypePinned;
    p[i].poolProps.location.type = cudaMemLocationTypeDevice;
    p[i].bytesize = BYTES;
    CUDA(cudaGraphAddMemAllocNode(&alloc[i], g, i ? &alloc[0] : NULL, i, &p[i]));
  }
  CHECK(p[0].dptr && p[1].dptr && p[0].dptr != p[1].dptr);
  int *x = (int *)p[0].dptr, n = N;
  *y = (int *)p[1].dptr;
  CUDA(cudaGraphAddMemcpyNode1D(&in, g, &alloc[1], 1, x, from, BYTES, cudaMemcpyHostToDevice));
  cudaKernelNodeParams k = {};
  void *args[] = {y, &x, &n};
  k.func = (void *)square, k.gridDim = dim3(4), k.blockDim = dim3(256), k.kernelParams = args;
  CUDA(cudaGraphAddKernelNode(&kernel, g, &in, 1, &k));
  CUDA(cudaGraphAddMemcpyNode1D(&out, g, &kernel, 1, to, *y, BYTES, cudaMemcpyDeviceToHost));
  CUDA(cudaGraphAddMemFreeNode(&release[0], g, &kernel, 1, x));
  if (all) CUDA(cudaGraphAddMemFreeNode(&release[1], g, &out, 1, *y));
  CHECK(cudaGraphAddMemFreeNode(&release[1], g, &out, 1, to) == cudaErrorInvalidValue);
  cudaMemAllocNodeParams back;
  CUDA(cudaGraphMemAllocNodeGetParams(alloc[1], &back));
  CHECK(back.dptr == *y && back.bytesize == BYTES);
  cudaGraph_t copy;
  CHECK(cudaGraphClone(&copy, g) == cudaErrorNotSupported);
  cudaGetLastError();
  return g;
}

static void nodes(int *from, int *to)
{
  int *y;
  cudaGraphExec_t x;
  cudaGraph_t g = by_nodes(from, to, &y, true);
  CUDA(cudaGraphInstantiate(&x, g, 0));
  CUDA(cudaGraphDestroy(g));
  for (int i = 0; i < 2; i++) {
    memset(to, 0, BYTES);
    CUDA(cudaGraphLaunch(x, 0));
    CUDA(cudaDeviceSynchronize());
    check_squares(to);
    CHECK(used(cudaGraphMemAttrUsedMemCurrent) == 0);
  }
  CHECK(used(cudaGraphMemAttrUsedMemHigh) >= 2 * BYTES);
  CUDA(cudaGraphExecDestroy(x));
}

// What a launch leaves allocated is the program's: it must go before the next launch.
static void left_over(int *from, int *to)
{
  int *y, back[4];
  cudaGraphExec_t x;
  cudaGraph_t g = by_nodes(from, to, &y, false);
  CUDA(cudaGraphInstantiate(&x, g, 0));
  CUDA(cudaGraphLaunch(x, 0));
  CHECK(used(cudaGraphMemAttrUsedMemCurrent) >= BYTES);
  CHECK(cudaGraphLaunch(x, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaMemcpy(back, y + 5, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; i++) CHECK(back[i] == (5 + i) * (5 + i));
  CUDA(cudaFreeAsync(y, 0));
  CUDA(cudaGraphLaunch(x, 0));
  CUDA(cudaFree(y));
  CHECK(cudaFree(y) == cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaGraphExecDestroy(x));
  CUDA(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  for (int i = 0; i < 3; i++) CUDA(cudaGraphLaunch(x, 0));
  CUDA(cudaFree(y));
  CHECK(used(cudaGraphMemAttrUsedMemCurrent) == 0);
  CUDA(cudaGraphExecDestroy(x));
  CUDA(cudaGraphDestroy(g));
}

static void captured(int *from, int *to)
{
  cudaStream_t stream;
  cudaGraph_t g;
  cudaGraphExec_t x;
  int *a, *b;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaMallocAsync(&a, BYTES, stream));
  CUDA(cudaMallocAsync(&b, BYTES, stream));
  CUDA(cudaMemcpyAsync(a, from, BYTES, cudaMemcpyDefault, stream));
  square<<<4, 256, 0, stream>>>(b, a, N);
  CUDA(cudaMemcpyAsync(to, b, BYTES, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaFreeAsync(a, stream));
  CUDA(cudaFreeAsync(b, stream));
  CUDA(cudaStreamEndCapture(stream, &g));
  size_t n = 0;
  CUDA(cudaGraphGetNodes(g, NULL, &n));
  CHECK(n == 7);
  CUDA(cudaGraphInstantiate(&x, g, 0));
  memset(to, 0, BYTES);
  CUDA(cudaGraphLaunch(x, stream));
  CUDA(cudaStreamSynchronize(stream));
  check_squares(to);
  CUDA(cudaGraphExecDestroy(x));
  CUDA(cudaGraphDestroy(g));
  CUDA(cudaStreamDestroy(stream));
}

// Conditional nodes: counts[0..3] say how often each body ran.

__global__ void choose(cudaGraphConditionalHandle h, const unsigned *value)
{
  cudaGraphSetConditional(h, *value);
}

__global__ void count(int *p)
{
  ++*p;
}

__global__ void count_down(cudaGraphConditionalHandle h, unsigned *value)
{
  if (--*value == 0) cudaGraphSetConditional(h, 0);
}

static cudaGraphNodeParams kernel_params(void *kernel, void **args)
{
  cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
  p.kernel.func = kernel, p.kernel.gridDim = p.kernel.blockDim = dim3(1), p.kernel.kernelParams = args;
  return p;
}

// Runs a graph of one conditional node with n bodies, behind a kernel that sets its value.
static void branch(cudaGraphConditionalNodeType type, unsigned n, unsigned value, const int want[4])
{
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaGraphNode_t first, node;
  cudaGraphConditionalHandle h;
  int *counts, got[4];
  unsigned *device_value;
  CUDA(cudaMalloc(&counts, sizeof got));
  CUDA(cudaMemset(counts, 0, sizeof got));
  CUDA(cudaMalloc(&device_value, sizeof value));
  CUDA(cudaMemcpy(device_value, &value, sizeof value, cudaMemcpyHostToDevice));
  CUDA(cudaGraphCreate(&g, 0));
  CUDA(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
  void *args[] = {&h, &device_value};
  bool loop = type == cudaGraphCondTypeWhile;
  cudaGraphNodeParams p = kernel_params((void *)choose, args), c = {cudaGraphNodeTypeConditional};
  if (!loop) CUDA(cudaGraphAddNode(&first, g, NULL, NULL, 0, &p));
  c.conditional.handle = h, c.conditional.type = type, c.conditional.size = n;
  CUDA(cudaGraphAddNode(&node, g, &first, NULL, !loop, &c));
  for (unsigned i = 0; i < n; i++) {
    int *mine = counts + i;
    void *count_args[] = {&mine};
    cudaGraphNode_t counter, last;
    p = kernel_params((void *)count, count_args);
    CUDA(cudaGraphAddNode(&counter, c.conditional.phGraph_out[i], NULL, NULL, 0, &p));
    p = kernel_params((void *)count_down, args);
    if (loop) CUDA(cudaGraphAddNode(&last, c.conditional.phGraph_out[i], &counter, NULL, 1, &p));
  }
  CUDA(cudaGraphInstantiate(&x, g, 0));
  CUDA(cudaGraphLaunch(x, 0));
  CUDA(cudaMemcpy(got, counts, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; i++) CHECK(got[i] == want[i]);
  CUDA(cudaGraphExecDestroy(x));
  CUDA(cudaGraphDestroy(g));
  CUDA(cudaFree(counts));
  CUDA(cudaFree(device_value));
}

static void refused()
{
  cudaGraph_t g;
  cudaGraphNode_t node;
  cudaGraphNodeParams c = {cudaGraphNodeTypeConditional};
  CUDA(cudaGraphCreate(&g, 0));
  c.conditional.handle = 12345, c.conditional.size = 1;
  CHECK(cudaGraphAddNode(&node, g, NULL, NULL, 0, &c) == cudaErrorInvalidValue); // no such handle
  CUDA(cudaGraphConditionalHandleCreate(&c.conditional.handle, g, 0, 0));
  c.conditional.size = 3; // if has one or two bodies
  CHECK(cudaGraphAddNode(&node, g, NULL, NULL, 0, &c) == cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaGraphDestroy(g));
}

int main()
{
  int *from, *to;
  CUDA(cudaMallocHost(&from, BYTES));
  CUDA(cudaMallocHost(&to, BYTES));
  for (int i = 0; i < N; i++) from[i] = i;
  nodes(from, to);
  left_over(from, to);
  captured(from, to);
  const int none[4] = {}, first[4] = {1}, second[4] = {0, 1}, third[4] = {0, 0, 1}, five[4] = {5};
  branch(cudaGraphCondTypeIf, 1, 7, first);
  branch(cudaGraphCondTypeIf, 1, 0, none);
  branch(cudaGraphCondTypeIf, 2, 0, second);
  branch(cudaGraphCondTypeSwitch, 4, 2, third);
  branch(cudaGraphCondTypeSwitch, 3, 3, none);
  branch(cudaGraphCondTypeWhile, 1, 5, five);
  refused();
}
