/* Surface instructions: SULD.D, SUST.D, SUST.P, SURED.D. The coordinates become global addresses, what follows
 * is a plain load, store or reduction of the lanes that stay inside. Rules: PTX ISA (suld.b, sust.b, sust.p,
 * sured: .trap, .clamp, .zero), compiler output (CUDA 13.0).
 */
#include "func/sass/fpbits.h"
#include "func/sass/guest_fault.h"
#include "func/sass/mem.h"

enum { CLAMP_IGNORE, CLAMP_NEAREST, CLAMP_TRAP };

/* One access: coordinates in bytes (or elements), rows, slices. */
struct texel_place {
  const struct tex_object *o;
  int64_t x, y, slice;        /* x in bytes */
  int64_t x_end, y_end, slices;
};

static bool surface_shape_matches(const struct image *m, unsigned dim)
{
  static const struct {
    uint8_t shapes;
    bool layered;
  } want[8] = {
    {1 << IMAGE_1D, false}, {0, false}, {1 << IMAGE_1D, true}, {1 << IMAGE_2D, false},
    {1 << IMAGE_2D | 1 << IMAGE_CUBE, true}, {1 << IMAGE_3D, false}, {0, false}, {0, false},
  };
  /* A cube map is accessed as an array of faces. */
  bool cube = m->shape == IMAGE_CUBE;
  return want[dim].shapes >> m->shape & 1 && (cube || want[dim].layered == (m->layers != 0));
}

static struct texel_place place_of(const struct uop *u, const struct tex_object *o, const int32_t c[3])
{
  enum { CUBE_FACES = 6, DIM_1D_ARRAY = 2 };
  const struct image *m = &o->image;
  unsigned texel = texel_bytes(m), dim = (unsigned)sass_get(u->s, FLD_SURF_DIM);
  uint32_t layers = m->layers ? m->layers : 1;
  bool one = dim == DIM_1D_ARRAY;
  return (struct texel_place){
    .o = o, .x = sass_get(u->s, FLD_SURF_BA) ? c[0] : (int64_t)c[0] * texel,
    .y = one ? 0 : c[1], .slice = one ? c[1] : c[2],
    .x_end = (int64_t)m->extent[0] * texel, .y_end = m->extent[1],
    .slices = m->shape == IMAGE_3D     ? (int64_t)m->extent[2]
              : m->shape == IMAGE_CUBE ? (int64_t)layers * CUBE_FACES
                                       : (int64_t)layers,
  };
}

static int64_t clamped(int64_t v, int64_t last)
{
  return v < 0 ? 0 : v > last ? last : v;
}

static bool outside_fault(const struct func_warp *w, const struct effect *e, unsigned i,
                          const struct texel_place *p, struct fault *f)
{
  return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, i, 0,
                    "thread (%u,%u,%u): byte %lld, row %lld, slice %lld is outside surface '%.60s' "
                    "of %lld bytes, %lld rows, %lld slices", w->tid[0][i], w->tid[1][i],
                    w->tid[2][i], (long long)p->x, (long long)p->y, (long long)p->slice,
                    p->o->name, (long long)p->x_end, (long long)p->y_end, (long long)p->slices);
}

/* Address of lane i in e->mem; the lane leaves e->mem->lanes when it touches nothing. */
static bool lane_address(const struct func_warp *w, const struct uop *u, struct effect *e, unsigned i,
                         uint32_t handle, const int32_t c[3], struct fault *f)
{
  struct mem_effect *me = e->mem;
  const struct tex_object *o = func_object(w, e, i, handle, true, f);
  if (!o) return false;
  const struct image *m = &o->image;
  if (!surface_shape_matches(m, (unsigned)sass_get(u->s, FLD_SURF_DIM)))
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, i, 0,
                      "surface '%.60s' has another shape than the instruction accesses", o->name);
  struct texel_place p = place_of(u, o, c);
  bool inside = p.x >= 0 && p.x + me->bytes <= p.x_end && p.y >= 0 && p.y < p.y_end &&
                p.slice >= 0 && p.slice < p.slices;
  unsigned mode = (unsigned)sass_get(u->s, FLD_SURF_CLAMP);
  if (!inside && mode == CLAMP_TRAP) return outside_fault(w, e, i, &p, f);
  if (!inside && (mode == CLAMP_IGNORE || p.x_end < me->bytes)) {
    me->lanes &= ~((lane_mask)1 << i);
    me->addr[i] = 0;
    return true;
  }
  p.x = clamped(p.x, p.x_end - me->bytes);
  p.y = clamped(p.y, p.y_end - 1);
  p.slice = clamped(p.slice, p.slices - 1);
  me->addr[i] = m->base + (uint64_t)p.slice * m->slice_bytes + (uint64_t)p.y * m->row_bytes +
                (uint64_t)p.x;
  return true;
}

static bool surface(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                    struct fault *f)
{
  const struct inst_mem *t = &u->t->mem;
  struct mem_effect *me = mem_begin(e, m, MEM_GLOBAL, t->op, t->bytes, t->strong);
  const uint32_t *at = row_src(w, u->a), *handle = row_src(w, u->c);
  unsigned n = sass_surface_coords(u->s);
  memset(me->addr, 0, sizeof me->addr);
  if (t->op == MEM_LOAD)
    for (unsigned k = 0; k * 4 < t->bytes; k++) memset(mem_row(me, k), 0, ROW_BYTES);
  else
    mem_sample_data(w, u, me);
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    int32_t c[3] = {0};
    for (unsigned k = 0; k < n; k++) c[k] = (int32_t)at[k * LANES + i];
    if (!lane_address(w, u, e, i, handle[i], c, f)) {
      e->flags &= ~(uint32_t)EFF_MEM;
      return false;
    }
  }
  if (u->s->sem == SEM_SULD) pred_write(w, u->pu, m, 0); /* everything is resident */
  return mem_aligned(w, e, (uint32_t)me->lanes, t->bytes, f);
}

/* One component as the surface has it: numbers of the surface's kind, of 32 bits, that do not fit become the nearest
 * that does. (How they do the PTX ISA leaves open; Direct3D asks it of typed stores.) */
static uint32_t component(const struct image *m, uint32_t v)
{
  const uint32_t most = m->bits < 32 ? (1u << m->bits) - 1 : UINT32_MAX, high = most >> 1;
  if (m->type == TEXEL_FLOAT) return m->bits == 16 ? f16_from_f32(v) : v;
  if (m->type == TEXEL_UINT) return v < most ? v : most;
  const int32_t s = (int32_t)v;
  return (uint32_t)(s > (int32_t)high ? (int32_t)high : s < -(int32_t)high - 1 ? -(int32_t)high - 1 : s) & most;
}

/* Registers hold components one after the other, those that `mask` has; of others nothing is said: zero. */
static void put_texel(const struct func_warp *w, const struct uop *u, struct mem_effect *me, unsigned i,
                      const struct image *m)
{
  uint32_t texel[4] = {0};
  unsigned mask = (unsigned)sass_get(u->s, FLD_SURF_MASK), from = 0;
  for (unsigned k = 0; k < 4; k++) {
    if (!(mask >> k & 1)) continue;
    const uint32_t v = row_src(w, u->b)[from++ * LANES + i];
    if (k < m->channels) texel[k * m->bits / 32] |= component(m, v) << k * m->bits % 32;
  }
  for (unsigned k = 0; k < 4; k++) mem_row(me, k)[i] = texel[k];
}

/* SUST.P: to the surface's format. */
static bool formatted_store(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const uint32_t *at = row_src(w, u->a), *handle = row_src(w, u->c);
  const unsigned n = sass_surface_coords(u->s);
  struct mem_effect *me = mem_begin(e, m, MEM_GLOBAL, MEM_STORE, u->t->mem.bytes, u->t->mem.strong);
  memset(me->addr, 0, sizeof me->addr);
  for (uint32_t r = m; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    const struct tex_object *o = func_object(w, e, i, handle[i], true, f);
    int32_t c[3] = {0};
    for (unsigned k = 0; k < n; k++) c[k] = (int32_t)at[k * LANES + i];
    bool ok = o != NULL;
    if (ok && r != m && texel_bytes(&o->image) != me->bytes)
      ok = func_fault(w, e, f, FAULT_UNSUPPORTED, i, handle[i],
                      "sust.p of one warp to surfaces of several texel sizes");
    if (ok) me->bytes = (uint8_t)texel_bytes(&o->image);
    if (!ok || !lane_address(w, u, e, i, handle[i], c, f)) {
      e->flags &= ~(uint32_t)EFF_MEM;
      return false;
    }
    put_texel(w, u, me, i, &o->image);
  }
  return mem_aligned(w, e, (uint32_t)me->lanes, me->bytes, f);
}

uop_fn *sem_surf_handler(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_SULD:
    u->flags = UOP_MEM;
    u->perform = mem_load_perform;
    u->finish = mem_load_finisher(s);
    return surface;
  case SEM_SUST:
    u->flags = UOP_MEM;
    u->perform = mem_store_perform;
    return surface;
  case SEM_SUST_P:
    u->flags = UOP_MEM;
    u->perform = mem_store_perform;
    return formatted_store;
  case SEM_SURED: return atom_pick_surface(s, u, surface);
  default: return NULL;
  }
}
