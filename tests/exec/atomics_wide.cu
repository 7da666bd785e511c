// A thread of the host and a kernel change the same sixteen bytes of host memory: compare-and-swap and exchange of 128 bits (PTX ISA,
// atom.b128, sm_90 and later) are atomic at the scope of the system, beside the host's own. What is there always has one count in both
// halves, and no count is lost.
#include <atomic>
#include <thread>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 200, BLOCK = 32 };

struct alignas(16) quad {
  unsigned long long low, high;
};

struct numbers {
  quad counted, exchanged;
};

__device__ static quad swap(quad *p, quad was, quad now)
{
  quad old;
  asm volatile("{ .reg .b128 c, n, o;\n mov.b128 c, {%3, %4};\n mov.b128 n, {%5, %6};\n atom.sys.global.cas.b128 o, [%2], c, n;\n"
               " mov.b128 {%0, %1}, o; }"
               : "=l"(old.low), "=l"(old.high)
               : "l"(p), "l"(was.low), "l"(was.high), "l"(now.low), "l"(now.high)
               : "memory");
  return old;
}

__device__ static quad exchange(quad *p, quad now)
{
  quad old;
  asm volatile("{ .reg .b128 n, o;\n mov.b128 n, {%3, %4};\n atom.sys.global.exch.b128 o, [%2], n;\n mov.b128 {%0, %1}, o; }"
               : "=l"(old.low), "=l"(old.high)
               : "l"(p), "l"(now.low), "l"(now.high)
               : "memory");
  return old;
}

__global__ void change(numbers *n, unsigned *torn)
{
  for (int i = 0; i < ROUNDS; i++) {
    quad was = {}, found;
    while (true) {
      found = swap(&n->counted, was, {was.low + 1, was.high + 3});
      if (found.low == was.low && found.high == was.high) break;
      if (found.high != 3 * found.low) atomicAdd(torn, 1u);
      was = found;
    }
    found = exchange(&n->exchanged, {(unsigned long long)i, ~(unsigned long long)i});
    if (found.high != ~found.low) atomicAdd(torn, 1u);
  }
}

__attribute__((target("cx16"))) static quad host_swap(quad *p, quad was, quad now)
{
  const unsigned __int128 old = __sync_val_compare_and_swap((unsigned __int128 *)p, (unsigned __int128)was.high << 64 | was.low,
                                                            (unsigned __int128)now.high << 64 | now.low);
  return {(unsigned long long)old, (unsigned long long)(old >> 64)};
}

int main()
{
  numbers *n;
  unsigned *torn, bad = 0;
  CUDA(cudaMallocHost(&n, sizeof *n));
  CUDA(cudaMallocManaged(&torn, sizeof *torn));
  *torn = 0;
  n->counted = {0, 0};
  n->exchanged = {0, ~0ull};
  std::atomic<bool> over{false};
  std::atomic<unsigned long long> mine{0};
  std::thread beside([&] {
    quad at = {}, there = {0, ~0ull};
    do {
      for (quad found; found = host_swap(&n->counted, at, {at.low + 1, at.high + 3}), found.low != at.low || found.high != at.high; at = found)
        if (found.high != 3 * found.low) bad++;
      const quad found = host_swap(&n->exchanged, there, {there.low + 1, ~(there.low + 1)});
      if (found.high != ~found.low) bad++;
      there = found;
      if (++mine % 256 == 0) usleep(50); // so that compare-and-swap of a slow kernel gets through
    } while (!over);
  });
  while (!mine) std::this_thread::yield(); // both are at it
  change<<<2, BLOCK>>>(n, torn);
  CUDA(cudaDeviceSynchronize());
  over = true;
  beside.join();
  const unsigned long long all = mine + 2 * BLOCK * ROUNDS;
  printf("%llu of the host's; %u and %u torn\n", mine.load(), bad, *torn);
  if (n->counted.low != all || n->counted.high != 3 * all) printf("%llu %llu, %llu expected\n", n->counted.low, n->counted.high, all);
  return bad || *torn || n->counted.low != all || n->counted.high != 3 * all;
}
