// A thread of the host and a kernel add to the same numbers in host memory. Operations of the system's scope are atomic beside each
// other (CUDA C++ Programming Guide, "Atomic Functions"; host: concurrentManagedAccess), so nothing that either adds is lost.
#include <atomic>
#include <thread>

#include "check.h"

enum { ROUNDS = 100, BLOCK = 64, BESIDE = 500000 };

struct numbers {
  unsigned word;
  unsigned long long pair, swapped;
  float narrow;
  double wide;
};

__global__ void add(numbers *n)
{
  for (int i = 0; i < ROUNDS; i++) {
    atomicAdd_system(&n->word, 1u);
    atomicAdd_system(&n->pair, 1ull << 32 | 1);
    atomicAdd_system(&n->narrow, 1.0f);
    atomicAdd_system(&n->wide, 1.0);
    unsigned long long was = *(volatile unsigned long long *)&n->swapped, now;
    while ((now = atomicCAS_system(&n->swapped, was, was + 3)) != was) was = now;
  }
}

template <typename T> static void raise(T *p)
{
  T was, now;
  __atomic_load(p, &was, __ATOMIC_RELAXED);
  do now = was + 1;
  while (!__atomic_compare_exchange(p, &was, &now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

int main()
{
  numbers *n;
  CUDA(cudaMallocHost(&n, sizeof *n));
  *n = {};
  std::atomic<bool> over{false};
  std::atomic<unsigned> mine{0};
  std::thread beside([&] {
    do {
      __atomic_fetch_add(&n->word, 1, __ATOMIC_RELAXED);
      __atomic_fetch_add(&n->pair, 1, __ATOMIC_RELAXED);
      __atomic_fetch_add(&n->swapped, 1, __ATOMIC_RELAXED);
      raise(&n->narrow);
      raise(&n->wide);
      mine++;
    } while (!over && mine < 8000000); // FP32 counts to 2^24
  });
  while (!mine) std::this_thread::yield(); // both are at it
  unsigned launches = 0; // without time a kernel is over soon: as many as it takes for the thread to have been at it, too
  do {
    add<<<1, BLOCK>>>(n);
    CUDA(cudaDeviceSynchronize());
  } while (++launches < 100 && mine < BESIDE);
  over = true;
  beside.join();
  const unsigned long long theirs = (unsigned long long)launches * ROUNDS * BLOCK;
  printf("%u and %llu\n", mine.load(), theirs);
  const bool right = n->word == mine + theirs && n->pair == (theirs << 32) + theirs + mine && n->wide == (double)(mine + theirs) &&
                     n->narrow == (float)(mine + theirs) && n->swapped == 3 * theirs + mine;
  if (!right) printf("%u %llu %llu %g %g\n", n->word, n->pair, n->swapped, n->narrow, n->wide);
  return !right;
}
