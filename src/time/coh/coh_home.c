#include "time/coh/coh_home.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"

struct happening {
  const struct coh_msg *msg; /* NULL: the place is wanted */
  struct coh_home_entry *entry;
  uint64_t line;
  picos now;
};

void coh_home_init(struct coh_home *d, const struct coh_protocol *p, const struct coh_home_config *cfg,
                   struct coh_port *port, struct arena *a)
{
  BUG_ON(!cfg->sets || !cfg->ways || (cfg->sets & (cfg->sets - 1)) || cfg->n_caches > COH_MAX_NODES);
  *d = (struct coh_home){.protocol = p, .cfg = *cfg, .port = port, .rate = {.femtos_per_byte = cfg->femtos_per_byte}};
  d->entry = ARENA_ARRAY(a, struct coh_home_entry, (size_t)cfg->sets * cfg->ways);
  d->row_hits = ARENA_ARRAY(a, uint64_t, COH_MAX_ROWS);
}

/* --- places ------------------------------------------------------------------------------------- */

static struct coh_home_entry *set_of(const struct coh_home *d, uint64_t line)
{
  return &d->entry[(line / d->cfg.n_homes & (d->cfg.sets - 1)) * d->cfg.ways];
}

static struct coh_home_entry *find(const struct coh_home *d, uint64_t line)
{
  struct coh_home_entry *e = set_of(d, line);
  for (uint32_t w = 0; w < d->cfg.ways; w++)
    if (e[w].state != COH_ST_I && e[w].line == line) return &e[w];
  return NULL;
}

/* A free place, or the one that rests and was used longest ago; NULL: something of the set is under way, and a place
 * may become free by it. */
static struct coh_home_entry *place_for(const struct coh_home *d, uint64_t line)
{
  struct coh_home_entry *e = set_of(d, line), *best = NULL;
  for (uint32_t w = 0; w < d->cfg.ways; w++) {
    if (e[w].state == COH_ST_I) return &e[w];
    if (e[w].state == COH_ST_BR) return NULL;
    if (coh_state_rests[e[w].state] && (!best || d->clock - e[w].used > d->clock - best->used)) best = &e[w];
  }
  return best;
}

/* --- what is sent ------------------------------------------------------------------------------- */

static unsigned others(const struct coh_home_entry *e)
{
  return bits_count(e->requestor < COH_MAX_NODES ? e->sharers & ~((uint64_t)1 << e->requestor) : e->sharers);
}

static void head(const struct coh_home *d, struct coh_msg *m, enum coh_type type, const struct happening *h, int acks)
{
  m->line = h->line;
  m->from = d->port->node;
  m->requestor = h->entry->requestor;
  m->acks = (int16_t)acks;
  m->type = (uint8_t)type;
  m->flags = 0;
}

static struct coh_msg *send(struct coh_home *d, enum coh_net net, picos at, enum coh_type type,
                            const struct happening *h, unsigned to, int acks)
{
  struct coh_msg *m = coh_port_send(d->port, net, at + d->cfg.latency);
  head(d, m, type, h, acks);
  m->to = (uint16_t)to;
  return m;
}

/* Bytes of memory, to the requestor. */
static void give(struct coh_home *d, unsigned flags, int acks, const struct happening *h)
{
  const bool beside = d->cfg.beside >> h->entry->requestor & 1;
  const picos read = server_take(&d->rate, h->now, COH_LINE_BYTES) + d->cfg.memory_latency;
  struct coh_msg *m = send(d, COH_ANSWERS, beside ? h->now : read, COH_DATA, h, h->entry->requestor, acks);
  m->flags = (uint8_t)(flags | COH_BASE | (beside ? COH_BESIDE : 0));
  memcpy(m->data, d->cfg.memory(d->cfg.ctx, h->line), COH_LINE_BYTES);
  d->stats.memory_reads++;
}

static void tell_owner(struct coh_home *d, enum coh_type type, int acks, const struct happening *h)
{
  send(d, COH_FORWARDS, h->now, type, h, h->entry->owner, acks)->flags = COH_BASE;
  d->stats.forwards++;
}

/* To several: one after the other, as there is room (cast_on). */
static void cast(struct coh_home *d, enum coh_type type, uint64_t to, const struct happening *h)
{
  uint16_t requestor = h->entry->requestor;
  BUG_ON(d->cast_to);
  head(d, &d->cast, type, h, -1);
  d->cast_to = requestor < COH_MAX_NODES ? to & ~((uint64_t)1 << requestor) : to;
}

static uint64_t all_caches(const struct coh_home *d)
{
  return d->cfg.n_caches < 64 ? ((uint64_t)1 << d->cfg.n_caches) - 1 : UINT64_MAX;
}

static bool cast_on(struct coh_home *d, picos now)
{
  if (!d->cast_to || coh_queue_full(&d->port->out[COH_FORWARDS])) return false;
  unsigned to = bits_first(d->cast_to);
  struct coh_msg *m = coh_port_send(d->port, COH_FORWARDS, now + d->cfg.latency);
  picos at = m->arrive;
  *m = d->cast;
  m->arrive = at;
  m->to = (uint16_t)to;
  d->cast_to &= d->cast_to - 1;
  d->stats.forwards++;
  return true;
}

/* --- rows --------------------------------------------------------------------------------------- */

static void keep(struct coh_home *d, const struct happening *h)
{
  const struct coh_msg *m = h->msg;
  if (m->type != COH_DATA && m->type != COH_WB_DATA && m->type != COH_COPY) return;
  server_take(&d->rate, h->now, COH_LINE_BYTES);
  if (!(m->flags & COH_BESIDE)) memcpy(d->cfg.memory(d->cfg.ctx, h->line), m->data, COH_LINE_BYTES);
  d->stats.memory_writes++;
}

/* The home itself waits for so many answers. */
static void await(struct coh_home_entry *e, unsigned acks)
{
  e->counted = true;
  e->acks = (int16_t)acks;
}

static void share(struct coh_home_entry *e, unsigned node)
{
  e->sharers |= (uint64_t)1 << node;
}

static void act(struct coh_home *d, enum coh_action what, const struct happening *h)
{
  struct coh_home_entry *e = h->entry;
  switch (what) {
  case COH_DO_NONE: break;
  case COH_DO_MEM_S: give(d, COH_SHARED, 0, h); break;
  case COH_DO_MEM_E: give(d, 0, 0, h); break;
  case COH_DO_MEM_X: give(d, 0, (int)others(e), h); break;
  case COH_DO_MEM_ALL: give(d, COH_MEMORY, d->cfg.n_caches - 1, h); break;
  case COH_DO_GRANT:
    send(d, COH_ANSWERS, h->now, COH_ACK, h, e->requestor, (int)others(e))->flags = COH_BASE;
    break;
  case COH_DO_TELL_S: tell_owner(d, COH_FWD_GETS, 0, h); break;
  case COH_DO_TELL_X: tell_owner(d, COH_FWD_GETX, (int)others(e), h); break;
  case COH_DO_TELL_SHARERS: cast(d, COH_INV, e->sharers, h); break;
  case COH_DO_CAST_S: cast(d, COH_FWD_GETS, all_caches(d), h); break;
  case COH_DO_CAST_X: cast(d, COH_FWD_GETX, all_caches(d), h); break;
  case COH_DO_SAY_WB_ACK: send(d, COH_FORWARDS, h->now, COH_WB_ACK, h, e->requestor, 0); break;
  case COH_DO_SAY_WB_NACK: send(d, COH_FORWARDS, h->now, COH_WB_NACK, h, e->requestor, 0); break;
  case COH_DO_KEEP: keep(d, h); break;
  case COH_DO_OWNER: e->owner = e->requestor, e->sharers = 0; break;
  case COH_DO_SHARER: share(e, e->requestor); break;
  case COH_DO_OWNER_SHARES: share(e, e->owner), e->owner = COH_NO_NODE; break;
  case COH_DO_NO_OWNER: e->owner = COH_NO_NODE; break;
  case COH_DO_AWAIT_SHARERS: await(e, others(e)); break;
  case COH_DO_AWAIT_ALL: await(e, d->cfg.n_caches); break;
  default: BUG_ON(true); /* of a cache */
  }
}

static bool room_for(const struct coh_home *d, unsigned nets)
{
  if ((nets & COH_CAST) && d->cast_to) return false;
  for (unsigned left = nets & ~(unsigned)COH_CAST; left; left &= left - 1)
    if (coh_queue_full(&d->port->out[bits_first(left)])) return false;
  return true;
}

static int row_of(const struct coh_home *d, const struct coh_home_entry *e, enum coh_event event)
{
  return coh_protocol_row(d->protocol, COH_HOME, e ? e->state : COH_ST_I, event);
}

static bool carry_out(struct coh_home *d, int row, const struct happening *h)
{
  const struct coh_row *r = &d->protocol->row[row];
  if (!room_for(d, d->protocol->nets[row])) return false;
  for (unsigned i = 0; i < COH_ROW_ACTIONS; i++) act(d, r->action[i], h);
  d->n_transient += !coh_state_rests[r->next];
  d->n_transient -= !coh_state_rests[h->entry->state];
  h->entry->state = r->next;
  d->row_hits[row]++;
  return true;
}

/* --- requests ------------------------------------------------------------------------------------ */

static void recalled(struct coh_home *d, const struct coh_msg *m, struct coh_home_entry *e, picos now);

/* Takes a line back from everybody: its place is wanted. False: not now. */
static bool recall(struct coh_home *d, struct coh_home_entry *e, picos now)
{
  static const struct coh_msg nobody = {.type = COH_ACK};
  struct happening h = {NULL, e, e->line, now};
  int row = row_of(d, e, COH_EV_REPLACE);
  BUG_ON(row < 0);
  e->requestor = d->port->node;
  e->acks = 0;
  e->counted = false;
  if (!carry_out(d, row, &h)) return false;
  d->stats.recalls++;
  if (e->counted && !e->acks) recalled(d, &nobody, e, now);
  return true;
}

enum taken {
  TAKEN,
  NOT_YET,
  MADE_ROOM, /* not yet, but something was done for it */
};

static enum coh_event event_of_request(const struct coh_msg *m, const struct coh_home_entry *e)
{
  bool owner = e && e->owner == m->from;
  if (m->type == COH_GETS) return COH_EV_GETS;
  if (m->type == COH_PUT) return owner ? COH_EV_PUT : COH_EV_PUT_OTHER;
  return owner ? COH_EV_GETX_OWNER : COH_EV_GETX;
}

static enum taken take_request(struct coh_home *d, const struct coh_msg *m, picos now)
{
  struct happening h = {m, find(d, m->line), m->line, now};
  struct coh_home_entry none = {.line = m->line, .owner = COH_NO_NODE, .requestor = m->from, .state = COH_ST_I};
  int row = row_of(d, h.entry, event_of_request(m, h.entry));
  if (row < 0 || !room_for(d, d->protocol->nets[row])) return NOT_YET;
  if (!h.entry && d->protocol->row[row].next == COH_ST_I) h.entry = &none; /* it needs no place */
  if (!h.entry) {
    h.entry = place_for(d, m->line);
    if (!h.entry) return NOT_YET;
    if (h.entry->state != COH_ST_I) return recall(d, h.entry, now) ? MADE_ROOM : NOT_YET;
    *h.entry = none;
  }
  h.entry->requestor = m->from;
  h.entry->used = ++d->clock;
  d->stats.requests++;
  return carry_out(d, row, &h) ? TAKEN : NOT_YET;
}

/* --- what ends a transaction ---------------------------------------------------------------------- */

/* An answer to the home itself. */
static void recalled(struct coh_home *d, const struct coh_msg *m, struct coh_home_entry *e, picos now)
{
  struct happening h = {m, e, e->line, now};
  e->acks = (int16_t)(e->acks + m->acks);
  e->counted |= m->flags & COH_BASE;
  int row = row_of(d, e, e->counted && !e->acks ? COH_EV_LAST_ALONE : COH_EV_PART);
  BUG_ON(row < 0);
  bool done = carry_out(d, row, &h);
  BUG_ON(!done);
}

static void take_end(struct coh_home *d, const struct coh_msg *m, picos now)
{
  static const uint8_t event[COH_TYPES] = {[COH_UNBLOCK_S] = COH_EV_UNBLOCK_S, [COH_UNBLOCK_X] = COH_EV_UNBLOCK_X,
                                           [COH_WB_DATA] = COH_EV_WB_DATA, [COH_WB_NONE] = COH_EV_WB_NONE,
                                           [COH_COPY] = COH_EV_COPY};
  struct happening h = {m, find(d, m->line), m->line, now};
  BUG_ON(!h.entry);
  if (m->type == COH_DATA || m->type == COH_ACK) {
    recalled(d, m, h.entry, now);
    return;
  }
  int row = row_of(d, h.entry, event[m->type]);
  BUG_ON(row < 0);
  bool done = carry_out(d, row, &h);
  BUG_ON(!done); /* nothing that ends something sends anything */
}

bool coh_home_cycle(struct coh_home *d, picos now)
{
  struct coh_queue *ends = &d->port->in[COH_ENDS], *requests = &d->port->in[COH_REQUESTS];
  const struct coh_msg *end = coh_queue_front(ends, now), *request;
  if (end) take_end(d, end, now), coh_queue_pop(ends);
  bool done = cast_on(d, now) || end;
  request = coh_queue_front(requests, now);
  enum taken taken = request ? take_request(d, request, now) : NOT_YET;
  if (taken == TAKEN) coh_queue_pop(requests);
  return done || taken != NOT_YET;
}

/* --- looked at from outside ---------------------------------------------------------------------- */

bool coh_home_busy(const struct coh_home *d)
{
  return d->n_transient || d->cast_to;
}

void coh_home_dump(const struct coh_home *d, FILE *out)
{
  size_t n = (size_t)d->cfg.sets * d->cfg.ways;
  for (size_t i = 0; i < n; i++) {
    const struct coh_home_entry *e = &d->entry[i];
    if (coh_state_rests[e->state]) continue;
    fprintf(out, "  home %u: line 0x%" PRIx64 " is %s, for node %u\n", d->port->node, e->line << COH_LINE_SHIFT,
            coh_state_name[e->state], e->requestor);
  }
}
