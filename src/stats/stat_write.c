/* Text, CSV, JSON and Markdown from the tables of stat.h. Text, CSV and Markdown share one walk
 * that turns a group into flat lines (name, printed value, unit, text). */
#include <inttypes.h>
#include <jansson.h>
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

/* Owns `value` afterwards. Two groups must not claim one name. */
static void json_put(json_t *object, const char *key, json_t *value)
{
  BUG_ON(!value || json_object_get(object, key) || json_object_set_new(object, key, value) != 0);
}

static json_t *json_counter(uint64_t v)
{
  BUG_ON(v > INT64_MAX);
  return json_integer((json_int_t)v);
}

static json_t *json_row(const struct stat_desc *d, const void *data)
{
  double ratio;
  if (d->kind == STAT_KIND_DIV && stat_ratio(d, data, &ratio))
    return json_real(round(ratio * 1e6) / 1e6);
  if (d->count == 0) return json_null();
  const uint64_t *v = counters(d, data);
  if (d->kind != STAT_KIND_VEC) return json_counter(v[0]);
  json_t *vec = d->names ? json_object() : json_array();
  for (uint32_t i = 0; i < d->count; i++) {
    if (d->names) json_put(vec, d->names[i], json_counter(v[i]));
    else json_array_append_new(vec, json_counter(v[i]));
  }
  return vec;
}

/* Object at the dotted path below root, made where it does not exist. */
static json_t *json_at(json_t *root, const char *path)
{
  while (*path) {
    char part[64];
    size_t n = strcspn(path, ".");
    BUG_ON(n == 0 || n >= sizeof part);
    memcpy(part, path, n);
    part[n] = '\0';
    path += path[n] ? n + 1 : n;
    json_t *next = json_object_get(root, part);
    if (!next) json_put(root, part, next = json_object());
    BUG_ON(!json_is_object(next));
    root = next;
  }
  return root;
}

void stat_write_json(struct json_t *root, struct stat_group g)
{
  json_t *object = json_at(root, g.prefix);
  for (unsigned r = 0; r < g.n; r++)
    if (g.desc[r].kind != STAT_KIND_LAW) json_put(object, g.desc[r].name, json_row(&g.desc[r], g.data));
}

void stat_dump_json(FILE *f, const struct json_t *root)
{
  /* 15 significant digits print any value rounded to 6 decimals as it was rounded. */
  json_dumpf(root, f, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  fputc('\n', f);
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
