/* `warpstep exec` of a RISC-V program (cli/exec_rv64.h). */
#include "cli/exec_rv64.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/gmem.h"
#include "base/json_out.h"
#include "base/output.h"
#include "base/program_report.h"
#include "cli/checkpoint.h"
#include "config/machine_preset.h"
#include "config/presets.h"
#include "cuda/guest/cuda_guest.h"
#include "host/linux/linux_cores.h"
#include "host/linux/linux_elf.h"
#include "host/linux/linux_kept.h"
#include "host/linux/linux_process.h"

/* Where Debian's libc6-riscv64-cross is installed. */
#define DEBIAN_SYSROOT "/usr/riscv64-linux-gnu"

bool exec_rv64_is(const char *path)
{
  return linux_elf_is_rv64(path);
}

static int finish(enum linux_end end, const struct linux_process *p, const char *name, const struct err *e)
{
  switch (end) {
  case LINUX_EXITED: return p->status;
  case LINUX_LIMIT: cli_error("%s: %s", name, e->msg); return CLI_LIMIT;
  case LINUX_STUCK: cli_error("%s: %s", name, e->msg); return CLI_FAULT;
  default: cli_error("%s: %s", name, e->msg); return p->status;
  }
}

/* --- with time ----------------------------------------------------------------------------------- */

static bool write_report(const char *path, const struct linux_cores *o, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, path, e);
  if (!f) return false;
  linux_cores_report(o, f);
  return output_close(&out, true, e);
}

static void put_json(void *ctx, FILE *f)
{
  struct json_out j;
  struct text_out text;
  text_out_open(&text, f);
  json_out_open(&j, &text, (struct json_form){.indent = 2});
  linux_cores_json(ctx, &j);
  text_out_char(&text, '\n');
  text_out_close(&text);
}

static void put_table(void *ctx, FILE *f)
{
  linux_cores_report(ctx, f);
}

static bool write_json(const char *path, struct linux_cores *o, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, path, e);
  if (!f) return false;
  put_json(o, f);
  return output_close(&out, true, e);
}

static int write_all(const struct exec_rv64 *x, struct linux_cores *o, int status)
{
  struct err e = {""};
  if (x->report && !write_report(x->report, o, &e)) return cli_error("%s", e.msg);
  if (x->json && !write_json(x->json, o, &e)) return cli_error("%s", e.msg);
  if (!x->report && !x->quiet) linux_cores_report(o, checkpoint_stderr());
  return status;
}

static int ended(struct guest_program *g, enum linux_end end, int status)
{
  return g && end == LINUX_EXITED ? guest_finish(g, status) : status;
}

/* The next place to save at. */
static struct linux_until until(const struct exec_rv64 *x, unsigned i)
{
  if (i < x->n_checkpoints && !x->checkpoint_region) return (struct linux_until){.ns = x->checkpoint_at[i]};
  return (struct linux_until){.ns = UINT64_MAX, .region = i < x->n_checkpoints};
}

static void checkpoint_name(const struct exec_rv64 *x, unsigned i, char *path, size_t size)
{
  if (x->n_checkpoints == 1) snprintf(path, size, "%s", x->checkpoint_file);
  else snprintf(path, size, "%s.%lu", x->checkpoint_file, x->checkpoint_at[i]);
}

static bool save(const struct exec_rv64 *x, unsigned i, struct linux_process *p, struct guest_program *g,
                 struct err *e)
{
  struct restored restored;
  char path[PATH_MAX];
  checkpoint_name(x, i, path, sizeof path);
  TRY(linux_files_keep(p, e));
  if (g) TRY(guest_keep(g, e));
  TRY(checkpoint_save(x->checkpoint, path, &restored, e));
  if (restored.here && g) guest_open_again(g, restored.threads);
  if (restored.here) return linux_files_open_again(p, e);
  if (!x->quiet) fprintf(checkpoint_stderr(), "warpstep: %s: saved at %" PRIu64 " ns\n", path, linux_now(p));
  return true;
}

static void say_missed(const struct exec_rv64 *x, unsigned i, const struct linux_process *p)
{
  FILE *f = checkpoint_stderr();
  for (; i < x->n_checkpoints; i++)
    if (x->checkpoint_region) fprintf(f, "warpstep: no checkpoint: no region of interest has begun\n");
    else
      fprintf(f, "warpstep: no checkpoint at %lu ns: the program ended at %" PRIu64 " ns\n", x->checkpoint_at[i],
              linux_now(p));
}

/* To its end, and saved on the way where that was asked for. */
static enum linux_end run_cores(const struct exec_rv64 *x, struct linux_cores *o, struct linux_process *p,
                                struct guest_program *g, struct err *e)
{
  unsigned i = 0;
  for (;; i++) {
    const struct linux_until to = until(x, i);
    const enum linux_end end = linux_cores_run(o, &to, e);
    if (end != LINUX_STOPPED) {
      say_missed(x, i, p);
      return end;
    }
    if (save(x, i, p, g, e)) continue;
    p->status = CLI_BAD_INPUT;
    return LINUX_FAULT;
  }
}

static int run_timed(const struct exec_rv64 *x, const struct machine_preset *m, struct linux_process *p,
                     struct guest_program *g, const char *name)
{
  struct err e = {""};
  if (g) guest_attach(g, p);
  if (x->forward) {
    const enum linux_end end = linux_process_forward(p, x->forward_insts, &e);
    if (end == LINUX_EXITED)
      fprintf(checkpoint_stderr(), "warpstep: %s: it ended before time began (--fast-forward)\n", name);
    if (end != LINUX_FORWARDED) return ended(g, end, finish(end, p, name, &e));
  }
  struct linux_cores *o = linux_cores_new(p, m, &e);
  if (!o) return cli_error("%s: %s", x->machine, e.msg);
  const struct program_report report = {o, put_table, put_json};
  if (g) guest_report(g, &report);
  const enum linux_end end = run_cores(x, o, p, g, &e);
  int status = finish(end, p, name, &e);
  if (g && end == LINUX_EXITED && guest_reports(g)) status = guest_finish(g, status); /* tells of both */
  else status = write_all(x, o, status);
  if (g) guest_report(g, NULL);
  linux_cores_free(o);
  return status;
}

/* --- with a GPU ---------------------------------------------------------------------------------- */

/* To its end, and that of what its GPUs were given. */
static int run_beside(struct linux_process *p, struct guest_program *g, const char *name)
{
  struct err e = {""};
  if (g) guest_attach(g, p);
  const enum linux_end end = linux_process_run(p, &e);
  const int status = finish(end, p, name, &e);
  return ended(g, end, status);
}

/* m: its machine; NULL: none. Whose memory CPU and GPU see is the machine's; a GPU by itself is a discrete one. */
static int run(const struct exec_rv64 *x, const struct machine_preset *m, struct gmem *image, char *const *argv)
{
  const bool in_time = m && m->has_cpu && x->timed && !x->functional_cpu, calls_gpu = linux_elf_calls_gpu(argv[0]);
  struct err e = {""};
  if (x->forward && !in_time) return cli_error("--fast-forward needs cores in time: a machine with the group cpu");
  const struct guest_setup setup = {.image = image, .options = x->options,
                                    .in_time = in_time,
                                    .memory = m && m->has_cpu ? m->cpu.memory : CPU_MEMORY_SPLIT,
                                    .cpu = m && m->has_cpu ? &m->cpu : NULL};
  if (x->checkpoint_file && !in_time)
    return cli_error("--checkpoint saves programs in time: on a machine with the group cpu, without --functional-cpu");
  if (x->checkpoint_file) {
    char path[PATH_MAX];
    checkpoint_name(x, 0, path, sizeof path);
    if (!output_check(path, &e)) return cli_error("%s", e.msg);
  }
  struct guest_program *g = (m || x->gpu) && (calls_gpu || !in_time) ? guest_new(&setup) : NULL;
  const struct linux_options o = {
      .sysroot = x->sysroot ? x->sysroot : access(DEBIAN_SYSROOT, F_OK) == 0 ? DEBIAN_SYSROOT : NULL,
      .env = environ,
      .max_insts = x->max_insts,
      .memory_bytes = (x->memory_mib ? x->memory_mib : EXEC_RV64_MEMORY_MIB) << 20,
      .name_missing = x->missing_calls,
      .gpu = g ? guest_gpu(g) : NULL,
  };
  struct linux_process *p = linux_process_new(image, &o, argv, &e);
  const int status = !p        ? cli_error("%s", e.msg)
                     : in_time ? run_timed(x, m, p, g, argv[0])
                               : run_beside(p, g, argv[0]);
  guest_free(g);
  linux_process_free(p);
  return status;
}

static bool load_machine(const struct exec_rv64 *x, struct machine_preset *m, struct err *e)
{
  char dir[PATH_MAX];
  return presets_dir(x->presets, dir, sizeof dir, e) && machine_load(x->machine, dir, m, e);
}

int exec_rv64(const struct exec_rv64 *x, char *const *argv)
{
  struct err e = {""};
  struct machine_preset m;
  if (x->machine && !load_machine(x, &m, &e)) return cli_error("%s", e.msg);
  struct gmem *image = gmem_new(RV64_PAGE_SHIFT);
  const int status = run(x, x->machine ? &m : NULL, image, argv);
  gmem_free(image);
  if (x->machine) machine_preset_free(&m);
  return status;
}
