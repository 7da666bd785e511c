/* ptxas of a toolkit of which only a library is in the process, as Python's wheels lay it out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlfcn.h>

#include <cmocka.h>

#include "cuda/core/toolkit.h"

static void shell(const char *format, const char *dir)
{
  char command[4096];
  snprintf(command, sizeof command, format, dir, dir, dir);
  assert_int_equal(system(command), 0);
}

static void found_beside_a_loaded_compiler(void **state)
{
  char dir[] = "/tmp/warpstep-toolkit.XXXXXX", path[4096], library[4096], want[4096], have[4096];
  (void)state;
  assert_non_null(mkdtemp(dir));
  assert_false(toolkit_beside("ptxas", path, sizeof path)); /* no such library yet */
  shell("mkdir %s/lib %s/bin", dir);
  shell("cc -shared -x c /dev/null -o %s/lib/libnvrtc.so.13 && cp %s/lib/libnvrtc.so.13 %s/lib/libother.so", dir);
  snprintf(library, sizeof library, "%s/lib/libother.so", dir);
  shell("touch %s/bin/ptxas && chmod +x %s/bin/ptxas", dir);
  assert_non_null(dlopen(library, RTLD_NOW));
  assert_false(toolkit_beside("ptxas", path, sizeof path)); /* any library will not do */
  snprintf(library, sizeof library, "%s/lib/libnvrtc.so.13", dir);
  assert_non_null(dlopen(library, RTLD_NOW));
  assert_true(toolkit_beside("ptxas", path, sizeof path));
  snprintf(want, sizeof want, "%s/bin/ptxas", dir);
  assert_non_null(realpath(path, have));
  assert_string_equal(have, want);
  assert_false(toolkit_beside("nvlink", path, sizeof path)); /* not there */
  assert_false(toolkit_beside("ptxas", path, 8));            /* no room */
  shell("rm -r %s", dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(found_beside_a_loaded_compiler)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
