/* What the links of a machine carried over a program's time: sums of each direction, and a series.
 *
 *   bounded   LINK_LOG_STEPS steps of equal length for each direction; when the program goes on beyond them two become
 *             one, so that a program of any length is seen at some thousand times
 *   exact     a message is counted for the time in which it holds the wire, in each step as much as falls there; the
 *             steps of a direction sum up to all its bytes
 *   clock     that of the program: links run by the GPUs' clock, which is ahead of it by `skew`
 *   longer    than the fabric it watches: that goes when a kernel fails
 */
#ifndef WS_TIME_LINK_LINK_LOG_H
#define WS_TIME_LINK_LINK_LOG_H

#include <stdint.h>

#include "time/part.h"

enum { LINK_LOG_STEPS = 1024 };

/* One direction of a link. */
struct link_flow {
  uint64_t messages, payload, bytes; /* bytes: headers and all */
  uint64_t femtos_per_byte;
  uint64_t *step;                    /* [LINK_LOG_STEPS] bytes; NULL: nothing has gone there */
};

struct link_log {
  picos skew;
  picos width; /* of a step */
  unsigned n_flows;
  struct link_flow *flow; /* 2 * link of the machine preset + (1: from its second end to its first) */
};

void link_log_init(struct link_log *, unsigned n_flows);
void link_log_free(struct link_log *);

/* A message begins to hold a wire at `now`, ps of the GPUs' clock, on which each byte takes so many fs; bytes: with
 * headers. */
void link_log_add(struct link_log *, unsigned flow, picos now, uint64_t payload, uint64_t bytes,
                  uint64_t femtos_per_byte);

/* How long the direction was taken, ps. */
static inline picos link_flow_taken(const struct link_flow *f)
{
  return f->bytes / 1000 * f->femtos_per_byte + f->bytes % 1000 * f->femtos_per_byte / 1000;
}

#endif
