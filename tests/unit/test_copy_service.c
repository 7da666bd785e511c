/* Copies that compiler output for sm_120 has the driver issue (isa/sass/copy_service.h): names, the words of the copies,
 * and what the service makes of a lane's arguments. */
#include "func_rig.h"
#include "func/sass/func_launch.h"
#include "func/sass/prepare.h"
#include "isa/sass/copy_service.h"
#include "isa/sass/syscall.h"

enum { BULK = 0, TILE = 2, IM2COL = 2 + 2 * COPY_DIMS }; /* first kinds, to one CTA; the next one: to several */

static void test_names(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    unsigned kind;
  } t[] = {
      {"cp_async_bulk_unicast", BULK},
      {"cp_async_bulk_multicast", BULK + 1},
      {"cp_async_bulk_tensor_1d_tile_unicast", TILE},
      {"cp_async_bulk_tensor_2d_tile_multicast", TILE + 3},
      {"cp_async_bulk_tensor_5d_tile_unicast", TILE + 8},
      {"cp_async_bulk_tensor_3d_im2col_unicast", IM2COL},
      {"cp_async_bulk_tensor_5d_im2col_multicast", COPY_KINDS - 1},
      {"cp_async_bulk_tensor_2d_im2col_unicast", COPY_KINDS},
      {"cp_async_bulk_tensor_6d_tile_unicast", COPY_KINDS},
      {"cp_async_bulk_multicas", COPY_KINDS},
      {"", COPY_KINDS},
  };
  for (unsigned i = 0; i < sizeof t / sizeof *t; i++) assert_int_equal(copy_service_named(t[i].name), t[i].kind);
}

/* As ptxas writes them for sm_100a, other registers apart. */
static void test_words(void **state)
{
  (void)state;
  static const struct {
    unsigned kind;
    const char *text;
  } t[] = {
      {BULK, "UBLKCP.S.G [UR8], [UR4], UR6 ;"},
      {BULK + 1, "UBLKCP.S.G.MULTICAST [UR8], [UR4], UR6 ;"},
      {TILE, "UTMALDG.1D [UR8], [UR4], UR6 ;"},
      {TILE + 3, "UTMALDG.2D.MULTICAST [UR8], [UR4], UR6 ;"},
      {IM2COL, "UTMALDG.3D.IM2COL [UR8], [UR4], UR6 ;"},
      {COPY_KINDS - 1, "UTMALDG.5D.IM2COL.MULTICAST [UR8], [UR4], UR6 ;"},
  };
  for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
    struct sass_inst s;
    struct inst in;
    char text[128];
    assert_true(sass_decode(120, copy_service_word(t[i].kind), 0, &s, &in, NULL));
    sass_print(&s, &in, false, text, sizeof text);
    assert_string_equal(text, t[i].text);
    assert_false(sass_decode(75, copy_service_word(t[i].kind), 0, &s, &in, NULL));
  }
}

/* A rig at the service, lanes 0 to 2; registers R4 to R15 of lane i are 1000 i + register. */
static struct rig *begin(unsigned kind, unsigned word)
{
  static const uint64_t words[] = {W_EXIT, W_EXIT};
  struct rig *r = rig_new_sm(120, words, 2, 3);
  r->sass[0].row = NULL, r->sass[0].sem = SEM_SYSCALL;
  r->sass[0].src[0] = (struct sass_src){.kind = SRC_IMM, .index = SASS_RZ, .imm = SYSCALL_COPY + kind * COPY_WORDS + word};
  r->l->uop[0].fn = NULL;
  prepare_from(r->l, 0);
  for (unsigned i = 0; i < 3; i++)
    for (unsigned reg = 4; reg < 16; reg++) rig_set(r, reg, i, 1000 * i + reg);
  return r;
}

static uint32_t uniform(const struct rig *r, unsigned reg, unsigned lane)
{
  return warp_ureg(r->w, reg)[lane];
}

/* One lane after the other goes on to the copy; the rest waits at the service. */
static void test_lanes_in_turn(void **state)
{
  (void)state;
  struct rig *r = begin(BULK + 1, COPY_ARGUMENTS);
  for (unsigned i = 0; i < 3; i++) rig_set(r, 8, i, 16 * (i + 5)), rig_set(r, 9, i, i + 1);
  assert_true(rig_step(r));
  assert_int_equal(uniform(r, COPY_UR_FROM, 0), 6);
  assert_int_equal(uniform(r, COPY_UR_FROM + 1, 0), 7);
  assert_int_equal(uniform(r, COPY_UR_EXTRA, 0), 5 | 1 << 16);
  assert_int_equal(uniform(r, COPY_UR_TO, 0), 4);
  assert_int_equal(uniform(r, COPY_UR_BARRIER, 0), 10);
  const struct step_paths *p = &r->w->step.paths;
  uint64_t at[3] = {0};
  for (unsigned i = 0; i < p->n; i++)
    for (unsigned lane = 0; lane < 3; lane++)
      if (p->p[i].mask >> lane & 1) at[lane] = p->p[i].pc;
  assert_int_equal(at[1], at[2]);
  assert_int_equal(at[0], at[1] + 16);
  rig_free(r);
}

static void test_tensor_arguments(void **state)
{
  (void)state;
  static const uint16_t off[] = {3, 0xffff, 9}; /* five bits of each are taken, eight where there are two */
  for (unsigned dims = 3; dims <= 5; dims++) {
    struct rig *r = begin(IM2COL + 2 * (dims - 3) + 1, COPY_ARGUMENTS);
    rig_set(r, 1, 0, 32);
    memcpy(r->w->local + 32, off, sizeof off);
    assert_true(rig_step(r));
    const uint32_t want[] = {3, 3 | 0xff << 8, 3 | 31 << 5 | 9 << 10};
    assert_int_equal(uniform(r, COPY_UR_EXTRA, 0), want[dims - 3] | 13 << 16);
    assert_int_equal(uniform(r, COPY_UR_BARRIER, 0), 14);
    for (unsigned i = 0; i < 5; i++) assert_int_equal(uniform(r, COPY_UR_COORD + i, 0), i < dims ? 8 + i : 0);
    rig_free(r);
  }
  struct rig *r = begin(IM2COL, COPY_ARGUMENTS);
  rig_set(r, 1, 0, RIG_LOCAL - 1);
  assert_false(rig_step(r));
  assert_non_null(strstr(r->f.text, "stack"));
  rig_free(r);
}

static void test_return(void **state)
{
  (void)state;
  struct rig *r = begin(BULK, COPY_RETURN);
  for (unsigned i = 0; i < 3; i++) rig_set64(r, 20, i, r->w->step.paths.p[0].pc + 16);
  const uint64_t pc = r->w->step.paths.p[0].pc;
  assert_true(rig_step(r));
  assert_int_equal(r->w->step.paths.p[0].pc, pc + 16);
  assert_int_equal(r->w->step.paths.p[0].mask, 7);
  rig_free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_words),
                                     cmocka_unit_test(test_lanes_in_turn), cmocka_unit_test(test_tensor_arguments),
                                     cmocka_unit_test(test_return)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
