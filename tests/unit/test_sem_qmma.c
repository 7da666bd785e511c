/* QMMA (matrix products of FP8, FP6 and FP4 numbers) against a reference on whole matrices, as in test_sem_mma.c: values taken
 * apart with frexp, aligned, truncated and added in __int128. Fraction bits, pairs per block and bits of
 * the result come from arXiv 2511.10909 (MMA-Sim): Ada 13, 16, 13; RTX Blackwell 25, 32, 23. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fp_reference.h"
#include "sem_box.h"

enum { M = 16, N = 8, MAX_K = 32, ROUNDS = 60, QMMA = 0x27a };

struct generation {
  unsigned sm, frac, block, result; /* result: fraction bits of an FP32 result */
};

static const struct generation generations[] = {{89, 13, 16, 13}, {120, 25, 32, 23}};

static uint8_t ma[M][MAX_K], mb[MAX_K][N];
static uint32_t mc[M][N];

static float float_of(uint32_t v)
{
  float x;
  memcpy(&x, &v, 4);
  return x;
}

/* OCP 8-bit floating point and Microscaling formats; `at`: lowest bit in the byte (PTX ISA, mma.sync with
 * .kind::f8f6f4). E4M3 has one NaN and no infinity, FP6 and FP4 have neither. */
struct format {
  unsigned code;
  int exp, frac, at;
};
static const struct format formats[] = {
    {0, 4, 3, 0}, {1, 5, 2, 0}, {3, 3, 2, 0}, {4, 2, 3, 0}, {5, 2, 1, 2}};
enum { E4M3, E5M2, FP8_FORMATS };

static int smallest(const struct format *f)
{
  return 2 - (1 << (f->exp - 1));
}

static double value(uint8_t byte, const struct format *f)
{
  const int v = byte >> f->at & ((2 << (f->exp + f->frac)) - 1);
  const int e = v >> f->frac & ((1 << f->exp) - 1), m = v & ((1 << f->frac) - 1);
  double x = ldexp(e ? (1 << f->frac) + m : m, (e ? e - 1 : 0) + smallest(f) - f->frac);
  if (f == &formats[E5M2] && e == 31) x = m ? (double)NAN : HUGE_VAL;
  if (f == &formats[E4M3] && (v & 0x7f) == 0x7f) x = (double)NAN;
  return v >> (f->exp + f->frac) ? -x : x;
}

static double half_value(uint32_t v)
{
  quad x;
  bool neg;
  enum ref_class c = ref_value(&x, &neg, v, REF_F16);
  return c == REF_NAN ? (double)NAN : c == REF_INF ? (neg ? -HUGE_VAL : HUGE_VAL) : (double)x;
}

/* Exponent as the multiplier sees it: that of the leading bit, not below the format's smallest. */
static int exponent_of(double x, int least)
{
  int e;
  frexp(x, &e);
  return x == 0 || e - 1 < least ? least : e - 1;
}

struct operation {
  bool f32;
  const struct format *a, *b;
  unsigned k;
};

/* One block for one output: pattern of c after it. */
static uint32_t block(const struct generation *g, struct operation o, unsigned row, unsigned col,
                      unsigned k0, unsigned n, uint32_t c)
{
  const double cv = o.f32 ? (double)float_of(c) : half_value(c);
  double ieee = cv;
  int top = -126;
  for (unsigned k = k0; k < k0 + n; k++) {
    double x = value(ma[row][k], o.a), y = value(mb[k][col], o.b);
    ieee += x * y;
    if (x == 0 || y == 0) continue;
    int e = exponent_of(x, smallest(o.a)) + exponent_of(y, smallest(o.b));
    if (e > top) top = e;
  }
  const struct ref_format out = o.f32 ? REF_F32 : REF_F16;
  if (isnan(ieee)) return ref_nan(out);
  if (isinf(ieee)) return (uint32_t)ref_inf(out, ieee < 0);
  const int ec = exponent_of(cv, o.f32 ? -126 : -14);
  if (cv != 0 && ec > top) top = ec;
  const int scale = (int)g->frac - top;
  __int128 sum = (__int128)trunc(ldexp(cv, scale));
  for (unsigned k = k0; k < k0 + n; k++)
    sum += (__int128)trunc(ldexp(value(ma[row][k], o.a) * value(mb[k][col], o.b), scale));
  quad s = quad_scale((quad)sum, -scale);
  if (!o.f32) return (uint32_t)ref_round(s, REF_F16, REF_RN, false);
  if (s >= quad_scale(1, 128) || s <= -quad_scale(1, 128)) return (uint32_t)ref_inf(REF_F32, s < 0);
  const struct ref_format cut = {(int)g->result + 1, 127}; /* with the exponents of FP32 */
  uint32_t sign = s < 0 ? 0x80000000u : 0;
  return (uint32_t)ref_round(s < 0 ? -s : s, cut, REF_RZ, false) << (23 - g->result) | sign;
}

/* PTX ISA, mma.m16n8k16 and m16n8k32 with FP8: elements 0..3 of a thread in row g, 4..7 in g + 8, the
 * same again 16 columns on. */
static void deal(struct box *b, struct operation o)
{
  memset(b->a, 0, sizeof b->a);
  memset(b->b, 0, sizeof b->b);
  memset(b->c, 0, sizeof b->c);
  for (unsigned lane = 0; lane < LANES; lane++) {
    const unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < o.k / 2; i++)
      b->a[i / 4][lane] |= (uint32_t)ma[g + 8 * (i / 4 % 2)][4 * t + i % 4 + 16 * (i / 8)] << 8 * (i % 4);
    for (unsigned i = 0; i < o.k / 4; i++)
      b->b[i / 4][lane] |= (uint32_t)mb[4 * t + i % 4 + 16 * (i / 4)][g] << 8 * (i % 4);
    for (unsigned i = 0; i < 4; i++) {
      uint32_t v = mc[g + 8 * (i / 2)][2 * t + i % 2];
      if (o.f32) b->c[i][lane] = v;
      else b->c[i / 2][lane] |= v << 16 * (i % 2);
    }
  }
}

static void check(const struct box *b, struct operation o)
{
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < 4; i++) {
      const uint32_t want = mc[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2];
      const uint32_t got = o.f32 ? b->d[i][lane] : b->d[i / 2][lane] >> 16 * (i % 2) & 0xffff;
      assert_int_equal(got, want);
    }
}

/* kind 0: like sizes; 1: any pattern; 2: any finite one; 3: c far from the products. */
static void fill(struct operation o, unsigned kind)
{
  for (unsigned k = 0; k < o.k; k++) {
    for (unsigned r = 0; r < M; r++) {
      uint32_t v = random32();
      ma[r][k] = (uint8_t)(kind == 0 ? (v & 0x87) | 0x38 : v);
      if (kind != 1 || v >> 26) ma[r][k] &= o.a == &formats[E5M2] ? 0xfb : 0xfe; /* few infinities and NaN */
    }
    for (unsigned n = 0; n < N; n++) {
      uint32_t v = random32();
      mb[k][n] = (uint8_t)(kind == 0 ? (v & 0x83) | 0x3c : v);
      if (kind != 1 || v >> 26) mb[k][n] &= o.b == &formats[E5M2] ? 0xfb : 0xfe;
    }
  }
  for (unsigned r = 0; r < M; r++)
    for (unsigned n = 0; n < N; n++) {
      uint32_t v = random32();
      if (o.f32) mc[r][n] = kind == 3 ? v & 0xbfffffff : (v & 0x807fffff) | (120 + (v >> 24 & 15)) << 23;
      else mc[r][n] = v & 0xbbff;
    }
}

static void run(const struct generation *g, struct operation o)
{
  static struct box b;
  const unsigned n = g->block < o.k ? g->block : o.k;
  b.sm = g->sm;
  deal(&b, o);
  box_run(&b, box_word(QMMA, 0,
                       HI(74) | (o.k == 32 ? HI(75) : 0) | (o.f32 ? HI(77) : 0) |
                           FIELD_HI(o.a->code & 1, 78) | FIELD_HI(o.a->code >> 1, 82) |
                           FIELD_HI(o.b->code & 1, 79) | FIELD_HI(o.b->code >> 1, 84)));
  for (unsigned r = 0; r < M; r++)
    for (unsigned c = 0; c < N; c++)
      for (unsigned k = 0; k < o.k; k += n) mc[r][c] = block(g, o, r, c, k, n, mc[r][c]);
  check(&b, o);
}

static void test_qmma(void **state)
{
  (void)state;
  for (unsigned i = 0; i < sizeof generations / sizeof *generations; i++)
    for (unsigned n = 0; n < 16 * ROUNDS; n++) {
      const unsigned known = generations[i].sm == 89 ? FP8_FORMATS : sizeof formats / sizeof *formats;
      const struct operation o = {n & 1, &formats[n / 4 % known], &formats[random32() % known],
                                  n & 2 ? 32 : 16};
      fill(o, random32() % 4);
      run(&generations[i], o);
    }
}

/* 1 + 2^-14: a product of that size is lost where 13 fraction bits are kept. */
static void test_ada_truncates(void **state)
{
  static const uint32_t want[] = {0x3f800000u, 0x3f800200u};
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    static struct box b;
    const struct operation o = {true, &formats[E5M2], &formats[E5M2], 32};
    memset(ma, 0, sizeof ma);
    memset(mb, 0, sizeof mb);
    for (unsigned r = 0; r < M; r++) ma[r][0] = 0x20; /* 2^-7 */
    for (unsigned n = 0; n < N; n++) mb[0][n] = 0x20;
    for (unsigned r = 0; r < M; r++)
      for (unsigned n = 0; n < N; n++) mc[r][n] = 0x3f800000u;
    b.sm = generations[i].sm;
    deal(&b, o);
    box_run(&b, box_word(QMMA, 0, HI(74) | HI(75) | HI(77) | HI(78) | HI(79)));
    assert_int_equal(b.d[0][0], want[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_qmma),
      cmocka_unit_test(test_ada_truncates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
