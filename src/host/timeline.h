/* The host's clock, and what is known of times beforehand: how long calls take, copies that meet nobody, and when a
 * kernel that is not simulated beside others finds SMs.
 *
 *   params   host.api_ns, host.launch_ns, pcie.latency_ns, pcie.h2d_mbps, pcie.d2h_mbps,
 *            pcie.pageable_permille
 *
 * Kernels that run without time, or timed but alone, overlap when together they have no more CTAs than the GPU has
 * SMs. One with as many CTAs as SMs, or more, has the GPU for itself. Others are on the GPU at the same time
 * (host/live_gpu.h), and need nothing of this.
 *
 * Not modelled: clocks of host threads (they share the one).
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

/* CUDA programming guide, technical specifications: resident grids of a device (compute capability 7.5 on). */
enum { TIMELINE_MAX_KERNELS = 128 };

/* One that has not ended at the time of the host. */
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
};

void timeline_init(struct timeline *, const struct params *);
/* The host spends the time of one API call (of a launch). */
void timeline_call(struct timeline *);
void timeline_launch_call(struct timeline *);
/* The host waits until `when`, ps. */
void timeline_wait(struct timeline *, uint64_t when);
/* When a kernel of so many CTAs that could start at `at`, ps, finds SMs; and when it has ended. */
uint64_t timeline_kernel_start(const struct timeline *, uint64_t at, uint64_t ctas);
void timeline_kernel_end(struct timeline *, uint64_t ctas, uint64_t end);
/* Duration of a copy over the link to the host, ps; pageable: through a staging buffer. */
uint64_t timeline_copy_ps(const struct timeline *, enum timeline_engine, uint64_t bytes,
                          bool pageable);
/* Duration of a copy or fill of `traffic` bytes of device memory, read and written together, ps:
 * at the DRAM's usable rate. */
uint64_t timeline_device_ps(const struct timeline *, uint64_t traffic);

#endif
