/* warpstep validate: suites of kernels whose time was measured on silicon. */
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/nearest.h"
#include "base/output.h"
#include "cli/commands.h"
#include "cli/validate_report.h"
#include "cli/validate_settings.h"
#include "config/presets.h"
#include "validate/measured.h"
#include "validate/plot.h"
#include "validate/runner.h"

enum {
  OPT_SUITE = CLI_OPT_FIRST, OPT_GPU, OPT_DATA, OPT_ONLY, OPT_SET, OPT_PROGRAMS, OPT_CSV, OPT_PLOT, OPT_KEEP,
  OPT_RECORD, OPT_JOBS, OPT_LIMIT, OPT_QUIET, OPT_PRESETS,
};
enum { MAX_JOBS = 256, MAX_SECONDS = 1000000, MAX_SET = 64, MAX_SETTINGS = 10000 };

static const struct cli_option options[] = {
  {OPT_SUITE, "suite", "S", "a file, or the name of one in data/validation; neither\n"
                            "this nor --gpu: the rows of group quick of all suites"},
  {OPT_GPU, "gpu", "PRESET", "all suites measured on this GPU"},
  {OPT_DATA, "data", "FILE", "measured figures, instead of the CSV that the suite names;\n"
                             "without --suite a table of any profiler, of PROGRAM"},
  {OPT_ONLY, "only", "REGEX", "only rows whose id or group matches"},
  {OPT_PROGRAMS, "programs", "DIR", "where the programs of 'exec' rows were built"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable); several\n"
                                "values with commas: the mean error of each"},
  {OPT_CSV, "csv", "FILE", "write every row with its counters"},
  {OPT_PLOT, "plot", "FILE", "write a scatter plot, SVG"},
  {OPT_KEEP, "keep", "DIR", "keep the JSON of every run there, and do not repeat runs whose JSON is there"},
  {OPT_RECORD, "record", NULL, "take these errors as the recorded ones"},
  {OPT_JOBS, "jobs", "N", "processes at a time (2)"},
  {OPT_LIMIT, "limit", "SECONDS", "stop a run after that time (3600)"},
  {OPT_QUIET, "quiet", NULL, "statistics only, no rows and no progress"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

struct validation {
  const char *suite, *gpu, *data, *only, *csv, *plot;
  bool record;
  struct runner_options run;
  const char *set[MAX_SET], *picked[MAX_SET];
  struct setting_errors *errors; /* of one setting of several; NULL: a report of each suite */
  char self[PATH_MAX], presets[PATH_MAX], root[PATH_MAX], keep[PATH_MAX], programs[PATH_MAX];
  unsigned ran, worse;
};

/* --- options ---------------------------------------------------------------------------------- */

static int take_number(const struct cli_command *cmd, const char *name, const char *arg, unsigned long max,
                       unsigned *to)
{
  unsigned long n;
  if (!cli_number(arg, 1, max, &n))
    return cli_usage_error(cmd, "--%s %s: not a number from 1 to %lu", name, arg, max);
  *to = (unsigned)n;
  return CLI_OK;
}

/* Children run in other folders. */
static bool absolute(const char *path, char out[PATH_MAX], const char **to, struct err *e)
{
  if (!realpath(path, out)) return err_set(e, "%s: %s", path, host_error());
  *to = out;
  return true;
}

static int take_option(const struct cli_command *cmd, struct validation *v, int id, const char *arg)
{
  struct err e = {""};
  switch (id) {
  case OPT_SUITE: v->suite = arg; break;
  case OPT_GPU: v->gpu = arg; break;
  case OPT_DATA: v->data = arg; break;
  case OPT_ONLY: v->only = arg; break;
  case OPT_CSV: v->csv = arg; break;
  case OPT_PLOT: v->plot = arg; break;
  case OPT_RECORD: v->record = true; break;
  case OPT_QUIET: v->run.quiet = true; break;
  case OPT_PRESETS: v->run.presets = arg; break;
  case OPT_SET:
    if (v->run.n_set == MAX_SET) return cli_usage_error(cmd, "more than %d --set", MAX_SET);
    v->set[v->run.n_set++] = arg;
    break;
  case OPT_JOBS: return take_number(cmd, "jobs", arg, MAX_JOBS, &v->run.jobs);
  case OPT_LIMIT: return take_number(cmd, "limit", arg, MAX_SECONDS, &v->run.limit_s);
  case OPT_PROGRAMS:
    return absolute(arg, v->programs, &v->run.programs, &e) ? CLI_OK : cli_error("%s", e.msg);
  case OPT_KEEP:
    if (mkdir(arg, 0777) != 0 && errno != EEXIST) return cli_error("%s: %s", arg, host_error());
    return absolute(arg, v->keep, &v->run.keep, &e) ? CLI_OK : cli_error("%s", e.msg);
  default: return CLI_BAD_INPUT;
  }
  return CLI_OK;
}

static bool find_places(struct validation *v, struct err *e)
{
  ssize_t n = readlink("/proc/self/exe", v->self, sizeof v->self - 1);
  if (n < 0) return err_set(e, "cannot find out where warpstep is: %s", host_error());
  v->self[n] = '\0';
  v->run.self = v->self;
  v->run.set = v->picked;
  TRY(presets_dir(v->run.presets, v->presets, sizeof v->presets, e));
  if (v->run.presets) v->run.presets = v->presets;
  TRY(data_root(v->run.presets, v->root, sizeof v->root, e));
  v->run.root = v->root;
  return !v->run.presets || absolute(v->run.presets, v->presets, &v->run.presets, e);
}

/* --- a suite ---------------------------------------------------------------------------------- */

static bool *choose(const struct validation *v, const struct suite *s, struct err *e)
{
  regex_t r;
  char why[120];
  bool *wanted = calloc(s->n_rows + 1, sizeof *wanted);
  NO_MEMORY_IF(!wanted);
  int status = v->only ? regcomp(&r, v->only, REG_EXTENDED | REG_NOSUB) : 0;
  for (size_t i = 0; !status && i < s->n_rows; i++)
    wanted[i] = !v->only || !regexec(&r, s->row[i].id, 0, NULL, 0) || !regexec(&r, s->row[i].group, 0, NULL, 0);
  if (status) {
    regerror(status, &r, why, sizeof why);
    err_fill(e, "--only %s: not a regular expression: %s", v->only, why);
    free(wanted);
    return NULL;
  }
  if (v->only) regfree(&r);
  return wanted;
}

static bool write_file(const char *path, const struct suite *s, const bool *wanted, bool plot, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, path, e);
  if (!f) return false;
  if (plot) plot_write(f, s);
  else validate_write_csv(f, s, wanted);
  return output_close(&out, true, e);
}

static bool finish(struct validation *v, const struct suite *s, const bool *wanted, struct err *e)
{
  unsigned ran = 0, chosen = 0;
  for (size_t i = 0; i < s->n_rows; i++) ran += s->row[i].ran, chosen += wanted[i];
  if (!chosen) return true;
  if (v->errors) {
    setting_errors_add(v->errors, s);
    v->ran += ran;
    return true;
  }
  validate_print(s, wanted, !v->run.quiet);
  v->ran += ran;
  if (v->csv) TRY(write_file(v->csv, s, wanted, false, e));
  if (v->plot) TRY(write_file(v->plot, s, wanted, true, e));
  if (v->record) return suite_record(s, e);
  v->worse += validate_count_worse(s);
  return true;
}

/* A suite, or without a path the table that somebody measured. */
static bool load(const struct validation *v, struct suite *s, const char *path, struct err *e)
{
  if (path) return suite_load(s, path, v->data, e);
  *s = (struct suite){.gpu = v->gpu};
  return measured_read(s, v->data, e);
}

static bool run_suite(struct validation *v, const char *path, struct err *e)
{
  struct suite s;
  bool *wanted = NULL;
  bool ok = load(v, &s, path, e) && (wanted = choose(v, &s, e)) != NULL;
  if (ok && v->gpu) s.gpu = v->gpu;
  ok = ok && runner_run(&v->run, &s, wanted, e) && finish(v, &s, wanted, e);
  free(wanted);
  suite_free(&s);
  return ok;
}

/* Without --suite: every suite that was measured on the GPU, or on any. */
static bool run_all(struct validation *v, struct err *e)
{
  char pattern[PATH_MAX + 64];
  unsigned n = 0;
  glob_t files;
  snprintf(pattern, sizeof pattern, "%s/data/validation/*.suite", v->root);
  if (glob(pattern, 0, NULL, &files) != 0) return err_set(e, "%s matches nothing", pattern);
  bool ok = true;
  for (size_t i = 0; ok && i < files.gl_pathc; i++) {
    struct suite s;
    bool same = false;
    ok = suite_load(&s, files.gl_pathv[i], NULL, e);
    if (ok) same = !v->gpu || !strcmp(s.gpu, v->gpu);
    suite_free(&s);
    if (ok && same) ok = run_suite(v, files.gl_pathv[i], e), n++;
  }
  globfree(&files);
  return ok && (n || err_set(e, "no suite was measured on %s", v->gpu));
}

static bool unknown_suite(const struct validation *v, const char *name, struct err *e)
{
  char pattern[PATH_MAX + 64], hint[NEAREST_HINT];
  struct nearest near;
  glob_t files;
  snprintf(pattern, sizeof pattern, "%s/data/validation/*.suite", v->root);
  nearest_start(&near, name);
  bool any = glob(pattern, 0, NULL, &files) == 0;
  for (size_t i = 0; any && i < files.gl_pathc; i++) {
    char *file = strrchr(files.gl_pathv[i], '/') + 1;
    file[strlen(file) - strlen(".suite")] = '\0';
    nearest_offer(&near, file);
  }
  if (any) globfree(&files);
  return err_set(e, "%s/data/validation/%.255s.suite: cannot be read%s", v->root, name, nearest_hint(&near, hint));
}

static bool run_named(struct validation *v, struct err *e)
{
  char path[PATH_MAX + 320];
  const char *name = v->suite;
  if (strchr(name, '/') || strstr(name, ".suite")) return run_suite(v, name, e);
  snprintf(path, sizeof path, "%s/data/validation/%.255s.suite", v->root, name);
  return access(path, R_OK) == 0 ? run_suite(v, path, e) : unknown_suite(v, name, e);
}

static bool run_chosen(struct validation *v, struct err *e)
{
  if (v->suite) return run_named(v, e);
  return v->data ? run_suite(v, NULL, e) : run_all(v, e);
}

/* Files kept for one setting do not serve another. */
static bool keep_apart(struct validation *v, const char *kept, unsigned long which, char dir[PATH_MAX + 32],
                       struct err *e)
{
  if (!kept) return true;
  snprintf(dir, PATH_MAX + 32, "%s/setting-%lu", kept, which + 1);
  v->run.keep = dir;
  return mkdir(dir, 0777) == 0 || errno == EEXIST || err_set(e, "%s: %s", dir, host_error());
}

static bool run_settings(struct validation *v, unsigned long n, struct err *e)
{
  const char *kept = v->run.keep;
  char dir[PATH_MAX + 32];
  bool ok = true;
  v->run.quiet = true;
  setting_errors_head();
  for (unsigned long i = 0; ok && i < n; i++) {
    struct setting_errors errors = {.n = {0}};
    struct arena a = {0};
    settings_pick(v->set, v->run.n_set, i, &a, v->picked);
    v->errors = &errors;
    ok = keep_apart(v, kept, i, dir, e) && run_chosen(v, e);
    if (ok) setting_errors_print(&errors, v->picked, v->run.n_set);
    setting_errors_free(&errors);
    arena_free(&a);
  }
  return ok;
}

static bool run_all_settings(struct validation *v, struct err *e)
{
  unsigned long n = settings_count(v->set, v->run.n_set, MAX_SETTINGS);
  if (n > MAX_SETTINGS) return err_set(e, "more than %d settings", MAX_SETTINGS);
  if (n > 1) return run_settings(v, n, e);
  memcpy(v->picked, v->set, sizeof v->set);
  return run_chosen(v, e);
}

/* What goes with what. */
static int check_options(const struct cli_command *cmd, const struct validation *v)
{
  bool table = v->data && !v->suite, several = settings_count(v->set, v->run.n_set, MAX_SETTINGS) > 1;
  if (!v->suite && !table && (v->csv || v->plot))
    return cli_usage_error(cmd, "--csv and --plot need --suite or --data");
  if (table && !v->gpu) return cli_usage_error(cmd, "--data without --suite needs --gpu PRESET");
  if (table && !*v->run.program)
    return cli_usage_error(cmd, "--data without --suite needs the program that was measured");
  if (!table && *v->run.program) return cli_usage_error(cmd, "unexpected argument '%s'", *v->run.program);
  if (table && v->record) return cli_usage_error(cmd, "--record needs --suite");
  if (several && (v->record || v->csv || v->plot))
    return cli_usage_error(cmd, "--record, --csv and --plot are for one setting");
  return CLI_OK;
}

static int run_validate(const struct cli_command *cmd, int argc, char **argv)
{
  struct validation v = {.run = {.jobs = 2, .limit_s = 3600}};
  struct err e = {""};
  const char *arg;
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    if (id == CLI_OPT_HELP) return cli_help(cmd);
    if (id == CLI_OPT_BAD) return CLI_BAD_INPUT;
    int status = take_option(cmd, &v, id, arg);
    if (status != CLI_OK) return status;
  }
  v.run.program = argv + optind;
  int status = check_options(cmd, &v);
  if (status != CLI_OK) return status;
  if (!v.suite && !v.gpu && !v.only) v.only = "^quick$";
  if (!find_places(&v, &e) || !run_all_settings(&v, &e)) return cli_error("%s", e.msg);
  if (!v.ran) return cli_error("no row could be run");
  return v.worse ? CLI_MISMATCH : CLI_OK;
}

const struct cli_command cmd_validate = {
  .name = "validate",
  .synopsis = "[--suite S | --data FILE] [--gpu PRESET] [options] [PROGRAM [ARGUMENT...]]",
  .program_follows = true,
  .summary = "kernels whose time was measured on silicon, beside the model",
  .options = options,
  .notes = "A suite is a file in data/validation (data/validation/README.md has the format): measured figures, "
           "and how\n"
           "to run each kernel. Errors are signed, above zero: too slow. Rows that parameters of the model were "
           "fitted\n"
           "on are summed up apart from those that were held out, and so are rows whose operation counts differ from\n"
           "the measured ones (compiled to other code). Exit status 1: an error grew beyond what is recorded.\n"
           "A table of your own needs no suite: ncu's and nsys' CSV, or columns for kernel, grid, block and a\n"
           "time with its unit (time_us, cycles). PROGRAM then runs twice, first without time to find the first\n"
           "launch of each kernel, grid and block. ncu's tables are taken as measured with empty caches.\n",
  .examples = "  # the quick rows, which make test runs\n"
              "  warpstep validate\n"
              "  # programs built elsewhere\n"
              "  warpstep validate --suite hecbench-rtx-3080 --programs HeCBench/src --only tiny --plot tiny.svg\n"
              "  # how much of it hangs on the clock\n"
              "  warpstep validate --suite textbook-rtx-2080ti --only quick --set clock=1350,1545\n"
              "  # what a profiler measured of a program of yours\n"
              "  warpstep validate --gpu rtx-3080 --data ncu.csv ./app 1000\n",
  .run = run_validate,
};
