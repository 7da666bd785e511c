#include "host/linux/linux_touched.h"

#include "base/host_memory.h"
#include "host/linux/linux_vm.h"

enum { WORD = 64 };

void linux_touched_init(struct linux_touched *t)
{
  t->bit = mem_zeroed(LINUX_TASK_SIZE / RV64_PAGE_BYTES / WORD, sizeof *t->bit);
}

void linux_touched_free(struct linux_touched *t)
{
  mem_free(t->bit);
  t->bit = NULL;
}

bool linux_touched_add(struct linux_touched *t, uint64_t addr)
{
  const uint64_t page = addr / RV64_PAGE_BYTES, bit = (uint64_t)1 << page % WORD;
  const bool was = t->bit[page / WORD] & bit;
  t->bit[page / WORD] |= bit;
  return was;
}

void linux_touched_set(struct linux_touched *t, uint64_t addr, uint64_t bytes, bool touched)
{
  if (addr >= LINUX_TASK_SIZE || !bytes) return;
  if (bytes > LINUX_TASK_SIZE - addr) bytes = LINUX_TASK_SIZE - addr;
  const uint64_t end = (addr + bytes - 1) / RV64_PAGE_BYTES;
  for (uint64_t page = addr / RV64_PAGE_BYTES; page <= end; page++) {
    const uint64_t bit = (uint64_t)1 << page % WORD;
    t->bit[page / WORD] = touched ? t->bit[page / WORD] | bit : t->bit[page / WORD] & ~bit;
  }
}
