/* Managed memory of one GPU in time: its fault buffer, and the driver that serves it.
 *
 *   faults    a request whose page is not on the GPU waits here (parked), and is an entry in the fault buffer, one for
 *             each core and page
 *   batch     the driver hears of the first entry `uvm.interrupt_ns` later, takes up to `uvm.batch` entries that are
 *             there, looks at each for `uvm.fault_ns`, and serves their blocks of 2 MiB in the order of addresses
 *   block     what density_tree.h says moves, as copies on the GPU's copy engines over the link to its host, behind
 *             `uvm.block_ns`; pages that nobody has touched are made without a copy. Without room another block goes to
 *             the host first (uvm_space.h)
 *   replay    when all blocks of a batch are served, `uvm.replay_ns` later: the rest of the buffer is dropped, and all
 *             parked requests are sent again by their cores. Those whose pages are still not there fault again
 *   jobs      prefetches of the program, block by block, between batches
 *   coherent  with uvm.ats pages at the host are reached there, and the host reaches those on the GPU, without faults.
 *             An access counter for each block at the host tells the driver of `uvm.counter_threshold` accesses, and
 *             the block moves, as a prefetch does
 *   next      uvm_next says when something happens by itself; who has it (time/link/hub_out.h) calls uvm_step then
 *   order     one batch or job at a time; all in the order of simulated time
 *   not modelled: what the driver does on the host's caches and processors, invalidations of TLBs, limits of the fault
 *             buffer, throttling
 *
 * Sources: NVIDIA/open-gpu-kernel-modules, kernel-open/nvidia-uvm (batches, replay policy "batch flush", blocks).
 */
#ifndef WS_TIME_UVM_UVM_H
#define WS_TIME_UVM_UVM_H

#include "config/params.h"
#include "time/msg.h"
#include "time/uvm/uvm_space.h"

struct dma;

enum uvm_way { UVM_TO_GPU, UVM_TO_HOST, UVM_WAYS };

/* How its copies take the link. */
struct uvm_link {
  uint64_t setup, window; /* as in struct dma_copy */
  uint64_t mbps;          /* of a copy: for faults of the host, which take none */
};

struct uvm_job {
  uint64_t ticket, addr, end; /* [addr, end) */
  uint64_t next;              /* the next block of it */
  picos arrive, begin;
  enum uvm_way way;
};

struct uvm_job_done {
  uint64_t ticket;
  picos begin, at;
};

struct uvm_entry {
  uint64_t page; /* address / 4 KiB */
  picos at;
  uint16_t from;
  bool writes;
};

/* A block's share of a batch. */
struct uvm_work {
  uint64_t base;
  struct page_set faulted, written; /* written: of those */
};

enum uvm_state { UVM_IDLE, UVM_FETCH, UVM_BLOCK, UVM_EVICTS, UVM_MOVES, UVM_REPLAY };

struct uvm {
  struct uvm_space space;
  const struct params *params;
  struct uvm_link link[UVM_WAYS];
  /* Told of pages that are on the GPU from now on; NULL: nobody. By whatever thread simulates. */
  void (*moved)(void *ctx, uint64_t addr, uint64_t bytes);
  void *ctx;
  /* ports */
  struct dma *dma; /* NULL: there is no GPU now */
  picos *wake;     /* of the part that calls uvm_step */
  /* state */
  enum uvm_state state;
  picos at;          /* of its next step, where it waits for no copy */
  uint64_t copies;   /* posted to dma since it is there */
  struct uvm_entry *entry;
  uint32_t n_entries, room_entries;
  uint64_t *known;   /* (page, core) of the entries, hashed; 0: free */
  uint32_t known_cap, n_known;
  struct mem_req *parked;
  uint32_t n_parked, room_parked;
  struct mem_req *ready; /* to be sent again, from `taken` on */
  uint32_t n_ready, room_ready, taken;
  struct uvm_work *work;
  uint32_t n_work, room_work, current;
  uint64_t victim;      /* block that makes room */
  struct page_set pages; /* that move */
  struct uvm_job *job;
  uint32_t n_jobs, room_jobs;
  bool job_runs;        /* the first one */
  struct uvm_job_done *done;
  uint32_t n_done, room_done;
};

struct uvm *uvm_new(const struct params *, struct places *, int socket, const struct uvm_link link[UVM_WAYS]);
void uvm_free(struct uvm *);
/* A GPU has come, or gone (NULL): what was under way is gone. */
void uvm_connect(struct uvm *, struct dma *, picos *wake);
/* It waits for something. */
bool uvm_busy(const struct uvm *);

/* A request to a page that is not on the GPU. */
void uvm_park(struct uvm *, const struct mem_req *, picos now);
/* An access of the GPU to a page of its host: counted where memory is coherent. */
void uvm_remote(struct uvm *, const struct mem_req *, picos now);
/* When it has something to do; TIME_NEVER: never by itself. */
picos uvm_next(const struct uvm *);
void uvm_step(struct uvm *, picos now);
/* The next request that is to be sent again. */
bool uvm_take_ready(struct uvm *, struct mem_req *);

/* Between windows. The range is managed memory. */
void uvm_prefetch(struct uvm *, uint64_t addr, uint64_t bytes, enum uvm_way, picos arrive, uint64_t ticket);
bool uvm_take_done(struct uvm *, struct uvm_job_done *);
/* The host has touched these pages of a block, between windows. Those on the GPU come back, with what the driver's
 * prefetcher takes along. How long it takes the host, ps. *served: nothing of the block is under way, else no effect.
 */
picos uvm_host_touch(struct uvm *, uint64_t base, const struct page_set *touched, bool *served);
/* It has written these, of which the GPU has copies. */
void uvm_host_wrote(struct uvm *, uint64_t base, const struct page_set *written);

#endif
