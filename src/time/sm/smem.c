#include "time/sm/smem.h"

#include <string.h>

#include "base/arith.h"
#include "base/bits.h"
#include "time/sm/access.h"

enum { BANKS = 32, BANK_BYTES = 4, ROW_BYTES = BANKS * BANK_BYTES };
enum { MAX_WORDS = BANKS }; /* in one bank: as many words go at a time as there are banks */

/* First word of each lane's access; what meets in a bank is words apart by a multiple of BANKS. */
struct words {
  uint32_t first[LANES_MAX];
  unsigned n; /* words per lane */
};

static struct words words_of(const struct mem_effect *m, unsigned lanes, bool destination)
{
  struct words w = {.n = m->bytes <= BANK_BYTES ? 1 : m->bytes / (unsigned)BANK_BYTES};
  for (unsigned from = 0; from < lanes; from += ACCESS_LANES)
    for (unsigned i = from; i < from + ACCESS_LANES; i++)
      w.first[i] = (uint32_t)((destination ? m->shared_addr[i] : m->addr[i]) / BANK_BYTES);
  return w;
}

/* All bytes within the width of the banks: no two words share one. */
static bool within_one_row(const struct words *a, lane_mask m)
{
  uint32_t low = UINT32_MAX, high = 0;
  for (; m; m &= m - 1) {
    uint32_t first = a->first[bits_first(m)];
    if (first < low) low = first;
    if (first > high) high = first;
  }
  return high - low + a->n <= BANKS;
}

/* Largest number of distinct words in one bank among the lanes in m; of lanes when equal words are not
 * merged. */
static unsigned passes_of(const struct words *a, lane_mask m, bool merge)
{
  if (merge && m && within_one_row(a, m)) return 1;
  uint32_t seen[BANKS][MAX_WORDS];
  uint8_t n[BANKS];
  unsigned worst = 0;
  memset(n, 0, sizeof n);
  uint32_t same = m ? ~a->first[bits_first(m)] : 0;
  for (; m; m &= m - 1) {
    uint32_t first = a->first[bits_first(m)];
    if (merge && first == same) continue; /* neighbours often read the same */
    same = first;
    for (unsigned w = 0; w < a->n; w++) {
      uint32_t word = first + w, bank = word % BANKS;
      unsigned i = 0;
      while (merge && i < n[bank] && seen[bank][i] != word) i++;
      if (!merge || i == n[bank]) {
        if (n[bank] < MAX_WORDS) seen[bank][n[bank]++] = word;
        if (n[bank] > worst) worst = n[bank];
      }
    }
  }
  return worst;
}

/* Lanes that are served in turn `k`: neighbours follow each other. */
static lane_mask lanes_of_turn(unsigned k, unsigned turns)
{
  lane_mask m = 0;
  for (unsigned i = k; i < LANES_MAX; i += turns) m |= (lane_mask)1 << i;
  return m;
}

/* Cycles of a load of some lanes: they meet in a bank only those of their turn. */
static unsigned in_turns(const struct words *a, lane_mask m, unsigned turns)
{
  unsigned cycles = 0;
  for (unsigned k = 0; k < turns; k++) {
    const lane_mask part = m & lanes_of_turn(k, turns);
    cycles += part ? passes_of(a, part, true) : 0;
  }
  return cycles;
}

unsigned smem_min_passes(const struct mem_effect *m, unsigned lanes)
{
  unsigned passes = lanes * (m->bytes <= BANK_BYTES ? (unsigned)BANK_BYTES : m->bytes) / ROW_BYTES;
  return passes ? passes : 1;
}

/* LDSM: 8 lanes name the 16-byte rows of one 8x8 matrix, which is delivered in one pass. */
enum { LDSM_ROWS = 8, LDSM_ROW_WORDS = 4 };

/* Does every active lane read what its neighbour `apart` lanes on reads? `lower`: of each pair the lane that comes
 * first. */
static bool neighbours_share(const struct words *w, lane_mask active, lane_mask lower, unsigned apart)
{
  for (lane_mask m = active & active >> apart & lower; m; m &= m - 1) {
    unsigned lane = bits_first(m);
    if (w->first[lane] != w->first[lane + apart]) return false;
  }
  return true;
}

static unsigned groups_of(const struct mem_effect *m, const struct words *w, lane_mask all, unsigned lanes)
{
  const lane_mask pairs = UINT64_C(0x5555555555555555), fours = UINT64_C(0x3333333333333333);
  unsigned groups = smem_min_passes(m, lanes);
  if (m->op != MEM_LOAD || groups == 1) return groups;
  bool share = neighbours_share(w, all, pairs, 1) || neighbours_share(w, all, fours, 2);
  return share ? groups / 2 : groups;
}

/* One word per lane, in one row of the banks: they meet in a bank only when they are equal. */
static bool one_row(const struct mem_effect *m, lane_mask all, unsigned lanes)
{
  if (lanes != ACCESS_LANES || !access_is_whole(all, lanes) || m->bytes != BANK_BYTES || m->op > MEM_STORE)
    return false;
  uint64_t odd = 0;
  for (unsigned i = 0; i < ACCESS_LANES; i += 4)
    odd |= (m->addr[i] ^ m->addr[0]) | (m->addr[i + 1] ^ m->addr[0]) |
           (m->addr[i + 2] ^ m->addr[0]) | (m->addr[i + 3] ^ m->addr[0]);
  return odd < BANKS * BANK_BYTES;
}

struct smem_time smem_time(const struct mem_effect *m, bool counts, unsigned lanes, unsigned turns)
{
  lane_mask all = m->lanes | m->near_lanes;
  if (one_row(m, all, lanes)) return (struct smem_time){1, turns};
  bool wide = m->bytes > BANK_BYTES && (m->op == MEM_LOAD || m->op == MEM_STORE);
  if (wide && access_dense(m, all, lanes)) {
    const unsigned passes = smem_min_passes(m, lanes);
    return (struct smem_time){passes, passes * turns};
  }
  struct words w = words_of(m, lanes, false);
  struct smem_time total = {0, 0};
  unsigned groups = groups_of(m, &w, all, lanes), width = (unsigned)div_up(lanes, groups);
  if (m->op == MEM_LDSM) {
    width = LDSM_ROWS;
    w.n = LDSM_ROW_WORDS;
  }
  bool merge = counts || (m->op != MEM_ATOMIC && m->op != MEM_RED);
  for (unsigned g = 0; g < groups; g++) {
    lane_mask part = all & (bits_ones(width) << (g * width));
    unsigned passes = part ? passes_of(&w, part, merge) : 0;
    if (!passes) passes = 1;
    const bool apart = turns > 1 && passes > 1 && m->op == MEM_LOAD;
    total.passes += passes;
    total.cycles += apart ? in_turns(&w, part, turns) : passes * turns;
  }
  return total;
}

struct smem_time smem_fill_time(const struct mem_effect *m, unsigned turns)
{
  const uint64_t at = m->addr[bits_first(m->lanes)] % ROW_BYTES;
  const unsigned passes = m->fill_bytes ? (unsigned)div_up(at + m->fill_bytes, ROW_BYTES) : 1;
  return (struct smem_time){passes, passes * turns};
}

struct smem_time smem_ldgsts_time(const struct mem_effect *m, unsigned lanes, unsigned turns)
{
  struct words from = words_of(m, lanes, false), to = words_of(m, lanes, true);
  unsigned groups = smem_min_passes(m, lanes), width = (unsigned)div_up(lanes, groups), total = 0;
  for (unsigned g = 0; g < groups; g++) {
    lane_mask part = m->lanes & (bits_ones(width) << (g * width));
    unsigned read = passes_of(&from, part, true), write = passes_of(&to, part, false);
    unsigned p = read > write ? read : write;
    total += p ? p : 1;
  }
  return (struct smem_time){total, total * turns};
}
