// Breadth-first search with a queue that atomics fill; levels against a search on the host.
#include "check.h"
#include "random.h"
#include <queue>
#include <vector>

struct Graph {
  int *start, *edge, *level, *queue[2], *count;
};

__global__ void expand(Graph g, int side, int n, int level)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = g.queue[side][i];
  for (int e = g.start[v]; e < g.start[v + 1]; e++) {
    int to = g.edge[e];
    if (atomicCAS(&g.level[to], -1, level) == -1) g.queue[side ^ 1][atomicAdd(g.count, 1)] = to;
  }
}

int main()
{
  const int n = 200;
  std::vector<int> start{0}, edge, level(n, -1), got(n);
  Random random(8);
  for (int v = 0; v < n; v++) {
    for (int k = random.next() % 4; k >= 0; k--) edge.push_back(random.next() % n);
    start.push_back(edge.size());
  }
  Graph g;
  CUDA(cudaMallocManaged(&g.start, start.size() * 4));
  CUDA(cudaMallocManaged(&g.edge, edge.size() * 4));
  CUDA(cudaMallocManaged(&g.level, n * 4));
  CUDA(cudaMallocManaged(&g.queue[0], n * 4));
  CUDA(cudaMallocManaged(&g.queue[1], n * 4));
  CUDA(cudaMallocManaged(&g.count, 4));
  std::copy(start.begin(), start.end(), g.start);
  std::copy(edge.begin(), edge.end(), g.edge);
  std::fill(g.level, g.level + n, -1);
  g.level[0] = g.queue[0][0] = 0;
  for (int side = 0, size = 1, depth = 1; size; side ^= 1, depth++) {
    *g.count = 0;
    expand<<<(size + 31) / 32, 32>>>(g, side, size, depth);
    CUDA(cudaDeviceSynchronize());
    size = *g.count;
  }
  std::queue<int> todo;
  todo.push(0);
  level[0] = 0;
  while (!todo.empty()) {
    int v = todo.front();
    todo.pop();
    for (int e = start[v]; e < start[v + 1]; e++)
      if (level[edge[e]] == -1) level[edge[e]] = level[v] + 1, todo.push(edge[e]);
  }
  for (int v = 0; v < n; v++) CHECK(g.level[v] == level[v]);
}
