#include "time/sm/l0i.h"

#include "base/bug.h"

void l0i_init(struct l0i *c, struct arena *a, const struct params *p, unsigned client,
              struct l1i *l1i, struct sm_stats *stats)
{
  *c = (struct l0i){.perfect = p->icache_perfect,
                    .kept = p->icache_kept,
                    .n_ways = p->l0i_ways,
                    .n_sets = p->l0i_bytes / (p->l0i_line * p->l0i_ways),
                    .line_shift = (unsigned)__builtin_ctz(p->l0i_line),
                    .client = client,
                    .stream_lines = p->l0i_stream_lines,
                    .l1i = l1i,
                    .stats = stats};
  BUG_ON(c->n_sets == 0 || c->stream_lines > L0I_STREAM_MAX);
  c->way = ARENA_ARRAY(a, struct l0i_way, (size_t)c->n_sets * c->n_ways);
}

static void clear_ways(struct l0i *c)
{
  for (unsigned i = 0; i < c->n_sets * c->n_ways; i++)
    if (!c->kept || c->way[i].valid_at == L1I_ON_ITS_WAY) c->way[i] = (struct l0i_way){0};
  c->filled = false;
}

void l0i_start(struct l0i *c)
{
  if (c->filled) clear_ways(c);
  c->last = NULL;
  c->stream_n = 0;
  c->stream_next = 0;
  c->lost_way = false;
}

static struct l0i_way *find(struct l0i *c, uint64_t line)
{
  struct l0i_way *set = &c->way[line % c->n_sets * c->n_ways];
  for (unsigned i = 0; i < c->n_ways; i++)
    if (set[i].line == line + 1) return &set[i];
  return NULL;
}

static struct l0i_way *fill(struct l0i *c, uint64_t line, uint64_t valid_at)
{
  struct l0i_way *set = &c->way[line % c->n_sets * c->n_ways], *victim = set;
  for (unsigned i = 1; i < c->n_ways; i++)
    if (set[i].used < victim->used) victim = &set[i];
  if (victim->valid_at == L1I_ON_ITS_WAY) c->lost_way = true;
  *victim = (struct l0i_way){.line = line + 1, .valid_at = valid_at};
  c->filled = true;
  return victim;
}

/* Requests lines until the buffer is full or the next one is in L0 already. */
static void prefetch(struct l0i *c, uint64_t now)
{
  while (c->stream_next && c->stream_n < c->stream_lines) {
    if (find(c, c->stream_next)) {
      c->stream_next = 0;
      return;
    }
    unsigned i = (c->stream_head + c->stream_n++) % L0I_STREAM_MAX;
    c->stream[i].line = c->stream_next;
    c->stream[i].valid_at = l1i_request(c->l1i, c->stream_next, c->client, now);
    c->stats->l0i_prefetches++;
    c->stream_next++;
  }
}

/* Lines of the stream that have not set out for L0 make room for others, unless a warp may wait for them. */
static void drop_stream(struct l0i *c, uint64_t now)
{
  for (unsigned i = 0; i < c->stream_n; i++) {
    uint64_t line = c->stream[(c->stream_head + i) % L0I_STREAM_MAX].line;
    uint64_t arrive = c->stream[(c->stream_head + i) % L0I_STREAM_MAX].valid_at;
    if (arrive == L1I_ON_ITS_WAY) {
      if (!c->lost_way && !find(c, line)) l1i_forget_line(c->l1i, c->client, line);
    } else if (arrive > now + c->l1i->line_interval) {
      l1i_forget(c->l1i, c->client, arrive);
    }
  }
  c->stream_n = 0;
  c->stream_next = 0;
}

/* A line behind which the stream goes on anyway. */
static bool follows_stream(const struct l0i *c, uint64_t line)
{
  return c->stream_next == line || (c->stream_n && c->stream[c->stream_head].line == line);
}

static struct l0i_way *miss(struct l0i *c, uint64_t line, uint64_t now)
{
  if (c->stream_n && c->stream[c->stream_head].line == line) {
    struct l0i_way *w = fill(c, line, c->stream[c->stream_head].valid_at);
    c->stream_head = (c->stream_head + 1) % L0I_STREAM_MAX;
    c->stream_n--;
    prefetch(c, now);
    return w;
  }
  bool restart = c->stream_lines && !follows_stream(c, line + 1);
  if (restart) drop_stream(c, now);
  struct l0i_way *w = fill(c, line, l1i_request(c->l1i, line, c->client, now));
  if (restart) {
    c->stream_next = line + 1;
    prefetch(c, now);
  }
  return w;
}

void l0i_arrived(struct l0i *c, uint64_t line, uint64_t at)
{
  struct l0i_way *w = find(c, line);
  if (w && w->valid_at == L1I_ON_ITS_WAY) w->valid_at = at;
  for (unsigned i = 0; i < c->stream_n; i++) {
    unsigned k = (c->stream_head + i) % L0I_STREAM_MAX;
    if (c->stream[k].line == line && c->stream[k].valid_at == L1I_ON_ITS_WAY) c->stream[k].valid_at = at;
  }
}

uint64_t l0i_fetch_other(struct l0i *c, uint64_t line, uint64_t now)
{
  if (c->perfect) return now;
  struct l0i_way *w = find(c, line);
  c->last = w ? w : miss(c, line, now);
  c->last->used = ++c->stamp;
  return c->last->valid_at;
}

bool l0i_readable(struct l0i *c, uint64_t pc, uint64_t now)
{
  const struct l0i_way *w = find(c, l0i_line(c, pc));
  return w && w->valid_at <= now;
}
