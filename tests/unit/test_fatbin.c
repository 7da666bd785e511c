/* Fat binaries and host programs: what is found in them, which part a GPU gets, and that it
 * computes what the CUDA source says. The files are made by tests/data/fat.sh; where nvcc is at hand, whole
 * programs are built and read, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <lz4.h>
#include <zstd.h>

#include "base/host_memory.h"
#include "host/launch.h"
#include "load/fatbin.h"
#include "load/file.h"

#define DATA WS_SOURCE_DIR "/tests/data/"

static struct code_file *open_file(const char *path)
{
  struct err e = {0};
  struct code_file *f = code_file_open(path, &e);
  if (!f) fail_msg("%s", e.msg);
  return f;
}

/* ---- What is in a file: the nvcc command lines of fat.sh ---- */

static const struct {
  const char *file, *targets;
  unsigned images;
} listings[] = {
    {DATA "fat.fatbin", "sm_80, sm_86, compute_90 (PTX), sm_90a", 4},
    {DATA "fat.lz4.fatbin", "sm_86, compute_86 (PTX)", 2},
    {DATA "fat.ptx.fatbin", "compute_80 (PTX)", 1},
    {DATA "fat.program", "sm_86, sm_90, compute_90 (PTX)", 6},
    {DATA "fat_part.rdc.program", "sm_86, sm_90", 2},
    {DATA "fat.sm_120.cubin", "sm_120", 1},
};

static int by_text(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The order of entries is the compiler's business. */
static void assert_same_list(const char *a, const char *b)
{
  char text[2][200], *item[2][16];
  unsigned n[2] = {0};
  snprintf(text[0], sizeof text[0], "%s", a);
  snprintf(text[1], sizeof text[1], "%s", b);
  for (unsigned k = 0; k < 2; k++) {
    for (char *p = strtok(text[k], ","); p && n[k] < 16; p = strtok(NULL, ","))
      item[k][n[k]++] = p + (*p == ' ');
    qsort(item[k], n[k], sizeof item[k][0], by_text);
  }
  if (n[0] != n[1]) fail_msg("%s, want %s", a, b);
  for (unsigned i = 0; i < n[0]; i++) assert_string_equal(item[0][i], item[1][i]);
}

static void test_listings(void **state)
{
  char text[200];
  (void)state;
  for (size_t i = 0; i < sizeof listings / sizeof listings[0]; i++) {
    struct code_file *f = open_file(listings[i].file);
    assert_same_list(code_file_targets(f, text, sizeof text), listings[i].targets);
    assert_int_equal(code_file_count(f), listings[i].images);
    code_file_free(f);
  }
}

/* Two sources make two groups; code of nvcc -rdc=true is not linked. */
static void test_groups(void **state)
{
  (void)state;
  struct code_file *f = open_file(DATA "fat.program");
  assert_int_equal(code_file_image(f, 0)->group, 0);
  assert_int_equal(code_file_image(f, 5)->group, 1);
  assert_false(code_file_image(f, 0)->object);
  assert_null(code_file_image(f, 6));
  code_file_free(f);
  f = open_file(DATA "fat_part.rdc.program");
  assert_true(code_file_image(f, 0)->object);
  code_file_free(f);
}

/* ---- Which part a GPU gets ---- */

static const struct choice {
  const char *file;
  unsigned gpu;
  const char *kernel;
  unsigned sm;       /* 0: an error */
  const char *says;  /* kernel found, or what the error says */
} choices[] = {
    {DATA "fat.fatbin", 86, "fat_add", 86, "fat_add"},
    {DATA "fat.fatbin", 80, "fat_add", 80, "fat_add"},
    {DATA "fat.fatbin", 87, "fat_add", 86, "fat_add"}, /* highest lower minor */
    {DATA "fat.fatbin", 89, NULL, 86, "fat_add"},
    {DATA "fat.fatbin", 90, NULL, 90, "fat_add"},
    {DATA "fat.fatbin", 75, NULL, 0, "does not run on sm_75"},
    {DATA "fat.fatbin", 100, NULL, 0, "only PTX for this GPU: rebuild with -gencode "
                                      "arch=compute_100,code=sm_100"},
    {DATA "fat.ptx.fatbin", 86, NULL, 0, "only PTX for this GPU: rebuild with -gencode "
                                         "arch=compute_86,code=sm_86"},
    {DATA "fat.program", 86, "fat_add", 86, "fat_add"},
    {DATA "fat.program", 86, "fat_pick", 86, "fat_pick"},
    {DATA "fat.program", 90, "inner", 90, "_ZN3fat5innerEPi"},
    {DATA "fat.program", 90, "_Z9fat_scaleIdEvPT_S0_", 90, "_Z9fat_scaleIdEvPT_S0_"},
    {DATA "fat.program", 86, "missing", 0, "has no kernel 'missing'; choose one of: fat_add, "},
    {DATA "fat.program", 86, NULL, 0, "several kernels"},
    {DATA "fat.program", 80, "fat_add", 0, "which does not run on sm_80"},
    {DATA "fat_part.rdc.program", 90, "fat_pick", 90, "fat_pick"},
};

static void check_choice(const struct choice *c)
{
  struct err e = {0};
  struct code_file *f = open_file(c->file);
  struct module *m = code_file_load(f, c->gpu, c->kernel, &e);
  code_file_free(f); /* the module does not need it */
  if (c->sm == 0) {
    assert_null(m);
    if (!strstr(e.msg, c->says)) fail_msg("'%s' does not say '%s'", e.msg, c->says);
    return;
  }
  if (!m) fail_msg("%s", e.msg);
  assert_int_equal(module_sm(m), c->sm);
  const struct module_kernel *k = c->kernel ? module_kernel(m, c->kernel, &e)
                                            : module_kernel_at(m, 0);
  if (!k) fail_msg("%s", e.msg);
  assert_string_equal(k->name, c->says);
  module_free(m);
}

static void test_choices(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) check_choice(&choices[i]);
}

/* Two kernels called fat_scale live in one module, which is found; the name does not tell them
 * apart. */
static void test_ambiguous(void **state)
{
  struct err e = {0};
  (void)state;
  struct code_file *f = open_file(DATA "fat.program");
  struct module *m = code_file_load(f, 86, "fat_scale", &e);
  assert_non_null(m);
  assert_null(module_kernel(m, "fat_scale", &e));
  assert_non_null(strstr(e.msg, "several kernels are called 'fat_scale'"));
  module_free(m);
  code_file_free(f);
}

/* sm_90a and sm_100f: CUDA programming guide, feature set compiler targets. */
static void test_compatibility(void **state)
{
  (void)state;
  assert_true(target_runs_on(80, TARGET_PLAIN, 86));
  assert_true(target_runs_on(86, TARGET_PLAIN, 89));
  assert_false(target_runs_on(86, TARGET_PLAIN, 80));
  assert_false(target_runs_on(90, TARGET_PLAIN, 100));
  assert_false(target_runs_on(120, TARGET_PLAIN, 110));
  assert_true(target_runs_on(90, TARGET_ARCH_SPECIFIC, 90));
  assert_false(target_runs_on(100, TARGET_ARCH_SPECIFIC, 103));
  assert_true(target_runs_on(100, TARGET_FAMILY_SPECIFIC, 103));
  assert_false(target_runs_on(100, TARGET_FAMILY_SPECIFIC, 120));
}

/* ---- Results ---- */

enum { THREADS = 32 };

/* Runs kernel(p[, n]) with one CTA of 32 threads; p holds 0, 1, 2 … before. */
static void run(const char *file, unsigned gpu, const char *kernel, const int *n,
                int32_t p[THREADS])
{
  struct device d;
  struct device_code code;
  struct launch l;
  struct err e = {0};
  struct fault fault;
  struct func_stats stats = {0};
  struct device_config config = device_config_default(gpu);
  struct { uint64_t p; int32_t n; } params;
  if (!device_init(&d, &config, &e) || !device_load(&d, file, kernel, &code, &e)) fail_msg("%s", e.msg);
  params.p = gmem_alloc(d.mem, THREADS * sizeof p[0], "p");
  params.n = n ? *n : 0;
  for (int i = 0; i < THREADS; i++) p[i] = i;
  assert_true(gmem_write(d.mem, params.p, p, THREADS * sizeof p[0]));
  struct launch_desc desc = {.code = code.instance, .kernel = module_kernel(code.module, kernel, &e),
                             .grid = {1, 1, 1},
                             .block = {THREADS, 1, 1}, .shared_dynamic = 4 * THREADS,
                             .params = &params, .param_bytes = n ? 12 : 8};
  if (!desc.kernel || !launch_init(&l, &d, &desc, &e)) fail_msg("%s: %s", file, e.msg);
  if (!func_run(l.func, &stats, &fault)) fail_msg("%s: %s", file, fault.text);
  assert_true(gmem_read(d.mem, params.p, p, THREADS * sizeof p[0]));
  launch_free(&l);
  device_unload(&code);
  device_free(&d);
}

/* fat_add of fat.cu: initialised variables and constants. */
static void check_add(const char *file, unsigned gpu)
{
  static const int table[4] = {5, 6, 7, 8}, scale[2] = {3, 4};
  int32_t p[THREADS];
  int n = 21;
  run(file, gpu, "fat_add", &n, p);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(p[i], i < n ? i + table[i & 3] * scale[n & 1] + 7 : i);
}

/* PICK of fat_part.cu. */
static int picked(int x, int r)
{
  switch (x) {
  case 0: return 0; /* clock64() < 0 */
  case 1: return r + 17;
  case 2: return r * 3;
  case 3: return __builtin_popcount(r);
  case 4: return -r;
  case 5: return r ^ 0x55;
  case 6: return r / 3;
  case 7: return r - 9;
  default: return 100;
  }
}

/* fat_pick: jump tables of the kernel and of the function it calls, and three kinds of shared
 * memory that must not overlap. */
static void check_pick(const char *file, unsigned gpu)
{
  int32_t p[THREADS];
  run(file, gpu, "fat_pick", NULL, p);
  for (int i = 0; i < THREADS; i++) {
    int back = THREADS - 1 - i;
    assert_int_equal(p[i], picked(back & 7, 7 * back) + 1000 * picked(i % 9, 40 + i) +
                               100000 * (back % 9));
  }
}

static void test_add(void **state)
{
  (void)state;
  check_add(DATA "fat.fatbin", 80);
  check_add(DATA "fat.fatbin", 86);
  check_add(DATA "fat.fatbin", 90); /* compiled for sm_90a */
  check_add(DATA "fat.lz4.fatbin", 86);
  check_add(DATA "fat.program", 86);
  check_add(DATA "fat.program", 90);
}

static void test_pick(void **state)
{
  (void)state;
  check_pick(DATA "fat.program", 86);
  check_pick(DATA "fat.program", 90);
  check_pick(DATA "fat_part.linked.sm_86.cubin", 86);
  check_pick(DATA "fat_part.linked.sm_90.cubin", 90);
}

/* The same without the linker. */
static void test_objects(void **state)
{
  (void)state;
  check_pick(DATA "fat_part.object.sm_86.cubin", 86);
  check_pick(DATA "fat_part.object.sm_90.cubin", 90);
  check_pick(DATA "fat_part.rdc.program", 86);
  check_pick(DATA "fat_part.rdc.program", 90);
}

/* ---- Packed payloads, made here ---- */

struct made {
  uint8_t data[1 << 16];
  size_t bytes;
};

static void put(struct made *m, size_t at, uint64_t v, unsigned bytes)
{
  memcpy(m->data + at, &v, bytes);
}

/* A container with one entry for sm_86; `header` bytes of entry header. */
static void make(struct made *m, uint64_t flags, size_t header, const void *payload, size_t stored,
                 uint64_t unpacked)
{
  size_t padded = (stored + 7) / 8 * 8;
  memset(m, 0, sizeof *m);
  put(m, 0, 0xba55ed50, 4);
  put(m, 4, 1, 2);
  put(m, 6, 16, 2);
  put(m, 8, header + padded, 8);
  put(m, 16, 2, 2);
  put(m, 18, 0x101, 2);
  put(m, 20, header, 4);
  put(m, 24, padded, 8);
  put(m, 32, flags & 0xa000 ? stored : 0, 4);
  put(m, 44, 86, 4);
  put(m, 56, flags | 0x11, 8);
  put(m, 72, flags & 0xa000 ? unpacked : 0, 8);
  memcpy(m->data + 16 + header, payload, stored);
  m->bytes = 16 + header + padded;
}

static size_t read_cubin(uint8_t *to, size_t size)
{
  FILE *f = fopen(WS_SOURCE_DIR "/kernels/vecadd/vecadd.sm_86.cubin", "rb");
  assert_non_null(f);
  size_t n = fread(to, 1, size, f);
  fclose(f);
  return n;
}

static void expect_module(const struct made *m)
{
  struct err e = {0};
  struct code_file *f = code_file_open_memory(m->data, m->bytes, "made", &e);
  if (!f) fail_msg("%s", e.msg);
  struct module *mod = code_file_load(f, 86, "vecadd", &e);
  if (!mod) fail_msg("%s", e.msg);
  assert_int_equal(module_kernel_at(mod, 0)->n_params, 4);
  module_free(mod);
  code_file_free(f);
}

static void expect_error(const struct made *m, const char *says)
{
  struct err e = {0};
  struct code_file *f = code_file_open_memory(m->data, m->bytes, "made", &e);
  struct module *mod = f ? code_file_load(f, 86, NULL, &e) : NULL;
  assert_null(mod);
  if (!strstr(e.msg, says) || strncmp(e.msg, "made: ", 6) != 0) fail_msg("%s", e.msg);
  code_file_free(f);
}

static void test_packings(void **state)
{
  static uint8_t cubin[1 << 15], packed[1 << 15];
  static struct made m;
  (void)state;
  size_t n = read_cubin(cubin, sizeof cubin);
  for (size_t header = 64; header <= 160; header += 48) {
    make(&m, 0, header, cubin, n, 0);
    expect_module(&m);
    int lz4 = LZ4_compress_default((char *)cubin, (char *)packed, (int)n, sizeof packed);
    make(&m, 0x2000, header, packed, (size_t)lz4, n);
    expect_module(&m);
    size_t zstd = ZSTD_compress(packed, sizeof packed, cubin, n, 3);
    make(&m, 0x8000, header, packed, zstd, n);
    expect_module(&m);
  }
}

static void test_damage(void **state)
{
  static uint8_t cubin[1 << 15], packed[1 << 15];
  static struct made m;
  (void)state;
  size_t n = read_cubin(cubin, sizeof cubin);
  size_t zstd = ZSTD_compress(packed, sizeof packed, cubin, n, 3);
  make(&m, 0x8000, 64, packed, zstd, n - 1);
  expect_error(&m, "do not unpack");
  make(&m, 0x2000, 64, packed, zstd, n); /* not LZ4 */
  expect_error(&m, "do not unpack");
  make(&m, 0xa000, 64, packed, zstd, n);
  expect_error(&m, "two kinds of compression");
  make(&m, 0x8000, 64, packed, zstd, UINT64_C(1) << 40);
  expect_error(&m, "damaged fat binary");
  make(&m, 0, 64, cubin, n, 0);
  put(&m, 24, UINT64_MAX - 7, 8); /* payload size */
  expect_error(&m, "damaged fat binary: entry at 0x10");
  make(&m, 0, 64, cubin, n, 0);
  put(&m, 20, 8, 4); /* header size */
  expect_error(&m, "damaged fat binary: entry at 0x10");
  make(&m, 0, 64, cubin, n, 0);
  m.bytes -= 8; /* the container does not end inside the file */
  expect_error(&m, "no machine code for GPUs");
  make(&m, 0, 64, cubin, n, 0);
  put(&m, 16, 1, 2); /* kind: PTX */
  expect_error(&m, "only PTX for this GPU");
}

static void test_file_errors(void **state)
{
  struct err e = {0};
  (void)state;
  assert_null(code_file_open(DATA "no-such", &e));
  assert_non_null(strstr(e.msg, "cannot read"));
  assert_null(code_file_open(DATA, &e));
  assert_non_null(strstr(e.msg, "Is a directory"));
  assert_null(code_file_open(DATA "fat.cu", &e));
  assert_non_null(strstr(e.msg, "no machine code for GPUs"));
  assert_null(code_file_open("/proc/self/exe", &e));
  assert_non_null(strstr(e.msg, "no machine code for GPUs"));
}

/* ---- Whole programs, where nvcc is at hand ---- */

static char dir[] = "/tmp/ws-fat-XXXXXX";

static int make_dir(void **state)
{
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
  char command[64];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

static void sh(const char *format, const char *a, const char *b)
{
  char command[1024];
  snprintf(command, sizeof command, format, dir, a, b);
  assert_int_equal(system(command), 0);
}

/* What nvcc takes longest for, it does once for the program and the library. */
static void test_programs(void **state)
{
  static const struct { const char *name, *flags, *main; } rows[] = {
      {"program", "", "main.o"}, {"library.so", "-shared", ""}, {"separate", "-rdc=true", "main.o"}};
  char path[64], linked[96];
  (void)state;
  if (system("command -v nvcc >/dev/null 2>&1") != 0) {
    print_message("# skipped: no nvcc\n");
    skip();
  }
  sh("cd %s && echo 'int main(void) { return 0; }' | cc -x c -c -o main.o -", "", "");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (i != 1)
      sh("cd %s && nvcc -arch=sm_86 -std=c++14 %s -Xcompiler -fPIC -c %s", rows[i].flags, DATA "fat.cu " DATA "fat_part.cu");
    snprintf(path, sizeof path, "%s/%s", dir, rows[i].name);
    snprintf(linked, sizeof linked, "-o %s fat.o fat_part.o %s", rows[i].name, rows[i].main);
    sh("cd %s && nvcc -arch=sm_86 %s %s", rows[i].flags, linked);
    check_add(path, 86);
    check_pick(path, 86);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_listings),      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_choices),       cmocka_unit_test(test_ambiguous),
      cmocka_unit_test(test_compatibility), cmocka_unit_test(test_add),
      cmocka_unit_test(test_pick),          cmocka_unit_test(test_objects),
      cmocka_unit_test(test_packings),      cmocka_unit_test(test_damage),
      cmocka_unit_test(test_file_errors),   cmocka_unit_test(test_programs),
  };
  return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
