/* Reference: tensor cores and MOVM.
 *
 * Fragment layouts: PTX ISA 9.0, "matrix fragments for mma" of each shape; sparse metadata: the
 * figures of mma.sp. Integer and bit forms are exact (wrapped, or saturated), FP64 is a chain of
 * IEEE fused multiply-adds in the order of k. FP16, BF16 and TF32 follow the published models
 * (MMA-Sim, arXiv 2511.10909; Fasi et al., PeerJ CS 330, 2021): within a block of L pairs the
 * exact products and the running sum are aligned to the largest exponent (of a product the sum of
 * its factors', not normalised), truncated to F fraction bits and added; FP32 sums are truncated,
 * FP16 sums rounded to nearest. Open there, fixed here: zeros do not take part in the choice of
 * the exponent, which is at least FP32's smallest, -126; a sum of exactly zero is +0.
 */
#include "num.h"
#include "sem.h"

typedef __int128 wide;

enum { MOST_K = 256 };

/* Shape of one instruction: rows m (8 or 16), depth k, elements of A and B in a register. */
struct shape {
  unsigned m, k, per;
};

/* Lane and index of the register (of `per` elements) that hold element (row, k) of A; of B (k,
 * n). */
static uint32_t a_word(const struct ref_in *in, struct shape s, unsigned row, unsigned k)
{
  return in->src[0][(k / (4 * s.per)) * (s.m / 8) + row / 8][4 * (row % 8) + k / s.per % 4];
}

static uint32_t b_word(const struct ref_in *in, struct shape s, unsigned k, unsigned n)
{
  return in->src[1][k / (4 * s.per)][4 * n + k / s.per % 4];
}

static uint32_t element(uint32_t word, struct shape s, unsigned k)
{
  const unsigned bits = 32 / s.per;
  return bits == 32 ? word : word >> bits * (k % s.per) & ((1u << bits) - 1);
}

/* ---- sparse A: which k stored element j of a row stands for ---------------------------------- */

static uint32_t metadata(const struct ref_in *in, unsigned lane)
{
  return in->before->reg[get(in, FLD_HMMA_META)][lane];
}

/* Metadata of 16-bit elements: two numbers of two bits for each four elements; the lower half of
 * the register is row g, the upper row g + 8; lane `sel` of the quad, for k = 32 lanes 2 sel and
 * 2 sel + 1. A TF32 number counts as two elements. `deep` is the larger of the two depths. */
static unsigned sparse_half_k(const struct ref_in *in, unsigned row, unsigned j, bool deep,
                              bool tf32)
{
  const unsigned half = tf32 ? 2 * j : j, group = half / 2; /* in 16-bit elements; one of a pair */
  const unsigned sel = (unsigned)get(in, FLD_HMMA_SEL);
  const unsigned lane = 4 * (row % 8) + (deep ? 2 * sel + group / 4 : sel);
  const uint32_t bits = metadata(in, lane) >> (row / 8 * 16) >> 4 * (group % 4) & 15;
  const unsigned at = 4 * group + (half % 2 ? bits >> 2 : bits & 3);
  return tf32 ? at / 2 : at;
}

/* Of bytes (and pairs of nibbles): 32 bytes of a row in one register; row g in lane 2 sel, g + 8
 * in the next one, of the deeper shape in lanes 2 (k / 32) and one more. */
static unsigned sparse_byte_k(const struct ref_in *in, unsigned row, unsigned j, bool deep)
{
  const unsigned group = j / 2, sel = (unsigned)get(in, FLD_HMMA_SEL);
  const unsigned lane = 4 * (row % 8) + 2 * (deep ? group / 8 : sel) + row / 8;
  return 4 * group + (metadata(in, lane) >> 4 * (group % 8) >> 2 * (j % 2) & 3);
}

/* ---- FP16, BF16, TF32 ------------------------------------------------------------------------ */

struct part {
  int64_t sig; /* value = sig * 2^(exp - frac) */
  int exp, frac;
  bool nan, inf;
};

static struct part split(uint32_t v, struct fmt f)
{
  const int bias = (1 << (f.ebits - 1)) - 1, frac = (int)f.prec - 1;
  const uint32_t mag = v & (uint32_t)(num_sign(f) - 1), e = mag >> frac;
  struct part p = {.frac = frac, .exp = (int)(e ? e : 1) - bias};
  p.sig = (int64_t)((mag & ((1u << frac) - 1)) | (e ? 1u << frac : 0));
  if (v & num_sign(f)) p.sig = -p.sig;
  p.nan = num_is_nan(v, f), p.inf = mag == num_inf(f);
  return p;
}

static struct part product(struct part x, struct part y)
{
  const bool zero_x = !x.sig, zero_y = !y.sig;
  struct part p = {x.sig * y.sig, x.exp + y.exp, x.frac + y.frac, false, x.inf || y.inf};
  p.nan = x.nan || y.nan || (x.inf && zero_y) || (y.inf && zero_x);
  return p;
}

/* Terms added as the tensor core does, F fraction bits; *exp: of the result, value = sum *
 * 2^(exp-F). */
static wide aligned_sum(const struct part *t, unsigned n, int frac, int *exp)
{
  wide sum = 0;
  *exp = -126;
  for (unsigned i = 0; i < n; i++)
    if (t[i].sig && t[i].exp > *exp) *exp = t[i].exp;
  for (unsigned i = 0; i < n; i++) {
    wide mag = t[i].sig < 0 ? -(wide)t[i].sig : t[i].sig;
    int down = *exp - t[i].exp + t[i].frac - frac; /* one shift: truncated once */
    if (mag) mag = down > 100 ? 0 : down > 0 ? mag >> down : mag << -down;
    sum += t[i].sig < 0 ? -mag : mag;
  }
  return sum;
}

/* One block: c (bits of f) becomes c + products. */
static uint64_t block(struct num *n, struct part *t, unsigned terms, struct fmt f, int frac)
{
  bool nan = false, plus = false, minus = false;
  for (unsigned i = 0; i < terms; i++) {
    nan |= t[i].nan;
    if (t[i].inf && !t[i].nan) plus |= t[i].sig > 0, minus |= t[i].sig < 0;
  }
  if (nan || (plus && minus)) return num_nan(f);
  if (plus || minus) return num_inf(f) | (minus ? num_sign(f) : 0);
  int exp;
  const wide sum = aligned_sum(t, terms, frac, &exp);
  const mpfr_rnd_t m = f.prec == 24 ? MPFR_RNDZ : MPFR_RNDN;
  mpfr_set_si_2exp(n->x, (long)sum, exp - frac, MPFR_RNDN); /* at most 35 bits: exact */
  mpfr_set_prec(n->r, f.prec);
  uint64_t v = num_to(n->r, mpfr_set(n->r, n->x, m), f, m);
  /* truncation does not stop at the largest number: beyond it lies infinity */
  if (m == MPFR_RNDZ && mpfr_cmpabs_ui(n->x, 0) > 0 && mpfr_get_exp(n->x) > 128)
    v = (v & num_sign(f)) | num_inf(f);
  return v;
}

/* F and L by target (see above). */
static void generation(unsigned sm, bool tf32, int *frac, unsigned *pairs)
{
  *frac = sm >= 90 ? 25 : 24;
  *pairs = sm >= 90 ? (tf32 ? 8 : 16) : tf32 ? 4 : 8;
}

static uint32_t load_c(const struct ref_in *in, unsigned row, unsigned col, bool f32)
{
  const unsigned lane = 4 * (row % 8) + col / 2;
  return f32 ? in->src[2][2 * (row / 8) + col % 2][lane]
             : in->src[2][row / 8][lane] >> 16 * (col % 2) & 0xffff;
}

static void store_d(struct ref_out *o, unsigned row, unsigned col, bool f32, uint32_t v)
{
  const unsigned lane = 4 * (row % 8) + col / 2;
  if (f32) {
    o->d[2 * (row / 8) + col % 2][lane] = v;
    return;
  }
  uint32_t *d = &o->d[row / 8][lane];
  *d = col % 2 ? (*d & 0xffff) | v << 16 : v;
}

/* Stored depth of A by shape and type; 0: no such form. */
static unsigned hmma_depth(const struct ref_in *in, bool tf32, bool sparse)
{
  static const uint8_t depth[4] = {8, 16, 4, 32}; /* 1688 16816 1684 16832 */
  const unsigned k = depth[get(in, FLD_HMMA_SHAPE)];
  return sparse ? k / 2 : tf32 && k > 8 ? 0 : k;
}

static bool hmma(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const struct fmt formats[4] = {NUM_F16, NUM_BF16, NUM_TF32, NUM_TF32};
  const unsigned type = (unsigned)get(in, FLD_HMMA_TYPE);
  const bool tf32 = type == 2, sparse = get(in, FLD_HMMA_SP), f32 = get(in, FLD_HMMA_F32);
  const struct fmt f = formats[type], acc = f32 ? NUM_F32 : NUM_F16;
  const unsigned k = hmma_depth(in, tf32, sparse);
  const struct shape s = {16, k, tf32 ? 1 : 2};
  const bool deep = k > (tf32 ? 4 : 8);
  unsigned pairs;
  int frac;
  generation(in->sm, tf32, &frac, &pairs);
  if (type > 2 || !k) return false;
  if (pairs > k) pairs = k;
  o->rows = f32 ? 4 : 2;
  for (unsigned row = 0; row < 16; row++)
    for (unsigned col = 0; col < 8; col++) {
      uint32_t c = load_c(in, row, col, f32);
      for (unsigned first = 0; first < k; first += pairs) {
        struct part t[17] = {split(c, acc)};
        for (unsigned j = first; j < first + pairs; j++) {
          const unsigned at = sparse ? sparse_half_k(in, row, j, deep, tf32) : j;
          uint32_t x = element(a_word(in, s, row, j), s, j),
                   y = element(b_word(in, s, at, col), s, at);
          if (tf32) x >>= 13, y >>= 13;
          if (in->s->src[0].neg) x ^= (uint32_t)num_sign(f);
          if (in->s->src[1].neg) y ^= (uint32_t)num_sign(f);
          t[1 + j - first] = product(split(x, f), split(y, f));
        }
        c = (uint32_t)block(n, t, 1 + pairs, acc, frac);
      }
      store_d(o, row, col, f32, c);
    }
  return true;
}

/* ---- a step of m8n8k4 -------------------------------------------------------------------------
 * PTX ISA, "matrix fragments for mma.m8n8k4": four products, one by the lanes 4q .. 4q + 3 and 16 more; the formulas
 * of its fragments, by lane and element i, the other way round: which lane and element has a row and column. The steps
 * of FP32 results have 4 rows and columns (those of elements 2 step, 2 step + 1), of FP16 results 8 rows. */

/* FP16 element of A or B: `along` counts rows of A, columns of B; threads hold 4 of one k, or of one row or column. */
static uint32_t octet_element(const struct ref_in *in, unsigned src, unsigned q, unsigned along, unsigned k, bool by_k)
{
  const unsigned lane = 4 * q + 16 * (along / 4) + (by_k ? k : along % 4), i = by_k ? along % 4 : k;
  return in->src[src][i / 2][lane] >> 16 * (i % 2) & 0xffff;
}

/* Lane of FP32 element (row, col), and its index. */
static unsigned octet_f32(unsigned q, unsigned row, unsigned col, unsigned *i)
{
  *i = (row & 2) + (col & 4) + (col & 1);
  return 4 * q + 16 * (row / 4) + (row & 1) + (col & 2);
}

static uint32_t octet_sum(struct num *n, const struct ref_in *in, unsigned q, unsigned row, unsigned col, uint32_t c)
{
  const bool a_col = get(in, FLD_HMMA884_A_COL), b_col = get(in, FLD_HMMA884_B_COL), f32 = get(in, FLD_HMMA884_D);
  const struct fmt acc = f32 ? NUM_F32 : NUM_F16;
  struct part t[5] = {split(c, acc)};
  for (unsigned k = 0; k < 4; k++) {
    uint32_t x = octet_element(in, 0, q, row, k, a_col), y = octet_element(in, 1, q, col, k, !b_col);
    if (in->s->src[0].neg) x ^= 0x8000;
    if (in->s->src[1].neg) y ^= 0x8000;
    t[1 + k] = product(split(x, NUM_F16), split(y, NUM_F16));
  }
  return (uint32_t)block(n, t, 5, acc, in->sm >= 75 ? 24 : 23); /* Volta keeps a bit less */
}

/* What is added to (row, col), in the format of the result. */
static uint32_t octet_c(struct num *n, const struct ref_in *in, unsigned q, unsigned row, unsigned col)
{
  unsigned i;
  if (get(in, FLD_HMMA884_C)) {
    const unsigned lane = octet_f32(q, row, col, &i);
    return in->src[2][i % 2][lane];
  }
  const uint32_t half = in->src[2][col % 4 / 2][4 * q + 16 * (row / 4) + row % 4] >> 16 * (col % 2) & 0xffff;
  if (!get(in, FLD_HMMA884_D)) return half;
  num_from(n->x, half, NUM_F16);
  return num_is_nan(half, NUM_F16) ? 0x7fffffff : (uint32_t)num_to(n->r, mpfr_set(n->r, n->x, MPFR_RNDN), NUM_F32, MPFR_RNDN);
}

static bool hmma884(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const unsigned step = (unsigned)get(in, FLD_HMMA884_STEP);
  const bool d_f32 = get(in, FLD_HMMA884_D);
  if (get(in, FLD_HMMA884_SAT) || (!d_f32 && (step > 1 || get(in, FLD_HMMA884_C)))) return false;
  o->rows = 2;
  for (unsigned q = 0; q < 4; q++)
    for (unsigned row = 0; row < 8; row++)
      for (unsigned col = 0; col < 8; col++) {
        unsigned i;
        const unsigned lane = octet_f32(q, row, col, &i);
        if (d_f32 ? i / 2 != step : col / 4 != step) continue;
        const uint32_t v = octet_sum(n, in, q, row, col, octet_c(n, in, q, row, col));
        uint32_t *half = &o->d[col % 4 / 2][4 * q + 16 * (row / 4) + row % 4];
        if (d_f32)
          o->d[i % 2][lane] = v;
        else
          *half = col % 2 ? *half | v << 16 : v;
      }
  return true;
}

/* ---- FP8 --------------------------------------------------------------------------------------
 * E4M3 has no infinity and one NaN. sm_89: F = 13, L = 16 and FP32 results of 13 fraction bits,
 * toward zero; sm_120: F = 25, L = 32 (MMA-Sim). */

/* By code: 0 E4M3, 1 E5M2, on sm_120 3 E3M2, 4 E2M3 (low bits of the byte), 5 E2M1 (its middle bits);
 * all patterns of the last three are finite. */
static bool format_known(unsigned code)
{
  return code <= 5 && code != 2;
}

static struct part split8(uint32_t v, unsigned code)
{
  enum { E4M3, E5M2, E2M1 = 5 };
  static const struct fmt f[6] = {{4, 4}, {3, 5}, {0, 0}, {3, 3}, {4, 2}, {2, 2}};
  const unsigned bits = f[code].prec + f[code].ebits;
  struct part p = split(v >> (code == E2M1 ? 2 : 0) & ((1u << bits) - 1), f[code]);
  if (code != E5M2) p.inf = false, p.nan = code == E4M3 && (v & 0x7f) == 0x7f;
  return p;
}

static bool qmma(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const bool ada = in->sm < 90, f32 = get(in, FLD_QMMA_F32);
  const unsigned a = get(in, FLD_QMMA_A) | get(in, FLD_QMMA_A120);
  const unsigned b = get(in, FLD_QMMA_B) | get(in, FLD_QMMA_B120);
  const unsigned code = get(in, FLD_QMMA_SHAPE) | get(in, FLD_QMMA_SHAPE120);
  const struct shape s = {16, code ? 32 : 16, 4};
  const unsigned most = ada ? 16 : 32, pairs = most < s.k ? most : s.k;
  o->rows = f32 ? 4 : 2;
  if (code > 1 || !format_known(a) || !format_known(b)) return false;
  for (unsigned row = 0; row < 16; row++)
    for (unsigned col = 0; col < 8; col++) {
      uint32_t c = load_c(in, row, col, f32);
      for (unsigned first = 0; first < s.k; first += pairs) {
        struct part t[33] = {split(c, f32 ? NUM_F32 : NUM_F16)};
        for (unsigned j = first; j < first + pairs; j++)
          t[1 + j - first] = product(split8(element(a_word(in, s, row, j), s, j), a),
                                     split8(element(b_word(in, s, j, col), s, j), b));
        c = (uint32_t)block(n, t, 1 + pairs, f32 ? NUM_F32 : NUM_F16, ada ? 13 : 25);
        if (f32 && ada && !num_is_nan(c, NUM_F32)) c &= ~0x3ffu;
      }
      store_d(o, row, col, f32, c);
    }
  return true;
}

/* ---- integers and bits ----------------------------------------------------------------------- */

static int64_t integer(uint32_t v, unsigned bits, bool sign)
{
  return sign && v >> (bits - 1) ? (int64_t)v - ((int64_t)1 << bits) : (int64_t)v;
}

static void store_int(struct ref_out *o, unsigned row, unsigned col, int64_t sum, bool sat)
{
  if (sat) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  o->d[2 * (row / 8) + col % 2][4 * (row % 8) + col / 2] = (uint32_t)(uint64_t)sum;
}

static int64_t int_c(const struct ref_in *in, unsigned row, unsigned col)
{
  return (int32_t)in->src[2][2 * (row / 8) + col % 2][4 * (row % 8) + col / 2];
}

static bool imma(const struct ref_in *in, struct ref_out *o)
{
  static const struct {
    uint8_t m;
    uint16_t k;
  } shapes[8] = {{8, 16}, {0, 0}, {8, 32}, {0, 0}, {16, 16}, {16, 32}, {16, 64}, {16, 128}};
  const unsigned shape = (unsigned)get(in, FLD_IMMA_SHAPE);
  const unsigned ta = (unsigned)get(in, FLD_IMMA_A), tb = (unsigned)get(in, FLD_IMMA_B);
  const bool sparse = get(in, FLD_IMMA_SP);
  const unsigned bits = ta >= 4 ? 4 : 8;
  struct shape s = {shapes[shape].m, shapes[shape].k, 32 / bits};
  if (!s.m || (ta ^ tb) & 4) return false;
  if (sparse) s.k /= 2;
  const bool deep = s.k / s.per > 4; /* more than one register of a row */
  o->rows = s.m == 8 ? 2 : 4;
  for (unsigned row = 0; row < s.m; row++)
    for (unsigned col = 0; col < 8; col++) {
      int64_t sum = int_c(in, row, col);
      for (unsigned j = 0; j < s.k; j++) {
        unsigned at = j;
        const unsigned in_byte = 8 / bits; /* elements of a byte stay together */
        if (sparse) at = sparse_byte_k(in, row, j / in_byte, deep) * in_byte + j % in_byte;
        sum += integer(element(a_word(in, s, row, j), s, j), bits, ta & 1) *
               integer(element(b_word(in, s, at, col), s, at), bits, tb & 1);
      }
      store_int(o, row, col, sum, get(in, FLD_IMMA_SAT));
    }
  return true;
}

static bool bmma(const struct ref_in *in, struct ref_out *o)
{
  const unsigned shape = (unsigned)get(in, FLD_BMMA_SHAPE);
  const struct shape s = {shape ? 16 : 8, shape == 2 ? 256 : 128, 32};
  if (shape > 2) return false;
  o->rows = s.m == 8 ? 2 : 4;
  for (unsigned row = 0; row < s.m; row++)
    for (unsigned col = 0; col < 8; col++) {
      int64_t sum = int_c(in, row, col);
      for (unsigned k = 0; k < s.k; k++) {
        bool x = a_word(in, s, row, k) >> k % 32 & 1, y = b_word(in, s, k, col) >> k % 32 & 1;
        sum += get(in, FLD_BMMA_AND) ? x && y : x != y;
      }
      store_int(o, row, col, sum, false);
    }
  return true;
}

/* ---- FP64 ------------------------------------------------------------------------------------ */

static uint64_t word64(const struct ref_in *in, unsigned src, unsigned index, unsigned lane)
{
  uint64_t v = pair(in, src, 2 * index, lane);
  if (in->s->src[src].abs) v &= ~num_sign(NUM_F64); /* as in ref_fp.c: the absolute value first */
  return in->s->src[src].neg ? v ^ num_sign(NUM_F64) : v;
}

static bool dmma(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  static const uint8_t rows[4] = {8, 16, 16, 16}, depth[4] = {4, 4, 8, 16};
  const unsigned shape = (unsigned)get(in, FLD_DMMA_SHAPE), m = rows[shape];
  const mpfr_rnd_t mode = num_mode(get(in, FLD_RND));
  o->rows = m / 4 * 2;
  if (o->rows * 2 > REF_ROWS) return false;
  o->any_nan64 = true;
  for (unsigned row = 0; row < m; row++)
    for (unsigned col = 0; col < 8; col++) {
      const unsigned lane = 4 * (row % 8) + col / 2, index = 2 * (row / 8) + col % 2;
      uint64_t sum = word64(in, 2, index, lane);
      for (unsigned k = 0; k < depth[shape]; k++) {
        num_from(n->x, word64(in, 0, k / 4 * (m / 8) + row / 8, 4 * (row % 8) + k % 4), NUM_F64);
        num_from(n->y, word64(in, 1, k / 4, 4 * col + k % 4), NUM_F64);
        num_from(n->z, sum, NUM_F64);
        mpfr_set_prec(n->r, NUM_F64.prec);
        sum = num_to(n->r, mpfr_fma(n->r, n->x, n->y, n->z, mode), NUM_F64, mode);
      }
      o->d[2 * index][lane] = (uint32_t)sum;
      o->d[2 * index + 1][lane] = (uint32_t)(sum >> 32);
    }
  return true;
}

/* movmatrix: an 8 x 8 matrix of 16 bits, row g in lanes 4g to 4g + 3. U4TO8: 8 x 32 nibbles,
 * dealt as an operand of IMMA on nibbles, become bytes, dealt as one on bytes. */
static bool movm(const struct ref_in *in, struct ref_out *o)
{
  const struct shape nibbles = {8, 32, 8}, bytes = {8, 32, 4};
  const uint64_t op = get(in, FLD_MOVM_OP), type = get(in, FLD_MOVM_TYPE);
  o->rows = op ? 2 : 1;
  memset(o->d, 0, 2 * sizeof *o->d);
  for (unsigned row = 0; row < 8; row++)
    for (unsigned col = 0; col < 8 && !op; col++) {
      uint32_t v = in->src[0][0][4 * col + row / 2] >> 16 * (row % 2) & 0xffff;
      o->d[0][4 * row + col / 2] |= v << 16 * (col % 2);
    }
  for (unsigned row = 0; row < 8; row++)
    for (unsigned k = 0; k < 32 && op; k++)
      o->d[k / (4 * bytes.per)][4 * row + k / bytes.per % 4] |=
          element(a_word(in, nibbles, row, k), nibbles, k) << 8 * (k % bytes.per);
  return op ? op == 1 && type == 2 : type == 0;
}

bool ref_mma(const struct ref_in *in, struct ref_out *o)
{
  struct num n;
  bool known;
  num_init(&n);
  switch (in->sem) {
  case SEM_HMMA: known = hmma(&n, in, o); break;
  case SEM_HMMA_884: known = hmma884(&n, in, o); break;
  case SEM_IMMA: known = imma(in, o); break;
  case SEM_BMMA: known = bmma(in, o); break;
  case SEM_DMMA: known = dmma(&n, in, o); break;
  case SEM_QMMA: known = qmma(&n, in, o); break;
  default: known = movm(in, o);
  }
  num_free(&n);
  return known;
}
