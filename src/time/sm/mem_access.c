#include "time/sm/mem_access.h"

#include "base/arith.h"
#include "base/bits.h"
#include "base/place.h"
#include "time/sm/coalescer.h"
#include "time/sm/smem.h"

/* Turns that lanes take at the data banks, which L1 shares with shared memory. */
static unsigned bank_turns(const struct params *q)
{
  return (unsigned)div_up(LINE_BYTES, q->l1_bytes_per_cycle);
}

/* An access takes the memory unit for `cycles`; what exceeds a coalesced one of the same width is extra. */
static void occupy(const struct params *q, struct txn *t, unsigned cycles)
{
  unsigned plain = smem_min_passes(&t->access->mem, t->grid->lanes) * bank_turns(q);
  t->busy = (uint16_t)cycles;
  t->extra = (uint16_t)(cycles > plain ? cycles - plain : 0);
}

/* Passes through the tag banks and through the data banks. */
static unsigned l1_cycles(const struct params *q, const struct txn *t, bool conflict_free)
{
  unsigned tags = coalescer_tag_passes(t, &q->l1_tag_bank_masks), lanes = t->grid->lanes;
  if (q->ideal_coalescing) conflict_free = true;
  const struct mem_effect *m = &t->access->mem;
  const unsigned turns = bank_turns(q);
  unsigned data = conflict_free ? smem_min_passes(m, lanes) * turns : smem_time(m, false, lanes, turns).cycles;
  return data > tags ? data : tags;
}

static bool perform(struct mem_access *a, struct warp_slot *w, struct txn *t, lane_mask lanes)
{
  return w->step->ops->perform(w->step, &t->access->effect, lanes, a->view, a->fault);
}

/* A try_wait waits when the warp has nothing else to do and there are many transactions left for others. */
static bool may_try(const struct mem_access *a, const struct warp_slot *w, const struct txn *t)
{
  return t->inst->mem.may_wait && t->access->effect.waits && a->params->mem_try_wait_cycles &&
         w->step->paths.n_ready == 1 && a->pool->n_free > a->pool->size / 2;
}

static bool perform_now(struct mem_access *a, struct warp_slot *w, struct txn *t)
{
  if (!perform(a, w, t, t->access->mem.lanes | t->access->mem.near_lanes)) return false;
  t->tries = may_try(a, w, t);
  if (t->tries) return true;
  w->step->ops->finish(w->step, &t->access->effect);
  return true;
}

/* Of an access that leaves the SM: lanes that hit the CTA's shared memory or local memory never do. Where lines are not
 * where its lanes are (t->gathered), all lanes but those of another CTA's memory are performed. */
static bool perform_here(struct mem_access *a, struct warp_slot *w, struct txn *t)
{
  const struct mem_effect *m = &t->access->mem;
  if (t->gathered && !t->far) return perform_now(a, w, t);
  lane_mask here = (m->near_lanes & ~m->far) | (t->gathered ? m->lanes : 0);
  return !here || perform(a, w, t, here);
}

/* First byte of shared memory that both touch, the LDGSTS `first` at its destinations. */
static bool overlap(const struct txn *t, const struct txn *first, uint32_t *address)
{
  bool ldgsts = t->access->mem.op == MEM_LDGSTS;
  lane_mask lanes = t->access->mem.lanes | (ldgsts ? t->access->mem.near_lanes : 0);
  for (lane_mask m = lanes; m; m &= m - 1) {
    unsigned a = bits_first(m);
    uint64_t at = ldgsts ? t->access->mem.shared_addr[a] : t->access->mem.addr[a];
    for (lane_mask k = first->access->mem.lanes | first->access->mem.near_lanes; k; k &= k - 1) {
      uint32_t to = first->access->mem.shared_addr[bits_first(k)];
      if (at >= (uint64_t)to + first->access->mem.bytes || to >= at + t->access->mem.bytes) continue;
      *address = at > to ? (uint32_t)at : to;
      return true;
    }
  }
  return false;
}

/* For the hazard checker: does the CTA touch shared memory that one of its LDGSTS has still to write? */
static void check_ldgsts(struct mem_access *a, const struct warp_slot *w, const struct txn *t)
{
  bool asked = a->observers && a->observers->unordered;
  for (unsigned i = 0; asked && i < a->pool->fresh; i++) {
    const struct txn *first = &a->pool->t[i];
    bool writes = first->async_group != TXN_NO_GROUP && (first->access->effect.flags & EFF_MEM);
    if (first == t || !writes || first->kind == TXN_COPY) continue;
    if (a->warps[first->sub_core]->slot[first->warp].cta_slot != w->cta_slot) continue;
    uint32_t address;
    if (overlap(t, first, &address)) observe_unordered(a->observers, t->sub_core, first->inst, t->inst, address);
  }
}

/* From numbers of lines to their names, when all that compares them with addresses is done. */
static void name_lines(struct txn *t)
{
  for (unsigned i = 0; t->grid->space && i < t->n_lines; i++) t->line[i].line |= t->grid->space;
}

/* Some of its lines are in memory behind links. Lines have their names: the address is below the space. */
static bool is_remote(const struct txn *t)
{
  for (unsigned i = 0; i < t->n_lines; i++) {
    unsigned home = place_of(t->grid->places, line_number(t->line[i].line) * LINE_BYTES);
    if (home == PLACE_READS && !mem_op_writes(t->access->mem.op)) continue;
    if (home != PLACE_OWN && home - 1 != t->grid->node) return true;
  }
  return false;
}

/* A weak load that L1 takes: all of its lines are in memory of other nodes. */
static bool is_elsewhere(const struct mem_access *a, const struct txn *t)
{
  if (!a->params->l1_remote || a->params->l1_perfect || t->op != MEM_LOAD || t->access->mem.strong || t->far ||
      t->gathered)
    return false;
  for (unsigned i = 0; i < t->n_lines; i++) {
    const unsigned home = place_of(t->grid->places, line_number(t->line[i].line) * LINE_BYTES);
    if (!place_is_node(home) || home - 1 == t->grid->node) return false;
  }
  return true;
}

/* Where bytes of other nodes are in other processes only loads, stores and atomics reach them: all else has the bytes
 * of this process. */
static bool refuse_elsewhere(struct mem_access *a, const struct txn *t)
{
  *a->fault = (struct fault){.kind = FAULT_UNSUPPORTED, .pc = t->inst->pc, .source = t->grid->source};
  snprintf(a->fault->text, sizeof a->fault->text,
           "pc 0x%llx: a texture, or a bulk or tensor copy, in memory of the host or of another GPU; not with --ranks",
           (unsigned long long)t->inst->pc);
  return false;
}

bool mem_access_piece(struct mem_access *a, const struct txn *t, uint64_t addr, uint32_t bytes)
{
  if (!t->grid->apart || !t->grid->places || !bytes) return true;
  const unsigned first = place_of(t->grid->places, addr), last = place_of(t->grid->places, addr + bytes - 1);
  const unsigned own = t->grid->node + 1;
  return ((first == PLACE_OWN || first == own) && (last == PLACE_OWN || last == own)) || refuse_elsewhere(a, t);
}

/* Performed at its L2 slice: an atomic, and what is strong for more threads than those of a CTA, who share this L1. */
static bool is_strong(const struct txn *t)
{
  const bool plain = t->access->mem.op == MEM_LOAD || t->access->mem.op == MEM_STORE;
  return t->access->mem.strong && !(plain && t->inst->scope == SCOPE_CTA);
}

static void book_excess(struct sm_stats *s, const struct txn *t)
{
  const unsigned n = coalescer_excess(t);
  if (!n) return;
  s->excess_sectors += n;
  t->grid->excess[code_number(&t->grid->code, t->inst)] += n;
}

static bool global_access(struct mem_access *a, struct warp_slot *w, struct txn *t)
{
  struct sm_stats *s = a->stats;
  bool local = t->access->mem.space == MEM_LOCAL;
  /* Local memory of a warp slot: a region of line numbers of its own, above all global lines. */
  uint64_t slot_space =
      LINE_LOCAL | (uint64_t)(a->sm * 64 + t->sub_core * SUB_CORE_MAX_WARPS + t->warp) << 32;
  bool dense = false;
  txn_borrow_lines(a->pool, t);
  t->mem_class = (uint8_t)(t->inst->mem.image ? MEM_CLASS_TEX : mem_class_of(&t->access->mem));
  if (local)
    coalesce_local(t, slot_space, t->grid->lanes);
  else
    dense = coalesce_global(t, t->grid->lanes);
  if (!dense && !local) book_excess(s, t);
  if (a->params->ideal_coalescing && !local) t->gathered = coalesce_ideal(t);
  s->global_insts++;
  s->mem_class[t->mem_class] += t->n_lines != 0; /* else its lanes are in shared and local memory, or nowhere */
  s->global_lines += t->n_lines;
  bool plain_access = dense && t->access->mem.op <= MEM_STORE && !t->access->mem.near_lanes;
  unsigned cycles = l1_cycles(a->params, t, local || plain_access);
  if (t->access->mem.op == MEM_LDGSTS) {
    check_ldgsts(a, w, t);
    const struct mem_effect *m = &t->access->mem;
    const unsigned lanes = t->grid->lanes, turns = bank_turns(a->params);
    const bool plain = a->params->ideal_banks;
    unsigned to_shared = plain ? smem_min_passes(m, lanes) * turns : smem_ldgsts_time(m, lanes, turns).cycles;
    if (to_shared > cycles) cycles = to_shared;
  }
  occupy(a->params, t, cycles);
  if (!local && (t->access->mem.op == MEM_ATOMIC || t->access->mem.op == MEM_RED)) coalesce_atomics(t);
  if (!local) name_lines(t);
  bool remote = !local && t->grid->places && is_remote(t);
  if (remote && t->grid->apart && (t->gathered || t->inst->mem.image)) return refuse_elsewhere(a, t);
  const bool behind = !local && strong_pending(&a->strong, t);
  if (remote && !behind && is_elsewhere(a, t)) {
    t->kind = TXN_ELSEWHERE;
    strong_note(&a->strong, t, 1);
    return perform_here(a, w, t);
  }
  if (!local && (is_strong(t) || remote || t->far || behind)) {
    t->kind = TXN_STRONG;
    s->strong_insts++;
    strong_note(&a->strong, t, 1);
    return perform_here(a, w, t);
  }
  t->kind = TXN_GLOBAL;
  return mem_access_comes_late(a, t) || perform_now(a, w, t);
}

/* Groups of `width` neighbouring lanes with work. */
static unsigned lane_groups(lane_mask lanes, unsigned width)
{
  unsigned n = 0;
  for (unsigned i = 0; i < LANES_MAX; i += width) n += (lanes >> i & bits_ones(width)) != 0;
  return n;
}

/* Texels come from L1, a request of a quad (or, with one coordinate, of two) per cycle. */
static bool texture_access(struct mem_access *a, struct warp_slot *w, struct txn *t)
{
  struct sm_stats *s = a->stats;
  const struct params *q = a->params;
  bool line = t->access->mem.texture_axes == 1;
  unsigned width = line ? q->tex_request_lanes_1d : q->tex_request_lanes;
  unsigned requests = lane_groups(t->access->mem.lanes, width), plain = (unsigned)div_up(t->grid->lanes, width);
  unsigned samples = bits_count(t->access->mem.lanes) * t->access->mem.n_texels;
  txn_borrow_lines(a->pool, t);
  t->mem_class = (uint8_t)mem_class_of(&t->access->mem);
  coalesce_texels(t);
  unsigned filter = (unsigned)div_up(samples, q->tex_texels_per_cycle);
  unsigned tags = coalescer_tag_passes(t, &q->l1_tag_bank_masks);
  unsigned busy = requests > filter ? requests : filter;
  if (tags > busy) busy = tags;
  t->busy = (uint16_t)busy;
  t->extra = (uint16_t)(busy > plain ? busy - plain : 0);
  s->texture_insts++;
  s->mem_class[MEM_CLASS_TEX]++;
  s->texture_requests += requests;
  s->texture_lines += t->n_lines;
  name_lines(t);
  if (t->grid->apart && t->grid->places && is_remote(t)) return refuse_elsewhere(a, t);
  t->kind = TXN_GLOBAL;
  return perform_now(a, w, t);
}

/* All else is the copy engine's. */
static bool copy_access(struct txn *t)
{
  t->kind = TXN_COPY;
  t->busy = 1;
  return true;
}

/* ideal.banks, and of atomics, whose passes are those that update one word, too, ideal.atomics. */
static bool without_conflicts(const struct params *q, const struct txn *t)
{
  bool atomic = t->access->mem.op == MEM_ATOMIC || t->access->mem.op == MEM_RED;
  return atomic ? q->ideal_atomics : q->ideal_banks;
}

static bool shared_access(struct mem_access *a, struct warp_slot *w, struct txn *t)
{
  struct sm_stats *s = a->stats;
  check_ldgsts(a, w, t);
  const struct mem_effect *me = &t->access->mem;
  const bool fill = t->inst->mem.fill;
  const unsigned turns = bank_turns(a->params);
  struct smem_time needs = fill ? smem_fill_time(me, turns) : smem_time(me, t->inst->mem.counts, t->grid->lanes, turns);
  unsigned least = fill ? needs.passes : smem_min_passes(me, t->grid->lanes);
  s->shared_insts++;
  if (least > needs.passes) least = needs.passes; /* shared words */
  const unsigned plain = least * turns;
  if (without_conflicts(a->params, t)) needs = (struct smem_time){least, plain};
  const unsigned passes = needs.passes;
  s->shared_passes += passes;
  s->shared_conflicts += passes - least;
  enum mem_class class = mem_class_of(me);
  s->mem_class[class]++;
  s->class_passes[class] += passes;
  s->class_conflicts[class] += passes - least;
  uint64_t index = code_number(&t->grid->code, t->inst);
  t->grid->passes[index] += passes;
  t->grid->conflicts[index] += passes - least;
  t->kind = TXN_SHARED;
  t->busy = (uint16_t)needs.cycles;
  t->extra = (uint16_t)(needs.cycles > plain ? needs.cycles - plain : 0);
  return mem_access_comes_late(a, t) || perform_now(a, w, t);
}

/* Shared memory of other SMs is touched when the network says so; that of the own CTA now. */
static bool cluster_access(struct mem_access *a, struct warp_slot *w, struct txn *t)
{
  t->kind = TXN_CLUSTER;
  a->stats->cluster_insts++;
  return !t->access->mem.near_lanes || perform(a, w, t, t->access->mem.near_lanes);
}

/* Addresses of LDC are bank << 32 | offset, those of scalar loads global ones. */
static unsigned bank_of(const struct txn *t, uint64_t addr)
{
  bool scalar = t->access->mem.space == MEM_SCALAR;
  return (scalar ? (unsigned)GRID_SCALAR_BANKS : t->grid->const_space) + (unsigned)(addr >> 32);
}

/* LDC: lines missing in L0 VL come from L1; of those that are on their way from L2 the memory unit is told. Scalar
 * loads take the same way. */
static bool const_access(struct mem_access *a, struct warp_slot *w, struct txn *t, uint64_t now)
{
  t->kind = TXN_CONST;
  a->stats->mem_class[MEM_CLASS_CONST]++;
  uint64_t readable = now, last = UINT64_MAX, at = now;
  for (lane_mask m = t->access->mem.lanes; m; m &= m - 1) {
    uint64_t addr = t->access->mem.addr[bits_first(m)];
    if (addr / a->params->const_line != last) at = const_cache_read(&a->vl, bank_of(t, addr), (uint32_t)addr, now);
    last = addr / a->params->const_line;
    if (at == L1I_ON_ITS_WAY)
      t->lanes_away |= m & -m;
    else if (at > readable)
      readable = at;
  }
  t->extra = (uint16_t)(readable - now);
  return perform_now(a, w, t);
}

bool mem_access_const_arrived(struct txn *t, uint64_t line)
{
  lane_mask away = t->lanes_away;
  for (lane_mask m = away; m; m &= m - 1) {
    uint64_t addr = t->access->mem.addr[bits_first(m)];
    if (l1i_const_line(bank_of(t, addr), (uint32_t)addr) == line) t->lanes_away &= ~(m & -m);
  }
  return away && !t->lanes_away;
}

/* A fence waits for everything that is performed outside the SM or with what comes from there: loads, too, for whoever
 * sees what is stored behind the fence may overwrite what they read. Before the addresses are known, that may be any
 * access that is not sure to stay. */
static bool awaited_by_fences(const struct txn *t)
{
  unsigned space = t->inst->mem.space;
  if (t->unread) return space != MEM_NONE && space != MEM_SHARED && space != MEM_CONST && space != MEM_SCALAR;
  return mem_access_waits(t) || (t->kind == TXN_GLOBAL && t->op == MEM_STORE);
}

bool mem_access_sort(struct mem_access *a, struct txn *t, uint64_t now)
{
  struct warp_slot *w = &a->warps[t->sub_core]->slot[t->warp];
  const struct inst *in = t->inst;
  bool touches = !t->unread && (t->access->effect.flags & EFF_MEM), ok = true;
  bool somewhere = touches && in->mem.space != MEM_NONE; /* a generic access is resolved */
  t->n_lines = 0;
  t->busy = t->extra = 0;
  t->far = touches && t->access->mem.far;
  t->gathered = false;
  t->idle = !t->unread && !t->access->effect.exec;
  t->lanes_away = 0;
  t->kind = TXN_OTHER;
  t->op = touches ? t->access->mem.op : 0;
  t->stages = mem_stages(a->params, in, somewhere ? t->access->mem.space : in->mem.space, t->grid->lanes);
  if (touches && in->mem.copy)
    ok = copy_access(t);
  else if (touches && (t->access->mem.space == MEM_GLOBAL || t->access->mem.space == MEM_LOCAL))
    ok = global_access(a, w, t);
  else if (touches && t->access->mem.space == MEM_TEXTURE)
    ok = texture_access(a, w, t);
  else if (touches && t->access->mem.space == MEM_SHARED)
    ok = shared_access(a, w, t);
  else if (touches && t->access->mem.space == MEM_CLUSTER)
    ok = cluster_access(a, w, t);
  else if (touches)
    ok = const_access(a, w, t, now);
  const bool counted = t->fenced;
  t->fenced = awaited_by_fences(t);
  if (t->fenced && !counted) t->epoch = fences_enter(&a->fences);
  return ok;
}

bool mem_access_comes_late(const struct mem_access *a, const struct txn *t)
{
  if (t->after_copies) return true;
  return a->late_copies && t->kind == TXN_GLOBAL && t->op == MEM_LDGSTS;
}

uint8_t mem_access_home(const struct txn *t, uint64_t line)
{
  if (!t->grid->places || t->gathered) return PLACE_OWN;
  unsigned home = place_of(t->grid->places, line_number(line) * LINE_BYTES);
  if (home == PLACE_READS) return mem_op_writes(t->op) ? PLACE_FAULTS : PLACE_OWN;
  return (uint8_t)(home - 1 == t->grid->node ? (unsigned)PLACE_OWN : home);
}

bool mem_access_refused(const struct txn *t, uint64_t line)
{
  const struct places *p = t->grid->places;
  const uint64_t addr = line_number(line) * LINE_BYTES;
  if (!p || !p->rights || t->gathered || !place_is_node(mem_access_home(t, line))) return false;
  const bool atomic = t->op == MEM_ATOMIC || t->op == MEM_RED;
  return place_refuses(p, addr, mem_op_writes(t->op), atomic && t->inst->scope == SCOPE_SYS);
}

bool mem_access_waits(const struct txn *t)
{
  return t->kind == TXN_STRONG || t->kind == TXN_ELSEWHERE || t->kind == TXN_CLUSTER;
}

lane_mask mem_access_lanes(const struct mem_effect *m, uint64_t line, unsigned sectors)
{
  lane_mask in = 0;
  for (lane_mask l = m->lanes; l; l &= l - 1) {
    const unsigned i = bits_first(l);
    if (m->addr[i] / LINE_BYTES == line && sectors >> m->addr[i] % LINE_BYTES / SECTOR_BYTES & 1)
      in |= (lane_mask)1 << i;
  }
  return in;
}

bool mem_access_elsewhere(struct mem_access *a, struct txn *t, uint64_t line, unsigned sectors, const uint8_t *bytes)
{
  struct warp_slot *w = &a->warps[t->sub_core]->slot[t->warp];
  struct gmem_window x = {.addr = line_number(line) * LINE_BYTES};
  struct gmem_view v = {.image = a->view->image, .window = &x};
  memcpy(x.bytes, bytes, sizeof x.bytes);
  const lane_mask lanes = mem_access_lanes(&t->access->mem, line_number(line), sectors);
  return w->step->ops->perform(w->step, &t->access->effect, lanes, &v, a->fault);
}

bool mem_access_late(struct mem_access *a, struct txn *t)
{
  struct warp_slot *w = &a->warps[t->sub_core]->slot[t->warp];
  return perform(a, w, t, t->access->mem.lanes | t->access->mem.near_lanes);
}
