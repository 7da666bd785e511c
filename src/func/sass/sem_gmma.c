/* HGMMA, QGMMA, IGMMA, BGMMA: products of a warpgroup (wgmma.mma_async, sm_90a). Part of sem_mma_handler.
 *
 * Each of four neighbouring warps multiplies its own 16 rows of A, in registers or shared memory, by all of B, in
 * shared memory, so every warp computes alone. Registers of A and the accumulators are those of mma.sync, eight
 * columns after the other (PTX ISA, wgmma: register fragments). A row of A and a column of B have 32 bytes. Of a sparse
 * A the 32 bytes are what is kept of 64, columns of B have 64; metadata lies in a register as for mma.sp of as many
 * columns (NVIDIA CUTLASS, mma_traits_sm90_gmma_sparse.hpp: ELayout).
 *
 * The hardware reads and writes later, until WARPGROUP.DEPBAR; a program must not look meanwhile, so it is all
 * done at once here.
 *
 * Matrices in shared memory: blocks of 8 rows times 16 bytes (PTX ISA, wgmma: shared memory matrix layout, matrix
 * descriptor; NVIDIA CUTLASS, make_gmma_desc). Of a matrix whose k is contiguous (W: 16-byte columns of a swizzle
 * atom: 1, 2, 4, 8; LBO, SBO: the descriptor's leading and stride byte offsets):
 *     row i, 16-byte column c   (i % 8) * 16 W + (i / 8) * SBO + c * (W == 1 ? LBO : 16)
 * Transposed, of 16-bit elements, eight rows i together in 16 bytes, v = i / 8:
 *     rows 8v.., k              (v % W) * 16 + (v / W) * (W == 1 ? SBO : LBO)
 *                               + (k % 8) * 16 W + (k / 8) * (W == 1 ? LBO : SBO)
 * Then bits 6:4 of the address are combined with the bits above 128-byte lines by exclusive or, as many as W has.
 */
#include "func/sass/func_launch.h"
#include "func/sass/guest_fault.h"
#include "func/sass/mma_frag.h"
#include "func/sass/mma_sparse.h"
#include "func/sass/mma_tile.h"
#include "func/sass/sem_fp_part.h"

/* Hopper: F, L of FP16, BF16 and TF32 as for mma.sync, but FP8 is summed with 13 fraction bits
 * (MMA-Sim, arXiv 2511.10909). */
static const struct mma_arch hopper = {90, 25, 16, 8, 13, 32, 10};

enum { ROW_LEN = 32, SPARSE_LEN = 2 * ROW_LEN, CHUNK = 16, GROUP_WARPS = 4, MAX_COLUMNS = 256, A_REGS = 4 };

/* uop.imm */
enum {
  GMMA_FORMAT = 7, /* enum mma_type, or of A in bits 2:0 and of B in 5:3: narrow format, is it signed */
  GMMA_FORMAT_B = 3,
  GMMA_F32 = 1 << 6, /* or: saturate */
  GMMA_BITS = 7,     /* width of an element / 8; 0: one bit */
  GMMA_SPARSE = 1 << 10,
};

/* uop.imm2 of sparse ones: the metadata's register 7:0, selector */
enum { GMMA_SELECTOR = 8 };

static unsigned element_bytes(const struct uop *u)
{
  return u->imm >> GMMA_BITS & 7;
}

static bool is_sparse(const struct uop *u)
{
  return u->imm & GMMA_SPARSE;
}

/* ---- matrices in shared memory ------------------------------------------------------------------ */

struct gmma_matrix {
  uint32_t start, leading, stride, base; /* bytes; base: number of the pattern's first 128-byte line, 0..7 */
  unsigned chunks;                       /* of a swizzle atom: 1, 2, 4, 8 */
  bool transposed;
  unsigned row_len; /* bytes along k */
};

/* Rows of A or columns of B, k contiguous, as many bytes of each as the matrix has. */
typedef uint8_t gmma_row[SPARSE_LEN];

static struct gmma_matrix descriptor(const struct func_warp *w, unsigned ureg, bool transposed, unsigned row_len)
{
  static const uint8_t chunks[4] = {1, 8, 4, 2}; /* none, 128, 64, 32 bytes */
  const uint64_t d = lane_join(warp_uniform(w, ureg), warp_uniform(w, ureg + 1));
  return (struct gmma_matrix){
      .start = (uint32_t)bits_get((struct word128){d, 0}, 0, 14) * CHUNK,
      .leading = (uint32_t)bits_get((struct word128){d, 0}, 16, 14) * CHUNK,
      .stride = (uint32_t)bits_get((struct word128){d, 0}, 32, 14) * CHUNK,
      .base = (uint32_t)bits_get((struct word128){d, 0}, 49, 3),
      .chunks = chunks[d >> 62],
      .transposed = transposed,
      .row_len = row_len,
  };
}

static uint32_t swizzled(const struct gmma_matrix *x, uint32_t at)
{
  enum { LINE = 7 };
  at += x->start;
  return at ^ ((((at >> LINE) - x->base) & (x->chunks - 1)) * CHUNK);
}

/* Sixteen bytes of shared memory; NULL with *f filled: outside. */
static const uint8_t *chunk_at(struct func_warp *w, const struct gmma_matrix *x, uint32_t at, const struct effect *e,
                               struct fault *f)
{
  const uint32_t address = swizzled(x, at);
  if (address + CHUNK <= w->launch->shared_limit) return w->cta->shared + address;
  func_fault(w, e, f, FAULT_SHARED_RANGE, 0, address,
             "a matrix descriptor names shared address 0x%x, outside the %u bytes of the CTA", address,
             w->launch->shared_limit);
  return NULL;
}

/* Rows [first, first + n) of the matrix. */
static bool read_rows(struct func_warp *w, const struct gmma_matrix *x, unsigned first, unsigned n, gmma_row rows[],
                      const struct effect *e, struct fault *f)
{
  for (unsigned i = first; i < first + n; i++)
    for (unsigned c = 0; c < x->row_len / CHUNK; c++) {
      const uint32_t along = x->chunks == 1 ? x->leading : CHUNK;
      const uint8_t *p = chunk_at(w, x, i % 8 * CHUNK * x->chunks + i / 8 * x->stride + c * along, e, f);
      if (!p) return false;
      memcpy(rows[i - first] + c * CHUNK, p, CHUNK);
    }
  return true;
}

/* The same of a transposed matrix of 16-bit elements; first and n are multiples of 8. */
static bool read_columns(struct func_warp *w, const struct gmma_matrix *x, unsigned first, unsigned n, gmma_row rows[],
                         const struct effect *e, struct fault *f)
{
  enum { ELEMENT = 2, TOGETHER = CHUNK / ELEMENT };
  const uint32_t wide = x->chunks == 1 ? x->stride : x->leading, deep = x->chunks == 1 ? x->leading : x->stride;
  for (unsigned v = first / TOGETHER; v < (first + n) / TOGETHER; v++)
    for (unsigned k = 0; k < x->row_len / ELEMENT; k++) {
      const uint32_t at = v % x->chunks * CHUNK + v / x->chunks * wide + k % 8 * CHUNK * x->chunks + k / 8 * deep;
      const uint8_t *p = chunk_at(w, x, at, e, f);
      if (!p) return false;
      for (unsigned i = 0; i < TOGETHER; i++)
        memcpy(rows[v * TOGETHER + i - first] + k * ELEMENT, p + i * ELEMENT, ELEMENT);
    }
  return true;
}

/* An atom of the 32-byte swizzle has no room for 64 bytes of a row, and no layout for that is documented. */
static bool has_layout(struct func_warp *w, const struct gmma_matrix *x, const struct effect *e, struct fault *f)
{
  if (x->transposed || x->chunks != 2 || x->row_len <= ROW_LEN) return true;
  return func_fault(w, e, f, FAULT_ILLEGAL_INST, 0, 0,
                    "B has the 32-byte swizzle, with a sparse A and k contiguous; use 64 or 128 bytes");
}

static bool read_matrix(struct func_warp *w, const struct gmma_matrix *x, unsigned first, unsigned n, gmma_row rows[],
                        const struct effect *e, struct fault *f)
{
  if (!has_layout(w, x, e, f)) return false;
  return x->transposed ? read_columns(w, x, first, n, rows, e, f) : read_rows(w, x, first, n, rows, e, f);
}

/* Register 2c + h of a lane: four bytes of row g + 8h. */
static void rows_of_registers(gmma_row rows[MMA_M], const uint32_t *ra)
{
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned r = 0; r < A_REGS; r++) {
      const uint32_t v = frag(ra, r, lane);
      memcpy(rows[(lane >> 2) + 8 * (r & 1)] + CHUNK * (r >> 1) + 4 * (lane & 3), &v, sizeof v);
    }
}

struct gmma_operands {
  gmma_row a[MMA_M], b[MAX_COLUMNS];
  uint8_t kept[MMA_M][ROW_LEN]; /* sparse: elements of a column of B that those kept of a row of A meet */
};

static void read_metadata(const struct func_warp *w, const struct uop *u, struct gmma_operands *o)
{
  const uint32_t *meta = warp_reg(w, u->imm2 & 0xff);
  const unsigned bytes = element_bytes(u), first = 2 * (u->imm2 >> GMMA_SELECTOR);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned j = 0; j < ROW_LEN / bytes; j++)
      o->kept[i][j] = (uint8_t)(bytes == 1 ? mma_sparse_byte(meta, i, j)
                                           : mma_sparse_half(meta, i, j, first, bytes == 4));
}

static bool read_operands(struct func_warp *w, const struct uop *u, struct gmma_operands *o, const struct effect *e,
                          struct fault *f)
{
  const struct sass_inst *s = u->s;
  const bool in_registers = s->src[0].kind == SRC_REG;
  const unsigned first = s->src[in_registers].index; /* A's descriptor, if any, then B's */
  const unsigned b_len = is_sparse(u) ? SPARSE_LEN : ROW_LEN;
  const struct gmma_matrix b = descriptor(w, first + 2, sass_get(s, FLD_GMMA_TNSP_B), b_len);
  if (is_sparse(u)) read_metadata(w, u, o);
  if (in_registers) {
    rows_of_registers(o->a, row_src(w, u->a));
  } else {
    const struct gmma_matrix a = descriptor(w, first, sass_get(s, FLD_GMMA_TNSP_A), ROW_LEN);
    if (!read_matrix(w, &a, MMA_M * (w->warp_id % GROUP_WARPS), MMA_M, o->a, e, f)) return false;
  }
  return read_matrix(w, &b, 0, u->t->gmma.columns, o->b, e, f);
}

/* ---- floating point ----------------------------------------------------------------------------- */

static inline bool split(const struct uop *u, const gmma_row row, unsigned k, unsigned format, bool negate,
                         uint32_t *bits, int32_t *sig, int32_t *exp)
{
  const unsigned bytes = element_bytes(u);
  uint32_t v = 0;
  bool special;
  memcpy(&v, row + k * bytes, bytes);
  if (negate) v ^= 1u << (8 * bytes - 1);
  if (bytes == 1) return mma_split_byte(v, format, bits, sig, exp);
  if (format == MMA_TF32) v >>= 13;
  special = mma_split(v, mma_format[format], sig, exp);
  *bits = v;
  return special;
}

static unsigned format_b(const struct uop *u)
{
  return element_bytes(u) == 1 ? u->imm >> GMMA_FORMAT_B & GMMA_FORMAT : u->imm & GMMA_FORMAT;
}

/* Elements `kept` of B's columns, which `all` has in halves of `depth` elements. */
static void gather(struct mma_b *b, const struct mma_b all[2], const uint8_t *kept, unsigned depth)
{
  b->special = all[0].special || all[1].special;
  for (unsigned j = 0; j < depth; j++) {
    const struct mma_b *half = &all[kept[j] / depth];
    const unsigned k = kept[j] % depth;
    memcpy(b->sig[j], half->sig[k], sizeof b->sig[j]);
    memcpy(b->exp[j], half->exp[k], sizeof b->exp[j]);
    memcpy(b->bits[j], half->bits[k], sizeof b->bits[j]);
  }
}

static struct mma_shape float_shape(const struct uop *u)
{
  const unsigned bytes = element_bytes(u), type = bytes == 1 ? (unsigned)MMA_BYTES : u->imm & GMMA_FORMAT;
  return (struct mma_shape){.type = type, .format_a = u->imm & GMMA_FORMAT, .format_b = format_b(u),
                            .negate_a = u->s->src[0].neg, .negate_b = u->s->src[1].neg, .f32 = u->imm & GMMA_F32,
                            .depth = ROW_LEN / bytes,
                            .block = bytes == 1 ? hopper.block8 : bytes == 2 ? hopper.block16 : hopper.block_tf32,
                            .frac = bytes == 1 ? hopper.frac8 : hopper.frac, .cut = bytes == 1 ? hopper.cut8 : 0};
}

/* Eight columns of the result, from those of B from column n0 on, whatever the operands are. */
static void float_columns(const struct uop *u, const struct mma_a *a, struct gmma_operands *o, unsigned n0,
                          uint32_t c[MMA_M][MMA_N])
{
  const struct mma_shape s = float_shape(u);
  const enum mma_type type = s.type == MMA_BYTES ? MMA_F16 : (enum mma_type)s.type;
  const bool sparse = is_sparse(u);
  struct mma_b all[2], met;
  for (unsigned h = 0; h <= sparse; h++) {
    struct mma_b *b = &all[h];
    b->special = false;
    for (unsigned n = 0; n < MMA_N; n++)
      for (unsigned k = 0; k < s.depth; k++)
        b->special |= split(u, o->b[n0 + n], h * s.depth + k, s.format_b, s.negate_b, &b->bits[k][n], &b->sig[k][n],
                            &b->exp[k][n]);
  }
  for (unsigned i = 0; i < MMA_M; i++) {
    if (sparse) gather(&met, all, o->kept[i], s.depth);
    for (unsigned k = 0; k < s.depth; k += s.block) {
      mma_block(c[i], a, i, sparse ? &met : all, k, k + s.block, type, s.f32, s.frac);
      if (s.cut && s.f32) mma_cut_result(c[i], s.cut);
    }
  }
}

static void split_rows(const struct uop *u, struct gmma_operands *o, struct mma_a *a)
{
  a->special = false;
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < ROW_LEN / element_bytes(u); k++)
      a->special |= split(u, o->a[i], k, u->imm & GMMA_FORMAT, u->s->src[0].neg, &a->bits[i][k], &a->sig[i][k],
                          &a->exp[i][k]);
}

/* The same of a dense product with the host's arithmetic. False: the operands are not for that. rc: C's registers, NULL
 * where nothing is added. */
static bool fast_columns(struct func_warp *w, const struct uop *tile, uint32_t m, struct gmma_operands *o, unsigned n0,
                         struct mma_tile_rows *a, const struct mma_shape *s, const uint32_t *rc)
{
  struct mma_tile_columns b;
  struct mma_sums sums = {{{0}}};
  mma_memory_words((uint32_t *)b.word, MMA_N, o->b[n0], sizeof o->b[0]);
  mma_take_columns(&b, s);
  if (rc) mma_tile_load_c(&sums, rc, s->f32);
  if (!mma_tile(&sums, a, &b, s)) return false;
  mma_tile_store_d(w, tile, m, &sums, s->f32);
  return true;
}

static void float_product(struct func_warp *w, const struct uop *u, uint32_t m, struct gmma_operands *o, bool add)
{
  const struct mma_shape s = float_shape(u);
  const unsigned regs = s.f32 ? 4 : 2;
  struct uop tile = *u;
  struct mma_tile_rows rows;
  struct mma_a a;
  bool is_split = false;
  if (!is_sparse(u)) {
    mma_memory_words((uint32_t *)rows.word, MMA_M, o->a[0], sizeof o->a[0]);
    mma_take_rows(&rows, &s);
  }
  for (unsigned n = 0; n < u->t->gmma.columns; n += MMA_N, tile.d.off += regs * ROW_BYTES) {
    const uint32_t *rc = add ? row_src(w, u->c) + n / MMA_N * regs * LANES : NULL;
    uint32_t c[MMA_M][MMA_N] = {{0}};
    if (!is_sparse(u) && fast_columns(w, &tile, m, o, n, &rows, &s, rc)) continue;
    if (!is_split) split_rows(u, o, &a);
    is_split = true;
    if (rc) mma_load_c(c, rc, s.f32);
    float_columns(u, &a, o, n, c);
    mma_store_d(w, &tile, m, c, s.f32);
  }
}

/* ---- integers ----------------------------------------------------------------------------------- */

static int32_t byte_value(uint8_t v, bool is_signed)
{
  return is_signed ? (int8_t)v : v;
}

/* kept: NULL, or which bytes of b meet those of a. */
static int64_t int_dot(const struct uop *u, const gmma_row a, const gmma_row b, const uint8_t *kept)
{
  int32_t sum = 0;
  for (unsigned k = 0; k < ROW_LEN; k++) {
    const uint8_t met = b[kept ? kept[k] : k];
    sum += element_bytes(u) ? byte_value(a[k], u->imm & 1) * byte_value(met, u->imm >> GMMA_FORMAT_B & 1)
                            : (int32_t)bits_count(a[k] & met);
  }
  return sum;
}

static uint32_t int_result(int64_t x, bool saturate)
{
  if (!saturate) return (uint32_t)x;
  return (uint32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

static void int_product(struct func_warp *w, const struct uop *u, uint32_t m, struct gmma_operands *o, bool add)
{
  struct uop tile = *u;
  for (unsigned n = 0; n < u->t->gmma.columns; n += MMA_N, tile.d.off += 4 * ROW_BYTES) {
    uint32_t c[MMA_M][MMA_N] = {{0}};
    if (add) mma_load_c(c, row_src(w, u->c) + n / MMA_N * 4 * LANES, true);
    for (unsigned i = 0; i < MMA_M; i++)
      for (unsigned j = 0; j < MMA_N; j++)
        c[i][j] = int_result((int32_t)c[i][j] + int_dot(u, o->a[i], o->b[n + j], is_sparse(u) ? o->kept[i] : NULL),
                             u->imm & GMMA_F32);
    mma_store_d(w, &tile, m, c, true);
  }
}

/* ---- handlers ----------------------------------------------------------------------------------- */

static bool whole_group(struct func_warp *w, const struct effect *e, struct fault *f)
{
  const unsigned last = w->warp_id / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS - 1;
  if (last < w->cta->step.n_warps) return true;
  return func_fault(w, e, f, FAULT_ILLEGAL_INST, 0, 0,
                    "a product of a warpgroup needs warps %u to %u, the CTA has %u", last - GROUP_WARPS + 1, last,
                    w->cta->step.n_warps);
}

/* The accumulators are added unless the predicate is false, or they are RZ. */
static bool adds(const struct func_warp *w, const struct uop *u)
{
  return u->s->src[2].index != SASS_RZ && (pred_read(w, u->pp, u->pp_xor) & 1);
}

LANE_HANDLER(gmma_float)
{
  struct gmma_operands o;
  if (!whole_group(w, e, f) || !read_operands(w, u, &o, e, f)) return false;
  float_product(w, u, m, &o, adds(w, u));
  return true;
}

LANE_HANDLER(gmma_int)
{
  struct gmma_operands o;
  if (!whole_group(w, e, f) || !read_operands(w, u, &o, e, f)) return false;
  int_product(w, u, m, &o, adds(w, u));
  return true;
}

/* Of nothing into RZ: how nvcc ends a group that has no product. */
LANE_HANDLER(gmma_empty)
{
  LANE_UNUSED;
  (void)w, (void)u, (void)m;
  return true;
}

static uop_fn *pick_hgmma(const struct sass_inst *s, struct uop *u)
{
  enum { K_16, K_8, K_32 };
  const unsigned type = (unsigned)sass_get(s, FLD_GMMA_TYPE), tf32 = type == MMA_TF32;
  const unsigned k = is_sparse(u) ? (tf32 ? K_16 : K_32) : (tf32 ? K_8 : K_16);
  const bool f32 = sass_get(s, FLD_GMMA_F32);
  if (type > MMA_TF32 || sass_get(s, FLD_GMMA_K) != k || (!f32 && type != MMA_F16)) return NULL;
  if (tf32 && (sass_get(s, FLD_GMMA_TNSP_A) || sass_get(s, FLD_GMMA_TNSP_B))) return NULL;
  u->imm |= type | (tf32 ? 4u : 2u) << GMMA_BITS | (f32 ? GMMA_F32 : 0u);
  return gmma_float;
}

static uop_fn *pick_qgmma(const struct sass_inst *s, struct uop *u)
{
  u->imm |= (uint32_t)(sass_get(s, FLD_QGMMA_A) | sass_get(s, FLD_QGMMA_B) << GMMA_FORMAT_B | 1u << GMMA_BITS);
  if (sass_get(s, FLD_GMMA_F32)) u->imm |= GMMA_F32;
  return sass_get(s, FLD_QGMMA_K) == is_sparse(u) ? gmma_float : NULL;
}

static uop_fn *pick_igmma(const struct sass_inst *s, struct uop *u)
{
  u->imm |= (uint32_t)(sass_get(s, FLD_IGMMA_A) | sass_get(s, FLD_IGMMA_B) << GMMA_FORMAT_B | 1u << GMMA_BITS);
  if (sass_get(s, FLD_IGMMA_SAT)) u->imm |= GMMA_F32;
  return s->src[0].neg || s->src[1].neg ? NULL : gmma_int;
}

static uop_fn *pick_bgmma(const struct sass_inst *s)
{
  if (!sass_get(s, FLD_BMMA_AND) || !sass_get(s, FLD_BMMA_POPC) || s->src[0].neg || s->src[1].neg) return NULL;
  return gmma_int;
}

/* False: no metadata, or a selector that does not exist. */
static bool pick_sparse(const struct sass_inst *s, struct uop *u)
{
  u->imm = 0;
  if (!sass_get(s, FLD_GMMA_SP)) return true;
  const unsigned meta = (unsigned)sass_get(s, FLD_HMMA_META), selector = (unsigned)sass_get(s, FLD_HMMA_SEL);
  u->imm = GMMA_SPARSE;
  u->imm2 = meta | selector << GMMA_SELECTOR;
  return meta != SASS_RZ && selector <= 1;
}

uop_fn *SEM_NAME(sem_gmma_part)(const struct sass_inst *s, struct uop *u)
{
  const unsigned gsb = (unsigned)sass_get(s, FLD_GMMA_GSB);
  const bool wide = s->sem == SEM_HGMMA;
  if (!u->t->gmma.columns || (gsb && gsb != SB_NONE)) return NULL;
  if (!wide && (sass_get(s, FLD_GMMA_TNSP_A) || sass_get(s, FLD_GMMA_TNSP_B))) return NULL;
  if (s->dst == SASS_RZ) return gmma_empty;
  if (!pick_sparse(s, u)) return NULL;
  u->flags |= UOP_FAULTS;
  switch (s->sem) {
  case SEM_HGMMA: return pick_hgmma(s, u);
  case SEM_QGMMA: return pick_qgmma(s, u);
  case SEM_IGMMA: return pick_igmma(s, u);
  default: return pick_bgmma(s);
  }
}
