#include "cli/validate_settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "validate/suite_summary.h"

/* Where the values begin, NULL when there is only one. */
static const char *values_of(const char *assignment)
{
  const char *v = strchr(assignment, '=');
  return v && v[1] != '[' && strchr(v, ',') ? v + 1 : NULL;
}

static unsigned long n_values(const char *assignment)
{
  unsigned long n = 1;
  for (const char *v = values_of(assignment); v && *v; v++) n += *v == ',';
  return n;
}

unsigned long settings_count(const char *const *set, unsigned n, unsigned long limit)
{
  unsigned long all = 1;
  for (unsigned i = 0; i < n; i++) {
    unsigned long here = n_values(set[i]);
    if (here > limit / all) return limit + 1;
    all *= here;
  }
  return all;
}

static const char *assignment_of(const char *text, unsigned long value, struct arena *a)
{
  const char *v = values_of(text);
  if (!v) return text;
  size_t key = (size_t)(v - text);
  for (; value; value--) v += strcspn(v, ",") + 1;
  int len = (int)strcspn(v, ",");
  char *one = arena_alloc(a, key + (size_t)len + 1, 1);
  snprintf(one, key + (size_t)len + 1, "%.*s%.*s", (int)key, text, len, v);
  return one;
}

void settings_pick(const char *const *set, unsigned n, unsigned long which, struct arena *a, const char **out)
{
  for (unsigned i = n; i-- > 0;) {
    unsigned long here = n_values(set[i]);
    out[i] = assignment_of(set[i], which % here, a);
    which /= here;
  }
}

static void grow(double **v, size_t room)
{
  double *more = realloc(*v, room * sizeof **v);
  NO_MEMORY_IF(!more);
  *v = more;
}

void setting_errors_add(struct setting_errors *s, const struct suite *suite)
{
  for (size_t i = 0; i < suite->n_rows; i++) {
    const struct suite_row *r = &suite->row[i];
    if (!r->ran || !r->comparable) continue;
    unsigned k = r->fitted;
    if (s->n[k] == s->room[k]) {
      s->room[k] = 2 * s->room[k] + 64;
      grow(&s->measured[k], s->room[k]);
      grow(&s->simulated[k], s->room[k]);
    }
    s->measured[k][s->n[k]] = r->measured;
    s->simulated[k][s->n[k]++] = r->simulated;
  }
}

static void put_kind(const struct setting_errors *s, unsigned k)
{
  struct summary m = summary_of(s->measured[k], s->simulated[k], s->n[k]);
  if (!m.n) {
    printf(" %4d %6s %6s %6s %6s ", 0, "-", "-", "-", "-");
    return;
  }
  printf(" %4zu %6.1f %6.1f %+6.1f ", m.n, m.mean_abs, m.p90, m.bias);
  if (isnan(m.rank)) printf("%6s ", "-");
  else printf("%6.3f ", m.rank);
}

void setting_errors_head(void)
{
  printf(" %-31s  fitted\n", "held out");
  for (unsigned k = 0; k < 2; k++) printf(" %4s %6s %6s %6s %6s ", "n", "mean %", "p90 %", "bias %", "rank");
  printf(" setting\n");
}

void setting_errors_print(const struct setting_errors *s, const char *const *set, unsigned n)
{
  put_kind(s, 0);
  put_kind(s, 1);
  for (unsigned i = 0; i < n; i++) printf(" %s", set[i]);
  printf("\n");
  fflush(stdout);
}

void setting_errors_free(struct setting_errors *s)
{
  for (unsigned k = 0; k < 2; k++) free(s->measured[k]), free(s->simulated[k]);
  *s = (struct setting_errors){0};
}
