/* Observers of the pipeline hear of every instruction, in the order of the stages and at the cycles of the model's rules, and
 * change nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

enum { MAX_INSTS = 512, MAX_WAITS = 4096 };

/* What was told of an instruction; 0: nothing. */
struct seen {
  const struct inst *inst;
  uint8_t sub_core, warp;
  uint64_t issued, stage[STAGE__N], written, sources_read, done;
};

struct notes {
  struct observer observer;
  struct seen of[MAX_INSTS]; /* by seq */
  unsigned n;
  uint64_t until[SM_MAX_SUB_CORES][SUB_CORE_MAX_WARPS]; /* end of the warp's last wait */
  uint64_t waited[WARP_STATE__N], begun, ended;
  unsigned warps;
};

static struct seen *seen(struct observer *o, const struct observed *x)
{
  struct notes *n = (struct notes *)o;
  assert_in_range(x->seq, 1, MAX_INSTS - 1);
  assert_int_equal(n->of[x->seq].sub_core, x->sub_core);
  assert_int_equal(n->of[x->seq].warp, x->warp);
  assert_ptr_equal(n->of[x->seq].inst, x->inst);
  assert_int_equal(n->of[x->seq].done, 0); /* the last event of it */
  return &n->of[x->seq];
}

static void warp_begin(struct observer *o, const struct observed_warp *w, uint64_t now)
{
  struct notes *n = (struct notes *)o;
  n->until[w->sub_core][w->warp] = now;
  n->begun += now;
  n->warps++;
}

static void warp_end(struct observer *o, unsigned sub_core, unsigned warp, uint64_t now)
{
  struct notes *n = (struct notes *)o;
  assert_int_equal(n->until[sub_core][warp], now);
  n->ended += now;
}

static void wait(struct observer *o, unsigned sub_core, unsigned warp, const struct observed_wait *w)
{
  struct notes *n = (struct notes *)o;
  assert_int_equal(w->from, n->until[sub_core][warp]); /* no cycle twice, none left out */
  assert_true(w->until > w->from);
  n->until[sub_core][warp] = w->until;
  n->waited[w->state] += w->until - w->from;
}

static void issue(struct observer *o, const struct observed *x, const struct observed_issue *how)
{
  struct notes *n = (struct notes *)o;
  assert_int_equal(x->seq, n->n + 1);
  assert_true(x->seq < MAX_INSTS);
  assert_int_equal(n->until[x->sub_core][x->warp], how->at + 1); /* behind its waits and the issue cycle */
  n->of[++n->n] = (struct seen){.inst = x->inst, .sub_core = x->sub_core, .warp = x->warp, .issued = how->at};
}

static void stage(struct observer *o, const struct observed *x, enum pipe_stage s, uint64_t at)
{
  struct seen *i = seen(o, x);
  for (unsigned k = 0; k < STAGE__N; k++) assert_true(k < s ? i->stage[k] < at || !i->stage[k] : !i->stage[k]);
  i->stage[s] = at;
}

static void done(struct observer *o, const struct observed *x, uint64_t at)
{
  struct seen *i = seen(o, x);
  for (unsigned k = 0; k < STAGE__N; k++) assert_true(i->stage[k] < at);
  i->done = at;
}

/* Those two may come behind the end. */
static void written(struct observer *o, const struct observed *x, uint64_t visible)
{
  ((struct notes *)o)->of[x->seq].written = visible;
}

static void sources_read(struct observer *o, const struct observed *x, uint64_t visible)
{
  ((struct notes *)o)->of[x->seq].sources_read = visible;
}

static const struct observer_ops ops = {.warp_begin = warp_begin, .warp_end = warp_end, .wait = wait, .issue = issue,
                                        .stage = stage, .done = done, .written = written, .sources_read = sources_read};

/* Runs the program and looks at what holds for any. */
static struct notes *observe_on(const char *gpu, struct rig *r, struct mock *m)
{
  struct notes *n = calloc(1, sizeof *n);
  rig_build_for(r, gpu);
  n->observer.ops = &ops;
  sm_observe(r->sm, &n->observer);
  rig_run(r, m);
  assert_int_equal(n->n, r->sm->stats.warp_insts);
  assert_int_equal(n->ended - n->begun, r->sm->stats.warp_cycles);
  for (unsigned s = 0; s < WARP_STATE__N; s++) assert_int_equal(n->waited[s], r->sm->stats.warp_state[s]);
  for (unsigned i = 1; i <= n->n; i++) {
    const struct seen *x = &n->of[i];
    assert_true(x->done > x->issued + 1);
    assert_int_equal(x->stage[STAGE_DECODE], x->stage[STAGE_FETCH] + 1);
    assert_true(x->issued >= x->stage[STAGE_FETCH] + r->params.fetch_stages);
    assert_int_equal(x->stage[STAGE_ISSUE], x->issued);
    assert_int_equal(x->stage[STAGE_CONTROL], x->issued + 1);
    assert_int_equal(m->issued[0][x->inst - m->inst], x->issued);
  }
  return n;
}

static struct notes *observe(struct rig *r, struct mock *m)
{
  return observe_on("rtx-3070", r, m);
}

static void finish(struct rig *r, struct mock *m, struct notes *n)
{
  free(n);
  free(m);
  rig_free(r);
}

static struct inst ffma(unsigned a, unsigned b, unsigned c)
{
  struct inst in = mock_alu(1, false);
  unsigned reg[3] = {a, b, c};
  in.pipe = PIPE_FMA;
  in.lat = LAT_FMA;
  in.n_dst = 1;
  in.dst[0] = (struct operand){.file = FILE_R, .index = 1, .width = 1};
  in.n_src = 3;
  for (unsigned i = 0; i < 3; i++) in.src[i] = (struct operand){FILE_R, (uint8_t)reg[i], 1, (uint8_t)i, 0};
  return in;
}

/* Allocate two cycles behind issue, then regfile.read_cycles of reads; the result is written lat.fma after the first of them.
 * Behind one read in a bank, n reads of that bank wait n - 1 cycles in Allocate (operand.h: seen on an A100). */
static void fixed_latency(void **state)
{
  (void)state;
  for (unsigned reads = 1; reads <= 3; reads++) {
    struct rig r;
    struct mock *m = mock_new(6, 1);
    struct inst one = ffma(2, 5, 7), more = ffma(8, 10, 12);
    one.n_src = 1;
    more.n_src = (uint8_t)reads;
    mock_set(m, 2, one);
    mock_set(m, 3, more);
    struct notes *n = observe(&r, m);
    for (unsigned i = 3; i <= 4; i++) {
      const struct seen *x = &n->of[i];
      uint64_t first = x->issued + 3 + (i == 4 ? reads - 1 : 0);
      assert_int_equal(x->stage[STAGE_ALLOCATE], x->issued + 2);
      assert_int_equal(x->stage[STAGE_READ], first);
      assert_int_equal(x->stage[STAGE_EXECUTE], first + r.params.regfile_read_cycles);
      assert_int_equal(x->stage[STAGE_WRITE], first + r.params.lat[LAT_FMA]);
      assert_int_equal(x->done, first + r.params.lat[LAT_FMA] + 1);
    }
    const struct seen *nop = &n->of[2]; /* no result */
    assert_int_equal(nop->stage[STAGE_WRITE], 0);
    assert_int_equal(nop->done, nop->stage[STAGE_READ] + r.params.regfile_read_cycles);
    finish(&r, m, n);
  }
}

/* An instruction held in Allocate holds the next one in Control. */
static void held_in_control(void **state)
{
  (void)state;
  struct rig r;
  struct mock *m = mock_new(6, 1);
  mock_set(m, 2, ffma(2, 5, 7));
  mock_set(m, 3, ffma(8, 10, 12));
  mock_set(m, 4, ffma(15, 17, 19));
  struct notes *n = observe(&r, m);
  assert_int_equal(n->of[5].stage[STAGE_ALLOCATE], n->of[4].stage[STAGE_READ]);
  assert_int_equal(n->of[5].stage[STAGE_CONTROL] - n->of[5].issued, 1);
  finish(&r, m, n);
}

/* mem.front_cycles from issue to the address stage, whose length, and the latency behind the grant, are those of
 * mem_stages.h. A consumer issues in the very cycle in which `written` says that it may. */
static void memory(void **state)
{
  (void)state;
  struct rig r;
  struct mock *m = mock_new(4, 1);
  struct inst load = mock_alu(2, false), use = ffma(1, 2, 3);
  load.pipe = PIPE_MEM;
  load.mem = (struct inst_mem){.space = MEM_SHARED, .op = MEM_LOAD, .bytes = 4, .addr = ADDR_REGULAR};
  load.n_dst = 1;
  load.dst[0] = (struct operand){.file = FILE_R, .index = 1, .width = 1};
  load.ctrl.write_sb = 3;
  load.ctrl.read_sb = 4;
  use.ctrl.wait = 1 << 3;
  mock_set(m, 1, load);
  mock_set(m, 2, use);
  m->dense = true;
  struct notes *n = observe(&r, m);
  const struct seen *x = &n->of[2];
  struct mem_stages s = mem_stages(&r.params, &m->inst[1], MEM_SHARED, 32);
  assert_int_equal(x->stage[STAGE_QUEUE], x->issued + 2);
  assert_int_equal(x->stage[STAGE_ADDRESS], x->issued + r.params.mem_front_cycles);
  assert_int_equal(x->stage[STAGE_MEMORY], x->stage[STAGE_ADDRESS] + s.address);
  assert_int_equal(x->sources_read, x->stage[STAGE_ADDRESS] + mem_stages_war(&s));
  assert_int_equal(x->written, x->stage[STAGE_MEMORY] + s.pipe + s.back + r.params.mem_write_cycles);
  assert_int_equal(x->stage[STAGE_WRITE], x->written - 1); /* one register */
  assert_int_equal(x->done, x->written);
  assert_int_equal(n->of[3].issued, x->written);
  finish(&r, m, n);
}

/* Waits are named: the stall count, then the counter; together they fill the time between two issues. */
static void names_of_waits(void **state)
{
  (void)state;
  struct rig r;
  struct mock *m = mock_new(4, 1);
  struct inst root = ffma(1, 2, 3), use = ffma(1, 2, 3);
  root.pipe = PIPE_SFU;
  root.lat = LAT_SFU;
  root.ctrl.stall = 5;
  root.ctrl.write_sb = 0;
  use.ctrl.wait = 1;
  mock_set(m, 1, root);
  mock_set(m, 2, use);
  struct notes *n = observe(&r, m);
  assert_int_equal(n->of[3].issued - n->of[2].issued, r.params.lat[LAT_SFU]);
  assert_int_equal(n->waited[WS_SHORT_SCOREBOARD], r.params.lat[LAT_SFU] - 5);
  assert_int_equal(n->of[2].stage[STAGE_READ], n->of[2].issued + 2);
  assert_int_equal(n->of[2].stage[STAGE_EXECUTE], n->of[2].issued + r.params.lat_source_release);
  assert_int_equal(n->of[2].sources_read, n->of[2].stage[STAGE_EXECUTE]);
  assert_int_equal(n->of[2].written, n->of[3].issued);
  finish(&r, m, n);
}

/* The second of two special functions has its operands as soon as the first, and waits with them: its stages are in
 * order (`stage`), the unit executes it an interval behind the first. */
static void waits_in_a_latch(void **state)
{
  (void)state;
  struct rig r;
  struct mock *m = mock_new(4, 1);
  struct inst root = ffma(1, 2, 3);
  root.pipe = PIPE_SFU;
  root.lat = LAT_SFU;
  root.ctrl.write_sb = 0;
  mock_set(m, 1, root);
  mock_set(m, 2, root);
  struct notes *n = observe_on("titan-v", &r, m);
  const struct seen *first = &n->of[2], *second = &n->of[3];
  const uint64_t interval = r.params.pipe_interval[PIPE_SFU], release = r.params.lat_source_release;
  assert_true(second->issued < first->issued + interval);
  assert_int_equal(second->stage[STAGE_READ], second->issued + 2);
  assert_int_equal(second->sources_read, second->issued + release);
  assert_int_equal(first->stage[STAGE_EXECUTE], first->issued + release);
  assert_int_equal(second->stage[STAGE_EXECUTE], first->stage[STAGE_EXECUTE] + interval);
  assert_int_equal(second->written, first->written + interval);
  finish(&r, m, n);
}

/* Several warps in all sub-cores, barriers: what `observe` looks at holds, and times are those without an observer. */
static void changes_nothing(void **state)
{
  (void)state;
  struct rig r;
  uint64_t issued[MOCK_MAX_WARPS];
  for (unsigned observed = 0; observed < 2; observed++) {
    struct mock *m = mock_new(12, 8);
    struct inst bar = mock_alu(4, false);
    bar.flags = INST_BAR;
    bar.pipe = PIPE_MISC;
    mock_set(m, 5, bar);
    for (unsigned i = 6; i < 10; i++) mock_set(m, i, ffma(2, 4, 6));
    rig_build(&r);
    struct notes *n = calloc(1, sizeof *n);
    n->observer.ops = &ops;
    if (observed) sm_observe(r.sm, &n->observer);
    rig_run(&r, m);
    for (unsigned w = 0; w < 8; w++)
      if (observed)
        assert_int_equal(m->issued[w][12], issued[w]);
      else
        issued[w] = m->issued[w][12];
    if (observed) {
      assert_int_equal(n->warps, 8);
      assert_int_equal(n->n, 8 * 13);
      assert_int_equal(n->ended - n->begun, r.sm->stats.warp_cycles);
      for (unsigned s = 0; s < WARP_STATE__N; s++) assert_int_equal(n->waited[s], r.sm->stats.warp_state[s]);
    }
    finish(&r, m, n);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(fixed_latency), cmocka_unit_test(held_in_control), cmocka_unit_test(memory),
    cmocka_unit_test(names_of_waits), cmocka_unit_test(waits_in_a_latch),
    cmocka_unit_test(changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
