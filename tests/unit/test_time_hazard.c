/* Hazard checker: each kind of missing protection is found, protected code is not reported. Distances from
 * compiler output (preset rtx-3070). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time/sm/hazard.h"
#include "time_rig.h"

enum { LANES_ALL = -1 };

struct check {
  struct params p;
  struct arena a;
  struct hazard *h;
  uint32_t seq;
};

static void build(struct check *c)
{
  struct err e = {0};
  char dir[4096];
  memset(c, 0, sizeof *c);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &c->p, &e)) fail_msg("%s", e.msg);
  c->h = hazard_new(&c->a, &c->p);
}

static struct operand reg(unsigned file, unsigned index)
{
  return (struct operand){.file = (uint8_t)file, .index = (uint8_t)index, .width = 1};
}

static struct inst op(unsigned pipe, unsigned lat, struct operand dst, struct operand src)
{
  struct inst in = mock_alu(1, false);
  in.pipe = (uint8_t)pipe;
  in.lat = (uint8_t)lat;
  in.n_dst = dst.file != FILE_NONE;
  in.dst[0] = dst;
  in.n_src = src.file != FILE_NONE;
  in.src[0] = src;
  return in;
}

/* For some lanes of a warp; returns the number of the instruction. */
static uint32_t issue_for(struct check *c, unsigned warp, const struct inst *in, lane_mask active, lane_mask exec,
                          uint64_t now)
{
  hazard_issue(c->h, warp, in, ++c->seq, active, exec, now);
  return c->seq;
}

static uint32_t issue(struct check *c, const struct inst *in, uint64_t now)
{
  return issue_for(c, 0, in, (lane_mask)LANES_ALL, (lane_mask)LANES_ALL, now);
}

static const struct operand nothing = {.file = FILE_NONE};

/* A producer at cycle 100, a consumer `distance` later: how many cycles are missing? 0 = none found. */
static unsigned missing(struct inst first, struct inst second, unsigned distance)
{
  struct check c;
  build(&c);
  first.pc = 0x10, second.pc = 0x20;
  issue(&c, &first, 100);
  issue(&c, &second, 100 + distance);
  unsigned n = c.h->n_findings ? c.h->finding[0].missing : 0;
  if (n) assert_int_equal(c.h->finding[0].kind, HAZARD_RAW);
  arena_free(&c.a);
  return n;
}

static void fixed_latency_raw(void **state)
{
  (void)state;
  struct inst add = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 5), nothing);
  struct inst use = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), reg(FILE_R, 5));
  struct inst other = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), reg(FILE_R, 7));
  assert_int_equal(missing(add, use, 4), 0);
  assert_int_equal(missing(add, use, 3), 1);
  assert_int_equal(missing(add, use, 1), 3);
  assert_int_equal(missing(add, other, 1), 0);
  struct inst setp = op(PIPE_ALU, LAT_PRED, reg(FILE_P, 2), nothing);
  struct inst guarded = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), nothing);
  guarded.guard = 2;
  assert_int_equal(missing(setp, guarded, 13), 0);
  assert_int_equal(missing(setp, guarded, 12), 1);
}

/* What tools/gaps.py tells of: the least distance that was seen, of whom; one of a million cycles is none. */
static void least_distances(void **state)
{
  static const unsigned at[] = {9, 7, 12, (1u << 20) + 1};
  struct check c;
  (void)state;
  build(&c);
  struct inst add = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 5), nothing), use = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), reg(FILE_R, 5));
  uint64_t now = 100;
  for (unsigned i = 4; i-- > 0; now += 50) {
    add.pc = 0x100 * i, use.pc = 0x100 * i + 0x10;
    issue(&c, &add, now);
    issue(&c, &use, now += at[i]);
    unsigned seen = 0;
    for (unsigned role = 0; role < ROLE__N; role++) {
      const struct hazard_least *l = &c.h->least[LAT_ALU][role];
      if (!l->cycles) continue;
      seen++;
      assert_int_equal(l->cycles, i == 2 ? 12 : 7);
      assert_int_equal(l->first_pc, i == 2 ? 0x200 : 0x100);
      assert_int_equal(l->second_pc, l->first_pc + 0x10);
    }
    assert_int_equal(seen, i == 3 ? 0 : 1);
  }
  arena_free(&c.a);
}

/* Listing 3: the address of a load needs one cycle more than an ALU source, 5 instead of 4. */
static void no_bypass_to_addresses(void **state)
{
  (void)state;
  struct inst mov = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 5), nothing);
  struct inst load = op(PIPE_MEM, LAT_NONE, reg(FILE_R, 6), reg(FILE_R, 5));
  load.mem = (struct inst_mem){.space = MEM_GLOBAL, .op = MEM_LOAD, .bytes = 4};
  assert_int_equal(missing(mov, load, 5), 0);
  assert_int_equal(missing(mov, load, 4), 1);
  load.mem = (struct inst_mem){.space = MEM_SHARED, .op = MEM_LOAD, .bytes = 8, .late_address = true}; /* SYNCS.PHASECHK */
  assert_int_equal(missing(mov, load, 4), 0);
  assert_int_equal(missing(mov, load, 3), 1);
}

/* A predicate result of an access says something of its address: it is there when the sources are read. */
static void predicate_of_an_access(void **state)
{
  (void)state;
  for (unsigned early = 0; early < 2; early++) {
    struct check c;
    build(&c);
    struct inst load = op(PIPE_MEM, LAT_NONE, reg(FILE_P, 2), reg(FILE_R, 8));
    load.mem = (struct inst_mem){.space = MEM_GLOBAL, .op = MEM_LOAD, .bytes = 4};
    struct inst guarded = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), nothing);
    guarded.guard = 2;
    load.pc = 0x10, guarded.pc = 0x20;
    const uint32_t seq = issue(&c, &load, 100);
    hazard_sources_read(c.h, 0, &load, seq, 130);
    issue(&c, &guarded, 130 - early);
    assert_int_equal(c.h->n_findings, early);
    arena_free(&c.a);
  }
}

static void variable_latency(void **state)
{
  (void)state;
  struct check c;
  build(&c);
  struct inst load = op(PIPE_MEM, LAT_SHFL, reg(FILE_R, 5), reg(FILE_R, 8));
  struct inst use = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), reg(FILE_R, 5));
  struct inst overwrite_result = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 5), nothing);
  struct inst overwrite_address = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 8), nothing);
  load.pc = 0x10, use.pc = 0x20, overwrite_result.pc = 0x30, overwrite_address.pc = 0x40;
  uint32_t seq = issue(&c, &load, 100);
  issue(&c, &use, 110);
  issue(&c, &overwrite_address, 111);
  assert_int_equal(c.h->n_findings, 2);
  assert_int_equal(c.h->finding[0].kind, HAZARD_RAW);
  assert_true(c.h->finding[0].counter);
  assert_int_equal(c.h->finding[1].kind, HAZARD_WAR);
  issue(&c, &overwrite_result, 112);
  assert_int_equal(c.h->n_findings, 3);
  assert_int_equal(c.h->finding[2].kind, HAZARD_WAW);
  /* The same again, with everything awaited. */
  hazard_start(c.h);
  hazard_new_warp(c.h, 0);
  seq = issue(&c, &load, 200);
  hazard_sources_read(c.h, 0, &load, seq, 211);
  issue(&c, &overwrite_address, 211);
  hazard_written(c.h, 0, &load, seq, 232);
  issue(&c, &use, 232);
  issue(&c, &overwrite_result, 233);
  assert_int_equal(c.h->n_findings, 0);
  arena_free(&c.a);
}

static void paths_and_guards_do_not_disturb(void **state)
{
  (void)state;
  struct check c;
  build(&c);
  struct inst add = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 5), nothing);
  struct inst use = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), reg(FILE_R, 5));
  issue_for(&c, 0, &add, 0x0f, 0x0f, 100);
  issue_for(&c, 0, &use, 0xf0, 0xf0, 101); /* another path */
  issue_for(&c, 0, &use, 0x0f, 0, 102);    /* guard false */
  issue_for(&c, 1, &use, 0x0f, 0x0f, 103); /* another warp */
  assert_int_equal(c.h->n_findings, 0);
  issue_for(&c, 0, &use, 0x01, 0x01, 103);
  assert_int_equal(c.h->n_findings, 1);
  arena_free(&c.a);
}

/* CUDA 12.0 has WARPSYNC R15 and, in the next cycle, VOTE R15 without a counter: the warp goes on when the mask was read. BMOV
 * into a barrier register, which the same unit queues, may still read. */
static void mask_of_a_warpsync(void **state)
{
  (void)state;
  struct inst vote = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 5), nothing);
  vote.pc = 0x20;
  for (unsigned queued = 0; queued < 2; queued++) {
    struct check c;
    struct inst first = op(PIPE_BRANCH, LAT_BRANCH, nothing, reg(FILE_R, 5));
    build(&c);
    if (!queued) first.flags |= INST_CONVERGE;
    first.pc = 0x10;
    issue(&c, &first, 100);
    issue(&c, &vote, 101);
    assert_int_equal(c.h->n_findings, queued);
    arena_free(&c.a);
  }
}

/* Two results of different units: the one that lands last must be the younger. */
static void older_result_lands_last(void **state)
{
  (void)state;
  struct inst load = op(PIPE_MEM, LAT_SHFL, reg(FILE_R, 5), reg(FILE_R, 8));
  struct inst root = op(PIPE_SFU, LAT_SFU, reg(FILE_R, 5), reg(FILE_R, 9));
  load.pc = 0x10, root.pc = 0x20;
  for (unsigned landed = 0; landed < 2; landed++) {
    struct check c;
    build(&c);
    uint32_t first = issue(&c, &load, 100), second = issue(&c, &root, 110);
    if (landed) hazard_written(c.h, 0, &load, first, 125);
    hazard_written(c.h, 0, &root, second, 126);
    assert_int_equal(c.h->n_findings, landed ? 0 : 1);
    if (!landed) assert_int_equal(c.h->finding[0].kind, HAZARD_WAW);
    arena_free(&c.a);
  }
  struct check c;
  build(&c);
  struct inst product = op(PIPE_TENSOR, LAT_MMA_16816_F32, reg(FILE_R, 5), nothing);
  struct inst move = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 5), nothing);
  issue(&c, &product, 100);
  issue(&c, &move, 119); /* gap.queued, 23 of the product: written in 123, as of the move in 119 + 4 */
  assert_int_equal(c.h->n_findings, 0);
  hazard_new_warp(c.h, 0);
  issue(&c, &product, 200);
  issue(&c, &move, 218);
  assert_int_equal(c.h->n_findings, 1);
  assert_int_equal(c.h->finding[0].kind, HAZARD_WAW);
  arena_free(&c.a);
}

/* A reader that still waits in its queue is not forgotten when another unit reads the register, too. */
static void every_reader_counts(void **state)
{
  (void)state;
  struct check c;
  build(&c);
  struct inst store = op(PIPE_MEM, LAT_NONE, nothing, reg(FILE_R, 8));
  struct inst root = op(PIPE_SFU, LAT_SFU, reg(FILE_R, 6), reg(FILE_R, 8));
  struct inst move = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 8), nothing);
  store.pc = 0x10, root.pc = 0x20, move.pc = 0x30;
  uint32_t queued = issue(&c, &store, 100), seq = issue(&c, &root, 101);
  hazard_sources_read(c.h, 0, &root, seq, 105);
  issue(&c, &move, 106);
  assert_int_equal(c.h->n_findings, 1);
  assert_int_equal(c.h->finding[0].kind, HAZARD_WAR);
  assert_int_equal(c.h->finding[0].first_pc, 0x10);
  hazard_start(c.h);
  hazard_sources_read(c.h, 0, &store, queued, 107);
  issue(&c, &move, 107);
  assert_int_equal(c.h->n_findings, 0);
  arena_free(&c.a);
}

/* Each lane has its own last writer: a guarded load and the move for the other lanes. */
static void every_lane_counts(void **state)
{
  (void)state;
  struct check c;
  build(&c);
  struct inst load = op(PIPE_MEM, LAT_SHFL, reg(FILE_R, 5), reg(FILE_R, 8));
  struct inst move = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 5), nothing);
  struct inst use = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), reg(FILE_R, 5));
  issue_for(&c, 0, &load, 0xff, 0x0f, 100);
  issue_for(&c, 0, &move, 0xff, 0xf0, 101);
  issue_for(&c, 0, &use, 0xff, 0xf0, 110);
  assert_int_equal(c.h->n_findings, 0);
  issue_for(&c, 0, &use, 0xff, 0xff, 111);
  assert_int_equal(c.h->n_findings, 1);
  assert_int_equal(c.h->finding[0].kind, HAZARD_RAW);
  arena_free(&c.a);
}

/* The checker of the rig's first sub-core. */
static struct hazard *check_rig(struct rig *r)
{
  struct hazard_set *set = hazard_set_new(&r->arena, &r->params);
  sm_observe(r->sm, &set->observer);
  return set->of[0];
}

/* In the core: a load whose consumer waits for nothing is found, with the wait it is clean. */
static void in_the_core(void **state)
{
  (void)state;
  for (unsigned protect = 0; protect < 2; protect++) {
    struct rig r;
    rig_build(&r);
    struct hazard *h = check_rig(&r);
    struct mock *m = mock_new(6, 1);
    struct inst load = op(PIPE_MEM, LAT_SHFL, reg(FILE_R, 5), reg(FILE_R, 8));
    load.ctrl.write_sb = 0;
    load.ctrl.stall = 2;
    struct inst use = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 6), reg(FILE_R, 5));
    use.ctrl.wait = protect ? 1 : 0;
    mock_set(m, 0, load);
    mock_set(m, 1, use);
    rig_run(&r, m);
    assert_int_equal(h->n_findings, protect ? 0 : 1);
    free(m);
    rig_free(&r);
  }
}

/* A register may be written in the cycle in which its readers have read, not in one before: fixed-latency writes at
 * their issue, those of variable latency when they land. */
static void write_after_read_to_the_cycle(void **state)
{
  (void)state;
  enum { READ = 120 };
  struct inst store = op(PIPE_MEM, LAT_NONE, nothing, reg(FILE_R, 8));
  struct inst move = op(PIPE_ALU, LAT_ALU, reg(FILE_R, 8), nothing);
  struct inst root = op(PIPE_SFU, LAT_SFU, reg(FILE_R, 8), nothing);
  store.pc = 0x10, move.pc = 0x20, root.pc = 0x30;
  for (unsigned early = 0; early <= 10; early++)
    for (unsigned variable = 0; variable < 2; variable++) {
      struct check c;
      build(&c);
      hazard_sources_read(c.h, 0, &store, issue(&c, &store, 100), READ);
      if (variable)
        hazard_written(c.h, 0, &root, issue(&c, &root, 101), READ - early);
      else
        issue(&c, &move, READ - early);
      assert_int_equal(c.h->n_findings, early > 0);
      if (early) {
        assert_int_equal(c.h->finding[0].kind, HAZARD_WAR);
        assert_int_equal(c.h->finding[0].first_pc, 0x10);
        assert_int_equal(c.h->finding[0].second_pc, variable ? 0x30 : 0x20);
      }
      arena_free(&c.a);
    }
}

/* In the core: WAR of Table 2 of Huerta et al., MICRO 2025, counted from a clock read a cycle before. The address and the
 * data of a store, the address of a load and of an asynchronous copy may be overwritten so many cycles later; a cycle
 * earlier is found, without any counter. */
static void write_after_read_of_table_2(void **state)
{
  (void)state;
  static const struct {
    uint8_t space, op, bytes, war;
  } row[] = {{MEM_GLOBAL, MEM_LOAD, 4, 11},   {MEM_GLOBAL, MEM_LOAD, 16, 11},  {MEM_SHARED, MEM_LOAD, 4, 9},
             {MEM_GLOBAL, MEM_STORE, 4, 14},  {MEM_GLOBAL, MEM_STORE, 16, 20}, {MEM_SHARED, MEM_STORE, 4, 12},
             {MEM_SHARED, MEM_STORE, 8, 14},  {MEM_SHARED, MEM_STORE, 16, 18}, {MEM_GLOBAL, MEM_LDGSTS, 4, 13}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
    for (unsigned early = 0; early < 4; early++) {
      struct rig r;
      rig_build(&r);
      struct hazard *h = check_rig(&r);
      struct mock *m = mock_new(30, 1);
      struct inst access = op(PIPE_MEM, LAT_NONE, nothing, reg(FILE_R, 8));
      access.mem = (struct inst_mem){.space = row[i].space, .op = row[i].op, .bytes = row[i].bytes, .addr = ADDR_REGULAR};
      mock_set(m, 0, access);
      unsigned distance = row[i].war - 1 - early; /* from issue to issue */
      mock_set(m, distance, op(PIPE_ALU, LAT_ALU, reg(FILE_R, 8), nothing));
      rig_run(&r, m);
      assert_int_equal(m->issued[0][distance] - m->issued[0][0], distance);
      assert_int_equal(h->n_findings, early > 0);
      if (early) assert_int_equal(h->finding[0].kind, HAZARD_WAR);
      free(m);
      rig_free(&r);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(least_distances), cmocka_unit_test(fixed_latency_raw),
      cmocka_unit_test(no_bypass_to_addresses),
      cmocka_unit_test(predicate_of_an_access), cmocka_unit_test(variable_latency),
      cmocka_unit_test(paths_and_guards_do_not_disturb),
      cmocka_unit_test(mask_of_a_warpsync), cmocka_unit_test(older_result_lands_last),
      cmocka_unit_test(every_reader_counts),
      cmocka_unit_test(every_lane_counts),
      cmocka_unit_test(in_the_core),
      cmocka_unit_test(write_after_read_to_the_cycle),
      cmocka_unit_test(write_after_read_of_table_2),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
