/* Registers, numbers and immediates of operands: text to the value of a field. */
#include <stdio.h>

#include "isa/sass/asm_operand.h"

/* ---- registers ---- */

bool asm_read_reg(struct attempt *a, struct text_span *s, unsigned id)
{
  unsigned r;
  const char *at = s->p;
  if (!span_register(s, "R", SASS_RZ, &r))
    return asm_fail_operand(a, WRONG_KIND, at, "a register R0..R254 or RZ is expected");
  if (r > SASS_RZ)
    return asm_fail_operand(a, WRONG_VALUE, at, "there is no such register (R0..R254, RZ)");
  return asm_put(a, id, r, at);
}

bool asm_read_ureg(struct attempt *a, struct text_span *s, unsigned id)
{
  unsigned r, zero = asm_urz(a, id);
  const char *at = s->p;
  if (!span_register(s, "UR", zero, &r))
    return asm_fail_operand(a, WRONG_KIND, at, "a uniform register or URZ is expected");
  if (r > zero)
    return asm_fail_operand(a, WRONG_VALUE, at, "there is no such uniform register on this target");
  return asm_put(a, id, r, at);
}

bool asm_read_suffixes(struct attempt *a, struct text_span s, int reuse_slot)
{
  for (struct text_span name; !span_empty(s = span_trim(s));) {
    const char *at = s.p;
    if (span_char(&s, '|')) continue;
    if (!span_char(&s, '.') || !span_name(&s, &name))
      return asm_fail_operand(a, WRONG_KIND, at, "unexpected text");
    if (!span_is(name, "reuse")) continue;
    if (reuse_slot < 0) return asm_fail_operand(a, WRONG_VALUE, at, "this operand is not cached: .reuse");
    a->reuse = (uint8_t)(a->reuse | 1u << reuse_slot);
  }
  return true;
}

/* ---- numbers ---- */

bool asm_read_number(struct attempt *a, struct text_span s, unsigned id)
{
  struct asm_number n;
  uint64_t bits;
  char what[96];
  const char *at = s.p;
  if (!span_integer(&s, &n)) return asm_fail_operand(a, WRONG_KIND, at, "a number is expected");
  if (!span_empty(span_trim(s))) return asm_fail_operand(a, WRONG_KIND, s.p, "unexpected text");
  snprintf(what, sizeof what, "out of range: 0..0x%llx",
           (unsigned long long)bits_ones(field_width(id)));
  if (!number_fits(n, field_width(id), false, &bits)) return asm_fail_operand(a, WRONG_VALUE, at, what);
  return asm_put(a, id, bits, at);
}

/* Bytes that an offset field counts in. */
static unsigned offset_unit(unsigned id)
{
  return id == FLD_OFFSET_L256 || id == FLD_OFFSET_S256 ? 32 : 1;
}

bool asm_read_offset(struct attempt *a, struct asm_number n, unsigned id, const char *at)
{
  uint64_t bits;
  char what[96];
  unsigned width = field_width(id), unit = offset_unit(id);
  if (n.magnitude % unit) {
    snprintf(what, sizeof what, "the offset is no multiple of 0x%x", unit);
    return asm_fail_operand(a, WRONG_VALUE, at, what);
  }
  n.magnitude /= unit;
  if (!number_fits(n, width, true, &bits)) {
    snprintf(what, sizeof what, "offset out of range: -0x%llx..0x%llx", (1ull << (width - 1)) * unit,
             ((1ull << (width - 1)) - 1) * unit);
    return asm_fail_operand(a, WRONG_VALUE, at, what);
  }
  return asm_put(a, id, bits, at);
}

/* ---- immediates ---- */

/* Upper half first; two elements of the list. */
static bool read_halves(struct attempt *a, struct text_span first, struct text_span *list)
{
  struct sass_inst s = asm_view(a);
  bool bf16 = sass_get(&s, FLD_HBF16) || sass_get(&s, FLD_HCMP_BF16);
  uint32_t part[2];
  for (unsigned i = 0; i < 2; i++) {
    struct text_span t = i ? span_operand(list) : first;
    const char *at = t.p;
    if (!span_float(&t, bf16 ? FLOAT_BF16 : FLOAT_F16, &part[i]) || !span_empty(span_trim(t)))
      return asm_fail_operand(a, WRONG_KIND, at, "two numbers are expected, upper half first");
  }
  return asm_put(a, FLD_IMM32, part[0] << 16 | part[1], first.p);
}

/* How the constant of a kind is a floating-point number, and what does not fit. */
static const struct float_kind {
  bool is;
  enum float_format format;
  const char *misfit;
} float_kinds[] = {
  [IMM_F32] = {true, FLOAT_F32, "this number does not fit FP32"},
  [IMM_F64] = {true, FLOAT_F64_HIGH, "only the upper 32 bits of an FP64 number fit; load it from a constant"},
  [IMM_F16] = {true, FLOAT_F16, "this number does not fit FP16"},
  [IMM_BF16] = {true, FLOAT_BF16, "this number does not fit BF16"},
};

bool asm_read_immediate(struct attempt *a, struct text_span s, struct text_span *list)
{
  struct asm_number n;
  uint64_t bits;
  uint32_t word;
  const char *at = s.p;
  struct sass_inst view = asm_view(a);
  enum sass_imm imm = row_immediate(&view);
  if (imm == IMM_F16X2) return read_halves(a, s, list);
  const struct float_kind *f = &float_kinds[imm];
  if (f->is) {
    if (!span_float(&s, f->format, &word)) {
      if (s.p == at) return asm_fail_operand(a, WRONG_KIND, at, "a floating-point number is expected");
      return asm_fail_operand(a, WRONG_VALUE, at, f->misfit);
    }
    bits = word;
  } else {
    if (!span_integer(&s, &n)) return asm_fail_operand(a, WRONG_KIND, at, "an integer is expected");
    if (!number_fits(n, 32, false, &bits))
      return asm_fail_operand(a, WRONG_VALUE, at, "immediate does not fit 32 bits");
  }
  if (!span_empty(span_trim(s))) return asm_fail_operand(a, WRONG_KIND, s.p, "unexpected text");
  /* 64-bit operations extend the constant with a sign of its own. */
  if (asm_field(a, FLD_IMM33_SIGN) >= 0 && !asm_put(a, FLD_IMM33_SIGN, *at == '-', at)) return false;
  return asm_put(a, FLD_IMM32, bits, at);
}
