/* A GPU that another process simulates: what that process says of it, and what this one then knows. */
#include "time/gpu/gpu_inside.h"

#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

struct gpu_report gpu_report(const struct gpu *g)
{
  return (struct gpu_report){.domain = domain_report(g->domain), .ctas_done = gpu_ctas_done(g), .stopped = g->stop};
}

void gpu_follow(struct gpu *g, const struct gpu_report *r)
{
  if (!g->followed) g->followed = mem_zeroed(1, sizeof *g->followed);
  g->followed->ctas_done = r->ctas_done;
  g->stop = (enum run_end)r->stopped;
  domain_follow(g->domain, &r->domain);
  for (unsigned i = 0; i < LINK_PORT__N; i++) link_port_drop(g->port[i]);
}

struct gpu_launch_report gpu_launch_report(const struct gpu *g, unsigned slot)
{
  struct gpu_launch_report r = {0};
  struct traffic t;
  r.ended = gpu_launch_times(g, slot, &r.start, &r.end);
  gpu_traffic(g, slot, &t);
  _Static_assert(sizeof t == sizeof r.moved, "all that a launch moves");
  memcpy(r.moved, &t, sizeof t);
  return r;
}

void gpu_follow_launch(struct gpu *g, unsigned slot, const struct gpu_launch_report *r)
{
  BUG_ON(!g->followed);
  g->followed->launch[slot] = *r;
}

const void *gpu_count_report(struct gpu *g, size_t *bytes)
{
  *bytes = sizeof g->count;
  return &g->count;
}

void gpu_follow_count(struct gpu *g, const void *count)
{
  memcpy(&g->count, count, sizeof g->count);
}

void gpu_follow_books(struct gpu *g, unsigned slot, const uint64_t *books)
{
  const size_t bytes = gpu_books_bytes(g, slot);
  BUG_ON(!g->followed);
  g->followed->books = mem_resize(g->followed->books, bytes, 1);
  memcpy(g->followed->books, books, bytes);
}
