/* A domain's way to links: a queue of messages that it sends, queues of those that came, one for each wire.
 *
 *   out   in ascending order of `arrive`, the time from which on a message can go. The machine phase takes them
 *   in    `arrive`: when the last byte is there. The domain takes messages when it has room for them; the credit
 *         they hold goes back then
 */
#ifndef WS_TIME_LINK_LINK_PORT_H
#define WS_TIME_LINK_LINK_PORT_H

#include "base/multicast.h"
#include "time/link/link_msg.h"

enum { LINK_PORT_LANES = 64 };

/* Ports of a GPU, by number: what others ask of its memory, its copy engines, what its cores ask for elsewhere. */
enum { LINK_PORT_HOME, LINK_PORT_DMA, LINK_PORT_CORES, LINK_PORT__N };

/* Begins the body of a LINK_READ or a LINK_WRITE, whose bytes are behind it: what the message is about. Where an
 * address is not mapped the answer is one with fewer bytes than were asked for, or a LINK_DONE with a body. */
struct link_bytes {
  uint64_t addr;
  uint64_t n;
};

/* The body of a LINK_STORE: these bytes of a line. A LINK_ATOMIC has a struct link_bytes of the line, n other than 0 if
 * it wants the bytes of before, and a struct line_op behind it. */
struct link_store {
  struct link_bytes line;
  uint64_t mask[2]; /* a bit for each byte */
  uint8_t bytes[128];
};

/* In front of the body of a message to a multicast object: the lines it stands for. A LINK_READ has a struct line_op
 * behind its struct link_bytes: what lanes want of the lines, and how they are reduced. */
struct link_team {
  uint16_t n;
  struct {
    uint64_t line; /* address of its first byte */
    uint16_t node;
  } leg[MULTICAST_LEGS];
};

struct link_port {
  struct link_ring out;
  struct link_ring in[LINK_PORT_LANES];
  unsigned n_lanes;
  struct link_ring taken; /* headers of messages that were taken; arrive: when */
  picos last_sent;
  uint32_t fresh; /* messages of `out` that link_port_share has not seen, the last ones */
  picos *wake; /* the next event of the part that takes messages */
};

void link_port_free(struct link_port *);

/* Sends a message of the domain at m->arrive, no earlier than the one before. */
void link_port_send(struct link_port *, const struct link_msg *, const void *bytes);

/* Several processes simulate one machine: calls fn with each message that was sent since the last call, and with the
 * header of each that was taken since the machine phase. */
void link_port_share(struct link_port *, void (*fn)(void *ctx, const struct link_msg *, bool taken), void *ctx);
/* One of these, in a process that only hears of the domain; what came to the domain is dropped there. */
void link_port_hear(struct link_port *, const struct link_msg *, const void *bytes, bool taken);
void link_port_drop(struct link_port *);

/* When the first message arrives, and its lane; TIME_NEVER: there is none. */
picos link_port_next(const struct link_port *, unsigned *lane);
static inline struct link_msg *link_port_front(const struct link_port *p, unsigned lane)
{
  return link_ring_front(&p->in[lane]);
}
/* Takes that message at `now`. */
void link_port_pop(struct link_port *, unsigned lane, picos now);

#endif
