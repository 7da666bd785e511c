/* The port of a link at a socket whose memory CPUs have in their caches (l2_rights.h): what cores of a GPU ask of a
 * line waits there until the port has the right to it.
 *
 *   in       messages of cores for the socket's memory, by the fabric (host_gate_serve); grants
 *   out      asks (l2_rights_ask); what may go on, to host_mem_serve
 *   rights   as of a slice of a GPU's L2 (l2_gate.h): loads need the right to read, stores and atomics that to write,
 *            of each half of the line of which they touch something. The port is a cache of the protocol without bytes
 *   order    messages for a half of a line go on in the order in which they came; others overtake those that wait
 *   part     of the machine phase, before the fabric
 *   not its  copies: what moves bytes beside kernels sees memory a turn late
 */
#ifndef WS_TIME_MEM_HOST_GATE_H
#define WS_TIME_MEM_HOST_GATE_H

#include "base/arena.h"
#include "time/mem/host_mem.h"
#include "time/mem/l2_gate.h"

struct host_gate {
  struct host_mem *host;
  struct fabric *fabric;
  struct l2_gate gate;
  struct host_kept *kept;  /* messages that wait, by the number in their request */
  uint16_t *spare, n_spare;
  uint64_t served;
  picos to;      /* the end of the epoch under way */
  picos *wake;   /* the part's next event, which the caller sets; NULL: nobody looks */
  struct arena arena;
};

/* Opens the rights, with one letter box. */
void host_gate_init(struct host_gate *, struct host_mem *, struct fabric *, struct l2_rights *);
void host_gate_free(struct host_gate *);

/* For fabric_serve; ctx: the struct host_gate. */
picos host_gate_serve(void *ctx, struct fabric *, const struct link_msg *, picos now);

extern const struct part_ops host_gate_ops;

#endif
