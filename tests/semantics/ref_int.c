/* Reference: integer, logic and move instructions of 32 bits. Rules: PTX ISA 9.0 (add.cc, mad,
 * shf, prmt, bfind, szext, bmsk, lop3, dp4a, dp2a, min, max, sad, vabsdiff4), Mesa NAK for what
 * PTX has no name for (IADD3's two carries, LEA, ISETP.EX, PLOP3). */
#include "sem.h"

#define EACH_LANE for (unsigned i = 0; i < SEM_LANES; i++)

static bool bool_op(uint64_t op, bool x, bool p)
{
  return op == 0 ? x && p : op == 1 ? x || p : x != p;
}

static void set_bit(uint32_t *mask, unsigned lane, bool v)
{
  *mask = (*mask & ~(1u << lane)) | (uint32_t)v << lane;
}

/* Value with the sign or complement of its slot; the ones a negation still has to add go to
 * *ones. */
static uint32_t addend(const struct ref_in *in, unsigned k, unsigned lane, unsigned *ones)
{
  uint32_t v = in->src[k][0][lane];
  if (!in->s->src[k].neg) return v;
  *ones += 1;
  return ~v;
}

static void ref_iadd3(const struct ref_in *in, struct ref_out *o)
{
  const bool x = get(in, FLD_X);
  EACH_LANE
  {
    unsigned ones = 0;
    uint64_t sum = 0;
    for (unsigned k = 0; k < 3; k++) sum += addend(in, k, i, &ones);
    const bool q = in->s->src[2].kind != SRC_NONE && lane_of(in->pq, i); /* IADD has one carry alone */
    sum += x ? lane_of(in->pp, i) + q : ones;
    o->d[0][i] = (uint32_t)sum;
    set_bit(&o->pu, i, sum >> 32);
    set_bit(&o->pv, i, sum >> 33);
  }
}

/* (a << n) + b, or with .HI the upper word of {c,a} << n; the sign applies to the shifted value. */
static void ref_lea(const struct ref_in *in, struct ref_out *o)
{
  const bool hi = get(in, FLD_LEA_HI), sx = get(in, FLD_LEA_SX32), x = get(in, FLD_X);
  const unsigned n = (unsigned)get(in, FLD_LEA_SHIFT);
  EACH_LANE
  {
    uint64_t a = in->src[0][0][i];
    if (hi) a = sx ? (uint64_t)(int64_t)(int32_t)a : a | (uint64_t)in->src[2][0][i] << 32;
    uint32_t v = (uint32_t)(hi ? a << n >> 32 : a << n);
    unsigned ones = 0;
    if (in->s->src[0].neg) v = ~v, ones++;
    uint64_t sum = (uint64_t)v + addend(in, 1, i, &ones);
    sum += x ? lane_of(in->pp, i) : ones;
    o->d[0][i] = (uint32_t)sum;
    set_bit(&o->pu, i, sum >> 32);
  }
}

static void ref_imad(const struct ref_in *in, struct ref_out *o)
{
  const bool x = get(in, FLD_X);
  EACH_LANE
  {
    unsigned ones = 0;
    uint32_t c = addend(in, 2, i, &ones);
    o->d[0][i] = in->src[0][0][i] * in->src[1][0][i] + c + (x ? lane_of(in->pp, i) : ones);
  }
}

static void ref_imad_wide(const struct ref_in *in, struct ref_out *o)
{
  typedef unsigned __int128 u128;
  const bool x = get(in, FLD_X), sign = get(in, FLD_SIGNED), neg = in->s->src[2].neg;
  o->rows = in->sem == SEM_IMAD_HI ? 1 : 2;
  EACH_LANE
  {
    uint32_t a = in->src[0][0][i], b = in->src[1][0][i];
    uint64_t p = sign ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
    uint64_t c = pair(in, 2, 0, i);
    u128 sum = (u128)p + (neg ? ~c : c) + (x ? lane_of(in->pp, i) : (uint32_t)neg);
    o->d[0][i] = (uint32_t)(o->rows == 1 ? sum >> 32 : sum);
    o->d[1][i] = (uint32_t)(sum >> 32);
    set_bit(&o->pu, i, sum >> 64);
  }
}

static void ref_lop3(const struct ref_in *in, struct ref_out *o)
{
  const unsigned lut = (unsigned)get(in, FLD_LUT);
  EACH_LANE
  {
    uint32_t r = 0;
    for (unsigned b = 0; b < 32; b++) {
      unsigned at = 0;
      for (unsigned k = 0; k < 3; k++)
        at = at << 1 | ((in->src[k][0][i] >> b & 1) ^ in->s->src[k].neg);
      r |= (lut >> at & 1) << b;
    }
    o->d[0][i] = r;
    set_bit(&o->pu, i, get(in, FLD_LOP3_PAND) ? r && lane_of(in->pp, i) : r || lane_of(in->pp, i));
  }
}

static void ref_plop3(const struct ref_in *in, struct ref_out *o)
{
  const bool sign = in->sem == SEM_PLOP3_SIGN;
  const unsigned lut = (unsigned)get(in, sign ? FLD_LUT : FLD_PLUT),
                 lut2 = (unsigned)get(in, FLD_PLUT2);
  o->rows = 0;
  EACH_LANE
  {
    unsigned p = lane_of(in->pp, i), q = lane_of(in->pq, i), r = lane_of(in->pr, i);
    if (sign) p = in->src[0][0][i] >> 31, q = in->src[1][0][i] >> 31, r = in->src[2][0][i] >> 31;
    set_bit(&o->pu, i, lut >> (4 * p + 2 * q + r) & 1);
    set_bit(&o->pv, i, lut2 >> (4 * p + 2 * q + r) & 1);
  }
}

static uint32_t prmt(uint32_t a, uint32_t sel, uint32_t c, uint64_t mode)
{
  const uint64_t bytes = a | (uint64_t)c << 32;
  const unsigned n = sel & 3;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; k++) {
    unsigned from = 0, sign = 0;
    switch (mode) {
    case 0: from = sel >> 4 * k & 7, sign = sel >> (4 * k + 3) & 1; break;
    case 1: from = n + k; break;                  /* f4e */
    case 2: from = (n + 8 - k) & 7; break;        /* b4e */
    case 3: from = n; break;                      /* rc8 */
    case 4: from = k > n ? k : n; break;          /* ecl */
    case 5: from = k < n ? k : n; break;          /* ecr */
    default: from = 2 * (n & 1) + (k & 1); break; /* rc16 */
    }
    uint32_t byte = bytes >> 8 * from & 0xff;
    r |= (sign ? (byte >> 7 ? 0xffu : 0) : byte) << 8 * k;
  }
  return r;
}

static uint32_t shf(const struct ref_in *in, unsigned i)
{
  const uint64_t type = get(in, FLD_SHF_TYPE); /* S64 U64 S32 U32 */
  const uint32_t bits = type < 2 ? 64 : 32, b = in->src[1][0][i];
  const uint32_t n = get(in, FLD_SHF_WRAP) ? b % bits : b < bits ? b : bits;
  const uint64_t v = in->src[0][0][i] | (uint64_t)in->src[2][0][i] << 32;
  __int128 x = type & 1 ? (__int128)v : (__int128)(int64_t)v;
  x = get(in, FLD_SHF_RIGHT) ? x >> n : (__int128)((unsigned __int128)x << n);
  return (uint32_t)((uint64_t)x >> (get(in, FLD_SHF_HI) ? 32 : 0));
}

static void ref_shf(const struct ref_in *in, struct ref_out *o)
{
  EACH_LANE o->d[0][i] = shf(in, i);
}

static void ref_extend(const struct ref_in *in, struct ref_out *o)
{
  const bool wrap = get(in, FLD_WRAP), sign = get(in, FLD_SIGNED);
  EACH_LANE
  {
    uint32_t a = in->src[0][0][i], b = in->src[1][0][i];
    b = wrap ? b & 31 : b < 32 ? b : 32;
    uint64_t ones = ((uint64_t)1 << b) - 1;
    if (in->sem == SEM_BMSK) {
      a = wrap ? a & 31 : a < 32 ? a : 32;
      o->d[0][i] = (uint32_t)(ones << a);
    } else {
      uint64_t v = a & ones;
      if (sign && b && v >> (b - 1)) v |= ~ones;
      o->d[0][i] = (uint32_t)v;
    }
  }
}

static int64_t piece(uint32_t v, unsigned at, unsigned bits, bool sign)
{
  int64_t x = v >> at & (((uint64_t)1 << bits) - 1);
  return sign && x >> (bits - 1) ? x - ((int64_t)1 << bits) : x;
}

static void ref_idp(const struct ref_in *in, struct ref_out *o)
{
  const bool sa = get(in, FLD_IDP_TYPE_A), sb = get(in, FLD_IDP_TYPE_B), two = get(in, FLD_IDP_2A);
  const unsigned up = get(in, FLD_IDP_HI) ? 16 : 0;
  EACH_LANE
  {
    uint32_t a = in->src[0][0][i], b = in->src[1][0][i];
    int64_t sum = in->src[2][0][i];
    for (unsigned k = 0; k < (two ? 2u : 4u); k++)
      sum += two ? piece(a, 16 * k, 16, sa) * piece(b, 8 * k + up, 8, sb)
                 : piece(a, 8 * k, 8, sa) * piece(b, 8 * k, 8, sb);
    o->d[0][i] = (uint32_t)sum;
  }
}

static bool compare(uint64_t code, int64_t a, int64_t b)
{
  switch (code) {
  case 1: return a < b;
  case 2: return a == b;
  case 3: return a <= b;
  case 4: return a > b;
  case 5: return a != b;
  case 6: return a >= b;
  default: return code == 7;
  }
}

/* EX: a and b are upper words; where they are equal the result of the lower words, Pr, decides. */
static void ref_isetp(const struct ref_in *in, struct ref_out *o)
{
  const uint64_t cmp = get(in, FLD_ICMP), op = get(in, FLD_BOOL);
  const bool sign = get(in, FLD_SIGNED), ex = get(in, FLD_ISETP_EX);
  o->rows = 0;
  EACH_LANE
  {
    int64_t a = piece(in->src[0][0][i], 0, 32, sign), b = piece(in->src[1][0][i], 0, 32, sign);
    bool r = compare(cmp, a, b);
    if (ex && a == b && cmp != 0 && cmp != 7) r = lane_of(in->pr, i);
    set_bit(&o->pu, i, bool_op(op, r, lane_of(in->pp, i)));
    set_bit(&o->pv, i, bool_op(op, !r, lane_of(in->pp, i)));
  }
}

static void ref_bits(const struct ref_in *in, struct ref_out *o)
{
  EACH_LANE
  {
    uint32_t a = in->src[0][0][i], r = 0;
    if (in->sem == SEM_BREV) {
      for (unsigned b = 0; b < 32; b++) r |= (a >> b & 1) << (31 - b);
    } else if (in->sem == SEM_POPC) {
      if (in->s->src[0].neg) a = ~a;
      for (unsigned b = 0; b < 32; b++) r += a >> b & 1;
    } else { /* FLO: bfind; with SH the distance from the top, as bfind.shiftamt */
      if (in->s->src[0].neg) a = ~a;
      if (get(in, FLD_SIGNED) && a >> 31) a = ~a;
      r = UINT32_MAX;
      for (unsigned b = 0; b < 32; b++)
        if (a >> b & 1) r = get(in, FLD_FLO_SH) ? 31 - b : b;
      set_bit(&o->pu, i, a != 0);
    }
    o->d[0][i] = r;
  }
}

static void ref_p2r(const struct ref_in *in, struct ref_out *o)
{
  const unsigned at = 8 * (unsigned)get(in, FLD_PR_BYTE);
  const unsigned file = in->s->row->traits & ROW_UREGS ? 8 : 0;
  EACH_LANE
  {
    uint32_t a = in->src[0][0][i], b = in->src[1][0][i];
    for (unsigned k = 0; k < 8; k++) {
      if (in->sem == SEM_P2R && b >> k & 1) {
        uint32_t p = k < 7 ? in->before->pred[file + k] >> i & 1 : 0;
        a = (a & ~(1u << (at + k))) | p << (at + k);
      } else if (in->sem == SEM_R2P && k < 7) {
        set_bit(&o->pred_write[k], i, b >> k & 1);
        set_bit(&o->pred_value[k], i, a >> (at + k) & 1);
      }
    }
    o->d[0][i] = a;
  }
  if (in->sem == SEM_R2P) o->rows = 0;
}

/* ---- minima, maxima, sums of parts ----------------------------------------------------------- */

/* Parts of a word: bits of each, signed or not, RELU. */
struct parts {
  unsigned bits;
  bool sign, relu;
};

static struct parts parts_of(const struct ref_in *in)
{
  const uint64_t f = get(in, FLD_VMNMX_FMT) | get(in, FLD_VMNMX_FMT120);
  if (in->sem == SEM_IMNMX) return (struct parts){32, get(in, FLD_SIGNED), false};
  return (struct parts){f < 2 ? 32 : f < 4 ? 16 : 8, f & 1, get(in, FLD_VMNMX_RELU)};
}

/* a, then the smaller or larger of it and b (and c), part by part; sums wrap within their part. Pu,
 * Pv of two 16-bit parts: a is the result in the lower, upper one (as __vibmax_s16x2 tells). */
static void ref_minmax(const struct ref_in *in, struct ref_out *o)
{
  const struct parts f = parts_of(in);
  const bool add = in->sem == SEM_VIADDMNMX, three = in->sem == SEM_VIMNMX3;
  EACH_LANE
  {
    uint32_t r = 0;
    const bool min = lane_of(in->pp, i);
    for (unsigned at = 0; at < 32; at += f.bits) {
      int64_t v[3];
      for (unsigned k = 0; k < 3; k++) v[k] = piece(in->src[k][0][i], at, f.bits, f.sign);
      if (add) {
        uint64_t sum = (uint64_t)v[0] + (in->s->src[1].neg ? 0 - (uint64_t)v[1] : (uint64_t)v[1]);
        v[0] = piece((uint32_t)sum, 0, f.bits, f.sign), v[1] = v[2];
      }
      int64_t x = min == (v[1] < v[0]) ? v[1] : v[0];
      if (at < 32) set_bit(at ? &o->pv : &o->pu, i, x == v[0]);
      if (three) x = min == (v[2] < x) ? v[2] : x;
      if (f.relu && x < 0) x = 0;
      r |= (uint32_t)((uint64_t)x & (((uint64_t)1 << f.bits) - 1)) << at;
    }
    o->d[0][i] = r;
  }
  /* 32 bits: nvcc tests Pu for "b is the result", ties included (compiler output, sm_90). */
  if (f.bits == 32)
    EACH_LANE set_bit(&o->pu, i, (in->src[0][0][i] == in->src[1][0][i]) || !lane_of(o->pu, i));
}

/* add.sat.s32 */
static void ref_viadd_saturating(const struct ref_in *in, struct ref_out *o)
{
  EACH_LANE
  {
    int64_t a = (int32_t)in->src[0][0][i], b = (int32_t)in->src[1][0][i];
    if (in->s->src[0].neg) a = -a;
    if (in->s->src[1].neg) b = -b;
    o->d[0][i] = a + b > INT32_MAX ? INT32_MAX : a + b < INT32_MIN ? 0x80000000u : (uint32_t)(a + b);
  }
}

static void ref_viadd(const struct ref_in *in, struct ref_out *o)
{
  const uint64_t f = get(in, FLD_VIADD_FMT120) | get(in, FLD_VIADD_16X2);
  const unsigned bits = f == 0 ? 32 : f == 1 ? 16 : 8;
  EACH_LANE
  {
    uint32_t r = 0;
    for (unsigned at = 0; at < 32; at += bits) {
      int64_t a = piece(in->src[0][0][i], at, bits, false),
              b = piece(in->src[1][0][i], at, bits, false);
      int64_t sum = (in->s->src[0].neg ? -a : a) + (in->s->src[1].neg ? -b : b);
      r |= (uint32_t)((uint64_t)sum & (((uint64_t)1 << bits) - 1)) << at;
    }
    o->d[0][i] = r;
  }
}

static void ref_absdiff(const struct ref_in *in, struct ref_out *o)
{
  const bool four = in->sem == SEM_VABSDIFF4, acc = get(in, FLD_VABS_SUM);
  const bool sign = four ? get(in, FLD_VABS4_SIGNED) : get(in, FLD_SIGNED);
  const unsigned bits = four ? 8 : 32;
  EACH_LANE
  {
    uint32_t r = four && !acc ? 0 : in->src[2][0][i];
    for (unsigned at = 0; at < 32; at += bits) {
      int64_t x = piece(in->src[0][0][i], at, bits, sign) - piece(in->src[1][0][i], at, bits, sign);
      uint32_t v = (uint32_t)(uint64_t)(x < 0 ? -x : x);
      if (four && !acc)
        r |= v << at;
      else
        r += v;
    }
    o->d[0][i] = r;
  }
}

/* ---- saturation ------------------------------------------------------------------------------ */

/* Clamped to bits; I2IP packs a above b above what is kept of c. */
static uint32_t clamp(uint32_t v, unsigned bits, bool sign)
{
  int64_t x = (int32_t)v, lo = sign ? -((int64_t)1 << (bits - 1)) : 0;
  int64_t hi = sign ? -lo - 1 : ((int64_t)1 << bits) - 1;
  return (uint32_t)(x < lo ? lo : x > hi ? hi : x);
}

static void ref_saturate(const struct ref_in *in, struct ref_out *o)
{
  static const uint8_t bits_of[8] = {8, 8, 16, 16, 2, 2, 4, 4};
  const uint64_t f = in->sem == SEM_I2I ? get(in, FLD_I2I_FMT) : get(in, FLD_I2IP_FMT);
  const unsigned bits = bits_of[f];
  const uint32_t ones = (1u << bits) - 1;
  EACH_LANE
  {
    uint32_t a = clamp(in->src[0][0][i], bits, f & 1), b = clamp(in->src[1][0][i], bits, f & 1);
    o->d[0][i] = a;
    const uint32_t c = in->sem == SEM_I2IP && get(in, FLD_I2IP_C) == 1 ? in->src[2][0][i] >> 16 : in->src[2][0][i];
    if (in->sem == SEM_I2IP)
      o->d[0][i] = (bits < 16 ? c << 2 * bits : 0) | (a & ones) << bits | (b & ones);
  }
}

bool ref_int(const struct ref_in *in, struct ref_out *o)
{
  o->rows = 1;
  switch (in->sem) {
  case SEM_MOV: /* the mask names lanes of each quad */
    memcpy(o->d[0], in->src[0][0], sizeof o->d[0]);
    if (sass_has(in->s, FLD_MOV_MASK)) o->exec &= 0x11111111u * (uint32_t)get(in, FLD_MOV_MASK);
    return true;
  case SEM_SEL: EACH_LANE o->d[0][i] = in->src[lane_of(in->pp, i) ? 0 : 1][0][i]; return true;
  case SEM_IABS:
    EACH_LANE o->d[0][i] = in->src[0][0][i] >> 31 ? 0 - in->src[0][0][i] : in->src[0][0][i];
    return true;
  case SEM_PRMT:
    EACH_LANE o->d[0][i] =
        prmt(in->src[0][0][i], in->src[1][0][i], in->src[2][0][i], get(in, FLD_PRMT_MODE));
    return true;
  case SEM_IADD3: ref_iadd3(in, o); return true;
  case SEM_LEA: ref_lea(in, o); return true;
  case SEM_LOP3: ref_lop3(in, o); return true;
  case SEM_VABSDIFF:
  case SEM_VABSDIFF4: ref_absdiff(in, o); return true;
  case SEM_IMNMX:
  case SEM_VIMNMX:
  case SEM_VIMNMX3:
  case SEM_VIADDMNMX: ref_minmax(in, o); return true;
  case SEM_VIADD:
    if (get(in, FLD_VIADD_ISAT)) ref_viadd_saturating(in, o);
    else ref_viadd(in, o);
    return true;
  case SEM_SHF: ref_shf(in, o); return true;
  case SEM_SGXT:
  case SEM_BMSK: ref_extend(in, o); return true;
  case SEM_IDP: ref_idp(in, o); return true;
  case SEM_ISETP: ref_isetp(in, o); return true;
  case SEM_PLOP3:
  case SEM_PLOP3_SIGN: ref_plop3(in, o); return true;
  case SEM_P2R:
  case SEM_R2P: ref_p2r(in, o); return true;
  case SEM_IMAD: ref_imad(in, o); return true;
  case SEM_IMAD_WIDE:
  case SEM_IMAD_HI: ref_imad_wide(in, o); return true;
  case SEM_FLO:
  case SEM_BREV:
  case SEM_POPC: ref_bits(in, o); return true;
  case SEM_I2I:
  case SEM_I2IP: ref_saturate(in, o); return true;
  default: return false;
  }
}

/* ---- 64 bits --------------------------------------------------------------------------------- */

static void put64(struct ref_out *o, unsigned i, uint64_t v)
{
  o->d[0][i] = (uint32_t)v;
  o->d[1][i] = (uint32_t)(v >> 32);
}

/* a + b (+ c); a negated source enters complemented with its + 1 in the sum, X adds Pp and, with c, Pq instead. */
static uint64_t add64(const struct ref_in *in, unsigned i, unsigned *carries)
{
  unsigned __int128 sum = 0;
  for (unsigned k = 0; k < 3; k++) {
    if (in->s->src[k].kind == SRC_NONE) continue;
    uint64_t v = pair(in, k, 0, i);
    sum += in->s->src[k].neg ? ~v : v;
    if (!get(in, FLD_X)) sum += in->s->src[k].neg;
  }
  const bool q = in->s->src[2].kind != SRC_NONE && lane_of(in->pq, i);
  if (get(in, FLD_X)) sum += lane_of(in->pp, i) + q;
  *carries = (unsigned)(sum >> 64);
  return (uint64_t)sum;
}

static bool below64(const struct ref_in *in, unsigned i, bool sign)
{
  uint64_t a = pair(in, 0, 0, i), b = pair(in, 1, 0, i);
  return sign ? (int64_t)a < (int64_t)b : a < b;
}

static bool setp64(const struct ref_in *in, unsigned i)
{
  const bool less = below64(in, i, get(in, FLD_SIGNED64)),
             equal = pair(in, 0, 0, i) == pair(in, 1, 0, i);
  return compare(get(in, FLD_ICMP), less ? -1 : !equal, 0);
}

/* Bit by bit of the product: the parity of what pairs of bits give it. */
static uint64_t carry_less(const struct ref_in *in, unsigned lane)
{
  const uint64_t a = pair(in, 0, 0, lane), b = pair(in, 1, 0, lane);
  uint64_t r = pair(in, 2, 0, lane);
  for (int bit = 0; bit < 64; bit++) {
    const int at = bit + (get(in, FLD_CLMAD_HIGH) ? 64 : 0);
    for (int k = at < 64 ? 0 : at - 63; k <= at && k < 64; k++)
      r ^= (a >> k & b >> (at - k) & 1) << bit;
  }
  return r;
}

bool ref_int64(const struct ref_in *in, struct ref_out *o)
{
  o->rows = in->sem == SEM_ISETP_64 ? 0 : 2;
  EACH_LANE
  {
    const bool p = lane_of(in->pp, i);
    unsigned carries = 0;
    switch (in->sem) {
    case SEM_MOV_64: put64(o, i, pair(in, 0, 0, i)); break;
    case SEM_SEL_64: put64(o, i, pair(in, p ? 0 : 1, 0, i)); break;
    case SEM_IADD_64:
      put64(o, i, add64(in, i, &carries));
      set_bit(&o->pu, i, carries >= 1);
      set_bit(&o->pv, i, carries >= 2);
      break;
    case SEM_CLMAD: put64(o, i, carry_less(in, i)); break;
    case SEM_IMNMX_64:
      put64(o, i, pair(in, p == below64(in, i, get(in, FLD_IMNMX64_TYPE) == 3) ? 0 : 1, 0, i));
      break;
    default:
      set_bit(&o->pu, i, bool_op(get(in, FLD_BOOL), setp64(in, i), p));
      set_bit(&o->pv, i, bool_op(get(in, FLD_BOOL), !setp64(in, i), p));
    }
  }
  return true;
}
