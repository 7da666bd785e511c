/* L2 slice: tags and sector bits, with misses in flight and the atomics unit. Data are not held.
 *
 *   in       requests from the crossbar, through a queue of l2.queue; answers of DRAM
 *   out      replies to the crossbar; reads and write-backs to a DRAM channel
 *   lines    128 bytes, 4 sectors of 32 bytes, LRU, write-back; allocated when a sector is written or arrives
 *   partial  a sector written in part needs no fetch, the words written are known; it becomes valid when
 *            all are written, and is not before: a read fetches it. What is still partial at its
 *            write-back is written with a mask (dram.write_masks), or read from DRAM first
 *   dirty    lines beyond l2.dirty_permille of the slice's are written back, the oldest first (dirty_lines.h)
 *   misses   one entry per line on its way, with the requests that wait for it (l2_misses.h); a sector on its
 *            way is merged, not requested twice, and valid when DRAM has answered
 *   fetch    DRAM is read in pieces of l2.fetch_bytes: what of a piece is not here comes with sectors that are missed
 *   time     a request passes the tags in a cycle. The array has a port to read and one to write, each with the slice's
 *            share of l2.bytes_per_cycle: sectors that hit are read, those stored are written, and of those
 *            stored in part both, for which the request passes the tags twice. The first request waits until
 *            tags and its ports are free. Its reply leaves a fixed latency after its sectors are there
 *   atomics  performed in request order; when they are done says the atomics unit (l2_atomics.h)
 *   stalls   the first request waits, and the ones behind it, while there is no free miss entry, no
 *            place among the waiting requests, or the DRAM queues are full
 *   order    requests in (arrival, SM, sequence) order; strong accesses are performed on the
 *            image when taken, for the lanes of their line
 *   far      with two partitions (l2_map.h) a slice also holds copies of lines at home in the other one:
 *            a miss of theirs asks the home slice over the link, which answers from L2 or DRAM and
 *            notes that there is a copy; a write at home invalidates it. Requests of the other
 *            partition have miss entries of their own and never wait for room: no circle of waiting
 *   code     l2.code_kept: what instruction and constant caches miss is here, as launches before left it, and takes no
 *            room from data: a board on which a kernel is repeated, when one launch of it runs
 *   CPUs     beside CPUs on the same memory a request passes a gate first (l2_gate.h): what the GPU has no right to
 *            waits there; DRAM is asked meanwhile. What a CPU has taken is here no longer
 *   stays    which line leaves: the one used longest ago, until launches say otherwise of theirs (l2_residency.h)
 *   params   l2.*, dram.*
 *   not modelled: data banks, compression
 */
#ifndef WS_TIME_MEM_L2_SLICE_H
#define WS_TIME_MEM_L2_SLICE_H

#include "base/arena.h"
#include "base/gmem_view.h"
#include "config/params.h"
#include "isa/step.h"
#include "time/mem/coherence.h"
#include "time/mem/dirty_lines.h"
#include "time/mem/dram.h"
#include "time/mem/gpc_code.h"
#include "time/mem/l2_atomics.h"
#include "time/mem/l2_gate.h"
#include "time/mem/l2_misses.h"
#include "time/mem/l2_residency.h"
#include "time/mem/l2_stats.h"
#include "time/mem/tags.h"
#include "time/mem/traffic.h"
#include "time/msg.h"
#include "time/noc/xbar.h"
#include "time/server.h"

/* Performs a strong access, on the image: all lanes of transaction r->txn of core r->from in r->line. A
 * service call: steps the warp. False: guest fault. */
typedef bool perform_fn(void *ctx, const struct mem_req *r, picos now, struct gmem_view *,
                        struct fault *);

struct l2_ports {
  struct xbar *xbar;
  struct dram *channel;        /* of the slice's partition */
  unsigned n_channels, slices; /* slices of the partition that share them */
  perform_fn *perform;
  void *ctx;
  struct coherence *coherence; /* NULL: none */
  struct probe_net *probes;
  struct l2_rights *rights; /* CPUs on the same memory; NULL: none */
  const struct l2_policy *policy; /* of the GPU */
};

enum l2_block {
  L2_GOES_ON,
  L2_WAITS_FILL,  /* for an answer: miss entries, waiting requests */
  L2_WAITS_READ,  /* for room in the channel's queue of reads */
  L2_WAITS_WRITE, /* for room in its queue of writes */
};

struct l2_slice {
  const struct params *params;
  struct l2_ports ports;
  unsigned id;    /* number in the GPU */
  unsigned index; /* in its partition */
  unsigned merges;
  uint32_t set_run; /* lines that fill the sets in order; 0: l2.set_rounds_x2 is 0 */
  picos tag_cycle, latency, far_latency;
  unsigned always_hit; /* kinds of requests, a bit each: l2.perfect, l2.code_kept */
  unsigned fetch_shift, piece; /* sectors of a piece of l2.fetch_bytes: their logarithm; the first piece's */
  /* state */
  struct tags tags;
  struct dirty_lines dirty;
  struct l2_residency residency;
  uint8_t *copied; /* [set][way], two partitions: sectors the other one may hold; else NULL */
  uint32_t *words; /* [set][way]: of sectors that are dirty but not valid, the words that were written */
  struct l2_misses misses;
  struct l2_atomics atomics;
  struct gpc_code code; /* what GPCs have of the slice's code and constants */
  struct xbar_link *link; /* NULL: one partition */
  struct l2_gate gate;    /* gate.rights NULL: all requests pass */
  uint8_t blocked; /* enum l2_block: what the first request waits for */
  const struct dram *blocked_by;
  picos next;    /* time of the next event of its own, TIME_NEVER: waits for others */
  picos free_at; /* the tags take the next request from then on */
  struct server read, write; /* ports of the data array */
  struct req_queue in; /* requests that have passed the port; arrive: when */
  unsigned queue;      /* most of them */
  picos room_at;       /* the queue is not full since then */
  struct gmem_view direct;
  struct l2_stats stats;
  struct traffic *by_grid; /* [GRID_SLOTS + 1]: what the requests of each grid, and of none, moved */
};

void l2_slice_init(struct l2_slice *, struct arena *, const struct params *, unsigned id,
                   unsigned index, struct l2_ports);
void l2_slice_free(struct l2_slice *);
/* A kernel comes to an idle GPU: its memory. Lines stay, counters go on. */
void l2_slice_start(struct l2_slice *, struct gmem *image);

/* Between windows: DRAM is read in pieces of so many bytes, 32, 64 or 128. */
void l2_slice_set_fetch(struct l2_slice *, unsigned bytes);

/* Takes note of new requests. To be called before the slice's `next` is used in a window. */
void l2_slice_look(struct l2_slice *);
/* Fills the queue with what arrives up to `now`. To be called at the end of a window: SMs send only as much as
 * slices have taken. */
void l2_slice_accept(struct l2_slice *, picos now);
/* Does what is due at `now` = next. False: guest fault in a strong access. */
bool l2_slice_step(struct l2_slice *, picos now, struct fault *);
/* Did it wait for a queue that has room now? */
static inline bool l2_slice_can_go_on(const struct l2_slice *s)
{
  if (s->blocked < L2_WAITS_READ) return false;
  return s->blocked == L2_WAITS_READ ? dram_read_room(s->blocked_by) : dram_write_room(s->blocked_by);
}
void l2_slice_unblock(struct l2_slice *, picos now);
/* A right has come, at `now`. */
void l2_slice_grant(struct l2_slice *, const struct l2_grant *, picos now);
/* Behind a window, when l2_gate_waits. */
void l2_slice_end_window(struct l2_slice *, picos to);
/* DRAM answered: the sectors of the line (a line number inside the slice) are valid now. */
void l2_slice_fill(struct l2_slice *, uint64_t line, unsigned sectors, picos now);

/* Most answers of DRAM that this slice can be waiting for. */
unsigned l2_slice_max_reads(const struct params *);

/* The slice tells these what it does, from now on; it is idle. */
void l2_slice_cohere(struct l2_slice *, struct coherence *, struct probe_net *);

bool l2_slice_busy(const struct l2_slice *);

#endif
