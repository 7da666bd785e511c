/* The gate of L2 slices beside CPUs, driven by requests of a mock SM and rights of a mock CPU: what waits, what is asked,
 * when it goes on. Expected times: those of the same request without a gate, and when the grant comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem_rig.h"

enum { LINE = 77, HALF_0 = 3, HALF_1 = 12, SECTOR_0 = 1, MOST = 64 };

/* CPUs that have some lines, and answer what is asked. */
struct cpus {
  struct rig rig;
  struct l2_rights rights;
  enum l2_right right[2]; /* of the GPU, to the halves of LINE; to other lines: to write */
  picos takes;            /* from an ask to its grant; TIME_NEVER: none comes */
  bool of_cache;
  struct l2_ask asked[MOST];
  unsigned n_asked;
};

static enum l2_right right_to(void *ctx, uint64_t line)
{
  const struct cpus *c = ctx;
  return line / 2 == LINE ? c->right[line % 2] : L2_RIGHT_WRITE;
}

static void answer_ask(void *ctx, const struct l2_ask *a)
{
  struct cpus *c = ctx;
  assert_true(c->n_asked < MOST);
  c->asked[c->n_asked++] = *a;
  if (c->takes == TIME_NEVER) return;
  l2_rights_grant(&c->rights, a->slice,
                  &(struct l2_grant){.at = a->at + c->takes, .line = a->line, .write = a->write, .of_cache = c->of_cache});
}

static void begin(struct cpus *c, enum l2_right first, enum l2_right second, picos takes, bool of_cache)
{
  *c = (struct cpus){.right = {first, second}, .takes = takes, .of_cache = of_cache,
                     .rights = {.right = right_to, .follows = true}};
  rig_build(&c->rig, "jetson-orin");
  c->rights.ctx = c;
  c->rig.rights = &c->rights;
  rig_start(&c->rig);
}

static void end(struct cpus *c)
{
  assert_int_equal(l2_rights_sum(&c->rights).ungranted, 0);
  for (unsigned i = 0; i < c->rig.n; i++) assert_false(partition_busy(&c->rig.part[i]));
  rig_free(&c->rig);
  l2_rights_free(&c->rights);
}

/* A window, and a turn of the CPUs behind it. */
static void turn(struct cpus *c)
{
  rig_window(&c->rig);
  l2_rights_take(&c->rights, answer_ask, c);
}

static picos wait_for(struct cpus *c, picos sent)
{
  for (unsigned i = 0; !c->rig.in[0].n; i++) {
    assert_true(i < 10000);
    turn(c);
  }
  const picos at = reply_queue_front(&c->rig.in[0])->arrive;
  reply_queue_pop(&c->rig.in[0]);
  while (c->rig.now < at) turn(c);
  return at - sent;
}

static picos trip(struct cpus *c, enum req_kind kind, enum mem_op op, unsigned sectors)
{
  const picos sent = c->rig.now;
  ask(&c->rig, 0, kind, op, LINE, sectors, sent);
  return wait_for(c, sent);
}

/* Without a gate: the first access, which DRAM answers, and the second, which L2 does; a store. */
static void plain(picos *dram, picos *l2, picos *store)
{
  struct rig r;
  rig_build(&r, "jetson-orin");
  rig_start(&r);
  *dram = round_trip(&r, REQ_READ, MEM_LOAD, LINE, SECTOR_0);
  *l2 = round_trip(&r, REQ_READ, MEM_LOAD, LINE, SECTOR_0);
  *store = round_trip(&r, REQ_WRITE, MEM_STORE, LINE, SECTOR_0);
  rig_free(&r);
}

/* The request is at its slice a request's way after it was sent, and asks at once. */
static void asks_at(const struct cpus *c, picos sent, uint64_t line, bool write)
{
  const picos there = sent + c->rig.params.noc_request_latency * c->rig.clock;
  assert_in_range(c->asked[0].at, there, there + 2 * c->rig.clock);
  assert_int_equal(c->asked[0].line, line);
  assert_int_equal(c->asked[0].write, write);
}

/* A right that comes while DRAM reads costs nothing; one that comes later is what the load waits for. */
static void memory_has_it(void **state)
{
  (void)state;
  picos dram, l2, store;
  plain(&dram, &l2, &store);
  struct cpus c;
  begin(&c, L2_RIGHT_NONE, L2_RIGHT_NONE, 100000, false);
  assert_int_equal(trip(&c, REQ_READ, MEM_LOAD, SECTOR_0), dram);
  assert_int_equal(c.n_asked, 1);
  asks_at(&c, 0, 2 * LINE, false);
  end(&c);
  enum { LATE = 1000000 };
  begin(&c, L2_RIGHT_NONE, L2_RIGHT_NONE, LATE, false);
  const picos late = trip(&c, REQ_READ, MEM_LOAD, SECTOR_0);
  assert_in_range(late, l2 + LATE, l2 + LATE + 4 * c.rig.clock);
  end(&c);
}

/* The bytes come with the right: DRAM need not have answered. */
static void a_cache_has_it(void **state)
{
  (void)state;
  picos dram, l2, store;
  plain(&dram, &l2, &store);
  struct cpus c;
  enum { TAKES = 100000 };
  begin(&c, L2_RIGHT_NONE, L2_RIGHT_NONE, TAKES, true);
  const picos took = trip(&c, REQ_READ, MEM_LOAD, SECTOR_0);
  assert_in_range(took, l2 + TAKES, l2 + TAKES + 4 * c.rig.clock);
  assert_true(took < dram);
  drain(&c.rig);
  assert_int_equal(l2_rights_sum(&c.rights).of_caches, 1);
  end(&c);
}

static void rights_suffice(void **state)
{
  (void)state;
  picos dram, l2, store;
  plain(&dram, &l2, &store);
  struct cpus c;
  begin(&c, L2_RIGHT_READ, L2_RIGHT_WRITE, 100000, false);
  assert_int_equal(trip(&c, REQ_READ, MEM_LOAD, SECTOR_0), dram);
  assert_int_equal(trip(&c, REQ_READ, MEM_LOAD, SECTOR_0), l2);
  assert_int_equal(trip(&c, REQ_WRITE, MEM_STORE, HALF_1 & 4), store);
  assert_int_equal(c.n_asked, 0);
  /* … but not to store in the first half. */
  const picos sent = c.rig.now, took = trip(&c, REQ_WRITE, MEM_STORE, SECTOR_0);
  assert_in_range(took, store + 100000, store + 100000 + 4 * c.rig.clock);
  assert_int_equal(c.n_asked, 1);
  asks_at(&c, sent, 2 * LINE, true);
  end(&c);
}

/* What a CPU has taken is here no longer, also what was dirty. */
static void taken_by_a_cpu(void **state)
{
  (void)state;
  picos dram, l2, store;
  plain(&dram, &l2, &store);
  struct cpus c;
  begin(&c, L2_RIGHT_WRITE, L2_RIGHT_WRITE, 0, false);
  assert_int_equal(trip(&c, REQ_READ, MEM_LOAD, SECTOR_0), dram);
  trip(&c, REQ_WRITE, MEM_STORE, SECTOR_0);
  c.right[0] = L2_RIGHT_NONE;
  const picos again = trip(&c, REQ_READ, MEM_LOAD, SECTOR_0);
  assert_true(again > l2 + (dram - l2) / 2); /* DRAM was asked, whose row may be open now */
  assert_int_equal(l2_rights_sum(&c.rights).lost_sectors, 1);
  end(&c);
}

/* Two loads and a store of one half, and a load of the other, which has all rights: that one overtakes them; they go on in
 * their order, by two grants. */
static void order(void **state)
{
  (void)state;
  struct cpus c;
  begin(&c, L2_RIGHT_NONE, L2_RIGHT_WRITE, 2000000, true);
  static const struct {
    enum req_kind kind;
    enum mem_op op;
    unsigned sectors;
  } sent[] = {{REQ_READ, MEM_LOAD, 1}, {REQ_STRONG, MEM_STORE, 1}, {REQ_STRONG, MEM_LOAD, 2}, {REQ_READ, MEM_LOAD, 4}};
  for (unsigned i = 0; i < 4; i++) {
    ask(&c.rig, 0, sent[i].kind, sent[i].op, LINE, sent[i].sectors, i * 10000);
    c.rig.out[0].slot[c.rig.out[0].n - 1].txn = (uint16_t)i;
  }
  static const unsigned expected[] = {3, 0, 1, 2};
  for (unsigned i = 0; i < 4; i++) {
    while (!c.rig.in[0].n) turn(&c);
    assert_int_equal(reply_queue_front(&c.rig.in[0])->txn, expected[i]);
    reply_queue_pop(&c.rig.in[0]);
  }
  assert_int_equal(c.n_asked, 2); /* to read, to write: the load behind the store waits for either */
  assert_false(c.asked[0].write);
  assert_true(c.asked[1].write);
  drain(&c.rig);
  end(&c);
}

/* A load that has its right stays behind a store that has not, to the same half. */
static void behind_a_store(void **state)
{
  (void)state;
  struct cpus c;
  begin(&c, L2_RIGHT_READ, L2_RIGHT_WRITE, 2000000, false);
  ask(&c.rig, 0, REQ_STRONG, MEM_STORE, LINE, 1, 0);
  ask(&c.rig, 0, REQ_STRONG, MEM_LOAD, LINE, 2, 10000);
  for (unsigned i = 0; i < 2; i++) c.rig.out[0].slot[i].txn = (uint16_t)i;
  for (unsigned i = 0; i < 2; i++) {
    while (!c.rig.in[0].n) turn(&c);
    assert_int_equal(reply_queue_front(&c.rig.in[0])->txn, i);
    reply_queue_pop(&c.rig.in[0]);
  }
  assert_int_equal(c.n_asked, 1);
  drain(&c.rig);
  end(&c);
}

/* A GPU that nobody follows goes on by itself; so does one that was not answered. */
static void nobody_hears(void **state)
{
  (void)state;
  picos dram, l2, store;
  plain(&dram, &l2, &store);
  struct cpus c;
  begin(&c, L2_RIGHT_NONE, L2_RIGHT_NONE, TIME_NEVER, false);
  const picos sent = c.rig.now;
  ask(&c.rig, 0, REQ_READ, MEM_LOAD, LINE, SECTOR_0, sent);
  for (unsigned i = 0; i < 100; i++) turn(&c);
  assert_int_equal(c.rig.in[0].n, 0);
  assert_true(partition_busy(&c.rig.part[partition_of_slice(&c.rig.params, c.asked[0].slice)]));
  c.rights.follows = false;
  wait_for(&c, sent);
  assert_int_equal(l2_rights_sum(&c.rights).ungranted, 1);
  assert_int_equal(trip(&c, REQ_READ, MEM_LOAD, SECTOR_0), l2);
  rig_free(&c.rig);
  l2_rights_free(&c.rights);
}

/* More requests wait than there is room for: all are answered. */
static void many(void **state)
{
  (void)state;
  struct cpus c;
  begin(&c, L2_RIGHT_NONE, L2_RIGHT_NONE, 3000000, false);
  enum { REQUESTS = 4000 };
  unsigned answered = 0;
  for (unsigned i = 0; i < REQUESTS || answered < REQUESTS;) {
    for (unsigned k = 0; k < 64 && i < REQUESTS; k++, i++)
      ask(&c.rig, 0, REQ_READ, MEM_LOAD, LINE, 1u << i % 4, c.rig.now + k);
    turn(&c);
    for (; c.rig.in[0].n; answered++) reply_queue_pop(&c.rig.in[0]);
    assert_true(c.n_asked <= MOST);
  }
  end(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(memory_has_it), cmocka_unit_test(a_cache_has_it), cmocka_unit_test(rights_suffice),
    cmocka_unit_test(taken_by_a_cpu), cmocka_unit_test(order), cmocka_unit_test(behind_a_store),
    cmocka_unit_test(nobody_hears), cmocka_unit_test(many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
