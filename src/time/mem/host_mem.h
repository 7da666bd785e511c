/* Memory of a socket of the host, as devices see it behind their links; served in the machine phase.
 *
 *   in       reads, writes and atomics of bytes
 *   time     bytes at a rate that all share, reads and writes together; an answer leaves `latency` after its bytes
 *   values   touched as each message is served, in the order of the fabric. Copies may name bytes of the host's
 *            program (link_msg.program), which is this process and has checked them, or says how it is reached; all
 *            else is guest memory
 *   params   host.memory_mbps, host.memory_latency_ns of the machine preset
 *   not modelled: caches of the host, its banks and channels, its own traffic
 */
#ifndef WS_TIME_MEM_HOST_MEM_H
#define WS_TIME_MEM_HOST_MEM_H

#include "base/gmem.h"
#include "base/line_op.h"
#include "base/program_memory.h"
#include "base/span_list.h"
#include "time/link/fabric.h"
#include "time/server.h"

struct host_mem_stats {
  uint64_t reads, writes, read_bytes, written_bytes, atomics;
};

struct host_mem {
  struct gmem *const *image; /* by the node that asks: how it sees what is here */
  const struct program_memory *program; /* NULL: this process */
  struct span_list *written; /* gets what others change of the images; NULL: nobody looks */
  line_apply_fn *apply; /* NULL: there are no atomics */
  struct server rate;
  picos latency;
  struct host_mem_stats stats;
};

void host_mem_init(struct host_mem *, uint32_t mbps, picos latency, line_apply_fn *);
/* The bytes that it holds, as each GPU sees them, by node; the caller's. Between windows. */
void host_mem_images(struct host_mem *, struct gmem *const *);
/* The program, the caller's; NULL: this process. Between windows. */
void host_mem_program(struct host_mem *, const struct program_memory *);

/* For fabric_serve; ctx: the struct host_mem. */
picos host_mem_serve(void *ctx, struct fabric *, const struct link_msg *, picos now);

#endif
