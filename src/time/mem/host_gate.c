#include "time/mem/host_gate.h"

#include <string.h>

#include "base/arith.h"
#include "time/link/link_port.h"

enum { ROOM = 4096 };

/* What a core sends of a line, with its body. */
struct host_kept {
  struct link_msg msg;
  union {
    struct link_store store;
    struct {
      struct link_bytes line;
      struct line_op op;
    } atomic;
  } body;
};

_Static_assert(offsetof(struct host_kept, body) == sizeof(struct link_msg), "the body follows its header");

void host_gate_init(struct host_gate *h, struct host_mem *host, struct fabric *f, struct l2_rights *rights)
{
  *h = (struct host_gate){.host = host, .fabric = f, .n_spare = ROOM};
  l2_rights_open(rights, 1);
  l2_gate_init(&h->gate, &h->arena, rights, 0, ROOM);
  h->kept = ARENA_ARRAY(&h->arena, struct host_kept, ROOM);
  h->spare = ARENA_ARRAY(&h->arena, uint16_t, ROOM);
  for (unsigned i = 0; i < ROOM; i++) h->spare[i] = (uint16_t)i;
}

void host_gate_free(struct host_gate *h)
{
  arena_free(&h->arena);
}

/* --- messages ----------------------------------------------------------------------------------- */

static unsigned sectors_between(uint64_t addr, uint64_t bytes)
{
  const unsigned first = addr % LINE_BYTES / SECTOR_BYTES;
  const uint64_t last = (addr % LINE_BYTES + bytes - 1) / SECTOR_BYTES;
  unsigned mask = 0;
  for (unsigned i = first; i <= last && i < SECTORS_PER_LINE; i++) mask |= 1u << i;
  return mask;
}

/* Sectors that a message touches. */
static unsigned sectors_of(const struct link_msg *m)
{
  enum { ALL = (1 << SECTORS_PER_LINE) - 1, LOWER = 3, UPPER = 12 };
  const struct link_bytes *b = link_msg_body(m);
  const struct link_store *s = link_msg_body(m);
  if (m->kind == LINK_STORE) return (s->mask[0] ? LOWER : 0u) | (s->mask[1] ? UPPER : 0u);
  return m->kind == LINK_READ && b->n ? sectors_between(b->addr, b->n) : ALL;
}

static unsigned op_of(const struct link_msg *m)
{
  return m->kind == LINK_READ ? MEM_LOAD : m->kind == LINK_STORE ? MEM_STORE : MEM_ATOMIC;
}

/* A core's, of one line. */
static bool is_gated(const struct link_msg *m)
{
  return m->port == LINK_PORT_CORES && m->kind <= LINK_ATOMIC && m->body <= sizeof(((struct host_kept *)0)->body);
}

static void keep(struct host_gate *h, const struct link_msg *m, unsigned slot)
{
  struct host_kept *k = &h->kept[slot];
  k->msg = *m;
  memcpy(&k->body, link_msg_body(m), m->body);
}

picos host_gate_serve(void *ctx, struct fabric *f, const struct link_msg *m, picos now)
{
  struct host_gate *h = ctx;
  unsigned lost;
  if (!is_gated(m) || !h->n_spare) return host_mem_serve(h->host, f, m, now);
  const uint16_t slot = h->spare[h->n_spare - 1];
  const struct mem_req r = {.arrive = now, .line = m->line, .local = m->line, .txn = slot, .kind = REQ_STRONG,
                            .op = (uint8_t)op_of(m), .sectors = (uint8_t)sectors_of(m)};
  if (l2_gate_check(&h->gate, &r, now, &lost) != L2_GATE_WAITS) return host_mem_serve(h->host, f, m, now);
  keep(h, m, slot);
  h->n_spare--;
  if (h->wake) *h->wake = earlier(*h->wake, h->to);
  return now; /* the port has it: the link's buffers are free */
}

/* --- part --------------------------------------------------------------------------------------- */

/* What may go on now. */
static void go_on(struct host_gate *h, picos now)
{
  for (const struct l2_parked *p; (p = l2_gate_ready(&h->gate)); l2_gate_pop(&h->gate)) {
    const uint16_t slot = p->req.txn;
    host_mem_serve(h->host, h->fabric, &h->kept[slot].msg, now);
    h->spare[h->n_spare++] = slot;
    h->served++;
  }
}

static picos host_gate_run(void *self, picos from, picos to)
{
  struct host_gate *h = self;
  struct l2_rights *r = h->gate.rights;
  uint64_t local;
  unsigned sectors;
  h->to = to;
  for (const struct l2_grant *g; (g = l2_rights_granted(r, 0)) && later(g->at, from) < to;) {
    const struct l2_grant granted = *g;
    const picos at = later(granted.at, from);
    l2_rights_pop(r, 0);
    l2_gate_grant(&h->gate, &granted, at, &local, &sectors);
    go_on(h, at);
  }
  if (l2_gate_waits(&h->gate)) l2_gate_end_window(&h->gate, to);
  go_on(h, to);
  return l2_gate_waits(&h->gate) || l2_rights_granted(r, 0) ? to : TIME_NEVER;
}

static uint64_t host_gate_progress(const void *self)
{
  return ((const struct host_gate *)self)->served;
}

static bool host_gate_busy(const void *self)
{
  return l2_gate_waits(&((const struct host_gate *)self)->gate);
}

static void host_gate_dump(const void *self, FILE *out)
{
  const struct host_gate *h = self;
  if (h->gate.n_parked) fprintf(out, "  port of a socket: %u requests wait for rights\n", h->gate.n_parked);
}

const struct part_ops host_gate_ops = {host_gate_run, host_gate_progress, host_gate_busy, host_gate_dump};
