#include "sanitize/initcheck.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "sanitize/init_bits.h"
#include "sanitize/reg_shadow.h"

struct init_range {
  uint64_t addr, bytes;
  uint64_t unset; /* bytes that nobody has written */
  uint64_t *bits;
};

struct init_cta {
  struct init_cta *next;
  uint64_t id;
  uint64_t shared_bytes, local_bytes; /* of a thread */
  uint64_t *shared;
  uint64_t shared_unset; /* bytes of it that nobody has written */
  uint64_t *local; /* of all lanes of all warps; NULL: not used yet */
  unsigned n_warps;
  struct reg_shadow *regs; /* of all warps */
};

/* --- global memory ---------------------------------------------------------------------------------- */

/* Index of the first range that starts behind addr. */
static size_t behind(const struct initcheck *k, uint64_t addr)
{
  size_t lo = 0, hi = k->n_ranges;
  while (lo < hi) {
    const size_t mid = (lo + hi) / 2;
    if (k->range[mid].addr <= addr) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static bool holds(const struct init_range *r, uint64_t addr)
{
  return addr - r->addr < r->bytes;
}

/* Where to look first for what the instruction accesses. */
static size_t *last_of(struct initcheck *k, const struct watched_step *s)
{
  return &k->last[s->e->pc / 16 % INITCHECK_LAST];
}

/* The range of an address; NULL: it counts as written. *last: where to look first, and then where it was. */
static struct init_range *find(const struct initcheck *k, uint64_t addr, size_t *last)
{
  if (*last < k->n_ranges && holds(&k->range[*last], addr)) return &k->range[*last];
  const size_t at = behind(k, addr);
  if (!at || !holds(&k->range[at - 1], addr)) return NULL;
  *last = at - 1;
  return &k->range[at - 1];
}

void initcheck_allocated(struct initcheck *k, uint64_t addr, uint64_t bytes)
{
  if (k->n_ranges == k->cap_ranges) {
    k->cap_ranges = k->cap_ranges ? 2 * k->cap_ranges : 64;
    k->range = realloc(k->range, k->cap_ranges * sizeof *k->range);
    NO_MEMORY_IF(!k->range);
  }
  const size_t at = behind(k, addr);
  struct init_range r = {.addr = addr, .bytes = bytes, .unset = bytes,
                         .bits = calloc(init_words(bytes), sizeof *r.bits)};
  NO_MEMORY_IF(!r.bits);
  memmove(&k->range[at + 1], &k->range[at], (k->n_ranges - at) * sizeof *k->range);
  k->range[at] = r;
  k->n_ranges++;
}

void initcheck_freed(struct initcheck *k, uint64_t addr)
{
  const size_t at = behind(k, addr);
  if (!at || k->range[at - 1].addr != addr) return;
  free(k->range[at - 1].bits);
  memmove(&k->range[at - 1], &k->range[at], (k->n_ranges - at) * sizeof *k->range);
  k->n_ranges--;
}

/* Bytes from addr on that lie in the range, at most n. */
static uint64_t part_of(const struct init_range *r, uint64_t addr, uint64_t n)
{
  const uint64_t left = r->bytes - (addr - r->addr);
  return n < left ? n : left;
}

void initcheck_written(struct initcheck *k, uint64_t addr, uint64_t bytes)
{
  struct init_range *r = find(k, addr, &k->last[0]);
  if (r && r->unset) r->unset -= init_bits_fill(r->bits, addr - r->addr, part_of(r, addr, bytes));
}

void initcheck_copied(struct initcheck *k, uint64_t to, uint64_t from, uint64_t bytes)
{
  const struct init_range *f = find(k, from, &k->last[0]);
  struct init_range *t = find(k, to, &k->last[0]);
  if (!t) return;
  const uint64_t n = f ? part_of(f, from, part_of(t, to, bytes)) : bytes;
  if (!f || init_bits_all(f->bits, from - f->addr, n)) {
    initcheck_written(k, to, n);
    return;
  }
  const uint64_t at = to - t->addr;
  t->unset += init_bits_count(t->bits, at, n);
  init_bits_copy(t->bits, at, f->bits, from - f->addr, n);
  t->unset -= init_bits_count(t->bits, at, n);
}

/* --- shared and local memory ------------------------------------------------------------------------- */

static void free_cta(struct init_cta *c)
{
  free(c->shared);
  free(c->local);
  for (unsigned w = 0; w < c->n_warps; w++) reg_shadow_free(&c->regs[w]);
  free(c->regs);
  free(c);
}

static void fill_shared(struct init_cta *c, uint64_t at, uint64_t n)
{
  if (c->shared_unset) c->shared_unset -= init_bits_fill(c->shared, at, n);
}

static struct init_cta *new_cta(struct initcheck *k, const struct watched_step *s)
{
  struct init_cta *c = calloc(1, sizeof *c);
  NO_MEMORY_IF(!c);
  c->id = s->cta->id;
  func_shared(s->cta, &c->shared_bytes);
  c->local_bytes = s->l->source->local_bytes;
  c->shared = calloc(init_words(c->shared_bytes) + 1, sizeof *c->shared);
  NO_MEMORY_IF(!c->shared);
  /* What the system keeps there is none of the kernel's. */
  c->shared_unset = c->shared_bytes;
  fill_shared(c, 0, s->l->params->shared_reserved);
  if (c->shared_bytes > s->l->system_shared)
    fill_shared(c, s->l->system_shared, c->shared_bytes - s->l->system_shared);
  c->regs = malloc(s->cta->n_warps * sizeof *c->regs);
  NO_MEMORY_IF(!c->regs);
  c->n_warps = s->cta->n_warps;
  for (unsigned w = 0; w < s->cta->n_warps; w++) reg_shadow_init(&c->regs[w]);
  c->next = k->ctas;
  k->ctas = c;
  return c;
}

static struct init_cta *cta_of(struct initcheck *k, const struct watched_step *s)
{
  if (k->ctas && k->ctas->id == s->cta->id) return k->ctas;
  for (struct init_cta **at = &k->ctas; *at; at = &(*at)->next) {
    struct init_cta *c = *at;
    if (c->id != s->cta->id) continue;
    *at = c->next;
    c->next = k->ctas;
    k->ctas = c;
    return c;
  }
  return new_cta(k, s);
}

void initcheck_cta_end(struct initcheck *k, const struct step_cta *cta)
{
  for (struct init_cta **at = &k->ctas; *at; at = &(*at)->next) {
    struct init_cta *c = *at;
    if (c->id != cta->id) continue;
    *at = c->next;
    free_cta(c);
    return;
  }
}

void initcheck_end(struct initcheck *k)
{
  while (k->ctas) {
    struct init_cta *c = k->ctas;
    k->ctas = c->next;
    free_cta(c);
  }
  free(k->use);
  k->use = NULL;
}

void initcheck_begin(struct initcheck *k, const struct watched_launch *l)
{
  const struct code_view *code = &l->params->code;
  initcheck_end(k);
  k->use = calloc(((code->end - code->base) >> code->shift) + 1, sizeof *k->use);
  NO_MEMORY_IF(!k->use);
  k->shared_unknown = k->quiet = false;
}

void initcheck_free(struct initcheck *k)
{
  initcheck_end(k);
  for (size_t i = 0; i < k->n_ranges; i++) free(k->range[i].bits);
  free(k->range);
}

/* --- accesses ---------------------------------------------------------------------------------------- */

void initcheck_step(struct initcheck *k, const struct watched_step *s)
{
  if (s->e->inst->flags & INST_SYSCALL && watched_service(s) >= SYSCALL_SET_CONDITION) k->quiet = true;
  const struct code_view *code = &s->l->params->code;
  reg_shadow_step(&cta_of(k, s)->regs[s->warp], &k->use[(s->e->pc - code->base) >> code->shift], s);
}

/* An exchange does not depend on what was there, and most drop it. */
static bool is_exchange(const struct watched_step *s)
{
  char name[64];
  if (!is_atomic(s->e->mem->op)) return false;
  sass_print_mnemonic(watched_inst(s), name, sizeof name);
  return strstr(name, ".EXCH");
}

static void report(const struct initcheck *k, const struct watched_step *s, unsigned lane, unsigned space,
                   uint64_t addr)
{
  struct finding f = {.kind = FINDING_UNINIT, .level = LEVEL_ERROR, .a = watched_access(s, lane, space), .addr = addr};
  bool fresh;
  if (!k->quiet && !is_exchange(s)) (void)finding_note(s->l->findings, &f, 1, &fresh);
}

/* The bits of one lane's access. */
struct init_place {
  uint64_t *bits; /* NULL: not followed */
  uint64_t at;    /* its first byte in them */
  uint64_t *unset; /* where what it writes is taken off; NULL: nowhere */
  uint64_t addr;
};

static struct init_place place_of(struct initcheck *k, const struct watched_step *s, unsigned lane, unsigned space,
                                  uint64_t addr)
{
  const struct init_place none = {0};
  const unsigned bytes = s->e->mem->bytes;
  if (space == MEM_GLOBAL) {
    struct init_range *r = find(k, addr, last_of(k, s));
    if (!r || part_of(r, addr, bytes) < bytes) return none;
    return (struct init_place){r->bits, addr - r->addr, &r->unset, addr};
  }
  struct init_cta *c = cta_of(k, s);
  if (space == MEM_SHARED) {
    if (k->shared_unknown || addr + bytes > c->shared_bytes) return none;
    return (struct init_place){c->shared, addr, &c->shared_unset, addr};
  }
  if (space != MEM_LOCAL || addr + bytes > c->local_bytes) return none;
  if (!c->local) {
    c->local = calloc(init_words(c->local_bytes * s->cta->n_warps * 32), sizeof *c->local);
    NO_MEMORY_IF(!c->local);
  }
  return (struct init_place){c->local, (s->warp * UINT64_C(32) + lane) * c->local_bytes + addr, NULL, addr};
}

/* Shared and local memory: what is unset goes to registers, and from them (reg_shadow.h). */
static void load_followed(struct reg_shadow *regs, const struct watched_step *s, unsigned lane, unsigned space,
                          const struct init_place *p)
{
  const unsigned all = s->e->mem->bytes;
  for (unsigned n = 0; n < all; n += 4)
    if (!init_bits_all(p->bits, p->at + n, all - n < 4 ? all - n : 4))
      reg_shadow_load(regs, s, lane, n / 4, space, p->addr);
}

static void store_followed(const struct reg_shadow *regs, const struct watched_step *s, unsigned lane,
                           const struct init_place *p)
{
  const unsigned all = s->e->mem->bytes;
  const uint64_t before = p->unset ? init_bits_count(p->bits, p->at, all) : 0;
  for (unsigned n = 0; n < all; n += 4) {
    const unsigned bytes = all - n < 4 ? all - n : 4;
    if (reg_shadow_stores_unset(regs, s, lane, n / 4)) init_bits_clear(p->bits, p->at + n, bytes);
    else init_bits_fill(p->bits, p->at + n, bytes);
  }
  if (p->unset) *p->unset += before - init_bits_count(p->bits, p->at, all);
}

static void access_lane(struct initcheck *k, const struct watched_step *s, unsigned lane, unsigned space, uint64_t addr)
{
  const struct mem_effect *me = s->e->mem;
  const struct init_place p = place_of(k, s, lane, space, addr);
  if (!p.bits) return;
  struct reg_shadow *regs = space == MEM_GLOBAL ? NULL : &cta_of(k, s)->regs[s->warp];
  const bool all = me->op == MEM_STORE || init_bits_all(p.bits, p.at, me->bytes);
  if (regs && me->op == MEM_LOAD) {
    if (!all && !k->quiet) load_followed(regs, s, lane, space, &p);
    return;
  }
  if (regs && me->op == MEM_STORE && regs->origin) {
    store_followed(regs, s, lane, &p);
    return;
  }
  if (!all) report(k, s, lane, space, addr);
  if (me->op != MEM_STORE && !is_atomic(me->op)) return;
  const uint64_t fresh = init_bits_fill(p.bits, p.at, me->bytes);
  if (p.unset) *p.unset -= fresh;
}

/* Memory that all lanes touch and of which nothing is unset: most accesses are to what the host has filled. Also what
 * is not followed. */
static bool all_written(struct initcheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  if (me->near_lanes) return false;
  if (me->space == MEM_SHARED) {
    const struct init_cta *c = cta_of(k, s);
    return k->shared_unknown || (!c->shared_unset && watched_inside(s, 0, c->shared_bytes));
  }
  if (me->space != MEM_GLOBAL) return false;
  const struct init_range *r = find(k, me->addr[bits_first(s->lanes)], last_of(k, s));
  return r && !r->unset && watched_inside(s, r->addr, r->addr + r->bytes);
}

/* All lanes in one piece without a gap. */
static bool access_dense(struct initcheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  const uint64_t n = 32u * me->bytes;
  if (s->lanes != UINT32_MAX || me->near_lanes || !me->shape.even || me->shape.stride != me->bytes) return false;
  uint64_t *bits = NULL, *unset = NULL, at = me->addr[0];
  if (me->space == MEM_GLOBAL) {
    struct init_range *r = find(k, at, last_of(k, s));
    if (!r) return true;
    if (part_of(r, at, n) < n) return false;
    bits = r->bits, unset = &r->unset, at -= r->addr;
  } else if (me->space == MEM_SHARED) {
    struct init_cta *c = cta_of(k, s);
    if (at + n > c->shared_bytes) return false;
    bits = c->shared, unset = &c->shared_unset;
  }
  if (!bits || (me->op != MEM_STORE && !init_bits_all(bits, at, n))) return false;
  if (me->op == MEM_STORE) *unset -= init_bits_fill(bits, at, n);
  return true;
}

/* Loads, all of it written: lanes next to each other mostly read the same or the next word. */
static bool reads_written(struct initcheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  const uint64_t mask = (UINT64_C(1) << me->bytes) - 1;
  const uint64_t *bits = NULL;
  uint64_t last = UINT64_MAX, base = 0, bytes = 0;
  if (me->near_lanes || (me->op != MEM_LOAD && me->op != MEM_LDSM) || me->bytes > 16) return false;
  if (me->space == MEM_SHARED) {
    const struct init_cta *c = cta_of(k, s);
    bits = c->shared, bytes = c->shared_bytes;
  } else if (me->space == MEM_GLOBAL) {
    const struct init_range *r = find(k, me->addr[bits_first(s->lanes)], last_of(k, s));
    if (r) bits = r->bits, bytes = r->bytes, base = r->addr;
  }
  if (!bits || !watched_inside(s, base, base + bytes)) return false;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const uint64_t at = me->addr[bits_first(r)] - base;
    if (at == last) continue;
    if (at % 64 + me->bytes > 64 || ~(bits[at / 64] >> at % 64) & mask) return false;
    last = at;
  }
  return true;
}

/* Reads global memory, writes shared memory. */
static void access_ldgsts(struct initcheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  struct init_cta *c = cta_of(k, s);
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    const unsigned bytes = func_copied_bytes(me, i);
    const struct init_range *from = bytes ? find(k, me->addr[i], last_of(k, s)) : NULL;
    if (from && !init_bits_all(from->bits, me->addr[i] - from->addr, part_of(from, me->addr[i], bytes)))
      report(k, s, i, MEM_GLOBAL, me->addr[i]);
    if ((uint64_t)me->shared_addr[i] + me->bytes <= c->shared_bytes)
      fill_shared(c, me->shared_addr[i], me->bytes);
  }
}

static void access_fill(struct initcheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  const uint64_t at = me->addr[bits_first(s->lanes)];
  struct init_cta *c = cta_of(k, s);
  if (at + me->fill_bytes <= c->shared_bytes) fill_shared(c, (uint32_t)at, me->fill_bytes);
}

/* The global memory that a copy writes; into which shared memory others write is not followed. */
static void access_copy(struct initcheck *k, const struct watched_step *s)
{
  const unsigned way = s->e->inst->mem.copy;
  struct effect e = *s->e;
  struct copy_piece p = {0};
  struct fault fault;
  struct step_warp *w = s->cta->warp[s->warp];
  struct gmem_view view = {.image = (struct gmem *)(uintptr_t)s->l->mem};
  if (way == COPY_LOAD || way == COPY_SHARED || way == COPY_WORK) k->shared_unknown = true;
  if (way != COPY_STORE && way != COPY_REDUCE) return;
  for (uint32_t i = 0; !p.last && w->ops->copy_piece(w, &e, i, &p, &view, &fault); i++)
    if (p.bytes) initcheck_written(k, p.addr, p.bytes);
}

void initcheck_access(struct initcheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  if (me->space == MEM_CONST || me->space == MEM_TEXTURE || s->e->inst->mem.image || me->op == MEM_PREFETCH) return;
  if (s->e->inst->mem.copy != COPY_NONE) {
    access_copy(k, s);
    return;
  }
  if (me->op == MEM_LDGSTS) {
    access_ldgsts(k, s);
    return;
  }
  if (s->e->inst->mem.fill) {
    access_fill(k, s);
    return;
  }
  if ((me->space == MEM_CLUSTER || me->far) && me->op != MEM_LOAD) k->shared_unknown = true;
  const bool leaves = me->op == MEM_STORE && me->space == MEM_SHARED &&
                      reg_shadow_stores_some_unset(&cta_of(k, s)->regs[s->warp], s);
  if (!leaves && (all_written(k, s) || access_dense(k, s) || reads_written(k, s))) return;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    uint64_t addr;
    const enum mem_space space = func_lane_space(s->cta, s->warp, me, i, &addr);
    access_lane(k, s, i, space, addr);
  }
}
