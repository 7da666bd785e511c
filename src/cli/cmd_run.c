/* warpstep run: one kernel launch, from options to report.
 *
 *   options -> launch case -> preset -> device and buffers -> run -> check -> save -> reports
 */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "base/output.h"
#include "cli/checkpoint.h"
#include "cli/commands.h"
#include "cli/run_outputs.h"
#include "host/snapshot.h"
#include "time/sm/hazard.h"
#include "view/progress.h"
#include "view/summary.h"

static bool choose_gpu(struct launch_run *r, struct err *e)
{
  TRY(run_options_gpu(&r->opt, &r->lc, &r->preset, &r->report.gpu, e));
  r->has_preset = true;
  r->report.preset = &r->preset;
  return true;
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
                          "runs without", list[k][i].expect, host_error());
  return true;
}

/* cudaMalloc would fail on the real board, too. */
static bool buffers_fit(const struct launch_run *r, struct err *e)
{
  uint64_t have = params_memory_bytes(&r->preset.params), left = have;
  for (unsigned i = 0; i < r->lc.n_buffers; i++) {
    const struct case_buffer *b = &r->lc.buffer[i];
    uint64_t bytes;
    if (__builtin_mul_overflow(b->count, (uint64_t)value_bytes(b->type), &bytes) || bytes > left)
      return err_set(e, "buffer %s does not fit the %u MiB of device memory of %s; make it smaller "
                        "or --set gpu.memory_mib=…", b->name, (unsigned)(have >> 20),
                     r->preset.params.name);
    left -= bytes;
  }
  return true;
}

/* Files are better known to be writable before a long run than after it. */
static bool set_up_observers(struct launch_run *r, struct err *e)
{
  const struct params *p = &r->preset.params;
  if (r->opt.timeline) {
    TRY(activity_choice_fits(&r->opt.activity, p->gpu_sms, e));
    TRY(output_check(r->opt.timeline, e));
    r->activity = activity_new(&r->opt.activity, &p, 1, params_clock_ps(p));
  }
  if (!r->opt.pipeline) return true;
  if (r->opt.pipe.sm >= (int)p->gpu_sms)
    return err_set(e, "--pipeline-sm %d: %s has %u SMs, from 0", r->opt.pipe.sm, r->report.gpu, p->gpu_sms);
  TRY(output_check(r->opt.pipeline, e));
  r->pipe = pipe_log_new(&r->opt.pipe, p);
  return true;
}

/* Files are better known to be good before a long run. */
static bool set_up_page(struct launch_run *r, struct err *e)
{
  if (!r->opt.html) return true;
  TRY(output_check(r->opt.html, e));
  if (r->opt.html_baseline) TRY(run_doc_read(&r->baseline, r->opt.html_baseline, e));
  if (r->baseline.program)
    return err_set(e, "--html-baseline %s: of a program; a run is compared with one of 'run --json'", r->baseline.path);
  r->report.usage = r->usage = usage_new();
  return true;
}

/* The name of checkpoint i. */
static void checkpoint_name(const struct run_options *o, unsigned i, char *path, size_t size)
{
  if (o->n_checkpoints == 1) snprintf(path, size, "%s", o->checkpoint);
  else snprintf(path, size, "%s.%lu", o->checkpoint, o->checkpoint_at[i]);
}

static bool set_up(struct launch_run *r, struct err *e)
{
  char path[PATH_MAX];
  if (r->opt.n_checkpoints) {
    checkpoint_name(&r->opt, 0, path, sizeof path);
    TRY(output_check(path, e));
  }
  TRY(run_options_case(&r->opt, &r->lc, e));
  if (r->opt.check) TRY(expected_files_exist(&r->lc, e));
  TRY(choose_gpu(r, e));
  TRY(buffers_fit(r, e));
  TRY(set_up_observers(r, e));
  TRY(set_up_page(r, e));
  struct device_config config = device_config_for(&r->preset.params, !r->opt.functional);
  config.presets = r->opt.presets;
  r->print = run_printed_to(&r->opt);
  config.print = &r->print;
  if (r->opt.sanitize) config.gap_bytes = SANITIZE_GAP;
  if (!(r->cr = case_setup(&r->lc, &config, e))) return false;

  struct report *rep = &r->report;
  rep->lc = &r->lc;
  rep->launch = case_launch(r->cr);
  rep->module = case_code(r->cr)->module;
  rep->kernel = module_kernel(rep->module, rep->launch->params.kernel_name, e);
  rep->max_cycles = r->opt.max_cycles;
  rep->max_insts = r->opt.max_instructions;
  rep->host.threads = r->opt.threads;
  if (r->opt.annotate || r->opt.html) {
    TRY(line_table_read(rep->module, &r->lines, e)); /* damage is better known before a long run */
    rep->lines = &r->lines;
  }
  return rep->kernel != NULL;
}

/* Ctrl-C waits for the next look at it, instead of a handler that needs a global variable. */
struct run_interrupt {
  sigset_t signals; /* SIGINT; nothing when the caller had it ignored */
  sigset_t before;
};

static void interrupt_hold(struct run_interrupt *i)
{
  struct sigaction now;

  sigemptyset(&i->signals);
  if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
    sigaddset(&i->signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &i->signals, &i->before); /* the engine's threads inherit it */
}

static void interrupt_release(const struct run_interrupt *i)
{
  pthread_sigmask(SIG_SETMASK, &i->before, NULL);
}

struct watch {
  struct progress line;
  struct run_interrupt interrupt;
};

static bool poll_run(void *ctx, const struct run_progress *p)
{
  struct watch *w = ctx;

  progress_update(&w->line, p);
  return sigtimedwait(&w->interrupt.signals, NULL, &(struct timespec){0}) != SIGINT;
}

static enum sim_hazards hazards_of(enum hazard_option o)
{
  switch (o) {
  case HAZARDS_OFF: return SIM_HAZARDS_OFF;
  case HAZARDS_EMULATE: return SIM_HAZARDS_EMULATE;
  case HAZARDS_BOTH: return SIM_HAZARDS_BOTH;
  default: return SIM_HAZARDS_CHECK;
  }
}

static void sanitize_start(struct launch_run *r)
{
  const struct sanitize_options so = {.tools = r->opt.sanitize, .level = r->opt.print_level,
                                      .out = run_printed_to(&r->opt)};
  if (r->opt.sanitize) r->sanitizer = sanitizer_new(&so, case_device(r->cr)->mem);
}

/* One launch, watched by the sanitizer when there is one. */
static bool simulate_once(struct launch_run *r, struct sim_options *o, struct err *e)
{
  if (r->sanitizer) o->tap = sanitizer_begin(r->sanitizer, r->report.module, case_launch(r->cr));
  if (!simulate(r->simulator, case_launch(r->cr), o, &r->result, e)) return false;
  if (r->sanitizer) sanitizer_end(r->sanitizer, &r->result.fault);
  return true;
}

/* What a run meets at its checkpoints. */
struct checkpoints {
  struct launch_run *run;
  struct watch *watch;
  struct sim_options *sim;
};

/* Streams of the process that saved are not there any more, and its clock was another one. */
static void take_over(const struct checkpoints *c, double saved_at)
{
  struct launch_run *r = c->run;
  struct progress *line = &c->watch->line;
  const double start = progress_now() - (saved_at - line->start);
  case_print_again(r->cr, run_printed_to(&r->opt));
  c->sim->report = checkpoint_stderr();
  progress_start(line, checkpoint_stderr(), !r->opt.quiet);
  line->start = start;
}

static bool stop_at_checkpoint(void *ctx, unsigned i, uint64_t cycle, unsigned *threads, struct err *e)
{
  const struct checkpoints *c = ctx;
  struct launch_run *r = c->run;
  struct restored restored;
  char path[PATH_MAX];
  const double now = progress_now();
  checkpoint_name(&r->opt, i, path, sizeof path);
  case_flush(r->cr);
  progress_end(&c->watch->line);
  TRY(checkpoint_save(r->checkpoint, path, &restored, e));
  if (restored.here) {
    take_over(c, now);
    r->report.host.threads = *threads = restored.threads ? restored.threads : r->opt.threads;
  } else if (!r->opt.quiet) {
    fprintf(checkpoint_stderr(), "warpstep: %s: saved in cycle %" PRIu64 "\n", path, cycle);
  }
  return true;
}

static void say_missed(const struct launch_run *r)
{
  for (unsigned i = r->result.stops; i < r->opt.n_checkpoints; i++)
    fprintf(checkpoint_stderr(), "warpstep: no checkpoint at cycle %lu: the launch ended in cycle %" PRIu64 "\n",
            r->opt.checkpoint_at[i], r->result.cycles);
}

static bool simulate_case(struct launch_run *r, struct err *e)
{
  struct watch w;
  struct sim_options o = {
    .timed = !r->opt.functional, .threads = r->opt.threads,
    .hazards = hazards_of(r->opt.hazards), .max_cycles = r->opt.max_cycles,
    .max_insts = r->opt.max_instructions, .slice = r->opt.interleave, .poll = poll_run, .ctx = &w,
    .report = checkpoint_stderr(),
    .usage = r->usage,
    .observers = r->pipe ? pipe_log_observers(r->pipe) : r->activity ? activity_observers(r->activity, 0) : NULL,
  };

  struct checkpoints at = {r, &w, &o};
  const struct sim_stops stops = {r->opt.checkpoint_at, r->opt.n_checkpoints, stop_at_checkpoint, &at};

  NO_MEMORY_IF(!(r->simulator = simulator_new(&r->preset.params)));
  sanitize_start(r);
  interrupt_hold(&w.interrupt);
  progress_start(&w.line, checkpoint_stderr(), !r->opt.quiet);
  bool ok = true;
  for (unsigned i = 0; ok && i <= r->opt.warm_up && (i == 0 || r->result.end == RUN_DONE); i++) {
    if (i == r->opt.warm_up) o.stops = &stops;
    ok = simulate_once(r, &o, e);
  }
  o.stops = NULL;
  if (ok) say_missed(r);
  double seconds = progress_now() - w.line.start;
  if (ok && r->opt.what_if && r->result.end == RUN_DONE) {
    o.usage = NULL; /* of the run itself, as is what observers saw */
    o.observers = NULL;
    r->what_if =
        (struct run_what_if){.opt = &r->opt, .lc = &r->lc, .params = &r->preset.params, .sim = &o, .base = &r->result};
    ok = run_what_if(&r->what_if, e);
  }
  progress_end(&w.line);
  interrupt_release(&w.interrupt);
  if (!ok) return false;
  if (r->sanitizer) r->defects = sanitizer_finish(r->sanitizer);
  report_result(&r->report, &r->result);
  r->report.host.seconds = seconds;
  r->report.what_if = r->what_if.row;
  r->report.n_what_if = r->what_if.n;
  return true;
}

static bool check(struct launch_run *r, struct err *e)
{
  if (!r->opt.check || r->result.end != RUN_DONE) return true;
  TRY(case_check(r->cr, &r->report.check, &r->report.n_checks, e));
  r->report.checked = true;
  return true;
}

/* A captured launch that faulted must fault as it did. */
static bool same_fault(const struct launch_run *r)
{
  const struct snapshot *s = r->lc.snapshot;
  if (!s || !r->opt.check || s->fault == r->report.fault->kind) return true;
  fprintf(checkpoint_stderr(), "warpstep: mismatch: the captured launch %s\n",
          s->fault == FAULT_NONE ? "did not fault" : "faulted in another way");
  return false;
}

/* What went wrong is said on stderr, also by --quiet. */
static int verdict(const struct launch_run *r)
{
  const struct report *rep = &r->report;

  fflush(checkpoint_stdout());
  if (rep->fault) {
    fputs("warpstep: ", checkpoint_stderr());
    view_fault_write(checkpoint_stderr(), rep, case_device(r->cr)->mem);
    return same_fault(r) ? CLI_FAULT : CLI_MISMATCH;
  }
  if (rep->end != RUN_DONE) {
    fputs("warpstep: ", checkpoint_stderr());
    view_stop_write(checkpoint_stderr(), rep);
    return rep->end == RUN_STOPPED ? CLI_INTERRUPTED : CLI_LIMIT;
  }
  if ((rep->hazards && rep->hazards->n_findings) || r->defects) return CLI_MISMATCH;
  if (!rep->checked || report_matched(rep)) return CLI_OK;
  for (unsigned i = 0; i < rep->n_checks; i++)
    if (!rep->check[i].ok) fprintf(checkpoint_stderr(), "warpstep: mismatch: %s\n", rep->check[i].text);
  return CLI_MISMATCH;
}

static int run_all(struct launch_run *r)
{
  struct err e = {0}, unchecked = {0};

  if (!set_up(r, &e) || !simulate_case(r, &e)) return cli_error("%s", e.msg);
  /* A missing reference file must not cost the reader the results of a long run. */
  bool could_check = check(r, &unchecked);
  if (!run_write_outputs(r, &e)) return cli_error("%s", e.msg);
  return could_check ? verdict(r) : cli_error("%s", unchecked.msg);
}

static void run_free(struct launch_run *r)
{
  line_table_free(&r->lines);
  sanitizer_free(r->sanitizer);
  simulator_free(r->simulator);
  pipe_log_free(r->pipe);
  activity_free(r->activity);
  usage_free(r->usage);
  run_doc_free(&r->baseline);
  if (r->cr) case_free(r->cr);
  if (r->has_preset) preset_free(&r->preset);
  launch_case_free(&r->lc);
  run_options_free(&r->opt);
}

/* c: where it can be saved; NULL: it is not to be. */
static int run_once(struct checkpoint *c, int argc, char **argv)
{
  struct launch_run *r = calloc(1, sizeof *r);
  int status;

  NO_MEMORY_IF(!r);
  r->checkpoint = c;
  optind = 0; /* options may have been read before */
  status = run_options_parse(&cmd_run, argc, argv, &r->opt);
  if (status == CLI_OK)
    status = run_all(r);
  else if (status == CLI_OPT_HELP)
    status = CLI_OK;
  run_free(r);
  free(r);
  return status;
}

static int run_run(const struct cli_command *cmd, int argc, char **argv)
{
  struct run_options o;
  struct err e = {""};
  int status = run_options_parse(cmd, argc, argv, &o);
  const char *const restore = o.restore;
  const bool saves = o.checkpoint;
  const unsigned threads = o.threads_given ? o.threads : 0;
  run_options_free(&o);
  if (status == CLI_OPT_HELP) return CLI_OK;
  if (status != CLI_OK) return status;
  if (restore) return checkpoint_restore(restore, threads, &status, &e) ? status : cli_error("%s", e.msg);
  if (!saves) return run_once(NULL, argc, argv);
  return checkpoint_run(run_once, argc, argv, &status, &e) ? status : cli_error("%s", e.msg);
}

const struct cli_command cmd_run = {
  .name = "run",
  .synopsis = "FILE... [options]",
  .summary = "run one kernel: a launch file, a captured launch, or a cubin or CUDA program",
  .options = run_option_table,
  .notes =
    "FILE is a launch file, a cubin, or anything that holds one: a fat binary, an executable, shared\n"
    "object, object file or library made by nvcc. Of code for several GPUs, the part for exactly the\n"
    "GPU's SM is taken, else that of the same major and the next lower minor version.\n"
    "Several files are objects of nvcc -dc (-rdc=true), which are linked first.\n"
    "A captured launch (warpstep capture) runs on the GPU it was captured on, or on --gpu; memory and\n"
    "printed text must be as in the capture, and a launch that faulted must fault in the same way.\n"
    "A kernel is named by its symbol (_Z6vecaddPfS_S_j) or, if that is unambiguous, by its plain name\n"
    "(vecadd): the last component of _Z<length><name> and _ZN...E; nothing else is demangled.\n"
    "\n"
    "Types of buffers and arguments: u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64.\n"
    "FILL is zero, const (value=), iota (start=, step=), uniform (seed=, min=, max=), chain (step=,\n"
    "seed=; u64: a pointer chase), or file=PATH; with expect=PATH (rel=, abs=) the buffer is compared\n"
    "after the run.\n"
    "\n"
    "Exit status: 0 it ran and all results match; 1 a result differs; 2 bad options or\n"
    "files; 3 the kernel faulted; 4 a bug in warpstep; 5 --max-cycles or --max-instructions\n"
    "was reached; 130 Ctrl-C. After 5 and 130 reports and buffers say what was done so far.\n",
  .examples =
    "  # a launch file on the default GPU, then on another one\n"
    "  warpstep run kernels/sgemm_tiled/sgemm_tiled.launch\n"
    "  warpstep run kernels/sgemm_tiled/sgemm_tiled.launch --gpu a100\n"
    "  # a launch of a program, captured before, on another GPU\n"
    "  warpstep run cases/0001-*.case --gpu rtx-a6000\n"
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
    "  # a kernel that may never end: stop after ten million cycles and say where the warps are\n"
    "  warpstep run kernels/scan/scan.launch --max-cycles 10000000\n"
    "  # save a run on its way, and go on from there\n"
    "  warpstep run kernels/scan/scan.launch --checkpoint here --checkpoint-at 2000\n"
    "  warpstep run --restore here\n"
    "  # two runs to compare\n"
    "  warpstep run kernels/vecadd/vecadd.launch --json a100.json --gpu a100 --quiet\n",
  .run = run_run,
};
