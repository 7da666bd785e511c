#include "time/sm/copy_engine.h"

#include "time/sm/warp.h"

void copy_engine_init(struct copy_engine *e, struct arena *a, const struct params *p, unsigned txns)
{
  BUG_ON(p->copy_queue_entries > COPY_MAX_QUEUE);
  *e = (struct copy_engine){.entries = p->copy_queue_entries,
                            .start_cycles = p->copy_start_cycles,
                            .map_cycles = p->copy_map_cycles,
                            .request_cycles = p->copy_request_cycles,
                            .job = ARENA_ARRAY(a, struct copy_job, txns),
                            .max_jobs = txns,
                            .next_at = CYCLE_NEVER};
}

void copy_engine_take(struct copy_engine *e, uint16_t id, const struct inst *in, bool far, uint64_t now)
{
  struct copy_job *j = &e->job[id];
  BUG_ON(!copy_engine_has_room(e) || j->way != COPY_NONE || in->mem.copy == COPY_NONE);
  *j = (struct copy_job){.ready_at = now + e->start_cycles + (in->mem.copy_map ? e->map_cycles : 0),
                         .pc = in->pc, .way = in->mem.copy, .far = far};
  e->queue[(e->head + e->n++) % COPY_MAX_QUEUE] = id;
  e->n_jobs++;
  e->stats->copies[j->way - 1]++;
  if (e->n == 1) e->next_at = j->ready_at > e->free_at ? j->ready_at : e->free_at;
}

/* --- the end of a copy -------------------------------------------------------------------------- */

static void finish(struct copy_engine *e, uint16_t id, uint64_t now)
{
  e->job[id].way = COPY_NONE;
  e->n_jobs--;
  e->stats->copies_done++;
  e->ports.done(e->ports.ctx, id, now);
}

/* All requests are made and answered. Data for other CTAs have a way before them. */
static void complete(struct copy_engine *e, uint16_t id, uint64_t now)
{
  const struct copy_job *j = &e->job[id];
  bool to_shared = j->way == COPY_LOAD || j->way == COPY_SHARED;
  if (to_shared && j->far) {
    e->ports.deliver(e->ports.ctx, id, now);
    return;
  }
  if (to_shared && !e->ports.perform(e->ports.ctx, id)) return;
  finish(e, id, now);
}

static void array(struct copy_engine *e, unsigned bytes, uint64_t now)
{
  e->stats->copy_shared_bytes += bytes;
  e->ports.array(e->ports.ctx, bytes, now);
}

void copy_engine_answer(struct copy_engine *e, uint16_t id, unsigned sectors, uint64_t now)
{
  struct copy_job *j = &e->job[id];
  BUG_ON(j->way == COPY_NONE || !j->unanswered);
  e->stats->copy_answers++;
  if (j->way == COPY_LOAD) array(e, count_sectors(sectors) * SECTOR_BYTES, now);
  if (--j->unanswered == 0 && j->walked) complete(e, id, now);
}

void copy_engine_delivered(struct copy_engine *e, uint16_t id, uint64_t now)
{
  BUG_ON(e->job[id].way == COPY_NONE || !e->job[id].walked);
  finish(e, id, now);
}

/* --- the walk ----------------------------------------------------------------------------------- */

/* The request for the first `bytes` of what is left of the piece, which lie in one line. */
static struct txn_line line_of(const struct copy_job *j, unsigned bytes)
{
  unsigned from = (unsigned)(j->addr % LINE_BYTES), first = from / SECTOR_BYTES,
           last = (from + bytes - 1) / SECTOR_BYTES;
  struct txn_line l = {.line = j->addr / LINE_BYTES, .sectors = (uint8_t)((2u << last) - (1u << first))};
  l.words = words_within(from, from + bytes);
  if (j->way != COPY_REDUCE) return l;
  l.words = j->piece - 1; /* the slice asks for this piece of the copy (sm_perform) */
  l.repeats = 1;
  return l;
}

static void request(struct copy_engine *e, uint16_t id, unsigned bytes, uint64_t now)
{
  static const uint8_t kind[COPY__N] = {[COPY_LOAD] = REQ_READ, [COPY_PREFETCH] = REQ_READ, [COPY_STORE] = REQ_WRITE,
                                        [COPY_REDUCE] = REQ_STRONG};
  struct copy_job *j = &e->job[id];
  const struct txn_line l = line_of(j, bytes);
  if (j->way == COPY_STORE || j->way == COPY_REDUCE) array(e, bytes, now);
  if (j->way == COPY_STORE) e->stats->copy_written_sectors += count_sectors(l.sectors);
  e->stats->copy_requests++;
  e->stats->copy_sectors += count_sectors(l.sectors);
  j->unanswered++;
  e->ports.send(e->ports.ctx, id, (enum req_kind)kind[j->way], l, now);
}

/* Within shared memory: out of the own array, and into it or to the port. */
static void pass_on(struct copy_engine *e, const struct copy_job *j, unsigned bytes, uint64_t now)
{
  array(e, bytes, now);
  if (j->far) e->ports.leave(e->ports.ctx, bytes, now);
  else array(e, bytes, now);
}

static bool next_piece(struct copy_engine *e, uint16_t id)
{
  struct copy_job *j = &e->job[id];
  struct copy_piece p;
  uint32_t bytes;
  if (!e->ports.piece(e->ports.ctx, id, j->piece++, &p, &bytes)) return false;
  j->addr = p.addr;
  j->left = j->way == COPY_SHARED ? bytes : p.bytes;
  j->last = p.last;
  return true;
}

/* One request, or a piece that lies out of bounds. */
static void walk(struct copy_engine *e, uint16_t id, uint64_t now)
{
  struct copy_job *j = &e->job[id];
  unsigned room = LINE_BYTES - (unsigned)(j->way == COPY_SHARED ? 0 : j->addr % LINE_BYTES);
  unsigned bytes = j->left < room ? j->left : room;
  if (j->way == COPY_SHARED) pass_on(e, j, bytes, now);
  else if (bytes) request(e, id, bytes, now);
  j->addr += bytes;
  j->left -= bytes;
}

static void end_walk(struct copy_engine *e, uint16_t id, uint64_t now)
{
  struct copy_job *j = &e->job[id];
  e->head = (e->head + 1) % COPY_MAX_QUEUE;
  e->n--;
  j->walked = true;
  if (j->way == COPY_STORE && !e->ports.perform(e->ports.ctx, id)) return;
  if (!j->unanswered) complete(e, id, now);
}

void copy_engine_cycle(struct copy_engine *e, uint64_t now)
{
  e->next_at = CYCLE_NEVER;
  if (!e->n) return;
  uint16_t id = e->queue[e->head];
  struct copy_job *j = &e->job[id];
  uint64_t at = j->ready_at > e->free_at ? j->ready_at : e->free_at;
  if (at > now) {
    e->next_at = at;
    return;
  }
  if (!e->ports.room(e->ports.ctx, now)) {
    e->stats->copy_stalls++;
    e->next_at = now + 1;
    return;
  }
  if (!j->left && !next_piece(e, id)) return; /* a guest fault */
  walk(e, id, now);
  e->free_at = now + e->request_cycles;
  e->stats->copy_walk_cycles += e->request_cycles;
  if (!j->left && j->last) end_walk(e, id, now);
  if (!e->n) return;
  j = &e->job[e->queue[e->head]];
  e->next_at = j->ready_at > e->free_at ? j->ready_at : e->free_at;
}

void copy_engine_dump(const struct copy_engine *e, FILE *out)
{
  static const char *const name[COPY__N] = {"", "load", "store", "reduction", "copy between CTAs", "prefetch"};
  for (unsigned i = 0; e->n_jobs && i < e->max_jobs; i++) {
    const struct copy_job *j = &e->job[i];
    if (j->way == COPY_NONE) continue;
    fprintf(out, "    asynchronous copy engine: %s of pc 0x%llx, %s, %u requests unanswered\n", name[j->way],
            (unsigned long long)j->pc, !j->walked ? "not all requested" : j->unanswered ? "requested" : "on its way",
            j->unanswered);
  }
}
