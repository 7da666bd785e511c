/* Grids beside each other in the memory system: traffic of each, which adds up to that of all; lines of two address
 * spaces, which are never one line. Expected numbers from the kernel's own sizes and from the memory side's counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel_rig.h"
#include "mem_rig.h"
#include "time/mem/l1.h"

static uint64_t counter(struct gpu *gpu, const char *name)
{
  struct stat_group g[GPU_MAX_GROUPS];
  unsigned n = gpu_stats_groups(gpu, g);
  for (unsigned i = 0; i < n; i++) {
    const struct stat_desc *d = stat_find(g[i], name);
    if (d) return *(const uint64_t *)((const char *)g[i].data + d->offset);
  }
  fail_msg("no counter %s", name);
  return 0;
}

/* --- in the GPU --------------------------------------------------------------------------------- */

/* vecadd of 16,300 elements (kernels/vecadd): reads two vectors, writes one, each byte once. */
enum { VECTOR_SECTORS = (16300 * 4 + SECTOR_BYTES - 1) / SECTOR_BYTES };

struct pair {
  struct kernel_rig k;
  struct launch second;
  struct traffic by[2], code;
};

/* The kernel twice at the same time, on the same vectors, in these spaces. */
static void run_pair(struct pair *p, const char *name, uint8_t space_a, uint8_t space_b)
{
  kernel_rig_build(&p->k, name, 2);
  p->second = kernel_rig_again(&p->k, p->k.launch->params.grid[0]);
  struct gpu_launch a = kernel_rig_launch(&p->k), b = {.source = func_source(p->second.func), .beside = true};
  a.beside = true;
  a.source->space = space_a;
  b.source->space = space_b;
  gpu_rig_run(&p->k.rig, (struct gpu_launch[]){a, b}, 2, p->k.launch->params.image);
  for (unsigned i = 0; i < 2; i++) gpu_traffic(p->k.rig.gpu, i, &p->by[i]);
  gpu_traffic(p->k.rig.gpu, GPU_SLOTS, &p->code);
}

static void free_pair(struct pair *p)
{
  func_launch_free(p->second.func);
  kernel_rig_free(&p->k);
}

static struct traffic of_space(const struct gpu *g, unsigned space)
{
  struct traffic t;
  gpu_space_traffic(g, space, &t);
  return t;
}

static void assert_adds_up(struct pair *p)
{
  struct gpu *g = p->k.rig.gpu;
  struct traffic sum = p->code;
  for (unsigned i = 0; i < 2; i++) traffic_add(&sum, &p->by[i]);
  assert_int_equal(sum.l2_read, counter(g, "l2_read_sectors"));
  assert_int_equal(sum.l2_written, counter(g, "l2_write_sectors") + counter(g, "l2_strong_write_sectors"));
  assert_int_equal(SECTOR_BYTES * sum.dram_read, counter(g, "dram_read_bytes"));
  assert_int_equal(SECTOR_BYTES * sum.dram_written, counter(g, "dram_write_bytes"));
}

static void each_grid_has_its_traffic(void **state)
{
  (void)state;
  struct pair p;
  run_pair(&p, "vecadd", 0, 0);
  assert_adds_up(&p);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(p.by[i].l2_written, VECTOR_SECTORS);
    assert_in_range(p.by[i].l2_read, 1, 2 * VECTOR_SECTORS);
  }
  assert_int_equal(p.by[0].dram_read + p.by[1].dram_read, 2 * VECTOR_SECTORS); /* whoever comes first */
  assert_int_equal(p.code.l2_written, 0);
  assert_true(p.code.l2_read > 0);
  free_pair(&p);
  run_pair(&p, "hist_global", 0, 0); /* atomics */
  assert_adds_up(&p);
  assert_true(p.by[0].l2_written > 0);
  assert_int_equal(p.by[0].l2_written, p.by[1].l2_written);
  assert_int_equal(of_space(p.k.rig.gpu, 0).l2_written, 2 * p.by[0].l2_written); /* both are in space 0 */
  free_pair(&p);
}

/* A slot's next launch begins with nothing. */
static void traffic_of_a_slot_begins_anew(void **state)
{
  (void)state;
  struct kernel_rig k;
  struct traffic t;
  kernel_rig_build(&k, "vecadd", 1);
  struct gpu_launch l = kernel_rig_launch(&k);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(gpu_rig_open(&k.rig, &l, k.launch->params.image), 0);
    gpu_rig_finish(&k.rig);
    gpu_traffic(k.rig.gpu, 0, &t);
    assert_int_equal(t.l2_written, VECTOR_SECTORS);
    assert_int_equal(t.l2_read, 2 * VECTOR_SECTORS);
    assert_int_equal(t.dram_read, i ? 0 : 2 * VECTOR_SECTORS); /* L2 keeps its lines */
    t = of_space(k.rig.gpu, 0); /* of this run */
    assert_int_equal(t.l2_written, VECTOR_SECTORS);
    gpu_close(k.rig.gpu, 0);
  }
  kernel_rig_free(&k);
}

/* Launches one behind the other in one run, in one slot: that of the first counts on. */
static void traffic_of_a_space_goes_on(void **state)
{
  (void)state;
  struct kernel_rig k;
  kernel_rig_build(&k, "vecadd", 1);
  struct gpu_launch l = kernel_rig_launch(&k);
  for (unsigned i = 0; i < 3; i++) {
    l.source->space = i == 1 ? 4 : 0;
    assert_int_equal(gpu_rig_open(&k.rig, &l, k.launch->params.image), 0);
    gpu_watch(k.rig.gpu, &gpu_rig_watch, false);
    assert_int_equal(machine_run(k.rig.machine, TIME_NEVER), MACHINE_IDLE);
    const struct traffic a = of_space(k.rig.gpu, 0), b = of_space(k.rig.gpu, 4);
    assert_int_equal(a.l2_written, (i == 2 ? 2 : 1) * VECTOR_SECTORS);
    assert_in_range(a.l2_read, 2 * VECTOR_SECTORS + (i == 2), 2 * a.l2_written); /* within a run L1 keeps some */
    assert_int_equal(a.dram_read, 2 * VECTOR_SECTORS); /* L2 keeps its lines */
    assert_int_equal(b.l2_written, (i > 0) * VECTOR_SECTORS);
    assert_int_equal(b.dram_read, (i > 0) * 2 * VECTOR_SECTORS);
    if (i < 2) gpu_close(k.rig.gpu, 0);
  }
  gpu_rig_finish(&k.rig);
  kernel_rig_free(&k);
}

/* The same addresses in another space are other lines: nothing of one grid's is found by the other. */
static void spaces_share_no_lines(void **state)
{
  (void)state;
  struct pair p;
  run_pair(&p, "vecadd", 1, 2);
  assert_adds_up(&p);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(p.by[i].l2_read, 2 * VECTOR_SECTORS);
    assert_int_equal(p.by[i].dram_read, 2 * VECTOR_SECTORS);
    const struct traffic t = of_space(p.k.rig.gpu, i + 1);
    assert_memory_equal(&t, &p.by[i], sizeof t);
    assert_int_equal(of_space(p.k.rig.gpu, 3 * i).l2_read, 0); /* nobody's */
  }
  assert_int_equal(counter(p.k.rig.gpu, "l1_hit_sectors"), 0);
  free_pair(&p);
}

/* Bytes are those of the addresses: atomics and strong accesses find their lanes, weak accesses their lines. */
static void values_in_a_space(void **state)
{
  (void)state;
  static const char *const kernel[] = {"hist_global", "memory_order", "vecadd", "tex_filter2d"};
  for (unsigned i = 0; i < sizeof kernel / sizeof kernel[0]; i++) {
    const struct case_result *list;
    struct err e = {0};
    struct kernel_rig k;
    unsigned n;
    kernel_rig_build(&k, kernel[i], 1);
    struct gpu_launch l = kernel_rig_launch(&k);
    l.source->space = 255;
    gpu_rig_run(&k.rig, &l, 1, k.launch->params.image);
    if (!case_check(k.run, &list, &n, &e)) fail_msg("%s", e.msg);
    for (unsigned r = 0; r < n; r++) if (!list[r].ok) fail_msg("%s: %s", kernel[i], list[r].text);
    kernel_rig_free(&k);
  }
}

/* --- L2 and L1 alone ----------------------------------------------------------------------------- */

static uint64_t misses(struct rig *r, uint64_t *merged)
{
  uint64_t n = *merged = 0;
  for (unsigned i = 0; i < r->n; i++)
    for (unsigned k = 0; k < r->part[i].n_slices; k++) {
      n += r->part[i].slice[k].stats.l2_miss_sectors;
      *merged += r->part[i].slice[k].stats.l2_merge_sectors;
    }
  return n;
}

/* Of the lines on their way, and of those that are there. */
static void lines_of_l2(void **state)
{
  (void)state;
  for (unsigned other = 0; other < 2; other++) {
    struct rig r;
    uint64_t merged;
    rig_build(&r, "rtx-3070");
    rig_start(&r);
    ask(&r, 0, REQ_READ, MEM_LOAD, 7, 0xf, 0);
    ask(&r, 0, REQ_READ, MEM_LOAD, line_of_space(other) | 7, 0xf, r.clock);
    rig_window(&r);
    drain(&r);
    assert_int_equal(misses(&r, &merged), other ? 8 : 4);
    assert_int_equal(merged, other ? 0 : 4);
    while (r.in[0].n < 2) rig_window(&r);
    while (r.in[0].n) reply_queue_pop(&r.in[0]);
    round_trip(&r, REQ_READ, MEM_LOAD, line_of_space(2 * other) | 7, 0xf);
    assert_int_equal(misses(&r, &merged), other ? 12 : 4);
    rig_free(&r);
  }
}

static void ignore(void *ctx, uint32_t txn)
{
  (void)ctx, (void)txn;
}

static void lines_of_l1(void **state)
{
  (void)state;
  struct rig r;
  struct arena a = {0};
  struct l1 c = {0};
  rig_build(&r, "rtx-3070");
  l1_init(&c, &a, &r.params);
  l1_start(&c, 65536);
  assert_int_equal(l1_load(&c, 7, 0xf, UINT32_MAX, 1).missed, 0xf);
  struct l1_access x = l1_load(&c, line_of_space(1) | 7, 0xf, UINT32_MAX, 2);
  assert_int_equal(x.merged, 0);
  assert_int_equal(x.missed, 0xf);
  l1_fill(&c, 7, 0xf, ignore, NULL);
  assert_int_equal(l1_load(&c, 7, 0xf, UINT32_MAX, 3).hit, 0xf);
  assert_int_equal(l1_load(&c, line_of_space(1) | 7, 0xf, UINT32_MAX, 4).hit, 0);
  l1_fill(&c, line_of_space(1) | 7, 0xf, ignore, NULL);
  assert_int_equal(l1_load(&c, line_of_space(1) | 7, 0xf, UINT32_MAX, 5).hit, 0xf);
  arena_free(&a);
}

/* Texels of a two-dimensional image are asked for by quads of lanes, here by all lanes of each warp. */
static void texture_requests(void **state)
{
  enum { QUAD = 4, WARP = 32 };
  struct kernel_rig k;
  (void)state;
  kernel_rig_build(&k, "tex_filter2d", 1);
  assert_int_equal(k.params.tex_request_lanes, QUAD);
  struct gpu_launch l = kernel_rig_launch(&k);
  gpu_rig_run(&k.rig, &l, 1, k.launch->params.image);
  const uint64_t insts = counter(k.rig.gpu, "texture_insts");
  assert_true(insts >= 8 * 8); /* warps, textures */
  assert_int_equal(counter(k.rig.gpu, "texture_requests"), insts * WARP / QUAD);
  kernel_rig_free(&k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texture_requests),
      cmocka_unit_test(each_grid_has_its_traffic), cmocka_unit_test(traffic_of_a_slot_begins_anew),
      cmocka_unit_test(traffic_of_a_space_goes_on),
      cmocka_unit_test(spaces_share_no_lines),     cmocka_unit_test(values_in_a_space),
      cmocka_unit_test(lines_of_l2),               cmocka_unit_test(lines_of_l1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
