/* What others ask of a GPU's memory over links: a requester of the GPU (time/core/requester.h).
 *
 *   in       messages; each is taken when there is room for it and for its lines, in order of arrival
 *   out      strong requests of its lines, which are performed at their slices among those of cores; then the answer
 *   limits   HUB_JOBS messages, `lines` lines under way
 *   values   as this GPU sees its memory; what it does not see (memory mapped for others alone), as who asks does
 *   fluid    bytes that copy engines of others read and write here while no grid is here, at the usable rate of DRAM,
 *            without requests, as those of the engines here (time/dma/dma.h), which have that rate for themselves
 *   order    messages of one line come by one way and meet at one slice: they keep their order
 */
#ifndef WS_TIME_LINK_HUB_IN_H
#define WS_TIME_LINK_HUB_IN_H

#include "base/line_op.h"
#include "config/params.h"
#include "time/core/requester.h"
#include "time/link/link_port.h"
#include "time/server.h"

enum { HUB_JOBS = 2048, HUB_JOB_BYTES = 512 };

struct hub_job {
  struct link_msg m;
  struct link_bytes at;
  uint16_t pending;
  bool failed;
  uint8_t bytes[HUB_JOB_BYTES]; /* read, or to be written */
  struct link_store store;
  struct line_op op;
};

struct hub_in_stats {
  uint64_t messages, read_bytes, written_bytes, atomics;
};

struct hub_in {
  struct requester r;
  struct link_port port;
  struct gmem *image;
  struct gmem *const *images; /* as others see memory, by node; NULL: as this one does */
  line_apply_fn *apply;
  struct hub_job *job;
  uint16_t *spare, n_spare;
  uint32_t lines_left;
  bool (*others)(void *ctx); /* whether a grid is here; changes between windows only. NULL: always by lines */
  void *ctx;
  struct server memory; /* fluid: DRAM */
  picos request; /* noc.request_latency */
  struct hub_in_stats stats;
};

void hub_in_init(struct hub_in *, struct arena *, const struct params *, unsigned id, line_apply_fn *,
                 struct gmem *const *images);
void hub_in_free(struct hub_in *);

extern const struct requester_ops hub_in_ops;

#endif
