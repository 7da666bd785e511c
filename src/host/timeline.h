/* Timeline: when things happen, as a host program sees it. One host clock, stream clocks, engines (copies to
 * the device, copies back) that take one operation at a time, and SMs for kernels.
 *
 *   order    an operation starts when the host has issued it, all earlier ones of its stream are
 *            done, and its engine, or as many SMs as a kernel has CTAs, are free. The legacy default stream waits for
 *            all blocking streams, and they for it (CUDA programming guide, "Default Stream").
 *   params   host.api_ns, host.launch_ns, pcie.latency_ns, pcie.h2d_mbps, pcie.d2h_mbps,
 *            pcie.pageable_permille
 *
 * Kernels overlap when together they have no more CTAs than the GPU has SMs. A kernel with as many CTAs as
 * SMs, or more, has the GPU for itself: CTAs of two kernels in one SM would slow each other. Kernels that are simulated
 * at the same time (cuda/core/together.h) do that; their ends are told here as they come out.
 *
 * Not modelled: what kernels at the same time do to each other in L2 and DRAM, priorities, host threads of
 * their own (they share the one clock), what the program computes between two calls (no time at all).
 */
#ifndef WS_HOST_TIMELINE_H
#define WS_HOST_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/params.h"

enum timeline_engine {
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

/* CUDA programming guide, technical specifications: resident grids of a device (compute capability 7.5 on). */
enum { TIMELINE_MAX_KERNELS = 128 };

/* A kernel that has not ended at the time of the host. */
struct timeline_kernel {
  uint64_t end; /* ps */
  unsigned sms;
};

struct timeline {
  const struct params *params;
  struct timeline_kernel kernel[TIMELINE_MAX_KERNELS];
  unsigned n_kernels;
  uint64_t kernel_floor;         /* ps: no kernel starts earlier, since too many were known */
  uint64_t now;                  /* ps: the host */
  uint64_t call_begin;           /* ps: its last API call began */
  uint64_t free_at[TIMELINE__N]; /* ps */
  uint64_t legacy_done;          /* ps: last operation of the legacy stream */
  uint64_t blocking_done;        /* ps: last operation of any blocking stream */
  uint64_t all_done;             /* ps: last operation of all */
  uint64_t last_end;             /* ps: of the operation that was told last */
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
/* The same for a kernel of so many CTAs: at the start it asks about, and from then on, its SMs are free. */
uint64_t timeline_start_kernel(const struct timeline *, const struct stream_clock *, uint64_t ctas);
void timeline_finish_kernel(struct timeline *, struct stream_clock *, uint64_t ctas, uint64_t end);
/* Duration of a copy over the link to the host, ps; pageable: through a staging buffer. */
uint64_t timeline_copy_ps(const struct timeline *, enum timeline_engine, uint64_t bytes,
                          bool pageable);
/* Duration of a copy or fill of `traffic` bytes of device memory, read and written together, ps:
 * at the DRAM's usable rate. */
uint64_t timeline_device_ps(const struct timeline *, uint64_t traffic);

#endif
