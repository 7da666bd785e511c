#include "time/mem/mmu.h"

#include "base/arith.h"

enum { WAYS = 16 };

void mmu_init(struct mmu *m, struct arena *a, struct page_tables *t, unsigned n_cores, picos back)
{
  BUG_ON(!t->walkers);
  *m = (struct mmu){.tables = t, .back = back, .n_cores = n_cores, .generation = t->generation};
  translations_init(&m->tlb, a, t->entries, WAYS);
  translations_init(&m->walks, a, t->walk_entries, t->walk_entries);
  m->walker = ARENA_ARRAY(a, picos, t->walkers);
  m->port = ARENA_ARRAY(a, struct mmu_port, n_cores);
}

/* --- walks -------------------------------------------------------------------------------------- */

/* The table above a page, by level: what the walk cache knows it by. */
static uint64_t table_above(uint64_t page, unsigned level)
{
  return (page >> 1 >> PAGE_TABLE_BITS * level) << 3 | level << 1 | (page & 1);
}

/* Entries to be read: from below the lowest table that the walk cache knows; the tables on the way are known then. */
static unsigned entries_to_read(struct mmu *m, uint64_t page)
{
  unsigned n = 1;
  while (n < PAGE_TABLE_LEVELS && translations_find(&m->walks, table_above(page, n)) == TRANSLATIONS_NONE) n++;
  for (unsigned level = n; level-- > 1;) translations_fill(&m->walks, table_above(page, level));
  return n;
}

static picos *free_walker(struct mmu *m)
{
  picos *best = &m->walker[0];
  for (uint32_t i = 1; i < m->tables->walkers; i++)
    if (m->walker[i] < *best) best = &m->walker[i];
  return best;
}

/* The page is there when the operating system has brought it: one at a time. */
static picos fault(struct mmu *m, picos at)
{
  m->tables->stats.faults++;
  m->system_until = later(at, m->system_until) + m->tables->fault_ps;
  return m->system_until + m->tables->read_ps;
}

/* When the walk that is asked for at `at` has ended. */
static picos walk(struct mmu *m, uint64_t page, picos at)
{
  struct page_tables *t = m->tables;
  picos *walker = free_walker(m);
  const picos from = later(at, *walker);
  const unsigned n = entries_to_read(m, page);
  t->stats.walks++;
  t->stats.reads += n;
  t->stats.queued_ps += from - at;
  picos end = from + n * t->read_ps;
  *walker = end; /* not while the system brings the page */
  const uint64_t addr = page_tables_addr(t, page);
  if (addr < t->end && t->touch && !t->touch(t->ctx, addr)) end = fault(m, end);
  return end;
}

/* --- asks --------------------------------------------------------------------------------------- */

/* Behind those that come no later. */
static void answer(struct page_queue *q, struct page_msg a)
{
  page_queue_push(q, a);
  for (uint32_t i = q->n - 1; i; i--) {
    struct page_msg *here = &q->slot[(q->head + i) & (q->cap - 1)];
    struct page_msg *before = &q->slot[(q->head + i - 1) & (q->cap - 1)];
    if (before->arrive <= a.arrive) break;
    *here = *before;
    *before = a;
  }
}

static void take(struct mmu *m, const struct mmu_port *p, const struct page_msg *ask)
{
  struct page_tables *t = m->tables;
  const picos looked = ask->arrive + t->shared_ps;
  uint32_t i = translations_find(&m->tlb, ask->page);
  const bool known = i != TRANSLATIONS_NONE;
  t->stats.asks++;
  t->stats.shared_hits += known;
  picos end = known ? later(looked, m->tlb.ready[i]) : walk(m, ask->page, looked);
  if (!known) m->tlb.ready[translations_fill(&m->tlb, ask->page)] = end;
  answer(p->answers, (struct page_msg){.arrive = end + m->back, .page = ask->page, .walked = !known});
}

/* The core whose ask comes next; n_cores: none before `to`. */
static unsigned next_core(const struct mmu *m, picos to)
{
  unsigned best = m->n_cores;
  for (unsigned i = 0; i < m->n_cores; i++) {
    const struct page_msg *a = m->port[i].asks ? page_queue_front(m->port[i].asks) : NULL;
    if (!a || a->arrive >= to) continue;
    if (best == m->n_cores || a->arrive < page_queue_front(m->port[best].asks)->arrive) best = i;
  }
  return best;
}

static void forget(struct mmu *m)
{
  if (m->generation == m->tables->generation) return;
  m->generation = m->tables->generation;
  m->tables->stats.flushes++;
  translations_clear(&m->tlb);
  translations_clear(&m->walks);
}

/* --- part --------------------------------------------------------------------------------------- */

static picos mmu_run(void *self, picos from, picos to)
{
  struct mmu *m = self;
  picos next = TIME_NEVER;
  (void)from;
  forget(m);
  for (unsigned i; (i = next_core(m, to)) < m->n_cores;) {
    take(m, &m->port[i], page_queue_front(m->port[i].asks));
    page_queue_pop(m->port[i].asks);
  }
  for (unsigned i = 0; i < m->n_cores; i++)
    if (m->port[i].asks && m->port[i].asks->n) next = earlier(next, page_queue_front(m->port[i].asks)->arrive);
  return next;
}

static uint64_t mmu_progress(const void *self)
{
  return ((const struct mmu *)self)->tables->stats.asks;
}

static bool mmu_busy(const void *self)
{
  const struct mmu *m = self;
  for (unsigned i = 0; i < m->n_cores; i++)
    if (m->port[i].asks && (m->port[i].asks->n || m->port[i].answers->n)) return true;
  return false;
}

static void mmu_dump(const void *self, FILE *out)
{
  const struct mmu *m = self;
  for (unsigned i = 0; i < m->n_cores; i++)
    if (m->port[i].asks && (m->port[i].asks->n || m->port[i].answers->n))
      fprintf(out, "  translation: %u pages asked for by core %u, %u answers on their way\n", m->port[i].asks->n, i,
              m->port[i].answers->n);
}

const struct part_ops mmu_ops = {mmu_run, mmu_progress, mmu_busy, mmu_dump};
