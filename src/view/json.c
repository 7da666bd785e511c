/* JSON document of a run; see json.h. */
#include "view/json.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "view/counters.h"
#include "view/listing.h"

static void put_dim3(struct json_out *j, const char *key, const uint32_t d[3])
{
  json_out_array(j, key);
  for (unsigned i = 0; i < 3; i++) json_out_u64(j, NULL, d[i]);
  json_out_end(j);
}

/* One name, or a list of those that were linked. */
static void put_files(struct json_out *j, const struct launch_case *lc)
{
  if (lc->n_cubins == 1) {
    json_out_text(j, "cubin", lc->cubin[0]);
    return;
  }
  json_out_array(j, "cubin");
  for (unsigned i = 0; i < lc->n_cubins; i++) json_out_text(j, NULL, lc->cubin[i]);
  json_out_end(j);
}

void view_json_launch(struct json_out *j, const struct launch_case *lc, const struct launch *l,
                      const struct module_kernel *k)
{
  json_out_object(j, "launch");
  if (lc) json_out_text(j, "file", lc->origin);
  if (lc) put_files(j, lc);
  json_out_u64(j, "target_sm", l->params.sm);
  put_dim3(j, "grid", l->params.grid);
  put_dim3(j, "block", l->params.block);
  json_out_u64(j, "registers_per_thread", l->params.regs_per_thread);
  json_out_u64(j, "shared_static_bytes", l->params.shared_static);
  json_out_u64(j, "shared_dynamic_bytes", l->params.shared_dynamic);
  json_out_u64(j, "local_bytes_per_thread", l->params.local_bytes);
  json_out_u64(j, "parameter_bytes", k->param_bytes);
  json_out_end(j);
}

void view_json_checks(struct json_out *j, const struct case_result *list, unsigned n)
{
  json_out_array(j, "checks");
  for (unsigned i = 0; i < n; i++) {
    json_out_object(j, NULL);
    json_out_text(j, "name", list[i].name);
    json_out_bool(j, "ok", list[i].ok);
    if (list[i].values.count) {
      json_out_u64(j, "count", list[i].values.count);
      json_out_u64(j, "mismatches", list[i].values.mismatches);
    }
    json_out_text(j, "text", list[i].text);
    json_out_end(j);
  }
  json_out_end(j);
}

static void put_parameters(struct json_out *j, const struct preset *preset)
{
  char key[128], value[256];
  json_out_object(j, "parameters");
  for (unsigned i = 0; i < PARAM_N_KEYS; i++) {
    struct param_key k = param_key_at(i);
    param_key_name(k, key, sizeof key);
    param_print(&preset->params, k, value, sizeof value);
    json_out_object(j, key);
    json_out_text(j, "value", value);
    json_out_text(j, "source", preset->origin[i].source);
    json_out_end(j);
  }
  json_out_end(j);
}

static void put_gpu(struct json_out *j, const struct report *r)
{
  json_out_object(j, "gpu");
  json_out_text(j, "preset", r->gpu);
  if (r->preset) {
    json_out_text(j, "name", r->preset->params.name);
    put_parameters(j, r->preset);
  }
  json_out_end(j);
}

static void put_fault(struct json_out *j, const struct report *r)
{
  const struct fault *f = r->fault;
  char where[256], inst[256], addr[32];
  module_where(r->module, f->pc, where, sizeof where);
  report_inst_text(r, f->pc, inst, sizeof inst);
  snprintf(addr, sizeof addr, "0x%" PRIx64, f->addr);
  json_out_object(j, "fault");
  json_out_text(j, "kind", fault_kind_name(f->kind));
  json_out_text(j, "where", where);
  json_out_text(j, "instruction", inst);
  json_out_text(j, "address", addr);
  put_dim3(j, "cta", f->cta);
  put_dim3(j, "thread", f->thread);
  json_out_text(j, "text", f->text);
  json_out_end(j);
}

static void put_where(struct json_out *j, const struct report *r)
{
  char where[256], inst[256];
  json_out_array(j, "warps");
  for (unsigned i = 0; r->where && i < r->where->n; i++) {
    const struct position *p = &r->where->row[i];
    module_where(r->module, p->pc, where, sizeof where);
    report_inst_text(r, p->pc, inst, sizeof inst);
    json_out_object(j, NULL);
    json_out_text(j, "where", where);
    json_out_text(j, "instruction", inst);
    json_out_text(j, "state", path_wait_name(p->wait));
    json_out_u64(j, "warps", p->warps);
    json_out_u64(j, "lanes", p->lanes);
    json_out_end(j);
  }
  json_out_end(j);
}

static void put_stopped(struct json_out *j, const struct report *r)
{
  static const char *const by[] = {
    [RUN_CYCLE_LIMIT] = "max_cycles", [RUN_INST_LIMIT] = "max_instructions",
    [RUN_STOPPED] = "interrupt"};
  char why[128];
  report_stop_text(r, why, sizeof why);
  json_out_object(j, "stopped");
  json_out_text(j, "by", by[r->end]);
  json_out_text(j, "text", why);
  put_where(j, r);
  json_out_end(j);
}

static void put_result(struct json_out *j, const struct report *r)
{
  const char *status = r->fault ? "fault" : r->end != RUN_DONE ? "stopped" : !r->checked ? "unchecked"
                                        : report_matched(r) ? "ok" : "mismatch";
  json_out_object(j, "result");
  json_out_text(j, "status", status);
  if (r->checked) view_json_checks(j, r->check, r->n_checks);
  if (r->fault) put_fault(j, r);
  else if (r->end != RUN_DONE) put_stopped(j, r);
  json_out_end(j);
}

static void put_mix(struct json_out *j, const struct report *r)
{
  json_out_object(j, "mix");
  for (unsigned i = 0; i < r->isa->n_mnemonics(); i++)
    if (r->mix[i]) json_out_u64(j, r->isa->mnemonic(i), r->mix[i]);
  json_out_end(j);
}

static void put_work(struct json_out *j, const struct report *r)
{
  json_out_object(j, "work");
  for (enum work_kind k = 0; k < WORK__N; k++) json_out_u64(j, work_kind_name(k), r->work.ops[k]);
  json_out_end(j);
}

static void put_stats(struct json_out *j, const struct report *r)
{
  json_out_object(j, "stats");
  if (r->timed) json_out_text(j, "occupancy_limiter", r->limiter);
  json_out_u64(j, "warp_insts", r->warp_insts);
  json_out_u64(j, "thread_insts", r->thread_insts);
  if (r->mix) put_mix(j, r);
  put_work(j, r);
  stat_write_json(j, r->group, r->n_groups);
  json_out_end(j);
}

static void put_counters(struct json_out *j, const struct report *r)
{
  double value;
  json_out_object(j, "counters");
  for (unsigned i = 0; i < counter_n_descs; i++) {
    const struct counter_desc *d = &counter_descs[i];
    if (!counter_value(i, r->group, r->n_groups, &value)) json_out_null(j, d->name);
    else if (d->ratio) json_out_real(j, d->name, value);
    else json_out_u64(j, d->name, (uint64_t)value);
  }
  json_out_end(j);
}

static void put_host(struct json_out *j, const struct report *r)
{
  double rate = r->host.seconds > 0 ? (double)r->warp_insts / r->host.seconds : 0;
  json_out_object(j, "host");
  json_out_real(j, "seconds", r->host.seconds);
  json_out_real(j, "warp_insts_per_second", round(rate));
  json_out_u64(j, "threads", r->host.threads);
  json_out_end(j);
}

static void put_limiter(struct json_out *j, const struct report *r)
{
  json_out_object(j, "limiter");
  json_out_text(j, "id", limiter_key(r->bound.id));
  json_out_text(j, "name", limiter_name(r->bound.id));
  json_out_real(j, "share", r->bound.share);
  json_out_text(j, "evidence", r->bound.evidence);
  json_out_text(j, "costs", limiter_costs(r->bound.id));
  json_out_end(j);
}

static void put_speed(struct json_out *j, const struct report *r)
{
  json_out_object(j, "speed");
  for (enum speed_unit u = 0; u < SPEED__N; u++) {
    const struct speed *s = &r->speed[u];
    json_out_object(j, speed_key(u));
    json_out_real(j, "amount", s->amount);
    json_out_text(j, "unit", speed_amount_unit(u));
    json_out_real(j, "peak_per_cycle", s->peak);
    json_out_real(j, "elapsed", s->elapsed);
    json_out_real(j, "active", s->active);
    json_out_end(j);
  }
  json_out_end(j);
}

static void put_roofline(struct json_out *j, const struct report *r)
{
  json_out_object(j, "roofline");
  for (enum work_kind k = 0; k < WORK__N; k++) {
    const struct roofline *l = &r->roofline[k];
    if (k == WORK_INTEGER) continue; /* no roof of its own */
    json_out_object(j, work_kind_name(k));
    json_out_real(j, "per_second", l->flops);
    json_out_real(j, "peak_per_second", l->flops_peak);
    json_out_real(j, "dram_bytes_per_second", l->bytes);
    json_out_real(j, "dram_peak_per_second", l->bytes_peak);
    json_out_real(j, "per_byte", l->intensity);
    json_out_real(j, "ridge_per_byte", l->ridge);
    json_out_end(j);
  }
  json_out_end(j);
}

/* CTAs that less of one thing would give; null: none more. */
static void put_step(struct json_out *j, const char *key, struct room_step s, const char *unit)
{
  json_out_object(j, key);
  if (s.ctas) json_out_u64(j, "ctas", s.ctas);
  else json_out_null(j, "ctas");
  if (s.ctas) json_out_u64(j, unit, s.value);
  else json_out_null(j, unit);
  json_out_end(j);
}

static void put_room(struct json_out *j, const struct report *r)
{
  const struct room_limits *is = &r->room.is;
  json_out_object(j, "occupancy");
  json_out_u64(j, "ctas", is->ctas);
  json_out_u64(j, "warps", (uint64_t)is->ctas * is->warps_of_cta);
  json_out_u64(j, "max_warps", is->max_warps);
  json_out_object(j, "limits");
  json_out_u64(j, "slots", is->slots);
  json_out_u64(j, "warps", is->warps);
  json_out_u64(j, "registers", is->registers);
  if (is->shared == UINT_MAX) json_out_null(j, "shared");
  else json_out_u64(j, "shared", is->shared);
  json_out_end(j);
  put_step(j, "fewer_registers", r->room.registers, "registers");
  put_step(j, "less_shared", r->room.shared, "bytes");
  json_out_end(j);
}

static void put_explanations(struct json_out *j, const struct report *r)
{
  if (!r->timed || !r->preset || r->end != RUN_DONE) return;
  put_limiter(j, r);
  put_speed(j, r);
  put_roofline(j, r);
  if (r->room.is.ctas) put_room(j, r);
}

/* Cycles that are not known are null, with the reason in their place. */
static void put_what_if(struct json_out *j, const struct report *r)
{
  json_out_array(j, "what_if");
  for (unsigned i = 0; i < r->n_what_if; i++) {
    const struct what_if_result *w = &r->what_if[i];
    uint64_t cycles = w->seen ? w->cycles : r->cycles;
    json_out_object(j, NULL);
    json_out_text(j, "name", w->what->name);
    json_out_text(j, "text", w->what->text);
    json_out_bool(j, "seen", w->seen);
    if (cycles) {
      json_out_u64(j, "cycles", cycles);
      json_out_real(j, "speedup", (double)r->cycles / (double)cycles);
    } else {
      json_out_null(j, "cycles");
      json_out_null(j, "speedup");
      json_out_text(j, "why", w->why);
    }
    json_out_end(j);
  }
  json_out_end(j);
}

/* What happened between each two points, in columns. */
static void put_usage(struct json_out *j, const struct report *r)
{
  unsigned n;
  const struct usage_point *p = usage_points(r->usage, &n);
  const uint64_t clock = params_clock_ps(&r->preset->params);
  json_out_object(j, "usage");
  json_out_array(j, "until_cycle");
  for (unsigned i = 1; i < n; i++) json_out_u64(j, NULL, p[i].at / clock);
  json_out_end(j);
  for (enum usage_amount k = 0; k < USAGE__N; k++) {
    json_out_array(j, usage_key[k]);
    for (unsigned i = 1; i < n; i++) json_out_u64(j, NULL, p[i].amount[k] - p[i - 1].amount[k]);
    json_out_end(j);
  }
  json_out_end(j);
}

static void put_details(struct json_out *j, const struct report *r)
{
  if (r->usage && r->preset && r->timed) put_usage(j, r);
  if (r->lines && r->profile) view_listing_json(j, "listing", r, r->lines);
}

void view_json_run(struct json_out *j, const char *key, const struct report *r, bool with_host)
{
  json_out_object(j, key);
  json_out_text(j, "schema", VIEW_JSON_SCHEMA);
  json_out_text(j, "kernel", r->kernel->name);
  json_out_text(j, "mode", r->timed ? "timed" : "functional");
  view_json_launch(j, r->lc, r->launch, r->kernel);
  put_gpu(j, r);
  put_result(j, r);
  put_stats(j, r);
  if (r->timed) put_counters(j, r);
  put_explanations(j, r);
  if (r->n_what_if) put_what_if(j, r);
  put_details(j, r);
  if (with_host) put_host(j, r);
  json_out_end(j);
}

void view_json_write(FILE *f, const struct report *r, bool with_host)
{
  struct text_out text;
  struct json_out j;
  text_out_open(&text, f);
  json_out_open(&j, &text, (struct json_form){.indent = 2});
  view_json_run(&j, NULL, r, with_host);
  text_out_char(&text, '\n');
  text_out_close(&text);
}
