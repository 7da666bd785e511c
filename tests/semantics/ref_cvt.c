/* Reference: conversions. Rules: PTX ISA 9.0, cvt and cvt.pack.
 *
 * NaN to integer is 0 with .NTZ (what PTX says of FP32 to 32 bits and less) and else half of the
 * type's range; integers outside the range saturate; FTZ concerns FP32 only. NaN results are
 * canonical but in FP64, where any quiet NaN will do.
 */
#include "num.h"
#include "sem.h"

#define EACH_LANE for (unsigned i = 0; i < SEM_LANES; i++)

/* Codes of the FSIZE fields. */
static bool format(uint64_t code, struct fmt *f)
{
  const struct fmt *const of[8] = {NULL, &NUM_F16, &NUM_F32, &NUM_F64, &NUM_BF16, NULL, NULL, NULL};
  if (!of[code & 7]) return false;
  *f = *of[code & 7];
  return true;
}

static bool is_f32(struct fmt f)
{
  return f.prec == NUM_F32.prec;
}

static unsigned width(struct fmt f)
{
  return f.prec + f.ebits;
}

static uint64_t flush(uint64_t v, struct fmt f, bool on)
{
  return on && is_f32(f) && num_is_subnormal(v, f) ? v & num_sign(f) : v;
}

/* A float source: the part the instruction selects, then |.|, -, FTZ. */
static uint64_t source(const struct ref_in *in, unsigned k, unsigned lane, struct fmt f, bool ftz)
{
  const struct sass_src *s = &in->s->src[k];
  uint64_t v = width(f) == 64 ? pair(in, k, 0, lane) : in->src[k][0][lane];
  if (width(f) == 16) v = v >> 16 * s->swz & 0xffff;
  if (s->abs) v &= ~num_sign(f);
  if (s->neg) v ^= num_sign(f);
  return flush(v, f, ftz);
}

static void put(struct ref_out *o, unsigned i, uint64_t v)
{
  o->d[0][i] = (uint32_t)v;
  o->d[1][i] = (uint32_t)(v >> 32);
}

static uint64_t narrow(struct num *n, uint64_t v, struct fmt from, struct fmt to, mpfr_rnd_t m)
{
  num_from(n->x, v, from);
  mpfr_set_prec(n->r, to.prec);
  return num_to(n->r, mpfr_set(n->r, n->x, m), to, m);
}

static bool f2f(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  struct fmt from, to;
  const bool ftz = get(in, FLD_FTZ), integral = in->sem == SEM_FRND;
  const mpfr_rnd_t m = num_mode(get(in, integral ? FLD_RND_INT : FLD_RND));
  if (!format(get(in, FLD_CVT_SRC_FSIZE), &from) || !format(get(in, FLD_CVT_DST_FSIZE), &to))
    return false;
  o->rows = width(to) == 64 ? 2 : 1;
  o->any_nan64 = o->rows == 2;
  EACH_LANE
  {
    const uint64_t v = source(in, 0, i, from, ftz);
    num_from(n->x, v, from);
    if (integral && mpfr_number_p(n->x)) {
      const bool neg = mpfr_signbit(n->x);
      mpfr_rint(n->x, n->x, m);
      mpfr_setsign(n->x, n->x, neg, MPFR_RNDN);
    }
    mpfr_set_prec(n->r, to.prec);
    put(o, i, flush(num_to(n->r, mpfr_set(n->r, n->x, m), to, m), to, ftz));
  }
  return true;
}

/* x as an integer of `bits`, saturated. */
static uint64_t to_integer(struct num *n, unsigned bits, bool sign, bool ntz, mpfr_rnd_t m)
{
  const uint64_t top = (uint64_t)1 << (bits - 1), ones = top | (top - 1);
  if (mpfr_nan_p(n->x)) return ntz ? 0 : sign ? 0 - top : top;
  mpfr_rint(n->x, n->x, m);
  if (sign) {
    if (mpfr_cmp_si_2exp(n->x, 1, bits - 1) >= 0) return top - 1;
    if (mpfr_cmp_si_2exp(n->x, -1, bits - 1) <= 0) return 0 - top;
    return (uint64_t)mpfr_get_si(n->x, MPFR_RNDZ);
  }
  if (mpfr_sgn(n->x) <= 0) return 0;
  return mpfr_cmp_si_2exp(n->x, 1, bits) >= 0 ? ones : mpfr_get_ui(n->x, MPFR_RNDZ);
}

static bool f2i(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  struct fmt from;
  const unsigned bits = 8u << get(in, FLD_CVT_DST_ISIZE);
  if (!format(get(in, FLD_CVT_SRC_FSIZE), &from)) return false;
  o->rows = bits == 64 ? 2 : 1;
  EACH_LANE
  {
    num_from(n->x, source(in, 0, i, from, get(in, FLD_FTZ)), from);
    put(o, i,
        to_integer(n, bits, get(in, FLD_CVT_DST_SIGNED), get(in, FLD_CVT_NTZ),
                   num_mode(get(in, FLD_RND_INT))));
  }
  return true;
}

/* The byte or half that the source names, extended. */
static bool i2f(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  struct fmt to;
  const unsigned bits = 8u << get(in, FLD_CVT_SRC_ISIZE);
  const mpfr_rnd_t m = num_mode(get(in, FLD_RND));
  if (!format(get(in, FLD_CVT_DST_FSIZE), &to)) return false;
  o->rows = width(to) == 64 ? 2 : 1;
  EACH_LANE
  {
    uint64_t v = bits == 64 ? pair(in, 0, 0, i) : in->src[0][0][i] >> bits * in->s->src[0].swz;
    if (bits < 64) v &= ((uint64_t)1 << bits) - 1;
    const bool neg = get(in, FLD_CVT_SRC_SIGNED) && v >> (bits - 1);
    if (neg) v = bits < 64 ? ((uint64_t)1 << bits) - v : 0 - v;
    mpfr_set_ui(n->x, v, MPFR_RNDN);
    if (neg) mpfr_neg(n->x, n->x, MPFR_RNDN);
    mpfr_set_prec(n->r, to.prec);
    put(o, i, num_to(n->r, mpfr_set(n->r, n->x, m), to, m));
  }
  return true;
}

/* ---- F2FP ------------------------------------------------------------------------------------ */

enum { F8_KIND_UNPACK = 4, F8_KIND_TF32 = 5, F8_KIND_PACK = 10 };

static uint64_t relu(uint64_t v, struct fmt f, bool on)
{
  return on && v & num_sign(f) && !num_is_nan(v, f) ? 0 : v;
}

/* Half of a packed result: RELU after the rounding, SATFINITE instead of infinity. */
static uint32_t packed(struct num *n, const struct ref_in *in, uint64_t v, struct fmt to,
                       mpfr_rnd_t m)
{
  uint64_t r = relu(narrow(n, v, NUM_F32, to, m), to, get(in, FLD_F2FP_RELU));
  if (get(in, FLD_F2FP_SATFINITE) && (r & ~num_sign(to)) == num_inf(to)) r--;
  return (uint32_t)r;
}

static void pack_half(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const struct fmt to = get(in, FLD_F2FP_FMT) | get(in, FLD_F2FP_FMT80) ? NUM_BF16 : NUM_F16;
  const mpfr_rnd_t m = num_mode(get(in, FLD_F2FP_RND));
  EACH_LANE
  {
    uint32_t low = packed(n, in, source(in, 1, i, NUM_F32, false), to, m);
    uint32_t high = get(in, FLD_F2FP_MERGE)
                        ? in->src[2][0][i]
                        : packed(n, in, source(in, 0, i, NUM_F32, false), to, m);
    o->d[0][i] = high << 16 | low;
  }
}

/* Significand bits of a narrow format and its largest finite number; all saturate. NaN gives 0x7f in
 * FP8, the largest number in FP6 and FP4 (PTX ISA: cvt.rn.satfinite). */
struct f8 {
  struct fmt f;
  uint32_t most, nan;
};

static struct f8 f8_format(bool e4m3)
{
  return e4m3 ? (struct f8){{4, 4}, 0x7e, 0x7f} : (struct f8){{3, 5}, 0x7b, 0x7f};
}

/* The 16 bits of c that stochastic rounding adds: bit numbers from the most significant one on, in runs of 8 (measured on
 * sm_100); -1: rounds to nearest. */
static int slice_of(const struct ref_in *in, unsigned lane, bool second, bool fp4)
{
  static const struct {
    uint8_t first[2];
    int8_t step;
  } runs[2][2] = {{{{16, 24}, 1}, {{31, 23}, -1}}, {{{8, 24}, 1}, {{31, 15}, -1}}};
  const uint32_t c = in->src[2][0][lane];
  int r = 0;
  if (!get(in, FLD_F2FP_RS)) return -1;
  for (int k = 0; k < 16; k++)
    r = r << 1 | (int)(c >> (runs[fp4][second].first[k / 8] + runs[fp4][second].step * (k % 8)) & 1);
  return r;
}

/* n->x, not negative, to an integer: up when its fraction and slice / 2^16 reach one. */
static void round_by(struct num *n, int slice)
{
  if (slice < 0) {
    mpfr_rint(n->x, n->x, MPFR_RNDN);
    return;
  }
  mpfr_set_prec(n->y, 256);
  mpfr_frac(n->y, n->x, MPFR_RNDN);
  mpfr_mul_2si(n->y, n->y, 16, MPFR_RNDN);
  const bool up = mpfr_cmp_si(n->y, 65536 - slice) >= 0;
  mpfr_floor(n->x, n->x);
  if (up) mpfr_add_ui(n->x, n->x, 1, MPFR_RNDN);
}

static uint32_t to_f8(struct num *n, uint64_t v, struct fmt from, struct f8 f, bool clamp_negative,
                      int slice)
{
  if (num_is_nan(v, from)) return f.nan;
  num_from(n->x, v, from);
  const uint32_t sign = (uint32_t)(mpfr_signbit(n->x) != 0) << (f.f.ebits + (unsigned)f.f.prec - 1);
  if (sign && clamp_negative) return 0;
  mpfr_abs(n->x, n->x, MPFR_RNDN);
  num_from(n->y, f.most, (struct fmt){f.f.prec, 6}); /* the top exponent of E4M3 is a number's */
  mpfr_mul_2si(n->y, n->y, 31 - ((1 << (f.f.ebits - 1)) - 1), MPFR_RNDN);
  if (mpfr_cmp(n->x, n->y) >= 0) return sign | f.most;
  /* below the largest number: a format of the same numbers with a wider exponent, and the
   * subnormals of its own */
  mpfr_set_prec(n->r, f.f.prec);
  const mpfr_exp_t least = 2 - (1 << (f.f.ebits - 1));
  mpfr_exp_t e = mpfr_zero_p(n->x) ? least : mpfr_get_exp(n->x) - 1;
  if (e < least) e = least;
  mpfr_mul_2si(n->x, n->x, (int)f.f.prec - 1 - e, MPFR_RNDN);
  round_by(n, slice);
  uint32_t units = (uint32_t)mpfr_get_ui(n->x, MPFR_RNDZ);
  uint32_t r = ((uint32_t)(e - least) << (f.f.prec - 1)) + units;
  return sign | (r > f.most ? f.most : r);
}

/* The two numbers a pack converts (kinds 8 to 11): low and high, and their format. */
struct pack_source {
  bool known;
  struct fmt f;
  uint32_t v[2];
};

static struct pack_source pack_source(const struct ref_in *in, unsigned lane)
{
  const uint32_t a = in->src[0][0][lane], b = in->src[1][0][lane];
  switch (get(in, FLD_F8_SOURCE) | get(in, FLD_F8_SOURCE100)) { /* no row has both */
  case 1: return (struct pack_source){true, NUM_F16, {b & 0xffff, b >> 16}};
  case 2: return (struct pack_source){true, NUM_F32, {b, a}};
  case 5: return (struct pack_source){true, NUM_BF16, {b & 0xffff, b >> 16}};
  default: return (struct pack_source){.known = false};
  }
}

static bool source_known(const struct ref_in *in)
{
  return pack_source(in, 0).known && (!get(in, FLD_F2FP_RS) || pack_source(in, 0).f.prec == NUM_F32.prec);
}

static bool pack_f8(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const struct f8 f = f8_format(get(in, FLD_F8_FORMAT));
  const bool clamp = get(in, FLD_F2FP_RELU);
  if (!source_known(in)) return false;
  EACH_LANE
  {
    const struct pack_source p = pack_source(in, i);
    uint32_t low = to_f8(n, p.v[0], p.f, f, clamp, slice_of(in, i, true, false));
    uint32_t high = to_f8(n, p.v[1], p.f, f, clamp, slice_of(in, i, false, false));
    o->d[0][i] = in->src[2][0][i] >> (get(in, FLD_F8_C_UPPER) ? 16 : 0) << 16 | high << 8 | low;
  }
  return get(in, FLD_F2FP_SATFINITE);
}

/* Kinds 8 and 9: to a pair of FP4 or FP6, below what c holds. */
static bool pack_small(struct num *n, const struct ref_in *in, struct ref_out *o, bool fp4)
{
  const unsigned code = fp4 ? get(in, FLD_F4_FORMAT) : get(in, FLD_F6_FORMAT);
  const struct f8 f = fp4         ? (struct f8){{2, 2}, 7, 7}
                      : code == 2 ? (struct f8){{4, 2}, 31, 31}
                                  : (struct f8){{3, 3}, 31, 31};
  const bool clamp = get(in, FLD_F2FP_RELU);
  if ((fp4 ? code != 3 : code < 2) || !source_known(in)) return false;
  EACH_LANE
  {
    const struct pack_source p = pack_source(in, i);
    uint32_t low = to_f8(n, p.v[0], p.f, f, clamp, slice_of(in, i, true, fp4));
    uint32_t high = to_f8(n, p.v[1], p.f, f, clamp, slice_of(in, i, false, fp4));
    o->d[0][i] = in->src[2][0][i] << (fp4 ? 8 : 16) | high << (fp4 ? 4 : 8) | low;
  }
  return get(in, FLD_F2FP_SATFINITE);
}

/* Kind 11: the power of two below or not below the magnitude, biased by 127. */
static uint32_t to_e8(uint32_t v, bool up, bool finite)
{
  const uint32_t mag = v & 0x7fffffff, e = mag >> 23;
  if (mag >= 0x7f800000) return mag > 0x7f800000 || !finite ? 0xff : 0xfe;
  const uint32_t power = e ? e << 23 : 1u << 22; /* 2^-127 is subnormal */
  const uint32_t r = e + (up && mag > power);
  return r > 0xfe && finite ? 0xfe : r;
}

/* Every format of a pair is part of FP32. */
static uint32_t as_f32(struct num *n, uint32_t v, struct fmt from)
{
  if (from.prec == NUM_F32.prec) return v;
  if (from.prec == NUM_BF16.prec) return v << 16;
  if (num_is_nan(v, from)) return 0x7fffffff;
  return (uint32_t)narrow(n, v, from, NUM_F32, MPFR_RNDN);
}

static bool pack_e8(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  enum { RP = 2, RZ = 3 };
  const unsigned mode = get(in, FLD_F2FP_RND);
  const bool finite = get(in, FLD_F2FP_SATFINITE);
  if (!source_known(in)) return false;
  EACH_LANE
  {
    const struct pack_source p = pack_source(in, i);
    const uint32_t low = as_f32(n, p.v[0], p.f), high = as_f32(n, p.v[1], p.f);
    o->d[0][i] = in->src[2][0][i] << 16 | to_e8(high, mode == RP, finite) << 8 | to_e8(low, mode == RP, finite);
  }
  return (mode == RP || mode == RZ) && !get(in, FLD_E8_FORMAT);
}

static uint32_t from_f8(struct num *n, uint32_t v, bool e4m3, bool clamp)
{
  const bool nan = e4m3 ? (v & 0x7f) == 0x7f : (v & 0x7f) > 0x7c;
  if (nan) return 0x7fff;
  if (clamp && v >> 7) return 0;
  uint32_t mag = v & 0x7f, sign = (v & 0x80) << 8;
  num_from(n->x, mag, (struct fmt){e4m3 ? 4 : 3, 6}); /* bias 31 instead of 7 or 15 */
  if (mag >> (e4m3 ? 3 : 2))
    mpfr_mul_2si(n->x, n->x, e4m3 ? 31 - 7 : 31 - 15, MPFR_RNDN);
  else
    mpfr_set_ui_2exp(n->x, mag, e4m3 ? -9 : -16, MPFR_RNDN);
  if (!e4m3 && mag == 0x7c) mpfr_set_inf(n->x, 1);
  mpfr_set_prec(n->r, NUM_F16.prec);
  return sign | (uint32_t)num_to(n->r, mpfr_set(n->r, n->x, MPFR_RNDN), NUM_F16, MPFR_RNDN);
}

/* FP4 and FP6: all patterns are numbers (OCP Microscaling Formats). */
static uint32_t from_small(struct num *n, uint32_t v, unsigned ebits, unsigned frac, bool clamp)
{
  const uint32_t m = v & ((1u << frac) - 1), e = v >> frac & ((1u << ebits) - 1);
  const bool neg = v >> (ebits + frac) & 1;
  if (neg && clamp) return 0;
  const int least = 2 - (1 << (ebits - 1)) - (int)frac;
  mpfr_set_ui_2exp(n->x, e ? m + (1u << frac) : m, least + (e ? (int)e - 1 : 0), MPFR_RNDN);
  mpfr_set_prec(n->r, NUM_F16.prec);
  return (uint32_t)neg << 15 |
         (uint32_t)num_to(n->r, mpfr_set(n->r, n->x, MPFR_RNDN), NUM_F16, MPFR_RNDN);
}

/* A power of two, biased by 127, as BF16. */
static uint32_t from_e8(struct num *n, uint32_t v)
{
  if (v == 0xff) return 0x7fff;
  mpfr_set_ui_2exp(n->x, 1, (int)v - 127, MPFR_RNDN);
  mpfr_set_prec(n->r, NUM_BF16.prec);
  return (uint32_t)num_to(n->r, mpfr_set(n->r, n->x, MPFR_RNDN), NUM_BF16, MPFR_RNDN);
}

static bool unpack_f8(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  enum { E5M2 = 2, E4M3 = 3, E2M1 = 5, E2M3 = 6, E3M2 = 7, BF16_E8 = 11 };
  const unsigned code = get(in, FLD_F8_UNPACK) | get(in, FLD_F8_UNPACK100);
  const bool e4m3 = code == E4M3, clamp = get(in, FLD_F2FP_RELU);
  const unsigned ebits = code == E3M2 ? 3 : 2, frac = code == E2M1 ? 1 : 5 - ebits;
  if (code == BF16_E8 ? !get(in, FLD_F8_TO_BF16) || clamp : get(in, FLD_F8_TO_BF16)) return false;
  if (get(in, FLD_F8_BYTE) & 1 && code != E2M1) return false;
  if (code < E5M2 || code == 4 || (code > E3M2 && code != BF16_E8)) return false;
  EACH_LANE
  {
    const uint32_t b = in->src[1][0][i] >> (get(in, FLD_F8_UPPER) ? 16 : 8 * get(in, FLD_F8_BYTE));
    if (code == BF16_E8)
      o->d[0][i] = from_e8(n, b & 0xff) | from_e8(n, b >> 8 & 0xff) << 16;
    else if (code == E2M1)
      o->d[0][i] = from_small(n, b, ebits, frac, clamp) | from_small(n, b >> 4, ebits, frac, clamp) << 16;
    else if (code > E2M1)
      o->d[0][i] = from_small(n, b, ebits, frac, clamp) | from_small(n, b >> 8, ebits, frac, clamp) << 16;
    else
      o->d[0][i] = from_f8(n, b & 0xff, e4m3, clamp) | from_f8(n, b >> 8 & 0xff, e4m3, clamp) << 16;
  }
  return true;
}

static void pack_tf32(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const mpfr_rnd_t m = num_mode(get(in, FLD_F2FP_RND));
  EACH_LANE
  {
    uint64_t r = narrow(n, in->src[1][0][i], NUM_F32, NUM_TF32, m);
    if (num_is_nan(r, NUM_TF32)) {
      o->d[0][i] = 0x7fffffff;
      continue;
    }
    r = relu(r, NUM_TF32, get(in, FLD_F2FP_RELU));
    if (get(in, FLD_F2FP_SATFINITE) && (r & ~num_sign(NUM_TF32)) == num_inf(NUM_TF32)) r--;
    o->d[0][i] = (uint32_t)r << 13;
  }
}

/* To FP16 or BF16 by random bits: rounded to zero, then up when what is missing and slice / 2^16 reach a unit. */
static uint64_t half_by_chance(struct num *n, uint32_t v, struct fmt to, uint32_t slice)
{
  num_from(n->x, v & 0x7fffffff, NUM_F32);
  mpfr_set_prec(n->r, to.prec);
  const int t = mpfr_set(n->r, n->x, MPFR_RNDZ);
  uint64_t r = num_to(n->r, t, to, MPFR_RNDZ);
  if (v << 1 == 0xff000000u) return num_inf(to);
  num_from(n->y, r, to);
  mpfr_set_prec(n->r, 300);
  mpfr_sub(n->r, n->x, n->y, MPFR_RNDN);
  /* a unit of r: that of its exponent, or of the subnormals */
  const int width = (int)to.ebits, least = 2 - (1 << (width - 1));
  int e = mpfr_zero_p(n->y) ? least : (int)mpfr_get_exp(n->y) - 1;
  if (e < least) e = least;
  mpfr_mul_2si(n->r, n->r, (int)to.prec - 1 - e + 16, MPFR_RNDN);
  return mpfr_cmp_ui(n->r, 65536 - slice) >= 0 ? r + 1 : r;
}

static bool pack_half_by_chance(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const struct fmt to = get(in, FLD_F2FP_FMT) ? NUM_BF16 : NUM_F16;
  EACH_LANE
  {
    uint32_t d = 0;
    for (unsigned k = 0; k < 2; k++) {
      const uint32_t v = in->src[k][0][i], c = in->src[2][0][i] >> (k ? 0 : 16) & 0xffff;
      /* as many bits as are dropped, the lowest (PTX ISA, cvt): 16 for BF16, 13 for FP16 */
      uint64_t h = half_by_chance(n, v, to, to.prec == NUM_F16.prec ? (c & 0x1fff) << 3 : c);
      if (get(in, FLD_F2FP_SATFINITE) && h == num_inf(to)) h--;
      if (v >> 31) h = get(in, FLD_F2FP_RELU) ? 0 : h | num_sign(to);
      if ((v & 0x7fffffff) > 0x7f800000) h = num_nan(to);
      d |= (uint32_t)h << (k ? 0 : 16);
    }
    o->d[0][i] = d;
  }
  return !get(in, FLD_F2FP_MERGE) && !get(in, FLD_F2FP_RND);
}

static bool f2fp(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  o->rows = 1;
  switch (get(in, FLD_F2FP_KIND)) {
  case 0:
    if (get(in, FLD_F2FP_RS)) return pack_half_by_chance(n, in, o);
    pack_half(n, in, o);
    return true;
  case F8_KIND_UNPACK: return unpack_f8(n, in, o);
  case F8_KIND_TF32: pack_tf32(n, in, o); return true;
  case F8_KIND_PACK: return pack_f8(n, in, o);
  case 8: case 9: return pack_small(n, in, o, get(in, FLD_F2FP_KIND) == 8);
  case 11: return pack_e8(n, in, o);
  default: return false;
  }
}

/* To U8 each, {c's lower half, a, b}. */
static void f2ip(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const mpfr_rnd_t m = num_mode(get(in, FLD_RND_INT));
  const bool ntz = get(in, FLD_F2IP_NTZ);
  o->rows = 1;
  EACH_LANE
  {
    num_from(n->x, source(in, 0, i, NUM_F32, false), NUM_F32);
    uint64_t high = to_integer(n, 8, false, ntz, m);
    num_from(n->x, source(in, 1, i, NUM_F32, false), NUM_F32);
    uint64_t low = to_integer(n, 8, false, ntz, m);
    o->d[0][i] = in->src[2][0][i] << 16 | (uint32_t)(high << 8 | low);
  }
}

bool ref_cvt(const struct ref_in *in, struct ref_out *o)
{
  struct num n;
  bool known = true;
  num_init(&n);
  switch (in->sem) {
  case SEM_F2F:
  case SEM_FRND: known = f2f(&n, in, o); break;
  case SEM_F2I: known = f2i(&n, in, o); break;
  case SEM_I2F:
  case SEM_I2FP: known = i2f(&n, in, o); break;
  case SEM_F2IP: f2ip(&n, in, o); break;
  default: known = f2fp(&n, in, o);
  }
  num_free(&n);
  return known;
}
