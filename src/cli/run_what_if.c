#include "cli/run_what_if.h"

#include <stdlib.h>

#include "base/bug.h"
#include "host/case.h"

/* The launch on a device of its own: memory is as it was before the run. */
static bool with_case(struct run_what_if *w, const struct what_if *what, struct params *p, struct case_run *cr,
                      struct what_if_result *out, struct err *e)
{
  struct simulator *s = simulator_new(p);
  struct sim_result r = {.end = RUN_DONE};
  bool ok = true;
  NO_MEMORY_IF(!s);
  for (unsigned i = 0; ok && i < w->opt->warm_up && r.end == RUN_DONE; i++)
    ok = simulate(s, case_launch(cr), w->sim, &r, e);
  if (ok) ok = what_if_run(what, s, p, case_launch(cr), w->sim, w->base, out, e);
  simulator_free(s);
  return ok;
}

static bool run_one(struct run_what_if *w, const struct what_if *what, struct what_if_result *out, struct err *e)
{
  struct params p = *w->params;
  struct device_config config;
  what->apply(&p);
  TRY(params_check(&p, e));
  config = device_config_for(&p, true);
  config.presets = w->opt->presets;
  struct case_run *cr = case_setup(w->lc, &config, e);
  if (!cr) return false;
  bool ok = true;
  *out = (struct what_if_result){.what = what};
  if (!what_if_idle(what, &p, case_launch(cr), w->base)) ok = with_case(w, what, &p, cr, out, e);
  case_free(cr);
  return ok;
}

/* Fewer cycles first; unknown ones behind, then what was not seen; equal ones in the order of the table. */
static int by_gain(const void *a, const void *b)
{
  const struct what_if_result *x = a, *y = b;
  if (x->seen != y->seen) return x->seen ? -1 : 1;
  if (!x->cycles != !y->cycles) return x->cycles ? -1 : 1;
  if (x->cycles != y->cycles) return x->cycles < y->cycles ? -1 : 1;
  return x->what < y->what ? -1 : 1;
}

bool run_what_if(struct run_what_if *w, struct err *e)
{
  w->n = 0;
  for (unsigned i = 0; i < WHAT_IF_N; i++) {
    if (!(w->opt->what_if >> i & 1)) continue;
    if (!run_one(w, &what_ifs[i], &w->row[w->n], e)) return false;
    w->n++;
  }
  qsort(w->row, w->n, sizeof w->row[0], by_gain);
  return true;
}
