#include "libs/cufft/fft_length.h"

#include <string.h>

#include "libs/cufft/fft_tables.h"

/* The most elements of a pass; with less than this many of them, neighbouring lines fill whole sectors of memory. */
static int32_t most(int type)
{
  return type == WS_F64 ? WS_FFT_ROOM_F64 : WS_FFT_ROOM_F32;
}
enum { GOOD_PART = 512 };

/* n without its prime factors up to FFT_MOST_PRIME: 1 when it has no other. */
static int64_t rough_part(int64_t n)
{
  for (int p = 2; p <= FFT_MOST_PRIME; p++)
    while (n % p == 0) n /= p;
  return n;
}

/* The divisor of n nearest to its `parts`th root from above, not above `limit`; 0: there is none such that the other
 * parts can be found. */
static int32_t pick(int64_t n, int parts, int32_t limit)
{
  int64_t others = 1;
  for (int i = 1; i < parts; i++) others *= limit;
  for (int64_t d = 1; d <= limit; d++) {
    int64_t power = 1;
    for (int i = 0; i < parts; i++) power *= d;
    if (power >= n && n % d == 0 && n / d <= others) return (int32_t)d;
  }
  return 0;
}

static bool split_in(struct fft_length *l, int64_t n, int parts, int32_t limit)
{
  l->parts = 0;
  for (int left = parts; left > 0; left--) {
    const int32_t d = pick(n, left, limit);
    if (!d) return false;
    l->part[l->parts++] = (struct fft_part){.n = d};
    n /= d;
  }
  return n == 1;
}

static bool split(struct fft_length *l, int64_t n, int type)
{
  if (rough_part(n) != 1) return false;
  if (split_in(l, n, 1, most(type))) return true;
  for (int parts = 2; parts <= FFT_PARTS; parts++)
    if (split_in(l, n, parts, GOOD_PART)) return true;
  for (int parts = 2; parts <= FFT_PARTS; parts++)
    if (split_in(l, n, parts, most(type))) return true;
  return false;
}

bool fft_length_plan(struct fft_length *l, int64_t n, int type)
{
  memset(l, 0, sizeof *l);
  l->n = n;
  if (split(l, n, type)) return true;
  if (n > INT64_C(1) << 28) return false;
  for (l->padded = 1; l->padded < 2 * n - 1; l->padded *= 2) continue;
  for (int sixteenths = 9; sixteenths <= 12; sixteenths += 3) /* a little less may do */
    if (l->padded % 16 == 0 && l->padded / 16 * sixteenths >= 2 * n - 1) {
      l->padded = l->padded / 16 * sixteenths;
      break;
    }
  return split(l, l->padded, type);
}

int64_t fft_length_work(const struct fft_length *l, int *arrays)
{
  *arrays = (l->parts > 1 || l->padded ? 1 : 0) + (l->parts > 1 && l->padded ? 1 : 0);
  return l->padded ? l->padded : l->n;
}

/* Tables of one part; `all` is its order together with the parts behind it. */
static bool part_tables(struct fft_part *p, int64_t all, int type)
{
  p->roots = fft_table_roots(p->n, 1, p->n, type);
  if (!p->roots) return false;
  if (all == p->n) return true;
  const int64_t coarse = (all >> WS_FFT_ROOT_BITS) + 1;
  p->coarse = fft_table_roots(all, 1 << WS_FFT_ROOT_BITS, coarse, type);
  p->fine = fft_table_roots(all, 1, 1 << WS_FFT_ROOT_BITS, type);
  return p->coarse && p->fine;
}

bool fft_length_tables(struct fft_length *l, int type)
{
  int64_t all = l->padded ? l->padded : l->n;
  for (int i = 0; i < l->parts; i++) {
    if (!part_tables(&l->part[i], all, type)) return false;
    all /= l->part[i].n;
  }
  return !l->padded || fft_table_chirps(l, type);
}

static void release(uint64_t *at)
{
  if (*at) cuMemFree_v2(*at);
  *at = 0;
}

void fft_length_free(struct fft_length *l)
{
  for (int i = 0; i < l->parts; i++) {
    release(&l->part[i].roots);
    release(&l->part[i].coarse);
    release(&l->part[i].fine);
  }
  release(&l->chirp);
  release(&l->filter);
  release(&l->unchirp);
}

/* ceil(2^32 / x), which __umulhi divides small numbers with; 0 for 1. */
static uint32_t magic(int32_t x)
{
  return x == 1 ? 0 : (uint32_t)(((UINT64_C(1) << 32) + (uint32_t)x - 1) / (uint32_t)x);
}

static int32_t next_radix(int32_t n)
{
  static const int8_t own[] = {8, 4, 2, 7, 5, 3};
  for (unsigned i = 0; i < sizeof own; i++)
    if (n % own[i] == 0) return own[i];
  int32_t p = 11;
  while (n % p) p += 2;
  return p;
}

void fft_length_stages(struct ws_fft_args *a, int32_t n)
{
  int32_t done = 1;
  a->n = n;
  a->pitch = n | 1;
  a->magic_n = magic(n);
  a->stages = 0;
  while (done < n) {
    struct ws_fft_stage *s = &a->stage[a->stages++];
    s->radix = next_radix(n / done);
    s->done = done;
    s->step = n / (s->radix * done);
    s->magic_done = magic(done);
    s->magic_rest = magic(n / s->radix);
    done *= s->radix;
  }
}
