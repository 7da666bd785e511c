/* Options of `warpstep run`; see run_options.h. */
#include "cli/run_options.h"

#include <elf.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "base/regular.h"
#include "cli/checkpoint.h"
#include "cli/default_gpu.h"
#include "host/snapshot.h"
#include "host/what_if.h"
#include "isa/watch.h"
#include "sanitize/sanitize.h"

enum {
  OPT_KERNEL = CLI_OPT_FIRST, OPT_GRID, OPT_BLOCK, OPT_CLUSTER, OPT_SHMEM, OPT_BUF, OPT_SYMBOL, OPT_ARG, OPT_GPU,
  OPT_PRESETS,
  OPT_SET, OPT_CLOCK, OPT_MIG, OPT_FUNCTIONAL, OPT_THREADS, OPT_JSON, OPT_JSON_HOST, OPT_OUT, OPT_DATA, OPT_PRINT_BUF,
  OPT_NO_CHECK, OPT_QUIET, OPT_ANNOTATE, OPT_HAZARDS, OPT_MAX_CYCLES, OPT_MAX_INSTRUCTIONS, OPT_WARM_UP, OPT_INTERLEAVE,
  OPT_PIPELINE, OPT_PIPELINE_WARPS, OPT_PIPELINE_CYCLES, OPT_PIPELINE_SM, OPT_WHAT_IF, OPT_DETAILS,
  OPT_TIMELINE, OPT_TIMELINE_SMS, OPT_TIMELINE_WARPS, OPT_TIMELINE_CYCLES,
  OPT_CHECK, OPT_PRINT_LEVEL, OPT_HTML, OPT_HTML_BASELINE,
  OPT_CHECKPOINT, OPT_CHECKPOINT_AT, OPT_RESTORE,
};

enum { MAX_WARM_UP = 1000, MAX_SHMEM = 1 << 20 };

const struct cli_option run_option_table[] = {
  {OPT_GPU, "gpu", "PRESET", "the GPU to simulate, see 'warpstep gpus'; by default the\n"
                             "first the code runs on of"
#define DEFAULT_GPU(sm, preset) "\n" preset " (sm_" #sm ")"
#include "cli/default_gpus.def"
#undef DEFAULT_GPU
  },
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset (repeatable)"},
  {OPT_CLOCK, "clock", "MHZ", "lock the SM clock; L2 follows it, DRAM keeps its own"},
  {OPT_MIG, "mig", "PROFILE", "an instance of the GPU, as 3g.20gb of an a100 (docs/sharing.md)"},
  {OPT_FUNCTIONAL, "functional", NULL, "compute the results only, without time: much faster"},
  {OPT_INTERLEAVE, "interleave", "N", "with --functional: the warps of a CTA take turns after N instructions\n"
                                      "at most (4096), for programs that race between barriers"},
  {OPT_THREADS, "threads", "N", "host threads (1); results do not depend on it"},
  {OPT_WARM_UP, "warm-up", "N", "launch the kernel N times before the launch that is reported, so\n"
                                "that caches are warm; buffers hold what all launches made of them"},
  {OPT_MAX_CYCLES, "max-cycles", "N", "stop after N SM cycles, say where the warps are, exit with 5"},
  {OPT_MAX_INSTRUCTIONS, "max-instructions", "N", "stop after N warp instructions, in the same way"},
  {OPT_JSON, "json", "FILE", "write everything as JSON; - is stdout"},
  {OPT_JSON_HOST, "json-host", NULL, "add facts about this machine to the JSON: time, rate"},
  {OPT_OUT, "out", "DIR", "write every buffer to DIR/NAME.bin after the run"},
  {OPT_DATA, "data", "DIR", "look for the data files of the launch file in DIR"},
  {OPT_PRINT_BUF, "print-buf", "NAME[:N]", "print the first N (16) elements of a buffer"},
  {OPT_ANNOTATE, "annotate", NULL, "print what each source line (nvcc -lineinfo) and each\n"
                                   "instruction cost, after the summary"},
  {OPT_DETAILS, "details", NULL, "print each unit's use against its peak, the roofline, and what\n"
                                 "limits occupancy, after the summary"},
  {OPT_WHAT_IF, "what-if", "COST,...", "run the launch again without each of these costs, and print what\n"
                                       "it gains; all, or"
#define WHAT_IF(name, text, seen, ...) "\n  " #name ": " text
#include "host/what_if.def"
#undef WHAT_IF
                "\n  tail: the last wave of CTAs as full as the others"},
  {OPT_HTML, "html", "FILE", "write a page for browsers: all of this, use over time and the listing\n(docs/html.md)"},
  {OPT_HTML_BASELINE, "html-baseline", "FILE", "with changes since that run, of which --json wrote FILE"},
  {OPT_HAZARDS, "hazards", "MODE", "off; check: report what the control bits fail to protect, and\n"
                                   "exit with 1 if anything; gaps: check, and print the smallest\n"
                                   "distances seen from producers to consumers; emulate: wrong\n"
                                   "control bits give wrong values, as on silicon; both: emulate, and\n"
                                   "report what goes wrong in that run"},
  {OPT_PIPELINE, "pipeline", "FILE", "write the instructions of some warps, stage by stage, for the\n"
                                     "viewer Konata (docs/pipeline.md)"},
  {OPT_PIPELINE_WARPS, "pipeline-warps", "WARPS", "of these warps: 3 (those of CTA 3), 0-7, 2.1 (warp 1 of CTA 2),\n"
                                                  "0-3.0-1, several with commas, all; without it 0, with\n"
                                                  "--pipeline-sm all"},
  {OPT_PIPELINE_CYCLES, "pipeline-cycles", "FROM:TO", "what issues in these cycles of the launch"},
  {OPT_PIPELINE_SM, "pipeline-sm", "N", "on this SM, from 0"},
  {OPT_TIMELINE, "timeline", "FILE", "write when CTAs were on which SM, for the viewer Perfetto\n(docs/timeline.md)"},
  {OPT_TIMELINE_SMS, "timeline-sms", "SMS", "of these SMs: 3 or 0-7 (all)"},
  {OPT_TIMELINE_WARPS, "timeline-warps", "WARPS", "with what these warps waited for; as --pipeline-warps"},
  {OPT_TIMELINE_CYCLES, "timeline-cycles", "FROM:TO", "CTAs and warps that begin in these cycles of the launch"},
  {OPT_CHECKPOINT, "checkpoint", "FILE", "save the run, to go on from there later (docs/checkpoints.md)"},
  {OPT_CHECKPOINT_AT, "checkpoint-at", "CYCLE,...", "... when the launch has come to this cycle; with several, to\n"
                                                    "FILE.CYCLE each"},
  {OPT_RESTORE, "restore", "FILE", "go on from there; no other option but --threads"},
  {OPT_CHECK, "check", "TOOLS", "run without time and report defects: memcheck, racecheck, initcheck,\n"
                                "synccheck (with commas) or all; exit with 1 if any"},
  {OPT_PRINT_LEVEL, "print-level", "LEVEL", "of --check: error (default), warn, info"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {OPT_NO_CHECK, "no-check", NULL, "do not compare results with the expected ones"},
  {OPT_QUIET, "quiet", NULL, "no summary and no progress line"},
  {OPT_KERNEL, "kernel", "NAME", "cubin: the kernel (not needed when there is only one)"},
  {OPT_GRID, "grid", "X[,Y[,Z]]", "cubin: CTAs (1)"},
  {OPT_BLOCK, "block", "X[,Y[,Z]]", "cubin: threads per CTA (1)"},
  {OPT_CLUSTER, "cluster", "X[,Y[,Z]]", "cubin: CTAs of a cluster (as the kernel says)"},
  {OPT_SHMEM, "shmem", "BYTES", "cubin: dynamic shared memory per CTA (0)"},
  {OPT_BUF, "buf", "SPEC", "cubin: a buffer, NAME:TYPE:COUNT[:FILL[,KEY=VALUE...]]"},
  {OPT_SYMBOL, "symbol", "SPEC", "cubin: contents of a variable, as --buf"},
  {OPT_ARG, "arg", "ARG", "cubin: next argument, BUFFER or TYPE:VALUE"},
  {0},
};

static void list_add(struct text_list *list, struct arena *a, int argc, const char *text)
{
  if (!list->item) list->item = ARENA_ARRAY(a, const char *, (size_t)argc);
  list->item[list->n++] = text;
}

/* --clock MHZ is an override like those of --set. */
static void add_set(struct run_options *o, int argc, const char *key, const char *value)
{
  size_t n = strlen(key) + strlen(value) + 2;
  char *text = ARENA_ARRAY(&o->arena, char, n);
  snprintf(text, n, "%s=%s", key, value);
  list_add(&o->set, &o->arena, argc, text);
}

static bool take_limit(const struct cli_command *cmd, const char *option, const char *arg,
                       unsigned long *limit)
{
  if (cli_number(arg, 1, LONG_MAX, limit)) return true;
  cli_usage_error(cmd, "%s %s: not a number from 1", option, arg);
  return false;
}

/* The checks are made in runs without time. */
static bool take_tools(const struct cli_command *cmd, const char *arg, struct run_options *o)
{
  const char *bad;
  o->functional = true;
  if (sanitize_tools_parse(arg, &o->sanitize, &bad)) return true;
  cli_usage_error(cmd, "--check %s: '%.*s' is not memcheck, racecheck, initcheck, synccheck or all", arg,
                  (int)strcspn(bad, ","), bad);
  return false;
}

static bool take_level(const struct cli_command *cmd, const char *arg, struct run_options *o)
{
  o->print_level_given = true;
  if (sanitize_level_parse(arg, &o->print_level)) return true;
  cli_usage_error(cmd, "--print-level %s: not error, warn or info", arg);
  return false;
}

static bool take_cycles(const struct cli_command *cmd, const char *arg, struct run_options *o)
{
  mem_free(o->checkpoint_at);
  if ((o->checkpoint_at = checkpoint_list(arg, &o->n_checkpoints))) return true;
  return cli_usage_error(cmd, "--checkpoint-at %s: not cycles from 1, each larger than the one before", arg), false;
}

static bool take_what_if(const struct cli_command *cmd, const char *list, uint64_t *rows)
{
  struct err e = {0};
  if (what_if_choose(list, rows, &e)) return true;
  cli_usage_error(cmd, "%s", e.msg);
  return false;
}

static bool take_warm_up(const struct cli_command *cmd, const char *arg, struct run_options *o)
{
  unsigned long n;
  if (!cli_number(arg, 0, MAX_WARM_UP, &n)) {
    cli_usage_error(cmd, "--warm-up %s: not a number from 0 to %d", arg, MAX_WARM_UP);
    return false;
  }
  o->warm_up = (unsigned)n;
  return true;
}

static bool take_hazards(const struct cli_command *cmd, const char *arg, struct run_options *o)
{
  static const char *const name[] = {[HAZARDS_OFF] = "off", [HAZARDS_CHECK] = "check", [HAZARDS_GAPS] = "gaps",
                                     [HAZARDS_EMULATE] = "emulate", [HAZARDS_BOTH] = "both"};
  for (unsigned i = 0; i < sizeof name / sizeof *name; i++) {
    if (strcmp(arg, name[i]) != 0) continue;
    o->hazards = i;
    return true;
  }
  cli_usage_error(cmd, "--hazards %s: not off, check, gaps, emulate or both", arg);
  return false;
}

/* Stores one option. False: a bad value (a line was printed). */
static bool take_option(const struct cli_command *cmd, int id, const char *arg, int argc,
                        struct run_options *o)
{
  switch (id) {
  case OPT_GPU: o->gpu = arg; break;
  case OPT_SET: list_add(&o->set, &o->arena, argc, arg); break;
  case OPT_CLOCK: add_set(o, argc, "clock", arg); break;
  case OPT_MIG: add_set(o, argc, "mig", arg); break;
  case OPT_FUNCTIONAL: o->functional = true; break;
  case OPT_CHECKPOINT: o->checkpoint = arg; break;
  case OPT_CHECKPOINT_AT: return take_cycles(cmd, arg, o);
  case OPT_RESTORE: o->restore = arg; break;
  case OPT_THREADS: o->threads_given = true; return cli_count(cmd, "threads", arg, WATCH_MAX_THREADS, &o->threads);
  case OPT_INTERLEAVE: return cli_count(cmd, "interleave", arg, WATCH_MAX_SLICE, &o->interleave);
  case OPT_WARM_UP: return take_warm_up(cmd, arg, o);
  case OPT_MAX_CYCLES: return take_limit(cmd, "--max-cycles", arg, &o->max_cycles);
  case OPT_MAX_INSTRUCTIONS: return take_limit(cmd, "--max-instructions", arg, &o->max_instructions);
  case OPT_JSON: o->json = arg; break;
  case OPT_JSON_HOST: o->json_host = true; break;
  case OPT_ANNOTATE: o->annotate = true; break;
  case OPT_DETAILS: o->details = true; break;
  case OPT_WHAT_IF: return take_what_if(cmd, arg, &o->what_if);
  case OPT_OUT: o->out = arg; break;
  case OPT_DATA: o->data = arg; break;
  case OPT_PRINT_BUF: list_add(&o->print_buf, &o->arena, argc, arg); break;
  case OPT_PRESETS: o->presets = arg; break;
  case OPT_HAZARDS: return take_hazards(cmd, arg, o);
  case OPT_PIPELINE: o->pipeline = arg; break;
  case OPT_PIPELINE_WARPS: o->pipeline_warps = arg; break;
  case OPT_PIPELINE_CYCLES: o->pipeline_cycles = arg; break;
  case OPT_PIPELINE_SM: o->pipeline_sm = arg; break;
  case OPT_HTML: o->html = arg; break;
  case OPT_HTML_BASELINE: o->html_baseline = arg; break;
  case OPT_TIMELINE: o->timeline = arg; break;
  case OPT_TIMELINE_SMS: o->timeline_sms = arg; break;
  case OPT_TIMELINE_WARPS: o->timeline_warps = arg; break;
  case OPT_TIMELINE_CYCLES: o->timeline_cycles = arg; break;
  case OPT_CHECK: return take_tools(cmd, arg, o);
  case OPT_PRINT_LEVEL: return take_level(cmd, arg, o);
  case OPT_NO_CHECK: o->check = false; break;
  case OPT_QUIET: o->quiet = true; break;
  case OPT_KERNEL: o->kernel = arg; break;
  case OPT_GRID: o->grid = arg; break;
  case OPT_BLOCK: o->block = arg; break;
  case OPT_CLUSTER: o->cluster = arg; break;
  case OPT_SHMEM: o->shmem = arg; break;
  case OPT_BUF: list_add(&o->buf, &o->arena, argc, arg); break;
  case OPT_SYMBOL: list_add(&o->symbol, &o->arena, argc, arg); break;
  case OPT_ARG: list_add(&o->arg, &o->arena, argc, arg); break;
  default: return false;
  }
  return true;
}

/* Launch files are text. Anything that starts like a binary holds the code itself. */
static bool holds_code(const char *path)
{
  static const struct { const char *text; size_t n; } magic[] = {
    {ELFMAG, SELFMAG}, {"\x50\xed\x55\xba", 4}, {"!<arch>\n", 8}, {"MZ", 2}};
  static const char *const suffixes[] = {".cubin", ".fatbin"};
  char head[8] = {0};
  size_t len = strlen(path);
  FILE *f = file_is_regular(path, NULL) ? fopen(path, "rb") : NULL;

  if (f) {
    size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    for (size_t i = 0; i < sizeof magic / sizeof magic[0]; i++)
      if (n >= magic[i].n && !memcmp(head, magic[i].text, magic[i].n)) return true;
  }
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    size_t n = strlen(suffixes[i]);
    if (len > n && !strcmp(path + len - n, suffixes[i])) return true;
  }
  return false;
}

/* What has to be done with a file before it can run; NULL: nothing. */
static const char *first_step(const char *path)
{
  static const struct {
    const char *suffix, *text;
  } kinds[] = {
    {".cu", "CUDA source; compile it first: nvcc -cubin -arch=sm_86 -o FILE.cubin FILE.cu"},
    {".ptx", "PTX, which is not machine code yet; assemble it first: ptxas -arch=sm_86 -o FILE.cubin FILE.ptx"},
    {".sass", "an assembler file; assemble it first: warpstep asm FILE.sass -o FILE.cubin"},
    {".traceg", "a trace; warpstep trace import runs it"}, {".tracez", "a trace; warpstep trace import runs it"},
    {".py", "a Python program; warpstep exec python FILE.py runs it"},
  };
  size_t len = strlen(path);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    size_t n = strlen(kinds[i].suffix);
    if (len > n && !strcmp(path + len - n, kinds[i].suffix)) return kinds[i].text;
  }
  return NULL;
}

/* "%d" in the name of a cubin stands for the target. */
static bool files_can_run(const struct run_options *o, struct err *e)
{
  for (unsigned i = 0; i < o->n_files; i++) {
    if (!strstr(o->files[i], "%d")) TRY(file_is_regular(o->files[i], e));
    const char *text = first_step(o->files[i]);
    if (text) return err_set(e, "%s: is %s", o->files[i], text);
  }
  return true;
}

/* Which instructions --pipeline shows. */
static bool take_pipeline(const struct cli_command *cmd, struct run_options *o)
{
  struct err e = {0};
  unsigned long sm = 0;
  o->pipe = pipe_choice_default();
  if (!o->pipeline && (o->pipeline_warps || o->pipeline_cycles || o->pipeline_sm)) {
    cli_usage_error(cmd, "--pipeline-warps, --pipeline-cycles and --pipeline-sm choose what --pipeline FILE shows");
    return false;
  }
  if (o->pipeline_sm && !cli_number(o->pipeline_sm, 0, UINT16_MAX, &sm)) {
    cli_usage_error(cmd, "--pipeline-sm %s: not a number from 0", o->pipeline_sm);
    return false;
  }
  if (o->pipeline_sm) o->pipe.sm = (int)sm;
  if (o->pipeline_sm) o->pipe.n_ranges = 0;
  bool ok = (!o->pipeline_warps || pipe_choice_warps(&o->pipe, o->pipeline_warps, &e)) &&
            (!o->pipeline_cycles || pipe_choice_cycles(&o->pipe, o->pipeline_cycles, &e));
  if (!ok) cli_usage_error(cmd, "--pipeline: %s", e.msg);
  return ok;
}

/* What --timeline shows. */
static bool take_timeline(const struct cli_command *cmd, struct run_options *o)
{
  struct err e = {0};
  o->activity = activity_choice_default();
  if (!o->timeline && (o->timeline_sms || o->timeline_warps || o->timeline_cycles)) {
    cli_usage_error(cmd, "--timeline-sms, --timeline-warps and --timeline-cycles choose what --timeline FILE shows");
    return false;
  }
  if (o->timeline && o->pipeline) {
    cli_usage_error(cmd, "--timeline and --pipeline: one at a time");
    return false;
  }
  bool ok = (!o->timeline_sms || activity_choice_sms(&o->activity, o->timeline_sms, &e)) &&
            (!o->timeline_warps || activity_choice_warps(&o->activity, o->timeline_warps, &e)) &&
            (!o->timeline_cycles || activity_choice_window(&o->activity, o->timeline_cycles, &e));
  if (!ok) cli_usage_error(cmd, "--timeline: %s", e.msg);
  return ok;
}

/* The run without time was asked for by that option. */
static const char *untimed(const struct run_options *o)
{
  return o->sanitize ? "--check" : "--functional";
}

static const char *no_cycles(const struct run_options *o)
{
  if (o->annotate) return "--annotate says where cycles went";
  if (o->details) return "--details says how units were used";
  if (o->what_if) return "--what-if compares cycles of the model";
  if (o->pipeline) return "--pipeline shows cycles";
  if (o->html) return "--html shows cycles";
  return o->timeline ? "--timeline shows cycles" : NULL;
}

/* All else was said when the run was saved. */
static int only_restores(const struct cli_command *cmd, bool files, unsigned n_options, const struct run_options *o)
{
  if (files || n_options > 1u + o->threads_given)
    return cli_usage_error(cmd, "--restore FILE goes on with what was asked for then: no file and no option besides, "
                                "but --threads");
  return CLI_OK;
}

static bool combine_checkpoints(const struct cli_command *cmd, const struct run_options *o)
{
  if (!o->checkpoint != !o->n_checkpoints)
    return cli_usage_error(cmd, "--checkpoint FILE says where, --checkpoint-at CYCLE when: both or none"), false;
  if (!o->checkpoint) return true;
  if (o->functional)
    return cli_usage_error(cmd, "--checkpoint saves runs with time: not with %s", untimed(o)), false;
  if (output_same(o->checkpoint, o->json) || output_same(o->checkpoint, o->html) ||
      output_same(o->checkpoint, o->pipeline) || output_same(o->checkpoint, o->timeline))
    return cli_usage_error(cmd, "--checkpoint and another output name one file"), false;
  return true;
}

/* Options that do not go together. */
static bool combine(const struct cli_command *cmd, const struct run_options *o)
{
  const char *timed = o->functional ? no_cycles(o) : NULL;
  if (timed) return cli_usage_error(cmd, "%s: not with %s", timed, untimed(o)), false;
  if (o->what_if && o->hazards)
    return cli_usage_error(cmd, "--what-if compares cycles of the model as it is: not with --hazards"), false;
  if (o->functional && o->max_cycles)
    return cli_usage_error(cmd, "--max-cycles needs time: with %s, use --max-instructions", untimed(o)), false;
  if (o->interleave && !o->functional)
    return cli_usage_error(cmd, "--interleave is for runs without time: --functional"), false;
  if (o->sanitize && (o->hazards || o->warm_up))
    return cli_usage_error(cmd, "--check watches one launch without time: not with %s",
                           o->hazards ? "--hazards" : "--warm-up"),
           false;
  if (o->print_level_given && !o->sanitize)
    return cli_usage_error(cmd, "--print-level chooses what --check TOOLS prints"), false;
  if (o->html_baseline && !o->html)
    return cli_usage_error(cmd, "--html-baseline FILE is what --html FILE compares with"), false;
  if (output_same(o->html, o->json) || output_same(o->html, o->pipeline) || output_same(o->html, o->timeline))
    return cli_usage_error(cmd, "--html and another output name one file"), false;
  if (output_same(o->json, o->pipeline) || output_same(o->json, o->timeline))
    return cli_usage_error(cmd, "--json and --%s name one file", o->pipeline ? "pipeline" : "timeline"), false;
  return true;
}

int run_options_parse(const struct cli_command *cmd, int argc, char **argv, struct run_options *o)
{
  const char *arg;
  unsigned n_options = 0;

  *o = (struct run_options){.threads = 1, .check = true};
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END; n_options++) {
    if (id == CLI_OPT_HELP) {
      cli_help(cmd);
      return CLI_OPT_HELP;
    }
    if (!take_option(cmd, id, arg, argc, o)) return CLI_BAD_INPUT;
  }
  if (o->restore) return only_restores(cmd, optind < argc, n_options, o);
  if (!combine(cmd, o) || !combine_checkpoints(cmd, o)) return CLI_BAD_INPUT;
  if (!take_pipeline(cmd, o) || !take_timeline(cmd, o)) return CLI_BAD_INPUT;
  if (optind == argc) return cli_usage_error(cmd, "no file given");
  o->files = argv + optind;
  o->n_files = (unsigned)(argc - optind);
  o->file = o->files[0];
  o->is_cubin = holds_code(o->file);
  o->is_capture = !o->is_cubin && snapshot_is_file(o->file);
  for (unsigned i = 1; i < o->n_files; i++)
    if (!o->is_cubin || !holds_code(o->files[i]))
      return cli_usage_error(cmd, "unexpected '%s'", o->files[i]);
  struct err e = {0};
  if (!files_can_run(o, &e)) return cli_error("%s", e.msg);
  if (!o->is_cubin && (o->kernel || o->grid || o->block || o->cluster || o->shmem || o->buf.n || o->symbol.n ||
                       o->arg.n))
    return cli_usage_error(cmd, "--kernel, --grid, --block, --cluster, --shmem, --buf, --symbol and --arg are "
                                "for cubins: %s states them itself", o->file);
  return CLI_OK;
}

void run_options_free(struct run_options *o)
{
  mem_free(o->checkpoint_at);
  arena_free(&o->arena);
}

static bool case_from_options(const struct run_options *o, struct launch_case *c, struct err *e)
{
  unsigned long shmem = 0;

  launch_case_init(c, "command line");
  for (unsigned i = 0; i < o->n_files; i++) launch_case_add_cubin(c, o->files[i]);
  c->kernel = o->kernel;
  if (o->shmem && !cli_number(o->shmem, 0, MAX_SHMEM, &shmem))
    return err_set(e, "--shmem %s: not a number of bytes up to %d", o->shmem, MAX_SHMEM);
  c->shmem = (uint32_t)shmem;
  if (o->grid) TRY(launch_case_dim3(o->grid, "--grid", c->grid, e));
  if (o->block) TRY(launch_case_dim3(o->block, "--block", c->block, e));
  if (o->cluster) TRY(launch_case_dim3(o->cluster, "--cluster", c->cluster, e));
  for (unsigned i = 0; i < o->buf.n; i++) TRY(launch_case_add_buffer(c, o->buf.item[i], e));
  for (unsigned i = 0; i < o->symbol.n; i++) TRY(launch_case_add_symbol(c, o->symbol.item[i], e));
  for (unsigned i = 0; i < o->arg.n; i++) TRY(launch_case_add_arg(c, o->arg.item[i], e));
  return true;
}

/* dir/NAME for a path that ended in NAME. */
static const char *in_directory(struct arena *a, const char *dir, const char *path)
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t size = strlen(dir) + strlen(name) + 2;
  char *out = arena_alloc(a, size, 1);

  snprintf(out, size, "%s/%s", dir, name);
  return out;
}

static void move_data(struct launch_case *c, struct case_buffer *list, unsigned n, const char *dir)
{
  for (unsigned i = 0; i < n; i++) {
    if (list[i].file) list[i].file = in_directory(&c->arena, dir, list[i].file);
    if (list[i].expect) list[i].expect = in_directory(&c->arena, dir, list[i].expect);
  }
}

bool run_options_case(const struct run_options *o, struct launch_case *c, struct err *e)
{
  if (o->is_cubin)
    TRY(case_from_options(o, c, e));
  else if (o->is_capture)
    TRY(launch_case_read_capture(c, o->file, e));
  else
    TRY(launchfile_read(c, o->file, e));
  if (o->data) {
    move_data(c, c->buffer, c->n_buffers, o->data);
    move_data(c, c->symbol, c->n_symbols, o->data);
    if (c->stdout_file) c->stdout_file = in_directory(&c->arena, o->data, c->stdout_file);
  }
  if (!o->check) c->stdout_file = NULL;
  return true;
}

static bool change_preset(const struct run_options *o, struct preset *p, struct err *e)
{
  for (unsigned i = 0; i < o->set.n; i++) TRY(preset_override(p, o->set.item[i], e));
  return params_check(&p->params, e);
}

bool run_options_gpu(const struct run_options *o, const struct launch_case *c, struct preset *p, const char **name,
                     struct err *e)
{
  char dir[4096];
  *name = o->gpu;
  if (!*name && c->snapshot) *name = c->snapshot->gpu;
  if (!*name) TRY(default_gpu(c->cubin[0], o->presets, name, e));
  TRY(presets_dir(o->presets, dir, sizeof dir, e));
  TRY(preset_load(*name, dir, p, e));
  if (change_preset(o, p, e)) return true;
  preset_free(p);
  return false;
}
