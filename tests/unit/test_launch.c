/* Launches: constant bank 0 as kernels read it, limits, arguments, and cases from set-up to
 * comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/abi.h"
#include "host/case.h"

#define KERNELS WS_SOURCE_DIR "/kernels"
#define DATA WS_SOURCE_DIR "/tests/data"

/* ---- Constant bank 0 (compiler output, CUDA 13.0: where each value is read) ---- */

struct word {
  unsigned sm, offset;
  uint32_t value;
};

static const struct abi_values values = {
    .block = {1, 2, 3}, .grid = {4, 5, 6}, .shared_window = ABI_SHARED_WINDOW,
    .local_window = ABI_LOCAL_WINDOW, .stack_top = 1024, .shared_dynamic = 512, .constants = UINT64_C(0x7000a0000),
    .grid_id = UINT64_C(0x700000009), .n_smids = 46,
    .cluster = {2, 1, 1}, .cluster_given = true, .params_address = UINT64_C(0x700001a80), .param_base = 0x1a80,
};

static const struct word words[] = {
    {80, 0x00, 1},    {80, 0x04, 2},      {80, 0x08, 3},      {80, 0x0c, 4},     {80, 0x10, 5},
    {80, 0x14, 6},    {80, 0x18, 0},      {80, 0x1c, 0x8ffe}, {80, 0x20, 0},     {80, 0x24, 0x8fff},
    {80, 0x28, 1024}, {80, 0x2c, 512},    {80, 0x30, 9},      {80, 0x34, 7},     {80, 0x10c, 46},
    {80, 0x118, 0},   {86, 0x28, 1024},   {75, 0x28, 1024},   {89, 0x14, 6},     {90, 0x00, 1},
    {90, 0x28, 1024}, {90, 0x208, 0},     {90, 0x144, 2},     {90, 0x188, 2},    {100, 0x360, 1},
    {100, 0x37c, 1024}, {120, 0x378, 6},  {120, 0x2ac, 512},
    /* generic address of constants */
    {75, 0x50, 0xa0000},  {89, 0x54, 7},  {90, 0xd0, 0xa0000}, {100, 0x120, 0xa0000},
    {121, 0x124, 7},
    /* clusters: given, size, 1 / size as a float, count; the last two of sm_100 for SR_CgaSize 1 */
    {90, 0x140, 1},   {90, 0x150, 0x3f000000}, {90, 0x15c, 2}, {100, 0x36c, 1}, {103, 0x2a0, 2},
    {110, 0x2b0, 0x3f000000}, {120, 0x2c0, 2}, {121, 0x2cc, 2}, {100, 0x200, 2}, {100, 0x20c, 512},
    /* reserved shared memory; SM ids; grid id */
    {86, 0x114, 0x400},   {90, 0x114, 0x400}, {120, 0x16c, 0x400}, {100, 0x2d0, 46}, {120, 0x140, 9},
    {87, 0x118, 0},   {88, 0x0c, 4},      {75, 0x10c, 46},
    /* reserved shared memory: an end, a part; behind the kernel's own below sm_90, in front of it from there on */
    {80, 0x120, 0x280 + 0x1a0}, {89, 0x124, 0x280 + 0x80}, {90, 0x68, 0x1a0}, {90, 0x6c, 0x80}, {100, 0x278, 0x1a0},
    {100, 0x1d8, 0x1a0}, {120, 0x27c, 0x80}, {121, 0x1dc, 0x80},
    /* end of the parameters: in bank 0 below sm_90, an address from there on */
    {75, 0x114, 0x1a80}, {86, 0x12c, 0x1a80}, {90, 0x1a0, 0x1a80}, {120, 0x350, 0x1a80},
    /* parameters in memory: of bank 0 below sm_90, of the block from there on */
    {75, 0x40, 0}, {75, 0x44, 7}, {89, 0x40, 0}, {90, 0x198, 0x1a80}, {120, 0x348, 0x1a80}, {121, 0x34c, 7},
};

static void test_bank0(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    uint8_t bank[0x400] = {0};
    uint32_t v;
    struct abi_values on_target = values;
    on_target.shared_reserved = words[i].sm >= 80 ? 0x400 : 0;
    on_target.reserved_begin = words[i].sm >= 90 ? 0 : 0x280;
    abi_fill(words[i].sm, &on_target, bank);
    memcpy(&v, bank + words[i].offset, sizeof v);
    if (v != words[i].value) fail_msg("sm_%u c[0][0x%x] is 0x%x", words[i].sm, words[i].offset, v);
  }
  assert_int_equal(abi_param_base(86), 0x160);
  assert_int_equal(abi_param_base(90), 0x210);
  assert_int_equal(abi_param_base(120), 0x380);
  assert_true(abi_is_param_base(89, 0x160) && abi_is_param_base(89, 0x1a80) && abi_is_param_base(90, 0x210));
  assert_false(abi_is_param_base(90, 0x1a80) || abi_is_param_base(90, 0) || abi_is_param_base(86, 0x210));
  assert_int_equal(abi_param_base(70), 0x160);
  assert_false(abi_supported(62));
}

/* ---- Launch ---- */

static struct device open_device(unsigned sm, const char *cubin, struct device_code *code)
{
  struct device d;
  struct err e = {0};
  struct device_config config = device_config_default(sm);
  if (!device_init(&d, &config, &e) || !device_load(&d, cubin, NULL, code, &e))
    fail_msg("%s", e.msg);
  return d;
}

static struct launch_desc describe(const struct device_code *code, const char *kernel,
                                   const void *params, uint32_t bytes)
{
  return (struct launch_desc){.code = code->instance,
                              .kernel = module_kernel(code->module, kernel, NULL), .grid = {2, 1, 1},
                              .block = {64, 1, 1}, .params = params, .param_bytes = bytes};
}

static void test_launch_params(void **state)
{
  uint8_t params[28];
  struct launch l;
  struct err e = {0};
  uint32_t v[3];
  (void)state;
  for (unsigned i = 0; i < sizeof params; i++) params[i] = i + 1;
  struct device_code code;
  struct device d = open_device(90, KERNELS "/vecadd/vecadd.sm_90.cubin", &code);
  struct launch_desc desc = describe(&code, "vecadd", params, sizeof params);
  desc.shared_dynamic = 256;
  if (!launch_init(&l, &d, &desc, &e)) fail_msg("%s", e.msg);
  assert_int_equal(l.params.sm, 90);
  assert_int_equal(l.params.regs_per_thread, 12);
  assert_int_equal(l.params.local_bytes, 0);
  assert_int_equal(l.params.entry_pc, desc.kernel->entry_pc);
  assert_memory_equal(l.params.bank[0] + 0x210, params, sizeof params);
  assert_true(l.params.bank_bytes[0] >= 0x210 + sizeof params);
  memcpy(v, l.params.bank[0], sizeof v);
  assert_int_equal(v[0], 64);
  memcpy(v, l.params.bank[0] + 0x2c, 4);
  assert_int_equal(v[0], 256);
  assert_non_null(func_source(l.func));
  launch_free(&l);
  device_unload(&code);
  device_free(&d);
}

/* The reserved KiB in front of a kernel's shared memory is addressable, but not the kernel's: two tiles of 16 x 16 floats
 * are what occupancy rounds up and what the interfaces report. */
static void test_reserved_shared(void **state)
{
  uint8_t params[36] = {0};
  struct launch l;
  struct err e = {0};
  (void)state;
  struct device_code code;
  struct device d = open_device(90, KERNELS "/sgemm_tiled/sgemm_tiled.sm_90.cubin", &code);
  struct launch_desc desc = describe(&code, "sgemm_tiled", params, sizeof params);
  desc.shared_dynamic = 256;
  if (!launch_init(&l, &d, &desc, &e)) fail_msg("%s", e.msg);
  assert_int_equal(desc.kernel->shared_static, 2 * 16 * 16 * 4);
  assert_int_equal(l.params.shared_reserved, 1024);
  assert_int_equal(func_source(l.func)->shared_bytes, 2 * 16 * 16 * 4 + 256);
  launch_free(&l);
  device_unload(&code);
  device_free(&d);
}

/* A kernel with a stack gets cudaLimitStackSize (1024) unless more is asked for. */
static void test_stack_size(void **state)
{
  uint8_t params[152] = {0};
  struct launch l;
  struct err e = {0};
  uint32_t top;
  (void)state;
  struct device_code code;
  struct device d = open_device(86, KERNELS "/fp32_math/fp32_math.sm_86.cubin", &code);
  struct launch_desc desc = describe(&code, "fp32_math", params, sizeof params);
  assert_true(launch_init(&l, &d, &desc, &e));
  memcpy(&top, l.params.bank[0] + 0x28, 4);
  assert_int_equal(top, 1024);
  assert_int_equal(l.params.local_bytes, 1024);
  launch_free(&l);
  desc.stack_bytes = 4000;
  assert_true(launch_init(&l, &d, &desc, &e));
  assert_int_equal(l.params.local_bytes, 4000);
  launch_free(&l);
  device_unload(&code);
  device_free(&d);
}

/* A grid whose CTAs are all resident gets a workspace for grid.sync(), others a null pointer (host/launch.c). Without time a
 * worker has up to 4,096 slots, however few it has in time; with workers that are SMs, as many as fit. */
static void test_grid_workspace(void **state)
{
  static const struct {
    unsigned workers, warps, slots, ctas;
    bool there;
  } want[] = {{1, 0, 1, 4096, true}, {1, 0, 1, 4097, false}, {1, 0, 5000, 5000, true}, {2, 0, 3, 6, true}, {2, 0, 3, 7, false},
              {2, 48, 32, 48, true}, {2, 48, 32, 49, false}, {1, 48, 16, 16, true}, {1, 48, 16, 17, false}};
  (void)state;
  for (unsigned i = 0; i < sizeof want / sizeof *want; i++) {
    const uint64_t params[2] = {0};
    struct device_config config = device_config_default(86);
    struct device_code code;
    struct device d;
    struct launch l;
    struct err e = {0};
    config.n_workers = want[i].workers, config.warps_per_worker = want[i].warps, config.slots_per_worker = want[i].slots;
    if (!device_init(&d, &config, &e) || !device_load(&d, KERNELS "/grid_sync/grid_sync.sm_86.cubin", NULL, &code, &e)) fail_msg("%s", e.msg);
    struct launch_desc desc = describe(&code, "grid_sync", params, sizeof params);
    desc.grid[0] = want[i].ctas;
    if (!launch_init(&l, &d, &desc, &e)) fail_msg("%s", e.msg);
    uint64_t workspace;
    memcpy(&workspace, l.bank0 + abi_grid_barrier(86), sizeof workspace);
    if ((workspace != 0) != want[i].there) fail_msg("row %u: workspace 0x%llx", i, (unsigned long long)workspace);
    launch_free(&l);
    device_free(&d);
  }
}

static void expect_error(const struct device *d, const struct launch_desc *desc, const char *says)
{
  struct err e = {0};
  assert_false(launch_check(d, desc, &e));
  if (!strstr(e.msg, says)) fail_msg("got \"%s\", want \"%s\"", e.msg, says);
}

static void test_limits(void **state)
{
  struct err e = {0};
  (void)state;
  struct device_code code;
  struct device d = open_device(80, KERNELS "/sgemm_reg/sgemm_reg.sm_80.cubin", &code);
  d.config.limits = (struct device_limits){.threads_per_cta = 512, .shared_per_cta = 49152,
                                           .regs_per_cta = 32768};
  const struct launch_desc good = describe(&code, "sgemm_reg", NULL, 32);
  struct launch_desc bad = good;
  assert_true(launch_check(&d, &good, &e));
  bad.grid[1] = 65536;
  expect_error(&d, &bad, "grid dimension y is 65536");
  bad = good, bad.grid[0] = 0;
  expect_error(&d, &bad, "grid dimension x is 0");
  bad = good, bad.block[2] = 65;
  expect_error(&d, &bad, "block dimension z is 65");
  bad = good, bad.block[1] = 16;
  expect_error(&d, &bad, "block of 1024 threads; the GPU allows 512");
  bad = good, bad.shared_dynamic = 49152 - 4352 + 1; /* 4352 bytes are static */
  expect_error(&d, &bad, "needs 49153 bytes per CTA; the GPU has 49152");
  bad = good, bad.block[1] = 8; /* 512 threads x 67 registers */
  expect_error(&d, &bad, "67 registers for each of 512 threads");
  bad = good, bad.param_bytes = 31;
  expect_error(&d, &bad, "31 bytes of arguments; kernel 'sgemm_reg' takes 32");
  bad = good, bad.stack_bytes = 1 << 20;
  expect_error(&d, &bad, "bytes of stack per thread");
  device_unload(&code);
  device_free(&d);
}

/* Binary compatibility (CUDA programming guide): sm_80 code runs on sm_86, not the other way
 * round. */
static void test_compatibility(void **state)
{
  static const struct { unsigned device, code; bool runs; } rows[] = {
      {86, 80, true}, {80, 86, false}, {90, 86, false}, {90, 90, true}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct device d;
    struct device_code code;
    struct err e = {0};
    char path[512];
    struct device_config config = device_config_default(rows[i].device);
    snprintf(path, sizeof path, KERNELS "/vecadd/vecadd.sm_%u.cubin", rows[i].code);
    assert_true(device_init(&d, &config, &e));
    assert_int_equal(device_load(&d, path, NULL, &code, &e), rows[i].runs);
    if (!rows[i].runs) assert_non_null(strstr(e.msg, "does not run on"));
    device_unload(&code);
    device_free(&d);
  }
}

/* ---- Cases ---- */

static char dir[] = "/tmp/ws-case-XXXXXX";

static int make_dir(void **state)
{
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static const char *in_dir(const char *name)
{
  static _Thread_local char path[4][256];
  static _Thread_local unsigned next;
  char *p = path[next++ % 4];
  snprintf(p, 256, "%s/%s", dir, name);
  return p;
}

static int remove_dir(void **state)
{
  static const char *const files[] = {"x.bin", "z.bin", "counter.bin", "scale.bin", "want.bin",
                                      "out.bin", "stdout.txt", "want.txt"};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) unlink(in_dir(files[i]));
  return rmdir(dir);
}

static void write_file(const char *name, const void *data, size_t bytes)
{
  FILE *f = fopen(in_dir(name), "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(data, 1, bytes, f), bytes);
  fclose(f);
}

static void must(bool ok, const struct err *e)
{
  if (!ok) fail_msg("%s", e->msg);
}

static void vecadd_case(struct launch_case *c, const char *z)
{
  struct err e = {0};
  launch_case_init(c, "test");
  launch_case_add_cubin(c, KERNELS "/vecadd/vecadd.sm_%d.cubin");
  c->block[0] = 32;
  must(launch_case_add_buffer(c, "x:f32:32:iota", &e), &e);
  must(launch_case_add_buffer(c, "y:f32:32:const,value=2", &e), &e);
  must(launch_case_add_buffer(c, z, &e), &e);
  must(launch_case_add_arg(c, "x", &e), &e);
  must(launch_case_add_arg(c, "y", &e), &e);
  must(launch_case_add_arg(c, "z", &e), &e);
}

static void test_case(void **state)
{
  struct launch_case c;
  struct err e = {0};
  struct device_config config = device_config_default(86);
  const struct case_result *list;
  float want[32], x[32];
  unsigned n;
  char option[300];
  (void)state;
  for (int i = 0; i < 32; i++) want[i] = i + 2.0f;
  write_file("want.bin", want, sizeof want);
  snprintf(option, sizeof option, "z:f32:32:zero,expect=%s,rel=1e-6", in_dir("want.bin"));
  vecadd_case(&c, option);
  must(launch_case_add_arg(&c, "u32:32", &e), &e);
  struct case_run *r = case_setup(&c, &config, &e);
  must(r != NULL, &e);
  const struct launch *l = case_launch(r);
  uint64_t param[3], at = case_buffer_address(r, "x");
  memcpy(param, l->params.bank[0] + 0x160, sizeof param);
  assert_int_equal(param[0], at);
  assert_int_equal(param[2], case_buffer_address(r, "z"));
  assert_int_equal(case_buffer_address(r, "none"), 0);
  assert_true(gmem_read(case_device(r)->mem, at, x, sizeof x));
  for (int i = 0; i < 32; i++) assert_true(x[i] == i);
  /* Nothing has run: z is still zero. */
  must(case_check(r, &list, &n, &e), &e);
  assert_int_equal(n, 1);
  assert_false(list[0].ok);
  assert_int_equal(list[0].values.mismatches, 32);
  assert_memory_equal(list[0].text, "z: 32 of 32 differ; [0] got 0, want 2", 37);
  assert_true(gmem_write(case_device(r)->mem, param[2], want, sizeof want));
  must(case_check(r, &list, &n, &e), &e);
  assert_true(list[0].ok);
  case_free(r);
  launch_case_free(&c);
}

static void test_case_errors(void **state)
{
  static const struct { const char *arg, *says; } rows[] = {
      {NULL, "3 arguments; kernel 'vecadd' takes 4"},
      {"u64:32", "argument 4 is u64 of 8 bytes, the parameter of kernel 'vecadd' has 4"},
      {"z", "argument 4 is a pointer of 8 bytes"},
      {"none", "there is no buffer 'none'"},
  };
  struct device_config config = device_config_default(86);
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct launch_case c;
    struct err e = {0};
    vecadd_case(&c, "z:f32:32");
    if (rows[i].arg) must(launch_case_add_arg(&c, rows[i].arg, &e), &e);
    assert_null(case_setup(&c, &config, &e));
    if (!strstr(e.msg, rows[i].says)) fail_msg("got \"%s\", want \"%s\"", e.msg, rows[i].says);
    launch_case_free(&c);
  }
}

static void test_data_errors(void **state)
{
  struct launch_case c;
  struct err e = {0};
  struct device_config config = device_config_default(86);
  char option[300];
  (void)state;
  write_file("x.bin", "12345", 5);
  snprintf(option, sizeof option, "z:f32:32:file=%s", in_dir("x.bin"));
  vecadd_case(&c, option);
  assert_null(case_setup(&c, &config, &e));
  assert_non_null(strstr(e.msg, "has 5 bytes, want 128"));
  launch_case_free(&c);
  vecadd_case(&c, "z:f32:32:file=/no/such/file");
  assert_null(case_setup(&c, &config, &e));
  assert_non_null(strstr(e.msg, "/no/such/file: cannot read"));
  launch_case_free(&c);
}

/* Variables of the module, device printf, saving: tests/data/linked.cu. */
static void test_symbols_and_print(void **state)
{
  static const int32_t counter = 42;
  struct launch_case c;
  struct err e = {0};
  struct device_config config = device_config_default(90);
  const struct case_result *list;
  uint32_t bytes;
  unsigned n;
  char option[300];
  (void)state;
  write_file("want.bin", &counter, sizeof counter);
  write_file("want.txt", "b\na\n", 4);
  launch_case_init(&c, "test");
  launch_case_add_cubin(&c, DATA "/linked.sm_%d.cubin");
  c.stdout_file = in_dir("want.txt");
  must(launch_case_add_buffer(&c, "out:i32:2", &e), &e);
  snprintf(option, sizeof option, "counter:i32:1:const,value=42,expect=%s", in_dir("want.bin"));
  must(launch_case_add_symbol(&c, option, &e), &e);
  must(launch_case_add_symbol(&c, "scale:i32:4:iota,start=10", &e), &e);
  must(launch_case_add_arg(&c, "out", &e), &e);
  must(launch_case_add_arg(&c, "i32:-1", &e), &e);
  struct case_run *r = case_setup(&c, &config, &e);
  must(r != NULL, &e);
  const struct device_code *m = case_code(r);
  const uint8_t *bank = module_bank(m->instance, module_kernel_at(m->module, 0), 3, &bytes);
  assert_memory_equal(bank + module_variable(m->module, "scale")->offset,
                      ((int32_t[]){10, 11, 12, 13}), 16);
  fputs("a\nb\n", *case_launch(r)->params.print);
  must(case_check(r, &list, &n, &e), &e);
  assert_int_equal(n, 2);
  assert_true(list[0].ok && list[1].ok);
  assert_string_equal(list[1].name, "stdout");
  must(case_save(r, dir, &e), &e);
  assert_int_equal(access(in_dir("out.bin"), R_OK), 0);
  assert_int_equal(access(in_dir("stdout.txt"), R_OK), 0);
  case_free(r);
  launch_case_free(&c);
}

static void test_symbol_errors(void **state)
{
  static const struct { const char *symbol, *says; } rows[] = {
      {"nothing:i32:1:zero", "has no variable 'nothing'"},
      {"scale:i32:5:zero", "variable 'scale' has 16 bytes, not 20"},
      {"twice:i32:1:zero", "has no variable 'twice'"},
  };
  struct device_config config = device_config_default(86);
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct launch_case c;
    struct err e = {0};
    launch_case_init(&c, "test");
    launch_case_add_cubin(&c, DATA "/linked.sm_86.cubin");
    must(launch_case_add_symbol(&c, rows[i].symbol, &e), &e);
    assert_null(case_setup(&c, &config, &e));
    if (!strstr(e.msg, rows[i].says)) fail_msg("got \"%s\", want \"%s\"", e.msg, rows[i].says);
    launch_case_free(&c);
  }
}

/* SM ids that a program sees: as many as workers, unless the device says otherwise. */
static void test_sm_ids(void **state)
{
  (void)state;
  for (unsigned said = 0; said < 100; said += 46) {
    struct device_config config = device_config_default(86);
    struct device d;
    struct err e = {0};
    config.n_workers = 3, config.n_smids = said;
    if (!device_init(&d, &config, &e)) fail_msg("%s", e.msg);
    assert_int_equal(d.config.n_smids, said ? said : 3);
    device_free(&d);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bank0),        cmocka_unit_test(test_launch_params),
    cmocka_unit_test(test_stack_size),   cmocka_unit_test(test_grid_workspace), cmocka_unit_test(test_reserved_shared),
    cmocka_unit_test(test_limits),
      cmocka_unit_test(test_compatibility), cmocka_unit_test(test_case),
      cmocka_unit_test(test_case_errors),  cmocka_unit_test(test_data_errors),  cmocka_unit_test(test_sm_ids),
      cmocka_unit_test(test_symbols_and_print), cmocka_unit_test(test_symbol_errors),
  };
  return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
