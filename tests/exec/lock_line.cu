// A lock and what it guards in one line: who has the lock reads the line while the other warps of its SM update it on and
// on, and has to get there. (Strong loads once waited until none of their SM's atomics to the line was on its way.)
#include <cstdio>

enum { WARPS = 32, CTAS = 2, ROUNDS = 2 };

struct guarded {
  int lock, count;
};

__global__ void count(guarded *g)
{
  if (threadIdx.x % 32) return;
  for (int i = 0; i < ROUNDS; i++) {
    while (atomicCAS(&g->lock, 0, 1)) {}
    __threadfence();
    *(volatile int *)&g->count = *(volatile int *)&g->count + 1;
    __threadfence();
    atomicExch(&g->lock, 0);
  }
}

int main()
{
  guarded *g, seen;
  for (int warps = 2; warps <= WARPS; warps *= 4) {
    if (cudaMalloc(&g, sizeof *g) || cudaMemset(g, 0, sizeof *g)) return 1;
    count<<<CTAS, 32 * warps>>>(g);
    if (cudaMemcpy(&seen, g, sizeof seen, cudaMemcpyDeviceToHost)) return 1;
    printf("%d warps: %d\n", warps, seen.count);
    if (seen.count != CTAS * warps * ROUNDS || seen.lock) return 1;
  }
}
