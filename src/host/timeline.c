#include "host/timeline.h"

#include "base/arith.h"

enum { PS_PER_NS = 1000 };

void timeline_init(struct timeline *t, const struct params *p)
{
  *t = (struct timeline){.params = p};
}

void timeline_call(struct timeline *t)
{
  t->call_begin = t->now;
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

/* Kernels --------------------------------------------------------------------------------------- */

static unsigned sms_of(const struct timeline *t, uint64_t ctas)
{
  return ctas < t->params->gpu_sms ? (unsigned)ctas : t->params->gpu_sms;
}

/* Whether so many SMs are free from `when` on: kernels that were issued may still wait for their streams. */
static bool has_room(const struct timeline *t, uint64_t when, unsigned sms)
{
  unsigned taken = 0, kernels = 0;
  for (unsigned i = 0; i < t->n_kernels; i++) {
    if (t->kernel[i].end <= when) continue;
    taken += t->kernel[i].sms;
    kernels++;
  }
  return taken + sms <= t->params->gpu_sms && kernels < TIMELINE_MAX_KERNELS;
}

/* The first end of a kernel behind `when`. */
static uint64_t next_end(const struct timeline *t, uint64_t when)
{
  uint64_t next = UINT64_MAX;
  for (unsigned i = 0; i < t->n_kernels; i++)
    if (t->kernel[i].end > when && t->kernel[i].end < next) next = t->kernel[i].end;
  return next;
}

uint64_t timeline_kernel_start(const struct timeline *t, uint64_t at, uint64_t ctas)
{
  at = later(at, t->kernel_floor);
  while (!has_room(t, at, sms_of(t, ctas))) at = next_end(t, at);
  return at;
}

/* Drops the kernels that ended; when that makes no room, the one that ends first: nothing starts before. */
static void make_room(struct timeline *t)
{
  unsigned kept = 0, first = 0;
  for (unsigned i = 0; i < t->n_kernels; i++)
    if (t->kernel[i].end > t->now) t->kernel[kept++] = t->kernel[i];
  t->n_kernels = kept;
  if (kept < TIMELINE_MAX_KERNELS) return;
  for (unsigned i = 1; i < kept; i++)
    if (t->kernel[i].end < t->kernel[first].end) first = i;
  t->kernel_floor = later(t->kernel_floor, t->kernel[first].end);
  t->kernel[first] = t->kernel[--t->n_kernels];
}

void timeline_kernel_end(struct timeline *t, uint64_t ctas, uint64_t end)
{
  make_room(t);
  t->kernel[t->n_kernels++] = (struct timeline_kernel){ end, sms_of(t, ctas) };
}

/* Durations ------------------------------------------------------------------------------------- */

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
  const uint64_t launch = p->launch_latency_cycles + p->membar_gpu_cycles; /* of a kernel that copies */
  return launch * 1000000000 / p->gpu_clock_khz + transfer_ps(traffic, mbps);
}
