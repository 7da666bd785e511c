#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/probe_windows.h"
#include "probe/infer.h"

/* Target the published values were measured on (RTX A6000); on others only the preset counts. */
enum { PUBLISHED_SM = 86 };

struct table {
  unsigned sm, same, differ;
};

static void put_value(int64_t v)
{
  if (v == INFER_UNKNOWN) printf(" %9s", "-");
  else printf(" %9" PRId64, v);
}

/* A number without an expected one is held against the published one. */
static void report(void *ctx, const char *name, int64_t inferred, int64_t expected, int64_t published)
{
  struct table *t = ctx;
  if (t->sm != PUBLISHED_SM) published = INFER_UNKNOWN;
  int64_t want = expected == INFER_UNKNOWN ? published : expected;
  bool known = want != INFER_UNKNOWN, same = known && inferred == want;
  t->same += same;
  t->differ += known && !same;
  printf("%-34s", name);
  put_value(inferred);
  put_value(expected);
  put_value(published);
  printf("  %s\n", !known ? "" : same ? "same" : "DIFFERS");
}

static bool wanted(const char *name, char *const *names, int n)
{
  for (int i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return true;
  return n == 0;
}

bool probe_infer(const struct probe_options *o, char *const *names, int n_names, bool *differ,
                 struct err *e)
{
  static const struct infer_test *const themes[] = {infer_memory, infer_issue};
  struct probe_model m = {0};
  struct table t = {0};
  int run = 0;
  bool ok = probe_model_open(&m, o, o->gpu ? o->gpu : "rtx-a6000", e);
  t.sm = m.preset.params.arch_sm;
  struct infer f = {m.bench, &m.preset.params, report, &t};
  if (ok) printf("model: %s\n\n%-34s %9s %9s %9s\n", m.preset.params.name, "from cycles alone", "inferred",
                 "preset", "published");
  for (unsigned i = 0; i < sizeof themes / sizeof themes[0]; i++)
    for (const struct infer_test *test = themes[i]; ok && test->name; test++)
      if (wanted(test->name, names, n_names)) ok = test->run(&f, e), run++;
  if (ok && run < n_names) ok = err_set(e, "no such test; there are queue, arbiter, latency, conflicts, "
                                           "intervals, stalls, banks and barrier");
  if (ok) printf("\n%u same, %u differ\n", t.same, t.differ);
  *differ = t.differ > 0;
  probe_model_close(&m);
  return ok;
}
