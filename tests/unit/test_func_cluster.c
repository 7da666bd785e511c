/* Thread block clusters of a grid in three dimensions (func/sass/cluster.h): who is in which, and as what number. Expected values
 * from the definition: CUDA programming guide, "Thread Block Clusters"; PTX ISA, %cluster_ctarank. */
#include "func_rig.h"

#include "func/sass/cluster.h"

static void members_of_clusters(void **state)
{
  static const uint32_t grid[3] = {4, 6, 4}, size[3] = {2, 3, 2};
  enum { CTAS = 4 * 6 * 4, CLUSTERS = CTAS / 12 };
  const uint64_t exits[] = {W_EXIT};
  struct sass_inst sass;
  struct inst inst;
  struct err e = {0};
  struct gmem *mem = gmem_new(16);
  struct func_cta *cta[CTAS];
  (void)state;
  assert_true(sass_decode(90, (struct word128){exits[1], exits[0]}, RIG_BASE, &sass, &inst, &e));
  struct func_params p = {
      .sm = 90, .code = {.base = RIG_BASE, .end = RIG_BASE + 16, .shift = 4, .inst = &inst, .decoded = &sass}, .entry_pc = RIG_BASE,
      .grid = {grid[0], grid[1], grid[2]}, .block = {32, 1, 1}, .cluster = {size[0], size[1], size[2]}, .regs_per_thread = 32,
      .shared_window = RIG_SHARED_WINDOW, .local_window = RIG_LOCAL_WINDOW, .image = mem, .n_workers = 1,
      .slots_per_worker = CTAS, .kernel_name = "clusters"};
  struct func_launch *l = func_launch_new(&p, &e);
  if (!l) fail_msg("%s", e.msg);
  struct step_source *s = func_source(l);
  for (unsigned i = 0; i < CTAS; i++) cta[i] = (struct func_cta *)s->ops->cta_begin(s, i, 0, i, 0);
  unsigned pairs = 0;
  for (unsigned i = 0; i < CTAS; i++) {
    const uint32_t x = i % grid[0], y = i / grid[0] % grid[1], z = i / grid[0] / grid[1];
    assert_int_equal(cta[i]->rank, x % size[0] + size[0] * (y % size[1]) + size[0] * size[1] * (z % size[2]));
    assert_ptr_equal(cluster_member(cta[i], cta[i]->rank), cta[i]);
    assert_null(cluster_member(cta[i], 12));
    for (unsigned k = 0; k < CTAS; k++) {
      const uint32_t a = k % grid[0], b = k / grid[0] % grid[1], c = k / grid[0] / grid[1];
      const bool together = x / size[0] == a / size[0] && y / size[1] == b / size[1] && z / size[2] == c / size[2];
      assert_int_equal(cluster_member(cta[i], cta[k]->rank) == cta[k], together);
      pairs += together;
    }
  }
  assert_int_equal(pairs, CLUSTERS * 12 * 12);
  func_launch_free(l);
  gmem_free(mem);
}

/* Generic atomics with a predicate, lanes in turn in the own shared memory and in that of the other CTA of the cluster: where
 * they are performed, P0 says so. ptxas has a loop for the own memory of all but exchanges, for that of others of sums of
 * F32 (and F64) alone, so the others are performed there (PTX ISA: atomic). */
static void atomics_at_other_ctas(void **state)
{
  static const struct {
    uint64_t words[4];
    unsigned data;
    bool own, other;
  } t[] = {
      {{0x001162000c10e5c4, 0x000000040204798a, W_EXIT}, 4, true, true},    /* EXCH.64 P0, R4, desc[UR4][R2.64], R4 */
      {{0x001162000910e7c4, 0x000000040204798a, W_EXIT}, 4, false, true},   /* MAX.S64 */
      {{0x001162000810e1c4, 0x00000005020579a2, W_EXIT}, 5, false, true},   /* ADD.F16x2.RN P0, R5, …, R5 */
      {{0x001162000810f3c4, 0x00000005020579a2, W_EXIT}, 5, false, false}}; /* ADD.F32.FTZ.RN */
  (void)state;
  for (unsigned k = 0; k < sizeof t / sizeof *t; k++) {
    struct sass_inst sass[2];
    struct inst inst[2];
    struct err e = {0};
    struct gmem *mem = gmem_new(16);
    for (unsigned i = 0; i < 2; i++)
      assert_true(sass_decode(90, (struct word128){t[k].words[2 * i + 1], t[k].words[2 * i]}, RIG_BASE + 16 * i, &sass[i],
                              &inst[i], &e));
    struct func_params p = {
        .sm = 90, .code = {.base = RIG_BASE, .end = RIG_BASE + 32, .shift = 4, .inst = inst, .decoded = sass}, .entry_pc = RIG_BASE,
        .grid = {2, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}, .regs_per_thread = 32, .shared_static = RIG_SHARED,
        .shared_window = RIG_SHARED_WINDOW, .local_window = RIG_LOCAL_WINDOW, .image = mem, .n_workers = 1,
        .slots_per_worker = 2, .kernel_name = "atomics"};
    struct func_launch *l = func_launch_new(&p, &e);
    if (!l) fail_msg("%s", e.msg);
    struct step_source *s = func_source(l);
    struct func_cta *cta[2];
    for (unsigned i = 0; i < 2; i++) cta[i] = (struct func_cta *)s->ops->cta_begin(s, i, 0, i, 0);
    struct func_warp *w = &cta[0]->warps[0];
    struct mem_effect me = {0};
    struct effect effect = {.mem = &me};
    struct gmem_view view = {.image = mem};
    struct fault f;
    for (unsigned i = 0; i < 32; i++) {
      const uint64_t a = RIG_SHARED_WINDOW + ((uint64_t)(i & 1) << CLUSTER_SHIFT) + 8 * i;
      warp_reg(w, 2)[i] = (uint32_t)a, warp_reg(w, 3)[i] = (uint32_t)(a >> 32);
      warp_reg(w, 4)[i] = 0x3c00, warp_reg(w, 5)[i] = 0x3c00;
    }
    assert_true(s->ops->step(&w->step, 0, &effect, &f));
    assert_int_equal(w->pred[0], (t[k].own ? 0x55555555u : 0) | (t[k].other ? 0xaaaaaaaau : 0));
    assert_int_equal(!!(effect.flags & EFF_MEM), t[k].own || t[k].other);
    if (effect.flags & EFF_MEM) assert_true(s->ops->perform(&w->step, &effect, me.lanes | me.near_lanes, &view, &f));
    for (unsigned i = 0; i < 32; i++) {
      uint32_t v = 0;
      memcpy(&v, cta[i & 1]->shared + 8 * i, 4);
      assert_int_equal(v, (i & 1 ? t[k].other : t[k].own) ? 0x3c00 : 0);
    }
    func_launch_free(l);
    gmem_free(mem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(members_of_clusters), cmocka_unit_test(atomics_at_other_ctas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
