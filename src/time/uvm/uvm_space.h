/* Where the pages of managed memory are: at the host, on the GPU, or nowhere yet because nobody has touched them. Bytes
 * never move here: the host and the GPU have one image. What moves is where accesses go (base/place.h).
 *
 *   ranges   allocations, in blocks of 2 MiB; the last one may have fewer pages
 *   copies   pages of a range that is mostly read come to the GPU and stay at the host, too, until somebody writes them
 *   places   pages on the GPU are its own, copies PLACE_READS; others are PLACE_FAULTS: whoever touches them waits for
 *            the driver (uvm.h). Those of a range that is mapped are reached at the host over the link instead
 *   room     memory of the GPU is given out in whole blocks; the block whose pages came in longest ago leaves first
 *   changes  between windows, and by the driver while no core runs
 *   not modelled: pages of several GPUs, permissions
 */
#ifndef WS_TIME_UVM_UVM_SPACE_H
#define WS_TIME_UVM_UVM_SPACE_H

#include "base/place.h"
#include "time/uvm/page_set.h"

struct uvm_block {
  struct page_set gpu, host; /* pages there; in neither: untouched */
  struct page_set both;      /* of those on the GPU: the host has a copy as good */
  struct page_set left;      /* have been on the GPU, and had to make room */
  uint64_t used;             /* stamp of the last time pages came in */
  uint32_t remote;           /* accesses of the GPU to its pages at the host since then */
};

struct uvm_range {
  uint64_t addr, pages; /* a multiple of 2 MiB; of 4 KiB */
  uint32_t n_blocks;
  bool mapped;          /* pages at the host are reached there */
  bool read_mostly;     /* pages that come to the GPU stay at the host, too */
  bool at_host;         /* pages that nobody has touched are made at the host */
  bool stays;           /* blocks come whole, and leave the GPU only when nothing else can */
  struct uvm_block *block;
};

#define UVM_STATS(X)                                                                               \
  X(faults, "faults", "faults in the GPU's buffer that the driver took")                           \
  X(repeats, "duplicate_faults", "of those, on pages that another one of the batch names")         \
  X(batches, "batches", "batches of faults")                                                       \
  X(to_gpu, "migrated_to_gpu_bytes", "bytes moved to the GPU")                                     \
  X(to_host, "migrated_to_host_bytes", "bytes moved to the host")                                  \
  X(filled, "populated_bytes", "bytes of pages that nobody had touched, made on the GPU")          \
  X(tree, "tree_prefetched_bytes", "bytes moved or made beyond the pages that faulted")            \
  X(asked, "prefetched_bytes", "bytes moved or made because the program asked for it")             \
  X(evictions, "evictions", "blocks that had to make room")                                        \
  X(evicted, "evicted_bytes", "bytes moved to the host for that")                                  \
  X(thrashed, "thrashed_bytes", "bytes that came to the GPU again after they had made room")       \
  X(counted, "access_counter_notifications", "blocks whose accesses at the host were counted to the threshold")  \
  X(copied, "duplicated_bytes", "bytes of pages that came to the GPU and stayed at the host, too")  \
  X(collapsed, "collapsed_bytes", "bytes of such pages that were written")                         \
  X(host_faults, "host_faults", "faults of the host on pages that were on the GPU")                \
  X(mapped, "mapped_bytes", "bytes of pages for which the GPU had no room, reached at the host")

struct uvm_stats {
#define X(field, key, what) uint64_t field;
  UVM_STATS(X)
#undef X
};

struct uvm_space {
  struct places *places;
  int socket; /* node of the host's memory */
  bool coherent; /* host and GPU reach each other's pages: those at the host are mapped in all ranges */
  struct uvm_range *range; /* by address */
  uint32_t n, room_ranges;
  uint64_t room;     /* blocks that the GPU may hold */
  uint64_t resident; /* that it holds */
  uint64_t stamp;
  struct uvm_stats stats;
};

void uvm_space_free(struct uvm_space *);
/* addr: a multiple of 2 MiB; bytes > 0. */
void uvm_space_add(struct uvm_space *, uint64_t addr, uint64_t bytes);
/* NULL: the address is in none. */
struct uvm_range *uvm_space_range(const struct uvm_space *, uint64_t addr);
void uvm_space_remove(struct uvm_space *, uint64_t addr);
/* Whether pages at the host are reached there from now on. */
void uvm_space_map(const struct uvm_space *, struct uvm_range *, bool mapped);

/* The block of an address in the range, how many pages it has, and where it begins. */
struct uvm_block *uvm_range_block(const struct uvm_range *, uint64_t addr, unsigned *n_pages, uint64_t *base);

/* Pages of a block come to the GPU, some of them to be written; go to the host. */
void uvm_space_arrive(struct uvm_space *, const struct uvm_range *, uint64_t base, const struct page_set *,
                      const struct page_set *written);
void uvm_space_leave(struct uvm_space *, const struct uvm_range *, uint64_t base, const struct page_set *);
/* Of these pages the GPU's is the only one from now on; the host's is: it has written them. */
void uvm_space_collapse(struct uvm_space *, const struct uvm_range *, uint64_t base, const struct page_set *);
/* Accesses to these pages wait for the driver, or no more: they go to the host. */
void uvm_space_close(const struct uvm_space *, uint64_t base, const struct page_set *);
void uvm_space_open_at_host(const struct uvm_space *, uint64_t base, const struct page_set *);
/* The host has touched pages that were nowhere. */
void uvm_space_touch(const struct uvm_space *, const struct uvm_range *, uint64_t base, const struct page_set *);
/* The block that is to leave next, not the one at `but`; false: none is there. */
bool uvm_space_victim(const struct uvm_space *, uint64_t but, const struct uvm_range **, uint64_t *base);

static inline uint64_t uvm_bytes(const struct page_set *s)
{
  return (uint64_t)page_set_count(s) << UVM_PAGE_BITS;
}

#endif
