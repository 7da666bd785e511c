#include "cuda/core/debugged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/core/shim.h"
#include "debug/debug_session.h"

bool debugged_start(const struct exec_options *o, struct debug_session **out, struct err *e)
{
  const struct debug_options d = {.gdb = o->debug_gdb,
                                  .script = o->debug_commands,
                                  .batch = o->debug_batch,
                                  .slice = o->debug_turn,
                                  .dap = o->debug && strcmp(o->debug, "dap") == 0};
  *out = o->debug ? debug_session_new(&d, e) : NULL;
  return !o->debug || *out;
}

bool debugged_run(struct shim *s, const struct launch_request *q, struct launch *l, uint64_t start_ps,
                  struct sim_result *r)
{
  struct err e = {""};
  if (!s->debug) return false;
  struct board *b = q->function->module->board;
  const struct params *p = &b->preset.params;
  const uint32_t clock = (uint32_t)params_clock_ps(p);
  const struct debug_launch d = {.device = &b->device,
                                 .code = q->function->module->code.instance,
                                 .launch = l,
                                 .kernel = q->function->kernel,
                                 .number = q->number,
                                 .start_ps = start_ps,
                                 .start_clock = start_ps / clock + p->launch_latency_cycles,
                                 .clock_ps = clock};
  fflush(stdout);
  const bool ran = debug_session_run(s->debug, &d, r, &e);
  if (!ran && e.msg[0]) shim_say("%s; it runs without the debugger", e.msg);
  if (!ran || r->end != RUN_STOPPED) return ran;
  debugged_finish(s);
  fflush(NULL);
  _exit(0); /* the user has ended the program */
}

void debugged_finish(struct shim *s)
{
  struct debug_session *d = s->debug;
  s->debug = NULL;
  if (!d) return;
  fflush(stdout);
  const int status = debug_session_end(d, s->status);
  if (status != s->status) s->defects = true, s->options.error_exitcode = (uint64_t)status;
}
