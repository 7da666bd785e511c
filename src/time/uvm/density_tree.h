/* The driver's prefetcher for managed memory: what is moved with the pages of a block that faulted.
 *
 *   leaves  a faulted page of 4 KiB grows to its big page of 64 KiB
 *   tree    over the block, each node twice as large as those below. Of the subtrees that hold a fault the largest is
 *           taken whole of which more than `threshold` per cent of the pages are there already or faulted (grown)
 *   still   pages that thrash (thrashing.h) do not come along, and bring nothing along when they fault; a leaf with
 *           some of them is taken page by page
 *   clip    a block that is not full (the end of an allocation) has fewer pages, and so have its subtrees
 *
 * Source: NVIDIA/open-gpu-kernel-modules, kernel-open/nvidia-uvm/uvm_perf_prefetch.c: threshold 51, never beyond the
 * block.
 */
#ifndef WS_TIME_UVM_DENSITY_TREE_H
#define WS_TIME_UVM_DENSITY_TREE_H

#include "time/uvm/page_set.h"

/* All pages to move for these faults, those that are there not among them; of `still` those alone that faulted.
 * n_pages: of the block; threshold 0: the prefetcher is off, and a fault moves its page alone. */
struct page_set density_tree_grow(const struct page_set *there, const struct page_set *faulted,
                                  const struct page_set *still, unsigned n_pages, unsigned threshold);

#endif
