#include "host/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Distance of two values that do not match, for reports. */
static double distance(double got, double want)
{
  double d = fabs(got - want);
  return isnan(d) ? (double)INFINITY : d;
}

static bool element_matches(enum value_type t, const void *got, const void *want,
                            const struct tolerance *tol)
{
  if (value_load_bits(t, got) == value_load_bits(t, want)) return true;
  if (value_class(t) != VALUE_FLOAT || !tol->given) return false;
  double g = value_load_real(t, got), w = value_load_real(t, want);
  if (isnan(g) || isnan(w)) return isnan(g) && isnan(w);
  if (g == w) return true;
  if (isinf(g) || isinf(w)) return false; /* inf <= abs + rel * inf would match anything */
  return fabs(g - w) <= tol->abs + tol->rel * fabs(w);
}

void compare_values(enum value_type t, uint64_t count, const void *got, const void *want,
                    struct tolerance tol, struct compare_result *r)
{
  size_t size = value_bytes(t);
  const uint8_t *g = got, *w = want;
  *r = (struct compare_result){ .count = count };
  for (uint64_t i = 0; i < count; i++, g += size, w += size) {
    if (element_matches(t, g, w, &tol)) continue;
    r->mismatches++;
    if (value_class(t) == VALUE_FLOAT) {
      double d = distance(value_load_real(t, g), value_load_real(t, w));
      if (d > r->worst) r->worst = d;
    }
    if (r->n_shown == COMPARE_SHOWN) continue;
    struct compare_mismatch *m = &r->shown[r->n_shown++];
    m->index = i;
    memcpy(m->got, g, size);
    memcpy(m->want, w, size);
  }
}

int compare_print(enum value_type t, const struct compare_mismatch *m, char *buf, size_t size)
{
  char got[40], want[40], bits[64] = "";
  value_print(t, m->got, got, sizeof got);
  value_print(t, m->want, want, sizeof want);
  /* Values that print alike (-0 and 0 do not, NaNs do) are told apart by their bits. */
  if (strcmp(got, want) == 0)
    snprintf(bits, sizeof bits, " (bits 0x%llx, want 0x%llx)",
             (unsigned long long)value_load_bits(t, m->got),
             (unsigned long long)value_load_bits(t, m->want));
  return snprintf(buf, size, "[%llu] got %s, want %s%s", (unsigned long long)m->index, got, want,
                  bits);
}

/* Text ------------------------------------------------------------------------------------ */

struct line {
  const char *text;
  size_t len;
};

/* Splits into lines; the last one may lack its newline. */
static struct line *split(const char *text, size_t bytes, size_t *n)
{
  size_t lines = 1;
  for (size_t i = 0; i < bytes; i++) lines += text[i] == '\n';
  struct line *list = calloc(lines, sizeof *list);
  *n = 0;
  for (size_t at = 0; list && at < bytes;) {
    const char *end = memchr(text + at, '\n', bytes - at);
    size_t len = end ? (size_t)(end - text) - at : bytes - at;
    list[(*n)++] = (struct line){ text + at, len };
    at += len + 1;
  }
  return list;
}

static int line_order(const void *a, const void *b)
{
  const struct line *x = a, *y = b;
  size_t n = x->len < y->len ? x->len : y->len;
  int c = n ? memcmp(x->text, y->text, n) : 0;
  return c ? c : (x->len > y->len) - (x->len < y->len);
}

static int shown(const struct line *l)
{
  return l->len > 60 ? 60 : (int)l->len;
}

static bool same_lines(struct line *got, size_t n_got, struct line *want, size_t n_want,
                       bool sorted, char *why, size_t why_size)
{
  if (sorted && n_got) qsort(got, n_got, sizeof *got, line_order);
  if (sorted && n_want) qsort(want, n_want, sizeof *want, line_order);
  for (size_t i = 0; i < n_got || i < n_want; i++) {
    int c = i >= n_got ? 1 : i >= n_want ? -1 : line_order(&got[i], &want[i]);
    if (c == 0) continue;
    if (sorted)
      snprintf(why, why_size, c < 0 ? "unexpected line \"%.*s\"" : "missing line \"%.*s\"",
               shown(c < 0 ? &got[i] : &want[i]), c < 0 ? got[i].text : want[i].text);
    else if (i >= n_got || i >= n_want)
      snprintf(why, why_size, "%zu lines, want %zu", n_got, n_want);
    else
      snprintf(why, why_size, "line %zu: got \"%.*s\", want \"%.*s\"", i + 1, shown(&got[i]),
               got[i].text, shown(&want[i]), want[i].text);
    return false;
  }
  return true;
}

bool compare_text(const char *got, size_t got_bytes, const char *want, size_t want_bytes,
                  bool sorted, char *why, size_t why_size)
{
  if (got_bytes == want_bytes && memcmp(got, want, got_bytes) == 0) return true;
  size_t n_got, n_want;
  struct line *g = split(got, got_bytes, &n_got), *w = split(want, want_bytes, &n_want);
  bool same = false;
  if (!g || !w) {
    snprintf(why, why_size, "too long to compare");
  } else if ((same = same_lines(g, n_got, w, n_want, sorted, why, why_size)) && !sorted) {
    same = false; /* the lines agree, the bytes do not */
    snprintf(why, why_size, "the newline at the end differs");
  }
  free(g);
  free(w);
  return same;
}
