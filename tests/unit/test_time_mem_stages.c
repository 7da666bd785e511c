/* The memory pipeline of a sub-core and the unit it shares, unloaded: Tables 1 and 2 of Huerta et al.,
 * "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025, whose cells all are sums
 * over stages here, and what follows from the stages for the cadence of wide accesses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

enum kind { LDG, STG, LDS, STS, LDC, LDGSTS };

static struct inst access_of(enum kind k, unsigned bits, enum addr_kind addr)
{
  static const uint8_t space[] = {MEM_GLOBAL, MEM_GLOBAL, MEM_SHARED,
                                  MEM_SHARED, MEM_CONST,  MEM_GLOBAL};
  static const uint8_t op[] = {MEM_LOAD, MEM_STORE, MEM_LOAD, MEM_STORE, MEM_LOAD, MEM_LDGSTS};
  struct inst in = mock_alu(2, false);
  in.pipe = PIPE_MEM;
  in.mem = (struct inst_mem){
      .space = space[k], .op = op[k], .bytes = (uint8_t)(bits / 8), .addr = (uint8_t)addr};
  return in;
}

/* Distance from issue to an instruction that waits for the counter. */
static uint64_t distance(struct inst in, bool write, const char *gpu)
{
  struct rig r;
  rig_build_for(&r, gpu);
  struct mock *m = mock_new(3, 1);
  *(write ? &in.ctrl.write_sb : &in.ctrl.read_sb) = 0;
  struct inst user = mock_alu(1, false);
  user.ctrl.wait = 1;
  mock_set(m, 0, in);
  mock_set(m, 1, user);
  rig_run(&r, m);
  uint64_t d = m->issued[0][1] - m->issued[0][0];
  free(m);
  rig_free(&r);
  return d;
}

enum { REG = ADDR_REGULAR, UNI = ADDR_UNIFORM, IMM = ADDR_IMMEDIATE };

/* Table 2 counts from a clock read, which issues a cycle before the instruction: Figure 2 of the same paper has 31
 * and 10 from issue to issue where the table has 32 and 11. */
enum { CLOCK_READ = 1 };

static const struct table_2_row {
  enum kind kind;
  unsigned bits, addr, war, raw; /* raw 0: no result */
} table_2[] = {
    {LDG, 32, UNI, 9, 29},     {LDG, 64, UNI, 9, 31},     {LDG, 128, UNI, 9, 35},
    {LDG, 32, REG, 11, 32},    {LDG, 64, REG, 11, 34},    {LDG, 128, REG, 11, 38},
    {STG, 32, UNI, 10, 0},     {STG, 64, UNI, 12, 0},     {STG, 128, UNI, 16, 0},
    {STG, 32, REG, 14, 0},     {STG, 64, REG, 16, 0},     {STG, 128, REG, 20, 0},
    {LDS, 32, UNI, 9, 23},     {LDS, 64, UNI, 9, 23},     {LDS, 128, UNI, 9, 25},
    {LDS, 32, REG, 9, 24},     {LDS, 64, REG, 9, 24},     {LDS, 128, REG, 9, 26},
    {STS, 32, UNI, 10, 0},     {STS, 64, UNI, 12, 0},     {STS, 128, UNI, 16, 0},
    {STS, 32, REG, 12, 0},     {STS, 64, REG, 14, 0},     {STS, 128, REG, 18, 0},
    {LDC, 32, IMM, 10, 26},    {LDC, 32, REG, 29, 29},    {LDC, 64, REG, 29, 29},
    {LDGSTS, 32, REG, 13, 39}, {LDGSTS, 64, REG, 13, 39}, {LDGSTS, 128, REG, 13, 39},
};

static void all_cells_of_table_2(void **state)
{
  (void)state;
  for (unsigned i = 0; i < sizeof table_2 / sizeof table_2[0]; i++) {
    const struct table_2_row *t = &table_2[i];
    struct inst in = access_of(t->kind, t->bits, (enum addr_kind)t->addr);
    uint64_t war = distance(in, false, "rtx-3070") + CLOCK_READ;
    uint64_t raw = t->raw ? distance(in, true, "rtx-3070") + CLOCK_READ : 0;
    if (war != t->war || raw != t->raw)
      fail_msg("row %u: WAR %u, RAW %u, not %u and %u", i, (unsigned)war, (unsigned)raw, t->war,
               t->raw);
  }
}

/* Turing, an RTX 2070: sjfeng1999/gpu-arch-microbenchmark reads 23 for a shared load from an immediate address and 32 for a
 * global one, from a clock read with a stall count of 2. */
static void turing(void **state)
{
  (void)state;
  enum { STALL = 2 };
  assert_int_equal(distance(access_of(LDS, 32, ADDR_IMMEDIATE), true, "rtx-2080ti") + STALL, 23);
  assert_int_equal(distance(access_of(LDG, 32, ADDR_REGULAR), true, "rtx-2080ti") + STALL, 32);
}

/* Chains of loads of 8 bytes in L1, cycles a step: 33.0 on A40 and A100, 32.0 on GH200 (RRZE-HPC/gpu-benches); of loads from
 * shared memory 23 on an RTX 3060 (YKTian-x2b/AmpereArchViaMicroBenchMark). */
static void chains(void **state)
{
  (void)state;
  assert_int_equal(distance(access_of(LDG, 64, ADDR_REGULAR), true, "a40"), 33);
  assert_int_equal(distance(access_of(LDG, 64, ADDR_REGULAR), true, "a100"), 33);
  assert_int_equal(distance(access_of(LDG, 64, ADDR_REGULAR), true, "gh200"), 32);
  assert_int_equal(distance(access_of(LDS, 32, ADDR_REGULAR), true, "rtx-3060"), 23);
}

/* SHFL and the like go through the same stages: however short lat.* is, a cycle is left between them. */
static void shortest_latency(void **state)
{
  (void)state;
  struct params p;
  struct err e;
  struct inst in = {0};
  if (!params_load("rtx-3070", WS_SOURCE_DIR "/presets", &p, &e)) fail_msg("%s", e.msg);
  for (unsigned lat = 1; lat < 60; lat++) {
    p.lat[in.lat] = (uint16_t)lat;
    const struct mem_stages s = mem_stages(&p, &in, MEM_NONE, 32);
    const unsigned rest = p.mem_front_cycles + s.address + s.back + p.mem_write_cycles;
    assert_int_equal(s.pipe, lat > rest ? lat - rest : 1);
  }
}

/* Table 1: issue cycle of the i-th of consecutive independent memory instructions, the first in
 * cycle 2, with one warp on each of 1 to 4 sub-cores; rows 9 and 10 follow the table's last line. */
static const unsigned table_1[4][4][10] = {
    {{2, 3, 4, 5, 6, 13, 17, 21, 25, 29}},
    {{2, 3, 4, 5, 6, 13, 17, 21, 25, 29}, {2, 3, 4, 5, 6, 15, 19, 23, 27, 31}},
    {{2, 3, 4, 5, 6, 13, 19, 25, 31, 37},
     {2, 3, 4, 5, 6, 15, 21, 27, 33, 39},
     {2, 3, 4, 5, 6, 17, 23, 29, 35, 41}},
    {{2, 3, 4, 5, 6, 13, 21, 29, 37, 45},
     {2, 3, 4, 5, 6, 15, 23, 31, 39, 47},
     {2, 3, 4, 5, 6, 17, 25, 33, 41, 49},
     {2, 3, 4, 5, 6, 19, 27, 35, 43, 51}},
};

static void all_cells_of_table_1(void **state)
{
  (void)state;
  static const enum kind kind[] = {LDG, LDS, STG, STS};
  for (unsigned k = 0; k < 4; k++)
    for (unsigned active = 1; active <= 4; active++) {
      struct rig r;
      rig_build(&r);
      struct mock *m = mock_new(10, active);
      struct inst in = access_of(kind[k], 32, ADDR_REGULAR);
      in.ctrl.stall = 1;
      for (unsigned i = 0; i < 10; i++) mock_set(m, i, in);
      rig_run(&r, m);
      for (unsigned w = 0; w < active; w++)
        for (unsigned i = 0; i < 10; i++)
          if (m->issued[w][i] - START + 2 != table_1[active - 1][w][i])
            fail_msg("kind %u, %u active, warp %u, instruction %u: cycle %u, not %u", k, active, w,
                     i + 1, (unsigned)(m->issued[w][i] - START + 2), table_1[active - 1][w][i]);
      free(m);
      rig_free(&r);
    }
}

/* Cycles per instruction of one sub-core in the steady state: 4 with an address per lane (Table 1); a wide
 * store is held by its data, 512 bits per cycle; a uniform load by reading its sources and the arbiter. */
static void cadence(void **state)
{
  (void)state;
  static const struct {
    enum kind kind;
    unsigned bits, addr, cycles;
  } row[] = {{LDG, 32, REG, 4},  {LDG, 128, REG, 4}, {LDS, 128, REG, 4}, {STG, 64, REG, 4},
             {STG, 128, REG, 8}, {STS, 32, REG, 4},  {STS, 128, REG, 8}, {STS, 128, UNI, 8},
             {LDG, 32, UNI, 2},  {LDGSTS, 128, REG, 6}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(40, 1);
    struct inst in = access_of(row[i].kind, row[i].bits, (enum addr_kind)row[i].addr);
    in.ctrl.stall = 1;
    for (unsigned k = 0; k < 40; k++) mock_set(m, k, in);
    rig_run(&r, m);
    assert_int_equal(m->issued[0][39] - m->issued[0][19], 20 * row[i].cycles);
    free(m);
    rig_free(&r);
  }
}

/* Bytes per cycle of shared memory with all sub-cores at it: 64 on Turing, 128 on GA10x (NVIDIA Ampere GA102 whitepaper), of
 * which words reach half: an instruction per two cycles. */
static void shared_bandwidth(void **state)
{
  (void)state;
  static const struct {
    const char *gpu;
    unsigned bits, bytes_per_cycle;
  } row[] = {{"rtx-2080ti", 32, 64}, {"rtx-2080ti", 64, 64}, {"rtx-3070", 32, 64}, {"rtx-3070", 64, 128}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    rig_build_for(&r, row[i].gpu);
    struct mock *m = mock_new(40, 4);
    m->dense = true;
    struct inst in = access_of(LDS, row[i].bits, ADDR_REGULAR);
    in.ctrl.stall = 1;
    for (unsigned k = 0; k < 40; k++) mock_set(m, k, in);
    rig_run(&r, m);
    uint64_t bytes = 4 * 20 * 32 * row[i].bits / 8;
    assert_int_equal(bytes / (m->issued[0][39] - m->issued[0][19]), row[i].bytes_per_cycle);
    free(m);
    rig_free(&r);
  }
}

/* A grant lasts two cycles on GA10x and Turing, one on GA10x where no lane executes the instruction, or as
 * many as mem.idle_interval says: 80 loads of four sub-cores in 80 times that. */
static void idle_instructions(void **state)
{
  (void)state;
  static const struct {
    const char *gpu;
    bool idle;
    unsigned interval, cycles; /* interval 0: the preset's */
  } row[] = {{"rtx-3070", false, 0, 2},   {"rtx-3070", true, 0, 1},   {"rtx-3070", true, 2, 2}, {"rtx-3070", true, 9, 2},
             {"rtx-2080ti", false, 0, 2}, {"rtx-2080ti", true, 0, 2},
             {"rtx-2080ti", true, 1, 1}, {"a100", true, 0, 1},     {"a100", false, 0, 1}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    rig_params(&r, row[i].gpu);
    if (row[i].interval) r.params.mem_idle_interval = row[i].interval;
    rig_init(&r);
    struct mock *m = mock_new(40, 4);
    m->idle = row[i].idle;
    struct inst in = access_of(LDS, 32, ADDR_REGULAR);
    in.ctrl.stall = 1;
    for (unsigned k = 0; k < 40; k++) mock_set(m, k, in);
    rig_run(&r, m);
    assert_int_equal(m->issued[0][39] - m->issued[0][19], 4 * 20 * row[i].cycles);
    free(m);
    rig_free(&r);
  }
}

/* Loads of constants have an arbiter of their own: of 80 memory instructions of four sub-cores every other one is such a
 * load, so the arbiter of the others has 40 of two cycles, where it has 80 of them (mem.const_interval 0). With an interval of
 * five cycles it is the constants that take longest. */
static void constants_beside_others(void **state)
{
  (void)state;
  static const struct {
    unsigned interval, cycles;
  } row[] = {{0, 160}, {1, 80}, {2, 80}, {5, 200}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    rig_params(&r, "rtx-3070");
    r.params.mem_const_interval = row[i].interval;
    rig_init(&r);
    struct mock *m = mock_new(60, 4);
    for (unsigned k = 0; k < 60; k++) {
      struct inst in = access_of(k % 2 ? LDC : LDS, 32, k % 2 ? ADDR_IMMEDIATE : ADDR_REGULAR);
      in.ctrl.stall = 1;
      mock_set(m, k, in);
    }
    rig_run(&r, m);
    assert_int_equal(m->issued[0][49] - m->issued[0][29], row[i].cycles);
    free(m);
    rig_free(&r);
  }
}

/* Loads of 128 bits come back at 512 bits per cycle: 8 cycles apart, whatever the arbiter did. Four of them,
 * each with a counter of its own. */
static void return_link(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r);
  struct mock *m = mock_new(10, 1);
  for (unsigned i = 0; i < 4; i++) {
    struct inst in = access_of(LDG, 128, ADDR_REGULAR), user = mock_alu(1, false);
    in.ctrl.write_sb = (uint8_t)i;
    in.n_dst = 1;
    in.dst[0] = (struct operand){.file = FILE_R, .index = (uint8_t)(8 + 4 * i), .width = 4};
    user.ctrl.wait = (uint8_t)(1u << i);
    mock_set(m, i, in);
    mock_set(m, 4 + i, user);
  }
  rig_run(&r, m);
  for (unsigned i = 0; i < 4; i++)
    assert_int_equal(m->issued[0][4 + i] - m->issued[0][0], 38 - CLOCK_READ + 8 * i);
  free(m);
  rig_free(&r);
}

/* The head of the queue reads its address with ports the fixed-latency instructions leave over (section
 * 5.1.1). The load issues in cycle 0 and may read in cycles 6 to 9. N FFMAs with three sources in bank 0 keep
 * its port busy from cycle 4, three cycles each: until 3 + 3N. So the load finds a free port within four
 * cycles from 3N + 1 on. */
static void address_waits_for_ports(void **state)
{
  (void)state;
  static const unsigned late[] = {0, 0, 1, 4, 7};
  for (unsigned n = 0; n < 5; n++) {
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(12, 1);
    struct inst ld = access_of(LDG, 32, ADDR_REGULAR), user = mock_alu(1, false);
    ld.ctrl.read_sb = 0;
    ld.ctrl.stall = 1;
    ld.n_src = 1;
    ld.src[0] = (struct operand){.file = FILE_R, .index = 2, .width = 2};
    user.ctrl.wait = 1;
    mock_set(m, 0, ld);
    for (unsigned i = 1; i <= n; i++) {
      struct inst in = mock_alu(1, false);
      in.pipe = PIPE_FMA;
      in.lat = LAT_FMA;
      in.n_src = 3;
      for (unsigned k = 0; k < 3; k++)
        in.src[k] = (struct operand){FILE_R, (uint8_t)(8 + 2 * k), 1, (uint8_t)k, 0};
      mock_set(m, i, in);
    }
    mock_set(m, 8, user);
    rig_run(&r, m);
    assert_int_equal(m->issued[0][8] - m->issued[0][0], 11 - CLOCK_READ + late[n]);
    assert_int_equal(r.sm->stats.queued_read_waits, late[n]);
    free(m);
    rig_free(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_cells_of_table_2),
      cmocka_unit_test(all_cells_of_table_1),
      cmocka_unit_test(turing),
      cmocka_unit_test(shortest_latency), cmocka_unit_test(chains),
      cmocka_unit_test(cadence),
      cmocka_unit_test(shared_bandwidth),
      cmocka_unit_test(idle_instructions),      cmocka_unit_test(constants_beside_others),
      cmocka_unit_test(return_link),
      cmocka_unit_test(address_waits_for_ports),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
