/* Translation of a GPU on a CPU's page tables: what an answer takes, term by term; who waits for whom; the requests of an SM
 * that wait for their pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time/mem/mmu.h"
#include "time/sm/page_wait.h"

enum { SHARED = 40, READ = 1000, FAULT = 100000, BACK = 7, CORES = 3, LINES_OF_PAGE = 32 };

struct rig {
  struct arena arena;
  struct page_tables tables;
  struct page_queue asks[CORES], answers[CORES];
  struct mmu mmu;
  uint64_t absent; /* page that is not there */
};

static bool touch(void *ctx, uint64_t addr)
{
  struct rig *r = ctx;
  const bool there = addr >> TABLE_PAGE_BITS != r->absent;
  if (!there) r->absent = UINT64_MAX;
  return there;
}

static void open(struct rig *r, uint32_t entries, uint32_t walk_entries, uint32_t walkers)
{
  *r = (struct rig){.absent = UINT64_MAX};
  r->tables = (struct page_tables){.entries = entries, .walk_entries = walk_entries, .walkers = walkers, .shared_ps = SHARED,
                                   .read_ps = READ, .fault_ps = FAULT, .end = (uint64_t)1 << 38, .driver_bits = 21,
                                   .touch = touch, .ctx = r};
  mmu_init(&r->mmu, &r->arena, &r->tables, CORES, BACK);
  for (unsigned i = 0; i < CORES; i++) {
    QUEUE_INIT(&r->asks[i], &r->arena, struct page_msg, 16);
    QUEUE_INIT(&r->answers[i], &r->arena, struct page_msg, 16);
    r->mmu.port[i] = (struct mmu_port){&r->asks[i], &r->answers[i]};
  }
}

static uint64_t small(uint64_t number)
{
  return number << 1;
}

static void ask(struct rig *r, unsigned core, uint64_t page, picos at)
{
  page_queue_push(&r->asks[core], (struct page_msg){.arrive = at, .page = page});
}

/* The next answer of a core, which is of this page: when it is there. */
static picos answer(struct rig *r, unsigned core, uint64_t page)
{
  const struct page_msg a = *page_queue_front(&r->answers[core]);
  page_queue_pop(&r->answers[core]);
  assert_int_equal(a.page, page);
  return a.arrive;
}

static picos asked(struct rig *r, unsigned core, uint64_t page, picos at)
{
  ask(r, core, page, at);
  mmu_ops.run(&r->mmu, at, at + 1);
  return answer(r, core, page);
}

/* Three entries, one for a neighbour, two behind the end of their table; none in the shared TLB; and what flushes. */
static void walks(void **state)
{
  (void)state;
  struct rig r;
  open(&r, 64, 16, 4);
  assert_int_equal(asked(&r, 0, small(1024), 0), SHARED + 3 * READ + BACK);
  assert_int_equal(asked(&r, 0, small(1025), 100000), 100000 + SHARED + READ + BACK);
  assert_int_equal(asked(&r, 1, small(1536), 200000), 200000 + SHARED + 2 * READ + BACK);
  assert_int_equal(asked(&r, 2, small(1024), 300000), 300000 + SHARED + BACK);
  assert_int_equal(asked(&r, 2, 1024 << 1 | 1, 400000), 400000 + SHARED + 3 * READ + BACK); /* of the driver */
  assert_int_equal(r.tables.stats.asks, 5);
  assert_int_equal(r.tables.stats.shared_hits, 1);
  assert_int_equal(r.tables.stats.walks, 4);
  assert_int_equal(r.tables.stats.reads, 3 + 1 + 2 + 3);
  r.tables.generation++;
  assert_int_equal(asked(&r, 0, small(1024), 500000), 500000 + SHARED + 3 * READ + BACK);
  assert_int_equal(r.tables.stats.flushes, 1);
  arena_free(&r.arena);
}

/* Nothing is kept: each walk reads all, each ask walks. */
static void no_room(void **state)
{
  (void)state;
  struct rig r;
  open(&r, 1, 0, 1);
  assert_int_equal(asked(&r, 0, small(5), 0), SHARED + 3 * READ + BACK);
  assert_int_equal(asked(&r, 0, small(6), 100000), 100000 + SHARED + 3 * READ + BACK);
  assert_int_equal(asked(&r, 0, small(5), 200000), 200000 + SHARED + 3 * READ + BACK);
  assert_int_equal(asked(&r, 0, small(5), 300000), 300000 + SHARED + BACK);
  arena_free(&r.arena);
}

/* One walker: the walk that comes second begins when the first has ended; who asks for the same page gets it with the first; a
 * known page overtakes them. */
static void one_walker(void **state)
{
  (void)state;
  struct rig r;
  open(&r, 64, 16, 1);
  asked(&r, 0, small(9), 0);
  ask(&r, 0, small(10), 100000);
  ask(&r, 1, small(11), 100010);
  ask(&r, 2, small(10), 100020);
  ask(&r, 0, small(9), 100030);
  mmu_ops.run(&r.mmu, 100000, 100100);
  assert_int_equal(answer(&r, 0, small(9)), 100030 + SHARED + BACK);
  assert_int_equal(answer(&r, 0, small(10)), 100000 + SHARED + READ + BACK);
  assert_int_equal(answer(&r, 1, small(11)), 100000 + SHARED + 2 * READ + BACK);
  assert_int_equal(answer(&r, 2, small(10)), 100000 + SHARED + READ + BACK);
  assert_int_equal(r.tables.stats.queued_ps, READ - 10);
  assert_int_equal(r.tables.stats.walks, 3);
  assert_false(mmu_ops.busy(&r.mmu));
  arena_free(&r.arena);
}

/* By time, then by core: the first of the two at the same moment has the walker. What comes later waits in its queue. */
static void order(void **state)
{
  (void)state;
  struct rig r;
  open(&r, 64, 16, 1);
  ask(&r, 2, small(1), 50);
  ask(&r, 1, small(2), 50);
  ask(&r, 0, small(3), 90);
  assert_int_equal(mmu_ops.run(&r.mmu, 0, 90), 90);
  assert_true(mmu_ops.busy(&r.mmu));
  assert_int_equal(answer(&r, 1, small(2)), 50 + SHARED + 3 * READ + BACK);
  assert_int_equal(answer(&r, 2, small(1)), 50 + SHARED + 4 * READ + BACK);
  assert_int_equal(r.answers[0].n, 0);
  assert_int_equal(mmu_ops.run(&r.mmu, 90, 180), TIME_NEVER);
  assert_int_equal(answer(&r, 0, small(3)), 50 + SHARED + 5 * READ + BACK);
  arena_free(&r.arena);
}

/* The operating system brings pages one at a time; their walker does not wait; the driver's are always there. */
static void faults(void **state)
{
  (void)state;
  struct rig r;
  open(&r, 64, 16, 1);
  asked(&r, 0, small(1), 0);
  r.absent = 2;
  ask(&r, 0, small(2), 10000);
  ask(&r, 0, small(3), 10010);
  mmu_ops.run(&r.mmu, 10000, 10100);
  assert_int_equal(answer(&r, 0, small(3)), 10000 + SHARED + 2 * READ + BACK);
  assert_int_equal(answer(&r, 0, small(2)), 10000 + SHARED + 2 * READ + FAULT + BACK);
  r.absent = 4;
  assert_int_equal(asked(&r, 0, small(4), 20000), 10000 + SHARED + READ + 2 * FAULT + READ + BACK);
  assert_int_equal(r.tables.stats.faults, 2);
  const uint64_t driver = (r.tables.end >> r.tables.driver_bits) + 7;
  r.absent = driver << (r.tables.driver_bits - TABLE_PAGE_BITS);
  asked(&r, 0, driver << 1 | 1, 30000);
  assert_int_equal(r.tables.stats.faults, 2);
  arena_free(&r.arena);
}

/* --- an SM's side -------------------------------------------------------------------------------- */

static struct mem_req request(uint64_t page, uint16_t number)
{
  return (struct mem_req){.line = page * LINES_OF_PAGE + number, .txn = number};
}

/* One ask for a page, whoever waits; its requests leave in their order, those of others stay; then it is known, until the page
 * tables change or another page takes its place. */
static void waiting(void **state)
{
  (void)state;
  struct rig r;
  struct page_wait w;
  struct translations tlb;
  struct sm_stats stats = {0};
  struct req_queue out = {0};
  open(&r, 64, 16, 4);
  translations_init(&tlb, &r.arena, 1, 1);
  page_wait_open(&w, &r.arena, &r.tables, &tlb, 16, 60);
  QUEUE_INIT(&out, &r.arena, struct mem_req, 16);
  const struct {
    uint64_t page;
    uint16_t number;
  } sent[] = {{7, 1}, {8, 2}, {7, 3}, {7, 4}};
  for (unsigned i = 0; i < 4; i++) {
    const struct mem_req q = request(sent[i].page, sent[i].number);
    assert_false(page_wait_known(&w, q.line));
    page_wait_hold(&w, &q, 1000 + i, &stats);
  }
  assert_int_equal(w.asks.n, 2);
  assert_int_equal(stats.tlb_misses, 2);
  assert_int_equal(page_queue_front(&w.asks)->arrive, 1000 + 60);
  assert_int_equal(page_queue_front(&w.asks)->page, small(7));
  page_queue_push(&w.answers, (struct page_msg){.arrive = 5000, .page = small(7), .walked = true});
  page_queue_push(&w.answers, (struct page_msg){.arrive = 6000, .page = small(8)});
  assert_false(page_wait_answer(&w, 4999, &out, &stats));
  assert_true(page_wait_answer(&w, 5000, &out, &stats));
  assert_int_equal(out.n, 3);
  for (uint16_t number = 1; number <= 4; number++) {
    if (number == 2) continue;
    assert_int_equal(req_queue_front(&out)->txn, number);
    assert_int_equal(req_queue_front(&out)->arrive, 5000 + 60);
    req_queue_pop(&out);
  }
  assert_true(page_wait_known(&w, request(7, 5).line));
  assert_false(page_wait_known(&w, request(8, 5).line));
  assert_true(page_wait_answer(&w, 6000, &out, &stats));
  assert_int_equal(req_queue_front(&out)->txn, 2);
  assert_int_equal(stats.tlb_walks, 1);
  assert_true(page_wait_known(&w, request(8, 5).line));
  assert_false(page_wait_known(&w, request(7, 5).line));
  r.tables.generation++;
  assert_false(page_wait_known(&w, request(8, 5).line));
  arena_free(&r.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(walks), cmocka_unit_test(no_room), cmocka_unit_test(one_walker),
                                     cmocka_unit_test(order), cmocka_unit_test(faults),  cmocka_unit_test(waiting)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
