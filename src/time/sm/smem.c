#include "time/sm/smem.h"

#include <string.h>

#include "base/bits.h"

enum { BANKS = 32, BANK_BYTES = 4, MAX_WORDS = 32 };

/* Largest number of distinct words in one bank among the lanes in m; atomics: of lanes. */
static unsigned passes_of(const struct mem_effect *a, lane_mask m, unsigned words, bool atomic)
{
  uint32_t seen[BANKS][MAX_WORDS];
  uint8_t n[BANKS];
  unsigned worst = 0;
  memset(n, 0, sizeof n);
  for (; m; m &= m - 1) {
    unsigned lane = bits_first(m);
    for (unsigned w = 0; w < words; w++) {
      uint32_t word = (uint32_t)(a->addr[lane] / BANK_BYTES) + w, bank = word % BANKS;
      unsigned i = 0;
      while (!atomic && i < n[bank] && seen[bank][i] != word) i++;
      if (atomic || i == n[bank]) {
        if (n[bank] < MAX_WORDS) seen[bank][n[bank]++] = word;
        if (n[bank] > worst) worst = n[bank];
      }
    }
  }
  return worst;
}

unsigned smem_min_passes(const struct mem_effect *m)
{
  return m->bytes <= 4 ? 1 : m->bytes / 4u;
}

/* LDSM: 8 lanes name the 16-byte rows of one 8x8 matrix, which is delivered in one pass. */
enum { LDSM_ROWS = 8, LDSM_ROW_WORDS = 4 };

unsigned smem_passes(const struct mem_effect *m)
{
  unsigned groups = smem_min_passes(m), words = m->bytes <= 4 ? 1 : m->bytes / 4u, total = 0;
  unsigned lanes = 32 / groups;
  if (m->op == MEM_LDSM) {
    lanes = LDSM_ROWS;
    words = LDSM_ROW_WORDS;
  }
  bool atomic = m->op == MEM_ATOMIC || m->op == MEM_RED;
  lane_mask all = m->lanes | m->near_lanes;
  for (unsigned g = 0; g < groups; g++) {
    lane_mask part = all & (bits_ones(lanes) << (g * lanes));
    unsigned p = part ? passes_of(m, part, words, atomic) : 0;
    total += p ? p : 1;
  }
  return total;
}
