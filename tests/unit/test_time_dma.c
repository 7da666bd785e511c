/* Copy engines of a GPU: values of any rows, times by formula, and what a copy and a kernel take from each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel_rig.h"
#include "time/dma/dma.h"
#include "time/gpu/netlist.h"
#include "time/mem/host_mem.h"

enum { NS = 1000, SETUP = 1000 * NS, HOST = 1 /* the node of the socket */ };

/* A GPU with a kernel that could run, a link and a socket. All memory is one image: places only say who serves it. */
struct rig {
  struct kernel_rig k;
  struct machine_preset m;
  struct arena arena;
  struct topology *t;
  struct fabric *fabric;
  struct host_mem host;
  struct link_port *port[LINK_PORT__N], unused[2];
  struct part part;
  struct dma *dma;
  struct gmem *image;
};

static void rig_build(struct rig *r, const char *kernel, unsigned threads, bool lines)
{
  memset(r, 0, sizeof *r);
  kernel_rig_build(&r->k, kernel, 1);
  gpu_rig_free(&r->k.rig);
  r->k.params.gpu_sms = 46;
  const struct params *p = &r->k.params;
  r->k.rig = gpu_rig_of(gpu_new_joined(p, NULL, &(struct gpu_join){.node = 0, .sockets = HOST, .lines = lines}), threads);
  r->dma = gpu_dma(r->k.rig.gpu);
  r->image = r->k.launch->params.image;
  machine_of_gpu("rtx-3070", p, &r->m);
  r->t = topology_new(&r->m, &r->arena);
  r->fabric = fabric_new(&r->m, r->t, NULL);
  r->port[LINK_PORT_HOME] = &r->unused[0];
  r->port[LINK_PORT_DMA] = &r->dma->port;
  r->port[LINK_PORT_CORES] = &r->unused[1];
  fabric_join(r->fabric, 0, r->port, LINK_PORT__N);
  host_mem_init(&r->host, r->m.memory_mbps, (picos)r->m.memory_latency_ns * NS, NULL);
  host_mem_images(&r->host, &r->image); /* the only GPU is node 0 */
  fabric_serve(r->fabric, HOST, host_mem_serve, &r->host);
  r->part = (struct part){&fabric_ops, r->fabric, TIME_NEVER};
  picos window[MACHINE_MAX_NODES] = {params_request_ps(p)};
  machine_free(r->k.rig.machine);
  struct domain *d = gpu_domain(r->k.rig.gpu);
  r->k.rig.machine = machine_new(&(struct machine_config){.threads = threads, .domain = &d, .n_domains = 1,
                                                          .epoch = fabric_epoch(r->fabric, window), .part = &r->part,
                                                          .n_parts = 1});
  gpu_begin(r->k.rig.gpu, func_source(r->k.launch->func), r->image);
  r->k.rig.running = true;
  gpu_watch(r->k.rig.gpu, &gpu_rig_watch, false);
}

static void rig_free(struct rig *r)
{
  kernel_rig_free(&r->k);
  fabric_free(r->fabric);
  arena_free(&r->arena);
  machine_preset_free(&r->m);
}

static uint64_t buffer(struct rig *r, uint64_t bytes)
{
  uint64_t at = gmem_alloc(r->image, bytes, NULL);
  assert_true(at);
  return at;
}

static void scatter(struct rig *r, uint64_t at, uint64_t bytes, uint64_t seed)
{
  uint8_t *b = malloc(bytes);
  for (uint64_t i = 0; i < bytes; i++) b[i] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
  assert_true(gmem_write(r->image, at, b, bytes));
  free(b);
}

static bool same(const struct rig *r, uint64_t a, uint64_t b, uint64_t bytes)
{
  uint8_t *x = malloc(2 * bytes);
  assert_true(gmem_read(r->image, a, x, bytes) && gmem_read(r->image, b, x + bytes, bytes));
  bool equal = memcmp(x, x + bytes, bytes) == 0;
  free(x);
  return equal;
}

/* When the only copy was done, counted from when it arrived, ps. */
static picos run_copy(struct rig *r, struct dma_copy c)
{
  struct dma_done done;
  c.arrive = gpu_now(r->k.rig.gpu);
  c.ticket = 77;
  dma_post(r->dma, &c);
  assert_int_equal(machine_run(r->k.rig.machine, TIME_NEVER), MACHINE_IDLE);
  assert_true(dma_take_done(r->dma, &done));
  assert_int_equal(done.ticket, 77);
  assert_false(done.failed);
  assert_false(dma_take_done(r->dma, &done));
  assert_true(dma_idle(r->dma));
  return done.at - c.arrive;
}

static void assert_within(double got, double want, double margin)
{
  if (got < want * (1 - margin) || got > want * (1 + margin)) fail_msg("%f is not %f", got, want);
}

/* --- times ---------------------------------------------------------------------------------------- */

/* setup + way there and back + bytes / rate of the link. */
static void test_link_copies(void **state)
{
  (void)state;
  enum { BYTES = 4 << 20 };
  for (unsigned lines = 0; lines < 2; lines++) {
    struct rig r;
    rig_build(&r, "vecadd", 1, lines);
    const struct params *p = &r.k.params;
    uint64_t a = buffer(&r, BYTES), b = buffer(&r, BYTES);
    scatter(&r, a, BYTES, 3);
    struct dma_copy c = {.dst = b, .src = a, .bytes = BYTES, .rows = 1, .setup = SETUP, .dst_node = DMA_HERE, .src_node = HOST};
    double trip = 2 * 350e3 + 100e3, h2d = (double)run_copy(&r, c);
    assert_within(h2d, SETUP + trip + BYTES * 1e6 / p->pcie_h2d_mbps, 0.02);
    picos taken[3];
    assert_int_equal(fabric_taken(r.fabric, 0, taken, 3), 2); /* a link has two directions */
    const picos most = taken[0] > taken[1] ? taken[0] : taken[1], least = taken[0] + taken[1] - most;
    assert_within((double)most, BYTES * 1e6 / p->pcie_h2d_mbps, 0.001);
    assert_true(least < most / 10); /* requests alone */
    assert_true(same(&r, a, b, BYTES));
    scatter(&r, a, BYTES, 4);
    c = (struct dma_copy){.dst = b, .src = a, .bytes = BYTES, .rows = 1, .setup = SETUP, .dst_node = HOST, .src_node = DMA_HERE};
    assert_within((double)run_copy(&r, c), SETUP + trip + BYTES * 1e6 / p->pcie_d2h_mbps, 0.02);
    assert_true(same(&r, a, b, BYTES));
    assert_int_equal(r.host.stats.read_bytes, BYTES);
    assert_int_equal(r.host.stats.written_bytes, BYTES);
    rig_free(&r);
  }
}

/* Both directions at once have a rate each. */
static void test_both_ways(void **state)
{
  (void)state;
  enum { BYTES = 4 << 20 };
  struct rig r;
  rig_build(&r, "vecadd", 1, false);
  uint64_t a = buffer(&r, BYTES), b = buffer(&r, BYTES), c = buffer(&r, BYTES), d = buffer(&r, BYTES);
  scatter(&r, a, BYTES, 3);
  scatter(&r, c, BYTES, 4);
  struct dma_copy in = {.ticket = 1, .dst = b, .src = a, .bytes = BYTES, .rows = 1, .dst_node = DMA_HERE, .src_node = HOST};
  struct dma_copy out = {.ticket = 2, .dst = d, .src = c, .bytes = BYTES, .rows = 1, .dst_node = HOST, .src_node = DMA_HERE,
                         .engine = 1};
  dma_post(r.dma, &in);
  dma_post(r.dma, &out);
  assert_int_equal(machine_run(r.k.rig.machine, TIME_NEVER), MACHINE_IDLE);
  struct dma_done done;
  for (unsigned i = 0; i < 2; i++) {
    assert_true(dma_take_done(r.dma, &done));
    assert_within((double)done.at, 800e3 + BYTES * 1e6 / r.k.params.pcie_h2d_mbps, 0.02);
  }
  assert_true(same(&r, a, b, BYTES));
  assert_true(same(&r, c, d, BYTES));
  rig_free(&r);
}

/* Inside the GPU: read and written at what DRAM gives. By lines it is the model of DRAM that says how much that is: between
 * the efficiency of streams that turn around and the pins. */
static void test_device_copies(void **state)
{
  (void)state;
  enum { BYTES = 16 << 20 };
  for (unsigned lines = 0; lines < 2; lines++) {
    struct rig r;
    rig_build(&r, "vecadd", 1, lines);
    const struct params *p = &r.k.params;
    uint64_t a = buffer(&r, BYTES), b = buffer(&r, BYTES);
    scatter(&r, a, BYTES, 3);
    struct dma_copy c = {.dst = b, .src = a, .bytes = BYTES, .rows = 1, .dst_node = DMA_HERE, .src_node = DMA_HERE};
    double got = (double)run_copy(&r, c), pins = 2e12 * BYTES / (double)params_dram_bytes_per_second(p);
    if (lines) assert_true(got > pins && got < pins / 0.7);
    else assert_within(got, pins * 1000 / p->dram_efficiency_permille, 0.02);
    assert_true(same(&r, a, b, BYTES));
    rig_free(&r);
  }
}

/* --- values --------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

/* Rows of any length from any byte to any byte: what is named changes, and nothing else does. */
static void test_rows(void **state)
{
  (void)state;
  enum { ROOM = 1 << 16 };
  uint8_t *want = malloc(ROOM);
  uint64_t seed = 11;
  for (unsigned lines = 0; lines < 2; lines++) {
    struct rig r;
    rig_build(&r, "vecadd", 1, lines);
    uint64_t from = buffer(&r, ROOM), to = buffer(&r, ROOM);
    for (unsigned i = 0; i < 150; i++) {
      struct dma_copy c = {.rows = 1 + draw(&seed) % 6, .bytes = 1 + draw(&seed) % (i % 3 ? 300 : 8000), .engine = (uint8_t)i};
      c.src_pitch = c.bytes + draw(&seed) % 200;
      c.dst_pitch = c.bytes + draw(&seed) % 200;
      uint64_t src = draw(&seed) % 500, dst = draw(&seed) % 500;
      c.src = from + src, c.dst = to + dst;
      c.src_node = draw(&seed) % 2 ? HOST : DMA_HERE;
      c.dst_node = draw(&seed) % 2 ? HOST : DMA_HERE;
      if (i % 5 == 0) c.fill = (uint8_t)(1u << draw(&seed) % 3), c.src = draw(&seed) * 2654435761u;
      scatter(&r, from, ROOM, i);
      assert_true(gmem_read(r.image, to, want, ROOM));
      for (uint64_t y = 0; y < c.rows; y++)
        for (uint64_t x = 0; x < c.bytes; x++)
          want[dst + y * c.dst_pitch + x] = c.fill ? (uint8_t)(c.src >> 8 * (x % c.fill))
                                                   : *gmem_ptr(r.image, from + src + y * c.src_pitch + x, 1);
      run_copy(&r, c);
      assert_memory_equal(gmem_ptr(r.image, to, ROOM), want, ROOM);
    }
    rig_free(&r);
  }
  free(want);
}

/* A queue of one engine keeps its order; an address that is not there is said. */
static void test_order_and_failure(void **state)
{
  (void)state;
  enum { BYTES = 100000 };
  struct rig r;
  struct dma_done done;
  rig_build(&r, "vecadd", 1, true);
  uint64_t a = buffer(&r, BYTES), b = buffer(&r, BYTES), c = buffer(&r, BYTES);
  scatter(&r, a, BYTES, 9);
  struct dma_copy first = {.ticket = 1, .dst = b, .src = a, .bytes = BYTES, .rows = 1, .dst_node = DMA_HERE, .src_node = HOST};
  struct dma_copy second = {.ticket = 2, .dst = c, .src = b, .bytes = BYTES, .rows = 1, .dst_node = HOST, .src_node = DMA_HERE};
  struct dma_copy later = {.ticket = 3, .arrive = 900 * (picos)1000 * NS, .dst = c, .src = b, .bytes = 1, .rows = 1,
                           .setup = 5 * NS, .dst_node = DMA_HERE, .src_node = DMA_HERE};
  struct dma_copy lost = {.ticket = 4, .dst = c, .src = (uint64_t)1 << 48, .bytes = 1000, .rows = 1, .dst_node = DMA_HERE};
  for (unsigned from = 0; from < 2; from++) {
    lost.src_node = from ? HOST : DMA_HERE;
    dma_post(r.dma, &first);
    dma_post(r.dma, &second);
    dma_post(r.dma, &later);
    dma_post(r.dma, &lost);
    assert_int_equal(machine_run(r.k.rig.machine, TIME_NEVER), MACHINE_IDLE);
    for (unsigned i = 1; i <= 4; i++) {
      assert_true(dma_take_done(r.dma, &done));
      assert_int_equal(done.ticket, i);
      assert_int_equal(done.failed, i == 4);
      if (i == 3 && !from) assert_true(done.at > later.arrive + later.setup && done.at < later.arrive + 5000 * NS);
    }
    assert_true(same(&r, a, c, BYTES));
  }
  rig_free(&r);
}

/* Copies inside the GPU that wait for their engine: by priority, then as they came. The one that has begun lets those of a
 * higher priority go first, and is the first of its own; one that has not arrived is not waited for. A copy over a link is
 * not passed. */
static void test_priority(void **state)
{
  (void)state;
  enum { BYTES = 100000, N = 6 };
  static const int32_t priority[N] = {0, 1, 0, 5, 1, 7};
  static const uint64_t want[2][N] = {{3, 1, 4, 0, 2, 5}, {0, 1, 2, 3, 4, 5}};
  for (unsigned link = 0; link < 2; link++) {
    struct rig r;
    struct dma_done done;
    rig_build(&r, "vecadd", 1, false);
    const uint64_t a = buffer(&r, BYTES), b = buffer(&r, BYTES);
    for (unsigned i = 0; i < N; i++) {
      struct dma_copy c = {.ticket = i, .dst = b, .src = a, .bytes = BYTES, .rows = 1, .setup = SETUP, .dst_node = DMA_HERE,
                           .src_node = DMA_HERE, .priority = priority[i]};
      if (i) c.arrive = 500 * NS;
      if (i == N - 1) c.arrive = 900 * (picos)1000 * NS;
      if (link && i % 2) c.src_node = HOST;
      dma_post(r.dma, &c);
    }
    assert_int_equal(machine_run(r.k.rig.machine, TIME_NEVER), MACHINE_IDLE);
    for (unsigned i = 0; i < N; i++) {
      assert_true(dma_take_done(r.dma, &done));
      assert_int_equal(done.ticket, want[link][i]);
    }
    rig_free(&r);
  }
}

/* Copies that are done wait for whoever asks, in their order, however many they become. */
static void test_done_in_order(void **state)
{
  (void)state;
  enum { FIRST = 8, TAKEN = 3, ALL = 30 };
  struct rig r;
  struct dma_done done;
  rig_build(&r, "vecadd", 1, false);
  const uint64_t a = buffer(&r, 64), b = buffer(&r, 64);
  for (unsigned i = 0; i < ALL; i++) {
    const struct dma_copy c = {.ticket = i, .dst = b, .src = a, .bytes = 64, .rows = 1, .dst_node = DMA_HERE, .src_node = HOST};
    dma_post(r.dma, &c);
    if (i + 1 != FIRST) continue;
    assert_int_equal(machine_run(r.k.rig.machine, TIME_NEVER), MACHINE_IDLE);
    for (unsigned k = 0; k < TAKEN; k++) assert_true(dma_take_done(r.dma, &done) && done.ticket == k);
  }
  assert_int_equal(machine_run(r.k.rig.machine, TIME_NEVER), MACHINE_IDLE);
  for (unsigned k = TAKEN; k < ALL; k++) {
    assert_true(dma_take_done(r.dma, &done));
    assert_int_equal(done.ticket, k);
  }
  assert_false(dma_take_done(r.dma, &done));
  rig_free(&r);
}

/* --- beside a kernel ------------------------------------------------------------------------------ */

struct beside {
  double kernel, copy; /* ps; 0: was not there */
  uint64_t dram;       /* bytes */
  double all;          /* ps */
};

/* stream_copy with buffers of this size and a grid of two CTAs for an SM. Bank 0 of sm_86 has the size of the grid at 0xc
 * and arguments from 0x160 on. */
static struct launch stream(struct rig *r, uint64_t bytes)
{
  const uint64_t args[] = {buffer(r, bytes), buffer(r, bytes), bytes / 16};
  const uint32_t grid = 2 * r->k.params.gpu_sms;
  memcpy(r->k.launch->bank0 + 0x160, args, 20);
  memcpy(r->k.launch->bank0 + 0xc, &grid, sizeof grid);
  r->k.launch->params.n_workers = r->k.params.gpu_sms;
  return kernel_rig_again(&r->k, grid);
}

/* stream_copy and a copy inside the GPU, or one of both. */
static struct beside run_beside(bool kernel, bool copy, unsigned threads)
{
  enum { BYTES = 8 << 20 };
  struct rig r;
  struct beside x = {0};
  struct netlist_stats before, after;
  struct dma_done done = {.at = 0};
  unsigned slot = 0;
  struct err e;
  rig_build(&r, "stream_copy", threads, true);
  uint64_t a = buffer(&r, BYTES), b = buffer(&r, BYTES), start, end = 0;
  scatter(&r, a, BYTES, 5);
  gpu_counters(r.k.rig.gpu, &before);
  struct launch of = stream(&r, BYTES);
  struct gpu_launch l = {.source = func_source(of.func)};
  if (kernel && !gpu_open(r.k.rig.gpu, &l, &slot, &e)) fail_msg("%s", e.msg);
  struct dma_copy c = {.dst = b, .src = a, .bytes = BYTES, .rows = 1, .dst_node = DMA_HERE, .src_node = DMA_HERE};
  if (copy) dma_post(r.dma, &c);
  assert_int_equal(machine_run(r.k.rig.machine, TIME_NEVER), MACHINE_IDLE);
  if (copy) assert_true(dma_take_done(r.dma, &done));
  if (kernel) assert_true(gpu_launch_times(r.k.rig.gpu, slot, &start, &end));
  x.kernel = (double)end;
  x.copy = (double)done.at;
  x.all = x.kernel > x.copy ? x.kernel : x.copy;
  gpu_counters(r.k.rig.gpu, &after);
  netlist_since(&after, &before);
  x.dram = after.dram.dram_read_bytes + after.dram.dram_write_bytes;
  if (copy) assert_true(same(&r, a, b, 1 << 20));
  if (kernel) gpu_rig_finish(&r.k.rig); /* checks the laws between blocks */
  func_launch_free(of.func);
  rig_free(&r);
  return x;
}

static void test_beside_a_kernel(void **state)
{
  (void)state;
  struct beside kernel = run_beside(true, false, 1), copy = run_beside(false, true, 1), both = run_beside(true, true, 1),
                again = run_beside(true, true, 2);
  printf("kernel %.0f us alone, %.0f beside; copy %.0f alone, %.0f beside; DRAM %.0f + %.0f, %.0f MB\n", kernel.kernel / 1e6,
         both.kernel / 1e6, copy.copy / 1e6, both.copy / 1e6, (double)kernel.dram / 1e6, (double)copy.dram / 1e6,
         (double)both.dram / 1e6);
  assert_true(both.kernel > 1.2 * kernel.kernel);
  assert_true(both.copy > 1.05 * copy.copy);
  /* As many bytes, and no more of them in a second than alone. */
  assert_within((double)both.dram, (double)(kernel.dram + copy.dram), 0.1);
  double rate = (double)both.dram / both.all, most = (double)copy.dram / copy.all;
  assert_true(rate < 1.1 * most);
  assert_true(both.kernel == again.kernel && both.copy == again.copy && both.dram == again.dram);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_link_copies),       cmocka_unit_test(test_both_ways),
      cmocka_unit_test(test_device_copies),     cmocka_unit_test(test_rows),
      cmocka_unit_test(test_done_in_order),     cmocka_unit_test(test_order_and_failure),
      cmocka_unit_test(test_priority),          cmocka_unit_test(test_beside_a_kernel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
