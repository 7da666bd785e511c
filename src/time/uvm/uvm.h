/* Managed memory of GPUs in time: the driver that serves their faults. Each GPU has a thread of it of its own; what
 * they share, and who steps them, is a uvm_machine (uvm_machine.h).
 *
 *   faults    a request whose page is not on the GPU waits, and is an entry in its fault buffer (fault_buffer.h)
 *   batch     the driver hears of the first entry `uvm.interrupt_ns` later, takes up to `uvm.batch` entries that are
 *             there, looks at each for `uvm.fault_ns`, and serves their blocks of 2 MiB in the order of addresses
 *   block     what density_tree.h says moves, behind `uvm.block_ns`, as copies: from the host by the engines of the
 *             GPU, from another GPU by those of that one, over the way between them, or through the host where there is
 *             none; pages that nobody has touched are made without a copy. Without room another block goes to the host
 *             first (uvm_space.h). One driver at a time works on a block; who waits for it longest gets it next
 *   turns     a block that came to a GPU by a fault is not taken by another one's until the accesses that waited for it
 *             have been tried again, and `uvm.replay_ns` more: so that each fault lets its access through
 *   stays     pages at their preferred location, which the GPU that touches them reaches, are mapped for it there
 *   thrashing pages that go to and fro stay away from all but one for a while, then in one place, where others reach
 *             them (thrashing.h). Whoever is put off faults again and again until then, as its batches are replayed
 *   replay    when all blocks of a batch are served, `uvm.replay_ns` later: the rest of the buffer is dropped, and all
 *             parked requests are sent again by their cores. Those whose pages are still not there fault again
 *   jobs      prefetches of the program, block by block, between batches
 *   coherent  with uvm.ats pages at the host are reached there, and the host reaches those on the GPU, without faults.
 *             An access counter for each block at the host tells the driver of `uvm.counter_threshold` accesses, and
 *             the block moves, as a prefetch does
 *   orders    what the driver says reaches a GPU `latency` later: mappings, replays, copies. Of an only GPU at once
 *   order     one batch or job of a GPU at a time; all in the order of simulated time, then of GPUs
 *   not modelled: what the driver does on the host's caches and processors, invalidations of TLBs
 *
 * Sources: NVIDIA/open-gpu-kernel-modules, kernel-open/nvidia-uvm (batches, replay policy "batch flush", blocks, copies
 * between GPUs pushed by the one that has the pages, residency by preferred location).
 */
#ifndef WS_TIME_UVM_UVM_H
#define WS_TIME_UVM_UVM_H

#include "config/params.h"
#include "time/uvm/fault_buffer.h"
#include "time/uvm/uvm_space.h"

struct dma;
struct uvm_machine;

enum uvm_way { UVM_TO_GPU, UVM_TO_HOST, UVM_WAYS };

/* How its copies take a way. */
struct uvm_link {
  uint64_t setup, window; /* as in struct dma_copy */
  uint64_t mbps;          /* of a copy: for faults of the host, which take none; the best of several sources */
};

/* A GPU, as who makes the machine says. */
struct uvm_config {
  const struct params *params;
  struct places *places;          /* NULL: the GPU is in another process */
  uint16_t node, socket;          /* its own; of the host's memory that is nearest */
  picos latency;                  /* of what the driver says; 0: it is the only GPU */
  uint32_t reaches, fast;         /* bits of GPUs to whose memory it has a way; and all atomics over it */
  struct uvm_link link[UVM_WAYS]; /* from and to the host */
  struct uvm_link peer[UVM_GPUS]; /* from it to others */
};

struct uvm_job {
  uint64_t ticket, addr, end; /* [addr, end) */
  uint64_t next;              /* the next block of it */
  picos arrive, begin;
  enum uvm_way way;
};

/* A block's share of a batch. */
struct uvm_work {
  uint64_t base;
  struct page_set faulted, written, atomic; /* of those; by atomics of system scope */
};

/* STAGES: pages are on their way from another GPU to the host, from where they go on. FLUSH: until the GPU has heard of
 * the replay. */
enum uvm_state { UVM_IDLE, UVM_FETCH, UVM_BLOCK, UVM_EVICTS, UVM_STAGES, UVM_MOVES, UVM_REPLAY, UVM_FLUSH };

struct uvm {
  struct uvm_machine *machine;
  unsigned gpu; /* its number there */
  const struct params *params;
  struct uvm_config cfg;
  struct fault_buffer buffer;
  struct dma *dma; /* NULL: there is no GPU now */
  /* state */
  enum uvm_state state;
  picos at;          /* of its next step, where it waits for no copy; TIME_NEVER, BLOCK: another driver has it */
  picos since;       /* it waits for a block that others have; 0: it does not */
  uint64_t copies;   /* posted since the GPU is there */
  struct uvm_work *work;
  uint32_t n_work, room_work, current;
  uint64_t victim;       /* block that makes room */
  struct page_set pages; /* that move */
  struct page_set staged; /* … of those, through the host */
  int to;                 /* a GPU, or UVM_HOST */
  /* of the current block */
  struct page_set pin[UVM_GPUS + 1]; /* pages that are to be at the host, on GPU k (pin[k + 1]), for all to reach */
  uint32_t pins;          /* bits of those sets that are still to be served */
  struct page_set pinned; /* all pages that stay in one place from now on, this GPU's own as well */
  bool own_served;        /* what comes to this GPU is */
  picos ready;            /* the driver's own work on the block is done; 0: it has not begun */
  struct uvm_job *job;
  uint32_t n_jobs, room_jobs;
  bool job_runs;        /* the first one */
};

void uvm_init(struct uvm *, struct uvm_machine *, unsigned gpu, const struct uvm_config *);
void uvm_free(struct uvm *);
/* A GPU has come, or gone (NULL): what was under way is gone. wake: of the part that uvm_gpu_next is of. */
void uvm_connect(struct uvm *, struct dma *, picos *wake);

/* The driver: when it has something to do; TIME_NEVER: never by itself. */
picos uvm_next(const struct uvm *);
void uvm_step(struct uvm *, picos now);
bool uvm_busy(const struct uvm *);

/* The GPU: when something is to be done there, what the driver has ordered; of an only GPU all that the driver does. */
picos uvm_gpu_next(const struct uvm *);
void uvm_gpu_step(struct uvm *, picos now);
/* It waits for something. */
bool uvm_gpu_busy(const struct uvm *);
/* Grows whenever something gets done. */
uint64_t uvm_progress(const struct uvm *);
/* A request to a page that is not on the GPU. */
void uvm_park(struct uvm *, const struct mem_req *, picos now);
/* An access of the GPU to a page of its host: counted where memory is coherent. */
void uvm_remote(struct uvm *, const struct mem_req *, picos now);

/* Between windows. The range is managed memory; to this GPU, or to the host. */
void uvm_prefetch(struct uvm *, uint64_t addr, uint64_t bytes, enum uvm_way, picos arrive, uint64_t ticket);

#endif
