/* Every file of tests/fuzz/corpus through its fuzz target: seeds, and inputs that once did harm. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz.h"

static void run_file(const char *path, void (*target)(const uint8_t *, size_t))
{
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  uint8_t *data = malloc(1 << 20);
  size_t n = fread(data, 1, 1 << 20, f);
  fclose(f);
  data = realloc(data, n ? n : 1); /* the sanitizer sees every byte too many */
  target(data, n);
  free(data);
}

static void run_all(const char *name, void (*target)(const uint8_t *, size_t))
{
  char path[600];
  unsigned n = 0;
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", WS_SOURCE_DIR, name);
  DIR *d = opendir(path);
  assert_non_null(d);
  for (struct dirent *f; (f = readdir(d));) {
    if (f->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s/%.200s", WS_SOURCE_DIR, name, f->d_name);
    run_file(path, target);
    n++;
  }
  closedir(d);
  assert_true(n > 0);
}

static void test_cubin(void **state)
{
  (void)state;
  run_all("cubin", fuzz_cubin);
}

static void test_link(void **state)
{
  (void)state;
  run_all("link", fuzz_link);
}

static void test_gdb(void **state)
{
  (void)state;
  run_all("gdb", fuzz_gdb);
}

static void test_fatbin(void **state)
{
  (void)state;
  run_all("fatbin", fuzz_fatbin);
}

static void test_launchfile(void **state)
{
  (void)state;
  run_all("launchfile", fuzz_launchfile);
}

static void test_decode(void **state)
{
  (void)state;
  run_all("decode", fuzz_decode);
}

static void test_guest(void **state)
{
  (void)state;
  run_all("guest", fuzz_guest);
}

static void test_case(void **state)
{
  (void)state;
  run_all("case", fuzz_case);
}

static void test_trace(void **state)
{
  (void)state;
  run_all("trace", fuzz_trace);
}

static void test_preset(void **state)
{
  (void)state;
  run_all("preset", fuzz_preset);
}

static void test_machine(void **state)
{
  (void)state;
  run_all("machine", fuzz_machine);
}

static void test_launch(void **state)
{
  (void)state;
  run_all("launch", fuzz_launch);
}

static void test_sass(void **state)
{
  (void)state;
  run_all("sass", fuzz_sass);
}

static void test_suite(void **state)
{
  (void)state;
  run_all("suite", fuzz_suite);
}

static void test_container(void **state)
{
  (void)state;
  run_all("container", fuzz_container);
}

static void test_rv64(void **state)
{
  (void)state;
  run_all("rv64", fuzz_rv64);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cubin),
      cmocka_unit_test(test_link), cmocka_unit_test(test_fatbin), cmocka_unit_test(test_gdb),
      cmocka_unit_test(test_launchfile),
      cmocka_unit_test(test_decode),
      cmocka_unit_test(test_guest),
      cmocka_unit_test(test_case),
      cmocka_unit_test(test_trace),
      cmocka_unit_test(test_preset),
      cmocka_unit_test(test_machine),
      cmocka_unit_test(test_launch),
      cmocka_unit_test(test_sass),
      cmocka_unit_test(test_suite),
      cmocka_unit_test(test_container),
      cmocka_unit_test(test_rv64),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
