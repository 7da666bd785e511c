/* Calibration: fixed work whose time tells how fast this machine is, so that rates measured on
 * different machines can be compared as ratios. Three loops: dependent 64-bit integer
 * multiply-adds, dependent double multiply-adds, and dependent loads from 256 KiB. Prints one line:
 * nanoseconds per step of each, best of five.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 20000000, RUNS = 5, TABLE = 1 << 15 };

static double now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t integer_work(uint64_t x)
{
  for (int i = 0; i < STEPS; i++) x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return x;
}

static uint64_t float_work(uint64_t x)
{
  double v = 1.0 + (double)(x & 255) * 0x1p-10;

  for (int i = 0; i < STEPS; i++) v = v * 0.999999 + 1e-6;
  return (uint64_t)(v * 1e6);
}

/* A single cycle through the table (Sattolo), so that every load depends on the one before. */
static uint64_t load_work(uint64_t x)
{
  static uint64_t next[TABLE];

  if (!next[0]) {
    uint64_t r = 1;
    for (uint64_t i = 0; i < TABLE; i++) next[i] = i;
    for (uint64_t i = TABLE - 1; i > 0; i--) {
      r = r * UINT64_C(6364136223846793005) + 1442695040888963407u;
      uint64_t j = (r >> 33) % i, t = next[i];
      next[i] = next[j];
      next[j] = t;
    }
  }
  x %= TABLE;
  for (int i = 0; i < STEPS; i++) x = next[x];
  return x;
}

static double best(uint64_t (*work)(uint64_t), uint64_t *sink)
{
  double t_best = 1e30;

  for (int i = 0; i < RUNS; i++) {
    double t = now();
    *sink += work(*sink);
    t = now() - t;
    if (t < t_best) t_best = t;
  }
  return t_best * 1e9 / STEPS;
}

int main(int argc, char **argv)
{
  uint64_t sink = (uint64_t)argc; /* unknown to the compiler: nothing is computed ahead */
  double i = best(integer_work, &sink), f = best(float_work, &sink), l = best(load_work, &sink);

  (void)argv;
  printf("calibration: integer %.3f ns, float %.3f ns, load %.3f ns per step\n", i, f, l);
  return sink == 0; /* never; keeps the results alive */
}
