/* RISC-V: a file as an executable, loaded and run for a while without system calls; and its bytes as code. */
#include <string.h>

#include "base/bug.h"
#include "fuzz.h"
#include "host/linux/linux_elf.h"

enum { MEMORY = 8 << 20, STEPS = 20000, CODE = 0x10000 };

/* Runs until it wants something of the system; illegal instructions are stepped over. */
static void run(struct rv64_core *c)
{
  for (unsigned i = 0; i < 200 && c->instret < STEPS; i++) {
    const enum rv64_stop stop = rv64_run(c, STEPS - c->instret);
    BUG_ON(c->hart.x[0] != 0);
    if (stop == RV64_STOP_BUDGET || stop == RV64_STOP_FETCH) break;
    c->hart.pc += 2;
  }
  BUG_ON(c->instret > STEPS);
}

static void load(struct linux_vm *vm, const uint8_t *data, size_t size)
{
  struct linux_elf f;
  struct err e = {""};
  char name[64];
  uint64_t offset, addr;
  const bool ok = linux_elf_parse(&f, data, size, "fuzz", &e);
  BUG_ON(ok == (e.msg[0] != '\0'));
  if (!ok) return;
  const uint64_t bias = f.position_independent ? LINUX_PIE_BASE - f.low : 0;
  if (!linux_elf_map(&f, data, size, bias, vm, "fuzz", &e)) {
    BUG_ON(e.msg[0] == '\0');
    return;
  }
  vm->core->hart.pc = bias + f.entry;
  vm->core->hart.x[2] = bias + f.high - 64;
  run(vm->core);
  linux_elf_symbol(data, size, f.entry, name, sizeof name, &offset);
  linux_elf_address(data, size, f.entry & 0xffff, &addr);
}

void fuzz_rv64(const uint8_t *data, size_t size)
{
  struct gmem *image = gmem_new(RV64_PAGE_SHIFT);
  struct linux_vm vm;
  linux_vm_init(&vm, image, MEMORY);
  vm.core = rv64_core_new(&(struct rv64_memory){.os = &vm, .page = linux_vm_page});
  load(&vm, data, size);
  rv64_core_free(vm.core);
  vm.core = rv64_core_new(&(struct rv64_memory){.os = &vm, .page = linux_vm_page});
  const uint64_t bytes = linux_page_up(size + 1);
  if (bytes < MEMORY / 2 && linux_vm_map(&vm, CODE, bytes, LINUX_PROT_ALL) &&
      linux_vm_force(&vm, CODE, data, size)) {
    vm.core->hart.pc = CODE;
    for (unsigned i = 1; i < 32; i++) vm.core->hart.x[i] = CODE + 64 * i;
    run(vm.core);
  }
  rv64_core_free(vm.core);
  vm.core = NULL;
  linux_vm_free(&vm);
  gmem_free(image);
}
