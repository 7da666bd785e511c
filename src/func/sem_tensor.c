/* Tensor copies (UTMALDG, UTMASTG, UTMAREDG, UTMAPF): a box of a tensor in global memory, described by a tensor map,
 * and the same elements side by side in shared memory. Rules: PTX ISA (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor,
 * tensors: tiled mode, im2col mode, swizzling); where operands are: compiler output (CUDA 13.0).
 *
 * A copy is complete here when it has been performed: the timing model performs a load when its data are there. It goes
 * row by row, a row being what lies along dimension 0.
 */
#include "func/cluster.h"
#include "func/mbarrier.h"
#include "func/mem.h"
#include "func/tensor_map.h"

/* What step leaves for perform, in row 0 of the effect's data. */
enum { ARG_MAP, ARG_MAP_HIGH, ARG_SHARED, ARG_BARRIER, ARG_EXTRA, ARG_COORD, MAX_COORDS = 5 };
enum { GATHER_ROWS = 4, MODE_TILED = 0, MODE_IM2COL, MODE_STORE_SCATTER4 = 2, MODE_GATHER4 = 4 };
enum { SHARED_ALIGN = 128, MAP_ALIGN = 64, CHUNK = 16, MAX_ROW_BYTES = 256 * 8 };

struct copy {
  struct func_warp *w;
  const struct uop *u;
  struct effect *e;
  struct gmem_view *v;
  struct fault *f;
  unsigned lane;
  struct tensor_map map;
  const mem_word *arg;
  uint8_t *shared;      /* a CTA's, from its first byte on */
  uint32_t at;          /* where the next row goes there */
  uint32_t bytes;       /* of the box, so far */
  unsigned row_elements, row_bytes;
  unsigned n_sectors;   /* for timing, of the effect's list */
  bool only_list;       /* nothing is moved: the sectors in global memory are listed */
};

static int64_t coord(const struct copy *c, unsigned i)
{
  return (int32_t)c->arg[ARG_COORD + i];
}

/* Place in shared memory: chunks change places within the span, by the number of the line (PTX ISA, swizzling modes). Bits
 * of the address decide, so the pattern repeats every 1,024 bytes. */
static uint32_t swizzled(const struct tensor_map *m, uint32_t at)
{
  uint32_t line = at >> 7;
  switch (m->swizzle) {
  case SWIZZLE_32: return at ^ (line & 1) << 4;
  case SWIZZLE_64: return at ^ (line & 3) << 4;
  case SWIZZLE_128: break;
  default: return at;
  }
  switch (m->atom) {
  case ATOM_32: return at ^ (line & 3) << 5;
  case ATOM_32_FLIP: return at ^ (line & 3) << 5 ^ (line & 1) << 3;
  case ATOM_64: return at ^ (line & 1) << 6;
  default: return at ^ (line & 7) << 4;
  }
}

/* Moves a row between buf and shared memory in pieces that no swizzle divides. */
static void move_row(const struct copy *c, uint8_t *buf, bool to_shared)
{
  const unsigned piece = c->map.atom == ATOM_32_FLIP ? CHUNK / 2 : CHUNK;
  for (unsigned i = 0, n; i < c->row_bytes; i += n) {
    uint32_t at = c->at + i;
    n = piece - at % piece;
    if (n > c->row_bytes - i) n = c->row_bytes - i;
    uint8_t *p = c->shared + swizzled(&c->map, at);
    if (to_shared) memcpy(p, buf + i, n);
    else memcpy(buf + i, p, n);
  }
}

/* Elements out of bounds: zero, or a NaN. */
static void fill(const struct copy *c, uint8_t *buf, unsigned bytes)
{
  memset(buf, 0, bytes);
  if (!c->map.nan_fill) return;
  unsigned step = tensor_type_bits(c->map.type) / 8;
  memset(buf, 0xff, bytes);
  for (unsigned i = step - 1; i < bytes; i += step) buf[i] = 0x7f;
}

static bool no_memory(const struct copy *c, uint64_t addr)
{
  return mem_unmapped(c->w, c->e, c->lane, addr, c->f);
}

static void flush_subnormals(uint8_t *buf, unsigned bytes)
{
  for (unsigned i = 0; i + 4 <= bytes; i += 4) {
    uint32_t v;
    memcpy(&v, buf + i, sizeof v);
    if (!(v & 0x7f800000u)) v &= 0x80000000u;
    memcpy(buf + i, &v, sizeof v);
  }
}

static enum sass_atom_type reduced_as(enum tensor_type t)
{
  static const uint8_t type[TENSOR_TYPE__N] = {
      [TENSOR_U32] = ATOM_U32, [TENSOR_S32] = ATOM_S32, [TENSOR_U64] = ATOM_U64, [TENSOR_S64] = ATOM_S64,
      [TENSOR_F16] = ATOM_F16X2, [TENSOR_BF16] = ATOM_BF16X2, [TENSOR_F32] = ATOM_F32, [TENSOR_F32_FTZ] = ATOM_F32,
      [TENSOR_F64] = ATOM_F64};
  return type[t];
}

static void reduce(const struct copy *c, uint8_t *memory, const uint8_t *buf, unsigned bytes)
{
  unsigned op = (unsigned)sass_get(c->u->s, FLD_RED_OP), step = tensor_type_bits(c->map.type) / 8;
  for (unsigned i = 0; i < bytes; i += step) {
    uint32_t old[2] = {0}, v[2] = {0};
    memcpy(old, memory + i, step);
    memcpy(v, buf + i, step);
    atom_reduce(op, reduced_as(c->map.type), old, v);
    memcpy(memory + i, old, step);
  }
}

/* The part [first, first + bytes) of a row, which is at addr in global memory. */
static bool move_global(const struct copy *c, uint64_t addr, uint8_t *buf, unsigned bytes)
{
  uint8_t old[MAX_ROW_BYTES];
  switch (c->u->s->sem) {
  case SEM_UTMALDG:
    if (!gmem_view_read(c->v, addr, buf, bytes)) return no_memory(c, addr);
    if (c->map.type == TENSOR_F32_FTZ) flush_subnormals(buf, bytes);
    return true;
  case SEM_UTMASTG: return gmem_view_write(c->v, addr, buf, bytes) || no_memory(c, addr);
  default:
    if (!gmem_view_read(c->v, addr, old, bytes)) return no_memory(c, addr);
    reduce(c, old, buf, bytes);
    return gmem_view_write(c->v, addr, old, bytes) || no_memory(c, addr);
  }
}

/* Sectors of global memory, in the effect's list of texels: timing looks there. What does not fit is left out. */
static void list_sectors(struct copy *c, uint64_t addr, unsigned bytes)
{
  enum { SECTOR = 32, MAX_SECTORS = MEM_MAX_TEXELS * LANES_MAX };
  for (uint64_t a = addr / SECTOR * SECTOR; a < addr + bytes && c->n_sectors < MAX_SECTORS; a += SECTOR, c->n_sectors++)
    c->e->mem->texel[c->n_sectors / LANES_MAX][c->n_sectors % LANES_MAX] = a;
}

/* One row: from element `x` of dimension 0 at the place `pos` of the others; `inside`: the others are in bounds. */
static bool one_row(struct copy *c, int64_t x, const int64_t *pos, bool inside)
{
  const struct tensor_map *m = &c->map;
  const unsigned bits = tensor_type_bits(m->type);
  uint8_t buf[MAX_ROW_BYTES];
  int64_t first = x < 0 ? -x : 0, end = (int64_t)m->dim[0] - x;
  if (end > c->row_elements) end = c->row_elements;
  for (unsigned i = 1; i < m->rank; i++) inside &= pos[i] >= 0 && (uint64_t)pos[i] < m->dim[i];
  if (c->only_list) buf[0] = 0;
  else if (c->u->s->sem == SEM_UTMALDG) fill(c, buf, c->row_bytes);
  else move_row(c, buf, false);
  if (inside && first < end) {
    uint64_t addr = m->address + (uint64_t)((x + first) * bits / 8);
    for (unsigned i = 1; i < m->rank; i++) addr += (uint64_t)pos[i] * m->stride[i];
    unsigned from = (unsigned)first * bits / 8, n = (unsigned)(end - first) * bits / 8;
    if (c->only_list) list_sectors(c, addr, n);
    else if (!move_global(c, addr, buf + from, n)) return false;
  }
  if (c->u->s->sem == SEM_UTMALDG && !c->only_list) move_row(c, buf, true);
  c->at += c->row_bytes;
  c->bytes += c->row_bytes;
  return true;
}

static bool tiled(struct copy *c)
{
  const struct tensor_map *m = &c->map;
  unsigned n[TENSOR_DIMS] = {1, 1, 1, 1, 1}, i[TENSOR_DIMS] = {0};
  for (unsigned k = 1; k < m->rank; k++) n[k] = (m->box[k] + m->step[k] - 1) / m->step[k];
  for (;;) {
    int64_t pos[TENSOR_DIMS] = {0};
    unsigned k = 1;
    for (unsigned d = 1; d < m->rank; d++) pos[d] = coord(c, d) + (int64_t)i[d] * m->step[d];
    if (!one_row(c, coord(c, 0), pos, true)) return false;
    while (k < m->rank && ++i[k] == n[k]) i[k++] = 0;
    if (k >= m->rank) return true;
  }
}

/* Four rows of a matrix. */
static bool gathered(struct copy *c)
{
  for (unsigned k = 0; k < GATHER_ROWS; k++) {
    int64_t pos[TENSOR_DIMS] = {0, coord(c, 1 + k)};
    if (!one_row(c, coord(c, 0), pos, true)) return false;
  }
  return true;
}

/* Offsets of im2col: 16 bits, two times 8 or three times 5, W first (compiler output). */
static void offsets(const struct copy *c, int64_t off[TENSOR_SPATIAL])
{
  static const uint8_t bits[] = {16, 16, 8, 5};
  unsigned n = tensor_map_spatial(&c->map);
  for (unsigned i = 0; i < n; i++)
    off[i] = c->arg[ARG_EXTRA] >> i * bits[n] & ((1u << bits[n]) - 1);
}

/* Pixels one after the other within the corners: W, then H, D and images. */
static bool im2col(struct copy *c)
{
  const struct tensor_map *m = &c->map;
  const unsigned n = tensor_map_spatial(m);
  int64_t off[TENSOR_SPATIAL] = {0}, at[TENSOR_DIMS] = {0};
  if (c->u->s->sem == SEM_UTMALDG) offsets(c, off);
  for (unsigned k = 1; k < m->rank; k++) at[k] = coord(c, k);
  for (unsigned p = 0; p < m->pixels; p++) {
    int64_t pos[TENSOR_DIMS] = {0};
    unsigned k = 1;
    for (unsigned d = 1; d < m->rank; d++) pos[d] = at[d] + (d <= n ? off[d - 1] : 0);
    if (!one_row(c, coord(c, 0), pos, true)) return false;
    while (k <= n && (at[k] += m->step[k]) >= (int64_t)m->dim[k] + m->upper[k - 1]) at[k] = m->lower[k - 1], k++;
    if (k > n) at[m->rank - 1]++;
  }
  return true;
}

static bool refuse(const struct copy *c, const char *what)
{
  return func_fault(c->w, c->e, c->f, FAULT_UNSUPPORTED, c->lane, c->arg[ARG_MAP], "tensor copy: %s", what);
}

static unsigned mode_of(const struct sass_inst *s)
{
  bool store = sass_has(s, FLD_TMA_STORE_MODE);
  unsigned mode = (unsigned)sass_get(s, store ? FLD_TMA_STORE_MODE : FLD_TMA_MODE);
  return store && mode == MODE_STORE_SCATTER4 ? MODE_GATHER4 : mode;
}

/* Why instruction, map and model do not go together; NULL: they do. */
static const char *mismatch(struct copy *c, const uint8_t bytes[TENSOR_MAP_BYTES])
{
  const struct sass_inst *s = c->u->s;
  const unsigned mode = mode_of(s), dims = (unsigned)sass_get(s, FLD_TMA_DIM) + 1;
  if (!tensor_map_read(&c->map, bytes)) return "the tensor map is not valid";
  if (mode != MODE_TILED && mode != MODE_IM2COL && mode != MODE_GATHER4) return "im2col modes w and w::128 are not modelled";
  if (c->map.rank != dims && mode != MODE_GATHER4) return "the tensor map has another number of dimensions";
  if (c->map.interleave != TENSOR_PLAIN) return "interleaved layouts are not modelled";
  if (c->map.type == TENSOR_U4_GAPS || c->map.type == TENSOR_U6_GAPS) return "packed types with gaps are not modelled";
  if (c->map.kind != (mode == MODE_IM2COL ? TENSOR_IM2COL : TENSOR_TILED)) return "the tensor map is of another mode";
  if (s->sem == SEM_UTMAREDG && reduced_as(c->map.type) == ATOM_INVALID) return "no reduction of this type";
  if (s->sem == SEM_UTMALDG && sass_get(s, FLD_TMA_2CTA)) return "pairs of CTAs are not modelled";
  c->row_elements = c->map.box[0];
  c->row_bytes = c->row_elements * tensor_type_bits(c->map.type) / 8;
  return NULL;
}

static bool take_map(struct copy *c)
{
  uint8_t bytes[TENSOR_MAP_BYTES];
  uint64_t addr = lane_join(c->arg[ARG_MAP], c->arg[ARG_MAP_HIGH]);
  if (addr % MAP_ALIGN)
    return func_fault(c->w, c->e, c->f, FAULT_MISALIGNED, c->lane, addr, "tensor map at 0x%llx, not a multiple of %u",
                      (unsigned long long)addr, (unsigned)MAP_ALIGN);
  if (!gmem_view_read(c->v, addr, bytes, sizeof bytes)) return no_memory(c, addr);
  const char *why = mismatch(c, bytes);
  return !why || refuse(c, why);
}

static bool walk(struct copy *c)
{
  return mode_of(c->u->s) == MODE_GATHER4 ? gathered(c) : c->map.kind == TENSOR_IM2COL ? im2col(c) : tiled(c);
}

/* What timing needs to know. The map is read as memory has it now: it may not be what perform will see, but a map is used
 * a fence after it was written. */
static void list_box(struct func_warp *w, const struct uop *u, struct effect *e)
{
  struct copy c = {.w = w, .u = u, .e = e, .arg = mem_row(e->mem, 0), .only_list = true};
  uint8_t bytes[TENSOR_MAP_BYTES];
  bool known = gmem_read(w->launch->p.image, lane_join(c.arg[ARG_MAP], c.arg[ARG_MAP_HIGH]), bytes, sizeof bytes);
  if (known && !mismatch(&c, bytes)) walk(&c);
  e->mem->n_texels = (uint8_t)((c.n_sectors + LANES_MAX - 1) / LANES_MAX);
  for (unsigned i = c.n_sectors; i % LANES_MAX; i++) e->mem->texel[i / LANES_MAX][i % LANES_MAX] = 0;
}

/* Bytes that the copy takes in shared memory. */
static uint32_t box_bytes(const struct copy *c)
{
  uint32_t n = c->row_bytes;
  if (mode_of(c->u->s) == MODE_GATHER4) return n * GATHER_ROWS;
  if (c->map.kind == TENSOR_IM2COL) return n * c->map.pixels;
  for (unsigned k = 1; k < c->map.rank; k++) n *= (c->map.box[k] + c->map.step[k] - 1) / c->map.step[k];
  return n;
}

/* Shared memory of this CTA or of another one of its cluster. */
static uint8_t *near(const struct copy *c, uint32_t addr, uint32_t bytes)
{
  enum mem_space space = c->w->cta->cluster ? MEM_CLUSTER : MEM_SHARED;
  if (c->v->log && c->w->cta->cluster && addr >> CLUSTER_SHIFT != c->w->cta->rank) { /* SMs run side by side */
    refuse(c, "copies to other CTAs of a cluster run without time only; use --functional");
    return NULL;
  }
  return mem_near(c->w, c->e, space, c->lane, addr, bytes, c->f);
}

static bool take_shared(struct copy *c, uint32_t addr)
{
  const uint32_t offset = addr & ((1u << CLUSTER_SHIFT) - 1);
  if (addr % SHARED_ALIGN)
    return func_fault(c->w, c->e, c->f, FAULT_MISALIGNED, c->lane, addr,
                      "tensor copy: shared address 0x%x is not a multiple of %u", addr, (unsigned)SHARED_ALIGN);
  uint8_t *p = near(c, addr, box_bytes(c));
  c->shared = p ? p - offset : NULL, c->at = offset, c->bytes = 0;
  return p;
}

static bool complete(const struct copy *c, uint32_t addr)
{
  uint8_t *p = near(c, addr, 8);
  if (p) mbar_complete_tx(c->w->launch->p.sm, p, c->bytes);
  return p;
}

static bool copy_box(struct copy *c, uint32_t shared, uint32_t barrier)
{
  if (!take_shared(c, shared)) return false;
  if (!walk(c)) return false;
  return c->u->s->sem != SEM_UTMALDG || complete(c, barrier);
}

/* Data and mbarrier lie at the same offsets in all CTAs that get the box. */
static bool multicast(struct copy *c)
{
  const uint32_t within = (1u << CLUSTER_SHIFT) - 1, shared = c->arg[ARG_SHARED], barrier = c->arg[ARG_BARRIER];
  for (uint32_t to = c->arg[ARG_EXTRA] >> 16; to; to &= to - 1) {
    uint32_t base = bits_first(to) << CLUSTER_SHIFT;
    if (!copy_box(c, base | (shared & within), base | (barrier & within))) return false;
  }
  return true;
}

static bool perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes, struct gmem_view *v,
                    struct fault *f)
{
  struct copy c = {.w = w, .u = u, .e = e, .v = v, .f = f, .lane = bits_first(lanes), .arg = mem_row(e->mem, 0)};
  if (!take_map(&c)) return false;
  if (u->s->sem == SEM_UTMAPF) return true; /* a prefetch: no values */
  if (u->s->sem == SEM_UTMALDG && sass_get(u->s, FLD_TMA_MULTICAST)) return multicast(&c);
  return copy_box(&c, c.arg[ARG_SHARED], c.arg[ARG_BARRIER]);
}

/* One copy for the warp; its first lane stands for it. */
static bool step(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const struct sass_inst *s = u->s;
  unsigned lane = bits_first(m), ur = (unsigned)sass_get(s, FLD_URB), map = (unsigned)sass_get(s, FLD_URA);
  unsigned addresses = sass_tensor_addresses(s), coords = sass_tensor_coords(s);
  bool store = s->sem == SEM_UTMASTG || s->sem == SEM_UTMAREDG;
  struct mem_effect *me = mem_begin(e, 1u << lane, MEM_TEXTURE, store ? MEM_STORE : MEM_LOAD, 4, true);
  mem_word *arg = mem_row(me, 0);
  (void)f;
  arg[ARG_MAP] = warp_uniform(w, map), arg[ARG_MAP_HIGH] = warp_uniform(w, map + 1);
  arg[ARG_SHARED] = addresses > 0 ? warp_uniform(w, ur) : 0, arg[ARG_BARRIER] = addresses > 1 ? warp_uniform(w, ur + 1) : 0;
  arg[ARG_EXTRA] = sass_has(s, FLD_URC) ? warp_uniform(w, (unsigned)sass_get(s, FLD_URC)) : 0;
  for (unsigned i = 0; i < coords; i++) arg[ARG_COORD + i] = warp_uniform(w, ur + addresses + i);
  for (unsigned i = 0; i < LANES; i++) me->addr[i] = 0, me->shared_addr[i] = UINT32_MAX; /* not by lanes */
  me->texture_axes = 1;
  list_box(w, u, e);
  return true;
}

uop_fn *sem_tensor_handler(const struct sass_inst *s, struct uop *u)
{
  if (s->sem < SEM_UTMALDG || s->sem > SEM_UTMAPF) return NULL;
  if (sass_tensor_coords(s) > MAX_COORDS) return NULL;
  u->flags = UOP_MEM;
  u->perform = perform;
  return step;
}
