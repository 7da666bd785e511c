/* Texture instructions: TEX, TLD, TLD4, TXD, TXQ. The step samples handles and coordinates and finds
 * the texels; perform reads and filters them. Rules: compiler output (CUDA 13.0), PTX ISA (tex, tld4, txq); sampling
 * itself: sampler.h.
 *
 * Word rows of the effect from COMPARE_WORD on: the handle; for both levels the weights of x, y and z, with the number
 * of texels and the weight of the second level in the upper bytes.
 */
#include "func/sass/guest_fault.h"
#include "func/sass/mem.h"
#include "func/sass/sampler.h"

enum { HANDLE_WORD = COMPARE_WORD, FRAC_WORD /* and the next */, DIM_LAYERED = 4, N_COMPONENTS = 4 };

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

/* Pickers keep the instruction's arguments and image shape where others have modifiers: a_and, a_xor; b_and. */
static void keep_arguments(const struct sass_inst *s, struct uop *u)
{
  const struct sass_tex_args a = sass_tex_args(s);
  _Static_assert(sizeof a == sizeof u->a_and + sizeof u->a_xor, "two words");
  memcpy(&u->a_and, &a, sizeof u->a_and);
  memcpy(&u->a_xor, (const uint8_t *)&a + sizeof u->a_and, sizeof u->a_xor);
  u->b_and = (uint32_t)sass_get(s, FLD_TEX_DIM);
}

static struct sass_tex_args arguments_of(const struct uop *u)
{
  struct sass_tex_args a;
  memcpy(&a, &u->a_and, sizeof u->a_and);
  memcpy((uint8_t *)&a + sizeof u->a_and, &u->a_xor, sizeof u->a_xor);
  return a;
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

static uint32_t pack(const uint8_t frac[3], uint8_t top)
{
  return frac[0] | (uint32_t)frac[1] << 8 | (uint32_t)frac[2] << 16 | (uint32_t)top << 24;
}

static uint8_t unpack(uint32_t v, uint8_t frac[3])
{
  for (unsigned a = 0; a < 3; a++) frac[a] = (uint8_t)(v >> 8 * a);
  return (uint8_t)(v >> 24);
}

/* The texture a handle names, of the shape that the instruction samples. */
static const struct tex_object *sampled_object(const struct func_warp *w, const struct uop *u,
                                               const struct effect *e, unsigned lane, uint32_t handle,
                                               struct fault *f)
{
  const struct tex_object *o = func_object(w, e, lane, handle, false, f);
  if (!o) return NULL;
  const bool sampled = o->image.shape != IMAGE_BUFFER || mode_of(u) == SAMPLE_FETCH;
  if (sampled && shape_matches(&o->image, u->b_and)) return o;
  func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, 0,
             "texture '%.60s' has another shape than the instruction samples", o->name);
  return NULL;
}

/* Notes the texels of lane i; of lanes with fewer than others the last addresses are 0. */
static void keep_texels(struct mem_effect *me, unsigned i, const struct footprint *fp)
{
  const unsigned n = footprint_texels(fp);
  for (; me->n_texels < n; me->n_texels++) memset(me->texel[me->n_texels], 0, sizeof me->texel[0]);
  for (unsigned k = 0; k < me->n_texels; k++) me->texel[k][i] = k < n ? fp->addr[k] : 0;
  mem_row(me, FRAC_WORD)[i] = pack(fp->frac[0], fp->n);
  mem_row(me, FRAC_WORD + 1)[i] = pack(fp->frac[1], fp->between);
}

/* Rows of an instruction's arguments; those it lacks are NULL. */
struct tex_rows {
  const uint32_t *handle, *layer, *offset, *lod, *coord[3];
  uint32_t layer_bits;
};

static struct tex_rows tex_rows(const struct func_warp *w, const struct uop *u, const struct sass_tex_args *a)
{
  struct tex_rows r = {
    .handle = a->handle < 0 ? row_src(w, u->c) : argument(w, u, a, (unsigned)a->handle),
    .layer = a->layer < 0 ? NULL : argument(w, u, a, (unsigned)a->layer),
    .offset = a->offset < 0 ? NULL : argument(w, u, a, (unsigned)a->offset),
    .lod = a->lod < 0 ? NULL : argument(w, u, a, (unsigned)a->lod),
    .layer_bits = u->s->sem == SEM_TXD && a->offset >= 0 ? 0xffff : FULL_MASK,
  };
  for (unsigned k = 0; k < a->n_coords; k++) r.coord[k] = argument(w, u, a, a->first + k);
  return r;
}

static float as_float(uint32_t bits)
{
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* TXD: pairs of the changes to the right and below, coordinate by coordinate. Others with .NDV: differences between the
 * first lane of the quad and its neighbours. */
static float lod_of_gradients(const struct func_warp *w, const struct uop *u, const struct sass_tex_args *a,
                              const struct tex_rows *rows, const struct tex_object *o, unsigned i)
{
  const uint32_t *d = row_src(w, u->b);
  unsigned first = u->s->sem == SEM_TXD ? i : i & ~3u;
  float v[3] = {0}, dx[3] = {0}, dy[3] = {0};
  for (unsigned k = 0; k < a->n_coords; k++) {
    const uint32_t *c = rows->coord[k];
    v[k] = as_float(c[first]);
    dx[k] = u->s->sem == SEM_TXD ? as_float(d[2 * k * LANES + i]) : as_float(c[first + 1]) - v[k];
    dy[k] = u->s->sem == SEM_TXD ? as_float(d[(2 * k + 1) * LANES + i]) : as_float(c[first + 2]) - v[k];
  }
  return sampler_lod(o, v, dx, dy);
}

/* Level of detail of lane i in a mipmapped image. */
static float lod_of(const struct func_warp *w, const struct uop *u, const struct sass_tex_args *a,
                    const struct tex_rows *rows, const struct tex_object *o, unsigned i)
{
  enum { LZ = 1, LB = 2, LZ100 = 8 };
  unsigned mode = (unsigned)sass_get(u->s, FLD_TEX_LOD);
  float lod = SAMPLE_LOD_FIRST;
  if (u->s->sem == SEM_TLD) return rows->lod ? (float)(int32_t)rows->lod[i] : 0;
  if (u->s->sem == SEM_TXD || (u->s->sem == SEM_TEX && sass_get(u->s, FLD_TEX_NDV)))
    lod = lod_of_gradients(w, u, a, rows, o, i);
  if (mode == LZ || sass_get(u->s, FLD_TEX_LOD100) == LZ100) return 0;
  if (!rows->lod) return lod;
  return mode == LB ? lod + as_float(rows->lod[i]) : as_float(rows->lod[i]);
}

static bool tex(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  struct mem_effect *me = mem_begin(e, m, MEM_TEXTURE, MEM_LOAD, u->t->mem.bytes, false);
  const struct sass_tex_args a = arguments_of(u);
  const struct tex_rows rows = tex_rows(w, u, &a);
  const enum sample_mode mode = mode_of(u);
  const struct tex_object *o = NULL;
  uint32_t handle = 0;
  memcpy(mem_row(me, HANDLE_WORD), rows.handle, ROW_BYTES);
  me->n_texels = 0;
  me->texture_axes = a.n_coords;
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    struct sample_at at = {.layer = rows.layer ? rows.layer[i] & rows.layer_bits : 0};
    struct footprint fp;
    if (!o || rows.handle[i] != handle) o = sampled_object(w, u, e, i, handle = rows.handle[i], f);
    if (!o) {
      e->flags &= ~(uint32_t)EFF_MEM;
      return false;
    }
    if (rows.offset) unpack_offset(u->s->sem, rows.offset[i], at.offset);
    for (unsigned k = 0; k < a.n_coords; k++) at.xyz[k] = rows.coord[k][i];
    if (o->image.levels > 1) at.lod = lod_of(w, u, &a, &rows, o, i);
    sampler_footprint(o, mode, &at, &fp);
    keep_texels(me, i, &fp);
  }
  pred_write(w, u->pu, m, 0); /* everything is resident */
  return true;
}

/* The page of the texel read last: mostly the next one lies there, too. */
struct texel_page {
  const struct gmem_view *view;
  const uint8_t *host; /* NULL: none */
  uint64_t first, in;  /* its address, the bits of an address inside */
};

/* One texel, which lies in one page. */
static bool read_texel(struct texel_page *p, uint64_t addr, uint8_t *to, unsigned bytes)
{
  if (p->view->log) return gmem_view_read(p->view, addr, to, bytes);
  if (!p->host || (addr & ~p->in) != p->first) {
    p->host = gmem_page(p->view->image, addr, &p->in);
    p->first = addr & ~p->in;
    if (!p->host) return false;
  }
  const uint8_t *from = p->host + (addr & p->in);
  switch (bytes) {
  case 1: *to = *from; return true;
  case 2: memcpy(to, from, 2); return true;
  case 4: memcpy(to, from, 4); return true;
  case 8: memcpy(to, from, 8); return true;
  default: memcpy(to, from, TEXEL_MAX_BYTES); return true;
  }
}

static bool tex_lane(struct func_warp *w, const struct uop *u, struct effect *e, unsigned i,
                     const struct tex_object *o, struct texel_page *page, struct fault *f)
{
  struct mem_effect *me = e->mem;
  uint8_t texel[FOOTPRINT_MAX * TEXEL_MAX_BYTES];
  const unsigned bytes = texel_bytes(&o->image);
  uint32_t out[N_COMPONENTS];
  struct footprint fp;
  fp.n = unpack(mem_row(me, FRAC_WORD)[i], fp.frac[0]);
  fp.between = unpack(mem_row(me, FRAC_WORD + 1)[i], fp.frac[1]);
  for (unsigned k = 0; k < footprint_texels(&fp); k++) {
    fp.addr[k] = me->texel[k][i];
    if (fp.addr[k] == TEXEL_BORDER) continue;
    if (!read_texel(page, fp.addr[k], texel + k * TEXEL_MAX_BYTES, bytes))
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
  struct texel_page page = {.view = v};
  for (; lanes; lanes &= lanes - 1) {
    const unsigned i = bits_first(lanes);
    const struct tex_object *o = tex_object_of(w->launch->p.textures, mem_row(e->mem, HANDLE_WORD)[i]);
    if (!tex_lane(w, u, e, i, o, &page, f)) return false;
  }
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

/* Width, height, depth of a level (zeros: there is none); depth is the number of layers of a layered image. The last
 * component is the number of levels. */
static void dimensions(const struct tex_object *o, uint32_t level, uint32_t out[N_COMPONENTS])
{
  unsigned levels = o->image.levels ? o->image.levels : 1;
  memset(out, 0, N_COMPONENTS * sizeof *out);
  out[3] = levels;
  if (level >= levels) return;
  struct image m = image_level(&o->image, level);
  out[0] = m.extent[0];
  out[1] = m.extent[1];
  out[2] = m.layers ? m.layers : m.extent[2];
}

static bool txq(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  bool in_register = sass_get(u->s, FLD_TEX_B);
  const uint32_t *handle = row_src(w, in_register ? u->a : u->c);
  const uint32_t *level = row_src(w, u->a) + (in_register ? LANES : 0);
  uint32_t rows[N_COMPONENTS][LANES] = {{0}};
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    uint32_t out[N_COMPONENTS];
    const struct tex_object *o = tex_object_of(w->launch->p.textures, handle[i]);
    if (!o) return func_object(w, e, i, handle[i], false, f) != NULL;
    dimensions(o, level[i], out);
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
  keep_arguments(s, u);
  u->flags = UOP_MEM;
  u->perform = tex_perform;
  u->finish = tex_finish;
  return tex;
}
