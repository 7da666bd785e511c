/* Shuffles, votes, matches, special registers, and whole runs: barriers, deadlock, bad code. */
#include "func/sass/inspect.h"
#include "func/sass/paths.h"
#include "func/sass/step_observer.h"
#include "func_rig.h"

/* PTX ISA, shfl.sync: source lane by mode, written independently of the implementation. */
static int shfl_model(int mode, int lane, int b, int clamp, int seg)
{
  int low = lane & seg, high = (lane & seg) | (clamp & ~seg), j;
  if (mode == 1) return (j = lane - b) >= high ? j : -1;
  if (mode == 2) return (j = lane + b) <= high ? j : -1;
  if (mode == 3) return (j = lane ^ b) <= high ? j : -1;
  return (j = low | (b & ~seg)) <= high ? j : -1;
}

static void test_shfl(void **state)
{
  (void)state;
  for (unsigned mode = 0; mode < 4; mode++) {
    for (unsigned width = 1; width <= 32; width *= 2) {
      for (unsigned b = 0; b < 32; b += 3) {
        unsigned clamp = mode == 1 ? 0 : 31, seg = 32 - width;
        uint64_t lo = 0x0000000002057f89ull | (uint64_t)mode << 58 | (uint64_t)b << 53 |
                      (uint64_t)(seg << 8 | clamp) << 40;
        const uint64_t words[] = {0x004e2400000e0000, lo, W_EXIT};
        struct rig *r = rig_new(words, 2, 32);
        for (unsigned i = 0; i < 32; i++) rig_set(r, 2, i, 100 + i);
        assert_true(rig_step(r));
        for (int i = 0; i < 32; i++) {
          int j = shfl_model((int)mode, i, (int)b, (int)clamp, (int)seg);
          assert_int_equal(rig_get(r, 5, (unsigned)i), 100 + (j < 0 ? i : j));
        }
        rig_free(r);
      }
    }
  }
}

static void test_match_any(void **state)
{
  (void)state;
  const uint64_t words[] = {0x004e2400000e8000, 0x00000000000773a1, W_EXIT}; /* R7, R0 */
  struct rig *r = rig_new(words, 2, 20);
  for (unsigned i = 0; i < 32; i++) rig_set(r, 0, i, i % 3);
  assert_true(rig_step(r));
  for (unsigned i = 0; i < 20; i++) {
    uint32_t want = 0;
    for (unsigned k = 0; k < 20; k++) want |= k % 3 == i % 3 ? 1u << k : 0;
    assert_int_equal(rig_get(r, 7, i), want);
  }
  rig_free(r);
}

static void test_match_all(void **state)
{
  (void)state;
  const uint64_t words[] = {0x02042e0000040200, 0x00000000040973a1, W_EXIT}; /* P2, R9, R4 (64) */
  for (unsigned differ = 0; differ < 2; differ++) {
    struct rig *r = rig_new(words, 2, 32);
    for (unsigned i = 0; i < 32; i++) rig_set64(r, 4, i, 7);
    rig_set(r, 5, 13, differ);
    assert_true(rig_step(r));
    assert_int_equal(rig_get(r, 9, 0), differ ? 0 : FULL_MASK);
    assert_int_equal(r->w->pred[2], differ ? 0 : FULL_MASK);
    rig_free(r);
  }
}

static void test_special_registers(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000e220000002100, 0x0000000000007919,  /* S2R R0, SR_TID.X */
                            0x000e620000003900, 0x0000000000157919,  /* S2R R21, SR_LTMASK */
                            0x002fe40000015000, 0x0000000000027805,  /* CS2R R2, SR_CLOCKLO */
                            0x000e220000006400, 0x0000000000047919,  /* S2R R4, SR_PM0 */
                            0x000e220000007300, 0x0000000000057919,  /* S2R R5, SR_PM_HI7 */
                            W_EXIT};
  struct rig *r = rig_new(words, 6, 32);
  r->e.clock = 0x123456789aull;
  for (unsigned k = 0; k < 5; k++) assert_true(rig_step(r));
  for (unsigned i = 0; i < 32; i++) {
    assert_int_equal(rig_get(r, 0, i), i);
    assert_int_equal(rig_get(r, 4, i), 0); /* counters that nobody has set up: PTX leaves them undefined */
    assert_int_equal(rig_get(r, 5, i), 0);
    assert_int_equal(rig_get(r, 21, i), (1u << i) - 1);
    assert_int_equal(rig_get(r, 2, i), 0x3456789a);
    assert_int_equal(rig_get(r, 3, i), 0x12);
  }
  rig_free(r);
}

/* Two states that are not the same are told apart by what the debugger compares when it has gone back: each kind of state
 * is changed, and put back. */
static void test_digest(void **state)
{
  (void)state;
  const uint64_t words[] = {W_EXIT};
  struct rig *r = rig_new(words, 1, 64);
  struct step_cta *c = &r->cta->step;
  struct step_paths *p = &r->w->step.paths;
  const uint64_t before = func_digest(c, 1);
#define TOLD_APART(place, change)                                                                                      \
  do {                                                                                                                 \
    (place) ^= (change);                                                                                               \
    assert_true(func_digest(c, 1) != before);                                                                          \
    (place) ^= (change);                                                                                               \
    assert_true(func_digest(c, 1) == before);                                                                          \
  } while (0)
  TOLD_APART(warp_reg(r->w, 31)[17], 1u);
  TOLD_APART(warp_reg(&r->cta->warps[1], 0)[0], 1u);
  TOLD_APART(r->w->pred[3], 1u << 31);
  TOLD_APART(p->p[0].pc, 16u);
  TOLD_APART(p->p[0].mask, 2u);
  TOLD_APART(p->p[0].wait, PATH_WAIT_BAR);
  TOLD_APART(p->p[0].yielded, true);
  TOLD_APART(r->w->local[RIG_LOCAL * 32 - 1], 1);
  uint64_t bytes;
  uint8_t *shared = func_shared_memory(c, &bytes);
  TOLD_APART(shared[bytes - 1], 0x80);
  assert_true(func_digest(c, 2) != before);
  rig_free(r);
}

static bool run(struct rig *r, struct func_stats *s)
{
  *s = (struct func_stats){0};
  return func_run(r->l, s, &r->f);
}

static void test_run_barrier(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000fec0000010000, 0x0000000000007b1d, W_EXIT}; /* BAR.SYNC 0 */
  struct rig *r = rig_new(words, 2, 1000);
  struct func_stats s;
  assert_true(run(r, &s));
  assert_int_equal(s.warp_insts, 64);
  assert_int_equal(s.thread_insts, 2000);
  rig_free(r);
}

/* Warps wait at barrier 3 for 64 threads, but there are only 32. */
static void test_run_deadlock(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000fec0000010000, 0x00c1000000007b1d, W_EXIT}; /* BAR.SYNC 3, 64 */
  struct rig *r = rig_new(words, 2, 32);
  struct func_stats s;
  assert_false(run(r, &s));
  assert_int_equal(r->f.kind, FAULT_DEADLOCK);
  assert_non_null(strstr(r->f.text, "BAR 3, 32 of 64"));
  rig_free(r);
}

/* BRA.DIV, then off the end of the code. */
static void test_bad_pc(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000fc00000000000, 0x0000000000007918}; /* NOP */
  struct rig *r = rig_new(words, 1, 32);
  struct func_stats s;
  assert_false(run(r, &s));
  assert_int_equal(r->f.kind, FAULT_ILLEGAL_PC);
  assert_int_equal(r->f.pc, RIG_BASE + 16);
  rig_free(r);
}

/* A register outside the kernel's 32. */
static void test_bad_register(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000e220000002100, 0x0000000000c87919, W_EXIT}; /* S2R R200, … */
  struct rig *r = rig_new(words, 2, 32);
  struct func_stats s;
  assert_false(run(r, &s));
  assert_int_equal(r->f.kind, FAULT_ILLEGAL_INST);
  assert_non_null(strstr(r->f.text, "R200"));
  rig_free(r);
}

/* The spin lock as nvcc compiles it (sm_86): BSSY; loop: YIELD, CAS, branch; BSYNC; critical
 * section. The lock is in R2:R3, the counter in R6:R7. */
static void test_spin_lock(void **state)
{
  (void)state;
  const uint64_t words[] = {
      0x000fe20003800000, 0x0000004000007945,  /* BSSY B0, +0x50 */
      0x000fe80003800000, 0x0000000000007946,  /* loop: YIELD */
      0x000ea400001ee105, 0x00000004020073a9,  /* ATOMG.CAS R0, [R2], R4, R5 */
      0x004fda0003f05270, 0x000000ff0000720c,  /* ISETP.NE P0, R0, RZ */
      0x000fea000383ffff, 0xffffffc000000947,  /* @P0 BRA loop */
      0x000fea0003800000, 0x0000000000007941,  /* BSYNC B0 */
      0x000ea4000c1e1900, 0x0000000406007981,  /* LDG R0, [R6.64] */
      0x004fca0007ffe0ff, 0x0000000100097810,  /* IADD3 R9, R0, 1, RZ */
      0x0001e2000c101904, 0x0000000906007986,  /* STG [R6.64], R9 */
      0x000fe2000c1ee1c4, 0x000000ff02ff79a8,  /* ATOMG.EXCH RZ, [R2.64], RZ */
      W_EXIT};
  struct rig *r = rig_new(words, 11, 32);
  for (unsigned i = 0; i < 32; i++) {
    rig_set64(r, 2, i, r->buf);
    rig_set64(r, 6, i, r->buf + 256);
    rig_set(r, 4, i, 0);
    rig_set(r, 5, i, 1);
  }
  const struct step_paths *ps = &r->w->step.paths;
  unsigned last = 0, steps = 0;
  while (ps->n) { /* any fair choice that honours `yielded` must end */
    assert_true(++steps < 20000);
    unsigned pick = STEP_MAX_PATHS;
    for (unsigned k = 0; k < 2 * ps->n && pick == STEP_MAX_PATHS; k++) {
      unsigned i = (last + k) % ps->n;
      if (ps->p[i].wait == PATH_READY && (k >= ps->n || !ps->p[i].yielded)) pick = i;
    }
    assert_true(pick < STEP_MAX_PATHS);
    last = pick;
    const struct step_ops *ops = r->w->step.ops;
    assert_true(ops->step(&r->w->step, pick, &r->e, &r->f));
    if (!(r->e.flags & EFF_MEM)) continue;
    assert_true(ops->perform(&r->w->step, &r->e, r->me.lanes, &r->view, &r->f));
    ops->finish(&r->w->step, &r->e);
  }
  uint32_t count;
  gmem_read(r->mem, r->buf + 256, &count, 4);
  assert_int_equal(count, 32);
  rig_free(r);
}

/* Two paths of a warp of 24 threads run the same code by turns: each has the uniform registers and predicates that it
 * wrote itself, whatever the other writes in between, and reads them wherever they are an operand, an address or a
 * guard. */
static void test_uniform_of_paths(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000fe20000000000, 0x0000000000007918,  /* NOP */
                            0x000fe20000000000, 0x0000000000007918,  /* NOP */
                            0x000e2200000e0000, 0x00000000010473c2,  /* R2UR UR4, R1 */
                            0x000e6200000e0000, 0x00000000080873c2,  /* R2UR UR8, R8 */
                            0x000ea200000e0000, 0x00000000090973c2,  /* R2UR UR9, R9 */
                            0x000fe20000000100, 0x0000000000057886,  /* VOTEU.ANY UR5, UP0, P0 */
                            0x001fe6000fffe03f, 0x0000000104047890,  /* UIADD3 UR4, UR4, 0x1, URZ */
                            0x000fe20000000000, 0x0000000700060882,  /* @UP0 UMOV UR6, 0x7 */
                            0x000fe20008000f00, 0x0000000400027c02,  /* MOV R2, UR4 */
                            0x000fe20008000f00, 0x0000000500037c02,  /* MOV R3, UR5 */
                            0x000fe20008000f00, 0x0000000600047c02,  /* MOV R4, UR6 */
                            0x006e2200081e0900, 0x0000000806057981,  /* LDG.E R5, [R6.U32+UR8] */
                            W_EXIT};
  enum { LANES_LOW = 16, THREADS = 24, FAR = 1024, VOTES = 5 };
  struct rig *r = rig_new(words, 13, THREADS);
  for (unsigned i = 0; i < LANES; i++) {
    const bool low = i < LANES_LOW;
    const uint32_t word[2] = {3 * i, 1000 + i};
    rig_set(r, 1, i, (low ? 100 : 200) + i);
    rig_set(r, 6, i, 4 * i);
    rig_set64(r, 8, i, r->buf + (low ? 0 : FAR));
    gmem_write(r->mem, r->buf + 4 * i, &word[0], 4);
    gmem_write(r->mem, r->buf + FAR + 4 * i, &word[1], 4);
  }
  r->w->pred[0] = VOTES;
  path_jump(r->w, (1u << LANES_LOW) - 1, RIG_BASE + 32, &r->e); /* the low lanes are path 1 */
  for (unsigned k = 0; k < 11; k++) {
    for (unsigned path = 0; path < 2; path++)
      if (r->w->step.paths.p[path].pc < RIG_BASE + 12 * 16) assert_true(rig_step_path(r, path));
  }
  for (unsigned i = 0; i < THREADS; i++) {
    const bool low = i < LANES_LOW;
    assert_int_equal(rig_get(r, 2, i), low ? 101 : 200 + LANES_LOW + 1); /* of the path's first lane */
    assert_int_equal(rig_get(r, 3, i), low ? VOTES : 0);
    assert_int_equal(rig_get(r, 4, i), low ? 7 : 0);
    assert_int_equal(rig_get(r, 5, i), low ? 3 * i : 1000 + i);
  }
  rig_free(r);
}

/* STG.E.SYS [UR4], R2: queued under hazard emulation, it is executed when its path is gone (or another one is stepped). */
static void test_queued_beyond_its_path(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000fe2000c10e904, 0x00000002ff007986, W_EXIT};
  struct rig *r = rig_new_sm(75, words, 2, 32);
  const struct step_ops *ops = r->w->step.ops;
  for (unsigned k = 0; k < 4; k++) /* UR4 to UR7: the others lead nowhere */
    for (unsigned i = 0; i < 32; i++) warp_ureg(r->w, 4 + k)[i] = k < 2 && i >= 8 ? (uint32_t)(r->buf >> 32 * k) : 3;
  for (unsigned i = 0; i < 32; i++) rig_set(r, 2, i, 100 + i);
  r->w->step.paths.p[0].mask = 1u << 9; /* lane 9 alone */
  assert_true(ops->begin(&r->w->step, 0, &r->e));
  r->w->step.paths.p[0].mask = 0;
  assert_true(ops->execute(&r->w->step, &r->e, &r->f));
  assert_int_equal(r->w->step.paths.p[0].mask, 0);
  assert_true(ops->perform(&r->w->step, &r->e, r->me.lanes, &r->view, &r->f));
  uint32_t v = 0;
  gmem_read(r->mem, r->buf, &v, 4);
  assert_int_equal(v, 109);
  rig_free(r);
}

/* BRA.DIV UR4: the lanes that a path expects together are in its own UR4, whatever lane 0 has. */
static void test_expected_lanes_of_a_path(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000fea000b800000, 0x0000113204007947, W_EXIT};
  for (unsigned lost = 0; lost < 2; lost++) {
    struct rig *r = rig_new(words, 2, 32);
    for (unsigned i = 0; i < 32; i++) warp_ureg(r->w, 4)[i] = i < 8 ? 0xff : lost ? 0xfffffd00 : 0xffffff00;
    r->w->step.paths.p[0].mask = 0xffffff00;
    assert_true(rig_step(r));
    assert_int_equal(func_outside_mask(&r->cta->step, 0, &r->e), lost ? 0x200 : 0);
    rig_free(r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_uniform_of_paths), cmocka_unit_test(test_queued_beyond_its_path), cmocka_unit_test(test_expected_lanes_of_a_path), cmocka_unit_test(test_shfl),         cmocka_unit_test(test_match_any),
      cmocka_unit_test(test_match_all),    cmocka_unit_test(test_digest), cmocka_unit_test(test_special_registers),
      cmocka_unit_test(test_run_barrier),  cmocka_unit_test(test_run_deadlock),
      cmocka_unit_test(test_bad_pc),       cmocka_unit_test(test_bad_register),
      cmocka_unit_test(test_spin_lock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
