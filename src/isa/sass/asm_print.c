/* Disassembly that assembles to the same word: fields that the text does not show are added. */
#include <stdio.h>
#include <string.h>

#include "isa/sass/asm.h"
#include "isa/sass/asm_text.h"
#include "isa/sass/row.h"

enum { EXACT_ROUNDS = 3, EXACT_TEXT = 512 };

/* The operand that is a branch target, when it prints as an address relative to the instruction. */
static bool target_text(const struct sass_inst *s, const struct inst *t, char *buf, size_t size,
                        uint64_t *target)
{
  struct asm_number n;
  *target = t->pc + 16 + (uint64_t)s->offset;
  for (unsigned i = 0; i < ROW_OPS && s->row->op[i]; i++) {
    switch (s->row->op[i] & OM_KIND) {
    case OPD_T48: case OPD_T56: case OPD_T30: case OPD_TLEPC: break;
    default: continue;
    }
    if (sass_operand_is_quiet(s, s->row->op[i])) return false;
    sass_print_operand(s, t, s->row->op[i], buf, size);
    struct text_span p = {buf, buf + strlen(buf)};
    return span_integer(&p, &n) && (n.neg ? -n.magnitude : n.magnitude) == *target;
  }
  return false;
}

bool sass_branch_target(unsigned sm, struct word128 w, uint64_t pc, uint64_t *target)
{
  struct sass_inst s;
  struct inst t;
  char text[64];
  return sass_decode(sm, w, pc, &s, &t, NULL) && target_text(&s, &t, text, sizeof text, target);
}

/* Some targets' notation leaves out the uniform register of the memory descriptor. */
static void put_descriptor(const struct sass_inst *s, const struct inst *t, char *text, size_t size)
{
  char operand[128], desc[16];
  if (!s->ua_is_descriptor || s->ua == SASS_URZ || strstr(text, "desc[")) return;
  int m = snprintf(desc, sizeof desc, "desc[UR%u]", s->ua);
  /* The last address: LDGSTS has the shared one first. */
  for (unsigned i = ROW_OPS; i-- > 0;) {
    if (!s->row->op[i]) continue;
    sass_print_operand(s, t, s->row->op[i], operand, sizeof operand);
    char *at = operand[0] == '[' ? strstr(text, operand) : NULL;
    size_t n = strlen(text);
    if (!at || n + (size_t)m + 1 > size) continue;
    memmove(at + m, at, n + 1 - (size_t)(at - text));
    memcpy(at, desc, (size_t)m);
    return;
  }
}

/* Replaces the target, which is the last operand. */
static void put_label(char *text, const char *old, const char *label, size_t size)
{
  size_t n = strlen(text), no = strlen(old) + 2;
  if (n < no || strncmp(text + n - no, old, no - 2) != 0) return;
  snprintf(text + n - no, size - (n - no), "%s ;", label);
}

struct fixed_label {
  const char *name;
  uint64_t pc;
};

static bool find_label(void *context, const char *name, size_t n, uint64_t *pc)
{
  const struct fixed_label *l = context;
  *pc = l->pc;
  return l->name && strlen(l->name) == n && !memcmp(l->name, name, n);
}

static void add_field(char *text, size_t size, const char *id, uint64_t v)
{
  size_t n = strlen(text);
  n -= n >= 2 && !strcmp(text + n - 2, " ;") ? 2 : 0;
  snprintf(text + n, size - n, " ?%s=0x%llx ;", id, (unsigned long long)v);
}

/* Adds what tells word `got` from the wanted one. */
static void add_difference(unsigned sm, const struct sass_inst *want, struct word128 got,
                           char *text, size_t size)
{
  struct sass_inst s;
  struct inst t;
  uint16_t field[SASS_MAX_FIELDS];
  unsigned n = row_fields(want->row, opcode_form((unsigned)want->val[0]), field);
  bool same_row = sass_decode(sm, got, 0, &s, &t, NULL) && s.val[0] == want->val[0];
  if (!same_row) {
    add_field(text, size, sass_fields[FLD_OPCODE].id, want->val[0]);
    return;
  }
  for (unsigned i = 1; i < n; i++)
    if (s.val[i] != want->val[i]) add_field(text, size, sass_fields[field[i]].id, want->val[i]);
  if (bits_get(got, 122, 3) != bits_get(want->word, 122, 3))
    add_field(text, size, "REUSE", bits_get(want->word, 122, 3));
}

bool sass_print_exact(unsigned sm, struct word128 w, uint64_t pc, const char *target, char *buf,
                      size_t size, struct err *e)
{
  struct sass_inst s;
  struct inst t;
  struct fixed_label label = {.name = target};
  struct sass_asm env = {.sm = sm, .pc = pc, .label = find_label, .context = &label};
  char text[EXACT_TEXT], old[64];
  TRY(sass_decode(sm, w, pc, &s, &t, e));
  sass_print(&s, &t, true, text, sizeof text);
  put_descriptor(&s, &t, text, sizeof text);
  if (target_text(&s, &t, old, sizeof old, &label.pc) && target)
    put_label(text, old, target, sizeof text);
  for (unsigned round = 0; round < EXACT_ROUNDS; round++) {
    struct word128 got = {0, 0};
    size_t column;
    bool ok = sass_assemble(&env, text, &got, &column, e);
    if (ok && got.lo == w.lo && got.hi == w.hi) {
      snprintf(buf, size, "%s", text);
      return true;
    }
    if (!ok && round) return false;
    if (ok) add_difference(sm, &s, got, text, sizeof text);
    else add_field(text, sizeof text, sass_fields[FLD_OPCODE].id, s.val[0]);
  }
  return err_set(e, "no text makes %s again", text);
}
