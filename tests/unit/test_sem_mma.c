/* Tensor-core instructions against references written on whole matrices.
 *
 * Matrices are filled first and dealt to the lanes' registers by the formulas of the PTX ISA
 * (matrix fragments). The floating-point reference adds aligned, truncated terms as integers in
 * __int128, from values taken apart with frexp; it knows fraction bits and block lengths from a
 * table of its own (arXiv 2511.10909). Every case runs on all x86 levels and with lane masks
 * (sem_box.h).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fp_reference.h"
#include "sem_box.h"

enum { MAX_K = 256, ROUNDS = 84 };

/* ---- dealing matrices to lanes --------------------------------------------------------------- */

/* Shape of one operation; per = elements per 32-bit register. */
struct shape {
  unsigned m, k, per;
};

static uint64_t ma[16][MAX_K], mb[MAX_K][8], mc[16][8];

/* PTX: a_i of a thread: row = g, or g + 8 for every second group of `per` elements (shapes with 16
 * rows); columns advance by 4 * per after all rows. */
static void deal_a(struct box *b, struct shape s)
{
  const unsigned bits = 32 / s.per, halves = s.m / 8;
  memset(b->a, 0, sizeof b->a);
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < s.m * s.k / 32; i++) {
      const unsigned group = i / s.per, row = lane / 4 + 8 * (group % halves);
      const unsigned col = lane % 4 * s.per + i % s.per + 4 * s.per * (group / halves);
      b->a[group][lane] |= (uint32_t)ma[row][col] << bits % 32 * (i % s.per);
    }
}

static void deal_b(struct box *b, struct shape s)
{
  const unsigned bits = 32 / s.per;
  memset(b->b, 0, sizeof b->b);
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < 8 * s.k / 32; i++) {
      const unsigned row = lane % 4 * s.per + i % s.per + 4 * s.per * (i / s.per);
      b->b[i / s.per][lane] |= (uint32_t)mb[row][lane / 4] << bits % 32 * (i % s.per);
    }
}

/* c_i: row g for i < 2, else g + 8; column 2 t + i % 2. */
static void deal_c32(uint32_t (*c)[LANES], unsigned m)
{
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < m / 4; i++)
      c[i][lane] = (uint32_t)mc[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2];
}

static void deal_c16(uint32_t (*c)[LANES])
{
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < 2; i++)
      c[i][lane] = (uint32_t)(mc[lane / 4 + 8 * i][lane % 4 * 2] |
                              mc[lane / 4 + 8 * i][lane % 4 * 2 + 1] << 16);
}

static void check_d32(const struct box *b, unsigned m)
{
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < m / 4; i++)
      assert_int_equal(b->d[i][lane], mc[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2]);
}

/* ---- HMMA ------------------------------------------------------------------------------------ */

enum type { F16, BF16, TF32 };

struct hmma_case {
  enum type type;
  bool f32;
  unsigned shape, k; /* shape code */
  unsigned sm, frac, block;
};

static const struct hmma_case hmma_cases[] = {
    {F16, true, 0, 8, 80, 24, 8},    {F16, true, 1, 16, 86, 24, 8},  {F16, true, 1, 16, 90, 25, 16},
    {F16, true, 0, 8, 90, 25, 8},    {F16, false, 1, 16, 80, 24, 8}, {F16, false, 0, 8, 86, 24, 8},
    {F16, false, 1, 16, 90, 25, 16}, {BF16, true, 1, 16, 80, 24, 8}, {BF16, true, 0, 8, 86, 24, 8},
    {BF16, true, 1, 16, 90, 25, 16}, {TF32, true, 0, 8, 80, 24, 4},  {TF32, true, 2, 4, 86, 24, 4},
    {TF32, true, 0, 8, 90, 25, 8},   {TF32, true, 2, 4, 90, 25, 4},
};

static float float_of(uint32_t v)
{
  float x;
  memcpy(&x, &v, 4);
  return x;
}

static uint32_t pattern_of(float x)
{
  uint32_t v;
  memcpy(&v, &x, 4);
  return v;
}

static double value_of(uint32_t v, enum type t)
{
  quad x;
  bool neg;
  if (t == TF32) return (double)float_of(v & 0xffffe000u);
  enum ref_class c = ref_value(&x, &neg, v, t == F16 ? REF_F16 : REF_BF16);
  if (c != REF_FINITE) return c == REF_NAN ? (double)NAN : neg ? -HUGE_VAL : HUGE_VAL;
  return (double)x;
}

/* Exponent as the multiplier sees it: that of the leading bit, not below the format's smallest. */
static int exponent_of(double x, int smallest)
{
  int e;
  frexp(x, &e);
  return x == 0 || e - 1 < smallest ? smallest : e - 1;
}

/* One block for one output: value of c after it; patterns of FP32 or FP16. */
static uint32_t reference_block(const struct hmma_case *h, unsigned row, unsigned col, unsigned k0,
                                uint32_t c)
{
  const int smallest = h->type == F16 ? -14 : -126;
  double cv = h->f32 ? (double)float_of(c) : value_of(c, F16), ieee = cv;
  int top = -126;
  for (unsigned k = k0; k < k0 + h->block; k++) {
    double x = value_of((uint32_t)ma[row][k], h->type), y = value_of((uint32_t)mb[k][col], h->type);
    ieee += x * y;
    if (x == 0 || y == 0) continue;
    int e = exponent_of(x, smallest) + exponent_of(y, smallest);
    if (e > top) top = e;
  }
  const struct ref_format out = h->f32 ? REF_F32 : REF_F16;
  if (isnan(ieee)) return ref_nan(out);
  if (isinf(ieee)) return (uint32_t)ref_inf(out, ieee < 0);
  if (cv != 0 && exponent_of(cv, h->f32 ? -126 : -14) > top)
    top = exponent_of(cv, h->f32 ? -126 : -14);

  __int128 sum = (__int128)trunc(ldexp(cv, (int)h->frac - top));
  for (unsigned k = k0; k < k0 + h->block; k++)
    sum += (__int128)trunc(
        ldexp(value_of((uint32_t)ma[row][k], h->type) * value_of((uint32_t)mb[k][col], h->type),
              (int)h->frac - top));
  quad s = quad_scale((quad)sum, top - (int)h->frac);
  if (!h->f32) return (uint32_t)ref_round(s, REF_F16, REF_RN, false);
  if (s >= quad_scale(1, 128) || s <= -quad_scale(1, 128)) return (uint32_t)ref_inf(REF_F32, s < 0);
  return (uint32_t)ref_round(s, REF_F32, REF_RZ, false);
}

/* kind 0: like sizes; 1: any finite or special pattern; 2: mostly far apart; 3: cancelling; 4:
 * products about the smallest FP32 numbers; 5: small integers, zeros of both signs among them; 6: like sizes,
 * zeros, and the smallest numbers; 7: zeros, and in C a few specials. */
static uint32_t random_element(enum type t, unsigned kind, unsigned k)
{
  uint32_t r = random32();
  const unsigned drop = t == TF32 ? 0 : 16;
  if (kind == 5) {
    const uint32_t v = pattern_of((float)(r >> 8 & 3)), sign = r & 1;
    return t == F16 ? (uint32_t)ref_round((quad)(r >> 8 & 3), REF_F16, REF_RN, false) | sign << 15
                    : (v | sign << 31) >> drop;
  }
  if (kind == 6 && r % 4 == 0) return t == F16 ? r >> 8 & 0x8003 : 0;
  if (kind == 6) kind = 0;
  if (kind == 7) return 0;
  if (t == F16) {
    if (kind == 1) return r & 0xffff;
    if (kind == 0) return (r & 0x83ff) | (12 + (r >> 20 & 3)) << 10;
    if (kind == 3) return ((r & 0x0300) | 15 << 10) ^ (k & 1) << 15;
    return r & 0xfbff;
  }
  if (kind == 1) return r >> drop;
  if (kind == 0) return ((r & 0x807fffff) | (124 + (r >> 27 & 3)) << 23) >> drop;
  if (kind == 3) return (((r & 0x00600000) | 127u << 23) ^ (k & 1) << 31) >> drop;
  if (kind == 4) return ((r & 0x807fffff) | (55 + (r >> 27 & 15)) << 23) >> drop;
  return ((r & 0x807fffff) | (50 + (r >> 8 & 127)) << 23) >> drop;
}

static void fill_hmma(const struct hmma_case *h, unsigned kind)
{
  for (unsigned k = 0; k < h->k; k++) {
    for (unsigned r = 0; r < 16; r++) {
      ma[r][k] = random_element(h->type, kind, k);
      if (kind == 1 && random32() % 64) ma[r][k] = random_element(h->type, 2, k); /* few specials */
    }
    for (unsigned n = 0; n < 8; n++)
      mb[k][n] = random_element(h->type, kind == 1 && random32() % 64 ? 2 : kind, 0);
  }
  for (unsigned r = 0; r < 16; r++)
    for (unsigned n = 0; n < 8; n++) {
      uint32_t v = random32();
      if (kind == 0) v = (v & 0x807fffff) | (120 + (v >> 24 & 15)) << 23;
      if (kind == 3) v = 0;
      if (kind == 4) v &= v & 1 ? 0x80ffffff : 0;
      if (kind == 5) v = pattern_of((float)(int32_t)(v >> 16) - 0x4000);
      if (kind == 6) v = v & 1 ? v & 0x80000001u : (v & 0x807fffff) | (96 + (v >> 23 & 31)) << 23;
      if (kind == 7) v = v % 64 ? 0 : v | 0x7f800000u; /* infinite or NaN: a few */
      mc[r][n] = h->f32 ? v : random_element(F16, kind == 7 ? 1 : kind, 0);
    }
}

static void run_hmma(const struct hmma_case *h, uint64_t neg)
{
  static struct box b;
  const struct shape s = {16, h->k, h->type == TF32 ? 1 : 2};
  b.sm = h->sm;
  memset(b.d, 0x5a, sizeof b.d);
  deal_a(&b, s);
  deal_b(&b, s);
  if (h->f32)
    deal_c32(b.c, 16);
  else
    deal_c16(b.c);
  box_run(&b, box_word(0x23c, 0,
                       FIELD_HI(h->shape & 1, 75) | FIELD_HI(h->shape >> 1, 78) |
                           (h->f32 ? HI(76) : 0) | FIELD_HI(h->type, 82) | neg));
  if (neg)
    for (unsigned r = 0; r < 16; r++)
      for (unsigned k = 0; k < h->k; k++) ma[r][k] ^= h->type == TF32 ? 0x80000000u : 0x8000u;
  for (unsigned r = 0; r < 16; r++)
    for (unsigned n = 0; n < 8; n++)
      for (unsigned k = 0; k < h->k; k += h->block)
        mc[r][n] = reference_block(h, r, n, k, (uint32_t)mc[r][n]);
  if (h->f32) {
    check_d32(&b, 16);
    return;
  }
  uint32_t want[4][LANES];
  deal_c16(want);
  assert_memory_equal(b.d, want, 2 * sizeof want[0]);
}

static void test_hmma(void **state)
{
  (void)state;
  for (unsigned c = 0; c < sizeof hmma_cases / sizeof *hmma_cases; c++)
    for (unsigned n = 0; n < ROUNDS; n++) {
      fill_hmma(&hmma_cases[c], n % 8);
      run_hmma(&hmma_cases[c], n % 11 == 6 ? HI(72) : 0);
    }
}

/* 2^24 + 4 * 0.5: shows how many fraction bits are kept. */
static void test_hmma_truncates(void **state)
{
  static const struct {
    unsigned sm;
    uint32_t want;
  } row[] = {{80, 0x4b800000u}, {90, 0x4b800001u}};
  (void)state;
  for (unsigned c = 0; c < 2; c++) {
    static struct box b;
    const struct shape s = {16, 8, 2};
    b.sm = row[c].sm;
    for (unsigned k = 0; k < 8; k++) {
      for (unsigned r = 0; r < 16; r++) ma[r][k] = k < 4 ? 0x3c00 : 0; /* 1.0 */
      for (unsigned n = 0; n < 8; n++) mb[k][n] = 0x3800;              /* 0.5 */
    }
    for (unsigned r = 0; r < 16; r++)
      for (unsigned n = 0; n < 8; n++) mc[r][n] = 0x4b800000u; /* 2^24 */
    deal_a(&b, s);
    deal_b(&b, s);
    deal_c32(b.c, 16);
    box_run(&b, box_word(0x23c, 0, HI(76)));
    /* F = 24: each 0.5 is lost; F = 25: four of them make 2, one unit of FP32 there */
    assert_int_equal(b.d[0][0], row[c].want);
  }
}

static void test_hmma_refused(void **state)
{
  (void)state;
  assert_true(box_refused(box_word(0x23c, 0, HI(75) | FIELD_HI(TF32, 82) | HI(76)), 86));
  assert_true(box_refused(box_word(0x23c, 0, FIELD_HI(BF16, 82)), 86)); /* FP16 accumulate */
}

/* ---- IMMA, BMMA ------------------------------------------------------------------------------ */

static int64_t int_of(uint64_t v, unsigned bits, bool is_signed)
{
  int64_t x = (int64_t)(v & ((1u << bits) - 1));
  return is_signed && x >> (bits - 1) ? x - (1 << bits) : x;
}

static uint32_t wrap_or_clamp(__int128 x, bool sat)
{
  if (!sat) return (uint32_t)x;
  return (uint32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x);
}

static void run_imma(unsigned code, struct shape s, bool sa, bool sb, bool sat)
{
  static struct box b;
  const unsigned bits = 32 / s.per, small = bits == 4 ? 4 : 0;
  const unsigned ta = small | sa, tb = small | sb;
  b.sm = 86;
  for (unsigned k = 0; k < s.k; k++) {
    for (unsigned r = 0; r < 16; r++) ma[r][k] = random32() & ((1u << bits) - 1);
    for (unsigned n = 0; n < 8; n++) mb[k][n] = random32() & ((1u << bits) - 1);
  }
  for (unsigned r = 0; r < 16; r++)
    for (unsigned n = 0; n < 8; n++) {
      uint32_t v = random32();
      mc[r][n] = v % 3 == 0 ? 0x7ffffff0u + (v >> 29) : v % 3 == 1 ? 0x80000008u - (v >> 29) : v;
    }
  deal_a(&b, s);
  deal_b(&b, s);
  deal_c32(b.c, s.m);
  box_run(&b, box_word(0x237, 0,
                       HI(74) | FIELD_HI(code & 1, 75) | FIELD_HI(code >> 1, 85) |
                           FIELD_HI(ta & 3, 76) | FIELD_HI(ta >> 2, 83) | FIELD_HI(tb & 3, 78) |
                           FIELD_HI(tb >> 2, 84) | (sat ? HI(82) : 0)));
  for (unsigned r = 0; r < s.m; r++)
    for (unsigned n = 0; n < 8; n++) {
      __int128 sum = (int32_t)mc[r][n];
      for (unsigned k = 0; k < s.k; k++)
        sum += (__int128)int_of(ma[r][k], bits, sa) * int_of(mb[k][n], bits, sb);
      mc[r][n] = wrap_or_clamp(sum, sat);
    }
  check_d32(&b, s.m);
}

static void test_imma(void **state)
{
  static const struct {
    unsigned code;
    struct shape s;
  } row[] = {
      {0, {8, 16, 4}}, {4, {16, 16, 4}}, {5, {16, 32, 4}},
      {2, {8, 32, 8}}, {5, {16, 32, 8}}, {6, {16, 64, 8}},
  };
  (void)state;
  for (unsigned c = 0; c < sizeof row / sizeof *row; c++)
    for (unsigned n = 0; n < 24; n++) run_imma(row[c].code, row[c].s, n & 1, n & 2, n & 4);
}

/* ---- sparse A (PTX ISA, mma.sp): two of four kept, described by metadata ----------------------- */

enum { META = BOX_B + 12 }; /* box.b[12] */

/* Chooses two of every four columns of each row (one of two where `pairs`) and fills ma with what is
 * kept. at[r][j]: column of kept element j. The metadata of row r: four bits per group, in order. */
static uint64_t sparse_bits[16][2];
static unsigned at[16][MAX_K];

static void choose(unsigned k, bool pairs)
{
  memset(sparse_bits, 0, sizeof sparse_bits);
  for (unsigned r = 0; r < 16; r++)
    for (unsigned g = 0; g < k / (pairs ? 2 : 4); g++) {
      unsigned first = random32() % 3, second = first + 1 + random32() % (3 - first), nibble;
      if (pairs) {
        first = random32() & 1;
        nibble = first ? 0xe : 0x4;
        at[r][g] = 2 * g + first;
      } else {
        nibble = first | second << 2;
        at[r][2 * g] = 4 * g + first, at[r][2 * g + 1] = 4 * g + second;
      }
      sparse_bits[r][g / 16] |= (uint64_t)nibble << 4 * (g % 16);
    }
}

/* 16-bit elements: 16 columns of row r fill half a register of one lane of its four. */
static void deal_meta16(struct box *b, unsigned k, unsigned sel)
{
  for (unsigned lane = 0; lane < LANES; lane++) b->b[META - BOX_B][lane] = random32();
  for (unsigned r = 0; r < 8; r++)
    for (unsigned h = 0; h < k / 16; h++) {
      unsigned lane = 4 * r + (k == 16 ? sel : 2 * sel + h);
      b->b[META - BOX_B][lane] = (uint32_t)(sparse_bits[r][0] >> 16 * h & 0xffff) |
                                 (uint32_t)(sparse_bits[r + 8][0] >> 16 * h & 0xffff) << 16;
    }
}

static uint32_t pattern(float x)
{
  uint32_t v;
  memcpy(&v, &x, sizeof v);
  return v;
}

static uint32_t half_of(int v)
{
  static const uint16_t bits[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
  return bits[v + 3];
}

/* Small integers: every sum is exact, whatever its order. */
static void run_hmma_sparse(unsigned k, unsigned sel, unsigned code)
{
  static struct box b;
  static int x[16][MAX_K], y[MAX_K][8], z[16][8];
  b.sm = 90;
  choose(k, false);
  for (unsigned r = 0; r < 16; r++)
    for (unsigned j = 0; j < k / 2; j++) ma[r][j] = half_of(x[r][j] = (int)(random32() % 7) - 3);
  for (unsigned i = 0; i < k; i++)
    for (unsigned n = 0; n < 8; n++) mb[i][n] = half_of(y[i][n] = (int)(random32() % 7) - 3);
  for (unsigned r = 0; r < 16; r++)
    for (unsigned n = 0; n < 8; n++)
      mc[r][n] = pattern((float)(z[r][n] = (int)(random32() % 999) - 500));
  deal_a(&b, (struct shape){16, k / 2, 2});
  deal_b(&b, (struct shape){16, k, 2});
  deal_c32(b.c, 16);
  deal_meta16(&b, k, sel);
  box_run(&b, box_word(0x23c, (uint64_t)META << 40 | (uint64_t)sel << 48,
                       HI(73) | HI(76) | FIELD_HI(code & 1, 75) | FIELD_HI(code >> 1, 78)));
  for (unsigned r = 0; r < 16; r++)
    for (unsigned n = 0; n < 8; n++) {
      int sum = z[r][n];
      for (unsigned j = 0; j < k / 2; j++) sum += x[r][j] * y[at[r][j]][n];
      mc[r][n] = pattern((float)sum);
    }
  check_d32(&b, 16);
}

static void test_hmma_sparse(void **state)
{
  (void)state;
  for (unsigned n = 0; n < 24; n++) {
    run_hmma_sparse(16, n % 4, 1);
    run_hmma_sparse(32, n % 2, 3);
  }
}

/* Bytes: 32 columns of row r fill one register; rows g and g + 8 are in neighbouring lanes. */
static void run_imma_sparse(unsigned k, unsigned sel, unsigned code)
{
  static struct box b;
  b.sm = 80;
  choose(k, false);
  for (unsigned i = 0; i < k; i++) {
    for (unsigned r = 0; r < 16; r++) ma[r][i] = random32() & 255;
    for (unsigned n = 0; n < 8; n++) mb[i][n] = random32() & 255;
  }
  for (unsigned r = 0; r < 16; r++)
    for (unsigned n = 0; n < 8; n++) mc[r][n] = random32();
  deal_a(&b, (struct shape){16, k / 2, 4});
  deal_b(&b, (struct shape){16, k, 4});
  deal_c32(b.c, 16);
  for (unsigned lane = 0; lane < LANES; lane++) {
    unsigned h = lane & 1, part = k == 32 ? 0 : lane >> 1 & 1;
    bool used = k == 64 || (lane >> 1 & 1) == sel;
    b.b[META - BOX_B][lane] =
        used ? (uint32_t)(sparse_bits[lane / 4 + 8 * h][0] >> 32 * part) : random32();
  }
  box_run(&b, box_word(0x237, (uint64_t)META << 40 | (uint64_t)sel << 48,
                       HI(72) | HI(74) | FIELD_HI(code & 1, 75) | FIELD_HI(code >> 1, 85) |
                           HI(76) | HI(78)));
  for (unsigned r = 0; r < 16; r++)
    for (unsigned n = 0; n < 8; n++) {
      uint32_t sum = (uint32_t)mc[r][n];
      for (unsigned j = 0; j < k / 2; j++)
        sum += (uint32_t)((int8_t)ma[r][j] * (int8_t)mb[at[r][j]][n]);
      mc[r][n] = sum;
    }
  check_d32(&b, 16);
}

static void test_imma_sparse(void **state)
{
  (void)state;
  for (unsigned n = 0; n < 24; n++) {
    run_imma_sparse(32, n % 2, 5);
    run_imma_sparse(64, 0, 6);
  }
}

static void test_bmma(void **state)
{
  static struct box b;
  static const struct shape shape[3] = {{8, 128, 32}, {16, 128, 32}, {16, 256, 32}};
  (void)state;
  b.sm = 86;
  for (unsigned n = 0; n < 24; n++) {
    const unsigned code = n % 3;
    const bool is_and = n & 1;
    const struct shape s = shape[code];
    for (unsigned k = 0; k < s.k; k++) {
      for (unsigned r = 0; r < 16; r++) ma[r][k] = random32() & 1;
      for (unsigned c = 0; c < 8; c++) mb[k][c] = random32() & 1;
    }
    for (unsigned r = 0; r < 16; r++)
      for (unsigned c = 0; c < 8; c++) mc[r][c] = random32();
    deal_a(&b, s);
    deal_b(&b, s);
    deal_c32(b.c, s.m);
    box_run(&b, box_word(0x23d, 0, HI(74) | HI(80) | FIELD_HI(code, 75) | (is_and ? HI(78) : 0)));
    for (unsigned r = 0; r < s.m; r++)
      for (unsigned c = 0; c < 8; c++) {
        uint32_t sum = (uint32_t)mc[r][c];
        for (unsigned k = 0; k < s.k; k++)
          sum += (uint32_t)(is_and ? ma[r][k] & mb[k][c] : ma[r][k] ^ mb[k][c]);
        mc[r][c] = sum;
      }
    check_d32(&b, s.m);
  }
}

/* ---- DMMA, MOVM ------------------------------------------------------------------------------ */

static uint64_t bits_of(double x)
{
  uint64_t v;
  memcpy(&v, &x, 8);
  return v;
}

static double double_of(uint64_t v)
{
  double x;
  memcpy(&x, &v, 8);
  return x;
}

static uint64_t random_double(void)
{
  return (random64() & 0x800fffffffffffffu) | (1023 - 20 + random64() % 40) << 52;
}

static void put_double(uint32_t (*row)[LANES], unsigned r, unsigned lane, uint64_t v)
{
  row[2 * r][lane] = (uint32_t)v;
  row[2 * r + 1][lane] = (uint32_t)(v >> 32);
}

/* Modifiers of the sources: negation of a bit 72, b 63, c 75; absolute value of a bit 73, b 62, c 74. */
enum { NEG_A = 1 << 0, NEG_B = 1 << 1, NEG_C = 1 << 2, ABS_A = 1 << 3, ABS_B = 1 << 4, ABS_C = 1 << 5, DMMA_SIGNS = 1 << 6 };

static double with_sign(uint64_t v, bool abs, bool neg)
{
  const double x = abs ? fabs(double_of(v)) : double_of(v);
  return neg ? -x : x;
}

static struct word128 dmma_word(unsigned code, unsigned signs)
{
  static const uint8_t bit[] = {72, 63, 75, 73, 62, 74};
  uint64_t lo = 0, hi = FIELD_HI(code, 76);
  for (unsigned i = 0; i < sizeof bit; i++)
    if (signs >> i & 1) *(bit[i] < 64 ? &lo : &hi) |= 1ull << bit[i] % 64;
  return box_word(0x23f, lo, hi);
}

static void run_dmma(unsigned sm, unsigned code, unsigned m, unsigned depth, unsigned signs)
{
  static struct box b;
  b.sm = sm;
  for (unsigned k = 0; k < depth; k++) {
    for (unsigned r = 0; r < m; r++) ma[r][k] = random_double();
    for (unsigned n = 0; n < 8; n++) mb[k][n] = random_double();
  }
  for (unsigned r = 0; r < m; r++)
    for (unsigned n = 0; n < 8; n++) mc[r][n] = random_double();
  for (unsigned lane = 0; lane < LANES; lane++) {
    const unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < m * depth / 32; i++)
      put_double(b.a, i, lane, ma[g + 8 * (i % (m / 8))][t + 4 * (i / (m / 8))]);
    for (unsigned i = 0; i < depth / 4; i++) put_double(b.b, i, lane, mb[t + 4 * i][g]);
    for (unsigned i = 0; i < m / 4; i++)
      put_double(b.c, i, lane, mc[g + 8 * (i / 2)][2 * t + i % 2]);
  }
  box_run(&b, dmma_word(code, signs));
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned i = 0; i < m / 4; i++) {
      const unsigned r = lane / 4 + 8 * (i / 2), c = 2 * (lane % 4) + i % 2;
      double sum = with_sign(mc[r][c], signs & ABS_C, signs & NEG_C);
      for (unsigned k = 0; k < depth; k++)
        sum = fma(with_sign(ma[r][k], signs & ABS_A, signs & NEG_A),
                  with_sign(mb[k][c], signs & ABS_B, signs & NEG_B), sum);
      assert_true(((uint64_t)b.d[2 * i + 1][lane] << 32 | b.d[2 * i][lane]) == bits_of(sum));
    }
}

static void test_dmma(void **state)
{
  (void)state;
  for (unsigned n = 0; n < 10; n++) {
    run_dmma(80, 0, 8, 4, n & 1 ? NEG_A : 0);
    run_dmma(90, 0, 8, 4, 0);
  }
  for (unsigned signs = 0; signs < DMMA_SIGNS; signs++) run_dmma(signs & 1 ? 80 : 90, 0, 8, 4, signs);
}

/* b16 element (r, c) of the matrix is in lane 4 r + c / 2, half c % 2. */
static void test_movm(void **state)
{
  static struct box b;
  uint16_t mat[8][8];
  (void)state;
  for (unsigned r = 0; r < 8; r++)
    for (unsigned c = 0; c < 8; c++) mat[r][c] = (uint16_t)random32();
  for (unsigned i = 0; i < LANES; i++)
    b.a[0][i] = mat[i / 4][i % 4 * 2] | (uint32_t)mat[i / 4][i % 4 * 2 + 1] << 16;
  struct word128 w = box_word_ab(0x23a, 0, 0);
  w.lo &= ~((uint64_t)255 << 32);
  box_run(&b, w);
  for (unsigned i = 0; i < LANES; i++)
    assert_int_equal(b.d[0][i], mat[i % 4 * 2][i / 4] | (uint32_t)mat[i % 4 * 2 + 1][i / 4] << 16);
}

/* Nibble (r, c) is in lane 4 r + c / 8, byte (r, c) in lane 4 r + c % 16 / 4 of register c / 16. */
static void test_movm_u4to8(void **state)
{
  static struct box b;
  uint32_t want[2][LANES] = {{0}};
  (void)state;
  memset(b.a, 0, sizeof b.a);
  for (unsigned r = 0; r < 8; r++)
    for (unsigned c = 0; c < 32; c++) {
      uint32_t v = random32() & 15;
      b.a[0][4 * r + c / 8] |= v << 4 * (c % 8);
      want[c / 16][4 * r + c % 16 / 4] |= v << 8 * (c % 4);
    }
  b.sm = 120;
  struct word128 w = box_word_ab(0x23a, 0, FIELD_HI(2, 74) | FIELD_HI(1, 78));
  w.lo &= ~((uint64_t)255 << 32);
  box_run(&b, w);
  assert_memory_equal(b.d, want, sizeof want);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hmma),         cmocka_unit_test(test_hmma_truncates),
      cmocka_unit_test(test_hmma_refused), cmocka_unit_test(test_imma),
      cmocka_unit_test(test_bmma),         cmocka_unit_test(test_dmma),
      cmocka_unit_test(test_movm),         cmocka_unit_test(test_hmma_sparse),
      cmocka_unit_test(test_imma_sparse),  cmocka_unit_test(test_movm_u4to8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
