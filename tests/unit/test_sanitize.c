/* What the checks of src/sanitize/ are made of: sets of clocks, bits of written bytes, cells, order between warps. Expected values
 * follow from the definitions in the headers, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sanitize/clock_set.h"
#include "sanitize/finding.h"
#include "sanitize/init_bits.h"
#include "sanitize/race_order.h"
#include "sanitize/sanitize.h"

static struct clock_set *set(uint32_t n, const uint32_t *pairs)
{
  struct clock_set *s = clock_set_new(n);
  for (uint32_t i = 0; i < n; i++) s->entry[i] = (struct clock_entry){.warp = pairs[2 * i], .clock = pairs[2 * i + 1]};
  return s;
}

static void joins(void **state)
{
  (void)state;
  struct clock_set *a = set(3, (uint32_t[]){1, 5, 4, 2, 9, 7}), *b = set(2, (uint32_t[]){4, 3, 6, 1});
  struct clock_set *s = clock_set_join(a, b);
  assert_int_equal(s->n, 4);
  assert_int_equal(clock_set_get(s, 1), 5);
  assert_int_equal(clock_set_get(s, 4), 3);
  assert_int_equal(clock_set_get(s, 6), 1);
  assert_int_equal(clock_set_get(s, 9), 7);
  assert_int_equal(clock_set_get(s, 5), 0);
  struct clock_set *again = clock_set_join(s, b); /* knows it all: the same set */
  assert_ptr_equal(again, s);
  assert_null(clock_set_join(NULL, NULL));
  clock_set_drop(again);
  clock_set_drop(s);
  clock_set_drop(b);
  clock_set_drop(a);
}

static void bits(void **state)
{
  (void)state;
  uint64_t at[4] = {0}, to[4] = {0};
  assert_int_equal(init_bits_fill(at, 60, 70), 70); /* across two ends of words */
  assert_int_equal(init_bits_fill(at, 58, 70), 2);  /* the others were */
  at[0] &= ~(UINT64_C(3) << 58);
  assert_int_equal(init_bits_count(at, 50, 100), 70);
  assert_true(init_bits_all(at, 60, 70));
  assert_false(init_bits_all(at, 59, 2));
  assert_false(init_bits_all(at, 129, 2));
  init_bits_copy(to, 3, at, 58, 6);
  assert_int_equal(to[0], UINT64_C(0xf) << 5);
  init_bits_copy(at, 61, at, 59, 3); /* onto itself, upwards */
  assert_false(init_bits_all(at, 61, 1));
  assert_true(init_bits_all(at, 62, 2));
}

/* More different ones than are kept: all count, and the report says how many it does not know. */
static void many_findings(void **state)
{
  enum { KEPT = 4096, ALL = 5000, THREADS = 3 };
  (void)state;
  char *text;
  size_t bytes;
  struct findings fs = {.out = open_memstream(&text, &bytes), .least = LEVEL_ERROR};
  for (unsigned i = 1; i <= ALL; i++) {
    bool fresh;
    const struct finding like = {.kind = FINDING_UNINIT, .level = LEVEL_ERROR, .a = {.pc = 16 * i}};
    assert_int_equal(finding_note(&fs, &like, THREADS, &fresh) != NULL, i <= KEPT);
    assert_int_equal(fresh, i <= KEPT);
  }
  findings_flush(&fs, NULL, NULL);
  assert_int_equal(fs.errors, ALL * THREADS);
  assert_int_equal(fs.hidden, KEPT); /* the limit of what is printed is 0 */
  assert_non_null(strstr(text, "========= 904 more findings of this launch"));
  findings_flush(&fs, NULL, NULL); /* of the next launch */
  assert_int_equal(fs.errors, ALL * THREADS);
  fclose(fs.out);
  free(text);
  fs.out = NULL;
  findings_free(&fs);
}

/* What is below the level that was asked for: counted by level, each pair of instructions of a launch once. */
static void left_out_findings(void **state)
{
  enum { PAIRS = 300, TIMES = 3, LAUNCHES = 2 };
  (void)state;
  struct findings fs = {.out = tmpfile(), .least = LEVEL_ERROR};
  bool fresh;
  for (unsigned i = 0; i < LAUNCHES * TIMES * PAIRS; i++) {
    const struct finding like = {.kind = FINDING_RACE, .level = i % 3 ? LEVEL_NOTE : LEVEL_WARNING,
                                 .a = {.pc = 16 * (i % PAIRS)}};
    assert_null(finding_note(&fs, &like, 1, &fresh));
    assert_false(fresh);
    if (i == TIMES * PAIRS - 1) findings_flush(&fs, NULL, NULL); /* another launch */
  }
  assert_int_equal(fs.left_out[LEVEL_WARNING], LAUNCHES * PAIRS / 3);
  assert_int_equal(fs.left_out[LEVEL_NOTE], LAUNCHES * (PAIRS - PAIRS / 3));
  assert_int_equal(fs.errors + fs.warnings + fs.races, 0);
  fclose(fs.out);
  fs.out = NULL;
  findings_free(&fs);
}

static struct race_entry access_of(const struct race_cta *c, unsigned u)
{
  return (struct race_entry){.warp = c->first + u + 1, .clock = c->warp[u].clock};
}

/* What came before a barrier lies before what comes behind it, of those who waited. */
static void barriers(void **state)
{
  (void)state;
  struct race_cta *c = race_cta_new(0, 3);
  const struct race_entry early = access_of(c, 0);
  assert_false(race_is_before(c, 1, &early));
  race_arrive(c, 0, 1, true);
  race_arrive(c, 1, 1, true);
  race_arrive(c, 2, 1, false); /* only arrives */
  race_end_phase(c, 1);
  const struct race_entry late = access_of(c, 0);
  assert_true(race_is_before(c, 1, &early));
  assert_false(race_is_before(c, 2, &early));
  assert_false(race_is_before(c, 1, &late));
  race_cta_free(c);
}

/* Another CTA learns what a fence has made visible, and no more. */
static void fences(void **state)
{
  (void)state;
  struct race_cta *c = race_cta_new(0, 2), *d = race_cta_new(1, 2);
  struct race_places places = {0};
  const struct race_entry first = access_of(c, 0);
  race_release(c, 0, race_place_make(&places, 64), false);
  race_acquire(d, 1, race_place_find(&places, 64));
  assert_false(race_is_before(d, 1, &first)); /* there was no fence */
  race_fence(c, 0);
  const struct race_entry second = access_of(c, 0);
  race_release(c, 0, race_place_make(&places, 64), false);
  race_acquire(d, 1, race_place_find(&places, 64));
  assert_true(race_is_before(d, 1, &first));
  assert_false(race_is_before(d, 1, &second)); /* behind the fence */
  assert_false(race_is_before(d, 0, &first)); /* the other warp has not looked */
  race_acquire(c, 1, race_place_find(&places, 64));
  assert_true(race_is_before(c, 1, &second)); /* in the block a strong store is enough */
  assert_null(race_place_find(&places, 68));
  race_places_free(&places);
  race_cta_free(d);
  race_cta_free(c);
}

/* A copy is there when its group was waited for; for others, behind what tells them. */
static void copies(void **state)
{
  (void)state;
  struct race_cta *c = race_cta_new(0, 2);
  const struct race_entry first = {.warp = 1, .clock = 1, .where = RACE_COPY}, second = {.warp = 1, .clock = 2, .where = RACE_COPY};
  race_close_group(c, 0, 0);
  race_close_group(c, 0, 0);
  assert_false(race_copy_is_before(c, 0, &first));
  race_wait_groups(c, 0, 1);
  assert_true(race_copy_is_before(c, 0, &first));
  assert_false(race_copy_is_before(c, 0, &second));
  assert_false(race_copy_is_before(c, 1, &first));
  race_arrive(c, 0, 0, true);
  race_arrive(c, 1, 0, true);
  race_end_phase(c, 0);
  assert_true(race_copy_is_before(c, 1, &first));
  race_wait_groups(c, 0, 0);
  assert_true(race_copy_is_before(c, 0, &second));
  assert_false(race_copy_is_before(c, 1, &second));
  race_cta_free(c);
}

static void shadow(void **state)
{
  (void)state;
  struct race_shadow s;
  race_shadow_init(&s, 2 * (RACE_PAGE / 4) * sizeof(struct race_entry));
  race_shadow_next_launch(&s);
  struct race_table *t = race_shadow_page(&s, 0x700000010);
  assert_null(t->layer[RACE_READ]); /* nobody has read */
  assert_true(race_shadow_add(&s, t, RACE_WRITE));
  t->layer[RACE_WRITE][4] = (struct race_entry){.warp = 7, .clock = 3};
  assert_ptr_equal(race_shadow_page(&s, 0x700000ffc), t);
  assert_true(race_shadow_add(&s, race_shadow_page(&s, 0x700001000), RACE_READ));
  assert_false(race_shadow_add(&s, race_shadow_page(&s, 0x700002000), RACE_READ)); /* the limit */
  assert_false(race_shadow_split(&s, t));
  assert_ptr_equal(race_shadow_page(&s, 0x700000010), t); /* behind others */
  race_shadow_next_launch(&s);
  t = race_shadow_page(&s, 0x700000010);
  assert_int_equal(t->layer[RACE_WRITE][4].warp, 0); /* forgotten */
  race_shadow_free(&s);

  struct race_table one = race_table_of(16);
  assert_true(race_table_add(&one, RACE_READ));
  one.layer[RACE_READ][1].warp = 9;
  assert_true(race_table_split(&one));
  for (unsigned i = 0; i < 16; i++) assert_int_equal(one.layer[RACE_READ][i].warp, i / 4 == 1 ? 9 : 0);
  assert_null(one.layer[RACE_WRITE]);
  assert_true(race_table_add(&one, RACE_WRITE));
  one.layer[RACE_WRITE][15].warp = 3; /* a cell of its own for each byte, too */
  race_table_free(&one);
}

static void tools(void **state)
{
  unsigned n;
  const char *bad;
  (void)state;
  assert_true(sanitize_tools_parse("racecheck,memcheck", &n, &bad));
  assert_int_equal(n, SANITIZE_RACECHECK | SANITIZE_MEMCHECK);
  assert_true(sanitize_tools_parse("all", &n, &bad));
  assert_int_equal(n, SANITIZE_ALL);
  assert_false(sanitize_tools_parse("memcheck,racechek", &n, &bad));
  assert_string_equal(bad, "racechek");
  assert_false(sanitize_tools_parse("", &n, &bad));
  assert_false(sanitize_tools_parse("memcheck,", &n, &bad));
}

int main(void)
{
  const struct CMUnitTest all[] = {
    cmocka_unit_test(joins), cmocka_unit_test(bits), cmocka_unit_test(many_findings), cmocka_unit_test(left_out_findings),
    cmocka_unit_test(barriers), cmocka_unit_test(fences),
    cmocka_unit_test(copies), cmocka_unit_test(shadow), cmocka_unit_test(tools),
  };
  return cmocka_run_group_tests(all, NULL, NULL);
}
