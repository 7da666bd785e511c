/* Costs that a program on a machine can be run without: which a list names, and what those of links change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/what_if.h"
#include "host/what_if_machine.h"

#define DIR WS_SOURCE_DIR "/presets"

static struct machine_what_if row_of(const char *name)
{
  struct machine_what_if row;
  if (!machine_what_if_named(name, &row)) fail_msg("no cost %s", name);
  return row;
}

static void load(struct machine_preset *m, const char *name)
{
  struct err e = {0};
  if (!machine_load(name, DIR, m, &e)) fail_msg("%s", e.msg);
}

/* Rates both ways, and what bounds them besides: credits and reads under way; none beyond 32 bits. */
static void test_rate(void **state)
{
  (void)state;
  struct machine_preset m, was;
  load(&m, "2x-rtx-3090-nvlink");
  was = m;
  const struct machine_what_if row = row_of("link_rate");
  assert_null(row.gpu);
  row.machine(&m);
  for (unsigned i = 0; i < m.n_link_groups; i++) {
    const struct link_params *l = &m.link[i], *w = &was.link[i];
    assert_int_equal(l->mbps, 2 * w->mbps);
    assert_int_equal(l->back_mbps, 2 * w->back_mbps);
    assert_int_equal(l->credits, 2 * w->credits);
    assert_int_equal(l->reads, 2 * w->reads);
    assert_int_equal(l->latency_ns, w->latency_ns);
    assert_int_equal(l->lanes, w->lanes);
  }
  m.link[0].reads = UINT32_MAX / 2 + 1;
  row.machine(&m);
  assert_int_equal(m.link[0].reads, UINT32_MAX);
  machine_preset_free(&m);
}

/* A quarter more than the longest window of a GPU (noc.request_latency), never more than it was; switches nothing. */
static void test_latency(void **state)
{
  (void)state;
  struct machine_preset m;
  unsigned shorter = 0;
  load(&m, "dgx-a100");
  uint64_t window_ps = 0;
  for (unsigned i = 0; i < m.n_gpus; i++) {
    const struct params *p = &m.params[i];
    const double khz = p->l2_clock_khz ? p->l2_clock_khz : p->gpu_clock_khz;
    const uint64_t ps = (uint64_t)((double)p->noc_request_latency * 1e9 / khz + 0.5);
    if (ps > window_ps) window_ps = ps;
  }
  assert_true(m.n_switch_groups > 0 && m.switches[0].latency_ns > 0);
  m.params[3].noc_request_latency *= 2;
  window_ps *= 2;
  m.link[0].latency_ns = 3;
  const struct machine_preset was = m;
  const struct machine_what_if row = row_of("link_latency");
  assert_null(row.gpu);
  row.machine(&m);
  for (unsigned i = 0; i < m.n_link_groups; i++) {
    const double least = (double)window_ps * 1.25 / 1000;
    if (was.link[i].latency_ns <= least) {
      assert_int_equal(m.link[i].latency_ns, was.link[i].latency_ns);
    } else {
      assert_true(m.link[i].latency_ns >= least - 0.1 && m.link[i].latency_ns < least + 1.1);
      shorter++;
    }
  }
  assert_true(shorter > 0 && m.link[0].latency_ns == 3);
  for (unsigned i = 0; i < m.n_switch_groups; i++) assert_int_equal(m.switches[i].latency_ns, 0);
  machine_preset_free(&m);
}

struct taken {
  unsigned n;
  char names[4096];
};

static void take(void *ctx, const struct machine_what_if *row)
{
  struct taken *t = ctx;
  t->n++;
  strcat(t->names, row->name);
  strcat(t->names, " ");
}

static void chosen(const char *list, struct taken *t)
{
  struct err e = {0};
  *t = (struct taken){0};
  if (!machine_what_if_choose(list, take, t, &e)) fail_msg("%s: %s", list, e.msg);
}

static void refused(const char *list, const char *why)
{
  struct err e = {0};
  struct taken t = {0};
  assert_false(machine_what_if_choose(list, take, &t, &e));
  if (!strstr(e.msg, why)) fail_msg("'%s' does not say '%s'", e.msg, why);
  assert_int_equal(t.n, 0);
}

/* Each once, in the order of the rows; all are those of one GPU, without the tail of a grid, and two of links. */
static void test_choice(void **state)
{
  (void)state;
  struct taken t;
  chosen("link_latency,barriers,link_rate,barriers", &t);
  assert_string_equal(t.names, "barriers link_rate link_latency ");
  chosen("all", &t);
  assert_int_equal(t.n, WHAT_IF_N - 1 + 2);
  assert_null(strstr(t.names, "tail"));
  refused("tail", "no cost 'tail'");
  refused("link_rate,link", "no cost 'link'");
  refused("link_rat", "no cost 'link_rat' of a machine; did you mean 'link_rate'?");
  refused("link_rate,,barriers", "no cost ''");
  refused("", "no cost named");
  assert_true(machine_what_if_is_link("link_rate,x", strlen("link_rate")));
  assert_false(machine_what_if_is_link("link_rate", strlen("link")));
  assert_false(machine_what_if_is_link("barriers", strlen("barriers")));
  assert_non_null(row_of("barriers").gpu);
  assert_null(row_of("barriers").machine);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rate),
      cmocka_unit_test(test_latency),
      cmocka_unit_test(test_choice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
