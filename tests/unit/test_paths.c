/* Divergence and convergence: scenarios by hand on one CTA of two warps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "func/sass/func_launch.h"
#include "func/sass/groups.h"
#include "func/sass/paths.h"

enum { PC = 0x1000, I = 16 };

struct rig {
  struct step_source source;
  struct func_launch launch;
  struct func_cta cta;
  struct func_warp warps[2];
  struct effect e;
};

static struct rig *rig_new(void)
{
  static struct rig r;
  memset(&r, 0, sizeof r);
  r.launch.ops = sem_select(0)->ops;
  r.cta.step.source = &r.source;
  r.cta.warps = r.warps;
  r.cta.step.n_warps = r.cta.step.warps_left = 2;
  for (unsigned i = 0; i < 2; i++) {
    r.warps[i].cta = &r.cta;
    r.warps[i].launch = &r.launch;
    r.warps[i].warp_id = i;
    r.warps[i].mactive = r.warps[i].lanes_present = FULL_MASK;
    paths_init(&r.warps[i], PC);
  }
  return &r;
}

/* Makes path p of warp w the current one, as a step does. */
static struct effect *on(struct rig *r, unsigned w, unsigned p)
{
  r->warps[w].cur = (uint8_t)p;
  r->warps[w].step.paths.p[p].yielded = false;
  r->e.flags = 0;
  return &r->e;
}

static struct step_path *path(struct rig *r, unsigned w, unsigned p)
{
  assert_true(p < r->warps[w].step.paths.n);
  return &r->warps[w].step.paths.p[p];
}

static void check(struct rig *r, unsigned w, unsigned p, uint64_t pc, uint32_t mask, unsigned wait)
{
  assert_int_equal(path(r, w, p)->pc, pc);
  assert_int_equal(path(r, w, p)->mask, mask);
  assert_int_equal(path(r, w, p)->wait, wait);
}

static void test_if_else(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
  path_jump(w, 0xff, 0x2000, on(r, 0, 0));
  assert_true(r->e.flags & EFF_DIVERGED);
  assert_int_equal(w->step.paths.n, 2);
  check(r, 0, 0, PC + 2 * I, 0xffffff00, PATH_READY);
  check(r, 0, 1, 0x2000, 0xff, PATH_READY);
  path_bsync(w, 0, 0xff, on(r, 0, 1));
  assert_true(r->e.flags & EFF_BLOCKED);
  assert_int_equal(w->step.paths.n_ready, 1);
  check(r, 0, 1, 0x2000 + I, 0xff, PATH_WAIT_CONVERGE);
  path(r, 0, 0)->pc = 0x2000;
  path_bsync(w, 0, 0xffffff00, on(r, 0, 0));
  assert_true(r->e.flags & EFF_MERGED);
  assert_false(r->e.flags & EFF_BLOCKED);
  assert_int_equal(w->step.paths.n, 1);
  check(r, 0, 0, 0x2000 + I, FULL_MASK, PATH_READY);
}

static void test_exit_releases_bsync(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 3, FULL_MASK, &r->e));
  path_jump(w, 0xf, 0x2000, on(r, 0, 0));
  path_bsync(w, 3, 0xfffffff0, on(r, 0, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  path_exit(w, 0xf, on(r, 0, 1));
  assert_true(r->e.flags & EFF_EXITED);
  assert_true(r->e.flags & EFF_MERGED);
  assert_int_equal(w->step.paths.n, 1);
  check(r, 0, 0, PC + 3 * I, 0xfffffff0, PATH_READY);
  path_exit(w, 0xfffffff0, on(r, 0, 0));
  assert_true(r->e.flags & EFF_WARP_DONE);
  assert_false(r->e.flags & EFF_CTA_DONE);
  assert_int_equal(w->step.paths.n, 0);
}

static void test_break(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 1, FULL_MASK, &r->e));
  path_jump(w, 1, 0x2000, on(r, 0, 0));
  path_bsync(w, 1, 0xfffffffe, on(r, 0, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  path_break(w, 1, 1, on(r, 0, 1)); /* lane 0 leaves the loop another way */
  assert_true(r->e.flags & EFF_MERGED);
  assert_int_equal(w->step.paths.n_ready, 2);
  path_bsync(w, 1, 1, on(r, 0, 1)); /* not a member any more: does not wait */
  assert_false(r->e.flags & EFF_BLOCKED);
}

static void test_nested(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
  path_jump(w, 0xffff, 0x2000, on(r, 0, 0));
  on(r, 0, 1); /* inner region on lanes 0..15 */
  assert_true(path_bssy(w, 1, 0xffff, &r->e));
  path_jump(w, 0xff, 0x3000, on(r, 0, 1));
  /* sibling region uses the same register on lanes 16..31 */
  on(r, 0, 0);
  assert_true(path_bssy(w, 1, 0xffff0000, &r->e));
  path(r, 0, 1)->pc = path(r, 0, 2)->pc = 0x4000;
  path_bsync(w, 1, 0xff00, on(r, 0, 1));
  assert_true(r->e.flags & EFF_BLOCKED);
  path_bsync(w, 1, 0xff, on(r, 0, 2));
  assert_int_equal(w->step.paths.n, 2);
  check(r, 0, 1, 0x4000 + I, 0xffff, PATH_READY);
  path(r, 0, 0)->pc = path(r, 0, 1)->pc = 0x5000;
  path_bsync(w, 1, 0xffff0000, on(r, 0, 0)); /* whole sibling group is here */
  assert_false(r->e.flags & EFF_BLOCKED);
  path_bsync(w, 0, 0xffff0000, on(r, 0, 0));
  path(r, 0, 1)->pc = 0x5000 + I;
  path_bsync(w, 0, 0xffff, on(r, 0, 1));
  assert_int_equal(w->step.paths.n, 1);
  check(r, 0, 0, 0x5000 + 2 * I, FULL_MASK, PATH_READY);
}

/* Another round of a loop: path p of warp 0 comes to the YIELD at pc. */
static bool comes_to_yield(struct rig *r, unsigned p, uint64_t pc)
{
  on(r, 0, p);
  path(r, 0, p)->pc = pc;
  path_yield(&r->warps[0], &r->e);
  return r->e.flags & EFF_MERGED;
}

/* Spin lock as nvcc compiles it: the winner waits at BSYNC while the others spin with YIELD. */
static void test_yield(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
  path_jump(w, 0xfffffffe, 0x800, on(r, 0, 0)); /* losers go back */
  assert_true(r->e.flags & EFF_BACKWARD);
  path_bsync(w, 0, 1, on(r, 0, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  assert_false(comes_to_yield(r, 1, 0x800)); /* nobody has seen yet what the loop changes */
  check(r, 0, 0, PC + 3 * I, 1, PATH_WAIT_CONVERGE);
  assert_true(comes_to_yield(r, 1, 0x800));
  check(r, 0, 0, PC + 3 * I, 1, PATH_READY);
  assert_true(path(r, 0, 1)->yielded);
  /* The winner has left the group: the others converge without it. */
  path_jump(w, 0xfffffffc, 0x700, on(r, 0, 1));
  path(r, 0, 1)->pc = path(r, 0, 2)->pc = 0x2000;
  path_bsync(w, 0, 2, on(r, 0, 1));
  assert_true(r->e.flags & EFF_BLOCKED);
  path_bsync(w, 0, 0xfffffffc, on(r, 0, 2));
  check(r, 0, 1, 0x2000 + I, 0xfffffffe, PATH_READY);
}

static void test_yield_before_arrival(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
  path_jump(w, 2, 0x2000, on(r, 0, 0));
  for (unsigned i = 0; i < 3; i++) comes_to_yield(r, 1, 0x2000);
  path_bsync(w, 0, 0xfffffffd, on(r, 0, 0)); /* lane 1 was not watched while nobody waited */
  assert_true(r->e.flags & EFF_BLOCKED);
  assert_false(comes_to_yield(r, 1, 0x2000));
  assert_true(comes_to_yield(r, 1, 0x2000));
}

/* Once a loop was seen to spin, who gets out of it is let go at once, though others of it had yielded before. */
static void test_known_spin_loop(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
  path_jump(w, 0xfffffffe, 0x2000, on(r, 0, 0));
  path_bsync(w, 0, 1, on(r, 0, 0));
  assert_false(comes_to_yield(r, 1, 0x2000));
  assert_true(comes_to_yield(r, 1, 0x2000));
  path_jump(w, 0xfffffffc, 0x2000, on(r, 0, 1)); /* lane 1 gets the lock, the others are faster */
  assert_false(comes_to_yield(r, 2, 0x2000));
  path_bsync(w, 0, 2, on(r, 0, 1));
  assert_false(r->e.flags & EFF_BLOCKED);
}

/* One lane waits at the BSYNC of a loop in which the others yield. */
static struct rig *loop_goes_on(uint32_t *regs)
{
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  r->launch.n_regs = 2;
  w->base[BASE_REG] = (uint8_t *)regs;
  on(r, 0, 0);
  assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
  path_jump(w, 0xfffffffe, 0x2000, on(r, 0, 0));
  path_bsync(w, 0, 1, on(r, 0, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  return r;
}

/* A loop that counts its rounds in a register of one lane or in a uniform register, or has a predicate that changes, is no
 * spin loop: the BSYNC behind it gets all lanes. */
static void test_counted_loop(void **state)
{
  enum { IN_REGISTER, IN_UNIFORM, IN_PREDICATE, IN_UNIFORM_PREDICATE, KINDS };
  (void)state;
  for (unsigned kind = 0; kind < KINDS; kind++) {
    uint32_t regs[2 * LANES] = {0}, uregs[2 * LANES] = {0};
    struct rig *r = loop_goes_on(regs);
    struct func_warp *w = &r->warps[0];
    w->base[BASE_UREG] = (uint8_t *)uregs;
    r->launch.n_uregs = 2;
    for (unsigned i = 0; i < (kind >= IN_PREDICATE ? 4 : 100); i++) {
      if (kind == IN_PREDICATE) w->pred[i & 3] ^= 1u << 31;
      else if (kind == IN_UNIFORM_PREDICATE) w->pred[PRED_UNIFORM + (i & 3)] ^= 0xfffffffe;
      else if (kind == IN_REGISTER) regs[LANES + 31]++;
      else for (unsigned lane = 1; lane < LANES; lane++) uregs[LANES + lane]++;
      comes_to_yield(r, 1, 0x2000);
      check(r, 0, 0, PC + 3 * I, 1, PATH_WAIT_CONVERGE);
    }
    path(r, 0, 1)->pc = PC + 2 * I;
    path_bsync(w, 0, 0xfffffffe, on(r, 0, 1));
    assert_int_equal(w->step.paths.n, 1);
    check(r, 0, 0, PC + 3 * I, FULL_MASK, PATH_READY);
  }
}

/* A loop that is entered again begins as it began before: that is no spinning. */
static void test_loop_again(void **state)
{
  (void)state;
  uint32_t regs[2 * LANES] = {0};
  struct rig *r = loop_goes_on(regs);
  struct func_warp *w = &r->warps[0];
  for (unsigned again = 0; again < 2; again++) {
    assert_false(comes_to_yield(r, 1, 0x2000));
    check(r, 0, 0, path(r, 0, 0)->pc, 1, PATH_WAIT_CONVERGE);
    path(r, 0, 1)->pc = path(r, 0, 0)->pc - I;
    path_bsync(w, 0, 0xfffffffe, on(r, 0, 1));
    assert_int_equal(w->step.paths.n, 1);
    on(r, 0, 0);
    assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
    path_jump(w, 0xfffffffe, 0x2000, on(r, 0, 0));
    path_bsync(w, 0, 1, on(r, 0, 0));
  }
}

/* A lock that counts its tries, or gives up by the clock: who waits may hold it, so that it goes on in the end. */
static void test_counted_tries(void **state)
{
  (void)state;
  uint32_t regs[2 * LANES] = {0};
  struct rig *r = loop_goes_on(regs);
  do {
    for (unsigned i = 1; i < LANES; i++) regs[i]++;
  } while (!comes_to_yield(r, 1, 0x2000) && regs[1] < 5000);
  assert_in_range(regs[1], 200, 1000);
  check(r, 0, 0, PC + 3 * I, 1, PATH_READY);
}

/* Two YIELDs in one round, as of nvcc and of NANOSLEEP; the second round finds each as the first did. */
static void test_two_yields(void **state)
{
  (void)state;
  uint32_t regs[2 * LANES] = {0};
  struct rig *r = loop_goes_on(regs);
  assert_false(comes_to_yield(r, 1, 0x2000));
  assert_false(comes_to_yield(r, 1, 0x2100));
  assert_true(comes_to_yield(r, 1, 0x2000));
}

static void test_warpsync(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  uint32_t mask[LANES];
  for (unsigned i = 0; i < LANES; i++) mask[i] = i < 16 ? 0xffff : 0xffff0000;
  path_warpsync(w, FULL_MASK, mask, on(r, 0, 0)); /* tiles of 16, all here */
  assert_int_equal(w->step.paths.n, 1);
  assert_false(r->e.flags & EFF_BLOCKED);
  path_jump(w, 0xff, 0x2000, on(r, 0, 0));
  path_warpsync(w, 0xffffff00, mask, on(r, 0, 0));
  /* The upper tile goes on, lanes 8..15 wait for 0..7. */
  assert_true(r->e.flags & EFF_BLOCKED);
  assert_int_equal(w->step.paths.n, 3);
  uint32_t blocked = 0;
  for (unsigned i = 0; i < 3; i++) {
    if (path(r, 0, i)->wait == PATH_WAIT_CONVERGE) blocked |= (uint32_t)path(r, 0, i)->mask;
  }
  assert_int_equal(blocked, 0xff00);
  unsigned low = 0;
  while (path(r, 0, low)->mask != 0xff) low++;
  path(r, 0, low)->pc = PC + 2 * I;
  path_yield(w, on(r, 0, low)); /* a yield is no arrival */
  path(r, 0, low)->pc = PC + 2 * I;
  path_warpsync(w, 0xff, mask, on(r, 0, low));
  assert_true(r->e.flags & EFF_MERGED);
  assert_int_equal(w->step.paths.n, 2);
}

/* BSSY; WARPSYNC; BSYNC by lanes that came one by one, as nvcc writes __syncwarp() and votes where lanes may be missing: what
 * the WARPSYNC has brought together stays together behind the BSYNC, although each lane has a group of its own. */
static void test_bsync_of_several_groups(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  uint32_t mask[LANES];
  for (unsigned i = 0; i < LANES; i++) mask[i] = 7;
  path_jump(w, 1, 0x2000, on(r, 0, 0));
  path_jump(w, 2, 0x2000, on(r, 0, 0));
  path_jump(w, 4, 0x2000, on(r, 0, 0));
  for (unsigned i = 1; i < 4; i++) assert_true(path_bssy(w, 0, 1u << (i - 1), on(r, 0, i)));
  for (unsigned i = 1; i < 4; i++) path_warpsync(w, 1u << (i - 1), mask, on(r, 0, i));
  assert_int_equal(w->step.paths.n, 2);
  check(r, 0, 1, 0x2000 + 2 * I, 7, PATH_READY);
  path_bsync(w, 0, 7, on(r, 0, 1));
  assert_int_equal(w->step.paths.n, 2);
  check(r, 0, 1, 0x2000 + 3 * I, 7, PATH_READY);
}

/* One of the groups is not all here: its lanes wait, the others go on. */
static void test_bsync_of_a_part(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  uint32_t mask[LANES];
  for (unsigned i = 0; i < LANES; i++) mask[i] = 7;
  path_jump(w, 1, 0x2000, on(r, 0, 0));
  path_jump(w, 0xe, 0x2000, on(r, 0, 0));
  assert_true(path_bssy(w, 0, 1, on(r, 0, 1)));
  assert_true(path_bssy(w, 0, 0xe, on(r, 0, 2)));
  path_jump(w, 8, 0x3000, on(r, 0, 2));
  path(r, 0, 1)->pc += I; /* both at the same WARPSYNC */
  path_warpsync(w, 1, mask, on(r, 0, 1));
  path_warpsync(w, 6, mask, on(r, 0, 2));
  check(r, 0, 1, 0x2000 + 3 * I, 7, PATH_READY);
  path_bsync(w, 0, 7, on(r, 0, 1));
  uint32_t blocked = 0, ready = 0;
  for (unsigned i = 1; i < w->step.paths.n; i++)
    *(path(r, 0, i)->wait == PATH_READY ? &ready : &blocked) |= (uint32_t)path(r, 0, i)->mask;
  assert_int_equal(blocked, 6);
  assert_int_equal(ready, 9);
}

/* if (lane < 2) __syncwarp(); of the whole warp: the others cannot come while they wait for these two at the BSYNC, which
 * gives way. When they wait at a CTA barrier, they cannot come at all. */
static void test_warpsync_inside_bsync(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  uint32_t mask[LANES];
  for (unsigned i = 0; i < LANES; i++) mask[i] = FULL_MASK;
  on(r, 0, 0);
  assert_true(path_bssy(w, 1, FULL_MASK, &r->e));
  path_jump(w, 3, 0x2000, on(r, 0, 0));
  path_warpsync(w, 3, mask, on(r, 0, 1)); /* the others may still come */
  assert_true(r->e.flags & EFF_BLOCKED);
  check(r, 0, 1, 0x2000 + I, 3, PATH_WAIT_CONVERGE);
  path(r, 0, 0)->pc = 0x3000;
  path_bsync(w, 1, 0xfffffffc, on(r, 0, 0));
  assert_int_equal(w->step.paths.n, 2);
  check(r, 0, 0, 0x3000 + I, 0xfffffffc, PATH_READY);
  check(r, 0, 1, 0x2000 + I, 3, PATH_WAIT_CONVERGE);
  path_bar(w, 0, 0, 0, 0, 0, 0xfffffffc, on(r, 0, 0));
  check(r, 0, 0, 0x3000 + 2 * I, 0xfffffffc, PATH_WAIT_BAR);
  check(r, 0, 1, 0x2000 + I, 3, PATH_READY);
  path(r, 0, 1)->pc = 0x3000;
  path_bsync(w, 1, 3, on(r, 0, 1)); /* the others have left the group */
  assert_false(r->e.flags & EFF_BLOCKED);
}

/* A jump out of a region to WARPSYNC or BAR without BREAK, as nvcc writes it: those at the BSYNC must come, too. */
static void test_bsync_gives_way(void **state)
{
  (void)state;
  for (unsigned bar = 0; bar < 2; bar++) {
    struct rig *r = rig_new();
    struct func_warp *w = &r->warps[0];
    uint32_t mask[LANES];
    for (unsigned i = 0; i < LANES; i++) mask[i] = FULL_MASK;
    on(r, 0, 0);
    assert_true(path_bssy(w, 2, FULL_MASK, &r->e));
    path_jump(w, 0xff, 0x2000, on(r, 0, 0));
    path_bsync(w, 2, 0xffffff00, on(r, 0, 0));
    assert_true(r->e.flags & EFF_BLOCKED);
    if (bar) path_bar(w, 0, 0, 0, 0, 0, 0xff, on(r, 0, 1));
    else path_warpsync(w, 0xff, mask, on(r, 0, 1));
    assert_true(r->e.flags & EFF_MERGED);
    check(r, 0, 0, PC + 3 * I, 0xffffff00, PATH_READY);
    check(r, 0, 1, 0x2000 + I, 0xff, bar ? PATH_WAIT_BAR : PATH_WAIT_CONVERGE);
    if (bar) continue;
    path(r, 0, 0)->pc = 0x2000;
    path_warpsync(w, 0xffffff00, mask, on(r, 0, 0));
    assert_int_equal(w->step.paths.n, 1);
    check(r, 0, 0, 0x2000 + I, FULL_MASK, PATH_READY);
  }
}

/* A barrier with a count may be completed by other warps: the BSYNC waits. */
static void test_bsync_waits_for_count(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 2, FULL_MASK, &r->e));
  path_jump(w, 0xff, 0x2000, on(r, 0, 0));
  path_bsync(w, 2, 0xffffff00, on(r, 0, 0));
  path_bar(w, 3, 0, 32, 0, 0, 0xff, on(r, 0, 1));
  assert_false(r->e.flags & EFF_MERGED);
  path_bar(&r->warps[1], 3, 1, 32, 0, 0, 0xffffff, on(r, 1, 0));
  assert_true(r->e.flags & EFF_BAR_RELEASED);
  check(r, 0, 0, PC + 3 * I, 0xffffff00, PATH_WAIT_CONVERGE);
  check(r, 0, 1, 0x2000 + I, 0xff, PATH_READY);
}

/* Lanes wait for each other at two BSYNCs: the region that was opened last gives way. */
static void test_innermost_gives_way(void **state)
{
  (void)state;
  for (unsigned inner = 0; inner < 2; inner++) {
    struct rig *r = rig_new();
    struct func_warp *w = &r->warps[0];
    on(r, 0, 0);
    assert_true(path_bssy(w, !inner, FULL_MASK, &r->e));
    assert_true(path_bssy(w, inner, FULL_MASK, &r->e));
    path_jump(w, 0xff, 0x2000, on(r, 0, 0));
    path_bsync(w, 0, 0xff, on(r, 0, 1));
    path_bsync(w, 1, 0xffffff00, on(r, 0, 0));
    check(r, 0, 0, PC + 4 * I, 0xffffff00, inner ? PATH_READY : PATH_WAIT_CONVERGE);
    check(r, 0, 1, 0x2000 + I, 0xff, inner ? PATH_WAIT_CONVERGE : PATH_READY);
  }
}

/* A recursive function keeps its caller's group in a register while a lane of the group is released without it, or
 * leaves by BREAK, or exits: what it brings back is the group as it is then. */
static void test_kept_group(void **state)
{
  (void)state;
  enum { RELEASE, BREAK, EXIT, HOWS };
  for (unsigned how = 0; how < HOWS; how++) {
    struct rig *r = rig_new();
    struct func_warp *w = &r->warps[0];
    uint32_t word[LANES] = {0};
    on(r, 0, 0);
    assert_true(path_bssy(w, 6, FULL_MASK, &r->e));
    path_jump(w, 0xfffffff0, 0x2000, on(r, 0, 0)); /* lanes 4 to 31 call */
    on(r, 0, 1);
    if (how == RELEASE) { /* the group is still in the register */
      path_bsync(w, 6, 0xf, on(r, 0, 0));
      assert_false(comes_to_yield(r, 1, 0x2000));
      assert_true(comes_to_yield(r, 1, 0x2000));
    }
    on(r, 0, 1);
    path_keep(w, 6, 0xfffffff0, true, word);
    for (unsigned i = 4; i < LANES; i++) assert_int_equal(word[i] >> i & 1, 0);
    path_next(w);
    assert_true(path_bssy(w, 6, 0xfffffff0, &r->e)); /* the callee's own region on the same register */
    if (how == BREAK) path_break(w, 6, 0xf, on(r, 0, 0));
    if (how == EXIT) path_exit(w, 0xf, on(r, 0, 0));
    unsigned callee = how != EXIT;
    path_bsync(w, 6, 0xfffffff0, on(r, 0, callee));
    assert_false(r->e.flags & EFF_BLOCKED);
    assert_true(path_bring(w, 6, 0xfffffff0, word, on(r, 0, callee)));
    assert_int_equal(path_group(w, 6, 31), 0xfffffff0);
    path_jump(w, 0xff0, 0x3000, on(r, 0, callee));
    path_bsync(w, 6, 0xff0, on(r, 0, callee + 1)); /* among each other they do wait */
    assert_true(r->e.flags & EFF_BLOCKED);
    path(r, 0, callee)->pc = 0x3000;
    path_bsync(w, 6, 0xfffff000, on(r, 0, callee));
    assert_true(r->e.flags & EFF_MERGED);
    check(r, 0, callee, 0x3000 + I, 0xfffffff0, PATH_READY);
  }
}

/* The others wait for the lanes in the callee, at any depth, although these have no reference in a B register. */
static void test_waits_for_kept(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  uint32_t word[2][LANES] = {{0}};
  on(r, 0, 0);
  assert_true(path_bssy(w, 6, FULL_MASK, &r->e));
  path_jump(w, 1, 0x2000, on(r, 0, 0));
  for (unsigned depth = 0; depth < 2; depth++) {
    on(r, 0, 1);
    path_keep(w, 6, 1, true, word[depth]);
    assert_true(path_bssy(w, 6, 1, &r->e));
  }
  assert_int_not_equal(word[0][0], word[1][0]);
  path_bsync(w, 6, 0xfffffffe, on(r, 0, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  for (unsigned depth = 2; depth--;) {
    path_bsync(w, 6, 1, on(r, 0, 1));
    assert_false(r->e.flags & EFF_MERGED);
    assert_true(path_bring(w, 6, 1, word[depth], on(r, 0, 1)));
  }
  path(r, 0, 1)->pc = path(r, 0, 0)->pc - I;
  path_bsync(w, 6, 1, on(r, 0, 1));
  assert_int_equal(w->step.paths.n, 1);
}

/* A callee that yields is waited for, unless it does nothing else for long: a lock that a waiting lane holds. */
static void test_callee_yields(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  uint32_t word[LANES] = {0};
  on(r, 0, 0);
  assert_true(path_bssy(w, 6, FULL_MASK, &r->e));
  path_jump(w, 1, 0x2000, on(r, 0, 0));
  path_keep(w, 6, 1, true, word);
  path_bsync(w, 6, 0xfffffffe, on(r, 0, 0));
  unsigned spins = 0;
  do {
    path_yield(w, on(r, 0, 1));
    spins++;
  } while (!(r->e.flags & EFF_MERGED) && spins < 100000);
  assert_in_range(spins, 1000, 99999);
  check(r, 0, 0, PC + 3 * I, 0xfffffffe, PATH_READY);
  assert_int_equal(w->spins, 0);
}

/* A loop with a YIELD in a callee that keeps no group of its own: BSSY; CALL; BSYNC is how the caller gets its lanes back
 * together, so it waits for those that loop longer. In the function that opened the group the YIELD lets them go. */
static void test_callee_loops(void **state)
{
  (void)state;
  for (uint32_t calls = 0; calls < 2; calls++) {
    struct rig *r = rig_new();
    struct func_warp *w = &r->warps[0];
    on(r, 0, 0);
    assert_true(path_bssy(w, 1, FULL_MASK, &r->e));
    if (calls) path_call(w, FULL_MASK);
    path_jump(w, 0xff, 0x2000, on(r, 0, 0));
    if (calls) path_return(w, ~0xffu);
    path_bsync(w, 1, ~0xffu, on(r, 0, 0));
    for (unsigned i = 0; i < 3; i++) comes_to_yield(r, 1, 0x2000);
    check(r, 0, 0, PC + 3 * I, ~0xffu, calls ? PATH_WAIT_CONVERGE : PATH_READY);
    if (!calls) continue;
    path_return(w, 0xff);
    path(r, 0, 1)->pc = PC + 2 * I;
    path_bsync(w, 1, 0xff, on(r, 0, 1));
    assert_int_equal(w->step.paths.n, 1);
    check(r, 0, 0, PC + 3 * I, FULL_MASK, PATH_READY);
  }
}

/* if (lane < 24) { while (atomicCAS(lock)); ...; } in a function: the BSYNC of the loop lets the winner of the lock go, the
 * one around it waits for those that spin, so that the function returns converged. */
static struct rig *spin_inside(void)
{
  const uint32_t spinning = 0x00fffffe, around = 0xff000000;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
  path_jump(w, around, 0x3000, on(r, 0, 0)); /* path 1 */
  on(r, 0, 0);
  assert_true(path_bssy(w, 1, ~around, &r->e));
  path_jump(w, spinning, 0x2000, on(r, 0, 0)); /* path 2 */
  path_bsync(w, 0, around, on(r, 0, 1));
  path_bsync(w, 1, 1, on(r, 0, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  comes_to_yield(r, 2, 0x2000);
  assert_true(comes_to_yield(r, 2, 0x2000));
  check(r, 0, 0, PC + 5 * I, 1, PATH_READY);
  path(r, 0, 0)->pc = 0x3000;
  path_bsync(w, 0, 1, on(r, 0, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  return r;
}

static void test_spin_inside(void **state)
{
  (void)state;
  struct rig *r = spin_inside();
  struct func_warp *w = &r->warps[0];
  for (unsigned i = 0; i < 1000; i++) path_yield(w, on(r, 0, 2));
  check(r, 0, 0, 0x3000 + I, 1, PATH_WAIT_CONVERGE);
  check(r, 0, 1, 0x3000 + I, 0xff000000, PATH_WAIT_CONVERGE);
  path_bsync(w, 1, 0x00fffffe, on(r, 0, 2));
  path(r, 0, 2)->pc = 0x3000;
  path_bsync(w, 0, 0x00fffffe, on(r, 0, 2));
  assert_int_equal(w->step.paths.n, 1);
  check(r, 0, 0, 0x3000 + I, FULL_MASK, PATH_READY);
}

/* Who waits around the loop may hold the lock: it is let go in the end. */
static void test_spin_inside_for_long(void **state)
{
  (void)state;
  struct rig *r = spin_inside();
  unsigned spins = 0;
  do {
    path_yield(&r->warps[0], on(r, 0, 2));
    spins++;
  } while (!(r->e.flags & EFF_MERGED) && spins < 100000);
  assert_in_range(spins, 1000, 9999);
  check(r, 0, 0, 0x3000 + I, 0xff000001, PATH_READY);
}

static void warpsync(struct rig *r, unsigned p, uint32_t lanes, uint32_t named)
{
  uint32_t mask[LANES];
  for (unsigned i = 0; i < LANES; i++) mask[i] = named;
  path_warpsync(&r->warps[0], lanes, mask, on(r, 0, p));
}

/* -G code: lanes that returned wait at the BSYNC in front of EXIT for all others, and a WARPSYNC of some of these names them. As long as a
 * lane that sits at a YIELD may come to its own WARPSYNC, nobody is let go: neither the BSYNC nor, which would be
 * wrong, the WARPSYNC that misses those who returned. */
static void test_nobody_gives_way_to_a_yield(void **state)
{
  (void)state;
  const uint32_t loop = 0xff, returned = 0xff00, callees = 0xfeff0000, last = 1u << 24;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  on(r, 0, 0);
  assert_true(path_bssy(w, 6, FULL_MASK, &r->e));
  path_jump(w, loop, 0x2000, on(r, 0, 0));    /* path 1 */
  path_jump(w, callees, 0x3000, on(r, 0, 0)); /* path 2 */
  path_jump(w, last, 0x2ff0, on(r, 0, 0));    /* path 3 */
  path_bsync(w, 6, returned, on(r, 0, 0));
  warpsync(r, 1, loop, loop | returned);
  warpsync(r, 2, callees, callees | last);
  for (unsigned i = 0; i < 3; i++) path_yield(w, on(r, 0, 3));
  check(r, 0, 0, PC + 5 * I, returned, PATH_WAIT_CONVERGE);
  check(r, 0, 1, 0x2000 + I, loop, PATH_WAIT_CONVERGE);
  check(r, 0, 2, 0x3000 + I, callees, PATH_WAIT_CONVERGE);
  path(r, 0, 3)->pc = 0x3000;
  warpsync(r, 3, last, callees | last);
  check(r, 0, 2, 0x3000 + I, callees | last, PATH_READY);
  path(r, 0, 2)->pc = PC + 4 * I;
  path_bsync(w, 6, callees | last, on(r, 0, 2)); /* nobody can move now: the BSYNC gives way */
  check(r, 0, 0, PC + 5 * I, ~loop, PATH_READY);
  check(r, 0, 1, 0x2000 + I, loop, PATH_WAIT_CONVERGE);
  path_exit(w, ~loop, on(r, 0, 0));
  check(r, 0, 0, 0x2000 + I, loop, PATH_READY);
}

/* A register that is entered again, or cleared, without having been kept is a group that the lane never comes back to. */
static void test_forgotten_group(void **state)
{
  (void)state;
  for (unsigned clear = 0; clear < 2; clear++) {
    struct rig *r = rig_new();
    struct func_warp *w = &r->warps[0];
    on(r, 0, 0);
    assert_true(path_bssy(w, 0, FULL_MASK, &r->e));
    path_jump(w, 1, 0x2000, on(r, 0, 0));
    path_bsync(w, 0, 0xfffffffe, on(r, 0, 0));
    on(r, 0, 1);
    if (clear) path_drop(w, 0, 1, &r->e);
    else assert_true(path_bssy(w, 0, 1, &r->e));
    assert_true(r->e.flags & EFF_MERGED);
    check(r, 0, 0, PC + 3 * I, 0xfffffffe, PATH_READY);
  }
}

/* A word with the lane's own bit is a set of lanes that the program made. */
static void test_group_of_mask(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  uint32_t word[LANES];
  for (unsigned i = 0; i < LANES; i++) word[i] = i < 16 ? 0xffff : 0xffff0000;
  path_jump(w, 0xff, 0x2000, on(r, 0, 0));
  assert_true(path_bring(w, 1, 0xff, word, on(r, 0, 1)));
  assert_true(path_bring(w, 1, 0xffffff00, word, on(r, 0, 0)));
  assert_int_equal(path_group(w, 1, 0), 0xffff);
  assert_int_equal(path_group(w, 1, 31), 0xffff0000);
  path_bsync(w, 1, 0xff, on(r, 0, 1));
  assert_true(r->e.flags & EFF_BLOCKED);
  path(r, 0, 0)->pc = 0x2000 + I;
  path_bsync(w, 1, 0xffffff00, on(r, 0, 0));
  assert_true(r->e.flags & EFF_MERGED);
  uint32_t ready = 0;
  for (unsigned i = 0; i < w->step.paths.n; i++)
    if (path(r, 0, i)->wait == PATH_READY) ready |= (uint32_t)path(r, 0, i)->mask;
  assert_int_equal(ready, FULL_MASK);
}

/* Many groups at once leave the warp's own table; without end they are refused. */
static void test_many_groups(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  r->cta.step.source = &r->launch.source;
  static uint32_t word[GROUPS_MAX + 1][LANES];
  for (unsigned n = 0; n < GROUPS_MAX; n++) {
    assert_true(path_bssy(w, 3, 1u << n % LANES, on(r, 0, 0)));
    path_keep(w, 3, 1u << n % LANES, true, word[n]);
  }
  assert_false(path_bssy(w, 3, 1, on(r, 0, 0)));
  for (unsigned n = 0; n < GROUPS_MAX; n++) {
    assert_true(path_bring(w, 3, 1u << n % LANES, word[n], on(r, 0, 0)));
    assert_int_equal(path_group(w, 3, n % LANES), 1u << n % LANES);
    path_break(w, 3, 1u << n % LANES, on(r, 0, 0));
  }
  assert_true(path_bssy(w, 3, 1, on(r, 0, 0)));
  groups_end(&r->launch);
}

static void test_indirect(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *w = &r->warps[0];
  uint64_t target[LANES];
  for (unsigned i = 0; i < LANES; i++) target[i] = i % 3 ? 0x2000 + i % 3 * 0x100 : PC + I;
  path_jump_lanes(w, FULL_MASK, target, on(r, 0, 0));
  assert_int_equal(w->step.paths.n, 3);
  uint32_t seen = 0;
  for (unsigned p = 0; p < 3; p++) {
    for (unsigned i = 0; i < LANES; i++) {
      if (!(path(r, 0, p)->mask >> i & 1)) continue;
      assert_int_equal(path(r, 0, p)->pc, target[i]);
      seen |= 1u << i;
    }
  }
  assert_int_equal(seen, FULL_MASK);
  /* 32 different targets are 32 paths. */
  r = rig_new();
  for (unsigned i = 0; i < LANES; i++) target[i] = 0x8000 + i * I;
  path_jump_lanes(w, FULL_MASK, target, on(r, 0, 0));
  assert_int_equal(w->step.paths.n, 32);
}

static void test_bar_all(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *a = &r->warps[0], *b = &r->warps[1];
  path_jump(a, 0xffff, 0x2000, on(r, 0, 0));
  path_bar(a, 0, 0, 0, 0, 0, 0xffff0000, on(r, 0, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  path_bar(b, 0, 0, 0, 0, 0, FULL_MASK, on(r, 1, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  path(r, 0, 1)->pc = path(r, 0, 0)->pc - I; /* the same BAR instruction */
  path_bar(a, 0, 0, 0, 0, 0, 0xffff, on(r, 0, 1));
  assert_true(r->e.flags & EFF_BAR_RELEASED);
  assert_false(r->e.flags & EFF_BLOCKED);
  assert_int_equal(a->step.paths.n, 1); /* met at the same instruction */
  assert_int_equal(path(r, 1, 0)->wait, PATH_READY);
}

static void test_bar_exited(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  path_bar(&r->warps[0], 5, 0, 0, 0, 0, FULL_MASK, on(r, 0, 0));
  path_exit(&r->warps[1], FULL_MASK, on(r, 1, 0));
  assert_true(r->e.flags & EFF_BAR_RELEASED);
  assert_int_equal(path(r, 0, 0)->wait, PATH_READY);
}

/* Producer / consumer: one warp arrives, the other waits; dead lanes count with their warp. */
static void test_bar_count(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *a = &r->warps[0], *b = &r->warps[1];
  path_exit(a, 0xff, on(r, 0, 0));
  path_bar(b, 1, 0, 64, 0, 0, FULL_MASK, on(r, 1, 0));
  assert_true(r->e.flags & EFF_BLOCKED);
  path_bar(a, 1, 1, 64, 0, 0, 0xffffff00, on(r, 0, 0)); /* ARV */
  assert_true(r->e.flags & EFF_BAR_RELEASED);
  assert_false(r->e.flags & EFF_BLOCKED);
  assert_int_equal(path(r, 1, 0)->wait, PATH_READY);
}

static void test_bar_red(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct func_warp *a = &r->warps[0], *b = &r->warps[1];
  path_bar(a, 0, 2, 0, 0, 0x3, FULL_MASK, on(r, 0, 0));
  path_bar(b, 0, 2, 0, 0, 0xf, FULL_MASK, on(r, 1, 0));
  assert_int_equal(a->red_pop, 6);
  assert_int_equal(b->red_pop, 6);
  path_bar(a, 0, 2, 0, 1, FULL_MASK, FULL_MASK, on(r, 0, 0));
  path_bar(b, 0, 2, 0, 1, 0xf, FULL_MASK, on(r, 1, 0));
  assert_int_equal(a->red_pred, 0); /* AND */
  path_bar(a, 0, 2, 0, 2, 0, FULL_MASK, on(r, 0, 0));
  path_bar(b, 0, 2, 0, 2, 0x10, FULL_MASK, on(r, 1, 0));
  assert_int_equal(a->red_pred, FULL_MASK); /* OR */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_if_else),   cmocka_unit_test(test_exit_releases_bsync),
      cmocka_unit_test(test_break),     cmocka_unit_test(test_nested),
      cmocka_unit_test(test_yield),     cmocka_unit_test(test_yield_before_arrival),
      cmocka_unit_test(test_known_spin_loop), cmocka_unit_test(test_counted_loop),
      cmocka_unit_test(test_loop_again),   cmocka_unit_test(test_counted_tries),
      cmocka_unit_test(test_two_yields),
      cmocka_unit_test(test_warpsync),  cmocka_unit_test(test_warpsync_inside_bsync),
      cmocka_unit_test(test_bsync_of_several_groups), cmocka_unit_test(test_bsync_of_a_part),
      cmocka_unit_test(test_bsync_gives_way), cmocka_unit_test(test_bsync_waits_for_count),
      cmocka_unit_test(test_innermost_gives_way), cmocka_unit_test(test_kept_group),
      cmocka_unit_test(test_waits_for_kept), cmocka_unit_test(test_callee_yields),
      cmocka_unit_test(test_callee_loops),
      cmocka_unit_test(test_spin_inside), cmocka_unit_test(test_spin_inside_for_long),
      cmocka_unit_test(test_nobody_gives_way_to_a_yield), cmocka_unit_test(test_forgotten_group),
      cmocka_unit_test(test_group_of_mask), cmocka_unit_test(test_many_groups),
      cmocka_unit_test(test_indirect),
      cmocka_unit_test(test_bar_all),   cmocka_unit_test(test_bar_exited),
      cmocka_unit_test(test_bar_count), cmocka_unit_test(test_bar_red),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
