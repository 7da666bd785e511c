/* Memory that is elsewhere: kernels of the corpus with their buffers behind links compute the same; zero-copy at the rate of
 * the link; atomics of several GPUs on the same words; the latency of a load by hop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/place.h"
#include "kernel_rig.h"
#include "time/dma/dma.h"
#include "time/gpu/netlist.h"
#include "time/mem/host_mem.h"

#define DIR WS_SOURCE_DIR "/presets"

enum { NS = 1000, MAX_GPUS = 8 };

/* A machine whose GPUs are small and alike, with one image; the first ones run the rig's kernel. */
struct rig {
  struct kernel_rig k;
  struct machine_preset m;
  struct arena arena;
  struct topology *t;
  struct fabric *fabric;
  struct host_mem host[MACHINE_MAX_SOCKETS];
  struct gpu *gpu[MAX_GPUS];
  struct func_launch *func[MAX_GPUS];
  unsigned slot[MAX_GPUS];
  struct places *places;
  struct part part;
  struct machine *machine;
  struct gmem *image, *seen[MAX_GPUS];
  picos lambda;
};

static void rig_build_of(struct rig *r, unsigned sms, const char *kernel, const char *machine, unsigned threads,
                         unsigned shorter)
{
  struct err e;
  struct domain *domain[MAX_GPUS];
  picos window[MACHINE_MAX_NODES] = {0};
  memset(r, 0, sizeof *r);
  kernel_rig_build(&r->k, kernel, 1);
  r->k.launch->params.n_workers = r->k.params.gpu_sms = sms;
  r->image = r->k.launch->params.image;
  for (unsigned i = 0; i < MAX_GPUS; i++) r->seen[i] = r->image;
  if (!machine_load(machine, DIR, &r->m, &e)) fail_msg("%s", e.msg);
  r->t = topology_new(&r->m, &r->arena);
  r->fabric = fabric_new(&r->m, r->t, NULL);
  r->places = places_new();
  for (unsigned i = 0; i < r->m.n_gpus; i++) {
    r->gpu[i] = gpu_new_joined(&r->k.params, NULL,
                               &(struct gpu_join){.node = (uint16_t)i, .sockets = (uint16_t)r->m.n_gpus, .reads = 256, .peer_reads = 256,
                                                  .apply = func_line_apply});
    fabric_join(r->fabric, i, gpu_ports(r->gpu[i]), LINK_PORT__N);
    window[i] = params_request_ps(&r->k.params);
    domain[i] = gpu_domain(r->gpu[i]);
    gpu_watch(r->gpu[i], &gpu_rig_watch, false);
  }
  for (unsigned i = 0; i < r->m.n_sockets; i++) {
    host_mem_init(&r->host[i], r->m.memory_mbps, (picos)r->m.memory_latency_ns * NS, func_line_apply);
    host_mem_images(&r->host[i], r->seen);
    fabric_serve(r->fabric, r->m.n_gpus + i, host_mem_serve, &r->host[i]);
  }
  r->part = (struct part){&fabric_ops, r->fabric, TIME_NEVER};
  r->lambda = fabric_epoch(r->fabric, window);
  assert_true(r->lambda > 0);
  r->machine = machine_new(&(struct machine_config){.threads = threads, .domain = domain, .n_domains = r->m.n_gpus,
                                                    .epoch = r->lambda / shorter, .part = &r->part, .n_parts = 1});
}

static void rig_build(struct rig *r, const char *kernel, const char *machine, unsigned threads, unsigned shorter)
{
  rig_build_of(r, KERNEL_RIG_SMS, kernel, machine, threads, shorter);
}

/* The GPU gets the kernel as its launch is now. */
static void rig_open(struct rig *r, unsigned gpu)
{
  struct err e;
  struct func_params p = r->k.launch->params;
  if (!(r->func[gpu] = func_launch_new(&p, &e))) fail_msg("%s", e.msg);
  struct step_source *s = func_source(r->func[gpu]);
  s->places = r->places;
  s->node = (uint16_t)gpu;
  gpu_begin(r->gpu[gpu], s, r->image);
  struct gpu_launch l = {.source = s};
  if (!gpu_open(r->gpu[gpu], &l, &r->slot[gpu], &e)) fail_msg("%s", e.msg);
}

/* Runs what was opened; when the last one ended, ps. Blocks keep their laws. */
static picos rig_run(struct rig *r)
{
  uint64_t start, end, last = 0;
  struct fault f = {0};
  for (unsigned i = 0; i < r->m.n_gpus; i++) /* those without a kernel serve the others */
    if (!r->func[i]) gpu_begin(r->gpu[i], func_source(r->k.launch->func), r->image);
  assert_int_equal(machine_run(r->machine, TIME_NEVER), MACHINE_IDLE);
  for (unsigned i = 0; i < r->m.n_gpus; i++) {
    if (!r->func[i]) continue;
    assert_true(gpu_launch_times(r->gpu[i], r->slot[i], &start, &end));
    if (end > last) last = end;
    if (gpu_finish(r->gpu[i], &f, NULL) != RUN_DONE) fail_msg("%s", f.text);
  }
  return last;
}

static void rig_free(struct rig *r)
{
  machine_free(r->machine);
  for (unsigned i = 0; i < r->m.n_gpus; i++) {
    gpu_free(r->gpu[i]);
    if (r->func[i]) func_launch_free(r->func[i]);
  }
  fabric_free(r->fabric);
  places_free(r->places);
  arena_free(&r->arena);
  machine_preset_free(&r->m);
  kernel_rig_free(&r->k);
}

/* Every allocation to a node in turn; -1: nothing is elsewhere. */
static void place_all(struct rig *r, const int *node, unsigned n)
{
  enum { PAGE = 1 << PLACE_PAGE_BITS };
  size_t cursor = 0;
  unsigned i = 0;
  for (struct gmem_range a; gmem_next_range(r->image, &cursor, &a); i++) {
    uint64_t from = a.addr / PAGE * PAGE, to = (a.addr + a.bytes + PAGE - 1) / PAGE * PAGE;
    places_set(r->places, from, to - from, node[i % n]);
  }
}

/* --- values -------------------------------------------------------------------------------------- */

/* Checksum of all allocations. */
static uint64_t contents(const struct rig *r)
{
  size_t cursor = 0;
  uint64_t sum = 14695981039346656037u;
  for (struct gmem_range a; gmem_next_range(r->image, &cursor, &a);) {
    uint8_t *b = malloc(a.bytes);
    assert_true(gmem_read(r->image, a.addr, b, a.bytes));
    for (uint64_t i = 0; i < a.bytes; i++) sum = (sum ^ b[i]) * 1099511628211u;
    free(b);
  }
  return sum;
}

static uint64_t result(const char *kernel, const int *node, unsigned n, picos *took, unsigned threads, unsigned shorter)
{
  struct rig r;
  rig_build(&r, kernel, "2x-rtx-3090-nvlink", threads, shorter);
  place_all(&r, node, n);
  rig_open(&r, 0);
  *took = rig_run(&r);
  uint64_t sum = contents(&r);
  rig_free(&r);
  return sum;
}

/* Whose results do not depend on the order of their threads. */
static const char *const kernels[] = {"vecadd",       "atomics",      "atomics64", "hist_global", "vector_ldst",
                                      "half_atomics", "generic_ptr",  "scan",      "membar_flag", "grid_barrier"};

/* Places: the host, the peer, by turns with own memory. */
static void test_places_never_change_values(void **state)
{
  (void)state;
  static const int own[] = {-1}, host[] = {2}, peer[] = {1}, mixed[] = {2, -1, 1};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    picos t, far, near, by_turns;
    uint64_t want = result(kernels[i], own, 1, &t, 1, 1);
    if (result(kernels[i], host, 1, &far, 1, 1) != want) fail_msg("%s from the host", kernels[i]);
    if (result(kernels[i], peer, 1, &near, 1, 1) != want) fail_msg("%s from a peer", kernels[i]);
    if (result(kernels[i], mixed, 3, &by_turns, 1, 1) != want) fail_msg("%s from everywhere", kernels[i]);
    if (far <= near || near <= t) fail_msg("%s: %llu, %llu, %llu ps", kernels[i], (unsigned long long)t,
                                           (unsigned long long)near, (unsigned long long)far);
    picos again;
    assert_true(result(kernels[i], mixed, 3, &again, 2, 2) == want);
    assert_int_equal(again, by_turns);
  }
}

/* --- atomics of several GPUs ----------------------------------------------------------------------- */

/* hist_global on one GPU or on both at once: into the host's memory or into that of the second. */
static void histogram(unsigned gpus, int node, unsigned threads, unsigned shorter, uint32_t *words, size_t n, picos *took)
{
  struct rig r;
  size_t cursor = 0, at = 0;
  rig_build(&r, "hist_global", "2x-rtx-3090-nvlink", threads, shorter);
  place_all(&r, &node, 1);
  for (unsigned i = 0; i < gpus; i++) rig_open(&r, i);
  *took = rig_run(&r);
  memset(words, 0, n * sizeof *words);
  for (struct gmem_range a; gmem_next_range(r.image, &cursor, &a);) {
    if (at + a.bytes / 4 > n) continue;
    assert_true(gmem_read(r.image, a.addr, words + at, a.bytes / 4 * 4));
    at += a.bytes / 4;
  }
  rig_free(&r);
}

/* Each count is there twice: none was lost between GPUs. */
static void test_contended_atomics(void **state)
{
  (void)state;
  enum { WORDS = 1 << 17 };
  static uint32_t idle[WORDS], once[WORDS], twice[WORDS], again[WORDS];
  for (int node = 1; node <= 2; node++) {
    picos t, first, other;
    unsigned counts = 0;
    histogram(0, node, 1, 1, idle, WORDS, &t);
    histogram(1, node, 1, 1, once, WORDS, &t);
    histogram(2, node, 1, 1, twice, WORDS, &first);
    for (unsigned i = 0; i < WORDS; i++) {
      uint32_t added = once[i] - idle[i];
      assert_int_equal(twice[i] - idle[i], 2 * added);
      counts += added != 0;
    }
    assert_true(counts >= 16);
    histogram(2, node, 2, 3, again, WORDS, &other);
    assert_memory_equal(twice, again, sizeof twice);
    assert_int_equal(first, other);
  }
}

/* --- times ----------------------------------------------------------------------------------------- */

/* stream_copy of `bytes` with its source or its destination at a node. Bank 0 of sm_86 has the size of the grid at 0xc
 * and arguments from 0x160 on. */
static double stream(int in, int out, uint64_t bytes, double *rate)
{
  struct rig r;
  rig_build_of(&r, 46, "stream_copy", "2x-rtx-3090-nvlink", 1, 1);
  uint64_t from = gmem_alloc(r.image, bytes + 8192, NULL), to = gmem_alloc(r.image, bytes + 8192, NULL);
  from = (from + 4095) / 4096 * 4096, to = (to + 4095) / 4096 * 4096;
  const uint64_t args[] = {to, from, bytes / 16};
  memcpy(r.k.launch->bank0 + 0x160, args, 20);
  const uint32_t grid = 368;
  r.k.launch->params.grid[0] = grid;
  memcpy(r.k.launch->bank0 + 0xc, &grid, sizeof grid);
  for (uint64_t i = 0; i < bytes; i += 8) assert_true(gmem_write(r.image, from + i, &i, 8));
  if (in >= 0) places_set(r.places, from, bytes, in);
  if (out >= 0) places_set(r.places, to, bytes, out);
  *rate = in >= 0 ? (double)topology_rate(r.t, (unsigned)in, 0) : out >= 0 ? (double)topology_rate(r.t, 0, (unsigned)out) : 0;
  rig_open(&r, 0);
  double ps = (double)rig_run(&r);
  for (uint64_t i = 0, x; i < bytes; i += 8) {
    assert_true(gmem_read(r.image, to + i, &x, 8));
    assert_int_equal(x, i);
  }
  rig_free(&r);
  return ps;
}

/* Zero-copy reads and writes go at the rate of the link, whole lines as they are. */
static void test_zero_copy_rate(void **state)
{
  (void)state;
  enum { BYTES = 3 << 20 };
  double rate, own = stream(-1, -1, BYTES, &rate);
  for (int node = 1; node <= 2; node++)
    for (unsigned out = 0; out < 2; out++) {
      double ps = stream(out ? -1 : node, out ? node : -1, BYTES, &rate), want = BYTES * 1e12 / rate;
      assert_true(want > own); /* the GPU itself is not the bound */
      printf("%.1f own, %s node %d: %.1f of %.1f GB/s\n", BYTES * 1e3 / own, out ? "to" : "from", node, BYTES * 1e3 / ps, rate / 1e9);
      if (ps < want || ps > want * 1.1 + own) fail_msg("%f is not %f ps", ps, want);
    }
}

/* One warp: a load and a store behind it, so two ways there and back more than in own memory, and at most the way through
 * two crossbars and a second L2 for each. */
static picos one_warp(int node)
{
  struct rig r;
  rig_build(&r, "vecadd", "2x-rtx-3090-nvlink", 1, 1);
  place_all(&r, &node, 1);
  r.k.launch->params.grid[0] = 1;
  r.k.launch->params.block[0] = 32;
  rig_open(&r, 0);
  picos ps = rig_run(&r);
  rig_free(&r);
  return ps;
}

static void test_latency_by_hop(void **state)
{
  (void)state;
  picos own = one_warp(-1), peer = one_warp(1) - own, host = one_warp(2) - own;
  printf("one warp: %.0f ns, %.0f more at a peer, %.0f at the host\n", (double)own / 1e3, (double)peer / 1e3, (double)host / 1e3);
  assert_true(peer > 2 * 480 * NS - 500 * NS && peer < 2 * (480 + 500) * NS);
  assert_true(host > 2 * 790 * NS - 700 * NS && host < 2 * (790 + 300) * NS);
}

/* Memory of the other socket: the nearer one only passes requests and answers on, which takes the way between them twice
 * for each of two dependent accesses more. Gives when the kernel ended, ps. */
static picos at_socket(unsigned socket)
{
  enum { GPUS = 8 };
  struct rig r;
  const int node = GPUS + (int)socket;
  rig_build(&r, "vecadd", "dgx-a100", 1, 1);
  place_all(&r, &node, 1);
  r.k.launch->params.grid[0] = 1;
  r.k.launch->params.block[0] = 32;
  rig_open(&r, 0);
  const picos ps = rig_run(&r);
  assert_true(r.host[socket].stats.reads >= 2 && r.host[socket].stats.writes >= 1);
  assert_int_equal(r.host[1 - socket].stats.reads + r.host[1 - socket].stats.writes, 0);
  rig_free(&r);
  return ps;
}

static void test_the_other_socket(void **state)
{
  (void)state;
  enum { BETWEEN = 120 * NS }; /* presets/machines/dgx-a100.cfg */
  const picos near = at_socket(0), far = at_socket(1);
  assert_in_range(far - near, 4 * BETWEEN, 5 * BETWEEN);
}

/* Nobody holds what is not mapped: the fault names it. */
static void test_no_memory_there(void **state)
{
  (void)state;
  struct rig r;
  struct fault f = {0};
  rig_build(&r, "vecadd", "2x-rtx-3090-nvlink", 1, 1);
  const uint64_t nowhere = (uint64_t)1 << 46;
  memcpy(r.k.launch->bank0 + 0x160, &nowhere, 8);
  places_set(r.places, nowhere, 1 << 20, 2);
  rig_open(&r, 0);
  gpu_begin(r.gpu[1], func_source(r.k.launch->func), r.image);
  assert_int_equal(machine_run(r.machine, TIME_NEVER), MACHINE_NOTICE);
  assert_int_equal(gpu_finish(r.gpu[0], &f, NULL), RUN_FAULT);
  assert_int_equal(f.kind, FAULT_ILLEGAL_ADDRESS);
  assert_non_null(strstr(f.text, "0x400000"));
  rig_free(&r);
}

/* --- the table of places --------------------------------------------------------------------------- */

static void test_places(void **state)
{
  (void)state;
  struct places *p = places_new();
  const uint64_t giga = (uint64_t)1 << 30;
  assert_int_equal(place_of(p, 5 * giga), PLACE_OWN);
  places_set(p, 5 * giga - 8192, 16384, 7); /* over the end of a leaf */
  assert_int_equal(place_of(p, 5 * giga - 8193), PLACE_OWN);
  assert_int_equal(place_of(p, 5 * giga - 8192), 8);
  assert_int_equal(place_of(p, 5 * giga + 8191), 8);
  assert_int_equal(place_of(p, 5 * giga + 8192), PLACE_OWN);
  places_set(p, 5 * giga, 4096, -1);
  assert_int_equal(place_of(p, 5 * giga + 4095), PLACE_OWN);
  assert_int_equal(place_of(p, 5 * giga + 4096), 8);
  assert_int_equal(place_of(p, UINT64_MAX), PLACE_OWN);
  places_free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_the_other_socket), cmocka_unit_test(test_no_memory_there),
      cmocka_unit_test(test_latency_by_hop),
      cmocka_unit_test(test_zero_copy_rate),
      cmocka_unit_test(test_contended_atomics),
      cmocka_unit_test(test_places_never_change_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
