/* A GPU's side of managed memory: who waits for pages that are not on it, its fault buffer, and what its driver tells
 * it.
 *
 *   parked   requests whose page is not there; each is an entry of the buffer, one for each core and page
 *   rights   of pages that are reached elsewhere: an access for which they do not suffice is a fault, too. Cores send
 *            it here as they would for a page that is not there, and what the same core has behind it waits with it
 *   orders   of the driver (uvm.h): pages are elsewhere from now on; all that waits is tried again; a job is done. They
 *            are carried out in the order in which they were given, each at its time, when no core runs
 *   replay   the buffer is emptied; requests whose pages are there go back to their cores, the others are entries again
 *   done     jobs of the program that the driver has done, for whoever runs the GPU
 *   not modelled: limits of the buffer
 */
#ifndef WS_TIME_UVM_FAULT_BUFFER_H
#define WS_TIME_UVM_FAULT_BUFFER_H

#include "base/place.h"
#include "isa/inst.h"
#include "time/msg.h"
#include "time/uvm/page_set.h"

struct uvm_entry {
  uint64_t page; /* address / 4 KiB */
  picos at;
  uint16_t from;
  bool writes, atomic; /* atomic: of system scope */
};

struct uvm_job_done {
  uint64_t ticket;
  picos begin, at;
};

enum fault_order_kind { ORDER_PLACE, ORDER_RIGHT, ORDER_REPLAY, ORDER_DONE };

struct fault_order {
  picos at; /* no earlier; 0: at once, between windows, if nothing was ordered before that is still to be done */
  enum fault_order_kind kind;
  int node; /* PLACE: pages of [addr, addr + bytes) are at this node (places_set) */
  enum place_right right; /* RIGHT: of those pages */
  uint64_t addr, bytes;
  struct uvm_job_done done; /* DONE */
};

struct fault_buffer {
  struct places *places; /* as this GPU sees memory */
  struct places *rights; /* of each page a place_right; NULL: all. Those of `places` */
  bool at_once;          /* who takes orders gives them, too: all are carried out as they are given */
  picos *wake;           /* of the part that takes orders; NULL: there is no GPU now */
  struct uvm_entry *entry;
  uint32_t n_entries, room_entries;
  uint64_t *known;       /* (page, core) of the entries, hashed; 0: free */
  uint32_t known_cap, n_known;
  struct mem_req *parked;
  uint32_t n_parked, room_parked;
  struct mem_req *ready; /* to be sent again, from `taken` on */
  uint32_t n_ready, room_ready, taken;
  struct fault_order *order; /* from `first` on */
  uint32_t n_orders, room_orders, first;
  struct uvm_job_done *done;
  uint32_t n_done, room_done;
};

void fault_buffer_free(struct fault_buffer *);
/* A GPU has come, or gone (NULL): who waited is gone, what was ordered holds. */
void fault_buffer_connect(struct fault_buffer *, picos *wake);

/* A request to a page that is not there, or that is refused. False: that has changed in the meantime. */
bool fault_buffer_park(struct fault_buffer *, const struct mem_req *, picos now);
/* The next request that is to be sent again. */
bool fault_buffer_take_ready(struct fault_buffer *, struct mem_req *);
/* The next job that is done. */
bool fault_buffer_take_done(struct fault_buffer *, struct uvm_job_done *);

void fault_buffer_order(struct fault_buffer *, const struct fault_order *);
/* When the next order is to be carried out; TIME_NEVER: there is none. */
static inline picos fault_buffer_next(const struct fault_buffer *b)
{
  return b->n_orders > b->first ? b->order[b->first].at : TIME_NEVER;
}
void fault_buffer_step(struct fault_buffer *, picos now);

#endif
