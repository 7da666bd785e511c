#include "time/mem/l2_gate.h"

#include "base/bits.h"

enum { NIL = UINT32_MAX, HALVES = 2, HALF_SECTORS = 3, SECTORS_PER_HALF = 2, DEAF_WINDOWS = 4096 };

_Static_assert(LINE_BYTES == HALVES * RIGHTS_LINE_BYTES, "a slice's line is two lines of rights");

void l2_gate_init(struct l2_gate *g, struct arena *a, struct l2_rights *rights, uint32_t slice, uint32_t room)
{
  *g = (struct l2_gate){.rights = rights, .slice = slice, .n_buckets = room};
  g->parked = ARENA_ARRAY(a, struct l2_parked, room);
  g->line = ARENA_ARRAY(a, struct l2_gate_line, room);
  g->bucket = ARENA_ARRAY(a, uint32_t, room);
  g->ready = ARENA_ARRAY(a, struct l2_parked, room);
  for (uint32_t i = 0; i < room; i++) {
    g->parked[i].next = g->line[i].next = i + 1 < room ? i + 1 : NIL;
    g->bucket[i] = NIL;
  }
}

static struct l2_rights_stats *stats(const struct l2_gate *g)
{
  return &g->rights->mail[g->slice].stats;
}

/* --- lines of which somebody waits --------------------------------------------------------------- */

static uint32_t *bucket_of(struct l2_gate *g, uint64_t line)
{
  return &g->bucket[(line ^ line >> 9) & (g->n_buckets - 1)];
}

static struct l2_gate_line *find(struct l2_gate *g, uint64_t line)
{
  for (uint32_t i = *bucket_of(g, line); i != NIL; i = g->line[i].next)
    if (g->line[i].line == line) return &g->line[i];
  return NULL;
}

static struct l2_gate_line *new_line(struct l2_gate *g, const struct mem_req *r)
{
  uint32_t i = g->free_line, *b = bucket_of(g, r->line);
  g->free_line = g->line[i].next;
  g->line[i] = (struct l2_gate_line){.line = r->line, .local = r->local, .next = *b, .first = NIL, .last = NIL};
  g->n_lines++;
  *b = i;
  return &g->line[i];
}

static void free_line(struct l2_gate *g, struct l2_gate_line *l)
{
  uint32_t i = (uint32_t)(l - g->line), *link = bucket_of(g, l->line);
  while (*link != i) link = &g->line[*link].next;
  *link = l->next;
  l->next = g->free_line;
  g->free_line = i;
  g->n_lines--;
}

/* --- rights -------------------------------------------------------------------------------------- */

static bool is_kept_out(const struct mem_req *r)
{
  const bool data = r->kind == REQ_READ || r->kind == REQ_WRITE || r->kind == REQ_STRONG;
  return data && r->line == line_number(r->line) && r->sectors;
}

static bool writes(const struct mem_req *r)
{
  const enum l2_op op = mem_req_op(r->kind, r->op);
  return op == L2_OP_WRITE || op == L2_OP_ATOM || op == L2_OP_RED;
}

static unsigned halves_of(unsigned sectors)
{
  return (sectors & HALF_SECTORS ? 1u : 0) | (sectors >> SECTORS_PER_HALF & HALF_SECTORS ? 2u : 0);
}

static unsigned sectors_of(unsigned halves)
{
  return (halves & 1 ? HALF_SECTORS : 0u) | (halves & 2 ? HALF_SECTORS << SECTORS_PER_HALF : 0u);
}

/* Of these halves, those to which the GPU has less than `wanted`. */
static unsigned without(const struct l2_gate *g, uint64_t line, unsigned halves, enum l2_right wanted)
{
  unsigned lack = 0;
  for (unsigned h = 0; h < HALVES; h++)
    if (halves >> h & 1 && g->rights->right(g->rights->ctx, line * HALVES + h) < wanted) lack |= 1u << h;
  return lack;
}

/* Halves for which somebody is parked. */
static unsigned taken(const struct l2_gate *g, const struct l2_gate_line *l)
{
  unsigned halves = 0;
  for (uint32_t i = l->first; i != NIL; i = g->parked[i].next) halves |= g->parked[i].halves;
  return halves;
}

static void ask(struct l2_gate *g, struct l2_gate_line *l, unsigned halves, bool write, picos now)
{
  const unsigned open = halves & ~(unsigned)(write ? l->write : l->write | l->read);
  for (unsigned h = 0; h < HALVES; h++)
    if (open >> h & 1)
      l2_rights_ask(g->rights, &(struct l2_ask){now, l->line * HALVES + h, g->slice, write});
  *(write ? &l->write : &l->read) |= (uint8_t)open;
  *(write ? &stats(g)->write_asks : &stats(g)->read_asks) += bits_count(open);
}

static void park(struct l2_gate *g, struct l2_gate_line *l, const struct l2_parked *p)
{
  const uint32_t i = g->free_parked;
  g->free_parked = g->parked[i].next;
  g->parked[i] = *p;
  g->parked[i].next = NIL;
  *(l->first == NIL ? &l->first : &g->parked[l->last].next) = i;
  l->last = i;
  g->newest = i;
  g->n_parked++;
  stats(g)->parked++;
}

enum l2_gate_says l2_gate_check(struct l2_gate *g, const struct mem_req *r, picos now, unsigned *lost)
{
  *lost = 0;
  if (!g->rights->follows || !is_kept_out(r)) return L2_GATE_PASS;
  const bool write = writes(r);
  const unsigned halves = halves_of(r->sectors);
  const unsigned lack = without(g, r->line, halves, write ? L2_RIGHT_WRITE : L2_RIGHT_READ);
  struct l2_gate_line *l = g->n_lines ? find(g, r->line) : NULL;
  if (!lack && !(l && taken(g, l) & halves)) return L2_GATE_PASS;
  if (g->n_parked + g->n_ready == g->n_buckets || (!l && g->free_line == NIL)) return L2_GATE_FULL;
  if (!l) l = new_line(g, r);
  *lost = sectors_of(without(g, r->line, lack & ~(unsigned)(l->read | l->write), L2_RIGHT_READ));
  ask(g, l, lack, write, now);
  park(g, l, &(struct l2_parked){.req = *r, .since = now, .halves = (uint8_t)halves, .lack = (uint8_t)lack,
                                 .write = write});
  return L2_GATE_WAITS;
}

void l2_gate_asked_ahead(struct l2_gate *g, unsigned sectors)
{
  g->parked[g->newest].ahead = (uint8_t)sectors;
}

/* --- grants -------------------------------------------------------------------------------------- */

/* *link is parked; it goes on. */
static void release(struct l2_gate *g, struct l2_gate_line *l, uint32_t *link, uint32_t before, picos now)
{
  const uint32_t i = *link;
  struct l2_parked *p = &g->parked[i];
  stats(g)->waited_ps += now - p->since;
  p->req.arrive = now;
  g->ready[(g->first_ready + g->n_ready++) & (g->n_buckets - 1)] = *p;
  *link = p->next;
  if (l->last == i) l->last = before;
  p->next = g->free_parked;
  g->free_parked = i;
  g->n_parked--;
}

/* Who lacks nothing any more goes on, unless somebody before it touches the same. */
static void release_some(struct l2_gate *g, struct l2_gate_line *l, picos now)
{
  unsigned before_it = 0;
  uint32_t before = NIL, *link = &l->first;
  while (*link != NIL) {
    struct l2_parked *p = &g->parked[*link];
    if (!p->lack && !(p->halves & before_it)) {
      release(g, l, link, before, now);
      continue;
    }
    before_it |= p->halves;
    before = *link;
    link = &p->next;
  }
  if (l->first == NIL && !l->read && !l->write) free_line(g, l);
}

bool l2_gate_grant(struct l2_gate *g, const struct l2_grant *a, picos now, uint64_t *local, unsigned *sectors)
{
  struct l2_gate_line *l = find(g, a->line / HALVES);
  const unsigned half = 1u << a->line % HALVES;
  g->deaf = 0;
  if (!l) return false; /* nobody waited */
  *local = l->local;
  *sectors = sectors_of(half);
  l->read &= (uint8_t)~half;
  if (a->write) l->write &= (uint8_t)~half;
  for (uint32_t i = l->first; i != NIL; i = g->parked[i].next)
    if (a->write || !g->parked[i].write) g->parked[i].lack &= (uint8_t)~half;
  stats(g)->of_caches += a->of_cache;
  release_some(g, l, now);
  return a->of_cache;
}

static void release_all(struct l2_gate *g, picos now)
{
  for (uint32_t b = 0; b < g->n_buckets; b++)
    while (g->bucket[b] != NIL) {
      struct l2_gate_line *l = &g->line[g->bucket[b]];
      l->read = l->write = 0;
      for (uint32_t i = l->first; i != NIL; i = g->parked[i].next) g->parked[i].lack = 0, stats(g)->ungranted++;
      release_some(g, l, now);
    }
}

void l2_gate_end_window(struct l2_gate *g, picos to)
{
  if (g->rights->follows && ++g->deaf < DEAF_WINDOWS) return;
  g->deaf = 0;
  release_all(g, to);
}
