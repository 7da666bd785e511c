/* JSON document of a run; see json.h. */
#include "view/json.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "view/counters.h"
#include "view/listing.h"

static json_t *integer(uint64_t v)
{
  return json_integer((json_int_t)v);
}

/* json_string refuses what is not UTF-8. */
json_t *view_json_text(const char *s)
{
  char safe[4096];
  json_t *j = s ? json_string(s) : NULL;
  if (s && !j) j = json_string(text_safe(s, safe, sizeof safe));
  return j ? j : json_null();
}

static json_t *text(const char *s)
{
  return view_json_text(s);
}

static json_t *dim3(const uint32_t d[3])
{
  return json_pack("[I, I, I]", (json_int_t)d[0], (json_int_t)d[1], (json_int_t)d[2]);
}

/* One name, or a list of those that were linked. */
static json_t *files(const struct launch_case *lc)
{
  if (lc->n_cubins == 1) return text(lc->cubin[0]);
  json_t *list = json_array();
  for (unsigned i = 0; i < lc->n_cubins; i++) json_array_append_new(list, text(lc->cubin[i]));
  return list;
}

json_t *view_json_launch(const struct launch_case *lc, const struct launch *l,
                         const struct module_kernel *k)
{
  json_t *j = json_object();

  if (lc) json_object_set_new(j, "file", text(lc->origin));
  if (lc) json_object_set_new(j, "cubin", files(lc));
  json_object_set_new(j, "target_sm", integer(l->params.sm));
  json_object_set_new(j, "grid", dim3(l->params.grid));
  json_object_set_new(j, "block", dim3(l->params.block));
  json_object_set_new(j, "registers_per_thread", integer(l->params.regs_per_thread));
  json_object_set_new(j, "shared_static_bytes", integer(l->params.shared_static));
  json_object_set_new(j, "shared_dynamic_bytes", integer(l->params.shared_dynamic));
  json_object_set_new(j, "local_bytes_per_thread", integer(l->params.local_bytes));
  json_object_set_new(j, "parameter_bytes", integer(k->param_bytes));
  return j;
}

json_t *view_json_checks(const struct case_result *list, unsigned n)
{
  json_t *all = json_array();

  for (unsigned i = 0; i < n; i++) {
    json_t *j = json_object();
    json_object_set_new(j, "name", text(list[i].name));
    json_object_set_new(j, "ok", json_boolean(list[i].ok));
    if (list[i].values.count) {
      json_object_set_new(j, "count", integer(list[i].values.count));
      json_object_set_new(j, "mismatches", integer(list[i].values.mismatches));
    }
    json_object_set_new(j, "text", text(list[i].text));
    json_array_append_new(all, j);
  }
  return all;
}

static json_t *gpu_json(const struct report *r)
{
  json_t *j = json_object(), *params;
  char key[128], value[256];

  json_object_set_new(j, "preset", text(r->gpu));
  if (!r->preset) return j;
  params = json_object();
  for (unsigned i = 0; i < PARAM_N_KEYS; i++) {
    struct param_key k = param_key_at(i);
    param_key_name(k, key, sizeof key);
    param_print(&r->preset->params, k, value, sizeof value);
    json_t *p = json_object();
    json_object_set_new(p, "value", text(value));
    json_object_set_new(p, "source", text(r->preset->origin[i].source));
    json_object_set_new(params, key, p);
  }
  json_object_set_new(j, "name", text(r->preset->params.name));
  json_object_set_new(j, "parameters", params);
  return j;
}

static json_t *fault_json(const struct report *r)
{
  const struct fault *f = r->fault;
  char where[256], inst[256], addr[32];
  json_t *j = json_object();

  module_where(r->module, f->pc, where, sizeof where);
  report_inst_text(r, f->pc, inst, sizeof inst);
  snprintf(addr, sizeof addr, "0x%" PRIx64, f->addr);
  json_object_set_new(j, "kind", text(fault_kind_name(f->kind)));
  json_object_set_new(j, "where", text(where));
  json_object_set_new(j, "instruction", text(inst));
  json_object_set_new(j, "address", text(addr));
  json_object_set_new(j, "cta", dim3(f->cta));
  json_object_set_new(j, "thread", dim3(f->thread));
  json_object_set_new(j, "text", text(f->text));
  return j;
}

static json_t *where_json(const struct report *r)
{
  json_t *all = json_array();
  char where[256], inst[256];

  for (unsigned i = 0; r->where && i < r->where->n; i++) {
    const struct position *p = &r->where->row[i];
    json_t *j = json_object();
    module_where(r->module, p->pc, where, sizeof where);
    report_inst_text(r, p->pc, inst, sizeof inst);
    json_object_set_new(j, "where", text(where));
    json_object_set_new(j, "instruction", text(inst));
    json_object_set_new(j, "state", text(path_wait_name(p->wait)));
    json_object_set_new(j, "warps", integer(p->warps));
    json_object_set_new(j, "lanes", integer(p->lanes));
    json_array_append_new(all, j);
  }
  return all;
}

static json_t *stopped_json(const struct report *r)
{
  static const char *const by[] = {
    [RUN_CYCLE_LIMIT] = "max_cycles", [RUN_INST_LIMIT] = "max_instructions",
    [RUN_STOPPED] = "interrupt"};
  json_t *j = json_object();
  char why[128];

  report_stop_text(r, why, sizeof why);
  json_object_set_new(j, "by", text(by[r->end]));
  json_object_set_new(j, "text", text(why));
  json_object_set_new(j, "warps", where_json(r));
  return j;
}

static json_t *result_json(const struct report *r)
{
  json_t *j = json_object();
  const char *status = r->fault ? "fault" : r->end != RUN_DONE ? "stopped" : !r->checked ? "unchecked"
                                        : report_matched(r) ? "ok" : "mismatch";

  json_object_set_new(j, "status", text(status));
  if (r->checked) json_object_set_new(j, "checks", view_json_checks(r->check, r->n_checks));
  if (r->fault) json_object_set_new(j, "fault", fault_json(r));
  else if (r->end != RUN_DONE) json_object_set_new(j, "stopped", stopped_json(r));
  return j;
}

static json_t *mix_json(const struct report *r)
{
  json_t *j = json_object();

  for (unsigned i = 0; i < r->isa->n_mnemonics(); i++)
    if (r->mix[i]) json_object_set_new(j, r->isa->mnemonic(i), integer(r->mix[i]));
  return j;
}

static json_t *work_json(const struct report *r)
{
  json_t *j = json_object();

  for (enum work_kind k = 0; k < WORK__N; k++)
    json_object_set_new(j, work_kind_name(k), integer(r->work.ops[k]));
  return j;
}

static json_t *stats_json(const struct report *r)
{
  json_t *j = json_object();

  if (r->timed) json_object_set_new(j, "occupancy_limiter", text(r->limiter));
  json_object_set_new(j, "warp_insts", integer(r->warp_insts));
  json_object_set_new(j, "thread_insts", integer(r->thread_insts));
  if (r->mix) json_object_set_new(j, "mix", mix_json(r));
  json_object_set_new(j, "work", work_json(r));
  for (unsigned i = 0; i < r->n_groups; i++) stat_write_json(j, r->group[i]);
  return j;
}

static json_t *counters_json(const struct report *r)
{
  json_t *j = json_object();
  double value;

  for (unsigned i = 0; i < counter_n_descs; i++) {
    const struct counter_desc *d = &counter_descs[i];
    bool known = counter_value(i, r->group, r->n_groups, &value);
    json_object_set_new(j, d->name, !known ? json_null() : d->ratio ? json_real(value)
                                                                    : integer((uint64_t)value));
  }
  return j;
}

static json_t *host_json(const struct report *r)
{
  double rate = r->host.seconds > 0 ? (double)r->warp_insts / r->host.seconds : 0;

  return json_pack("{s:f, s:f, s:I}", "seconds", r->host.seconds, "warp_insts_per_second",
                   round(rate), "threads", (json_int_t)r->host.threads);
}

static json_t *known(double v)
{
  return isnan(v) || isinf(v) ? json_null() : json_real(v);
}

static json_t *limiter_json(const struct report *r)
{
  json_t *j = json_object();
  json_object_set_new(j, "id", text(limiter_key(r->bound.id)));
  json_object_set_new(j, "name", text(limiter_name(r->bound.id)));
  json_object_set_new(j, "share", known(r->bound.share));
  json_object_set_new(j, "evidence", text(r->bound.evidence));
  json_object_set_new(j, "costs", text(limiter_costs(r->bound.id)));
  return j;
}

static json_t *speed_json(const struct report *r)
{
  json_t *all = json_object();
  for (enum speed_unit u = 0; u < SPEED__N; u++) {
    const struct speed *s = &r->speed[u];
    json_t *j = json_object();
    json_object_set_new(j, "amount", known(s->amount));
    json_object_set_new(j, "unit", text(speed_amount_unit(u)));
    json_object_set_new(j, "peak_per_cycle", known(s->peak));
    json_object_set_new(j, "elapsed", known(s->elapsed));
    json_object_set_new(j, "active", known(s->active));
    json_object_set_new(all, speed_key(u), j);
  }
  return all;
}

static json_t *roofline_json(const struct report *r)
{
  json_t *all = json_object();
  for (enum work_kind k = 0; k < WORK__N; k++) {
    const struct roofline *l = &r->roofline[k];
    if (k == WORK_INTEGER) continue; /* no roof of its own */
    json_t *j = json_object();
    json_object_set_new(j, "per_second", known(l->flops));
    json_object_set_new(j, "peak_per_second", known(l->flops_peak));
    json_object_set_new(j, "dram_bytes_per_second", known(l->bytes));
    json_object_set_new(j, "dram_peak_per_second", known(l->bytes_peak));
    json_object_set_new(j, "per_byte", known(l->intensity));
    json_object_set_new(j, "ridge_per_byte", known(l->ridge));
    json_object_set_new(all, work_kind_name(k), j);
  }
  return all;
}

/* CTAs that less of one thing would give; null: none more. */
static json_t *step_json(struct room_step s, const char *unit)
{
  json_t *j = json_object();
  json_object_set_new(j, "ctas", s.ctas ? integer(s.ctas) : json_null());
  json_object_set_new(j, unit, s.ctas ? integer(s.value) : json_null());
  return j;
}

static json_t *room_json(const struct report *r)
{
  const struct room_limits *is = &r->room.is;
  json_t *j = json_object(), *limits = json_object();
  json_object_set_new(j, "ctas", integer(is->ctas));
  json_object_set_new(j, "warps", integer((uint64_t)is->ctas * is->warps_of_cta));
  json_object_set_new(j, "max_warps", integer(is->max_warps));
  json_object_set_new(limits, "slots", integer(is->slots));
  json_object_set_new(limits, "warps", integer(is->warps));
  json_object_set_new(limits, "registers", integer(is->registers));
  json_object_set_new(limits, "shared", is->shared == UINT_MAX ? json_null() : integer(is->shared));
  json_object_set_new(j, "limits", limits);
  json_object_set_new(j, "fewer_registers", step_json(r->room.registers, "registers"));
  json_object_set_new(j, "less_shared", step_json(r->room.shared, "bytes"));
  return j;
}

static void add_explanations(json_t *root, const struct report *r)
{
  if (!r->timed || !r->preset || r->end != RUN_DONE) return;
  json_object_set_new(root, "limiter", limiter_json(r));
  json_object_set_new(root, "speed", speed_json(r));
  json_object_set_new(root, "roofline", roofline_json(r));
  if (r->room.is.ctas) json_object_set_new(root, "occupancy", room_json(r));
}

/* Cycles that are not known are null, with the reason in their place. */
static json_t *what_if_json(const struct report *r)
{
  json_t *all = json_array();
  for (unsigned i = 0; i < r->n_what_if; i++) {
    const struct what_if_result *w = &r->what_if[i];
    json_t *j = json_object();
    json_object_set_new(j, "name", text(w->what->name));
    json_object_set_new(j, "text", text(w->what->text));
    json_object_set_new(j, "seen", json_boolean(w->seen));
    uint64_t cycles = w->seen ? w->cycles : r->cycles;
    json_object_set_new(j, "cycles", cycles ? integer(cycles) : json_null());
    json_object_set_new(j, "speedup", cycles ? json_real((double)r->cycles / (double)cycles) : json_null());
    if (!cycles) json_object_set_new(j, "why", text(w->why));
    json_array_append_new(all, j);
  }
  return all;
}

/* What happened between each two points, in columns. */
static json_t *usage_json(const struct report *r)
{
  unsigned n;
  const struct usage_point *p = usage_points(r->usage, &n);
  json_t *j = json_object(), *until = json_array();
  const uint64_t clock = params_clock_ps(&r->preset->params);
  for (unsigned i = 1; i < n; i++) json_array_append_new(until, integer(p[i].at / clock));
  json_object_set_new(j, "until_cycle", until);
  for (enum usage_amount k = 0; k < USAGE__N; k++) {
    json_t *column = json_array();
    for (unsigned i = 1; i < n; i++) json_array_append_new(column, integer(p[i].amount[k] - p[i - 1].amount[k]));
    json_object_set_new(j, usage_key[k], column);
  }
  return j;
}

static void add_details(json_t *root, const struct report *r)
{
  if (r->usage && r->preset && r->timed) json_object_set_new(root, "usage", usage_json(r));
  if (r->lines && r->profile) json_object_set_new(root, "listing", view_listing_json(r, r->lines));
}

json_t *view_json_run(const struct report *r, bool with_host)
{
  json_t *root = json_object();

  json_object_set_new(root, "schema", text(VIEW_JSON_SCHEMA));
  json_object_set_new(root, "kernel", text(r->kernel->name));
  json_object_set_new(root, "mode", text(r->timed ? "timed" : "functional"));
  json_object_set_new(root, "launch", view_json_launch(r->lc, r->launch, r->kernel));
  json_object_set_new(root, "gpu", gpu_json(r));
  json_object_set_new(root, "result", result_json(r));
  json_object_set_new(root, "stats", stats_json(r));
  if (r->timed) json_object_set_new(root, "counters", counters_json(r));
  add_explanations(root, r);
  if (r->n_what_if) json_object_set_new(root, "what_if", what_if_json(r));
  add_details(root, r);
  if (with_host) json_object_set_new(root, "host", host_json(r));
  return root;
}

void view_json_write(FILE *f, const struct report *r, bool with_host)
{
  json_t *root = view_json_run(r, with_host);
  stat_dump_json(f, root);
  json_decref(root);
}
