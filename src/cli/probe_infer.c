#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/probe_windows.h"
#include "probe/infer.h"

/* Target the published values were measured on (RTX A6000); on others only the preset counts. */
enum { PUBLISHED_SM = 86 };

struct table {
  unsigned sm, same, differ;
};

/* What has no preset value is held against the published one. */
static const char *verdict(const struct infer_finding *f, const char *published)
{
  if (f->preset[0] && published[0] && f->as_preset && !f->as_published) return "same, but not as published";
  if (f->preset[0]) return f->as_preset ? "same" : "DIFFERS";
  if (published[0]) return f->as_published ? "same" : "DIFFERS";
  return "";
}

static void report(void *ctx, const struct infer_finding *f)
{
  struct table *t = ctx;
  const char *published = t->sm == PUBLISHED_SM ? f->published : "";
  const char *v = verdict(f, published);
  t->same += !strncmp(v, "same", 4);
  t->differ += !strcmp(v, "DIFFERS");
  printf("%-44s %9s %9s %9s  %s\n", f->name, f->inferred, f->preset[0] ? f->preset : "-",
         published[0] ? published : "-", v);
}

static const struct infer_test *find(const char *name)
{
  const struct infer_test *t = infer_tests;
  while (t->name && strcmp(t->name, name) != 0) t++;
  return t->name ? t : NULL;
}

static bool unknown_test(const char *name, struct err *e)
{
  char hint[NEAREST_HINT];
  struct nearest near;
  nearest_start(&near, name);
  for (const struct infer_test *t = infer_tests; t->name; t++) nearest_offer(&near, t->name);
  return err_set(e, "%s is neither a test (probe --list) nor a file of windows%s", name, nearest_hint(&near, hint));
}

static bool run_tests(struct infer *f, char *const *names, int n_names, struct err *e)
{
  printf("%-44s %9s %9s %9s\n", "from cycles alone", "inferred", "preset", "published");
  for (int i = 0; i < n_names; i++)
    if (!infer_run(f, find(names[i]), e)) return false;
  for (const struct infer_test *t = infer_tests; !n_names && t->name; t++)
    if (!t->long_one && !infer_run(f, t, e)) return false;
  return true;
}

void probe_list(void)
{
  for (const struct infer_test *t = infer_tests; t->name; t++) printf("%-12s %s\n", t->name, t->what);
}

bool probe_infer(const struct probe_options *o, char *const *names, int n_names, bool *differ,
                 struct err *e)
{
  struct probe_model m = {0};
  struct table t = {0};
  for (int i = 0; i < n_names; i++)
    if (!find(names[i]))
      return unknown_test(names[i], e);
  bool ok = probe_model_open(&m, o, o->gpu ? o->gpu : "rtx-a6000", e);
  t.sm = m.preset.params.arch_sm;
  struct infer f = {.bench = m.bench, .params = &m.preset.params, .emit = o->emit, .from = o->from,
                    .report = report, .ctx = &t};
  if (ok) printf(o->from ? "programs ran on silicon; preset: %s\n\n" : "model: %s\n\n", m.preset.params.name);
  ok = ok && run_tests(&f, names, n_names, e);
  if (ok) printf("\n%u same, %u differ\n", t.same, t.differ);
  *differ = t.differ > 0;
  probe_model_close(&m);
  return ok;
}
