#include "host/live_clock.h"

#include "base/host_memory.h"

void live_clock_free(struct live_clock *k)
{
  mem_free(k->stand);
}

void live_clock_begin(struct live_clock *k, uint64_t start, uint64_t gpu)
{
  k->skew = gpu - start;
  k->start = start;
  k->stood = k->n_stands = 0;
  k->running = true;
}

void live_clock_stand(struct live_clock *k, uint64_t from, uint64_t until)
{
  const uint64_t gpu = live_clock_gpu(k, from);
  k->stood += until - from;
  if (!k->n_stands || k->stand[k->n_stands - 1].at != gpu) {
    k->stand = mem_more(k->stand, k->n_stands, &k->room_stands, sizeof *k->stand);
    k->stand[k->n_stands++].at = gpu;
  }
  k->stand[k->n_stands - 1].stood = k->stood;
}

uint64_t live_clock_stood_at(const struct live_clock *k, uint64_t gpu, bool first)
{
  uint32_t n = k->n_stands;
  while (n && (first ? k->stand[n - 1].at >= gpu : k->stand[n - 1].at > gpu)) n--;
  return n ? k->stand[n - 1].stood : 0;
}
