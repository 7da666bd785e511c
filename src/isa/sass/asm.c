/* The search: every row that the mnemonic can name, in every operand form, until one reads the whole
 * text and the word it makes prints as the text. */
#include "isa/sass/asm.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "isa/sass/asm_parse.h"

/* ---- the finished word against the text ---- */

static bool marks_match(const struct attempt *a, const struct asm_used *u, const char *printed)
{
  char want[ASM_MARKS], got[ASM_MARKS];
  operand_marks(u->text, want, sizeof want);
  operand_marks((struct text_span){printed, printed + strlen(printed)}, got, sizeof got);
  if (!strcmp(want, got)) return true;
  return asm_fail(a, AT_WORD, u->text.p, "operand %u: '%.*s' is not possible here, but '%s' is",
                  (unsigned)(u - a->used) + 1, (int)(u->text.end - u->text.p), u->text.p, printed);
}

static bool operand_matches(const struct attempt *a, const struct asm_used *u,
                            const struct sass_inst *s, const struct inst *t)
{
  char printed[256];
  struct asm_number n;
  if (u->compare == COMPARE_NONE) return true;
  sass_print_operand(s, t, a->row->op[u->op], printed, sizeof printed);
  struct text_span p = span_trim((struct text_span){printed, printed + strlen(printed)});
  if (u->compare == COMPARE_MARKS) return marks_match(a, u, printed);
  if (u->compare == COMPARE_NUMBER)
    return span_integer(&p, &n) && (n.neg ? -n.magnitude : n.magnitude) == u->number;
  if ((size_t)(u->text.end - u->text.p) == (size_t)(p.end - p.p) &&
      !memcmp(u->text.p, p.p, (size_t)(p.end - p.p)))
    return true;
  return asm_fail(a, AT_OPERAND + 2 * (unsigned)(u - a->used), u->text.p,
                  "operand %u: '%.*s' is not possible here", (unsigned)(u - a->used) + 1,
                  (int)(u->text.end - u->text.p), u->text.p);
}

/* The 64-bit conversions have opcodes of their own. */
static bool conversion_width_matches(const struct sass_inst *s)
{
  if (s->row->width != W_CVT || !sass_has(s, FLD_CVT_SEL)) return true;
  bool wide = sass_get(s, FLD_CVT_DST_FSIZE) == 3 || sass_get(s, FLD_CVT_SRC_FSIZE) == 3 ||
              sass_get(s, FLD_CVT_DST_ISIZE) == 3 || sass_get(s, FLD_CVT_SRC_ISIZE) == 3;
  return wide == (s->row->pipe == PIPE_FP64);
}

/* The operand that names a register, for messages. */
static const char *where_register(const struct attempt *a, const char *name)
{
  for (unsigned i = 0; i < a->n_used; i++) {
    struct text_span t = a->used[i].text;
    size_t n = strlen(name);
    for (const char *p = t.p; p + n <= t.end; p++)
      if (!memcmp(p, name, n) && (p + n == t.end || !strchr("0123456789", p[n]))) return p;
  }
  return a->line->operands.p;
}

/* A group of registers starts at a multiple of its size, at most of four; of uniform ones of two: LDCU.128 UR10
 * (compiler output). */
static bool aligned(const struct attempt *a, const struct operand *o, unsigned n)
{
  char name[8];
  for (unsigned i = 0; i < n; i++) {
    bool reg = o[i].file == FILE_R || o[i].file == FILE_UR;
    unsigned most = o[i].file == FILE_UR ? 2 : 4, unit = o[i].width >= 3 ? 4 : o[i].width;
    if (unit > most) unit = most;
    if (!reg || unit < 2 || o[i].index % unit == 0) continue;
    snprintf(name, sizeof name, "%s%u", o[i].file == FILE_R ? "R" : "UR", o[i].index);
    return asm_fail(a, AT_WORD + 1, where_register(a, name),
                    "%s is the first of %u registers: its number must be a multiple of %u", name,
                    o[i].width, unit);
  }
  return true;
}

static bool mnemonic_matches(const struct attempt *a, const struct sass_inst *s)
{
  char text[128];
  sass_print_mnemonic(s, text, sizeof text);
  return span_is(a->line->mnemonic, text);
}

/* exact: the word must print with this very mnemonic. */
static bool word_matches(const struct attempt *a, bool exact, struct word128 *w)
{
  struct sass_inst s;
  struct inst t;
  *w = asm_word(a);
  if (!sass_decode(a->line->env->sm, *w, a->line->env->pc, &s, &t, NULL) || s.row != a->row)
    return false;
  if ((exact || a->alias) && !mnemonic_matches(a, &s)) return false;
  if (a->line->guard.index != SASS_PT && a->line->guard.uniform != s.guard.uniform)
    return asm_fail(a, AT_WORD, a->line->mnemonic.p, "the guard of this instruction is a %s",
                    s.guard.uniform ? "uniform predicate (@UP0)" : "predicate (@P0)");
  for (unsigned i = 0; i < a->n_used; i++)
    if (!operand_matches(a, &a->used[i], &s, &t)) return false;
  for (unsigned i = 0; i < ROW_OPS; i++)
    if (a->skipped >> i & 1 && !sass_operand_is_quiet(&s, a->row->op[i])) return false;
  if (!(a->fixed & 1) && !conversion_width_matches(&s)) return false;
  return aligned(a, t.dst, t.n_dst) && aligned(a, t.src, t.n_src);
}

static bool try_choices(struct attempt *a, unsigned k, bool exact, struct word128 *w)
{
  if (k == a->n_choices) return word_matches(a, exact, w);
  const struct asm_choice *c = &a->choice[k];
  for (unsigned i = 0; i < c->n; i++) {
    a->val[c->index] = c->value[i];
    if (try_choices(a, k + 1, exact, w)) return true;
  }
  return false;
}

static bool finish(struct attempt *a, struct word128 *w)
{
  return try_choices(a, 0, true, w) || try_choices(a, 0, false, w);
}

/* A mnemonic alone: every vector register of the form gets a number, far enough apart for groups of eight. */
static bool finish_bare(struct attempt *a, struct word128 *w)
{
  static const uint16_t registers[] = {FLD_RD, FLD_RA, FLD_RB, FLD_RC};
  struct sass_inst s;
  struct inst t;
  int n = 0;
  for (unsigned i = 0; i < sizeof registers / sizeof *registers; i++) {
    int f = asm_field(a, registers[i]);
    if (f >= 0) a->val[f] = 8 * (i + 1);
  }
  *w = asm_word(a);
  if (!sass_decode(a->line->env->sm, *w, 0, &s, &t, NULL) || s.row != a->row) return false;
  if (!a->alias && !mnemonic_matches(a, &s)) return false;
  for (unsigned i = 0; i < t.n_src; i++) n += t.src[i].file == FILE_R;
  return a->line->n_sources == ANY_SOURCES || a->line->n_sources == n;
}

/* ---- operands ---- */

/* Whether the row's operand may be left out, with the modifiers read so far. */
static bool may_skip(const struct attempt *a, unsigned op)
{
  struct sass_inst s;
  struct inst t;
  struct word128 w = asm_word(a);
  return sass_decode(a->line->env->sm, w, a->line->env->pc, &s, &t, NULL) &&
         sass_operand_is_quiet(&s, a->row->op[op]);
}

static bool read_operands(const struct attempt *a, unsigned op, struct text_span list, struct word128 *w)
{
  struct attempt next = *a;
  if (op == ROW_OPS || !a->row->op[op]) {
    if (span_empty(span_trim(list))) return finish(&next, w);
    return asm_fail(a, AT_OPERAND + 2 * a->position, span_trim(list).p, "too many operands");
  }
  struct text_span rest = list;
  if (span_empty(span_trim(list)))
    asm_fail(a, AT_OPERAND + 2 * a->position, list.p, "operand %u is missing", a->position + 1);
  else if (asm_operand(&next, op, &rest) && read_operands(&next, op + 1, rest, w))
    return true;
  if (!may_skip(a, op)) return false;
  next = *a;
  next.skipped |= 1u << op;
  return read_operands(&next, op + 1, list, w);
}

/* ---- modifiers ---- */

static bool starts_with(struct text_span *s, const char *text)
{
  size_t n = strlen(text);
  if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0) return false;
  if (n && s->p + n < s->end && s->p[n] != '.') return false;
  s->p += n;
  return true;
}

/* Values of a field that no text can tell from its default are not tried: ?FIELD= gives them. */
static bool is_visible(struct attempt *a, unsigned i, uint64_t v, uint64_t standard)
{
  char one[128], two[128];
  a->val[i] = standard;
  struct sass_inst s = asm_view(a);
  sass_print_mnemonic(&s, one, sizeof one);
  a->val[i] = s.val[i] = v;
  sass_print_mnemonic(&s, two, sizeof two);
  return strcmp(one, two) != 0;
}

/* No value of field i prints as what comes next. */
static bool fail_modifier(const struct attempt *a, unsigned i, struct text_span rest)
{
  const struct sass_field *f = &sass_fields[a->field[i]];
  struct text_span one = {rest.p, rest.p};
  char list[200] = "";
  while (one.end < rest.end && (one.end == rest.p || *one.end != '.')) one.end++;
  for (unsigned v = 0; v < FIELD_NAMES && f->show == SHOW_NAMES; v++)
    if (f->names[v] && *f->names[v] && !strchr(f->names[v], '?') && !strstr(f->names[v], "INVALID"))
      snprintf(list + strlen(list), sizeof list - strlen(list), " %s", f->names[v]);
  return asm_fail(a, AT_MODIFIER + 1 + (unsigned)(rest.p - a->line->mnemonic.p), rest.p,
                  "%s needs one of%s here%s%.*s", a->row->name, list,
                  span_empty(one) ? "" : ", not ", (int)(one.end - one.p), one.p);
}

static bool read_modifiers(struct attempt *a, unsigned i, struct text_span rest, struct word128 *w)
{
  if (i == a->n) {
    if (span_empty(rest))
      return a->line->bare ? finish_bare(a, w) : read_operands(a, 0, a->line->operands, w);
    return asm_fail(a, AT_MODIFIER + 1 + (unsigned)(rest.p - a->line->mnemonic.p), rest.p,
                    "%s has no modifier '%.*s' here", a->row->name, (int)(rest.end - rest.p),
                    rest.p);
  }
  unsigned width = field_width(a->field[i]);
  bool fixed = a->fixed >> i & 1;
  uint64_t standard = fixed ? a->val[i] : asm_default(a, a->field[i]);
  uint64_t n = fixed || width > 6 ? 0 : bits_ones(width) + 1;
  char text[64];
  bool matched = false;
  for (uint64_t k = 0; k <= n; k++) {
    uint64_t v = k ? k - 1 : standard;
    struct text_span next = rest;
    if (k && v == standard) continue;
    a->val[i] = v;
    struct sass_inst s = asm_view(a);
    sass_print_modifier(&s, a->field[i], v, text, sizeof text);
    if (!starts_with(&next, text) || (k && !is_visible(a, i, v, standard))) continue;
    if (read_modifiers(a, i + 1, next, w)) return true;
    matched = true;
  }
  a->val[i] = standard;
  return matched ? false : fail_modifier(a, i, rest);
}

static bool try_form(const struct asm_line *line, const struct sass_row *row, unsigned form,
                     struct text_span rest, struct word128 *w)
{
  struct attempt a;
  unsigned n_mods = 0;
  while (n_mods < ROW_FIELDS && row->field[n_mods]) n_mods++;
  if (!asm_start(&a, line, row, form)) return false;
  if (read_modifiers(&a, a.n - n_mods, rest, w)) return true;
  /* IMAD.MOV: a name for a combination of operands. */
  if (span_empty(rest)) return false;
  do rest.p++; while (!span_empty(rest) && *rest.p != '.');
  if (!asm_start(&a, line, row, form)) return false;
  a.alias = true;
  return read_modifiers(&a, a.n - n_mods, rest, w);
}

bool asm_row_named(const struct sass_row *row, struct text_span mnemonic, struct text_span *rest)
{
  *rest = mnemonic;
  return starts_with(rest, row->name);
}

/* ---- the line ---- */

static bool read_override(struct asm_line *l, struct text_span *s)
{
  struct text_span name;
  struct asm_number n;
  if (l->n_overrides >= ASM_OVERRIDES || !span_name(s, &name) || !span_char(s, '=') ||
      !span_integer(s, &n) || n.neg)
    return false;
  struct asm_override *o = &l->override[l->n_overrides++];
  *o = (struct asm_override){FLD_NONE, n.magnitude};
  if (span_is(name, "REUSE")) return n.magnitude < 8;
  for (unsigned id = 1; id < FLD__N; id++)
    if (span_is(name, sass_fields[id].id)) {
      o->field = (uint16_t)id;
      return true;
    }
  return false;
}

static bool read_guard(struct asm_line *l, struct text_span *s)
{
  unsigned r;
  l->guard = (struct sass_pred){.index = SASS_PT};
  if (!span_char(s, '@')) return true;
  l->guard.neg = span_char(s, '!');
  l->guard.uniform = span_register(s, "UP", SASS_PT, &r);
  if (!l->guard.uniform && !span_register(s, "P", SASS_PT, &r)) return false;
  l->guard.index = (uint8_t)r;
  return r <= SASS_PT;
}

static bool bad(struct err *e, size_t *column, const char *text, const char *at, const char *what)
{
  *column = (size_t)(at - text);
  return err_set(e, "%s", what);
}

/* Cuts the line into control, guard, mnemonic, operands, overrides. */
static bool read_line(struct asm_line *l, const char *text, size_t *column, struct err *e)
{
  struct text_span s = span_trim((struct text_span){text, text + strlen(text)});
  const char *at = s.p;
  if (!span_empty(s) && s.end[-1] == ';') s.end--;
  if (!span_control(&s, &l->ctrl, &at))
    return bad(e, column, text, at, "control notation: write [B------:R-:W-:-:S01], with counters "
               "0 to 5, Y or - for yield, stall cycles 0 to 15");
  s = span_trim(s);
  at = s.p;
  if (!read_guard(l, &s)) return bad(e, column, text, at, "guard: write @P0 or @!P0 (@UP0, @!UP0)");
  s = span_trim(s);
  l->mnemonic = (struct text_span){s.p, s.p};
  while (l->mnemonic.end < s.end && *l->mnemonic.end != ' ' && *l->mnemonic.end != '\t')
    l->mnemonic.end++;
  s.p = l->mnemonic.end;
  l->operands = s;
  const char *mark = memchr(s.p, '?', (size_t)(s.end - s.p));
  if (mark) {
    l->operands.end = s.p = mark;
    while (span_char(&s, '?')) {
      at = s.p;
      if (!read_override(l, &s)) return bad(e, column, text, at, "write ?FIELD=value");
    }
  }
  l->operands = span_trim(l->operands);
  if (mark && !span_empty(span_trim(s))) return bad(e, column, text, s.p, "unexpected text");
  if (span_empty(l->mnemonic)) return bad(e, column, text, l->mnemonic.p, "instruction expected");
  /* ?.0x…: how the disassembler prints words that do not decode. */
  if (*l->mnemonic.p == '?')
    return bad(e, column, text, l->mnemonic.p, "no instruction; use .quad for data");
  return true;
}

static bool explain(const struct asm_line *l, const char *text, size_t *column, bool named,
                    struct err *e)
{
  char list[360] = "";
  int n = (int)(l->mnemonic.end - l->mnemonic.p);
  *column = (size_t)((named && l->fail->at ? l->fail->at : l->mnemonic.p) - text);
  if (!named) {
    asm_list_similar(l->env->sm, l->mnemonic, list, sizeof list);
    return err_set(e, "no instruction '%.*s' on sm_%u%s", n > 40 ? 40 : n, l->mnemonic.p,
                   l->env->sm, list);
  }
  asm_list_forms(l->env->sm, l->mnemonic, list, sizeof list);
  return err_set(e, "%.200s%s", *l->fail->msg ? l->fail->msg : "no form of it has these operands",
                 list);
}

static bool search(const struct asm_line *l, bool *named, struct word128 *w)
{
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *r = &sass_rows[i];
    struct text_span rest;
    unsigned forms = row_forms(r, l->env->sm);
    if (!forms || !asm_row_named(r, l->mnemonic, &rest)) continue;
    *named = true;
    for (unsigned form = 0; form < 16; form++)
      if (forms >> form & 1 && try_form(l, r, form, rest, w)) return true;
  }
  return false;
}

bool sass_assemble(const struct sass_asm *env, const char *text, struct word128 *w, size_t *column,
                   struct err *e)
{
  struct asm_failure fail = {0};
  struct asm_line l = {.env = env, .fail = &fail};
  bool named = false;
  *column = 0;
  TRY(read_line(&l, text, column, e));
  for (unsigned pass = 0; pass < 2; pass++) {
    l.strict = pass == 0;
    if (search(&l, &named, w)) return true;
  }
  return explain(&l, text, column, named, e);
}

bool sass_like(unsigned sm, const char *mnemonic, unsigned n_sources, struct inst *t)
{
  struct sass_asm env = {.sm = sm};
  struct asm_failure fail = {0};
  struct asm_line l = {.env = &env, .fail = &fail, .bare = true, .guard = {.index = SASS_PT},
                       .ctrl = {.write_sb = SB_NONE, .read_sb = SB_NONE, .stall = 1},
                       .mnemonic = {mnemonic, mnemonic + strlen(mnemonic)}};
  const int wanted[] = {(int)n_sources, ANY_SOURCES};
  struct sass_inst s;
  struct word128 w;
  bool named;
  for (unsigned i = 0; i < 2; i++) {
    l.n_sources = wanted[i];
    if (search(&l, &named, &w)) return sass_decode(sm, w, 0, &s, t, NULL);
  }
  return false;
}
