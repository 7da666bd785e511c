/* Columns, rankings and number formats of the text reports; see columns.h. */
#include "view/columns.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

void column_add(struct column *c, const char *fmt, ...)
{
  va_list ap;

  if (c->n == COLUMN_LINES) return;
  va_start(ap, fmt);
  vsnprintf(c->line[c->n++], sizeof c->line[0], fmt, ap);
  va_end(ap);
}

void columns_write(FILE *f, const struct column *left, const struct column *right)
{
  for (unsigned i = 0; i < left->n || i < right->n; i++) {
    const char *l = i < left->n ? left->line[i] : "";
    if (i < right->n)
      fprintf(f, "%-*s  %s\n", COLUMN_WIDTH, l, right->line[i]);
    else
      fprintf(f, "%s\n", l);
  }
}

/* Index of the largest value not taken yet, the first of equals; n when none is left above zero. */
static unsigned next_largest(const uint64_t *value, unsigned n, const bool *taken)
{
  unsigned best = n;

  for (unsigned i = 0; i < n; i++)
    if (!taken[i] && value[i] && (best == n || value[i] > value[best])) best = i;
  return best;
}

static void rank_line(struct column *c, const char *name, uint64_t value, uint64_t whole)
{
  char count[28];

  column_add(c, "  %-18.18s%11s %5.1f", name, with_commas(value, count), percent(value, whole));
}

void column_rank(struct column *c, const uint64_t *value, const char *(*name)(const void *, unsigned),
                 const void *ctx, unsigned n, unsigned most, uint64_t whole)
{
  bool taken[1024] = {false};
  uint64_t rest = 0;
  unsigned n_rest = 0, last = 0;

  if (n > sizeof taken) n = sizeof taken;
  for (unsigned k = 0; k < most; k++) {
    unsigned i = next_largest(value, n, taken);
    if (i == n) return;
    taken[i] = true;
    rank_line(c, name(ctx, i), value[i], whole);
  }
  for (unsigned i = 0; i < n; i++)
    if (!taken[i] && value[i]) rest += value[i], n_rest++, last = i;
  if (n_rest) rank_line(c, n_rest == 1 ? name(ctx, last) : "others", rest, whole);
}

const char *with_commas(uint64_t v, char *buf)
{
  char digits[24];
  int n = snprintf(digits, sizeof digits, "%" PRIu64, v), out = 0;

  for (int i = 0; i < n; i++) {
    if (i && (n - i) % 3 == 0) buf[out++] = ',';
    buf[out++] = digits[i];
  }
  buf[out] = '\0';
  return buf;
}

static const char *scaled(double v, const char *const *units, unsigned n, char *buf)
{
  unsigned i = 0;

  while (v >= 999.5 && i + 1 < n) v /= 1000, i++;
  snprintf(buf, 16, "%.*f %s", i == 0 && v == (double)(int)v ? 0 : v < 9.995 ? 2 : v < 99.95 ? 1 : 0,
           v, units[i]);
  return buf;
}

const char *with_bytes(uint64_t bytes, char *buf)
{
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  return scaled((double)bytes, units, 5, buf);
}

const char *with_seconds(double seconds, char *buf)
{
  static const char *const units[] = {"ns", "us", "ms", "s"};
  return scaled(seconds * 1e9, units, 4, buf);
}

double percent(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0.0;
}
