/* Hazard emulation: what an instruction reads, and what is written in the end, by the rules of emulate.h. The step source is a
 * register file and three instructions: set a register, copy one, join a bit to one. Distances are those of preset rtx-3070. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "time/sm/emulate.h"
#include "time_rig.h"

enum { ALL = -1, WARP = 3, NO_GUARD = 7, LOAD_RESULT = 77 };

/* What an instruction does to its results: the value is its pc, which nothing else reads here. */
enum does { SET, COPY, JOIN };

struct bench {
  struct step_warp step; /* first member */
  struct params p;
  struct arena a;
  struct emulate_set *set;
  struct emulate *m;
  struct warp_slot slot;
  struct reg_value reg[HAZARD_REGS];
  enum does does;
  uint32_t seq;
};

/* --- the step source --- */

static bool begin(struct step_warp *w, unsigned path, struct effect *e)
{
  const struct bench *r = (const struct bench *)w;
  (void)path;
  e->active = (lane_mask)ALL;
  e->exec = e->inst->guard == NO_GUARD ? (lane_mask)ALL : r->reg[HAZARD_P + e->inst->guard].bits;
  return true;
}

static void put(struct bench *r, const struct operand *o, lane_mask lanes, struct reg_value v)
{
  const int n = hazard_reg_number(o, 0);
  r->step.ops->reg_write(&r->step, (unsigned)n, lanes, &v);
}

static struct reg_value value_of(uint32_t word)
{
  struct reg_value v = {.bits = word ? (lane_mask)ALL : 0};
  for (unsigned k = 0; k < LANES_MAX; k++) v.lane[k] = word;
  return v;
}

static bool execute(struct step_warp *w, struct effect *e, struct fault *f)
{
  struct bench *r = (struct bench *)w;
  const struct inst *in = e->inst;
  (void)f;
  struct reg_value v = value_of((uint32_t)in->pc);
  if (r->does == COPY) v = r->reg[hazard_reg_number(&in->src[0], 0)];
  if (r->does == JOIN) {
    v = r->reg[hazard_reg_number(&in->dst[0], 0)];
    for (unsigned k = 0; k < LANES_MAX; k++) v.lane[k] |= (uint32_t)in->pc;
  }
  put(r, &in->dst[0], e->exec, v);
  return true;
}

/* The rest of a load: the second result. */
static void finish(struct step_warp *w, struct effect *e)
{
  put((struct bench *)w, &e->inst->dst[e->inst->n_dst - 1u], e->exec, value_of(LOAD_RESULT));
}

static void reg_read(const struct step_warp *w, unsigned reg, struct reg_value *v)
{
  *v = ((const struct bench *)w)->reg[reg];
}

static void reg_write(struct step_warp *w, unsigned reg, lane_mask lanes, const struct reg_value *v)
{
  struct reg_value *to = &((struct bench *)w)->reg[reg];
  to->bits = (to->bits & ~lanes) | (v->bits & lanes);
  for (unsigned k = 0; k < LANES_MAX; k++)
    if (lanes >> k & 1) to->lane[k] = v->lane[k];
}

static const struct step_ops registers = {
  .begin = begin, .execute = execute, .finish = finish, .reg_read = reg_read, .reg_write = reg_write};

static struct bench *build(void)
{
  static struct bench r;
  struct err e = {0};
  char dir[4096];
  arena_free(&r.a);
  memset(&r, 0, sizeof r);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &r.p, &e)) fail_msg("%s", e.msg);
  r.set = emulate_set_new(&r.a, &r.p);
  r.m = r.set->of[0];
  r.step.ops = &registers;
  r.slot.step = &r.step;
  return &r;
}

/* --- instructions --- */

static struct operand reg(unsigned file, unsigned index)
{
  return (struct operand){.file = (uint8_t)file, .index = (uint8_t)index, .width = 1};
}

static struct inst op(uint32_t value, struct operand dst)
{
  struct inst in = mock_alu(1, false);
  in.pc = value;
  in.pipe = PIPE_ALU;
  in.lat = dst.file == FILE_P ? LAT_PRED : LAT_ALU;
  in.n_dst = 1;
  in.dst[0] = dst;
  return in;
}

static uint32_t step(struct bench *r, enum does does, const struct inst *in, uint64_t now)
{
  struct effect e = {.inst = in};
  struct fault f;
  r->does = does;
  assert_true(emulate_step(r->m, WARP, &r->slot, in, ++r->seq, &e, NULL, &f, now));
  return r->seq;
}

static void set(struct bench *r, struct operand dst, uint32_t value, uint64_t now)
{
  const struct inst in = op(value, dst);
  step(r, SET, &in, now);
}

/* What a fixed-latency instruction that issues now reads from a register: in the end, R200 has it. */
static uint32_t copy(struct bench *r, struct operand src, uint64_t now)
{
  struct inst in = op(0, reg(FILE_R, 200));
  in.n_src = 1;
  in.src[0] = src;
  step(r, COPY, &in, now);
  emulate_settle(r->m, WARP, &r->slot);
  return r->reg[200].lane[0];
}

static void written(struct bench *r, uint32_t seq, const struct inst *in, uint64_t visible)
{
  const struct observed x = {.inst = in, .seq = seq, .sub_core = 0, .warp = WARP};
  r->set->observer.ops->written(&r->set->observer, &x, visible);
}

/* --- fixed latency --- */

static uint32_t read_after(unsigned distance)
{
  struct bench *r = build();
  r->reg[5] = value_of(1);
  set(r, reg(FILE_R, 5), 7, 100);
  return copy(r, reg(FILE_R, 5), 100 + distance);
}

static void sees_results_after_the_gap(void **state)
{
  (void)state;
  assert_int_equal(read_after(1), 1);
  assert_int_equal(read_after(3), 1);
  assert_int_equal(read_after(4), 7); /* ALU to ALU: 4 cycles */
}

static void guard_after_the_gap(void **state)
{
  (void)state;
  for (unsigned distance = 12; distance <= 13; distance++) { /* a predicate to a guard: 13 cycles */
    struct bench *r = build();
    set(r, reg(FILE_P, 2), 1, 100);
    struct inst guarded = op(9, reg(FILE_R, 6));
    guarded.guard = 2;
    step(r, SET, &guarded, 100 + distance);
    emulate_settle(r->m, WARP, &r->slot);
    assert_int_equal(r->reg[6].lane[0], distance == 13 ? 9 : 0);
  }
}

/* Lanes whose guard is false keep what they have. */
static void only_executing_lanes(void **state)
{
  (void)state;
  struct bench *r = build();
  r->reg[5] = value_of(1);
  r->reg[HAZARD_P + 1].bits = 0xf0;
  struct inst guarded = op(7, reg(FILE_R, 5));
  guarded.guard = 1;
  step(r, SET, &guarded, 100);
  emulate_settle(r->m, WARP, &r->slot);
  for (unsigned k = 0; k < 32; k++) assert_int_equal(r->reg[5].lane[k], k >= 4 && k < 8 ? 7 : 1);
}

/* A result that is part of a register joins what is there when it is written: a result that is under way and lands no later. */
static void part_joins_what_lands_before(void **state)
{
  (void)state;
  for (unsigned distance = 1; distance < 6; distance++) {
    struct bench *r = build();
    set(r, reg(FILE_R, 5), 0x10, 100);
    const struct inst join = op(1, reg(FILE_R, 5));
    step(r, JOIN, &join, 100 + distance);
    emulate_settle(r->m, WARP, &r->slot);
    assert_int_equal(r->reg[5].lane[0], 0x11);
  }
}

/* If it reads the register as a source, it reads it at issue like any other. */
static void part_that_is_a_source(void **state)
{
  (void)state;
  struct bench *r = build();
  set(r, reg(FILE_R, 5), 0x10, 100);
  struct inst join = op(1, reg(FILE_R, 5));
  join.n_src = 1;
  join.src[0] = reg(FILE_R, 5);
  step(r, JOIN, &join, 101);
  emulate_settle(r->m, WARP, &r->slot);
  assert_int_equal(r->reg[5].lane[0], 1);
}

/* --- variable latency --- */

static struct inst load(void)
{
  struct inst in = op(33, reg(FILE_R, 5));
  in.pipe = PIPE_MEM;
  in.lat = LAT_NONE;
  in.mem = (struct inst_mem){.space = MEM_GLOBAL, .op = MEM_LOAD, .bytes = 4};
  return in;
}

static void seen_when_written(void **state)
{
  (void)state;
  for (int late = -1; late <= 0; late++) {
    struct bench *r = build();
    const struct inst in = load();
    const uint32_t seq = step(r, SET, &in, 100);
    assert_int_equal(r->reg[5].lane[0], 0);
    written(r, seq, &in, 150);
    const uint64_t first = 150 - r->p.counter_path_cycles; /* a waiting consumer issues that much later */
    assert_int_equal(copy(r, reg(FILE_R, 5), first + (uint64_t)(int64_t)late), late ? 0 : 33);
  }
}

/* Write after write: the one that lands last stays, in whatever order the program has them. */
static void last_to_land_stays(void **state)
{
  (void)state;
  for (unsigned at = 103; at <= 140; at += 37) {
    struct bench *r = build();
    const struct inst in = load();
    const uint32_t seq = step(r, SET, &in, 100);
    set(r, reg(FILE_R, 5), 7, 110); /* lands in 114 */
    written(r, seq, &in, at + r->p.counter_path_cycles);
    emulate_settle(r->m, WARP, &r->slot);
    assert_int_equal(r->reg[5].lane[0], at == 103 ? 7 : 33);
  }
}

static void new_warp_has_nothing_pending(void **state)
{
  (void)state;
  struct bench *r = build();
  const struct inst in = load();
  const struct observed_warp w = {.sub_core = 0, .warp = WARP};
  const uint32_t seq = step(r, SET, &in, 100);
  r->set->observer.ops->warp_begin(&r->set->observer, &w, 120);
  written(r, seq, &in, 130);
  emulate_settle(r->m, WARP, &r->slot);
  assert_int_equal(r->reg[5].lane[0], 0);
}

/* --- the memory queue --- */

enum { ADDRESS = 8, DATA = 9, UNIFORM = 4, PRED = 3 };

/* A store to [R8 + UR4] of R9 and R10 under P3 as a source. */
static struct inst store(void)
{
  struct inst in = load();
  in.mem.op = MEM_STORE;
  in.n_dst = 0;
  in.n_src = 4;
  in.src[0] = reg(FILE_R, ADDRESS);
  in.src[1] = reg(FILE_R, DATA);
  in.src[1].width = 2;
  in.src[1].slot = 1;
  in.src[2] = reg(FILE_UR, UNIFORM);
  in.src[2].slot = 2;
  in.src[3] = reg(FILE_P, PRED);
  in.src[3].slot = 3;
  return in;
}

static struct txn *queue(struct bench *r, const struct inst *in, uint64_t now)
{
  static struct txn t;
  static struct txn_access access;
  struct fault f;
  memset(&t, 0, sizeof t);
  memset(&access, 0, sizeof access);
  t.inst = in;
  t.warp = WARP;
  t.access = &access;
  t.issued = now;
  access.effect.inst = in;
  assert_true(emulate_step(r->m, WARP, &r->slot, in, ++r->seq, &access.effect, &t, &f, now));
  assert_true(t.unread);
  return &t;
}

/* Predicates and uniform registers are read when it issues, with what is visible then; nothing later is seen. */
static void queue_samples_at_issue(void **state)
{
  (void)state;
  struct bench *r = build();
  const struct inst in = store();
  r->reg[HAZARD_UR + UNIFORM] = value_of(1);
  set(r, reg(FILE_UR, UNIFORM), 2, 50); /* not in the registers yet, but seen */
  set(r, reg(FILE_P, PRED), 1, 60);
  struct txn *t = queue(r, &in, 80);
  set(r, reg(FILE_UR, UNIFORM), 3, 81);
  set(r, reg(FILE_P, PRED), 0, 81);
  emulate_open(r->m, &r->slot, t, 200, 200, 1, 200);
  assert_int_equal(r->reg[HAZARD_UR + UNIFORM].lane[0], 2);
  assert_int_equal(r->reg[HAZARD_P + PRED].bits, (lane_mask)ALL);
  emulate_close(r->m, &r->slot, t, false);
  assert_int_equal(r->reg[HAZARD_UR + UNIFORM].lane[0], 3);
  assert_int_equal(r->reg[HAZARD_P + PRED].bits, 0);
}

/* The address is read at its cycle, the data register by register; results of others count as of then. */
static void queue_reads_later(void **state)
{
  (void)state;
  struct bench *r = build();
  const struct inst in = store();
  struct txn *t = queue(r, &in, 80);
  const uint64_t address = r->p.gap_addr[LAT_ALU], data = r->p.gap_queued[LAT_ALU];
  set(r, reg(FILE_R, ADDRESS), 5, 100); /* younger than the store */
  set(r, reg(FILE_R, DATA), 6, 100);
  set(r, reg(FILE_R, DATA + 1), 7, 100);
  emulate_open(r->m, &r->slot, t, 100 + address - 1, 100 + data - 1, 1, 100);
  assert_int_equal(r->reg[ADDRESS].lane[0], 0);
  assert_int_equal(r->reg[DATA].lane[0], 0);
  assert_int_equal(r->reg[DATA + 1].lane[0], 7); /* one cycle behind the first */
  emulate_close(r->m, &r->slot, t, false);
  emulate_open(r->m, &r->slot, t, 100 + address, 100 + data, 1, 100);
  assert_int_equal(r->reg[ADDRESS].lane[0], 5);
  assert_int_equal(r->reg[DATA].lane[0], 6);
  emulate_close(r->m, &r->slot, t, false);
  assert_int_equal(r->reg[ADDRESS].lane[0], 0); /* their own values again */
  emulate_settle(r->m, WARP, &r->slot);
  assert_int_equal(r->reg[ADDRESS].lane[0], 5);
}

/* Predicates of an access are there when its address is known, registers when memory has answered. */
static void results_in_two_parts(void **state)
{
  (void)state;
  struct bench *r = build();
  struct inst in = load();
  in.n_dst = 2;
  in.dst[0] = reg(FILE_P, PRED);
  in.dst[1] = reg(FILE_R, 5);
  struct txn *t = queue(r, &in, 80);
  const struct observed x = {.inst = &in, .seq = t->seq, .sub_core = 0, .warp = WARP};
  const uint64_t path = r->p.counter_path_cycles;
  struct fault f;
  emulate_open(r->m, &r->slot, t, 90, 90, 1, 90);
  r->does = SET;
  assert_true(execute(&r->step, &t->access->effect, &f));
  emulate_close(r->m, &r->slot, t, true);
  r->set->observer.ops->sources_read(&r->set->observer, &x, 100 + path);
  emulate_finish(r->m, &r->slot, t);
  assert_int_equal(r->reg[5].lane[0], 0);
  emulate_open(r->m, &r->slot, t, 120, 120, 1, 150); /* retires what is visible */
  emulate_close(r->m, &r->slot, t, true);
  assert_int_equal(r->reg[HAZARD_P + PRED].bits, (lane_mask)ALL);
  assert_int_equal(r->reg[5].lane[0], 0);
  r->set->observer.ops->written(&r->set->observer, &x, 200 + path);
  emulate_settle(r->m, WARP, &r->slot);
  assert_int_equal(r->reg[5].lane[0], LOAD_RESULT);
}

/* A try_wait that waits has no result when its sources have been read, but when it ends: what the predicate was before is
 * not taken for it. */
static void result_of_a_try_wait(void **state)
{
  (void)state;
  for (unsigned before = 0; before < 2; before++) {
    struct bench *r = build();
    struct inst in = load();
    in.mem.may_wait = true;
    in.n_dst = 1;
    in.dst[0] = reg(FILE_P, PRED);
    r->reg[HAZARD_P + PRED] = value_of(before);
    struct txn *t = queue(r, &in, 80);
    const struct observed x = {.inst = &in, .seq = t->seq, .sub_core = 0, .warp = WARP};
    emulate_open(r->m, &r->slot, t, 90, 90, 1, 90);
    t->tries = true;
    emulate_close(r->m, &r->slot, t, false);
    r->set->observer.ops->sources_read(&r->set->observer, &x, 100);
    t->tries = false;
    r->reg[HAZARD_P + PRED] = value_of(0); /* another instruction, meanwhile */
    emulate_finish(r->m, &r->slot, t);
    assert_int_equal(r->reg[HAZARD_P + PRED].bits, 0);
    r->set->observer.ops->written(&r->set->observer, &x, 200);
    emulate_settle(r->m, WARP, &r->slot);
    assert_int_equal(r->reg[HAZARD_P + PRED].bits, (lane_mask)ALL);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sees_results_after_the_gap), cmocka_unit_test(guard_after_the_gap),
    cmocka_unit_test(only_executing_lanes), cmocka_unit_test(part_joins_what_lands_before),
    cmocka_unit_test(part_that_is_a_source), cmocka_unit_test(seen_when_written),
    cmocka_unit_test(last_to_land_stays), cmocka_unit_test(new_warp_has_nothing_pending),
    cmocka_unit_test(queue_samples_at_issue), cmocka_unit_test(queue_reads_later),
    cmocka_unit_test(results_in_two_parts), cmocka_unit_test(result_of_a_try_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
