/* mbarrier objects: SYNCS on sm_90, ARRIVES of asynchronous copies from sm_80 on, and STAS, which
 * stores and counts bytes. Rules: PTX ISA (mbarrier.*, cp.async.mbarrier.arrive, st.async); the
 * layout of the 64 bits from compiler output (CUDA 13.0: mbarrier.init, mbarrier.pending_count, the
 * tests of the phase):
 *
 *            63      62 .. 43              42 .. 21           20 .. 1
 *   sm_90    phase   - pending arrivals    transactions       - arrivals of a phase
 *   sm_80    phase   - pending: 62 .. 32                      - arrivals of a phase + 2^30: 31 .. 0
 *
 * Counts are kept negative, so that the last arrival carries out of the field. An asynchronous copy
 * is complete here when it has been performed: the timing model performs ARRIVES after the copies before it.
 */
#include "func/sass/cluster.h"
#include "func/sass/mbarrier.h"
#include "func/sass/mem.h"

/* What an ARRIVE does shares u->imm2 with the address form, which uses bits 0..23. */
enum { COUNT_SHIFT = 24, OPTOUT = 1 << 27, TMASK = 1 << 28 };
enum { A1TR, A1T0, A0T1, A0TR, A0TX, ART0 }; /* field SYNCS_COUNT */

static uint8_t *barrier_at(struct func_warp *w, const struct effect *e, unsigned lane,
                           struct fault *f)
{
  return mem_near(w, e, e->mem->space, lane, e->mem->addr[lane], 8, f);
}

/* ---- SYNCS.ARRIVE ------------------------------------------------------------------------- */

static struct mbar_event event_of(const struct uop *u, uint32_t b)
{
  struct mbar_event v = {0};
  switch (u->imm2 >> COUNT_SHIFT & 7) {
  case A1TR: v = (struct mbar_event){.arrivals = 1, .tx = (int32_t)b}; break;
  case A1T0: v = (struct mbar_event){.arrivals = 1}; break;
  case A0T1: v = (struct mbar_event){.tx = 1}; break;
  case A0TR: v = (struct mbar_event){.tx = (int32_t)b}; break;
  case A0TX: v = (struct mbar_event){.tx = (int32_t)(0 - b)}; break;
  default: v = (struct mbar_event){.arrivals = b}; break;
  }
  if (u->imm2 & OPTOUT) v.drop = v.arrivals;
  return v;
}

static bool arrive(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                   struct fault *f)
{
  struct mem_effect *me = mem_begin(e, m, MEM_SHARED, u->t->mem.op, 8, true);
  mem_addr_near(w, u, me);
  mem_resolve_cluster(w, me);
  memcpy(mem_row(me, COMPARE_WORD), row_src(w, u->b), ROW_BYTES);
  return mem_aligned(w, e, m, 8, f);
}

/* Lanes of `lanes` with the address of lane i. */
static uint32_t same_address(const struct mem_effect *me, unsigned i, uint32_t lanes)
{
  uint32_t same = 0;
  for (; lanes; lanes &= lanes - 1) {
    unsigned k = bits_first(lanes);
    if (me->addr[k] == me->addr[i]) same |= 1u << k;
  }
  return same;
}

/* One group of lanes arrives; `old` is the state before. */
static bool arrive_group(struct func_warp *w, const struct uop *u, struct effect *e,
                         uint32_t group, uint64_t *old, struct fault *f)
{
  const mem_word *b = mem_row(e->mem, COMPARE_WORD);
  uint8_t *p = barrier_at(w, e, bits_first(group), f);
  struct mbar_event sum = {0};
  uint64_t v;
  if (!p) return false;
  for (uint32_t r = group; r; r &= r - 1) {
    struct mbar_event one = event_of(u, b[bits_first(r)]);
    sum.arrivals += one.arrivals, sum.drop += one.drop;
    sum.tx = (int32_t)((uint32_t)sum.tx + (uint32_t)one.tx); /* any numbers: modulo 2^32 */
  }
  memcpy(&v, p, sizeof v);
  *old = v;
  v = mbar_apply(w->launch->p.sm, v, sum);
  memcpy(p, &v, sizeof v);
  return true;
}

static bool arrive_perform(struct func_warp *w, const struct uop *u, struct effect *e,
                           uint32_t lanes, struct gmem_view *view, struct fault *f)
{
  struct mem_effect *me = e->mem;
  (void)view;
  while (lanes) {
    unsigned i = bits_first(lanes);
    uint32_t group = u->imm2 & TMASK ? same_address(me, i, lanes) : 1u << i;
    uint64_t old = 0;
    if (!arrive_group(w, u, e, group, &old, f)) return false;
    for (uint32_t r = group; r; r &= r - 1) {
      unsigned k = bits_first(r);
      mem_row(me, 0)[k] = u->imm2 & TMASK ? group : (uint32_t)old;
      mem_row(me, 1)[k] = (uint32_t)(old >> 32);
    }
    lanes &= ~group;
  }
  return true;
}

static void arrive_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  mem_commit(w, u, e, 2);
}

/* ---- SYNCS.PHASECHK: true when the phase with the parity of b's bit 31 is over ------------- */

static bool phase_perform(struct func_warp *w, const struct uop *u, struct effect *e,
                          uint32_t lanes, struct gmem_view *view, struct fault *f)
{
  uint32_t over = 0;
  (void)u, (void)view;
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    const uint8_t *p = barrier_at(w, e, i, f);
    if (!p) return false;
    memcpy(mem_row(e->mem, 0) + i, p + 4, 4);
    over |= (mem_row(e->mem, 0)[i] ^ mem_row(e->mem, COMPARE_WORD)[i]) >> 31;
  }
  e->waits = !over;
  return true;
}

static void phase_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  const mem_word *state = mem_row(e->mem, 0), *b = mem_row(e->mem, COMPARE_WORD);
  uint32_t over = 0;
  for (unsigned i = 0; i < LANES; i++) over |= ((state[i] ^ b[i]) >> 31) << i;
  if (!(over & (uint32_t)e->exec)) func_end_turn(w); /* it waits */
  else w->stride = 0; /* others that wait for this phase see it, too, before it is two phases ago */
  pred_write(w, u->pu, (uint32_t)e->exec, over);
}

/* ---- SYNCS.EXCH: mbarrier.init, once for the warp ------------------------------------------- */

static bool exch(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  unsigned lane = bits_first(m);
  const uint32_t *b = row_src(w, u->b);
  struct mem_effect *me = mem_begin(e, 1u << lane, MEM_SHARED, MEM_STORE, 8, true);
  mem_addr_near(w, u, me);
  mem_row(me, 0)[lane] = b[lane];
  mem_row(me, 1)[lane] = b[LANES + lane];
  return mem_aligned(w, e, 1u << lane, 8, f);
}

static bool exch_perform(struct func_warp *w, const struct uop *u, struct effect *e,
                         uint32_t lanes, struct gmem_view *view, struct fault *f)
{
  (void)u, (void)view;
  unsigned lane = bits_first(lanes);
  uint8_t *p = barrier_at(w, e, lane, f);
  if (!p) return false;
  memcpy(p, mem_row(e->mem, 0) + lane, 4);
  memcpy(p + 4, mem_row(e->mem, 1) + lane, 4);
  return true;
}

/* ---- ARRIVES.LDGSTSBAR: arrivals (ARVCNT, sm_80) or transactions (TRANSCNT) per lane --------- */

static bool copies_done_perform(struct func_warp *w, const struct uop *u, struct effect *e,
                                uint32_t lanes, struct gmem_view *view, struct fault *f)
{
  const struct mbar_event done =
      u->imm2 >> COUNT_SHIFT ? (struct mbar_event){.tx = -1} : (struct mbar_event){.arrivals = 1};
  (void)view;
  for (; lanes; lanes &= lanes - 1) {
    uint8_t *p = barrier_at(w, e, bits_first(lanes), f);
    uint64_t v;
    if (!p) return false;
    memcpy(&v, p, sizeof v);
    v = mbar_apply(w->launch->p.sm, v, done);
    memcpy(p, &v, sizeof v);
  }
  return true;
}

static bool copies_done(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                        struct fault *f)
{
  struct mem_effect *me = mem_begin(e, m, MEM_SHARED, u->t->mem.op, 8, true);
  mem_addr_near(w, u, me);
  return mem_aligned(w, e, m, 8, f);
}

/* ---- STAS and REDAS: then the bytes count at the mbarrier whose address is in the next register -- */

void sync_sample_barrier(const struct func_warp *w, const struct uop *u, struct mem_effect *me)
{
  const uint32_t *barrier = row_src(w, u->a) + LANES;
  uint32_t from = me->space == MEM_SHARED ? cluster_base(w->cta) : 0;
  for (unsigned i = 0; i < LANES; i++) mem_row(me, COMPARE_WORD)[i] = barrier[i] - from;
}

bool sync_complete_tx(struct func_warp *w, const struct effect *e, unsigned lane, struct fault *f)
{
  uint32_t at = mem_row(e->mem, COMPARE_WORD)[lane];
  uint8_t *p = mem_near(w, e, e->mem->space, lane, at, 8, f);
  if (p) mbar_complete_tx(w->launch->p.sm, p, e->mem->bytes);
  return p;
}

static bool stas(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  unsigned bytes = u->t->mem.bytes;
  struct mem_effect *me = mem_begin(e, m, MEM_SHARED, MEM_STORE, bytes, true);
  const uint32_t *b = row_src(w, u->b);
  mem_addr_near(w, u, me);
  mem_resolve_cluster(w, me);
  for (unsigned k = 0; k * 4 < bytes; k++) memcpy(mem_row(me, k), b + k * LANES, ROW_BYTES);
  sync_sample_barrier(w, u, me);
  return mem_aligned(w, e, m, bytes, f);
}

static bool stas_perform(struct func_warp *w, const struct uop *u, struct effect *e,
                         uint32_t lanes, struct gmem_view *view, struct fault *f)
{
  struct mem_effect *me = e->mem;
  (void)u, (void)view;
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    uint8_t *to = mem_near(w, e, me->space, i, me->addr[i], me->bytes, f);
    if (!to) return false;
    for (unsigned k = 0; k * 4 < me->bytes; k++) memcpy(to + 4 * k, mem_row(me, k) + i, 4);
    if (!sync_complete_tx(w, e, i, f)) return false;
  }
  return true;
}

/* ---- picker --------------------------------------------------------------------------------- */

static bool nothing(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                    struct fault *f)
{
  (void)w, (void)u, (void)m, (void)e, (void)f;
  return true; /* mbarrier.inval: the memory may be used again */
}

static uop_fn *pick_arrive(const struct sass_inst *s, struct uop *u)
{
  uint32_t count = (uint32_t)sass_get(s, FLD_SYNCS_COUNT);
  if (count > ART0) return NULL;
  u->imm2 |= count << COUNT_SHIFT;
  if (sass_get(s, FLD_SYNCS_OPTOUT)) u->imm2 |= OPTOUT;
  if (sass_get(s, FLD_SYNCS_TMASK)) u->imm2 |= TMASK;
  u->perform = arrive_perform;
  u->finish = arrive_finish;
  return arrive;
}

static uop_fn *pick_copies_done(const struct sass_inst *s, struct uop *u)
{
  enum { TRANSCNT = 2 };
  bool moved = sass_has(s, FLD_ARRIVES_CNT_76);
  uint32_t count = (uint32_t)sass_get(s, moved ? FLD_ARRIVES_CNT_76 : FLD_ARRIVES_CNT);
  if (count > TRANSCNT) return NULL;
  if (count == TRANSCNT) u->imm2 |= 1u << COUNT_SHIFT;
  u->perform = copies_done_perform;
  return copies_done;
}

uop_fn *sem_sync_handler(const struct sass_inst *s, struct uop *u)
{
  if (s->sem < SEM_SYNCS_EXCH || s->sem > SEM_STAS) return NULL;
  if (s->sem == SEM_SYNCS_CCTL) return nothing;
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  switch (s->sem) {
  case SEM_SYNCS_EXCH:
    u->perform = exch_perform;
    return s->udst == SASS_URZ ? exch : NULL;
  case SEM_SYNCS_PHASECHK:
    u->perform = phase_perform;
    u->finish = phase_finish;
    return arrive;
  case SEM_LDGSTSBAR: return pick_copies_done(s, u);
  case SEM_STAS:
    u->perform = stas_perform;
    return stas;
  default: return pick_arrive(s, u);
  }
}
