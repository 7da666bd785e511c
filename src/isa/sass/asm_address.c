/* Places that operands name: words of constant banks, addresses in memory, branch targets. */
#include <stdio.h>
#include <string.h>

#include "isa/sass/asm_operand.h"

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
    return asm_fail_operand(a, WRONG_KIND, at, "a constant c[bank][offset] is expected");
  if (!read_bracket(s, &bank_reg, &c->bank) || (c->bindless != !span_empty(bank_reg)))
    return asm_fail_operand(a, WRONG_VALUE, at, "write c[bank][offset] or cx[UR][offset]");
  c->at = s->p;
  if (!read_bracket(s, &c->reg, &c->offset))
    return asm_fail_operand(a, WRONG_VALUE, at, "write c[bank][offset] or cx[UR][offset]");
  c->has_ureg = !span_empty(c->reg) && *c->reg.p == 'U';
  c->has_reg = !span_empty(c->reg) && *c->reg.p == 'R';
  if (c->bindless) c->reg = bank_reg;
  return true;
}

bool asm_read_constant(struct attempt *a, struct text_span *s, bool bindless)
{
  struct constant c;
  uint64_t bits;
  const char *at = s->p;
  if (!read_constant(a, s, &c)) return false;
  if (c.bindless != bindless) return asm_fail_operand(a, WRONG_KIND, at, "wrong kind of constant operand");
  if (c.has_reg || c.has_ureg)
    return asm_fail_operand(a, WRONG_VALUE, c.at, "only LDC and ULDC take a register here");
  if (c.offset.magnitude % 4)
    return asm_fail_operand(a, WRONG_VALUE, c.at, "the offset must be a multiple of 4");
  c.offset.magnitude /= 4;
  if (!number_fits(c.offset, field_width(FLD_COFF), c.offset.neg, &bits))
    return asm_fail_operand(a, WRONG_VALUE, c.at, "the offset must be from -0x8000 to 0xfffc");
  if (!asm_put(a, FLD_COFF, bits, at)) return false;
  if (bindless) return asm_read_ureg(a, &c.reg, FLD_URB);
  if (!number_fits(c.bank, field_width(FLD_CBANK), false, &bits))
    return asm_fail_operand(a, WRONG_VALUE, at, "there are banks 0..31");
  return asm_put(a, FLD_CBANK, bits, at);
}

bool asm_read_constant_address(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  struct constant c;
  uint64_t bits;
  const char *at = s.p;
  unsigned reg = asm_field_of_class(fields, CLASS_REG), ureg = asm_field_of_class(fields, CLASS_UREG);
  unsigned offset = asm_field_of_class(fields, CLASS_BANK_OFFSET), width = field_width(offset);
  if (!read_constant(a, &s, &c)) return false;
  if (c.bindless || (c.has_reg && !reg) || (c.has_ureg && !ureg))
    return asm_fail_operand(a, WRONG_KIND, at, "wrong kind of constant address");
  if (!number_fits(c.bank, field_width(FLD_CBANK_LDC), false, &bits))
    return asm_fail_operand(a, WRONG_VALUE, at, "there are banks 0..31");
  if (!asm_put(a, FLD_CBANK_LDC, bits, at)) return false;
  if (!number_fits(c.offset, width, c.offset.neg, &bits))
    return asm_fail_operand(a, WRONG_VALUE, c.at, "the offset does not fit its field");
  if (!asm_put(a, offset, bits, at)) return false;
  if (c.has_ureg) return asm_read_ureg(a, &c.reg, ureg);
  if (c.has_reg) return asm_read_reg(a, &c.reg, reg);
  return true;
}

/* ---- memory ---- */

/* One term of [R2.64+UR4+-0x10]. */
static bool address_term(struct attempt *a, struct text_span *s, const uint16_t *fields, int sign)
{
  unsigned r;
  struct asm_number n;
  struct text_span t = *s, name;
  const char *at = s->p;
  unsigned reg = asm_field_of_class(fields, CLASS_REG), ureg = asm_field_of_class(fields, CLASS_UREG);
  if (span_register(&t, "UR", 0, &r)) {
    if (!ureg) return asm_fail_operand(a, WRONG_KIND, at, "this form has no uniform register");
    if (!asm_read_ureg(a, s, ureg)) return false;
  } else if (span_register(&t, "R", 0, &r)) {
    if (!asm_read_reg(a, s, reg)) return false;
  } else {
    if (!span_integer(s, &n)) return asm_fail_operand(a, WRONG_VALUE, at, "register or offset expected");
    if (sign < 0) n.neg = !n.neg;
    return asm_read_offset(a, n, asm_field_of_class(fields, CLASS_OFFSET), at);
  }
  t = (struct text_span){s->p, s->p};
  while (span_char(s, '.'))
    if (!span_name(s, &name)) return asm_fail_operand(a, WRONG_VALUE, s->p, "unexpected text");
  t.end = s->p;
  return asm_read_suffixes(a, t, reg == FLD_RA ? 0 : -1);
}

/* Whether the register is 64 bits wide, which its suffix may show; usual beside a uniform one. */
static void choose_width(struct attempt *a, bool usual)
{
  for (unsigned i = 0; i < a->n; i++) {
    if (asm_class_of(a->field[i]) != CLASS_WIDTH) continue;
    asm_add_choice(a, a->field[i], 2);
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
  if (!next) return asm_read_ureg(a, s, id) && span_char(s, ']');
  t = *s;
  if (!span_register(s, "UR", 0, &r) || r == 0) return false;
  return asm_put(a, id, r - 1, t.p) && span_char(s, ']');
}

bool asm_read_address(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  bool next = fields == row_operand_fields(OPD_LDGSTS_GN) || fields == row_operand_fields(OPD_LDGSTS_GN100);
  unsigned desc = FLD_NONE, ureg = asm_field_of_class(fields, CLASS_UREG);
  const char *at = s.p;
  bool shared = asm_field_of_class(fields, CLASS_OFFSET) == FLD_LDGSTS_SOFF; /* its uniform register is no descriptor */
  for (unsigned i = 0; ureg && !shared && i < a->n; i++)
    if (asm_class_of(a->field[i]) == CLASS_DESC) desc = a->field[i];
  bool has_desc = span_word(&s, "desc");
  if (has_desc) {
    if (!ureg) return asm_fail_operand(a, WRONG_KIND, at, "this form has no descriptor");
    if (!read_descriptor(a, &s, ureg, next))
      return asm_fail_operand(a, WRONG_VALUE, s.p, "write desc[UR4][R2.64+0x10]");
  }
  if (desc && !asm_put(a, desc, has_desc, at)) return false;
  if (!span_char(&s, '[')) return asm_fail_operand(a, WRONG_KIND, at, "an address [R2+0x10] is expected");
  for (int sign = 1;;) {
    if (!address_term(a, &s, fields, sign)) return false;
    if (span_char(&s, ']')) break;
    sign = 1;
    if (span_char(&s, '+')) continue;
    if (!span_char(&s, '-')) return asm_fail_operand(a, WRONG_VALUE, s.p, "+, - or ] expected");
    sign = -1;
  }
  if (!span_empty(span_trim(s))) return asm_fail_operand(a, WRONG_VALUE, s.p, "unexpected text");
  /* The form without a uniform register comes first. */
  bool has_ureg = ureg && a->set >> asm_field(a, ureg) & 1;
  if (ureg && a->line->strict && !has_ureg)
    return asm_fail_operand(a, WRONG_KIND, at, "this form has a uniform register");
  /* The vendor's notation of sm_80 to sm_89 leaves the descriptor out. */
  bool near_pair = a->row->width == W_STAS || a->row->width == W_REDAS; /* [R4.64]: shared address, mbarrier */
  if (ureg && !has_ureg && !near_pair && memmem(at, (size_t)(s.end - at), ".64", 3))
    return asm_fail(a, AT_WORD + 2, at, "operand %u: name the memory descriptor: desc[UR4][R2.64]",
                    a->position + 1);
  for (; *fields; fields++)
    if (asm_class_of(*fields) == CLASS_CHOICE) asm_add_choice(a, *fields, 1u << field_width(*fields));
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
  return asm_fail_operand(a, WRONG_VALUE, at, what);
}

bool asm_read_target(struct attempt *a, struct text_span s, unsigned id, struct asm_used *used)
{
  struct asm_number n;
  uint64_t address, bits[2];
  const char *at = s.p;
  unsigned width = field_width(id), scale = asm_class_of(id) == CLASS_TARGET ? 4 : 1;
  bool label = !span_integer(&s, &n), fits[2];
  if (label && !read_label(a, s, &address)) return false;
  if (!label) address = n.neg ? -n.magnitude : n.magnitude;
  if (!label && !span_empty(span_trim(s))) return asm_fail_operand(a, WRONG_KIND, s.p, "unexpected text");
  if (address % scale) return asm_fail_operand(a, WRONG_VALUE, at, "the target is no multiple of 4");
  for (unsigned i = 0; i < 2; i++) {
    int64_t v = (int64_t)(i ? address : address - a->line->env->pc - 16) / (int)scale;
    n = (struct asm_number){(uint64_t)(v < 0 ? -v : v), v < 0};
    fits[i] = number_fits(n, width, true, &bits[i]);
  }
  if (!fits[0] && !fits[1]) return asm_fail_operand(a, WRONG_VALUE, at, "the target is too far away");
  if (!asm_put(a, id, bits[!fits[0]], at)) return false;
  if (label || !fits[0] || !fits[1]) return true;
  used->compare = COMPARE_NUMBER;
  used->number = address;
  asm_add_choice(a, id, 2);
  struct asm_choice *c = &a->choice[a->n_choices - 1];
  if (a->n_choices && a->field[c->index] == id) c->value[0] = bits[0], c->value[1] = bits[1];
  return true;
}
