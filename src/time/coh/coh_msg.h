/* Messages between caches and homes of coherent memory, and the queues they stand in.
 *
 * A line is of 64 bytes, whatever the lines of the cores' own requests are: one of 128 bytes is two of them.
 *
 * Networks are numbered so that what takes a message of one may have to send on those below it, never on one above or
 * on its own; what comes on the last two is always taken. So nobody waits in a circle, with one place in each queue. */
#ifndef WS_TIME_COH_COH_MSG_H
#define WS_TIME_COH_COH_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bug.h"
#include "time/part.h"

enum { COH_LINE_BYTES = 64, COH_LINE_SHIFT = 6, COH_MAX_NODES = 64, COH_NO_NODE = 0xffff };

enum coh_net {
  COH_OPS,      /* operations, to a cache of the level above */
  COH_REQUESTS, /* of caches, to the home of the line */
  COH_FORWARDS, /* of homes, to caches */
  COH_ANSWERS,  /* to the cache that requested */
  COH_ENDS,     /* to a home: what ends its transaction */
  COH_REPLIES,  /* of operations */
  COH_NETS
};

#define COH_MSG_LIST(X)                                                                                        \
  X(LOAD, OPS)          /* its reply has the whole line */                                                     \
  X(STORE, OPS)         /* the bytes of `mask` */                                                              \
  X(ATOMIC, OPS)        /* its reply has the value of before, in `operand` */                                  \
  X(ACQUIRE, OPS)       /* loads behind it see what was stored before it: copies that nobody keeps fresh go */ \
  X(GETS, REQUESTS)     /* a copy to read */                                                                   \
  X(GETX, REQUESTS)     /* the only copy */                                                                    \
  X(PUT, REQUESTS)      /* may the owner write the line back? */                                               \
  X(FWD_GETS, FORWARDS) /* answer `requestor`, who wants a copy */                                             \
  X(FWD_GETX, FORWARDS) /* answer `requestor`, who wants the only copy */                                      \
  X(INV, FORWARDS)      /* the copy goes; acknowledge to `requestor` */                                        \
  X(WB_ACK, FORWARDS)   /* write it back */                                                                    \
  X(WB_NACK, FORWARDS)  /* it was no longer yours */                                                           \
  X(DATA, ANSWERS)                                                                                             \
  X(ACK, ANSWERS)                                                                                              \
  X(UNBLOCK_S, ENDS)    /* the requestor has a copy beside others or beside its owner */                       \
  X(UNBLOCK_X, ENDS)    /* the requestor owns the line */                                                      \
  X(WB_DATA, ENDS)                                                                                             \
  X(WB_NONE, ENDS)      /* it was taken from the writer before its turn came */                                \
  X(COPY, ENDS)         /* an owner that became a sharer: the bytes for memory */                              \
  X(DONE, REPLIES)      /* of the operation `id`; `kind` says which */

enum coh_type {
#define X(id, net) COH_##id,
  COH_MSG_LIST(X)
#undef X
  COH_TYPES
};

enum coh_flag {
  COH_SHARED = 1, /* others have copies; DATA: it may only be read */
  COH_BASE = 2,   /* the answer that says how many others come */
  COH_MEMORY = 4, /* DATA read before it was known whether memory is current: any other copy is preferred */
  COH_RESERVE = 8,      /* LOAD: reserves the line */
  COH_BESIDE = 32,   /* DATA, WB_DATA, COPY: its bytes go another way, to and from a cache that has memory's */
  COH_OF_CACHE = 64, /* DONE: a cache gave the bytes */
  COH_CONDITIONAL = 16, /* STORE: only if the line is still reserved; its reply has 1 in `operand` if it was not */
};

struct coh_msg {
  picos arrive;
  uint64_t line; /* address / COH_LINE_BYTES */
  uint64_t mask; /* STORE: bytes of the line; bit i: byte i */
  uint64_t operand, compare; /* ATOMIC; DONE of one: operand is the value of before */
  uint32_t id;        /* of an operation, the sender's own */
  uint16_t from, to;  /* nodes */
  uint16_t requestor; /* node that a forward is answered to */
  int16_t acks;       /* answers: added to those that the requestor waits for */
  uint8_t type, flags;
  uint8_t kind;       /* DONE: type of the operation */
  uint8_t op, offset, bytes; /* ATOMIC: code of the step source; place in the line, bytes: 1, 2, 4 or 8 */
  uint8_t data[COH_LINE_BYTES];
};

/* A queue of fixed room. One side fills it in one phase of a window, the other empties it in another. */
struct coh_queue {
  struct coh_msg *slot;
  uint32_t cap, head, n;
};

static inline bool coh_queue_full(const struct coh_queue *q)
{
  return q->n == q->cap;
}

static inline struct coh_msg *coh_queue_at(const struct coh_queue *q, uint32_t i)
{
  uint32_t at = q->head + i;
  return &q->slot[at < q->cap ? at : at - q->cap];
}

/* The first, if it has arrived by `now`. */
static inline struct coh_msg *coh_queue_front(const struct coh_queue *q, picos now)
{
  return q->n && q->slot[q->head].arrive <= now ? &q->slot[q->head] : NULL;
}

static inline picos coh_queue_next(const struct coh_queue *q)
{
  return q->n ? q->slot[q->head].arrive : TIME_NEVER;
}

static inline void coh_queue_pop(struct coh_queue *q)
{
  BUG_ON(!q->n);
  q->head = q->head + 1 < q->cap ? q->head + 1 : 0;
  q->n--;
}

/* A place behind those that arrive no later; the caller fills it in but for `arrive`. */
static inline struct coh_msg *coh_queue_insert(struct coh_queue *q, picos arrive)
{
  BUG_ON(q->n == q->cap);
  uint32_t i = q->n++;
  for (; i && coh_queue_at(q, i - 1)->arrive > arrive; i--) *coh_queue_at(q, i) = *coh_queue_at(q, i - 1);
  coh_queue_at(q, i)->arrive = arrive;
  return coh_queue_at(q, i);
}

/* A node's side of the network. */
struct coh_port {
  uint16_t node;
  uint8_t sends; /* networks whose queue out has something */
  struct coh_queue out[COH_NETS], in[COH_NETS];
  picos *wake; /* the node's next event */
};

/* A place in a queue to the network, as above. */
static inline struct coh_msg *coh_port_send(struct coh_port *p, enum coh_net net, picos arrive)
{
  p->sends = (uint8_t)(p->sends | 1u << net);
  return coh_queue_insert(&p->out[net], arrive);
}

#endif
