#include "cuda/core/peer_time.h"

#include "base/arith.h"

static uint64_t direct_ps(const struct shim *s, const struct board *from, const struct board *to, uint64_t bytes)
{
  const uint64_t rate = boards_rate(s, from, to);
  const uint64_t wire = (uint64_t)((double)bytes * 1e12 / (double)rate);
  return timeline_device_ps(&from->time, 0) + boards_latency(s, from, to) + wire;
}

/* guess: the size of a part, with which boards of PCI Express 4.0 and 5.0 come to 21 and 38 GB/s (NVIDIA/nvbandwidth,
 * p2pBandwidthLatencyTest: 20 to 22, 36 to 38). */
enum { PART = 512 << 10 };

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
  const uint64_t parts = bytes / PART, rest = bytes % PART;
  if (!parts) return out_ps(from, bytes) + in_ps(to, bytes);
  const uint64_t each = later(out_ps(from, PART), in_ps(to, PART));
  const uint64_t last = rest ? later(out_ps(from, rest), in_ps(to, rest)) : 0;
  return out_ps(from, PART) + (parts - 1) * each + in_ps(to, PART) + last;
}

uint64_t peer_copy_ps(const struct shim *s, const struct board *from, const struct board *to, uint64_t bytes)
{
  const bool direct = (from->reach & board_bit(to)) || (to->reach & board_bit(from));
  return direct ? direct_ps(s, from, to, bytes) : staged_ps(from, to, bytes);
}
