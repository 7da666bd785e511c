/* Which warps and cycles `run --pipeline` follows: the texts of its options (docs/pipeline.md). Expected values by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/pipe_log.h"

static struct pipe_choice warps(const char *text)
{
  struct pipe_choice c = pipe_choice_default();
  struct err e = {""};
  if (!pipe_choice_warps(&c, text, &e)) fail_msg("%s: %s", text, e.msg);
  return c;
}

/* The warps of CTAs 0 to 9, eight each, that it has: a bit each of word CTA. */
static void has(const char *text, const uint8_t want[10])
{
  const struct pipe_choice c = warps(text);
  for (unsigned cta = 0; cta < 10; cta++)
    for (unsigned warp = 0; warp < 8; warp++)
      if (pipe_choice_has(&c, cta, warp) != (want[cta] >> warp & 1)) fail_msg("%s: warp %u of CTA %u", text, warp, cta);
}

static void texts(void **state)
{
  (void)state;
  has("0", (const uint8_t[10]){0xff});
  has("2-4", (const uint8_t[10]){0, 0, 0xff, 0xff, 0xff});
  has("2.1", (const uint8_t[10]){0, 0, 2});
  has("0-3.2-5", (const uint8_t[10]){0x3c, 0x3c, 0x3c, 0x3c});
  has("9.7,0.0,4", (const uint8_t[10]){1, 0, 0, 0, 0xff, 0, 0, 0, 0, 0x80});
  has("7-7.3-3", (const uint8_t[10]){0, 0, 0, 0, 0, 0, 0, 8});
  has("all", (const uint8_t[10]){255, 255, 255, 255, 255, 255, 255, 255, 255, 255});
  const struct pipe_choice c = pipe_choice_default(); /* CTA 0 */
  assert_true(pipe_choice_has(&c, 0, 63) && !pipe_choice_has(&c, 1, 0));
}

static void wrong_texts(void **state)
{
  static const char *const wrong[] = {"", "x", "1-", "3-2", "1.", "1.3-2", "1.4294967296", "-1", "1,", ",1", "1;2", "1 ",
                                      "99999999999999999999", "all,1", "1.2.3"};
  char many[3 * (PIPE_CHOICE_RANGES + 2)] = "0";
  struct pipe_choice c = pipe_choice_default();
  struct err e;
  (void)state;
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    e.msg[0] = '\0';
    if (pipe_choice_warps(&c, wrong[i], &e)) fail_msg("'%s' is taken", wrong[i]);
    assert_true(e.msg[0] != '\0');
  }
  for (unsigned i = 1; i < PIPE_CHOICE_RANGES; i++) strcat(many, ",0");
  assert_true(pipe_choice_warps(&c, many, &e)); /* as many as there is room for */
  strcat(many, ",0");
  assert_false(pipe_choice_warps(&c, many, &e));
  assert_non_null(strstr(e.msg, "more than"));
}

static void cycles(void **state)
{
  struct pipe_choice c = pipe_choice_default();
  struct err e;
  static const char *const wrong[] = {"", ":", "5", "5:5", "6:5", "a:b", "1:2:3", "1:2 ", "99999999999999999999:"};
  (void)state;
  assert_true(c.from == 0 && c.to == UINT64_MAX);
  assert_true(pipe_choice_cycles(&c, "1000:2000", &e) && c.from == 1000 && c.to == 2000);
  assert_true(pipe_choice_cycles(&c, "1000:", &e) && c.from == 1000 && c.to == UINT64_MAX);
  assert_true(pipe_choice_cycles(&c, ":2000", &e) && c.from == 0 && c.to == 2000);
  assert_true(pipe_choice_cycles(&c, "5:6", &e));
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    if (pipe_choice_cycles(&c, wrong[i], &e)) fail_msg("'%s' is taken", wrong[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(wrong_texts), cmocka_unit_test(cycles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
