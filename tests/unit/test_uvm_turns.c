/* Drivers of two GPUs that want one block of managed memory (time/uvm/uvm_turns.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/place.h"
#include "config/presets.h"
#include "time/uvm/uvm_driver.h"

enum { AT = 1 << 30, FROM = 5000000, MUCH_LATER = 2000000000 };

static struct params params;
static struct places *places[2];

static struct uvm_machine *two_drivers(void)
{
  char dir[4096];
  struct err e;
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &params, &e)) fail_msg("%s", e.msg);
  places[0] = places_new(), places[1] = places_new_beside(places[0]);
  const struct uvm_config cfg[] = {{.params = &params, .places = places[0], .latency = 1000, .node = 0},
                                   {.params = &params, .places = places[1], .latency = 1000, .node = 1}};
  struct uvm_machine *m = uvm_machine_new(cfg, 2, false);
  uvm_machine_do(m, &(struct uvm_op){.kind = UVM_OP_ADD, .addr = AT, .bytes = 2 * BLOCK});
  return m;
}

/* A driver whose batch has faults on both blocks of the range, and comes to the first of them. */
static void comes_to_block(struct uvm *u, struct uvm_work *work, picos now)
{
  work[0] = (struct uvm_work){.base = AT};
  work[1] = (struct uvm_work){.base = AT + BLOCK};
  for (unsigned i = 0; i < 2; i++) page_set_add(&work[i].faulted, 0);
  u->work = work, u->n_work = 2, u->current = 0;
  uvm_goes_on(u, UVM_BLOCK, now);
}

/* The block that one driver has and the other waits for is freed: nobody will hand it over, and the one that waits goes
 * on to the end of its batch, not before time passes again. */
static void freed(void **state)
{
  struct uvm_work work[2][2];
  struct uvm_machine *m = two_drivers();
  struct uvm_range *r = m->space.range;
  (void)state;
  comes_to_block(m->of[0], work[0], 0);
  uvm_hold(m->of[0], &r->block[0]);
  uvm_goes_on(m->of[0], UVM_MOVES, MUCH_LATER);
  comes_to_block(m->of[1], work[1], 1000);
  uvm_step(m->of[1], 1000);
  assert_true(m->of[1]->at == TIME_NEVER && m->of[1]->since == 1000);
  uvm_machine_do(m, &(struct uvm_op){.kind = UVM_OP_REMOVE, .addr = AT});
  assert_true(uvm_next(m->of[1]) < TIME_NEVER);
  uvm_machine_ops.run(&m, FROM, FROM + 1);
  assert_int_equal(m->of[1]->current, 2);
  assert_int_equal(m->of[1]->state, UVM_REPLAY);
  assert_int_equal(m->of[1]->at, FROM + (picos)params.uvm_replay_ns * 1000);
  for (unsigned k = 0; k < 2; k++) m->of[k]->work = NULL;
  uvm_machine_free(m);
  places_free(places[1]);
  places_free(places[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(freed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
