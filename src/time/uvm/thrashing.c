#include "time/uvm/thrashing.h"

#include "base/host_memory.h"

enum { PS_PER_US = 1000000, VOTES = 32, MOVES_MAX = 7, NAPS_MAX = 255 };

static picos lapses(const struct thrash_rules *x, uint32_t n)
{
  return (picos)n * x->params->uvm_thrash_lapse_us * PS_PER_US;
}

void thrash_init(struct thrash_rules *x, const struct params *p, unsigned n)
{
  *x = (struct thrash_rules){.params = p, .n = n};
  x->lapse = lapses(x, 1);
}

void thrash_free(struct thrash_block *b)
{
  if (!b) return;
  mem_free(b->page);
  mem_free(b);
}

/* Since then; times of several clocks need not be in order. */
static picos since(picos then, picos now)
{
  return now > then ? now - then : 0;
}

static unsigned threshold(const struct thrash_rules *x)
{
  return x->params->uvm_thrash_threshold;
}

/* --- forgetting --------------------------------------------------------------------------------- */

static void unpin(struct thrash_block *b, unsigned page)
{
  struct page_set one = {{0}};
  page_set_add(&one, page);
  page_set_remove(&b->pins, &one);
  b->page[page].pinned = THRASH_NOBODY;
}

static void end_nap(struct thrash_page *g)
{
  g->put_off = 0;
  g->nap_end = 0;
}

static void forget(struct thrash_block *b, unsigned page)
{
  struct thrash_page *g = &b->page[page];
  struct page_set one = {{0}};
  if (g->put_off) end_nap(g);
  unpin(b, page);
  g->last = 0;
  g->moves = 0;
  g->fighters = 0;
  g->revoked = false;
  page_set_add(&one, page);
  page_set_remove(&b->thrashing, &one);
}

void thrash_forget(struct thrash_block *b, const struct page_set *s)
{
  if (!b || !b->page) return;
  const struct page_set known = page_set_both(s, &b->thrashing);
  for (unsigned first = 0, n; (n = page_set_run(&known, &first)) != 0; first += n)
    for (unsigned i = 0; i < n; i++) forget(b, first + i);
}

/* A block that has been quiet for long begins anew, unless it has done so too often. */
static bool forget_block(const struct thrash_rules *x, struct thrash_block *b, picos now)
{
  if (!b->last_thrashing || since(b->last_thrashing, now) <= lapses(x, x->params->uvm_thrash_epoch) ||
      !page_set_empty(&b->pins) || b->resets >= x->params->uvm_thrash_resets)
    return false;
  const uint8_t resets = (uint8_t)(b->resets + 1);
  mem_free(b->page);
  *b = (struct thrash_block){.last_processor = THRASH_NOBODY, .resets = resets};
  return true;
}

/* --- moves -------------------------------------------------------------------------------------- */

/* Whether pages are counted: not before two processors have had moves within a lapse. */
static bool counts(const struct thrash_rules *x, struct thrash_block *b, int to, picos now)
{
  if (b->page) return true;
  if (!b->last || b->last_processor == to || since(b->last, now) > x->lapse) return false;
  b->page = mem_zeroed(UVM_BLOCK_PAGES, sizeof *b->page);
  for (unsigned i = 0; i < UVM_BLOCK_PAGES; i++) b->page[i].pinned = b->page[i].served = THRASH_NOBODY;
  return true;
}

static void count(const struct thrash_rules *x, struct thrash_block *b, int of, unsigned page, bool revoked, picos now)
{
  struct thrash_page *g = &b->page[page];
  const picos last = g->last;
  g->fighters |= thrash_bit(of);
  g->last = now;
  if (!last) return;
  if (since(last, now) <= x->lapse) {
    g->revoked |= revoked;
    if (g->moves < MOVES_MAX) g->moves++;
    if (g->moves >= threshold(x)) {
      page_set_add(&b->thrashing, page);
      b->last_thrashing = now;
    }
  } else if (g->moves >= threshold(x) && g->pinned < 0) {
    forget(b, page);
  }
}

/* Something that counts happens to pages of a processor. */
static void note(struct thrash_rules *x, struct thrash_block *b, int of, const struct page_set *s, bool revoked,
                 picos now)
{
  if (counts(x, b, of, now))
    for (unsigned first = 0, n; (n = page_set_run(s, &first)) != 0; first += n)
      for (unsigned i = 0; i < n; i++) count(x, b, of, first + i, revoked, now);
  b->last = now;
  b->last_processor = (int8_t)of;
}

static struct thrash_block *made(struct thrash_block **block)
{
  if (!*block) {
    *block = mem_zeroed(1, sizeof **block);
    (*block)->last_processor = THRASH_NOBODY;
  }
  return *block;
}

void thrash_moved(struct thrash_rules *x, struct thrash_block **block, int to, const struct page_set *s, picos now)
{
  if (!threshold(x) || page_set_empty(s)) return;
  struct thrash_block *b = made(block);
  struct page_set free = *s;
  page_set_remove(&free, &b->pins); /* these move because they are pinned */
  if (!page_set_empty(&free)) note(x, b, to, &free, false, now);
}

void thrash_revoked(struct thrash_rules *x, struct thrash_block **block, int from, const struct page_set *s, picos now)
{
  if (threshold(x) && !page_set_empty(s)) note(x, made(block), from, s, true, now);
}

/* --- faults ------------------------------------------------------------------------------------- */

/* Whether all that fight for the page can have it mapped at that processor. */
static bool all_reach(const struct thrash_rules *x, const uint32_t *reaches, uint32_t fighters, int at)
{
  for (unsigned k = 0; at >= 0 && k < x->n; k++)
    if (fighters >> k & 1 && !(reaches[k] >> at & 1)) return false;
  return at >= 0;
}

/* The processor that all of them reach and that is nearest to one of them, GPUs first; none: itself. */
static int common_place(const struct thrash_rules *x, uint32_t fighters, int by)
{
  uint32_t common = UINT32_MAX;
  for (unsigned k = 0; k < x->n; k++)
    if (fighters >> k & 1) common &= x->reaches[k];
  if (!common || common >> by & 1) return by;
  const uint32_t near[] = {common & x->fast[by], common & x->reaches[by], common};
  for (unsigned i = 0; i < sizeof near / sizeof *near; i++)
    if (near[i]) return near[i] & ~UINT32_C(1) ? __builtin_ctz(near[i] & ~UINT32_C(1)) : THRASH_HOST;
  return by;
}

static struct thrash_hint pin_at(int at)
{
  return (struct thrash_hint){.kind = THRASH_PIN, .at = at};
}

/* Fault on a page that is pinned. */
static struct thrash_hint fault_on_pin(const struct thrash_rules *x, const struct thrash_page *g, int by)
{
  if (g->served == by) return pin_at(all_reach(x, x->reaches, g->fighters, by) ? by : common_place(x, g->fighters, by));
  if (x->reaches[by] >> g->pinned & 1) return pin_at(g->pinned);
  return (struct thrash_hint){.kind = THRASH_PUT_OFF};
}

/* … of the processor at which the program wants the page, and others cannot reach it there. */
static struct thrash_hint fault_of_preferred(const struct thrash_rules *x, const struct thrash_page *g, int by)
{
  const struct thrash_hint put_off = {.kind = THRASH_PUT_OFF};
  if (g->pinned >= 0) return g->pinned == by || g->served == by ? pin_at(by) : put_off;
  if (g->served != by) return put_off;
  return g->naps >= x->params->uvm_thrash_naps ? pin_at(by) : (struct thrash_hint){.kind = THRASH_SERVE};
}

static struct thrash_hint hint_of(const struct thrash_rules *x, const struct thrash_page *g, int by, int is_at,
                                  int prefers)
{
  const struct thrash_hint serve = {.kind = THRASH_SERVE};
  const bool wanted = prefers >= 0 && g->fighters >> prefers & 1;
  if (all_reach(x, x->reaches, g->fighters, prefers)) return pin_at(prefers);
  if (!wanted && all_reach(x, x->fast, g->fighters, is_at)) {
    if (is_at != THRASH_HOST || !all_reach(x, x->reaches, g->fighters, by)) return pin_at(is_at);
    return by == THRASH_HOST ? serve : pin_at(by); /* the host may have the GPU's memory in its caches */
  }
  if (by == prefers) return fault_of_preferred(x, g, by);
  if (g->pinned >= 0) return fault_on_pin(x, g, by);
  if (g->served != by) return (struct thrash_hint){.kind = THRASH_PUT_OFF};
  return g->naps >= x->params->uvm_thrash_naps ? pin_at(by) : serve;
}

/* Nearly all faults on pages that thrash come soon behind the last move. */
static void adjust_lapse(struct thrash_rules *x, picos lapse)
{
  const picos most = (picos)x->params->uvm_thrash_lapse_max_us * PS_PER_US;
  if (lapse < x->lapse && x->vote > INT8_MIN) x->vote--;
  if (lapse >= x->lapse && x->vote < INT8_MAX) x->vote++;
  if ((x->vote >= 0 && x->vote < VOTES) || x->lapse >= most) return;
  x->lapse += earlier(x->lapse / 8, most / 10);
  x->vote /= 2;
}

/* Who is served in the nap under way, or in one that begins. */
static void choose(const struct thrash_rules *x, struct thrash_page *g, int by, picos now)
{
  if (now > g->nap_end) {
    g->nap_end = now + lapses(x, x->params->uvm_thrash_nap);
    g->served = g->served == by ? THRASH_NOBODY : (int8_t)by; /* not the same one twice */
  } else if (g->served == THRASH_NOBODY) {
    g->served = (int8_t)by;
  }
}

static struct thrash_hint pin(const struct thrash_rules *x, struct thrash_block *b, unsigned page, int is_at, int at,
                              picos now)
{
  struct thrash_page *g = &b->page[page];
  if (g->put_off && (g->pinned < 0 || is_at != at)) end_nap(g);
  if (g->pinned < 0) {
    g->unpin = now + lapses(x, x->params->uvm_thrash_pin);
    g->naps = 0;
    page_set_add(&b->pins, page);
  }
  g->pinned = (int8_t)at;
  return pin_at(at);
}

static struct thrash_hint put_off(struct thrash_page *g, int by)
{
  if (!(g->put_off & thrash_bit(by)) && g->pinned < 0 && g->naps < NAPS_MAX) g->naps++;
  g->put_off |= thrash_bit(by);
  return (struct thrash_hint){.kind = THRASH_PUT_OFF, .until = g->nap_end + 1};
}

struct thrash_hint thrash_fault(struct thrash_rules *x, struct thrash_block *b, unsigned page, int by, int is_at,
                                int prefers, picos now)
{
  const struct thrash_hint serve = {.kind = THRASH_SERVE};
  if (!b || !b->page || forget_block(x, b, now)) return serve;
  struct thrash_page *g = &b->page[page];
  if (g->moves < threshold(x)) return serve;
  if (g->put_off & thrash_bit(by)) {
    if (now < g->nap_end && g->served != by) return put_off(g, by);
    g->put_off &= ~thrash_bit(by);
    if (!g->put_off) g->nap_end = 0;
  }
  const picos lapse = since(g->last, now);
  adjust_lapse(x, lapse);
  if (lapse > x->lapse && g->pinned < 0) return serve;
  g->fighters |= thrash_bit(by);
  choose(x, g, by, now);
  if (g->pinned >= 0 && g->revoked && g->served != by) return put_off(g, by);
  const struct thrash_hint h = hint_of(x, g, by, is_at, prefers);
  if (h.kind == THRASH_PIN) return pin(x, b, page, is_at, h.at, now);
  return h.kind == THRASH_PUT_OFF ? put_off(g, by) : h;
}
