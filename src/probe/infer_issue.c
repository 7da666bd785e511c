/* Inference: stall counts, yield, dependence counters, which warp issues, CTA barrier. */
#include <stdio.h>
#include <string.h>

#include "probe/infer.h"

/* Cycles to the next instruction for a stall count and yield bit, between two clock reads: one less. */
static bool stall_cycles(struct infer *f, unsigned stall, bool yield, int64_t *cycles, struct err *e)
{
  if (!infer_cycles(f, 1, 32, cycles, e, "CLK | NOP{S%u%s} | CLK", stall, yield ? " Y" : ""))
    return false;
  --*cycles;
  return true;
}

/* Every stall count with and without yield. The rules are the published ones (section 4), with the preset's
 * numbers. */
bool infer_stalls(struct infer *f, struct err *e)
{
  const struct params *p = f->params;
  for (unsigned yield = 0; yield < 2; yield++)
    for (unsigned stall = 0; stall < 16; stall++) {
      int64_t cycles, preset = stall ? stall : 1;
      char name[64];
      if (yield && stall == 0) preset = p->issue_stall0_yield_cycles;
      if (yield && stall == 1) preset = 2;
      if (!yield && stall >= p->issue_big_stall_from) preset = p->issue_big_stall_no_yield_cycles;
      if (!stall_cycles(f, stall, yield, &cycles, e)) return false;
      snprintf(name, sizeof name, "stall %u%s", stall, yield ? ", yield" : "");
      infer_number(f, name, cycles, preset, yield && stall == 0 ? 45 : INFER_UNKNOWN, 0);
    }
  return true;
}

/* ---- counters, wait mask, DEPBAR ---- */

enum { COUNTERS = 6, HELD = 4 /* cycles more than without waiting: the instruction was held */ };

/* Which bits of the wait mask hold the next instruction for each counter that an LDS releases at `when` (W:
 * write-back, R: operand read). Reported: counters held by the bit of their number and by no other. */
static bool wait_mask(struct infer *f, char when, struct err *e)
{
  int64_t cycles, good = 0;
  char name[64];
  for (unsigned counter = 0; counter < COUNTERS; counter++) {
    unsigned right = 0;
    for (unsigned bit = 0; bit < COUNTERS; bit++) {
      if (!infer_cycles(f, 1, 1, &cycles, e, "CLK | LDS R16, [R14]{%c%u S2} | CLK{B%u}", when, counter, bit))
        return false;
      right += (cycles > 3 + HELD) == (bit == counter);
    }
    good += right == COUNTERS;
  }
  snprintf(name, sizeof name, "counters of %s, wait mask bit = number",
           when == 'W' ? "write-back" : "operand read");
  infer_number(f, name, good, COUNTERS, COUNTERS, 0);
  return true;
}

/* The least stall count with which what follows `inst` is held. */
static bool least_stall(struct infer *f, const char *name, const char *inst, const char *next, int64_t preset,
                        int64_t published, struct err *e)
{
  int64_t cycles, least = INFER_UNKNOWN;
  for (unsigned stall = 8; stall > 0; stall--) {
    if (!infer_cycles(f, 1, 1, &cycles, e, "CLK | %sS%u} | %s", inst, stall, next)) return false;
    if (cycles <= 1 + stall + HELD) break;
    least = stall;
  }
  infer_number(f, name, least, preset, published, 0);
  return true;
}

/* DEPBAR.LE SB0, 0x0 behind `loads` loads waits until all are back; each unit of its threshold spares
 * the last one. */
static bool depbar_threshold(struct infer *f, struct err *e)
{
  enum { LOADS = 4 };
  int64_t cycles, before = INT64_MAX, steps = 0;
  for (unsigned n = 0; n <= LOADS; n++) {
    if (!infer_cycles(f, 1, 32, &cycles, e, "CLK | %u*LDS R#, [R14]{W0 S2} | DEPBAR.LE SB0, 0x%x{S4} | CLK",
                      LOADS, n))
      return false;
    steps += n && cycles < before;
    before = cycles;
  }
  infer_number(f, "DEPBAR.LE thresholds that spare one load each", steps, LOADS, LOADS, 0);
  return true;
}

bool infer_control(struct infer *f, struct err *e)
{
  return wait_mask(f, 'W', e) && wait_mask(f, 'R', e) &&
         least_stall(f, "least stall until a counter is seen", "LDS R16, [R14]{W0 ", "CLK{B0}", INFER_UNKNOWN, 2,
                     e) &&
         least_stall(f, "the same with yield", "LDS R16, [R14]{W0 Y ", "CLK{B0}", INFER_UNKNOWN, 1, e) &&
         least_stall(f, "least stall of DEPBAR that holds", "LDS R16, [R14]{W0 S4} | DEPBAR.LE SB0, 0x0{", "CLK",
                     f->params->issue_depbar_cycles, 4, e) &&
         depbar_threshold(f, e);
}

/* ---- which warp issues ---- */

static bool run(struct infer *f, unsigned warps, const char *code, struct window_result *r, struct err *e)
{
  struct window w = {.code = code, .warps = warps, .lanes = 32};
  return infer_window(f, &w, r, e);
}

/* The first number of warps with which one of them is slowed down by another is one more than there are
 * schedulers. */
static bool schedulers(struct infer *f, unsigned *n, struct err *e)
{
  enum { MOST = 8, RUN = 64 };
  int64_t cycles;
  *n = 0;
  for (unsigned warps = 2; warps <= MOST; warps++) {
    if (!infer_cycles(f, warps, 32, &cycles, e, "CLK | %d*NOP | CLK", RUN)) return false;
    if (cycles > RUN + RUN / 2 && !*n) *n = warps - 1;
  }
  infer_number(f, "schedulers", *n ? (int64_t)*n : INFER_UNKNOWN, f->params->sm_sub_cores, 4, 0);
  return true;
}

/* Three warps of one scheduler run 16 instructions, the last of which stalls for longer than half of them, and
 * 16 more. Warps in the order of their first clock read. */
static void sort_by_start(const struct window_result *r, unsigned n, unsigned order[3])
{
  for (unsigned i = 0; i < 3; i++) {
    unsigned k = i;
    for (; k > 0 && (int32_t)(r->clock[i * n][0] - r->clock[order[k - 1]][0]) < 0; k--) order[k] = order[k - 1];
    order[k] = i * n;
  }
}

/* The one that starts may be the one that came last; of the other two the scheduler chooses. A greedy scheduler
 * lets the second finish its run when the first is ready again. */
static const char *policy_name(const struct window_result *r, unsigned n)
{
  unsigned order[3];
  sort_by_start(r, n, order);
  const uint32_t *first = r->clock[order[0]], *second = r->clock[order[1]], *third = r->clock[order[2]];
  if ((int32_t)(third[0] - first[0]) <= 8) return "lrr"; /* side by side */
  bool youngest = order[1] > order[2], greedy = (int32_t)(first[1] - second[0]) >= 14;
  if (greedy) return youngest ? "cggty" : "gto";
  return youngest ? "youngest" : "oldest";
}

bool infer_policy(struct infer *f, struct err *e)
{
  static const char *const names[] = {
#define X(id, name) name,
      ISSUE_POLICY_LIST(X)
#undef X
  };
  struct window_result r;
  unsigned n;
  if (!schedulers(f, &n, e)) return false;
  if (!n) return true;
  if (!run(f, 3 * n, "CLK | 14*NOP | NOP{S9} | CLK | 14*NOP | NOP", &r, e)) return false;
  infer_word(f, "issue policy", policy_name(&r, n), names[f->params->issue_policy], "cggty");
  return true;
}

/* Cycles of a CTA barrier from the last arrival on. */
bool infer_barrier(struct infer *f, struct err *e)
{
  for (unsigned warps = 1; warps <= WINDOW_MAX_WARPS; warps *= 2) {
    struct window_result r;
    char name[64];
    /* A stall long enough for the barrier to take hold. */
    if (!run(f, warps, "CLK | BAR.SYNC.DEFER_BLOCKING 0x0{S15 Y} | CLK", &r, e)) return false;
    uint32_t arrived = r.clock[0][0], left = r.clock[0][1];
    for (unsigned k = 1; k < warps; k++) {
      if ((int32_t)(r.clock[k][0] - arrived) > 0) arrived = r.clock[k][0];
      if ((int32_t)(r.clock[k][1] - left) < 0) left = r.clock[k][1];
    }
    snprintf(name, sizeof name, "CTA barrier, %u warp%s", warps, warps > 1 ? "s" : "");
    infer_number(f, name, (int32_t)(left - arrived) - 1, f->params->lat[LAT_BAR], INFER_UNKNOWN,
                 warps > 1 ? 2 : 0);
  }
  return true;
}
