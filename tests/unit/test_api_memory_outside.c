/* The C library inside of another simulator: a memory of this program's behind L2, launches in steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/presets.h"
#include "time/mem/l2_map.h"
#include "warpstep/warpstep.h"

enum { N = 4096, LINE = 128, MOST = 4096 };
#define US UINT64_C(1000000) /* ps */

/* Answers each read `latency` later: at once, or when `late` is set by answer_due. */
struct outside {
  ws_device *device;
  uint64_t latency, last;
  bool late, deaf;
  unsigned n, answered, lost; /* lost: the request that is not answered, from 1; 0: none */
  struct ws_memory_request request[MOST];
};

static void answer(struct outside *o, const struct ws_memory_request *r)
{
  if (!r->id) return;
  assert_int_equal(ws_memory_answer(o->device, r->id, r->time_ps + o->latency, NULL), WS_OK);
  assert_int_equal(ws_memory_answer(o->device, r->id, r->time_ps + o->latency, NULL), WS_NOT_FOUND); /* once */
  assert_int_equal(ws_memory_answer(o->device, 0, r->time_ps + o->latency, NULL), WS_NOT_FOUND);
}

static void ask(void *context, const struct ws_memory_request *r)
{
  struct outside *o = context;
  assert_true(o->n < MOST);
  assert_true(r->time_ps >= o->last && r->address % LINE == 0 && r->sectors && r->sectors < 16);
  o->last = r->time_ps;
  o->request[o->n++] = *r;
  if (!o->late && !o->deaf && o->n != o->lost) answer(o, r);
}

/* The newest first: what counts is when they arrive, not who was told of first. */
static void answer_due(struct outside *o)
{
  for (unsigned i = o->n; i-- > o->answered;) answer(o, &o->request[i]);
  o->answered = o->n;
}

struct rig {
  struct outside o;
  const ws_kernel *kernel;
  ws_address x, y, z;
  struct ws_launch launch;
  unsigned n;
  void *arguments[4];
};

static void must(int status, const ws_error *e)
{
  if (status) fail_msg("status %d: %s", status, e->message);
}

/* vecadd of `n` elements on a device with this memory. */
static struct rig *open_rig(const char *preset, uint64_t latency, unsigned n)
{
  char file[200];
  struct rig *r = calloc(1, sizeof *r);
  struct ws_device_options options = WS_DEVICE_OPTIONS_INIT;
  const struct ws_launch launch = WS_LAUNCH_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_module *m;
  float in[N];
  options.preset = preset;
  options.memory = ask;
  options.memory_context = &r->o;
  r->o.latency = latency;
  must(ws_device_create(&options, &r->o.device, &e), &e);
  snprintf(file, sizeof file, WS_SOURCE_DIR "/kernels/vecadd/vecadd.sm_%s.cubin",
           ws_device_parameter(r->o.device, "arch.sm"));
  must(ws_module_load(r->o.device, file, &m, &e), &e);
  must(ws_module_kernel(m, "vecadd", &r->kernel, &e), &e);
  for (unsigned i = 0; i < N; i++) in[i] = (float)i;
  ws_address *const buffer[3] = {&r->x, &r->y, &r->z};
  for (unsigned i = 0; i < 3; i++) {
    must(ws_alloc(r->o.device, sizeof in, buffer[i], &e), &e);
    must(ws_copy_in(r->o.device, *buffer[i], in, sizeof in, &e), &e);
    r->arguments[i] = buffer[i];
  }
  r->n = n;
  r->arguments[3] = &r->n;
  r->launch = launch;
  r->launch.grid[0] = (n + 255) / 256;
  r->launch.block[0] = 256;
  r->launch.arguments = r->arguments;
  return r;
}

static void close_rig(struct rig *r)
{
  ws_device_destroy(r->o.device);
  free(r);
}

static void check_sums(struct rig *r)
{
  float out[N];
  ws_error e = WS_ERROR_INIT;
  must(ws_copy_out(r->o.device, out, r->z, sizeof out, &e), &e);
  for (unsigned i = 0; i < r->n; i++) assert_true(out[i] == 2.0f * (float)i);
}

static double launch_ns(struct rig *r)
{
  ws_result *result;
  ws_error e = WS_ERROR_INIT;
  must(ws_launch(r->kernel, &r->launch, &result, &e), &e);
  assert_int_equal(ws_result_end(result), WS_ENDED);
  const double ns = ws_result_nanoseconds(result);
  ws_result_destroy(result);
  return ns;
}

/* Of L2 that is cold each sector of x and y is asked for once, and none of z, which is written whole and stays there. */
static void reads_each_sector_once(const char *preset)
{
  uint8_t seen[3][N * sizeof(float) / 32] = {{0}};
  struct rig *r = open_rig(preset, US / 2, N);
  launch_ns(r);
  check_sums(r);
  const ws_address base[3] = {r->x, r->y, r->z};
  for (unsigned i = 0; i < r->o.n; i++)
    for (unsigned b = 0; b < 3; b++)
      for (unsigned s = 0; s < 4; s++) {
        const uint64_t at = r->o.request[i].address + 32 * s - base[b];
        if (at < N * sizeof(float) && r->o.request[i].sectors >> s & 1) seen[b][at / 32]++;
      }
  for (unsigned i = 0; i < sizeof seen[0]; i++) {
    assert_int_equal(seen[0][i], 1);
    assert_int_equal(seen[1][i], 1);
    assert_int_equal(seen[2][i], 0);
  }
  /* L2 has all of it now: nothing of them is asked for again. */
  const unsigned before = r->o.n;
  launch_ns(r);
  for (unsigned i = before; i < r->o.n; i++)
    for (unsigned b = 0; b < 3; b++) assert_true(r->o.request[i].address - base[b] >= N * sizeof(float));
  close_rig(r);
}

/* One slice and several on a channel, channels on a slice, L2 of two partitions. */
static void each_sector_is_read_once(void **state)
{
  static const char *const preset[] = {"rtx-3070", "a100", "h100", "rtx-2080ti", "rtx-5070ti"};
  (void)state;
  for (unsigned i = 0; i < sizeof preset / sizeof *preset; i++) reads_each_sector_once(preset[i]);
}

/* One warp waits for its memory one access behind the other: each microsecond more of latency costs as many
 * microseconds as there are such accesses, always the same number, to a cycle for each. */
static void latency_adds_up(void **state)
{
  double ns[4];
  (void)state;
  for (unsigned i = 0; i < 4; i++) {
    struct rig *r = open_rig("rtx-3070", (1 + i) * US, 32);
    r->launch.block[0] = 32;
    ns[i] = launch_ns(r);
    close_rig(r);
  }
  const double deep = (ns[3] - ns[0]) / 3000, whole = (double)(unsigned)(deep + 0.5);
  assert_true(whole >= 2); /* code, then x and y */
  for (unsigned i = 0; i < 3; i++) {
    const double off = ns[i + 1] - ns[i] - 1000 * whole;
    assert_true(off < whole && off > -whole);
  }
}

/* In steps as long as a window, with answers between them, a launch takes what it takes when they are given at once. */
static void steps_change_nothing(void **state)
{
  double whole[2];
  struct rig *r = open_rig("rtx-3070", US, N);
  (void)state;
  for (unsigned i = 0; i < 2; i++) whole[i] = launch_ns(r);
  close_rig(r);
  r = open_rig("rtx-3070", US, N);
  r->o.late = true;
  for (unsigned i = 0; i < 2; i++) {
    ws_run *run;
    ws_result *result;
    ws_error e = WS_ERROR_INIT;
    int ended = 0;
    must(ws_run_begin(r->kernel, &r->launch, 0, &run, &e), &e);
    assert_int_equal(ws_launch(r->kernel, &r->launch, &result, &e), WS_BAD_ARGUMENT);
    for (uint64_t t = ws_run_now(run); !ended; t += ws_run_window(run)) {
      must(ws_run_until(run, t, &ended, &e), &e);
      answer_due(&r->o);
    }
    must(ws_run_end(run, &result, &e), &e);
    assert_int_equal(ws_result_end(result), WS_ENDED);
    assert_true(ws_result_nanoseconds(result) == whole[i]);
    ws_result_destroy(result);
  }
  check_sums(r);
  close_rig(r);
}

static void a_run_ends_early(void **state)
{
  struct rig *r = open_rig("rtx-3070", US, N);
  ws_error e = WS_ERROR_INIT;
  ws_run *run;
  ws_result *result;
  int ended = 1;
  (void)state;
  must(ws_run_begin(r->kernel, &r->launch, 5 * US, &run, &e), &e);
  assert_true(ws_run_now(run) >= 5 * US && ws_run_now(run) < 5 * US + 1000);
  must(ws_run_until(run, 6 * US, &ended, &e), &e);
  assert_int_equal(ended, 0);
  must(ws_run_end(run, &result, &e), &e);
  assert_int_equal(ws_result_end(result), WS_CANCELLED);
  ws_result_destroy(result);
  launch_ns(r);
  check_sums(r);
  close_rig(r);
}

/* Who never answers is told what waits. */
static void a_deaf_memory(void **state)
{
  struct rig *r = open_rig("rtx-3070", US, 32);
  struct ws_fault f = WS_FAULT_INIT;
  ws_error e = WS_ERROR_INIT;
  ws_result *result;
  (void)state;
  r->o.deaf = true;
  must(ws_launch(r->kernel, &r->launch, &result, &e), &e);
  assert_int_equal(ws_result_end(result), WS_FAULT);
  must(ws_result_fault(result, &f, &e), &e);
  assert_int_equal(f.kind, WS_DEADLOCK);
  ws_result_destroy(result);
  assert_int_equal(ws_memory_answer(r->o.device, r->o.request[0].id, US, &e), WS_NOT_FOUND);
  assert_int_equal(ws_memory_answer(r->o.device, 0, US, &e), WS_NOT_FOUND);
  for (unsigned bit = 0; bit < 64; bit++) assert_int_equal(ws_memory_answer(r->o.device, UINT64_C(1) << bit, US, &e), WS_NOT_FOUND);
  close_rig(r);
}

/* How a launch ends in which this request, from 1 on, gets no answer. */
static int end_without(unsigned lost, struct rig *r)
{
  ws_result *result;
  ws_error e = WS_ERROR_INIT;
  r->o.lost = lost;
  must(ws_launch(r->kernel, &r->launch, &result, &e), &e);
  const int end = ws_result_end(result);
  ws_result_destroy(result);
  return end;
}

/* An answer that never comes holds up who waits for it: data does, code that was fetched ahead and is never reached does
 * not. */
static void an_answer_that_is_lost(void **state)
{
  unsigned n = 0, ended = 0, stuck = 0;
  (void)state;
  for (unsigned lost = 0; lost <= n; lost++) {
    struct rig *r = open_rig("rtx-3070", US, 32);
    const int end = end_without(lost, r);
    if (!lost) {
      n = r->o.n;
    } else {
      const ws_address at = r->o.request[lost - 1].address;
      if (at == r->x || at == r->y) assert_int_equal(end, WS_FAULT);
      ended += end == WS_ENDED;
      stuck += end == WS_FAULT;
    }
    if (end == WS_ENDED) check_sums(r);
    close_rig(r);
  }
  assert_int_equal(ended + stuck, n);
  assert_true(ended > 0 && stuck >= 3);
}

static void what_a_run_refuses(void **state)
{
  struct rig *r = open_rig("rtx-3070", US, N);
  ws_error e = WS_ERROR_INIT;
  ws_run *run;
  (void)state;
  r->launch.mode = WS_FUNCTIONAL;
  assert_int_equal(ws_run_begin(r->kernel, &r->launch, 0, &run, &e), WS_BAD_ARGUMENT);
  r->launch.mode = WS_TIMED;
  r->launch.max_cycles = 1;
  assert_int_equal(ws_run_begin(r->kernel, &r->launch, 0, &run, &e), WS_BAD_ARGUMENT);
  r->launch.max_cycles = 0;
  assert_int_equal(ws_run_begin(r->kernel, &r->launch, UINT64_MAX, &run, &e), WS_BAD_ARGUMENT);
  r->launch.block[0] = 4096;
  assert_int_equal(ws_run_begin(r->kernel, &r->launch, 0, &run, &e), WS_BAD_LAUNCH);
  r->launch.block[0] = 256;
  must(ws_run_begin(r->kernel, &r->launch, 0, &run, &e), &e);
  close_rig(r); /* with a run that is open */
}

/* Where a line lies says which line it is, for every way of spreading them. */
static void lines_come_back(void **state)
{
  static const char *const preset[] = {"rtx-3070", "a100", "h100", "rtx-4090", "rtx-2080ti"};
  (void)state;
  for (unsigned i = 0; i < sizeof preset / sizeof *preset; i++) {
    struct preset p;
    struct err e;
    assert_true(preset_load(preset[i], WS_SOURCE_DIR "/presets", &p, &e));
    for (unsigned hash = 0; hash < 3; hash++) {
      p.params.l2_slice_hash = hash;
      uint64_t line = 1;
      for (unsigned k = 0; k < 10000; k++) {
        line = line * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const uint64_t at = line >> (20 + k % 30);
        assert_int_equal(l2_line_at(&p.params, l2_place(&p.params, at)), at);
      }
    }
    preset_free(&p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_sector_is_read_once), cmocka_unit_test(latency_adds_up),
      cmocka_unit_test(steps_change_nothing),     cmocka_unit_test(a_run_ends_early),
      cmocka_unit_test(a_deaf_memory),            cmocka_unit_test(an_answer_that_is_lost),
      cmocka_unit_test(what_a_run_refuses),
      cmocka_unit_test(lines_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
