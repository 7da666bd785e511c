// A fence that one thread executes behind a barrier covers what the other threads of its CTA stored, updated and read before it (PTX, causality
// order): they may be on longer ways than the flag that is stored behind the fence, to memory behind links, or back from there, or wait for their page.
// One CTA produces, another one, on the next GPU where there are two, waits for the flag and looks.
#include "check.h"
#include "some_gpus.h"

enum { THREADS = 256, EACH = 16, LINE = 32 /* words */, WORDS = THREADS * EACH * LINE };
enum { ROUNDS = 2 }; // the first one fetches the code
enum Access { STORE, STRONG, UPDATE, READ, ACCESSES }; // of all threads before the barrier
enum Release { FENCE, FENCE_SYSTEM, ST_RELEASE, RED_RELEASE, ATOM_RELEASE, FLAGS_OF_CTA, RELEASES };
enum Place { HOST, FIRST, LAST, MANAGED, PLACES }; // the host, the producer's GPU, the consumer's GPU; pages that come to who touches them

// Words of a thread are in lines of their own, so a warp's access is 32 requests.
__device__ unsigned at(unsigned k) { return (k * THREADS + threadIdx.x) * LINE; }

__device__ unsigned look(const unsigned *p)
{
  unsigned v;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

__device__ void release(unsigned how, unsigned *flag, unsigned round)
{
  switch (how) {
  case FENCE: __threadfence(), *(volatile unsigned *)flag = round; break;
  case FENCE_SYSTEM: __threadfence_system(), *(volatile unsigned *)flag = round; break;
  case ST_RELEASE: asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(round) : "memory"); break;
  case RED_RELEASE: asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(flag) : "memory"); break;
  default: asm volatile("{ .reg .u32 r; atom.release.sys.global.add.u32 r, [%0], 1; }" ::"l"(flag) : "memory");
  }
}

__device__ unsigned produce_round(unsigned access, unsigned how, unsigned *data, unsigned *flag, unsigned round, unsigned counter)
{
  unsigned got[EACH] = {}, seen = 0, n = 0;
  if (threadIdx.x >= 32)
#pragma unroll
    for (unsigned k = 0; k < EACH; k++) {
      unsigned *p = data + at(k);
      if (access == STORE) *p = round;
      else if (access == STRONG) asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(round) : "memory");
      else if (access == UPDATE) asm volatile("red.relaxed.sys.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
      else asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(got[k]) : "l"(p) : "memory");
    }
  if (how == FLAGS_OF_CTA) { // no barrier
    asm volatile("{ .reg .u32 r; atom.release.cta.shared.add.u32 r, [%0], 1; }" ::"r"(counter) : "memory");
    while (threadIdx.x == 0 && n < THREADS * round) asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(n) : "r"(counter) : "memory");
  } else {
    __syncthreads();
  }
  if (threadIdx.x == 0) release(how, flag, round);
  for (unsigned k = 0; k < EACH; k++) seen += got[k] >= round; // stored when the flag had been seen
  return seen;
}

__device__ void wait_for(unsigned *flag, unsigned round)
{
  unsigned v = 0;
  while (v < round) asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
}

__global__ void produce(unsigned access, unsigned how, unsigned *data, unsigned *flag, unsigned *back, unsigned *wrong)
{
  __shared__ unsigned counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  for (unsigned round = 1; round <= ROUNDS; round++) {
    const unsigned n = produce_round(access, how, data, flag, round, (unsigned)__cvta_generic_to_shared(&counter));
    if (n) atomicAdd_system(wrong, n);
    if (threadIdx.x == 0) wait_for(back, round);
    __syncthreads();
  }
}

// The first thread looks where it sees most, without a barrier: at what was stored last.
__global__ void consume(unsigned access, unsigned *data, unsigned *flag, unsigned *back, unsigned *wrong)
{
  unsigned *last = data + (EACH * THREADS - 1) * LINE;
  for (unsigned round = 1; round <= ROUNDS; round++) {
    if (threadIdx.x == 0) {
      wait_for(flag, round);
      if (access == READ) asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(last), "r"(round) : "memory");
      else if (look(last) != round) atomicAdd_system(wrong, 1);
    }
    __syncthreads();
    for (unsigned k = EACH; threadIdx.x >= 32 && k-- > 0;)
      if (access == READ) asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(data + at(k)), "r"(round) : "memory");
      else if (look(data + at(k)) != round) atomicAdd_system(wrong, 1);
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(back), "r"(round) : "memory");
  }
}

int main()
{
  const int gpus = gpus_that_reach(2), last = gpus - 1;
  unsigned *data[PLACES], *flag[PLACES], *back, *wrong, bad = 0;
  cudaStream_t first_stream, last_stream;
  CUDA(cudaHostAlloc(&data[HOST], WORDS * 4, cudaHostAllocMapped));
  CUDA(cudaHostAlloc(&flag[HOST], 4, cudaHostAllocMapped));
  CUDA(cudaMallocManaged(&data[MANAGED], WORDS * 4));
  CUDA(cudaHostAlloc(&wrong, 4, cudaHostAllocMapped));
  CUDA(cudaHostAlloc(&back, 4, cudaHostAllocMapped));
  for (int p = FIRST; p <= LAST; p++) {
    CUDA(cudaSetDevice(p == FIRST ? 0 : last));
    CUDA(cudaMalloc(&data[p], WORDS * 4));
    CUDA(cudaMalloc(&flag[p], 4));
    CUDA(cudaStreamCreateWithFlags(p == FIRST ? &first_stream : &last_stream, cudaStreamNonBlocking));
  }
  for (unsigned access = 0; access < ACCESSES; access++)
    for (unsigned where = 0; where < PLACES; where++)
      for (unsigned to = 0; to < MANAGED; to++) {
        const unsigned how = gpus == 1 ? FENCE : FENCE_SYSTEM + (access + where * 3 + to) % (RELEASES - 1);
        *wrong = *back = 0;
        CUDA(cudaMemset(data[where], 0, WORDS * 4));
        CUDA(cudaMemset(flag[to], 0, 4));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaSetDevice(last));
        consume<<<1, THREADS, 0, last_stream>>>(access, data[where], flag[to], back, wrong);
        CUDA(cudaSetDevice(0));
        produce<<<1, THREADS, 0, first_stream>>>(access, how, data[where], flag[to], back, wrong);
        CUDA(cudaStreamSynchronize(first_stream));
        CUDA(cudaStreamSynchronize(last_stream));
        if (!*wrong) continue;
        printf("access %u, release %u, data %u, flag %u: %u words\n", access, how, where, to, *wrong);
        bad++;
      }
  return bad != 0;
}
