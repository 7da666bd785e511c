#include "cli/validate_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "validate/suite_summary.h"

enum { ID_COLUMN = 44 };

static void print_row(const struct suite *s, const struct suite_row *r)
{
  if (!r->ran) {
    printf("  %-*.*s %12.3f %12s  %s\n", ID_COLUMN, ID_COLUMN, r->id, r->measured, "-", r->why);
    return;
  }
  printf("  %-*.*s %12.3f %12.3f %+8.1f %%  %s%s%s\n", ID_COLUMN, ID_COLUMN, r->id, r->measured, r->simulated,
         suite_error(r), r->fitted ? "fitted" : "held out", r->comparable ? "" : ", other code",
         suite_worse(s, r) ? ", WORSE than recorded" : "");
}

static void print_rows(const struct suite *s, const bool *wanted)
{
  printf("  %-*s %12s %12s %10s\n", ID_COLUMN, "kernel", "measured", "simulated", "error");
  for (size_t i = 0; i < s->n_rows; i++)
    if (wanted[i]) print_row(s, &s->row[i]);
}

/* Which rows a line of the statistics sums up; NULL and COUNTER__N: all. */
struct row_choice {
  const char *group;
  int fitted;               /* 1, 0, -1: both */
  bool comparable;
};

static bool chosen(const struct row_choice *c, const struct suite_row *r)
{
  return r->ran && r->comparable == c->comparable && (c->fitted < 0 || r->fitted == (bool)c->fitted) &&
         (!c->group || !strcmp(c->group, r->group));
}

static double *numbers(const struct suite *s)
{
  double *v = calloc(s->n_rows + 1, sizeof *v);
  NO_MEMORY_IF(!v);
  return v;
}

static void print_summary(const char *name, const struct summary *m)
{
  printf("  %-28s %4zu %7.1f %7.1f %7.1f %7.1f %+7.1f", name, m->n, m->mean_abs, m->p50, m->p90, m->worst,
         m->bias);
  if (isnan(m->r)) printf(" %7s %7s %7s\n", "-", "-", "-");
  else printf(" %7.3f %7.3f %7.3f\n", m->r, m->rank, m->slope);
}

/* Times. Nothing is printed for a choice without rows. */
static void print_choice(const struct suite *s, const char *name, const struct row_choice *c)
{
  double *x = numbers(s), *y = numbers(s);
  size_t n = 0;
  for (size_t i = 0; i < s->n_rows; i++)
    if (chosen(c, &s->row[i])) x[n] = s->row[i].measured, y[n++] = s->row[i].simulated;
  struct summary m = summary_of(x, y, n);
  if (n) print_summary(name, &m);
  free(x);
  free(y);
}

static void print_splits(const struct suite *s, const char *group)
{
  static const struct { const char *name; int fitted; bool comparable; } kinds[] = {
    {"held out", 0, true}, {"fitted", 1, true}, {"other code", -1, false}};
  for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    char name[64];
    struct row_choice c = {group, kinds[k].fitted, kinds[k].comparable};
    snprintf(name, sizeof name, "%.40s, %s", group ? group : "all", kinds[k].name);
    print_choice(s, name, &c);
  }
}

static bool first_of(const struct suite *s, size_t i, bool series)
{
  for (size_t j = 0; j < i; j++)
    if (!strcmp(series ? s->row[j].series : s->row[j].group, series ? s->row[i].series : s->row[i].group))
      return false;
  return true;
}

/* A counter of all comparable rows that have it measured above zero. */
static void print_counter(const struct suite *s, enum suite_counter k)
{
  double *x = numbers(s), *y = numbers(s);
  size_t n = 0;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct suite_row *r = &s->row[i];
    if (r->ran && r->comparable && r->counter[k] > 0 && r->got[k] >= 0) x[n] = r->counter[k], y[n++] = r->got[k];
  }
  struct summary m = summary_of(x, y, n);
  m.slope = NAN; /* a simulated zero has no logarithm */
  if (n) print_summary(suite_counter_name(k), &m);
  free(x);
  free(y);
}

/* Slope of log time over log size, measured and simulated. */
static void print_series(const struct suite *s, const char *series)
{
  double *size = numbers(s), *x = numbers(s), *y = numbers(s);
  size_t n = 0;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct suite_row *r = &s->row[i];
    if (!r->ran || !(r->size > 0) || strcmp(r->series, series) != 0) continue;
    size[n] = r->size, x[n] = r->measured, y[n++] = r->simulated;
  }
  double measured = summary_log_slope(size, x, n), simulated = summary_log_slope(size, y, n);
  if (!isnan(measured))
    printf("  %-28s %4zu sizes, slope measured %6.3f, simulated %6.3f\n", series, n, measured, simulated);
  free(size);
  free(x);
  free(y);
}

void validate_print(const struct suite *s, const bool *wanted, bool rows)
{
  printf("%s on %s; %s\n", s->title, s->gpu, s->unit);
  if (rows) print_rows(s, wanted);
  printf("  %-28s %4s %7s %7s %7s %7s %7s %7s %7s %7s\n", "error, %", "n", "mean", "p50", "p90", "worst",
         "bias", "r", "rank", "slope");
  for (size_t i = 0; i < s->n_rows; i++)
    if (first_of(s, i, false)) print_splits(s, s->row[i].group);
  print_splits(s, NULL);
  for (enum suite_counter k = 0; k < COUNTER__N; k++) print_counter(s, k);
  for (size_t i = 0; i < s->n_rows; i++)
    if (*s->row[i].series && first_of(s, i, true)) print_series(s, s->row[i].series);
}

/* Quoted when it must be. */
static void put_field(FILE *f, const char *text)
{
  if (!strpbrk(text, ",\"")) {
    fputs(text, f);
    return;
  }
  fputc('"', f);
  for (; *text; text++) {
    if (*text == '"') fputc('"', f);
    fputc(*text, f);
  }
  fputc('"', f);
}

static void put_number(FILE *f, double v)
{
  if (isnan(v)) fputc(',', f);
  else fprintf(f, ",%.10g", v);
}

void validate_write_csv(FILE *f, const struct suite *s, const bool *wanted)
{
  fprintf(f, "id,group,split,state,measured,simulated,error_pct");
  for (enum suite_counter k = 0; k < COUNTER__N; k++)
    fprintf(f, ",%s_measured,%s_simulated", suite_counter_name(k), suite_counter_name(k));
  fputc('\n', f);
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct suite_row *r = &s->row[i];
    if (!wanted[i]) continue;
    put_field(f, r->id);
    fputc(',', f);
    put_field(f, r->group);
    fprintf(f, ",%s,", r->fitted ? "fitted" : "held-out");
    put_field(f, !r->ran ? r->why : r->comparable ? "comparable" : "other code");
    put_number(f, r->measured);
    put_number(f, r->ran ? r->simulated : NAN);
    put_number(f, r->ran ? suite_error(r) : NAN);
    for (enum suite_counter k = 0; k < COUNTER__N; k++) {
      put_number(f, r->counter[k]);
      put_number(f, r->ran ? r->got[k] : NAN);
    }
    fputc('\n', f);
  }
}

unsigned validate_count_worse(const struct suite *s)
{
  unsigned worse = 0;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct suite_row *r = &s->row[i];
    if (!suite_worse(s, r)) continue;
    worse++;
    printf("worse: %s: %+.1f %%, recorded %+.1f %%\n", r->id, suite_error(r), r->recorded);
  }
  return worse;
}
