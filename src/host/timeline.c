#include "host/timeline.h"

enum { PS_PER_NS = 1000 };

static uint64_t later(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

void timeline_init(struct timeline *t, const struct params *p)
{
  *t = (struct timeline){.params = p};
}

void timeline_call(struct timeline *t)
{
  t->now += (uint64_t)t->params->host_api_ns * PS_PER_NS;
}

void timeline_launch_call(struct timeline *t)
{
  t->now += (uint64_t)t->params->host_launch_ns * PS_PER_NS;
}

void timeline_wait(struct timeline *t, uint64_t when)
{
  t->now = later(t->now, when);
}

uint64_t timeline_stream_ready(const struct timeline *t, const struct stream_clock *s)
{
  if (s->non_blocking) return s->done;
  return later(s->done, s->legacy ? t->blocking_done : t->legacy_done);
}

uint64_t timeline_start(const struct timeline *t, const struct stream_clock *s,
                        enum timeline_engine engine)
{
  uint64_t at = later(t->now, timeline_stream_ready(t, s));
  return engine == TIMELINE_NONE ? at : later(at, t->free_at[engine]);
}

void timeline_finish(struct timeline *t, struct stream_clock *s, enum timeline_engine engine,
                     uint64_t end)
{
  s->done = end;
  if (engine != TIMELINE_NONE) t->free_at[engine] = end;
  if (s->legacy) t->legacy_done = end;
  if (!s->non_blocking) t->blocking_done = later(t->blocking_done, end);
  t->all_done = later(t->all_done, end);
}

/* 1 MB/s is one byte per microsecond. */
static uint64_t transfer_ps(uint64_t bytes, uint64_t mbps)
{
  return (uint64_t)((double)bytes * 1e6 / (double)mbps);
}

uint64_t timeline_copy_ps(const struct timeline *t, enum timeline_engine engine, uint64_t bytes,
                          bool pageable)
{
  const struct params *p = t->params;
  uint64_t mbps = engine == TIMELINE_TO_DEVICE ? p->pcie_h2d_mbps : p->pcie_d2h_mbps;
  if (pageable) mbps = later(mbps * p->pcie_pageable_permille / 1000, 1);
  return (uint64_t)p->pcie_latency_ns * PS_PER_NS + transfer_ps(bytes, mbps);
}

uint64_t timeline_device_ps(const struct timeline *t, uint64_t traffic)
{
  const struct params *p = t->params;
  uint64_t mbps = (uint64_t)p->dram_bus_bits * p->dram_pin_mbps / 8;
  mbps = later(mbps * p->dram_efficiency_permille / 1000, 1);
  return (uint64_t)p->launch_latency_cycles * 1000000000 / p->gpu_clock_khz + transfer_ps(traffic, mbps);
}
