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

/* The largest dense subtree around the leaf: its size in pages. */
static unsigned dense_size(const struct page_set *full, unsigned leaf, unsigned n_pages, unsigned threshold)
{
  unsigned best = UVM_LEAF_PAGES;
  for (unsigned size = UVM_LEAF_PAGES; size <= UVM_BLOCK_PAGES; size *= 2) {
    const unsigned first = leaf / size * size, n = clip(first, size, n_pages);
    if (count_in(full, first, n) * 100 > n * threshold) best = size;
  }
  return best;
}

struct page_set density_tree_grow(const struct page_set *there, const struct page_set *faulted, unsigned n_pages,
                                  unsigned threshold)
{
  struct page_set grown = *faulted, full;
  if (!threshold) {
    page_set_remove(&grown, there);
    return grown;
  }
  for (unsigned leaf = 0; leaf < n_pages; leaf += UVM_LEAF_PAGES) {
    const unsigned n = clip(leaf, UVM_LEAF_PAGES, n_pages);
    if (count_in(faulted, leaf, n)) page_set_add_range(&grown, leaf, n);
  }
  full = grown;
  page_set_join(&full, there);
  struct page_set moved = grown;
  for (unsigned leaf = 0; leaf < n_pages; leaf += UVM_LEAF_PAGES) {
    if (!count_in(&grown, leaf, clip(leaf, UVM_LEAF_PAGES, n_pages))) continue;
    const unsigned size = dense_size(&full, leaf, n_pages, threshold), first = leaf / size * size;
    page_set_add_range(&moved, first, clip(first, size, n_pages));
  }
  page_set_remove(&moved, there);
  return moved;
}
