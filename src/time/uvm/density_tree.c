#include "time/uvm/density_tree.h"

/* Pages of [first, first + n) in the set. */
static unsigned count_in(const struct page_set *s, unsigned first, unsigned n)
{
  unsigned in = 0;
  for (unsigned i = first; i < first + n; i++) in += page_set_has(s, i);
  return in;
}

/* Of [first, first + size), what the block has. */
static unsigned clip(unsigned first, unsigned size, unsigned n_pages)
{
  return first + size < n_pages ? size : n_pages - first;
}

/* The largest dense subtree around a node of `size` pages joins the set. */
static void take_dense(struct page_set *moved, const struct page_set *full, unsigned first, unsigned size,
                       unsigned n_pages, unsigned threshold)
{
  unsigned best = size;
  for (unsigned s = size; s <= UVM_BLOCK_PAGES; s *= 2) {
    const unsigned at = first / s * s, n = clip(at, s, n_pages);
    if (count_in(full, at, n) * 100 > n * threshold) best = s;
  }
  page_set_add_range(moved, first / best * best, clip(first / best * best, best, n_pages));
}

/* A leaf with pages that stay behind does not come as a whole. */
static bool grows(const struct page_set *faulted, const struct page_set *still, unsigned leaf, unsigned n)
{
  return count_in(faulted, leaf, n) && !count_in(still, leaf, n);
}

struct page_set density_tree_grow(const struct page_set *there, const struct page_set *faulted,
                                  const struct page_set *still, unsigned n_pages, unsigned threshold)
{
  struct page_set moved = *faulted, full = *faulted, stays = *still;
  page_set_remove(&stays, faulted);
  for (unsigned leaf = 0; threshold && leaf < n_pages; leaf += UVM_LEAF_PAGES) {
    const unsigned n = clip(leaf, UVM_LEAF_PAGES, n_pages);
    if (grows(faulted, still, leaf, n)) page_set_add_range(&full, leaf, n);
  }
  page_set_join(&full, there);
  for (unsigned leaf = 0; threshold && leaf < n_pages; leaf += UVM_LEAF_PAGES) {
    const unsigned n = clip(leaf, UVM_LEAF_PAGES, n_pages);
    if (grows(faulted, still, leaf, n)) {
      take_dense(&moved, &full, leaf, UVM_LEAF_PAGES, n_pages, threshold);
      continue;
    }
    for (unsigned i = leaf; i < leaf + n; i++)
      if (page_set_has(faulted, i) && !page_set_has(still, i)) take_dense(&moved, &full, i, 1, n_pages, threshold);
  }
  page_set_remove(&moved, there);
  page_set_remove(&moved, &stays);
  return moved;
}
