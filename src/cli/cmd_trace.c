/* warpstep trace: launches to Accel-Sim's traces, and such traces on the timing model. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "cli/commands.h"
#include "cli/default_gpu.h"
#include "cli/trace_import.h"
#include "config/presets.h"
#include "host/case.h"
#include "host/tracing.h"
#include "isa/watch.h"

enum {
  OPT_OUT = CLI_OPT_FIRST, OPT_FORMAT, OPT_VERSION, OPT_GPU, OPT_SET, OPT_CUBIN, OPT_THREADS, OPT_JSON,
  OPT_PRESETS,
};

static const struct cli_option options[] = {
  {OPT_OUT, "out", "DIR", "export: where the traces go (default traces)"},
  {OPT_FORMAT, "format", "FORM", "export: text, xz (text, compressed; the default) or tracez"},
  {OPT_VERSION, "tracer-version", "N", "export: 3 (no immediates) to 5 (the default)"},
  {OPT_GPU, "gpu", "PRESET", "import: the GPU to simulate (default: by the traces' target);\n"
                             "export: the GPU whose code is taken from files with several"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  {OPT_CUBIN, "cubin", "FILE", "import: the code that was traced (repeatable): control bits,\n"
                               "predicates, uniform registers and constants come from there"},
  {OPT_THREADS, "threads", "N", "import: host threads (1)"},
  {OPT_JSON, "json", "FILE", "import: all counters of every kernel; - is stdout"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

struct trace_run {
  const char *out, *gpu, *presets;
  enum trace_form form;
  unsigned long version;
  struct trace_import import;
};

static bool form_of(const char *name, enum trace_form *form)
{
  static const char *const names[] = {"text", "xz", "tracez"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *form = (enum trace_form)i;
    return true;
  }
  return false;
}

static int take_option(const struct cli_command *cmd, struct trace_run *t, int id, const char *arg)
{
  struct trace_import *m = &t->import;
  switch (id) {
  case OPT_OUT: t->out = arg; break;
  case OPT_FORMAT:
    if (!form_of(arg, &t->form))
      return cli_usage_error(cmd, "--format %s: text, xz or tracez expected", arg);
    break;
  case OPT_VERSION:
    if (!cli_number(arg, TRACE_VERSION_MIN, TRACE_VERSION, &t->version))
      return cli_usage_error(cmd, "--tracer-version %s: not a number from %d to %d", arg,
                             TRACE_VERSION_MIN, TRACE_VERSION);
    break;
  case OPT_GPU: t->gpu = m->gpu = arg; break;
  case OPT_SET: case OPT_CUBIN: {
    struct trace_texts *l = id == OPT_SET ? &m->set : &m->cubin;
    if (l->n == TRACE_MAX_TEXTS) return cli_usage_error(cmd, "more than %d of one option", TRACE_MAX_TEXTS);
    l->item[l->n++] = arg;
    break;
  }
  case OPT_THREADS:
    if (!cli_count(cmd, "threads", arg, WATCH_MAX_THREADS, &m->threads)) return CLI_BAD_INPUT;
    break;
  case OPT_JSON: m->json = arg; break;
  case OPT_PRESETS: t->presets = m->presets = arg; break;
  default: return CLI_BAD_INPUT;
  }
  return CLI_OK;
}

/* ---- export ---- */

/* Contents that the host would have copied: the simulated L2 of Accel-Sim holds them. */
static bool note_copies(struct trace_export *x, const struct launch_case *lc,
                        const struct case_run *r, struct err *e)
{
  for (unsigned i = 0; i < lc->n_buffers; i++) {
    const struct case_buffer *b = &lc->buffer[i];
    if (b->initialised)
      TRY(trace_export_copy(x, case_buffer_address(r, b->name), b->count * value_bytes(b->type), e));
  }
  return true;
}

static bool export_run(struct trace_export *x, const struct launch_case *lc, const struct params *p,
                          struct case_run *r, struct err *e)
{
  struct device_code *code = case_code(r);
  const struct module_kernel *k = module_kernel(code->module, case_launch(r)->params.kernel_name, e);
  struct simulator *s = simulator_new(p);
  struct sim_result result;
  NO_MEMORY_IF(!s);
  bool ok = k && note_copies(x, lc, r, e) &&
            traced_run(x, s, case_launch(r), code->instance, k, 0, &(struct sim_options){.threads = 1},
                       &result, e);
  if (ok && result.end != RUN_DONE)
    ok = err_set(e, "%s: %s", lc->origin, result.fault.text);
  if (ok)
    printf("%-40s %12" PRIu64 " warp instructions\n", k->name, result.warp_insts);
  simulator_free(s);
  return ok;
}

static bool export_case(struct trace_export *x, const struct trace_run *t, const char *path,
                        struct err *e)
{
  struct launch_case lc;
  struct params p;
  char dir[4096];
  const char *gpu = t->gpu;
  struct case_run *r = NULL;
  bool ok = launchfile_read(&lc, path, e) && launch_case_check(&lc, e) &&
            (gpu || default_gpu(lc.cubin[0], t->presets, &gpu, e)) &&
            presets_dir(t->presets, dir, sizeof dir, e) && params_load(gpu, dir, &p, e);
  if (ok) {
    struct device_config config = device_config_for(&p, false);
    config.presets = t->presets;
    r = case_setup(&lc, &config, e);
    ok = r && export_run(x, &lc, &p, r, e);
  }
  case_free(r);
  launch_case_free(&lc);
  return ok;
}

static int run_export(const struct cli_command *cmd, const struct trace_run *t, char **files)
{
  struct err e = {""}, ignored;
  if (!*files) return cli_usage_error(cmd, "no launch file given");
  struct trace_export *x = trace_export_new(t->out, t->form, (unsigned)t->version, &e);
  bool ok = x;
  for (; ok && *files; files++) ok = export_case(x, t, *files, &e);
  ok = trace_export_free(x, ok, ok ? &e : &ignored);
  return ok ? CLI_OK : cli_error("%s", e.msg);
}

/* ---- */

static int run_trace(const struct cli_command *cmd, int argc, char **argv)
{
  struct trace_run t = {.out = "traces", .form = TRACE_XZ, .version = TRACE_VERSION,
                        .import = {.threads = 1}};
  const char *arg;
  struct err e = {""};
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    if (id == CLI_OPT_HELP) return cli_help(cmd);
    if (id == CLI_OPT_BAD) return CLI_BAD_INPUT;
    int status = take_option(cmd, &t, id, arg);
    if (status != CLI_OK) return status;
  }
  if (optind == argc) return cli_usage_error(cmd, "say export or import");
  const char *what = argv[optind++];
  if (!strcmp(what, "export")) return run_export(cmd, &t, argv + optind);
  if (strcmp(what, "import") != 0) return cli_usage_error(cmd, "'%s': say export or import", what);
  if (argc - optind != 1) return cli_usage_error(cmd, "give one directory, kernelslist.g or trace");
  return trace_import(&t.import, argv[optind], &e) ? CLI_OK : cli_error("%s", e.msg);
}

const struct cli_command cmd_trace = {
  .name = "trace",
  .synopsis = "export FILE.launch... | import DIR  [options]",
  .summary = "write traces for Accel-Sim, simulate traces of its tracer",
  .options = options,
  .notes =
    "export runs the launches without time and writes DIR/kernelslist.g with one trace per kernel, as\n"
    "NVBit's tracer would on a GPU. `warpstep exec --trace DIR PROGRAM` does it for whole programs.\n"
    "import times them: with --cubin by the compiler's control bits, else by scoreboards.\n"
    "docs/traces.md says what traces lose.\n",
  .examples =
    "  # a trace that Accel-Sim can run\n"
    "  warpstep trace export --out traces kernels/vecadd/vecadd.launch\n"
    "  # the same trace on our model, and with the code beside it\n"
    "  warpstep trace import traces --gpu rtx-3070\n"
    "  warpstep trace import traces --gpu rtx-3070 --cubin kernels/vecadd/vecadd.sm_86.cubin\n",
  .run = run_trace,
};
