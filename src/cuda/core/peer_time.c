#include "cuda/core/peer_time.h"

#include "base/arith.h"
#include "cuda/core/staged_copy.h"

static uint64_t direct_ps(const struct shim *s, const struct board *from, const struct board *to, uint64_t bytes)
{
  const uint64_t rate = boards_rate(s, from, to);
  const uint64_t wire = (uint64_t)((double)bytes * 1e12 / (double)rate);
  return (uint64_t)from->preset.params.dma_peer_ns * 1000 + boards_latency(s, from, to) + boards_latency(s, to, from) +
         wire;
}

static uint64_t out_ps(const struct board *b, uint64_t bytes)
{
  return timeline_copy_ps(&b->time, TIMELINE_TO_HOST, bytes, false);
}

static uint64_t in_ps(const struct board *b, uint64_t bytes)
{
  return timeline_copy_ps(&b->time, TIMELINE_TO_DEVICE, bytes, false);
}

static uint64_t staged_ps(const struct board *from, const struct board *to, uint64_t bytes)
{
  const uint64_t parts = bytes / STAGED_PART, rest = bytes % STAGED_PART;
  const uint64_t hand_over = STAGED_HAND_OVER_NS * UINT64_C(1000);
  if (!parts) return out_ps(from, bytes) + hand_over + in_ps(to, bytes);
  const uint64_t each = later(out_ps(from, STAGED_PART), in_ps(to, STAGED_PART));
  const uint64_t last = rest ? later(out_ps(from, rest), in_ps(to, rest)) : 0;
  return out_ps(from, STAGED_PART) + hand_over + (parts - 1) * each + in_ps(to, STAGED_PART) + last;
}

uint64_t peer_copy_ps(const struct shim *s, const struct board *from, const struct board *to, uint64_t bytes,
                      bool direct)
{
  return direct ? direct_ps(s, from, to, bytes) : staged_ps(from, to, bytes);
}
