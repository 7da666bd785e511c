/* Memory of the program that the simulator has a mapping of its own of (memory.h, block.image): with `exec --spin
 * strict` pinned and managed memory, whose mapping for the program may be closed (poll_trap.h).
 */
#ifndef WS_CUDA_HOST_IMAGE_H
#define WS_CUDA_HOST_IMAGE_H

#include "cuda/core/shim.h"

/* Where the simulator has what the program has at addr. */
static inline uint64_t host_image(const struct shim *s, uint64_t addr)
{
  size_t low = 0, high = s->memory.n;
  if (!s->polls || !memory_is_for_host(addr)) return addr;
  while (low < high) {
    const size_t mid = (low + high) / 2;
    if (s->memory.block[mid].addr <= addr) low = mid + 1;
    else high = mid;
  }
  const struct block *b = low ? &s->memory.block[low - 1] : NULL;
  return b && b->image && addr - b->addr < b->mapped ? (uint64_t)(uintptr_t)b->image + (addr - b->addr) : addr;
}

#endif
