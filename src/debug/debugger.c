#include "debug/debugger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "debug/source_value.h"
#include "debug/source_variable.h"
#include "func/sass/step_observer.h"
#include "isa/isa.h"
#include "isa/path_order.h"

/* ALONE_STEPS: of a step that takes long, so many are of the focus's path alone: it may wait for others in a loop. */
enum { POLL_STEPS = 1 << 14, ALONE_STEPS = 256 };

/* ---- open, close ---- */

static void focus_on_turn(struct debugger *d);

bool debugger_open(struct debugger *d, struct device *dev, const struct module_instance *code, const struct launch *l,
                   const struct module_kernel *k, struct debug_points *points, const struct target_options *o,
                   struct err *e)
{
  struct err lines;
  struct target_options options = *o;
  *d = (struct debugger){.points = points, .kernel = k, .number = 1, .told.at = UINT64_MAX};
  if (!source_map_open(&d->map, module_of(code), module_code(code), &lines)) {
    fprintf(stderr, "warpstep: %s; there are no source lines\n", lines.msg);
    line_table_free(&d->map.lines);
  }
  points_place(points, &d->map, module_code(code));
  debug_info_read(module_of(code), &d->variables);
  options.caller_registers = d->variables.n_variables > 0;
  if (!target_open(&d->target, dev, code, l, &options, e)) {
    debug_info_free(&d->variables);
    source_map_close(&d->map);
    return false;
  }
  d->names = (struct expression_names){d, source_variable_find, source_value_member, source_value_element};
  target_turn_now(&d->target);
  focus_on_turn(d);
  points_look(points, &d->target);
  return true;
}

void debugger_close(struct debugger *d)
{
  target_close(&d->target);
  debug_info_free(&d->variables);
  source_map_close(&d->map);
}

/* ---- the focus ---- */

lane_mask debugger_active(const struct debugger *d)
{
  const struct step_path *p = d->target.slot[d->focus.slot] ? view_path(&d->focus) : NULL;
  return p ? p->mask : 0;
}

static void focus_set(struct debugger *d, unsigned slot, unsigned warp, unsigned lane)
{
  d->focus = (struct lane_view){&d->target, slot, warp, lane};
}

/* Stays on the lane if it is in that path. */
static void focus_on_path(struct debugger *d, unsigned slot, unsigned warp, unsigned path)
{
  const struct step_paths *p = &d->target.slot[slot]->warp[warp]->paths;
  const bool here = d->focus.t && d->focus.slot == slot && d->focus.warp == warp;
  if (path >= p->n || (here && p->p[path].mask >> d->focus.lane & 1)) return;
  focus_set(d, slot, warp, (unsigned)bits_first(p->p[path].mask));
}

static void focus_on_turn(struct debugger *d)
{
  const struct target_turn *turn = target_turn_now(&d->target);
  focus_set(d, 0, 0, 0);
  if (turn) focus_on_path(d, turn->slot, turn->warp, turn->path);
}

/* A faulted launch has nobody's turn: the warp that faulted. */
static void focus_on_last(struct debugger *d)
{
  const struct target_turn *l = &d->target.last;
  if (d->target.slot[l->slot]) focus_on_path(d, l->slot, l->warp, l->path);
}

/* The lane that was looked at is gone: the next in turn. */
static void focus_keep(struct debugger *d, uint64_t cta)
{
  const struct step_cta *c = d->target.slot[d->focus.slot];
  if (!c || c->id != cta || !view_path(&d->focus)) focus_on_turn(d);
}

bool debugger_focus(struct debugger *d, uint64_t cta, unsigned warp, unsigned lane, struct err *e)
{
  const int slot = target_slot_of(&d->target, cta);
  if (slot < 0) return err_set(e, "CTA %" PRIu64 " is not resident; 'info ctas' lists those that are", cta);
  if (warp >= d->target.slot[slot]->n_warps)
    return err_set(e, "a CTA has %u warps, from 0", d->target.slot[slot]->n_warps);
  const struct lane_view v = {&d->target, (unsigned)slot, warp, lane};
  if (lane >= d->target.source->lanes || !(func_live_lanes(d->target.slot[slot], warp) >> lane & 1))
    return err_set(e, "lane %u of warp %u has exited, or has no thread", lane, warp);
  d->focus = v;
  return true;
}

uint64_t debugger_thread(const struct debugger *d, const struct lane_view *v)
{
  const struct step_cta *c = d->target.slot[v->slot];
  return c ? 1 + c->id * d->target.source->warps_per_cta + v->warp : 1;
}

bool debugger_focus_thread(struct debugger *d, uint64_t thread)
{
  struct err ignored;
  const unsigned per = d->target.source->warps_per_cta;
  if (!thread) return false;
  if (d->target.slot[d->focus.slot] && debugger_thread(d, &d->focus) == thread && view_path(&d->focus)) return true;
  const uint64_t cta = (thread - 1) / per;
  const unsigned warp = (unsigned)((thread - 1) % per);
  const int slot = target_slot_of(&d->target, cta);
  const uint32_t live = slot < 0 ? 0 : func_live_lanes(d->target.slot[slot], warp);
  const bool home = d->home == thread && live >> d->home_lane & 1;
  return live && debugger_focus(d, cta, warp, home ? d->home_lane : (unsigned)bits_first(live), &ignored);
}

void debugger_stay(struct debugger *d)
{
  d->home = debugger_thread(d, &d->focus);
  d->home_lane = d->focus.lane;
}

/* ---- stops ---- */

static const struct debug_stop *stopped(struct debugger *d, enum stop_kind kind)
{
  d->stop = (struct debug_stop){.kind = kind};
  return &d->stop;
}

static const struct debug_stop *stopped_at(struct debugger *d, enum stop_kind kind, const struct point_hit *hit)
{
  d->focus = hit->lane;
  if (!d->target.slot[d->focus.slot]) focus_on_turn(d);
  stopped(d, kind);
  d->stop.point = hit->point->id;
  d->told.at = d->target.position;
  d->told.slot = hit->lane.slot;
  d->told.warp = hit->lane.warp;
  if (hit->point->once) {
    points_delete(d->points, hit->point->id);
    points_mark(d->points, &d->target.params.code);
  }
  return &d->stop;
}

/* Nobody's turn. */
static const struct debug_stop *over(struct debugger *d)
{
  if (d->target.state == TARGET_FAULTED) focus_on_last(d);
  return stopped(d, d->target.state == TARGET_FAULTED ? STOP_FAULT : STOP_END);
}

static const struct debug_stop *refused(struct debugger *d, const struct err *why)
{
  stopped(d, STOP_REFUSED);
  d->stop.why = *why;
  return &d->stop;
}

static bool interrupted(const struct debugger *d)
{
  return d->interrupted && d->target.position % POLL_STEPS == 0 && d->interrupted(d->ctx);
}

/* ---- forwards ---- */

/* The turn's instruction, whoever's it is. NULL: nothing stops here. */
static const struct debug_stop *advance(struct debugger *d)
{
  struct point_hit hit;
  target_step(&d->target);
  if (d->points->n_watches && points_hit_watch(d->points, &d->target, &hit)) return stopped_at(d, STOP_WATCH, &hit);
  if (!target_turn_now(&d->target)) return over(d);
  if (interrupted(d)) return stopped(d, STOP_INTERRUPT);
  return NULL;
}

static const struct debug_stop *break_here(struct debugger *d)
{
  struct point_hit hit;
  const struct target_turn *turn = target_turn_now(&d->target);
  return turn && points_hit_code(d->points, &d->target, turn, &d->names, true, &hit) ? stopped_at(d, STOP_BREAK, &hit)
                                                                                     : NULL;
}

/* Whether the turn is the focus's path's. */
static bool has_turn(struct debugger *d)
{
  const struct target_turn *turn = target_turn_now(&d->target);
  return turn && d->focus.slot == turn->slot && d->focus.warp == turn->warp &&
         d->target.slot[turn->slot]->warp[turn->warp]->paths.p[turn->path].mask >> d->focus.lane & 1;
}

/* As break_here, but the user stands at what the focus's path is about to do, or was told of this turn. */
static const struct debug_stop *break_at_others(struct debugger *d)
{
  const struct target_turn *turn = target_turn_now(&d->target);
  const bool told =
      turn && d->told.at == d->target.position && d->told.slot == turn->slot && d->told.warp == turn->warp;
  return told || has_turn(d) ? NULL : break_here(d);
}

const struct debug_stop *debugger_continue(struct debugger *d)
{
  const struct debug_stop *s;
  if (!target_turn_now(&d->target)) return over(d);
  if ((s = break_at_others(d))) return s;
  do {
    if ((s = advance(d))) return s;
  } while (!(s = break_here(d)));
  return s;
}

/* Until the focus's path can go on: the others. NULL: it can. */
static const struct debug_stop *wait_for_turn(struct debugger *d)
{
  const struct debug_stop *s;
  while (true) {
    const struct step_path *p = view_path(&d->focus);
    if (!p || p->wait == PATH_READY) return NULL;
    if ((s = break_at_others(d)) || (s = advance(d))) return s;
  }
}

/* The others, until it is the turn of the focus's path. NULL: it is, or its lane has exited. */
static const struct debug_stop *let_others(struct debugger *d)
{
  const struct debug_stop *s;
  while (view_path(&d->focus) && !has_turn(d))
    if ((s = break_at_others(d)) || (s = advance(d))) return s;
  return NULL;
}

/* One instruction of the focus's path; alone: ahead of all others. NULL: it was executed, and nothing stops. */
static const struct debug_stop *step_focus(struct debugger *d, bool alone)
{
  const struct debug_stop *s;
  if (!target_turn_now(&d->target)) return over(d);
  const uint64_t cta = d->target.slot[d->focus.slot] ? d->target.slot[d->focus.slot]->id : UINT64_MAX;
  focus_keep(d, cta);
  if ((s = alone ? wait_for_turn(d) : let_others(d))) return s;
  const struct step_cta *c = view_cta(&d->focus);
  const int path = c ? target_path_of(c, d->focus.warp, d->focus.lane) : -1;
  if (path >= 0) target_force(&d->target, d->focus.slot, d->focus.warp, (unsigned)path);
  const uint64_t id = path >= 0 ? c->id : UINT64_MAX;
  if ((s = advance(d))) return s;
  focus_keep(d, id);
  return NULL;
}

/* Where the focus is: what its steps are measured by. */
struct step_place {
  uint64_t cta, pc;
  unsigned warp, lane, depth;
  uint32_t calls; /* of which calls: the rest of depth is inlined */
  uint32_t line, file;
  char function[SOURCE_NAME];
};

static struct step_place place_of(const struct debugger *d)
{
  struct source_frame f[SOURCE_FRAMES];
  struct step_place p = {.cta = UINT64_MAX};
  const struct step_cta *c = d->target.slot[d->focus.slot];
  if (!c && d->target.position) /* the end: whoever came last */
    return (struct step_place){
        .cta = d->target.last_cta, .warp = d->target.last.warp, .lane = (unsigned)bits_first(d->target.e.active)};
  if (!c) return p;
  p = (struct step_place){.cta = c->id, .warp = d->focus.warp, .lane = d->focus.lane, .pc = view_pc(&d->focus)};
  const unsigned inlined = source_map_frames(&d->map, p.pc, f);
  p.calls = target_calls(&d->target, d->focus.slot, p.warp)->lane[p.lane].depth;
  p.depth = p.calls + inlined;
  if (f[0].row) p.line = f[0].row->line, p.file = f[0].row->file;
  memcpy(p.function, f[0].function, sizeof p.function);
  return p;
}

static bool same_lane(const struct step_place *a, const struct step_place *b)
{
  return a->cta == b->cta && a->warp == b->warp && a->lane == b->lane;
}

/* Whether a step that began at `from` ends at `now`. */
static bool ends(enum step_what what, const struct step_place *from, const struct step_place *now)
{
  if (!same_lane(from, now)) return true; /* it has exited */
  switch (what) {
  case STEP_OVER: return now->calls <= from->calls;
  case STEP_LINE: return now->line && (now->line != from->line || now->file != from->file || now->depth != from->depth);
  case STEP_LINE_OVER:
    return now->depth < from->depth ||
           (now->line && now->depth == from->depth && (now->line != from->line || now->file != from->file));
  case STEP_OUT: return now->depth < from->depth;
  default: return true;
  }
}

/* Where no source lines are known, a step of lines is one of instructions. */
static enum step_what without_lines(enum step_what what, const struct step_place *from)
{
  if (from->line || from->depth > 1) return what;
  return what == STEP_LINE ? STEP_INST : what == STEP_LINE_OVER ? STEP_OVER : what;
}

static const struct debug_stop *step_cta(struct debugger *d)
{
  const struct step_cta *c = d->target.slot[d->focus.slot];
  const struct lane_view was = d->focus;
  const uint64_t id = c ? c->id : 0;
  const struct debug_stop *s = NULL;
  for (unsigned k = 0; c && !s && target_slot_of(&d->target, id) >= 0 && k < c->n_warps; k++) {
    const struct step_paths *p = &c->warp[k]->paths;
    if (!p->n_ready) continue;
    target_force(&d->target, was.slot, k,
                 path_in_turn(p, c->warp[k]->cut_short ? c->warp[k]->cut_short - 2u + p->n : 0));
    s = advance(d);
  }
  if (s) return s;
  d->focus = was;
  focus_keep(d, id);
  return stopped(d, STOP_STEP);
}

const struct debug_stop *debugger_step(struct debugger *d, enum step_what what)
{
  const struct step_place from = place_of(d);
  const struct debug_stop *s;
  if (!target_turn_now(&d->target)) return over(d);
  if (what == STEP_CTA) return step_cta(d);
  what = without_lines(what, &from);
  for (unsigned n = 0;; n++) {
    if ((s = step_focus(d, n < ALONE_STEPS))) return s;
    const struct step_place now = place_of(d);
    if (ends(what, &from, &now)) return stopped(d, STOP_STEP);
    if (n >= ALONE_STEPS) continue;
    if (view_path(&d->focus)->wait == PATH_READY) {
      target_force(&d->target, d->focus.slot, d->focus.warp,
                   (unsigned)target_path_of(view_cta(&d->focus), d->focus.warp, d->focus.lane));
      if ((s = break_here(d))) return s;
    }
  }
}

/* ---- backwards ---- */

/* Executes from where it is up to a position, or as far as it goes. */
static void replay(struct debugger *d, uint64_t position)
{
  while (d->target.position < position && target_turn_now(&d->target)) target_step(&d->target);
}

/* At `position`, with the focus on a lane if it is there. */
static void settle(struct debugger *d, uint64_t position, const struct step_place *want)
{
  struct err ignored;
  replay(d, position);
  target_turn_now(&d->target);
  points_look(d->points, &d->target);
  focus_on_turn(d);
  if (want && want->cta != UINT64_MAX) debugger_focus(d, want->cta, want->warp, want->lane, &ignored);
}

/* The last position ahead of `end` that a search accepts. */
struct search {
  uint64_t best;
  bool found;
  unsigned point; /* id; 0: none */
  bool of_watch;
  struct step_place focus;
};

static void accept(struct debugger *d, struct search *s, const struct lane_view *v, unsigned point, bool watch,
                   uint64_t position)
{
  s->best = position;
  s->found = true;
  s->point = point;
  s->of_watch = watch;
  s->focus = (struct step_place){
      .cta = d->target.slot[v->slot] ? d->target.slot[v->slot]->id : UINT64_MAX, .warp = v->warp, .lane = v->lane};
}

/* From the start up to `end`: the last hit of a breakpoint, or access to what is watched. */
static void search_points(struct debugger *d, uint64_t end, struct search *s)
{
  struct point_hit hit;
  points_look(d->points, &d->target);
  while (d->target.position < end) {
    const uint64_t at = d->target.position;
    const struct target_turn *turn = target_turn_now(&d->target);
    if (!turn) return;
    if (points_hit_code(d->points, &d->target, turn, &d->names, false, &hit))
      accept(d, s, &hit.lane, hit.point->id, false, at);
    target_step(&d->target);
    if (d->points->n_watches && points_hit_watch(d->points, &d->target, &hit)) {
      accept(d, s, &hit.lane, hit.point->id, true, at);
      s->focus.cta = d->target.last_cta;
    }
  }
}

const struct debug_stop *debugger_reverse_continue(struct debugger *d)
{
  const uint64_t end = d->target.position;
  struct search s = {0};
  struct err e;
  if (!target_rewind(&d->target, &e)) return refused(d, &e);
  search_points(d, end, &s);
  if (!target_rewind(&d->target, &e)) return refused(d, &e);
  settle(d, s.best, s.found ? &s.focus : NULL);
  if (!s.found) return stopped(d, STOP_START);
  stopped(d, s.of_watch ? STOP_WATCH : STOP_BREAK);
  d->stop.point = s.point;
  d->told.at = d->target.position;
  d->told.slot = d->focus.slot;
  d->told.warp = d->focus.warp;
  return &d->stop;
}

/* Ahead of each step of the lane before `end`, where it was. */
static bool is_of(const struct debugger *d, const struct target_turn *turn, const struct step_place *p)
{
  const struct step_cta *c = d->target.slot[turn->slot];
  return c->id == p->cta && turn->warp == p->warp && c->warp[p->warp]->paths.p[turn->path].mask >> p->lane & 1;
}

/* The start of a line's code: the first step of a run of steps in it. Kept while the search goes on; the last that the
 * step accepts is the answer. */
static bool accepts(enum step_what what, const struct step_place *from, const struct step_place *before,
                    const struct step_place *now)
{
  const bool deeper = now->depth > from->depth;
  const bool same = before->line == now->line && before->file == now->file && before->depth == now->depth;
  switch (what) {
  case STEP_OVER: return now->calls <= from->calls;
  case STEP_LINE: return now->line && !same;
  case STEP_LINE_OVER: return now->line && !deeper && !(before->depth <= from->depth && same);
  case STEP_OUT: return now->depth < from->depth;
  default: return true;
  }
}

static void search_lane(struct debugger *d, enum step_what what, uint64_t end, const struct step_place *from,
                        struct search *s)
{
  struct step_place before = {0}, now = *from;
  while (d->target.position < end) {
    const struct target_turn *turn = target_turn_now(&d->target);
    if (!turn) return;
    if (is_of(d, turn, from)) {
      const struct lane_view v = {&d->target, turn->slot, from->warp, from->lane};
      d->focus = v;
      if (what != STEP_INST) now = place_of(d);
      if (accepts(what, from, &before, &now)) accept(d, s, &v, 0, false, d->target.position);
      if (what != STEP_LINE_OVER || now.depth <= from->depth) before = now;
    }
    target_step(&d->target);
  }
}

static const struct debug_stop *reverse_cta(struct debugger *d)
{
  struct err e;
  const struct step_place from = place_of(d);
  const uint64_t end = d->target.position;
  struct search s = {0};
  if (!target_rewind(&d->target, &e)) return refused(d, &e);
  while (d->target.position < end) { /* the last round: as many steps back as the CTA has warps that took one */
    const struct target_turn *turn = target_turn_now(&d->target);
    if (!turn) break;
    if (d->target.slot[turn->slot]->id == from.cta && turn->warp == 0)
      accept(d, &s, &d->focus, 0, false, d->target.position);
    target_step(&d->target);
  }
  if (!target_rewind(&d->target, &e)) return refused(d, &e);
  settle(d, s.best, &from);
  return stopped(d, s.found ? STOP_STEP : STOP_START);
}

const struct debug_stop *debugger_reverse_step(struct debugger *d, enum step_what what)
{
  const uint64_t end = d->target.position;
  const struct step_place from = place_of(d);
  struct search s = {0};
  struct err e;
  if (what == STEP_CTA) return reverse_cta(d);
  what = without_lines(what, &from);
  if (!target_rewind(&d->target, &e)) return refused(d, &e);
  search_lane(d, what, end, &from, &s);
  if (!target_rewind(&d->target, &e)) return refused(d, &e);
  settle(d, s.best, &from);
  return stopped(d, s.found ? STOP_STEP : STOP_START);
}

const struct debug_stop *debugger_goto(struct debugger *d, uint64_t position)
{
  const struct step_place from = place_of(d);
  struct err e;
  if (position < d->target.position && !target_rewind(&d->target, &e)) return refused(d, &e);
  settle(d, position, &from);
  if (d->target.state != TARGET_RUNS) return over(d);
  return stopped(d, position ? STOP_STEP : STOP_START);
}

/* ---- looking ---- */

static unsigned add_frames(const struct debugger *d, uint64_t pc, uint64_t look_at, uint32_t depth,
                           struct debug_frame *out, unsigned n, unsigned most)
{
  struct source_frame f[SOURCE_FRAMES];
  const unsigned k = source_map_frames(&d->map, look_at, f);
  for (unsigned i = 0; i < k && n < most; i++) out[n++] = (struct debug_frame){f[i], pc, look_at, pc != look_at, depth};
  return n;
}

unsigned debugger_backtrace(const struct debugger *d, struct debug_frame *out, unsigned most)
{
  const uint64_t pc = view_pc(&d->focus);
  const struct lane_calls *c = &target_calls(&d->target, d->focus.slot, d->focus.warp)->lane[d->focus.lane];
  if (!pc) return 0;
  unsigned n = add_frames(d, pc, pc, c->depth, out, 0, most);
  for (uint32_t k = c->depth < CALL_STACK_DEPTH ? c->depth : CALL_STACK_DEPTH; k-- > 0;)
    n = add_frames(d, code_next(&d->target.params.code, c->call[k]), c->call[k], k, out, n, most);
  return n;
}

static bool is_chosen(const struct debugger *d)
{
  const struct lane_view *a = &d->chosen.of, *b = &d->focus;
  return d->chosen.position == d->target.position && a->slot == b->slot && a->warp == b->warp && a->lane == b->lane;
}

bool debugger_frame(const struct debugger *d, struct debug_frame *out, unsigned *number)
{
  struct debug_frame *all = mem_alloc(BACKTRACE_MOST * sizeof *all);
  const unsigned n = debugger_backtrace(d, all, BACKTRACE_MOST);
  *number = is_chosen(d) && d->chosen.frame < n ? d->chosen.frame : 0;
  if (n) *out = all[*number];
  mem_free(all);
  return n;
}

bool debugger_choose_frame(struct debugger *d, uint64_t frame, struct err *e)
{
  struct debug_frame *all = mem_alloc(BACKTRACE_MOST * sizeof *all);
  const unsigned n = debugger_backtrace(d, all, BACKTRACE_MOST);
  mem_free(all);
  if (frame >= n) return err_set(e, n ? "there are frames 0 to %u" : "the lane has exited", n - 1);
  d->chosen.frame = (unsigned)frame;
  d->chosen.position = d->target.position;
  d->chosen.of = d->focus;
  return true;
}

void debugger_instruction(const struct debugger *d, uint64_t pc, char *buf, size_t size)
{
  const struct code_view *c = &d->target.params.code;
  const struct inst *at = code_at(c, pc);
  if (size) buf[0] = '\0';
  if (at) code_print(c, code_index(c, pc), at, buf, size);
}
