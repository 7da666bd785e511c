/* Ports of SMs into the crossbar: who takes turns there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/presets.h"
#include "time/gpu/netlist.h"
#include "time/sm/sm.h"

enum { SMS = 5, BUSY = 100 }; /* three ports: SMs 0 and 3, 1 and 4, 2 alone */

static struct sm *sm_at(struct netlist *n, unsigned i)
{
  return (struct sm *)n->core[i];
}

static void set_busy(struct netlist *n, unsigned mask)
{
  for (unsigned i = 0; i < SMS; i++) sm_at(n, i)->mem.port_free_at = mask >> i & 1 ? BUSY : 0;
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
  netlist_build(&n, &p, NULL, NULL, 0, NULL);
  picos clock = params_clock_ps(&p);
  for (unsigned i = 0; i < sizeof c / sizeof c[0]; i++) {
    set_busy(&n, c[i].mask);
    netlist_share_ports(&n, (BUSY - 1) * clock);
    for (unsigned k = 0; k < SMS; k++) assert_int_equal(sm_at(&n, k)->mem.port_users, c[i].users[k]);
  }
  netlist_share_ports(&n, BUSY * clock); /* all have become idle */
  for (unsigned k = 0; k < SMS; k++) assert_int_equal(sm_at(&n, k)->mem.port_users, 1);
  netlist_free(&n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(busy_neighbours_take_turns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
