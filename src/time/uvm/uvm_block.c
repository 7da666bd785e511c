/* What happens to the pages of a block: which come, which stay where they are, which make room. */
#include "base/arith.h"
#include "time/uvm/density_tree.h"
#include "time/uvm/uvm_driver.h"

/* --- room -------------------------------------------------------------------------------------------- */

void uvm_finish_eviction(struct uvm *u, picos now)
{
  const struct uvm_range *r = uvm_range_of(u, u->victim);
  unsigned n;
  uint64_t base;
  if (!r) return;
  struct uvm_share *o = &uvm_range_block(r, u->victim, &n, &base)->gpu[u->gpu];
  const struct page_set gone = o->there;
  uvm_space_leave(uvm_space_of(u), r, base, u->gpu, &gone);
  page_set_join(&o->left, &gone);
  uvm_release(u, base, now, 0);
}

/* False: nothing can make room. */
static bool evict(struct uvm *u, uint64_t but, picos now)
{
  const struct uvm_range *r;
  const uint64_t before = u->copies;
  unsigned n;
  if (!uvm_space_victim(uvm_space_of(u), u->gpu, but, &r, &u->victim)) return false;
  struct uvm_block *b = uvm_range_block(r, u->victim, &n, &u->victim);
  const struct page_set elsewhere = uvm_block_elsewhere(uvm_space_of(u), b, u->gpu);
  struct page_set moves = b->gpu[u->gpu].there;
  page_set_remove(&moves, &elsewhere);
  uvm_hold(u, b);
  uvm_space_close_to(uvm_space_of(u), u->victim, u->gpu, &b->gpu[u->gpu].there);
  uvm_space_close(uvm_space_of(u), u->victim, &moves);
  UVM_COUNT(uvm_space_of(u), u->gpu, u->victim, evictions, 1);
  UVM_COUNT(uvm_space_of(u), u->gpu, u->victim, evicted, uvm_bytes(&moves));
  uvm_copy_pages(u, u->victim, &moves, (int)u->gpu, UVM_HOST, now);
  uvm_wait_for_copies(u, UVM_EVICTS, before, now);
  return true;
}

/* --- what is to happen ------------------------------------------------------------------------------- */

/* What a batch, or a job, does to a block. */
struct plan {
  struct page_set come, mapped, at_host; /* to the GPU; reached where they are; made at the host */
  bool any;
};

/* Of a part of the block that has one policy: pages that come to the GPU. */
static struct page_set wanted(const struct uvm *u, const struct uvm_policy *p, const struct uvm_block *b,
                              const struct page_set *asked, const struct page_set *part, unsigned n_pages)
{
  const struct page_set *there = &b->gpu[u->gpu].there, still = uvm_still(b);
  struct page_set s = page_set_both(asked, part);
  if (page_set_empty(&s)) return s;
  if (!u->job_runs && p->prefers == (int)u->gpu && page_set_empty(there)) {
    struct page_set all = *part;
    page_set_remove(&all, &still);
    page_set_join(&s, &all);
    return s;
  }
  if (u->job_runs && u->job->ticket == NO_TICKET) { /* what is counted is there */
    s = page_set_both(&s, &b->host);
    page_set_remove(&s, &still);
  }
  page_set_remove(&s, there);
  if (u->job_runs) return s;
  s = density_tree_grow(there, &s, &still, n_pages, u->params->uvm_tree_threshold);
  return page_set_both(&s, part);
}

/* Pages that stay on the GPU that the program prefers for them, or are made there: this one reaches them. */
static struct page_set stay(const struct uvm *u, const struct uvm_policy *p, const struct uvm_block *b,
                            const struct page_set *asked)
{
  struct page_set s = {{0}};
  const int on = p->prefers;
  if (u->job_runs || on < 0 || on == (int)u->gpu || p->read_mostly || !(uvm_books(u)->reaches >> on & 1)) return s;
  const struct page_set there = page_set_both(asked, &b->gpu[on].there);
  if (!uvm_space_full(uvm_space_of(u), b, (unsigned)on)) {
    struct page_set on_gpus = uvm_block_on_gpus(uvm_space_of(u), b);
    s = *asked;
    page_set_remove(&s, &on_gpus);
    page_set_remove(&s, &b->host);
  }
  page_set_join(&s, &there);
  page_set_remove(&s, &b->gpu[u->gpu].mapped);
  return s;
}

static struct plan plan_of(const struct uvm *u, const struct uvm_range *r, const struct uvm_block *b, uint64_t base,
                           const struct page_set *asked, unsigned n_pages)
{
  struct plan x = {0};
  struct page_set part;
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));) {
    struct page_set rest = page_set_both(asked, &part);
    const struct page_set stays = stay(u, p, b, &rest);
    page_set_remove(&rest, &stays);
    page_set_join(&x.mapped, &stays);
    struct page_set come = wanted(u, p, b, &rest, &part, n_pages);
    x.any |= !page_set_empty(&come) || !page_set_empty(&stays);
    if (u->job_runs || p->prefers != UVM_HOST || p->read_mostly) {
      page_set_join(&x.come, &come);
    } else { /* those that nobody has touched are made there */
      const struct page_set on = uvm_block_on_gpus(uvm_space_of(u), b);
      struct page_set fresh = come;
      page_set_remove(&fresh, &b->host);
      page_set_remove(&fresh, &on);
      page_set_join(&x.at_host, &fresh);
      come = page_set_both(&come, &on);
      page_set_join(&x.come, &come);
    }
  }
  return x;
}

/* --- pages that do not move -------------------------------------------------------------------------- */

static void tell_moved(const struct uvm *u, uint64_t base, const struct page_set *s)
{
  const struct uvm_machine *m = u->machine;
  for (unsigned first = 0, n; m->moved && (n = page_set_run(s, &first)) != 0; first += n)
    m->moved(m->ctx, base + (uint64_t)first * PAGE, (uint64_t)n * PAGE);
}

/* Pages of the plan that do not move. */
static void place_others(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base,
                         const struct plan *x)
{
  struct uvm_space *space = uvm_space_of(u);
  static const struct page_set none;
  struct page_set part;
  uint32_t cursor = 0;
  uvm_space_touch(space, r, base, &x->at_host);
  if (page_set_empty(&x->mapped)) return;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));) {
    struct page_set fresh = page_set_both(&x->mapped, &part);
    if (page_set_empty(&fresh)) continue;
    page_set_remove(&fresh, &b->gpu[p->prefers].there);
    UVM_COUNT(space, p->prefers, base, filled, uvm_bytes(&fresh));
    if (page_set_empty(&fresh)) continue;
    uvm_space_arrive(space, r, base, (unsigned)p->prefers, &fresh, &none);
    tell_moved(u, base, &fresh);
  }
  uvm_space_map(space, r, base, u->gpu, &x->mapped);
  UVM_COUNT(space, u->gpu, base, peer_mapped, uvm_bytes(&x->mapped));
}

/* When the driver has done its own work on the block, which it does once. */
static picos worked(struct uvm *u, picos now)
{
  const uint32_t ns = u->job_runs ? u->params->uvm_prefetch_ns : u->params->uvm_block_ns;
  if (!u->ready) u->ready = now + (picos)ns * PS_PER_NS;
  return later(u->ready, now);
}

/* --- pages go home ----------------------------------------------------------------------------------- */

/* Pages leave all GPUs, because the program asked for it, or because the one that touches them has no room and cannot
 * reach them. */
static void send_home(struct uvm *u, struct uvm_block *b, uint64_t base, const struct page_set *asked, picos now)
{
  const struct page_set on = uvm_block_on_gpus(uvm_space_of(u), b);
  const uint64_t before = u->copies;
  u->to = UVM_HOST;
  u->pages = page_set_both(asked, &on);
  if (page_set_empty(&u->pages)) {
    uvm_next_block(u, now, now);
    return;
  }
  struct page_set left = u->pages;
  const picos at = worked(u, now);
  page_set_remove(&left, &b->host);
  if (u->job_runs) uvm_note_moved(u, b, &left, at);
  uvm_space_close(uvm_space_of(u), base, &u->pages);
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++) {
    const struct page_set moves = page_set_both(&left, &b->gpu[k].there);
    uvm_copy_pages(u, base, &moves, (int)k, UVM_HOST, at);
    page_set_remove(&left, &moves);
  }
  uvm_wait_for_copies(u, UVM_MOVES, before, at);
}

/* --- pages come -------------------------------------------------------------------------------------- */

/* Of these pages, those that no GPU keeps. */
static struct page_set given_up(const struct uvm *u, const struct uvm_range *r, const struct uvm_block *b,
                                uint64_t base, const struct page_set *written)
{
  struct page_set s = u->pages, part, keep;
  const struct page_set on = uvm_block_on_gpus(uvm_space_of(u), b);
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));) {
    if (!p->read_mostly) continue;
    keep = part;
    page_set_remove(&keep, written);
    page_set_remove(&s, &keep);
  }
  return page_set_both(&s, &on);
}

/* … that others have, and that are not mostly read. */
static struct page_set taken_from_others(const struct uvm *u, const struct uvm_range *r, const struct uvm_block *b,
                                         uint64_t base)
{
  const struct page_set elsewhere = uvm_block_elsewhere(uvm_space_of(u), b, u->gpu);
  struct page_set s = page_set_both(&u->pages, &elsewhere), part;
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));)
    if (p->read_mostly) page_set_remove(&s, &part);
  return s;
}

/* The pages that are to come: those on other GPUs by the way between them, where it is the best one or the only one;
 * those at the host; the rest by way of the host. */
static void fetch_pages(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base, picos now)
{
  const struct page_set leave = given_up(u, r, b, base, &u->work[u->current].written);
  const struct page_set from = taken_from_others(u, r, b, base);
  const picos at = worked(u, now);
  const uint64_t before = u->copies;
  struct page_set rest = u->pages;
  u->to = (int)u->gpu;
  uvm_note_moved(u, b, &from, at);
  u->staged = (struct page_set){{0}};
  if (!page_set_empty(&leave)) uvm_space_close(uvm_space_of(u), base, &leave);
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++) {
    const struct uvm *o = u->machine->of[k];
    if (k == u->gpu || !(uvm_space_of(u)->gpu[k].reaches >> u->gpu & 1)) continue;
    struct page_set part = page_set_both(&rest, &b->gpu[k].there);
    if (o->cfg.peer[u->gpu].mbps < u->cfg.link[UVM_TO_GPU].mbps) page_set_remove(&part, &b->host);
    uvm_copy_pages(u, base, &part, (int)k, (int)u->gpu, at);
    page_set_remove(&rest, &part);
  }
  const struct page_set home = page_set_both(&rest, &b->host);
  uvm_copy_pages(u, base, &home, UVM_HOST, (int)u->gpu, at);
  page_set_remove(&rest, &home);
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++) {
    const struct page_set part = page_set_both(&rest, &b->gpu[k].there);
    uvm_copy_pages(u, base, &part, (int)k, UVM_HOST, at);
    UVM_COUNT(uvm_space_of(u), u->gpu, base, staged, uvm_bytes(&part));
    page_set_join(&u->staged, &part);
    page_set_remove(&rest, &part);
  }
  uvm_wait_for_copies(u, page_set_empty(&u->staged) ? UVM_MOVES : UVM_STAGES, before, at);
}

void uvm_fetch_staged(struct uvm *u, picos now)
{
  const uint64_t base = u->work[u->current].base, before = u->copies;
  if (uvm_range_of(u, base)) uvm_copy_pages(u, base, &u->staged, UVM_HOST, (int)u->gpu, now);
  uvm_wait_for_copies(u, UVM_MOVES, before, now);
}

/* Pages for which there is no room are reached where they are. */
static void map_pages(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base, picos now)
{
  struct page_set far = {{0}}, fresh = u->pages;
  const struct page_set on = uvm_block_on_gpus(uvm_space_of(u), b);
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++)
    if (!(uvm_books(u)->reaches >> k & 1) && k != u->gpu) page_set_join(&far, &b->gpu[k].there);
  far = page_set_both(&far, &u->pages);
  page_set_remove(&far, &b->host);
  if (!page_set_empty(&far)) { /* they fault again when they are there */
    send_home(u, b, base, &far, now);
    return;
  }
  page_set_remove(&fresh, &on);
  UVM_COUNT(uvm_space_of(u), u->gpu, base, mapped, uvm_bytes(&u->pages));
  uvm_space_touch(uvm_space_of(u), r, base, &fresh);
  uvm_space_map(uvm_space_of(u), r, base, u->gpu, &u->pages);
  uvm_next_block(u, now, worked(u, now));
}

/* What comes to this GPU, or is reached from it. */
static void serve_own(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base, picos now)
{
  const struct uvm_work *w = &u->work[u->current];
  unsigned n_pages;
  uvm_range_block(r, base, &n_pages, &base);
  u->own_served = true;
  uvm_space_collapse(uvm_space_of(u), r, base, u->gpu, &w->written);
  const struct plan x = plan_of(u, r, b, base, &w->faulted, n_pages);
  u->pages = x.come;
  place_others(u, r, b, base, &x);
  if (page_set_empty(&u->pages)) {
    uvm_next_block(u, now, page_set_empty(&w->written) && !x.any && !u->ready ? now : worked(u, now));
  } else if (!uvm_space_full(uvm_space_of(u), b, u->gpu)) {
    fetch_pages(u, r, b, base, now);
  } else if (!evict(u, base, now)) {
    map_pages(u, r, b, base, now);
  }
}

/* --- pages that are pinned elsewhere ----------------------------------------------------------------- */

/* At `to`, from wherever they are. False: all are there. */
static bool move_pinned(struct uvm *u, const struct uvm_block *b, uint64_t base, int to, picos now)
{
  const struct page_set *there = to == UVM_HOST ? &b->host : &b->gpu[to].there;
  const picos at = worked(u, now);
  const uint64_t before = u->copies;
  u->to = to;
  u->pages = u->pin[to + 1];
  page_set_remove(&u->pages, there);
  if (page_set_empty(&u->pages)) return false;
  struct page_set rest = u->pages;
  uvm_space_close(uvm_space_of(u), base, &u->pages);
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++) {
    const struct page_set part = page_set_both(&rest, &b->gpu[k].there);
    uvm_copy_pages(u, base, &part, (int)k, to, at);
    page_set_remove(&rest, &part);
  }
  rest = page_set_both(&rest, &b->host);
  if (to != UVM_HOST) uvm_copy_pages(u, base, &rest, UVM_HOST, to, at);
  uvm_wait_for_copies(u, UVM_MOVES, before, at);
  return true;
}

/* One place behind the other, then what comes here. */
static void serve_rest(struct uvm *u, picos now)
{
  const struct uvm_work *w = &u->work[u->current];
  const struct uvm_range *r = uvm_range_of(u, w->base);
  unsigned n_pages;
  uint64_t base;
  if (!r) {
    uvm_next_block(u, now, now);
    return;
  }
  struct uvm_block *b = uvm_range_block(r, w->base, &n_pages, &base);
  while (u->pins) {
    const int at = __builtin_ctz(u->pins);
    u->pins &= u->pins - 1;
    if (move_pinned(u, b, base, at - 1, now)) return;
    uvm_map_pinned(u->machine, r, base, &u->pin[at]);
  }
  if (!u->own_served) uvm_grant(u, r, b, base, now);
  if (!u->own_served) serve_own(u, r, b, base, now);
  else uvm_next_block(u, now, worked(u, now));
}

void uvm_begin_block(struct uvm *u, picos now)
{
  const struct uvm_work *w = &u->work[u->current];
  const struct uvm_range *r = uvm_range_of(u, w->base);
  unsigned n_pages;
  uint64_t base;
  if (!r) { /* freed */
    u->since = 0;
    uvm_next_block(u, now, now);
    return;
  }
  struct uvm_block *b = uvm_range_block(r, w->base, &n_pages, &base);
  const picos turn = uvm_turn_of(u, b, base, now);
  if (turn > now) {
    if (!u->since) u->since = now;
    uvm_goes_on(u, UVM_BLOCK, turn);
    return;
  }
  uvm_hold(u, b);
  u->ready = 0;
  u->own_served = u->job_runs;
  u->pins = 0;
  u->pinned = (struct page_set){{0}};
  if (u->job_runs && u->job->way == UVM_TO_HOST) {
    send_home(u, b, base, &w->faulted, now);
    return;
  }
  if (!u->job_runs) uvm_judge(u, r, b, base, now);
  if (page_set_empty(&w->faulted) && !u->pins) { /* all are put off: others may have the block */
    uvm_release(u, base, now, 0);
    uvm_next_block(u, now, now);
    return;
  }
  if (u->job_runs) serve_own(u, r, b, base, now);
  else serve_rest(u, now);
}
/* --- pages are there --------------------------------------------------------------------------------- */

static void have_come(struct uvm *u, const struct uvm_range *r, const struct uvm_block *b, uint64_t base)
{
  const struct uvm_work *w = &u->work[u->current];
  struct page_set fresh = u->pages, more = u->pages;
  const struct page_set on = uvm_block_on_gpus(uvm_space_of(u), b);
  struct uvm_space *x = uvm_space_of(u);
  page_set_remove(&fresh, &b->host);
  page_set_remove(&fresh, &on);
  page_set_remove(&more, &w->faulted);
  UVM_COUNT(x, u->gpu, base, filled, uvm_bytes(&fresh));
  if (u->job_runs && u->job->ticket != NO_TICKET) UVM_COUNT(x, u->gpu, base, asked, uvm_bytes(&u->pages));
  else if (!u->job_runs) UVM_COUNT(x, u->gpu, base, tree, uvm_bytes(&more));
  uvm_space_arrive(uvm_space_of(u), r, base, u->gpu, &u->pages, &w->written);
}

/* They have left all GPUs. */
static void have_gone_home(struct uvm *u, const struct uvm_range *r, const struct uvm_block *b, uint64_t base)
{
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++) {
    const struct page_set gone = page_set_both(&u->pages, &b->gpu[k].there);
    if (!page_set_empty(&gone)) uvm_space_leave(uvm_space_of(u), r, base, k, &gone);
  }
}

static void are_there(struct uvm *u, const struct uvm_range *r, const struct uvm_block *b, uint64_t base)
{
  static const struct page_set none;
  const bool own = u->to == (int)u->gpu;
  struct page_set pinned = own ? u->pages : u->pin[u->to + 1];
  if (own) have_come(u, r, b, base);
  else if (u->to == UVM_HOST) have_gone_home(u, r, b, base);
  else uvm_space_arrive(uvm_space_of(u), r, base, (unsigned)u->to, &u->pages, &none);
  if (u->to != UVM_HOST) tell_moved(u, base, &u->pages);
  pinned = page_set_both(&pinned, &u->pinned);
  if (!page_set_empty(&pinned)) uvm_map_pinned(u->machine, r, base, &pinned);
}

void uvm_end_block(struct uvm *u, picos now)
{
  const struct uvm_range *r = uvm_range_of(u, u->work[u->current].base);
  unsigned n_pages;
  uint64_t base;
  if (r) {
    const struct uvm_block *b = uvm_range_block(r, u->work[u->current].base, &n_pages, &base);
    are_there(u, r, b, base);
  }
  serve_rest(u, now);
}

void uvm_give_up(struct uvm *u)
{
  const uint64_t base = u->work[u->current].base;
  const struct uvm_range *r = uvm_range_of(u, base);
  if (r && (u->state == UVM_STAGES || u->state == UVM_MOVES)) uvm_space_show(uvm_space_of(u), r, base, &u->pages);
}

void uvm_drop(struct uvm *u, uint64_t addr, uint64_t bytes)
{
  for (uint32_t i = 0; i < u->n_work; i++) {
    if (u->work[i].base - addr >= bytes) continue;
    u->work[i] = (struct uvm_work){.base = u->work[i].base};
    if (i != u->current) continue;
    uvm_wait_no_more(u, u->work[i].base);
    u->pages = u->staged = u->pinned = (struct page_set){{0}};
    u->pins = 0;
  }
}
