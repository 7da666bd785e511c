#include "host/tracing.h"

#include <string.h>

bool traced_run(struct trace_export *x, struct simulator *s, struct launch *l,
                const struct module_instance *code, const struct module_kernel *kernel,
                uint64_t stream, const struct sim_options *options, struct sim_result *r,
                struct err *e)
{
  const struct func_params *p = &l->params;
  struct trace_launch t = {
    .code = code, .kernel = kernel, .stream = stream,
    .shared = p->shared_static + p->shared_dynamic, .shared_window = p->shared_window,
    .local_window = p->local_window,
  };
  struct sim_options o = *options;
  struct step_tap tap;

  memcpy(t.grid, p->grid, sizeof t.grid);
  memcpy(t.block, p->block, sizeof t.block);
  TRY(trace_export_begin(x, &t, &tap, e));
  o.timed = false;
  o.tap = &tap;
  bool ok = simulate(s, l, &o, r, e);
  return trace_export_end(x, e) && ok;
}
