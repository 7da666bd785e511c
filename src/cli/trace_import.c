#include "cli/trace_import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "cli/default_gpu.h"
#include "config/presets.h"
#include "host/simulate.h"
#include "load/file.h"
#include "trace/source.h"

/* All traces of one import. */
struct import {
  const struct trace_import *o;
  struct preset preset;
  bool has_preset;
  struct simulator *simulator;
  struct gmem *memory; /* nothing is in it */
  struct text_out text; /* --json, from when the GPU is known; in memory, for not every import comes to its end */
  struct json_out json;
  unsigned n;
  uint64_t cycles, insts;
};

/* The code of one trace. */
struct traced_code {
  struct module *module;
  struct module_instance *instance;
  const struct module_kernel *kernel;
  struct trace_code code;
  bool has_code;
};

/* ---- set up, when the first trace is known ---- */

static void begin_json(struct import *m)
{
  text_out_open(&m->text, NULL);
  json_out_open(&m->json, &m->text, (struct json_form){.indent = 2});
  json_out_object(&m->json, NULL);
  json_out_text(&m->json, "schema", "warpstep-trace-1");
  json_out_text(&m->json, "gpu", m->preset.params.name);
  json_out_array(&m->json, "kernels");
}

static bool set_up(struct import *m, const struct trace_kernel *k, struct err *e)
{
  const struct trace_import *o = m->o;
  const char *gpu = o->gpu ? o->gpu : default_gpu_of(k->header.sm);
  char dir[4096];
  if (m->simulator) return true;
  if (!gpu)
    return err_set(e, "no preset is the default for sm_%u: choose one with --gpu", k->header.sm);
  TRY(presets_dir(o->presets, dir, sizeof dir, e));
  TRY(preset_load(gpu, dir, &m->preset, e));
  m->has_preset = true;
  for (unsigned i = 0; i < o->set.n; i++) TRY(preset_override(&m->preset, o->set.item[i], e));
  /* Without control bits nothing else keeps dependent instructions apart. */
  if (!o->cubin.n && m->preset.params.issue_dependence == DEPENDENCE_CONTROL_BITS)
    TRY(preset_override(&m->preset, "issue.dependence=scoreboard", e));
  TRY(params_check(&m->preset.params, e));
  m->memory = gmem_new(m->preset.params.vm_page_bits);
  m->simulator = simulator_new(&m->preset.params);
  NO_MEMORY_IF(!m->simulator);
  if (o->json) begin_json(m);
  return true;
}

/* ---- code ---- */

/* The first file whose code has the kernel. */
static bool load(const struct trace_import *o, const struct trace_kernel *k, struct traced_code *c,
                 struct err *e)
{
  const char *name = k->header.name;
  for (unsigned i = 0; i < o->cubin.n && !c->kernel; i++) {
    struct code_file *f = code_file_open(o->cubin.item[i], e);
    if (!f) return false;
    struct module *m = code_file_load(f, k->header.sm, name, NULL);
    code_file_free(f);
    if (m && (c->kernel = module_kernel(m, name, NULL))) c->module = m;
    else if (m) module_free(m);
  }
  if (!c->kernel) return err_set(e, "%s is in none of the given files of code", name);
  return (c->instance = module_instantiate(c->module, NULL, e)) != NULL;
}

static bool find_code(const struct trace_import *o, const struct trace_kernel *k,
                      struct traced_code *c, struct err *e)
{
  if (o->cubin.n) TRY(load(o, k, c, e));
  c->has_code = true;
  return o->cubin.n ? trace_code_of(&c->code, k, c->instance, c->kernel, e)
                    : trace_code_guess(&c->code, k, e);
}

static void drop_code(struct traced_code *c)
{
  if (c->has_code) trace_code_free(&c->code);
  if (c->instance) module_instance_free(c->instance);
  if (c->module) module_free(c->module);
}

/* ---- one kernel ---- */

static void note(struct import *m, const struct trace_kernel *k, const struct sim_result *r)
{
  if (!m->n)
    printf("%-40s %12s %12s %7s %10s\n", "kernel", "warp insts", "cycles", "IPC", "us");
  printf("%-40.40s %12" PRIu64 " %12" PRIu64 " %7.2f %10.2f\n", k->header.name, r->warp_insts, r->cycles,
         r->cycles ? (double)r->warp_insts / (double)r->cycles : 0, (double)r->time_ps * 1e-6);
  m->n++;
  m->cycles += r->cycles;
  m->insts += r->warp_insts;
  if (!m->o->json) return;
  struct json_out *j = &m->json;
  json_out_object(j, NULL);
  json_out_text(j, "kernel", k->header.name);
  json_out_u64(j, "cycles", r->cycles);
  json_out_u64(j, "warp_insts", r->warp_insts);
  json_out_u64(j, "time_ps", r->time_ps);
  stat_write_json(j, r->group, r->n_groups);
  json_out_end(j);
}

static bool run(struct import *m, const struct trace_kernel *k, const struct trace_code *code,
                struct err *e)
{
  struct trace_source *s = trace_source_new(k, code);
  struct sim_options o = {.timed = true, .threads = m->o->threads, .report = stderr};
  struct sim_result r;
  bool ok = simulate_source(m->simulator, trace_step_source(s), m->memory, &o, &r, e);
  if (ok && r.end != RUN_DONE) ok = err_set(e, "%s: %s", k->header.name, r.fault.text);
  if (ok) note(m, k, &r);
  trace_source_free(s);
  return ok;
}

static bool import_kernel(struct import *m, const char *path, struct err *e)
{
  struct traced_code c = {0};
  struct trace_kernel *k = trace_kernel_read(path, e);
  bool ok = k && trace_kernel_is_whole(k, e) && set_up(m, k, e) && find_code(m->o, k, &c, e) &&
            run(m, k, &c.code, e);
  drop_code(&c);
  trace_kernel_free(k);
  return ok;
}

/* ---- */

static bool write_json(struct import *m, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, m->o->json, e);
  if (!f) return false;
  if (!m->text.data) begin_json(m);
  json_out_end(&m->json);
  json_out_end(&m->json);
  text_out_char(&m->text, '\n');
  fwrite(m->text.data, 1, m->text.n, f);
  return output_close(&out, true, e);
}

bool trace_import(const struct trace_import *o, const char *path, struct err *e)
{
  struct import m = {.o = o};
  struct trace_list list;
  bool ok = trace_list_read(path, &list, e);
  for (unsigned i = 0; ok && i < list.n; i++) /* copies: L2 starts cold here */
    if (list.command[i].file) ok = import_kernel(&m, list.command[i].file, e);
  if (ok && m.n > 1)
    printf("%-40s %12" PRIu64 " %12" PRIu64 "\n", "all", m.insts, m.cycles);
  if (ok && o->json) ok = write_json(&m, e);
  text_out_close(&m.text);
  trace_list_free(&list);
  simulator_free(m.simulator);
  if (m.memory) gmem_free(m.memory);
  if (m.has_preset) preset_free(&m.preset);
  return ok;
}
