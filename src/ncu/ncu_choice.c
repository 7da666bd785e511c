#include "ncu/ncu_choice.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/nearest.h"

void ncu_choice_add(struct ncu_choice *c, const char *name)
{
  for (size_t i = 0; i < c->n; i++)
    if (!strcmp(c->metric[i].name, name)) return;
  if (c->n == c->cap) {
    c->cap = c->cap ? 2 * c->cap : 16;
    NO_MEMORY_IF(!(c->metric = realloc(c->metric, c->cap * sizeof *c->metric)));
  }
  ncu_metric_parse(name, &c->metric[c->n++]);
}

bool ncu_choice_wants_code(const struct ncu_choice *c)
{
  for (unsigned i = 0; i < ncu_n_sections; i++)
    if (c->section[i] && ncu_sections[i].code) return true;
  return false;
}

static bool of_schedulers(const struct ncu_metric *m)
{
  if (m->row < 0) return false;
  const struct ncu_metric_row *r = ncu_metric_row((unsigned)m->row);
  return (r->domain == NCU_SMSP && (m->roll == NCU_MIN || m->roll == NCU_MAX)) || strstr(r->name, "_not_issued");
}

bool ncu_choice_wants_schedulers(const struct ncu_choice *c)
{
  for (size_t i = 0; i < c->n; i++)
    if (of_schedulers(&c->metric[i])) return true;
  return false;
}

void ncu_choice_free(struct ncu_choice *c)
{
  free(c->metric);
  *c = (struct ncu_choice){0};
}

/* --- sets and sections -------------------------------------------------------------------------- */

bool ncu_choice_set(struct ncu_choice *c, const char *set)
{
  const unsigned bit = ncu_set_called(set);
  for (unsigned i = 0; i < ncu_n_sections; i++)
    if (ncu_sections[i].sets & bit) c->section[i] = true;
  return bit || !strcmp(set, "none");
}

static bool compile(regex_t *re, const char *option, const char *text, struct err *e)
{
  char why[120];
  const int r = regcomp(re, text, REG_EXTENDED | REG_NOSUB);
  if (r == 0) return true;
  regerror(r, re, why, sizeof why);
  return err_set(e, "%s regex:%.200s: not a regular expression: %s", option, text, why);
}

static bool no_section(const char *name, struct err *e)
{
  char hint[NEAREST_HINT];
  struct nearest near;
  nearest_start(&near, name);
  for (unsigned i = 0; i < ncu_n_sections; i++) nearest_offer(&near, ncu_sections[i].id);
  return err_set(e, "--section %.200s: no such section; --list-sections lists them%s", name, nearest_hint(&near, hint));
}

bool ncu_choice_section(struct ncu_choice *c, const char *name, struct err *e)
{
  const bool by_regex = !strncmp(name, "regex:", 6);
  regex_t re;
  bool found = false;
  if (by_regex && !compile(&re, "--section", name + 6, e)) return false;
  for (unsigned i = 0; i < ncu_n_sections; i++) {
    const char *id = ncu_sections[i].id;
    if (by_regex ? regexec(&re, id, 0, NULL, 0) != 0 : strcmp(id, name) != 0) continue;
    c->section[i] = found = true;
  }
  if (by_regex) regfree(&re);
  return found || no_section(name, e);
}

/* --- metrics ------------------------------------------------------------------------------------ */

/* All names of a row that need no division: what --metrics ROW gives. */
static void each_name(const struct ncu_metric_row *row, void (*see)(void *ctx, const char *name), void *ctx)
{
  static const char *const counters[] = {".avg", ".max", ".min", ".sum"};
  static const char *const shares[] = {".avg.pct_of_peak_sustained_active", ".avg.pct_of_peak_sustained_elapsed"};
  char name[NCU_NAME];
  if (row->kind == NCU_PLAIN) {
    see(ctx, row->name);
    return;
  }
  const bool counter = row->kind == NCU_COUNTER;
  const size_t n = counter ? sizeof counters / sizeof *counters : sizeof shares / sizeof *shares;
  for (size_t i = 0; i < n; i++) {
    snprintf(name, sizeof name, "%s%s", row->name, counter ? counters[i] : shares[i]);
    see(ctx, name);
  }
}

static void take(void *choice, const char *name)
{
  ncu_choice_add(choice, name);
}

struct matching {
  struct ncu_choice *choice;
  const regex_t *re;
};

static void take_matching(void *ctx, const char *name)
{
  struct matching *m = ctx;
  if (regexec(m->re, name, 0, NULL, 0) == 0) ncu_choice_add(m->choice, name);
}

static bool add_regex(struct ncu_choice *c, const char *text, struct err *e)
{
  regex_t re;
  TRY(compile(&re, "--metrics", text, e));
  for (unsigned i = 0; i < NCU_N_ROWS; i++) each_name(ncu_metric_row(i), take_matching, &(struct matching){c, &re});
  regfree(&re);
  return true;
}

/* The parts of a throughput, with what stands behind its name. */
static void add_breakdown(struct ncu_choice *c, const char *name)
{
  struct ncu_metric m;
  char part[NCU_NAME];
  const struct ncu_metric_row *row = ncu_metric_parse(name, &m) ? ncu_metric_row((unsigned)m.row) : NULL;
  if (!row || row->kind != NCU_HIGHEST) {
    ncu_choice_add(c, name);
    return;
  }
  for (const char *p = row->parts; *p; p += strspn(p, " ")) {
    const int n = (int)strcspn(p, " ");
    snprintf(part, sizeof part, "%.*s%s", n, p, name + strlen(row->name));
    ncu_choice_add(c, part);
    p += n;
  }
}

static void add_named(struct ncu_choice *c, const char *name)
{
  for (unsigned i = 0; i < NCU_N_ROWS; i++)
    if (!strcmp(ncu_metric_row(i)->name, name)) {
      each_name(ncu_metric_row(i), take, c);
      return;
    }
  ncu_choice_add(c, name);
}

bool ncu_choice_metrics(struct ncu_choice *c, const char *list, struct err *e)
{
  char *copy = strdup(list), *save = NULL;
  bool ok = true;
  NO_MEMORY_IF(!copy);
  for (char *name = strtok_r(copy, ", \t", &save); name && ok; name = strtok_r(NULL, ", \t", &save)) {
    if (!strncmp(name, "regex:", 6))
      ok = add_regex(c, name + 6, e);
    else if (!strncmp(name, "breakdown:", 10))
      add_breakdown(c, name + 10);
    else
      add_named(c, name);
  }
  free(copy);
  return ok;
}

/* --- together ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
  return strcmp(((const struct ncu_metric *)a)->name, ((const struct ncu_metric *)b)->name);
}

struct ncu_metric *ncu_choice_all(const struct ncu_choice *c, unsigned targets, size_t *n)
{
  struct ncu_choice all = {0};
  for (unsigned i = 0; i < ncu_n_sections; i++)
    for (unsigned k = 0; c->section[i] && k < ncu_sections[i].n; k++)
      if (ncu_metric_on(ncu_sections[i].row[k].metric, targets)) ncu_choice_add(&all, ncu_sections[i].row[k].metric);
  for (size_t i = 0; i < c->n; i++) ncu_choice_add(&all, c->metric[i].name);
  if (all.n) qsort(all.metric, all.n, sizeof *all.metric, by_name);
  *n = all.n;
  return all.metric;
}
