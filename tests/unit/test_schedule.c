/* The scheduler of the assembler: the control information of small programs. Distances are a table
 * of this file; the rules are those of Huerta et al., MICRO 2025: stall counts cover fixed latencies,
 * counters the others, a counter is raised a cycle after issue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "isa/sass/asm.h"
#include "load/asm_schedule.h"

enum { SAME = 4, CROSS = 5, QUEUED = 6, ADDRESS = 7, GUARD = 13, PREDICATE = 4, MMA = 24, MAX = 16 };

static uint32_t gap[ROLE__N][LAT__N];

static struct schedule_rules rules(void)
{
  static const uint32_t distance[ROLE__N] = {[ROLE_SAME] = SAME, [ROLE_CROSS] = CROSS,
                                             [ROLE_QUEUED] = QUEUED, [ROLE_ADDR] = ADDRESS,
                                             [ROLE_GUARD] = GUARD, [ROLE_PRED] = PREDICATE};
  struct schedule_rules r = {.depbar_cycles = 4, .big_stall_from = 12};
  for (unsigned role = 0; role < ROLE__N; role++) {
    for (unsigned lat = 0; lat < LAT__N; lat++) gap[role][lat] = distance[role];
    gap[role][LAT_MMA_16816_F32] = MMA;
    r.gap[role] = gap[role];
  }
  return r;
}

struct program {
  uint64_t code[2 * MAX];
  unsigned n;
  struct err e;
};

static bool find_label(void *context, const char *name, size_t n, uint64_t *pc)
{
  (void)context;
  *pc = 16 * (uint64_t)(name[1] - '0'); /* L3: the fourth instruction */
  return n == 2 && name[0] == 'L';
}

static bool schedule_text(struct program *p, const char *const *text)
{
  struct arena a = {0};
  struct schedule_rules r = rules();
  memset(p, 0, sizeof *p);
  for (; text[p->n]; p->n++) {
    struct sass_asm env = {.sm = 86, .pc = 16 * p->n, .label = find_label};
    struct word128 w;
    struct err e = {""};
    size_t column;
    assert_true(p->n < MAX);
    if (!sass_assemble(&env, text[p->n], &w, &column, &e)) fail_msg("%s: %s", text[p->n], e.msg);
    memcpy(&p->code[2 * p->n], &w, sizeof w);
  }
  bool ok = asm_schedule(&a, &r, 86, (uint8_t *)p->code, 16 * p->n, &p->e);
  arena_free(&a);
  return ok;
}

/* Lines come in pairs: instruction, control notation expected. */
static void check(const char *const (*line)[2], unsigned n)
{
  const char *text[MAX + 1] = {NULL};
  struct program p;
  for (unsigned i = 0; i < n; i++) text[i] = line[i][0];
  if (!schedule_text(&p, text)) fail_msg("%s", p.e.msg);
  for (unsigned i = 0; i < n; i++) {
    struct word128 w;
    struct sass_inst s;
    struct inst t;
    char got[64];
    memcpy(&w, &p.code[2 * i], sizeof w);
    assert_true(sass_decode(86, w, 16 * i, &s, &t, NULL));
    sass_print_ctrl(&t.ctrl, got, sizeof got);
    if (strcmp(got, line[i][1]) != 0)
      fail_msg("%s: %s, expected %s", line[i][0], got, line[i][1]);
  }
}
#define CHECK(...)                                                                                 \
  do {                                                                                             \
    static const char *const line[][2] = __VA_ARGS__;                                              \
    check(line, sizeof line / sizeof line[0]);                                                     \
  } while (0)

static void test_fixed_latency(void **state)
{
  (void)state;
  CHECK({{"FADD R0, R1, R2 ;", "[B------:R-:W-:-:S04]"},     /* same pipe */
         {"FADD R3, R0, R0 ;", "[B------:R-:W-:-:S01]"},
         {"FADD R4, R1, R1 ;", "[B------:R-:W-:-:S04]"},     /* 5 after the FADD of R3 */
         {"IADD3 R5, R3, R3, RZ ;", "[B------:R-:W-:-:S04]"},
         {"ISETP.EQ.AND P0, PT, R5, RZ, PT ;", "[B------:R-:W-:Y:S13]"},
         {"@P0 MOV R6, R5 ;", "[B------:R-:W-:-:S01]"},
         {"EXIT ;", "[B------:R-:W-:-:S05]"}});
}

static void test_address_and_counter(void **state)
{
  (void)state;
  CHECK({{"IADD3 R2, R4, R5, RZ ;", "[B------:R-:W-:-:S07]"},  /* to an address */
         {"LDS R6, [R2] ;", "[B------:R-:W0:-:S02]"},          /* the counter is up a cycle later */
         {"IADD3 R7, R6, R6, RZ ;", "[B0-----:R-:W-:-:S06]"},  /* to a queued source */
         {"STS [R2], R7 ;", "[B------:R0:W-:-:S02]"},          /* both sources are overwritten */
         {"MOV R7, R2 ;", "[B0-----:R-:W-:-:S01]"},
         {"MOV R2, RZ ;", "[B------:R-:W-:-:S01]"},
         {"EXIT ;", "[B------:R-:W-:-:S05]"}});
}

/* A load's sources are read when its result is there: no counter for them when the result is used
 * first, one when a source is overwritten first. */
static void test_sources_of_loads(void **state)
{
  (void)state;
  CHECK({{"LDS R0, [R4] ;", "[B------:R-:W0:-:S02]"},
         {"MOV R1, R0 ;", "[B0-----:R-:W-:-:S01]"},
         {"MOV R4, RZ ;", "[B------:R-:W-:-:S07]"},
         {"LDS R0, [R4] ;", "[B------:R1:W0:-:S02]"},
         {"MOV R4, RZ ;", "[B-1----:R-:W-:-:S01]"},
         {"MOV R1, R0 ;", "[B0-----:R-:W-:-:S01]"},
         {"EXIT ;", "[B------:R-:W-:-:S05]"}});
}

/* What the loop's end leaves outstanding, its start waits for. */
static void test_loop(void **state)
{
  (void)state;
  CHECK({{"LDS R0, [RZ] ;", "[B------:R-:W0:-:S02]"},
         {"FADD R1, R1, R0 ;", "[B0-----:R-:W-:-:S01]"}, /* L1 */
         {"LDS R0, [RZ+0x8] ;", "[B------:R-:W0:-:S01]"},
         {"@P0 BRA L1 ;", "[B------:R-:W-:-:S05]"},
         {"EXIT ;", "[B------:R-:W-:-:S05]"}});
}

/* Nobody knows what a returned-to place reads: everything is waited for. */
static void test_return(void **state)
{
  (void)state;
  CHECK({{"LDS R0, [RZ] ;", "[B------:R-:W0:-:S01]"},
         {"FADD R1, R2, R3 ;", "[B------:R-:W-:-:S01]"},
         {"RET.REL.NODEC R20 0x0 ;", "[B0-----:R-:W-:Y:S12]"}}); /* the guard's 13, less 1 */
}

static void test_ldgdepbar(void **state)
{
  (void)state;
  CHECK({{"LDS R4, [RZ] ;", "[B------:R-:W1:-:S01]"}, /* 0 belongs to the LDGSTS groups */
         {"LDGDEPBAR ;", "[B------:R-:W0:-:S01]"},
         {"DEPBAR.LE SB0, 0x0 ;", "[B------:R-:W-:-:S04]"},
         {"MOV R0, R4 ;", "[B-1----:R-:W-:-:S01]"},
         {"EXIT ;", "[B------:R-:W-:-:S05]"}});
}

/* A distance beyond the largest stall count is spread over the instructions between. */
static void test_far(void **state)
{
  (void)state;
  CHECK({{"HMMA.16816.F32 R0, R8, R12, R16 ;", "[B------:R-:W-:-:S09]"},
         {"NOP ;", "[B------:R-:W-:Y:S15]"},
         {"HMMA.16816.F32 R16, R8, R12, R0 ;", "[B------:R-:W-:-:S01]"},
         {"EXIT ;", "[B------:R-:W-:-:S05]"}});
}

static void test_too_close(void **state)
{
  static const char *const text[] = {"HMMA.16816.F32 R0, R8, R12, R16 ;",
                                     "HMMA.16816.F32 R16, R8, R12, R0 ;", "EXIT ;", NULL};
  struct program p;
  (void)state;
  assert_false(schedule_text(&p, text));
  assert_non_null(strstr(p.e.msg, "0x0"));
  assert_non_null(strstr(p.e.msg, "NOP"));
}

static void test_reuse(void **state)
{
  static const char *const text[] = {"FFMA R0, R4, R5, R6 ;", "FFMA R4, R4, R8, R6 ;",
                                     "FFMA R1, R4, R8, R6 ;", "EXIT ;", NULL};
  /* R4 and R6 keep their slots; the second overwrites R4, but keeps R8 and R6. */
  static const uint8_t want[] = {5, 6, 0, 0};
  struct program p;
  (void)state;
  assert_true(schedule_text(&p, text));
  for (unsigned i = 0; i < 4; i++) assert_int_equal(p.code[2 * i + 1] >> 58 & 7, want[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fixed_latency),    cmocka_unit_test(test_address_and_counter),
      cmocka_unit_test(test_sources_of_loads), cmocka_unit_test(test_loop),
      cmocka_unit_test(test_return),           cmocka_unit_test(test_ldgdepbar),
      cmocka_unit_test(test_far),              cmocka_unit_test(test_too_close),
      cmocka_unit_test(test_reuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
