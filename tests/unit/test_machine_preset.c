/* Machines: published sums of their links, ways through them, and every error of their files in one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/presets.h"
#include "config/topology.h"

#define DIR WS_SOURCE_DIR "/presets"

struct built {
  struct machine_preset m;
  struct arena a;
  struct topology *t;
};

static void build(struct built *b, const char *name)
{
  struct err e = {0};
  memset(b, 0, sizeof *b);
  if (!machine_load(name, DIR, &b->m, &e)) fail_msg("%s", e.msg);
  b->t = topology_new(&b->m, &b->a);
}

static void drop(struct built *b)
{
  arena_free(&b->a);
  machine_preset_free(&b->m);
}

/* --- published figures --------------------------------------------------------------------------- */

struct figures {
  const char *name;
  unsigned gpus;
  double peer_raw, host_raw;     /* GB/s one way, data sheets */
  double peer, h2d, d2h, margin; /* copies as measured, GB/s; 0: none */
  const char *peers, *near;      /* labels of nvidia-smi topo */
};

/* A100: 600 GB/s of NVLink both ways; H100: 900; B200: 1,800; RTX 3090: 112.5; GH200: 900 of C2C. Copies:
 * p2pBandwidthLatencyTest on DGX A100 (271 to 277), nvbandwidth on H200 (396.4), ademeure/QuickRunCUDA on B300 (740 to
 * 820), Azure's guide (26.3), stas00/ml-engineering (55.4, 55.1), arXiv 2407.07850 (375, 297). */
static const struct figures published[] = {
    {"dgx-a100", 8, 300, 31.5, 274, 26.3, 26.3, 0.05, "NV12", "PHB"},
    {"hgx-h100", 8, 450, 63, 396.4, 55.4, 55.1, 0.05, "NV18", "PHB"},
    {"hgx-b200", 8, 900, 63, 780, 55.4, 55.1, 0.06, "NV18", "PHB"},
    {"2x-rtx-3090-nvlink", 2, 56.25, 31.5, 0, 26.3, 26.3, 0.05, "NV4", "PHB"},
    {"4x-rtx-4090-pcie", 4, 0, 31.5, 0, 26.3, 26.3, 0.05, "PHB", "PHB"},
    {"gh200", 1, 0, 450, 0, 375, 297, 0.05, NULL, "C2C"},
    {"c2c-rv64", 1, 0, 450, 0, 375, 297, 0.05, NULL, "C2C"},
    {"fused-rv64", 1, 0, 102.4, 0, 102.4, 102.4, 0.05, NULL, "C2C"},
    {"split-rv64", 1, 0, 15.754, 0, 13.15, 13.15, 0.05, NULL, "PHB"},
};

/* Raw rate of all hops by which `from` leaves towards `to`. */
static double raw(const struct built *b, unsigned from, unsigned to)
{
  const struct topology_hop *hop;
  double sum = 0;
  for (unsigned n = topology_hops(b->t, from, from, to, &hop); n-- > 0; hop++) {
    const struct link_params *p = &b->m.link[b->m.links[hop->link].group];
    sum += (hop->back ? p->back_mbps : p->mbps) * (double)p->lanes / 1e3;
  }
  return sum;
}

static void near_to(double got, double want, double margin)
{
  if (got < want * (1 - margin) || got > want * (1 + margin)) fail_msg("%f is not %f", got, want);
}

static void test_published_figures(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
    const struct figures *f = &published[i];
    struct built b;
    char label[16];
    build(&b, f->name);
    unsigned socket = topology_socket(b.t, 0);
    assert_int_equal(b.m.n_gpus, f->gpus);
    near_to(raw(&b, socket, 0), f->host_raw, 0.001);
    near_to((double)topology_rate(b.t, socket, 0) / 1e9, f->h2d, f->margin);
    near_to((double)topology_rate(b.t, 0, socket) / 1e9, f->d2h, f->margin);
    assert_string_equal(topology_label(b.t, 0, socket, label), f->near);
    if (f->peers) assert_string_equal(topology_label(b.t, 0, 1, label), f->peers);
    if (f->gpus > 1) assert_int_equal(topology_reaches(b.t, 0, 1), f->peer_raw > 0);
    if (f->peer_raw > 0) near_to(raw(&b, 0, 1), f->peer_raw, 0.001);
    if (f->peer > 0) near_to((double)topology_rate(b.t, 0, 1) / 1e9, f->peer, f->margin);
    drop(&b);
  }
}

/* Every machine of the folder is in the table above, so a new one cannot go untested. */
static void test_all_listed(void **state)
{
  (void)state;
  struct arena a = {0};
  struct preset_names names;
  struct err e;
  assert_true(machines_list(DIR, &a, &names, &e));
  assert_int_equal(names.n, sizeof published / sizeof *published);
  arena_free(&a);
}

/* --- ways ---------------------------------------------------------------------------------------- */

/* A message arrives, over switches only, and its hash alone says which way. */
static void test_ways_end(void **state)
{
  (void)state;
  struct built b;
  build(&b, "hgx-h100");
  for (unsigned from = 0; from < 8; from++)
    for (unsigned to = 0; to < 10; to++)
      for (uint64_t line = 0; from != to && line < 200; line += 7) {
        unsigned at = from, hops = 0;
        for (; at != to; hops++) {
          struct topology_hop h = topology_next(b.t, from, at, to, line);
          assert_int_equal(b.m.links[h.link].end[h.back], at);
          assert_int_equal(b.m.links[h.link].end[!h.back], h.node);
          at = h.node;
          assert_true(at == to || at >= b.m.n_gpus);
          assert_true(hops < 8);
        }
        if (to < 8) assert_int_equal(hops, 2);
      }
  drop(&b);
}

/* Lanes 5, 4, 4, 5: so the lines of a stream are shared out, also those of strides. */
static void test_lanes_share_lines(void **state)
{
  (void)state;
  struct built b;
  build(&b, "hgx-h100");
  static const uint64_t strides[] = {1, 2, 32, 4096};
  for (unsigned s = 0; s < 4; s++) {
    unsigned to[4] = {0};
    for (uint64_t i = 0; i < 18000; i++)
      to[topology_next(b.t, 2, 2, 5, i * strides[s]).node - b.m.n_gpus - b.m.n_sockets]++;
    near_to(to[0], 5000, 0.05);
    near_to(to[1], 4000, 0.05);
    near_to(to[2], 4000, 0.05);
    near_to(to[3], 5000, 0.05);
  }
  drop(&b);
}

/* Latencies by hand: two links and a switch; across sockets three links, two switches, no PCI Express between. */
static void test_latencies(void **state)
{
  (void)state;
  struct built b;
  build(&b, "dgx-a100");
  assert_int_equal(topology_latency(b.t, 0, 1), (120 + 100 + 120) * 1000);
  assert_int_equal(topology_socket(b.t, 0), 8);
  assert_int_equal(topology_socket(b.t, 7), 9);
  assert_int_equal(topology_latency(b.t, 0, 8), (130 + 110 + 130) * 1000);
  assert_int_equal(topology_latency(b.t, 0, 9), (130 + 110 + 130 + 120) * 1000);
  drop(&b);
}

static void test_one_gpu(void **state)
{
  (void)state;
  struct params p;
  struct machine_preset m;
  struct arena a = {0};
  struct err e;
  assert_true(params_load("rtx-3070", DIR, &p, &e));
  machine_of_gpu("rtx-3070", &p, &m);
  struct topology *t = topology_new(&m, &a);
  assert_int_equal(topology_rate(t, 1, 0), (uint64_t)p.pcie_h2d_mbps * 1000000);
  assert_int_equal(topology_rate(t, 0, 1), (uint64_t)p.pcie_d2h_mbps * 1000000);
  arena_free(&a);
  machine_preset_free(&m);
}

/* --- files --------------------------------------------------------------------------------------- */

static const char *const whole[] = {
    "name = (\"m\", \"guess\");\n",
    "gpu = { preset = (\"a100, h200\", \"guess\"); count = (2, \"guess\"); };\n",
    "host = { sockets = (1, \"guess\"); memory_mib = (1, \"guess\"); memory_mbps = (1, \"guess\");"
    " memory_latency_ns = (1, \"guess\"); };\n",
    "switch = { sw = { count = (2, \"guess\"); latency_ns = (1, \"guess\"); }; };\n",
    "link = { l = { kind = (\"nvlink\", \"guess\"); ends = (\"gpu0-1 sw0-1; sw0,sw1 cpu0\", \"guess\");"
    " lanes = (1, \"guess\"); mbps = (1, \"guess\"); latency_ns = (1, \"guess\"); packet_bytes = (32, \"guess\");"
    " overhead_bytes = (0, \"guess\"); credits = (1, \"guess\"); reads = (1, \"guess\"); peer = (true, \"guess\");"
    " atomics = (\"all\", \"guess\"); }; };\n",
};
enum { PARTS = sizeof whole / sizeof *whole };

/* The file above, in part `part` with `from` replaced by `to` (NULL: as it is); the error, "" for none. */
static const char *load_changed(unsigned part, const char *from, const char *to)
{
  static struct err e;
  static char path[] = "/tmp/ws-machine-XXXXXX.cfg";
  memcpy(path, "/tmp/ws-machine-XXXXXX.cfg", sizeof path);
  int fd = mkstemps(path, 4);
  assert_true(fd >= 0);
  FILE *f = fdopen(fd, "w");
  for (unsigned i = 0; i < PARTS; i++) {
    const char *at = from && i == part ? strstr(whole[i], from) : NULL;
    if (from && i == part) assert_non_null(at);
    if (at) fprintf(f, "%.*s%s%s", (int)(at - whole[i]), whole[i], to, at + strlen(from));
    else fputs(whole[i], f);
  }
  fclose(f);
  struct machine_preset m;
  e = (struct err){""};
  if (machine_load(path, DIR, &m, &e)) {
    assert_int_equal(m.n_links, 6);
    assert_string_equal(m.gpu[1], "h200");
    assert_int_equal(m.params[1].arch_sm, 90);
    assert_int_equal(m.link[0].back_mbps, m.link[0].mbps);
    machine_preset_free(&m);
  }
  unlink(path);
  return e.msg;
}

static const struct mistake {
  unsigned part;
  const char *from, *to, *said;
} mistakes[] = {
    {0, "\"m\"", "\"\"", "name: must be a text"},
    {0, "name", "nome", "nome: must be name, gpu, cpu, host, switch or link"},
    {1, "a100, h200", "a100, h200, h100", "one preset, or one for each GPU"},
    {1, "a100, h200", "a100, gtx-1", "no preset 'gtx-1'"},
    {1, "a100, h200", "../x", "must name presets"},
    {1, "count = (2", "count = (17", "gpu.count: 17 is out of range 1 to 16"},
    {1, "count = (2", "count = (2.5", "gpu.count: must be an integer"},
    {1, "count", "cuont", "did you mean 'count'?"},
    {1, "preset = (\"a100, h200\", \"guess\"); ", "", "gpu.preset: missing"},
    {2, "memory_mib = (1, \"guess\"); ", "memory_mib = 1; ", "must be (value, \"source tag: text\")"},
    {2, "memory_mib = (1, \"guess\"); ", "memory_mib = (1, \"said\"); ", "its source must start with"},
    {2, "memory_mib = (1, \"guess\"); ", "", "host.memory_mib: missing"},
    {3, "count = (2", "count = (65", "out of range 1 to 64"},
    {3, "sw =", "sw1 =", "the name of a group ends with a letter"},
    {3, "sw =", "gpu =", "names other nodes"},
    {3, "switch = { sw =", "switch = { sw = 1; sx =", "switch.sw: must be a group"},
    {4, "gpu0-1 sw0-1", "gpu0-2 sw0-1", "link.l.ends: must be two lists of nodes"},
    {4, "gpu0-1 sw0-1", "gpu1-0 sw0-1", "link.l.ends: must be two lists of nodes"},
    {4, "gpu0-1 sw0-1", "gpu0-99999999999999999999 sw0", "link.l.ends: must be two lists of nodes"},
    {4, "gpu0-1 sw0-1", "gpu0-1", "link.l.ends: must be two lists of nodes"},
    {4, "gpu0-1 sw0-1", "gpu0 gpu0", "joins a node with itself"},
    {4, "gpu0-1 sw0-1", "gpu0 sw0; sw0 gpu0", "joins two nodes twice"},
    {4, "gpu0-1 sw0-1; ", "gpu0 sw0-1; ", "gpu1 is joined with no socket"},
    {4, "\"nvlink\"", "\"usb\"", "link.l.kind: must be \"pcie\" or \"nvlink\""},
    {4, "peer = (true", "peer = (1", "link.l.peer: must be true or false"},
    {4, "credits = (1", "credits = (0", "link.l.credits: 0 is out of range"},
    {4, "reads = (1", "reads = (-1", "link.l.reads: -1 is out of range"},
};

static void test_errors(void **state)
{
  (void)state;
  assert_string_equal(load_changed(0, NULL, NULL), "");
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    const struct mistake *m = &mistakes[i];
    const char *msg = load_changed(m->part, m->from, m->to);
    if (!strstr(msg, m->said)) fail_msg("mistake %zu: '%s' is not in '%s'", i, m->said, msg);
    assert_null(strchr(msg, '\n'));
    assert_non_null(strstr(msg, ".cfg:"));
  }
}

/* --- CPU ----------------------------------------------------------------------------------------- */

static const struct mistake cpu_mistakes[] = {
    {0, "cores     = (4", "cores     = (0", "cpu.cores: 0 is out of range 1 to 32"},
    {0, "cores     = (4", "cores     = (4294967297L", "cpu.cores: 4294967297 is out of range 1 to 32"},
    {0, "cores     = (4, ", "kores     = (4, ", "did you mean 'cores'?"},
    {0, "l2_sets    = (512", "l2_sets    = (500", "cpu.l2_sets: must be a power of two"},
    {0, "l2_sets    = (512", "l2_sets    = (1", "cpu.l1d_sets: L1 is larger than L2"},
    {0, "home_sets    = (4096", "home_sets    = (1048576", "cpu.home_ways: more than 4194304 lines"},
    {0, "home_sets    = (4096", "home_sets    = (4", "cpu.home_ways: homes know fewer than 64 lines for each core"},
    {0, "gpu_sets   = (2048", "gpu_sets   = (2000", "cpu.gpu_sets: must be a power of two"},
    {0, "gpu_sets   = (2048", "gpu_sets   = (1048576", "cpu.gpu_ways: more than 4194304 lines of the GPU"},
    {0, "memory   = (\"fused\"", "memory   = (\"split\"", "cpu.gpu_ports: must be 0 where memory is split"},
    {0, "memory   = (\"fused\"", "memory   = (\"c2c\"", "cpu.gpu_tlb_entries: must be 0 where memory is not fused"},
    {0, "branch_entries       = (512", "branch_entries       = (3", "cpu.branch_entries: must be a power of two, or 0"},
    {0, "memory   = (\"fused\"", "memory   = (\"both\"", "cpu.memory: must be \"fused\" or \"split\" or \"c2c\""},
    {0, "protocol = (\"hsc\"", "protocol = (\"moesi\"", "cpu.protocol: must be"},
    {0, "  syscall_ns = ", "  #", "cpu.syscall_ns: missing"},
};

static void test_cpu(void **state)
{
  (void)state;
  struct machine_preset m;
  struct err e;
  char text[16384];
  FILE *f = fopen(DIR "/machines/fused-rv64.cfg", "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  for (size_t i = 0; i < sizeof cpu_mistakes / sizeof *cpu_mistakes; i++) {
    const struct mistake *x = &cpu_mistakes[i];
    char path[] = "/tmp/ws-machine-XXXXXX.cfg";
    const char *at = strstr(text, x->from);
    if (!at) fail_msg("no '%s'", x->from);
    f = fdopen(mkstemps(path, 4), "w");
    fprintf(f, "%.*s%s%s", (int)(at - text), text, x->to, at + strlen(x->from));
    fclose(f);
    bool loaded = machine_load(path, DIR, &m, &e);
    unlink(path);
    assert_false(loaded);
    if (!strstr(e.msg, x->said)) fail_msg("mistake %zu: '%s' is not in '%s'", i, x->said, e.msg);
  }
  assert_true(machine_load("fused-rv64", DIR, &m, &e));
  assert_true(m.has_cpu);
  assert_int_equal(m.cpu.memory, CPU_MEMORY_FUSED);
  assert_int_equal(m.cpu.protocol, CPU_PROTOCOL_HSC);
  assert_int_equal(m.cpu.l2_sets, 512);
  machine_preset_free(&m);
  assert_true(machine_load("gh200", DIR, &m, &e));
  assert_false(m.has_cpu);
  machine_preset_free(&m);
}

static void test_unknown(void **state)
{
  (void)state;
  struct machine_preset m;
  struct err e;
  assert_false(machine_load("dgx-a10", DIR, &m, &e));
  assert_non_null(strstr(e.msg, "did you mean 'dgx-a100'?"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_published_figures), cmocka_unit_test(test_all_listed), cmocka_unit_test(test_ways_end),
      cmocka_unit_test(test_lanes_share_lines), cmocka_unit_test(test_latencies),  cmocka_unit_test(test_one_gpu),
      cmocka_unit_test(test_errors),            cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_cpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
