#include "debug/debug_session.h"

#include <string.h>

#include "base/host_memory.h"
#include "debug/console.h"
#include "debug/dap.h"
#include "debug/gdb_stub.h"
#include "func/func.h"

static bool choose_face(struct debug_session *s, struct err *e)
{
  if (s->o.dap) return dap_open(s, &s->face, e);
  if (s->o.gdb) return gdb_stub_open(s, &s->face, e);
  return console_open(s, &s->face, e);
}

struct debug_session *debug_session_new(const struct debug_options *o, struct err *e)
{
  struct debug_session *s = mem_zeroed(1, sizeof *s);
  s->o = *o;
  s->stop_next = true;
  if (choose_face(s, e)) return s;
  mem_free(s);
  return NULL;
}

/* Whether a breakpoint may stop it. */
static bool may_stop(struct debug_session *s, const struct debug_launch *l)
{
  struct source_map map;
  struct err ignored;
  if (!s->points.n) return false;
  if (!source_map_open(&map, module_of(l->code), module_code(l->code), &ignored)) line_table_free(&map.lines);
  points_place(&s->points, &map, module_code(l->code));
  source_map_close(&map);
  return points_any(&s->points);
}

static void fill_result(const struct debugger *d, const struct debug_launch *l, enum debug_answer answer,
                        struct sim_result *r)
{
  static const struct positions nowhere;
  const struct debug_target *t = &d->target;
  *r = (struct sim_result){.together = 1,
                           .isa = t->params.code.isa,
                           .where = &nowhere,
                           .start_ps = l->start_ps,
                           .warp_insts = t->position,
                           .thread_insts = t->thread_insts,
                           .time_ps = t->position * FUNC_CYCLES_PER_INST * l->clock_ps};
  r->end = t->state == TARGET_FAULTED ? RUN_FAULT : answer == DEBUG_KILL ? RUN_STOPPED : RUN_DONE;
  if (r->end != RUN_FAULT) return;
  r->fault = t->fault;
  r->fault.source = NULL; /* ours, which goes now */
}

bool debug_session_run(struct debug_session *s, const struct debug_launch *l, struct sim_result *r, struct err *e)
{
  const struct target_options to = {.slice = s->o.slice, .start_clock = l->start_clock, .clock_ps = l->clock_ps};
  struct debugger *d;
  s->launches++;
  if (s->detached || (!s->stop_next && !may_stop(s, l))) return false;
  d = mem_zeroed(1, sizeof *d);
  if (!debugger_open(d, l->device, l->code, l->launch, l->kernel, &s->points, &to, e)) {
    mem_free(d);
    return false;
  }
  d->number = l->number;
  const enum debug_answer answer = s->face.talk(s->face.ctx, d);
  if (answer == DEBUG_DETACH) s->detached = true;
  while (answer != DEBUG_KILL && target_turn_now(&d->target)) target_step(&d->target);
  fill_result(d, l, answer, r);
  debugger_close(d);
  mem_free(d);
  return true;
}

int debug_session_end(struct debug_session *s, int status)
{
  if (!s) return status;
  s->face.end(s->face.ctx, status);
  if (!status && s->mistakes) status = 2;
  points_free(&s->points);
  mem_free(s);
  return status;
}
