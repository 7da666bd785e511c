/* warpstep exec and warpstep capture: an unmodified CUDA program on the simulated GPU. Finds the shim
 * libraries, puts them in the program's way, hands the options over in the environment and becomes the
 * program. warpstep sanitize starts it and waits.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "cli/checkpoint.h"
#include "cli/commands.h"
#include "cli/debug_program.h"
#include "cli/default_gpu.h"
#include "cli/exec_machine.h"
#include "cli/exec_what_if.h"
#include "cli/exec_rv64.h"
#include "cli/program_settings.h"
#include "cli/program_start.h"
#include "cli/rank_choice.h"
#include "cli/rank_hub.h"
#include "cli/sanitize_parent.h"
#include "cli/share_hub.h"
#include "config/presets.h"
#include "host/activity.h"
#include "host/choice.h"
#include "host/host_time.h"
#include "host/what_if.h"
#include "isa/watch.h"
#include "sanitize/sanitize.h"
#include "view/run_diff.h"

enum {
  OPT_GPU = CLI_OPT_FIRST, OPT_PRESETS, OPT_SET, OPT_CLOCK, OPT_FUNCTIONAL, OPT_TIMED, OPT_TIME_KERNELS,
  OPT_STOP, OPT_COLD, OPT_THREADS, OPT_REPORT, OPT_JSON, OPT_TRACE, OPT_QUIET,
  OPT_PROGRESS, OPT_MAX_CYCLES, OPT_MAX_INSTRUCTIONS, OPT_SAMPLE,
  OPT_SAMPLE_CTAS, OPT_INTERLEAVE, OPT_TIMELINE, OPT_TIMELINE_SMS, OPT_TIMELINE_WARPS, OPT_TIMELINE_US, OPT_TOOL,
  OPT_PRINT_LEVEL, OPT_PRINT_LIMIT, OPT_LEAK_CHECK, OPT_ERROR_EXITCODE, OPT_LOG_FILE, OPT_HTML, OPT_HTML_BASELINE,
  OPT_WHAT_IF, OPT_MACHINE, OPT_LIBS, OPT_CHECKPOINT, OPT_CHECKPOINT_AT, OPT_RESTORE,
  OPT_SYSROOT, OPT_MEMORY, OPT_MISSING_CALLS, OPT_FUNCTIONAL_CPU, OPT_FAST_FORWARD, OPT_HOST_TIME, OPT_SPIN, OPT_MIG,
  OPT_RANKS, OPT_SHARE, OPT_OUTPUT = 'o',
};

/* Every command that starts a program has this option. */
#define LIBS_ROW                                                                                                    \
  {OPT_LIBS, "libs", "WHICH", "own: cuBLAS, cuDNN, cuFFT and others are warpstep's open ones (the default);\n"       \
                              "native: the system's (docs/libraries.md)"}

static const struct cli_option options[] = {
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for"},
  {OPT_MACHINE, "machine", "NAME", "a machine of several GPUs, or a file of one (docs/machines.md)"},
  {OPT_RANKS, "ranks", "N", "the machine's GPUs in N processes, each of which runs the program; or mpi: in\n"
                            "those that mpirun has started (docs/exec.md)"},
  {OPT_SHARE, "share", "HOW", "slices: processes that the program starts have one GPU in turns, time slices\n"
                              "(docs/exec.md); none: each has its own (the default)"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  {OPT_CLOCK, "clock", "MHZ", "lock the SM clock; L2 follows it, DRAM keeps its own"},
  {OPT_MIG, "mig", "PROFILE", "an instance of the GPU, as 3g.20gb of an a100 (docs/exec.md)"},
  {OPT_TIMED, "timed", NULL, "simulate the time of every launch (the default)"},
  {OPT_FUNCTIONAL, "functional", NULL, "compute results only; times are nominal (docs/exec.md)"},
  {OPT_TIME_KERNELS, "time-kernels", "WHICH", "time only launches N..M (from 1; several with commas), or those whose\n"
                                              "kernel's name or symbol matches a regular expression"},
  {OPT_STOP, "stop-after-timed", NULL, "end the program after the last launch of N..M"},
  {OPT_COLD, "cold", NULL, "empty all caches before each timed launch, as profilers do"},
  {OPT_INTERLEAVE, "interleave", "N", "launches without time: the warps of a CTA take turns after N\n"
                                      "instructions at most (4096), for programs that race"},
  {OPT_HOST_TIME, "host-time", "HOW", "how long the program computes between calls: calls (not at all, the\n"
                                      "default), measured[,SCALE], record=FILE, replay=FILE (docs/exec.md)"},
  {OPT_SPIN, "spin", "HOW", "a program that waits in its own code for what a kernel writes: evidence (the\n"
                            "default), or strict: each look takes simulated time (docs/exec.md)"},
  {OPT_THREADS, "threads", "N", "host threads (1)"},
  {OPT_REPORT, "report", "FILE", "write the table of launches there, not to stderr"},
  {OPT_JSON, "json", "FILE", "write the launches as JSON; - is stdout"},
  {OPT_HTML, "html", "FILE", "write a page for browsers: the launches, and all about the longest of\n"
                             "them (docs/html.md)"},
  {OPT_HTML_BASELINE, "html-baseline", "FILE", "with changes since that execution, of which --json wrote FILE"},
  {OPT_WHAT_IF, "what-if", "COST,...", "run the launches that --time-kernels names again alone, as they found the\n"
                                       "memory, without each of these costs (docs/limiter.md); or all"},
  {OPT_TIMELINE, "timeline", "FILE", "write calls, streams, copies, kernels and CTAs with their times, for\n"
                                     "the viewer Perfetto (docs/timeline.md)"},
  {OPT_TIMELINE_SMS, "timeline-sms", "SMS", "CTAs of these SMs: 3 or 0-7 (all)"},
  {OPT_TIMELINE_WARPS, "timeline-warps", "WARPS", "and what these warps waited for: 3 (those of CTA 3), 0-7, 2.1, all"},
  {OPT_TIMELINE_US, "timeline-us", "FROM:TO", "what begins in these microseconds of the program"},
  {OPT_TRACE, "trace", "DIR", "write the launches that would be timed as traces there, time none"},
  {OPT_QUIET, "quiet", NULL, "no table of launches, no progress line"},
  {OPT_PROGRESS, "progress", NULL, "a progress line of long launches, also where stderr is no\n"
                                   "terminal"},
  {OPT_SAMPLE, "sample-launches", "N", "of launches alike (kernel, grid, block), time the first N, then\n"
                                       "ever fewer; estimate the others and print the error"},
  {OPT_SAMPLE_CTAS, "sample-ctas", "N", "time about N CTAs of a launch (at least three waves), run the others\n"
                                       "without time, estimate and print the error"},
  {OPT_MAX_CYCLES, "max-cycles", "N", "a timed launch fails after N cycles (as by a watchdog)"},
  {OPT_MAX_INSTRUCTIONS, "max-instructions", "N", "a launch fails after N warp instructions"},
  LIBS_ROW,
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {OPT_SYSROOT, "sysroot", "DIR", "RISC-V programs: where their interpreter and libraries are\n"
                                  "(/usr/riscv64-linux-gnu)"},
  {OPT_MEMORY, "memory", "MIB", "RISC-V programs: memory they may use (4096)"},
  {OPT_FUNCTIONAL_CPU, "functional-cpu", NULL, "RISC-V programs: the machine's GPUs in time, its CPU without"},
  {OPT_FAST_FORWARD, "fast-forward", "TO", "RISC-V programs: without time up to its first region of interest\n"
                                           "(region), or to so many instructions"},
  {OPT_MISSING_CALLS, "missing-calls", NULL, "RISC-V programs: name system calls that are not served, once each"},
  {OPT_CHECKPOINT, "checkpoint", "FILE", "RISC-V programs in time: save the run, to go on from there later\n"
                                         "(docs/checkpoints.md)"},
  {OPT_CHECKPOINT_AT, "checkpoint-at", "NS,...", "... at this time of the program; with several, to FILE.NS each. Or\n"
                                                 "region: when its next region of interest begins"},
  {OPT_RESTORE, "restore", "FILE", "go on from there; only --threads with it"},
  {0},
};

static const struct cli_option capture_options[] = {
  {OPT_OUTPUT, "output", "DIR", "folder for the cases; made when it is not there"},
  {OPT_TIME_KERNELS, "launches", "WHICH", "capture only launches N..M (from 1), or those whose\n"
                                          "kernel's name or symbol matches a regular expression"},
  {OPT_STOP, "stop-after-captured", NULL, "end the program after the last launch of N..M"},
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  {OPT_TIMED, "timed", NULL, "run the launches on the timing model, for programs whose way\n"
                             "depends on time"},
  {OPT_INTERLEAVE, "interleave", "N", "launches without time: the warps of a CTA take turns after N\n"
                                      "instructions at most (4096), for programs that race"},
  {OPT_THREADS, "threads", "N", "host threads (1)"},
  LIBS_ROW,
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

static const struct cli_option debug_options[] = {
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  LIBS_ROW,
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

static const struct cli_option sanitize_options[] = {
  {OPT_TOOL, "tool", "TOOLS", "memcheck, racecheck, initcheck, synccheck (several with commas) or\nall (the default)"},
  {OPT_LEAK_CHECK, "leak-check", "MODE", "full: report device memory that is not freed; no (the default)"},
  {OPT_PRINT_LEVEL, "print-level", "LEVEL", "error: what is surely a defect (the default); warn: and what may be\n"
                                            "meant; info: and races that do not change what is there"},
  {OPT_PRINT_LIMIT, "print-limit", "N", "print the first N findings (100), count the others"},
  {OPT_ERROR_EXITCODE, "error-exitcode", "N", "exit status when the program succeeds and has defects (1; 0: as if\n"
                                              "it had none)"},
  {OPT_LOG_FILE, "log-file", "FILE", "write the reports there, not to stdout"},
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  {OPT_INTERLEAVE, "interleave", "N", "the warps of a CTA take turns after N instructions at most (4096)"},
  {OPT_MAX_INSTRUCTIONS, "max-instructions", "N", "a launch fails after N warp instructions"},
  LIBS_ROW,
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

/* The options as the library reads them: lines KEY=VALUE. */
struct exec_run {
  const char *gpu, *machine, *mig, *presets, *which;
  const char *capture; /* folder; NULL: nothing is captured */
  const char *tools;   /* of the sanitizer; NULL: it is not used */
  const char *error_exitcode;
  const struct debug_options *debug; /* NULL: no debugger */
  bool timed;
  bool stop;
  const char *timeline, *json, *report, *log, *html, *baseline;
  bool timeline_choice;         /* options of what --timeline shows were given */
  struct exec_what_if what_if;
  struct activity_choice shown; /* what they are, to tell mistakes before the program starts */
  bool native;                  /* --libs native */
  struct exec_rv64 rv64;
  bool for_rv64, for_gpu;       /* options of either kind were given */
  unsigned long *times;         /* of --checkpoint-at */
  const char *restore;          /* --restore */
  unsigned threads;             /* --threads; 0: not given */
  struct rank_choice ranks;
  bool share;                   /* --share slices */
  bool quiet;
  char *text;
  size_t bytes;
  FILE *out;
};

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
  fprintf(x->out, "set=mig=%s\n", profile);
  return for_runs(cmd, x, "--mig", profile);
}

static int take_what_if(const struct cli_command *cmd, struct exec_run *x, const char *costs)
{
  uint64_t rows;
  struct err e = {""};
  if (!what_if_choose(costs, &rows, &e)) return cli_usage_error(cmd, "%s", e.msg);
  x->what_if.costs = costs;
  return CLI_OK;
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
  if (x->share || strcmp(arg, "none") == 0) return CLI_OK;
  return cli_usage_error(cmd, "--share %.60s: slices or none", arg);
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
  case OPT_WHAT_IF: return take_what_if(cmd, x, arg);
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

static int check_what_if(const struct cli_command *cmd, const struct exec_run *x)
{
  if (!x->what_if.costs) return CLI_OK;
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
    return cli_usage_error(cmd, "--ranks: not with --functional, --time-kernels, --html, --timeline or --what-if");
  fflush(x->out);
  return rank_choice_check(cmd, x->text);
}

static int check_share(const struct cli_command *cmd, const struct exec_run *x)
{
  if (!x->share) return CLI_OK;
  if (x->machine) return cli_usage_error(cmd, "--share: for one GPU, not with --machine");
  if (!x->timed || x->which || x->what_if.costs)
    return cli_usage_error(cmd, "--share: not with --functional, --time-kernels or --what-if");
  fflush(x->out);
  return shared_launches_check(cmd, "--share", x->text);
}

static int parse(const struct cli_command *cmd, struct exec_run *x, int argc, char **argv)
{
  const char *arg;
  unsigned n = 0;
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END; n++) {
    if (id == CLI_OPT_HELP) return CLI_OPT_HELP;
    if (id == CLI_OPT_BAD) return CLI_BAD_INPUT;
    int status = take_option(cmd, x, id, arg);
    if (status != CLI_OK) return status;
  }
  if (x->restore && (n > 1 + (x->threads > 0) || optind < argc))
    return cli_usage_error(cmd, "--restore FILE goes on with what was asked for then: no program, "
                                "no option but --threads");
  if (x->restore) return CLI_OK;
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
  if (optind == argc) return cli_usage_error(cmd, "no program given");
  int status = check_ranks(cmd, x);
  if (status == CLI_OK) status = check_share(cmd, x);
  return status == CLI_OK ? check_what_if(cmd, x) : status;
}

/* Mistakes are better told before the program starts. */
static bool check_which(const struct exec_run *x, struct err *e)
{
  struct choice c = { .last = UINT64_MAX };
  bool ok = !x->which || choice_parse(&c, x->capture ? "--launches" : "--time-kernels", x->which, e);
  if (ok && x->stop && c.last == UINT64_MAX)
    ok = err_set(e, x->capture ? "--stop-after-captured needs a last launch: --launches N..M"
                               : "--stop-after-timed needs a last launch: --time-kernels N..M");
  choice_free(&c);
  return ok;
}

/* What looks at one GPU alone. */
static bool check_machine(struct exec_run *x, const char *dir, struct err *e)
{
  const char *other = x->gpu        ? "--gpu: the machine says which GPUs there are"
                      : x->mig      ? "--mig, which cuts one GPU"
                      : x->timeline ? "--timeline, which shows one GPU"
                      : x->html     ? "--html, which shows one GPU"
                      : x->what_if.costs ? "--what-if, which asks one GPU"
                                         : NULL;
  if (other) return err_set(e, "--machine %s: not with %s", x->machine, other);
  return exec_machine_check(&x->machine, dir, x->out, &x->text, e);
}

static bool check_preset(struct exec_run *x, struct err *e)
{
  char dir[PATH_MAX];
  struct preset p;
  TRY(presets_dir(x->presets, dir, sizeof dir, e));
  if (x->machine) return check_machine(x, dir, e);
  TRY(preset_load(x->gpu, dir, &p, e));
  const bool ok = program_settings_apply(x->out, &x->text, &p, e) &&
                  activity_choice_fits(&x->shown, p.params.gpu_sms, e);
  preset_free(&p);
  return ok;
}

/* The folder for cases, as an absolute path: the program may change its own. It must not hold cases. */
static bool make_folder(const char **path, char absolute[PATH_MAX], struct err *e)
{
  char list[PATH_MAX + 16];
  if (mkdir(*path, 0777) != 0 && errno != EEXIST)
    return err_set(e, "%s: cannot create: %s", *path, host_error());
  if (!realpath(*path, absolute)) return err_set(e, "%s: %s", *path, host_error());
  snprintf(list, sizeof list, "%s/manifest.txt", absolute);
  if (access(list, F_OK) == 0)
    return err_set(e, "%s: holds captured launches already; choose another folder", *path);
  *path = absolute;
  return true;
}

static uint64_t nanoseconds(const struct timespec *t)
{
  return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* What the system notes in files from now on: the coarse clock. The outputs that are there already may be noted later
 * than that, as Linux 6.13 and later take a fine clock for files that were looked at. */
static uint64_t file_clock(const struct exec_run *x)
{
  const char *output[] = {x->json, x->html, x->report, x->timeline};
  struct timespec now;
  struct stat is;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  uint64_t clock = nanoseconds(&now);
  for (unsigned i = 0; i < sizeof output / sizeof *output; i++)
    if (output[i] && stat(output[i], &is) == 0 && nanoseconds(&is.st_mtim) >= clock)
      clock = nanoseconds(&is.st_mtim) + 1;
  return clock;
}

/* Starts the program and waits for it, for its exit status. */
static int start_watched(struct exec_run *x, char **program, const char *dir)
{
  char name[SANITIZE_TALLY_NAME];
  struct err e = {""};
  struct sanitize_tally *t = sanitize_tally_new(name, &e);
  FILE *out = t ? output_log_open(x->log ? x->log : "-", true, &e) : NULL;
  if (!out) return cli_error("%s", e.msg);
  fprintf(x->out, "tally=%s\n", name);
  program_hand_over(x->out, &x->text, dir, !x->native);
  const int status = sanitize_parent(program, t, out, atoi(x->error_exitcode));
  return output_log_close(out, x->log ? x->log : "stdout", &e) ? status : cli_error("%s", e.msg);
}

/* The program only saves the launches; they are timed behind it. */
static bool prepare_what_if(struct exec_run *x, struct err *e)
{
  if (!x->what_if.costs) return true;
  TRY(exec_what_if_begin(&x->what_if, e));
  x->capture = x->what_if.folder;
  x->timed = false;
  exec_what_if_option(&x->what_if, "--gpu", x->gpu);
  if (x->presets) exec_what_if_option(&x->what_if, "--presets", x->presets);
  return true;
}

/* The program may change its folder. */
static bool hand_over_debugger(struct exec_run *x, struct err *e)
{
  const struct debug_options *d = x->debug;
  char path[PATH_MAX];
  fprintf(x->out, "debug=%s\nquiet=1\n", d->dap ? "dap" : d->gdb ? "gdb" : "console");
  if (d->gdb) fprintf(x->out, "debug_gdb=%s\n", d->gdb);
  if (d->batch) fprintf(x->out, "debug_batch=1\n");
  if (d->slice) fprintf(x->out, "debug_turn=%u\n", d->slice);
  if (!d->script) return true;
  if (!realpath(d->script, path)) return err_set(e, "-x %s: %s", d->script, host_error());
  if (strchr(path, '\n')) return err_set(e, "-x: the name of the file has a line break");
  fprintf(x->out, "debug_commands=%s\n", path);
  return true;
}

static int start(struct exec_run *x, char **program)
{
  char dir[PATH_MAX], folder[PATH_MAX];
  struct err e = {""}, ignored;
  if (!x->gpu && !x->machine && !default_gpu(program[0], x->presets, &x->gpu, &ignored)) x->gpu = default_gpu_any();
  if (!check_which(x, &e) || !check_preset(x, &e) || !program_check(program[0], &e) ||
      !program_libraries(dir, sizeof dir, &e) || (x->capture && !make_folder(&x->capture, folder, &e)) ||
      !prepare_what_if(x, &e))
    return cli_error("%s", e.msg);
  fprintf(x->out, "%s=%s\nmode=%s\n", x->machine ? "machine" : "gpu", x->machine ? x->machine : x->gpu,
          x->timed ? "timed" : "functional");
  if (x->capture) fprintf(x->out, "capture=%s\nquiet=1\n", x->capture);
  if (x->tools) fprintf(x->out, "sanitize=%s\nerror_exitcode=%s\nquiet=1\n", x->tools, x->error_exitcode);
  if (x->debug && !hand_over_debugger(x, &e)) return cli_error("%s", e.msg);
  if (x->presets) fprintf(x->out, "presets=%s\n", x->presets);
  if (x->which) fprintf(x->out, "time=%s\n", x->which);
  if (x->stop) fprintf(x->out, "stop=1\n");
  fprintf(x->out, "started=%" PRIu64 "\n", file_clock(x));
  if (x->tools) return start_watched(x, program, dir);
  if (x->ranks.given) fprintf(x->out, "ranks_fd=%d\n", RANK_HUB_FD);
  struct share_hub hub;
  if (x->share && !share_hub_start(&hub, &e)) return cli_error("%s", e.msg);
  if (x->share) fprintf(x->out, "share=%s\n", hub.name);
  fprintf(x->out, "program=%d\n", (int)getpid());
  program_hand_over(x->out, &x->text, dir, !x->native);
  if (x->ranks.given) return rank_hub_run(x->ranks.n, program);
  if (x->share) return share_hub_run(&hub, program);
  if (x->what_if.costs) return exec_what_if_program(&x->what_if, program);
  execvp(program[0], program);
  program_not_started(program[0], &e);
  return cli_error("%s", e.msg);
}

/* The program's GPUs live in this process, and their library reads what it reads in others. */
static int start_rv64(const struct cli_command *cmd, struct exec_run *x, char **program)
{
  struct err e = {""};
  if (x->what_if.costs) return cli_usage_error(cmd, "--what-if is for programs of this machine");
  if (x->machine || x->gpu) {
    if (!check_which(x, &e) || !check_preset(x, &e)) return cli_error("%s", e.msg);
    fprintf(x->out, "%s=%s\nmode=%s\n", x->machine ? "machine" : "gpu", x->machine ? x->machine : x->gpu,
            x->timed ? "timed" : "functional");
    if (x->presets) fprintf(x->out, "presets=%s\n", x->presets);
    if (x->which) fprintf(x->out, "time=%s\n", x->which);
    if (x->stop) fprintf(x->out, "stop=1\n");
  }
  /* What is behind it has all it needs in memory of its own (cli/region.h). */
  fclose(x->out);
  x->out = NULL;
  char *const text = x->text;
  NO_MEMORY_IF(!(x->text = strdup(text)));
  free(text);
  x->rv64.machine = x->machine;
  x->rv64.gpu = x->gpu;
  x->rv64.presets = x->presets;
  x->rv64.options = x->text;
  x->rv64.timed = x->timed;
  x->rv64.report = x->report;
  x->rv64.json = x->json;
  x->rv64.quiet = x->quiet;
  return exec_rv64(&x->rv64, program);
}

/* A CUDA program of this machine, or one of RISC-V. */
static int start_either(const struct cli_command *cmd, struct exec_run *x, char **program)
{
  const bool rv64 = exec_rv64_is(program[0]);
  if (!rv64 && x->for_rv64)
    return x->rv64.checkpoint_file
               ? cli_error("--checkpoint: %s is a program of this machine, whose registers, threads and files are not"
                           " the simulator's: RISC-V programs are saved, and 'warpstep run'", program[0])
               : cli_usage_error(cmd, "--sysroot, --memory, --functional-cpu, --fast-forward and --missing-calls are"
                                 " for RISC-V programs: %s is none", program[0]);
  if (rv64 && x->ranks.given)
    return cli_error("%s: a RISC-V program: --ranks are for programs of this machine", program[0]);
  if (rv64 && x->share) return cli_error("%s: a RISC-V program: --share is for programs of this machine", program[0]);
  if (!rv64) return start(x, program);
  if (cmd != &cmd_exec) return cli_error("%s: a RISC-V program: only 'warpstep exec' runs those", program[0]);
  if (x->for_gpu && !x->machine && !x->gpu)
    return cli_usage_error(cmd, "%s: a RISC-V program runs without a GPU: --machine or --gpu says which; without them"
                           " only --sysroot, --memory, --missing-calls and --max-instructions are for it", program[0]);
  return start_rv64(cmd, x, program);
}

static int run_program(const struct cli_command *cmd, struct exec_run x, int argc, char **argv);

static int run_in_region(struct checkpoint *c, int argc, char **argv)
{
  optind = 0; /* options have been read before */
  return run_program(&cmd_exec, (struct exec_run){.timed = true, .rv64.checkpoint = c}, argc, argv);
}

/* With all its memory in a region. */
static int start_to_save(int argc, char **argv)
{
  struct err e = {""};
  int status;
  return checkpoint_run(run_in_region, argc, argv, &status, &e) ? status : cli_error("%s", e.msg);
}

static int restore(const char *path, unsigned threads)
{
  struct err e = {""};
  int status;
  return checkpoint_restore(path, threads, &status, &e) ? status : cli_error("%s", e.msg);
}

static int run_program(const struct cli_command *cmd, struct exec_run x, int argc, char **argv)
{
  x.shown = activity_choice_default();
  NO_MEMORY_IF(!(x.out = open_memstream(&x.text, &x.bytes)));
  int status = parse(cmd, &x, argc, argv);
  if (status == CLI_OK && cmd == &cmd_capture && !x.capture)
    status = cli_usage_error(cmd, "no folder given: -o DIR");
  if (status == CLI_OK && x.restore) status = restore(x.restore, x.threads);
  else if (status == CLI_OK && x.rv64.checkpoint_file && !x.rv64.checkpoint && exec_rv64_is(argv[optind]))
    status = start_to_save(argc, argv);
  else if (status == CLI_OK) status = start_either(cmd, &x, argv + optind);
  else if (status == CLI_OPT_HELP) status = cli_help(cmd);
  if (x.out) fclose(x.out);
  free(x.text);
  mem_free(x.times);
  return status;
}

static int run_exec(const struct cli_command *cmd, int argc, char **argv)
{
  return run_program(cmd, (struct exec_run){ .timed = true }, argc, argv);
}

static int run_capture(const struct cli_command *cmd, int argc, char **argv)
{
  return run_program(cmd, (struct exec_run){0}, argc, argv);
}

static int run_sanitize(const struct cli_command *cmd, int argc, char **argv)
{
  return run_program(cmd, (struct exec_run){ .tools = "all", .error_exitcode = "1" }, argc, argv);
}

int debug_program(const struct cli_command *cmd, const struct debug_options *debug, int argc, char **argv)
{
  struct cli_command as_exec = *cmd;
  as_exec.options = debug_options;
  return run_program(&as_exec, (struct exec_run){ .debug = debug }, argc, argv);
}

const struct cli_command cmd_sanitize = {
  .name = "sanitize",
  .synopsis = "[options] PROGRAM [ARGUMENT...]",
  .summary = "find defects of the kernels of a CUDA program",
  .options = sanitize_options,
  .program_follows = true,
  .notes =
    "The program runs as with 'warpstep exec --functional', and its kernels are watched: for addresses\n"
    "outside of allocations (memcheck), accesses to one place that nothing orders (racecheck), reads of\n"
    "what nobody wrote (initcheck), and barriers that not all threads reach (synccheck). Reports have\n"
    "the form of NVIDIA's compute-sanitizer; with nvcc -lineinfo they name source lines. An access that is\n"
    "invalid does not happen, and a kernel that faults ends alone: the program goes on. docs/sanitize.md says\n"
    "what is found and what is not; 'warpstep run --check' does the same for one launch.\n"
    "\n"
    "All processes of the program count, however they end; warpstep waits for the first one. The exit status is\n"
    "that of the program; 1, or --error-exitcode, when that is 0 and there are defects; 2 when it could not be\n"
    "started. When no kernel ran, a line on stderr says so.\n",
  .examples =
    "  # everything\n"
    "  warpstep sanitize ./app\n"
    "  # only races, in a log\n"
    "  warpstep sanitize --tool racecheck --log-file races.log ./app\n",
  .run = run_sanitize,
};

const struct cli_command cmd_capture = {
  .name = "capture",
  .synopsis = "-o DIR [options] PROGRAM [ARGUMENT...]",
  .summary = "save launches of a CUDA program, to run them alone",
  .options = capture_options,
  .program_follows = true,
  .notes =
    "The program runs as with 'warpstep exec --functional'. Each launch becomes a file DIR/NUMBER-KERNEL.case\n"
    "that holds its machine code, arguments, all device memory before, and what of it had changed after;\n"
    "DIR/manifest.txt lists them with their checksums. 'warpstep run FILE.case' runs one again, on the\n"
    "same or on another GPU, and compares memory and printed text.\n"
    "\n"
    "The exit status is that of the program; 2 when it could not be started.\n",
  .examples =
    "  # every launch\n"
    "  warpstep capture -o cases ./saxpy 1000000\n"
    "  # the third launch, and not more of the program than it takes to get there\n"
    "  warpstep capture -o third --launches 3..3 --stop-after-captured ./train\n"
    "  warpstep run third/0003-*.case --gpu rtx-3090\n",
  .run = run_capture,
};

const struct cli_command cmd_exec = {
  .name = "exec",
  .synopsis = "[options] PROGRAM [ARGUMENT...]",
  .summary = "run an unmodified CUDA program",
  .options = options,
  .program_follows = true,
  .notes =
    "The program uses the CUDA driver or runtime library as ever; both are replaced by ours, and its\n"
    "kernels run on the simulated GPU inside the program's own process. It must be linked with\n"
    "-cudart shared, or with the static runtime (nvcc's default) and not stripped.\n"
    "Events and the device's clocks tell simulated time. docs/exec.md lists what is served, docs/json.md\n"
    "every key of --json. The table at the end says where issue slots and warps of each kernel went.\n"
    "\n"
    "An executable of 64-bit RISC-V Linux runs on a simulated core, without time; with --machine on the cores\n"
    "of a machine that has some, in time (docs/rv64.md).\n"
    "\n"
    "The exit status is that of the program; 2 when it could not be started.\n",
  .examples =
    "  # time all launches of a program\n"
    "  warpstep exec ./saxpy 1000000\n"
    "  # results only, then only the tenth launch with time on another GPU\n"
    "  warpstep exec --functional ./train --epochs 1\n"
    "  warpstep exec --gpu a100 --time-kernels 10..10 --stop-after-timed ./train --epochs 1\n"
    "  # the launches of one kernel, as JSON\n"
    "  warpstep exec --time-kernels gemm --json launches.json ./app\n"
    "  # on eight GPUs\n"
    "  warpstep exec --machine dgx-a100 ./app\n"
    "  # what the third launch would gain without each of its costs\n"
    "  warpstep exec --what-if all --time-kernels 3..3 --stop-after-timed ./app\n",
  .run = run_exec,
};
