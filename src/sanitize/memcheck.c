#include "sanitize/memcheck.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"

enum { NEAR_MAX = 64 << 20 }; /* farther away, an address has nothing to do with an allocation */

void memcheck_begin(struct memcheck *m)
{
  *m = (struct memcheck){0};
}

static struct memcheck_range *seen_by(struct memcheck *m, const struct watched_step *s)
{
  return &m->seen[s->e->pc / 16 % MEMCHECK_SEEN];
}

static bool is_live(struct memcheck *m, const struct watched_step *s, uint64_t addr, unsigned bytes)
{
  const struct gmem *mem = s->l->mem;
  struct memcheck_range *seen = seen_by(m, s);
  struct gmem_place p;
  if (addr - seen->first < seen->end - seen->first && seen->end - addr >= bytes) return true;
  if (!gmem_place_below(mem, addr, &p) || !p.live || addr - p.addr >= p.bytes || p.bytes - (addr - p.addr) < bytes)
    return false;
  *seen = (struct memcheck_range){p.addr, p.addr + p.bytes};
  return true;
}

/* "and is 97 bytes after the nearest allocation at 0x… of size 20,480,000 bytes" */
static void tell_nearest(const struct gmem *mem, uint64_t addr, unsigned bytes, char *out, size_t size)
{
  struct gmem_place below, above, *p = NULL;
  const bool has_below = gmem_place_below(mem, addr, &below), has_above = gmem_place_above(mem, addr, &above);
  if (has_below) p = &below;
  if (has_above && (!p || (addr - p->addr >= p->bytes && above.addr - addr < addr - (p->addr + p->bytes)))) p = &above;
  out[0] = '\0';
  if (!p) return;
  const char *word = p->live ? "allocation" : "freed allocation";
  uint64_t far = addr < p->addr ? p->addr - addr : addr - p->addr < p->bytes ? 0 : addr - (p->addr + p->bytes) + 1;
  if (far > NEAR_MAX) return;
  if (far)
    snprintf(out, size, "and is %" PRIu64 " bytes %s the nearest %s at 0x%" PRIx64 " of size %" PRIu64 " bytes", far,
             addr < p->addr ? "before" : "after", word, p->addr, p->bytes);
  else if (p->live && addr - p->addr + bytes <= p->bytes)
    snprintf(out, size, "and is inside the nearest allocation at 0x%" PRIx64 " of size %" PRIu64 " bytes", p->addr,
             p->bytes);
  else if (p->live)
    snprintf(out, size, "and reaches %" PRIu64 " bytes past the allocation at 0x%" PRIx64 " of size %" PRIu64 " bytes",
             addr + bytes - (p->addr + p->bytes), p->addr, p->bytes);
  else
    snprintf(out, size, "and is inside a freed allocation at 0x%" PRIx64 " of size %" PRIu64 " bytes", p->addr,
             p->bytes);
}

static void report(const struct watched_step *s, unsigned lane, unsigned space, uint64_t addr)
{
  struct finding f = {.kind = FINDING_ACCESS, .level = LEVEL_ERROR, .a = watched_access(s, lane, space), .addr = addr};
  bool fresh;
  if (f.a.op == MEM_LDGSTS) f.a.op = space == MEM_SHARED ? MEM_STORE : MEM_LOAD;
  struct finding *to = finding_note(s->l->findings, &f, 1, &fresh);
  if (!fresh) return;
  snprintf(to->detail[0], sizeof to->detail[0], "Address 0x%" PRIx64 " is out of bounds", addr);
  if (space == MEM_GLOBAL) tell_nearest(s->l->mem, addr, f.a.bytes, to->detail[1], sizeof to->detail[1]);
}

/* Shared memory behind the kernel's own, local memory behind a thread's. */
static bool near_is_valid(const struct watched_step *s, unsigned space, uint64_t addr, unsigned bytes)
{
  const uint64_t end = space == MEM_SHARED ? s->l->shared_end : s->l->source->local_bytes;
  if (space == MEM_SHARED && addr >= s->l->system_shared && addr + bytes <= s->l->shared_limit) return true;
  return space == MEM_CLUSTER || (addr < end && end - addr >= bytes);
}

/* ptxas joins loads of neighbouring variables to one of 16 bytes, which may reach into the padding behind the last. */
static bool reads_padding(const struct watched_step *s, unsigned space, uint64_t addr, unsigned bytes)
{
  enum { WIDEST = 16 };
  const uint64_t end = s->l->shared_end;
  return space == MEM_SHARED && s->e->mem->op == MEM_LOAD && addr < end && addr + bytes <= align_up(end, WIDEST);
}

static uint32_t check_lane(struct memcheck *m, const struct watched_step *s, unsigned lane)
{
  const struct mem_effect *me = s->e->mem;
  uint64_t addr;
  const enum mem_space space = func_lane_space(s->cta, s->warp, me, lane, &addr);
  if (space == MEM_GLOBAL ? is_live(m, s, addr, me->bytes) : near_is_valid(s, space, addr, me->bytes)) return 0;
  if (reads_padding(s, space, addr, me->bytes)) return 0;
  report(s, lane, space, addr);
  return 1u << lane;
}

/* Asynchronous copies from global memory also write shared memory. */
static uint32_t check_ldgsts(struct memcheck *m, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  uint32_t bad = 0;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r), bytes = func_copied_bytes(me, i);
    const bool from = !bytes || is_live(m, s, me->addr[i], bytes);
    const bool to = near_is_valid(s, MEM_SHARED, me->shared_addr[i], me->bytes);
    if (!from) report(s, i, MEM_GLOBAL, me->addr[i]);
    if (!to) report(s, i, MEM_SHARED, me->shared_addr[i]);
    if (!from || !to) bad |= 1u << i;
  }
  return bad;
}

/* The global memory of a bulk or tensor copy. */
static uint32_t check_copy(struct memcheck *m, const struct watched_step *s)
{
  struct effect e = *s->e;
  struct gmem_view view = {.image = (struct gmem *)(uintptr_t)s->l->mem};
  struct copy_piece p = {0};
  struct fault fault;
  struct step_warp *w = s->cta->warp[s->warp];
  if (e.inst->mem.copy == COPY_SHARED || e.inst->mem.copy >= COPY__N) return 0; /* no global memory */
  for (uint32_t k = 0; !p.last; k++) {
    if (!w->ops->copy_piece(w, &e, k, &p, &view, &fault)) return 0; /* performing it will say so */
    if (!p.bytes || is_live(m, s, p.addr, p.bytes)) continue;
    report(s, bits_first(s->lanes), MEM_GLOBAL, p.addr);
    return s->lanes;
  }
  return 0;
}

static uint32_t check_fill(const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  const unsigned lane = bits_first(s->lanes);
  if (!me->fill_bytes || near_is_valid(s, MEM_SHARED, me->addr[lane], me->fill_bytes)) return 0;
  report(s, lane, MEM_SHARED, me->addr[lane]);
  return s->lanes;
}

static bool is_fine(struct memcheck *m, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  const struct memcheck_range *seen = seen_by(m, s);
  if (me->near_lanes) return false;
  if (me->space == MEM_GLOBAL) {
    if (watched_inside(s, seen->first, seen->end)) return true;
    return is_live(m, s, me->addr[bits_first(s->lanes)], me->bytes) && watched_inside(s, seen->first, seen->end);
  }
  return (me->space == MEM_SHARED && watched_inside(s, 0, s->l->shared_end)) ||
         (me->space == MEM_LOCAL && watched_inside(s, 0, s->l->source->local_bytes));
}

uint32_t memcheck_access(struct memcheck *m, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  uint32_t bad = 0;
  if (s->e->inst->mem.copy != COPY_NONE) return check_copy(m, s);
  if (me->space == MEM_CONST || me->space == MEM_TEXTURE || s->e->inst->mem.image) return 0;
  if (me->op == MEM_LDGSTS) return check_ldgsts(m, s);
  if (s->e->inst->mem.fill) return check_fill(s);
  if (is_fine(m, s)) return 0;
  for (uint32_t r = s->lanes; r; r &= r - 1) bad |= check_lane(m, s, bits_first(r));
  return bad;
}

/* --- faults ---------------------------------------------------------------------------------------- */

static struct finding_access access_of(const struct watched_launch *l, const struct fault *f)
{
  struct finding_access a = {.pc = f->pc};
  const struct inst *i = code_at(&l->params->code, f->pc);
  memcpy(a.at.cta, f->cta, sizeof a.at.cta);
  memcpy(a.at.thread, f->thread, sizeof a.at.thread);
  if (i) a.space = i->mem.space, a.op = i->mem.op, a.bytes = i->mem.bytes;
  if (f->kind == FAULT_SHARED_RANGE) a.space = MEM_SHARED;
  if (f->kind == FAULT_LOCAL_RANGE) a.space = MEM_LOCAL;
  return a;
}

void memcheck_fault(const struct watched_launch *l, const struct fault *f)
{
  const bool access = f->kind == FAULT_ILLEGAL_ADDRESS || f->kind == FAULT_MISALIGNED ||
                      f->kind == FAULT_SHARED_RANGE || f->kind == FAULT_LOCAL_RANGE;
  struct finding like = {.kind = FINDING_FAULT, .level = LEVEL_ERROR, .a = access_of(l, f), .addr = f->addr};
  bool fresh;
  if (access && like.a.bytes) like.kind = FINDING_ACCESS;
  else snprintf(like.what, sizeof like.what, "The kernel was ended by the device");
  struct finding *to = finding_note(l->findings, &like, 1, &fresh);
  if (!fresh) return;
  if (like.kind == FINDING_FAULT) {
    snprintf(to->detail[0], sizeof to->detail[0], "%.120s", f->text);
    return;
  }
  snprintf(to->detail[0], sizeof to->detail[0], "Address 0x%" PRIx64 " is %s", f->addr,
           f->kind == FAULT_MISALIGNED ? "misaligned" : "out of bounds");
  if (to->a.space == MEM_GLOBAL || to->a.space == MEM_GENERIC)
    tell_nearest(l->mem, f->addr, like.a.bytes, to->detail[1], sizeof to->detail[1]);
}
