/* Tensor memory's pipe and ports (tmem.h) against what was measured: products on a B200 (cycles between products of a
 * long chain, and from issue to the wait behind a commit, SemiAnalysisAI/microbench-blackwell), moves and copies on a
 * Jetson Thor (gpzlx1/NV-Learning). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

/* Cycles of a latency that are not the pipe's: the commit's way to the mbarrier and the wait's. Of a product with A in
 * tensor memory 104 were measured besides its columns, of which tmem.product_cycles are the pipe's. */
enum { MEASURED_BASE = 104 };

static const struct {
  unsigned rows, columns, ctas; /* rows of all CTAs */
  bool a_shared;
  unsigned interval, latency;
} row[] = {
    {128, 64, 1, true, 48, 168}, {128, 96, 1, true, 56, 184},
    {128, 128, 1, true, 64, 200}, {128, 256, 1, true, 128, 264},
    {128, 64, 1, false, 32, 136}, {128, 96, 1, false, 48, 152},
    {128, 128, 1, false, 64, 168}, {128, 256, 1, false, 128, 232},
    {64, 64, 1, true, 32, 152}, {64, 96, 1, true, 48, 168},
    {64, 128, 1, true, 64, 184}, {64, 256, 1, true, 128, 248},
    {256, 64, 2, true, 43, 202}, {256, 96, 2, true, 49, 218},
    {256, 128, 2, true, 64, 234}, {256, 256, 2, true, 128, 298},
    {128, 64, 2, true, 25, 173}, {128, 96, 2, true, 29, 185},
    {128, 128, 2, true, 32, 197}, {128, 256, 2, true, 64, 229},
};

static struct inst tensor_inst(enum tmem_op op, unsigned registers)
{
  struct inst in = {.flags = INST_TMEM, .tmem = {(uint8_t)op, (uint8_t)registers, 32}};
  return in;
}

static unsigned apart(unsigned x, unsigned y)
{
  return x > y ? x - y : y - x;
}

static void products(void **state)
{
  enum { ROW_BYTES = 32, FIRST = 1000, COMMIT = 0 };
  const struct inst in = tensor_inst(TMEM_PRODUCT, 0);
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    const unsigned own = row[i].rows / row[i].ctas;
    const struct tensor_work x = {.a_bytes = row[i].a_shared ? own * ROW_BYTES : 0,
                                  .b_bytes = row[i].columns / row[i].ctas * ROW_BYTES,
                                  .columns = (uint16_t)row[i].columns,
                                  .ctas = (uint8_t)row[i].ctas,
                                  .narrow = row[i].ctas == 2 && row[i].rows == 128};
    struct rig r;
    rig_build_for(&r, "b200");
    struct tmem *t = &r.sm->tmem;
    tmem_issue(t, 0, 0, &in, &x, FIRST);
    assert_true(apart((unsigned)(t->free_at - FIRST), row[i].interval) <= 3);
    tmem_note(t, 0, 0, COMMIT);
    unsigned way = MEASURED_BASE - r.params.tmem_product_cycles;
    assert_true(apart((unsigned)(t->noted[COMMIT] - FIRST) + way, row[i].latency) <= 3);
    uint64_t second = t->free_at;
    tmem_issue(t, 0, 0, &in, &x, FIRST + 1); /* waits for the pipe */
    assert_int_equal(t->free_at - second, second - FIRST);
    rig_free(&r);
  }
}

/* With ideal.tensor the pipe takes what comes a cycle later, and each is done as late as it was alone. */
static void ideal_pipe(void **state)
{
  enum { FIRST = 1000, N = 5, COMMIT = 0 };
  const struct inst product = tensor_inst(TMEM_PRODUCT, 0), copy = tensor_inst(TMEM_COPY, 0);
  const struct tensor_work x = {.b_bytes = 256 * 32, .columns = 256, .ctas = 1}, bytes = {.a_bytes = 4096, .ctas = 1};
  uint64_t done[2];
  (void)state;
  for (unsigned ideal = 0; ideal < 2; ideal++) {
    struct rig r;
    rig_params(&r, "b200");
    r.params.ideal_tensor = ideal;
    rig_init(&r);
    struct tmem *t = &r.sm->tmem;
    tmem_issue(t, 0, 0, &product, &x, FIRST);
    tmem_note(t, 0, 0, COMMIT);
    done[ideal] = t->noted[COMMIT];
    for (unsigned i = 1; i < N; i++) tmem_issue(t, 0, 0, &product, &x, FIRST + i);
    tmem_issue(t, 0, 1, &copy, &bytes, FIRST + N);
    tmem_note(t, 0, 0, COMMIT);
    assert_int_equal(t->free_at - FIRST, ideal ? N + 1 : N * 128 + 64);
    assert_int_equal(t->noted[COMMIT] - done[ideal], ideal ? N - 1 : (N - 1) * 128 + r.params.tmem_queue_cycles);
    rig_free(&r);
  }
  assert_int_equal(done[0], done[1]);
}

/* A load of four registers, 512 bytes: 35 cycles; stores each 8, with a wait 40, a wait alone 11. */
static void moves(void **state)
{
  enum { FIRST = 1000 };
  const struct inst load = tensor_inst(TMEM_LOAD, 4), store = tensor_inst(TMEM_STORE, 4);
  const struct inst fence = tensor_inst(TMEM_FENCE, 0);
  struct rig r;
  (void)state;
  rig_build_for(&r, "b200");
  struct tmem *t = &r.sm->tmem;
  assert_int_equal(tmem_issue(t, 0, 0, &load, NULL, FIRST).visible, FIRST + 35);
  assert_int_equal(tmem_issue(t, 0, 1, &load, NULL, FIRST).visible, FIRST + 35 + 8); /* behind it at the port */
  assert_int_equal(tmem_issue(t, 1, 0, &load, NULL, FIRST).visible, FIRST + 35);     /* of another sub-core */
  assert_int_equal(tmem_issue(t, 0, 0, &fence, NULL, FIRST).visible, FIRST + 11);
  uint64_t first = tmem_issue(t, 0, 0, &store, NULL, FIRST).read;
  assert_true(apart((unsigned)(tmem_issue(t, 0, 0, &fence, NULL, FIRST + 1).visible - FIRST), 40) <= 1);
  assert_int_equal(tmem_issue(t, 0, 1, &fence, NULL, FIRST).visible, FIRST + 11); /* of a warp without stores */
  assert_int_equal(tmem_issue(t, 0, 0, &store, NULL, FIRST).read, first + 8);
  rig_free(&r);
}

/* 4 KiB in 64 cycles, in turn with products. */
static void copies(void **state)
{
  enum { FIRST = 1000 };
  const struct inst copy = tensor_inst(TMEM_COPY, 0);
  const struct tensor_work x = {.a_bytes = 4096, .ctas = 1};
  struct rig r;
  (void)state;
  rig_build_for(&r, "b200");
  struct tmem *t = &r.sm->tmem;
  tmem_issue(t, 0, 0, &copy, &x, FIRST);
  assert_int_equal(t->free_at, FIRST + 64);
  tmem_issue(t, 0, 1, &copy, &x, FIRST);
  assert_int_equal(t->free_at, FIRST + 128);
  rig_free(&r);
}

static unsigned told[4], n_told;

static void tell(void *ctx, uint16_t id, uint64_t now)
{
  (void)ctx, (void)now;
  told[n_told++] = id;
}

/* Each is due when the work of its own warp is done; a warp without any at once. */
static void commits(void **state)
{
  enum { FIRST = 1000 };
  const struct inst copy = tensor_inst(TMEM_COPY, 0);
  const struct tensor_work x = {.a_bytes = 4096, .ctas = 1};
  struct rig r;
  (void)state;
  rig_build_for(&r, "b200");
  struct tmem *t = &r.sm->tmem;
  t->ports.due = tell;
  n_told = 0;
  tmem_issue(t, 0, 0, &copy, &x, FIRST);
  tmem_note(t, 0, 0, 3);
  tmem_note(t, 0, 1, 2);
  tmem_commit(t, 3, FIRST + 20);
  tmem_commit(t, 2, FIRST + 21);
  assert_int_equal(t->next_at, FIRST + 22);
  tmem_cycle(t, FIRST + 22);
  assert_int_equal(n_told, 1);
  assert_int_equal(told[0], 2);
  assert_int_equal(t->next_at, t->noted[3]);
  tmem_cycle(t, t->next_at);
  assert_int_equal(n_told, 2);
  assert_int_equal(told[1], 3);
  assert_int_equal(t->next_at, CYCLE_NEVER);
  rig_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products),
      cmocka_unit_test(ideal_pipe),
      cmocka_unit_test(moves),
      cmocka_unit_test(copies),
      cmocka_unit_test(commits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
