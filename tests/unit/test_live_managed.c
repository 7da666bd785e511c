/* Managed memory of a GPU (time/uvm/uvm.h) under a kernel of many warps: bytes that move, with and without room, times
 * against sums of parameters, prefetches, what the host touches; the same for any number of host threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "host/live_gpu.h"
#include "host/simulator.h"
#include "kernel_rig.h"
#include "time/uvm/uvm_machine.h"

enum { BLOCK = 2 << 20, BLOCKS = 2, BYTES = BLOCKS * BLOCK, CTAS = 12 };

/* stream_copy from one managed buffer of two blocks to another. */
struct rig {
  struct kernel_rig k;
  struct simulator *s;
  struct uvm_machine *u;
  struct sim_options o;
  struct gmem *image;
  uint64_t from, to;
};

static uint64_t managed(struct rig *r)
{
  const uint64_t at = (gmem_alloc(r->image, BYTES + BLOCK, NULL) + BLOCK - 1) / BLOCK * BLOCK;
  uvm_space_add(&r->u->space, at, BYTES, r->u->of[0]->cfg.socket);
  return at;
}

/* The host has written all of it. */
static void host_writes(struct rig *r, uint64_t at)
{
  struct page_set all = {0};
  page_set_add_range(&all, 0, UVM_BLOCK_PAGES);
  for (uint64_t i = 0; i < BYTES; i += 8) {
    const uint64_t x = i * 2654435761u;
    assert_true(gmem_write(r->image, at + i, &x, 8));
  }
  for (unsigned i = 0; i < BLOCKS; i++) uvm_host_finds(r->u, at + (uint64_t)i * BLOCK, &all);
}

static bool holds(const struct rig *r, uint64_t at)
{
  for (uint64_t i = 0, x; i < BYTES; i += 8)
    if (!gmem_read(r->image, at + i, &x, 8) || x != i * 2654435761u) return false;
  return true;
}

static void rig_build(struct rig *r, unsigned threads, uint64_t room, unsigned threshold)
{
  const uint32_t grid = CTAS;
  memset(r, 0, sizeof *r);
  kernel_rig_build(&r->k, "stream_copy", 1);
  r->k.params.uvm_tree_threshold = threshold;
  memcpy(r->k.launch->bank0 + 0xc, &grid, sizeof grid);
  r->image = r->k.launch->params.image;
  r->o = (struct sim_options){.timed = true, .threads = threads};
  r->s = simulator_new(&r->k.params);
  simulator_surround(r->s);
  r->u = simulator_manage(r->s);
  r->u->space.gpu[0].room = room;
  r->from = managed(r);
  r->to = managed(r);
  host_writes(r, r->from);
}

static void rig_free(struct rig *r)
{
  simulator_free(r->s);
  kernel_rig_free(&r->k);
}

static struct live_end finish(struct rig *r)
{
  struct live_end end;
  assert_int_equal(live_run(r->s, UINT64_MAX), LIVE_ENDED);
  assert_true(live_take(r->s, &end));
  return end;
}

/* Bank 0 of sm_86 has arguments from 0x160 on. */
static struct live_end copy(struct rig *r, uint64_t start)
{
  struct err e;
  const uint64_t args[] = {r->to, r->from, BYTES / 16};
  memcpy(r->k.launch->bank0 + 0x160, args, 20);
  struct launch l = kernel_rig_again(&r->k, CTAS);
  const struct live_launch x = {.launch = &l, .start_ps = start, .who = r};
  if (!live_open(r->s, &x, &r->o, &e)) fail_msg("%s", e.msg);
  const struct live_end end = finish(r);
  assert_int_equal(end.result.end, RUN_DONE);
  assert_true(holds(r, r->to));
  func_launch_free(l.func);
  return end;
}

/* What was read moves once, what was only written is made; then nothing faults. */
static void moves_once(void **state)
{
  struct rig r;
  (void)state;
  rig_build(&r, 1, 100, 51);
  const struct uvm_stats *n = &r.u->space.gpu[0].stats;
  const struct live_end first = copy(&r, 0);
  assert_int_equal(n->to_gpu, BYTES);
  assert_int_equal(n->filled, BYTES);
  assert_int_equal(n->to_host + n->evictions + n->thrashed, 0);
  assert_in_range(n->batches, 2 * BLOCKS, n->faults);
  assert_in_range(n->tree, 1, 2 * BYTES - 2 * BLOCKS * 4096);
  const uint64_t faults = n->faults, least = n->batches * (r.k.params.uvm_replay_ns + r.k.params.uvm_block_ns) * 1000ull;
  assert_true(first.end_ps - first.start_ps > least);
  const struct live_end second = copy(&r, first.end_ps);
  assert_int_equal(n->faults, faults);
  assert_true(10 * (second.end_ps - second.start_ps) < first.end_ps - first.start_ps);
  rig_free(&r);
}

/* Without the tree each page that is touched is a fault of its own. */
static void page_by_page(void **state)
{
  struct rig r;
  (void)state;
  rig_build(&r, 1, 100, 0);
  copy(&r, 0);
  assert_int_equal(r.u->space.gpu[0].stats.tree, 0);
  assert_int_equal(r.u->space.gpu[0].stats.faults - r.u->space.gpu[0].stats.repeats, 2 * BYTES / 4096);
  rig_free(&r);
}

/* Four blocks, room for two: what comes in beyond them makes others leave, and as many bytes are where they were. */
static void makes_room(void **state)
{
  struct rig r;
  (void)state;
  rig_build(&r, 1, 2, 51);
  const struct uvm_stats *n = &r.u->space.gpu[0].stats;
  const struct live_end first = copy(&r, 0);
  copy(&r, first.end_ps);
  assert_true(n->evictions >= 2 + 2);
  assert_int_equal(n->to_host, n->evicted);
  assert_in_range(r.u->space.gpu[0].resident, 1, 2);
  assert_true(n->thrashed > 0 && n->thrashed <= n->evicted);
  uint64_t there = 0;
  for (unsigned k = 0; k < 2; k++)
    for (unsigned i = 0; i < BLOCKS; i++) there += uvm_bytes(&r.u->space.range[k].block[i].gpu[0].there);
  assert_int_equal(n->to_gpu + n->filled - n->to_host, there);
  rig_free(&r);
}

/* No room at all: pages are reached at the host, and values are right. */
static void no_room(void **state)
{
  struct rig r;
  (void)state;
  rig_build(&r, 1, 0, 51);
  copy(&r, 0);
  assert_int_equal(r.u->space.gpu[0].stats.to_gpu, 0);
  assert_int_equal(r.u->space.gpu[0].stats.mapped, 2 * BYTES);
  rig_free(&r);
}

/* A prefetch takes its blocks' work and its bytes at the link's rate, and nothing faults behind it; then the host reads
 * one page and gets its 64 KiB. */
static void prefetched(void **state)
{
  struct rig r;
  struct page_set page = {0};
  (void)state;
  rig_build(&r, 1, 100, 51);
  live_prefetch(r.s, &(struct live_prefetch){.addr = r.from, .bytes = BYTES, .who = &r}, r.image, &r.o);
  struct live_end end = finish(&r);
  assert_true(end.copy && !end.failed);
  const double want = BLOCKS * (r.k.params.uvm_prefetch_ns + r.k.params.pcie_latency_ns) * 1e3 +
                      BYTES * 1e6 / r.k.params.pcie_h2d_mbps, took = (double)(end.end_ps - end.start_ps);
  if (took < 0.98 * want || took > 1.05 * want) fail_msg("%f is not %f ps", took, want);
  live_prefetch(r.s, &(struct live_prefetch){.addr = r.to, .bytes = BYTES, .start_ps = end.end_ps, .who = &r}, r.image,
                &r.o);
  end = finish(&r);
  copy(&r, end.end_ps);
  assert_int_equal(r.u->space.gpu[0].stats.faults, 0);
  assert_int_equal(r.u->space.gpu[0].stats.asked, 2 * BYTES);
  page_set_add_range(&page, 16, 16);
  assert_int_equal(uvm_host_touch(r.u, r.from, &page, end.end_ps).took,
                   r.k.params.uvm_host_fault_ns * 1000ull + (64 << 10) * 1000000ull / r.u->of[0]->cfg.link[UVM_TO_HOST].mbps);
  assert_int_equal(r.u->space.gpu[0].stats.to_host, 64 << 10);
  rig_free(&r);
}

/* A range is freed while pages of it are on their way, one of them to be pinned, and another one is there when they come:
 * those are not its own, and the kernel's accesses fault once more. */
static void freed_under_way(void **state)
{
  struct rig r;
  struct err e;
  (void)state;
  rig_build(&r, 1, 100, 51);
  const uint64_t args[] = {r.to, r.from, BYTES / 16};
  memcpy(r.k.launch->bank0 + 0x160, args, 20);
  struct launch l = kernel_rig_again(&r.k, CTAS);
  if (!live_open(r.s, &(struct live_launch){.launch = &l, .who = &r}, &r.o, &e)) fail_msg("%s", e.msg);
  struct uvm *u = r.u->of[0];
  picos until = 0;
  while (u->state != UVM_MOVES || u->work[u->current].base != r.from)
    assert_int_equal(live_run(r.s, until += 1000000), LIVE_REACHED);
  u->pinned = u->pages;
  assert_false(page_set_empty(&u->pages));
  uvm_machine_do(r.u, &(struct uvm_op){.kind = UVM_OP_REMOVE, .addr = r.from});
  uvm_machine_do(r.u, &(struct uvm_op){.kind = UVM_OP_ADD, .addr = r.from, .bytes = BYTES, .socket = u->cfg.socket});
  while (u->state == UVM_MOVES) assert_int_equal(live_run(r.s, until += 1000000), LIVE_REACHED);
  assert_true(page_set_empty(&uvm_space_range(&r.u->space, r.from)->block[0].gpu[0].there));
  assert_int_equal(finish(&r).result.end, RUN_DONE);
  assert_true(holds(&r, r.to));
  func_launch_free(l.func);
  rig_free(&r);
}

static bool is_pinned(const struct rig *r, uint64_t at)
{
  return !page_set_empty(&uvm_space_range(&r->u->space, at)->block[0].thrash->pins);
}

/* The host's clock is ahead of the GPU's, and of those of other clients: its touch ends pins of the block that it touches. */
static void unpins_its_own(void **state)
{
  enum { PAGE = 3, UNTIL = 1000 };
  struct rig r;
  struct page_set page = {0};
  (void)state;
  rig_build(&r, 1, 100, 51);
  page_set_add(&page, PAGE);
  for (unsigned k = 0; k < 2; k++) {
    const uint64_t at = k ? r.to : r.from;
    struct thrash_block *t = mem_zeroed(1, sizeof *t);
    t->page = mem_zeroed(UVM_BLOCK_PAGES, sizeof *t->page);
    t->page[PAGE] = (struct thrash_page){.pinned = THRASH_HOST, .unpin = UNTIL};
    t->thrashing = t->pins = page;
    uvm_space_range(&r.u->space, at)->block[0].thrash = t;
    r.u->pin = mem_more(r.u->pin, r.u->n_pins, &r.u->room_pins, sizeof *r.u->pin);
    r.u->pin[r.u->n_pins++] = (struct uvm_pin){UNTIL, at + PAGE * 4096};
  }
  uvm_host_touch(r.u, r.from, &page, UNTIL - 1);
  assert_true(is_pinned(&r, r.from));
  uvm_host_touch(r.u, r.from, &page, UNTIL);
  assert_false(is_pinned(&r, r.from));
  assert_true(is_pinned(&r, r.to));
  uvm_machine_clock(r.u, UNTIL, 0);
  assert_false(is_pinned(&r, r.to));
  rig_free(&r);
}

/* Times and counters are those of one thread. */
static void threads(void **state)
{
  struct uvm_stats n[3];
  struct live_end end[3];
  (void)state;
  for (unsigned i = 0; i < 3; i++) {
    struct rig r;
    rig_build(&r, i + 1, 3, 51);
    end[i] = copy(&r, 0);
    n[i] = r.u->space.gpu[0].stats;
    rig_free(&r);
    assert_int_equal(end[i].end_ps, end[0].end_ps);
    assert_int_equal(end[i].result.cycles, end[0].result.cycles);
    assert_memory_equal(&n[i], &n[0], sizeof n[0]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moves_once), cmocka_unit_test(page_by_page), cmocka_unit_test(makes_room),
      cmocka_unit_test(no_room),    cmocka_unit_test(prefetched),   cmocka_unit_test(freed_under_way),
      cmocka_unit_test(threads),    cmocka_unit_test(unpins_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
