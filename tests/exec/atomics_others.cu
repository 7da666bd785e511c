// Two processes whose kernels add to the same numbers in memory that one of them shares (cudaIpcGetMemHandle). Without time each process
// has a GPU of its own; atomics, of whatever scope, are atomic at the memory all the same, as on the one GPU that both mean. Each kernel
// waits until the other is there, so both are at it at once.
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 2000, BLOCK = 64, SIDES = 2 };

struct numbers {
  volatile unsigned there[SIDES];
  unsigned word;
  unsigned long long pair, swapped;
  float narrow;
  double wide;
};

__global__ void add(numbers *n, int side)
{
  if (threadIdx.x == 0) {
    n->there[side] = 1;
    while (!n->there[1 - side]) continue;
  }
  __syncthreads();
  for (int i = 0; i < ROUNDS; i++) {
    atomicAdd(&n->word, 1u);
    atomicAdd(&n->pair, 1ull << 32 | 1);
    atomicAdd(&n->narrow, 1.0f);
    atomicAdd(&n->wide, 1.0);
    unsigned long long was = *(volatile unsigned long long *)&n->swapped, now;
    while ((now = atomicCAS(&n->swapped, was, was + 3)) != was) was = now;
  }
}

static void send(int to, const void *what, size_t bytes) { CHECK(write(to, what, bytes) == (ssize_t)bytes); }
static void receive(int from, void *what, size_t bytes) { CHECK(read(from, what, bytes) == (ssize_t)bytes); }

static int opened(int from, int to)
{
  cudaIpcMemHandle_t handle;
  numbers *n;
  receive(from, &handle, sizeof handle);
  CUDA(cudaIpcOpenMemHandle((void **)&n, handle, cudaIpcMemLazyEnablePeerAccess));
  add<<<1, BLOCK>>>(n, 1);
  CUDA(cudaDeviceSynchronize());
  send(to, "x", 1);
  CUDA(cudaIpcCloseMemHandle(n));
  return 0;
}

int main()
{
  int there[2], back[2], status;
  char done;
  CHECK(!pipe(there) && !pipe(back));
  const pid_t child = fork();
  if (child == 0) return opened(there[0], back[1]);
  cudaIpcMemHandle_t handle;
  numbers *n, got;
  CUDA(cudaMalloc(&n, sizeof *n));
  CUDA(cudaMemset(n, 0, sizeof *n));
  CUDA(cudaIpcGetMemHandle(&handle, n));
  send(there[1], &handle, sizeof handle);
  add<<<1, BLOCK>>>(n, 0);
  CUDA(cudaDeviceSynchronize());
  receive(back[0], &done, 1);
  CUDA(cudaMemcpy(&got, n, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  const unsigned long long all = SIDES * ROUNDS * BLOCK;
  printf("%u %llx %llu %g %g, %llu expected\n", got.word, got.pair, got.swapped, got.narrow, got.wide, all);
  return got.word != all || got.pair != (all << 32) + all || got.swapped != 3 * all || got.narrow != (float)all || got.wide != (double)all;
}
