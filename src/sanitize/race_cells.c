/* Cells: what is kept of the accesses to each piece of memory, and what a lane's access finds there. */
#include "sanitize/race_cells.h"

#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"

/* What runs for every lane of every access. */
#define RACE_INLINE static inline __attribute__((always_inline))

/* --- what memory holds ----------------------------------------------------------------------------------- */

static const uint8_t *host_page(struct race_step *x, uint64_t addr)
{
  uint64_t mask;
  x->host_page = addr & ~(uint64_t)(RACE_PAGE - 1);
  const uint8_t *page = gmem_page(x->s->l->mem, addr, &mask);
  return x->host = page ? page + (x->host_page & mask) : NULL; /* pages of the device's memory are no smaller */
}

/* Host memory behind [addr, addr + bytes) of global memory, inside one of its pages; NULL: it is not mapped. */
static inline const uint8_t *host_of(struct race_step *x, uint64_t addr, unsigned bytes)
{
  const uint64_t at = addr % RACE_PAGE;
  const uint8_t *page = x->host && addr - at == x->host_page ? x->host : host_page(x, addr);
  return page && at + bytes <= RACE_PAGE ? page + at : NULL;
}

static inline const uint8_t *memory_behind(struct race_step *x, unsigned space, uint64_t addr, unsigned bytes)
{
  uint64_t size;
  if (space == MEM_GLOBAL) return host_of(x, addr, bytes);
  const uint8_t *shared = func_shared(x->s->cta, &size);
  return addr + bytes <= size ? shared + addr : NULL;
}

/* Entry i of a layer; NULL: nobody's. */
static inline struct race_entry *entry_of(const struct race_table *t, unsigned layer, uint64_t i)
{
  return t->layer[layer] ? &t->layer[layer][i] : NULL;
}

static struct race_table *shared_table(const struct race_step *x)
{
  struct race_table *t = &x->cta->shared;
  uint64_t size;
  if (t->bytes) return t;
  func_shared(x->s->cta, &size);
  *t = race_table_of((size + 3) & ~UINT64_C(3));
  return t;
}

/* Shared memory has no contents before somebody of the CTA writes them: what the simulator has there is nobody's. */
static bool has_contents(const struct race_step *x, unsigned space, uint64_t addr, unsigned bytes)
{
  if (space != MEM_SHARED) return true;
  const struct race_table *t = shared_table(x);
  const unsigned step = t->by_byte ? 1 : 4;
  if (addr + bytes > t->bytes) return false;
  for (uint64_t i = addr / step; i < div_up(addr + bytes, step); i++) {
    const struct race_entry *e = entry_of(t, RACE_WRITE, i);
    if (!e || !e->warp) return false;
  }
  return true;
}

/* RACE_SILENT: a plain store of what memory holds already. */
static inline uint32_t silence_of(struct race_step *x, unsigned lane, unsigned space, uint64_t addr)
{
  const struct mem_effect *me = x->s->e->mem;
  uint8_t now[MEM_MAX_BYTES];
  if (!x->plain) return 0;
  const uint8_t *there = memory_behind(x, space, addr, me->bytes);
  if (!there) return 0;
  if (me->bytes != 4) func_stored(me, lane, now);
  const void *stored = me->bytes == 4 ? func_stored_words(me) + 4 * (size_t)lane : now;
  return memcmp(stored, there, me->bytes) == 0 && has_contents(x, space, addr, me->bytes) ? RACE_SILENT : 0;
}

/* --- cells of which all is known ------------------------------------------------------------------------- */

/* An access of one lane, as seen by what is done to nearly all cells. */
struct race_row {
  struct race_known known;
  struct findings *findings;
  uint32_t cell; /* bytes of the cell where the lane touches one, else 0: what was told is not told again */
};

/* Whether all is known of an entry, and no more is to be told but *again. */
RACE_INLINE bool is_known(const struct race_row *w, const struct race_entry *e, unsigned layer,
                            const struct race_entry *now, bool *again)
{
  bool before;
  if (race_are_strong(&w->known, e, now)) return true;
  if (!race_knows(&w->known, e, layer, &before)) return false;
  if (!before && (!w->cell || !race_was_told(&w->known, e, layer, now))) return false;
  *again = !before;
  return true;
}

/* False: nothing has been done. */
RACE_INLINE bool pass_read(const struct race_row *w, const struct race_table *t, uint64_t i,
                             const struct race_entry *now)
{
  struct race_entry *const first = &t->layer[RACE_READ][i], *const second = entry_of(t, RACE_READ + 1, i);
  const struct race_entry *write = entry_of(t, RACE_WRITE, i);
  struct race_entry *keep = first;
  bool before, again = false;
  if (write && !is_known(w, write, RACE_WRITE, now, &again)) return false;
  if (!race_knows(&w->known, first, RACE_READ, &before)) return false;
  if (!before) {
    if (!second || !race_knows(&w->known, second, RACE_READ + 1, &before)) return false;
    keep = before ? second : NULL;
  }
  if (again) race_tell_again(&w->known, w->findings, RACE_WRITE, w->cell);
  if (keep) *keep = *now;
  return true;
}

RACE_INLINE bool pass_write(const struct race_row *w, const struct race_table *t, uint64_t i,
                            const struct race_entry *now)
{
  struct race_entry *const write = &t->layer[RACE_WRITE][i], *const first = entry_of(t, RACE_READ, i),
                           *const second = entry_of(t, RACE_READ + 1, i);
  bool again = false, first_again = false, second_again = false;
  if (!is_known(w, write, RACE_WRITE, now, &again)) return false;
  if (first && !is_known(w, first, RACE_READ, now, &first_again)) return false;
  if (second && !is_known(w, second, RACE_READ + 1, now, &second_again)) return false;
  if (again) race_tell_again(&w->known, w->findings, RACE_WRITE, w->cell);
  if (first_again) race_tell_again(&w->known, w->findings, RACE_READ, w->cell);
  if (second_again) race_tell_again(&w->known, w->findings, RACE_READ + 1, w->cell);
  if (again && now->where & RACE_SILENT) return true;
  *write = *now;
  if (first) first->warp = 0;
  if (second) second->warp = 0;
  return true;
}

RACE_INLINE bool pass_cell(const struct race_row *w, bool writes, const struct race_table *t, uint64_t i,
                           const struct race_entry *now)
{
  return writes ? pass_write(w, t, i, now) : pass_read(w, t, i, now);
}

/* --- cells that are looked at closely -------------------------------------------------------------------- */

/* The layer is there, or could be made. */
static bool has_layer(struct racecheck *k, struct race_table *t, unsigned layer, bool global)
{
  if (t->layer[layer]) return true;
  if (global) return race_shadow_add(&k->shadow, t, layer);
  NO_MEMORY_IF(!race_table_add(t, layer));
  return true;
}

static void forget_reads(const struct race_table *t, uint64_t i)
{
  for (unsigned l = RACE_READ; l < RACE_LAYERS; l++)
    if (t->layer[l]) t->layer[l][i].warp = 0;
}

/* Layer in which an access is kept first. */
static inline unsigned own_layer(bool writes)
{
  return writes ? RACE_WRITE : RACE_READ;
}

/* False: there is no memory for it. */
static bool keep_read(struct racecheck *k, struct race_step *x, struct race_table *t, uint64_t i,
                      const struct race_pair *p)
{
  for (unsigned l = RACE_READ; l < RACE_LAYERS; l++) {
    if (!has_layer(k, t, l, p->space == MEM_GLOBAL)) return false;
    struct race_entry *e = &t->layer[l][i];
    if (e->warp && !race_step_behind(x, e, l)) continue;
    *e = p->now;
    break;
  }
  return true;
}

static void check_pair(struct race_step *x, const struct race_table *t, uint64_t i, unsigned layer,
                       struct race_pair *p)
{
  p->old = entry_of(t, layer, i);
  p->layer = layer;
  if (p->old) race_check_pair(x, p);
}

/* False: there is no memory for what must be kept of it. */
static bool check_cell(struct racecheck *k, struct race_step *x, struct race_table *t, uint64_t i,
                       struct race_pair *p)
{
  check_pair(x, t, i, RACE_WRITE, p);
  if (!x->writes) return keep_read(k, x, t, i, p);
  for (unsigned l = RACE_READ; l < RACE_LAYERS; l++) check_pair(x, t, i, l, p);
  struct race_entry *write = &t->layer[RACE_WRITE][i];
  if (write->warp && p->now.where & RACE_SILENT && !race_step_behind(x, write, RACE_WRITE)) return true;
  *write = p->now;
  forget_reads(t, i);
  return true;
}

/* Bytes [at, at + bytes) of a table. */
static bool check_cells(struct racecheck *k, struct race_step *x, struct race_table *t, uint64_t at, unsigned bytes,
                        struct race_pair *p)
{
  const unsigned step = t->by_byte ? 1 : 4;
  const uint64_t base = p->addr - at;
  bool kept = true;
  p->bytes = step;
  for (uint64_t i = at / step; i < div_up(at + bytes, step); i++) {
    p->addr = base + i * step;
    kept &= check_cell(k, x, t, i, p);
  }
  return kept;
}

static bool split(struct race_shadow *s, struct race_table *t, bool global)
{
  return t->by_byte || (global ? race_shadow_split(s, t) : race_table_split(t));
}

static inline struct race_table *global_table(struct racecheck *k, struct race_step *x, uint64_t addr)
{
  const uint64_t page = addr >> RACE_PAGE_BITS;
  if (x->table && x->page == page) return x->table;
  x->page = page;
  return x->table = race_shadow_page(&k->shadow, addr);
}

static inline struct race_table *table_of(struct racecheck *k, struct race_step *x, unsigned space, uint64_t addr,
                                          uint64_t *at)
{
  *at = space == MEM_GLOBAL ? addr & (RACE_PAGE - 1) : addr;
  return space == MEM_GLOBAL ? global_table(k, x, addr) : shared_table(x);
}

static bool look_closely(struct racecheck *k, struct race_step *x, struct race_table *t, uint64_t at, unsigned bytes,
                         struct race_pair *p)
{
  const bool global = p->space == MEM_GLOBAL;
  if (at + bytes > t->bytes) return true;
  if ((bytes % 4 || p->addr % 4) && !split(&k->shadow, t, global)) return false;
  return has_layer(k, t, own_layer(x->writes), global) && check_cells(k, x, t, at, bytes, p);
}

/* --- one lane -------------------------------------------------------------------------------------------- */

/* Whole cells, in all of which it passes. */
static bool pass_cells(const struct race_step *x, const struct race_table *t, uint64_t at, unsigned bytes,
                       const struct race_entry *now)
{
  const unsigned shift = t->by_byte ? 0 : 2;
  struct race_row w = {.known = race_known_of(x), .findings = x->s->l->findings};
  if (x->own || at + bytes > t->bytes || !t->layer[own_layer(x->writes)] || (at | bytes) & ((1u << shift) - 1))
    return false;
  if (bytes == 1u << shift) w.cell = bytes;
  for (uint64_t i = at >> shift; i < (at + bytes) >> shift; i++)
    if (!pass_cell(&w, x->writes, t, i, now)) return false;
  return true;
}

void race_check_lane(struct racecheck *k, struct race_step *x, unsigned lane, unsigned space, uint64_t addr,
                     unsigned bytes, uint32_t flags)
{
  uint64_t at;
  struct race_table *t = table_of(k, x, space, addr, &at);
  struct race_pair p = {.now = x->entry, .space = space, .lane = lane, .addr = addr};
  p.now.where |= lane << RACE_LANE_AT | flags | silence_of(x, lane, space, addr);
  if (!pass_cells(x, t, at, bytes, &p.now)) k->skipped += !look_closely(k, x, t, at, bytes, &p);
}

/* --- a row of lanes -------------------------------------------------------------------------------------- */

/* Tables of the lanes, with the layer of the access and cells of one size; NULL: look closely. */
struct race_tables {
  struct race_table *one;      /* of all lanes */
  struct race_table **of_lane; /* NULL: one */
};

static inline bool is_narrow(const struct race_step *x)
{
  return x->s->e->mem->bytes % 4;
}

static struct race_table *with_layer(struct racecheck *k, const struct race_step *x, struct race_table *t, bool global)
{
  if (is_narrow(x) && !split(&k->shadow, t, global)) return NULL;
  return has_layer(k, t, own_layer(x->writes), global) ? t : NULL;
}

static struct race_tables shared_tables(struct racecheck *k, const struct race_step *x)
{
  struct race_table *t = shared_table(x);
  return (struct race_tables){.one = watched_inside(x->s, 0, t->bytes) ? with_layer(k, x, t, false) : NULL};
}

/* Has the host fetch the cells: far from each other, one would wait for each. */
static struct race_tables far_tables(struct racecheck *k, const struct race_step *x, struct race_table **of_lane)
{
  const struct mem_effect *me = x->s->e->mem;
  const unsigned layer = own_layer(x->writes), shift = is_narrow(x) ? 0 : 2;
  struct race_table *t = NULL;
  uint64_t page = UINT64_MAX;
  for (uint32_t r = x->s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    const uint64_t addr = me->addr[i];
    if (addr >> RACE_PAGE_BITS != page) {
      page = addr >> RACE_PAGE_BITS;
      t = with_layer(k, x, race_shadow_page(&k->shadow, addr), true);
      if (t && t->by_byte != is_narrow(x)) t = NULL;
    }
    of_lane[i] = t;
    if (t) __builtin_prefetch(&t->layer[layer][addr % RACE_PAGE >> shift], 1);
  }
  return (struct race_tables){.of_lane = of_lane};
}

static struct race_tables find_tables(struct racecheck *k, const struct race_step *x, struct race_table **of_lane)
{
  const struct mem_effect *me = x->s->e->mem;
  if (me->space == MEM_SHARED) return shared_tables(k, x);
  if (!me->shape.even || me->addr[0] >> RACE_PAGE_BITS != me->addr[31] >> RACE_PAGE_BITS)
    return far_tables(k, x, of_lane);
  return (struct race_tables){.one = with_layer(k, x, race_shadow_page(&k->shadow, me->addr[0]), true)};
}

/* Whether lane i stores the words that lie at `there`. */
static inline bool stores_same(const uint8_t *words, unsigned i, const uint8_t *there, unsigned bytes)
{
  for (unsigned n = 0; n < bytes / 4; n++)
    if (memcmp(words + 4 * (LANES_MAX * n + i), there + 4 * n, 4) != 0) return false;
  return true;
}

static uint32_t with_contents(const struct race_step *x, uint32_t lanes)
{
  const struct mem_effect *me = x->s->e->mem;
  uint32_t kept = 0;
  if (me->space != MEM_SHARED) return lanes;
  for (uint32_t r = lanes; r; r &= r - 1)
    if (has_contents(x, MEM_SHARED, me->addr[bits_first(r)], me->bytes)) kept |= r & -r;
  return kept;
}

/* Lanes that store what is there already. */
static uint32_t silent_lanes(struct race_step *x, uint32_t lanes)
{
  const struct mem_effect *me = x->s->e->mem;
  const unsigned bytes = me->bytes;
  uint32_t silent = 0;
  if (bytes % 4 == 0 && x->plain && me->shape.even && me->shape.stride == bytes) {
    const uint8_t *there = memory_behind(x, me->space, me->addr[0], 32 * bytes), *now = func_stored_words(me);
    for (unsigned i = 0; there && i < 32; i++) silent |= (uint32_t)stores_same(now, i, there + i * bytes, bytes) << i;
    if (there) return with_contents(x, silent);
  }
  for (uint32_t r = lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    if (silence_of(x, i, me->space, me->addr[i])) silent |= 1u << i;
  }
  return silent;
}

/* A warp's lanes at one instruction that orders nothing, `bytes` each, in cells of 1 << shift bytes. */
RACE_INLINE void access_row(struct racecheck *k, struct race_step *x, const struct race_tables *tables, bool writes,
                            unsigned bytes, unsigned shift)
{
  const struct mem_effect *me = x->s->e->mem;
  const uint64_t in = me->space == MEM_GLOBAL ? RACE_PAGE - 1 : UINT64_MAX;
  const uint32_t lanes = x->s->lanes, silent = writes ? silent_lanes(x, lanes) : 0;
  struct race_row w = {.known = race_known_of(x), .findings = x->s->l->findings,
                       .cell = bytes == 1u << shift ? bytes : 0};
  struct race_entry now = x->entry;
  uint64_t last = UINT64_MAX;
  for (uint32_t r = lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    const uint64_t addr = me->addr[i], at = (addr & in) >> shift;
    const struct race_table *t = tables->of_lane ? tables->of_lane[i] : tables->one;
    if (!writes && addr == last) continue; /* the neighbour's read stands for this one */
    last = addr;
    now.where = x->entry.where | i << RACE_LANE_AT | (silent >> i & 1 ? RACE_SILENT : 0);
    bool passed = t != NULL;
    for (unsigned n = 0; passed && n < bytes >> shift; n++) passed = pass_cell(&w, writes, t, at + n, &now);
    if (passed) continue;
    race_check_lane(k, x, i, me->space, addr, bytes, 0);
    w.known = race_known_of(x);
  }
}

void race_check_row(struct racecheck *k, struct race_step *x)
{
  const struct mem_effect *me = x->s->e->mem;
  struct race_table *of_lane[32];
  if (x->own) {
    for (uint32_t r = x->s->lanes; r; r &= r - 1)
      race_check_lane(k, x, bits_first(r), me->space, me->addr[bits_first(r)], me->bytes, 0);
    return;
  }
  const struct race_tables t = find_tables(k, x, of_lane);
  const bool by_byte = t.one ? t.one->by_byte : is_narrow(x);
  if (by_byte) access_row(k, x, &t, x->writes, me->bytes, 0);
  else if (me->bytes > 4) access_row(k, x, &t, x->writes, me->bytes, 2);
  else if (x->writes) access_row(k, x, &t, true, 4, 2);
  else access_row(k, x, &t, false, 4, 2);
}
