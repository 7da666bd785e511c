// Host of gau-nernst/learn-cuda's sums of 64 rows of 32,000: ladder_sums STEP TILE BLOCK (TILE 0: the step has none).
#include "ladder.h"
#include <cstring>

#define PLAIN STEP(v1) STEP(v2)
#define TILED STEP(v3) STEP(v4a) STEP(v4b) STEP(v4c) STEP(v5) STEP(v6)
#define STEP(name) void sum_##name(const float *, float *, int, int, int);
PLAIN
#undef STEP
#define STEP(name) void sum_##name(const float *, float *, int, int, int, int);
TILED
#undef STEP

enum { ROWS = 64, COLUMNS = 32000 };

static bool run(const char *name, const float *in, float *out, int tile, int block)
{
#define STEP(step) \
  if (!std::strcmp(name, #step)) return sum_##step(in, out, ROWS, COLUMNS, block), true;
  PLAIN
#undef STEP
#define STEP(step) \
  if (!std::strcmp(name, #step)) return sum_##step(in, out, ROWS, COLUMNS, tile, block), true;
  TILED
#undef STEP
  return false;
}

int main(int argc, char **argv)
{
  if (argc != 4) return 2;
  pair_of<float> in((size_t)ROWS * COLUMNS), out(ROWS);
  for (size_t i = 0; i < in.host.size(); i++) in.host[i] = (float)drawn(i, 1, 500) / 1000;
  in.up();
  out.up();
  if (!run(argv[1], in.device, out.device, std::atoi(argv[2]), std::atoi(argv[3]))) return 2;
  must(cudaDeviceSynchronize());
  out.down();
  double worst = 0;
  for (int row = 0; row < ROWS; row++) {
    double sum = 0;
    for (int i = 0; i < COLUMNS; i++) sum += in.host[(size_t)row * COLUMNS + i];
    worst = std::fmax(worst, std::fabs(sum - out.host[row]));
  }
  return verdict(worst, 0.05);
}
