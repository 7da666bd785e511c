#include "time/sm/l1i.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

enum { FIRST_MISSES = 64 };

/* What is left of a miss behind the way to L2 and back. */
static unsigned fill_latency(const struct params *p)
{
  return params_l1i_miss_cycles(p) - (p->l2_latency - params_l1_hit_cycles(p));
}

void l1i_init(struct l1i *c, struct arena *a, const struct params *p, struct l1i_ports ports, struct sm_stats *stats)
{
  *c = (struct l1i){.latency = p->l1i_latency,
                    .miss_latency = params_l1i_miss_cycles(p),
                    .line_interval = p->l1i_line_interval,
                    .miss_line_interval = p->l1i_miss_line_interval,
                    .mshr_entries = p->l1i_mshr_entries,
                    .kept = p->icache_kept,
                    .const_lines = p->l1i_const_fetch_bytes / L1I_LINE,
                    .stream_lines = p->l1i_stream_lines,
                    .fill_latency = fill_latency(p),
                    .n_ways = p->l1i_ways,
                    .n_sets = p->l1i_bytes / (L1I_LINE * p->l1i_ways),
                    .ports = ports,
                    .stats = stats};
  BUG_ON(c->n_sets == 0 || p->sm_sub_cores >= L1I_CLIENTS);
  c->way = ARENA_ARRAY(a, struct l1i_way, (size_t)c->n_sets * c->n_ways);
}

void l1i_free(struct l1i *c)
{
  mem_free(c->miss);
  c->miss = NULL;
  c->misses_cap = 0;
}

static void clear_ways(struct l1i *c)
{
  for (size_t i = 0; i < (size_t)c->n_sets * c->n_ways; i++)
    if (!c->kept || c->way[i].line & L1I_CONST_LINE || c->way[i].valid_at == L1I_ON_ITS_WAY)
      c->way[i] = (struct l1i_way){0};
  c->filled = false;
}

void l1i_start(struct l1i *c)
{
  BUG_ON(c->n_misses);
  if (c->filled) clear_ways(c);
}

static struct l1i_way *lookup(struct l1i *c, uint64_t line, bool *hit)
{
  struct l1i_way *set = &c->way[line % c->n_sets * c->n_ways], *victim = set;
  for (unsigned i = 0; i < c->n_ways; i++) {
    if (set[i].line == line + 1) {
      *hit = true;
      return &set[i];
    }
    if (set[i].used < victim->used) victim = &set[i];
  }
  *hit = false;
  return victim;
}

/* --- lines on their way from L2 ---------------------------------------------------------------- */

static struct l1i_miss *find_miss(struct l1i *c, uint64_t line)
{
  for (unsigned i = 0; i < c->n_misses; i++)
    if (c->miss[i].line == line) return &c->miss[i];
  return NULL;
}

static struct l1i_miss *new_miss(struct l1i *c, uint64_t line)
{
  if (c->n_misses == c->misses_cap) {
    c->misses_cap = c->misses_cap ? 2 * c->misses_cap : FIRST_MISSES;
    c->miss = mem_resize(c->miss, c->misses_cap, sizeof *c->miss);
  }
  uint64_t name = line & L1I_CONST_LINE ? c->ports.name(c->ports.ctx, line) : line;
  c->miss[c->n_misses] = (struct l1i_miss){.line = line, .name = name};
  return &c->miss[c->n_misses++];
}

static void remove_miss(struct l1i *c, struct l1i_miss *m)
{
  size_t i = (size_t)(m - c->miss);
  memmove(m, m + 1, (c->n_misses - i - 1) * sizeof *m);
  c->n_misses--;
}

/* Sends the oldest misses that have not been sent, as far as there are entries. */
static void send_misses(struct l1i *c, uint64_t at)
{
  for (unsigned i = c->n_sent; i < c->n_misses && c->n_sent < c->mshr_entries; i++) {
    if (c->miss[i].sent) continue;
    c->miss[i].sent = true;
    c->n_sent++;
    c->stats->l1i_code_lines++;
    c->ports.request(c->ports.ctx, c->miss[i].name, at);
  }
}

static void wait_for(struct l1i *c, uint64_t line, unsigned client, uint64_t at)
{
  struct l1i_miss *m = find_miss(c, line);
  if (!m) m = new_miss(c, line);
  if (!(m->clients >> client & 1)) m->asked[client] = at;
  m->clients |= (uint8_t)(1u << client);
  send_misses(c, at);
}

/* The link to one L0 streams a line per interval. */
static uint64_t cross_link(struct l1i *c, unsigned client, uint64_t arrive, unsigned interval)
{
  uint64_t spaced = c->stream_at[client] + interval;
  if (arrive < spaced) arrive = spaced;
  c->stream_at[client] = arrive;
  return arrive;
}

static struct l1i_miss *find_sent(struct l1i *c, uint64_t name)
{
  unsigned i = 0;
  while (i < c->n_misses && !(c->miss[i].sent && c->miss[i].name == name)) i++;
  BUG_ON(i == c->n_misses);
  return &c->miss[i];
}

void l1i_fill(struct l1i *c, uint64_t name, uint64_t now)
{
  bool hit;
  struct l1i_miss *found = find_sent(c, name), m = *found;
  struct l1i_way *w = lookup(c, m.line, &hit);
  remove_miss(c, found);
  c->n_sent--;
  c->stats->l1i_code_fills++;
  if (hit) w->valid_at = now;
  for (unsigned i = 0; i < L1I_CLIENTS; i++) {
    if (!(m.clients >> i & 1)) continue;
    uint64_t arrive = now + c->fill_latency, crossed = m.asked[i] + c->latency;
    if (arrive < crossed) arrive = crossed;
    if (arrive <= now) arrive = now + 1;
    c->ports.arrived(c->ports.ctx, i, m.line, cross_link(c, i, arrive, c->miss_line_interval));
  }
  send_misses(c, now);
}

void l1i_forget_line(struct l1i *c, unsigned client, uint64_t line)
{
  struct l1i_miss *m = find_miss(c, line);
  if (!m) return;
  m->clients &= (uint8_t) ~(1u << client);
  if (m->clients || m->sent) return;
  bool hit;
  struct l1i_way *w = lookup(c, line, &hit);
  if (hit) w->line = 0;
  remove_miss(c, m);
}

static struct l1i_way *put(struct l1i *c, struct l1i_way *w, uint64_t line)
{
  *w = (struct l1i_way){.line = line + 1, .used = ++c->stamp, .valid_at = L1I_ON_ITS_WAY};
  c->filled = true;
  return w;
}

/* The line, and the lines around it that L1 does not have: these are asked for behind it, and do not displace it. */
static struct l1i_way *fetch_constants(struct l1i *c, uint64_t line, unsigned client, uint64_t at)
{
  uint64_t first = line & ~(uint64_t)(c->const_lines - 1);
  bool hit;
  wait_for(c, line, client, at);
  for (uint64_t l = first; l < first + c->const_lines; l++) {
    struct l1i_way *w = lookup(c, l, &hit);
    if (l == line || hit) continue;
    put(c, w, l);
    if (!find_miss(c, l)) new_miss(c, l);
  }
  send_misses(c, at);
  return put(c, lookup(c, line, &hit), line);
}

/* The lines of code behind this one that L1 does not have; nobody waits for them. */
static void read_ahead(struct l1i *c, uint64_t line, uint64_t at)
{
  bool hit, any = false;
  for (uint64_t l = line + 1; l <= line + c->stream_lines; l++) {
    struct l1i_way *w = lookup(c, l, &hit);
    if (hit) continue;
    put(c, w, l);
    if (!find_miss(c, l)) new_miss(c, l);
    any = true;
  }
  if (any) send_misses(c, at);
}

/* --- requests ---------------------------------------------------------------------------------- */

uint64_t l1i_request(struct l1i *c, uint64_t line, unsigned client, uint64_t now)
{
  bool hit;
  uint64_t at = now > c->free_at ? now : c->free_at;
  c->free_at = at + 1;
  c->stats->l1i_requests++;
  struct l1i_way *w = lookup(c, line, &hit);
  if (!hit) {
    c->stats->l1i_misses++;
    if (line & L1I_CONST_LINE)
      w = fetch_constants(c, line, client, at);
    else
      put(c, w, line);
  }
  w->used = ++c->stamp;
  uint64_t valid_at = w->valid_at; /* reading ahead may take its place */
  if (valid_at == L1I_ON_ITS_WAY) wait_for(c, line, client, at);
  if (c->stream_lines && !(line & L1I_CONST_LINE)) read_ahead(c, line, at);
  if (valid_at == L1I_ON_ITS_WAY) return L1I_ON_ITS_WAY;
  uint64_t arrive = (valid_at > at ? valid_at : at) + c->latency;
  return cross_link(c, client, arrive, c->line_interval);
}

void l1i_forget(struct l1i *c, unsigned client, uint64_t arrive)
{
  uint64_t free_at = arrive - c->line_interval;
  if (free_at < c->stream_at[client]) c->stream_at[client] = free_at;
}
