/* Messages between domains, as links carry them: headers without pointers, with the bytes that travel behind them. So a
 * link may as well lead into another process.
 *
 *   ring   messages of any length, first in, first out; grows. One writer and one reader, never at once
 */
#ifndef WS_TIME_LINK_LINK_MSG_H
#define WS_TIME_LINK_LINK_MSG_H

#include "base/bits.h"
#include "time/part.h"

enum link_msg_kind {
  LINK_READ,   /* asks for bytes */
  LINK_WRITE,  /* brings some */
  LINK_STORE,  /* brings some of a line, with a mask */
  LINK_ATOMIC, /* changes some of a line where they are: operands (base/line_op.h) */
  LINK_DATA,   /* answers with bytes */
  LINK_DONE,   /* answers without: costs nothing on the link, as acknowledgements of transactions do not */
};

/* Answers never wait behind requests: each class has credits of its own. Acknowledgements, which ride on other packets,
 * wait behind nothing. */
enum link_class { LINK_REQUESTS, LINK_ANSWERS, LINK_ACKS, LINK_CLASSES };

static inline enum link_class link_msg_class(unsigned kind)
{
  return kind == LINK_DONE ? LINK_ACKS : kind == LINK_DATA ? LINK_ANSWERS : LINK_REQUESTS;
}

enum { LINK_BODY_MAX = 1 << 15 };

struct link_msg {
  picos arrive;     /* when it can go on from where it is; at its receiver: when its last byte is there */
  picos last;       /* when its last byte is where it waits; what starts there has all of them */
  uint64_t line;    /* line of memory that it is about (time/msg.h); also chooses among ways */
  uint32_t payload; /* bytes that count on the link besides headers */
  uint32_t tag;     /* the sender's own, comes back in the answer */
  uint32_t body;    /* bytes behind this header, up to LINK_BODY_MAX */
  uint16_t from, to; /* nodes: ends */
  uint16_t wire;     /* by which it came; WIRE_NONE: it starts here */
  uint8_t kind;      /* enum link_msg_kind */
  uint8_t port;      /* of the sender; an answer's: of the receiver */
  bool program;      /* to a socket: addresses are of the host's own program, whose copies name them (host_mem.h) */
  bool in_place;     /* a write of bytes that are there already (dma_copy.in_place) */
  bool legs;         /* to a multicast object: a switch sends it to each (link_port.h) */
  uint16_t via;      /* a switch's request to a member, and its answer: that node + 1, where it goes; 0: none */
};

enum { WIRE_NONE = UINT16_MAX };

static inline void *link_msg_body(const struct link_msg *m)
{
  return (void *)(uintptr_t)(m + 1);
}

struct link_ring {
  uint8_t *data;
  uint32_t cap, head, tail; /* bytes; head == tail: full or empty, as n says */
  uint32_t n;               /* messages */
};

void link_ring_free(struct link_ring *);

/* Appends a copy of the header, with `body` bytes behind it from `bytes` (NULL: the caller fills them in). Returns it;
 * it stays there until the ring grows. */
struct link_msg *link_ring_push(struct link_ring *, const struct link_msg *, const void *bytes);
void link_ring_pop(struct link_ring *);
/* Calls fn with the last n messages, and with what the caller says of them. */
void link_ring_last(const struct link_ring *, uint32_t n, void (*fn)(void *ctx, const struct link_msg *, bool),
                    void *ctx, bool said);

/* The first one; NULL: none. */
static inline struct link_msg *link_ring_front(const struct link_ring *r)
{
  return r->n ? (struct link_msg *)(void *)(r->data + r->head) : NULL;
}

#endif
