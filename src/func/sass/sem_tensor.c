/* Tensor copies (UTMALDG, UTMASTG, UTMAREDG, UTMAPF): a box of a tensor in global memory, described by a tensor map,
 * and the same elements side by side in shared memory. Rules: PTX ISA (cp.async.bulk.tensor,
 * cp.reduce.async.bulk.tensor, tensors: tiled mode, im2col mode, swizzling); where operands are: compiler output (CUDA
 * 13.0).
 *
 * A copy is complete here when it has been performed: the copy engine (time/sm/copy_engine.c) performs a load when its
 * data are there. It goes row by row, a row being what lies along dimension 0.
 */
#include "base/arith.h"
#include "func/sass/async_copy.h"
#include "func/sass/cluster.h"
#include "func/sass/guest_fault.h"
#include "func/tensor_map.h"

/* What step leaves for perform, in row 0 of the effect's data; the map, once it has been read, in row 1. */
enum { ARG_MAP, ARG_MAP_HIGH, ARG_SHARED, ARG_BARRIER, ARG_EXTRA, ARG_COORD, MAX_COORDS = 5,
       ARG_HAVE_MAP = ARG_COORD + MAX_COORDS, MAP_ROW = 1 };
enum { GATHER_ROWS = 4, MATRIX_DIMS = 2, MODE_TILED = 0, MODE_IM2COL, MODE_STORE_SCATTER4 = 2, MODE_W128 = 2,
       MODE_W, MODE_GATHER4 };
enum { HALO_BITS = 11, W128_PIXELS = 128 };
enum { SHARED_ALIGN = 128, MAP_ALIGN = 64, CHUNK = 16, MAX_ROW_BYTES = 256 * 8, PACKED_ELEMENTS = 128 };

struct box_copy {
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
  unsigned row_elements, row_bytes, rows; /* in shared memory, all together no more than there is (take_box) */
  unsigned packed_bytes; /* of a row in global memory: less with gaps */
};

static int64_t coord(const struct box_copy *c, unsigned i)
{
  return (int32_t)c->arg[ARG_COORD + i];
}

/* Place in shared memory: chunks change places within the span, by the number of the line (PTX ISA, swizzling modes).
 * Bits of the address decide, so the pattern repeats every 1,024 bytes. */
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
static void move_row(const struct box_copy *c, uint8_t *buf, bool to_shared)
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

/* A row with gaps: of each chunk the first 8 or 12 bytes. What becomes of the others is not documented; they stay. */
static void put_packed_row(const struct box_copy *c, const uint8_t *buf)
{
  const unsigned chunks = c->row_bytes / CHUNK, bytes = c->packed_bytes / chunks;
  for (unsigned i = 0; i < chunks; i++)
    memcpy(c->shared + swizzled(&c->map, c->at + i * CHUNK), buf + i * bytes, bytes);
}

/* A row of numbers of 6 bits, each in the low bits of a byte (.b6p2x16), side by side: 16 in 12 bytes, the first one
 * lowest. */
static void take_padded_row(const struct box_copy *c, uint8_t *buf)
{
  enum { BITS = 6, MASK = (1 << BITS) - 1, GROUP = 4 };
  uint8_t wide[MAX_ROW_BYTES];
  move_row(c, wide, false);
  for (unsigned i = 0; i < c->row_bytes; i += GROUP) {
    uint32_t v = 0;
    for (unsigned k = 0; k < GROUP; k++) v |= (uint32_t)(wide[i + k] & MASK) << BITS * k;
    for (unsigned k = 0; k < GROUP - 1; k++) *buf++ = (uint8_t)(v >> 8 * k);
  }
}

/* Elements out of bounds: zero, or a NaN. */
static void fill(const struct box_copy *c, uint8_t *buf, unsigned bytes)
{
  memset(buf, 0, bytes);
  if (!c->map.nan_fill) return;
  unsigned step = tensor_type_bits(c->map.type) / 8;
  memset(buf, 0xff, bytes);
  for (unsigned i = step - 1; i < bytes; i += step) buf[i] = 0x7f;
}

static bool no_memory(const struct box_copy *c, uint64_t addr)
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
  switch (t) {
  case TENSOR_U32: return ATOM_U32;
  case TENSOR_S32: return ATOM_S32;
  case TENSOR_U64: return ATOM_U64;
  case TENSOR_S64: return ATOM_S64;
  case TENSOR_F16: return ATOM_F16X2;
  case TENSOR_BF16: return ATOM_BF16X2;
  case TENSOR_F32:
  case TENSOR_F32_FTZ: return ATOM_F32;
  case TENSOR_F64: return ATOM_F64;
  default: return ATOM_INVALID;
  }
}

static void reduce(const struct box_copy *c, uint8_t *memory, const uint8_t *buf, unsigned bytes)
{
  unsigned op = (unsigned)sass_get(c->u->s, FLD_RED_OP), step = tensor_type_bits(c->map.type) / 8;
  for (unsigned i = 0; i < bytes; i += step) {
    uint32_t old[2] = {0}, v[2] = {0};
    memcpy(old, memory + i, step);
    memcpy(v, buf + i, step);
    atom_reduce(op, reduced_as(c->map.type), c->map.type == TENSOR_F32_FTZ, old, v);
    memcpy(memory + i, old, step);
  }
}

/* The part [first, first + bytes) of a row, which is at addr in global memory. */
static bool move_global(const struct box_copy *c, uint64_t addr, uint8_t *buf, unsigned bytes)
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

/* Where row k begins: along dimension 0, and its place in the others. */
struct row {
  int64_t x, pos[TENSOR_DIMS];
};

static unsigned rows_of_box(const struct tensor_map *m, unsigned k)
{
  return (m->box[k] + m->step[k] - 1) / m->step[k];
}

static void place_tiled(const struct box_copy *c, unsigned k, struct row *r)
{
  for (unsigned d = 1; d < c->map.rank; d++) {
    unsigned n = rows_of_box(&c->map, d);
    r->pos[d] = coord(c, d) + (int64_t)(k % n) * c->map.step[d];
    k /= n;
  }
}

/* Offsets of im2col: 16 bits, two times 8 or three times 5, W first; of im2col::w and w::128 wHalo and, behind its 11
 * bits, wOffset, which moves the first pixel and both corners (compiler output; PTX ISA). */
static void offsets(const struct box_copy *c, int64_t off[TENSOR_SPATIAL])
{
  static const uint8_t bits[] = {16, 16, 8, 5};
  unsigned n = tensor_map_spatial(&c->map);
  if (c->map.kind != TENSOR_IM2COL) {
    off[0] = c->arg[ARG_EXTRA] >> HALO_BITS & 31;
    return;
  }
  for (unsigned i = 0; i < n; i++)
    off[i] = c->arg[ARG_EXTRA] >> i * bits[n] & ((1u << bits[n]) - 1);
}

static uint64_t steps(int64_t distance, unsigned step)
{
  return distance > 0 ? div_up((uint64_t)distance, step) : 0;
}

/* *k steps from `at` on, which goes back to `lower` when it reaches `limit`; *k: how often it did. */
static int64_t advance(int64_t at, int64_t lower, int64_t limit, unsigned step, unsigned *k)
{
  const uint64_t n = *k;
  uint64_t first = steps(limit - at, step), turn = steps(limit - lower, step);
  if (!first) first = 1;
  if (!turn) turn = 1;
  *k = n < first ? 0 : (unsigned)(1 + (n - first) / turn);
  return n < first ? at + (int64_t)n * step : lower + (int64_t)((n - first) % turn) * step;
}

/* Pixels one after the other within the corners: W, then H, D and images; of im2col::w and w::128 W, then images. */
static void place_im2col(const struct box_copy *c, unsigned k, struct row *r)
{
  const struct tensor_map *m = &c->map;
  const unsigned n = tensor_map_spatial(m);
  int64_t off[TENSOR_SPATIAL] = {0};
  if (c->u->s->sem == SEM_UTMALDG) offsets(c, off);
  for (unsigned d = 1; d <= n; d++)
    r->pos[d] =
        off[d - 1] + advance(coord(c, d), m->lower[d - 1], (int64_t)m->dim[d] + m->upper[d - 1], m->step[d], &k);
  for (unsigned d = n + 1; d < m->rank; d++) r->pos[d] = coord(c, d);
  r->pos[m->rank - 1] += k;
}

static unsigned mode_of(const struct sass_inst *s)
{
  bool store = sass_has(s, FLD_TMA_STORE_MODE);
  unsigned mode = (unsigned)sass_get(s, store ? FLD_TMA_STORE_MODE : FLD_TMA_MODE);
  return store && mode == MODE_STORE_SCATTER4 ? MODE_GATHER4 : mode;
}

static struct row row_at(const struct box_copy *c, unsigned k)
{
  struct row r = {.x = coord(c, 0)};
  if (mode_of(c->u->s) == MODE_GATHER4) r.pos[1] = coord(c, 1 + k); /* four rows of a matrix */
  else if (c->map.kind != TENSOR_TILED) place_im2col(c, k, &r);
  else place_tiled(c, k, &r);
  return r;
}

static uint64_t count_rows(const struct box_copy *c)
{
  uint64_t n = 1;
  if (mode_of(c->u->s) == MODE_GATHER4) return GATHER_ROWS;
  if (c->map.kind == TENSOR_IM2COL_W128) return W128_PIXELS;
  if (c->map.kind != TENSOR_TILED) return c->map.pixels;
  for (unsigned k = 1; k < c->map.rank; k++) n *= rows_of_box(&c->map, k);
  return n;
}

/* The part of row k that is in bounds: its address, its bytes (0: nothing) and how far into the row it begins. */
static struct copy_piece in_bounds(const struct box_copy *c, unsigned k, unsigned *from)
{
  const struct tensor_map *m = &c->map;
  const unsigned bits = tensor_type_bits(m->type);
  const struct row r = row_at(c, k);
  struct copy_piece p = {.last = k + 1 >= c->rows};
  int64_t first = r.x < 0 ? -r.x : 0, end = (int64_t)m->dim[0] - r.x;
  if (end > c->row_elements) end = c->row_elements;
  bool inside = first < end;
  for (unsigned i = 1; i < m->rank; i++) inside &= r.pos[i] >= 0 && (uint64_t)r.pos[i] < m->dim[i];
  *from = 0;
  if (!inside) return p;
  p.addr = m->address + (uint64_t)((r.x + first) * bits / 8);
  for (unsigned i = 1; i < m->rank; i++) p.addr += (uint64_t)r.pos[i] * m->stride[i];
  p.bytes = (unsigned)(end - first) * bits / 8;
  *from = (unsigned)first * bits / 8;
  return p;
}

static bool move_one_row(struct box_copy *c, unsigned k)
{
  const bool load = c->u->s->sem == SEM_UTMALDG;
  uint8_t buf[MAX_ROW_BYTES];
  unsigned from;
  const struct copy_piece p = in_bounds(c, k, &from);
  if (load) fill(c, buf, c->packed_bytes);
  else if (tensor_type_gaps(c->map.type)) take_padded_row(c, buf);
  else move_row(c, buf, false);
  if (p.bytes && !move_global(c, p.addr, buf + from, p.bytes)) return false;
  if (load && tensor_type_gaps(c->map.type)) put_packed_row(c, buf);
  else if (load) move_row(c, buf, true);
  c->at += c->row_bytes;
  return true;
}

static bool refuse(const struct box_copy *c, enum fault_kind kind, const char *what)
{
  return func_fault(c->w, c->e, c->f, kind, c->lane, c->arg[ARG_MAP], "tensor copy: %s", what);
}

static enum tensor_kind kind_of(unsigned mode)
{
  return mode == MODE_IM2COL ? TENSOR_IM2COL
         : mode == MODE_W    ? TENSOR_IM2COL_W
         : mode == MODE_W128 ? TENSOR_IM2COL_W128
                             : TENSOR_TILED;
}

/* Why instruction, map and model do not go together; NULL: they do. */
static const char *mismatch(const struct box_copy *c)
{
  const struct sass_inst *s = c->u->s;
  const unsigned mode = mode_of(s), dims = (unsigned)sass_get(s, FLD_TMA_DIM) + 1;
  if (mode > MODE_GATHER4) return "no such mode";
  if (c->map.rank != (mode == MODE_GATHER4 ? MATRIX_DIMS : dims))
    return "the tensor map has another number of dimensions";
  if (c->map.interleave != TENSOR_PLAIN) return "interleaved layouts are not modelled";
  if (c->map.type == TENSOR_U4_GAPS && s->sem == SEM_UTMASTG)
    return "16U4_ALIGN16B is for loads alone (PTX ISA, restriction on tensor copy instructions)";
  if (c->map.kind != kind_of(mode)) return "the tensor map is of another mode";
  if ((mode == MODE_W || mode == MODE_W128) && c->arg[ARG_EXTRA] & ((1u << HALO_BITS) - 1))
    return "halo pixels of im2col::w and w::128 (wHalo) are not modelled";
  if (s->sem == SEM_UTMAREDG && !atom_reduces((unsigned)sass_get(s, FLD_RED_OP), reduced_as(c->map.type)))
    return "no such reduction of this type";
  return NULL;
}

/* Sizes of the box. False, with a fault: more than there is shared memory, or, of a prefetch, than any CTA could
 * have. */
static bool take_box(struct box_copy *c)
{
  const uint64_t most = c->u->s->sem == SEM_UTMAPF ? 1u << CLUSTER_SHIFT : c->w->launch->shared_limit;
  const uint64_t rows = count_rows(c), row_bytes = (uint64_t)c->map.box[0] * tensor_type_shared_bits(c->map.type) / 8;
  if (row_bytes > MAX_ROW_BYTES || rows > most || rows * row_bytes > most)
    return func_fault(c->w, c->e, c->f, FAULT_SHARED_RANGE, c->lane, c->arg[ARG_MAP],
                      "tensor copy: the box of the tensor map has %llu rows of %llu bytes, shared memory %llu bytes",
                      (unsigned long long)rows, (unsigned long long)row_bytes, (unsigned long long)most);
  c->row_elements = c->map.box[0], c->row_bytes = (unsigned)row_bytes, c->rows = (unsigned)rows;
  c->packed_bytes = c->map.box[0] * tensor_type_bits(c->map.type) / 8;
  return true;
}

/* The map of these bytes, which are the guest's. */
static bool use_map(struct box_copy *c, const uint8_t bytes[TENSOR_MAP_READ], bool first)
{
  struct err e = {""};
  if (!tensor_map_read(&c->map, bytes, &e) || (first && !tensor_map_check(&c->map, &e)))
    return func_fault(c->w, c->e, c->f, FAULT_ILLEGAL_INST, c->lane, c->arg[ARG_MAP],
                      "tensor copy: the tensor map is not valid: %s", e.msg);
  const char *why = mismatch(c);
  if (!why && tensor_type_gaps(c->map.type) && coord(c, 0) % PACKED_ELEMENTS)
    return refuse(c, FAULT_ILLEGAL_INST, "a coordinate of dimension 0 that is no multiple of 128, of a type with gaps");
  return why ? refuse(c, FAULT_UNSUPPORTED, why) : take_box(c);
}

/* Reads the map, the first time from memory. */
static bool take_map(struct box_copy *c)
{
  mem_word *arg = mem_row(c->e->mem, 0);
  uint8_t *bytes = (uint8_t *)mem_row(c->e->mem, MAP_ROW);
  uint64_t addr = lane_join(arg[ARG_MAP], arg[ARG_MAP_HIGH]);
  if (addr % MAP_ALIGN)
    return func_fault(c->w, c->e, c->f, FAULT_MISALIGNED, c->lane, addr, "tensor map at 0x%llx, not a multiple of %u",
                      (unsigned long long)addr, (unsigned)MAP_ALIGN);
  const bool first = !arg[ARG_HAVE_MAP]; /* later on, slices of L2 may read it at the same time */
  if (first && !gmem_view_read(c->v, addr, bytes, TENSOR_MAP_READ)) return no_memory(c, addr);
  if (!use_map(c, bytes, first)) return false;
  if (first) arg[ARG_HAVE_MAP] = 1, c->e->mem->copy.bytes = c->packed_bytes * c->rows;
  return true;
}

static bool take_shared(struct box_copy *c, uint32_t addr)
{
  const uint32_t offset = addr & ((1u << CLUSTER_SHIFT) - 1);
  if (addr % SHARED_ALIGN)
    return func_fault(c->w, c->e, c->f, FAULT_MISALIGNED, c->lane, addr,
                      "tensor copy: shared address 0x%x is not a multiple of %u", addr, (unsigned)SHARED_ALIGN);
  uint8_t *p = copy_near(c->w, c->e, addr, c->row_bytes * c->rows, c->f);
  c->shared = p ? p - offset : NULL, c->at = offset;
  return p;
}

/* The mbarrier that a CTA's part of a multicast tells: its own, or, of copies for pairs (.2CTA), that of the CTA of its
 * pair whose number is odd or even as that of the CTA is whose mbarrier the instruction names (PTX ISA). */
static uint32_t barrier_of(const struct box_copy *c, uint32_t barrier)
{
  const uint32_t odd = 1u << CLUSTER_SHIFT;
  if (!sass_get(c->u->s, FLD_TMA_2CTA) || !sass_get(c->u->s, FLD_TMA_MULTICAST)) return barrier;
  return (barrier & ~odd) | (c->arg[ARG_BARRIER] & odd);
}

static bool copy_box(void *copy, uint32_t shared, uint32_t barrier)
{
  struct box_copy *c = copy;
  if (!take_shared(c, shared)) return false;
  for (unsigned k = 0; k < c->rows; k++)
    if (!move_one_row(c, k)) return false;
  /* Gaps are not counted (NVIDIA CUTLASS, sm100_blockscaled_mma_warpspecialized.hpp: the bytes that it expects). */
  return c->u->s->sem != SEM_UTMALDG ||
         copy_complete(c->w, c->e, barrier_of(c, barrier), c->packed_bytes * c->rows, c->f);
}

static bool take(struct box_copy *c, struct func_warp *w, const struct uop *u, struct effect *e, struct gmem_view *v,
                 struct fault *f)
{
  *c = (struct box_copy){.w = w, .u = u, .e = e, .v = v, .f = f, .lane = bits_first((uint32_t)e->mem->lanes),
                     .arg = mem_row(e->mem, 0)};
  return take_map(c);
}

static bool perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes, struct gmem_view *v,
                    struct fault *f)
{
  struct box_copy c;
  (void)lanes;
  if (!take(&c, w, u, e, v, f)) return false;
  if (u->s->sem == SEM_UTMAPF) return true; /* a prefetch: no values */
  if (u->s->sem == SEM_UTMALDG && sass_get(u->s, FLD_TMA_MULTICAST))
    return copy_multicast(e->mem->copy.ctas, c.arg[ARG_SHARED], c.arg[ARG_BARRIER], copy_box, &c);
  return copy_box(&c, c.arg[ARG_SHARED], c.arg[ARG_BARRIER]);
}

bool tensor_copy_piece(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t k, struct copy_piece *p,
                       struct gmem_view *v, struct fault *f)
{
  struct box_copy c;
  unsigned from;
  if (!take(&c, w, u, e, v, f)) return false;
  *p = in_bounds(&c, k, &from);
  return true;
}

bool tensor_copy_part(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t k, uint64_t addr,
                      uint32_t bytes, struct gmem_view *v, struct fault *f)
{
  struct box_copy c;
  uint8_t buf[MAX_ROW_BYTES];
  unsigned from;
  if (!take(&c, w, u, e, v, f) || !take_shared(&c, c.arg[ARG_SHARED])) return false;
  const struct copy_piece row = in_bounds(&c, k, &from), p = copy_overlap(&row, addr, bytes);
  c.at += k * c.row_bytes;
  move_row(&c, buf, false);
  return !p.bytes || move_global(&c, p.addr, buf + from + (p.addr - row.addr), p.bytes);
}

/* Of a load: the mbarrier of another CTA is told, data to the own (.2CTA). */
static bool tells_other(const struct func_warp *w, const struct sass_inst *s, uint32_t barrier)
{
  return s->sem == SEM_UTMALDG && w->cta->cluster && barrier >> CLUSTER_SHIFT != w->cta->rank;
}

/* One copy for the warp; its first lane stands for it. */
static bool step(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const struct sass_inst *s = u->s;
  const unsigned ur = (unsigned)sass_get(s, FLD_URB), map = (unsigned)sass_get(s, FLD_URA);
  const unsigned addresses = sass_tensor_addresses(s), coords = sass_tensor_coords(s);
  const uint32_t shared = addresses > 0 ? warp_uniform(w, ur) : 0, named = addresses > 1 ? warp_uniform(w, ur + 1) : 0;
  const bool of_pair = s->sem == SEM_UTMALDG && sass_get(s, FLD_TMA_2CTA);
  const uint32_t barrier = addresses > 1 && !of_pair ? copy_barrier(shared, named) : named;
  const uint32_t extra = sass_has(s, FLD_URC) ? warp_uniform(w, (unsigned)sass_get(s, FLD_URC)) : 0;
  uint32_t ctas = 0;
  (void)f;
  if (s->sem == SEM_UTMALDG) ctas = sass_get(s, FLD_TMA_MULTICAST) ? extra >> 16 : copy_target(shared);
  struct mem_effect *me = copy_begin(w, e, u, m, ctas, 0);
  mem_word *arg = mem_row(me, 0);
  me->copy.far |= tells_other(w, s, barrier);
  arg[ARG_MAP] = warp_uniform(w, map), arg[ARG_MAP_HIGH] = warp_uniform(w, map + 1);
  arg[ARG_SHARED] = shared, arg[ARG_BARRIER] = barrier, arg[ARG_EXTRA] = extra;
  arg[ARG_HAVE_MAP] = 0;
  for (unsigned i = 0; i < coords; i++) arg[ARG_COORD + i] = warp_uniform(w, ur + addresses + i);
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
