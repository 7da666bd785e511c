/* Who sends requests to memory without being a core: copy engines, what comes over links. It has a port into the
 * crossbar, a number behind those of the cores, and runs beside them.
 *
 *   out, in   requests to memory and their answers (time/msg.h)
 *   perform   strong loads and stores come back to it, while it does not run, to touch memory in the order of the slice
 */
#ifndef WS_TIME_CORE_REQUESTER_H
#define WS_TIME_CORE_REQUESTER_H

#include "base/arena.h"
#include "base/gmem_view.h"
#include "isa/step.h"
#include "time/msg.h"

struct requester;

struct requester_ops {
  struct part_ops part; /* self: the requester */
  void (*start)(struct requester *, struct gmem *image);
  bool (*perform)(struct requester *, const struct mem_req *, picos now, struct gmem_view *direct, struct fault *);
};

/* First member of each. */
struct requester {
  const struct requester_ops *ops;
  unsigned id; /* mem_req.from */
  struct req_queue out;
  struct reply_queue in;
  uint64_t sent_sectors[L2_OP__N]; /* so far */
  picos *wake;                     /* its next event */
};

/* Queues for `most` requests under way. */
static inline void requester_init(struct requester *r, struct arena *a, const struct requester_ops *ops, unsigned id,
                                  unsigned most)
{
  unsigned cap = 1;
  while (cap < most) cap *= 2;
  *r = (struct requester){.ops = ops, .id = id};
  QUEUE_INIT(&r->out, a, struct mem_req, cap);
  QUEUE_INIT(&r->in, a, struct mem_reply, cap);
}

/* Asks for the bytes [from, to) of a line: a strong load or store, which is performed at its slice. */
static inline void requester_send(struct requester *r, picos arrive, uint64_t line, unsigned from, unsigned to,
                                  enum mem_op op, unsigned txn)
{
  uint8_t sectors = (uint8_t)(bits_ones((to - 1) / SECTOR_BYTES + 1) & ~bits_ones(from / SECTOR_BYTES));
  const struct mem_req m = {.arrive = arrive, .line = line, .txn = (uint16_t)txn, .from = (uint16_t)r->id,
                            .kind = REQ_STRONG, .sectors = sectors, .op = (uint8_t)op, .grid = GRID_NONE,
                            .scope = SCOPE_SYS, .words = words_within(from, to)};
  req_queue_push(&r->out, m);
  r->sent_sectors[mem_req_op(REQ_STRONG, op)] += count_sectors(sectors);
}

#endif
