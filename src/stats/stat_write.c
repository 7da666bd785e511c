/* Text, CSV, JSON and Markdown from the tables of stat.h. Text, CSV and Markdown share one walk
 * that turns a group into flat lines (name, printed value, unit, text). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "stats/stat.h"

/* One printed value. A VEC row gives one line per element. */
struct line {
  char name[160], value[32];
  const struct stat_desc *desc;
  uint32_t element;
  bool zero;
};

typedef void (*line_fn)(const struct line *, void *ctx);

static const uint64_t *counters(const struct stat_desc *d, const void *data)
{
  return (const uint64_t *)(const void *)((const char *)data + d->offset);
}

static void line_value(struct line *l, const void *data)
{
  const struct stat_desc *d = l->desc;
  double ratio;
  snprintf(l->value, sizeof l->value, "n/a");
  if (d->count > 0) {
    uint64_t v = counters(d, data)[l->element];
    snprintf(l->value, sizeof l->value, "%" PRIu64, v);
    l->zero = v == 0;
  } else if (d->kind == STAT_KIND_DIV && stat_ratio(d, data, &ratio)) {
    snprintf(l->value, sizeof l->value, "%.6f", ratio);
  }
}

static void line_name(struct line *l, const char *prefix)
{
  const struct stat_desc *d = l->desc;
  const char *dot = *prefix ? "." : "";
  if (d->kind != STAT_KIND_VEC)
    snprintf(l->name, sizeof l->name, "%s%s%s", prefix, dot, d->name);
  else if (d->names)
    snprintf(l->name, sizeof l->name, "%s%s%s.%s", prefix, dot, d->name, d->names[l->element]);
  else
    snprintf(l->name, sizeof l->name, "%s%s%s.%" PRIu32, prefix, dot, d->name, l->element);
}

static void each_line(struct stat_group g, line_fn fn, void *ctx)
{
  for (unsigned r = 0; r < g.n; r++) {
    struct line l = {.desc = &g.desc[r]};
    if (l.desc->kind == STAT_KIND_LAW) continue;
    uint32_t lines = l.desc->count > 0 ? l.desc->count : 1;
    for (l.element = 0; l.element < lines; l.element++) {
      line_name(&l, g.prefix);
      line_value(&l, g.data);
      fn(&l, ctx);
    }
  }
}

struct text_ctx {
  FILE *f;
  int name, value, unit; /* column widths */
};

static bool hidden(const struct line *l)
{
  return l->desc->kind == STAT_KIND_VEC && !l->desc->names && l->zero;
}

static void widen(int *column, const char *s)
{
  int n = (int)strlen(s);
  if (n > *column) *column = n;
}

static void text_measure(const struct line *l, void *ctx)
{
  struct text_ctx *t = ctx;
  if (hidden(l)) return;
  widen(&t->name, l->name);
  widen(&t->value, l->value);
  widen(&t->unit, l->desc->unit);
}

static void text_line(const struct line *l, void *ctx)
{
  const struct text_ctx *t = ctx;
  if (hidden(l)) return;
  fprintf(t->f, "%-*s  %*s %-*s", t->name, l->name, t->value, l->value, t->unit, l->desc->unit);
  fprintf(t->f, " — %s\n", l->desc->text);
}

void stat_write_text(FILE *f, const struct stat_group *g, unsigned n_groups)
{
  struct text_ctx t = {.f = f};
  for (unsigned i = 0; i < n_groups; i++) each_line(g[i], text_measure, &t);
  for (unsigned i = 0; i < n_groups; i++) each_line(g[i], text_line, &t);
}

static void csv_line(const struct line *l, void *ctx)
{
  const char *value = strcmp(l->value, "n/a") == 0 ? "" : l->value;
  fprintf(ctx, "%s,%s,%s\n", l->name, value, l->desc->unit);
}

void stat_write_csv(FILE *f, const struct stat_group *g, unsigned n_groups)
{
  for (unsigned i = 0; i < n_groups; i++) each_line(g[i], csv_line, f);
}

static void put_counter(struct json_out *j, const char *key, uint64_t v)
{
  BUG_ON(v > INT64_MAX); /* readers have integers of 64 bits with a sign */
  json_out_u64(j, key, v);
}

static void put_vector(struct json_out *j, const struct stat_desc *d, const uint64_t *v)
{
  if (d->names) json_out_object(j, d->name);
  else json_out_array(j, d->name);
  for (uint32_t i = 0; i < d->count; i++) put_counter(j, d->names ? d->names[i] : NULL, v[i]);
  json_out_end(j);
}

static void put_row(struct json_out *j, const struct stat_desc *d, const void *data)
{
  double ratio;
  if (d->kind == STAT_KIND_DIV && stat_ratio(d, data, &ratio)) json_out_real(j, d->name, round(ratio * 1e6) / 1e6);
  else if (d->count == 0) json_out_null(j, d->name);
  else if (d->kind == STAT_KIND_VEC) put_vector(j, d, counters(d, data));
  else put_counter(j, d->name, counters(d, data)[0]);
}

static void put_rows(struct json_out *j, struct stat_group g)
{
  for (unsigned r = 0; r < g.n; r++)
    if (g.desc[r].kind != STAT_KIND_LAW) put_row(j, &g.desc[r], g.data);
}

/* Bytes of `prefix` that are whole parts of `open`, too, with the dot behind them. */
static size_t shared_parts(const char *open, const char *prefix)
{
  size_t shared = 0;
  for (size_t i = 0;; i++) {
    bool ends = !open[i] || open[i] == '.', also = !prefix[i] || prefix[i] == '.';
    if (ends && also) shared = prefix[i] ? i + 1 : i;
    if (!open[i] || open[i] != prefix[i]) return shared;
  }
}

static unsigned n_parts(const char *path)
{
  unsigned n = *path != '\0';
  for (; *path; path++) n += *path == '.';
  return n;
}

static void open_parts(struct json_out *j, const char *path)
{
  while (*path) {
    char part[64];
    size_t n = strcspn(path, ".");
    BUG_ON(n == 0 || n >= sizeof part);
    memcpy(part, path, n);
    part[n] = '\0';
    json_out_object(j, part);
    path += path[n] ? n + 1 : n;
  }
}

void stat_write_json(struct json_out *j, const struct stat_group *g, unsigned n_groups)
{
  const char *open = "";
  for (unsigned i = 0; i < n_groups; i++) {
    const char *prefix = g[i].prefix;
    size_t shared = shared_parts(open, prefix);
    for (unsigned k = n_parts(open + shared); k > 0; k--) json_out_end(j);
    open_parts(j, prefix + shared);
    put_rows(j, g[i]);
    open = prefix;
  }
  for (unsigned k = n_parts(open); k > 0; k--) json_out_end(j);
}

void stat_write_doc(FILE *f, const char *prefix, const struct stat_desc *desc, unsigned n)
{
  for (unsigned r = 0; r < n; r++) {
    const struct stat_desc *d = &desc[r];
    const char *dot = *prefix ? "." : "", *suffix = d->kind == STAT_KIND_VEC ? ".*" : "";
    const char *unit = d->kind == STAT_KIND_LAW ? "law" : d->unit;
    fprintf(f, "| %s%s%s%s | %s | %s |\n", prefix, dot, d->name, suffix, unit, d->text);
  }
}
