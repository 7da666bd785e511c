/* Where the pages of managed memory are: at the host, on one of the GPUs, or nowhere yet because nobody has touched
 * them. Bytes never move here: the host and all GPUs have one image. What moves is where accesses go (base/place.h).
 *
 *   ranges   allocations, in blocks of 2 MiB; the last one may have fewer pages
 *   policy   what the program said, of pages of a range that follow each other
 *   copies   pages that are mostly read come to a GPU and stay where they are, too, until somebody writes them
 *   places   as each GPU sees them: its own pages are its own, copies PLACE_READS; others are PLACE_FAULTS: whoever
 *            touches them waits for the driver (uvm.h). Those that are mapped for it are reached over links instead
 *   rights   of pages at a host without atomics for GPUs: one GPU may do those of system scope there, others then only
 *            read, until one of them writes
 *   room     memory of a GPU is given out in whole blocks; the block whose pages came in longest ago leaves first
 *   changes  between windows, and by the driver. Who makes the space says how they reach the GPUs' tables
 *   not modelled: permissions of the program's, those of the host; atomics of GPUs on each other without a fast link
 */
#ifndef WS_TIME_UVM_UVM_SPACE_H
#define WS_TIME_UVM_UVM_SPACE_H

#include "base/place.h"
#include "time/uvm/page_set.h"
#include "time/uvm/thrashing.h"
#include "time/uvm/uvm_stats.h"

/* No GPUs: the host; no memory. */
enum { UVM_HOST = -1, UVM_NOWHERE = -2 };

/* What a GPU has of a block. */
struct uvm_share {
  struct page_set there;  /* pages on it */
  struct page_set mapped; /* that it reaches where they are, since it has touched them */
  struct page_set atomic; /* at the host, where this GPU alone may do atomics of system scope, */
  struct page_set reads;  /* or may only read, as another one does */
  struct page_set left;   /* have been there, and had to make room */
  uint64_t used;          /* stamp of the last time pages came in */
  uint32_t remote;        /* its accesses to pages at the host since then */
};

struct uvm_block {
  struct page_set host;  /* pages that the host has; where no GPU has them either: untouched */
  struct uvm_share *gpu; /* [n_gpus] */
  uint8_t held;          /* the number of the driver that works on it, and one more; 0: none does */
  uint8_t kept_by;       /* that of the driver which has just let pages come, */
  uint64_t kept;         /* until then, ps: no other one takes them for its accesses */
  struct thrash_block *thrash; /* NULL: nothing has moved for a fault */
};

struct uvm_policy {
  int prefers;          /* GPU or UVM_HOST: pages that nobody has touched are made there, others stay there where that
                           can be; UVM_NOWHERE: nothing is said. On that GPU blocks come whole and leave last */
  uint32_t at_host;     /* bits of GPUs that reach pages at the host there, */
  uint32_t at_peers;    /* on GPUs to whose memory they have a way, there */
  bool read_mostly;     /* pages that come to a GPU stay where they are, too; none is reached elsewhere */
};

/* From a page of the range to the next span. */
struct uvm_span {
  uint64_t first;
  struct uvm_policy policy;
};

struct uvm_range {
  uint64_t addr, pages; /* a multiple of 2 MiB; of 4 KiB */
  uint32_t n_blocks;
  int socket;           /* node of its memory at the host */
  struct uvm_block *block;
  struct uvm_share *share; /* of all blocks */
  struct uvm_span *span;   /* by page; the first one is of page 0 */
  uint32_t n_spans, room_spans;
};

/* A GPU that may have pages. */
struct uvm_gpu {
  uint64_t room;     /* blocks that it may hold */
  uint64_t resident; /* that it holds */
  uint64_t stamp;
  uint32_t reaches;  /* bits of GPUs to whose memory it has a way, */
  uint32_t fast;     /* … and atomics over fast links */
  uint16_t node;
  struct uvm_stats stats;
};

struct uvm_space {
  struct uvm_gpu gpu[UVM_GPUS];
  /* The books of whose memory this is, where several processes have some (host/mps_server.c); NULL: the GPU's alone. */
  struct uvm_stats *(*owner)(void *ctx, uint64_t addr);
  void *owner_ctx;
  unsigned n_gpus;
  bool coherent; /* host and GPUs reach each other's pages: those at the host are mapped in all ranges */
  struct uvm_range *range; /* by address */
  uint32_t n, room_ranges;
  /* Pages of [addr, addr + bytes) are at that node for the GPU, -1: its own; or at none (PLACE_FAULTS, PLACE_READS,
   * less one). */
  void (*place)(void *ctx, unsigned gpu, uint64_t addr, uint64_t bytes, int node);
  /* … and what the GPU may do to them there; NULL: who places them keeps no rights. */
  void (*allow)(void *ctx, unsigned gpu, uint64_t addr, uint64_t bytes, enum place_right);
  void *ctx;
};

void uvm_space_free(struct uvm_space *);
/* addr: a multiple of 2 MiB; bytes > 0; the node of its memory at the host. Behind that, of all space's GPUs. */
void uvm_space_add(struct uvm_space *, uint64_t addr, uint64_t bytes, int socket);
/* NULL: the address is in none. */
struct uvm_range *uvm_space_range(const struct uvm_space *, uint64_t addr);
void uvm_space_remove(struct uvm_space *, uint64_t addr);

/* Pages [first, first + n) of the range have this policy from now on. */
void uvm_space_advise(struct uvm_space *, struct uvm_range *, uint64_t first, uint64_t n, const struct uvm_policy *);
/* Pages of a block that have one policy, behind those of the call before; *cursor begins with 0. NULL: there are no
 * more. */
const struct uvm_policy *uvm_range_part(const struct uvm_range *, uint64_t base, uint32_t *cursor, struct page_set *);

/* The block of an address in the range, how many pages it has, and where it begins. */
struct uvm_block *uvm_range_block(const struct uvm_range *, uint64_t addr, unsigned *n_pages, uint64_t *base);
/* Pages of it that GPUs have; that others have than this one (the host counts). */
struct page_set uvm_block_on_gpus(const struct uvm_space *, const struct uvm_block *);
struct page_set uvm_block_elsewhere(const struct uvm_space *, const struct uvm_block *, unsigned gpu);

/* Pages of a block come to the GPU, some of them to be written; leave it: to the host, where nobody else has them. */
void uvm_space_arrive(struct uvm_space *, const struct uvm_range *, uint64_t base, unsigned gpu,
                      const struct page_set *, const struct page_set *written);
void uvm_space_leave(struct uvm_space *, const struct uvm_range *, uint64_t base, unsigned gpu,
                     const struct page_set *);
/* Of these pages those of the GPU are the only ones from now on: it writes them. */
void uvm_space_collapse(struct uvm_space *, const struct uvm_range *, uint64_t base, unsigned gpu,
                        const struct page_set *);
/* As all GPUs see these pages of a block now, whatever was closed to them. */
void uvm_space_show(const struct uvm_space *, const struct uvm_range *, uint64_t base, const struct page_set *);
/* Accesses to these pages wait for the driver: of a GPU, of all. */
void uvm_space_close_to(const struct uvm_space *, uint64_t base, unsigned gpu, const struct page_set *);
void uvm_space_close(const struct uvm_space *, uint64_t base, const struct page_set *);
/* The GPU reaches these pages where they are, until it gets them, or somebody else does. */
void uvm_space_map(const struct uvm_space *, const struct uvm_range *, uint64_t base, unsigned gpu,
                   const struct page_set *);
/* It does so no more. */
void uvm_space_unmap(const struct uvm_space *, const struct uvm_range *, uint64_t base, const struct page_set *);
/* Pages that the GPU reaches without a fault where they are. */
struct page_set uvm_space_reached(const struct uvm_space *, const struct uvm_range *, uint64_t base, unsigned gpu);
/* … for whose writes, or atomics of system scope, it has not the right. */
struct page_set uvm_space_denied(const struct uvm_space *, const struct uvm_range *, uint64_t base, unsigned gpu,
                                 const struct page_set *written, const struct page_set *atomic);
/* It has it from now on, which takes it from others: from the GPU k those in gone[k], which it reaches. */
void uvm_space_grant(const struct uvm_space *, const struct uvm_range *, uint64_t base, unsigned gpu,
                     const struct page_set *denied, const struct page_set *atomic, struct page_set gone[UVM_GPUS]);
/* The host has touched pages that were nowhere. */
void uvm_space_touch(const struct uvm_space *, const struct uvm_range *, uint64_t base, const struct page_set *);
/* The block of the GPU's that is to leave next, not the one at `but`, and none that another driver holds; false: none
 * is there. */
bool uvm_space_victim(const struct uvm_space *, unsigned gpu, uint64_t but, const struct uvm_range **, uint64_t *base);

/* The GPU has no room for the block, of which it has nothing. */
static inline bool uvm_space_full(const struct uvm_space *x, const struct uvm_block *b, unsigned gpu)
{
  return page_set_empty(&b->gpu[gpu].there) && x->gpu[gpu].resident >= x->gpu[gpu].room;
}

/* What happens to the page at an address counts for the GPU, and for whose memory it is. */
#define UVM_COUNT(x, k, addr, field, by)                                                                  \
  do {                                                                                                    \
    const uint64_t by_ = (by);                                                                            \
    struct uvm_stats *const own_ = (x)->owner ? (x)->owner((x)->owner_ctx, addr) : NULL;                  \
    (x)->gpu[k].stats.field += by_;                                                                       \
    if (own_) own_->field += by_;                                                                         \
  } while (0)

static inline uint64_t uvm_bytes(const struct page_set *s)
{
  return (uint64_t)page_set_count(s) << UVM_PAGE_BITS;
}

#endif
