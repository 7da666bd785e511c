#include "stats/stat.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"

/* First counter of row d in the struct at `data`. */
static uint64_t *row(const struct stat_desc *d, void *data)
{
  return (uint64_t *)(void *)((char *)data + d->offset);
}

void stat_add(struct stat_group into, struct stat_group from)
{
  BUG_ON(into.desc != from.desc);
  for (unsigned r = 0; r < into.n; r++) {
    const struct stat_desc *d = &into.desc[r];
    uint64_t *a = row(d, into.data);
    const uint64_t *b = row(d, from.data);
    for (uint32_t i = 0; i < d->count; i++) {
      if (d->kind != STAT_KIND_MAX) a[i] += b[i];
      else if (a[i] < b[i]) a[i] = b[i];
    }
  }
}

void stat_diff(struct stat_group out, struct stat_group after, struct stat_group before)
{
  BUG_ON(out.desc != after.desc || out.desc != before.desc);
  for (unsigned r = 0; r < out.n; r++) {
    const struct stat_desc *d = &out.desc[r];
    uint64_t *o = row(d, out.data);
    const uint64_t *a = row(d, after.data), *b = row(d, before.data);
    for (uint32_t i = 0; i < d->count; i++) o[i] = d->kind == STAT_KIND_MAX ? a[i] : a[i] - b[i];
  }
}

bool stat_check_laws(struct stat_group g, struct err *e)
{
  for (unsigned r = 0; r < g.n; r++) {
    const struct stat_desc *d = &g.desc[r];
    if (d->kind != STAT_KIND_LAW) continue;
    uint64_t lhs = d->lhs(g.data), rhs = d->rhs(g.data);
    if (lhs != rhs)
      return err_set(e, "law %s.%s is broken (%s): %" PRIu64 " != %" PRIu64, g.prefix, d->name,
                     d->text, lhs, rhs);
  }
  return true;
}

bool stat_ratio(const struct stat_desc *d, const void *data, double *value)
{
  BUG_ON(d->kind != STAT_KIND_DIV);
  uint64_t num = d->lhs(data), den = d->rhs(data);
  if (den == 0) return false;
  *value = (double)num / (double)den;
  return true;
}

const struct stat_desc *stat_find(struct stat_group g, const char *name)
{
  for (unsigned r = 0; r < g.n; r++)
    if (strcmp(g.desc[r].name, name) == 0) return &g.desc[r];
  return NULL;
}
