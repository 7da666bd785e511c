#include "time/link/cast_table.h"

#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

void cast_table_init(struct cast_table *t, unsigned entries, line_reduce_fn *reduce)
{
  *t = (struct cast_table){.entries = entries, .n_spare = entries, .reduce = reduce};
  t->entry = mem_zeroed(entries, sizeof *t->entry);
  t->spare = mem_zeroed(entries, sizeof *t->spare);
  for (unsigned i = 0; i < entries; i++) t->spare[i] = entries - 1 - i;
}

void cast_table_free(struct cast_table *t)
{
  mem_free(t->entry);
  mem_free(t->spare);
  link_ring_free(&t->held);
}

static bool is_load(const struct cast_entry *e)
{
  return e->m.kind == LINK_READ;
}

uint32_t cast_table_enter(struct cast_table *t, const struct link_msg *m)
{
  BUG_ON(!t->n_spare || m->body < sizeof(struct link_team));
  const uint32_t number = t->spare[--t->n_spare], rest = m->body - (uint32_t)sizeof(struct link_team);
  const uint8_t *body = link_msg_body(m);
  struct cast_entry *e = &t->entry[number];
  BUG_ON(rest > sizeof e->body);
  e->m = *m;
  memcpy(&e->team, body, sizeof e->team);
  BUG_ON(e->team.n > MULTICAST_LEGS);
  e->pending = e->team.n;
  e->failed = false;
  memcpy(e->body, body + sizeof e->team, rest);
  if (is_load(e)) memset(e->line, 0, e->team.n * sizeof *e->line);
  return number;
}

struct link_msg cast_table_leg(const struct cast_table *t, uint32_t number, unsigned i, uint8_t *body)
{
  const struct cast_entry *e = &t->entry[number];
  struct link_bytes at;
  struct link_msg m = e->m;
  /* What a load wants of each line is for the switch alone. */
  m.body = m.kind == LINK_READ ? (uint32_t)sizeof at : e->m.body - (uint32_t)sizeof e->team;
  BUG_ON(m.body > CAST_BODY_MAX);
  memcpy(body, e->body, m.body);
  memcpy(&at, body, sizeof at);
  at.addr = e->team.leg[i].line + at.addr % LINE_OP_BYTES;
  memcpy(body, &at, sizeof at);
  m.to = e->team.leg[i].node;
  m.tag = number;
  m.legs = false;
  m.wire = WIRE_NONE;
  return m;
}

static unsigned leg_of(const struct cast_entry *e, unsigned node)
{
  unsigned i = 0;
  while (i < e->team.n && e->team.leg[i].node != node) i++;
  BUG_ON(i == e->team.n);
  return i;
}

bool cast_table_answer(struct cast_table *t, const struct link_msg *m)
{
  struct cast_entry *e = &t->entry[m->tag];
  struct link_bytes at;
  memcpy(&at, e->body, sizeof at);
  const bool whole = m->body == (is_load(e) ? at.n : 0);
  if (!whole) e->failed = true;
  else if (is_load(e)) memcpy(e->line[leg_of(e, m->from)] + at.addr % LINE_OP_BYTES, link_msg_body(m), m->body);
  return --e->pending == 0;
}

/* The bytes that were asked for, of all lines. */
static void reduce(const struct cast_table *t, const struct cast_entry *e, uint8_t *bytes)
{
  struct link_bytes at;
  struct line_op op;
  uint8_t out[LINE_OP_BYTES] = {0};
  const size_t rest = e->m.body - sizeof e->team - sizeof at;
  memcpy(&at, e->body, sizeof at);
  memcpy(&op, e->body + sizeof at, rest < sizeof op ? rest : sizeof op);
  t->reduce(&op, e->team.n, e->line, out);
  memcpy(bytes, out + at.addr % LINE_OP_BYTES, at.n);
}

struct link_msg cast_table_leave(struct cast_table *t, uint32_t number, uint8_t *bytes)
{
  const struct cast_entry *e = &t->entry[number];
  const bool load = is_load(e);
  struct link_bytes at;
  memcpy(&at, e->body, sizeof at);
  const uint32_t n = load ? (uint32_t)at.n : 0;
  struct link_msg m = {.line = e->m.line, .payload = n, .tag = e->m.tag, .from = e->m.to, .to = e->m.from,
                       .wire = WIRE_NONE, .kind = load ? LINK_DATA : LINK_DONE, .port = e->m.port};
  m.body = !e->failed ? n : load ? 0 : 1;
  if (load && !e->failed) reduce(t, e, bytes);
  else bytes[0] = 0;
  t->spare[t->n_spare++] = number;
  return m;
}

bool cast_table_busy(const struct cast_table *t)
{
  return t->n_spare < t->entries || t->held.n;
}
