#include "debug/debug_target.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "func/func.h"
#include "func/sass/inspect.h"
#include "isa/hazard_role.h"
#include "isa/path_order.h"

/* PATIENCE: steps without a CTA that ends until another cluster of them is let in: one that is resident may wait for
 * it. */
enum { PATIENCE = 1 << 16, ARRIVED = 1, GONE = 2 };
#define MOST_KEPT (UINT64_C(8) << 30)

/* ---- what the launch prints, once ---- */

/* A launch that goes over the same instructions again must not print again. */
static ssize_t print_once(void *ctx, const char *text, size_t n)
{
  struct debug_target *t = ctx;
  if (t->position >= t->furthest && t->real_print) fwrite(text, 1, n, t->real_print);
  return (ssize_t)n;
}

static void open_print(struct debug_target *t)
{
  t->real_print = t->params.print ? *t->params.print : NULL;
  t->print = fopencookie(t, "w", (cookie_io_functions_t){.write = print_once});
  NO_MEMORY_IF(!t->print);
  setvbuf(t->print, NULL, _IONBF, 0);
  t->params.print = &t->print;
}

/* ---- kernels that launch kernels ---- */

/* What they ask for happens outside of the launch and cannot be taken back. */
static uint64_t call_runtime(void *ctx, const struct device_call *c)
{
  struct debug_target *t = ctx;
  start_image_free(t->start);
  t->start = NULL;
  err_fill(&t->why_not,
           "the kernel has called the device runtime, for launches of its own, which cannot be taken back");
  const struct device_runtime *real = t->runtime.ctx;
  return real->call(real->ctx, c);
}

/* ---- open, close, rewind ---- */

static bool begin(struct debug_target *t, struct err *e)
{
  func_launch_free(t->func);
  t->func = func_launch_new(&t->params, e);
  if (!t->func) return false;
  t->source = func_source(t->func);
  t->state = TARGET_RUNS;
  t->position = t->thread_insts = t->next_cta = t->quiet = 0;
  t->open = step_cluster_ctas(t->source);
  if (t->params.grid_syncs) t->open = t->n_slots; /* CTAs wait for each other from the start */
  t->turn = (struct target_turn){t->open - 1, t->source->warps_per_cta - 1, 0}; /* so that the first is next */
  t->decided = false;
  t->slice_left = 0;
  t->at_forced = t->at_edit = 0;
  memset(t->slot, 0, t->n_slots * sizeof(struct step_cta *));
  memset(t->arrived, 0, t->n_slots * sizeof *t->arrived);
  return true;
}

static void clear_calls(struct debug_target *t, unsigned slot)
{
  for (unsigned k = 0; k < t->source->warps_per_cta; k++) call_stack_clear(target_calls(t, slot, k));
}

/* Resident CTAs at most: whole clusters. */
static unsigned slots_for(const struct func_params *p, unsigned cluster)
{
  const uint64_t all = (uint64_t)p->grid[0] * p->grid[1] * p->grid[2];
  const unsigned n = all < p->slots_per_worker ? (unsigned)all : p->slots_per_worker;
  return n - n % cluster;
}

static bool start(struct debug_target *t, struct err *e)
{
  const uint32_t *c = t->params.cluster;
  const unsigned n = c[0] * c[1] * c[2], cluster = n ? n : 1;
  t->n_slots = slots_for(&t->params, cluster);
  t->slot = mem_zeroed(t->n_slots, sizeof(struct step_cta *));
  t->arrived = mem_zeroed(t->n_slots, sizeof *t->arrived);
  if (!begin(t, e)) return false;
  t->calls = mem_zeroed((size_t)t->n_slots * t->source->warps_per_cta, sizeof *t->calls);
  return true;
}

bool target_open(struct debug_target *t, struct device *d, const struct module_instance *code, const struct launch *l,
                 const struct target_options *o, struct err *e)
{
  *t = (struct debug_target){.o = *o, .device = d, .code = code, .params = l->params};
  if (!t->o.slice) t->o.slice = 1;
  t->params.on_demand = false; /* steps are taken one by one */
  t->params.n_workers = 1;
  t->runtime = (struct device_runtime){.ctx = (void *)(uintptr_t)l->params.runtime, .call = call_runtime};
  t->e.mem = &t->mem;
  t->view = (struct gmem_view){.image = l->params.image};
  open_print(t);
  t->start = start_image_take(d, o->most_kept ? o->most_kept : MOST_KEPT, &t->why_not);
  if (start(t, e)) return true;
  target_close(t);
  return false;
}

void target_close(struct debug_target *t)
{
  if (t->calls)
    for (unsigned i = 0; i < t->n_slots; i++) clear_calls(t, i);
  func_launch_free(t->func);
  start_image_free(t->start);
  if (t->print) fclose(t->print);
  mem_free(t->calls);
  mem_free(t->slot);
  mem_free(t->arrived);
  mem_free(t->forced);
  mem_free(t->edit);
  *t = (struct debug_target){0};
}

static void apply_edits(struct debug_target *t);

bool target_rewind(struct debug_target *t, struct err *e)
{
  if (!t->start) {
    err_fill(e, "%s", t->why_not.msg);
    return false;
  }
  for (unsigned i = 0; i < t->n_slots; i++) clear_calls(t, i);
  start_image_restore(t->start, t->device);
  t->params.heap = t->device->heap;
  if (!begin(t, e)) return false;
  apply_edits(t);
  return true;
}

/* ---- whose turn it is ---- */

static bool any_live(const struct debug_target *t, unsigned first, unsigned n)
{
  for (unsigned i = first; i < first + n; i++)
    if (t->slot[i]) return true;
  return false;
}

static void admit_at(struct debug_target *t, unsigned first, unsigned n)
{
  for (unsigned i = first; i < first + n; i++) {
    const uint64_t cta = step_cta_at(t->source, t->next_cta++);
    t->slot[i] = t->source->ops->cta_begin(t->source, cta, 0, i, i);
    t->arrived[i] = 0;
    clear_calls(t, i);
  }
  t->quiet = 0;
}

/* Clusters of CTAs come into the open slots that are free. */
static void admit(struct debug_target *t)
{
  const unsigned n = step_cluster_ctas(t->source);
  for (unsigned first = 0; first < t->open && t->next_cta < t->source->n_ctas; first += n)
    if (!any_live(t, first, n)) admit_at(t, first, n);
}

static bool open_more(struct debug_target *t)
{
  const unsigned n = step_cluster_ctas(t->source);
  t->quiet = 0;
  if (t->next_cta >= t->source->n_ctas || t->open + n > t->n_slots) return false;
  t->open += n;
  admit(t);
  return true;
}

/* The path of the warp that goes on: the one of its last step, unless that cannot. */
static unsigned path_of(const struct step_warp *w)
{
  const unsigned path = w->cut_short - 1u;
  return path_is_ready(&w->paths, path) ? path : path_in_turn(&w->paths, w->paths.n - 1u);
}

static bool can_go(const struct debug_target *t, unsigned slot, unsigned warp)
{
  const struct step_cta *c = t->slot[slot];
  return c && warp < c->n_warps && c->warp[warp]->paths.n_ready;
}

static void give(struct debug_target *t, unsigned slot, unsigned warp, unsigned path)
{
  t->turn = (struct target_turn){slot, warp, path};
  t->decided = true;
}

/* The next warp in turn behind the present one, which is last. */
static bool pass_on(struct debug_target *t)
{
  const unsigned per = t->source->warps_per_cta, all = t->open * per;
  const unsigned from = t->turn.slot * per + t->turn.warp;
  for (unsigned k = 1; k <= all; k++) {
    const unsigned i = (from + k) % all;
    if (!can_go(t, i / per, i % per)) continue;
    give(t, i / per, i % per, path_of(t->slot[i / per]->warp[i % per]));
    t->slice_left = t->o.slice;
    return true;
  }
  return false;
}

static bool any_resident(const struct debug_target *t)
{
  return any_live(t, 0, t->n_slots);
}

/* Nothing can go on. The fault is told at the first lane that waits. */
static void deadlock(struct debug_target *t)
{
  unsigned n = 0, slot = 0, warp = 0;
  char line[160] = "";
  for (unsigned i = t->n_slots; i-- > 0;)
    if (t->slot[i]) slot = i, n++;
  const struct step_cta *c = t->slot[slot];
  while (warp + 1 < c->n_warps && !c->warp[warp]->paths.n) warp++;
  func_describe_path(c, warp, 0, line, sizeof line);
  t->state = TARGET_FAULTED;
  t->fault = (struct fault){.kind = FAULT_DEADLOCK, .source = t->source, .pc = c->warp[warp]->paths.p[0].pc - 16};
  snprintf(t->fault.text, sizeof t->fault.text, "deadlock: no warp of %u resident CTAs can run; CTA %llu %s", n,
           (unsigned long long)c->id, line);
  t->last = (struct target_turn){slot, warp, 0};
}

/* What the user wanted at this position. */
static void take_forced(struct debug_target *t)
{
  while (t->at_forced < t->n_forced && t->forced[t->at_forced].at < t->position) t->at_forced++;
  if (t->at_forced == t->n_forced || t->forced[t->at_forced].at != t->position) return;
  const struct target_forced *f = &t->forced[t->at_forced];
  const int slot = target_slot_of(t, f->cta);
  const int path = slot < 0 ? -1 : target_path_of(t->slot[slot], f->warp, f->lane);
  if (path < 0 || !path_is_ready(&t->slot[slot]->warp[f->warp]->paths, (unsigned)path)) return;
  give(t, (unsigned)slot, f->warp, (unsigned)path);
  t->slice_left = t->o.slice;
}

/* The turn as it is without the user. False: nobody can go on. */
static bool decide(struct debug_target *t)
{
  const struct target_turn now = t->turn;
  if (t->slice_left && can_go(t, now.slot, now.warp)) {
    give(t, now.slot, now.warp, path_of(t->slot[now.slot]->warp[now.warp]));
    return true;
  }
  while (!pass_on(t))
    if (!open_more(t)) return false;
  return true;
}

const struct target_turn *target_turn_now(struct debug_target *t)
{
  if (t->state != TARGET_RUNS) return NULL;
  if (t->decided) return &t->turn;
  admit(t);
  if (!any_resident(t)) {
    t->state = TARGET_ENDED;
    return NULL;
  }
  if (++t->quiet > PATIENCE) open_more(t);
  if (!decide(t)) {
    deadlock(t);
    return NULL;
  }
  take_forced(t);
  return &t->turn;
}

void target_force(struct debug_target *t, unsigned slot, unsigned warp, unsigned path)
{
  const struct target_turn *now = target_turn_now(t);
  if (!now || (now->slot == slot && now->warp == warp && now->path == path)) return;
  size_t keep = 0;
  while (keep < t->n_forced && t->forced[keep].at < t->position) keep++;
  t->n_forced = keep;
  if (t->n_forced == t->room_forced) {
    t->room_forced = t->room_forced ? 2 * t->room_forced : 64;
    t->forced = mem_resize(t->forced, t->room_forced, sizeof *t->forced);
  }
  const struct step_cta *c = t->slot[slot];
  t->forced[t->n_forced++] =
      (struct target_forced){t->position, c->id, warp, (unsigned)bits_first(c->warp[warp]->paths.p[path].mask)};
  give(t, slot, warp, path);
  t->slice_left = t->o.slice;
}

/* ---- a step ---- */

/* Registers of the lanes that have just called, before their functions change them. */
static void note_registers(struct warp_calls *calls, const struct step_warp *w, lane_mask lanes)
{
  struct reg_value v;
  for (unsigned reg = 0; reg < calls->n_regs; reg++) {
    w->ops->reg_read(w, reg, &v);
    for (lane_mask r = lanes; r; r &= r - 1) {
      const unsigned lane = (unsigned)bits_first(r);
      uint32_t *kept = call_stack_registers(calls, lane, calls->lane[lane].depth - 1);
      if (kept) kept[reg] = v.lane[lane];
    }
  }
}

static void note_call(struct debug_target *t, const struct step_warp *w, struct warp_calls *calls)
{
  enum { STACK_POINTER = 1 };
  const struct effect *e = &t->e;
  struct reg_value stack;
  w->ops->reg_read(w, STACK_POINTER, &stack);
  calls->n_regs = t->o.caller_registers ? func_register_count(t->slot[t->turn.slot]) : 0;
  for (lane_mask r = e->exec; r; r &= r - 1) {
    const unsigned lane = (unsigned)bits_first(r);
    call_stack_call(calls, lane, e->pc, stack.lane[lane]);
  }
  note_registers(calls, w, e->exec);
}

static void note_return(struct debug_target *t, const struct step_cta *c, struct warp_calls *calls)
{
  const struct effect *e = &t->e;
  for (lane_mask r = e->exec; r; r &= r - 1) {
    const unsigned lane = (unsigned)bits_first(r);
    const int path = target_path_of(c, t->turn.warp, lane);
    if (path < 0) continue;
    call_stack_return(calls, lane, c->warp[t->turn.warp]->paths.p[path].pc, e->inst->next);
  }
}

static void note_calls(struct debug_target *t, const struct step_cta *c)
{
  const struct sass_inst *s = target_inst(t, t->e.pc);
  if (!s || (s->sem != SEM_CALL_REL && s->sem != SEM_CALL_ABS && s->sem != SEM_RET)) return;
  struct warp_calls *calls = target_calls(t, t->turn.slot, t->turn.warp);
  if (s->sem == SEM_RET)
    note_return(t, c, calls);
  else
    note_call(t, c->warp[t->turn.warp], calls);
}

/* The CTAs of a cluster pass its barrier when all have come that are still there. */
static void meet_cluster(struct debug_target *t, unsigned slot, uint32_t flags)
{
  const unsigned n = step_cluster_ctas(t->source), first = slot - slot % n;
  bool all = true, any = false;
  if (n == 1 || !(flags & (EFF_CLUSTER_ARRIVED | EFF_CTA_DONE))) return;
  t->arrived[slot] |= flags & EFF_CTA_DONE ? GONE : ARRIVED;
  for (unsigned i = first; i < first + n; i++) {
    all &= t->arrived[i] != 0;
    any |= (t->arrived[i] & ARRIVED) != 0;
  }
  if (!all || !any) return;
  for (unsigned i = first; i < first + n; i++) {
    t->arrived[i] &= ~(uint32_t)ARRIVED;
    if (t->slot[i]) t->source->ops->cluster_release(t->slot[i]);
  }
}

/* CTAs that a CTA has asked for are not launched any more. */
static void give_work(struct debug_target *t, struct mem_copy *c)
{
  c->found = t->next_cta < t->source->n_ctas;
  if (!c->found) return;
  c->cta = step_cta_at(t->source, t->next_cta);
  t->next_cta += step_cluster_ctas(t->source);
}

/* Registers, then memory. False: a fault. */
static bool execute(struct debug_target *t, struct step_warp *w)
{
  struct effect *e = &t->e;
  const struct step_ops *ops = t->source->ops;
  e->clock = t->o.start_clock + t->position * FUNC_CYCLES_PER_INST;
  e->time_ns = e->clock * t->o.clock_ps / 1000;
  e->flags = 0;
  if (!ops->step(w, t->turn.path, e, &t->fault)) return false;
  t->thread_insts += (uint64_t)bits_count(e->exec);
  if (!(e->flags & EFF_MEM)) return true;
  const lane_mask lanes = t->mem.lanes | t->mem.near_lanes;
  if (e->inst->mem.copy == COPY_WORK) give_work(t, &t->mem.copy);
  if (lanes && !ops->perform(w, e, lanes, &t->view, &t->fault)) return false;
  ops->finish(w, e);
  return true;
}

static void after_step(struct debug_target *t, struct step_cta *c)
{
  struct step_warp *w = c->warp[t->turn.warp];
  if (t->e.inst->flags & INST_BRANCH) note_calls(t, c);
  w->cut_short = w->paths.n_ready ? (uint8_t)(path_after(&w->paths, t->turn.path, &t->e) + 1) : 0;
  meet_cluster(t, t->turn.slot, t->e.flags);
  if (c->warps_left) return;
  t->source->ops->cta_end(t->source, c);
  t->slot[t->turn.slot] = NULL;
  t->quiet = 0;
}

void target_step(struct debug_target *t)
{
  BUG_ON(!t->decided);
  struct step_cta *c = t->slot[t->turn.slot];
  t->last = t->turn;
  t->last_cta = c->id;
  t->decided = false;
  t->slice_left--;
  if (!execute(t, c->warp[t->turn.warp])) {
    t->state = TARGET_FAULTED;
    return;
  }
  t->position++;
  if (t->position > t->furthest) t->furthest = t->position;
  after_step(t, c);
  apply_edits(t);
}

/* ---- what the user changes ---- */

static bool edit_memory(uint8_t *at, uint64_t bytes, const struct target_edit *x)
{
  if (!at || x->addr > bytes || bytes - x->addr < x->bytes) return false;
  memcpy(at + x->addr, x->data, x->bytes);
  return true;
}

static bool edit_register(struct step_cta *c, const struct target_edit *x)
{
  struct reg_value v = {0};
  uint32_t word = 0;
  if (x->addr >= HAZARD_REGS || (x->addr < HAZARD_UR && x->addr >= func_register_count(c))) return false;
  memcpy(&word, x->data, sizeof word);
  for (unsigned i = 0; i < LANES_MAX; i++) v.lane[i] = word;
  v.bits = word ? ~(lane_mask)0 : 0;
  c->source->ops->reg_write(c->warp[x->warp], (unsigned)x->addr, x->lanes, &v);
  return true;
}

static bool apply(struct debug_target *t, const struct target_edit *x)
{
  uint64_t bytes = 0;
  if (x->kind == EDIT_GLOBAL) return gmem_write(t->device->mem, x->addr, x->data, x->bytes);
  const int slot = target_slot_of(t, x->cta);
  if (slot < 0 || x->warp >= t->slot[slot]->n_warps || !x->lanes) return false;
  struct step_cta *c = t->slot[slot];
  if (x->kind == EDIT_REGISTER) return edit_register(c, x);
  uint8_t *at = x->kind == EDIT_SHARED ? func_shared_memory(c, &bytes)
                                       : func_local_memory(c, x->warp, (unsigned)bits_first(x->lanes), &bytes);
  return edit_memory(at, bytes, x);
}

static void apply_edits(struct debug_target *t)
{
  while (t->at_edit < t->n_edits && t->edit[t->at_edit].at < t->position) t->at_edit++;
  if (t->at_edit < t->n_edits && t->edit[t->at_edit].at == t->position) target_turn_now(t); /* its CTA may come now */
  for (; t->at_edit < t->n_edits && t->edit[t->at_edit].at == t->position; t->at_edit++) apply(t, &t->edit[t->at_edit]);
}

bool target_edit(struct debug_target *t, const struct target_edit *x)
{
  struct target_edit now = *x;
  now.at = t->position;
  if (!apply(t, &now)) return false;
  if (t->n_edits == t->room_edits) {
    t->room_edits = t->room_edits ? 2 * t->room_edits : 16;
    t->edit = mem_resize(t->edit, t->room_edits, sizeof *t->edit);
  }
  size_t at = t->n_edits;
  while (at && t->edit[at - 1].at > now.at) at--;
  memmove(&t->edit[at + 1], &t->edit[at], (t->n_edits - at) * sizeof *t->edit);
  t->edit[at] = now;
  t->n_edits++;
  t->at_edit = at + 1;
  return true;
}

/* ---- looking ---- */

int target_slot_of(const struct debug_target *t, uint64_t cta)
{
  for (unsigned i = 0; i < t->n_slots; i++)
    if (t->slot[i] && t->slot[i]->id == cta) return (int)i;
  return -1;
}

int target_path_of(const struct step_cta *c, unsigned warp, unsigned lane)
{
  const struct step_paths *p = &c->warp[warp]->paths;
  for (unsigned i = 0; i < p->n; i++)
    if (p->p[i].mask >> lane & 1) return (int)i;
  return -1;
}

const struct sass_inst *target_inst(const struct debug_target *t, uint64_t pc)
{
  const struct code_view *c = &t->params.code;
  return code_at(c, pc) ? &((const struct sass_inst *)c->decoded)[code_index(c, pc)] : NULL;
}

struct warp_calls *target_calls(const struct debug_target *t, unsigned slot, unsigned warp)
{
  return &t->calls[(size_t)slot * t->source->warps_per_cta + warp];
}

static uint64_t digest_range(const struct gmem *mem, const struct gmem_range *r, uint64_t h)
{
  uint8_t data[4096];
  for (uint64_t at = 0; at < r->bytes; at += sizeof data) {
    const uint64_t n = r->bytes - at < sizeof data ? r->bytes - at : sizeof data;
    if (!gmem_read(mem, r->addr + at, data, n)) continue;
    for (uint64_t i = 0; i < n; i++) h = (h ^ data[i]) * UINT64_C(0x100000001b3);
  }
  return h;
}

uint64_t target_digest(struct debug_target *t)
{
  struct gmem_range r;
  uint64_t h = UINT64_C(0xcbf29ce484222325) ^ t->position;
  for (size_t cursor = 0; gmem_next_range(t->device->mem, &cursor, &r);) h = digest_range(t->device->mem, &r, h);
  for (unsigned i = 0; i < t->n_slots; i++)
    if (t->slot[i]) h = func_digest(t->slot[i], h);
  return h;
}
