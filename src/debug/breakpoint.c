#include "debug/breakpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/host_memory.h"
#include "base/nearest.h"
#include "func/sass/step_observer.h"
#include "load/plain_name.h"

/* ---- the list ---- */

static char *copy(const char *s)
{
  const size_t n = strlen(s) + 1;
  return memcpy(mem_alloc(n), s, n);
}

static void drop(struct debug_point *p)
{
  mem_free(p->spec);
  mem_free(p->condition);
}

void points_free(struct debug_points *l)
{
  for (unsigned i = 0; i < l->n; i++) drop(&l->point[i]);
  mem_free(l->point);
  mem_free(l->at);
  *l = (struct debug_points){0};
}

static struct debug_point *add(struct debug_points *l, enum point_kind kind, const char *spec, struct err *e)
{
  if (l->n == MAX_POINTS) {
    err_fill(e, "there are %d breakpoints and watchpoints already; delete some", MAX_POINTS);
    return NULL;
  }
  if (l->n == l->room) {
    l->room = l->room ? 2 * l->room : 8;
    l->point = mem_resize(l->point, l->room, sizeof *l->point);
  }
  struct debug_point *p = &l->point[l->n++];
  *p = (struct debug_point){.id = ++l->next_id, .kind = kind, .enabled = true, .spec = copy(spec)};
  if (kind != POINT_CODE) l->n_watches++;
  return p;
}

bool points_delete(struct debug_points *l, unsigned id)
{
  struct debug_point *p = points_find(l, id);
  if (!p) return false;
  if (p->kind != POINT_CODE) l->n_watches--;
  drop(p);
  memmove(p, p + 1, (size_t)(&l->point[--l->n] - p) * sizeof *p);
  return true;
}

struct debug_point *points_find(struct debug_points *l, unsigned id)
{
  for (unsigned i = 0; i < l->n; i++)
    if (l->point[i].id == id) return &l->point[i];
  return NULL;
}

struct debug_point *points_add_code(struct debug_points *l, const char *spec, struct err *e)
{
  if (*spec) return add(l, POINT_CODE, spec, e);
  err_fill(e, "break where? *ADDRESS, FILE:LINE, LINE or a kernel's name");
  return NULL;
}

struct debug_point *points_add_watch(struct debug_points *l, enum point_kind kind, const char *spec,
                                     const struct lane_view *v, enum view_space space, uint64_t addr, unsigned bytes,
                                     struct err *e)
{
  uint8_t now[WATCH_BYTES];
  if (bytes == 0 || bytes > WATCH_BYTES) {
    err_fill(e, "%u bytes cannot be watched at once; choose 1 to %d", bytes, WATCH_BYTES);
    return NULL;
  }
  if (space == VIEW_GENERIC) space = view_resolve(v, &addr);
  if (space == VIEW_CONST || space == VIEW_CODE) {
    err_fill(e, "%s memory does not change", view_space_name[space]);
    return NULL;
  }
  if (!view_read(v, space, addr, now, bytes, e)) return NULL;
  struct debug_point *p = add(l, kind, spec, e);
  if (!p) return NULL;
  p->space = space;
  p->addr = addr;
  p->bytes = bytes;
  p->cta = space == VIEW_GLOBAL ? 0 : view_cta(v)->id;
  p->warp = v->warp;
  p->lane = v->lane;
  memcpy(p->now, now, bytes);
  p->known = true;
  return p;
}

/* ---- places ---- */

static bool digits(const char *s, char **end, uint32_t *n)
{
  const unsigned long x = strtoul(s, end, 10);
  *n = (uint32_t)x;
  return *end > s && *s >= '0' && *s <= '9' && x > 0 && x <= UINT32_MAX;
}

static size_t at_address(const struct code_view *c, uint64_t pc, uint64_t *out, size_t most, struct err *e)
{
  if (!code_at(c, pc)) {
    err_fill(e, "no instruction begins at 0x%" PRIx64 "; code lies from 0x%" PRIx64 " to 0x%" PRIx64, pc, c->base,
             c->end);
    return 0;
  }
  if (most) out[0] = pc;
  return 1;
}

static size_t at_line(const struct source_map *m, const char *file, uint32_t line, bool every, uint64_t *pc,
                      size_t most, struct err *e)
{
  const size_t n = source_map_find(m, file, &line, every, pc, most);
  if (!n && !m->lines.n_rows)
    err_fill(e, "the code names no source lines; compile it with -lineinfo or -G");
  else if (!n)
    err_fill(e, "no code at line %u or behind it%s%s", line, file ? " in " : "", file ? file : "");
  return n;
}

/* "kernel" or "kernel+0x40". */
static size_t at_function(const struct source_map *m, const struct code_view *c, const char *spec, uint64_t *pc,
                          size_t most, struct err *e)
{
  char name[SOURCE_NAME], hint[NEAREST_HINT];
  const char *plus = strchr(spec, '+');
  const uint64_t offset = plus ? strtoull(plus + 1, NULL, 0) : 0;
  snprintf(name, sizeof name, "%.*s", (int)(plus ? plus - spec : (long)strlen(spec)), spec);
  const uint64_t entry = source_map_function(m, name);
  if (entry) return at_address(c, entry + offset, pc, most, e);
  struct nearest n;
  nearest_start(&n, name);
  for (unsigned i = 0; i < module_kernel_count(m->module); i++)
    plain_name_offer(&n, module_kernel_at(m->module, i)->name);
  err_fill(e, "no kernel or function '%.60s' in %.100s%s", name, module_name(m->module), nearest_hint(&n, hint));
  return 0;
}

size_t point_resolve(const struct source_map *m, const struct code_view *c, const char *spec,
                     const struct line_row *here, bool every, uint64_t *pc, size_t most, struct err *e)
{
  char file[SOURCE_NAME], *end;
  uint32_t line;
  if (*spec == '*') return at_address(c, strtoull(spec + 1, NULL, 0), pc, most, e);
  const char *colon = strrchr(spec, ':');
  if (colon && digits(colon + 1, &end, &line) && !*end) {
    snprintf(file, sizeof file, "%.*s", (int)(colon - spec), spec);
    return at_line(m, file, line, every, pc, most, e);
  }
  if (digits(spec, &end, &line) && !*end) return at_line(m, source_map_file(m, here), line, every, pc, most, e);
  return at_function(m, c, spec, pc, most, e);
}

void points_place(struct debug_points *l, const struct source_map *m, const struct code_view *c)
{
  struct err ignored;
  for (unsigned i = 0; i < l->n; i++) {
    struct debug_point *p = &l->point[i];
    if (p->kind == POINT_CODE)
      p->n_pcs = point_resolve(m, c, p->spec, NULL, p->every, p->pc, POINT_PCS, &ignored);
    else
      p->known = false;
  }
  points_mark(l, c);
}

static size_t kept(const struct debug_point *p)
{
  return p->n_pcs < POINT_PCS ? p->n_pcs : POINT_PCS;
}

void points_mark(struct debug_points *l, const struct code_view *c)
{
  const uint64_t n = code_count(c);
  if (n != l->n_at) l->at = mem_resize(l->at, n, 1);
  l->n_at = n;
  memset(l->at, 0, n);
  for (unsigned i = 0; i < l->n; i++) {
    const struct debug_point *p = &l->point[i];
    for (size_t k = 0; p->enabled && p->kind == POINT_CODE && k < kept(p); k++)
      if (code_at(c, p->pc[k])) l->at[code_index(c, p->pc[k])] = 1;
  }
}

bool points_any(const struct debug_points *l)
{
  for (unsigned i = 0; i < l->n; i++)
    if (l->point[i].enabled && (l->point[i].kind != POINT_CODE || l->point[i].n_pcs)) return true;
  return false;
}

/* ---- hits ---- */

static bool same3(const uint32_t *a, const uint32_t *b)
{
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool let_through(const struct point_filter *f, const struct lane_view *v)
{
  const struct view_place at = view_place_of(v);
  return (!f->of_cta || same3(f->cta, at.cta)) && (!f->of_thread || same3(f->thread, at.thread)) &&
         (!f->of_warp || f->warp == v->warp) && (!f->of_lane || f->lane == v->lane);
}

/* What cannot be evaluated holds: the user is to see it. */
static bool holds(const struct debug_point *p, const struct lane_view *v, const struct expression_names *names)
{
  struct debug_value value;
  struct err e;
  if (!let_through(&p->only, v)) return false;
  return !p->condition || !expression_evaluate(p->condition, v, names, &value, &e) || debug_value_true(&value);
}

static bool is_at(const struct debug_point *p, uint64_t pc)
{
  for (size_t k = 0; k < kept(p); k++)
    if (p->pc[k] == pc) return true;
  return false;
}

/* The first lane of the path for which the point holds. */
static bool first_lane(const struct debug_point *p, struct debug_target *t, const struct target_turn *turn,
                       const struct expression_names *names, struct lane_view *out)
{
  const struct step_path *path = &t->slot[turn->slot]->warp[turn->warp]->paths.p[turn->path];
  for (lane_mask r = path->mask & ~path->helpers; r; r &= r - 1) {
    *out = (struct lane_view){t, turn->slot, turn->warp, (unsigned)bits_first(r)};
    if (holds(p, out, names)) return true;
  }
  return false;
}

bool points_hit_code(struct debug_points *l, struct debug_target *t, const struct target_turn *turn,
                     const struct expression_names *names, bool count, struct point_hit *hit)
{
  const uint64_t pc = t->slot[turn->slot]->warp[turn->warp]->paths.p[turn->path].pc;
  const uint64_t i = code_index(&t->params.code, pc);
  if (i >= l->n_at || !l->at[i]) return false;
  for (unsigned k = 0; k < l->n; k++) {
    struct debug_point *p = &l->point[k];
    if (!p->enabled || p->kind != POINT_CODE || !is_at(p, pc)) continue;
    if (!first_lane(p, t, turn, names, &hit->lane)) continue;
    if (count) p->hits++;
    if (count && p->ignore) {
      p->ignore--;
      continue;
    }
    hit->point = p;
    return true;
  }
  return false;
}

/* The lane that sees what is watched; false: its CTA is not resident. */
static bool watcher(const struct debug_point *p, struct debug_target *t, struct lane_view *v)
{
  const int slot = p->space == VIEW_GLOBAL ? 0 : target_slot_of(t, p->cta);
  *v = (struct lane_view){t, (unsigned)slot, p->warp, p->lane};
  return slot >= 0;
}

static bool look(const struct debug_point *p, struct debug_target *t, uint8_t *out)
{
  struct lane_view v;
  struct err ignored;
  return watcher(p, t, &v) && view_read(&v, p->space, p->addr, out, p->bytes, &ignored);
}

void points_look(struct debug_points *l, struct debug_target *t)
{
  for (unsigned i = 0; i < l->n; i++)
    if (l->point[i].kind != POINT_CODE) {
      l->point[i].known = look(&l->point[i], t, l->point[i].now);
      memcpy(l->point[i].before, l->point[i].now, WATCH_BYTES);
    }
}

static bool changed(struct debug_point *p, struct debug_target *t)
{
  uint8_t is[WATCH_BYTES];
  const bool was_known = p->known;
  if (!(p->known = look(p, t, is))) return false;
  const bool other = was_known && memcmp(is, p->now, p->bytes) != 0;
  memcpy(p->before, other ? p->now : is, p->bytes);
  memcpy(p->now, is, p->bytes);
  return other;
}

static bool reads(unsigned op)
{
  return op == MEM_LOAD || op == MEM_ATOMIC || op == MEM_RED || op == MEM_LDGSTS || op == MEM_LDSM;
}

/* A lane of the step that accesses what is watched; -1: none. */
static int accessed(const struct debug_point *p, struct debug_target *t, const struct step_cta *c)
{
  const struct mem_effect *m = &t->mem;
  if (!(t->e.flags & EFF_MEM) || m->space == MEM_CONST || m->space == MEM_TEXTURE) return -1;
  if (p->kind == POINT_READ && !reads(m->op)) return -1;
  if (p->space != VIEW_GLOBAL && c->id != p->cta) return -1;
  for (lane_mask r = m->lanes | m->near_lanes; r; r &= r - 1) {
    const unsigned lane = (unsigned)bits_first(r);
    uint64_t addr;
    const enum mem_space s = func_lane_space(c, t->last.warp, m, lane, &addr);
    const enum view_space space = s == MEM_SHARED ? VIEW_SHARED : s == MEM_LOCAL ? VIEW_LOCAL : VIEW_GLOBAL;
    if (space != p->space || (space == VIEW_LOCAL && (t->last.warp != p->warp || lane != p->lane))) continue;
    if (addr < p->addr + p->bytes && p->addr < addr + m->bytes) return (int)lane;
  }
  return -1;
}

static bool watch_hit(struct debug_point *p, struct debug_target *t, unsigned *lane)
{
  const struct step_cta *c = t->slot[t->last.slot];
  const bool differs = changed(p, t);
  const int by = c && c->id == t->last_cta ? accessed(p, t, c) : -1;
  *lane = by >= 0 ? (unsigned)by : (unsigned)bits_first(t->e.active);
  return p->enabled && ((differs && p->kind != POINT_READ) || (by >= 0 && p->kind != POINT_WRITE));
}

bool points_hit_watch(struct debug_points *l, struct debug_target *t, struct point_hit *hit)
{
  bool any = false;
  if (!l->n_watches) return false;
  for (unsigned i = 0; i < l->n; i++) {
    unsigned lane;
    if (l->point[i].kind == POINT_CODE || !watch_hit(&l->point[i], t, &lane) || any) continue;
    any = true;
    *hit = (struct point_hit){&l->point[i], {t, t->last.slot, t->last.warp, lane}};
  }
  return any;
}
