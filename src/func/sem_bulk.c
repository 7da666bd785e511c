/* Bulk copies (UBLKCP, UBLKRED, UBLKPF): 16 bytes and more between global and shared memory, or shared memory of CTAs of
 * the cluster. Rules: PTX ISA (cp.async.bulk, cp.reduce.async.bulk); where operands are: compiler output (CUDA 13.0): URb the
 * destination, in shared memory with the mbarrier in the next register; URa the source; URc the bytes / 16 in its low half, the
 * CTAs of a multicast in its high half.
 *
 * A copy is complete here when it has been performed.
 */
#include "func/cluster.h"
#include "func/mbarrier.h"
#include "func/mem.h"

/* What step leaves for perform, in row 0 of the effect's data. */
enum { ARG_TO, ARG_TO_HIGH, ARG_FROM, ARG_FROM_HIGH, ARG_SIZE };
enum { WAY_S_G = 1, WAY_G_S, WAY_S_S }; /* field BULK_WAY */
enum { UNIT = 16, PIECE = 4096 };

struct bulk {
  struct func_warp *w;
  const struct uop *u;
  struct effect *e;
  struct gmem_view *v;
  struct fault *f;
  unsigned lane, way;
  bool reduces;
  uint32_t bytes;
  uint64_t to, from;
  uint32_t barrier;
};

static uint8_t *near(const struct bulk *b, uint32_t addr, uint32_t bytes)
{
  return mem_near(b->w, b->e, b->w->cta->cluster ? MEM_CLUSTER : MEM_SHARED, b->lane, addr, bytes, b->f);
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
    atom_reduce(op, t, old, v);
    memcpy(to + i, old, step);
  }
}

static bool no_memory(const struct bulk *b, uint64_t addr)
{
  return mem_unmapped(b->w, b->e, b->lane, addr, b->f);
}

static bool to_global(const struct bulk *b, const uint8_t *from)
{
  uint8_t buf[PIECE];
  for (uint32_t i = 0, n; i < b->bytes; i += n) {
    n = b->bytes - i < PIECE ? b->bytes - i : PIECE;
    if (b->reduces) {
      if (!gmem_view_read(b->v, b->to + i, buf, n)) return no_memory(b, b->to + i);
      reduce(b, buf, from + i, n);
    }
    if (!gmem_view_write(b->v, b->to + i, b->reduces ? buf : from + i, n)) return no_memory(b, b->to + i);
  }
  return true;
}

/* The bytes count at the mbarrier. */
static bool complete(const struct bulk *b, uint32_t barrier)
{
  uint8_t *p = near(b, barrier, 8);
  if (p) mbar_complete_tx(b->w->launch->p.sm, p, b->bytes);
  return p;
}

static bool to_shared(const struct bulk *b, uint32_t at, uint32_t barrier)
{
  uint8_t *to = near(b, at, b->bytes);
  const uint8_t *from = to && b->way == WAY_S_S ? near(b, (uint32_t)b->from, b->bytes) : NULL;
  if (!to || (b->way == WAY_S_S && !from)) return false;
  if (b->way == WAY_S_G) {
    if (!gmem_view_read(b->v, b->from, to, b->bytes)) return no_memory(b, b->from);
  } else if (b->reduces) {
    reduce(b, to, from, b->bytes);
  } else {
    memmove(to, from, b->bytes);
  }
  return complete(b, barrier);
}

/* Data and mbarrier lie at the same offsets in all CTAs that get them. */
static bool multicast(const struct bulk *b, uint32_t ctas)
{
  const uint32_t within = (1u << CLUSTER_SHIFT) - 1;
  for (uint32_t r = ctas; r; r &= r - 1) {
    uint32_t base = bits_first(r) << CLUSTER_SHIFT;
    if (!to_shared(b, base | ((uint32_t)b->to & within), base | (b->barrier & within))) return false;
  }
  return true;
}

static bool perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes, struct gmem_view *v,
                    struct fault *f)
{
  const mem_word *arg = mem_row(e->mem, 0);
  struct bulk b = {.w = w, .u = u, .e = e, .v = v, .f = f, .lane = bits_first(lanes), .reduces = u->s->sem == SEM_UBLKRED,
                   .way = (unsigned)sass_get(u->s, FLD_BULK_WAY), .bytes = (arg[ARG_SIZE] & 0xffff) * UNIT};
  if (u->s->sem == SEM_UBLKPF) return true; /* a prefetch: no values */
  b.to = b.way == WAY_G_S ? lane_join(arg[ARG_TO], arg[ARG_TO_HIGH]) : arg[ARG_TO];
  b.from = b.way == WAY_S_G ? lane_join(arg[ARG_FROM], arg[ARG_FROM_HIGH]) : arg[ARG_FROM];
  b.barrier = arg[ARG_TO_HIGH];
  if ((b.to | b.from) % UNIT)
    return func_fault(w, e, f, FAULT_MISALIGNED, b.lane, b.to, "bulk copy from 0x%llx to 0x%llx: not multiples of %d",
                      (unsigned long long)b.from, (unsigned long long)b.to, UNIT);
  if (b.way == WAY_G_S) {
    const uint8_t *from = near(&b, (uint32_t)b.from, b.bytes);
    return from && to_global(&b, from);
  }
  if (sass_has(u->s, FLD_TMA_MULTICAST) && sass_get(u->s, FLD_TMA_MULTICAST)) return multicast(&b, arg[ARG_SIZE] >> 16);
  return to_shared(&b, (uint32_t)b.to, b.barrier);
}

/* What reaches other SMs must be ordered with what they do: in time only accesses of the own CTA and of global memory by plain
 * writes are (isa/step.h, far). */
static bool reaches_others(const struct func_warp *w, const struct uop *u, const mem_word *arg)
{
  unsigned way = (unsigned)sass_get(u->s, FLD_BULK_WAY);
  if (u->s->sem == SEM_UBLKPF) return false;
  if (way == WAY_G_S) return u->s->sem == SEM_UBLKRED;
  return (sass_has(u->s, FLD_TMA_MULTICAST) && sass_get(u->s, FLD_TMA_MULTICAST)) ||
         arg[ARG_TO] >> CLUSTER_SHIFT != w->cta->rank;
}

/* One copy for the warp; its first lane stands for it. */
static bool step(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const struct sass_inst *s = u->s;
  unsigned lane = bits_first(m), from = (unsigned)sass_get(s, FLD_URA);
  struct mem_effect *me = mem_begin(e, 1u << lane, MEM_SHARED, u->t->mem.op, 4, true);
  mem_word *arg = mem_row(me, 0);
  (void)f;
  arg[ARG_FROM] = warp_uniform(w, from), arg[ARG_FROM_HIGH] = warp_uniform(w, from + 1);
  arg[ARG_TO] = arg[ARG_TO_HIGH] = 0;
  if (sass_has(s, FLD_URB)) {
    unsigned to = (unsigned)sass_get(s, FLD_URB);
    arg[ARG_TO] = warp_uniform(w, to), arg[ARG_TO_HIGH] = warp_uniform(w, to + 1);
  }
  arg[ARG_SIZE] = warp_uniform(w, (unsigned)sass_get(s, FLD_URC));
  me->addr[lane] = s->sem == SEM_UBLKPF ? 0 : (sass_get(s, FLD_BULK_WAY) == WAY_G_S ? arg[ARG_FROM] : arg[ARG_TO]) -
                                                  cluster_base(w->cta);
  me->far = reaches_others(w, u, arg);
  return true;
}

uop_fn *sem_bulk_handler(const struct sass_inst *s, struct uop *u)
{
  if (s->sem != SEM_UBLKCP && s->sem != SEM_UBLKRED && s->sem != SEM_UBLKPF) return NULL;
  if (s->sem != SEM_UBLKPF && !sass_get(s, FLD_BULK_WAY)) return NULL;
  if (s->sem == SEM_UBLKRED && type_of(u) == ATOM_INVALID) return NULL;
  u->flags = UOP_MEM;
  u->perform = perform;
  return step;
}
