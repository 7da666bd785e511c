/* What bounds a run, and how much of each unit it used, from counters made up here: the rules and thresholds of docs/limiter.md,
 * shares by hand. The GPU is an RTX 3070: 46 SMs with four sub-cores and 48 warps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/presets.h"
#include "host/limiter.h"
#include "host/speed.h"
#include "time/msg.h"
#include "time/sm/mem_class.h"
#include "time/sm/warp_state.h"

enum { CYCLES = 1000000, SMS = 46, SLOTS = 1000000 };

static struct preset preset;

static int load(void **state)
{
  struct err e = {""};
  (void)state;
  return !preset_load("rtx-3070", WS_SOURCE_DIR "/presets", &preset, &e);
}

static int unload(void **state)
{
  (void)state;
  preset_free(&preset);
  return 0;
}

struct counters {
  uint64_t launch_cycles, ctas, active_cycles, warp_cycles, slot[SLOT__N], class_sectors[MEM_CLASS__N], class_conflicts[MEM_CLASS__N], shared_conflicts, mem_busy, excess_sectors,
      thread_insts, warp_insts, divergences, op_requests[L2_OP__N], op_sectors[L2_OP__N], atomic_wait, pipe[PIPE__N], gmma_cycles,
      noc_request_bytes, noc_reply_bytes, dram_read_bytes, dram_write_bytes, requests, dram_read_wait;
};

#define ONE(field)  {.name = #field, .offset = offsetof(struct counters, field), .count = 1}
#define MANY(field) {.name = #field, .offset = offsetof(struct counters, field), \
                     .count = sizeof((struct counters *)0)->field / sizeof(uint64_t)}
static const struct stat_desc rows[] = {
    ONE(launch_cycles), ONE(ctas), ONE(active_cycles), ONE(warp_cycles), MANY(slot), MANY(class_sectors), MANY(class_conflicts), ONE(shared_conflicts), ONE(mem_busy),
    ONE(excess_sectors), ONE(thread_insts), ONE(warp_insts), ONE(divergences), MANY(op_requests), MANY(op_sectors),
    ONE(atomic_wait), MANY(pipe), ONE(gmma_cycles), ONE(noc_request_bytes), ONE(noc_reply_bytes), ONE(dram_read_bytes),
    ONE(dram_write_bytes), ONE(requests), ONE(dram_read_wait),
};

/* All SMs have CTAs all the time, 24 warps each; three quarters of the slots wait for memory, the rest for arithmetic. */
static struct counters plain(void)
{
  struct counters c = {.launch_cycles = preset.params.launch_latency_cycles, .ctas = 4 * SMS, .active_cycles = (uint64_t)SMS * CYCLES, .warp_cycles = 24 * (uint64_t)SMS * CYCLES,
                       .thread_insts = 3200, .warp_insts = 100};
  c.slot[WS_LONG_SCOREBOARD] = SLOTS * 3 / 4;
  c.slot[WS_WAIT] = SLOTS / 4;
  c.class_sectors[MEM_CLASS_GLOBAL_LD] = 1000;
  return c;
}

static struct limiter of_linked(struct counters *c, struct link_use links, uint64_t cycles, const char *occupancy)
{
  struct sim_result r = {.timed = true, .cycles = cycles, .time_ps = cycles * 500, .ctas_per_sm = 4, .limiter = occupancy,
                         .n_groups = 1, .links = links};
  r.group[0] = (struct stat_group){.prefix = "x", .desc = rows, .n = sizeof rows / sizeof rows[0], .data = c};
  return limiter_of(&preset.params, &r, NULL);
}

static struct limiter of(struct counters *c, uint64_t cycles, const char *occupancy)
{
  return of_linked(c, (struct link_use){0}, cycles, occupancy);
}

static void is(struct counters c, enum limiter_id want, double share)
{
  const struct limiter l = of(&c, CYCLES, "warps");
  if (l.id != want) fail_msg("%s, not %s: %s", limiter_key(l.id), limiter_key(want), l.evidence);
  if (fabs(l.share - share) > 1e-3) fail_msg("%s: %g, not %g", limiter_key(l.id), l.share, share);
  assert_true(l.evidence[0] != '\0');
}

/* Half a percent to both sides of each threshold. */
static const double above = 1.005, below = 0.995;

static void waits(void **state)
{
  static const struct {
    unsigned slot;
    enum limiter_id id;
  } of_slot[] = {{WS_LONG_SCOREBOARD, LIMITER_MEMORY},    {WS_LG_THROTTLE, LIMITER_MEMORY},        {WS_DRAIN, LIMITER_MEMORY},
                 {WS_NO_INSTRUCTION, LIMITER_FETCH},      {WS_BRANCH_RESOLVING, LIMITER_FETCH},    {WS_IMC_MISS, LIMITER_CONSTANTS},
                 {WS_WAIT, LIMITER_ARITHMETIC},           {WS_SHORT_SCOREBOARD, LIMITER_SHORT},    {WS_MIO_THROTTLE, LIMITER_SHORT},
                 {WS_BARRIER, LIMITER_BARRIERS},          {WS_MEMBAR, LIMITER_FENCES},             {WS_SLEEPING, LIMITER_SLEEP},
                 {WS_SERVICE, LIMITER_SLEEP}};
  (void)state;
  for (unsigned i = 0; i < sizeof of_slot / sizeof of_slot[0]; i++) {
    struct counters c = plain();
    memset(c.slot, 0, sizeof c.slot);
    c.slot[of_slot[i].slot] = SLOTS * 6 / 10;
    c.slot[of_slot[i].slot == WS_WAIT ? WS_BARRIER : WS_WAIT] = SLOTS * 4 / 10;
    c.slot[SLOT_NO_WARP] = 5 * SLOTS; /* slots without a warp are of no kernel */
    is(c, of_slot[i].id, 0.6);
  }
  struct counters c = plain(); /* two of one class together are more than another */
  memset(c.slot, 0, sizeof c.slot);
  c.slot[WS_LONG_SCOREBOARD] = c.slot[WS_DRAIN] = 30, c.slot[WS_BARRIER] = 40;
  is(c, LIMITER_MEMORY, 0.6);
}

static void latency_of_memory(void **state)
{
  (void)state;
  struct counters c = plain();
  is(c, LIMITER_MEMORY, 0.75);
  c.excess_sectors = (uint64_t)(1000 * above / 3);
  is(c, LIMITER_COALESCING, 0.75);
  c.excess_sectors = (uint64_t)(1000 * below / 3);
  is(c, LIMITER_MEMORY, 0.75);
  c.class_sectors[MEM_CLASS_LOCAL_LD] = 300, c.class_sectors[MEM_CLASS_LOCAL_ST] = 300; /* of 1,600 */
  is(c, LIMITER_SPILLS, 0.75);
  c.class_sectors[MEM_CLASS_LOCAL_ST] = 0; /* of 1,300 */
  is(c, LIMITER_MEMORY, 0.75);
  /* an atomic waits for 5 % of the kernel, which takes 500 us */
  c = plain();
  c.op_requests[L2_OP_ATOM] = 6, c.op_requests[L2_OP_RED] = 4;
  c.atomic_wait = (uint64_t)(10 * 0.05 * above * 500e6);
  is(c, LIMITER_ATOMICS, 0.75);
  c.atomic_wait = (uint64_t)(10 * 0.05 * below * 500e6);
  is(c, LIMITER_MEMORY, 0.75);
  /* too few warps, because registers or shared memory say so */
  c = plain();
  c.warp_cycles = (uint64_t)(0.5 * below * 48 * SMS * CYCLES);
  assert_int_equal(of(&c, CYCLES, "registers").id, LIMITER_OCCUPANCY);
  assert_int_equal(of(&c, CYCLES, "shared memory").id, LIMITER_OCCUPANCY);
  assert_int_equal(of(&c, CYCLES, "warps").id, LIMITER_MEMORY);
  c.warp_cycles = (uint64_t)(0.5 * above * 48 * SMS * CYCLES);
  assert_int_equal(of(&c, CYCLES, "registers").id, LIMITER_MEMORY);
  /* a unit of memory taken for half of the time */
  c.mem_busy = (uint64_t)(0.5 * above * SMS * CYCLES);
  is(c, LIMITER_L1, 0.75);
  c.mem_busy = (uint64_t)(0.5 * below * SMS * CYCLES);
  is(c, LIMITER_MEMORY, 0.75);
}

static void is_linked(struct counters c, struct link_use links, enum limiter_id want, const char *evidence)
{
  const struct limiter l = of_linked(&c, links, CYCLES, "warps");
  if (l.id != want) fail_msg("%s, not %s: %s", limiter_key(l.id), limiter_key(want), l.evidence);
  if (strncmp(l.evidence, evidence, strlen(evidence)) != 0) fail_msg("%s", l.evidence);
}

/* Warps that wait for memory, which answers 1,000 requests here, with the latency of L2 each, and waits of 1 us in DRAM. */
static void links(void **state)
{
  (void)state;
  struct counters c = plain();
  c.requests = 1000, c.dram_read_wait = 1000000;
  const double own = 1000.0 * preset.params.l2_latency * (double)params_clock_ps(&preset.params) + 1e6;
  /* half of what memory takes is over links, which are nearly idle */
  struct link_use u = {.taken = 0.1, .requests = 100, .reads = 100, .read_wait_ps = (uint64_t)(own * above)};
  is_linked(c, u, LIMITER_LINKS, "answers over links, ");
  u.read_wait_ps = (uint64_t)(own * below);
  is_linked(c, u, LIMITER_MEMORY, "");
  /* a link is full: of the kernel's if a third of its requests go there */
  u = (struct link_use){.taken = 0.5 * above, .requests = 501};
  is_linked(c, u, LIMITER_LINKS, "a link taken for 50 % of the time; 75 % of issue slots wait for memory");
  u.requests = 499;
  is_linked(c, u, LIMITER_MEMORY, "");
  u.requests = 501, u.taken = 0.5 * below;
  is_linked(c, u, LIMITER_MEMORY, "");
  /* what can be avoided goes first */
  u.taken = 0.9;
  c.excess_sectors = 900;
  is_linked(c, u, LIMITER_COALESCING, "");
}

static void units(void **state)
{
  const struct params *p = &preset.params;
  const double sub = 4.0 * SMS * CYCLES, behind = CYCLES - (double)p->launch_latency_cycles - p->launch_cta_latency;
  const double l2 = (double)params_clock_ps(p) / (double)params_l2_clock_ps(p);
  (void)state;
  static const struct {
    enum pipe pipe;
    enum limiter_id id;
  } pipes[] = {{PIPE_ALU, LIMITER_ALU}, {PIPE_HALF, LIMITER_HALF}, {PIPE_SFU, LIMITER_SFU}, {PIPE_UNIFORM, LIMITER_UNIFORM}};
  for (unsigned i = 0; i < sizeof pipes / sizeof pipes[0]; i++) {
    struct counters c = plain();
    const double whole = sub / p->pipe_interval[pipes[i].pipe];
    c.pipe[pipes[i].pipe] = (uint64_t)(0.7 * above * whole);
    is(c, pipes[i].id, 0.7 * above);
    c.pipe[pipes[i].pipe] = (uint64_t)(0.7 * below * whole);
    is(c, LIMITER_MEMORY, 0.75);
    c.pipe[pipes[i].pipe] = (uint64_t)(0.9 * whole); /* where a third of the lanes does nothing, on paths of their own */
    c.thread_insts = (uint64_t)(3200 * (1 - above / 3));
    is(c, pipes[i].id, 0.9);
    c.divergences = 1;
    is(c, LIMITER_DIVERGENCE, 0.9);
    c.thread_insts = (uint64_t)(3200 * (1 - below / 3)) + 1;
    is(c, pipes[i].id, 0.9);
  }
  struct counters c = plain();
  c.dram_read_bytes = (uint64_t)(0.4 * behind * (double)params_dram_bytes_per_second(p) * (double)params_clock_ps(p) * 1e-12);
  c.dram_write_bytes = c.dram_read_bytes;
  is(c, LIMITER_DRAM, 0.8);
  c = plain();
  c.op_sectors[L2_OP_READ] = (uint64_t)(0.8 * behind * p->l2_bytes_per_cycle * l2 / SECTOR_BYTES);
  is(c, LIMITER_L2, 0.8);
  c = plain();
  c.noc_reply_bytes = (uint64_t)(0.8 * behind * p->noc_sm_reply_bytes * SMS * l2);
  is(c, LIMITER_L2, 0.8);
  c = plain();
  c.noc_request_bytes = (uint64_t)(0.8 * behind * p->noc_slice_request_bytes * p->l2_slices * l2);
  is(c, LIMITER_L2, 0.8);
  c = plain();
  c.mem_busy = (uint64_t)(0.9 * SMS * CYCLES);
  is(c, LIMITER_L1, 0.9);
  const double passes = (double)c.mem_busy / ((LINE_BYTES + p->l1_bytes_per_cycle - 1) / p->l1_bytes_per_cycle);
  c.shared_conflicts = (uint64_t)(passes * above / 3);
  is(c, LIMITER_BANKS, 0.9);
  c.class_conflicts[MEM_CLASS_SHARED_ATOM] = c.shared_conflicts; /* updates of one word are no conflicts of banks */
  is(c, LIMITER_ATOMICS, 0.9);
  c.class_conflicts[MEM_CLASS_SHARED_ATOM] = c.shared_conflicts = (uint64_t)(passes * below / 3);
  is(c, LIMITER_L1, 0.9);
  c.class_conflicts[MEM_CLASS_SHARED_ATOM] = 0;
  is(c, LIMITER_L1, 0.9);
  c.excess_sectors = 500;
  is(c, LIMITER_COALESCING, 0.9);
  c.excess_sectors = 900;
  const struct limiter most = of(&c, CYCLES, "warps");
  if (strncmp(most.evidence, "90 % of L1's sectors are excess; ", 33) != 0) fail_msg("%s", most.evidence);
  c.class_sectors[MEM_CLASS_LOCAL_LD] = 1000;
  is(c, LIMITER_SPILLS, 0.9);
}

/* Waiting for shared memory whose unit is mostly free: for its banks where these conflict, not where lanes arrive at one mbarrier. */
static void short_waits_are_of_banks_or_not(void **state)
{
  (void)state;
  struct counters c = plain();
  c.slot[WS_SHORT_SCOREBOARD] = c.slot[WS_LONG_SCOREBOARD];
  c.slot[WS_LONG_SCOREBOARD] = 0;
  c.mem_busy = (uint64_t)(0.2 * SMS * CYCLES);
  c.shared_conflicts = c.mem_busy / 2;
  is(c, LIMITER_BANKS, 0.75);
  c.class_conflicts[MEM_CLASS_SHARED_ATOM] = c.shared_conflicts;
  is(c, LIMITER_SHORT, 0.75);
}

/* Slots in which an instruction is issued: of four a cycle. */
static void issue_slots(void **state)
{
  struct counters c = plain();
  (void)state;
  memset(c.slot, 0, sizeof c.slot);
  c.slot[SLOT_ISSUED] = (uint64_t)(0.8 * 4 * SMS * CYCLES);
  c.slot[WS_WAIT] = (uint64_t)(0.2 * 4 * SMS * CYCLES);
  is(c, LIMITER_ISSUE, 0.8);
}

static void empty_sms(void **state)
{
  const struct params *p = &preset.params;
  const double fixed = (double)p->launch_latency_cycles + p->launch_cta_latency;
  struct counters c = plain();
  struct limiter l;
  (void)state;
  /* launch latency: 40 % of the time */
  c.active_cycles = 0, c.warp_cycles = 0;
  l = of(&c, (uint64_t)(fixed / (0.4 * above)), "warps");
  assert_int_equal(l.id, LIMITER_LAUNCH);
  assert_true(fabs(l.share - 0.4 * above) < 1e-3);
  c = plain();
  const uint64_t cycles = (uint64_t)(fixed / (0.4 * below));
  c.active_cycles = SMS * (cycles - (uint64_t)fixed), c.warp_cycles = 24 * c.active_cycles; /* behind it all SMs work */
  assert_int_equal(of(&c, cycles, "warps").id, LIMITER_MEMORY);
  /* CTAs handed out one after the other: 70 % */
  c = plain();
  c.ctas = (uint64_t)(0.7 * above * CYCLES * 100 / p->launch_cta_interval_x100);
  is(c, LIMITER_HAND_OUT, 0.7 * above);
  c.ctas = (uint64_t)(0.7 * below * CYCLES * 100 / p->launch_cta_interval_x100);
  is(c, LIMITER_MEMORY, 0.75);
  /* SMs without CTAs for a fifth of the time: the grid has too few, or they ended earlier; neither the launch nor the
   * fence behind the last CTA counts */
  const double launch = (fixed + p->membar_gpu_cycles) / CYCLES;
  c = plain();
  c.active_cycles = (uint64_t)((1 - launch - 0.2 * above) * SMS * CYCLES);
  is(c, LIMITER_TAIL, 0.2 * above);
  c.ctas = SMS - 1;
  is(c, LIMITER_GRID, 0.2 * above);
  c.ctas = SMS;
  is(c, LIMITER_TAIL, 0.2 * above);
  c.active_cycles = (uint64_t)((1 - launch - 0.2 * below) * SMS * CYCLES);
  is(c, LIMITER_MEMORY, 0.75);
  const uint64_t fence = p->membar_gpu_cycles, brief = 30 * fence; /* where the fence is a thirtieth of the time */
  c.active_cycles = SMS * (uint64_t)(0.81 * (double)brief - fixed - (double)fence);
  c.warp_cycles = 24 * c.active_cycles;
  assert_int_equal(of(&c, brief, "warps").id, LIMITER_MEMORY);
  c.active_cycles = SMS * (uint64_t)(0.79 * (double)brief - fixed - (double)fence);
  c.warp_cycles = 24 * c.active_cycles;
  assert_int_equal(of(&c, brief, "warps").id, LIMITER_TAIL);
  c = plain();
  c.ctas = SMS;
  /* a cost that can be avoided and is larger goes first, but not before too small a grid */
  c.active_cycles = (uint64_t)((1 - launch - 0.25) * SMS * CYCLES);
  c.excess_sectors = 900;
  is(c, LIMITER_COALESCING, 0.75);
  c.ctas = 3;
  is(c, LIMITER_GRID, 0.25);
}

/* Every name, once. */
static void names(void **state)
{
  (void)state;
  for (enum limiter_id i = 0; i < LIMITER__N; i++) {
    assert_true(limiter_key(i)[0] && limiter_name(i)[0] && (limiter_costs(i)[0] || i == LIMITER_LINKS));
    for (enum limiter_id k = 0; k < i; k++) assert_string_not_equal(limiter_key(i), limiter_key(k));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits), cmocka_unit_test(latency_of_memory), cmocka_unit_test(links), cmocka_unit_test(units),
      cmocka_unit_test(issue_slots), cmocka_unit_test(empty_sms), cmocka_unit_test(names),
      cmocka_unit_test(short_waits_are_of_banks_or_not),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
