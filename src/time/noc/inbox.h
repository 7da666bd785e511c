/* Messages on their way to one receiver of a network, from many senders.
 *
 *   order    (arrival, sender, sequence). A sender's messages keep their order: one that would overtake an earlier
 *            one of the same sender is taken behind it
 *   threads  in one phase of a window senders send, any number at once; in the other the receiver looks and
 *            takes (time/domain.h). New messages get places in the order in which the host's threads come; which order
 *            that is cannot be told once the receiver has looked
 *   host     a message lies beside those sent to the receiver in the same window, then beside those that arrive
 *            before and after it: thousands wait when memory is slower than the SMs
 */
#ifndef WS_TIME_NOC_INBOX_H
#define WS_TIME_NOC_INBOX_H

#include "base/arena.h"
#include "time/msg.h"

enum { INBOX_SENDER_BITS = 12, INBOX_CHUNKS = 24 };

/* Arrival, and below that the sender: one comparison orders them. */
typedef uint64_t inbox_key;

struct inbox_msg {
  inbox_key key;
  struct mem_req req;
};

/* What is known of a sender. */
struct inbox_lane {
  inbox_key last; /* of its latest message */
  uint32_t n;     /* its messages that are not taken */
};

struct inbox {
  struct inbox_lane *lane; /* one per sender */
  picos *wake;             /* the receiver's next event; NULL: it looks every window */
  /* sent since the receiver looked; a chunk is twice as large as the one before */
  uint32_t n_new;
  struct inbox_msg *chunk[INBOX_CHUNKS];
  /* looked at, first in order first: a ring that grows */
  struct inbox_msg *ring;
  uint32_t cap, head, n;
  struct inbox_mark *mark; /* room to sort 2 x mark_cap */
  uint32_t mark_cap;
};

void inbox_init(struct inbox *, struct arena *, unsigned senders);
void inbox_free(struct inbox *);

/* Sender side. Wakes the receiver for what is first of its sender. */
void inbox_send(struct inbox *, unsigned sender, const struct mem_req *);

/* The receiver has something to do then. */
void inbox_wake(struct inbox *, picos at);

/* Receiver side. Look first: it takes note of new messages. */
void inbox_look(struct inbox *);

/* When the first message arrives; TIME_NEVER: there is none. */
static inline picos inbox_next(const struct inbox *b)
{
  return b->n ? b->ring[b->head].key >> INBOX_SENDER_BITS : TIME_NEVER;
}

/* The first message, when there is one. */
static inline const struct mem_req *inbox_front(const struct inbox *b)
{
  return &b->ring[b->head].req;
}

/* Messages sent and not popped; not while others send. */
static inline uint32_t inbox_waiting(const struct inbox *b)
{
  return b->n + b->n_new;
}

static inline void inbox_pop(struct inbox *b)
{
  b->lane[b->ring[b->head].key & ((1u << INBOX_SENDER_BITS) - 1)].n--;
  b->head = --b->n ? (b->head + 1) & (b->cap - 1) : 0; /* the first places stay in the cache */
}

#endif
