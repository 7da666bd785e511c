/* Damaged cubins: truncations and byte changes give one error line or a module, never a crash. Run
 * it under AddressSanitizer, too (MODE=asan). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "load/module.h"

#define LINKED_86 WS_SOURCE_DIR "/tests/data/linked.sm_86.cubin"
#define HUGE_86 WS_SOURCE_DIR "/kernels/huge_params/huge_params.sm_86.cubin"
#define HUGE_90 WS_SOURCE_DIR "/kernels/huge_params/huge_params.sm_90.cubin"
#define LINKED_90 WS_SOURCE_DIR "/tests/data/linked.sm_90.cubin"
#define OBJECT_86 WS_SOURCE_DIR "/tests/data/fat_part.object.sm_86.cubin"
#define PLAIN_120 WS_SOURCE_DIR "/tests/data/fat.sm_120.cubin"

enum { MUTATIONS = 800 };

static uint8_t *read_all(const char *path, size_t *n)
{
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  uint8_t *data = malloc(1 << 20);
  *n = fread(data, 1, 1 << 20, f);
  fclose(f);
  /* Exactly as large as the file, so that the sanitizer sees every byte too many. */
  return realloc(data, *n);
}

/* Deterministic 64-bit generator (SplitMix64). */
static uint64_t next_random(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* Uses everything a loaded module offers. */
static void use(const struct module *m, bool instance)
{
  char text[200];
  uint32_t bytes;
  struct err e = {0};
  for (unsigned i = 0; i < module_kernel_count(m); i++)
    module_where(m, module_kernel_at(m, i)->entry_pc, text, sizeof text);
  if (!instance) return;
  struct gmem *mem = gmem_new(16);
  struct module_instance *in = module_instantiate(m, mem, &e);
  if (!in) assert_true(e.msg[0] != '\0');
  for (unsigned i = 0; in && i < module_kernel_count(m); i++)
    for (unsigned b = 0; b < MODULE_BANKS; b++)
      module_bank(in, module_kernel_at(m, i), b, &bytes);
  for (unsigned i = 0; in && i < module_symbol_count(m); i++) {
    uint8_t value[4] = {0};
    module_variable_read(in, module_symbol_at(m, i), value, sizeof value);
  }
  module_instance_free(in);
  gmem_free(mem);
}

static void check(const uint8_t *data, size_t n, bool instance)
{
  struct err e = {0};
  struct module *m = module_load_memory(data, n, "hostile", &e);
  if (m) {
    use(m, instance);
  } else {
    assert_memory_equal(e.msg, "hostile: ", 9);
    assert_null(strchr(e.msg, '\n'));
  }
  module_free(m);
}

static void truncations(const char *path)
{
  size_t n;
  uint8_t *data = read_all(path, &n);
  for (size_t len = 0; len < n; len += len < 64 ? 1 : 23) {
    uint8_t *cut = malloc(len ? len : 1);
    memcpy(cut, data, len);
    check(cut, len, false);
    free(cut);
  }
  free(data);
}

static void test_truncations(void **state)
{
  (void)state;
  truncations(LINKED_86);
  truncations(LINKED_90);
}

/* One to four bytes anywhere. */
static void random_bytes(const char *path)
{
  size_t n;
  uint64_t random = 1;
  uint8_t *data = read_all(path, &n);
  uint8_t *copy = malloc(n);
  for (unsigned i = 0; i < MUTATIONS; i++) {
    memcpy(copy, data, n);
    for (unsigned k = 0; k <= i % 4; k++) {
      uint64_t r = next_random(&random);
      copy[(r >> 8) % n] = (uint8_t)r;
    }
    check(copy, n, true);
  }
  free(copy);
  free(data);
}

static void test_random_bytes(void **state)
{
  (void)state;
  random_bytes(LINKED_86);
  random_bytes(OBJECT_86);
}

/* Whole fields of the tables that steer the loader, set to values that tend to break arithmetic. */
static void table_fields(const char *path)
{
  static const uint64_t values[] = {0, 1, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff,
                                    0xffffffffffffffff, 0xfffffffffffffff0};
  size_t n;
  uint64_t random = 2, shoff;
  uint8_t *data = read_all(path, &n);
  uint8_t *copy = malloc(n);
  memcpy(&shoff, data + 40, sizeof shoff);
  assert_true(shoff < n);
  for (unsigned i = 0; i < MUTATIONS; i++) {
    uint64_t r = next_random(&random);
    /* Two in three: section headers. Else: header, symbols, relocations, info records. */
    size_t low = i % 3 ? shoff : 0, span = i % 3 ? n - shoff : shoff;
    size_t at = low + (r >> 8) % span / 4 * 4, bytes = r & 1 ? 8 : 4;
    if (at > n - bytes) at = n - bytes;
    memcpy(copy, data, n);
    memcpy(copy + at, &values[(r >> 1) % 7], bytes);
    check(copy, n, true);
  }
  free(copy);
  free(data);
}

static void test_table_fields(void **state)
{
  (void)state;
  table_fields(LINKED_90);
  table_fields(OBJECT_86);
  table_fields(PLAIN_120);
}

static void test_every_header_byte(void **state)
{
  size_t n;
  (void)state;
  uint8_t *data = read_all(LINKED_86, &n);
  for (unsigned at = 0; at < 64; at++) {
    uint8_t old = data[at];
    for (unsigned bit = 0; bit < 8; bit++) {
      data[at] = old ^ 1 << bit;
      check(data, n, false);
    }
    data[at] = old;
  }
  free(data);
}

/* The n-th info record of this kind; NULL: there are fewer. */
static uint8_t *info_record(uint8_t *data, size_t bytes, unsigned attribute, unsigned size, unsigned nth)
{
  for (size_t at = 0; at + 4 + size <= bytes; at += 4) {
    uint8_t *p = data + at;
    if (p[0] == 4 && p[1] == attribute && p[2] == size && p[3] == 0 && nth-- == 0) return p + 4;
  }
  return NULL;
}

static const char *refused(const uint8_t *data, size_t n)
{
  static struct err e;
  e = (struct err){0};
  struct module *m = module_load_memory(data, n, "hostile", &e);
  if (m) fail_msg("accepted");
  module_free(m);
  return e.msg;
}

/* Numbers of the four descriptors (u32 index, u16 ordinal, u16 offset, u16 bytes) and of the block they lie in (u32
 * symbol, u16 base, u16 bytes) that do not fit each other. */
static void large_params(const char *path)
{
  enum { DESCRIPTOR = 0x45, BLOCK = 0x0a };
  static const struct {
    unsigned attribute, at, value;
    const char *says;
  } row[] = {
      {DESCRIPTOR, 4, 0xffff, "parameter number"},
      {DESCRIPTOR, 4, 4, "missing parameter"},
      {DESCRIPTOR, 4, 1, "described twice"},
      {DESCRIPTOR, 6, 0xffff, "outside the parameter block"},
      {DESCRIPTOR, 8, 0, "outside the parameter block"},
      {DESCRIPTOR, 8, 0xffff, "outside the parameter block"},
      {BLOCK, 6, 0xffff, "size of the parameter block"},
      {BLOCK, 6, 32765, "size of the parameter block"},
      {BLOCK, 6, 16, "outside the parameter block"},
  };
  size_t n;
  uint8_t *data = read_all(path, &n), *copy = malloc(n);
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    memcpy(copy, data, n);
    uint8_t *record = info_record(copy, n, row[i].attribute, row[i].attribute == BLOCK ? 8 : 12, 0);
    uint8_t *half = info_record(copy, n, BLOCK, 8, 0) + 4;
    assert_non_null(record);
    record[row[i].at] = (uint8_t)row[i].value;
    record[row[i].at + 1] = (uint8_t)(row[i].value >> 8);
    for (size_t k = 0; row[i].attribute == BLOCK && k + 4 <= n; k += 4) /* the size is stated once more */
      if (copy[k] == 3 && copy[k + 1] == 0x19) memcpy(copy + k + 2, half + 2, 2);
    if (!strstr(refused(copy, n), row[i].says)) fail_msg("%zu: %s", i, refused(copy, n));
  }
  memcpy(copy, data, n);
  for (uint8_t *r; (r = info_record(copy, n, DESCRIPTOR, 12, 0));) r[-3] = 0x7f;
  assert_non_null(strstr(refused(copy, n), "parameters that no record describes"));
  free(copy);
  free(data);
}

static void test_large_params(void **state)
{
  (void)state;
  large_params(HUGE_86);
  large_params(HUGE_90);
  table_fields(HUGE_86);
  random_bytes(HUGE_90);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_truncations),
      cmocka_unit_test(test_random_bytes),
      cmocka_unit_test(test_table_fields),
      cmocka_unit_test(test_every_header_byte),
      cmocka_unit_test(test_large_params),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
