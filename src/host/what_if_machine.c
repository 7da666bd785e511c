#include "host/what_if_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/nearest.h"
#include "host/what_if.h"

enum { ROWS = WHAT_IF_N + 2 }; /* places; that of tail stays empty */

static uint32_t twice(uint32_t n)
{
  return (uint32_t)earlier(2 * (uint64_t)n, UINT32_MAX);
}

static void double_rate(struct machine_preset *m)
{
  for (unsigned i = 0; i < m->n_link_groups; i++) {
    struct link_params *l = &m->link[i];
    l->mbps = twice(l->mbps);
    l->back_mbps = twice(l->back_mbps);
    l->credits = twice(l->credits);
    l->reads = twice(l->reads);
  }
}

static void least_latency(struct machine_preset *m)
{
  uint64_t window = 0; /* ps */
  for (unsigned i = 0; i < m->n_gpus; i++) window = later(window, params_request_ps(&m->params[i]));
  const uint32_t least = (uint32_t)div_up(window * 5 / 4, 1000);
  for (unsigned i = 0; i < m->n_link_groups; i++)
    if (m->link[i].latency_ns > least) m->link[i].latency_ns = least;
  for (unsigned i = 0; i < m->n_switch_groups; i++) m->switches[i].latency_ns = 0;
}

static const struct machine_what_if link_row[] = {
    {"link_rate", "links of twice the rate", NULL, double_rate},
    {"link_latency", "links with the least latency of the model, switches with none", NULL, least_latency},
};
enum { LINK_ROWS = sizeof link_row / sizeof *link_row };
_Static_assert(WHAT_IF_N + LINK_ROWS == ROWS && ROWS <= 64, "a bit for each");

/* False: it is of no machine. */
static bool row_at(unsigned i, struct machine_what_if *row)
{
  if (i >= WHAT_IF_N) *row = link_row[i - WHAT_IF_N];
  else *row = (struct machine_what_if){what_ifs[i].name, what_ifs[i].text, what_ifs[i].apply, NULL};
  return i >= WHAT_IF_N || !what_ifs[i].whole_waves;
}

bool machine_what_if_named(const char *name, struct machine_what_if *row)
{
  for (unsigned i = 0; i < ROWS; i++)
    if (row_at(i, row) && strcmp(row->name, name) == 0) return true;
  return false;
}

bool machine_what_if_is_link(const char *name, size_t length)
{
  for (unsigned i = 0; i < LINK_ROWS; i++)
    if (strlen(link_row[i].name) == length && !memcmp(link_row[i].name, name, length)) return true;
  return false;
}

static bool no_such_cost(const char *name, size_t length, struct err *e)
{
  char given[64], hint[NEAREST_HINT];
  struct nearest n;
  struct machine_what_if row;
  snprintf(given, sizeof given, "%.*s", (int)earlier(length, 60), name);
  nearest_start(&n, given);
  for (unsigned i = 0; i < ROWS; i++)
    if (row_at(i, &row)) nearest_offer(&n, row.name);
  return err_set(e, "--what-if: there is no cost '%s' of a machine%s", given, nearest_hint(&n, hint));
}

/* A bit for each row that is named; 0, with e filled: no such row. */
static uint64_t rows_of(const char *name, size_t length, struct err *e)
{
  const bool all = length == 3 && !memcmp(name, "all", 3);
  struct machine_what_if row;
  uint64_t rows = 0;
  for (unsigned i = 0; i < ROWS; i++)
    if (row_at(i, &row) && (all || (strlen(row.name) == length && !memcmp(row.name, name, length))))
      rows |= (uint64_t)1 << i;
  if (!rows) no_such_cost(name, length, e);
  return rows;
}

bool machine_what_if_choose(const char *list, void (*take)(void *ctx, const struct machine_what_if *), void *ctx,
                            struct err *e)
{
  struct machine_what_if row;
  uint64_t rows = 0;
  for (const char *at = list; *at;) {
    const size_t n = strcspn(at, ",");
    const uint64_t more = rows_of(at, n, e);
    if (!more) return false;
    rows |= more;
    at += n + (at[n] == ',');
  }
  for (unsigned i = 0; i < ROWS; i++)
    if (rows >> i & 1 && row_at(i, &row)) take(ctx, &row);
  return rows || err_set(e, "--what-if: no cost named; give all, or names of 'warpstep help exec'");
}
