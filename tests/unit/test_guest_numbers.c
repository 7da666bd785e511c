/* Numbers that code or a launch chooses, one past their limits: each is refused in words, nothing of the host is touched
 * (docs/guest-numbers.md; random ones: tests/fuzz/fuzz_guest.c). */
#include "func/sass/func_launch.h"
#include "func_rig.h"
#include "isa/sass/syscall.h"

/* LDS R6, [R6+URn]: n has eight bits from sm_100 on, of which 96 exist. */
#define LDS_UR(n) {0x000f220008000800ull, 0x0000000006067984ull | (uint64_t)(n) << 32, W_EXIT}

static void test_uniform_registers(void **state)
{
  static const uint64_t good[] = LDS_UR(95), bad[] = LDS_UR(96), last[] = LDS_UR(254);
  static const uint64_t *const words[] = {good, bad, last};
  (void)state;
  for (unsigned k = 0; k < 3; k++) {
    struct rig *r = rig_new_sm(100, words[k], 2, 32);
    assert_int_equal(rig_step(r), k == 0);
    if (k) assert_non_null(strstr(r->f.text, "register outside the kernel's"));
    rig_free(r);
  }
}

static struct func_params params_of(const struct rig *r)
{
  struct func_params p = r->l->p;
  p.n_workers = p.slots_per_worker = 1;
  return p;
}

static void refused(const struct func_params *p, const char *says)
{
  struct err e = {""};
  assert_null(func_launch_new(p, &e));
  if (!strstr(e.msg, says)) fail_msg("'%s' does not say '%s'", e.msg, says);
}

/* Products of extents and sums of sizes that do not fit their 32 or 64 bits. */
static void test_launches(void **state)
{
  static const uint64_t words[] = {W_EXIT};
  struct err e = {""};
  (void)state;
  struct rig *r = rig_new_sm(90, words, 1, 32);
  const struct func_params good = params_of(r);
  struct func_params p = good;
  struct func_launch *l = func_launch_new(&p, &e);
  assert_non_null(l);
  func_launch_free(l);
#define REFUSED(change, says)                                                                                     \
  do {                                                                                                            \
    p = good;                                                                                                     \
    change;                                                                                                       \
    refused(&p, says);                                                                                            \
  } while (0)
  REFUSED(p.grid[0] = 0x80000000u, "direction x");
  REFUSED(p.grid[1] = 65536, "direction y");
  REFUSED(p.grid[2] = UINT32_MAX, "direction z");
  REFUSED(p.block[0] = 2; p.block[1] = 2; p.block[2] = 0x80000001u, "threads per block"); /* 4 in 32 bits */
  REFUSED(p.block[0] = 1u << 11; p.block[1] = 1u << 21; p.block[2] = 1u << 31, "threads per block");
  REFUSED(p.shared_dynamic = UINT32_MAX, "shared memory"); /* with the static part RIG_SHARED - 1 */
  REFUSED(p.shared_reserved = 1u << 31; p.shared_static = 1u << 31, "shared memory");
  REFUSED(p.local_bytes = (512 << 10) + 1, "local memory");
  REFUSED(p.local_bytes = UINT64_MAX - 7, "local memory"); /* 0 when rounded up */
  REFUSED(p.cluster[0] = 1u << 31; p.cluster[1] = 1u << 31; p.cluster[2] = 4, "cluster");
  REFUSED(p.cluster[0] = 2, "cluster");
#undef REFUSED
  rig_free(r);
}

/* What a register allocation cannot be: no row for the instruction's registers, not another warp's. */
static void test_register_counts(void **state)
{
  static const uint64_t words[] = {0x000f220008000800ull, 0x0000000500067984ull, W_EXIT}; /* LDS R6, [R0+UR5] */
  static const unsigned counts[] = {0, 255, 256, 1u << 20, UINT32_MAX};
  (void)state;
  struct rig *r = rig_new_sm(100, words, 2, 32);
  for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    struct func_params p = params_of(r);
    struct err e = {""};
    p.regs_per_thread = counts[i];
    struct func_launch *l = func_launch_new(&p, &e);
    assert_non_null(l);
    assert_in_range(l->n_regs, 8, SASS_RZ);
    func_launch_free(l);
  }
  rig_free(r);
}

/* Functions of the device runtime, where no program is there to serve them (a kernel alone). */
static void test_services_alone(void **state)
{
  static const uint64_t words[] = {W_EXIT};
  (void)state;
  for (unsigned n = SYSCALL__COMMON; n < SYSCALL_COPY; n++) {
    struct rig *r = rig_new_sm(90, words, 1, 32);
    struct func_params p = params_of(r);
    struct err e = {""};
    r->sass[0].row = NULL, r->sass[0].sem = SEM_SYSCALL;
    r->sass[0].src[0] = (struct sass_src){.kind = SRC_IMM, .index = SASS_RZ, .imm = n};
    struct func_launch *l = func_launch_new(&p, &e);
    assert_non_null(l);
    struct step_source *s = func_source(l);
    struct step_cta *c = s->ops->cta_begin(s, 0, 0, 0, 0);
    const bool answered = n == DEVICE_GRID_HANDLE || n == DEVICE_GRID_SIZE || n == DEVICE_GRID_RANK;
    assert_int_equal(s->ops->step(c->warp[0], 0, &r->e, &r->f), answered);
    if (!answered) assert_non_null(strchr(r->f.text, ':'));
    func_launch_free(l);
    rig_free(r);
  }
}

/* What a word says that no compiler writes (formats and shapes without a name), and scales of 16 elements' format where a
 * descriptor has one for 32 (PTX ISA, tcgen05.mma: mxf4 has scales of ue8m0 alone). */
static void test_reserved_fields(void **state)
{
  static const struct {
    uint64_t hi, lo;
    const char *says;
  } bad[] = {{0x0005e20008030000, 0x000008080d0079e7, "not simulated"},         /* UTCCP, format 3 */
             {0x0005e20008080000, 0x000008080d0079e7, "not simulated"},         /* UTCCP, shape 1 */
             {0x0009e2000800001e, 0xc02004081c0075ea, "no such scales"}};       /* UTCOMMA */
  const uint32_t idesc = 8u << 24 | 1u << 17 | 1u << 10 | 1u << 7; /* 128 x 8, E2M1, scales of UE4M3 */
  (void)state;
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct rig *r = rig_new_sm(100, (const uint64_t[]){bad[i].hi, bad[i].lo, W_EXIT}, 2, 32);
    *warp_ureg(r->w, 5) = idesc;
    assert_false(rig_step(r));
    if (!strstr(r->f.text, bad[i].says)) fail_msg("%u: %s", i, r->f.text);
    rig_free(r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_uniform_registers), cmocka_unit_test(test_launches),
      cmocka_unit_test(test_register_counts), cmocka_unit_test(test_services_alone), cmocka_unit_test(test_reserved_fields),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
