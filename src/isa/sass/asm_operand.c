/* Operands: text to fields. What an operand looks like follows from the fields that its row gives
 * it; suffixes and signs are checked against the disassembly of the result (asm.c). Values are read in asm_value.c,
 * places (constant banks, memory, targets) in asm_address.c, what a few instructions alone have in asm_single.c. */
#include "isa/sass/asm_operand.h"

/* ---- predicates ---- */

static bool wants_uniform(const struct attempt *a, unsigned id)
{
  bool result = id == FLD_PU || id == FLD_PV;
  if (id == FLD_BRA_UP || id == FLD_GMMA_UP) return true;
  return a->row->traits & (result ? ROW_UPRED_D : ROW_UPRED_S);
}

static bool read_pred(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  unsigned id = asm_field_of_class(fields, CLASS_PRED), not_id = asm_field_of_class(fields, CLASS_NOT);
  unsigned file_id = asm_field_of_class(fields, CLASS_FILE), r;
  const char *at = s.p;
  bool neg = span_char(&s, '!');
  bool uniform = span_register(&s, "UP", SASS_PT, &r);
  if (!uniform && !span_register(&s, "P", SASS_PT, &r))
    return asm_fail_operand(a, WRONG_KIND, at, "a predicate is expected");
  if (!span_empty(span_trim(s))) return asm_fail_operand(a, WRONG_KIND, s.p, "unexpected text");
  if (r > SASS_PT) return asm_fail_operand(a, WRONG_VALUE, at, "there is no such predicate (P0..P6, PT)");
  if (neg && !not_id) return asm_fail_operand(a, WRONG_VALUE, at, "a result cannot be negated");
  if (file_id) {
    if (!asm_put(a, file_id, uniform != wants_uniform(a, id), at)) return false;
  } else if (uniform != wants_uniform(a, id)) {
    return asm_fail_operand(a, WRONG_KIND, at, uniform ? "a predicate P0..P6 or PT is expected"
                                                : "a uniform predicate UP0..UP6 or UPT is expected");
  }
  if (id == FLD_GMMA_UP) r = SASS_PT - r;
  return asm_put(a, id, r, at) && (!not_id || asm_put(a, not_id, neg, at));
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
    return asm_fail_operand(a, WRONG_VALUE, first, "this operand cannot be negated here");
  if (abs && !(op & OM_ABS))
    return asm_fail_operand(a, WRONG_VALUE, first, "this operand has no absolute value here");
  if (neg && !asm_put(a, modifier_field(a, at, FLD_A_NEG, FLD_B_NEG, FLD_C_NEG, FLD_HC_NEG), 1, first))
    return false;
  if (abs && !asm_put(a, modifier_field(a, at, FLD_A_ABS, FLD_B_ABS, FLD_C_ABS, FLD_HC_ABS), 1, first))
    return false;
  if (op & OM_SWZ)
    asm_add_choice(a, row_half_swizzle(a->row, at), 4);
  if (a->row->sem == SEM_R2P || a->row->sem == SEM_UR2UP) asm_add_choice(a, FLD_PR_BYTE, 4);
  if (op & OM_SEL) asm_add_choice(a, FLD_CVT_SEL, 4);
  if (op & OM_F2) {
    asm_add_choice(a, row_f2_swizzle(a->row, op), 3); /* both halves, exchanged, one for both */
    if (row_f2_sign(a->row, op) != FLD_NONE) asm_add_choice(a, row_f2_sign(a->row, op), 2);
  }
  if ((op & OM_KIND) == OPD_B) asm_add_choice(a, FLD_HFMA_CROSS, 2);
  for (const struct row_suffix *x = row_suffixes; x->field; x++)
    if (x->operand == (op & OM_KIND)) asm_add_choice(a, x->field, 1u << field_width(x->field));
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
    if (op & OM_F2 && !asm_put(a, row_f2_swizzle(a->row, op), F2_ONE_FOR_BOTH, s.p)) return false;
    return asm_read_immediate(a, s, list);
  }
  if (!source_signs(a, &s, op, at)) return false;
  switch (at) {
  case AT_A: ok = u ? asm_read_ureg(a, &s, FLD_URA) : asm_read_reg(a, &s, FLD_RA); break;
  case AT_C: ok = u ? asm_read_ureg(a, &s, FLD_URC) : asm_read_reg(a, &s, FLD_RC); break;
  case AT_B_REG: ok = u ? asm_read_ureg(a, &s, FLD_URB) : asm_read_reg(a, &s, FLD_RB); break;
  case AT_B_UR: ok = asm_read_ureg(a, &s, FLD_URB); break;
  case AT_B_CONST: ok = asm_read_constant(a, &s, false); break;
  default: ok = asm_read_constant(a, &s, true); break;
  }
  bool vector = !u && (at == AT_A || at == AT_C || at == AT_B_REG);
  return ok && asm_read_suffixes(a, s, vector ? (int)row_position(a->row, n) : -1);
}

/* ---- operands of any instruction ---- */

static int reuse_slot_of(unsigned id)
{
  return id == FLD_RA ? 0 : id == FLD_RB ? 1 : id == FLD_RC ? 2 : -1;
}

/* .reuse of an operand that has a bit of its own for it. */
static bool read_own_reuse(struct attempt *a, struct text_span *s, const uint16_t *fields)
{
  struct text_span rest = span_trim(*s), name;
  if (fields[1] != FLD_SCALE_B_REUSE && fields[1] != FLD_HMMA_META_REUSE) return true;
  bool on = span_char(&rest, '.') && span_name(&rest, &name) && span_is(name, "reuse");
  const char *at = s->p;
  if (on) *s = rest;
  return asm_put(a, fields[1], on, at);
}

/* Operand kinds that name their own slots: the fields say what is written. */
static bool read_by_fields(struct attempt *a, struct text_span s, const uint16_t *fields,
                           struct asm_used *used)
{
  unsigned id = fields[0];
  used->compare = COMPARE_NONE;
  switch (asm_class_of(id)) {
  case CLASS_PRED: return read_pred(a, s, fields);
  case CLASS_BREG: return asm_read_breg(a, s, id);
  case CLASS_SR: return asm_read_special_register(a, s);
  case CLASS_TARGET: case CLASS_BYTE_TARGET: return asm_read_target(a, s, id, used);
  case CLASS_UREG: {
    unsigned not_id = asm_field_of_class(fields, CLASS_NOT);
    bool inverted = not_id && span_char(&s, '~');
    used->compare = COMPARE_MARKS;
    return (!not_id || asm_put(a, not_id, inverted, s.p)) && asm_read_ureg(a, &s, id) &&
           asm_read_suffixes(a, s, -1);
  }
  case CLASS_REG:
    used->compare = COMPARE_MARKS;
    return asm_read_reg(a, &s, id) && read_own_reuse(a, &s, fields) && asm_read_suffixes(a, s, reuse_slot_of(id));
  case CLASS_CHOICE:
    used->compare = COMPARE_TEXT;
    asm_add_choice(a, id, 1u << field_width(id));
    return true;
  default: return asm_read_number(a, s, id);
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
    ok = asm_read_depbar(a, s, list);
  } else if (kind == OPD_FSWZ) {
    used->compare = COMPARE_NONE;
    ok = asm_read_swizzle_signs(a, s);
  } else if (kind == OPD_GDESC_A || kind == OPD_GDESC_B) {
    used->compare = COMPARE_NONE;
    ok = asm_read_descriptors(a, s, fields);
  } else if (row_bracket(kind)) {
    used->compare = COMPARE_NONE;
    ok = asm_read_bracketed(a, s, kind);
  } else if (kind == OPD_GSB || kind == OPD_GDEPBAR) {
    used->compare = COMPARE_NONE;
    ok = asm_read_group_counter(a, s, kind, list);
  } else if (kind == OPD_BULK_A || kind == OPD_BULK_B || kind == OPD_TMA_A || kind == OPD_TMA_B ||
             kind == OPD_TMA_HINT) {
    ok = asm_read_bulk(a, s, fields[0]);
  } else if (kind == OPD_SUADDR) {
    ok = asm_read_surface_address(a, s);
  } else if (asm_field_of_class(fields, CLASS_BANK)) {
    ok = asm_read_constant_address(a, s, fields);
  } else if (asm_field_of_class(fields, CLASS_OFFSET)) {
    ok = asm_read_address(a, s, fields);
  } else {
    ok = read_by_fields(a, s, fields, used);
  }
  a->position++;
  return ok;
}
