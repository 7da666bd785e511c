#include "time/link/wire.h"

#include "base/arith.h"
#include "base/host_memory.h"
#include "time/link/link_port.h"

void wire_init(struct wire *w, const struct wire_config *cfg)
{
  *w = (struct wire){.cfg = *cfg};
  if (!cfg->copy_packet_bytes) w->cfg.copy_packet_bytes = cfg->packet_bytes;
  for (unsigned c = 0; c < LINK_CLASSES; c++) w->credit[c] = cfg->credits;
}

void wire_free(struct wire *w)
{
  for (unsigned c = 0; c < LINK_CLASSES; c++) link_ring_free(&w->waiting[c]);
  mem_free(w->back);
}

/* --- packets and credits ------------------------------------------------------------------------ */

static uint32_t packets(const struct wire *w, const struct link_msg *m)
{
  if (m->kind == LINK_DONE) return 0;
  const uint32_t most = m->port == LINK_PORT_DMA ? w->cfg.copy_packet_bytes : w->cfg.packet_bytes;
  return m->payload ? (uint32_t)div_up(m->payload, most) : 1;
}

/* Credits that it takes. */
static uint32_t price(const struct wire *w, const struct link_msg *m)
{
  return (uint32_t)earlier(packets(w, m), w->cfg.credits);
}

bool wire_give_back(struct wire *w, const struct link_msg *m, picos at)
{
  struct wire_credit c = {at + w->cfg.latency, price(w, m), link_msg_class(m->kind)};
  if (!c.packets) return false;
  w->back = mem_more(w->back, w->n_back, &w->room_back, sizeof *w->back);
  uint32_t i = w->n_back++;
  for (; i > 0 && w->back[i - 1].at <= c.at; i--) w->back[i] = w->back[i - 1];
  w->back[i] = c;
  return w->waiting[c.class].n;
}

static void take_credits(struct wire *w, picos now)
{
  for (; w->n_back && w->back[w->n_back - 1].at <= now; w->n_back--) {
    const struct wire_credit *c = &w->back[w->n_back - 1];
    w->credit[c->class] += c->packets;
  }
}

/* --- messages ----------------------------------------------------------------------------------- */

void wire_push(struct wire *w, const struct link_msg *m, const void *body)
{
  link_ring_push(&w->waiting[link_msg_class(m->kind)], m, body);
}

/* When there are so many credits of a class, with those that are on their way. */
static picos paid(const struct wire *w, enum link_class class, uint32_t packets)
{
  uint32_t credit = w->credit[class];
  if (packets <= credit) return w->now;
  for (uint32_t i = w->n_back; i-- > 0;) {
    if (w->back[i].class != class) continue;
    credit += w->back[i].packets;
    if (packets <= credit) return w->back[i].at;
  }
  return TIME_NEVER;
}

/* When the first message of a class can go, as far as is known. */
static picos ready(const struct wire *w, enum link_class class)
{
  const struct link_msg *m = link_ring_front(&w->waiting[class]);
  if (!m) return TIME_NEVER;
  if (class == LINK_ACKS && !w->cfg.ack_bytes) return later(w->now, m->arrive);
  return later(later(w->now, paid(w, class, price(w, m))), later(m->arrive, div_up(w->free_at_fs, 1000)));
}

picos wire_next(const struct wire *w)
{
  return earlier(ready(w, LINK_ACKS), earlier(ready(w, LINK_REQUESTS), ready(w, LINK_ANSWERS)));
}

/* Whose turn it is at `now`; LINK_CLASSES: nobody's. */
static enum link_class arbitrate(const struct wire *w, picos now)
{
  if (ready(w, LINK_ACKS) <= now) return LINK_ACKS;
  const bool request = ready(w, LINK_REQUESTS) <= now, answer = ready(w, LINK_ANSWERS) <= now;
  if (request && answer) return w->ahead < 0 ? LINK_REQUESTS : LINK_ANSWERS;
  return request ? LINK_REQUESTS : answer ? LINK_ANSWERS : LINK_CLASSES;
}

/* n packets of a class go: they count while the other class waits, too. */
static void take_turn(struct wire *w, enum link_class class, uint32_t n, picos now)
{
  if (class == LINK_ACKS) return;
  const bool both = ready(w, class == LINK_REQUESTS ? LINK_ANSWERS : LINK_REQUESTS) <= now;
  const int64_t step = class == LINK_REQUESTS ? (int64_t)n : -(int64_t)n;
  w->ahead = both ? w->ahead + step : 0;
}

struct link_msg *wire_send(struct wire *w, picos now, struct wire_passage *p)
{
  w->now = now;
  take_credits(w, now);
  const enum link_class class = arbitrate(w, now);
  if (class == LINK_CLASSES) return NULL;
  struct link_msg *m = link_ring_front(&w->waiting[class]);
  uint32_t n = packets(w, m);
  take_turn(w, class, n, now);
  uint64_t bytes = class == LINK_ACKS ? w->cfg.ack_bytes : m->payload + (uint64_t)n * w->cfg.overhead_bytes;
  w->stats.messages++;
  w->stats.packets += n;
  w->stats.payload += m->payload;
  w->stats.bytes += bytes;
  w->stats.waited += now - m->arrive;
  w->credit[class] -= price(w, m);
  *p = (struct wire_passage){now + w->cfg.latency, later(now, m->last) + w->cfg.latency};
  if (class == LINK_ACKS && !bytes) return m;
  w->free_at_fs = later(later(w->free_at_fs, now * 1000) + bytes * w->cfg.femtos_per_byte, m->last * 1000);
  p->tail = div_up(w->free_at_fs, 1000) + w->cfg.latency;
  return m;
}

void wire_pop(struct wire *w, const struct link_msg *m)
{
  link_ring_pop(&w->waiting[link_msg_class(m->kind)]);
}

bool wire_busy(const struct wire *w)
{
  for (unsigned c = 0; c < LINK_CLASSES; c++)
    if (w->waiting[c].n) return true;
  return false;
}
