/* What lies between the domains of a machine: links and switches, and the memories of the host behind them. A part of
 * the machine phase (time/machine/machine.h).
 *
 *   in, out   ports of the domains: each sends, and takes what came, in its own time
 *   ways      static (config/topology.h): by sender, receiver and the line that a message is about
 *   switch    passes heads on, a fixed latency later. A message stays where it came in, and keeps its credits, until
 *             the wire to the next node takes it; those for other wires pass it
 *   order     events by time, then by number of the wire: results depend neither on the length of an epoch nor on
 *             host threads
 *   epoch     at most the smallest (latency of a link - window of the domain at its end): fabric_epoch
 *   params    those of the machine preset (config/machine_preset.h)
 *   casts     a switch with `multicast` sends requests to multicast objects to all members and reduces what they answer
 *             (cast_table.h)
 *   not modelled: queues of a switch that several wires share, adaptive routes
 */
#ifndef WS_TIME_LINK_FABRIC_H
#define WS_TIME_LINK_FABRIC_H

#include "base/line_op.h"
#include "config/topology.h"
#include "time/link/link_log.h"
#include "time/link/link_port.h"
#include "time/link/wire.h"

struct fabric;

/* The preset and the topology live as long as it does; line_reduce_fn: of loads from multicast objects. */
struct fabric *fabric_new(const struct machine_preset *, const struct topology *, line_reduce_fn *);
void fabric_free(struct fabric *);

/* A domain has these ports at a node, the first one for requests, before the first epoch. They get their lanes. */
void fabric_join(struct fabric *, unsigned node, struct link_port *const *port, unsigned n);

/* A domain will have joined there once this returns: is called when a message is on its way to a node without ports, in
 * the machine phase. */
typedef void fabric_wake_fn(void *ctx, unsigned node);
void fabric_expect(struct fabric *, unsigned node, fabric_wake_fn *, void *ctx);

/* Who serves what arrives at a node that is no domain: is called with each message at `now`, ascending; answers with
 * fabric_answer. Returns when it has room for another message in its place. */
typedef picos fabric_serve_fn(void *ctx, struct fabric *, const struct link_msg *, picos now);
void fabric_serve(struct fabric *, unsigned node, fabric_serve_fn *, void *ctx);
/* The answer to a message, from where it arrived, at `at`, ascending for each node. */
void fabric_answer(struct fabric *, const struct link_msg *to, enum link_msg_kind, uint32_t payload, uint32_t body,
                   const void *bytes, picos at);

/* Is called with each answer of who serves, when it goes. */
void fabric_watch(struct fabric *, void (*answered)(void *ctx, const struct link_msg *, const void *bytes), void *ctx);

/* All that goes over its links is noted there, too. NULL: nobody looks. */
void fabric_log(struct fabric *, struct link_log *);

/* The longest epoch, when the domain of node i, which has joined or is expected, has windows of window[i] ps; 0: a link
 * is too fast for them. */
picos fabric_epoch(const struct fabric *, const picos *window);

/* For how long each direction of the links of a node has been taken since the fabric was made, ps: the first n of them,
 * in an order that does not change. Returns how many. Between epochs. */
unsigned fabric_taken(const struct fabric *, unsigned node, picos *taken, unsigned n);

extern const struct part_ops fabric_ops;

#endif
