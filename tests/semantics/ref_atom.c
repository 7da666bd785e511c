/* Reference: one atomic operation on a value in memory. Rules: PTX ISA 9.0, atom and red: INC and
 * DEC wrap at the operand, FP32 addition flushes subnormals, FP16 and BF16 pairs do not, all
 * round to nearest even; a NaN loses against a number in MIN and MAX. NaN results are canonical,
 * in FP64 any.
 */
#include "ref_atom.h"
#include "num.h"

static uint64_t word64(const uint32_t *v)
{
  return v[0] | (uint64_t)v[1] << 32;
}

static uint64_t integer(enum atom_code op, unsigned bits, bool sign, uint64_t old, uint64_t v)
{
  const uint64_t ones = bits == 64 ? UINT64_MAX : UINT32_MAX, top = (ones >> 1) + 1;
  const uint64_t flip = sign ? top : 0; /* signed order is unsigned order with the sign flipped */
  switch (op) {
  case ATOM_ADD: return (old + v) & ones;
  case ATOM_MIN: return (old ^ flip) < (v ^ flip) ? old : v;
  case ATOM_MAX: return (old ^ flip) > (v ^ flip) ? old : v;
  case ATOM_INC: return old >= v ? 0 : old + 1;
  case ATOM_DEC: return old == 0 || old > v ? v : old - 1;
  case ATOM_AND: return old & v;
  case ATOM_OR: return old | v;
  default: return old ^ v;
  }
}

static uint64_t number(enum atom_code op, struct fmt f, bool ftz, uint64_t x, uint64_t y)
{
  struct num n;
  uint64_t r;
  num_init(&n);
  if (ftz && num_is_subnormal(x, f)) x &= num_sign(f);
  if (ftz && num_is_subnormal(y, f)) y &= num_sign(f);
  num_from(n.x, x, f);
  num_from(n.y, y, f);
  const bool nx = mpfr_nan_p(n.x), ny = mpfr_nan_p(n.y);
  if (op == ATOM_ADD) {
    mpfr_set_prec(n.r, f.prec);
    int t = mpfr_add(n.r, n.x, n.y, MPFR_RNDN);
    r = num_to(n.r, t, f, MPFR_RNDN);
    if (ftz && num_is_subnormal(r, f)) r &= num_sign(f);
  } else if (nx || ny) {
    r = nx && ny ? num_nan(f) : nx ? y : x;
  } else {
    int c = mpfr_cmp(n.x, n.y);
    if (c == 0) c = mpfr_signbit(n.x) ? -1 : 1; /* -0 is the smaller one */
    r = (c < 0) == (op == ATOM_MIN) ? x : y;
  }
  num_free(&n);
  return r;
}

bool ref_atom_is_float(enum sass_atom_type type)
{
  return type >= ATOM_F32 && type <= ATOM_BF16X8;
}

unsigned ref_atom_words(enum sass_atom_type type)
{
  switch (type) {
  case ATOM_U64:
  case ATOM_S64:
  case ATOM_F64:
  case ATOM_F32X2:
  case ATOM_F16X4:
  case ATOM_BF16X4: return 2;
  case ATOM_F32X4:
  case ATOM_F16X8:
  case ATOM_BF16X8:
  case ATOM_B128: return 4;
  default: return 1;
  }
}

void ref_atom(enum atom_code op, enum sass_atom_type type, const uint32_t old[4],
              const uint32_t v[4], const uint32_t cmp[4], uint32_t r[4], uint32_t ret[4])
{
  const unsigned words = ref_atom_words(type);
  memcpy(ret, old, 16);
  memcpy(r, old, 16);
  if (op == ATOM_CAS || op == ATOM_CAST || op == ATOM_EXCH) {
    bool same = op == ATOM_EXCH || !memcmp(old, cmp, 4 * words);
    if (same) memcpy(r, v, 4 * words);
    if (op == ATOM_CAST) ret[0] = same, ret[1] = 0;
    return;
  }
  if (!ref_atom_is_float(type)) {
    const bool wide = words == 2;
    uint64_t x = integer(op, wide ? 64 : 32, type == ATOM_S32 || type == ATOM_S64,
                         wide ? word64(old) : old[0], wide ? word64(v) : v[0]);
    r[0] = (uint32_t)x;
    if (wide) r[1] = (uint32_t)(x >> 32);
  } else if (type == ATOM_F64) {
    uint64_t x = number(op, NUM_F64, false, word64(old), word64(v));
    r[0] = (uint32_t)x, r[1] = (uint32_t)(x >> 32);
  } else {
    const bool f32 = type == ATOM_F32 || type == ATOM_F32X2 || type == ATOM_F32X4;
    const bool bf16 = type == ATOM_BF16X2 || type == ATOM_BF16X4 || type == ATOM_BF16X8;
    const struct fmt f = f32 ? NUM_F32 : bf16 ? NUM_BF16 : NUM_F16;
    for (unsigned k = 0; k < words; k++) {
      r[k] =
          (uint32_t)number(op, f, f32, f32 ? old[k] : old[k] & 0xffff, f32 ? v[k] : v[k] & 0xffff);
      if (!f32) r[k] |= (uint32_t)number(op, f, false, old[k] >> 16, v[k] >> 16) << 16;
    }
  }
}
