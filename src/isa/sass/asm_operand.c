/* Operands: text to fields. What an operand looks like follows from the fields that its row gives
 * it; suffixes and signs are checked against the disassembly of the result (asm.c). */
#include <stdio.h>
#include <string.h>

#include "isa/sass/asm_parse.h"

enum field_class {
  CLASS_NUMBER, CLASS_REG, CLASS_UREG, CLASS_PRED, CLASS_NOT, CLASS_FILE, CLASS_OFFSET,
  CLASS_TARGET, CLASS_BYTE_TARGET, CLASS_BREG, CLASS_DESC, CLASS_CHOICE, CLASS_BANK, CLASS_BANK_OFFSET,
  CLASS_SR, CLASS_WIDTH,
};

/* Fields not listed are plain numbers. */
static const uint8_t class_of[FLD__N] = {
    [FLD_RD] = CLASS_REG, [FLD_RA] = CLASS_REG, [FLD_RB] = CLASS_REG, [FLD_RC] = CLASS_REG,
    [FLD_HMMA_META] = CLASS_REG, [FLD_SCALE_A] = CLASS_REG, [FLD_SCALE_B] = CLASS_REG,
    [FLD_SCALE_UR] = CLASS_UREG, [FLD_TEX_RD2] = CLASS_REG, [FLD_TEX_URH] = CLASS_UREG,
    [FLD_TEX_DIM] = CLASS_CHOICE, [FLD_TXQ_QUERY] = CLASS_CHOICE,
    [FLD_URD] = CLASS_UREG, [FLD_URA] = CLASS_UREG, [FLD_URB] = CLASS_UREG, [FLD_URC] = CLASS_UREG,
    [FLD_TMA_HINT] = CLASS_UREG, [FLD_URA_MASK] = CLASS_UREG, [FLD_URC6] = CLASS_UREG,
    [FLD_PU] = CLASS_PRED, [FLD_PV] = CLASS_PRED, [FLD_PP] = CLASS_PRED, [FLD_PQ] = CLASS_PRED,
    [FLD_PR] = CLASS_PRED, [FLD_GMMA_UP] = CLASS_PRED, [FLD_BRA_UP] = CLASS_PRED, [FLD_BRA_UP_NOT] = CLASS_NOT,
    [FLD_PP_NOT] = CLASS_NOT, [FLD_PQ_NOT] = CLASS_NOT, [FLD_PR_NOT] = CLASS_NOT,
    [FLD_URA_NOT] = CLASS_NOT, [FLD_PR_U] = CLASS_FILE,
    [FLD_TC_META] = CLASS_UREG, [FLD_TC_AUX] = CLASS_UREG, [FLD_TMEM_OFFSET] = CLASS_OFFSET,
    [FLD_MEM_OFFSET] = CLASS_OFFSET, [FLD_MEM_OFFSET23] = CLASS_OFFSET,
    [FLD_OFFSET32] = CLASS_OFFSET, [FLD_OFFSET_L256] = CLASS_OFFSET, [FLD_OFFSET_S256] = CLASS_OFFSET,
    [FLD_RD_HI] = CLASS_REG,
    [FLD_LDGSTS_SOFF] = CLASS_OFFSET, [FLD_LDGSTS_GOFF] = CLASS_OFFSET,
    [FLD_TARGET48] = CLASS_TARGET, [FLD_TARGET56] = CLASS_TARGET, [FLD_TARGET30] = CLASS_TARGET,
    [FLD_TARGET_LEPC] = CLASS_BYTE_TARGET,
    [FLD_BREG] = CLASS_BREG, [FLD_MEM_DESC] = CLASS_DESC, [FLD_LDS_STRIDE] = CLASS_CHOICE,
    [FLD_LDGSTS_DESC] = CLASS_DESC, [FLD_RED_DESC] = CLASS_DESC, [FLD_ATOM_DESC76] = CLASS_DESC,
    [FLD_ATOM_DESC90] = CLASS_DESC, [FLD_ATOM_DESC71] = CLASS_DESC,
    [FLD_LDGSTS_A64] = CLASS_WIDTH,
    [FLD_MEM_A64] = CLASS_WIDTH, [FLD_ATOM_A64] = CLASS_WIDTH, [FLD_ATOM_A64_70] = CLASS_WIDTH,
    [FLD_LDGMC_A64] = CLASS_WIDTH,
    [FLD_BMOV_STATE] = CLASS_CHOICE, [FLD_RPC_HI] = CLASS_CHOICE, [FLD_SR] = CLASS_SR,
    [FLD_CBANK_LDC] = CLASS_BANK, [FLD_COFF_LDC] = CLASS_BANK_OFFSET,
    [FLD_COFF_LDCU] = CLASS_BANK_OFFSET,
};

/* Fields of the operand, found by class; FLD_NONE where it has none. */
static unsigned of_class(const uint16_t *fields, enum field_class c)
{
  for (; *fields; fields++)
    if (class_of[*fields] == c) return *fields;
  return FLD_NONE;
}

static bool fail_here(const struct attempt *a, enum asm_severity severity, const char *at,
                      const char *what)
{
  return asm_fail(a, AT_OPERAND + 2 * a->position + severity, at, "operand %u: %s",
                  a->position + 1, what);
}

static bool put(struct attempt *a, unsigned id, uint64_t v, const char *at)
{
  int i = asm_field(a, id);
  if (i < 0) return fail_here(a, WRONG_VALUE, at, "not possible with this instruction");
  uint32_t bit = 1u << i;
  if (a->fixed & bit) return true;
  /* One register that is named twice: BAR R2, R2. */
  if (a->set & bit && a->val[i] != v)
    return fail_here(a, WRONG_VALUE, at, "must be the same register as the operand before");
  a->val[i] = v;
  a->set |= bit;
  return true;
}

static void add_choice(struct attempt *a, unsigned id, unsigned n)
{
  int i = asm_field(a, id);
  if (i < 0 || a->fixed >> i & 1 || a->n_choices >= ASM_CHOICES) return;
  for (unsigned k = 0; k < a->n_choices; k++)
    if (a->choice[k].index == i) return;
  struct asm_choice *c = &a->choice[a->n_choices++];
  c->index = (uint8_t)i;
  c->n = (uint8_t)n;
  for (unsigned k = 0; k < n; k++) c->value[k] = k;
}

/* ---- registers ---- */

static bool read_reg(struct attempt *a, struct text_span *s, unsigned id)
{
  unsigned r;
  const char *at = s->p;
  if (!span_register(s, "R", SASS_RZ, &r))
    return fail_here(a, WRONG_KIND, at, "a register R0..R254 or RZ is expected");
  if (r > SASS_RZ)
    return fail_here(a, WRONG_VALUE, at, "there is no such register (R0..R254, RZ)");
  return put(a, id, r, at);
}

static bool read_ureg(struct attempt *a, struct text_span *s, unsigned id)
{
  unsigned r, zero = asm_urz(a, id);
  const char *at = s->p;
  if (!span_register(s, "UR", zero, &r))
    return fail_here(a, WRONG_KIND, at, "a uniform register or URZ is expected");
  if (r > zero)
    return fail_here(a, WRONG_VALUE, at, "there is no such uniform register on this target");
  return put(a, id, r, at);
}

/* Rest of an operand: suffixes, closing bars. .reuse is taken here, others are checked later. */
static bool read_suffixes(struct attempt *a, struct text_span s, int reuse_slot)
{
  for (struct text_span name; !span_empty(s = span_trim(s));) {
    const char *at = s.p;
    if (span_char(&s, '|')) continue;
    if (!span_char(&s, '.') || !span_name(&s, &name))
      return fail_here(a, WRONG_KIND, at, "unexpected text");
    if (!span_is(name, "reuse")) continue;
    if (reuse_slot < 0) return fail_here(a, WRONG_VALUE, at, "this operand is not cached: .reuse");
    a->reuse = (uint8_t)(a->reuse | 1u << reuse_slot);
  }
  return true;
}

static int reuse_slot_of(unsigned id)
{
  return id == FLD_RA ? 0 : id == FLD_RB ? 1 : id == FLD_RC ? 2 : -1;
}

/* ---- predicates ---- */

static bool wants_uniform(const struct attempt *a, unsigned id)
{
  bool result = id == FLD_PU || id == FLD_PV;
  if (id == FLD_BRA_UP || id == FLD_GMMA_UP) return true;
  return a->row->traits & (result ? ROW_UPRED_D : ROW_UPRED_S);
}

static bool read_pred(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  unsigned id = of_class(fields, CLASS_PRED), not_id = of_class(fields, CLASS_NOT);
  unsigned file_id = of_class(fields, CLASS_FILE), r;
  const char *at = s.p;
  bool neg = span_char(&s, '!');
  bool uniform = span_register(&s, "UP", SASS_PT, &r);
  if (!uniform && !span_register(&s, "P", SASS_PT, &r))
    return fail_here(a, WRONG_KIND, at, "a predicate is expected");
  if (!span_empty(span_trim(s))) return fail_here(a, WRONG_KIND, s.p, "unexpected text");
  if (r > SASS_PT) return fail_here(a, WRONG_VALUE, at, "there is no such predicate (P0..P6, PT)");
  if (neg && !not_id) return fail_here(a, WRONG_VALUE, at, "a result cannot be negated");
  if (file_id) {
    if (!put(a, file_id, uniform != wants_uniform(a, id), at)) return false;
  } else if (uniform != wants_uniform(a, id)) {
    return fail_here(a, WRONG_KIND, at, uniform ? "a predicate P0..P6 or PT is expected"
                                                : "a uniform predicate UP0..UP6 or UPT is expected");
  }
  if (id == FLD_GMMA_UP) r = SASS_PT - r;
  return put(a, id, r, at) && (!not_id || put(a, not_id, neg, at));
}

/* ---- numbers ---- */

static bool read_number(struct attempt *a, struct text_span s, unsigned id)
{
  struct asm_number n;
  uint64_t bits;
  char what[96];
  const char *at = s.p;
  if (!span_integer(&s, &n)) return fail_here(a, WRONG_KIND, at, "a number is expected");
  if (!span_empty(span_trim(s))) return fail_here(a, WRONG_KIND, s.p, "unexpected text");
  snprintf(what, sizeof what, "out of range: 0..0x%llx",
           (unsigned long long)bits_ones(field_width(id)));
  if (!number_fits(n, field_width(id), false, &bits)) return fail_here(a, WRONG_VALUE, at, what);
  return put(a, id, bits, at);
}

/* Bytes that an offset field counts in. */
static unsigned offset_unit(unsigned id)
{
  return id == FLD_OFFSET_L256 || id == FLD_OFFSET_S256 ? 32 : 1;
}

static bool read_offset(struct attempt *a, struct asm_number n, unsigned id, const char *at)
{
  uint64_t bits;
  char what[96];
  unsigned width = field_width(id), unit = offset_unit(id);
  if (n.magnitude % unit) {
    snprintf(what, sizeof what, "the offset is no multiple of 0x%x", unit);
    return fail_here(a, WRONG_VALUE, at, what);
  }
  n.magnitude /= unit;
  if (!number_fits(n, width, true, &bits)) {
    snprintf(what, sizeof what, "offset out of range: -0x%llx..0x%llx", (1ull << (width - 1)) * unit,
             ((1ull << (width - 1)) - 1) * unit);
    return fail_here(a, WRONG_VALUE, at, what);
  }
  return put(a, id, bits, at);
}

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
      return fail_here(a, WRONG_KIND, at, "two numbers are expected, upper half first");
  }
  return put(a, FLD_IMM32, part[0] << 16 | part[1], first.p);
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

static bool read_immediate(struct attempt *a, struct text_span s, struct text_span *list)
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
      if (s.p == at) return fail_here(a, WRONG_KIND, at, "a floating-point number is expected");
      return fail_here(a, WRONG_VALUE, at, f->misfit);
    }
    bits = word;
  } else {
    if (!span_integer(&s, &n)) return fail_here(a, WRONG_KIND, at, "an integer is expected");
    if (!number_fits(n, 32, false, &bits))
      return fail_here(a, WRONG_VALUE, at, "immediate does not fit 32 bits");
  }
  if (!span_empty(span_trim(s))) return fail_here(a, WRONG_KIND, s.p, "unexpected text");
  /* 64-bit operations extend the constant with a sign of its own. */
  if (asm_field(a, FLD_IMM33_SIGN) >= 0 && !put(a, FLD_IMM33_SIGN, *at == '-', at)) return false;
  return put(a, FLD_IMM32, bits, at);
}

/* ---- constant banks ---- */

/* c[0x3][0x10], c[0x3][R2+0x10], c[0x3][UR4+0x10]; cx[UR4][0x10] has no bank. */
struct constant {
  bool bindless, has_reg, has_ureg;
  struct asm_number bank, offset;
  struct text_span reg; /* of the register's name */
  const char *at;  /* the offset */
};

static bool read_bracket(struct text_span *s, struct text_span *reg, struct asm_number *n)
{
  unsigned r;
  *reg = (struct text_span){s->p, s->p};
  if (!span_char(s, '[')) return false;
  struct text_span t = *s;
  if (span_register(&t, "UR", 0, &r) || span_register(&t, "R", 0, &r)) {
    *reg = (struct text_span){s->p, t.p};
    *s = t;
    *n = (struct asm_number){0, false};
    if (span_char(s, ']')) return true;
    struct text_span plus = *s;
    if (span_char(&plus, '+')) *s = plus;
  }
  return span_integer(s, n) && span_char(s, ']');
}

static bool read_constant(struct attempt *a, struct text_span *s, struct constant *c)
{
  const char *at = s->p;
  struct text_span bank_reg;
  *c = (struct constant){.bindless = span_word(s, "cx")};
  if (!c->bindless && !span_word(s, "c"))
    return fail_here(a, WRONG_KIND, at, "a constant c[bank][offset] is expected");
  if (!read_bracket(s, &bank_reg, &c->bank) || (c->bindless != !span_empty(bank_reg)))
    return fail_here(a, WRONG_VALUE, at, "write c[bank][offset] or cx[UR][offset]");
  c->at = s->p;
  if (!read_bracket(s, &c->reg, &c->offset))
    return fail_here(a, WRONG_VALUE, at, "write c[bank][offset] or cx[UR][offset]");
  c->has_ureg = !span_empty(c->reg) && *c->reg.p == 'U';
  c->has_reg = !span_empty(c->reg) && *c->reg.p == 'R';
  if (c->bindless) c->reg = bank_reg;
  return true;
}

/* Constant operand of an ALU instruction: whole words. */
static bool source_constant(struct attempt *a, struct text_span *s, bool bindless)
{
  struct constant c;
  uint64_t bits;
  const char *at = s->p;
  if (!read_constant(a, s, &c)) return false;
  if (c.bindless != bindless) return fail_here(a, WRONG_KIND, at, "wrong kind of constant operand");
  if (c.has_reg || c.has_ureg)
    return fail_here(a, WRONG_VALUE, c.at, "only LDC and ULDC take a register here");
  if (c.offset.magnitude % 4)
    return fail_here(a, WRONG_VALUE, c.at, "the offset must be a multiple of 4");
  c.offset.magnitude /= 4;
  if (!number_fits(c.offset, field_width(FLD_COFF), c.offset.neg, &bits))
    return fail_here(a, WRONG_VALUE, c.at, "the offset must be from -0x8000 to 0xfffc");
  if (!put(a, FLD_COFF, bits, at)) return false;
  if (bindless) return read_ureg(a, &c.reg, FLD_URB);
  if (!number_fits(c.bank, field_width(FLD_CBANK), false, &bits))
    return fail_here(a, WRONG_VALUE, at, "there are banks 0..31");
  return put(a, FLD_CBANK, bits, at);
}

/* Address in a constant bank: LDC, ULDC. */
static bool constant_address(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  struct constant c;
  uint64_t bits;
  const char *at = s.p;
  unsigned reg = of_class(fields, CLASS_REG), ureg = of_class(fields, CLASS_UREG);
  unsigned offset = of_class(fields, CLASS_BANK_OFFSET), width = field_width(offset);
  if (!read_constant(a, &s, &c)) return false;
  if (c.bindless || (c.has_reg && !reg) || (c.has_ureg && !ureg))
    return fail_here(a, WRONG_KIND, at, "wrong kind of constant address");
  if (!number_fits(c.bank, field_width(FLD_CBANK_LDC), false, &bits))
    return fail_here(a, WRONG_VALUE, at, "there are banks 0..31");
  if (!put(a, FLD_CBANK_LDC, bits, at)) return false;
  if (!number_fits(c.offset, width, c.offset.neg, &bits))
    return fail_here(a, WRONG_VALUE, c.at, "the offset does not fit its field");
  if (!put(a, offset, bits, at)) return false;
  if (c.has_ureg) return read_ureg(a, &c.reg, ureg);
  if (c.has_reg) return read_reg(a, &c.reg, reg);
  return true;
}

/* ---- sources of ALU instructions ---- */

static unsigned modifier_field(const struct attempt *a, enum src_place at, unsigned in_a,
                               unsigned in_b, unsigned in_c, unsigned in_half_c)
{
  if (at == AT_A) return in_a;
  if (at != AT_C) return in_b;
  return a->row->traits & ROW_HALF_C ? in_half_c : in_c;
}

/* Leading -, ~ and |. */
static bool source_signs(struct attempt *a, struct text_span *s, unsigned op, enum src_place at)
{
  const char *first = s->p;
  bool neg = false, abs = false;
  for (;; s->p++) {
    if (span_empty(*s)) break;
    if (*s->p == '-' || *s->p == '~') neg = true;
    else if (*s->p == '|') abs = true;
    else break;
  }
  if (neg && !(op & (OM_NEG | OM_INV)))
    return fail_here(a, WRONG_VALUE, first, "this operand cannot be negated here");
  if (abs && !(op & OM_ABS))
    return fail_here(a, WRONG_VALUE, first, "this operand has no absolute value here");
  if (neg && !put(a, modifier_field(a, at, FLD_A_NEG, FLD_B_NEG, FLD_C_NEG, FLD_HC_NEG), 1, first))
    return false;
  if (abs && !put(a, modifier_field(a, at, FLD_A_ABS, FLD_B_ABS, FLD_C_ABS, FLD_HC_ABS), 1, first))
    return false;
  if (op & OM_SWZ)
    add_choice(a, modifier_field(a, at, FLD_HSWZ_A, FLD_HSWZ_B, FLD_HSWZ_C, FLD_HSWZ_C), 4);
  if (a->row->sem == SEM_R2P || a->row->sem == SEM_UR2UP) add_choice(a, FLD_PR_BYTE, 4);
  if (op & OM_SEL) add_choice(a, FLD_CVT_SEL, 4);
  if (op & OM_F2) {
    add_choice(a, row_f2_swizzle(a->row, op), 3); /* both halves, exchanged, one for both */
    if (row_f2_sign(a->row, op) != FLD_NONE) add_choice(a, row_f2_sign(a->row, op), 2);
  }
  if ((op & OM_KIND) == OPD_B) add_choice(a, FLD_HFMA_CROSS, 2);
  for (const struct row_suffix *x = row_suffixes; x->field; x++)
    if (x->operand == (op & OM_KIND)) add_choice(a, x->field, 1u << field_width(x->field));
  return true;
}

static bool read_source(struct attempt *a, unsigned op, struct text_span s, struct text_span *list,
                        uint8_t *compare)
{
  enum { F2_ONE_FOR_BOTH = 2 };
  unsigned kind = op & OM_KIND, n = kind == OPD_A ? 0 : kind == OPD_B ? 1 : 2;
  enum src_place at = row_place(a->row, a->form, n);
  bool u = a->row->traits & ROW_UREGS && a->form >= 8, ok;
  if (at == AT_B_IMM) {
    *compare = COMPARE_NONE;
    if (op & OM_F2 && !put(a, row_f2_swizzle(a->row, op), F2_ONE_FOR_BOTH, s.p)) return false;
    return read_immediate(a, s, list);
  }
  if (!source_signs(a, &s, op, at)) return false;
  switch (at) {
  case AT_A: ok = u ? read_ureg(a, &s, FLD_URA) : read_reg(a, &s, FLD_RA); break;
  case AT_C: ok = u ? read_ureg(a, &s, FLD_URC) : read_reg(a, &s, FLD_RC); break;
  case AT_B_REG: ok = u ? read_ureg(a, &s, FLD_URB) : read_reg(a, &s, FLD_RB); break;
  case AT_B_UR: ok = read_ureg(a, &s, FLD_URB); break;
  case AT_B_CONST: ok = source_constant(a, &s, false); break;
  default: ok = source_constant(a, &s, true); break;
  }
  bool vector = !u && (at == AT_A || at == AT_C || at == AT_B_REG);
  return ok && read_suffixes(a, s, vector ? (int)row_position(a->row, n) : -1);
}

/* ---- addresses ---- */

/* One term of [R2.64+UR4+-0x10]. */
static bool address_term(struct attempt *a, struct text_span *s, const uint16_t *fields, int sign)
{
  unsigned r;
  struct asm_number n;
  struct text_span t = *s, name;
  const char *at = s->p;
  unsigned reg = of_class(fields, CLASS_REG), ureg = of_class(fields, CLASS_UREG);
  if (span_register(&t, "UR", 0, &r)) {
    if (!ureg) return fail_here(a, WRONG_KIND, at, "this form has no uniform register");
    if (!read_ureg(a, s, ureg)) return false;
  } else if (span_register(&t, "R", 0, &r)) {
    if (!read_reg(a, s, reg)) return false;
  } else {
    if (!span_integer(s, &n)) return fail_here(a, WRONG_VALUE, at, "register or offset expected");
    if (sign < 0) n.neg = !n.neg;
    return read_offset(a, n, of_class(fields, CLASS_OFFSET), at);
  }
  t = (struct text_span){s->p, s->p};
  while (span_char(s, '.'))
    if (!span_name(s, &name)) return fail_here(a, WRONG_VALUE, s->p, "unexpected text");
  t.end = s->p;
  return read_suffixes(a, t, reg == FLD_RA ? 0 : -1);
}

/* Whether the register is 64 bits wide, which its suffix may show; usual beside a uniform one. */
static void choose_width(struct attempt *a, bool usual)
{
  for (unsigned i = 0; i < a->n; i++) {
    if (class_of[a->field[i]] != CLASS_WIDTH) continue;
    add_choice(a, a->field[i], 2);
    struct asm_choice *c = &a->choice[a->n_choices - 1];
    if (a->n_choices && c->index == i) c->value[0] = usual, c->value[1] = !usual;
  }
}

/* desc[UR4]; `next`: the word names the register before. */
static bool read_descriptor(struct attempt *a, struct text_span *s, unsigned id, bool next)
{
  unsigned r;
  struct text_span t;
  if (!span_char(s, '[')) return false;
  if (!next) return read_ureg(a, s, id) && span_char(s, ']');
  t = *s;
  if (!span_register(s, "UR", 0, &r) || r == 0) return false;
  return put(a, id, r - 1, t.p) && span_char(s, ']');
}

static bool read_address(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  bool next = fields == row_operand_fields(OPD_LDGSTS_GN) || fields == row_operand_fields(OPD_LDGSTS_GN100);
  unsigned desc = FLD_NONE, ureg = of_class(fields, CLASS_UREG);
  const char *at = s.p;
  bool shared = of_class(fields, CLASS_OFFSET) == FLD_LDGSTS_SOFF; /* its uniform register is no descriptor */
  for (unsigned i = 0; ureg && !shared && i < a->n; i++)
    if (class_of[a->field[i]] == CLASS_DESC) desc = a->field[i];
  bool has_desc = span_word(&s, "desc");
  if (has_desc) {
    if (!ureg) return fail_here(a, WRONG_KIND, at, "this form has no descriptor");
    if (!read_descriptor(a, &s, ureg, next))
      return fail_here(a, WRONG_VALUE, s.p, "write desc[UR4][R2.64+0x10]");
  }
  if (desc && !put(a, desc, has_desc, at)) return false;
  if (!span_char(&s, '[')) return fail_here(a, WRONG_KIND, at, "an address [R2+0x10] is expected");
  for (int sign = 1;;) {
    if (!address_term(a, &s, fields, sign)) return false;
    if (span_char(&s, ']')) break;
    sign = 1;
    if (span_char(&s, '+')) continue;
    if (!span_char(&s, '-')) return fail_here(a, WRONG_VALUE, s.p, "+, - or ] expected");
    sign = -1;
  }
  if (!span_empty(span_trim(s))) return fail_here(a, WRONG_VALUE, s.p, "unexpected text");
  /* The form without a uniform register comes first. */
  bool has_ureg = ureg && a->set >> asm_field(a, ureg) & 1;
  if (ureg && a->line->strict && !has_ureg)
    return fail_here(a, WRONG_KIND, at, "this form has a uniform register");
  /* The vendor's notation of sm_80 to sm_89 leaves the descriptor out. */
  bool near_pair = a->row->width == W_STAS || a->row->width == W_REDAS; /* [R4.64]: shared address, mbarrier */
  if (ureg && !has_ureg && !near_pair && memmem(at, (size_t)(s.end - at), ".64", 3))
    return asm_fail(a, AT_WORD + 2, at, "operand %u: name the memory descriptor: desc[UR4][R2.64]",
                    a->position + 1);
  for (; *fields; fields++)
    if (class_of[*fields] == CLASS_CHOICE) add_choice(a, *fields, 1u << field_width(*fields));
  choose_width(a, has_ureg);
  return true;
}

/* ---- branch targets ---- */

static bool read_label(struct attempt *a, struct text_span s, uint64_t *address)
{
  const struct sass_asm *env = a->line->env;
  char what[200];
  const char *at = s.p;
  if (!span_empty(s) && *s.p == '`') s.p++;
  if (span_char(&s, '(') && s.end > s.p && s.end[-1] == ')') s.end--;
  s = span_trim(s);
  if (env->label && env->label(env->context, s.p, (size_t)(s.end - s.p), address)) return true;
  snprintf(what, sizeof what, "unknown label '%.*s'",
           (int)(s.end - s.p < 100 ? s.end - s.p : 100), s.p);
  return fail_here(a, WRONG_VALUE, at, what);
}

/* Relative to the next instruction or not, as the disassembler says. */
static bool read_target(struct attempt *a, struct text_span s, unsigned id, struct asm_used *used)
{
  struct asm_number n;
  uint64_t address, bits[2];
  const char *at = s.p;
  unsigned width = field_width(id), scale = class_of[id] == CLASS_TARGET ? 4 : 1;
  bool label = !span_integer(&s, &n), fits[2];
  if (label && !read_label(a, s, &address)) return false;
  if (!label) address = n.neg ? -n.magnitude : n.magnitude;
  if (!label && !span_empty(span_trim(s))) return fail_here(a, WRONG_KIND, s.p, "unexpected text");
  if (address % scale) return fail_here(a, WRONG_VALUE, at, "the target is no multiple of 4");
  for (unsigned i = 0; i < 2; i++) {
    int64_t v = (int64_t)(i ? address : address - a->line->env->pc - 16) / (int)scale;
    n = (struct asm_number){(uint64_t)(v < 0 ? -v : v), v < 0};
    fits[i] = number_fits(n, width, true, &bits[i]);
  }
  if (!fits[0] && !fits[1]) return fail_here(a, WRONG_VALUE, at, "the target is too far away");
  if (!put(a, id, bits[!fits[0]], at)) return false;
  if (label || !fits[0] || !fits[1]) return true;
  used->compare = COMPARE_NUMBER;
  used->number = address;
  add_choice(a, id, 2);
  struct asm_choice *c = &a->choice[a->n_choices - 1];
  if (a->n_choices && a->field[c->index] == id) c->value[0] = bits[0], c->value[1] = bits[1];
  return true;
}

/* ---- operands of single instructions ---- */

/* PPZPPNNP: two letters for each lane, lane 3 first; or the number of the field. */
static bool read_swizzle_signs(struct attempt *a, struct text_span s)
{
  enum { QUAD = 4 };
  uint64_t v = 0;
  const char *at = s.p;
  if (s.end - s.p != 2 * QUAD) return read_number(a, s, FLD_FSWZ_LANE);
  for (unsigned lane = QUAD; lane--; s.p += 2) {
    unsigned code = 0;
    while (code < 4 && memcmp(s.p, sass_fswz_names[code], 2) != 0) code++;
    if (code == 4) return fail_here(a, WRONG_VALUE, s.p, "two of PP, PN, NP, ZP for each lane are expected");
    v |= (uint64_t)code << (2 * lane);
  }
  return put(a, FLD_FSWZ_LANE, v, at);
}

/* {5,4} */
static bool read_depbar_mask(struct attempt *a, struct text_span mask)
{
  uint64_t bits = 0;
  struct asm_number n;
  const char *at = mask.p;
  if (!span_char(&mask, '{')) return fail_here(a, WRONG_VALUE, mask.p, "write {5,4,…}");
  do {
    if (!span_integer(&mask, &n) || n.neg || n.magnitude >= SB_COUNT)
      return fail_here(a, WRONG_VALUE, mask.p, "a counter number 0..5 is expected");
    bits |= 1u << n.magnitude;
  } while (span_char(&mask, ','));
  if (!span_char(&mask, '}')) return fail_here(a, WRONG_VALUE, mask.p, "} expected");
  return put(a, FLD_DEPBAR_MASK, bits, at);
}

/* SB0, 0x1, {5,4}; a list alone waits for all that it names. */
static bool read_depbar(struct attempt *a, struct text_span s, struct text_span *list)
{
  unsigned sb;
  const char *at = s.p;
  if (*s.p == '{') return put(a, FLD_DEPBAR_LE, 0, at) && read_depbar_mask(a, s);
  if (!span_register(&s, "SB", 0, &sb) || sb >= SB_COUNT || !span_empty(span_trim(s)))
    return fail_here(a, WRONG_KIND, at, "a counter SB0..SB5 is expected");
  if (!put(a, FLD_DEPBAR_SB, sb, at)) return false;
  add_choice(a, FLD_DEPBAR_LE, 2);
  if (!read_number(a, span_operand(list), FLD_DEPBAR_COUNT)) return false;
  struct text_span mask = span_operand(list);
  return span_empty(mask) || read_depbar_mask(a, mask);
}

static bool read_special_register(struct attempt *a, struct text_span s)
{
  unsigned sr;
  const char *at = s.p;
  for (sr = 0; sr < 256; sr++)
    if (sass_special_register(sr) && span_is(s, sass_special_register(sr)))
      return put(a, FLD_SR, sr, at);
  if (span_register(&s, "SR", 0, &sr) && sr < 256 && span_empty(span_trim(s)))
    return put(a, FLD_SR, sr, at);
  return fail_here(a, WRONG_KIND, at, "a special register is expected (SR_TID.X, SR_CLOCKLO, SR80)");
}

static bool read_breg(struct attempt *a, struct text_span s, unsigned id)
{
  unsigned r;
  const char *at = s.p;
  if (!span_register(&s, "B", 0, &r) || !span_empty(span_trim(s)))
    return fail_here(a, WRONG_KIND, at, "a convergence barrier B0..B15 is expected");
  if (r > 15) return fail_here(a, WRONG_VALUE, at, "there is no such barrier (B0..B15)");
  return put(a, id, r, at);
}

/* [UR4], desc[UR4] */
static bool read_bulk(struct attempt *a, struct text_span s, unsigned id)
{
  if (id == FLD_TMA_HINT && !span_word(&s, "desc")) return fail_here(a, WRONG_KIND, s.p, "desc[UR…] is expected");
  if (!span_char(&s, '[')) return fail_here(a, WRONG_KIND, s.p, "[UR…] is expected");
  if (!read_ureg(a, &s, id)) return false;
  return span_char(&s, ']') ? read_suffixes(a, s, -1)
                            : fail_here(a, WRONG_VALUE, s.p, "']' is missing");
}

/* gdesc[UR4].negB.tnspB */
static bool read_descriptors(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  static const struct {
    const char *name;
    uint16_t field;
  } suffix[] = {{"negA", FLD_A_NEG}, {"negB", FLD_B_NEG}, {"tnspA", FLD_GMMA_TNSP_A}, {"tnspB", FLD_GMMA_TNSP_B}};
  const size_t n = sizeof suffix / sizeof suffix[0];
  struct text_span name;
  if (!span_word(&s, "gdesc") || !span_char(&s, '['))
    return fail_here(a, WRONG_KIND, s.p, "gdesc[UR...] is expected");
  if (!read_ureg(a, &s, fields[0])) return false;
  if (!span_char(&s, ']')) return fail_here(a, WRONG_VALUE, s.p, "']' is missing");
  while (!span_empty(s = span_trim(s))) {
    size_t i = 0;
    const char *at = s.p;
    if (!span_char(&s, '.') || !span_name(&s, &name)) return fail_here(a, WRONG_KIND, at, "unexpected text");
    while (i < n && !span_is(name, suffix[i].name)) i++;
    if (i == n) return fail_here(a, WRONG_VALUE, at, "negA, negB, tnspA or tnspB is expected");
    if (!put(a, suffix[i].field, 1, at)) return false;
  }
  return true;
}

/* .A_REUSE.A_KEEP, .BUFFER1: fields with names, whatever is written. */
static bool read_named(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  struct text_span name;
  while (!span_empty(s = span_trim(s))) {
    const char *at = s.p;
    bool found = false;
    if (!span_char(&s, '.') || !span_name(&s, &name)) return fail_here(a, WRONG_KIND, at, "unexpected text");
    for (const uint16_t *f = fields; *f && !found; f++)
      for (unsigned v = 1; v < 1u << field_width(*f) && !found; v++) {
        found = span_is(name, sass_fields[*f].names[v] + 1);
        if (found && !put(a, *f, v, at)) return false;
      }
    if (!found) return fail_here(a, WRONG_VALUE, at, "not possible with this operand");
  }
  return true;
}

/* gdesc[UR4].A_KEEP, tmem[UR4+0x10], idesc[UR5] */
static bool read_bracketed(struct attempt *a, struct text_span s, unsigned kind)
{
  const uint16_t *fields = row_operand_fields(kind);
  const char *open = row_bracket(kind), *at = s.p;
  struct text_span word = {open, open + strlen(open) - 1};
  struct asm_number n;
  unsigned r;
  char what[40], name[8];
  snprintf(name, sizeof name, "%.*s", (int)(word.end - word.p), word.p);
  snprintf(what, sizeof what, "%s[UR...] is expected", name);
  if ((*name && !span_word(&s, name)) || !span_char(&s, '[')) return fail_here(a, WRONG_KIND, at, what);
  if (row_is_behind(kind)) { /* the register of another operand */
    if (!span_register(&s, "UR", 0, &r) || !r) return fail_here(a, WRONG_VALUE, s.p, "a uniform register is expected");
    if (!put(a, fields[0], r - 1, s.p)) return false;
  } else if (!read_ureg(a, &s, fields[0])) {
    return false;
  }
  bool offset = fields[1] == FLD_TMEM_OFFSET;
  if (offset && span_char(&s, '+')) {
    if (!span_integer(&s, &n)) return fail_here(a, WRONG_VALUE, s.p, "an offset is expected");
    if (!read_offset(a, n, FLD_TMEM_OFFSET, s.p)) return false;
  }
  if (!span_char(&s, ']')) return fail_here(a, WRONG_VALUE, s.p, "']' is missing");
  return read_named(a, s, fields + 1 + offset);
}

/* gsb0; in WARPGROUP.DEPBAR a number follows: gsb0, 0x1 */
static bool read_group_counter(struct attempt *a, struct text_span s, unsigned kind, struct text_span *list)
{
  unsigned gsb, id = kind == OPD_GSB ? FLD_GMMA_GSB : FLD_DEPBAR_SB;
  const char *at = s.p;
  if (!span_register(&s, "gsb", 0, &gsb) || !span_empty(span_trim(s)))
    return fail_here(a, WRONG_KIND, at, "a group counter gsb0 is expected");
  if (gsb > 6) return fail_here(a, WRONG_VALUE, at, "there is no such group counter");
  if (!put(a, id, gsb, at)) return false;
  if (kind == OPD_GSB) return true;
  add_choice(a, FLD_DEPBAR_LE, 2);
  return read_number(a, span_operand(list), FLD_GMMA_DEPBAR_COUNT);
}

/* [R4] of a surface access: the first of its coordinates. */
static bool read_surface_address(struct attempt *a, struct text_span s)
{
  const char *at = s.p;
  if (!span_char(&s, '[') || s.end[-1] != ']')
    return fail_here(a, WRONG_KIND, at, "coordinates [R4] are expected");
  s.end--;
  return read_reg(a, &s, FLD_RA) && read_suffixes(a, s, 0);
}

/* .reuse of an operand that has a bit of its own for it. */
static bool read_own_reuse(struct attempt *a, struct text_span *s, const uint16_t *fields)
{
  struct text_span rest = span_trim(*s), name;
  if (fields[1] != FLD_SCALE_B_REUSE && fields[1] != FLD_HMMA_META_REUSE) return true;
  bool on = span_char(&rest, '.') && span_name(&rest, &name) && span_is(name, "reuse");
  const char *at = s->p;
  if (on) *s = rest;
  return put(a, fields[1], on, at);
}

/* Operand kinds that name their own slots: the fields say what is written. */
static bool read_by_fields(struct attempt *a, struct text_span s, const uint16_t *fields,
                           struct asm_used *used)
{
  unsigned id = fields[0];
  used->compare = COMPARE_NONE;
  switch (class_of[id]) {
  case CLASS_PRED: return read_pred(a, s, fields);
  case CLASS_BREG: return read_breg(a, s, id);
  case CLASS_SR: return read_special_register(a, s);
  case CLASS_TARGET: case CLASS_BYTE_TARGET: return read_target(a, s, id, used);
  case CLASS_UREG: {
    unsigned not_id = of_class(fields, CLASS_NOT);
    bool inverted = not_id && span_char(&s, '~');
    used->compare = COMPARE_MARKS;
    return (!not_id || put(a, not_id, inverted, s.p)) && read_ureg(a, &s, id) &&
           read_suffixes(a, s, -1);
  }
  case CLASS_REG:
    used->compare = COMPARE_MARKS;
    return read_reg(a, &s, id) && read_own_reuse(a, &s, fields) && read_suffixes(a, s, reuse_slot_of(id));
  case CLASS_CHOICE:
    used->compare = COMPARE_TEXT;
    add_choice(a, id, 1u << field_width(id));
    return true;
  default: return read_number(a, s, id);
  }
}

bool asm_operand(struct attempt *a, unsigned op, struct text_span *list)
{
  unsigned kind = a->row->op[op] & OM_KIND;
  const uint16_t *fields = row_operand_fields(kind);
  struct text_span s = span_operand(list);
  struct asm_used *used = &a->used[a->n_used++];
  bool ok;
  *used = (struct asm_used){.op = (uint8_t)op, .compare = COMPARE_MARKS, .text = s};
  if (kind == OPD_A || kind == OPD_B || kind == OPD_C || kind == OPD_CHI) {
    ok = read_source(a, a->row->op[op], s, list, &used->compare);
  } else if (!fields[0]) {
    used->compare = COMPARE_TEXT; /* a fixed word: PR */
    ok = true;
  } else if (kind == OPD_DEPBAR) {
    used->compare = COMPARE_NONE;
    ok = read_depbar(a, s, list);
  } else if (kind == OPD_FSWZ) {
    used->compare = COMPARE_NONE;
    ok = read_swizzle_signs(a, s);
  } else if (kind == OPD_GDESC_A || kind == OPD_GDESC_B) {
    used->compare = COMPARE_NONE;
    ok = read_descriptors(a, s, fields);
  } else if (row_bracket(kind)) {
    used->compare = COMPARE_NONE;
    ok = read_bracketed(a, s, kind);
  } else if (kind == OPD_GSB || kind == OPD_GDEPBAR) {
    used->compare = COMPARE_NONE;
    ok = read_group_counter(a, s, kind, list);
  } else if (kind == OPD_BULK_A || kind == OPD_BULK_B || kind == OPD_TMA_A || kind == OPD_TMA_B ||
             kind == OPD_TMA_HINT) {
    ok = read_bulk(a, s, fields[0]);
  } else if (kind == OPD_SUADDR) {
    ok = read_surface_address(a, s);
  } else if (of_class(fields, CLASS_BANK)) {
    ok = constant_address(a, s, fields);
  } else if (of_class(fields, CLASS_OFFSET)) {
    ok = read_address(a, s, fields);
  } else {
    ok = read_by_fields(a, s, fields, used);
  }
  a->position++;
  return ok;
}
