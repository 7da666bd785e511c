#include "host/linux/linux_in_hand.h"

#include "base/arith.h"
#include "base/host_memory.h"
#include "time/coh/coh_system.h"

struct linux_lines {
  uint64_t first, n;
};

static bool has(const struct linux_in_hand *h, uint64_t line)
{
  for (uint32_t i = h->n; i-- > 0;)
    if (line - h->written[i].first < h->written[i].n) return true;
  return false;
}

static bool has_any(const struct linux_in_hand *h, uint64_t first, uint64_t n)
{
  for (uint32_t i = h->n; i-- > 0;)
    if (first < h->written[i].first + h->written[i].n && h->written[i].first < first + n) return true;
  return false;
}

static void add(struct linux_in_hand *h, uint64_t first, uint64_t n)
{
  struct linux_lines *last = h->n ? &h->written[h->n - 1] : NULL;
  if (last && first >= last->first && first <= last->first + last->n) {
    last->n = later(last->n, first + n - last->first);
    return;
  }
  h->written = mem_more(h->written, h->n, &h->room, sizeof *h->written);
  h->written[h->n++] = (struct linux_lines){first, n};
}

void linux_in_hand_take(struct linux_in_hand *h, struct coh_system *c, uint64_t addr, uint64_t bytes, bool writes)
{
  const uint64_t first = addr >> COH_LINE_SHIFT, n = ((addr + bytes - 1) >> COH_LINE_SHIFT) - first + 1;
  if (!has_any(h, first, n)) coh_system_to_memory(c, first, n);
  else
    for (uint64_t i = 0; i < n; i++)
      if (!has(h, first + i)) coh_system_to_memory(c, first + i, 1);
  if (writes) add(h, first, n);
}

void linux_in_hand_let_go(struct linux_in_hand *h, struct coh_system *c)
{
  for (uint32_t i = 0; i < h->n; i++) coh_system_from_memory(c, h->written[i].first, h->written[i].n);
  h->n = 0;
}

void linux_in_hand_free(struct linux_in_hand *h)
{
  mem_free(h->written);
}
