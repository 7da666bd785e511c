/* The host's runs of launches take any instruction set: the toy (toy_isa.h) with a table of its names and work, run by
 * simulate_source without time, and with it on one and two host threads. Counts from formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/simulate.h"
#include "time_rig.h"
#include "toy_isa.h"

enum { CTAS = 12, WARPS = 3, ALL_WARPS = CTAS * WARPS, THREADS = ALL_WARPS * TOY_LANES, BORDER = 777, N_OPS = 256 };

/* --- a table of the set --------------------------------------------------------------------------- */

static unsigned n_ops(void)
{
  return N_OPS;
}

static const char *op_name(unsigned id)
{
  static const char *const name[N_OPS] = {[V_THREAD] = "V_THREAD", [V_SET] = "V_SET", [V_MASK] = "V_MASK",
                                          [V_SCALE] = "V_SCALE", [V_UNMASK] = "V_UNMASK", [V_STORE] = "V_STORE",
                                          [S_END] = "S_END"};
  return name[id] ? name[id] : "?";
}

static struct work work_of(const uint64_t *threads)
{
  return (struct work){.ops = {[WORK_INTEGER] = threads[V_ADD] + threads[V_SCALE] + threads[V_MASK]}};
}

static const struct isa toy_isa = {.name = "toy", .n_mnemonics = n_ops, .mnemonic = op_name, .work = work_of};

/* --- programs ------------------------------------------------------------------------------------- */

/* Threads below BORDER write 5 times their number, the others their number. */
static struct toy *scaled_below(void)
{
  struct toy *t = toy_new(CTAS, WARPS);
  toy(t, V_THREAD, 0, 0, 0, 0);
  toy(t, V_THREAD, 1, 0, 0, 0);
  toy_lit(t, V_SET, 2, 0, 0, BORDER);
  toy(t, V_MASK, 3, 0, 2, 0);
  toy_lit(t, V_SCALE, 1, 0, 0, 5);
  toy(t, V_UNMASK, 3, 0, 0, 0);
  toy_lit(t, V_STORE, 1, 1, 0, 0);
  toy_build(t);
  t->source.code.isa = &toy_isa;
  return t;
}

static struct toy *for_ever(void)
{
  struct toy *t = toy_new(1, 1);
  toy_lit(t, S_SET, 8, 0, 0, 1);
  toy_lit(t, S_SET, 9, 0, 0, 0);
  unsigned loop = toy(t, S_LESS, 0, 9, 8, 0);
  toy_branch(t, loop);
  toy_build(t);
  t->source.code.isa = &toy_isa;
  return t;
}

/* --- runs ----------------------------------------------------------------------------------------- */

struct bench {
  struct rig preset;
  struct simulator *s;
  struct gmem *image;
  struct sim_options o;
  struct sim_result r;
};

/* threads: 0 without time. */
static void begin(struct bench *b, unsigned threads)
{
  memset(b, 0, sizeof *b);
  rig_params(&b->preset, "rtx-3070");
  b->s = simulator_new(&b->preset.params);
  b->image = gmem_new(b->preset.params.vm_page_bits);
  b->o = (struct sim_options){.timed = threads, .threads = threads ? threads : 1};
}

/* CTAs that have begun and not ended: a run that is cut off leaves them to whoever made them. */
enum { LEFT = 1024 };
static struct step_cta *left[LEFT];

static struct step_cta *noted_begin(struct step_source *s, uint64_t id, unsigned worker, unsigned slot, unsigned smid)
{
  for (unsigned i = 0; i < LEFT; i++)
    if (!left[i]) return left[i] = toy_cta_begin(s, id, worker, slot, smid);
  fail_msg("more CTAs than places");
  return NULL;
}

static void noted_end(struct step_source *s, struct step_cta *c)
{
  for (unsigned i = 0; i < LEFT; i++)
    if (left[i] == c) left[i] = NULL;
  toy_cta_end(s, c);
}

static void run_toy(struct bench *b, struct toy *t)
{
  struct err e = {""};
  const struct step_ops *own = t->source.ops;
  struct step_ops noted = *own;
  noted.cta_begin = noted_begin;
  noted.cta_end = noted_end;
  t->source.ops = &noted;
  if (!simulate_source(b->s, &t->source, b->image, &b->o, &b->r, &e)) fail_msg("%s", e.msg);
  t->source.ops = own;
  for (unsigned i = 0; i < LEFT; i++)
    if (left[i]) noted_end(&t->source, left[i]);
}

static void end(struct bench *b, struct toy *t)
{
  simulator_free(b->s);
  gmem_free(b->image);
  free(t);
}

static void counts_are(const struct bench *b, const struct toy *t)
{
  assert_ptr_equal(b->r.isa, &toy_isa);
  assert_int_equal(b->r.warp_insts, ALL_WARPS * t->n_insts);
  assert_int_equal(b->r.thread_insts, THREADS * (t->n_insts - 2) + 2 * BORDER); /* V_SCALE, and V_UNMASK behind it */
  assert_int_equal(b->r.mix[V_THREAD], 2 * ALL_WARPS);
  assert_int_equal(b->r.mix[S_END], ALL_WARPS);
  assert_int_equal(b->r.thread_mix[V_STORE], THREADS);
  assert_int_equal(b->r.thread_mix[V_SCALE], BORDER);
  assert_int_equal(b->r.thread_mix[V_UNMASK], BORDER);
  assert_int_equal(b->r.work.ops[WORK_INTEGER], THREADS + BORDER);
  assert_int_equal(b->r.work.ops[WORK_FP32], 0);
}

static void values_and_counts(void **state)
{
  (void)state;
  for (unsigned threads = 0; threads <= 2; threads++) {
    struct bench b;
    struct toy *t = scaled_below();
    begin(&b, threads);
    t->args[1] = gmem_alloc(b.image, THREADS * 4, "out");
    run_toy(&b, t);
    assert_int_equal(b.r.end, RUN_DONE);
    for (uint32_t i = 0, v; i < THREADS; i++) {
      assert_true(gmem_read(b.image, t->args[1] + 4 * i, &v, 4));
      assert_int_equal(v, i < BORDER ? 5 * i : i);
    }
    counts_are(&b, t);
    assert_int_equal(b.r.timed, threads > 0);
    assert_true(threads ? b.r.cycles > 0 && b.r.profile : !b.r.profile);
    end(&b, t);
  }
}

/* A program that nothing ends but a limit; where its warp was is told. */
static void limits(void **state)
{
  enum { LIMIT = 10000 };
  (void)state;
  for (unsigned threads = 0; threads <= 1; threads++) {
    struct bench b;
    struct toy *t = for_ever();
    begin(&b, threads);
    b.o.max_insts = LIMIT;
    run_toy(&b, t);
    assert_int_equal(b.r.end, RUN_INST_LIMIT);
    assert_true(b.r.warp_insts >= LIMIT && b.r.warp_insts < 2 * LIMIT);
    assert_int_equal(b.r.where->n, 1);
    end(&b, t);
  }
}

static void faults(void **state)
{
  (void)state;
  for (unsigned threads = 0; threads <= 1; threads++) {
    struct bench b;
    struct toy *t = scaled_below(); /* to an address of nobody */
    begin(&b, threads);
    run_toy(&b, t);
    assert_int_equal(b.r.end, RUN_FAULT);
    assert_int_equal(b.r.fault.kind, FAULT_ILLEGAL_ADDRESS);
    end(&b, t);
  }
}

static void clusters_want_time(void **state)
{
  struct bench b;
  struct err e = {""};
  struct toy *t = scaled_below();
  (void)state;
  begin(&b, 0);
  for (unsigned k = 0; k < 3; k++) t->source.cluster[k] = k ? 1 : 2;
  assert_false(simulate_source(b.s, &t->source, b.image, &b.o, &b.r, &e));
  assert_string_equal(e.msg, "clusters of this instruction set run with time only");
  end(&b, t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_and_counts),
      cmocka_unit_test(limits),
      cmocka_unit_test(faults),
      cmocka_unit_test(clusters_want_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
