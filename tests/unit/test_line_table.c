/* Line tables of machine code (load/line_table.h). Expected rows: binutils' readelf --debug-dump=decodedline over the same
 * files, and lines.cu itself for what was inlined where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load/line_table.h"

#define DATA WS_SOURCE_DIR "/tests/data/"

/* An instruction of a kernel, its line, and where what it belongs to was called; 0: not inlined. */
struct expected {
  const char *kernel;
  uint64_t offset;
  uint32_t line, called_at, called_from_there_at;
  const char *function;
};

static struct module *open_cubin(const char *name)
{
  char path[4096];
  struct err e = {""};
  snprintf(path, sizeof path, DATA "%s", name);
  struct module *m = module_load(path, &e);
  if (!m) fail_msg("%s", e.msg);
  return m;
}

static uint32_t line_of_call(const struct line_table *t, const struct line_row **row)
{
  if (!*row || (*row)->call == LINE_NONE) return 0;
  assert_true((*row)->call < t->n_rows);
  *row = &t->row[(*row)->call];
  return (*row)->line;
}

static void check(const char *file, const struct expected *want, size_t n)
{
  struct module *m = open_cubin(file);
  struct line_table t;
  struct err e = {""};
  assert_true(line_table_read(m, &t, &e));
  assert_true(t.n_rows > 0);
  for (size_t i = 0; i < n; i++) {
    const struct module_kernel *k = module_kernel(m, want[i].kernel, &e);
    assert_non_null(k);
    const struct line_row *row = line_table_find(&t, k->entry_pc + want[i].offset);
    assert_non_null(row);
    assert_int_equal(row->line, want[i].line);
    assert_true(row->file < t.n_files);
    assert_string_equal(t.file[row->file].name, "lines.cu");
    assert_string_equal(t.file[row->file].folder, "/tmp/warpstep-lines");
    if (want[i].function) assert_string_equal(row->function, want[i].function);
    else assert_null(row->function);
    assert_int_equal(line_of_call(&t, &row), want[i].called_at);
    assert_int_equal(line_of_call(&t, &row), want[i].called_from_there_at);
  }
  line_table_free(&t);
  module_free(m);
}

static void lines_of_sm_86(void **state)
{
  static const struct expected want[] = {
    {"second", 0x00, 13, 0, 0, NULL}, {"second", 0x10, 15, 0, 0, NULL}, {"second", 0x60, 16, 0, 0, NULL},
    {"second", 0x70, 5, 16, 0, "_Z5outerf"}, {"second", 0x80, 2, 6, 16, "_Z6squaref"},
    {"second", 0x90, 6, 16, 0, "_Z5outerf"}, {"second", 0xa0, 16, 0, 0, NULL},
    {"second", 0xd0, 2, 17, 0, "_Z6squaref"}, {"second", 0xe0, 17, 0, 0, NULL}, {"second", 0x1f0, 18, 0, 0, NULL},
    {"first", 0x00, 8, 0, 0, NULL}, {"first", 0x70, 5, 11, 0, "_Z5outerf"}, {"first", 0x80, 2, 6, 11, "_Z6squaref"},
    {"first", 0xb0, 12, 0, 0, NULL},
  };
  (void)state;
  check("lines.sm_86.cubin", want, sizeof want / sizeof *want);
}

static void lines_of_sm_120(void **state)
{
  static const struct expected want[] = {
    {"second", 0x00, 13, 0, 0, NULL}, {"second", 0x80, 5, 16, 0, "_Z5outerf"}, {"second", 0x90, 2, 6, 16, "_Z6squaref"},
    {"second", 0xe0, 2, 17, 0, "_Z6squaref"}, {"second", 0x100, 18, 0, 0, NULL},
    {"first", 0x10, 10, 0, 0, NULL}, {"first", 0xa0, 6, 11, 0, "_Z5outerf"}, {"first", 0xc0, 12, 0, 0, NULL},
  };
  (void)state;
  check("lines.sm_120.cubin", want, sizeof want / sizeof *want);
}

/* Behind the last instruction of a section, and before the first, there is no line. */
static void no_line_outside(void **state)
{
  struct module *m = open_cubin("lines.sm_86.cubin");
  struct line_table t;
  struct err e = {""};
  (void)state;
  assert_true(line_table_read(m, &t, &e));
  assert_null(line_table_find(&t, 0));
  assert_null(line_table_find(&t, UINT64_MAX));
  line_table_free(&t);
  module_free(m);
}

static void file_without_lines(void **state)
{
  struct module *m = open_cubin("fat.sm_89.cubin");
  struct line_table t;
  struct err e = {""};
  (void)state;
  assert_true(line_table_read(m, &t, &e));
  assert_int_equal(t.n_rows, 0);
  assert_null(line_table_find(&t, module_kernel_at(m, 0)->entry_pc));
  line_table_free(&t);
  module_free(m);
}

static void says(const struct module *m, uint64_t pc, const char *want)
{
  char got[200], shorter[12];
  line_table_where(m, pc, got, sizeof got);
  assert_string_equal(got, want);
  line_table_where(m, pc, shorter, sizeof shorter);
  assert_int_equal(strncmp(shorter, want, sizeof shorter - 1), 0);
}

/* The innermost line, by the name of the file alone; without lines, and outside of all code, as module_where. */
static void place_as_text(void **state)
{
  struct module *m = open_cubin("lines.sm_86.cubin"), *bare = open_cubin("fat.sm_89.cubin");
  struct err e = {""};
  char want[200];
  (void)state;
  const uint64_t second = module_kernel(m, "second", &e)->entry_pc, plain = module_kernel_at(bare, 0)->entry_pc;
  says(m, second + 0x10, "second+0x10 in lines.cu:15");
  says(m, second + 0x80, "second+0x80 in lines.cu:2");
  module_where(bare, plain + 16, want, sizeof want);
  says(bare, plain + 16, want);
  module_where(m, UINT64_MAX, want, sizeof want);
  says(m, UINT64_MAX, want);
  module_free(bare);
  module_free(m);
}

static uint8_t *read_all(const char *path, size_t *bytes)
{
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  assert_int_equal(fseek(f, 0, SEEK_END), 0);
  *bytes = (size_t)ftell(f);
  rewind(f);
  uint8_t *image = malloc(*bytes);
  assert_int_equal(fread(image, 1, *bytes, f), *bytes);
  fclose(f);
  return image;
}

/* Whatever the section holds, rows name rows and files that there are (and the sanitizers see the rest). */
static void damaged_tables(void **state)
{
  enum { RUNS = 20000, SECTION_AT = 0x660, SECTION_BYTES = 0xd5 }; /* .debug_line, by readelf -S */
  size_t bytes;
  uint8_t *image = read_all(DATA "lines.sm_86.cubin", &bytes), *copy = malloc(bytes);
  uint64_t seed = 1;
  unsigned malformed = 0;
  (void)state;
  for (unsigned i = 0; i < RUNS; i++) {
    memcpy(copy, image, bytes);
    for (unsigned k = 0; k <= i % 4; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      copy[SECTION_AT + (seed >> 33) % SECTION_BYTES] = (uint8_t)(seed >> 24);
    }
    struct err e = {""};
    struct line_table t;
    struct module *m = module_load_memory(copy, bytes, "damaged", &e);
    if (!m) continue;
    if (!line_table_read(m, &t, &e)) malformed++, assert_true(e.msg[0]);
    for (uint32_t k = 0; k < t.n_rows; k++) {
      assert_true(t.row[k].call == LINE_NONE || t.row[k].call < t.n_rows);
      assert_true(t.row[k].file == LINE_NONE || t.row[k].file < t.n_files);
    }
    line_table_free(&t);
    module_free(m);
  }
  assert_true(malformed > RUNS / 100); /* the bytes that were changed were those of the table */
  free(copy);
  free(image);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_of_sm_86), cmocka_unit_test(lines_of_sm_120), cmocka_unit_test(no_line_outside),
    cmocka_unit_test(file_without_lines), cmocka_unit_test(place_as_text),
    cmocka_unit_test(damaged_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
