/* Statistics: declared once per block in a .def, everything else derives from it.
 *
 * A block writes its rows in one file, here src/time/sm/issue_stats.def:
 *
 *   STAT_U64(cycles, "cycle", "clock edges seen by this sub-core")
 *   STAT_U64(issued, "inst", "warp instructions issued")
 *   STAT_MAX(warps, "warp", "most warps resident at once")
 *   STAT_VEC(slot, SLOT__N, slot_name, "cycle", "issue slots, by the one cause charged")
 *   STAT_NA(replays, "inst", "not modelled")
 *   STAT_DIV(ipc, V(issued), V(cycles), "inst/cycle", "issued / cycles")
 *   STAT_LAW(slots_add_up, SUM(slot), V(cycles), "no slot is lost or charged twice")
 *   STAT_LAW(issues_take_cycles, BEYOND(V(issued), V(cycles)), 0, "at most one instruction a cycle")
 *
 * slot_name is a const char *const [SLOT__N] (NULL: elements are numbered). V(field) is the value
 * of a U64 or MAX row, SUM(field) the sum of a VEC row, AT(field, i) one element; a DIV or LAW may
 * use any arithmetic of these. BEYOND(a, b) is what of a is more than b, BEYOND_EACH(v, w) the same over the elements
 * of two VECs: with 0 on the other side, a law that says "at most". The block's header makes the struct:
 *
 *   #define STAT_NAME issue_stats
 *   #define STAT_DEF "time/sm/issue_stats.def"
 *   #include "stats/stat_struct.inc"
 *
 * which declares struct issue_stats (uint64_t fields: s->issued++, s->slot[cause]++), the table
 * issue_stats_desc and issue_stats_group(prefix, &stats). One .c file holds the table:
 *
 *   #define STAT_NAME issue_stats
 *   #define STAT_DEF "time/sm/issue_stats.def"
 *   #include "stats/stat_table.inc"
 *
 * A zeroed struct is a fresh one. Laws are checked after every kernel in every build; laws between
 * blocks live with the netlist. What is not modelled is a STAT_NA row and prints n/a, never 0.
 */
#ifndef WS_STATS_STAT_H
#define WS_STATS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json_out.h"

enum stat_kind {
  STAT_KIND_U64, /* event count; adds up over blocks, subtracts over regions */
  STAT_KIND_MAX, /* high-water mark; the larger one over blocks */
  STAT_KIND_VEC, /* event counts by cause */
  STAT_KIND_NA,  /* declared, not modelled; no storage */
  STAT_KIND_DIV, /* ratio of two expressions; no storage */
  STAT_KIND_LAW, /* two expressions that must be equal; no storage */
};

typedef uint64_t (*stat_expr)(const void *data);

/* One row. */
struct stat_desc {
  uint8_t kind;       /* enum stat_kind */
  const char *name, *unit, *text;
  uint32_t offset;    /* bytes from the start of the block's struct */
  uint32_t count;     /* elements: VEC more than one, DIV, LAW and NA none */
  const char *const *names; /* VEC: name of each element, NULL = its number */
  stat_expr lhs, rhs; /* DIV: numerator, denominator; LAW: both sides */
};

/* The statistics of one block. `prefix` is dotted ("gpu.sm0.issue"), frozen by golden tests. */
struct stat_group {
  const char *prefix;
  const struct stat_desc *desc;
  unsigned n; /* rows */
  void *data; /* the block's struct */
};

/* Sum of n counters (what SUM(field) stands for). */
static inline uint64_t stat_sum(const uint64_t *v, size_t n)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += v[i];
  return sum;
}

/* What of `a` is beyond `b`, else 0. */
static inline uint64_t stat_beyond(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* The same of n pairs, added up. */
static inline uint64_t stat_beyond_each(const uint64_t *a, const uint64_t *b, size_t n)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += stat_beyond(a[i], b[i]);
  return sum;
}

/* into += from, row by row (MAX: the larger). Both must have the same table. */
void stat_add(struct stat_group into, struct stat_group from);

/* out = after - before: the counts of a region. MAX rows keep the value of `after`, for a
 * high-water mark cannot be subtracted. All three must have the same table; out may be after. */
void stat_diff(struct stat_group out, struct stat_group after, struct stat_group before);

/* Checks every law of the group. False at the first broken one, naming it and both values: that is
 * a bug of ours, never of the input. */
bool stat_check_laws(struct stat_group g, struct err *e);

/* Value of the DIV row `d`; false when its denominator is 0 (prints n/a). */
bool stat_ratio(const struct stat_desc *d, const void *data, double *value);

/* Row called `name`, or NULL. */
const struct stat_desc *stat_find(struct stat_group g, const char *name);

/* Puts all groups into the open object, one nested object per part of their prefixes. Counts are exact integers, ratios
 * have 6 decimals, n/a is null, a VEC is an object by name or an array. Keys come in the order of the tables and of the
 * groups; groups whose prefixes share parts follow each other. Two groups must not claim one name. */
void stat_write_json(struct json_out *, const struct stat_group *, unsigned n_groups);

/* Rows of a Markdown table "| prefix.name | unit | text |". */
void stat_write_doc(FILE *f, const char *prefix, const struct stat_desc *desc, unsigned n);

#endif
