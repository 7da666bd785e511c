#include "time/coh/coh_cache.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"

/* What a row is carried out for. */
struct happening {
  const struct coh_msg *msg; /* NULL: the place is wanted */
  struct coh_entry *entry;   /* NULL: the line has none and gets none */
  uint64_t line;
  picos now;
};

enum { NO_MISS = UINT16_MAX };

void coh_cache_init(struct coh_cache *c, const struct coh_protocol *p, const struct coh_cache_config *cfg,
                    struct coh_port *port, struct coh_queue *reply, struct arena *a)
{
  size_t n = (size_t)cfg->sets * cfg->ways;
  BUG_ON(!n || (cfg->sets & (cfg->sets - 1)) || !cfg->misses || cfg->misses >= NO_MISS);
  *c = (struct coh_cache){.protocol = p, .cfg = *cfg, .port = port, .reply = reply ? reply : &port->out[COH_REPLIES]};
  c->entry = ARENA_ARRAY(a, struct coh_entry, n);
  if (!cfg->memory) c->data = arena_array(a, n, COH_LINE_BYTES, COH_LINE_BYTES);
  c->miss = ARENA_ARRAY(a, struct coh_miss, cfg->misses);
  c->row_hits = ARENA_ARRAY(a, uint64_t, COH_MAX_ROWS);
}

/* --- places ------------------------------------------------------------------------------------- */

static struct coh_entry *set_of(const struct coh_cache *c, uint64_t line)
{
  const uint64_t own = c->cfg.stripes ? line / c->cfg.stripes : line;
  return &c->entry[(own & (c->cfg.sets - 1)) * c->cfg.ways];
}

static struct coh_entry *find(const struct coh_cache *c, uint64_t line)
{
  struct coh_entry *e = set_of(c, line);
  for (uint32_t w = 0; w < c->cfg.ways; w++)
    if (e[w].state != COH_ST_I && e[w].line == line) return &e[w];
  return NULL;
}

static uint8_t *bytes_of(const struct coh_cache *c, const struct coh_entry *e)
{
  return c->cfg.memory ? c->cfg.memory(c->cfg.memory_ctx, e->line) : c->data[e - c->entry];
}

/* A place for a line: a free one, or else the one that rests and was used longest ago. NULL: none rests. */
static struct coh_entry *place_for(const struct coh_cache *c, uint64_t line)
{
  struct coh_entry *e = set_of(c, line), *best = NULL;
  for (uint32_t w = 0; w < c->cfg.ways; w++) {
    if (e[w].state == COH_ST_I) return &e[w];
    if (coh_state_rests[e[w].state] && (!best || c->clock - e[w].used > c->clock - best->used)) best = &e[w];
  }
  return best;
}

static struct coh_miss *miss_of(const struct coh_cache *c, const struct coh_entry *e)
{
  BUG_ON(e->miss == NO_MISS);
  return &c->miss[e->miss];
}

static bool take_miss(struct coh_cache *c, struct coh_entry *e, const struct coh_msg *op)
{
  for (uint32_t i = 0; i < c->cfg.misses; i++) {
    if (c->miss[i].used) continue;
    c->miss[i] = (struct coh_miss){.op = *op, .used = true};
    e->miss = (uint16_t)i;
    return true;
  }
  return false;
}

static bool miss_free(const struct coh_cache *c)
{
  for (uint32_t i = 0; i < c->cfg.misses; i++)
    if (!c->miss[i].used) return true;
  return false;
}

/* --- what is sent ------------------------------------------------------------------------------- */

static struct coh_msg *send(struct coh_cache *c, enum coh_net net, enum coh_type type, const struct happening *h,
                            unsigned to)
{
  struct coh_msg *m = coh_port_send(c->port, net, h->now + c->cfg.latency);
  m->line = h->line;
  m->from = c->port->node;
  m->to = (uint16_t)to;
  m->requestor = c->port->node;
  m->acks = 0;
  m->type = (uint8_t)type;
  m->flags = 0;
  return m;
}

static unsigned above(const struct coh_cache *c, uint64_t line)
{
  return c->cfg.above + (unsigned)(line % c->cfg.n_above);
}

static void to_home(struct coh_cache *c, enum coh_net net, enum coh_type type, const struct happening *h)
{
  send(c, net, type, h, above(c, h->line));
}

static void bytes_to_home(struct coh_cache *c, enum coh_type type, const struct happening *h)
{
  struct coh_msg *m = send(c, COH_ENDS, type, h, above(c, h->line));
  if (c->cfg.memory) m->flags |= COH_BESIDE;
  memcpy(m->data, bytes_of(c, h->entry), COH_LINE_BYTES);
}

/* An answer to a forward: it passes on what the home said of how many answer. A home that takes the line back is told
 * on the network on which it always listens. */
static void answer(struct coh_cache *c, enum coh_type type, unsigned flags, const struct happening *h)
{
  unsigned to = h->msg->requestor;
  struct coh_msg *m = send(c, to < c->cfg.n_caches ? COH_ANSWERS : COH_ENDS, type, h, to);
  m->requestor = (uint16_t)to;
  m->flags = (uint8_t)(flags | (h->msg->flags & COH_BASE));
  if (c->cfg.memory && to >= c->cfg.n_caches) m->flags |= COH_BESIDE;
  m->acks = h->msg->acks;
  if (type == COH_DATA) memcpy(m->data, bytes_of(c, h->entry), COH_LINE_BYTES);
}

/* --- operations --------------------------------------------------------------------------------- */

static void store(uint8_t *bytes, const struct coh_msg *op)
{
  for (uint64_t left = op->mask; left; left &= left - 1) {
    unsigned i = bits_first(left);
    bytes[i] = op->data[i];
  }
}

/* --- reservations ------------------------------------------------------------------------------- */

void coh_cache_reserve(struct coh_cache *c, uint64_t line, picos now)
{
  c->reserved = true;
  c->reserved_line = line;
  c->held_until = now + c->cfg.hold;
}

bool coh_cache_unreserve(struct coh_cache *c, uint64_t line)
{
  bool was = coh_cache_reserved(c, line);
  c->reserved = false;
  return was;
}

/* Others wait for a line: only where nothing has to be asked for before it is stored to. */
static bool held(const struct coh_cache *c, const struct coh_entry *e, uint64_t line, picos now)
{
  return coh_cache_reserved(c, line) && now < c->held_until && e && (e->state == COH_ST_M || e->state == COH_ST_E);
}

/* --- operations, performed ----------------------------------------------------------------------- */

static void note(struct coh_cache *c, uint64_t line)
{
  struct coh_notes *o = c->notes;
  if (!o || (o->n && o->line[o->n - 1] == line)) return;
  if (o->n == COH_NOTES) o->full = true;
  else o->line[o->n++] = line;
}

static uint64_t update(const struct coh_cache *c, uint8_t *bytes, const struct coh_msg *op)
{
  uint64_t before = 0;
  memcpy(&before, bytes + op->offset, op->bytes);
  uint64_t after = c->cfg.atomic(op->op, op->bytes, before, op->operand, op->compare);
  memcpy(bytes + op->offset, &after, op->bytes);
  return before;
}

static struct coh_msg *reply_at(struct coh_cache *c, picos at)
{
  bool by_network = c->reply == &c->port->out[COH_REPLIES];
  return by_network ? coh_port_send(c->port, COH_REPLIES, at) : coh_queue_insert(c->reply, at);
}

/* On the line's bytes, of an operation whose right to them has been won. */
static struct coh_msg *perform(struct coh_cache *c, const struct coh_msg *op, const struct happening *h)
{
  struct coh_msg *m = reply_at(c, h->now + c->cfg.latency);
  uint8_t *bytes = h->entry ? bytes_of(c, h->entry) : NULL;
  m->line = op->line;
  m->id = op->id;
  m->kind = op->type;
  m->type = COH_DONE;
  m->flags = 0;
  m->from = c->port->node;
  m->to = op->from;
  m->operand = 0;
  if (op->type == COH_LOAD) memcpy(m->data, bytes, COH_LINE_BYTES);
  if (op->type == COH_LOAD && op->flags & COH_RESERVE) coh_cache_reserve(c, op->line, h->now);
  if (op->type == COH_STORE && op->flags & COH_CONDITIONAL) m->operand = !coh_cache_unreserve(c, op->line);
  if (op->type == COH_STORE && !m->operand) store(bytes, op);
  else if (op->type == COH_ATOMIC) m->operand = update(c, bytes, op);
  if (op->type != COH_LOAD && op->type != COH_ACQUIRE) note(c, op->line);
  if (c->cfg.performed) c->cfg.performed(c->cfg.ctx, c, op, bytes);
  return m;
}

/* Of the operation that has waited. */
static void finish(struct coh_cache *c, const struct happening *h)
{
  const struct coh_miss *w = miss_of(c, h->entry);
  struct coh_msg *reply = perform(c, &w->op, h);
  if (w->of_cache) reply->flags |= COH_OF_CACHE;
}

/* The operation, to the level above; the reply is for us, or for who asked us. */
static void pass(struct coh_cache *c, const struct happening *h)
{
  picos at = h->now + c->cfg.latency;
  struct coh_msg *m = coh_port_send(c->port, COH_OPS, at);
  *m = *h->msg;
  m->arrive = at;
  m->from = c->port->node;
  m->to = (uint16_t)above(c, h->line);
}

/* --- rows --------------------------------------------------------------------------------------- */

static void act(struct coh_cache *c, enum coh_action what, const struct happening *h)
{
  switch (what) {
  case COH_DO_NONE: break;
  case COH_DO_HIT: perform(c, h->msg, h); break;
  case COH_DO_FINISH: finish(c, h); break;
  case COH_DO_ASK_S: to_home(c, COH_REQUESTS, COH_GETS, h); break;
  case COH_DO_ASK_X: to_home(c, COH_REQUESTS, COH_GETX, h); break;
  case COH_DO_ASK_PUT: to_home(c, COH_REQUESTS, COH_PUT, h); break;
  case COH_DO_GIVE_S: answer(c, COH_DATA, COH_SHARED, h); break;
  case COH_DO_GIVE_X: answer(c, COH_DATA, 0, h); break;
  case COH_DO_SAY_ACK: answer(c, COH_ACK, 0, h); break;
  case COH_DO_SAY_SHARED: answer(c, COH_ACK, COH_SHARED, h); break;
  case COH_DO_GIVE_COPY: bytes_to_home(c, COH_COPY, h); break;
  case COH_DO_GIVE_BACK: bytes_to_home(c, COH_WB_DATA, h); break;
  case COH_DO_GIVE_NONE: to_home(c, COH_ENDS, COH_WB_NONE, h); break;
  case COH_DO_UNBLOCK_S: to_home(c, COH_ENDS, COH_UNBLOCK_S, h); break;
  case COH_DO_UNBLOCK_X: to_home(c, COH_ENDS, COH_UNBLOCK_X, h); break;
  case COH_DO_ASK_ABOVE:
  case COH_DO_PASS: pass(c, h); break;
  case COH_DO_WRITE_OWN: store(bytes_of(c, h->entry), h->msg); break;
  default: BUG_ON(true); /* of a home */
  }
}

static bool room_for(const struct coh_cache *c, unsigned nets)
{
  for (unsigned left = nets; left; left &= left - 1) {
    unsigned net = bits_first(left);
    if (net == COH_REPLIES ? coh_queue_full(c->reply) : coh_queue_full(&c->port->out[net])) return false;
  }
  return true;
}

static void enter(struct coh_cache *c, struct coh_entry *e, enum coh_state next)
{
  c->n_transient += !coh_state_rests[next];
  c->n_transient -= !coh_state_rests[e->state];
  if (coh_state_rests[next] && e->miss != NO_MISS) {
    miss_of(c, e)->used = false;
    e->miss = NO_MISS;
  }
  if (c->reserved && e->line == c->reserved_line && (!coh_state_holds[next] || next == COH_ST_MI)) c->reserved = false;
  e->state = (uint8_t)next;
}

/* False: there is no room for what it sends. */
static bool carry_out(struct coh_cache *c, int row, const struct happening *h)
{
  if (!room_for(c, c->protocol->nets[row])) return false;
  const struct coh_row *r = &c->protocol->row[row];
  for (unsigned i = 0; i < COH_ROW_ACTIONS; i++) act(c, r->action[i], h);
  if (h->entry) enter(c, h->entry, r->next);
  c->row_hits[row]++;
  return true;
}

static enum coh_state state_of(const struct coh_entry *e)
{
  return e ? e->state : COH_ST_I;
}

static int row_of(const struct coh_cache *c, const struct coh_entry *e, enum coh_event event)
{
  return coh_protocol_row(c->protocol, c->cfg.role, state_of(e), event);
}

/* --- operations that come ------------------------------------------------------------------------ */

/* A free place for a line that has none; NULL: not yet. What rests there goes, or begins to. */
static struct coh_entry *make_place(struct coh_cache *c, uint64_t line, picos now)
{
  struct coh_entry *e = place_for(c, line);
  if (!e || e->state == COH_ST_I) return e;
  struct happening h = {.entry = e, .line = e->line, .now = now};
  int row = row_of(c, e, COH_EV_REPLACE);
  BUG_ON(row < 0);
  if (!carry_out(c, row, &h)) return NULL;
  if (e->state == COH_ST_I) return e;
  c->stats.writebacks++;
  return NULL;
}

/* A line that is not here and shall be. */
static bool begin(struct coh_cache *c, int row, const struct coh_msg *op, picos now)
{
  struct happening h = {op, NULL, op->line, now};
  if (!miss_free(c) || !room_for(c, c->protocol->nets[row])) return false;
  h.entry = make_place(c, op->line, now);
  if (!h.entry) return false;
  *h.entry = (struct coh_entry){.line = op->line, .used = c->clock, .miss = NO_MISS, .state = COH_ST_I};
  bool taken = take_miss(c, h.entry, op) && carry_out(c, row, &h);
  BUG_ON(!taken);
  return true;
}

static void drop_unkept(struct coh_cache *c, const struct happening *all)
{
  size_t n = (size_t)c->cfg.sets * c->cfg.ways;
  for (size_t i = 0; i < n; i++) {
    struct coh_entry *e = &c->entry[i];
    int row = e->state == COH_ST_I ? -1 : row_of(c, e, COH_EV_ACQUIRE);
    struct happening h = {all->msg, e, e->line, all->now};
    if (row >= 0) carry_out(c, row, &h);
  }
}

static bool acquire(struct coh_cache *c, const struct coh_msg *op, picos now)
{
  struct happening h = {op, NULL, op->line, now};
  if (coh_queue_full(c->reply)) return false;
  if (c->cfg.role == COH_L1) drop_unkept(c, &h);
  perform(c, op, &h);
  return true;
}

/* On a line that is here, or that gets no place. */
static bool go_on(struct coh_cache *c, int row, struct coh_entry *e, const struct coh_msg *op, picos now)
{
  struct happening h = {op, e, op->line, now};
  bool waits = e && coh_state_rests[e->state] && !coh_state_rests[c->protocol->row[row].next];
  if (waits && (!room_for(c, c->protocol->nets[row]) || !take_miss(c, e, op))) return false;
  if (e) e->used = c->clock;
  return carry_out(c, row, &h);
}

static enum coh_event event_of_op(const struct coh_msg *op)
{
  return op->type == COH_LOAD ? COH_EV_LOAD : op->type == COH_STORE ? COH_EV_STORE : COH_EV_ATOMIC;
}

static bool atomic_fits(const struct coh_msg *op)
{
  return op->bytes && op->bytes <= 8 && !(op->bytes & (op->bytes - 1)) && op->offset + op->bytes <= COH_LINE_BYTES;
}

bool coh_cache_offer(struct coh_cache *c, const struct coh_msg *op, picos now)
{
  BUG_ON(op->type == COH_ATOMIC && !atomic_fits(op));
  if (op->type == COH_ACQUIRE) return acquire(c, op, now);
  struct coh_entry *e = find(c, op->line);
  int row = row_of(c, e, event_of_op(op));
  if (row < 0) return false;
  enum coh_state next = c->protocol->row[row].next;
  bool taken = !e && next != COH_ST_I ? begin(c, row, op, now) : go_on(c, row, e, op, now);
  if (!taken) return false;
  c->clock++;
  c->stats.ops++;
  if (!coh_state_rests[next]) c->stats.misses++;
  else if (e) c->stats.hits++;
  return true;
}

uint8_t *coh_cache_touch(struct coh_cache *c, uint64_t line, enum coh_type type)
{
  struct coh_entry *e = find(c, line);
  if (!e) return NULL;
  int row = row_of(c, e, event_of_op(&(struct coh_msg){.type = (uint8_t)type}));
  if (row < 0 || c->protocol->row[row].action[0] != COH_DO_HIT) return NULL;
  e->used = c->clock++;
  c->stats.ops++;
  c->stats.hits++;
  c->row_hits[row]++;
  enter(c, e, c->protocol->row[row].next);
  if (type != COH_LOAD) note(c, line);
  return bytes_of(c, e);
}

/* --- messages that come -------------------------------------------------------------------------- */

/* Counts an answer and takes its bytes; what it is as an event. Bytes that memory sent before it knew whether they
 * were current give way to any others, also to those that are here. */
static enum coh_event collect(struct coh_cache *c, struct coh_entry *e, const struct coh_msg *m)
{
  struct coh_miss *w = miss_of(c, e);
  w->acks += m->acks;
  w->counted |= m->flags & COH_BASE;
  w->shared |= m->flags & COH_SHARED;
  if (m->type == COH_DATA && (!(m->flags & COH_MEMORY) || !(w->filled || coh_state_holds[e->state]))) {
    if (!(m->flags & COH_BESIDE)) memcpy(bytes_of(c, e), m->data, COH_LINE_BYTES);
    w->filled |= !(m->flags & COH_MEMORY);
    w->of_cache |= m->from < c->cfg.n_caches;
  }
  if (!w->counted || w->acks) return COH_EV_PART;
  return w->shared ? COH_EV_LAST_SHARED : COH_EV_LAST_ALONE;
}

static bool take_answer(struct coh_cache *c, const struct coh_msg *m, picos now)
{
  struct happening h = {m, find(c, m->line), m->line, now};
  BUG_ON(!h.entry);
  /* Answers are sunk whatever comes: there must be room for the last one's consequences before it is counted. */
  if (!room_for(c, COH_BIT(ENDS) | COH_BIT(REPLIES))) return false;
  int row = row_of(c, h.entry, collect(c, h.entry, m));
  BUG_ON(row < 0);
  bool done = carry_out(c, row, &h);
  BUG_ON(!done);
  return true;
}

static bool take_forward(struct coh_cache *c, const struct coh_msg *m, picos now)
{
  static const uint8_t event[COH_TYPES] = {[COH_FWD_GETS] = COH_EV_FWD_GETS, [COH_FWD_GETX] = COH_EV_FWD_GETX,
                                           [COH_INV] = COH_EV_INV, [COH_WB_ACK] = COH_EV_WB_ACK,
                                           [COH_WB_NACK] = COH_EV_WB_NACK};
  struct happening h = {m, find(c, m->line), m->line, now};
  int row = row_of(c, h.entry, event[m->type]);
  BUG_ON(row < 0);
  if (held(c, h.entry, m->line, now) || !carry_out(c, row, &h)) return false;
  c->stats.forwards++;
  return true;
}

/* Of a store or an atomic that was passed on: to who gave it. */
static bool relay(struct coh_cache *c, const struct coh_msg *m, picos now)
{
  if (coh_queue_full(c->reply)) return false;
  struct coh_msg *r = reply_at(c, now + c->cfg.latency);
  picos at = r->arrive;
  *r = *m;
  r->arrive = at;
  return true;
}

static bool take_reply(struct coh_cache *c, const struct coh_msg *m, picos now)
{
  if (m->kind != COH_LOAD) return relay(c, m, now);
  struct happening h = {m, find(c, m->line), m->line, now};
  BUG_ON(!h.entry);
  int row = row_of(c, h.entry, COH_EV_DONE);
  BUG_ON(row < 0);
  if (!room_for(c, c->protocol->nets[row])) return false;
  memcpy(bytes_of(c, h.entry), m->data, COH_LINE_BYTES);
  return carry_out(c, row, &h);
}

typedef bool take_fn(struct coh_cache *, const struct coh_msg *, picos now);

static bool take_from(struct coh_cache *c, enum coh_net net, take_fn *take, picos now)
{
  struct coh_queue *q = &c->port->in[net];
  const struct coh_msg *m = coh_queue_front(q, now);
  if (!m || !take(c, m, now)) return false;
  coh_queue_pop(q);
  return true;
}

bool coh_cache_cycle(struct coh_cache *c, picos now)
{
  bool done = take_from(c, COH_REPLIES, take_reply, now);
  done |= take_from(c, COH_ANSWERS, take_answer, now);
  done |= take_from(c, COH_FORWARDS, take_forward, now);
  return take_from(c, COH_OPS, coh_cache_offer, now) || done;
}

picos coh_cache_next(const struct coh_cache *c, picos now)
{
  const struct coh_msg *m = coh_queue_front(&c->port->in[COH_FORWARDS], now);
  return m && held(c, find(c, m->line), m->line, now) ? c->held_until : TIME_NEVER;
}

/* --- looked at from outside ---------------------------------------------------------------------- */

bool coh_cache_busy(const struct coh_cache *c)
{
  return c->n_transient;
}

enum coh_state coh_cache_state(const struct coh_cache *c, uint64_t line)
{
  return state_of(find(c, line));
}

enum coh_state coh_cache_peek(const struct coh_cache *c, uint64_t line, const uint8_t **bytes)
{
  const struct coh_entry *e = find(c, line);
  *bytes = e && coh_state_holds[e->state] ? bytes_of(c, e) : NULL;
  return state_of(e);
}

/* A reservation does not outlast what somebody else stores. */
static void change_entry(struct coh_cache *c, struct coh_entry *e, coh_bytes_fn *change, void *ctx)
{
  uint8_t before[COH_LINE_BYTES];
  memcpy(before, bytes_of(c, e), sizeof before);
  change(ctx, e->line, bytes_of(c, e));
  if (coh_cache_reserved(c, e->line) && memcmp(before, bytes_of(c, e), sizeof before) != 0) c->reserved = false;
}

static void see_entry(struct coh_cache *c, struct coh_entry *e, bool current, coh_bytes_fn *see, void *ctx)
{
  bool known = c->cfg.role == COH_CACHE && (coh_state_holds[e->state] || (e->miss != NO_MISS && miss_of(c, e)->filled));
  if (!current) change_entry(c, e, see, ctx);
  else if (known) see(ctx, e->line, bytes_of(c, e));
}

void coh_cache_each(struct coh_cache *c, uint64_t first, uint64_t lines, bool current, coh_bytes_fn *see, void *ctx)
{
  size_t n = (size_t)c->cfg.sets * c->cfg.ways;
  if (c->cfg.memory) return; /* they are memory's */
  if (lines > n / 4) {
    for (size_t i = 0; i < n; i++)
      if (c->entry[i].state != COH_ST_I && c->entry[i].line - first < lines)
        see_entry(c, &c->entry[i], current, see, ctx);
    return;
  }
  for (uint64_t line = first; line - first < lines; line++) {
    struct coh_entry *e = find(c, line);
    if (e) see_entry(c, e, current, see, ctx);
  }
}

void coh_cache_dump(const struct coh_cache *c, FILE *out)
{
  size_t n = (size_t)c->cfg.sets * c->cfg.ways;
  for (size_t i = 0; i < n; i++) {
    const struct coh_entry *e = &c->entry[i];
    if (coh_state_rests[e->state]) continue;
    fprintf(out, "  cache %u: line 0x%" PRIx64 " is %s", c->port->node, e->line << COH_LINE_SHIFT,
            coh_state_name[e->state]);
    if (e->miss != NO_MISS) fprintf(out, ", %d answers to come", miss_of(c, e)->acks);
    fputc('\n', out);
  }
}
