#include "sanitize/initcheck.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "sanitize/init_bits.h"
#include "sanitize/reg_shadow.h"

struct init_range {
  uint64_t addr, bytes;
  uint64_t *bits;
};

struct init_cta {
  struct init_cta *next;
  uint64_t id;
  uint64_t shared_bytes, local_bytes; /* of a thread */
  uint64_t *shared;
  uint64_t *local; /* of all lanes of all warps; NULL: not used yet */
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
  struct init_range r = {.addr = addr, .bytes = bytes, .bits = calloc(init_words(bytes), sizeof *r.bits)};
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
  if (r) init_bits_fill(r->bits, addr - r->addr, part_of(r, addr, bytes));
}

void initcheck_copied(struct initcheck *k, uint64_t to, uint64_t from, uint64_t bytes)
{
  const struct init_range *f = find(k, from, &k->last[0]);
  const struct init_range *t = find(k, to, &k->last[0]);
  if (!t) return;
  uint64_t n = part_of(t, to, bytes);
  if (!f) {
    init_bits_fill(t->bits, to - t->addr, n);
    return;
  }
  init_bits_copy(t->bits, to - t->addr, f->bits, from - f->addr, part_of(f, from, n));
}

/* --- shared and local memory ------------------------------------------------------------------------- */

static void free_cta(struct init_cta *c)
{
  free(c->shared);
  free(c->local);
  free(c->regs);
  free(c);
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
  init_bits_fill(c->shared, 0, s->l->params->shared_reserved);
  if (c->shared_bytes > s->l->system_shared)
    init_bits_fill(c->shared, s->l->system_shared, c->shared_bytes - s->l->system_shared);
  c->regs = malloc(s->cta->n_warps * sizeof *c->regs);
  NO_MEMORY_IF(!c->regs);
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
}

void initcheck_begin(struct initcheck *k)
{
  initcheck_end(k);
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
  reg_shadow_step(&cta_of(k, s)->regs[s->warp], s);
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

/* The bits of one lane's access, its first byte in *at. NULL: not followed. */
static uint64_t *bits_of(struct initcheck *k, const struct watched_step *s, unsigned lane, unsigned space,
                         uint64_t addr, uint64_t *at)
{
  const unsigned bytes = s->e->mem->bytes;
  if (space == MEM_GLOBAL) {
    const struct init_range *r = find(k, addr, last_of(k, s));
    if (!r || part_of(r, addr, bytes) < bytes) return NULL;
    *at = addr - r->addr;
    return r->bits;
  }
  struct init_cta *c = cta_of(k, s);
  if (space == MEM_SHARED) {
    *at = addr;
    return !k->shared_unknown && addr + bytes <= c->shared_bytes ? c->shared : NULL;
  }
  if (space != MEM_LOCAL || addr + bytes > c->local_bytes) return NULL;
  if (!c->local) {
    c->local = calloc(init_words(c->local_bytes * s->cta->n_warps * 32), sizeof *c->local);
    NO_MEMORY_IF(!c->local);
  }
  *at = (s->warp * UINT64_C(32) + lane) * c->local_bytes + addr;
  return c->local;
}

static void access_lane(struct initcheck *k, const struct watched_step *s, unsigned lane, unsigned space, uint64_t addr)
{
  const struct mem_effect *me = s->e->mem;
  uint64_t at;
  uint64_t *bits = bits_of(k, s, lane, space, addr, &at);
  if (!bits) return;
  if (me->op != MEM_STORE && !init_bits_all(bits, at, me->bytes)) report(k, s, lane, space, addr);
  if (me->op == MEM_STORE || is_atomic(me->op)) init_bits_fill(bits, at, me->bytes);
}

/* All lanes in one piece without a gap. */
static bool access_dense(struct initcheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  const uint64_t n = 32u * me->bytes;
  if (s->lanes != UINT32_MAX || me->near_lanes || !me->shape.even || me->shape.stride != me->bytes) return false;
  uint64_t *bits = NULL, at = me->addr[0];
  if (me->space == MEM_GLOBAL) {
    const struct init_range *r = find(k, at, last_of(k, s));
    if (!r) return true;
    if (part_of(r, at, n) < n) return false;
    bits = r->bits, at -= r->addr;
  } else if (me->space == MEM_SHARED) {
    const struct init_cta *c = cta_of(k, s);
    if (k->shared_unknown) return true;
    if (at + n > c->shared_bytes) return false;
    bits = c->shared;
  }
  if (!bits || (me->op != MEM_STORE && !init_bits_all(bits, at, n))) return false;
  if (me->op == MEM_STORE) init_bits_fill(bits, at, n);
  return true;
}

/* Loads of shared memory, all of it written: lanes next to each other mostly read the same or the next word. */
static bool reads_written(struct initcheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  if (me->space != MEM_SHARED || me->near_lanes || (me->op != MEM_LOAD && me->op != MEM_LDSM) || me->bytes > 16)
    return false;
  const struct init_cta *c = cta_of(k, s);
  const uint64_t mask = (UINT64_C(1) << me->bytes) - 1;
  uint64_t last = UINT64_MAX;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const uint64_t at = me->addr[bits_first(r)];
    if (at == last) continue;
    if (at + me->bytes > c->shared_bytes || (~(c->shared[at / 64] >> at % 64) & mask))
      return false; /* aligned: one word */
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
      init_bits_fill(c->shared, me->shared_addr[i], me->bytes);
  }
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
  if (way == COPY_LOAD || way == COPY_SHARED) k->shared_unknown = true;
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
  if ((me->space == MEM_CLUSTER || me->far) && me->op != MEM_LOAD) k->shared_unknown = true;
  if (access_dense(k, s) || reads_written(k, s)) return;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    uint64_t addr;
    const enum mem_space space = func_lane_space(s->cta, s->warp, me, i, &addr);
    access_lane(k, s, i, space, addr);
  }
}
