#include "libs/cublas/blas_tiles.h"

#include <math.h>

/* Cycles, whatever the GPU: what a CTA takes before its first product and behind its last, what a second kernel takes
 * to begin, and what an SM takes for one partial sum, 8 bytes of traffic with L2 or memory. */
static const double AROUND_A_CTA = 700, SECOND_KERNEL = 2500, PARTIAL_SUM = 0.3;

int64_t blas_tiles(int64_t length, int tile) { return (length + tile - 1) / tile; }

/* Cycles of an SM for one step of k of each of n CTAs that it holds at once. */
static double of_a_step(const struct blas_tile *t, int n)
{
  const double rate = t->resident > 1 ? t->alone + (t->rate - t->alone) * (n - 1.0) / (t->resident - 1) : t->rate;
  return (double)n * t->rows * t->columns * 1000 / rate / t->speed;
}

/* Of an SM that gets `whole` CTAs of k steps, then `parts` of k_part: it holds so many at once, and those that are last
 * run at the rate of fewer. */
static double of_an_sm(const struct blas_tile *t, int64_t whole, double k, int64_t parts, double k_part)
{
  enum { MOST_RESIDENT = 8 };
  const int64_t rounds = whole / t->resident;
  const double starts = (double)blas_tiles(whole + parts, t->resident) * AROUND_A_CTA;
  double left[MOST_RESIDENT], cycles = (double)rounds * k * of_a_step(t, t->resident) + starts;
  whole -= rounds * t->resident;
  for (int n = 0;;) {
    double step = k;
    for (; n < t->resident && whole + parts > 0; n++) {
      left[n] = whole > 0 ? k : k_part;
      if (whole > 0) whole--;
      else parts--;
    }
    if (n == 0) return cycles;
    for (int i = 0; i < n; i++) step = left[i] < step ? left[i] : step;
    cycles += step * of_a_step(t, n);
    int still = 0;
    for (int i = 0; i < n; i++)
      if (left[i] > step) left[still++] = left[i] - step;
    n = still;
  }
}

/* Waves of whole tiles, then of parts of the others: those that are last on the SM that has most. */
static struct blas_cut cut(const struct blas_tile *t, const struct blas_work *w, int64_t tiles, int64_t whole,
                           int splits)
{
  enum { K_STEP = 64 };
  struct blas_cut c = {.whole = whole, .others = tiles - whole};
  c.k_per_split = (int)(blas_tiles(blas_tiles(w->k, splits), K_STEP) * K_STEP);
  c.splits = (int)blas_tiles(w->k, c.k_per_split);
  const double parts = (double)c.others * (double)w->batch * c.splits, area = (double)t->rows * t->columns;
  c.bytes = parts * area * w->cell;
  c.cycles = INFINITY;
  if (c.bytes > w->most_bytes) return c; /* nor are there more parts than can be counted */
  c.cycles = of_an_sm(t, whole / w->sms, (double)w->k, (int64_t)ceil(parts / w->sms), c.k_per_split) + SECOND_KERNEL +
             parts / w->sms * area * PARTIAL_SUM;
  return c;
}

struct blas_cut blas_cut_for(const struct blas_tile *t, const struct blas_work *w)
{
  enum { LEAST_K = 256, MOST_SPLITS = 16 };
  const int64_t tiles = blas_tiles(w->m, t->rows) * blas_tiles(w->n, t->columns);
  const double all = (double)tiles * (double)w->batch;
  struct blas_cut best = {.whole = tiles, .splits = 1, .k_per_split = (int)w->k,
                          .cycles = of_an_sm(t, (int64_t)ceil(all / w->sms), (double)w->k, 0, 0)};
  const int64_t waves = w->last_alone && w->batch == 1 ? tiles / w->sms * w->sms : 0;
  for (int s = 2; w->cell && s <= MOST_SPLITS && w->k / s >= LEAST_K; s++)
    for (int64_t whole = 0; whole < tiles; whole += waves) {
      const struct blas_cut c = cut(t, w, tiles, whole, s);
      if (c.splits > 1 && c.cycles < best.cycles) best = c;
      if (whole == waves) break;
    }
  return best;
}
