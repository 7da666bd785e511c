// CPU cores and a GPU update the same memory at once: atomics of both on the same words, words of both in the same lines,
// and data behind a flag, both ways. Nothing may be lost, and what is behind a flag is there when the flag is.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

enum { LANES = 64, TURNS = 40, CPUS = 3, WORDS = 512, ROUNDS = 6 };

struct shared {
  unsigned counter[4];        // atomics of everybody
  unsigned mixed[2 * LANES];  // words of the CPU between those of the GPU
  volatile unsigned to_gpu, to_cpu;
  unsigned data[WORDS];
};

__global__ void add(shared *s)
{
  for (int i = 0; i < TURNS; i++) {
    atomicAdd_system(&s->counter[i & 3], 1);
    s->mixed[2 * threadIdx.x] += threadIdx.x + 1;
  }
}

// Adds a number to all data each time its turn comes.
__global__ void turns(shared *s)
{
  for (unsigned r = 1; r <= ROUNDS; r++) {
    if (threadIdx.x == 0)
      while (s->to_gpu != r) {
      }
    __syncthreads();
    __threadfence_system();
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) s->data[i] += r;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) s->to_cpu = r;
  }
}

static void *count(void *arg)
{
  shared *s = (shared *)arg;
  for (int i = 0; i < TURNS * LANES; i++) __atomic_fetch_add(&s->counter[i & 3], 1, __ATOMIC_RELAXED);
  return nullptr;
}

static bool atomics(shared *s)
{
  pthread_t thread[CPUS];
  for (int i = 0; i < CPUS; i++) pthread_create(&thread[i], nullptr, count, s);
  add<<<1, LANES>>>(s);
  for (int i = 0; i < TURNS; i++)
    for (int k = 0; k < LANES; k++) s->mixed[2 * k + 1] += k + 2;
  for (int i = 0; i < CPUS; i++) pthread_join(thread[i], nullptr);
  const cudaError_t e = cudaDeviceSynchronize();
  unsigned wrong = 0, sum = 0;
  for (int i = 0; i < 4; i++) sum += s->counter[i];
  for (int i = 0; i < 2 * LANES; i++) wrong += s->mixed[i] != TURNS * (i / 2 + 1 + i % 2);
  printf("atomics: %u of %u, %u mixed words wrong, %s\n", sum, (CPUS + 1) * TURNS * LANES, wrong, cudaGetErrorName(e));
  return e == cudaSuccess && sum == (CPUS + 1) * TURNS * LANES && !wrong;
}

static bool in_turns(shared *s)
{
  unsigned wrong = 0, expected = 0;
  turns<<<1, 128>>>(s);
  for (unsigned r = 1; r <= ROUNDS; r++) {
    for (int i = 0; i < WORDS; i++) s->data[i] += 1;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    s->to_gpu = r;
    while (s->to_cpu != r) {
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    expected += r + 1;
    for (int i = 0; i < WORDS; i++) wrong += s->data[i] != expected;
  }
  const cudaError_t e = cudaDeviceSynchronize();
  printf("turns: %u wrong, %s\n", wrong, cudaGetErrorName(e));
  return e == cudaSuccess && !wrong;
}

int main(int argc, char **argv)
{
  shared *s;
  if (argc > 1) s = (shared *)aligned_alloc(128, (sizeof(shared) + 127) / 128 * 128); // the CPU's own
  else cudaMallocHost((void **)&s, sizeof *s);
  for (unsigned i = 0; i < sizeof *s / 4; i++) ((volatile unsigned *)s)[i] = 0;
  bool ok = atomics(s);
  ok = in_turns(s) && ok;
  printf("%s\n", ok ? "PASS" : "FAIL");
  return !ok;
}
