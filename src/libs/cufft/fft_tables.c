#include "libs/cufft/fft_tables.h"

#include <math.h>
#include <stdlib.h>

struct complex_number {
  double re, im;
};

static const double pi = 3.14159265358979323846;

/* exp(-2 pi i k / n) with the angle brought into the first eighth of the circle, so that it is right to the last bit or
 * two for every k. */
static struct complex_number root(int64_t k, int64_t n)
{
  k %= n;
  const bool below = 2 * k > n;
  if (below) k = n - k; /* its sine changes sign */
  const bool left = 4 * k > n;
  const int64_t q = left ? n - 2 * k : 2 * k; /* the angle is pi q / n, at most pi / 2 */
  const bool steep = 4 * q > n;
  const double angle = pi * (double)(steep ? n - 2 * q : 2 * q) / (2 * (double)n);
  const double c = steep ? sin(angle) : cos(angle), s = steep ? cos(angle) : sin(angle);
  return (struct complex_number){left ? -c : c, below ? s : -s};
}

static struct complex_number times(struct complex_number a, struct complex_number b)
{
  return (struct complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Copies numbers to the device, as the type has them; 0: no memory. */
static uint64_t put(const struct complex_number *v, int64_t count, int type)
{
  const size_t bytes = (size_t)count * (type == WS_F64 ? 16 : 8);
  float *narrow = type == WS_F64 ? NULL : malloc(bytes);
  uint64_t at = 0;
  if (type != WS_F64 && !narrow) return 0;
  for (int64_t i = 0; narrow && i < count; i++) {
    narrow[2 * i] = (float)v[i].re;
    narrow[2 * i + 1] = (float)v[i].im;
  }
  if (cuMemAlloc_v2(&at, bytes) != DRIVER_OK) at = 0;
  if (at && cuMemcpyHtoD_v2(at, narrow ? (const void *)narrow : v, bytes) != DRIVER_OK) {
    cuMemFree_v2(at);
    at = 0;
  }
  free(narrow);
  return at;
}

uint64_t fft_table_roots(int64_t order, int64_t each, int64_t count, int type)
{
  struct complex_number *v = malloc((size_t)count * sizeof *v);
  if (!v) return 0;
  for (int64_t k = 0; k < count; k++) v[k] = root(k * each, order);
  const uint64_t at = put(v, count, type);
  free(v);
  return at;
}

/* The transform of v in binary64 by the definition's even and odd halves, and thirds; n has the prime factors 2 and 3
 * only. `spare` has room for n, too; `step` is the order of the whole by n. */
static void transform(struct complex_number *v, struct complex_number *spare, int64_t n, int64_t order)
{
  if (n == 1) return;
  const int64_t r = n % 2 ? 3 : 2, m = n / r, step = order / n;
  for (int64_t j = 0; j < r; j++)
    for (int64_t i = 0; i < m; i++) spare[j * m + i] = v[i * r + j];
  for (int64_t j = 0; j < r; j++) transform(spare + j * m, v + j * m, m, order);
  for (int64_t k = 0; k < m; k++)
    for (int64_t u = 0; u < r; u++) {
      struct complex_number sum = spare[k];
      for (int64_t j = 1; j < r; j++) {
        const struct complex_number t = times(spare[j * m + k], root(j * (k + u * m) % n * step, order));
        sum.re += t.re, sum.im += t.im;
      }
      v[k + u * m] = sum;
    }
}

/* exp(-pi i d^2 / n) */
static struct complex_number chirp(int64_t d, int64_t n)
{
  return root((int64_t)((unsigned __int128)d * (unsigned __int128)d % (unsigned __int128)(2 * n)), 2 * n);
}

/* The spectrum of conj(chirp), which is symmetric, at 1 - n .. n - 1 of a circle of `padded`. */
static uint64_t filter(const struct fft_length *l, struct complex_number *v, struct complex_number *spare, int type)
{
  for (int64_t i = 0; i < l->padded; i++) v[i] = (struct complex_number){0, 0};
  for (int64_t d = 0; d < l->n; d++) {
    const struct complex_number c = chirp(d, l->n);
    v[d] = (struct complex_number){c.re, -c.im};
    if (d) v[l->padded - d] = v[d];
  }
  transform(v, spare, l->padded, l->padded);
  return put(v, l->padded, type);
}

bool fft_table_chirps(struct fft_length *l, int type)
{
  struct complex_number *v = malloc((size_t)l->padded * sizeof *v), *spare = malloc((size_t)l->padded * sizeof *v);
  if (v && spare) {
    l->filter = filter(l, v, spare, type);
    for (int64_t d = 0; d < l->n; d++) v[d] = chirp(d, l->n);
    l->chirp = put(v, l->n, type);
    for (int64_t d = 0; d < l->n; d++) {
      v[d] = chirp(d, l->n);
      v[d].re /= (double)l->padded, v[d].im /= (double)l->padded;
    }
    l->unchirp = put(v, l->n, type);
  }
  free(v);
  free(spare);
  return l->filter && l->chirp && l->unchirp;
}
