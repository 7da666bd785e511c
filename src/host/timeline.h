/* Timeline: when things happen, as a host program sees it. One host clock, stream clocks, and
 * engines (kernels, copies to the device, copies back) that take one operation at a time.
 *
 *   order    an operation starts when the host has issued it, all earlier ones of its stream are
 *            done, and its engine is free. The legacy default stream waits for all blocking
 *            streams, and they for it (CUDA programming guide, "Default Stream").
 *   params   host.api_ns, host.launch_ns, pcie.latency_ns, pcie.h2d_mbps, pcie.d2h_mbps,
 *            pcie.pageable_permille
 *
 * Not modelled: kernels of different streams at once (each takes the compute engine alone), host
 * threads of their own (they share the one clock), what the program computes between two calls (no
 * time at all).
 */
#ifndef WS_HOST_TIMELINE_H
#define WS_HOST_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/params.h"

enum timeline_engine {
  TIMELINE_COMPUTE,
  TIMELINE_TO_DEVICE,
  TIMELINE_TO_HOST,
  TIMELINE_NONE, /* takes no engine: events, callbacks */
  TIMELINE__N = TIMELINE_NONE,
};

/* A stream's place in time. Zeroed: the legacy default stream or another blocking one, idle. */
struct stream_clock {
  uint64_t done;     /* ps: end of its last operation */
  bool legacy;       /* the legacy default stream */
  bool non_blocking; /* takes no part in the legacy stream's ordering */
};

struct timeline {
  const struct params *params;
  uint64_t now;                  /* ps: the host */
  uint64_t free_at[TIMELINE__N]; /* ps */
  uint64_t legacy_done;          /* ps: last operation of the legacy stream */
  uint64_t blocking_done;        /* ps: last operation of any blocking stream */
  uint64_t all_done;             /* ps: last operation of all */
};

void timeline_init(struct timeline *, const struct params *);
/* The host spends the time of one API call (of a launch). */
void timeline_call(struct timeline *);
void timeline_launch_call(struct timeline *);
/* The host waits until `when`, ps. */
void timeline_wait(struct timeline *, uint64_t when);
/* When everything issued to this stream so far, and what it must wait for, is done: ps. */
uint64_t timeline_stream_ready(const struct timeline *, const struct stream_clock *);
/* When an operation issued now can start, ps. */
uint64_t timeline_start(const struct timeline *, const struct stream_clock *,
                        enum timeline_engine);
/* The operation that timeline_start was asked about ends at `end`, ps. */
void timeline_finish(struct timeline *, struct stream_clock *, enum timeline_engine, uint64_t end);
/* Duration of a copy over PCI Express, ps; pageable: through a staging buffer. */
uint64_t timeline_copy_ps(const struct timeline *, enum timeline_engine, uint64_t bytes,
                          bool pageable);
/* Duration of a copy or fill of `traffic` bytes of device memory, read and written together, ps:
 * at the DRAM's usable rate. */
uint64_t timeline_device_ps(const struct timeline *, uint64_t traffic);

#endif
