// Host of a ladder of matrix products: ladder_product STEP M N K runs one step once and compares 64 elements with the
// CPU's. -DSTEPS='S(name) ...': the author's functions; -DIN, -DOUT: types; -DB_BY_COLUMNS=1: B is stored column by
// column; -DSCALE: what the whole numbers of the inputs are multiplied by; -DBOUND: of the error.
#include "ladder.h"
#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>

#define S(step) void step(const IN *, const IN *, OUT *, int, int, int);
STEPS
#undef S

static bool run(const char *name, const IN *a, const IN *b, OUT *c, int m, int n, int k)
{
#define S(step) \
  if (!std::strcmp(name, #step)) return step(a, b, c, m, n, k), true;
  STEPS
#undef S
  return false;
}

static double element(const pair_of<IN> &a, const pair_of<IN> &b, size_t row, size_t column, size_t n, size_t k)
{
  double sum = 0;
  for (size_t i = 0; i < k; i++)
    sum += (double)(float)a.host[row * k + i] * (double)(float)b.host[B_BY_COLUMNS ? column * k + i : i * n + column];
  return sum;
}

int main(int argc, char **argv)
{
  if (argc != 5) return 2;
  int m = std::atoi(argv[2]), n = std::atoi(argv[3]), k = std::atoi(argv[4]);
  pair_of<IN> a((size_t)m * k), b((size_t)k * n);
  pair_of<OUT> c((size_t)m * n);
  for (size_t i = 0; i < a.host.size(); i++) a.host[i] = (IN)(float)(drawn(i, 1, 8) * SCALE);
  for (size_t i = 0; i < b.host.size(); i++) b.host[i] = (IN)(float)(drawn(i, 2, 6) * SCALE);
  a.up();
  b.up();
  if (!run(argv[1], a.device, b.device, c.device, m, n, k)) return 2;
  must(cudaDeviceSynchronize());
  c.down();
  double worst = 0;
  for (int t = 0; t < 64; t++) {
    int row = t * 37 % m, column = t * 91 % n;
    double there = (double)(float)c.host[(size_t)row * n + column];
    worst = std::fmax(worst, std::fabs(element(a, b, row, column, n, k) - there));
  }
  return verdict(worst, BOUND);
}
