/* `warpstep exec` of a RISC-V program (cli/exec_rv64.h). */
#include "cli/exec_rv64.h"

#include <stdio.h>
#include <unistd.h>

#include "base/gmem.h"
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

int exec_rv64(const struct exec_rv64 *x, char *const *argv)
{
  struct err e = {""};
  const struct linux_options o = {
      .sysroot = x->sysroot ? x->sysroot : access(DEBIAN_SYSROOT, F_OK) == 0 ? DEBIAN_SYSROOT : NULL,
      .env = environ,
      .max_insts = x->max_insts,
      .memory_bytes = (x->memory_mib ? x->memory_mib : EXEC_RV64_MEMORY_MIB) << 20,
      .name_missing = x->missing_calls,
  };
  struct gmem *image = gmem_new(RV64_PAGE_SHIFT);
  struct linux_process *p = linux_process_new(image, &o, argv, &e);
  const int status = p ? finish(linux_process_run(p, &e), p, argv[0], &e) : cli_error("%s", e.msg);
  linux_process_free(p);
  gmem_free(image);
  return status;
}
