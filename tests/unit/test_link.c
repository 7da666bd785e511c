/* Link of relocatable objects: results are what the CUDA source says (tests/data/rdc_*.cu, made by rdc.sh),
 * and the needs of the kernels what nvlink (CUDA 13.0) says of the same objects. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "host/launch.h"
#include "load/file.h"

#define DATA WS_SOURCE_DIR "/tests/data/"

enum { THREADS = 48, VALUES = 8, MAX_FILE = 1 << 16 };

static const unsigned targets[] = {86, 90, 120};
enum { N_TARGETS = sizeof targets / sizeof targets[0] };

/* The two objects of a target, in either order. */
static void paths(unsigned sm, bool swap, char text[2][256], const char *path[2])
{
  for (int i = 0; i < 2; i++) {
    snprintf(text[i], 256, DATA "rdc_%s.sm_%u.cubin", (i == 0) != swap ? "main" : "part", sm);
    path[i] = text[i];
  }
}

/* ---- Results ---- */

static void run(const char *const *path, unsigned sm, int which, int32_t *out)
{
  struct device d;
  struct device_code code;
  struct launch l;
  struct err e = {0};
  struct fault fault;
  struct func_stats stats = {0};
  struct device_config config = device_config_default(sm);
  size_t bytes = THREADS * VALUES * sizeof out[0];
  struct { uint64_t out; int32_t which; } params = {.which = which};
  if (!device_init(&d, &config, &e) || !device_link(&d, path, 2, "rdc_all", &code, &e))
    fail_msg("%s", e.msg);
  params.out = gmem_alloc(d.mem, bytes, "out");
  struct launch_desc desc = {.code = code.instance, .kernel = module_kernel(code.module, "rdc_all", &e),
                             .grid = {1, 1, 1}, .block = {THREADS, 1, 1},
                             .params = &params, .param_bytes = 12};
  if (!desc.kernel || !launch_init(&l, &d, &desc, &e)) fail_msg("%s", e.msg);
  if (!func_run(l.func, &stats, &fault)) fail_msg("%s", fault.text);
  assert_true(gmem_read(d.mem, params.out, out, bytes));
  launch_free(&l);
  device_unload(&code);
  device_free(&d);
}

/* rdc_all of rdc_main.cu. */
static void check_results(const char *const *path, unsigned sm)
{
  static const int scale[4] = {11, 22, 33, 44}, own[3] = {5, 6, 7};
  int32_t out[THREADS * VALUES];
  for (int which = 0; which < 2; which++) {
    run(path, sm, which, out);
    for (int x = 0; x < THREADS; x++) {
      const int32_t *o = out + VALUES * x;
      int twice = 2 * x + scale[x & 3], both = 5 * x + 9;
      assert_int_equal(o[0], twice);
      assert_int_equal(o[1], which ? 7 * x - 2 + both : twice);
      assert_int_equal(o[2], 3 * x + 1);
      assert_int_equal(o[3], both + own[which]);
      assert_int_equal(o[4], scale[x & 3]);
      assert_int_equal(o[5], THREADS - 1 - x);
      assert_int_equal(o[6], 1);
      assert_int_equal(o[7], -5);
    }
  }
}

static void test_results(void **state)
{
  char text[2][256];
  const char *path[2];
  (void)state;
  for (unsigned i = 0; i < N_TARGETS; i++)
    for (int swap = 0; swap < 2; swap++) {
      paths(targets[i], swap, text, path);
      check_results(path, targets[i]);
    }
}

/* The objects inside host objects of nvcc -dc. */
static void test_host_objects(void **state)
{
  static const char *const path[] = {DATA "rdc_main.program", DATA "rdc_part.program"};
  (void)state;
  check_results(path, 86);
}

/* ---- What kernels need ---- */

static struct module *link_paths(const char *const *path, unsigned n, unsigned sm)
{
  struct err e = {0};
  struct module *m = code_file_link_paths(path, n, sm, &e);
  if (!m) fail_msg("%s", e.msg);
  return m;
}

static void check_needs(unsigned sm)
{
  char text[2][256], linked_path[256];
  const char *path[2];
  struct err e = {0};
  paths(sm, false, text, path);
  snprintf(linked_path, sizeof linked_path, DATA "rdc.sm_%u.cubin", sm);
  struct module *ours = link_paths(path, 2, sm), *theirs = module_load(linked_path, &e);
  assert_non_null(theirs);
  assert_int_equal(module_kernel_count(ours), module_kernel_count(theirs));
  for (unsigned i = 0; i < module_kernel_count(theirs); i++) {
    const struct module_kernel *want = module_kernel_at(theirs, i);
    const struct module_kernel *got = module_kernel(ours, want->name, NULL);
    assert_non_null(got);
    assert_int_equal(got->regs, want->regs);
    assert_int_equal(got->barriers, want->barriers);
    assert_int_equal(got->stack_bytes, want->stack_bytes);
    assert_int_equal(got->param_base, want->param_base);
    assert_int_equal(got->param_bytes, want->param_bytes);
    assert_true(got->shared_static >= want->shared_static);
  }
  module_free(ours);
  module_free(theirs);
}

static void test_needs(void **state)
{
  (void)state;
  for (unsigned i = 0; i < N_TARGETS; i++) check_needs(targets[i]);
}

/* ---- Names ---- */

struct object {
  uint8_t data[MAX_FILE];
  size_t bytes;
};

static struct object read_object(const char *file)
{
  struct object o;
  char path[256];
  snprintf(path, sizeof path, DATA "%s", file);
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  o.bytes = fread(o.data, 1, sizeof o.data, f);
  fclose(f);
  assert_true(o.bytes > 0 && o.bytes < sizeof o.data);
  return o;
}

/* Renames a symbol; names of the same length. */
static void rename_symbol(struct object *o, const char *from, const char *to)
{
  size_t n = strlen(from) + 1;
  assert_int_equal(strlen(to) + 1, n);
  for (size_t i = 1; i + n < o->bytes; i++)
    if (o->data[i - 1] == 0 && memcmp(o->data + i, from, n) == 0) memcpy(o->data + i, to, n);
}

static void set_binding(struct object *o, const char *name, unsigned bind)
{
  Elf64_Ehdr h;
  memcpy(&h, o->data, sizeof h);
  for (unsigned i = 0; i < h.e_shnum; i++) {
    Elf64_Shdr s, strings;
    memcpy(&s, o->data + h.e_shoff + i * sizeof s, sizeof s);
    if (s.sh_type != SHT_SYMTAB) continue;
    memcpy(&strings, o->data + h.e_shoff + s.sh_link * sizeof s, sizeof strings);
    for (uint64_t at = s.sh_offset; at < s.sh_offset + s.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym y;
      memcpy(&y, o->data + at, sizeof y);
      if (strcmp((char *)o->data + strings.sh_offset + y.st_name, name) != 0) continue;
      y.st_info = (uint8_t)ELF64_ST_INFO(bind, ELF64_ST_TYPE(y.st_info));
      memcpy(o->data + at, &y, sizeof y);
      return;
    }
  }
  fail_msg("no symbol %s", name);
}

static struct module *link_two(const struct object *a, const struct object *b, struct err *e)
{
  return module_link((struct module_file[]){{"a.o", a->data, a->bytes}, {"b.o", b->data, b->bytes}},
                     2, e);
}

static uint64_t only_pc(const struct module *m, const char *name)
{
  uint64_t pc = 0;
  for (unsigned i = 0; i < module_symbol_count(m); i++) {
    const struct module_symbol *s = module_symbol_at(m, i);
    if (strcmp(s->name, name) != 0) continue;
    assert_int_equal(pc, 0); /* twice */
    pc = s->offset;
  }
  assert_true(pc != 0);
  return pc;
}

static unsigned sections_called(const struct module *m, const char *name)
{
  struct module_text t;
  unsigned n = 0;
  for (uint32_t at = 0; module_next_text(m, &at, &t);) n += strcmp(t.name, name) == 0;
  return n;
}

/* An inline function stays once: of the first file, unless another one has a strong definition. Code lies
 * in the order of the files. */
static void test_weak(void **state)
{
  struct object a = read_object("rdc_main.sm_86.cubin"), b = read_object("rdc_part.sm_86.cubin");
  (void)state;
  for (int strong = 0; strong < 2; strong++) {
    struct err e = {0};
    if (strong) set_binding(&b, "_Z4bothi", STB_GLOBAL);
    struct module *m = link_two(&a, &b, &e);
    if (!m) fail_msg("%s", e.msg);
    assert_int_equal(sections_called(m, ".text._Z4bothi"), 1);
    assert_int_equal(only_pc(m, "_Z4bothi") > only_pc(m, "rdc_all"), strong);
    module_free(m);
  }
}

/* Renames in the first object, and what the line then says. */
static const struct {
  const char *first, *second, *from, *to;
  const char *says[3];
} errors[] = {
    {"rdc_part.sm_86.cubin", "rdc_part.sm_86.cubin", NULL, NULL, {"b.o: '_Z5mixedi' is defined in a.o"}},
    {"rdc_main.sm_90.cubin", "object.sm_90.cubin", NULL, NULL, {"a.o: needs '_Z5smalli', which no"}},
    {"rdc_main.sm_86.cubin", "rdc_part.sm_90.cubin", NULL, NULL, {"b.o: ", "sm_90, and a.o for sm_86"}},
    {"rdc_main.sm_86.cubin", "rdc.sm_86.cubin", NULL, NULL, {"b.o: is linked already"}},
    {"rdc.sm_86.cubin", "rdc_main.sm_86.cubin", NULL, NULL, {"a.o: is linked already"}},
    {"rdc_main.sm_86.cubin", "rdc_part.sm_86.cubin", "scale", "table",
     {"'table' is a ", "__constant__ variable", "__device__ variable in b.o"}},
    {"rdc_main.sm_86.cubin", "rdc_part.sm_86.cubin", "offset", "unused",
     {"a.o: 'unused' has 12 bytes, and 20 in b.o"}},
    {"rdc_main.sm_86.cubin", "rdc_part.sm_86.cubin", "counter", "missing", {"a.o: needs 'missing'"}},
};

static void test_errors(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    struct object a = read_object(errors[i].first), b = read_object(errors[i].second);
    struct err e = {0};
    if (errors[i].from) rename_symbol(&a, errors[i].from, errors[i].to);
    struct module *m = link_two(&a, &b, &e);
    if (m) fail_msg("row %zu was linked", i);
    for (int k = 0; k < 3 && errors[i].says[k]; k++)
      if (!strstr(e.msg, errors[i].says[k])) fail_msg("got \"%s\", want \"%s\"", e.msg, errors[i].says[k]);
  }
}

int main(void)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results), cmocka_unit_test(test_host_objects), cmocka_unit_test(test_needs),
      cmocka_unit_test(test_weak),    cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
