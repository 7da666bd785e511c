/* Interfaces that have nothing to tell here, and the one that is refused by name. Expected values: CUDA Driver API reference,
 * "Error Log Management Functions", cuDeviceRegisterAsyncNotification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda_rig.h"

typedef void log_callback(void *, int, char *, size_t);
CUresult cuLogsRegisterCallback(log_callback *, void *, void **);
CUresult cuLogsUnregisterCallback(void *);
CUresult cuLogsCurrent(unsigned *, unsigned);
CUresult cuLogsDumpToMemory(unsigned *, char *, size_t *, unsigned);
CUresult cuLogsDumpToFile(unsigned *, const char *, unsigned);
CUresult cuDeviceRegisterAsyncNotification(int, log_callback *, void *, void **);
CUresult cuDeviceUnregisterAsyncNotification(int, void *);
CUresult cuGetExportTable(const void **, const void *);

static void never(void *data, int level, char *message, size_t n)
{
  (void)data, (void)level, (void)message, (void)n;
  fail();
}

static void the_log_is_empty(void **state)
{
  void *a, *b;
  unsigned at = 7;
  char text[8] = "abcdefg";
  size_t n = sizeof text;
  (void)state;
  assert_int_equal(cuLogsRegisterCallback(never, NULL, &a), CUDA_SUCCESS);
  assert_int_equal(cuLogsRegisterCallback(never, NULL, &b), CUDA_SUCCESS);
  assert_ptr_not_equal(a, b);
  assert_int_equal(cuLogsRegisterCallback(never, NULL, NULL), CUDA_SUCCESS);
  assert_int_equal(cuLogsRegisterCallback(NULL, NULL, &a), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuLogsUnregisterCallback(a), CUDA_SUCCESS);
  assert_int_equal(cuLogsUnregisterCallback(a), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuLogsUnregisterCallback(b), CUDA_SUCCESS);
  assert_int_equal(cuLogsCurrent(&at, 0), CUDA_SUCCESS);
  assert_int_equal(at, 0);
  assert_int_equal(cuLogsCurrent(&at, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuLogsDumpToMemory(&at, text, &n, 0), CUDA_SUCCESS);
  assert_int_equal(n, 0);
  assert_string_equal(text, "");
  assert_int_equal(cuLogsDumpToFile(&at, "/dev/null/none", 0), CUDA_ERROR_INVALID_VALUE);
}

static void notifications_never_come(void **state)
{
  void *a;
  (void)state;
  assert_int_equal(cuDeviceRegisterAsyncNotification(0, never, NULL, &a), CUDA_SUCCESS);
  assert_int_equal(cuDeviceRegisterAsyncNotification(1, never, NULL, &a), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuDeviceUnregisterAsyncNotification(0, a), CUDA_SUCCESS);
  assert_int_equal(cuDeviceUnregisterAsyncNotification(0, a), CUDA_ERROR_INVALID_VALUE);
}

/* Each caller is named once; not for a table that it can do without. */
static void private_tables_are_refused(void **state)
{
  static const unsigned char of_compilers[16] = {0xda, 0x91, 0x51, 0xd3, 0x3a, 0xe6, 0xcc, 0x41, 0xa5, 0xc0, 0x4f, 0x26, 0xd5, 0x33, 0xe3, 0x28};
  const void *table = &table;
  FILE *log = tmpfile();
  int kept = dup(STDERR_FILENO);
  char text[2000];
  (void)state;
  fflush(stderr);
  dup2(fileno(log), STDERR_FILENO);
  assert_int_equal(cuGetExportTable(&table, of_compilers), CUDA_ERROR_NOT_FOUND);
  assert_int_equal(lseek(fileno(log), 0, SEEK_END), 0); /* nothing was said */
  for (int i = 0; i < 3; i++) assert_int_equal(cuGetExportTable(&table, "0123456789abcdef"), CUDA_ERROR_NOT_FOUND);
  dup2(kept, STDERR_FILENO);
  close(kept);
  assert_null(table);
  rewind(log);
  text[fread(text, 1, sizeof text - 1, log)] = '\0';
  fclose(log);
  const char *named = strstr(text, "test_cuda_notify asks the driver for private tables");
  assert_non_null(named);
  assert_null(strstr(strstr(named, "asks") + 1, "asks the driver"));
  assert_non_null(strstr(text, "WARPSTEP_CUDART=FILE"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_log_is_empty),
    cmocka_unit_test(notifications_never_come),
    cmocka_unit_test(private_tables_are_refused),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
