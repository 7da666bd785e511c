/* Cache of code and constants that the SMs of a GPC share, between their own L1 and L2 (GCC, L1.5): the first SM of a
 * GPC that asks for a line has it from L2; the others get what that one brought.
 *
 *   place    Each L2 slice has the share of all GPCs' caches that holds the slice's lines: requests for a line all
 *            come to one slice, in an order that does not hang on the host's threads
 *   params   gpc.code_bytes (0: none), gpc.code_bytes_per_cycle, gpu.gpcs
 *   time     what a GPC has takes its port in the place of the ports of the slice; the way is as long as to L2
 *   rule     one line a set. A GPC's line displaces that of the others from the set, as they run the same code
 *   not modelled: a shorter way; lines that are on their way (whoever waits for one at L2 gets it as the first did,
 *            by the port); ports of one GPC in several slices are not one
 */
#ifndef WS_TIME_MEM_GPC_CODE_H
#define WS_TIME_MEM_GPC_CODE_H

#include "base/arena.h"
#include "config/params.h"
#include "time/msg.h"
#include "time/server.h"

struct gpc_code {
  const struct params *params;
  uint32_t n_sets;      /* 0: there is no such cache */
  bool filled;          /* since the last start */
  struct gpc_code_set { /* of the slice's lines */
    uint64_t line;      /* tag + 1; 0: none */
    uint64_t gpcs;      /* that have it, a bit each */
  } *set;
  struct server *port; /* of each GPC */
};

void gpc_code_init(struct gpc_code *, struct arena *, const struct params *);
/* A kernel comes to an idle GPU: empty, as its SMs' caches. */
void gpc_code_start(struct gpc_code *);
/* The port of the GPC that has what is asked for; NULL: it comes from L2. */
struct server *gpc_code_port(struct gpc_code *, const struct mem_req *);
/* It is answered: the GPC has it from now on. */
void gpc_code_note(struct gpc_code *, const struct mem_req *);

#endif
