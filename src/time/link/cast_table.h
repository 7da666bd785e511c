/* Requests to multicast objects that a switch has under way: it sends each on to all members, collects their answers
 * and gives one.
 *
 *   in      messages with legs (link_msg.legs): loads that reduce, stores, reductions; then the members' answers
 *   out     the request for each member, the one answer
 *   reduce  when the last answer is there, in the order of the legs: the answer follows a pass of the switch later
 *   limits  `entries` requests, with room for all that comes with them; behind that they wait where they came in, in
 *           order, and keep their credits
 *   values  bytes of loads are reduced by who executes instructions (line_reduce_fn)
 *   not modelled: the rate of the adders (they keep up with the links)
 */
#ifndef WS_TIME_LINK_CAST_TABLE_H
#define WS_TIME_LINK_CAST_TABLE_H

#include "base/line_op.h"
#include "time/link/link_port.h"

enum { CAST_BODY_MAX = sizeof(struct link_store) + sizeof(struct line_op) };

struct cast_entry {
  struct link_msg m; /* the request; m.body counts what was behind it */
  struct link_team team;
  uint16_t pending;
  bool failed;
  uint8_t body[CAST_BODY_MAX];                 /* of the request behind the team */
  uint8_t line[MULTICAST_LEGS][LINE_OP_BYTES]; /* loads: of each leg */
};

struct cast_table {
  unsigned entries, n_spare;
  struct cast_entry *entry;
  uint32_t *spare;
  struct link_ring held; /* they wait for an entry */
  line_reduce_fn *reduce;
};

void cast_table_init(struct cast_table *, unsigned entries, line_reduce_fn *);
void cast_table_free(struct cast_table *);

/* The request has an entry now, whose number comes back. There is a spare one. */
uint32_t cast_table_enter(struct cast_table *, const struct link_msg *);
/* The request of that entry for leg number i; its body goes to *body, which holds CAST_BODY_MAX bytes. */
struct link_msg cast_table_leg(const struct cast_table *, uint32_t number, unsigned i, uint8_t *body);
/* A member's answer. True: it was the last one. */
bool cast_table_answer(struct cast_table *, const struct link_msg *);
/* The answer to that request but for its time, with up to LINE_OP_BYTES bytes behind it; the entry is spare again. */
struct link_msg cast_table_leave(struct cast_table *, uint32_t number, uint8_t *bytes);
bool cast_table_busy(const struct cast_table *);

#endif
