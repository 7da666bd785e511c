/* The progress line of a long launch (cuda/core/launch_watch.h): what it says, when, and that it is cleared. The clock is moved by
 * hand: the launch is said to have begun earlier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdbool.h>
#include <unistd.h>

#include "cuda/core/launch_watch.h"
#include "cuda/core/shim.h"
#include "cuda_rig.h"

static char said[512];

/* What a call prints on stderr. */
static const char *line_of(struct launch_watch *w, const struct run_progress *p)
{
  FILE *f = tmpfile();
  fflush(stderr);
  const int was = dup(STDERR_FILENO);
  dup2(fileno(f), STDERR_FILENO);
  const bool goes_on = p ? launch_watch_poll(w, p) : (launch_watch_end(w), true);
  fflush(stderr);
  dup2(was, STDERR_FILENO);
  close(was);
  rewind(f);
  said[fread(said, 1, sizeof said - 1, f)] = '\0';
  fclose(f);
  assert_true(goes_on);
  return said;
}

static void what_is_left(void **state)
{
  static struct shim s;
  struct launch_watch w;
  const struct run_progress none = {.insts = 8000000, .ctas_total = 12}, some = {.insts = 8000000, .ctas_done = 3, .ctas_total = 12};
  (void)state;
  s.options.progress = true;
  launch_watch_start(&w, &s, "kernel", 7);
  assert_string_equal(line_of(&w, &some), ""); /* it has only begun */
  assert_string_equal(line_of(&w, NULL), "");
  w.start -= 20;
  w.last = w.start;
  /* A quarter of the CTAs in 20 s: 60 s for the rest. */
  assert_non_null(strstr(line_of(&w, &some), "launch 7 kernel: CTAs 3 of 12, 0.40 M inst/s, 60 s left"));
  assert_string_equal(line_of(&w, &some), ""); /* it was there just now */
  w.last -= 1;
  line_of(&w, &none);
  assert_non_null(strstr(said, "CTAs 0 of 12, 0.40 M inst/s"));
  assert_null(strstr(said, "left")); /* nothing to go by */
  assert_string_equal(line_of(&w, NULL), "\r\033[K");
  assert_string_equal(line_of(&w, NULL), "");
}

static void nobody_asked(void **state)
{
  static struct shim s;
  struct launch_watch w;
  (void)state;
  s.options.quiet = true;
  launch_watch_start(&w, &s, "kernel", 1);
  w.start -= 20;
  w.last = w.start;
  assert_string_equal(line_of(&w, &(struct run_progress){.insts = 1000, .ctas_done = 1, .ctas_total = 2}), "");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_left), cmocka_unit_test(nobody_asked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
