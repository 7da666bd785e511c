/* warpstep sweep: parameters times kernels or programs. */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "cli/commands.h"
#include "cli/sweep_files.h"
#include "config/presets.h"
#include "study/sweep_build.h"
#include "study/sweep_run.h"
#include "study/sweep_table.h"

enum {
  OPT_OUT = CLI_OPT_FIRST,
  OPT_LIMIT,
  OPT_RETRY,
  OPT_TABLE,
  OPT_PLOT,
  OPT_TASK,
  OPT_COLLECT,
  OPT_SLURM,
  OPT_QUIET,
  OPT_PRESETS
};

static const struct cli_option options[] = {
  {OPT_OUT, "out", "FILE", "results, SQLite (the sweep's name with .sqlite)"},
  {'j', "jobs", "N", "runs at a time (1)"},
  {OPT_LIMIT, "limit", "SECONDS", "stop a run after that time"},
  {OPT_RETRY, "retry", NULL, "run points that failed again"},
  {OPT_TABLE, "table", NULL, "run nothing: print what there is"},
  {OPT_PLOT, "plot", "FILE", "write a plot (SVG), too"},
  {OPT_TASK, "task", "I/N", "only every N-th point, from I = 0 on, into FILE.I"},
  {OPT_COLLECT, "collect", "N", "take the results of N such tasks in"},
  {OPT_SLURM, "slurm", "N", "print a job script for Slurm: an array of N tasks"},
  {OPT_QUIET, "quiet", NULL, "no line for each point"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

struct sweep_command {
  const char *file, *out, *plot, *presets;
  unsigned slurm, collect;
  bool table, quiet, task;
  struct sweep_options run;
  char self[PATH_MAX], folder[PATH_MAX], named[PATH_MAX], part[PATH_MAX + 16], build[32];
};

/* --- options -------------------------------------------------------------------------------------- */

static bool take_task(const char *arg, struct sweep_options *o)
{
  char first[16];
  unsigned long i, n;
  const char *slash = strchr(arg, '/');
  if (!slash || (size_t)(slash - arg) >= sizeof first) return false;
  memcpy(first, arg, (size_t)(slash - arg));
  first[slash - arg] = '\0';
  if (!cli_number(slash + 1, 1, SWEEP_MAX_POINTS, &n) || !cli_number(first, 0, n - 1, &i)) return false;
  o->task = (unsigned)i;
  o->n_tasks = (unsigned)n;
  return true;
}

static int take_option(const struct cli_command *cmd, struct sweep_command *c, int id, const char *arg)
{
  enum { MOST_JOBS = 1024, MOST_SECONDS = 1000000 };
  bool ok = true;
  switch (id) {
  case OPT_OUT: c->out = arg; break;
  case OPT_PLOT: c->plot = arg; break;
  case OPT_PRESETS: c->presets = arg; break;
  case OPT_RETRY: c->run.retry = true; break;
  case OPT_TABLE: c->table = true; break;
  case OPT_QUIET: c->quiet = true; break;
  case 'j': ok = cli_count(cmd, "jobs", arg, MOST_JOBS, &c->run.jobs); break;
  case OPT_LIMIT: ok = cli_count(cmd, "limit", arg, MOST_SECONDS, &c->run.limit_s); break;
  case OPT_COLLECT: ok = cli_count(cmd, "collect", arg, SWEEP_MAX_POINTS, &c->collect); break;
  case OPT_SLURM: ok = cli_count(cmd, "slurm", arg, SWEEP_MAX_POINTS, &c->slurm); break;
  case OPT_TASK:
    c->task = take_task(arg, &c->run);
    if (!c->task) return cli_usage_error(cmd, "--task takes I/N with I from 0 to N - 1, not '%s'", arg);
    break;
  default: return CLI_BAD_INPUT;
  }
  return ok ? CLI_OK : CLI_BAD_INPUT;
}

/* CLI_OK: go on; -1: help was asked for. */
static int parse(const struct cli_command *cmd, int argc, char **argv, struct sweep_command *c)
{
  const char *arg;
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    if (id == CLI_OPT_HELP) return -1;
    const int status = id == CLI_OPT_BAD ? CLI_BAD_INPUT : take_option(cmd, c, id, arg);
    if (status != CLI_OK) return status;
  }
  if (argc - optind != 1) return cli_usage_error(cmd, "one sweep file is needed, not %d", argc - optind);
  c->file = argv[optind];
  return CLI_OK;
}

/* --- where things are -------------------------------------------------------------------------------- */

/* NAME.sqlite in the current folder; of a task, with its number behind it. */
static void name_results(struct sweep_command *c)
{
  if (!c->out) {
    const char *slash = strrchr(c->file, '/'), *base = slash ? slash + 1 : c->file, *dot = strrchr(base, '.');
    snprintf(c->named, sizeof c->named, "%.*s.sqlite", (int)(dot && dot != base ? dot - base : (ptrdiff_t)strlen(base)),
             base);
    c->out = c->named;
  }
  snprintf(c->part, sizeof c->part, "%.4000s.%u", c->out, c->run.task);
}

/* The program itself, and what tells it from other builds. */
static bool identify(struct sweep_command *c, struct err *e)
{
  const ssize_t n = readlink("/proc/self/exe", c->self, sizeof c->self - 1);
  if (n < 0) return err_set(e, "/proc/self/exe: %s", host_error());
  c->self[n] = '\0';
  c->run.self = c->self;
  return sweep_build(c->self, c->build, sizeof c->build, e);
}

static bool find_presets(struct sweep_command *c, struct err *e)
{
  TRY(presets_dir(c->presets, c->folder, sizeof c->folder, e));
  if (c->presets && !realpath(c->presets, c->folder)) return err_set(e, "%s: %s", c->presets, host_error());
  c->run.presets = c->presets ? c->folder : NULL; /* children run in the sweep's folder */
  return true;
}

/* --- what it does ------------------------------------------------------------------------------------- */

/* As one word of a shell's. */
static void print_word(const char *text)
{
  putchar('\'');
  for (; *text; text++)
    if (*text == '\'') fputs("'\\''", stdout);
    else putchar(*text);
  putchar('\'');
}

static void print_command(const struct sweep_command *c)
{
  print_word(c->self);
  fputs(" sweep ", stdout), print_word(c->file);
  fputs(" --out ", stdout), print_word(c->out);
  if (c->run.presets) fputs(" --presets ", stdout), print_word(c->run.presets);
}

/* The script goes to this folder first, as paths are relative to it, wherever sbatch is called. */
static int print_script(const struct sweep_command *c)
{
  char folder[PATH_MAX];
  if (!getcwd(folder, sizeof folder)) return cli_error("the current folder: %s", host_error());
  printf("#!/bin/sh\n#SBATCH --array=0-%u\n#SBATCH --ntasks=1\ncd ", c->slurm - 1);
  print_word(folder);
  fputs(" || exit 2\n# Submit with sbatch, once more if tasks were stopped; afterwards, in this folder:\n# ", stdout);
  print_command(c);
  printf(" --collect %u\nexec ", c->slurm);
  print_command(c);
  printf(" --task \"$SLURM_ARRAY_TASK_ID/%u\"", c->slurm);
  if (c->run.limit_s) printf(" --limit %u", c->run.limit_s);
  if (c->run.jobs > 1) printf(" --jobs %u", c->run.jobs);
  printf("%s\n", c->run.retry ? " --retry" : "");
  return CLI_OK;
}

static bool collect(const struct sweep_command *c, struct sweep_store *s, struct err *e)
{
  char part[PATH_MAX + 16];
  for (unsigned i = 0; i < c->collect; i++) {
    snprintf(part, sizeof part, "%.4000s.%u", c->out, i);
    TRY(sweep_store_merge(s, part, e));
  }
  return true;
}

static bool plot(const struct sweep_command *c, const struct sweep *w, struct sweep_store *s, struct err *e)
{
  struct output o;
  FILE *f = output_open(&o, c->plot, e);
  if (!f) return false;
  sweep_plot_write(f, w, s);
  return output_close(&o, true, e);
}

static bool work(const struct sweep_command *c, const struct sweep *w, struct sweep_store *s, struct sweep_counts *n,
                 struct err *e)
{
  if (c->collect) TRY(collect(c, s, e));
  if (!c->table && !c->collect) TRY(sweep_run(w, s, &c->run, n, e));
  if (!c->task) sweep_table_write(stdout, w, s);
  return !c->plot || plot(c, w, s, e);
}

/* Points that have ended badly, in this sweep or before, and those without a result. */
static void look_through(const struct sweep *w, struct sweep_store *s, uint32_t *failed, uint32_t *missing)
{
  *failed = *missing = 0;
  for (uint32_t i = 0; i < w->n_points; i++) {
    const struct sweep_point p = sweep_point_at(w, i);
    int status;
    if (!sweep_store_has(s, w, &p, &status)) ++*missing;
    else *failed += status != 0;
  }
}

/* What comes of tasks that were stopped must not pass for the whole. */
static int outcome(const struct sweep_command *c, const struct sweep *w, struct sweep_store *s)
{
  uint32_t failed, missing;
  look_through(w, s, &failed, &missing);
  if (missing && (c->collect || c->table))
    fprintf(stderr, "%u of %u points have no result yet\n", missing, w->n_points);
  return failed || (missing && c->collect) ? CLI_MISMATCH : CLI_OK;
}

static int with_sweep(struct sweep_command *c, const struct sweep *w)
{
  struct err e = {""};
  struct sweep_counts n = {0};
  const char *path = c->task ? c->part : c->out;
  if (!c->table && !c->collect && !sweep_files_check(w)) return CLI_BAD_INPUT;
  if (c->slurm) return print_script(c);
  if (c->plot && !output_check(c->plot, &e)) return cli_error("%s", e.msg);
  struct sweep_store *s = c->table ? sweep_store_look(path, &e) : sweep_store_open(path, w, c->build, c->folder, &e);
  const bool ok = s && work(c, w, s, &n, &e);
  const int status = ok ? outcome(c, w, s) : CLI_BAD_INPUT;
  sweep_store_close(s);
  if (!ok) return cli_error("%s", e.msg), n.stopped ? CLI_INTERRUPTED : status;
  if (n.ran + n.kept && !c->quiet)
    fprintf(stderr, "%u of %u points ran, %u failed, %u had a result; results in %s\n", n.ran, w->n_points, n.failed,
            n.kept, path);
  return status;
}

static int run_sweep(const struct cli_command *cmd, int argc, char **argv)
{
  struct sweep_command c = {.run = {.jobs = 1, .n_tasks = 1}};
  struct sweep w;
  struct err e = {""};
  int status = parse(cmd, argc, argv, &c);
  if (status == -1) return cli_help(cmd);
  if (status != CLI_OK) return status;
  c.run.progress = c.quiet ? NULL : stderr;
  name_results(&c);
  if (!find_presets(&c, &e) || !identify(&c, &e) || !sweep_read(&w, c.file, c.folder, &e))
    return cli_error("%s", e.msg);
  status = with_sweep(&c, &w);
  sweep_free(&w);
  return status;
}

const struct cli_command cmd_sweep = {
  .name = "sweep",
  .synopsis = "FILE [options]",
  .summary = "run kernels or programs with every combination of parameter values",
  .options = options,
  .notes = "A sweep that was stopped, however that happened, goes on where it was. Exit status 1: a run failed, "
           "now or before.\n"
           "docs/sweep.md describes the file and the results.",
  .examples = "# four settings of three kernels, two runs at a time\nwarpstep sweep studies/first.sweep --jobs 2\n"
              "# as a job array, for sbatch\nwarpstep sweep studies/l1_size.sweep --slurm 8 > job.sh\n",
  .run = run_sweep,
};
