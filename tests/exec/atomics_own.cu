// Atomics through generic pointers to what is a thread's own: performed in local memory, beside lanes of the same warp whose pointer
// leads to global or shared memory, and by all lanes at once. An address in the window of local memory that no thread has is a fault.
#include "check.h"

enum { THREADS = 64, ROUNDS = 5 };

// The pointer goes through memory, so that the compiler does not see where it leads.
__global__ void count(unsigned *global, unsigned *mine, int *volatile *hide)
{
  __shared__ unsigned shared;
  unsigned own = 100 * threadIdx.x;
  if (threadIdx.x == 0) shared = 0;
  __syncthreads();
  const unsigned place = threadIdx.x % 3;
  hide[threadIdx.x] = reinterpret_cast<int *>(place == 0 ? &own : place == 1 ? &shared : global);
  unsigned *p = reinterpret_cast<unsigned *>(hide[threadIdx.x]), before = 0;
  for (unsigned i = 0; i < ROUNDS; i++) before = atomicAdd(p, threadIdx.x + 1);
  __syncthreads();
  mine[threadIdx.x] = place == 0 ? own + before : place == 1 ? shared : 0;
}

__global__ void add(unsigned *volatile *where)
{
  atomicAdd(*where, 1);
}

__global__ void count_own(unsigned *mine, unsigned *volatile *hide)
{
  unsigned own = 7 * threadIdx.x;
  hide[threadIdx.x] = &own;
  unsigned before = atomicAdd(hide[threadIdx.x], threadIdx.x);
  mine[threadIdx.x] = own + before;
}

int main()
{
  unsigned *global, *mine, got[THREADS], sum[3] = {};
  int **hide;
  CUDA(cudaMalloc(&global, sizeof *global));
  CUDA(cudaMemset(global, 0, sizeof *global));
  CUDA(cudaMalloc(&mine, sizeof got));
  CUDA(cudaMalloc(&hide, THREADS * sizeof *hide));
  count<<<1, THREADS>>>(global, mine, hide);
  CUDA(cudaMemcpy(got, mine, sizeof got, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < THREADS; i++) sum[i % 3] += ROUNDS * (i + 1);
  for (unsigned i = 0; i < THREADS; i++) {
    const unsigned own = 2 * 100 * i + (2 * ROUNDS - 1) * (i + 1); /* after the last addition, and before it */
    CHECK(got[i] == (i % 3 == 0 ? own : i % 3 == 1 ? sum[1] : 0));
  }
  CUDA(cudaMemcpy(got, global, sizeof *got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == sum[2]);
  count_own<<<1, THREADS>>>(mine, reinterpret_cast<unsigned **>(hide));
  CUDA(cudaMemcpy(got, mine, sizeof got, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < THREADS; i++) CHECK(got[i] == 15 * i);
  const unsigned long long nobodys = 0x7fff7ae266e0;
  CUDA(cudaMemcpy(hide, &nobodys, sizeof nobodys, cudaMemcpyHostToDevice));
  add<<<1, 1>>>(reinterpret_cast<unsigned **>(hide));
  CHECK(cudaDeviceSynchronize() != cudaSuccess);
  puts("right");
}
