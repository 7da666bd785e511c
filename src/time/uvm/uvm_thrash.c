/* Pages that thrash: what the rules (thrashing.h) say, carried out. */
#include <string.h>

#include "base/host_memory.h"
#include "time/uvm/uvm_driver.h"

struct page_set uvm_still(const struct uvm_block *b)
{
  return b->thrash ? b->thrash->thrashing : (struct page_set){{0}};
}

/* Where the page is: on the first GPU that has it, or at the host. */
static int place_of_page(const struct uvm_space *x, const struct uvm_block *b, unsigned page)
{
  for (unsigned k = 0; k < x->n_gpus; k++)
    if (page_set_has(&b->gpu[k].there, page)) return (int)k;
  return page_set_has(&b->host, page) ? UVM_HOST : UVM_NOWHERE;
}

static int preference(const struct uvm_range *r, uint64_t base, unsigned page)
{
  struct page_set part;
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));)
    if (page_set_has(&part, page)) return p->prefers == UVM_NOWHERE ? THRASH_NOBODY : uvm_processor(p->prefers);
  return THRASH_NOBODY;
}

/* --- pins --------------------------------------------------------------------------------------- */

static void keep_pin(struct uvm_machine *m, uint64_t addr, picos until)
{
  if (m->first_pin && 2 * m->first_pin >= m->n_pins) {
    memmove(m->pin, m->pin + m->first_pin, (m->n_pins - m->first_pin) * sizeof *m->pin);
    m->n_pins -= m->first_pin, m->first_pin = 0;
  }
  m->pin = mem_more(m->pin, m->n_pins, &m->room_pins, sizeof *m->pin);
  uint32_t i = m->n_pins++;
  for (; i > m->first_pin && m->pin[i - 1].until > until; i--) m->pin[i] = m->pin[i - 1];
  m->pin[i] = (struct uvm_pin){until, addr};
}

/* A page's fault, by the rules; pins are noted, and counted for the GPU. */
static struct thrash_hint judge(struct uvm_machine *m, const struct uvm_range *r, struct uvm_block *b, uint64_t base,
                                unsigned page, int by, unsigned gpu, picos now)
{
  const int at = place_of_page(&m->space, b, page);
  const struct thrash_page *g = b->thrash && b->thrash->page ? &b->thrash->page[page] : NULL;
  const bool was = g && g->pinned >= 0;
  const struct thrash_hint h = thrash_fault(&m->thrash, b->thrash, page, uvm_processor(by),
                                            at == UVM_NOWHERE ? THRASH_NOBODY : uvm_processor(at),
                                            preference(r, base, page), now);
  if (h.kind != THRASH_PIN || was) return h;
  UVM_COUNT(&m->space, gpu, base, pinned, PAGE);
  keep_pin(m, base + (uint64_t)page * PAGE, g->unpin);
  return h;
}

picos uvm_unpin_next(const struct uvm_machine *m)
{
  return m->first_pin < m->n_pins ? m->pin[m->first_pin].until + m->skew : TIME_NEVER;
}

static void unpin_page(struct uvm_machine *m, const struct uvm_pin *p, picos now)
{
  const struct uvm_range *r = uvm_space_range(&m->space, p->addr);
  unsigned n_pages;
  uint64_t base;
  struct page_set one = {{0}};
  if (!r) return;
  struct uvm_block *b = uvm_range_block(r, p->addr, &n_pages, &base);
  const unsigned page = (unsigned)((p->addr - base) / PAGE);
  struct thrash_page *g = b->thrash && b->thrash->page ? &b->thrash->page[page] : NULL;
  if (!g || g->pinned < 0 || g->unpin != p->until) return;
  if (uvm_is_under_way(m, base)) { /* behind who works on it */
    g->unpin = now + (picos)m->thrash.params->uvm_block_ns * PS_PER_NS + 1;
    keep_pin(m, p->addr, g->unpin);
    return;
  }
  page_set_add(&one, page);
  thrash_forget(b->thrash, &one);
  uvm_space_unmap(&m->space, r, base, &one);
}

void uvm_unpin(struct uvm_machine *m, picos now)
{
  while (m->first_pin < m->n_pins && m->pin[m->first_pin].until <= now) {
    const struct uvm_pin p = m->pin[m->first_pin++];
    unpin_page(m, &p, now);
  }
}

void uvm_unpin_block(const struct uvm_machine *m, const struct uvm_range *r, const struct uvm_block *b, uint64_t base,
                     picos now)
{
  struct page_set over = {{0}};
  if (!b->thrash || !b->thrash->page) return;
  for (unsigned first = 0, n; (n = page_set_run(&b->thrash->pins, &first)) != 0; first += n)
    for (unsigned i = first; i < first + n; i++)
      if (b->thrash->page[i].unpin <= now) page_set_add(&over, i);
  if (page_set_empty(&over)) return;
  thrash_forget(b->thrash, &over);
  uvm_space_unmap(&m->space, r, base, &over);
}

/* Whether the GPU fought for the page, and reaches where it is pinned. */
static bool is_mapped_for(const struct uvm_machine *m, const struct thrash_page *g, unsigned gpu)
{
  const int p = uvm_processor((int)gpu);
  return g->fighters >> p & 1 && g->pinned >= 0 && m->thrash.reaches[p] >> g->pinned & 1;
}

void uvm_map_pinned(struct uvm_machine *m, const struct uvm_range *r, uint64_t base, const struct page_set *s)
{
  unsigned n_pages;
  const struct uvm_block *b = uvm_range_block(r, base, &n_pages, &base);
  if (!b->thrash || !b->thrash->page) return;
  for (unsigned k = 0; k < m->space.n_gpus; k++) {
    struct page_set mine = {{0}};
    for (unsigned first = 0, n; (n = page_set_run(s, &first)) != 0; first += n)
      for (unsigned i = first; i < first + n; i++)
        if (is_mapped_for(m, &b->thrash->page[i], k)) page_set_add(&mine, i);
    page_set_remove(&mine, &b->gpu[k].there);
    if (page_set_empty(&mine)) continue;
    uvm_space_map(&m->space, r, base, k, &mine);
  }
}

/* --- faults ------------------------------------------------------------------------------------- */

/* Whether the page can be brought there: there is room, and a way. */
static bool can_be_at(const struct uvm *u, const struct uvm_block *b, unsigned page, int to)
{
  const struct uvm_space *x = uvm_space_of(u);
  const int at = place_of_page(x, b, page);
  if (to < 0 || at == to) return true;
  return !uvm_space_full(x, b, (unsigned)to) && (at < 0 || x->gpu[at].reaches >> to & 1);
}

static void judge_page(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base, unsigned page,
                       picos now)
{
  struct page_set *faulted = &u->work[u->current].faulted, one = {{0}};
  const struct thrash_hint h = judge(u->machine, r, b, base, page, (int)u->gpu, u->gpu, now);
  const int to = h.at - 1;
  if (h.kind == THRASH_SERVE || (h.kind == THRASH_PIN && !can_be_at(u, b, page, to))) return;
  page_set_add(&one, page);
  if (h.kind == THRASH_PUT_OFF) {
    UVM_COUNT(uvm_space_of(u), u->gpu, base, put_off, 1);
    page_set_remove(faulted, &one);
    page_set_remove(&u->work[u->current].written, &one);
    page_set_remove(&u->work[u->current].atomic, &one);
    return;
  }
  page_set_join(&u->pinned, &one);
  if (to == (int)u->gpu) return; /* it comes as others do */
  page_set_remove(faulted, &one);
  page_set_join(&u->pin[h.at], &one);
  u->pins |= thrash_bit(h.at);
}

void uvm_judge(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base, picos now)
{
  u->pins = 0;
  u->pinned = (struct page_set){{0}};
  if (!b->thrash || !b->thrash->page) return;
  memset(u->pin, 0, sizeof u->pin);
  const struct uvm_work *w = &u->work[u->current];
  struct page_set asked = w->faulted, reached = uvm_space_reached(uvm_space_of(u), r, base, u->gpu);
  const struct page_set denied = uvm_space_denied(uvm_space_of(u), r, base, u->gpu, &w->written, &w->atomic);
  page_set_remove(&reached, &denied);
  page_set_remove(&asked, &b->gpu[u->gpu].there);
  page_set_remove(&asked, &reached);
  for (unsigned first = 0, n; (n = page_set_run(&asked, &first)) != 0; first += n)
    for (unsigned i = first; i < first + n; i++)
      judge_page(u, r, b, base, i, uvm_program_time(u->machine, now));
}

/* Pages that are reached where they are, and stay there. */
void uvm_grant(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base, picos now)
{
  struct uvm_work *w = &u->work[u->current];
  struct page_set gone[UVM_GPUS];
  const struct page_set denied = uvm_space_denied(uvm_space_of(u), r, base, u->gpu, &w->written, &w->atomic);
  if (page_set_empty(&denied)) return;
  uvm_space_grant(uvm_space_of(u), r, base, u->gpu, &denied, &w->atomic, gone);
  page_set_remove(&w->faulted, &denied);
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++) {
    UVM_COUNT(uvm_space_of(u), k, base, revoked, uvm_bytes(&gone[k]));
    thrash_revoked(&u->machine->thrash, &b->thrash, uvm_processor((int)k), &gone[k],
                   uvm_program_time(u->machine, now));
  }
}

void uvm_note_moved(struct uvm *u, struct uvm_block *b, const struct page_set *s, picos now)
{
  if (u->job_runs && u->job->ticket != NO_TICKET) thrash_forget(b->thrash, s);
  else thrash_moved(&u->machine->thrash, &b->thrash, uvm_processor(u->to), s, uvm_program_time(u->machine, now));
}

struct page_set uvm_judge_host(struct uvm_machine *m, const struct uvm_range *r, struct uvm_block *b, uint64_t base,
                               const struct page_set *asked, unsigned gpu, picos now, picos *until)
{
  struct page_set s = *asked, off = {{0}};
  if (!b->thrash || !b->thrash->page) return s;
  for (unsigned first = 0, n; (n = page_set_run(asked, &first)) != 0; first += n)
    for (unsigned i = first; i < first + n; i++) {
      if (!page_set_has(&b->gpu[gpu].there, i)) continue;
      const struct thrash_hint h = judge(m, r, b, base, i, UVM_HOST, gpu, now);
      if (h.kind != THRASH_PUT_OFF) continue;
      page_set_add(&off, i);
      if (h.until > *until) *until = h.until;
    }
  UVM_COUNT(&m->space, gpu, base, host_put_off, !page_set_empty(&off));
  page_set_remove(&s, &off);
  return s;
}
