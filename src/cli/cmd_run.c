/* warpstep run: one kernel launch, from options to report.
 *
 *   options -> launch case -> preset -> device and buffers -> run -> check -> save -> reports
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/run_options.h"
#include "cli/run_timed.h"
#include "config/presets.h"
#include "host/case.h"
#include "load/file.h"
#include "view/json.h"
#include "view/progress.h"
#include "time/sm/hazard.h"
#include "view/hazards.h"
#include "view/summary.h"

/* The GPU simulated when --gpu is not given. */
static const struct default_gpu {
  unsigned sm;
  const char *preset;
} default_gpus[] = {{86, "rtx-3070"}, {80, "a100"}, {90, "h200"}};
enum { N_DEFAULT_GPUS = sizeof default_gpus / sizeof default_gpus[0], PRINT_ELEMENTS = 16 };

/* Everything one run owns. */
struct run {
  struct run_options opt;
  struct launch_case lc;
  struct preset preset;
  bool has_preset;
  struct case_run *cr;
  struct timed_run *timed;
  uint64_t *mix;
  struct fault fault;
  struct report report;
};

/* The preset for a file without --gpu: the first default whose SM the file was compiled for, else
 * the first it runs on; a case that has a cubin for each GPU gets the first. */
static bool default_gpu(const struct launch_case *lc, const char **name, struct err *e)
{
  char targets[200];
  *name = strstr(lc->cubin, "%d") ? default_gpus[0].preset : NULL;
  if (*name) return true;
  struct code_file *f = code_file_open(lc->cubin, e);
  if (!f) return false;
  for (unsigned i = 0; i < 2 * N_DEFAULT_GPUS && !*name; i++)
    if (code_file_has(f, default_gpus[i % N_DEFAULT_GPUS].sm, i < N_DEFAULT_GPUS))
      *name = default_gpus[i % N_DEFAULT_GPUS].preset;
  code_file_targets(f, targets, sizeof targets);
  code_file_free(f);
  return *name || err_set(e, "no default GPU for %s: choose one with --gpu ('warpstep gpus' lists "
                          "them)", targets);
}

static bool choose_gpu(struct run *r, struct err *e)
{
  const char *name = r->opt.gpu;
  char dir[4096];

  if (!name) TRY(default_gpu(&r->lc, &name, e));
  TRY(presets_dir(r->opt.presets, dir, sizeof dir, e));
  TRY(preset_load(name, dir, &r->preset, e));
  r->has_preset = true;
  for (unsigned i = 0; i < r->opt.set.n; i++)
    TRY(preset_override(&r->preset, r->opt.set.item[i], e));
  TRY(params_check(&r->preset.params, e));
  r->report.gpu = name;
  r->report.preset = &r->preset;
  return true;
}

static struct device_config device_for(const struct run *r)
{
  const struct params *p = &r->preset.params;
  struct device_config c = device_config_default(p->arch_sm);
  bool json_on_stdout = r->opt.json && !strcmp(r->opt.json, "-");

  c.page_bits = p->vm_page_bits;
  c.n_smids = p->gpu_sms;
  /* As many CTAs are resident as the GPU holds; function-only, one worker has them all. */
  unsigned workers = r->opt.functional ? 1 : p->gpu_sms, share = p->gpu_sms / workers;
  c.n_workers = workers;
  c.slots_per_worker = p->sm_max_ctas * share;
  c.warps_per_worker = p->sm_max_warps * share;
  c.limits.threads_per_cta = p->sm_max_threads_per_cta;
  c.limits.shared_per_cta = p->sm_shared_per_cta_max;
  c.limits.regs_per_cta = p->sm_registers;
  c.print = json_on_stdout ? stderr : stdout;
  return c;
}

/* A missing reference file is better known before a long run than after it. */
static bool expected_files_exist(const struct launch_case *c, struct err *e)
{
  const struct case_buffer *const list[] = {c->buffer, c->symbol};
  const unsigned n[] = {c->n_buffers, c->n_symbols};
  for (unsigned k = 0; k < 2; k++)
    for (unsigned i = 0; i < n[k]; i++)
      if (list[k][i].expect && access(list[k][i].expect, R_OK))
        return err_set(e, "%s: %s; the references of kernels/ are made by 'make refs', --no-check "
                          "runs without", list[k][i].expect, strerror(errno));
  return true;
}

/* cudaMalloc would fail on the real board, too. */
static bool buffers_fit(const struct run *r, struct err *e)
{
  uint64_t have = (uint64_t)r->preset.params.gpu_memory_mib << 20, left = have;
  for (unsigned i = 0; i < r->lc.n_buffers; i++) {
    const struct case_buffer *b = &r->lc.buffer[i];
    uint64_t bytes;
    if (__builtin_mul_overflow(b->count, (uint64_t)value_bytes(b->type), &bytes) || bytes > left)
      return err_set(e, "buffer %s does not fit the %u MiB of device memory of %s; make it smaller "
                        "or --set gpu.memory_mib=…", b->name, r->preset.params.gpu_memory_mib,
                     r->preset.params.name);
    left -= bytes;
  }
  return true;
}

static bool set_up(struct run *r, struct err *e)
{
  TRY(run_options_case(&r->opt, &r->lc, e));
  if (r->opt.check) TRY(expected_files_exist(&r->lc, e));
  TRY(choose_gpu(r, e));
  TRY(buffers_fit(r, e));
  struct device_config config = device_for(r);
  if (!(r->cr = case_setup(&r->lc, &config, e))) return false;

  struct report *rep = &r->report;
  rep->lc = &r->lc;
  rep->launch = case_launch(r->cr);
  rep->module = case_device(r->cr)->module;
  rep->kernel = module_kernel(rep->module, rep->launch->params.kernel_name, e);
  rep->host.threads = r->opt.functional ? 1 : r->opt.threads;
  return rep->kernel != NULL;
}

static bool run_functional(struct run *r, struct err *e)
{
  struct func_stats stats = {0};

  r->mix = stats.mix = calloc(sass_mnemonic_count() + 1, sizeof *stats.mix);
  if (!stats.mix) return err_set(e, "out of memory");
  if (!func_run(case_launch(r->cr)->func, &stats, &r->fault)) r->report.fault = &r->fault;
  r->report.warp_insts = stats.warp_insts;
  r->report.thread_insts = stats.thread_insts;
  r->report.mix = stats.mix;
  return true;
}

static bool simulate(struct run *r, struct err *e)
{
  double start = progress_now();
  bool ok = r->opt.functional
                ? run_functional(r, e)
                : run_timed(r->cr, r->opt.threads, r->opt.hazards != HAZARDS_OFF, !r->opt.quiet, &r->report, &r->fault,
                            &r->timed, e);

  r->report.host.seconds = progress_now() - start;
  return ok;
}

static bool check(struct run *r, struct err *e)
{
  if (!r->opt.check || r->report.fault) return true;
  TRY(case_check(r->cr, &r->report.check, &r->report.n_checks, e));
  r->report.checked = true;
  return true;
}

/* "NAME" or "NAME:N" -> one line of values. */
static bool print_buffer(const struct run *r, const char *spec, FILE *f, struct err *e)
{
  const char *colon = strrchr(spec, ':');
  size_t len = colon ? (size_t)(colon - spec) : strlen(spec);
  const struct case_buffer *b = NULL;
  unsigned long n = PRINT_ELEMENTS;
  uint8_t bytes[8];
  char text[64];

  if (colon && !cli_number(colon + 1, 1, 1ul << 30, &n))
    return err_set(e, "--print-buf %s: '%s' is not a number of elements", spec, colon + 1);
  for (unsigned i = 0; i < r->lc.n_buffers; i++)
    if (strlen(r->lc.buffer[i].name) == len && !memcmp(r->lc.buffer[i].name, spec, len))
      b = &r->lc.buffer[i];
  if (!b) return err_set(e, "--print-buf %s: there is no buffer '%.*s'", spec, (int)len, spec);
  if (n > b->count) n = b->count;
  fprintf(f, "%s[0..%lu] =", b->name, n - 1);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t addr = case_buffer_address(r->cr, b->name) + i * value_bytes(b->type);
    BUG_ON(!gmem_read(case_device(r->cr)->mem, addr, bytes, value_bytes(b->type)));
    value_print(b->type, bytes, text, sizeof text);
    fprintf(f, " %s", text);
  }
  fputc('\n', f);
  return true;
}

static bool write_json(const struct run *r, struct err *e)
{
  FILE *f = strcmp(r->opt.json, "-") ? fopen(r->opt.json, "w") : stdout;

  if (!f) return err_set(e, "%s: %s", r->opt.json, strerror(errno));
  view_json_write(f, &r->report, r->opt.json_host);
  bool bad = ferror(f) != 0;
  if (f != stdout && fclose(f)) bad = true;
  return bad ? err_set(e, "%s: cannot write: %s", r->opt.json, strerror(errno)) : true;
}

static bool write_reports(const struct run *r, struct err *e)
{
  const struct run_options *o = &r->opt;
  bool json_on_stdout = o->json && !strcmp(o->json, "-");

  if (o->out) TRY(case_save(r->cr, o->out, e));
  if (!o->quiet && !r->report.fault)
    view_summary_write(json_on_stdout ? stderr : stdout, &r->report);
  if (r->report.hazards && (!o->quiet || r->report.hazards->n_findings))
    view_hazards_write(json_on_stdout ? stderr : stdout, &r->report, o->hazards == HAZARDS_GAPS);
  for (unsigned i = 0; i < o->print_buf.n; i++)
    TRY(print_buffer(r, o->print_buf.item[i], json_on_stdout ? stderr : stdout, e));
  return o->json ? write_json(r, e) : true;
}

/* What went wrong is said on stderr, also by --quiet. */
static int verdict(const struct run *r)
{
  const struct report *rep = &r->report;

  fflush(stdout);
  if (rep->fault) {
    fputs("warpstep: ", stderr);
    view_fault_write(stderr, rep, case_device(r->cr)->mem);
    return CLI_FAULT;
  }
  if (rep->hazards && rep->hazards->n_findings) return CLI_MISMATCH;
  if (!rep->checked || report_matched(rep)) return CLI_OK;
  for (unsigned i = 0; i < rep->n_checks; i++)
    if (!rep->check[i].ok) fprintf(stderr, "warpstep: mismatch: %s\n", rep->check[i].text);
  return CLI_MISMATCH;
}

static int run_all(struct run *r)
{
  struct err e = {0}, unchecked = {0};

  if (!set_up(r, &e) || !simulate(r, &e)) return cli_error("%s", e.msg);
  /* A missing reference file must not cost the reader the results of a long run. */
  bool could_check = check(r, &unchecked);
  if (!write_reports(r, &e)) return cli_error("%s", e.msg);
  return could_check ? verdict(r) : cli_error("%s", unchecked.msg);
}

static void run_free(struct run *r)
{
  run_timed_free(r->timed);
  if (r->cr) case_free(r->cr);
  if (r->has_preset) preset_free(&r->preset);
  launch_case_free(&r->lc);
  run_options_free(&r->opt);
  free(r->mix);
}

static int run_run(const struct cli_command *cmd, int argc, char **argv)
{
  struct run *r = calloc(1, sizeof *r);
  int status;

  if (!r) return cli_error("out of memory");
  status = run_options_parse(cmd, argc, argv, &r->opt);
  if (status == CLI_OK)
    status = run_all(r);
  else if (status == CLI_OPT_HELP)
    status = CLI_OK;
  run_free(r);
  free(r);
  return status;
}

const struct cli_command cmd_run = {
  .name = "run",
  .synopsis = "FILE [options]",
  .summary = "run one kernel: a launch file, or a cubin or CUDA program with options",
  .options = run_option_table,
  .notes =
    "FILE is a launch file, a cubin, or anything that holds one: a fat binary, an executable, shared\n"
    "object, object file or library made by nvcc. Of code for several GPUs, the part for exactly the\n"
    "GPU's SM is taken, else that of the same major and the next lower minor version.\n"
    "A kernel is named by its symbol (_Z6vecaddPfS_S_j) or, if that is unambiguous, by its plain name\n"
    "(vecadd): the last component of _Z<length><name> and _ZN...E; nothing else is demangled.\n"
    "\n"
    "Types of buffers and arguments: u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64.\n"
    "FILL is zero, const (value=), iota (start=, step=), uniform (seed=, min=, max=), or\n"
    "file=PATH; with expect=PATH (rel=, abs=) the buffer is compared after the run.\n"
    "\n"
    "Exit status: 0 it ran and all results match; 1 a result differs; 2 bad options or\n"
    "files; 3 the kernel faulted; 4 a bug in warpstep.\n",
  .examples =
    "  # a launch file on the default GPU, then on another one\n"
    "  warpstep run kernels/sgemm_tiled/sgemm_tiled.launch\n"
    "  warpstep run kernels/sgemm_tiled/sgemm_tiled.launch --gpu a100\n"
    "  # results only\n"
    "  warpstep run kernels/scan/scan.launch --functional\n"
    "  # a cubin of your own: z[i] = x[i] + y[i]\n"
    "  warpstep run kernels/vecadd/vecadd.sm_86.cubin --grid 4 --block 256 \\\n"
    "      --buf x:f32:1024:iota --buf y:f32:1024:const,value=0.5 --buf z:f32:1024 \\\n"
    "      --arg x --arg y --arg z --arg u32:1024 --print-buf z:8\n"
    "  # the same kernel in a program built with nvcc: executable, .so, .o, .a or .fatbin\n"
    "  warpstep run ./a.out --kernel vecadd --gpu a100 --functional --block 32 \\\n"
    "      --buf x:f32:32 --buf y:f32:32 --buf z:f32:32 --arg x --arg y --arg z --arg u32:32\n"
    "  # what if the L1 cache were perfect?\n"
    "  warpstep run kernels/stencil2d/stencil2d.launch --set l1.perfect=true\n"
    "  # two runs to compare\n"
    "  warpstep run kernels/vecadd/vecadd.launch --json a100.json --gpu a100 --quiet\n",
  .run = run_run,
};
