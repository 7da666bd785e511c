/* Operands that only one instruction has, or a few of one family. */
#include <stdio.h>
#include <string.h>

#include "isa/sass/asm_operand.h"

bool asm_read_swizzle_signs(struct attempt *a, struct text_span s)
{
  enum { QUAD = 4 };
  uint64_t v = 0;
  const char *at = s.p;
  if (s.end - s.p != 2 * QUAD) return asm_read_number(a, s, FLD_FSWZ_LANE);
  for (unsigned lane = QUAD; lane--; s.p += 2) {
    unsigned code = 0;
    while (code < 4 && memcmp(s.p, sass_fswz_names[code], 2) != 0) code++;
    if (code == 4) return asm_fail_operand(a, WRONG_VALUE, s.p, "two of PP, PN, NP, ZP for each lane are expected");
    v |= (uint64_t)code << (2 * lane);
  }
  return asm_put(a, FLD_FSWZ_LANE, v, at);
}

/* {5,4} */
static bool read_depbar_mask(struct attempt *a, struct text_span mask)
{
  uint64_t bits = 0;
  struct asm_number n;
  const char *at = mask.p;
  if (!span_char(&mask, '{')) return asm_fail_operand(a, WRONG_VALUE, mask.p, "write {5,4,…}");
  do {
    if (!span_integer(&mask, &n) || n.neg || n.magnitude >= SB_COUNT)
      return asm_fail_operand(a, WRONG_VALUE, mask.p, "a counter number 0..5 is expected");
    bits |= 1u << n.magnitude;
  } while (span_char(&mask, ','));
  if (!span_char(&mask, '}')) return asm_fail_operand(a, WRONG_VALUE, mask.p, "} expected");
  return asm_put(a, FLD_DEPBAR_MASK, bits, at);
}

bool asm_read_depbar(struct attempt *a, struct text_span s, struct text_span *list)
{
  unsigned sb;
  const char *at = s.p;
  if (*s.p == '{') return asm_put(a, FLD_DEPBAR_LE, 0, at) && read_depbar_mask(a, s);
  if (!span_register(&s, "SB", 0, &sb) || sb >= SB_COUNT || !span_empty(span_trim(s)))
    return asm_fail_operand(a, WRONG_KIND, at, "a counter SB0..SB5 is expected");
  if (!asm_put(a, FLD_DEPBAR_SB, sb, at)) return false;
  asm_add_choice(a, FLD_DEPBAR_LE, 2);
  if (!asm_read_number(a, span_operand(list), FLD_DEPBAR_COUNT)) return false;
  struct text_span mask = span_operand(list);
  return span_empty(mask) || read_depbar_mask(a, mask);
}

bool asm_read_special_register(struct attempt *a, struct text_span s)
{
  unsigned sr;
  const char *at = s.p;
  for (sr = 0; sr < 256; sr++)
    if (sass_special_register(sr) && span_is(s, sass_special_register(sr)))
      return asm_put(a, FLD_SR, sr, at);
  if (span_register(&s, "SR", 0, &sr) && sr < 256 && span_empty(span_trim(s)))
    return asm_put(a, FLD_SR, sr, at);
  return asm_fail_operand(a, WRONG_KIND, at, "a special register is expected (SR_TID.X, SR_CLOCKLO, SR80)");
}

bool asm_read_breg(struct attempt *a, struct text_span s, unsigned id)
{
  unsigned r;
  const char *at = s.p;
  if (!span_register(&s, "B", 0, &r) || !span_empty(span_trim(s)))
    return asm_fail_operand(a, WRONG_KIND, at, "a convergence barrier B0..B15 is expected");
  if (r > 15) return asm_fail_operand(a, WRONG_VALUE, at, "there is no such barrier (B0..B15)");
  return asm_put(a, id, r, at);
}

bool asm_read_bulk(struct attempt *a, struct text_span s, unsigned id)
{
  if (id == FLD_TMA_HINT && !span_word(&s, "desc"))
    return asm_fail_operand(a, WRONG_KIND, s.p, "desc[UR…] is expected");
  if (!span_char(&s, '[')) return asm_fail_operand(a, WRONG_KIND, s.p, "[UR…] is expected");
  if (!asm_read_ureg(a, &s, id)) return false;
  return span_char(&s, ']') ? asm_read_suffixes(a, s, -1)
                            : asm_fail_operand(a, WRONG_VALUE, s.p, "']' is missing");
}

bool asm_read_descriptors(struct attempt *a, struct text_span s, const uint16_t *fields)
{
  static const struct {
    const char *name;
    uint16_t field;
  } suffix[] = {{"negA", FLD_A_NEG}, {"negB", FLD_B_NEG}, {"tnspA", FLD_GMMA_TNSP_A}, {"tnspB", FLD_GMMA_TNSP_B}};
  const size_t n = sizeof suffix / sizeof suffix[0];
  struct text_span name;
  if (!span_word(&s, "gdesc") || !span_char(&s, '['))
    return asm_fail_operand(a, WRONG_KIND, s.p, "gdesc[UR...] is expected");
  if (!asm_read_ureg(a, &s, fields[0])) return false;
  if (!span_char(&s, ']')) return asm_fail_operand(a, WRONG_VALUE, s.p, "']' is missing");
  while (!span_empty(s = span_trim(s))) {
    size_t i = 0;
    const char *at = s.p;
    if (!span_char(&s, '.') || !span_name(&s, &name)) return asm_fail_operand(a, WRONG_KIND, at, "unexpected text");
    while (i < n && !span_is(name, suffix[i].name)) i++;
    if (i == n) return asm_fail_operand(a, WRONG_VALUE, at, "negA, negB, tnspA or tnspB is expected");
    if (!asm_put(a, suffix[i].field, 1, at)) return false;
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
    if (!span_char(&s, '.') || !span_name(&s, &name)) return asm_fail_operand(a, WRONG_KIND, at, "unexpected text");
    for (const uint16_t *f = fields; *f && !found; f++)
      for (unsigned v = 1; v < 1u << field_width(*f) && !found; v++) {
        found = span_is(name, sass_fields[*f].names[v] + 1);
        if (found && !asm_put(a, *f, v, at)) return false;
      }
    if (!found) return asm_fail_operand(a, WRONG_VALUE, at, "not possible with this operand");
  }
  return true;
}

bool asm_read_bracketed(struct attempt *a, struct text_span s, unsigned kind)
{
  const uint16_t *fields = row_operand_fields(kind);
  const char *open = row_bracket(kind), *at = s.p;
  struct text_span word = {open, open + strlen(open) - 1};
  struct asm_number n;
  unsigned r;
  char what[40], name[8];
  snprintf(name, sizeof name, "%.*s", (int)(word.end - word.p), word.p);
  snprintf(what, sizeof what, "%s[UR...] is expected", name);
  if ((*name && !span_word(&s, name)) || !span_char(&s, '[')) return asm_fail_operand(a, WRONG_KIND, at, what);
  if (row_is_behind(kind)) { /* the register of another operand */
    if (!span_register(&s, "UR", 0, &r) || !r)
      return asm_fail_operand(a, WRONG_VALUE, s.p, "a uniform register is expected");
    if (!asm_put(a, fields[0], r - 1, s.p)) return false;
  } else if (!asm_read_ureg(a, &s, fields[0])) {
    return false;
  }
  bool offset = fields[1] == FLD_TMEM_OFFSET;
  if (offset && span_char(&s, '+')) {
    if (!span_integer(&s, &n)) return asm_fail_operand(a, WRONG_VALUE, s.p, "an offset is expected");
    if (!asm_read_offset(a, n, FLD_TMEM_OFFSET, s.p)) return false;
  }
  if (!span_char(&s, ']')) return asm_fail_operand(a, WRONG_VALUE, s.p, "']' is missing");
  return read_named(a, s, fields + 1 + offset);
}

bool asm_read_group_counter(struct attempt *a, struct text_span s, unsigned kind, struct text_span *list)
{
  unsigned gsb, id = kind == OPD_GSB ? FLD_GMMA_GSB : FLD_DEPBAR_SB;
  const char *at = s.p;
  if (!span_register(&s, "gsb", 0, &gsb) || !span_empty(span_trim(s)))
    return asm_fail_operand(a, WRONG_KIND, at, "a group counter gsb0 is expected");
  if (gsb > 6) return asm_fail_operand(a, WRONG_VALUE, at, "there is no such group counter");
  if (!asm_put(a, id, gsb, at)) return false;
  if (kind == OPD_GSB) return true;
  asm_add_choice(a, FLD_DEPBAR_LE, 2);
  return asm_read_number(a, span_operand(list), FLD_GMMA_DEPBAR_COUNT);
}

bool asm_read_surface_address(struct attempt *a, struct text_span s)
{
  const char *at = s.p;
  if (!span_char(&s, '[') || s.end[-1] != ']')
    return asm_fail_operand(a, WRONG_KIND, at, "coordinates [R4] are expected");
  s.end--;
  return asm_read_reg(a, &s, FLD_RA) && asm_read_suffixes(a, s, 0);
}
