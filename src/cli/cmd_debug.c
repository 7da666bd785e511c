/* warpstep debug: one launch, or an unmodified CUDA program, under the debugger (src/debug/). */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "cli/commands.h"
#include "cli/debug_program.h"
#include "cli/run_options.h"
#include "config/presets.h"
#include "debug/debug_session.h"
#include "host/case.h"
#include "host/snapshot.h"
#include "isa/watch.h"
#include "load/program.h"

enum { OPT_GDB = CLI_OPT_FIRST, OPT_SCRIPT = 'x', OPT_BATCH = CLI_OPT_FIRST + 1, OPT_DAP, OPT_TURN };

static const struct cli_option options[] = {
    {OPT_SCRIPT, "commands", "FILE", "read commands from a file, then from stdin"},
    {OPT_BATCH, "batch", NULL, "read none from stdin; exit with 2 when one was wrong"},
    {OPT_GDB, "gdb", "PORT", "wait for gdb at this port of this machine; - is stdin and stdout"},
    {OPT_DAP, "dap", NULL, "speak the Debug Adapter Protocol on stdin and stdout, for editors"},
    {OPT_TURN, "turn", "N", "warps take turns of N instructions (1)"},
    {0},
};

/* One launch. */
struct debug_run {
  struct run_options opt;
  struct launch_case lc;
  struct preset preset;
  bool has_preset;
  struct case_run *cr;
};

static bool set_up(struct debug_run *r, FILE *print, struct err *e)
{
  const char *gpu;
  TRY(run_options_case(&r->opt, &r->lc, e));
  TRY(run_options_gpu(&r->opt, &r->lc, &r->preset, &gpu, e));
  r->has_preset = true;
  struct device_config config = device_config_for(&r->preset.params, false);
  config.presets = r->opt.presets;
  config.print = &print;
  r->cr = case_setup(&r->lc, &config, e);
  return r->cr != NULL;
}

static int check(struct debug_run *r, FILE *out)
{
  const struct case_result *list;
  struct err e = {""};
  unsigned n, wrong = 0;
  if (!r->opt.check) return CLI_OK;
  if (!case_check(r->cr, &list, &n, &e)) return cli_error("%s", e.msg);
  for (unsigned i = 0; i < n; i++) {
    if (list[i].ok) continue;
    wrong++;
    fprintf(stderr, "warpstep: mismatch: %s\n", list[i].text);
  }
  if (n && !wrong) fprintf(out, "all %u results match\n", n);
  return wrong ? CLI_MISMATCH : CLI_OK;
}

static int status_of(struct debug_run *r, const struct sim_result *result, FILE *out)
{
  if (result->end == RUN_STOPPED) return CLI_OK; /* the user has ended it */
  if (result->end == RUN_DONE) return check(r, out);
  fprintf(stderr, "warpstep: %s\n", result->fault.text);
  return CLI_FAULT;
}

static int debug_run(struct debug_run *r, struct debug_options *o)
{
  struct err e = {""};
  struct sim_result result;
  FILE *out = o->gdb || o->dap ? stderr : stdout; /* stdout may be a protocol's */
  if (!set_up(r, out, &e)) return cli_error("%s", e.msg);
  o->one_launch = true;
  struct debug_session *s = debug_session_new(o, &e);
  if (!s) return cli_error("%s", e.msg);
  struct launch *l = case_launch(r->cr);
  const struct debug_launch dl = {.device = case_device(r->cr),
                                  .code = case_code(r->cr)->instance,
                                  .launch = l,
                                  .number = 1,
                                  .kernel = module_kernel(case_code(r->cr)->module, l->params.kernel_name, &e),
                                  .clock_ps = (uint32_t)params_clock_ps(&r->preset.params),
                                  .start_clock = r->preset.params.launch_latency_cycles};
  const bool ran = debug_session_run(s, &dl, &result, &e);
  const int status = ran ? status_of(r, &result, out) : cli_error("%s", e.msg);
  return debug_session_end(s, status);
}

static int run_launch(const struct cli_command *cmd, struct debug_options *o, int argc, char **argv)
{
  struct cli_command as_run = *cmd;
  struct debug_run *r = calloc(1, sizeof *r);
  NO_MEMORY_IF(!r);
  as_run.options = run_option_table;
  as_run.program_follows = false;
  int status = run_options_parse(&as_run, argc, argv, &r->opt);
  if (status == CLI_OK)
    status = debug_run(r, o);
  else if (status == CLI_OPT_HELP)
    status = CLI_OK;
  if (r->cr) case_free(r->cr);
  if (r->has_preset) preset_free(&r->preset);
  launch_case_free(&r->lc);
  run_options_free(&r->opt);
  free(r);
  return status;
}

/* ---- whose options are whose ---- */

static const struct cli_option *own_option(const char *word)
{
  if (strcmp(word, "-x") == 0) word = "--commands";
  for (const struct cli_option *o = options; o->name; o++)
    if (strncmp(word, "--", 2) == 0 && strcmp(word + 2, o->name) == 0) return o;
  return NULL;
}

static int take_option(const struct cli_command *cmd, struct debug_options *o, const struct cli_option *own,
                       const char *value)
{
  unsigned long port;
  switch (own->id) {
  case OPT_SCRIPT: o->script = value; break;
  case OPT_DAP:
    o->dap = true;
    break;
  case OPT_BATCH: o->batch = true; break;
  case OPT_TURN:
    if (!cli_count(cmd, "turn", value, WATCH_MAX_SLICE, &o->slice)) return CLI_BAD_INPUT;
    break;
  default:
    if (strcmp(value, "-") != 0 && !cli_number(value, 1, UINT16_MAX, &port))
      return cli_usage_error(cmd, "--gdb %s: not a port from 1 to 65535, or -", value);
    o->gdb = value;
  }
  return CLI_OK;
}

/* Ours come first; the rest is of run or exec. *rest: the first that is not ours. */
static int take_own(const struct cli_command *cmd, struct debug_options *o, int argc, char **argv, int *rest)
{
  int i = 1;
  for (const struct cli_option *own; i < argc && (own = own_option(argv[i])); i++) {
    if (own->arg && i + 1 == argc) return cli_usage_error(cmd, "%s needs %s", argv[i], own->arg);
    const int status = take_option(cmd, o, own, own->arg ? argv[++i] : NULL);
    if (status != CLI_OK) return status;
  }
  *rest = i;
  if ((o->gdb != NULL) + o->dap + (o->script || o->batch) > 1)
    return cli_usage_error(cmd, "--gdb, --dap and commands from a file exclude each other");
  return CLI_OK;
}

static bool is_program_file(const char *path)
{
  const struct program_info p = program_inspect(path);
  return p.gpu_code || (p.elf && !p.static_program); /* one without code for GPUs loads it as it runs */
}

/* As exec finds it: a name alone, of a program in one of PATH's folders. */
static bool is_program_in_path(const char *name)
{
  const char *folder = getenv("PATH");
  char file[PATH_MAX];
  for (size_t n; !strchr(name, '/') && folder && *folder; folder += n + (folder[n] == ':')) {
    n = strcspn(folder, ":");
    const int length = snprintf(file, sizeof file, "%.*s/%s", (int)n, folder, name);
    if (length < (int)sizeof file && access(file, X_OK) == 0) return is_program_file(file);
  }
  return false;
}

/* A program that runs by itself: nothing says which of its kernels is to be launched, and how. Files that are there
 * come before names that PATH knows, as values of options may be such. */
static bool is_program(int argc, char **argv, int first)
{
  bool in_path = false, file = false;
  for (int i = first; i < argc; i++) {
    if (strncmp(argv[i], "--kernel", 8) == 0) return false;
    if (argv[i][0] == '-') continue;
    if (is_program_file(argv[i])) return true;
    if (access(argv[i], F_OK) == 0) file = true;
    if (!file && is_program_in_path(argv[i])) in_path = true;
  }
  return in_path;
}

static int run_debug(const struct cli_command *cmd, int argc, char **argv)
{
  struct debug_options o = {0};
  int rest = argc;
  const int status = take_own(cmd, &o, argc, argv, &rest);
  if (status != CLI_OK) return status;
  if (rest < argc && (strcmp(argv[rest], "--help") == 0 || strcmp(argv[rest], "-h") == 0)) return cli_help(cmd);
  if (rest == argc)
    return cli_usage_error(cmd, "nothing to debug: a launch file, a captured launch, a cubin or a program");
  const bool program = is_program(argc, argv, rest);
  argv[rest - 1] = argv[0];
  return program ? debug_program(cmd, &o, argc - rest + 1, argv + rest - 1)
                 : run_launch(cmd, &o, argc - rest + 1, argv + rest - 1);
}

const struct cli_command cmd_debug = {
    .name = "debug",
    .synopsis = "[options] FILE [options of run] | PROGRAM [ARG...]",
    .summary = "a debugger for kernels: a console, gdb, editors; also backwards",
    .options = options,
    .program_follows = true,
    .notes = "FILE is what 'warpstep run' takes: a launch file, a captured launch, or with --kernel and its other\n"
             "options a cubin or a program. PROGRAM is a CUDA program as 'warpstep exec' takes it, and options\n"
             "of exec (--gpu, --set, --presets) may stand in front of it. The debugger's own options come first.\n"
             "\n"
             "Kernels run without time, warps in turn, in an order that is always the same: so it can go backwards.\n"
             "With --gdb 1234, 'target remote :1234' in a stock gdb 13 connects to it.\n"
             "'help' at the prompt lists the commands, docs/debug.md has a session to try, the use of gdb and of\n"
             "editors, and what is not shown. Exit status: as run, or that of the program.\n",
    .examples = "  # a launch of the corpus\n"
                "  warpstep debug kernels/vecadd/vecadd.launch\n"
                "  # commands from a file\n"
                "  printf 'break vecadd+0x60\\ncontinue\\nprint R6\\n' > commands.txt\n"
                "  warpstep debug -x commands.txt --batch kernels/vecadd/vecadd.launch\n"
                "  # a program; the debugger stops at its first kernel\n"
                "  warpstep debug ./app\n",
    .run = run_debug,
};
