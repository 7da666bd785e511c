// Graphs launched by kernels of a graph: fire and forget, as a sibling, as its tail, again and again.
#include <cuda_runtime.h>

#include "check.h"

struct notes {
  int n, entry[64];
};

__device__ void note(notes *l, int what)
{
  l->entry[l->n++] = what;
}

__global__ void step(notes *l, int what)
{
  note(l, what);
}

// Launches one graph of each way, the tail first, and notes itself.
__global__ void launcher(notes *l, int what, cudaGraphExec_t forget, cudaGraphExec_t tail, cudaGraphExec_t sibling)
{
  if (tail && cudaGraphLaunch(tail, cudaStreamGraphTailLaunch)) note(l, -1);
  if (forget && cudaGraphLaunch(forget, cudaStreamGraphFireAndForget)) note(l, -2);
  if (sibling && cudaGraphLaunch(sibling, cudaStreamGraphFireAndForgetAsSibling)) note(l, -3);
  note(l, what);
}

// The graph that runs launches itself until the count is reached.
__global__ void again(notes *l, int most)
{
  note(l, l->n);
  if (l->n < most && cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch)) note(l, -1);
}

__global__ void refused(int *status, cudaGraphExec_t x)
{
  status[0] = cudaGraphLaunch(x, cudaStreamGraphTailLaunch); // not instantiated for it
  status[1] = cudaGraphLaunch(cudaGetCurrentGraphExec(), 0); // not a stream for graphs
  status[2] = cudaGetCurrentGraphExec() != 0;
}

template <class... A> static cudaGraphNode_t add(cudaGraph_t g, cudaGraphNode_t after, void (*f)(A...), A... a)
{
  void *args[] = {&a...};
  cudaKernelNodeParams p = {};
  p.func = (void *)f;
  p.gridDim = p.blockDim = 1;
  p.kernelParams = args;
  cudaGraphNode_t n;
  CUDA(cudaGraphAddKernelNode(&n, g, after ? &after : nullptr, after ? 1 : 0, &p));
  return n;
}

static cudaGraphExec_t finish(cudaGraph_t g, unsigned flags)
{
  cudaGraphExec_t x;
  CUDA(cudaGraphInstantiate(&x, g, flags));
  CUDA(cudaGraphDestroy(g));
  if (flags) CUDA(cudaGraphUpload(x, 0));
  return x;
}

static cudaGraph_t graph()
{
  cudaGraph_t g;
  CUDA(cudaGraphCreate(&g, 0));
  return g;
}

static cudaGraphExec_t noting(notes *l, int what)
{
  cudaGraph_t g = graph();
  add(g, nullptr, step, l, what);
  return finish(g, cudaGraphInstantiateFlagDeviceLaunch);
}

static int place(const notes *l, int what)
{
  int at = -1;
  for (int i = 0; i < l->n; i++)
    if (l->entry[i] == what) {
      CHECK(at == -1);
      at = i;
    }
  CHECK(at >= 0);
  return at;
}

int main()
{
  notes *l;
  int *status;
  CUDA(cudaMallocManaged(&l, sizeof *l));
  CUDA(cudaMallocManaged(&status, 3 * sizeof *status));
  l->n = 0;

  // 1, 2 of the graph itself; 10 forgotten; 20 its tail, which forgets 10's like 11 and has a tail 21; 30 a sibling.
  cudaGraphExec_t forgotten = noting(l, 10), inner = noting(l, 11), last = noting(l, 21), sibling = noting(l, 30);
  cudaGraph_t g = graph();
  add(g, nullptr, launcher, l, 20, inner, last, (cudaGraphExec_t)0);
  cudaGraphExec_t tail = finish(g, cudaGraphInstantiateFlagDeviceLaunch);
  g = graph();
  add(g, add(g, nullptr, launcher, l, 1, forgotten, tail, sibling), step, l, 2);
  cudaGraphExec_t first = finish(g, cudaGraphInstantiateFlagDeviceLaunch);
  CUDA(cudaGraphLaunch(first, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(l->n == 7);
  CHECK(place(l, 1) < place(l, 2) && place(l, 2) < place(l, 20) && place(l, 10) < place(l, 20));
  CHECK(place(l, 20) < place(l, 11) && place(l, 11) < place(l, 21) && place(l, 30) >= 0);

  l->n = 0;
  g = graph();
  add(g, nullptr, again, l, 50);
  cudaGraphExec_t self = finish(g, cudaGraphInstantiateFlagDeviceLaunch);
  CUDA(cudaGraphLaunch(self, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(l->n == 50);
  for (int i = 0; i < l->n; i++) CHECK(l->entry[i] == i);

  g = graph();
  add(g, nullptr, step, l, 5);
  cudaGraphExec_t plain = finish(g, 0);
  g = graph();
  add(g, nullptr, refused, status, plain);
  cudaGraphExec_t r = finish(g, cudaGraphInstantiateFlagDeviceLaunch);
  CUDA(cudaGraphLaunch(r, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(status[0] == cudaErrorInvalidValue && status[1] == cudaErrorInvalidValue && status[2] == 1);
  refused<<<1, 1>>>(status, self); // outside of a graph
  CUDA(cudaDeviceSynchronize());
  CHECK(status[0] == cudaErrorInvalidValue && status[2] == 0);

  cudaGraphNode_t n;
  cudaHostNodeParams h = {[](void *) {}, nullptr};
  g = graph();
  CUDA(cudaGraphAddHostNode(&n, g, nullptr, 0, &h));
  cudaGraphExec_t none;
  CHECK(cudaGraphInstantiate(&none, g, cudaGraphInstantiateFlagDeviceLaunch) == cudaErrorNotSupported);
  puts("passed");
}
