// The game of life on a torus, one bit for each cell, with logic instructions on whole words.
#include "check.h"
#include "random.h"
#include <utility>
#include <vector>

const int rows = 64; // of 32 cells

__global__ void generation(const unsigned *a, unsigned *b)
{
  int y = threadIdx.x;
  unsigned s0 = 0, s1 = 0, s2 = 0, row[3]; // number of neighbours, bit by bit
  for (int d = 0; d < 3; d++) row[d] = a[(y + d + rows - 1) % rows];
  for (int d = 0; d < 3; d++)
    for (int s = 31; s <= 33; s++) {
      if (d == 1 && s == 32) continue;
      unsigned n = __funnelshift_l(row[d], row[d], s & 31), c0 = s0 & n, c1 = s1 & c0;
      s0 ^= n, s1 ^= c0, s2 |= c1;
    }
  b[y] = ~s2 & s1 & (s0 | row[1]);
}

int main()
{
  std::vector<unsigned> h(rows), got(rows);
  Random random(10);
  for (unsigned &v : h) v = random.next() & random.next() << 8;
  unsigned *a, *b;
  CUDA(cudaMalloc(&a, rows * 4));
  CUDA(cudaMalloc(&b, rows * 4));
  CUDA(cudaMemcpy(a, h.data(), rows * 4, cudaMemcpyHostToDevice));
  for (int g = 0; g < 10; g++) {
    generation<<<1, rows>>>(a, b);
    std::swap(a, b);
    std::vector<unsigned> next(rows);
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < 32; x++) {
        int n = 0;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) n += h[(y + dy + rows) % rows] >> ((x + dx) & 31) & 1;
        if (n == 3 || (n == 2 && h[y] >> x & 1)) next[y] |= 1u << x;
      }
    h = next;
  }
  CUDA(cudaMemcpy(got.data(), a, rows * 4, cudaMemcpyDeviceToHost));
  CHECK(got == h);
}
