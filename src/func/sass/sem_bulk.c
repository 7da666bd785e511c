/* Bulk copies (UBLKCP, UBLKRED, UBLKPF): 16 bytes and more between global and shared memory, or shared memory of CTAs
 * of the cluster. Rules: PTX ISA (cp.async.bulk, cp.reduce.async.bulk); where operands are: compiler output (CUDA
 * 13.0): URb the destination, in shared memory with the mbarrier in the next register; URa the source; URc the bytes /
 * 16 in its low half; in its high half the CTAs of a multicast, or which of each 16 bytes are copied (.cp_mask).
 *
 * A copy is complete here when it has been performed; in time, the copy engine says when (time/sm/copy_engine.c).
 */
#include "func/sass/async_copy.h"
#include "func/sass/cluster.h"
#include "func/sass/guest_fault.h"

/* What step leaves for perform, in row 0 of the effect's data. */
enum { ARG_TO, ARG_TO_HIGH, ARG_FROM, ARG_FROM_HIGH, ARG_KEPT };
enum { WAY_S_G = 1, WAY_G_S, WAY_S_S }; /* field BULK_WAY */
enum { UNIT = 16, PIECE = 4096, PREFETCH_WAY = 0, ALL_KEPT = 0xffff, TYPE_F32_FTZ = 6 /* of BULK_TYPE */ };

struct bulk {
  struct func_warp *w;
  const struct uop *u;
  struct effect *e;
  struct gmem_view *v;
  struct fault *f;
  unsigned way;
  bool reduces;
  uint32_t bytes;
  uint16_t kept; /* of each UNIT of bytes, those that are copied */
  uint64_t to, from;
  uint32_t barrier;
};

static uint8_t *near(const struct bulk *b, uint64_t addr, uint32_t bytes)
{
  return copy_near(b->w, b->e, (uint32_t)addr, bytes, b->f);
}

/* Field BULK_TYPE. */
static enum sass_atom_type type_of(const struct uop *u)
{
  static const uint8_t type[16] = {ATOM_U32, ATOM_S32, ATOM_U64, ATOM_S64, ATOM_F16X2, ATOM_F32, ATOM_F32, ATOM_F64,
                                   ATOM_BF16X2, ATOM_INVALID, ATOM_INVALID, ATOM_INVALID, ATOM_INVALID, ATOM_INVALID,
                                   ATOM_INVALID, ATOM_INVALID};
  return type[sass_get(u->s, FLD_BULK_TYPE)];
}

static bool is_wide(enum sass_atom_type t)
{
  return t == ATOM_U64 || t == ATOM_S64 || t == ATOM_F64;
}

static void reduce(const struct bulk *b, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  const unsigned op = (unsigned)sass_get(b->u->s, FLD_RED_OP);
  const enum sass_atom_type t = type_of(b->u);
  const uint32_t step = is_wide(t) ? 8 : 4;
  for (uint32_t i = 0; i < bytes; i += step) {
    uint32_t old[2] = {0}, v[2] = {0};
    memcpy(old, to + i, step);
    memcpy(v, from + i, step);
    atom_reduce(op, t, sass_get(b->u->s, FLD_BULK_TYPE) == TYPE_F32_FTZ, old, v);
    memcpy(to + i, old, step);
  }
}

static bool no_memory(const struct bulk *b, uint64_t addr)
{
  return mem_unmapped(b->w, b->e, bits_first((uint32_t)b->e->mem->lanes), addr, b->f);
}

/* The same of those bytes alone that the mask names: others in memory may be written meanwhile. */
static bool some_to_global(const struct bulk *b, const uint8_t *from, uint32_t first, uint32_t bytes)
{
  for (uint32_t i = first, n; i < first + bytes; i += n) {
    n = 1;
    if (!(b->kept >> i % UNIT & 1)) continue;
    while (i + n < first + bytes && (i + n) % UNIT && b->kept >> (i + n) % UNIT & 1) n++;
    if (!gmem_view_write(b->v, b->to + i, from + i, n)) return no_memory(b, b->to + i);
  }
  return true;
}

/* Bytes [first, first + bytes) of the copy; `from` are the copy's first ones. */
static bool to_global(const struct bulk *b, const uint8_t *from, uint32_t first, uint32_t bytes)
{
  uint8_t buf[PIECE];
  if (b->kept != ALL_KEPT) return some_to_global(b, from, first, bytes);
  for (uint32_t i = first, n; i < first + bytes; i += n) {
    n = first + bytes - i < PIECE ? first + bytes - i : PIECE;
    if (b->reduces) {
      if (!gmem_view_read(b->v, b->to + i, buf, n)) return no_memory(b, b->to + i);
      reduce(b, buf, from + i, n);
    }
    if (!gmem_view_write(b->v, b->to + i, b->reduces ? buf : from + i, n)) return no_memory(b, b->to + i);
  }
  return true;
}

static bool to_shared(void *copy, uint32_t at, uint32_t barrier)
{
  const struct bulk *b = copy;
  uint8_t *to = near(b, at, b->bytes);
  const uint8_t *from = to && b->way == WAY_S_S ? near(b, b->from, b->bytes) : NULL;
  if (!to || (b->way == WAY_S_S && !from)) return false;
  if (b->way == WAY_S_G) {
    if (!gmem_view_read(b->v, b->from, to, b->bytes)) return no_memory(b, b->from);
  } else if (b->reduces) {
    reduce(b, to, from, b->bytes);
  } else {
    memmove(to, from, b->bytes);
  }
  return copy_complete(b->w, b->e, barrier, b->bytes, b->f);
}

/* The copy that step has left in the effect. */
static bool take(struct bulk *b, struct func_warp *w, const struct uop *u, struct effect *e, struct gmem_view *v,
                 struct fault *f)
{
  const mem_word *arg = mem_row(e->mem, 0);
  const bool prefetch = u->s->sem == SEM_UBLKPF;
  *b = (struct bulk){.w = w,
                     .u = u,
                     .e = e,
                     .v = v,
                     .f = f,
                     .reduces = u->s->sem == SEM_UBLKRED,
                     .way = prefetch ? PREFETCH_WAY : (unsigned)sass_get(u->s, FLD_BULK_WAY),
                     .kept = (uint16_t)arg[ARG_KEPT],
                     .bytes = e->mem->copy.bytes};
  b->to = b->way == WAY_G_S ? lane_join(arg[ARG_TO], arg[ARG_TO_HIGH]) : arg[ARG_TO];
  b->from = b->way == WAY_S_G || prefetch ? lane_join(arg[ARG_FROM], arg[ARG_FROM_HIGH]) : arg[ARG_FROM];
  b->barrier = arg[ARG_TO_HIGH];
  if (!((b->to | b->from) % UNIT)) return true;
  return func_fault(w, e, f, FAULT_MISALIGNED, bits_first((uint32_t)e->mem->lanes), b->to,
                    "bulk copy from 0x%llx to 0x%llx: not multiples of %d", (unsigned long long)b->from,
                    (unsigned long long)b->to, UNIT);
}

static bool multicasts(const struct sass_inst *s)
{
  return sass_has(s, FLD_TMA_MULTICAST) && sass_get(s, FLD_TMA_MULTICAST);
}

static bool is_masked(const struct sass_inst *s)
{
  return sass_has(s, FLD_BULK_BYTE_MASK) && sass_get(s, FLD_BULK_BYTE_MASK);
}

static bool perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes, struct gmem_view *v,
                    struct fault *f)
{
  struct bulk b;
  (void)lanes;
  if (u->s->sem == SEM_UBLKPF) return true; /* a prefetch: no values */
  if (!take(&b, w, u, e, v, f)) return false;
  if (b.way == WAY_G_S) {
    const uint8_t *from = near(&b, b.from, b.bytes);
    return from && to_global(&b, from, 0, b.bytes);
  }
  if (multicasts(u->s)) return copy_multicast(e->mem->copy.ctas, (uint32_t)b.to, b.barrier, to_shared, &b);
  return to_shared(&b, (uint32_t)b.to, b.barrier);
}

/* One piece, all of it; between shared memories none of global memory. */
bool bulk_copy_piece(struct func_warp *w, const struct uop *u, struct effect *e, struct copy_piece *p,
                     struct gmem_view *v, struct fault *f)
{
  struct bulk b;
  if (!take(&b, w, u, e, v, f)) return false;
  *p = (struct copy_piece){
      .addr = b.way == WAY_G_S ? b.to : b.from, .bytes = b.way == WAY_S_S ? 0 : b.bytes, .last = true};
  return true;
}

bool bulk_copy_part(struct func_warp *w, const struct uop *u, struct effect *e, uint64_t addr, uint32_t bytes,
                    struct gmem_view *v, struct fault *f)
{
  struct bulk b;
  if (!take(&b, w, u, e, v, f)) return false;
  const uint8_t *from = near(&b, b.from, b.bytes);
  const struct copy_piece all = {.addr = b.to, .bytes = b.bytes}, p = copy_overlap(&all, addr, bytes);
  return from && to_global(&b, from, (uint32_t)(p.addr - b.to), p.bytes);
}

/* One copy for the warp; its first lane stands for it. */
static bool step(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const struct sass_inst *s = u->s;
  const unsigned from = (unsigned)sass_get(s, FLD_URA);
  const uint32_t size = warp_uniform(w, (unsigned)sass_get(s, FLD_URC));
  const bool to_shared = u->t->mem.copy == COPY_LOAD || u->t->mem.copy == COPY_SHARED;
  uint32_t to[2] = {0}, ctas = 0;
  (void)f;
  if (sass_has(s, FLD_URB)) {
    const unsigned ur = (unsigned)sass_get(s, FLD_URB);
    to[0] = warp_uniform(w, ur), to[1] = warp_uniform(w, ur + 1);
    if (to_shared) to[1] = copy_barrier(to[0], to[1]);
  }
  if (to_shared) ctas = multicasts(s) ? size >> 16 : copy_target(to[0]);
  struct mem_effect *me = copy_begin(w, e, u, m, ctas, (size & 0xffff) * UNIT);
  mem_word *arg = mem_row(me, 0);
  arg[ARG_FROM] = warp_uniform(w, from), arg[ARG_FROM_HIGH] = warp_uniform(w, from + 1);
  arg[ARG_TO] = to[0], arg[ARG_TO_HIGH] = to[1];
  arg[ARG_KEPT] = is_masked(s) ? size >> 16 : ALL_KEPT;
  return true;
}

uop_fn *sem_bulk_handler(const struct sass_inst *s, struct uop *u)
{
  if (s->sem != SEM_UBLKCP && s->sem != SEM_UBLKRED && s->sem != SEM_UBLKPF) return NULL;
  if (s->sem != SEM_UBLKPF && !sass_get(s, FLD_BULK_WAY)) return NULL;
  if (s->sem == SEM_UBLKRED && !atom_reduces((unsigned)sass_get(s, FLD_RED_OP), type_of(u))) return NULL;
  if (is_masked(s) && sass_get(s, FLD_BULK_WAY) != WAY_G_S) return NULL;
  u->flags = UOP_MEM;
  u->perform = perform;
  return step;
}
