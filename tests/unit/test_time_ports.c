/* Ports of SMs into the crossbar: who takes turns there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/place.h"
#include "config/presets.h"
#include "time/gpu/netlist.h"
#include "time/sm/sm.h"

enum { SMS = 5, BUSY = 100, LATER = 1 << 20 }; /* three ports: SMs 0 and 3, 1 and 4, 2 alone */

static struct sm *sm_at(struct netlist *n, unsigned i)
{
  return (struct sm *)n->core[i];
}

static void set_busy(struct netlist *n, unsigned mask)
{
  for (unsigned i = 0; i < SMS; i++) sm_at(n, i)->mem.port.free_at = mask >> i & 1 ? BUSY : 0;
}

/* Two SMs that are both busy take turns; one that is busy alone has its port, and so has one that waits for nothing. */
static void busy_neighbours_take_turns(void **state)
{
  (void)state;
  static const struct { unsigned mask; uint8_t users[SMS]; } c[] = {
    {0x00, {1, 1, 1, 1, 1}},
    {0x07, {1, 1, 1, 1, 1}}, /* CTAs go to different ports first */
    {0x09, {2, 1, 1, 2, 1}},
    {0x1f, {2, 2, 1, 2, 2}},
    {0x10, {1, 1, 1, 1, 1}},
  };
  struct params p;
  struct netlist n;
  struct err e = {0};
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  assert_true(params_load("rtx-3070", dir, &p, &e));
  p.gpu_sms = SMS;
  assert_int_equal(p.noc_port_sms, 2);
  netlist_build(&n, &p, NULL, NULL, 0, NULL, NULL);
  picos clock = params_clock_ps(&p);
  for (unsigned i = 0; i < sizeof c / sizeof c[0]; i++) {
    set_busy(&n, c[i].mask);
    netlist_share_ports(&n, (BUSY - 1) * clock, (struct netlist_ran){.cores = true});
    for (unsigned k = 0; k < SMS; k++) assert_int_equal(sm_at(&n, k)->mem.port.users, c[i].users[k]);
  }
  netlist_share_ports(&n, BUSY * clock, (struct netlist_ran){0}); /* all have become idle */
  for (unsigned k = 0; k < SMS; k++) assert_int_equal(sm_at(&n, k)->mem.port.users, 1);
  netlist_free(&n);
}

/* Cycles from the first message to the second, which both are there in cycle `now`. */
static uint64_t apart(struct sm *m, enum req_kind kind, enum mem_op op, unsigned sectors, unsigned users,
                      unsigned stood, uint64_t now)
{
  struct sm_port *p = &m->mem.port;
  struct sm_grid grid = {.number = 0};
  struct inst inst = {.scope = 0};
  const struct txn t = {.grid = &grid, .inst = &inst, .op = (uint8_t)op};
  const struct txn_line line = {.line = 1, .sectors = (uint8_t)sectors};
  picos at[2];
  p->free_at = 0;
  p->users = users;
  for (unsigned i = 0; i < 2; i++) {
    sm_port_send(p, &t, kind, line, PLACE_OWN, now);
    at[i] = req_queue_front(&p->out)->arrive;
    req_queue_pop(&p->out);
    if (stood) sm_port_stood(p, stood * p->period);
  }
  assert_int_equal((at[1] - at[0]) % p->period, 0);
  return (at[1] - at[0]) / p->period;
}

/* A message without data takes a cycle, one with data its sectors of 32 bytes at noc.sm_request_bytes; where two SMs take
 * turns twice as long; and a port that stands still comes later by that. */
static void messages_take_the_port(void **state)
{
  struct params p;
  struct netlist n;
  struct err e = {""};
  char dir[4096];
  (void)state;
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  assert_true(params_load("rtx-3070", dir, &p, &e));
  p.gpu_sms = SMS;
  netlist_build(&n, &p, NULL, NULL, 0, NULL, NULL);
  struct sm *m = sm_at(&n, 0);
  (void)apart(m, REQ_READ, MEM_LOAD, 0xf, 1, 0, 0); /* its page is known long before cycle LATER */
  for (unsigned users = 1; users <= 2; users++) {
    assert_int_equal(apart(m, REQ_READ, MEM_LOAD, 0xf, users, 0, LATER), users);
    assert_int_equal(apart(m, REQ_STRONG, MEM_LOAD, 0xf, users, 0, LATER), users); /* only its answer has data */
    for (unsigned sectors = 1; sectors <= 4; sectors++) {
      const uint64_t cycles = users * ((sectors * 32 + p.noc_sm_request_bytes - 1) / p.noc_sm_request_bytes);
      const unsigned mask = (1u << sectors) - 1;
      assert_int_equal(apart(m, REQ_WRITE, MEM_STORE, mask, users, 0, LATER), cycles);
      assert_int_equal(apart(m, REQ_STRONG, MEM_STORE, mask, users, 0, LATER), cycles);
      assert_int_equal(apart(m, REQ_STRONG, MEM_RED, mask, users, 0, LATER), cycles);
    }
  }
  assert_int_equal(apart(m, REQ_READ, MEM_LOAD, 0xf, 1, 7, LATER), 1 + 7);
  netlist_free(&n);
}

/* What SMs send arrives, and what slices miss is read: counters that say otherwise are named. */
static void laws_are_looked_at(void **state)
{
  static struct netlist_stats good, bad;
  struct params p;
  struct netlist n;
  struct err e = {""};
  char dir[4096];
  (void)state;
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  assert_true(params_load("rtx-3070", dir, &p, &e));
  p.gpu_sms = SMS;
  netlist_build(&n, &p, NULL, NULL, 0, NULL, NULL);
  good.sm.l1_miss_sectors = 11, good.l2.l2_read_sectors = 9; /* and two of links, below */
  for (unsigned i = 0; i < L2_OP__N; i++) {
    good.sm.sent_sectors[i] = 5 + i, good.requester_sectors[i] = 3;
    good.l2.op_sectors[i] = 6 + i, good.outward.sectors[i] = 2;
  }
  good.sm.l1_write_sectors = 4, good.sm.copy_written_sectors = 7, good.l2.l2_write_sectors = 11;
  good.noc.noc_requests = 8, good.l2.requests = 6, good.outward.requests = 2;
  good.noc.noc_replies = 10, good.l2.replies = 7, good.outward.replies = 3;
  good.l2.l2_miss_sectors = 2, good.l2.l2_companion_sectors = 3, good.l2.l2_merged_sectors = 4;
  good.dram.dram_read_bytes = 9 * 32, good.l2.l2_written_back_sectors = 5, good.dram.dram_write_bytes = 5 * 32;
  good.sm.ctas = 12, n.dispatcher.taken = 3, n.dispatcher.ctas = 15;
  if (!netlist_check_laws(&n, &good, &e)) fail_msg("%s", e.msg);
  uint64_t *const one[] = {
      &bad.sm.l1_miss_sectors, &bad.sm.sent_sectors[0], &bad.l2.op_sectors[L2_OP__N - 1], &bad.requester_sectors[1],
      &bad.outward.sectors[2], &bad.sm.l1_write_sectors, &bad.sm.copy_written_sectors, &bad.l2.l2_write_sectors, &bad.noc.noc_requests,
      &bad.l2.requests, &bad.outward.requests, &bad.noc.noc_replies, &bad.l2.replies, &bad.outward.replies, &bad.l2.l2_miss_sectors,
      &bad.l2.l2_companion_sectors, &bad.l2.l2_merged_sectors, &bad.dram.dram_read_bytes, &bad.l2.l2_written_back_sectors,
      &bad.dram.dram_write_bytes, &bad.sm.ctas,
  };
  for (unsigned i = 0; i < sizeof one / sizeof one[0]; i++) {
    bad = good;
    ++*one[i];
    e.msg[0] = '\0';
    if (netlist_check_laws(&n, &bad, &e)) fail_msg("counter %u may be anything", i);
    assert_non_null(strstr(e.msg, "law broken: "));
  }
  n.dispatcher.taken++;
  assert_false(netlist_check_laws(&n, &good, &e));
  netlist_free(&n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(busy_neighbours_take_turns),
                                     cmocka_unit_test(messages_take_the_port), cmocka_unit_test(laws_are_looked_at)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
