#include "cli/exec_program.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/output.h"
#include "cli/checkpoint.h"
#include "cli/commands.h"
#include "cli/default_gpu.h"
#include "cli/exec_machine.h"
#include "cli/mps_hub.h"
#include "cli/program_settings.h"
#include "cli/program_start.h"
#include "cli/rank_hub.h"
#include "cli/sanitize_parent.h"
#include "cli/share_hub.h"
#include "config/mig.h"
#include "config/presets.h"
#include "host/choice.h"

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
  if (x->gpu) return err_set(e, "--machine %s: not with --gpu: the machine says which GPUs there are", x->machine);
  unsigned sms;
  return exec_machine_check(&x->machine, x->mig, dir, x->out, &x->text, &sms, e) &&
         activity_choice_fits(&x->shown, sms, e);
}

/* Into the first of the instances; others differ in size alone. */
static bool cut_first(const struct exec_run *x, struct preset *p, struct err *e)
{
  struct mig_instance instance[MIG_MAX_INSTANCES];
  char first[MIG_PROFILE_TEXT + 8];
  unsigned n;
  if (!x->mig) return true;
  TRY(mig_cut(&p->params, (struct mig_list){x->mig, 1}, 0, instance, &n, e));
  snprintf(first, sizeof first, "mig=%s", instance[0].profile);
  return preset_override(p, first, e);
}

static bool check_preset(struct exec_run *x, struct err *e)
{
  char dir[PATH_MAX];
  struct preset p;
  TRY(presets_dir(x->presets, dir, sizeof dir, e));
  if (x->machine) return check_machine(x, dir, e);
  TRY(preset_load(x->gpu, dir, &p, e));
  const bool ok = cut_first(x, &p, e) && program_settings_apply(x->out, &x->text, &p, e) &&
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
  if (x->machine) return true; /* all of it runs again, in time */
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

/* The GPU of all processes, as they would make it. */
static bool start_mps(struct exec_run *x, struct share_hub *hub, struct err *e)
{
  char dir[PATH_MAX];
  struct preset p;
  TRY(presets_dir(x->presets, dir, sizeof dir, e) && preset_load(x->gpu, dir, &p, e));
  const struct mps_way way = {.threads = x->threads ? x->threads : 1, .usage = x->html != NULL,
                              .shown = x->timeline ? &x->shown : NULL};
  const bool ok = cut_first(x, &p, e) && program_settings_apply(x->out, &x->text, &p, e) &&
                  mps_hub_start(hub, &p.params, way, e);
  preset_free(&p);
  return ok;
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
  const bool whole = x->machine && x->what_if.costs; /* which launches have a table */
  if (x->which && !whole) fprintf(x->out, "time=%s\n", x->which);
  if (x->stop) fprintf(x->out, "stop=1\n");
  fprintf(x->out, "started=%" PRIu64 "\n", file_clock(x));
  if (x->tools) return start_watched(x, program, dir);
  if (x->ranks.given) fprintf(x->out, "ranks_fd=%d\n", RANK_HUB_FD);
  struct share_hub hub;
  if ((x->share && !share_hub_start(&hub, &e)) || (x->mps && !start_mps(x, &hub, &e)))
    return cli_error("%s", e.msg);
  if (x->share || x->mps) fprintf(x->out, "%s=%s\n", x->share ? "share" : "mps", hub.name);
  fprintf(x->out, "program=%d\n", (int)getpid());
  program_hand_over(x->out, &x->text, dir, !x->native);
  if (x->ranks.given) return rank_hub_run(x->ranks.n, program);
  if (x->share || x->mps) return share_hub_run(&hub, program);
  if (whole)
    return exec_what_if_whole(&x->what_if, &(struct exec_what_if_machine){.costs = x->what_if.costs, .which = x->which,
                                                                         .options = x->text}, program);
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
  if (rv64 && (x->share || x->mps))
    return cli_error("%s: a RISC-V program: --share is for programs of this machine", program[0]);
  if (!rv64) return start(x, program);
  if (cmd != &cmd_exec) return cli_error("%s: a RISC-V program: only 'warpstep exec' runs those", program[0]);
  if (x->for_gpu && !x->machine && !x->gpu)
    return cli_usage_error(cmd, "%s: a RISC-V program runs without a GPU: --machine or --gpu says which; without them"
                           " only --sysroot, --memory, --missing-calls and --max-instructions are for it", program[0]);
  return start_rv64(cmd, x, program);
}

static int run_in_region(struct checkpoint *c, int argc, char **argv)
{
  optind = 0; /* options have been read before */
  return exec_program(&cmd_exec, (struct exec_run){.timed = true, .rv64.checkpoint = c}, argc, argv);
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

int exec_program(const struct cli_command *cmd, struct exec_run x, int argc, char **argv)
{
  x.shown = activity_choice_default();
  NO_MEMORY_IF(!(x.out = open_memstream(&x.text, &x.bytes)));
  int status = exec_run_parse(cmd, &x, argc, argv);
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
