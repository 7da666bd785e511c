/* Copy engines of a GPU: copies and fills in rows of bytes, between its own memory and places behind its links.
 *
 *   in       copies, a queue for each engine, first in first out; a copy begins `setup` after its engine has come to it
 *   priority of copies inside that follow each other in a queue and have arrived, the highest begins first. One that
 *            has begun sends nothing more when a higher one arrives, which begins when what is under way has ended, as
 *            with the CTAs of kernels; the rest of it comes when its turn comes again
 *   burst    a piece of a row: up to DMA_BURST bytes, less between GPUs (DMA_PEER_BURST), as links carry it
 *   lines    bytes here are read and written line by line, as strong requests of this requester: through crossbar,
 *            slices and DRAM, whose bandwidth they take from kernels, in the order of the slices
 *   there    bytes behind links are asked for, or brought, by messages (time/link/link_msg.h)
 *   window   a copy over links has no more on them than they need, so that others do not wait behind all of it
 *   staging  memory of the host's program that is not pinned is copied by the host first: it bounds the rate of a copy.
 *            How that memory is aligned does not matter, as the engine meets the host's buffer
 *   limits   dma.lines under way for all engines, DMA_BURSTS bursts; dma.bytes_per_cycle for each engine
 *   fluid    while nobody else uses the memory of the GPU (no grid, no other copy), bytes move here without requests:
 *            at dma.bytes_per_cycle, and at the usable rate of DRAM. The rest of the copy goes by lines as soon as
 *            somebody comes, as does what comes in then. dma_config.lines: always by lines
 *   company  what a copy inside writes by lines may stay in L2 for a while, which its fluid part pays at once; no copy
 *            is ever ahead of what it would be alone
 *   done     when the last byte is in its place, or the last acknowledgement here
 *   in place  pages of managed memory that move (time/uvm/uvm.h): all that a copy does but write
 *   params   dma.*, dram.*
 *   not modelled: fetching of descriptors (part of `setup`), compression, translation, what a fluid copy leaves in L2
 */
#ifndef WS_TIME_DMA_DMA_H
#define WS_TIME_DMA_DMA_H

#include "base/span_list.h"
#include "config/params.h"
#include "time/core/requester.h"
#include "time/link/link_port.h"
#include "time/server.h"

enum { DMA_HERE = UINT16_MAX, DMA_BURST = 4096, DMA_PEER_BURST = 512, DMA_BURSTS = 1024, DMA_ENGINES = 16 };

/* What there is of a copy that has begun and lets others go first. */
struct dma_progress {
  bool begun, failed;
  uint64_t row, column, left;
  picos begin;
};

struct dma_copy {
  uint64_t ticket;
  picos arrive;                  /* at the engine's queue */
  uint64_t dst, src;             /* addresses; a fill: src is the pattern */
  uint64_t bytes;                /* of a row, > 0 */
  uint64_t rows;                 /* > 0 */
  uint64_t dst_pitch, src_pitch; /* bytes from row to row */
  picos setup;                   /* from its turn to its first byte */
  uint64_t window;               /* bytes of it on links before more are sent; 0: as the limits of all engines allow */
  uint32_t staging_mbps;         /* MB/s (10^6 bytes) that the host stages; 0: it does not */
  uint16_t dst_node, src_node;   /* nodes of the machine that hold them; DMA_HERE: this GPU */
  uint8_t engine;                /* modulo dma.engines */
  uint8_t fill;                  /* bytes of the pattern: 1, 2 or 4; 0: a copy */
  int32_t priority;              /* of a copy inside: higher ones first */
  bool program;                  /* bytes at a socket are those of the host's program (link_msg.program) */
  bool in_place;                 /* both sides are one memory, whose place changes: nothing is written. dma.mover */
  struct dma_progress before;    /* the engine's */
};

struct dma_done {
  uint64_t ticket;
  picos begin, at; /* its turn came; it was done */
  bool failed; /* an address was not mapped; what could be moved, was */
};

struct dma_config {
  const struct params *params;
  unsigned id;            /* of the requester */
  uint16_t node, sockets; /* of the machine: this GPU; the first node that is no GPU */
  bool lines;             /* never fluid */
  struct span_list *written; /* gets what copies change here; NULL: nobody looks */
  /* Whether a grid is there that uses the memory of the GPU; NULL: never. Changes between windows only. */
  bool (*others)(void *ctx);
  void *ctx;
};

struct dma_burst {
  uint64_t dst, src;
  uint32_t n;       /* bytes */
  uint16_t pending; /* requests or messages under way */
  uint16_t next;    /* of the free ones */
  uint8_t engine, state;
  bool failed;
};

struct dma_engine {
  struct dma_copy *queue; /* ring */
  uint32_t cap, head, n;
  bool active;          /* the first one has begun */
  picos ready;          /* the next burst goes then at the earliest */
  picos begin, last;    /* its turn came; of what is done of it */
  uint64_t alone_fs;    /* of a copy inside: what has been sent of it would have been moved by then without others */
  uint64_t row, column; /* next byte */
  uint64_t left;        /* bytes that are not in their place */
  uint64_t on_links;    /* asked for there, or sent there and not acknowledged */
  uint16_t first, last_held; /* bursts that wait to be sent there */
  bool failed;
  struct server rate;
};

/* Who lets pages move: copies in place of its ticket that are done. */
struct dma_mover {
  uint64_t moved;
  picos at;    /* the last of them */
  picos *wake; /* NULL: it does not wait */
};

struct dma_stats {
  uint64_t copies, bytes, fluid_bytes, bursts;
};

struct dma {
  struct requester r;
  struct dma_config cfg;
  struct link_port port;
  struct gmem *image;
  struct dma_engine engine[DMA_ENGINES];
  unsigned n_engines;
  struct dma_burst *burst;
  uint8_t *data; /* [DMA_BURSTS][DMA_BURST] */
  uint16_t free;
  uint32_t lines_left; /* of dma.lines */
  picos request;       /* noc.request_latency */
  struct server memory; /* fluid: DRAM */
  struct dma_done *done; /* ring */
  uint32_t done_cap, done_head, n_done;
  struct dma_mover *mover; /* by ticket, who waits for copies in place; NULL: nobody */
  struct dma_stats stats;
};

void dma_init(struct dma *, struct arena *, const struct dma_config *);
void dma_free(struct dma *);
/* Between windows. */
void dma_post(struct dma *, const struct dma_copy *);
/* Takes the next completion, in no order of tickets; false: none. */
bool dma_take_done(struct dma *, struct dma_done *);
/* It gets one from outside: from a process that simulates the GPU in the place of this one. */
void dma_note_done(struct dma *, const struct dma_done *);
/* No copy is there. */
bool dma_idle(const struct dma *);

extern const struct requester_ops dma_ops;

#endif
