/* Memory of the program: allocations of the devices, and host memory that kernels reach.
 *
 *   device      guest memory of one GPU; its addresses mean nothing to the host
 *   pinned      host memory mapped into the guests at its own address: one pointer for the host and all GPUs
 *   managed     the same; its pages move in time (managed.h)
 *   mapped      device memory at an address that was reserved for it (vmm.h)
 *   opened      device memory of another process (ipc.h)
 *   imported    the same, of a pool: given back as memory of pools is
 *   registered  host memory of the program; kernels of all GPUs see a copy in guest memory of one (docs/decisions says
 *               why). Bytes that one side has changed go to the other when a kernel starts, when one has ended, and
 *               while kernels run around each stretch of time that a call of the program lets pass
 */
#ifndef WS_CUDA_MEMORY_H
#define WS_CUDA_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/guest_regions.h"
#include "cuda/core/advice_list.h"
#include "cuda/core/board.h"

struct shim;
struct shim_part;

struct managed;

static inline bool memory_is_for_host(uint64_t addr)
{
  return addr >= HOST_MAPPINGS && addr < HOST_MAPPINGS_END;
}

enum block_kind { BLOCK_DEVICE, BLOCK_PINNED, BLOCK_MANAGED, BLOCK_REGISTERED, BLOCK_MAPPED,
                  BLOCK_OPENED, BLOCK_IMPORTED, BLOCK_KINDS };
enum { BLOCKS_TO_FREE = 1 << BLOCK_DEVICE | 1 << BLOCK_MANAGED | 1 << BLOCK_IMPORTED }; /* cudaFree's */

/* Who counts what is allocated: told when a block of it goes. */
struct block_owner {
  board_mask viewers; /* GPUs that it lets see its blocks, besides their own */
  void (*released)(struct shim *, struct block_owner *, uint64_t bytes);
};

/* What a stream has been told to free (pool.h). */
struct block_return {
  uint64_t stream; /* the key of that stream; 0: nobody gave it back, or it was taken again */
  uint64_t order;  /* the later it was given back, the larger */
  unsigned taken;  /* so many releases that are still to come free nothing: it was taken again before them */
  bool kept;       /* the stream came to it: the pool's, for whoever allocates next */
};

struct block {
  uint64_t addr;   /* what the program holds */
  uint64_t bytes;
  uint64_t device; /* address for kernels */
  uint64_t base;   /* registered: where its guest memory begins; else 0 */
  uint64_t id;
  struct board *board; /* whose memory it is; of host memory: that was current when it was made */
  board_mask in;       /* GPUs into whose images it is mapped; of device and registered memory: none */
  uint64_t mapped; /* pinned, managed: bytes of the host mapping */
  struct block_owner *owner; /* NULL: nobody counts it */
  struct block_return back;  /* of a pool: given back in the order of a stream */
  struct advice_list advice; /* managed: what the program said about it */
  unsigned flags;
  enum block_kind kind;
  void *image;     /* pinned, managed: the simulator's mapping of it; NULL: that of the program */
  bool moves;      /* managed memory that moves (managed.h); has an image */
  bool outlives;   /* variables of a module, which a reset of one GPU does not end while others have them */
  bool sync_memops; /* the program asked for copies that return when they are done */
  bool closed;     /* the program cannot reach its own mapping now (poll_trap.h) */
  uint64_t *sums;  /* … that is mostly read: of its pages, when they were copied to the GPU; else NULL */
  uint8_t *seen;   /* registered: its bytes when host and device were last brought together; NULL: they are one */
};

/* All of it. */
struct memory {
  uint64_t gone; /* so often pages that the program could see have gone */
  struct block *block; /* by address */
  size_t n, cap;
  size_t copied;         /* blocks of registered memory that kernels see a copy of */
  uint64_t host_next;    /* where the next host mapping goes */
  uint64_t image_next;   /* with --spin strict: where the simulator's does */
  struct managed *managed; /* managed.h; NULL: none that moves was allocated */
};

/* Device memory; bytes > 0. CUDA_ERROR_OUT_OF_MEMORY when the GPU has no more. */
CUresult memory_alloc(struct shim *, struct board *, uint64_t *addr, uint64_t bytes);
/* Pinned or managed memory. */
CUresult memory_alloc_host(struct shim *, void **p, uint64_t bytes, enum block_kind, unsigned flags);
/* Managed memory of a module's variables, at an address where such memory was before, when nothing is there now;
 * 0: anywhere. */
CUresult memory_alloc_managed_at(struct shim *, void **p, uint64_t bytes, uint64_t at);
CUresult memory_register(struct shim *, void *p, uint64_t bytes, unsigned flags);
CUresult memory_unregister(struct shim *, const void *p);
/* Frees the block that starts at addr and is of one of the kinds (bit per kind). False: there is none. */
bool memory_free(struct shim *, uint64_t addr, unsigned kinds);
/* Whether it would. */
bool memory_has(const struct shim *, uint64_t addr, unsigned kinds);
/* The block that holds addr, NULL: none. By device address also for registered memory. */
struct block *memory_find(struct shim *, uint64_t addr);
/* Whether the host can access it too. */
bool memory_on_host(const struct block *);
/* Of memory of the host: where kernels see it, *out is a 64-bit address; how it was allocated. */
CUresult memory_device_pointer(struct shim *, void *out, const void *p, unsigned flags);
CUresult memory_host_flags(struct shim *, unsigned *flags, const void *p);
/* Whether kernels can access addr: a block, or a variable of a module. */
bool memory_is_device(struct shim *, uint64_t addr);
/* Copies registered memory into the guest (before a launch) or back. */
void memory_sync_registered(struct shim *, bool to_device);
/* The same where kernels run, before time passes and behind it. */
void memory_sync_running(struct shim *, bool to_device);
/* Memory that counts as the GPU's, zeroed, which memory_map makes appear at an address (both whole pages).
 * NULL: there is no more. */
void *memory_take(struct shim *, struct board *, uint64_t bytes);
void memory_give_back(struct board *, void *, uint64_t bytes);
/* From now on the memory is at this address for these GPUs, and for no other. */
void memory_map(struct shim *, struct board *, uint64_t addr, void *host, uint64_t bytes, board_mask);
/* Memory as of memory_take, of a file: *fd < 0: a new one, which the caller closes. bytes may be of another process's
 * making. */
void *memory_take_file(struct shim *, struct board *, uint64_t bytes, int *fd);
/* Device memory that another process shares, of this GPU: `bytes` bytes from an offset in its file, for these GPUs.
 * 0: it cannot be mapped. */
uint64_t memory_open(struct shim *, enum block_kind, struct board *, int fd, uint64_t offset, uint64_t bytes,
                     board_mask);
/* … for these, too. */
void memory_open_for(struct shim *, uint64_t addr, board_mask);
/* Other processes may write memory that these GPUs have (gmem_expect_others). */
void memory_expect_others(struct shim *, board_mask in);
/* GPUs beside its own whose kernels see the block's pages: of pools that say so, and registered memory. */
static inline board_mask memory_viewers(const struct block *b)
{
  return b->kind == BLOCK_REGISTERED ? ~(board_mask)0 : b->owner ? b->owner->viewers : 0;
}
/* Tells the sanitizer what the program has not freed. */
void memory_tell_leaks(struct shim *);

extern const struct shim_part memory_part;

/* Bytes of the GPU's memory that nobody has. */
uint64_t memory_left(const struct board *);

#endif
