/* Managed memory of a machine: where its pages are, and the drivers of all GPUs (uvm.h).
 *
 *   one GPU      its hub steps the driver (time/link/hub_out.h), beside the slices
 *   several      a part of the machine phase steps them, in the order of time, then of GPUs; what they order reaches
 *                the GPUs by their latencies, which are longer than an epoch. So results depend neither on its length
 *                nor on host threads
 *   host         touches pages between windows
 */
#ifndef WS_TIME_UVM_UVM_MACHINE_H
#define WS_TIME_UVM_UVM_MACHINE_H

#include "time/dma/dma.h"
#include "time/uvm/uvm.h"

/* A page that is pinned until then, of the program's clock. */
struct uvm_pin {
  picos until;
  uint64_t addr;
};

struct uvm_machine {
  struct uvm_space space;
  struct uvm *of[UVM_GPUS]; /* [space.n_gpus] */
  struct dma_mover mover[UVM_GPUS]; /* copies that each driver waits for */
  /* Told of pages that are on a GPU from now on; NULL: nobody. By whatever thread simulates. */
  void (*moved)(void *ctx, uint64_t addr, uint64_t bytes);
  void *ctx;
  /* A GPU must be there: a copy comes to it. */
  void (*wake)(void *ctx, unsigned node);
  void *wake_ctx;
  /* state */
  picos *next; /* of the part; NULL: there is none */
  picos now;   /* of the step under way; 0: none is */
  picos skew;  /* GPUs' clocks are ahead of the program's by so much */
  struct thrash_rules thrash;
  struct uvm_pin *pin; /* pages that are pinned, by the time at which that ends; from first_pin on */
  uint32_t n_pins, room_pins, first_pin;
};

/* The GPUs that there will be, by node. coherent: uvm.ats. */
struct uvm_machine *uvm_machine_new(const struct uvm_config *, unsigned n, bool coherent);
void uvm_machine_free(struct uvm_machine *);
/* NULL: it has none at that node. */
struct uvm *uvm_machine_at(struct uvm_machine *, unsigned node);

/* The GPU does so from now on: at once, or, in a step of the driver, when the order has reached it. */
void uvm_machine_order(struct uvm_machine *, unsigned gpu, const struct fault_order *);

/* Between windows: a run begins at `start` of the program's clock, and GPUs' clocks are ahead by `skew`. */
void uvm_machine_clock(struct uvm_machine *, picos start, picos skew);

/* The host has touched these pages of a block: those that were nowhere are its own now. Nothing of the block is under
 * way, else no effect. */
void uvm_host_finds(struct uvm_machine *, uint64_t base, const struct page_set *touched);
/* The host touches these pages of a block at `now` of the program's clock, between windows. Those that it has not come
 * back, with what the driver's prefetcher takes along. Nothing of the block is under way, else no effect. */
struct uvm_host_fault {
  picos took;
  picos until; /* some pages thrash, and the host is put off until then; 0: none */
};
struct uvm_host_fault uvm_host_touch(struct uvm_machine *, uint64_t base, const struct page_set *touched, picos now);

/* All that the host does to it between windows, as one thing that can be said to another process (host/mps_link.h). */
enum uvm_op_kind {
  UVM_OP_ROOM,    /* the GPU has room for n blocks */
  UVM_OP_ADD,     /* a range [addr, addr + bytes), whose memory at the host is at node `socket` */
  UVM_OP_REMOVE,  /* the range at addr */
  UVM_OP_ADVISE,  /* pages [first, first + n) of it have this policy */
  UVM_OP_FINDS,   /* of the block at addr: uvm_host_finds, */
  UVM_OP_TOUCH,   /* uvm_host_touch, at `now`, */
  UVM_OP_WROTE,   /* or the host has written these pages, of which GPUs have copies, */
  UVM_OP_WRITTEN, /* or a GPU's copy writes them */
  UVM_OPS
};
struct uvm_op {
  uint32_t kind; /* enum uvm_op_kind */
  int32_t socket;
  uint32_t gpu;
  uint64_t addr, bytes, first, n;
  picos now;
  struct uvm_policy policy;
  struct page_set pages;
};
/* What uvm_host_touch says; else nothing. */
struct uvm_host_fault uvm_machine_do(struct uvm_machine *, const struct uvm_op *);

extern const struct part_ops uvm_machine_ops;

#endif
