/* Captured launches: what is taken, written, read and restored, and what a comparison finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "host/snapshot.h"

#define CUBIN WS_SOURCE_DIR "/kernels/vecadd/vecadd.sm_86.cubin"
enum { N = 500, FAR = 3 << 20 };

struct box {
  struct device device;
  struct device_code code;
  struct launch launch;
};

static struct snapshot_bytes read_file(const char *path)
{
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  uint8_t *data = malloc(1 << 20);
  size_t n = fread(data, 1, 1 << 20, f);
  fclose(f);
  return (struct snapshot_bytes){ data, n };
}

static void run(struct box *b, const struct launch_desc *desc, struct sim_result *r)
{
  struct err e = {""};
  struct func_stats stats = {0};
  if (!launch_init(&b->launch, &b->device, desc, &e)) fail_msg("%s", e.msg);
  *r = (struct sim_result){ .end = func_run(b->launch.func, &stats, &r->fault) ? RUN_DONE : RUN_FAULT };
  launch_free(&b->launch);
}

/* x[i] = i, y[i] = 2 i, z = x + y. A hole that was freed, and a large buffer of which one word is used. */
static struct snapshot *take(struct box *b)
{
  struct err e = {""};
  struct sim_result r;
  struct device_config config = device_config_default(86);
  struct snapshot_bytes code = read_file(CUBIN);
  struct gmem *mem;
  float v;
  assert_true(device_init(&b->device, &config, &e));
  mem = b->device.mem;
  assert_true(device_load(&b->device, CUBIN, "vecadd", &b->code, &e));
  struct { uint64_t x, y, z; uint32_t n; } args = { .n = N };
  args.x = gmem_alloc(mem, N * 4, "x");
  uint64_t gone = gmem_alloc(mem, 100, "gone");
  args.y = gmem_alloc(mem, N * 4, "y");
  args.z = gmem_alloc(mem, FAR + N * 4, "z") + FAR;
  assert_true(gmem_release(mem, gone));
  for (unsigned i = 0; i < N; i++) {
    v = (float)i;
    assert_true(gmem_write(mem, args.x + 4 * i, &v, 4));
    v = (float)(2 * i);
    assert_true(gmem_write(mem, args.y + 4 * i, &v, 4));
  }
  struct launch_desc desc = { .code = b->code.instance, .grid = {2, 1, 1}, .block = {256, 1, 1},
                              .kernel = module_kernel(b->code.module, "vecadd", &e), .params = &args };
  desc.param_bytes = desc.kernel->param_bytes;
  struct snapshot *s = snapshot_take(&b->device, &desc, "rtx-3070", &code, 1);
  run(b, &desc, &r);
  assert_int_equal(r.end, RUN_DONE);
  snapshot_finish(s, &b->device, &r, "text\n", 5);
  free((void *)(uintptr_t)code.data);
  return s;
}

static struct snapshot *write_and_read(const struct snapshot *s)
{
  char path[] = "/tmp/warpstep-snapshot-XXXXXX";
  struct err e = {""};
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  bool taken = false;
  assert_false(snapshot_write(s, path, &taken, &e)); /* never over another file */
  assert_true(taken);
  assert_false(snapshot_write(s, "/dev/null/none", &taken, &e));
  assert_false(taken);
  remove(path);
  if (!snapshot_write(s, path, &taken, &e)) fail_msg("%s", e.msg);
  assert_true(snapshot_is_file(path));
  struct snapshot *back = snapshot_read(path, &e);
  if (!back) fail_msg("%s", e.msg);
  remove(path);
  return back;
}

static void restore(const struct snapshot *s, struct box *b)
{
  struct err e = {""};
  struct device_config config = device_config_default(86);
  config.heap_bytes = 0;
  config.page_bits = 21; /* another GPU's pages */
  assert_true(device_init(&b->device, &config, &e));
  if (!snapshot_restore(s, &b->device, &b->code, &e)) fail_msg("%s", e.msg);
}

static const struct snapshot_result *named(const struct snapshot *s, const struct box *b,
                                           const char *name, struct snapshot_result *out)
{
  for (size_t i = 0; i < s->n_ranges; i++) {
    if (strcmp(s->range[i].name, name) != 0) continue;
    snapshot_compare(s, &b->device, i, out);
    return out;
  }
  fail_msg("no allocation %s", name);
  return NULL;
}

static void test_round_trip(void **state)
{
  (void)state;
  struct box first, again;
  struct snapshot_result z;
  struct sim_result r;
  struct err e = {""};
  struct snapshot *taken = take(&first), *s = write_and_read(taken);
  assert_string_equal(s->gpu, "rtx-3070");
  assert_int_equal(s->part[SNAPSHOT_PRINT].bytes, 5);
  /* little of 3 MiB of zeros is kept */
  assert_true(s->part[SNAPSHOT_BEFORE].bytes < 3 * N * 4);
  restore(s, &again);
  /* before the launch: z[0] = 0 is right by chance, the other 499 are not there yet */
  assert_int_equal(named(s, &again, "z", &z)->changed, N - 1);
  assert_int_equal(z.wrong, N - 1);
  assert_int_equal(z.first_wrong, FAR + 4);
  struct launch_desc desc = { .code = again.code.instance, .grid = {2, 1, 1}, .block = {256, 1, 1},
                              .kernel = module_kernel(again.code.module, s->kernel, &e),
                              .params = s->part[SNAPSHOT_PARAMS].data,
                              .param_bytes = (uint32_t)s->part[SNAPSHOT_PARAMS].bytes };
  run(&again, &desc, &r);
  for (size_t i = 0; i < s->n_ranges; i++) {
    snapshot_compare(s, &again.device, i, &z);
    assert_int_equal(z.wrong, 0);
  }
  /* z[7] = 21 and x[3] = 3, changed by somebody */
  float want = 21, bad = 22;
  uint64_t at = named(s, &again, "z", &z)->addr + FAR + 7 * 4;
  assert_true(gmem_write(again.device.mem, at, &bad, 4));
  assert_int_equal(named(s, &again, "z", &z)->wrong, 1);
  assert_int_equal(z.first_wrong, FAR + 7 * 4);
  assert_memory_equal(&z.want, &want, 4);
  assert_memory_equal(&z.got, &bad, 4);
  assert_true(gmem_write(again.device.mem, named(s, &again, "x", &z)->addr + 3 * 4, &bad, 4));
  assert_int_equal(named(s, &again, "x", &z)->wrong, 1);
  assert_int_equal(z.changed, 0);
  snapshot_free(taken);
  snapshot_free(s);
  device_unload(&first.code);
  device_free(&first.device);
  device_unload(&again.code);
  device_free(&again.device);
}

/* A capture whose parts contradict each other is refused, whatever its checksums say. */
static void test_contradictions(void **state)
{
  (void)state;
  struct box b, other;
  struct err e = {""};
  struct device_config config = device_config_default(86);
  struct snapshot *s = take(&b);
  config.heap_bytes = 0;
  const uint64_t first = s->range[0].addr, last = s->range[s->n_ranges - 1].addr + s->range[s->n_ranges - 1].bytes;
  for (unsigned k = 0; k < 7; k++) {
    uint64_t bytes = s->range[1].bytes;
    struct snapshot_bytes before = s->part[SNAPSHOT_BEFORE];
    if (k == 0) s->range[1].bytes = 1 << 20; /* reaches into the next */
    if (k == 1) s->part[SNAPSHOT_BEFORE].bytes -= 1;
    if (k == 2) s->module_memory = UINT64_C(0x7a0000000);
    if (k == 3) s->next_address = UINT64_C(1) << 50;
    if (k == 4) s->next_address = first - 512; /* a copy of the parameters would lie in the first */
    if (k == 5) s->next_address = first - 32768; /* the grid's barrier and the largest parameters */
    if (k == 6) s->next_address = last | 1;
    assert_true(device_init(&other.device, &config, &e));
    assert_false(snapshot_restore(s, &other.device, &other.code, &e));
    assert_non_null(strstr(e.msg, "damaged capture"));
    device_unload(&other.code);
    device_free(&other.device);
    s->range[1].bytes = bytes;
    s->part[SNAPSHOT_BEFORE] = before;
    if (k == 2) s->module_memory = 0;
  }
  snapshot_free(s);
  device_unload(&b.code);
  device_free(&b.device);
}

/* A GPU that does not run the code: the advice names the presets of the user's own folder. */
static void test_advice(void **state)
{
  static const struct { const char *from, *to; } file[] = {
    {"common.cfg", "common.cfg"}, {"sm86.cfg", "sm86.cfg"}, {"rtx-3070.cfg", "mine.cfg"},
  };
  (void)state;
  struct box b, other;
  struct err e = {""};
  struct device_config config = device_config_default(90);
  struct snapshot *s = take(&b);
  char dir[] = "/tmp/warpstep-presets-XXXXXX", from[512], to[512];
  assert_non_null(mkdtemp(dir));
  for (unsigned i = 0; i < sizeof file / sizeof file[0]; i++) {
    snprintf(from, sizeof from, WS_SOURCE_DIR "/presets/%s", file[i].from);
    snprintf(to, sizeof to, "%s/%s", dir, file[i].to);
    assert_int_equal(symlink(from, to), 0);
  }
  config.heap_bytes = 0;
  config.presets = dir;
  assert_true(device_init(&other.device, &config, &e));
  assert_false(snapshot_restore(s, &other.device, &other.code, &e));
  assert_non_null(strstr(e.msg, "choose --gpu mine"));
  device_unload(&other.code);
  device_free(&other.device);
  for (unsigned i = 0; i < sizeof file / sizeof file[0]; i++) {
    snprintf(to, sizeof to, "%s/%s", dir, file[i].to);
    assert_int_equal(unlink(to), 0);
  }
  assert_int_equal(rmdir(dir), 0);
  snapshot_free(s);
  device_unload(&b.code);
  device_free(&b.device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round_trip),
    cmocka_unit_test(test_contradictions),
    cmocka_unit_test(test_advice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
