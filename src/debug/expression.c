#include "debug/expression.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "host/value.h"

enum { MAX_NESTED = 64, MAX_NAME = 64 };

/* ---- types ---- */

static const struct {
  const char *name;
  struct debug_type type;
} types[] = {
    {"u8", {DEBUG_INT, 1, false}},   {"s8", {DEBUG_INT, 1, true}},    {"u16", {DEBUG_INT, 2, false}},
    {"s16", {DEBUG_INT, 2, true}},   {"u32", {DEBUG_INT, 4, false}},  {"s32", {DEBUG_INT, 4, true}},
    {"u64", {DEBUG_INT, 8, false}},  {"s64", {DEBUG_INT, 8, true}},   {"f16", {DEBUG_FLOAT, 2, true}},
    {"f32", {DEBUG_FLOAT, 4, true}}, {"f64", {DEBUG_FLOAT, 8, true}},
};

bool debug_type_find(const char *name, struct debug_type *t)
{
  for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (strcmp(types[i].name, name) != 0) continue;
    *t = types[i].type;
    return true;
  }
  return false;
}

int view_space_find(const char *name)
{
  for (int i = 0; i < VIEW_SPACES; i++)
    if (strcmp(view_space_name[i], name) == 0) return i;
  return -1;
}

static enum value_type float_type(unsigned bytes)
{
  return bytes == 2 ? VALUE_F16 : bytes == 4 ? VALUE_F32 : VALUE_F64;
}

struct debug_value debug_value_from(const struct debug_type *t, const void *p)
{
  struct debug_value v = {.kind = t->kind, .bytes = t->bytes, .is_signed = t->is_signed};
  uint64_t bits = 0;
  if (t->kind == DEBUG_FLOAT) {
    v.f = value_load_real(float_type(t->bytes), p);
    return v;
  }
  memcpy(&bits, p, t->bytes);
  const unsigned unused = 64 - 8 * t->bytes;
  v.i = t->is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
  return v;
}

unsigned debug_value_store(const struct debug_type *t, const struct debug_value *v, void *p)
{
  const double d = v->kind == DEBUG_FLOAT ? v->f : (double)v->i;
  const bool fits = v->kind == DEBUG_FLOAT && fabs(v->f) < 9e18;
  const int64_t i = v->kind == DEBUG_FLOAT ? (fits ? (int64_t)v->f : 0) : v->i;
  if (t->kind == DEBUG_INT)
    memcpy(p, &i, t->bytes);
  else
    value_store_real(float_type(t->bytes), d, p);
  return t->bytes;
}

bool debug_value_true(const struct debug_value *v)
{
  return v->kind == DEBUG_FLOAT ? v->f != 0 : v->i != 0;
}

char *debug_value_text(const struct debug_value *v, char *buf, size_t size)
{
  if (v->kind == DEBUG_FLOAT)
    snprintf(buf, size, "%.*g", v->bytes == 8 ? 17 : v->bytes == 4 ? 9 : 5, v->f);
  else if (v->is_signed)
    snprintf(buf, size, "%" PRId64, v->i);
  else if ((uint64_t)v->i < 10)
    snprintf(buf, size, "%" PRIu64, (uint64_t)v->i);
  else
    snprintf(buf, size, "%" PRIu64 " = 0x%" PRIx64, (uint64_t)v->i, (uint64_t)v->i);
  return buf;
}

/* ---- reading ---- */

struct parser {
  const char *at, *text;
  const struct lane_view *v;
  const struct expression_names *names;
  struct err *e;
  unsigned depth;
};

static bool expression(struct parser *p, unsigned level, struct debug_value *out);

static bool mistake(struct parser *p, const char *what)
{
  return err_set(p->e, "%s at '%.20s' in '%.100s'", what, *p->at ? p->at : "the end", p->text);
}

static void blanks(struct parser *p)
{
  while (isspace((unsigned char)*p->at)) p->at++;
}

static bool take(struct parser *p, const char *token)
{
  const size_t n = strlen(token);
  blanks(p);
  if (strncmp(p->at, token, n) != 0) return false;
  p->at += n;
  return true;
}

static bool need(struct parser *p, const char *token)
{
  char what[32];
  snprintf(what, sizeof what, "'%s' is missing", token);
  return take(p, token) || mistake(p, what);
}

static bool read_name(struct parser *p, bool dots, char out[MAX_NAME])
{
  size_t n = 0;
  blanks(p);
  if (!isalpha((unsigned char)*p->at) && *p->at != '_') return false;
  while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_' || (dots && p->at[n] == '.')) n++;
  if (n >= MAX_NAME) return false;
  memcpy(out, p->at, n);
  out[n] = '\0';
  p->at += n;
  return true;
}

/* A name with dots inside: tid.x. False: none, or one longer than any. */
static bool name(struct parser *p, char out[MAX_NAME])
{
  return read_name(p, true, out);
}

/* One without. */
static bool word(struct parser *p, char out[MAX_NAME])
{
  return read_name(p, false, out);
}

static struct debug_value integer(int64_t i, unsigned bytes, bool is_signed)
{
  return (struct debug_value){.kind = DEBUG_INT, .bytes = bytes, .is_signed = is_signed, .i = i};
}

static bool number(struct parser *p, struct debug_value *out)
{
  char *end, *end_float;
  const uint64_t i = strtoull(p->at, &end, 0);
  const double f = strtod(p->at, &end_float);
  if (end_float > end && p->at[1] != 'x') {
    *out = (struct debug_value){.kind = DEBUG_FLOAT, .bytes = 8, .is_signed = true, .f = f};
    p->at = end_float;
    return true;
  }
  if (end == p->at || isalnum((unsigned char)*end)) return mistake(p, "no number");
  *out = integer((int64_t)i, 8, i < INT64_MAX);
  p->at = end;
  return true;
}

/* "[12]" behind a register, if it is there: the lane meant. */
static bool lane_index(struct parser *p, unsigned *lane)
{
  struct debug_value at;
  if (!take(p, "[")) return true;
  if (!expression(p, 0, &at) || !need(p, "]")) return false;
  const unsigned lanes = p->v ? p->v->t->source->lanes : 32;
  if (at.kind != DEBUG_INT || at.i < 0 || at.i >= (int64_t)lanes) return mistake(p, "no such lane");
  *lane = (unsigned)at.i;
  return true;
}

static bool read_register(struct parser *p, const char *text, unsigned reg, unsigned lane, uint32_t *value)
{
  if (!p->v) return *value = 1, true;
  struct lane_view v = *p->v;
  v.lane = lane;
  return view_register(&v, reg, value) || err_set(p->e, "the kernel has no register %s", text);
}

static bool register_value(struct parser *p, const char *text, struct debug_value *out)
{
  bool fixed;
  uint32_t value = 0;
  unsigned lane = p->v ? p->v->lane : 0;
  const int reg = view_register_number(text, &fixed, &value);
  if (!lane_index(p, &lane)) return false;
  if (!fixed && !read_register(p, text, (unsigned)reg, lane, &value)) return false;
  *out = integer(value, 4, false);
  return true;
}

/* f64(R4): registers R4 and R5. */
static bool register_pair(struct parser *p, const struct debug_type *t, const char *text, struct debug_value *out)
{
  bool fixed;
  uint32_t word[2];
  unsigned lane = p->v ? p->v->lane : 0;
  const int reg = view_register_number(text, &fixed, &word[0]);
  if (!lane_index(p, &lane)) return false;
  for (unsigned k = 0; k < 2; k++)
    if (!read_register(p, text, (unsigned)reg + k, lane, &word[k])) return false;
  *out = debug_value_from(t, word);
  return need(p, ")");
}

static bool is_number(struct parser *p, const struct debug_value *v)
{
  return v->kind != DEBUG_OBJECT || mistake(p, "a structure is no number");
}

/* Behind "TYPE(". */
static bool convert(struct parser *p, const struct debug_type *t, struct debug_value *out)
{
  struct parser ahead = *p;
  char text[MAX_NAME];
  bool fixed;
  uint32_t unused;
  if (t->bytes == 8 && name(&ahead, text) && view_register_number(text, &fixed, &unused) >= 0 && !fixed &&
      (text[0] == 'R' || text[1] == 'R')) {
    *p = ahead;
    return register_pair(p, t, text, out);
  }
  if (!expression(p, 0, out) || !need(p, ")")) return false;
  if (!is_number(p, out)) return false;
  if (out->kind == DEBUG_FLOAT) return mistake(p, "a floating-point number cannot be read as another type");
  const int64_t bits = out->i;
  *out = debug_value_from(t, &bits);
  return true;
}

static bool memory(struct parser *p, enum view_space space, const struct debug_type *t, struct debug_value *out)
{
  struct debug_value at;
  uint8_t data[8] = {1};
  if (!need(p, "[") || !expression(p, 0, &at) || !need(p, "]")) return false;
  if (at.kind != DEBUG_INT) return mistake(p, "an address is an integer");
  if (p->v && !view_read(p->v, space, (uint64_t)at.i, data, t->bytes, p->e)) return false;
  *out = debug_value_from(t, data);
  return true;
}

static bool member(struct parser *p, bool through, struct debug_value *out)
{
  char text[MAX_NAME];
  const struct debug_value of = *out;
  if (!word(p, text)) return mistake(p, "the name of a member is missing");
  if (!p->v) return true;
  if (p->names && p->names->member) return p->names->member(p->names->ctx, p->v, &of, text, through, out, p->e);
  return err_set(p->e, "there are no members here");
}

static bool pointed_to(struct parser *p, int64_t index, struct debug_value *out)
{
  const struct debug_value of = *out;
  if (!p->v) return true;
  if (p->names && p->names->element) return p->names->element(p->names->ctx, p->v, &of, index, out, p->e);
  return err_set(p->e, "there are no arrays here");
}

/* Behind "[". */
static bool element(struct parser *p, struct debug_value *out)
{
  struct debug_value at;
  if (!expression(p, 0, &at) || !need(p, "]")) return false;
  if (at.kind != DEBUG_INT) return mistake(p, "an index is an integer");
  return pointed_to(p, at.i, out);
}

/* ".m", "->m" and "[i]" behind a value, as many as there are. */
static bool parts(struct parser *p, struct debug_value *out)
{
  for (unsigned i = 0; i < MAX_NESTED; i++) {
    bool ok = true;
    if (take(p, "["))
      ok = element(p, out);
    else if (take(p, "->"))
      ok = member(p, true, out);
    else if (take(p, "."))
      ok = member(p, false, out);
    else
      return true;
    if (!ok) return false;
  }
  return mistake(p, "nested too deeply");
}

static bool variable(struct parser *p, const char *text, struct debug_value *out)
{
  if (!p->v) return *out = integer(1, 4, false), true;
  if (p->names && p->names->find) return p->names->find(p->names->ctx, p->v, text, out, p->e);
  return err_set(p->e, "'%s' is no register, special value or variable here", text);
}

/* tid.x, or a variable and what is behind it. */
static bool other_name(struct parser *p, char *text, struct debug_value *out)
{
  uint64_t value = 1;
  char *dot = strchr(text, '.');
  if (p->v && view_special(p->v, text, &value)) return *out = integer((int64_t)value, 8, value < INT64_MAX), true;
  if (dot) {
    p->at -= strlen(dot);
    *dot = '\0';
  }
  return variable(p, text, out) && parts(p, out);
}

static bool named(struct parser *p, char *text, struct debug_value *out)
{
  struct debug_type t = {DEBUG_INT, 4, false};
  bool fixed;
  uint32_t unused;
  char space[MAX_NAME];
  if (view_register_number(text, &fixed, &unused) >= 0) return register_value(p, text, out);
  if (view_space_find(text) >= 0) return memory(p, (enum view_space)view_space_find(text), &t, out);
  if (!debug_type_find(text, &t)) return other_name(p, text, out);
  if (take(p, "(")) return convert(p, &t, out);
  if (!name(p, space) || view_space_find(space) < 0) return mistake(p, "a type is followed by '(' or by a space");
  return memory(p, (enum view_space)view_space_find(space), &t, out);
}

static bool negate(struct debug_value *v)
{
  if (v->kind == DEBUG_FLOAT)
    v->f = -v->f;
  else
    *v = integer((int64_t)(0 - (uint64_t)v->i), 8, true);
  return true;
}

static bool unary(struct parser *p, struct debug_value *out)
{
  char text[MAX_NAME];
  if (++p->depth > MAX_NESTED) return mistake(p, "nested too deeply");
  bool ok;
  if (take(p, "*"))
    ok = unary(p, out) && pointed_to(p, 0, out);
  else if (take(p, "!"))
    ok = unary(p, out) && is_number(p, out) && (*out = integer(!debug_value_true(out), 4, false), true);
  else if (take(p, "-"))
    ok = unary(p, out) && is_number(p, out) && negate(out);
  else if (take(p, "~"))
    ok = unary(p, out) && is_number(p, out) && (*out = integer(~out->i, out->bytes, out->is_signed), true);
  else if (take(p, "("))
    ok = expression(p, 0, out) && need(p, ")") && parts(p, out);
  else if (name(p, text))
    ok = named(p, text, out);
  else
    ok = number(p, out);
  p->depth--;
  return ok;
}

/* ---- operators ---- */

/* By level, from what binds least; longer ones first. */
static const struct {
  const char *text;
  unsigned level;
} operators[] = {
    {"||", 0}, {"&&", 1}, {"==", 5}, {"!=", 5}, {"<=", 6}, {">=", 6}, {"<<", 7}, {">>", 7}, {"|", 2},
    {"^", 3},  {"&", 4},  {"<", 6},  {">", 6},  {"+", 8},  {"-", 8},  {"*", 9},  {"/", 9},  {"%", 9},
};
enum { LEVELS = 10 };

static double as_double(const struct debug_value *v)
{
  return v->kind == DEBUG_FLOAT ? v->f : v->is_signed ? (double)v->i : (double)(uint64_t)v->i;
}

enum { UNORDERED = 2 };

/* order: below, at or above 0 as one value is less than, equal to or greater than the other; UNORDERED: one is no
 * number. False: op is no comparison. */
static bool compare(const char *op, int order, bool *is)
{
  if (strcmp(op, "==") == 0)
    *is = order == 0;
  else if (strcmp(op, "!=") == 0)
    *is = order != 0;
  else if (strcmp(op, "<=") == 0)
    *is = order <= 0;
  else if (strcmp(op, ">=") == 0)
    *is = order == 0 || order == 1;
  else if (strcmp(op, "<") == 0)
    *is = order < 0;
  else if (strcmp(op, ">") == 0)
    *is = order == 1;
  else
    return false;
  return true;
}

static int float_order(double a, double b)
{
  return a < b ? -1 : a > b ? 1 : a == b ? 0 : UNORDERED;
}

static bool is_negative(const struct debug_value *v)
{
  return v->is_signed && v->i < 0;
}

/* Of the numbers, whatever their types: the largest of 64 bits is above -1. */
static int integer_order(const struct debug_value *a, const struct debug_value *b)
{
  if (is_negative(a) != is_negative(b)) return is_negative(a) ? -1 : 1;
  const uint64_t x = (uint64_t)a->i, y = (uint64_t)b->i;
  return x < y ? -1 : x > y;
}

static bool float_operation(struct parser *p, const char *op, const struct debug_value *b, struct debug_value *a)
{
  const double x = as_double(a), y = as_double(b);
  bool is;
  if (compare(op, float_order(x, y), &is)) return *a = integer(is, 4, false), true;
  double r;
  switch (op[0]) {
  case '+': r = x + y; break;
  case '-': r = x - y; break;
  case '*': r = x * y; break;
  case '/': r = x / y; break;
  default: return mistake(p, "not for floating-point numbers");
  }
  *a = (struct debug_value){.kind = DEBUG_FLOAT, .bytes = 8, .is_signed = true, .f = r};
  return true;
}

/* Of a negative number the sign comes in from the left. */
static uint64_t shifted_right(const struct debug_value *a, uint64_t by)
{
  if (is_negative(a)) return (uint64_t)(a->i >> (by < 64 ? by : 63));
  return by < 64 ? (uint64_t)a->i >> by : 0;
}

static bool integer_operation(struct parser *p, const char *op, const struct debug_value *b, struct debug_value *a)
{
  const uint64_t x = (uint64_t)a->i, y = (uint64_t)b->i;
  bool is;
  if (compare(op, integer_order(a, b), &is)) return *a = integer(is, 4, false), true;
  uint64_t r;
  switch (op[0]) {
  case '+': r = x + y; break;
  case '-': r = x - y; break;
  case '*': r = x * y; break;
  case '&': r = x & y; break;
  case '|': r = x | y; break;
  case '^': r = x ^ y; break;
  case '<': r = y < 64 ? x << y : 0; break;
  case '>': r = shifted_right(a, y); break;
  default:
    if (!p->v && !y) return *a = integer(1, 8, true), true;
    if (!y || (a->i == INT64_MIN && b->i == -1)) return mistake(p, "division that has no result");
    r = (uint64_t)(op[0] == '/' ? a->i / b->i : a->i % b->i);
  }
  *a = integer((int64_t)r, 8, (int64_t)r < 0 || a->is_signed);
  return true;
}

static bool operation(struct parser *p, const char *op, const struct debug_value *b, struct debug_value *a)
{
  if (!is_number(p, a) || !is_number(p, b)) return false;
  if (op[0] == '&' && op[1] == '&') return *a = integer(debug_value_true(a) && debug_value_true(b), 4, false), true;
  if (op[0] == '|' && op[1] == '|') return *a = integer(debug_value_true(a) || debug_value_true(b), 4, false), true;
  if (a->kind == DEBUG_FLOAT || b->kind == DEBUG_FLOAT) return float_operation(p, op, b, a);
  return integer_operation(p, op, b, a);
}

/* The operator of this level that comes next; NULL: another one, or none. */
static const char *operator_at(struct parser *p, unsigned level)
{
  blanks(p);
  for (unsigned i = 0; i < sizeof operators / sizeof operators[0]; i++) {
    const size_t n = strlen(operators[i].text);
    if (strncmp(p->at, operators[i].text, n) != 0) continue;
    if (operators[i].level != level) return NULL;
    p->at += n;
    return operators[i].text;
  }
  return NULL;
}

static bool expression(struct parser *p, unsigned level, struct debug_value *out)
{
  struct debug_value right;
  if (level == LEVELS) return unary(p, out);
  if (!expression(p, level + 1, out)) return false;
  for (const char *op; (op = operator_at(p, level));)
    if (!expression(p, level + 1, &right) || !operation(p, op, &right, out)) return false;
  return true;
}

bool expression_evaluate(const char *text, const struct lane_view *v, const struct expression_names *names,
                         struct debug_value *out, struct err *e)
{
  struct parser p = {.at = text, .text = text, .v = v, .names = names, .e = e};
  if (!expression(&p, 0, out)) return false;
  blanks(&p);
  return !*p.at || mistake(&p, "something is left over");
}
