/* Launch files and their command-line twins: what is read, fills against published vectors,
 * comparison rules, and every error with its line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/launchfile.h"

static char file_path[] = "/tmp/ws-launchfile-XXXXXX";

static int make_file(void **state)
{
  (void)state;
  int fd = mkstemp(file_path);
  return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
  (void)state;
  return unlink(file_path);
}

static bool read_text(struct launch_case *c, const char *text, struct err *e)
{
  FILE *f = fopen(file_path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  return launchfile_read(c, file_path, e);
}

/* ---- Reading ---- */

static const char good[] =
    "cubin = \"k.sm_%d.cubin\"; kernel = \"k\"; grid = [64, 2]; block = [256]; shmem = 1024;\n"
    "data = \"../data\"; order = \"free\"; stack = 2048;\n"
    "args = ( { buffer = \"x\"; }, { u32 = 4294967295; }, { i64 = -5000000000; },\n"
    "         { u64 = 18446744073709551615; }, { f32 = 2.0; }, { f16 = 1; },\n"
    "         { bytes = \"00ffA5\"; } );\n"
    "buffers = { x = { type = \"f32\"; count = 16; fill = \"uniform\"; seed = 0x100000000;\n"
    "                  min = -1.0;\n"
    "                  max = 1.0; expect = \"x.bin\"; rel = 1e-6; };\n"
    "            y = { type = \"u8\"; count = 5000000000; file = \"/abs/y.bin\"; }; };\n"
    "symbols = { s = { type = \"i32\"; count = 4; fill = \"iota\"; start = -2; };\n"
    "            t = { type = \"i32\"; count = 1; expect = \"t.bin\"; }; };\n"
    "# a comment with 99999999999999999999 and a \" quote\n"
    "stdout = \"out.txt\"; stdout_order = \"exact\"; // 99999999999999999999\n";

static void check_good_args(const struct launch_case *c)
{
  static const size_t bytes[] = {8, 4, 8, 8, 4, 2, 3};
  static const char *const data[] = {NULL, "\xff\xff\xff\xff", "\x00\x0e\xfa\xd5\xfe\xff\xff\xff",
                                     "\xff\xff\xff\xff\xff\xff\xff\xff", "\x00\x00\x00\x40",
                                     "\x00\x3c", "\x00\xff\xa5"};
  assert_int_equal(c->n_args, 7);
  assert_string_equal(c->arg[0].buffer, "x");
  for (unsigned i = 0; i < 7; i++) {
    assert_int_equal(c->arg[i].bytes, bytes[i]);
    if (data[i]) assert_memory_equal(c->arg[i].data, data[i], bytes[i]);
  }
}

static void test_good(void **state)
{
  struct launch_case c;
  struct err e = {0};
  (void)state;
  if (!read_text(&c, good, &e)) fail_msg("%s", e.msg);
  assert_int_equal(c.n_cubins, 1);
  assert_string_equal(c.cubin[0], "/tmp/k.sm_%d.cubin");
  assert_string_equal(c.kernel, "k");
  assert_memory_equal(c.grid, ((uint32_t[]){64, 2, 1}), 12);
  assert_memory_equal(c.block, ((uint32_t[]){256, 1, 1}), 12);
  assert_int_equal(c.shmem, 1024);
  assert_int_equal(c.stack, 2048);
  assert_true(c.order_free);
  check_good_args(&c);
  assert_int_equal(c.n_buffers, 2);
  assert_int_equal(c.buffer[0].fill.seed, UINT64_C(0x100000000));
  assert_string_equal(c.buffer[0].expect, "/tmp/../data/x.bin");
  assert_true(c.buffer[0].tol.given);
  assert_true(c.buffer[0].tol.rel == 1e-6 && c.buffer[0].tol.abs == 0);
  assert_int_equal(c.buffer[1].count, 5000000000);
  assert_string_equal(c.buffer[1].file, "/abs/y.bin");
  assert_int_equal(c.n_symbols, 2);
  assert_true(c.symbol[0].initialised);
  assert_false(c.symbol[1].initialised);
  assert_string_equal(c.stdout_file, "/tmp/../data/out.txt");
  assert_true(c.stdout_exact);
  launch_case_free(&c);
}

/* ---- Errors ---- */

#define HEAD "cubin = \"k\"; grid = [1]; block = [1];\n"

static const struct {
  const char *text;
  int line; /* 0: the error names no line */
  const char *says;
} bad_files[] = {
    {"grid = [1]; block = [1];", 0, "no key 'cubin'"},
    {"grid = [1]; block = [1];\ncubin = ();", 2, "is empty"},
    {"grid = [1]; block = [1];\ncubin = (\"a\", 1);", 2, "must be a string"},
    {"cubin = \"k\"; block = [1];", 0, "no key 'grid'"},
    {HEAD "gird = 1;", 2, "unknown key 'gird'"},
    {HEAD "kernel = 3;", 2, "kernel: must be a string"},
    {HEAD "kernel = \"\";", 2, "is empty"},
    {"cubin = \"k\"; block = [1];\ngrid = 4;", 2, "list of one to three"},
    {"cubin = \"k\"; block = [1];\ngrid = [1, 0];", 2, "positive integers"},
    {"cubin = \"k\"; block = [1];\ngrid = [1.5];", 2, "positive integers"},
    {"cubin = \"k\"; block = [1];\ngrid = [1, 1, 1, 1];", 2, "list of one to three"},
    {HEAD "shmem = -1;", 2, "shmem: must be an integer"},
    {HEAD "shmem = 5000000000;", 2, "shmem: must be an integer"},
    {HEAD "order = \"loose\";", 2, "\"strict\" or \"free\""},
    {HEAD "stdout_order = \"exact\";", 2, "stdout_order without stdout"},
    {HEAD "stdout = \"a\";\nstdout_order = \"any\";", 3, "\"lines\" or \"exact\""},
    {HEAD "shmem = 99999999999999999999;", 2, "more than 64 bits"},
    {HEAD "\n@include \"other\"", 3, "@include is not allowed"},
    {HEAD "kernel = \n;", 3, "syntax"},
    {HEAD "kernel = \"a\";\nkernel = \"b\";", 3, "duplicate"},
    {HEAD "args = [1, 2];", 2, "must be a list"},
    {HEAD "args = ( 5 );", 2, "argument 1 must have one key"},
    {HEAD "args = ( { u32 = 5; i32 = 6; } );", 2, "argument 1 must have one key"},
    {HEAD "args = ( { u32 = 5; },\n { u8 = 256; } );", 3, "argument 2: the number does not fit u8"},
    {HEAD "args = ( { u32 = -1; } );", 2, "does not fit u32"},
    {HEAD "args = ( { u32 = 1.0; } );", 2, "does not fit u32"},
    {HEAD "args = ( { int = 1; } );", 2, "unknown kind 'int'"},
    {HEAD "args = ( { bytes = \"abc\"; } );", 2, "pairs of hexadecimal"},
    {HEAD "args = ( { buffer = \"x\"; } );", 2, "no buffer 'x'"},
    {HEAD "buffers = ( 1 );", 2, "must be a group"},
    {HEAD "buffers = { x = 5; };", 2, "must be a group"},
#define BUF(keys) HEAD "buffers = { x = {\n" keys "}; };"
    {BUF("count = 4; fill = \"zero\";"), 2, "type is missing"},
    {BUF("type = \"f32\"; fill = \"zero\";"), 2, "count is missing"},
    {BUF("type = \"f32\"; count = 4;"), 2, "no initial contents"},
    {BUF("type = \"f31\"; count = 4; fill = \"zero\";"), 3, "unknown type 'f31'"},
    {BUF("type = \"f32\"; count = 0; fill = \"zero\";"), 3, "positive integer"},
    {BUF("type = \"f32\"; count = \"4\"; fill = \"zero\";"), 3, "count must be a number"},
    {BUF("type = \"f32\"; count = 4; fill = \"random\";"), 3, "unknown fill 'random'"},
    {BUF("type = \"f32\"; count = 4; fill = \"zero\";\ncolour = 3;"), 4, "unknown key 'colour'"},
    {BUF("type = \"f32\"; count = 4; fill = \"zero\"; seed = 1;"), 2, "seed does not belong"},
    {BUF("type = \"f32\"; count = 4; file = \"a\"; value = 1;"), 2, "value does not belong"},
    {BUF("type = \"f32\"; count = 4; fill = \"zero\"; file = \"a\";"), 2, "both fill and file"},
    {BUF("type = \"f32\"; count = 4; fill = \"zero\"; rel = 0.1;"), 2, "without expect"},
    {BUF("type = \"u32\"; count = 4; fill = \"zero\"; expect = \"a\"; abs = 1;"), 2, "exactly"},
    {BUF("type = \"f32\"; count = 4; fill = \"zero\"; expect = \"a\"; abs = -1.0;"), 3, "negative"},
    {BUF("type = \"u8\"; count = 4; fill = \"const\"; value = 300;"), 2, "value does not fit u8"},
    {BUF("type = \"u8\"; count = 300; fill = \"iota\";"), 2, "last element does not fit u8"},
    {BUF("type = \"u8\"; count = 4; fill = \"iota\"; start = 2; step = -1;"), 2, "last element"},
    {BUF("type = \"i32\"; count = 4; fill = \"uniform\"; min = 5; max = 4;"), 2,
     "greater than max"},
    {BUF("type = \"i32\"; count = 4; fill = \"uniform\"; min = 0.5; max = 4;"), 2,
     "min does not fit"},
    {BUF("type = \"f64\"; count = 1000000000000000; fill = \"zero\";"), 2, "count is too large"},
};

static void test_errors(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
    struct launch_case c;
    struct err e = {0};
    char want[64];
    assert_false(read_text(&c, bad_files[i].text, &e));
    launch_case_free(&c);
    if (bad_files[i].line) snprintf(want, sizeof want, "%s:%d: ", file_path, bad_files[i].line);
    else snprintf(want, sizeof want, "%s: ", file_path);
    if (strncmp(e.msg, want, strlen(want)) != 0 || !strstr(e.msg, bad_files[i].says))
      fail_msg("case %zu: got \"%s\", want \"%s…%s\"", i, e.msg, want, bad_files[i].says);
  }
}

static void test_no_file(void **state)
{
  struct launch_case c;
  struct err e = {0};
  (void)state;
  assert_false(launchfile_read(&c, "/tmp/no-such-launch-file", &e));
  assert_non_null(strstr(e.msg, "cannot read"));
  launch_case_free(&c);
}

/* ---- Command line ---- */

static void test_options(void **state)
{
  struct launch_case c;
  struct err e = {0};
  uint32_t dim[3];
  (void)state;
  launch_case_init(&c, "command line");
  assert_true(launch_case_add_buffer(&c, "x:f32:1024:uniform,seed=1,min=-1,max=1", &e));
  assert_true(launch_case_add_buffer(&c, "z:f64:0x10:zero,expect=z.bin,rel=1e-6", &e));
  assert_true(launch_case_add_buffer(&c, "w:u8:7:file=w.bin", &e));
  assert_true(launch_case_add_buffer(&c, "v:u8:7", &e));
  assert_true(launch_case_add_symbol(&c, "s:i32:4:const,value=-3", &e));
  assert_int_equal(c.n_buffers, 4);
  assert_int_equal(c.buffer[0].fill.kind, FILL_UNIFORM);
  assert_true(c.buffer[0].fill.min.f == -1);
  assert_int_equal(c.buffer[1].count, 16);
  assert_string_equal(c.buffer[2].file, "w.bin");
  assert_int_equal(c.buffer[3].fill.kind, FILL_ZERO);
  assert_true(launch_case_add_arg(&c, "x", &e));
  assert_true(launch_case_add_arg(&c, "u32:5", &e));
  assert_true(launch_case_add_arg(&c, "f32:1.5", &e));
  assert_true(launch_case_add_arg(&c, "bytes:00ff", &e));
  assert_int_equal(c.n_args, 4);
  assert_memory_equal(c.arg[2].data, "\x00\x00\xc0\x3f", 4);
  assert_false(launch_case_check(&c, &e));
  assert_non_null(strstr(e.msg, "no cubin"));
  launch_case_free(&c);
  assert_true(launch_case_dim3("64,2", "--grid", dim, &e));
  assert_memory_equal(dim, ((uint32_t[]){64, 2, 1}), 12);
  assert_true(launch_case_dim3("4x3x2", "--grid", dim, &e));
  assert_memory_equal(dim, ((uint32_t[]){4, 3, 2}), 12);
}

static void test_option_errors(void **state)
{
  static const char *const buffers[] = {"x", "x:f32", ":f32:1", "x:f31:1", "x:f32:many",
                                        "x:f32:1:odd", "x:f32:1:zero,seed=1", "x:f32:1:const,value=a",
                                        "x:f32:1:zero,value=1", "x:f32:1:zero,zero", "x:f32:-1"};
  static const char *const args[] = {"u32:", "u32:1.5", "u33:1", "bytes:0", "bytes:0g", "u8:256"};
  static const char *const dims[] = {"", "0", "1,", "1,2,3,4", "-1", "a", "4294967296", "1 2"};
  struct launch_case c;
  uint32_t dim[3];
  (void)state;
  launch_case_init(&c, "command line");
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
    struct err e = {0};
    assert_false(launch_case_add_buffer(&c, buffers[i], &e));
    assert_memory_equal(e.msg, buffers[i], strlen(buffers[i])); /* names the option */
  }
  for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
    struct err e = {0};
    assert_false(launch_case_add_arg(&c, args[i], &e));
    assert_true(e.msg[0] != '\0');
  }
  for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
    struct err e = {0};
    assert_false(launch_case_dim3(dims[i], "--grid", dim, &e));
    assert_non_null(strstr(e.msg, "--grid"));
  }
  launch_case_free(&c);
}

/* ---- Values and fills ---- */

/* Encodings of IEEE 754 binary16 and of bfloat16, worked out by hand. */
static const struct {
  enum value_type type;
  double value;
  unsigned bits;
} narrow_values[] = {
    {VALUE_F16, 1.0, 0x3c00},      {VALUE_F16, -2.0, 0xc000},    {VALUE_F16, 1.0 / 3, 0x3555},
    {VALUE_F16, 65504, 0x7bff},    {VALUE_F16, 65519.9, 0x7bff}, {VALUE_F16, 65520, 0x7c00},
    {VALUE_F16, 0x1p-24, 1},       {VALUE_F16, 0x1p-25, 0},      {VALUE_F16, 0x1.8p-24, 2},
    {VALUE_F16, 0x1p-14, 0x0400},  {VALUE_F16, 2049, 0x6800},    {VALUE_F16, 2051, 0x6802},
    {VALUE_F16, 0x1.00200001p0, 0x3c01}, {VALUE_F16, 0x1.ffep-15, 0x0400},
    {VALUE_F16, -0.0, 0x8000},
    {VALUE_BF16, 1.0, 0x3f80},     {VALUE_BF16, 1.0 / 3, 0x3eab}, {VALUE_BF16, 0x1.01p0, 0x3f80},
    {VALUE_BF16, 0x1.03p0, 0x3f82}, {VALUE_BF16, 0x1p-133, 1},   {VALUE_BF16, 0x1.ffp127, 0x7f80},
    {VALUE_BF16, 0x1.fep127, 0x7f7f},
};

static void test_narrow_floats(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof narrow_values / sizeof narrow_values[0]; i++) {
    uint16_t h;
    value_store_real(narrow_values[i].type, narrow_values[i].value, &h);
    assert_int_equal(h, narrow_values[i].bits);
  }
  /* Every finite half survives the way through double. */
  for (unsigned b = 0; b < 0x10000; b++) {
    uint16_t h = b, back;
    for (int t = VALUE_F16; t <= VALUE_BF16; t++) {
      double v = value_load_real(t, &h);
      if (isnan(v)) continue;
      value_store_real(t, v, &back);
      assert_int_equal(back, h);
    }
  }
}

/* First outputs of SplitMix64 for seed 1234567, as published with the generator's reference
 * code. */
static void test_uniform(void **state)
{
  static const uint64_t want[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                  UINT64_C(9817491932198370423), UINT64_C(4593380528125082431)};
  uint64_t u64[4];
  uint8_t u8[4];
  double f64[4];
  struct err e = {0};
  (void)state;
  struct buffer_fill f = fill_default();
  f.kind = FILL_UNIFORM;
  f.seed = 1234567;
  f.max = number_unsigned(UINT64_MAX);
  assert_true(fill_check(&f, VALUE_U64, 4, &e));
  fill_write(&f, VALUE_U64, 0, 4, u64);
  assert_memory_equal(u64, want, sizeof want);
  fill_write(&f, VALUE_U64, 2, 2, u64);
  assert_int_equal(u64[1], want[3]);
  f.min = number_int(10);
  f.max = number_int(19);
  fill_write(&f, VALUE_U8, 0, 4, u8);
  for (int i = 0; i < 4; i++) assert_int_equal(u8[i], 10 + want[i] % 10);
  f.min = number_real(-1);
  f.max = number_real(3);
  fill_write(&f, VALUE_F64, 0, 4, f64);
  for (int i = 0; i < 4; i++) assert_true(f64[i] == -1 + (double)(want[i] >> 11) * 0x1p-53 * 4);
}

struct links {
  uint64_t base, at[64];
};

static void put_link(void *ctx, uint64_t i, uint64_t value)
{
  struct links *l = ctx;
  assert_true(i < 64);
  assert_int_equal(l->at[i], 0); /* each element once */
  l->at[i] = value;
}

/* Lines of 4 elements: the chain passes each line once before it comes to the next element of any. */
static void test_chain(void **state)
{
  (void)state;
  struct err e = {0};
  struct links l = {.base = 0x1000};
  struct buffer_fill f = fill_default();
  f.kind = FILL_CHAIN;
  f.step = number_int(4);
  assert_false(fill_check(&f, VALUE_F64, 64, &e));
  assert_true(fill_check(&f, VALUE_U64, 64, &e));
  fill_chain(&f, 64, l.base, put_link, &l);
  uint64_t at = 0;
  for (unsigned slot = 0; slot < 4; slot++) {
    unsigned seen = 0;
    for (unsigned i = 0; i < 16; i++) {
      assert_int_equal(at % 4, slot);
      seen |= 1u << at / 4;
      at = (l.at[at] - l.base) / 8;
    }
    assert_int_equal(seen, 0xffff);
  }
  assert_int_equal(at, 0);
  f.step = number_int(65);
  assert_false(fill_check(&f, VALUE_U64, 64, &e));
}

static void test_iota(void **state)
{
  int16_t i16[3];
  float f32[3];
  (void)state;
  struct buffer_fill f = fill_default();
  f.kind = FILL_IOTA;
  f.start = number_int(-1);
  f.step = number_int(-2);
  fill_write(&f, VALUE_I16, 0, 3, i16);
  assert_memory_equal(i16, ((int16_t[]){-1, -3, -5}), 6);
  f.step = number_real(0.5);
  fill_write(&f, VALUE_F32, 1, 3, f32);
  assert_memory_equal(f32, ((float[]){-0.5f, 0.0f, 0.5f}), 12);
}

/* ---- Comparison ---- */

static void test_compare(void **state)
{
  const float want[] = {1, 100, NAN, INFINITY, 0.0f, INFINITY, 1};
  const float got[] = {1.0009f, 100.09f, NAN, INFINITY, -0.0f, 1, 1.002f};
  struct compare_result r;
  (void)state;
  compare_values(VALUE_F32, 7, got, want, (struct tolerance){true, 1e-3, 0}, &r);
  assert_int_equal(r.mismatches, 2);
  assert_int_equal(r.shown[0].index, 5);
  assert_int_equal(r.shown[1].index, 6);
  compare_values(VALUE_F32, 7, got, want, (struct tolerance){true, 0, 0.1}, &r);
  assert_int_equal(r.mismatches, 1);
  /* Without tolerance the bits decide: -0 is not 0, the same NaN is. */
  compare_values(VALUE_F32, 7, got, want, (struct tolerance){0}, &r);
  assert_int_equal(r.mismatches, 5);
  assert_int_equal(r.n_shown, COMPARE_SHOWN);
  compare_values(VALUE_U8, 3, "abc", "abd", (struct tolerance){true, 1, 1}, &r);
  assert_int_equal(r.mismatches, 1);
  char text[100];
  compare_print(VALUE_U8, &r.shown[0], text, sizeof text);
  assert_string_equal(text, "[2] got 99, want 100");
}

static bool same(const char *got, const char *want, bool sorted)
{
  char why[200];
  return compare_text(got, strlen(got), want, strlen(want), sorted, why, sizeof why);
}

static void test_compare_text(void **state)
{
  (void)state;
  assert_true(same("a\nb\n", "a\nb\n", false));
  assert_false(same("b\na\n", "a\nb\n", false));
  assert_true(same("b\na\n", "a\nb\n", true));
  assert_false(same("a\na\n", "a\nb\n", true));
  assert_false(same("a\na\n", "a\n", true));
  assert_false(same("a\nb", "a\nb\n", false));
  assert_true(same("", "", false));
  assert_false(same("", "a\n", true));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good),          cmocka_unit_test(test_errors),
      cmocka_unit_test(test_no_file),       cmocka_unit_test(test_options),
      cmocka_unit_test(test_option_errors), cmocka_unit_test(test_narrow_floats),
      cmocka_unit_test(test_uniform),       cmocka_unit_test(test_iota),
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_compare),       cmocka_unit_test(test_compare_text),
  };
  return cmocka_run_group_tests(tests, make_file, remove_file);
}
