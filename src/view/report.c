/* Questions all reports ask of a run; see report.h. */
#include "view/report.h"

#include <string.h>

#include "view/columns.h"

static void explain(struct report *r, const struct sim_result *s)
{
  const struct params *p = &r->preset->params;
  r->bound = limiter_of(p, s, r->launch);
  speed_of(p, s, r->launch, r->speed);
  for (enum work_kind k = 0; k < WORK__N; k++) r->roofline[k] = roofline_of(p, s, k);
  room_of(p, r->launch, &r->room);
}

void report_result(struct report *r, const struct sim_result *s)
{
  r->end = s->end;
  r->where = s->where;
  r->timed = s->timed;
  r->cycles = s->cycles;
  r->time_ps = s->timed ? s->time_ps : 0;
  r->ctas_per_sm = s->ctas_per_sm;
  r->limiter = s->limiter;
  r->warp_insts = s->warp_insts;
  r->thread_insts = s->thread_insts;
  r->isa = s->isa;
  r->mix = s->mix;
  r->work = s->work;
  r->group = s->group;
  r->n_groups = s->n_groups;
  r->hazards = s->hazards;
  r->profile = s->profile;
  r->fault = s->end == RUN_FAULT ? &s->fault : NULL;
  if (s->timed && s->end == RUN_DONE && r->preset) explain(r, s);
}

void report_stop_text(const struct report *r, char *buf, size_t size)
{
  char n[28];

  if (r->end == RUN_CYCLE_LIMIT)
    snprintf(buf, size, "the limit of %s cycles was reached", with_commas(r->max_cycles, n));
  else if (r->end == RUN_INST_LIMIT)
    snprintf(buf, size, "the limit of %s warp instructions was reached",
             with_commas(r->max_insts, n));
  else
    snprintf(buf, size, "the run was interrupted");
}

bool report_matched(const struct report *r)
{
  for (unsigned i = 0; i < r->n_checks; i++)
    if (!r->check[i].ok) return false;
  return true;
}

const char *fault_kind_name(unsigned kind)
{
  static const char *const names[] = {
    [FAULT_NONE] = "no fault",
    [FAULT_ILLEGAL_ADDRESS] = "illegal address",
    [FAULT_MISALIGNED] = "misaligned address",
    [FAULT_SHARED_RANGE] = "address outside shared memory",
    [FAULT_LOCAL_RANGE] = "address outside local memory",
    [FAULT_ILLEGAL_INST] = "illegal instruction",
    [FAULT_ILLEGAL_PC] = "illegal program counter",
    [FAULT_TRAP] = "trap",
    [FAULT_ASSERT] = "assertion",
    [FAULT_DEADLOCK] = "deadlock",
    [FAULT_UNSUPPORTED] = "unsupported feature",
  };

  return kind < sizeof names / sizeof names[0] && names[kind] ? names[kind] : "unknown fault";
}

void report_inst_text(const struct report *r, uint64_t pc, char *buf, size_t size)
{
  const struct code_view *code = &r->launch->params.code;
  const struct inst *in = code_at(code, pc);

  buf[0] = '\0';
  if (in) code_print(code, code_number(code, in), in, buf, size);
}

struct report_stat report_find(const struct report *r, const char *name)
{
  for (unsigned i = 0; i < r->n_groups; i++) {
    const struct stat_desc *d = stat_find(r->group[i], name);
    if (d) return (struct report_stat){d, r->group[i].data};
  }
  return (struct report_stat){0};
}

bool report_has(const struct report *r, const char *name)
{
  return report_find(r, name).desc != NULL;
}

uint64_t report_at(struct report_stat s, unsigned i)
{
  uint64_t v;

  if (!s.desc || i >= s.desc->count) return 0;
  memcpy(&v, (const char *)s.data + s.desc->offset + i * sizeof v, sizeof v);
  return v;
}

uint64_t report_u64(const struct report *r, const char *name)
{
  struct report_stat s = report_find(r, name);
  uint64_t sum = 0;

  for (unsigned i = 0; s.desc && i < s.desc->count; i++) sum += report_at(s, i);
  return sum;
}
