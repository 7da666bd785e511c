/* The memory side: interconnect, L2 and DRAM behind all SMs, as one serial part.
 *
 *   ports   per SM: requests in, replies out, the write log of its weak stores
 *   order   requests are served in (arrival, SM, sequence) order; strong accesses and services are
 *           performed then, on the image. At the end of a window the weak stores of the window
 *           reach the image, in (cycle, SM, sequence) order.
 *   time    L2 hit and DRAM latencies are flat; L2, DRAM and each SM's reply port cap the bandwidth
 *   params  noc.*, l2.*, dram.*, gpu.clock_khz
 *   not modelled: slices, crossbar contention between SMs, DRAM banks and rows
 */
#ifndef WS_TIME_MEM_MEM_SIDE_H
#define WS_TIME_MEM_MEM_SIDE_H

#include "base/arena.h"
#include "base/gmem.h"
#include "config/params.h"
#include "time/mem/l2.h"
#include "time/mem/mem_stats.h"
#include "time/msg.h"
#include "time/server.h"

struct mem_port {
  struct req_queue *in;
  struct reply_queue *out;
  struct gmem_log *log;
  struct server reply; /* bandwidth of the way back */
  picos last_reply;    /* replies of one SM stay in order */
};

struct mem_side {
  const struct params *params;
  struct mem_port *port;
  unsigned n_ports;
  uint16_t *heap; /* ports with requests, smallest (arrival, port) on top */
  unsigned n_heap;
  uint32_t *log_next; /* scratch of the log merge: next entry of each log */
  struct l2 l2;
  struct server l2_rate, dram_rate;
  picos l2_extra, dram_extra, reply_latency, atomic_extra; /* service times, see mem_side_init */
  struct gmem_view direct;
  struct mem_stats stats;
  bool faulted;
  /* Performs a strong access or service of an SM. False: guest fault. */
  bool (*perform)(void *ctx, unsigned sm, uint32_t txn, enum req_kind, picos now,
                  struct gmem_view *);
  void *ctx;
};

void mem_side_init(struct mem_side *, struct arena *, const struct params *, unsigned n_ports);
void mem_side_start(struct mem_side *, struct gmem *image);

picos mem_side_run(void *self, picos from, picos to);
uint64_t mem_side_progress(const void *self);
bool mem_side_busy(const void *self);
void mem_side_dump(const void *self, FILE *);

#endif
