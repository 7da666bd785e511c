/* What an error says beside the reason: forms that are valid, mnemonics that exist. */
#include <stdio.h>
#include <string.h>

#include "isa/sass/asm_parse.h"

enum { NAME_MAX_LEN = 40 };

/* A modifier value that is not written, else the first one. */
static uint64_t silent_value(struct attempt *a, unsigned i)
{
  char text[64];
  for (uint64_t v = 0; v < FIELD_NAMES && v <= bits_ones(field_width(a->field[i])); v++) {
    a->val[i] = v;
    struct sass_inst s = asm_view(a);
    sass_print_modifier(&s, a->field[i], v, text, sizeof text);
    if (!*text) return v;
  }
  return 0;
}

/* Registers and numbers to show an operand with. */
static uint64_t sample(const struct attempt *a, unsigned id)
{
  static const uint32_t one[] = {[IMM_NONE] = 0x10, [IMM_U] = 0x10, [IMM_S] = 0x10,
                                 [IMM_F32] = 0x3f800000, [IMM_F64] = 0x3ff00000,
                                 [IMM_F16X2] = 0x3c003c00, [IMM_F16] = 0x3c00, [IMM_BF16] = 0x3f80};
  switch (id) {
  case FLD_RD: return 0;
  case FLD_RA: return 4;
  case FLD_RB: return 8;
  case FLD_RC: return 12;
  case FLD_URD: return 4;
  case FLD_URA: case FLD_URB: case FLD_URC: case FLD_URC6: return 6;
  case FLD_PU: return a->row->op[0] == OPD_PU ? 0 : SASS_PT;
  case FLD_IMM32: return one[a->row->imm];
  case FLD_COFF: return 0x160 / 4;
  case FLD_MEM_DESC: return 1;
  default: return asm_default(a, id);
  }
}

/* The row in one form, as the disassembler writes it. */
static bool show_form(const struct sass_asm *env, const struct sass_row *row, unsigned form,
                      char *buf, size_t size)
{
  struct asm_failure fail = {0};
  struct asm_line line = {.env = env, .guard = {.index = SASS_PT}, .fail = &fail,
                          .ctrl = {.write_sb = SB_NONE, .read_sb = SB_NONE}};
  struct attempt a;
  struct sass_inst s;
  struct inst t;
  if (!asm_start(&a, &line, row, form)) return false;
  for (unsigned i = 3; i < a.n; i++)
    if (a.field[i] != row->when_field)
      a.val[i] = sass_fields[a.field[i]].show == SHOW_HIDE ? sample(&a, a.field[i])
                                                           : silent_value(&a, i);
  if (!sass_decode(env->sm, asm_word(&a), env->pc, &s, &t, NULL) || s.row != row) return false;
  sass_print(&s, &t, false, buf, size);
  size_t n = strlen(buf);
  if (n >= 2 && !strcmp(buf + n - 2, " ;")) buf[n - 2] = '\0';
  return true;
}

static bool append(char *buf, size_t size, const char *separator, const char *text)
{
  size_t n = strlen(buf);
  if (n + strlen(separator) + strlen(text) + 4 > size) return false;
  snprintf(buf + n, size - n, "%s%s", separator, text);
  return true;
}

void asm_list_forms(unsigned sm, struct text_span mnemonic, char *buf, size_t size)
{
  struct sass_asm env = {.sm = sm};
  char text[256];
  unsigned n = 0;
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *r = &sass_rows[i];
    struct text_span rest;
    unsigned forms = row_forms(r, sm);
    if (!forms || !asm_row_named(r, mnemonic, &rest)) continue;
    for (unsigned form = 0; form < 16; form++)
      if (forms >> form & 1 && show_form(&env, r, form, text, sizeof text) &&
          append(buf, size, n ? " | " : "; forms: ", text))
        n++;
  }
}

/* Number of insertions, deletions and replacements between two short names. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
  unsigned row[NAME_MAX_LEN + 1];
  for (size_t k = 0; k <= nb; k++) row[k] = (unsigned)k;
  for (size_t i = 1; i <= na; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i;
    for (size_t k = 1; k <= nb; k++) {
      unsigned best = diagonal + (a[i - 1] != b[k - 1]);
      if (row[k] + 1 < best) best = row[k] + 1;
      if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
      diagonal = row[k];
      row[k] = best;
    }
  }
  return row[nb];
}

/* Length of the name up to its first dot. */
static size_t base_length(const char *s, size_t n)
{
  const char *dot = memchr(s, '.', n);
  return dot ? (size_t)(dot - s) : n;
}

/* Whether an earlier row of the same kind has this name. */
static bool seen_before(unsigned i)
{
  for (unsigned k = 0; k < i; k++)
    if (!strcmp(sass_rows[k].name, sass_rows[i].name)) return true;
  return false;
}

static void list_near(unsigned sm, struct text_span mnemonic, unsigned limit, char *buf, size_t size)
{
  size_t n = base_length(mnemonic.p, (size_t)(mnemonic.end - mnemonic.p));
  for (unsigned i = 0, found = 0; n <= NAME_MAX_LEN && i < sass_n_rows && found < 6; i++) {
    const struct sass_row *r = &sass_rows[i];
    size_t nr = base_length(r->name, strlen(r->name));
    if (!row_forms(r, sm) || nr > NAME_MAX_LEN || seen_before(i)) continue;
    if (distance(mnemonic.p, n, r->name, nr) == limit &&
        append(buf, size, found ? ", " : "; did you mean ", r->name))
      found++;
  }
}

void asm_list_similar(unsigned sm, struct text_span mnemonic, char *buf, size_t size)
{
  char text[64];
  struct text_span rest;
  for (unsigned i = 0; i < sass_n_rows; i++)
    if (asm_row_named(&sass_rows[i], mnemonic, &rest)) {
      snprintf(text, sizeof text, "; sm_%u to sm_%u have it", sass_rows[i].sm_min,
               sass_rows[i].sm_max);
      append(buf, size, "", text);
      return;
    }
  for (unsigned limit = 0; limit <= 2 && !*buf; limit++) list_near(sm, mnemonic, limit, buf, size);
}
