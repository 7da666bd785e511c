// Host of pranjalssh/fast.cu's last product, N cubed in BF16: A by rows, B and C by columns. KERNEL: the author's
// header, for which its own host includes and defines what stands before it here. RUN: the function that launches it.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <cuda.h>
#include <cuda/barrier>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <iostream>

#include "ladder.h"

typedef __nv_bfloat16 bf16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define cudaCheck(e) must(e)
#include KERNEL

enum { ORDER_INTS = 128 * 8192 }; // the author's schedule of tiles

int main(int argc, char **argv)
{
  if (argc != 2) return 2;
  size_t n = (size_t)std::atoi(argv[1]);
  pair_of<bf16> a(n * n), b(n * n), c(n * n);
  for (size_t i = 0; i < n * n; i++) {
    a.host[i] = __float2bfloat16((float)drawn(i, 1, 8) / 512);
    b.host[i] = __float2bfloat16((float)drawn(i, 2, 6) / 512);
  }
  pair_of<int> order(ORDER_INTS);
  std::fill(order.host.begin(), order.host.end(), -1);
  a.up();
  b.up();
  order.up();
  RUN((int)n, (int)n, (int)n, a.device, b.device, c.device, order.device);
  must(cudaDeviceSynchronize());
  c.down();
  double worst = 0;
  for (size_t t = 0; t < 64; t++) {
    size_t row = t * 37 % n, column = t * 91 % n;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
      sum += (double)__bfloat162float(a.host[row * n + i]) * (double)__bfloat162float(b.host[column * n + i]);
    worst = std::fmax(worst, std::fabs(sum - (double)__bfloat162float(c.host[column * n + row])));
  }
  return verdict(worst, 1e-2);
}
