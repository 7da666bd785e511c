#include "time/sm/page_wait.h"

void page_wait_open(struct page_wait *w, struct arena *a, const struct page_tables *t, struct translations *tlb,
                    uint32_t cap, picos way)
{
  *w = (struct page_wait){.tables = t, .tlb = tlb, .cap = cap, .generation = t->generation, .way = way};
  w->held = ARENA_ARRAY(a, struct mem_req, cap);
  QUEUE_INIT(&w->asks, a, struct page_msg, cap);
  QUEUE_INIT(&w->answers, a, struct page_msg, cap);
}

static uint64_t page_of(const struct page_wait *w, uint64_t line)
{
  return page_tables_page(w->tables, line_number(line) * LINE_BYTES);
}

static void forget(struct page_wait *w)
{
  if (w->generation == w->tables->generation) return;
  w->generation = w->tables->generation;
  w->last = 0;
  translations_clear(w->tlb);
}

bool page_wait_known(struct page_wait *w, uint64_t line)
{
  const uint64_t page = page_of(w, line);
  forget(w);
  if (w->last == page + 1) return true;
  if (translations_find(w->tlb, page) == TRANSLATIONS_NONE) return false;
  w->last = page + 1;
  return true;
}

static bool asked_for(const struct page_wait *w, uint64_t page)
{
  for (uint32_t i = w->n; i-- > 0;)
    if (page_of(w, w->held[i].line) == page) return true;
  return false;
}

void page_wait_hold(struct page_wait *w, const struct mem_req *r, picos at, struct sm_stats *s)
{
  const uint64_t page = page_of(w, r->line);
  BUG_ON(w->n == w->cap);
  if (!asked_for(w, page)) {
    page_queue_push(&w->asks, (struct page_msg){.arrive = at + w->way, .page = page});
    s->tlb_misses++;
  }
  w->held[w->n++] = *r;
}

static void release(struct page_wait *w, uint64_t page, picos now, struct req_queue *out)
{
  uint32_t stay = 0;
  for (uint32_t i = 0; i < w->n; i++) {
    struct mem_req r = w->held[i];
    if (page_of(w, r.line) != page) {
      w->held[stay++] = r;
      continue;
    }
    r.arrive = now + w->way;
    req_queue_push(out, r);
  }
  w->n = stay;
}

bool page_wait_answer(struct page_wait *w, picos now, struct req_queue *out, struct sm_stats *s)
{
  const struct page_msg *a = page_queue_front(&w->answers);
  if (!a || a->arrive > now) return false;
  const uint64_t page = a->page;
  forget(w);
  s->tlb_walks += a->walked;
  page_queue_pop(&w->answers);
  if (translations_find(w->tlb, page) == TRANSLATIONS_NONE) translations_fill(w->tlb, page);
  release(w, page, now, out);
  return true;
}
