#include "validate/suite_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double *copy_of(const double *v, size_t n)
{
  double *c = malloc((n + 1) * sizeof *c);
  NO_MEMORY_IF(!c);
  memcpy(c, v, n * sizeof *c);
  return c;
}

/* Of sorted values, p from 0 to 1. */
static double percentile(const double *v, size_t n, double p)
{
  double at = p * (double)(n - 1);
  size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
  return v[low] + (at - (double)low) * (v[high] - v[low]);
}

static double mean(const double *v, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += v[i];
  return sum / (double)n;
}

/* Sum of products of the distances from the means. */
static double product(const double *x, const double *y, size_t n)
{
  double sum = 0, mx = mean(x, n), my = mean(y, n);
  for (size_t i = 0; i < n; i++) sum += (x[i] - mx) * (y[i] - my);
  return sum;
}

static double pearson(const double *x, const double *y, size_t n)
{
  return n < 3 ? NAN : product(x, y, n) / sqrt(product(x, x, n) * product(y, y, n));
}

/* Ranks from 1; equal values share the mean of theirs. */
static double *ranks(const double *v, size_t n)
{
  double *rank = copy_of(v, n);
  for (size_t i = 0; i < n; i++) {
    size_t below = 0, same = 0;
    for (size_t j = 0; j < n; j++) below += v[j] < v[i], same += v[j] == v[i];
    rank[i] = (double)below + ((double)same + 1) / 2;
  }
  return rank;
}

static double spearman(const double *x, const double *y, size_t n)
{
  double *a = ranks(x, n), *b = ranks(y, n), r = pearson(a, b, n);
  free(a);
  free(b);
  return r;
}

double summary_log_slope(const double *x, const double *y, size_t n)
{
  double *a = copy_of(x, n), *b = copy_of(y, n);
  for (size_t i = 0; i < n; i++) a[i] = log(x[i]), b[i] = log(y[i]);
  double spread = n ? product(a, a, n) : 0, slope = spread > 0 ? product(a, b, n) / spread : NAN;
  free(a);
  free(b);
  return slope;
}

struct summary summary_of(const double *measured, const double *simulated, size_t n)
{
  struct summary s = {.n = n, .r = NAN, .rank = NAN, .slope = NAN};
  if (!n) return s;
  double *error = copy_of(measured, n);
  for (size_t i = 0; i < n; i++) error[i] = 100 * (simulated[i] / measured[i] - 1);
  s.bias = mean(error, n);
  for (size_t i = 0; i < n; i++) error[i] = fabs(error[i]);
  qsort(error, n, sizeof *error, ascending);
  s.mean_abs = mean(error, n);
  s.p50 = percentile(error, n, 0.5);
  s.p90 = percentile(error, n, 0.9);
  s.worst = error[n - 1];
  free(error);
  s.r = pearson(measured, simulated, n);
  s.rank = spearman(measured, simulated, n);
  if (n >= 3) s.slope = summary_log_slope(measured, simulated, n);
  return s;
}
