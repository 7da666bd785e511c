/* The driver's rules for pages that go to and fro (time/uvm/thrashing.h), processor by processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "time/uvm/thrashing.h"

enum { HOST, G0, G1, G2, PAGE = 5, US = 1000000, LAPSE = 500 * US, TURN = 30 * US };

struct rig {
  struct params p;
  struct thrash_rules x;
  struct thrash_block *b;
  picos now;
};

/* peers: whether GPUs reach each other, fast: by links with atomics; coherent: host and GPUs do. */
static void begin(struct rig *r, bool peers, bool fast, bool coherent)
{
  const uint32_t gpus = thrash_bit(G0) | thrash_bit(G1) | thrash_bit(G2), host = thrash_bit(HOST);
  memset(r, 0, sizeof *r);
  r->p.uvm_thrash_threshold = 3;
  r->p.uvm_thrash_naps = 10;
  r->p.uvm_thrash_lapse_us = 500;
  r->p.uvm_thrash_lapse_max_us = 500000;
  r->p.uvm_thrash_nap = 1;
  r->p.uvm_thrash_epoch = 2000;
  r->p.uvm_thrash_pin = 300;
  r->p.uvm_thrash_resets = 1;
  thrash_init(&r->x, &r->p, 4);
  for (int k = HOST; k <= G2; k++) {
    r->x.reaches[k] = thrash_bit(k) | (k != HOST ? host | (peers ? gpus : 0) : coherent ? gpus : 0);
    r->x.fast[k] = thrash_bit(k) | (k != HOST && fast ? gpus : 0) | (coherent ? host | (k == HOST ? gpus : 0) : 0);
  }
  r->now = 1;
}

static void move(struct rig *r, int to)
{
  struct page_set s = {{0}};
  page_set_add(&s, PAGE);
  r->now += TURN;
  thrash_moved(&r->x, &r->b, to, &s, r->now);
}

static struct thrash_hint fault(struct rig *r, int by, int is_at, int prefers)
{
  return thrash_fault(&r->x, r->b, PAGE, by, is_at, prefers, r->now);
}

static void expect(struct rig *r, int by, int is_at, int prefers, enum thrash_kind kind, int at)
{
  r->now += TURN;
  const struct thrash_hint h = fault(r, by, is_at, prefers);
  assert_int_equal(h.kind, kind);
  if (kind == THRASH_PIN) assert_int_equal(h.at, at);
}

/* Five moves: one of the block, one of the page, three that count. */
static void fight(struct rig *r, int a, int b)
{
  for (int i = 0; i < 5; i++) {
    assert_int_equal(fault(r, i % 2 ? b : a, i % 2 ? a : b, THRASH_NOBODY).kind, THRASH_SERVE);
    move(r, i % 2 ? b : a);
  }
  assert_true(page_set_has(&r->b->thrashing, PAGE));
}

/* One is served for a nap; all others are put off until its end, whoever comes. Then it is the turn of who comes first. */
static void naps(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, false, false, false);
  fight(&r, G0, HOST);
  expect(&r, G1, G0, THRASH_NOBODY, THRASH_SERVE, 0);
  const picos end = r.now + LAPSE;
  move(&r, G1);
  expect(&r, G0, G1, THRASH_NOBODY, THRASH_PUT_OFF, 0);
  expect(&r, HOST, G1, THRASH_NOBODY, THRASH_PUT_OFF, 0);
  assert_int_equal(fault(&r, HOST, G1, THRASH_NOBODY).until, end + 1);
  assert_int_equal(r.b->page[PAGE].naps, 2);
  expect(&r, G1, G0, THRASH_NOBODY, THRASH_SERVE, 0); /* its nap */
  r.now = end + 1;
  assert_int_equal(fault(&r, HOST, G1, THRASH_NOBODY).kind, THRASH_SERVE);
  move(&r, HOST);
  expect(&r, G1, HOST, THRASH_NOBODY, THRASH_PUT_OFF, 0);
  assert_int_equal(r.b->page[PAGE].nap_end, end + 1 + LAPSE);
  assert_int_equal(r.x.lapse > LAPSE, 1);
  thrash_free(r.b);
}

/* Who is served in a nap is not served in the next one, unless nobody else comes; where nobody is put off any more, a nap
 * has no end to wait for. */
static void turns(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, false, false, false);
  fight(&r, G0, HOST);
  expect(&r, HOST, G0, THRASH_NOBODY, THRASH_SERVE, 0);
  r.now += LAPSE;
  move(&r, HOST);
  expect(&r, HOST, G0, THRASH_NOBODY, THRASH_PUT_OFF, 0);
  expect(&r, G0, HOST, THRASH_NOBODY, THRASH_SERVE, 0); /* the first to come in that nap */
  r.now = r.b->page[PAGE].nap_end;
  assert_int_equal(fault(&r, HOST, G0, THRASH_NOBODY).kind, THRASH_SERVE);
  assert_int_equal(r.b->page[PAGE].nap_end, r.now + LAPSE);
  thrash_free(r.b);
}

static void until_pinned(struct rig *r, int a, int b, int prefers)
{
  for (int i = 0, at = a; !r->b->pins.word[0]; i++) {
    const int by = at == a ? b : a;
    assert_true(i < 40);
    while (fault(r, by, at, prefers).kind == THRASH_PUT_OFF) r->now += 5 * US;
    move(r, at = by);
  }
}

/* At the host, which both reach; another one is mapped there, too. Moves because of a pin do not count. */
static void pins(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, false, false, false);
  fight(&r, G0, HOST);
  until_pinned(&r, G0, HOST, THRASH_NOBODY);
  const struct thrash_page *g = &r.b->page[PAGE];
  assert_int_equal(g->pinned, HOST);
  const picos last = g->last;
  expect(&r, G1, HOST, THRASH_NOBODY, THRASH_PIN, HOST);
  assert_int_equal(g->fighters, thrash_bit(HOST) | thrash_bit(G0) | thrash_bit(G1));
  r.now += 100 * (picos)LAPSE; /* quiet as it is, it stays */
  expect(&r, G2, HOST, THRASH_NOBODY, THRASH_PIN, HOST);
  move(&r, HOST);
  assert_int_equal(g->last, last);
  struct page_set s = {{0}};
  page_set_add(&s, PAGE);
  thrash_forget(r.b, &s);
  assert_int_equal(g->pinned, THRASH_NOBODY);
  assert_int_equal(g->moves, 0);
  thrash_free(r.b);
}

/* GPUs that reach the host alone: pinned on one, the other waits for its turn, and then it is the host. */
static void pins_of_two(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, false, false, false);
  fight(&r, G0, G1);
  until_pinned(&r, G0, G1, THRASH_NOBODY);
  const int on = r.b->page[PAGE].pinned, other = on == G0 ? G1 : G0;
  assert_true(on == G0 || on == G1);
  expect(&r, other, on, THRASH_NOBODY, THRASH_PUT_OFF, 0);
  assert_int_equal(r.b->page[PAGE].naps, 0); /* it is pinned: nobody counts */
  r.now += LAPSE;
  expect(&r, other, on, THRASH_NOBODY, THRASH_PIN, HOST);
  expect(&r, on, HOST, THRASH_NOBODY, THRASH_PIN, HOST);
  thrash_free(r.b);
}

/* Fast links: at once where it is. With the host among them that is no place for all. */
static void links(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, true, true, false);
  fight(&r, G0, G1);
  expect(&r, G1, G0, THRASH_NOBODY, THRASH_PIN, G0);
  expect(&r, G2, G0, THRASH_NOBODY, THRASH_PIN, G0);
  thrash_free(r.b);
  begin(&r, true, true, false);
  fight(&r, G0, HOST);
  expect(&r, G1, G0, THRASH_NOBODY, THRASH_SERVE, 0);
  thrash_free(r.b);
}

/* On a coherent machine a GPU gets what the host has, and the host reaches what a GPU has. */
static void coherent(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, true, true, true);
  fight(&r, G0, HOST);
  expect(&r, HOST, HOST, THRASH_NOBODY, THRASH_SERVE, 0);
  expect(&r, G1, HOST, THRASH_NOBODY, THRASH_PIN, G1);
  expect(&r, HOST, G1, THRASH_NOBODY, THRASH_PIN, G1);
  thrash_free(r.b);
}

/* Where the program wants it, if all reach it there; else who is there gets it after the naps. */
static void preferred(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, false, false, false);
  fight(&r, G0, HOST);
  expect(&r, G0, G0, HOST, THRASH_PIN, HOST);
  thrash_free(r.b);
  begin(&r, false, false, false);
  fight(&r, G0, HOST);
  until_pinned(&r, G0, HOST, G0); /* the tenth nap is the host's */
  assert_int_equal(r.b->page[PAGE].pinned, HOST);
  expect(&r, G0, HOST, G0, THRASH_PUT_OFF, 0);
  r.now += LAPSE;
  expect(&r, G0, HOST, G0, THRASH_PIN, G0);
  expect(&r, G0, HOST, G0, THRASH_PIN, G0);
  expect(&r, HOST, G0, G0, THRASH_PUT_OFF, 0);
  r.now += LAPSE;
  expect(&r, HOST, G0, G0, THRASH_PIN, HOST);
  thrash_free(r.b);
}

/* More than a lapse between moves: nothing is counted. A quiet block begins anew, once here. */
static void quiet(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, false, false, false);
  for (int i = 0; i < 9; i++) {
    r.now += LAPSE;
    move(&r, i % 2 ? G0 : HOST);
  }
  assert_null(r.b->page);
  fight(&r, G0, HOST);
  for (int i = 0; i < 2; i++) {
    r.now += 2001 * (picos)LAPSE;
    assert_int_equal(fault(&r, HOST, G0, THRASH_NOBODY).kind, THRASH_SERVE);
    assert_int_equal(r.b->page == NULL, i == 0);
    if (!i) fight(&r, HOST, G0);
  }
  thrash_free(r.b);
}

static void revoke(struct rig *r, int from)
{
  struct page_set s = {{0}};
  page_set_add(&s, PAGE);
  r->now += TURN;
  thrash_revoked(&r->x, &r->b, from, &s, r->now);
}

/* Rights to a page that stays at the host count as moves do. Pinned as it is, each has its nap, also while the pin holds;
 * where it only moved, others reach it there at once (pins). */
static void revocations(void **state)
{
  struct rig r;
  (void)state;
  begin(&r, false, false, false);
  for (int i = 0; i < 5; i++) revoke(&r, i % 2 ? G1 : G0);
  assert_true(page_set_has(&r.b->thrashing, PAGE));
  expect(&r, G0, HOST, HOST, THRASH_PIN, HOST);
  expect(&r, G1, HOST, HOST, THRASH_PUT_OFF, 0);
  r.now += LAPSE;
  revoke(&r, G0); /* pinned pages count, too */
  assert_int_equal(r.b->page[PAGE].last, r.now);
  expect(&r, G1, HOST, HOST, THRASH_PIN, HOST);
  expect(&r, G0, HOST, HOST, THRASH_PUT_OFF, 0);
  thrash_free(r.b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(naps),  cmocka_unit_test(turns),    cmocka_unit_test(pins),      cmocka_unit_test(pins_of_two),
      cmocka_unit_test(links), cmocka_unit_test(coherent), cmocka_unit_test(preferred), cmocka_unit_test(quiet),
      cmocka_unit_test(revocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
