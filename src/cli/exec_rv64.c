/* `warpstep exec` of a RISC-V program (cli/exec_rv64.h). */
#include "cli/exec_rv64.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/gmem.h"
#include "config/machine_preset.h"
#include "config/presets.h"
#include "cuda/guest/cuda_guest.h"
#include "host/linux/linux_elf.h"
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

/* Whose memory CPU and GPU of the machine see. A GPU by itself is a discrete one. */
static bool memory_of(const struct exec_rv64 *x, uint32_t *memory, struct err *e)
{
  char dir[PATH_MAX];
  struct machine_preset m;
  *memory = CPU_MEMORY_SPLIT;
  if (!x->machine) return true;
  TRY(presets_dir(x->presets, dir, sizeof dir, e) && machine_load(x->machine, dir, &m, e));
  if (m.has_cpu) *memory = m.cpu.memory;
  machine_preset_free(&m);
  return true;
}

/* GPUs beside the process that `image` is of; NULL, with e->msg empty: none are wanted. */
static struct guest *guest_for(const struct exec_rv64 *x, struct gmem *image, struct err *e)
{
  struct guest_setup setup = {.image = image, .options = x->options};
  if (!x->machine && !x->gpu) return NULL;
  return memory_of(x, &setup.memory, e) ? guest_new(&setup) : NULL;
}

/* To its end, and that of what its GPUs were given. */
static int run(struct linux_process *p, struct guest *g, const char *name)
{
  struct err e = {""};
  if (g) guest_attach(g, p);
  const enum linux_end end = linux_process_run(p, &e);
  const int status = finish(end, p, name, &e);
  return g && end == LINUX_EXITED ? guest_finish(g, status) : status;
}

int exec_rv64(const struct exec_rv64 *x, char *const *argv)
{
  struct err e = {""};
  struct linux_options o = {
      .sysroot = x->sysroot ? x->sysroot : access(DEBIAN_SYSROOT, F_OK) == 0 ? DEBIAN_SYSROOT : NULL,
      .env = environ,
      .max_insts = x->max_insts,
      .memory_bytes = (x->memory_mib ? x->memory_mib : EXEC_RV64_MEMORY_MIB) << 20,
      .name_missing = x->missing_calls,
  };
  struct gmem *image = gmem_new(RV64_PAGE_SHIFT);
  struct guest *g = guest_for(x, image, &e);
  o.gpu = g ? guest_gpu(g) : NULL;
  struct linux_process *p = e.msg[0] ? NULL : linux_process_new(image, &o, argv, &e);
  const int status = p ? run(p, g, argv[0]) : cli_error("%s", e.msg);
  guest_free(g);
  linux_process_free(p);
  gmem_free(image);
  return status;
}
