/* Statistics: the rows of test_stats.def through every writer. Expected values by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SLOT_ISSUED, SLOT_STALL, SLOT_IDLE, SLOT__N };
static const char *const slot_name[SLOT__N] = {"issued", "stall", "idle"};

#define STAT_NAME test_stats
#define STAT_DEF "../tests/unit/test_stats.def"
#include "stats/stat_struct.inc"
#define STAT_NAME test_stats
#define STAT_DEF "../tests/unit/test_stats.def"
#include "stats/stat_table.inc"

static struct test_stats sample(void)
{
  return (struct test_stats){
      .cycles = 9, .issued = 3, .warps = 5, .slot = {3, 2, 4}, .depth = {0, 7, 0, 2}};
}

static void test_struct_is_plain_counters(void **state)
{
  (void)state;
  struct test_stats s = {0};
  s.issued++;
  s.slot[SLOT_STALL] += 2;
  assert_int_equal(sizeof s, (3 + SLOT__N + 4) * sizeof(uint64_t));
  assert_int_equal(test_stats_n_desc, 10); /* rows of the .def */
}

static void test_add(void **state)
{
  (void)state;
  struct test_stats a = sample(), b = sample();
  b.warps = 8;
  stat_add(test_stats_group("a", &a), test_stats_group("b", &b));
  assert_int_equal(a.cycles, 18);
  assert_int_equal(a.slot[SLOT_IDLE], 8);
  assert_int_equal(a.depth[3], 4);
  assert_int_equal(a.warps, 8); /* high-water mark */
  b.warps = 1;
  stat_add(test_stats_group("a", &a), test_stats_group("b", &b));
  assert_int_equal(a.warps, 8);
}

static void test_diff(void **state)
{
  (void)state;
  struct test_stats before = {.cycles = 4, .issued = 1, .warps = 2, .slot = {1, 1, 2}};
  struct test_stats after = sample(), region = {0};
  stat_diff(test_stats_group("r", &region), test_stats_group("a", &after),
            test_stats_group("b", &before));
  assert_int_equal(region.cycles, 5);
  assert_int_equal(region.slot[SLOT_IDLE], 2);
  assert_int_equal(region.depth[1], 7);
  assert_int_equal(region.warps, 5);
}

static void test_laws(void **state)
{
  (void)state;
  struct err e = {0};
  struct test_stats s = sample();
  assert_true(stat_check_laws(test_stats_group("sm0.issue", &s), &e));
  assert_string_equal(e.msg, "");
  s.slot[SLOT_STALL]++;
  assert_false(stat_check_laws(test_stats_group("sm0.issue", &s), &e));
  assert_string_equal(e.msg, "law sm0.issue.slots_add_up is broken (no slot is lost or charged "
                             "twice): 10 != 9");
  s = sample();
  s.issued = s.cycles;
  assert_true(stat_check_laws(test_stats_group("sm0.issue", &s), &e));
  s.issued += 2; /* a law that says "at most" */
  assert_false(stat_check_laws(test_stats_group("sm0.issue", &s), &e));
  assert_string_equal(e.msg, "law sm0.issue.issues_take_cycles is broken (at most one instruction a cycle): 2 != 0");
  assert_int_equal(stat_beyond_each((uint64_t[]){5, 1, 7}, (uint64_t[]){3, 4, 7}, 3), 2); /* no element makes up for another */
}

static void test_ratio(void **state)
{
  (void)state;
  struct test_stats s = sample();
  struct stat_group g = test_stats_group("x", &s);
  double v = 0;
  assert_true(stat_ratio(stat_find(g, "busy"), &s, &v));
  assert_true(v == 5.0 / 9.0);
  s.cycles = 0;
  assert_false(stat_ratio(stat_find(g, "ipc"), &s, &v));
  assert_null(stat_find(g, "none"));
}

static void assert_string_contains(const char *text, const char *part)
{
  if (!strstr(text, part)) fail_msg("%s\nis not in\n%s", part, text);
}

static void test_json(void **state)
{
  (void)state;
  struct test_stats s = sample();
  s.cycles = 9007199254740993u; /* not a double */
  s.issued = 3 * s.cycles;
  struct stat_group g[] = {test_stats_group("gpu.sm1", &s), test_stats_group("gpu.sm0.issue", &s),
                           test_stats_group("l2", &s)};
  struct text_out text;
  struct json_out j;
  text_out_open(&text, NULL);
  json_out_open(&j, &text, (struct json_form){.indent = 2});
  json_out_object(&j, NULL);
  stat_write_json(&j, g, 3);
  json_out_end(&j);
  text_out_char(&text, '\0');
  assert_string_contains(text.data, "{\n"
                                    "  \"gpu\": {\n"
                                    "    \"sm1\": {\n"
                                    "      \"cycles\": 9007199254740993,\n"
                                    "      \"issued\": 27021597764222979,\n"
                                    "      \"warps\": 5,\n"
                                    "      \"slot\": {\n"
                                    "        \"issued\": 3,\n"
                                    "        \"stall\": 2,\n"
                                    "        \"idle\": 4\n"
                                    "      },\n"
                                    "      \"depth\": [\n"
                                    "        0,\n"
                                    "        7,\n"
                                    "        0,\n"
                                    "        2\n"
                                    "      ],\n"
                                    "      \"replays\": null,\n"
                                    "      \"ipc\": 3.0,\n"
                                    "      \"busy\": 0.555556\n"
                                    "    },\n"
                                    "    \"sm0\": {\n"
                                    "      \"issue\": {\n"
                                    "        \"cycles\"");
  /* Groups of one part lie in one object, and of no other. */
  assert_string_contains(text.data, "        \"busy\": 0.555556\n      }\n    }\n  },\n  \"l2\": {\n    \"cycles\"");
  text_out_close(&text);
}

static void test_doc(void **state)
{
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  stat_write_doc(f, "sm", test_stats_desc, test_stats_n_desc);
  fclose(f);
  assert_non_null(strstr(text, "| sm.slot.* | cycle | issue slots by cause |\n"));
  assert_non_null(strstr(text, "| sm.slots_add_up | law | no slot is lost"));
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_struct_is_plain_counters),
      cmocka_unit_test(test_add),
      cmocka_unit_test(test_diff),
      cmocka_unit_test(test_laws),
      cmocka_unit_test(test_ratio),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_doc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
