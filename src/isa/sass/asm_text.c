#include "isa/sass/asm_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

static bool is_name(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void skip_blanks(struct text_span *s)
{
  while (s->p < s->end && isspace((unsigned char)*s->p)) s->p++;
}

struct text_span span_trim(struct text_span s)
{
  skip_blanks(&s);
  while (s.end > s.p && isspace((unsigned char)s.end[-1])) s.end--;
  return s;
}

bool span_is(struct text_span s, const char *text)
{
  size_t n = strlen(text);
  return (size_t)(s.end - s.p) == n && memcmp(s.p, text, n) == 0;
}

bool span_char(struct text_span *s, char c)
{
  struct text_span t = *s;
  skip_blanks(&t);
  if (span_empty(t) || *t.p != c) return false;
  s->p = t.p + 1;
  return true;
}

bool span_word(struct text_span *s, const char *word)
{
  struct text_span t = *s;
  size_t n = strlen(word);
  skip_blanks(&t);
  if ((size_t)(t.end - t.p) < n || memcmp(t.p, word, n) != 0) return false;
  t.p += n;
  if (!span_empty(t) && is_name(*t.p)) return false;
  *s = t;
  return true;
}

bool span_name(struct text_span *s, struct text_span *name)
{
  struct text_span t = *s;
  skip_blanks(&t);
  name->p = t.p;
  while (!span_empty(t) && is_name(*t.p)) t.p++;
  name->end = t.p;
  if (name->p == name->end) return false;
  *s = t;
  return true;
}

static int digit_value(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)tolower((unsigned char)c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

bool span_integer(struct text_span *s, struct asm_number *n)
{
  struct text_span t = *s;
  skip_blanks(&t);
  *n = (struct asm_number){0, false};
  if (!span_empty(t) && (*t.p == '-' || *t.p == '+')) n->neg = *t.p++ == '-';
  unsigned base = 10;
  if (t.end - t.p > 2 && t.p[0] == '0' && (t.p[1] == 'x' || t.p[1] == 'X')) base = 16, t.p += 2;
  const char *first = t.p;
  for (; !span_empty(t) && digit_value(*t.p) < (int)base; t.p++) {
    if (n->magnitude > (UINT64_MAX - 15) / base) return false;
    n->magnitude = n->magnitude * base + (unsigned)digit_value(*t.p);
  }
  if (t.p == first || (!span_empty(t) && (is_name(*t.p) || *t.p == '.'))) return false;
  if (n->neg && n->magnitude > UINT64_C(1) << 63) return false;
  *s = t;
  return true;
}

bool number_fits(struct asm_number n, unsigned width, bool as_signed, uint64_t *bits)
{
  uint64_t ones = bits_ones(width), half = UINT64_C(1) << (width - 1);
  *bits = (n.neg ? -n.magnitude : n.magnitude) & ones;
  if (n.neg) return (as_signed || width >= 32) && n.magnitude <= half;
  return n.magnitude <= (as_signed ? half - 1 : ones);
}

bool span_register(struct text_span *s, const char *prefix, unsigned zero, unsigned *index)
{
  struct text_span t = *s;
  size_t n = strlen(prefix);
  skip_blanks(&t);
  if ((size_t)(t.end - t.p) <= n || memcmp(t.p, prefix, n) != 0) return false;
  t.p += n;
  char last = *prefix == 'U' && prefix[1] == 'P' ? 'T' : *prefix == 'P' ? 'T' : 'Z';
  *index = 0;
  if (*t.p == last) {
    *index = zero;
    t.p++;
  } else {
    const char *first = t.p;
    while (!span_empty(t) && isdigit((unsigned char)*t.p) && t.p - first < 3)
      *index = *index * 10 + (unsigned)(*t.p++ - '0');
    if (t.p == first) return false;
  }
  if (!span_empty(t) && is_name(*t.p)) return false;
  *s = t;
  return true;
}

struct text_span span_operand(struct text_span *s)
{
  struct text_span o = {s->p, s->p};
  int depth = 0;
  for (; o.end < s->end; o.end++) {
    char c = *o.end;
    if (c == '[' || c == '{' || c == '(') depth++;
    if (c == ']' || c == '}' || c == ')') depth--;
    if (c == ',' && depth <= 0) break;
    /* "RET.REL.NODEC R6 0x0": no comma after the register of an indirect branch. */
    if (c == ' ' && depth <= 0 && *o.p == 'R' && o.end + 1 < s->end && !strchr(" ,.;", o.end[1]))
      break;
  }
  s->p = o.end < s->end ? o.end + 1 : o.end;
  return span_trim(o);
}

/* ---- constants ---- */

/* Nearest-even rounding of |v| to a format of `frac` fraction bits and `bias`, all 16 bits wide. */
static bool to_half(double v, uint32_t *bits)
{
  double a = fabs(v);
  uint32_t sign = signbit(v) ? 0x8000 : 0;
  if (isnan(v)) return *bits = sign | 0x7fff, true;
  if (isinf(v)) return *bits = sign | 0x7c00, true;
  if (a >= 65520) return false;
  int e;
  frexp(a, &e);
  if (a < ldexp(1, -14)) e = -13;
  double scaled = nearbyint(ldexp(a, 11 - e)); /* 11 significant bits */
  uint32_t m = (uint32_t)scaled;
  /* A carry out of the significand moves into the exponent by itself. */
  *bits = sign | (m + (a < ldexp(1, -14) ? 0 : (uint32_t)(e + 13) << 10));
  return true;
}

static bool to_bfloat(float v, uint32_t *bits)
{
  uint32_t w;
  memcpy(&w, &v, sizeof w);
  if (isnan(v)) return *bits = (w >> 16 & 0x8000) | 0x7fff, true;
  *bits = (w + 0x7fff + (w >> 16 & 1)) >> 16;
  return !isinf(v) ? (*bits & 0x7fff) < 0x7f80 : true;
}

static bool encode_float(double v, float f, enum float_format format, uint32_t *bits)
{
  uint64_t d;
  switch (format) {
  case FLOAT_F32:
    if (isinf(f) && !isinf(v)) return false;
    if (isnan(v)) return *bits = signbit(v) ? 0xffc00000 : 0x7fffffff, true;
    memcpy(bits, &f, sizeof f);
    return true;
  case FLOAT_F64_HIGH:
    if (isnan(v)) return *bits = signbit(v) ? 0xfff80000 : 0x7ff80000, true;
    memcpy(&d, &v, sizeof d);
    *bits = (uint32_t)(d >> 32);
    return (uint32_t)d == 0;
  case FLOAT_F16: return to_half(v, bits);
  default: return to_bfloat(f, bits);
  }
}

bool span_float(struct text_span *s, enum float_format format, uint32_t *bits)
{
  struct text_span t = *s;
  struct asm_number n;
  uint64_t raw;
  char text[64], *stop;
  skip_blanks(&t);
  struct text_span hex = t;
  if (t.end - t.p > 2 && t.p[0] == '0' && t.p[1] == 'x' && span_integer(&hex, &n)) {
    *s = hex;
    bool fits = number_fits(n, format >= FLOAT_F16 ? 16 : 32, false, &raw);
    *bits = (uint32_t)raw;
    return fits;
  }
  bool neg = !span_empty(t) && *t.p == '-';
  struct text_span word = {t.p + (!span_empty(t) && (*t.p == '-' || *t.p == '+')), t.end};
  double v = 0;
  float f = 0;
  if (span_word(&word, "INF")) {
    v = neg ? -INFINITY : INFINITY, f = (float)v;
  } else if (span_word(&word, "QNAN") || span_word(&word, "NAN")) {
    v = copysign(NAN, neg ? -1.0 : 1.0), f = (float)v;
  } else {
    size_t len = (size_t)(t.end - t.p) < sizeof text - 1 ? (size_t)(t.end - t.p) : sizeof text - 1;
    memcpy(text, t.p, len);
    text[len] = '\0';
    if (!strchr("+-.0123456789", text[0]) || !strpbrk(text, "0123456789")) return false;
    v = strtod(text, &stop);
    if (stop == text) return false;
    f = strtof(text, NULL);
    word = (struct text_span){t.p + (stop - text), t.end};
  }
  *s = word;
  return encode_float(v, f, format, bits);
}

/* ---- control notation ---- */

static bool control_mask(struct text_span *s, struct inst_ctrl *c)
{
  for (; !span_empty(*s) && (*s->p == '-' || (*s->p >= '0' && *s->p <= '5')); s->p++)
    if (*s->p != '-') c->wait = (uint8_t)(c->wait | 1u << (*s->p - '0'));
  return true;
}

static bool control_counter(struct text_span *s, uint8_t *counter)
{
  if (span_empty(*s)) return false;
  char c = *s->p++;
  if (c == '-') *counter = SB_NONE;
  else if (c >= '0' && c <= '5') *counter = (uint8_t)(c - '0');
  else return false;
  return true;
}

static bool control_stall(struct text_span *s, struct inst_ctrl *c)
{
  unsigned n = 0, digits = 0;
  for (; !span_empty(*s) && isdigit((unsigned char)*s->p) && digits < 3; digits++)
    n = n * 10 + (unsigned)(*s->p++ - '0');
  c->stall = (uint8_t)n;
  return digits > 0 && n <= 15;
}

static bool control_item(struct text_span *s, struct inst_ctrl *c)
{
  if (span_empty(*s)) return false;
  switch (*s->p++) {
  case 'B': return control_mask(s, c);
  case 'R': return control_counter(s, &c->read_sb);
  case 'W': return control_counter(s, &c->write_sb);
  case 'S': return control_stall(s, c);
  case 'Y': c->yield = true; return true;
  case '-': return true;
  default: return false;
  }
}

bool span_control(struct text_span *s, struct inst_ctrl *c, const char **at)
{
  *c = (struct inst_ctrl){.stall = 1, .write_sb = SB_NONE, .read_sb = SB_NONE};
  if (!span_char(s, '[')) return true;
  for (;;) {
    *at = s->p;
    if (!control_item(s, c)) return false;
    *at = s->p;
    if (span_char(s, ']')) return true;
    if (!span_char(s, ':')) return false;
  }
}

/* ---- marks ---- */

static void append(char *buf, size_t size, const char *p, size_t n)
{
  size_t used = strlen(buf);
  if (used + n + 1 > size) n = size - 1 - used;
  memcpy(buf + used, p, n);
  buf[used + n] = '\0';
}

void operand_marks(struct text_span s, char *buf, size_t size)
{
  buf[0] = '\0';
  s = span_trim(s);
  for (; !span_empty(s) && strchr("-~!|", *s.p); s.p++) append(buf, size, s.p, 1);
  if (!span_empty(s) && (isdigit((unsigned char)*s.p) || *s.p == '+' || *s.p == '.')) {
    buf[0] = '\0';
    return;
  }
  for (const char *p = s.p; p < s.end;) {
    if (*p != '.' || p + 1 >= s.end || !is_name(p[1])) {
      p++;
      continue;
    }
    const char *first = p++;
    while (p < s.end && is_name(*p)) p++;
    if (span_is((struct text_span){first, p}, ".reuse")) continue;
    append(buf, size, first, (size_t)(p - first));
  }
}
