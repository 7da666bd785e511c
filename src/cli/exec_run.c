#include "cli/exec_run.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "cli/checkpoint.h"
#include "host/host_time.h"
#include "host/what_if.h"
#include "host/what_if_machine.h"
#include "isa/watch.h"
#include "sanitize/sanitize.h"
#include "view/run_diff.h"

static int take_count(const struct cli_command *cmd, struct exec_run *x, const char *name,
                      const char *key, const char *arg)
{
  unsigned long n;
  if (!cli_number(arg, 1, ULONG_MAX, &n))
    return cli_usage_error(cmd, "--%s %s: not a number from 1 on", name, arg);
  fprintf(x->out, "%s=%lu\n", key, n);
  return CLI_OK;
}

/* "KEY=FILE": by its absolute name, as the program may change its folder; not being able to write it is better told
 * before hours of simulation than behind them. */
static int take_file(struct exec_run *x, const char *key, const char *path)
{
  char folder[PATH_MAX] = "";
  if (strcmp(path, "-") != 0) {
    struct err e = {""};
    if (!output_check(path, &e)) return cli_error("%s", e.msg);
    if (*path != '/' && !getcwd(folder, sizeof folder)) return cli_error("no current folder: %s", host_error());
  }
  fprintf(x->out, "%s=%s%s%s\n", key, folder, *folder ? "/" : "", path);
  return CLI_OK;
}

/* Its file by an absolute name; one that is replayed is good now, and is read again by the program. */
static int take_host_time(struct exec_run *x, const char *arg)
{
  struct host_time_choice c;
  struct host_gaps gaps;
  struct err e = {""};
  char path[PATH_MAX];
  if (!host_time_parse(&c, arg, &e)) return cli_error("%s", e.msg);
  if (c.mode == HOST_TIME_RECORD) return take_file(x, "host_time=record", c.file);
  if (c.mode != HOST_TIME_REPLAY) {
    fprintf(x->out, "host_time=%s\n", arg);
    return CLI_OK;
  }
  if (!host_gaps_read(&gaps, c.file, &e)) return cli_error("--host-time replay: %s", e.msg);
  host_gaps_free(&gaps);
  if (!realpath(c.file, path)) return cli_error("%s: %s", c.file, host_error());
  fprintf(x->out, "host_time=replay=%s\n", path);
  return CLI_OK;
}

static int take_spin(const struct cli_command *cmd, struct exec_run *x, const char *arg)
{
  if (strcmp(arg, "strict") != 0 && strcmp(arg, "evidence") != 0)
    return cli_usage_error(cmd, "--spin is evidence or strict, not '%.60s'", arg);
  fprintf(x->out, "spin=%s\n", arg);
  return CLI_OK;
}

/* By its absolute name, and good now: it is read again when the program has ended. */
static int take_baseline(struct exec_run *x, const char *path)
{
  struct run_doc d;
  struct err e = {""};
  char absolute[PATH_MAX];
  if (!run_doc_read(&d, path, &e)) return cli_error("%s", e.msg);
  const bool program = d.program;
  run_doc_free(&d);
  if (!program) return cli_error("--html-baseline %s: of 'run'; a program is compared with one of 'exec --json'", path);
  if (!realpath(path, absolute)) return cli_error("%s: %s", path, host_error());
  x->baseline = path;
  fprintf(x->out, "html_baseline=%s\n", absolute);
  return CLI_OK;
}

static int take_libs(const struct cli_command *cmd, struct exec_run *x, const char *arg)
{
  if (strcmp(arg, "own") != 0 && strcmp(arg, "native") != 0)
    return cli_usage_error(cmd, "--libs: %s is neither own nor native", arg);
  x->native = strcmp(arg, "native") == 0;
  return CLI_OK;
}

static int take_timeline(const struct cli_command *cmd, struct exec_run *x, const char *key, const char *arg,
                         bool (*read)(struct activity_choice *, const char *, struct err *))
{
  struct err e = {""};
  if (!read(&x->shown, arg, &e)) return cli_usage_error(cmd, "--timeline: %s", e.msg);
  fprintf(x->out, "%s=%s\n", key, arg);
  x->timeline_choice = true;
  return CLI_OK;
}

/* Options of the sanitizer; CLI_OPT_BAD: another one. */
static int take_sanitize(const struct cli_command *cmd, struct exec_run *x, int id, const char *arg)
{
  unsigned bits;
  unsigned long n;
  const char *bad;
  switch (id) {
  case OPT_TOOL:
    if (!sanitize_tools_parse(arg, &bits, &bad))
      return cli_usage_error(cmd, "--tool %s: '%.*s' is not memcheck, racecheck, initcheck, synccheck or all", arg,
                             (int)strcspn(bad, ","), bad);
    x->tools = arg;
    return CLI_OK;
  case OPT_PRINT_LEVEL:
    if (!sanitize_level_parse(arg, &bits))
      return cli_usage_error(cmd, "--print-level %s: not error, warn or info", arg);
    fprintf(x->out, "print_level=%s\n", arg);
    return CLI_OK;
  case OPT_LEAK_CHECK:
    if (strcmp(arg, "full") != 0 && strcmp(arg, "no") != 0)
      return cli_usage_error(cmd, "--leak-check %s: not full or no", arg);
    if (*arg == 'f') fprintf(x->out, "leaks=1\n");
    return CLI_OK;
  case OPT_ERROR_EXITCODE:
    if (!cli_number(arg, 0, UINT8_MAX, &n))
      return cli_usage_error(cmd, "--error-exitcode %s: not a number from 0 to 255", arg);
    x->error_exitcode = arg;
    return CLI_OK;
  case OPT_PRINT_LIMIT: return take_count(cmd, x, "print-limit", "print_limit", arg);
  case OPT_LOG_FILE: return take_file(x, "log", x->log = arg);
  default: return CLI_OPT_BAD;
  }
}

/* What --what-if's runs of single launches are to know, too. */
static int for_runs(const struct cli_command *cmd, struct exec_run *x, const char *name, const char *value)
{
  return exec_what_if_option(&x->what_if, name, value) ? CLI_OK : cli_usage_error(cmd, "too many options");
}

static int take_mig(const struct cli_command *cmd, struct exec_run *x, const char *profile)
{
  x->mig = profile;
  fprintf(x->out, "mig=%s\n", profile);
  return for_runs(cmd, x, "--mig", profile);
}

/* When a RISC-V program is to be saved. */
static int take_times(const struct cli_command *cmd, struct exec_run *x, const char *arg)
{
  mem_free(x->times);
  x->times = NULL;
  x->for_rv64 = true;
  x->rv64.n_checkpoints = 1;
  x->rv64.checkpoint_region = strcmp(arg, "region") == 0;
  if (x->rv64.checkpoint_region) return CLI_OK;
  x->rv64.checkpoint_at = x->times = checkpoint_list(arg, &x->rv64.n_checkpoints);
  if (x->times) return CLI_OK;
  return cli_usage_error(cmd, "--checkpoint-at %s: not region, or times in ns, each larger than the one before", arg);
}

/* Options of RISC-V programs; CLI_OPT_BAD: another one. */
static int take_rv64(const struct cli_command *cmd, struct exec_run *x, int id, const char *arg)
{
  enum { MOST_MIB = 1 << 18 }; /* the address space */
  unsigned count;
  unsigned long n;
  switch (id) {
  case OPT_SYSROOT: x->rv64.sysroot = arg; break;
  case OPT_MEMORY:
    if (!cli_count(cmd, "memory", arg, MOST_MIB, &count)) return CLI_BAD_INPUT;
    x->rv64.memory_mib = count;
    break;
  case OPT_FUNCTIONAL_CPU: x->rv64.functional_cpu = true; break;
  case OPT_FAST_FORWARD:
    n = 0;
    if (strcmp(arg, "region") != 0 && !cli_number(arg, 1, ULONG_MAX, &n))
      return cli_usage_error(cmd, "--fast-forward %s: region, or a number of instructions", arg);
    x->rv64.forward = true;
    x->rv64.forward_insts = n;
    break;
  case OPT_MISSING_CALLS: x->rv64.missing_calls = true; break;
  case OPT_CHECKPOINT: x->rv64.checkpoint_file = arg; break;
  case OPT_CHECKPOINT_AT: return take_times(cmd, x, arg);
  case OPT_RESTORE: x->restore = arg; break;
  case OPT_MAX_INSTRUCTIONS: /* of programs of either kind */
    if (cli_number(arg, 1, ULONG_MAX, &n)) x->rv64.max_insts = n;
    return CLI_OPT_BAD;
  default:
    x->for_gpu = true;
    return CLI_OPT_BAD;
  }
  x->for_rv64 = true;
  return CLI_OK;
}

static int take_share(const struct cli_command *cmd, struct exec_run *x, const char *arg)
{
  x->share = strcmp(arg, "slices") == 0;
  x->mps = strcmp(arg, "mps") == 0;
  if (x->share || x->mps || strcmp(arg, "none") == 0) return CLI_OK;
  return cli_usage_error(cmd, "--share %.60s: slices, mps or none", arg);
}

static int take_option(const struct cli_command *cmd, struct exec_run *x, int id, const char *arg)
{
  unsigned count;
  const int status = take_rv64(cmd, x, id, arg);
  if (status != CLI_OPT_BAD) return status;
  /* A line break would start another option. */
  if (arg && strchr(arg, '\n')) return cli_usage_error(cmd, "an option's value has a line break");
  switch (id) {
  case OPT_GPU: x->gpu = arg; break;
  case OPT_MACHINE: x->machine = arg; break;
  case OPT_RANKS: return rank_choice_take(cmd, &x->ranks, arg);
  case OPT_SHARE: return take_share(cmd, x, arg);
  case OPT_PRESETS: x->presets = arg; break;
  case OPT_SET: fprintf(x->out, "set=%s\n", arg); return for_runs(cmd, x, "--set", arg);
  case OPT_CLOCK: fprintf(x->out, "set=clock=%s\n", arg); return for_runs(cmd, x, "--clock", arg);
  case OPT_MIG: return take_mig(cmd, x, arg);
  case OPT_WHAT_IF: x->what_if.costs = arg; break; /* which there are depends on --machine */
  case OPT_HOST_TIME: return take_host_time(x, arg);
  case OPT_SPIN: return take_spin(cmd, x, arg);
  case OPT_TIMED: x->timed = true; break;
  case OPT_FUNCTIONAL: x->timed = false; break;
  case OPT_OUTPUT: x->capture = arg; break;
  case OPT_TIME_KERNELS: x->which = arg; break;
  case OPT_STOP: x->stop = true; break;
  case OPT_COLD: fprintf(x->out, "cold=1\n"); break;
  case OPT_THREADS:
    if (!cli_count(cmd, "threads", arg, WATCH_MAX_THREADS, &count)) return CLI_BAD_INPUT;
    x->threads = count;
    fprintf(x->out, "threads=%u\n", count);
    return for_runs(cmd, x, "--threads", arg);
  case OPT_INTERLEAVE:
    if (!cli_count(cmd, "interleave", arg, WATCH_MAX_SLICE, &count)) return CLI_BAD_INPUT;
    fprintf(x->out, "interleave=%u\n", count);
    break;
  case OPT_SAMPLE: return take_count(cmd, x, "sample-launches", "sample", arg);
  case OPT_SAMPLE_CTAS: return take_count(cmd, x, "sample-ctas", "sample_ctas", arg);
  case OPT_MAX_CYCLES: return take_count(cmd, x, "max-cycles", "max_cycles", arg);
  case OPT_MAX_INSTRUCTIONS: return take_count(cmd, x, "max-instructions", "max_insts", arg);
  case OPT_PROGRESS: fprintf(x->out, "progress=1\n"); break;
  case OPT_REPORT: return take_file(x, "report", x->report = arg);
  case OPT_JSON: return take_file(x, "json", x->json = arg);
  case OPT_HTML: return take_file(x, "html", x->html = arg);
  case OPT_HTML_BASELINE: return take_baseline(x, arg);
  case OPT_TIMELINE: return take_file(x, "timeline", x->timeline = arg);
  case OPT_TIMELINE_SMS: return take_timeline(cmd, x, "timeline_sms", arg, activity_choice_sms);
  case OPT_TIMELINE_WARPS: return take_timeline(cmd, x, "timeline_warps", arg, activity_choice_warps);
  case OPT_TIMELINE_US: return take_timeline(cmd, x, "timeline_us", arg, activity_choice_us);
  case OPT_LIBS: return take_libs(cmd, x, arg);
  case OPT_TRACE: fprintf(x->out, "trace=%s\n", arg); break;
  case OPT_QUIET: x->quiet = true; fprintf(x->out, "quiet=1\n"); break;
  default: return take_sanitize(cmd, x, id, arg);
  }
  return CLI_OK;
}

static bool names_links(const char *costs)
{
  for (const char *at = costs; *at;) {
    const size_t n = strcspn(at, ",");
    if (machine_what_if_is_link(at, n)) return true;
    at += n + (at[n] == ',');
  }
  return false;
}

/* The program is run as a whole, several times. */
static int check_what_if_machine(const struct cli_command *cmd, const struct exec_run *x)
{
  if (x->stop || !x->timed || x->html || x->json || x->timeline || x->report)
    return cli_usage_error(cmd, "--what-if runs the program several times: not with --functional, "
                                "--stop-after-timed, --html, --json, --report or --timeline");
  fflush(x->out);
  return shared_launches_check(cmd, "--what-if with --machine", x->text);
}

static int check_what_if(const struct cli_command *cmd, const struct exec_run *x)
{
  uint64_t rows;
  struct err e = {""};
  const char *costs = x->what_if.costs;
  if (!costs) return CLI_OK;
  if (!x->machine && names_links(costs))
    return cli_usage_error(cmd, "--what-if %s: links are asked about with --machine (docs/limiter.md)", costs);
  if (!(x->machine ? exec_what_if_machine_check(costs, &e) : what_if_choose(costs, &rows, &e)))
    return cli_usage_error(cmd, "%s", e.msg);
  if (x->machine) return check_what_if_machine(cmd, x);
  if (x->mig && strchr(x->mig, ',')) return cli_usage_error(cmd, "--what-if: on one instance: --mig names several");
  if (!x->which) return cli_usage_error(cmd, "--what-if needs --time-kernels: which launches to run again");
  if (!x->timed || x->html || x->json || x->timeline || x->report)
    return cli_usage_error(cmd, "--what-if runs single launches: not with --functional, --html, --json, --report or "
                                "--timeline");
  return CLI_OK;
}

static int check_ranks(const struct cli_command *cmd, const struct exec_run *x)
{
  if (!x->ranks.given) return CLI_OK;
  if (!x->machine) return cli_usage_error(cmd, "--ranks are for the GPUs of a machine: --machine says which");
  if (!x->timed || x->which || x->html || x->timeline || x->what_if.costs)
    return cli_usage_error(cmd, "--ranks: not with --functional, --time-kernels, --html, --timeline or --what-if, "
                                "which look into all GPUs: leave --ranks out, launches and times are the same");
  if (x->mig) return cli_usage_error(cmd, "--ranks: not with --mig: a process has one instance then, beside no other");
  fflush(x->out);
  return rank_choice_check(cmd, x->text);
}

static int check_share(const struct cli_command *cmd, const struct exec_run *x)
{
  if (!x->share && !x->mps) return CLI_OK;
  if (x->machine) return cli_usage_error(cmd, "--share: for one GPU, not with --machine");
  if (x->mig && strchr(x->mig, ',')) return cli_usage_error(cmd, "--share: for one instance, not for several");
  if (!x->timed || x->which || x->what_if.costs)
    return cli_usage_error(cmd, "--share: not with --functional, --time-kernels or --what-if");
  fflush(x->out);
  return shared_launches_check(cmd, "--share", x->text);
}

static int check_outputs(const struct cli_command *cmd, const struct exec_run *x)
{
  if (x->timeline_choice && !x->timeline)
    return cli_usage_error(cmd, "--timeline-sms, --timeline-warps and --timeline-us choose what --timeline FILE shows");
  if (output_same(x->json, x->timeline) || output_same(x->json, x->report) || output_same(x->timeline, x->report))
    return cli_usage_error(cmd, "two of --json, --report and --timeline name one file");
  if (x->baseline && !x->html) return cli_usage_error(cmd, "--html-baseline FILE is what --html FILE compares with");
  if (x->html && !x->timed) return cli_usage_error(cmd, "--html shows cycles: not with --functional");
  if (output_same(x->html, x->json) || output_same(x->html, x->timeline) || output_same(x->html, x->report))
    return cli_usage_error(cmd, "--html and another output name one file");
  if (!x->rv64.checkpoint_file != !x->rv64.n_checkpoints)
    return cli_usage_error(cmd, "--checkpoint FILE says where, --checkpoint-at when: both or none");
  if (output_same(x->rv64.checkpoint_file, x->json) || output_same(x->rv64.checkpoint_file, x->report))
    return cli_usage_error(cmd, "--checkpoint and another output name one file");
  return CLI_OK;
}

static int check_restore(const struct cli_command *cmd, const struct exec_run *x, unsigned n_options, bool program)
{
  if (n_options <= 1u + (x->threads > 0) && !program) return CLI_OK;
  return cli_usage_error(cmd, "--restore FILE goes on with what was asked for then: no program, "
                              "no option but --threads");
}

int exec_run_parse(const struct cli_command *cmd, struct exec_run *x, int argc, char **argv)
{
  const char *arg;
  unsigned n = 0;
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END; n++) {
    if (id == CLI_OPT_HELP) return CLI_OPT_HELP;
    if (id == CLI_OPT_BAD) return CLI_BAD_INPUT;
    const int status = take_option(cmd, x, id, arg);
    if (status != CLI_OK) return status;
  }
  if (x->restore) return check_restore(cmd, x, n, optind < argc);
  int status = check_outputs(cmd, x);
  if (status == CLI_OK && optind == argc) status = cli_usage_error(cmd, "no program given");
  if (status == CLI_OK) status = check_ranks(cmd, x);
  if (status == CLI_OK) status = check_share(cmd, x);
  return status == CLI_OK ? check_what_if(cmd, x) : status;
}
