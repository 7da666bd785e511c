// __managed__ variables have one address for the host and all GPUs (CUDA C++ Programming Guide, Unified Memory): their
// pointers are arguments of kernels, are stored in memory, and say that they are managed memory.
#include <cstdint>

#include "check.h"

struct node {
  int value;
  node *next;
};

__managed__ int table[5] = {1, 2, 3, 4, 5};
__device__ int own[3] = {10, 20, 30}; // lies among the managed ones in the file
__managed__ int total;
__managed__ double wide = 2.5;
__managed__ node list = {7, nullptr};
__managed__ int *chosen;

__global__ void add(int *to, int n)
{
  if (threadIdx.x < n) to[threadIdx.x] += own[threadIdx.x % 3];
  if (threadIdx.x == 0) atomicAdd(&total, 1), wide *= 2, *chosen += 100;
}

__global__ void same(const void *a, const void *b, int *out)
{
  *out = a == table && b == &wide && chosen == &table[4];
}

__global__ void walk(const node *n, int *sum)
{
  int s = 0;
  for (; n; n = n->next) s += n->value;
  *sum = s;
}

// A reset ends them; they come again with their first values, where they were.
static void behind_a_reset(int gpus)
{
  int *first = table, *other;
  void *at;
  first[0] = 99;
  for (int g = 0; g < gpus; g++) { // they are there while a GPU has them
    CHECK(first[0] == 99);
    CUDA(cudaSetDevice(g));
    CUDA(cudaDeviceReset());
  }
  CUDA(cudaMalloc(&other, 100)); // and nothing else takes their place
  CUDA(cudaMallocManaged(&other, 100));
  CHECK(other != first);
  CUDA(cudaGetSymbolAddress(&at, table)); // the first call that needs a variable or a kernel
  CHECK(at == first && first == table && first[0] == 1 && first[4] == 5 && !chosen);
  chosen = first + 4;
  add<<<1, 32>>>(first, 4);
  CUDA(cudaDeviceSynchronize());
  CHECK(first[0] == 11 && first[4] == 105 && wide == 5);
}

int main()
{
  int gpus, *result;
  CUDA(cudaGetDeviceCount(&gpus));
  CHECK(table[2] == 3 && wide == 2.5 && total == 0);
  chosen = &table[4];
  CUDA(cudaMallocManaged(&result, sizeof *result));
  for (int g = 0; g < gpus; g++) { // one instance for all
    CUDA(cudaSetDevice(g));
    add<<<1, 32>>>(table, 4);
    same<<<1, 1>>>(table, &wide, result);
    CUDA(cudaDeviceSynchronize());
    CHECK(*result == 1);
  }
  CHECK(total == gpus && wide == 2.5 * (1 << gpus));
  for (int i = 0; i < 5; i++) {
    static const int step[5] = {10, 20, 30, 10, 100};
    CHECK(table[i] == i + 1 + gpus * step[i]);
  }
  node second = {5, nullptr}, *at;
  CUDA(cudaMallocManaged(&at, sizeof *at));
  *at = second;
  list.next = at;
  walk<<<1, 1>>>(&list, &total);
  CUDA(cudaDeviceSynchronize());
  CHECK(total == 12);

  cudaPointerAttributes a;
  void *p;
  size_t bytes;
  int copy[5];
  CUDA(cudaPointerGetAttributes(&a, table + 1));
  CHECK(a.type == cudaMemoryTypeManaged && a.devicePointer == table + 1 && a.hostPointer == table + 1);
  CUDA(cudaGetSymbolAddress(&p, table));
  CUDA(cudaGetSymbolSize(&bytes, table));
  CHECK(p == table && bytes == sizeof table);
  CUDA(cudaMemcpyFromSymbol(copy, table, sizeof copy));
  CHECK(copy[4] == table[4]);
  CUDA(cudaMemset(table, 0, sizeof(int)));
  CUDA(cudaDeviceSynchronize());
  CHECK(table[0] == 0 && table[1] == copy[1]);
  CUDA(cudaMemPrefetchAsync(table, sizeof table, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
  CUDA(cudaDeviceSynchronize());
  behind_a_reset(gpus);
  printf("managed variables: right\n");
}
