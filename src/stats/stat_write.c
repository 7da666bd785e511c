/* JSON and Markdown from the tables of stat.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "stats/stat.h"

static const uint64_t *counters(const struct stat_desc *d, const void *data)
{
  return (const uint64_t *)(const void *)((const char *)data + d->offset);
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
