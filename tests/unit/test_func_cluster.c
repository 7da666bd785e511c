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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(members_of_clusters)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
