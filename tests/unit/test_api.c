/* The C library (include/warpstep/warpstep.h), as a program uses it: nothing else is included, but the
 * assembler for a kernel that never ends. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load/asm_source.h"
#include "warpstep/warpstep.h"

#define KERNELS WS_SOURCE_DIR "/kernels/"
#define DATA WS_SOURCE_DIR "/tests/data/"

static const char spin_source[] = ".target sm_86\n.kernel spin\nagain:\n  [S04] IADD3 R0, R0, 0x1, RZ ;\n"
                                  "  [S05] BRA again ;\n";

static void must(int status, const ws_error *e)
{
  if (status) fail_msg("status %d: %s", status, e->message);
  assert_int_equal(status, WS_OK);
}

static void says(int status, int want, const ws_error *e, const char *text)
{
  assert_int_equal(status, want);
  assert_int_equal(e->status, want);
  if (!strstr(e->message, text)) fail_msg("got \"%s\", want \"%s\"", e->message, text);
}

static ws_device *device(const char *preset)
{
  struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_device *d = NULL;
  o.preset = preset;
  must(ws_device_create(&o, &d, &e), &e);
  return d;
}

static const ws_kernel *kernel_of(ws_device *d, const char *file, const char *name, ws_module **m)
{
  ws_error e = WS_ERROR_INIT;
  const ws_kernel *k = NULL;
  must(ws_module_load(d, file, m, &e), &e);
  must(ws_module_kernel(*m, name, &k, &e), &e);
  return k;
}

static void test_version(void **state)
{
  char text[32];
  (void)state;
  snprintf(text, sizeof text, "%d.%d.%d", WS_VERSION_MAJOR, WS_VERSION_MINOR, WS_VERSION_PATCH);
  assert_string_equal(ws_version(), text);
  assert_int_equal(ws_abi_version(), WS_ABI_VERSION);
}

static void test_device_errors(void **state)
{
  struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
  const char *const unknown[] = {"sm.no_such_key=1"}, *const range[] = {"gpu.sms=0"};
  ws_error e = WS_ERROR_INIT;
  ws_device *d = (ws_device *)&o;
  (void)state;
  says(ws_device_create(&o, &d, &e), WS_BAD_ARGUMENT, &e, "no preset");
  o.preset = "no-such-gpu";
  says(ws_device_create(&o, &d, &e), WS_BAD_PRESET, &e, "no preset 'no-such-gpu'");
  o.preset = "rtx-3070";
  o.overrides = unknown, o.n_overrides = 1;
  says(ws_device_create(&o, &d, &e), WS_BAD_PRESET, &e, "sm.no_such_key");
  o.overrides = range;
  says(ws_device_create(&o, &d, &e), WS_BAD_PRESET, &e, "gpu.sms");
  o.size = sizeof o + 8;
  says(ws_device_create(&o, &d, &e), WS_BAD_ARGUMENT, &e, "size");
  o.size = 0;
  assert_int_equal(ws_device_create(&o, &d, NULL), WS_BAD_ARGUMENT);
  assert_ptr_equal(d, &o); /* outputs are unchanged */
  ws_device_destroy(NULL);
}

/* A caller built with an older header: its struct ends before what was added. */
static void test_older_caller(void **state)
{
  struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
  const char *const sms[] = {"gpu.sms=2"};
  ws_error e = WS_ERROR_INIT;
  ws_device *d;
  (void)state;
  o.preset = "rtx-3070";
  o.overrides = sms, o.n_overrides = 1;
  o.size = offsetof(struct ws_device_options, heap_bytes);
  o.heap_bytes = UINT64_MAX; /* not known to such a caller: rubbish */
  must(ws_device_create(&o, &d, &e), &e);
  assert_string_equal(ws_device_parameter(d, "gpu.sms"), "2");
  assert_null(ws_device_parameter(d, "no.such"));
  ws_device_destroy(d);
  struct { ws_error e; char guard; } small = {{offsetof(ws_error, message) + 8, 0, {0}}, 'g'};
  small.e.message[8] = 'x';
  assert_int_equal(ws_device_create(NULL, &d, &small.e), WS_BAD_ARGUMENT);
  assert_int_equal(small.e.status, WS_BAD_ARGUMENT);
  assert_memory_equal(small.e.message, "options", 7);
  assert_int_equal(small.e.message[8], 'x');
}

static void test_memory(void **state)
{
  static const uint16_t pattern = 0xabcd;
  uint8_t in[64], out[64];
  ws_address a, b, none = 1;
  ws_error e = WS_ERROR_INIT;
  ws_device *d = device("rtx-3070");
  (void)state;
  for (unsigned i = 0; i < sizeof in; i++) in[i] = (uint8_t)(3 * i + 1);
  must(ws_alloc(d, 64, &a, &e), &e);
  must(ws_alloc(d, 1 << 20, &b, &e), &e);
  assert_true(a && b && a % 512 == 0 && b % 512 == 0 && a != b);
  must(ws_copy_out(d, out, b, 64, &e), &e);
  for (unsigned i = 0; i < 64; i++) assert_int_equal(out[i], 0);
  must(ws_copy_in(d, a, in, 64, &e), &e);
  must(ws_copy(d, a + 8, a, 32, &e), &e); /* the ranges overlap */
  must(ws_copy_out(d, out, a, 64, &e), &e);
  assert_memory_equal(out, in, 8);
  assert_memory_equal(out + 8, in, 32);
  assert_memory_equal(out + 40, in + 40, 24);
  must(ws_fill(d, b + 2, &pattern, sizeof pattern, 3, &e), &e);
  must(ws_copy_out(d, out, b, 10, &e), &e);
  assert_memory_equal(out, "\0\0\xcd\xab\xcd\xab\xcd\xab\0\0", 10);
  says(ws_copy_in(d, 0, in, 4, &e), WS_BAD_ARGUMENT, &e, "4 bytes at 0x0");
  says(ws_alloc(d, UINT64_C(9) << 30, &none, &e), WS_OUT_OF_MEMORY, &e, "8192 MiB");
  must(ws_alloc(d, UINT64_C(6) << 30, &none, &e), &e);
  says(ws_alloc(d, UINT64_C(6) << 30, &b, &e), WS_OUT_OF_MEMORY, &e, "in use");
  must(ws_free(d, none, &e), &e);
  must(ws_alloc(d, UINT64_C(6) << 30, &b, &e), &e);
  says(ws_free(d, none, &e), WS_BAD_ARGUMENT, &e, "not the start of an allocation");
  ws_device_destroy(d);
}

/* ---- modules ---- */

static void test_kernels(void **state)
{
  ws_error e = WS_ERROR_INIT;
  ws_module *m, *program;
  const ws_kernel *k;
  ws_device *d = device("rtx-3070");
  size_t offset;
  (void)state;
  k = kernel_of(d, KERNELS "vecadd/vecadd.sm_86.cubin", "vecadd", &m);
  assert_string_equal(ws_kernel_name(k), "vecadd");
  assert_int_equal(ws_kernel_parameter_count(k), 4); /* three pointers and an int */
  assert_int_equal(ws_kernel_parameter(k, 3, &offset), 4);
  assert_int_equal(offset, 24);
  assert_int_equal(ws_kernel_parameter(k, 4, NULL), 0);
  assert_true(ws_kernel_attribute(k, WS_KERNEL_REGISTERS) > 0);
  assert_int_equal(ws_kernel_attribute(k, WS_KERNEL_SHARED_BYTES), 0);
  says(ws_module_kernel(m, "nothing", &k, &e), WS_NOT_FOUND, &e, "vecadd");
  says(ws_module_kernel(m, "vecad", &k, &e), WS_NOT_FOUND, &e, "did you mean 'vecadd'?");
  says(ws_module_load(d, KERNELS "vecadd/vecadd.sm_90.cubin", &m, &e), WS_BAD_FILE, &e, "sm_90");
  says(ws_module_load(d, "/no/such/file", &m, &e), WS_BAD_FILE, &e, "cannot read");
  says(ws_module_load_memory(d, "rubbish", 7, "seven", &m, &e), WS_BAD_FILE, &e, "seven");
  /* A program of two sources: both parts are there, each kernel once. */
  must(ws_module_load(d, DATA "fat.program", &program, &e), &e);
  assert_int_equal(ws_module_kernel_count(program), 5);
  must(ws_module_kernel(program, "fat_add", &k, &e), &e);
  must(ws_module_kernel(program, "fat_pick", &k, &e), &e);
  assert_null(ws_module_kernel_at(program, 5));
  ws_module_unload(program);
  ws_device_destroy(d); /* with what is still loaded */
}

struct text { char bytes[256]; size_t n; };

static void keep(void *context, const char *text, size_t bytes)
{
  struct text *t = context;
  assert_true(t->n + bytes < sizeof t->bytes);
  memcpy(t->bytes + t->n, text, bytes);
  t->n += bytes;
}

/* linked.cu: out[0] = twice(out[1]) = 2 x + scale[x & 3]; counter += 1; printf of the result. */
static void test_variables_and_print(void **state)
{
  static const int32_t scale[4] = {10, 20, 30, 40}, input[2] = {0, 5};
  struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
  struct ws_launch l = WS_LAUNCH_INIT;
  struct text printed = {.n = 0};
  ws_error e = WS_ERROR_INIT;
  ws_device *d;
  ws_module *m;
  ws_address out, counter;
  ws_result *r;
  int32_t which = 0, got;
  uint64_t bytes;
  (void)state;
  o.preset = "rtx-3070", o.print = keep, o.print_context = &printed;
  must(ws_device_create(&o, &d, &e), &e);
  const ws_kernel *k = kernel_of(d, DATA "linked.sm_86.cubin", "linked", &m);
  must(ws_variable(m, "counter", &counter, &bytes, &e), &e);
  assert_int_equal(bytes, 4);
  says(ws_variable(m, "scale", NULL, NULL, &e), WS_NOT_FOUND, &e, "scale"); /* __constant__ */
  says(ws_variable_write(m, "scale", scale, 17, &e), WS_BAD_ARGUMENT, &e, "17 bytes");
  must(ws_variable_write(m, "scale", scale, sizeof scale, &e), &e);
  must(ws_alloc(d, 8, &out, &e), &e);
  must(ws_copy_in(d, out, input, sizeof input, &e), &e);
  void *arguments[] = {&out, &which};
  l.arguments = arguments;
  for (int i = 1; i <= 2; i++) {
    l.mode = i == 1 ? WS_TIMED : WS_FUNCTIONAL;
    must(ws_launch(k, &l, &r, &e), &e);
    assert_int_equal(ws_result_end(r), WS_ENDED);
    ws_result_destroy(r);
    must(ws_copy_out(d, &got, out, 4, &e), &e);
    assert_int_equal(got, 2 * 5 + 20);
    must(ws_copy_out(d, &got, counter, 4, &e), &e);
    assert_int_equal(got, 7 + i);
    must(ws_variable_read(m, "counter", &got, 4, &e), &e);
    assert_int_equal(got, 7 + i);
  }
  assert_int_equal(printed.n, 6);
  assert_memory_equal(printed.bytes, "30\n30\n", 6);
  ws_device_destroy(d);
}

/* ---- launches ---- */

struct add {
  ws_device *d;
  const ws_kernel *k;
  ws_address x, y, z;
  uint32_t n;
  void *arguments[4];
  struct ws_launch l;
};

static struct add *add_new(const char *preset, uint32_t n)
{
  struct add *a = calloc(1, sizeof *a);
  ws_error e = WS_ERROR_INIT;
  ws_module *m;
  a->d = device(preset);
  a->k = kernel_of(a->d, KERNELS "vecadd/vecadd.sm_86.cubin", "vecadd", &m);
  must(ws_alloc(a->d, 4 * n, &a->x, &e), &e);
  must(ws_alloc(a->d, 4 * n, &a->y, &e), &e);
  must(ws_alloc(a->d, 4 * n, &a->z, &e), &e);
  a->n = n;
  void *arguments[] = {&a->x, &a->y, &a->z, &a->n};
  memcpy(a->arguments, arguments, sizeof arguments);
  a->l = (struct ws_launch)WS_LAUNCH_INIT;
  a->l.arguments = a->arguments;
  a->l.grid[0] = (n + 255) / 256;
  a->l.block[0] = 256;
  return a;
}

static void add_free(struct add *a)
{
  ws_device_destroy(a->d);
  free(a);
}

/* Counters that must agree whatever the program: laws of the accounting. */
static void test_timed_result(void **state)
{
  struct add *a = add_new("rtx-3070", 1024);
  struct ws_counter c = WS_COUNTER_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_result *r, *two;
  uint64_t sum = 0, v, slot, total;
  const char *name;
  (void)state;
  a->l.flags = WS_JSON | WS_CHECK_HAZARDS;
  must(ws_launch(a->k, &a->l, &r, &e), &e);
  assert_int_equal(ws_result_end(r), WS_ENDED);
  /* 1725 MHz is 580 ps (params_clock_ps): cycles and time are one clock. */
  assert_true(ws_result_cycles(r) > 0);
  assert_true(ws_result_nanoseconds(r) > 0.579 * (double)ws_result_cycles(r) &&
              ws_result_nanoseconds(r) < 0.581 * (double)ws_result_cycles(r));
  must(ws_result_counter(r, "gpu.cycles", &v, &e), &e);
  assert_int_equal(v, ws_result_cycles(r));
  must(ws_result_counter(r, "sm.slot.selected", &v, &e), &e);
  assert_int_equal(v, ws_result_instructions(r)); /* a slot issues one instruction */
  must(ws_result_counter(r, "sm.ctas", &v, &e), &e);
  assert_int_equal(v, 4);
  for (size_t i = 0; ws_result_slot_at(r, i, &name, &slot, NULL) == WS_OK; i++) sum += slot;
  total = 0;
  for (size_t i = 0; i < ws_result_counter_count(r); i++) {
    must(ws_result_counter_at(r, i, &c, &e), &e);
    if (strncmp(c.name, "sm.slot.", 8) == 0) total += c.value;
    assert_true(c.unit && c.text && *c.text);
  }
  assert_true(sum > 0);
  assert_int_equal(sum, total);
  says(ws_result_counter(r, "no.such", &v, &e), WS_NOT_FOUND, &e, "no.such");
  says(ws_result_counter_at(r, ws_result_counter_count(r), &c, &e), WS_NOT_FOUND, &e, "only");
  assert_non_null(strstr(ws_result_json(r), "\"schema\": \"warpstep-run-1\""));
  assert_int_equal(ws_result_hazard_count(r), 0);
  assert_non_null(ws_result_hazard_report(r));
  a->l.threads = 2;
  a->l.flags = WS_CHECK_HAZARDS;
  must(ws_launch(a->k, &a->l, &two, &e), &e); /* other threads: a fresh GPU, the same cycles */
  assert_int_equal(ws_result_cycles(two), ws_result_cycles(r));
  assert_null(ws_result_json(two));
  add_free(a);
  assert_true(ws_result_cycles(r) > 0); /* results outlive their device */
  ws_result_destroy(r);
  ws_result_destroy(two);
}

static void test_launch_errors(void **state)
{
  struct add *a = add_new("rtx-3070", 256);
  ws_error e = WS_ERROR_INIT;
  ws_result *r = NULL;
  struct ws_launch good = a->l;
  (void)state;
  a->l.block[0] = 2048;
  says(ws_launch(a->k, &a->l, &r, &e), WS_BAD_LAUNCH, &e, "block dimension x is 2048");
  a->l = good, a->l.arguments = NULL;
  says(ws_launch(a->k, &a->l, &r, &e), WS_BAD_LAUNCH, &e, "argument 1");
  a->l = good, a->l.mode = 7;
  says(ws_launch(a->k, &a->l, &r, &e), WS_BAD_ARGUMENT, &e, "mode 7");
  a->l = good, a->l.flags = 1u << 31;
  says(ws_launch(a->k, &a->l, &r, &e), WS_BAD_ARGUMENT, &e, "flags 0x80000000");
  a->l = good, a->l.mode = WS_FUNCTIONAL, a->l.max_cycles = 1;
  says(ws_launch(a->k, &a->l, &r, &e), WS_BAD_ARGUMENT, &e, "no cycles");
  a->l = good, a->l.shared_bytes = 1 << 20;
  says(ws_launch(a->k, &a->l, &r, &e), WS_BAD_LAUNCH, &e, "shared memory");
  /* 46 SMs hold 6 CTAs of 256 threads each (1536 threads per SM): 276 at once. */
  a->l = good, a->l.flags = WS_COOPERATIVE, a->l.grid[0] = 277;
  says(ws_launch(a->k, &a->l, &r, &e), WS_BAD_LAUNCH, &e, "276");
  assert_null(r);
  a->l.grid[0] = 276;
  must(ws_launch(a->k, &a->l, &r, &e), &e);
  ws_result_destroy(r);
  add_free(a);
}

static void test_fault(void **state)
{
  struct add *a = add_new("rtx-3070", 256);
  struct ws_fault f = WS_FAULT_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_address good = a->z;
  ws_result *r;
  (void)state;
  for (int mode = WS_TIMED; mode <= WS_FUNCTIONAL; mode++) {
    a->l.mode = mode;
    a->z = 0;
    must(ws_launch(a->k, &a->l, &r, &e), &e);
    assert_int_equal(ws_result_end(r), WS_FAULT);
    must(ws_result_fault(r, &f, &e), &e);
    assert_int_equal(f.kind, WS_ILLEGAL_ADDRESS);
    assert_string_equal(f.kind_name, "illegal address");
    assert_string_equal(f.kernel, "vecadd");
    assert_memory_equal(f.where, "vecadd+0x", 9);
    assert_non_null(strstr(f.instruction, "STG"));
    assert_true(f.address < 1024); /* z = 0, 256 elements */
    assert_int_equal(f.address, 4 * (f.cta[0] * 256 + f.thread[0]));
    assert_true(*f.message && *f.near_allocation);
    ws_result_destroy(r);
    a->z = good; /* the next launch is none the worse */
    must(ws_launch(a->k, &a->l, &r, &e), &e);
    assert_int_equal(ws_result_end(r), WS_ENDED);
    says(ws_result_fault(r, &f, &e), WS_NOT_FOUND, &e, "0");
    ws_result_destroy(r);
  }
  add_free(a);
}

/* Devices share nothing: two threads, one each, compute the same as one. */
static void *add_in_thread(void *unused)
{
  struct add *a = add_new("rtx-3070", 4096);
  ws_error e = WS_ERROR_INIT;
  ws_result *r;
  (void)unused;
  must(ws_launch(a->k, &a->l, &r, &e), &e);
  uint64_t *cycles = malloc(sizeof *cycles);
  *cycles = ws_result_cycles(r);
  ws_result_destroy(r);
  add_free(a);
  return cycles;
}

static void test_two_devices(void **state)
{
  pthread_t thread[2];
  uint64_t *alone = add_in_thread(NULL);
  (void)state;
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, add_in_thread, NULL), 0);
  for (int i = 0; i < 2; i++) {
    void *cycles;
    pthread_join(thread[i], &cycles);
    assert_int_equal(*(uint64_t *)cycles, *alone);
    free(cycles);
  }
  free(alone);
}

/* ---- limits and cancelling ---- */

static int cancel_third(void *context, const struct ws_progress *p)
{
  int *calls = context;
  assert_int_equal(p->ctas, 2);
  assert_int_equal(p->ctas_done, 0);
  return ++*calls == 3;
}

static void test_never_ending(void **state)
{
  struct ws_launch l = WS_LAUNCH_INIT;
  struct ws_place p = WS_PLACE_INIT;
  struct arena arena = {0};
  struct err why = {0};
  ws_error e = WS_ERROR_INIT;
  ws_device *d = device("rtx-3070");
  ws_module *m;
  const ws_kernel *k;
  ws_result *r;
  size_t bytes;
  int calls = 0;
  (void)state;
  const void *image = asm_source_assemble(&arena, spin_source, strlen(spin_source), "spin", NULL, &bytes, &why);
  assert_non_null(image);
  must(ws_module_load_memory(d, image, bytes, "spin", &m, &e), &e);
  arena_free(&arena);
  must(ws_module_kernel(m, "spin", &k, &e), &e);
  l.grid[0] = 2, l.block[0] = 96;
  l.max_cycles = 20000;
  must(ws_launch(k, &l, &r, &e), &e);
  assert_int_equal(ws_result_end(r), WS_CYCLE_LIMIT);
  assert_true(ws_result_cycles(r) >= 20000 && ws_result_cycles(r) < 21000);
  uint64_t warps = 0, lanes = 0;
  for (size_t i = 0; i < ws_result_place_count(r); i++) {
    must(ws_result_place_at(r, i, &p, &e), &e);
    warps += p.warps, lanes += p.lanes;
    assert_memory_equal(p.where, "spin+0x", 7);
    assert_string_equal(p.state, "ready");
  }
  assert_int_equal(warps, 6);
  assert_int_equal(lanes, 192);
  ws_result_destroy(r);

  l.max_cycles = 0, l.max_instructions = 12345, l.mode = WS_FUNCTIONAL;
  must(ws_launch(k, &l, &r, &e), &e);
  assert_int_equal(ws_result_end(r), WS_INSTRUCTION_LIMIT);
  assert_int_equal(ws_result_instructions(r), 12345);
  assert_int_equal(ws_result_thread_instructions(r), 32 * 12345);
  ws_result_destroy(r);

  l.max_instructions = 0, l.progress = cancel_third, l.progress_context = &calls;
  for (int mode = WS_TIMED; mode <= WS_FUNCTIONAL; mode++) {
    l.mode = mode;
    calls = 0;
    must(ws_launch(k, &l, &r, &e), &e);
    assert_int_equal(ws_result_end(r), WS_CANCELLED);
    assert_int_equal(calls, 3);
    ws_result_destroy(r);
  }
  ws_device_destroy(d);
}

/* More threads than any host has is an argument that is wrong, not memory that is short: the device goes on. */
static void test_too_many_threads(void **state)
{
  struct add *a = add_new("rtx-3070", 256);
  ws_error e = WS_ERROR_INIT;
  ws_result *r;
  (void)state;
  a->l.threads = 4000000000;
  says(ws_launch(a->k, &a->l, &r, &e), WS_BAD_ARGUMENT, &e, "choose 1 to 1024");
  a->l.threads = 2;
  must(ws_launch(a->k, &a->l, &r, &e), &e);
  ws_result_destroy(r);
  add_free(a);
}

/* What instructions cost adds up to what the launch cost. */
static void test_profile(void **state)
{
  struct add *a = add_new("rtx-3070", 4096);
  ws_error e = WS_ERROR_INIT;
  ws_result *r;
  uint64_t issued = 0, threads = 0, cycles = 0, loads = 0, by_state[64] = {0};
  (void)state;
  must(ws_launch(a->k, &a->l, &r, &e), &e);
  assert_int_equal(ws_result_profile_count(r), 0);
  assert_int_equal(ws_result_profile_state(r, 0, 0), 0);
  ws_result_destroy(r);
  a->l.flags = WS_PROFILE;
  must(ws_launch(a->k, &a->l, &r, &e), &e);
  assert_true(ws_result_profile_count(r) > 10);
  for (size_t i = 0; i < ws_result_profile_count(r); i++) {
    struct ws_profile_row row = WS_PROFILE_ROW_INIT;
    uint64_t states = 0;
    must(ws_result_profile_at(r, i, &row, &e), &e);
    issued += row.issued, threads += row.threads, cycles += row.warp_cycles;
    for (size_t k = 0; k < ws_result_state_count(r); k++) {
      states += ws_result_profile_state(r, i, k);
      by_state[k] += ws_result_profile_state(r, i, k);
    }
    assert_int_equal(states, row.warp_cycles);
    assert_memory_equal(row.where, "vecadd", 6);
    assert_string_equal(row.file, ""); /* compiled without -lineinfo */
    if (!strstr(row.instruction, "LDG")) continue;
    loads++;
    assert_int_equal(row.issued, 4096 / 32);
    assert_int_equal(row.sectors, 4096 * 4 / 32);
  }
  assert_int_equal(loads, 2);
  assert_int_equal(issued, ws_result_instructions(r));
  assert_int_equal(threads, ws_result_thread_instructions(r));
  for (size_t k = 0; k < ws_result_state_count(r); k++) {
    char name[100];
    uint64_t all;
    snprintf(name, sizeof name, "sm.warp_state.%s", ws_result_state_name(r, k));
    must(ws_result_counter(r, name, &all, &e), &e);
    if (strcmp(ws_result_state_name(r, k), "drain") == 0) assert_in_range(by_state[k], 0, all); /* less those that had ended */
    else assert_int_equal(by_state[k], all);
    cycles -= by_state[k];
  }
  assert_int_equal(cycles, 0);
  struct ws_profile_row none = WS_PROFILE_ROW_INIT;
  says(ws_result_profile_at(r, ws_result_profile_count(r), &none, &e), WS_NOT_FOUND, &e, "there are only");
  assert_null(ws_result_state_name(r, ws_result_state_count(r)));
  ws_result_destroy(r);
  add_free(a);
}

/* The two stores of tests/data/lines.cu stand in lines 16 and 17. */
static void test_profile_lines(void **state)
{
  ws_device *d = device("rtx-3070");
  struct ws_launch l = WS_LAUNCH_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_address in, out;
  ws_result *r;
  ws_module *m;
  unsigned stores = 0;
  (void)state;
  const ws_kernel *k = kernel_of(d, DATA "lines.sm_86.cubin", "second", &m);
  must(ws_alloc(d, 256, &in, &e), &e);
  must(ws_alloc(d, 256, &out, &e), &e);
  void *arguments[] = {&in, &out};
  l.arguments = arguments, l.block[0] = 32, l.flags = WS_PROFILE;
  must(ws_launch(k, &l, &r, &e), &e);
  for (size_t i = 0; i < ws_result_profile_count(r); i++) {
    struct ws_profile_row row = WS_PROFILE_ROW_INIT;
    must(ws_result_profile_at(r, i, &row, &e), &e);
    if (!strstr(row.instruction, "STG")) continue;
    stores++;
    assert_non_null(strstr(row.file, "lines.cu"));
    assert_int_equal(row.line, 15 + stores);
  }
  assert_int_equal(stores, 2);
  ws_result_destroy(r);
  ws_device_destroy(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_version), cmocka_unit_test(test_device_errors),
    cmocka_unit_test(test_older_caller), cmocka_unit_test(test_memory),
    cmocka_unit_test(test_kernels), cmocka_unit_test(test_variables_and_print),
    cmocka_unit_test(test_timed_result), cmocka_unit_test(test_launch_errors),
    cmocka_unit_test(test_fault), cmocka_unit_test(test_two_devices), cmocka_unit_test(test_never_ending),
      cmocka_unit_test(test_too_many_threads), cmocka_unit_test(test_profile), cmocka_unit_test(test_profile_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
