/* warpstep ncu: profiles a program as Nsight Compute does, with its options, metrics and columns. The program's
 * processes write the launches they profile into a file without a name; when it has ended, pages and report are made
 * of that.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "base/regular.h"
#include "cli/commands.h"
#include "cli/default_gpu.h"
#include "cli/file_macros.h"
#include "cli/ncu_options.h"
#include "cli/program_parent.h"
#include "cli/program_settings.h"
#include "cli/program_start.h"
#include "config/presets.h"
#include "ncu/ncu_list.h"

#define REPORT_SUFFIX ".ncu-rep"

/* --- where things go ---------------------------------------------------------------------------- */

/* stdout, stderr or a file; "" when it is no file. */
static bool log_path(const struct ncu_options *o, char path[PATH_MAX], struct err *e)
{
  path[0] = '\0';
  if (!o->log || !strcmp(o->log, "stdout") || !strcmp(o->log, "stderr")) return true;
  TRY(file_macros(o->log, "", getpid(), path, e));
  return output_check(path, e);
}

static FILE *log_open(const struct ncu_options *o, const char *path, struct err *e)
{
  if (*path) return output_log_open(path, false, e);
  return o->log && !strcmp(o->log, "stderr") ? stderr : stdout;
}

static bool log_close(FILE *f, const char *path, struct err *e)
{
  if (*path) return output_log_close(f, path, e);
  return fflush(f) == 0 || err_set(e, "stdout: cannot write: %s", host_error());
}

static bool write_report(const struct ncu_report *r, const char *path, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, path, e);
  const bool ok = f && ncu_report_write(f, r);
  return f && output_close(&out, ok || !err_set(e, "%s: cannot write: %s", path, host_error()), e) && ok;
}

/* --- --import ----------------------------------------------------------------------------------- */

/* Launches that the filter does not take go. */
static void filter_report(struct ncu_report *r, struct ncu_filter *f)
{
  size_t kept = 0;
  for (size_t i = 0; i < r->n; i++) {
    struct ncu_action *a = &r->action[i];
    if (ncu_filter_next(f, a->kernel, a->context, a->stream))
      r->action[kept++] = *a;
    else
      ncu_action_free(a);
  }
  r->n = kept;
}

static bool read_report(const char *name, struct ncu_report *r, struct err *e)
{
  char path[PATH_MAX];
  const bool plain = access(name, F_OK) == 0;
  if (snprintf(path, sizeof path, "%s%s", name, plain ? "" : REPORT_SUFFIX) >= PATH_MAX)
    return err_set(e, "%.200s: too long for a file name", name);
  TRY(file_is_regular(path, e));
  FILE *f = fopen(path, "rb");
  if (!f) return err_set(e, "%s: %s", path, host_error());
  const bool ok = ncu_report_read(f, path, r, e);
  fclose(f);
  return ok;
}

static void use_choice(struct ncu_report *r, struct ncu_options *o)
{
  ncu_choice_free(&r->choice);
  r->choice = o->choice;
  o->choice = (struct ncu_choice){0};
}

static int print_report(struct ncu_options *o, const struct ncu_report *r)
{
  char path[PATH_MAX];
  struct err e = {""};
  FILE *f = log_path(o, path, &e) ? log_open(o, path, &e) : NULL;
  if (!f) return cli_error("%s", e.msg);
  ncu_page_write(f, &o->layout, r);
  return log_close(f, path, &e) ? CLI_OK : cli_error("%s", e.msg);
}

static int import(struct ncu_options *o)
{
  struct ncu_report r = {0};
  struct err e = {""};
  int status = CLI_OK;
  if (!read_report(o->import, &r, &e)) {
    status = cli_error("%s", e.msg);
  } else {
    if (o->set_given) use_choice(&r, o);
    filter_report(&r, &o->filter);
    status = print_report(o, &r);
  }
  ncu_report_free(&r);
  return status;
}

/* --- lists -------------------------------------------------------------------------------------- */

static int query(const struct cli_command *cmd, const struct ncu_options *o)
{
  char *copy = o->chips ? strdup(o->chips) : NULL, *save = NULL;
  int status = CLI_OK;
  NO_MEMORY_IF(o->chips && !copy);
  for (char *c = copy ? strtok_r(copy, ",", &save) : NULL; c && status == CLI_OK; c = strtok_r(NULL, ",", &save)) {
    if (ncu_chip_cc(c))
      ncu_query_metrics(stdout, c, ncu_chip_cc(c));
    else
      status = cli_usage_error(cmd, "--chips %s: no chip that --list-chips has", c);
  }
  for (unsigned i = 0; !copy && ncu_chip_at(i); i++)
    ncu_query_metrics(stdout, ncu_chip_at(i), ncu_chip_cc(ncu_chip_at(i)));
  free(copy);
  return status;
}

static int list(const struct cli_command *cmd, const struct ncu_options *o)
{
  switch (o->list) {
  case NCU_LIST_SETS: ncu_list_sets(stdout); break;
  case NCU_LIST_SECTIONS: ncu_list_sections(stdout, &o->choice); break;
  case NCU_LIST_METRICS: ncu_list_metrics(stdout, &o->choice); break;
  case NCU_LIST_CHIPS: ncu_list_chips(stdout); break;
  default: return query(cmd, o);
  }
  return CLI_OK;
}

/* --- a program ---------------------------------------------------------------------------------- */

/* A run that is under way. */
struct profiling {
  struct ncu_options *o;
  char log[PATH_MAX];
  FILE *launches; /* file without a name that the processes append to */
  struct ncu_report report;
};

static bool report_is_free(const struct ncu_options *o, pid_t pid, char path[PATH_MAX], struct err *e)
{
  TRY(file_macros(o->export, REPORT_SUFFIX, pid, path, e));
  if (!o->force && access(path, F_OK) == 0) return err_set(e, "%s: is there already; -f replaces it", path);
  return output_check(path, e);
}

static bool check(struct profiling *p, const char *program, char *dir, size_t size, struct err *e)
{
  struct ncu_options *o = p->o;
  char presets[PATH_MAX], path[PATH_MAX];
  struct err ignored;
  if (!o->gpu && !default_gpu(program, o->presets, &o->gpu, &ignored)) o->gpu = default_gpu_any();
  TRY(presets_dir(o->presets, presets, sizeof presets, e));
  TRY(program_settings_check(o->out, &o->text, o->gpu, presets, e));
  TRY(program_check(program, e) && program_libraries(dir, size, e) && log_path(o, p->log, e));
  return !o->export || report_is_free(o, getpid(), path, e);
}

/* The first lines of a log begin it anew. */
static bool empty_log(const struct profiling *p, struct err *e)
{
  if (!*p->log) return true;
  FILE *f = output_log_open(p->log, true, e);
  return f && output_log_close(f, p->log, e);
}

static bool hand_over(struct profiling *p, const char *dir, struct err *e)
{
  struct ncu_options *o = p->o;
  char folder[PATH_MAX] = "";
  if (*p->log && *p->log != '/' && !getcwd(folder, sizeof folder))
    return err_set(e, "no current folder: %s", host_error());
  p->launches = tmpfile();
  if (!p->launches) return err_set(e, "no file for profiled launches: %s", host_error());
  fprintf(o->out, "gpu=%s\nmode=timed\nquiet=1\nncu_stream=/proc/%d/fd/%d\n", o->gpu, (int)getpid(),
          fileno(p->launches));
  if (*p->log)
    fprintf(o->out, "ncu_log=%s%s%s\n", folder, *folder ? "/" : "", p->log);
  else if (o->log && !strcmp(o->log, "stderr"))
    fprintf(o->out, "ncu_log=/dev/stderr\n");
  if (!o->warm) fprintf(o->out, "cold=1\n");
  if (o->quiet) fprintf(o->out, "ncu_quiet=1\n");
  if (o->presets) fprintf(o->out, "presets=%s\n", o->presets);
  if (ncu_choice_wants_code(&o->choice) || o->layout.page == NCU_PAGE_SOURCE) fprintf(o->out, "ncu_code=1\n");
  if (ncu_choice_wants_schedulers(&o->choice)) fprintf(o->out, "ncu_schedulers=1\n");
  program_hand_over(o->out, &o->text, dir, true);
  return true;
}

static void not_started(void *ctx)
{
  (void)ctx;
}

/* Metrics that nobody knows, once. */
static void tell_unknown(FILE *f, const struct ncu_choice *c)
{
  for (size_t i = 0; i < c->n; i++)
    if (c->metric[i].row < 0) fprintf(f, "==WARNING== No metric %s here: n/a\n", c->metric[i].name);
}

static bool say_and_print(struct profiling *p, int status, const char *report, struct err *e)
{
  const struct ncu_options *o = p->o;
  FILE *f = log_open(o, p->log, e);
  if (!f) return false;
  if (WIFEXITED(status) && WEXITSTATUS(status))
    fprintf(f, "==ERROR== The application returned an error code (%d).\n", WEXITSTATUS(status));
  if (!p->report.n) fprintf(f, "==WARNING== No kernels were profiled.\n");
  tell_unknown(f, &p->report.choice);
  if (*report && !o->quiet) fprintf(f, "==PROF== Report: %s\n", report);
  if (p->report.n && (!*report || o->page_given)) ncu_page_write(f, &o->layout, &p->report);
  return log_close(f, p->log, e);
}

/* What the program has left behind. */
static bool finish(struct profiling *p, const struct program_parent *parent, struct err *e)
{
  char path[PATH_MAX] = "";
  rewind(p->launches);
  TRY(ncu_report_read_launches(p->launches, "profiled launches", &p->report, e));
  use_choice(&p->report, p->o);
  if (p->o->export) TRY(report_is_free(p->o, parent->program, path, e) && write_report(&p->report, path, e));
  return say_and_print(p, parent->status, path, e);
}

static int profile(struct ncu_options *o, char **program)
{
  struct profiling p = {.o = o};
  struct program_parent parent;
  char dir[PATH_MAX];
  struct err e = {""};
  int status;
  if (!check(&p, program[0], dir, sizeof dir, &e) || !empty_log(&p, &e) || !hand_over(&p, dir, &e))
    status = cli_error("%s", e.msg);
  else if (!program_parent_run(&parent, program, not_started, NULL))
    status = CLI_BAD_INPUT;
  else {
    const bool ok = finish(&p, &parent, &e);
    status = program_parent_end(&parent);
    if (!ok) status = cli_error("%s", e.msg);
  }
  if (p.launches) fclose(p.launches);
  ncu_report_free(&p.report);
  return status;
}

static int run_ncu(const struct cli_command *cmd, int argc, char **argv)
{
  struct ncu_options o;
  int status = ncu_options_parse(cmd, &o, argc, argv);
  if (status == CLI_OPT_HELP)
    status = cli_help(cmd);
  else if (status == CLI_OK && o.list)
    status = list(cmd, &o);
  else if (status == CLI_OK)
    status = o.import ? import(&o) : profile(&o, argv + optind);
  ncu_options_free(&o);
  return status;
}

const struct cli_command cmd_ncu = {
    .name = "ncu",
    .synopsis = "[options] PROGRAM [ARGUMENT...]",
    .summary = "profile a CUDA program, with the options and the output of Nsight Compute",
    .options = ncu_option_table,
    .program_follows = true,
    .notes =
        "The program runs as with 'warpstep exec'; launches that are chosen are timed, the others run without time.\n"
        "Options, names of metrics, units and columns are those of Nsight Compute since 2023, so that scripts and\n"
        "readers of its CSV work. Nothing is sampled, and one run is enough for all metrics; what is not known here\n"
        "is n/a, never 0. Report files are our own format: Nsight Compute does not open them, nor we its files.\n"
        "docs/ncu.md lists metrics, sections and rules, and says what differs.\n"
        "\n"
        "The exit status is that of the program; 2 when it could not be started or a report could not be written.\n",
    .examples = "  # the basic set, as tables\n"
                "  warpstep ncu ./app\n"
                "  # two metrics of one kernel, for a script\n"
                "  warpstep ncu --csv --page raw -k regex:gemm --metrics sm__cycles_elapsed.max,dram__bytes.sum ./app\n"
                "  # everything into a report, printed later\n"
                "  warpstep ncu --set full -f -o app ./app\n"
                "  warpstep ncu --import app.ncu-rep --page source --csv\n",
    .run = run_ncu,
};
