/* Texture instructions: TEX, TLD, TLD4, TXD, TXQ. The step samples handles and coordinates and finds
 * the texels; perform reads and filters them. Images have one level, so levels of detail and
 * gradients change nothing. Rules: compiler output (CUDA 13.0), PTX ISA (tex, tld4, txq); sampling
 * itself: sampler.h.
 *
 * Word rows of the effect from COMPARE_WORD on: the handle, the weights of x and y, the weight of z.
 */
#include "func/mem.h"
#include "func/sampler.h"

enum { HANDLE_WORD = COMPARE_WORD, FRAC_XY_WORD, FRAC_Z_WORD, DIM_LAYERED = 4, N_COMPONENTS = 4 };

const struct tex_object *func_object(const struct func_warp *w, const struct effect *e, unsigned lane,
                                     uint32_t handle, bool surface, struct fault *f)
{
  const struct tex_object *o = tex_object_of(w->launch->p.textures, handle);
  const char *kind = surface ? "surface" : "texture";
  if (o && o->surface == surface) return o;
  if (o)
    func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, handle,
               "thread (%u,%u,%u): handle 0x%x is the %s '%.60s', not a %s", w->tid[0][lane],
               w->tid[1][lane], w->tid[2][lane], handle, surface ? "texture" : "surface", o->name,
               kind);
  else
    func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, handle,
               "thread (%u,%u,%u): handle 0x%x names no %s", w->tid[0][lane], w->tid[1][lane],
               w->tid[2][lane], handle, kind);
  return NULL;
}

static enum sample_mode mode_of(const struct uop *u)
{
  return u->s->sem == SEM_TLD ? SAMPLE_FETCH : u->s->sem == SEM_TLD4 ? SAMPLE_GATHER : SAMPLE_FILTER;
}

/* Row of argument i. */
static const uint32_t *argument(const struct func_warp *w, const struct uop *u,
                                const struct sass_tex_args *a, unsigned i)
{
  return i < a->n_a ? row_src(w, u->a) + i * LANES : row_src(w, u->b) + (i - a->n_a) * LANES;
}

/* One-dimensional images are sampled by 2D instructions, too (compiler output). */
static bool shape_matches(const struct image *m, unsigned dim)
{
  static const uint8_t shapes[4] = {
    1 << IMAGE_1D | 1 << IMAGE_BUFFER, 1 << IMAGE_1D | 1 << IMAGE_2D, 1 << IMAGE_3D, 1 << IMAGE_CUBE,
  };
  return shapes[dim % DIM_LAYERED] >> m->shape & 1 && (dim >= DIM_LAYERED) == (m->layers != 0);
}

/* Offsets in texels: four bits for each coordinate, eight of which six count for TLD4; TXD has them in the upper half
 * of its register (compiler output, CUDA 13.0). */
static void unpack_offset(unsigned sem, uint32_t v, int8_t offset[3])
{
  const unsigned bits = sem == SEM_TLD4 ? 6 : 4, step = sem == SEM_TLD4 ? 8 : 4;
  if (sem == SEM_TXD) v >>= 16;
  for (unsigned k = 0; k < 3; k++) offset[k] = (int8_t)bits_sext(v >> (k * step) & bits_ones(bits), bits);
}

static bool lane_texels(const struct func_warp *w, const struct uop *u, struct effect *e, unsigned i,
                        const struct tex_object *o, const uint32_t xyz[3], const int8_t offset[3],
                        uint32_t layer, struct fault *f)
{
  struct mem_effect *me = e->mem;
  struct footprint fp;
  unsigned dim = (unsigned)sass_get(u->s, FLD_TEX_DIM);
  if (!shape_matches(&o->image, dim) || (o->image.shape == IMAGE_BUFFER && mode_of(u) != SAMPLE_FETCH))
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, i, 0,
                      "texture '%.60s' has another shape than the instruction samples", o->name);
  sampler_footprint(o, mode_of(u), xyz, offset, layer, &fp);
  for (unsigned k = 0; k < MEM_MAX_TEXELS; k++) me->texel[k][i] = k < fp.n ? fp.addr[k] : 0;
  mem_row(me, FRAC_XY_WORD)[i] = fp.frac[0] | (uint32_t)fp.frac[1] << 16;
  mem_row(me, FRAC_Z_WORD)[i] = fp.frac[2] | (uint32_t)fp.n << 16;
  if (fp.n > me->n_texels) me->n_texels = fp.n;
  return true;
}

static bool tex(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  struct mem_effect *me = mem_begin(e, m, MEM_TEXTURE, MEM_LOAD, u->t->mem.bytes, false);
  struct sass_tex_args a = sass_tex_args(u->s);
  const uint32_t *handle = a.handle < 0 ? row_src(w, u->c) : argument(w, u, &a, (unsigned)a.handle);
  const uint32_t *layer = a.layer < 0 ? NULL : argument(w, u, &a, (unsigned)a.layer);
  const uint32_t *shift = a.offset < 0 ? NULL : argument(w, u, &a, (unsigned)a.offset);
  const uint32_t layer_bits = u->s->sem == SEM_TXD && shift ? 0xffff : FULL_MASK;
  const uint32_t *coord[3] = {NULL};
  for (unsigned k = 0; k < a.n_coords; k++) coord[k] = argument(w, u, &a, a.first + k);
  memcpy(mem_row(me, HANDLE_WORD), handle, ROW_BYTES);
  me->n_texels = 0;
  me->texture_axes = a.n_coords;
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    uint32_t xyz[3] = {0};
    int8_t offset[3] = {0};
    if (shift) unpack_offset(u->s->sem, shift[i], offset);
    for (unsigned k = 0; k < a.n_coords; k++) xyz[k] = coord[k][i];
    const struct tex_object *o = func_object(w, e, i, handle[i], false, f);
    if (!o || !lane_texels(w, u, e, i, o, xyz, offset, layer ? layer[i] & layer_bits : 0, f)) {
      e->flags &= ~(uint32_t)EFF_MEM;
      return false;
    }
  }
  pred_write(w, u->pu, m, 0); /* everything is resident */
  return true;
}

static bool tex_lane(struct func_warp *w, const struct uop *u, struct effect *e, unsigned i,
                     const struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  uint8_t texel[FOOTPRINT_MAX * TEXEL_MAX_BYTES];
  const struct tex_object *o = tex_object_of(w->launch->p.textures, mem_row(me, HANDLE_WORD)[i]);
  uint32_t xy = mem_row(me, FRAC_XY_WORD)[i], z = mem_row(me, FRAC_Z_WORD)[i], out[N_COMPONENTS];
  struct footprint fp = {.n = (uint8_t)(z >> 16),
                         .frac = {(uint16_t)xy, (uint16_t)(xy >> 16), (uint16_t)z}};
  for (unsigned k = 0; k < fp.n; k++) {
    fp.addr[k] = me->texel[k][i];
    if (fp.addr[k] == TEXEL_BORDER) continue;
    if (!gmem_view_read(v, fp.addr[k], texel + k * TEXEL_MAX_BYTES, texel_bytes(&o->image)))
      return mem_unmapped(w, e, i, fp.addr[k], f);
  }
  if (u->s->sem == SEM_TLD4)
    sampler_gather(o, (unsigned)sass_get(u->s, FLD_TLD4_COMP), &fp, texel, out);
  else
    sampler_blend(o, mode_of(u), &fp, texel, out);
  for (unsigned c = 0; c < N_COMPONENTS; c++) mem_row(me, c)[i] = out[c];
  return true;
}

static bool tex_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                        struct gmem_view *v, struct fault *f)
{
  for (; lanes; lanes &= lanes - 1)
    if (!tex_lane(w, u, e, bits_first(lanes), v, f)) return false;
  return true;
}

static void write_row(struct func_warp *w, struct row_ref to, const void *from, uint32_t m)
{
  uint32_t t[LANES];
  memcpy(t, from, ROW_BYTES);
  row_blend(row_dst(w, to), t, 1, m);
}

/* Row of component number n of the result: two in Rd, two in Rd2 (u->imm: its offset). */
static struct row_ref result_row(const struct uop *u, unsigned n)
{
  struct row_ref r = u->d;
  if (n >= 2) r.off = u->imm;
  r.off += n % 2 * ROW_BYTES;
  return r;
}

static void tex_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  unsigned mask = u->imm2, n = 0;
  for (unsigned c = 0; c < N_COMPONENTS; c++)
    if (mask >> c & 1) write_row(w, result_row(u, n++), mem_row(e->mem, c), (uint32_t)e->exec);
}

/* Width, height, depth of level 0; depth is the number of layers of a layered image. Its last
 * component is the number of levels. */
static void dimensions(const struct tex_object *o, uint32_t out[N_COMPONENTS])
{
  const struct image *m = &o->image;
  out[0] = m->extent[0];
  out[1] = m->extent[1];
  out[2] = m->layers ? m->layers : m->extent[2];
  out[3] = 1;
}

static bool txq(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  bool in_register = sass_get(u->s, FLD_TEX_B);
  const uint32_t *handle = row_src(w, in_register ? u->a : u->c);
  uint32_t rows[N_COMPONENTS][LANES] = {{0}};
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    uint32_t out[N_COMPONENTS];
    const struct tex_object *o = tex_object_of(w->launch->p.textures, handle[i]);
    if (!o) return func_object(w, e, i, handle[i], false, f) != NULL;
    dimensions(o, out);
    for (unsigned c = 0; c < N_COMPONENTS; c++) rows[c][i] = out[c];
  }
  for (unsigned c = 0, n = 0; c < N_COMPONENTS; c++)
    if (u->imm2 >> c & 1) write_row(w, result_row(u, n++), rows[c], m);
  return true;
}

uop_fn *sem_tex_handler(const struct sass_inst *s, struct uop *u)
{
  enum { QUERY_DIMENSION = 0 };
  unsigned rd2 = (unsigned)sass_get(s, FLD_TEX_RD2);
  if (s->sem < SEM_TEX || s->sem > SEM_TXQ) return NULL;
  if (sass_get(s, FLD_TEX_DC) || sass_get(s, FLD_TEX_F16) || sass_get(s, FLD_TLD_MS) ||
      sass_get(s, FLD_TLD_MS100))
    return NULL;
  u->imm2 = (uint32_t)sass_get(s, FLD_TEX_MASK);
  if (bits_count(u->imm2) > 2 && rd2 == SASS_RZ) return NULL;
  u->imm = rd2 * ROW_BYTES;
  if (s->sem == SEM_TXQ) return sass_get(s, FLD_TXQ_QUERY) == QUERY_DIMENSION ? txq : NULL;
  u->flags = UOP_MEM;
  u->perform = tex_perform;
  u->finish = tex_finish;
  return tex;
}
