/* One direction of a link: what goes from one node to the next.
 *
 *   in       messages that wait at the sending end, each from a time on
 *   rate     a message holds the wire for its payload and, for each packet of it, the overhead; a request without
 *            payload is a packet, LINK_DONE is none and takes ack_bytes. Its first byte is `latency` behind its start,
 *            its last behind its end. Packets of copy engines may be larger than those of cores
 *   credits  packets, of requests and of answers each, that may be under way or at the receiver: one is taken when a
 *            packet goes, and comes back `latency` after the receiver has let it go. A message of more packets than
 *            there are credits goes when all are there
 *   order    first come first served in a class; where requests and answers could both go they take turns, packet by
 *            packet, answers first. Neither may go first at all times: of two nodes that read from each other, one's
 *            requests would wait for its own answers to end, and the directions would be busy by turns. LINK_DONE
 *            passes all others
 *   not modelled: errors and replay, several virtual channels of requests, widths that change
 */
#ifndef WS_TIME_LINK_WIRE_H
#define WS_TIME_LINK_WIRE_H

#include "time/link/link_msg.h"

struct wire_config {
  uint64_t femtos_per_byte;
  picos latency;         /* > 0 */
  uint32_t packet_bytes; /* >= 1 */
  uint32_t overhead_bytes;
  uint32_t credits;      /* >= 1 */
  uint32_t copy_packet_bytes; /* of copy engines; 0: as others */
  uint32_t ack_bytes;         /* that LINK_DONE takes; 0: it rides on other packets */
};

struct wire_credit {
  picos at;
  uint32_t packets;
  enum link_class class;
};

struct wire_stats {
  uint64_t messages, packets, payload, bytes; /* bytes: headers and all */
  uint64_t waited;                            /* ps, of all messages, from when they could go on */
};

struct wire {
  struct wire_config cfg;
  picos now; /* nothing happens before */
  uint64_t free_at_fs;
  uint32_t credit[LINK_CLASSES];
  int64_t ahead; /* packets of requests that have gone more than of answers, while both waited */
  struct link_ring waiting[LINK_CLASSES];
  struct wire_credit *back; /* on their way; the last one comes first */
  uint32_t n_back, room_back;
  struct wire_stats stats;
};

void wire_init(struct wire *, const struct wire_config *);
void wire_free(struct wire *);

/* A message that can go at m->arrive, which is no earlier than of those of its class before; body: the bytes behind it.
 */
void wire_push(struct wire *, const struct link_msg *, const void *body);
/* The receiver lets go what came in m, at `at`. Whether wire_next may be another one now. */
bool wire_give_back(struct wire *, const struct link_msg *m, picos at);

/* When a message can go, as far as is known; TIME_NEVER: none can. */
picos wire_next(const struct wire *);

struct wire_passage {
  picos head, tail; /* at the next node: when its first byte is there, its last one */
};
/* At `now`: the message that can go then, goes; NULL: none. It is there until wire_pop. */
struct link_msg *wire_send(struct wire *, picos now, struct wire_passage *);
void wire_pop(struct wire *, const struct link_msg *);

bool wire_busy(const struct wire *);

#endif
