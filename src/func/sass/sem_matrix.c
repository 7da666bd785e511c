/* Memory operations with their own lane patterns: LDSM, STSM (8x8 matrices of 16-bit elements in
 * shared memory) and LDGSTS (asynchronous copy from global to shared memory). Rules: PTX ISA
 * (ldmatrix, stmatrix, cp.async), compiler output (CUDA 13.0).
 */
#include "func/sass/cluster.h"
#include "func/sass/guest_fault.h"
#include "func/sass/mem.h"

enum { ROW_ELEMENTS = 8, SQUARE_ROWS = 16, MATRIX_ROW_BYTES = 16 };

static unsigned matrices(const struct uop *u)
{
  return 1u << (sass_get(u->s, FLD_LDSM_COUNT) & 3);
}

static bool transposed(const struct uop *u)
{
  enum { STSM_16_MT88 = 2 };
  return sass_get(u->s, FLD_LDSM_TRANS) == 1 || sass_get(u->s, FLD_LDSM_TRANS100) == 1 ||
         sass_get(u->s, FLD_STSM_FMT) == STSM_16_MT88;
}

static bool square(const struct uop *u)
{
  enum { MT1616 = 4 };
  return sass_get(u->s, FLD_LDSM_TRANS100) == MT1616;
}

/* Lanes 8j..8j+7 give the addresses of the rows of matrix j; of 16 x 16 numbers, lanes 16j..16j+15. */
static uint32_t address_lanes(const struct uop *u)
{
  unsigned n = (square(u) ? SQUARE_ROWS : ROW_ELEMENTS) * matrices(u);
  return n >= LANES ? FULL_MASK : (1u << n) - 1;
}

static bool whole_warp(const struct func_warp *w, uint32_t m,
                       struct effect *e, struct fault *f)
{
  if (m == w->mactive) return true;
  return func_fault(w, e, f, FAULT_UNSUPPORTED, bits_first(m), 0,
                    "matrix load or store with inactive threads (active %08x)", (unsigned)m);
}

/* 16-bit element (row, col) of matrix j in rows of words held by the address lanes. */
static uint32_t element(struct mem_effect *me, unsigned j, unsigned row, unsigned col)
{
  uint32_t word = mem_row(me, col / 2)[j * ROW_ELEMENTS + row];
  return col & 1 ? word >> 16 : word & 0xffff;
}

bool mem_ldsm(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
              struct fault *f)
{
  if (!whole_warp(w, m, e, f)) return false;
  uint32_t lanes = address_lanes(u);
  struct mem_effect *me = mem_begin(e, lanes, MEM_SHARED, MEM_LDSM, MATRIX_ROW_BYTES, false);
  mem_addr_near(w, u, me);
  return mem_aligned(w, e, lanes, MATRIX_ROW_BYTES, f);
}

bool mem_ldsm_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                      struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  (void)u, (void)v;
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    const uint8_t *p = mem_near(w, e, MEM_SHARED, i, me->addr[i], MATRIX_ROW_BYTES, f);
    if (!p) return false;
    for (unsigned k = 0; k < 4; k++) memcpy(mem_row(me, k) + i, p + 4 * k, 4);
  }
  return true;
}

void mem_ldsm_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  uint32_t *d = row_dst(w, u->d), m = (uint32_t)e->exec;
  bool t = transposed(u);
  for (unsigned j = 0; j < matrices(u); j++) {
    uint32_t out[LANES];
    for (unsigned i = 0; i < LANES; i++) {
      unsigned row = i / 4, col = 2 * (i % 4);
      uint32_t lo = t ? element(e->mem, j, col, row) : element(e->mem, j, row, col);
      uint32_t hi = t ? element(e->mem, j, col + 1, row) : element(e->mem, j, row, col + 1);
      out[i] = lo | hi << 16;
    }
    row_blend(d + j * LANES, out, 1, m);
  }
}

/* Number `col` of a row of 16 bytes, or FP4 or FP6 numbers (PTX ISA, ldmatrix: .b4x16_p64, .b6x16_p32), as mma expects
 * it in a byte: FP6 in the low bits, FP4 in the middle ones (NVIDIA CUTLASS). */
static uint32_t narrow_element(struct mem_effect *me, unsigned lane, unsigned col, unsigned bits)
{
  const unsigned at = col * bits, word = at / 32;
  uint64_t v = mem_row(me, word)[lane];
  if (at % 32 + bits > 32) v |= (uint64_t)mem_row(me, word + 1)[lane] << 32;
  const uint32_t x = (uint32_t)(v >> at % 32 & bits_ones(bits));
  return bits == 4 ? x << 2 : x;
}

static unsigned number_bits(const struct uop *u)
{
  enum { U4X16P64 = 5, U6X16P32 }; /* LDSM_FMT */
  const unsigned fmt = (unsigned)sass_get(u->s, FLD_LDSM_FMT);
  return fmt == U4X16P64 ? 4 : fmt == U6X16P32 ? 6 : 8;
}

/* 16 x 16 numbers, transposed: a thread gets rows 4 (lane % 4) to 4 (lane % 4) + 3 of column lane / 4, then of the
 * column 8 to the right (NVIDIA CUTLASS, layout of SM100_U8x8_LDSM_T; the right factor of an mma of bytes). */
void mem_ldsm_square_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  const unsigned bits = number_bits(u);
  uint32_t *d = row_dst(w, u->d), m = (uint32_t)e->exec;
  for (unsigned n = 0; n < 2 * matrices(u); n++) {
    uint32_t out[LANES] = {0};
    for (unsigned i = 0; i < LANES; i++)
      for (unsigned k = 0; k < 4; k++)
        out[i] |= narrow_element(e->mem, n / 2 * SQUARE_ROWS + 4 * (i % 4) + k, i / 4 + n % 2 * 8, bits) << 8 * k;
    row_blend(d + n * LANES, out, 1, m);
  }
}

/* Matrices of 8 rows of 16 bytes: a thread gets four neighbours of row lane / 4. */
void mem_ldsm_narrow_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  const unsigned bits = number_bits(u);
  uint32_t *d = row_dst(w, u->d), m = (uint32_t)e->exec;
  for (unsigned j = 0; j < matrices(u); j++) {
    uint32_t out[LANES] = {0};
    for (unsigned i = 0; i < LANES; i++)
      for (unsigned k = 0; k < 4; k++)
        out[i] |= narrow_element(e->mem, j * ROW_ELEMENTS + i / 4, 4 * (i % 4) + k, bits) << 8 * k;
    row_blend(d + j * LANES, out, 1, m);
  }
}

/* stmatrix .m16n8 .trans of bytes: a thread holds rows lane / 4 and 8 more, columns 2 (lane % 4) and one more; each
 * column goes to the 16 bytes of one address (NVIDIA CUTLASS, SM100_U8x4_STSM_T). */
bool mem_stsm_bytes(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  if (!whole_warp(w, m, e, f)) return false;
  uint32_t lanes = address_lanes(u);
  struct mem_effect *me = mem_begin(e, lanes, MEM_SHARED, MEM_STORE, MATRIX_ROW_BYTES, false);
  const uint32_t *b = row_src(w, u->b);
  mem_addr_near(w, u, me);
  for (unsigned k = 0; k < 4; k++)
    for (unsigned j = 0; j < matrices(u) * ROW_ELEMENTS; j++) mem_row(me, k)[j] = 0;
  for (unsigned j = 0; j < matrices(u); j++) {
    for (unsigned n = 0; n < LANES * 4; n++) {
      unsigned lane = n / 4, k = n % 4, row = lane / 4 + 8 * (k >> 1), col = 2 * (lane % 4) + (k & 1);
      uint32_t byte = b[j * LANES + lane] >> 8 * k & 0xff;
      mem_row(me, row / 4)[j * ROW_ELEMENTS + col] |= byte << 8 * (row % 4);
    }
  }
  return mem_aligned(w, e, lanes, MATRIX_ROW_BYTES, f);
}

bool mem_stsm(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
              struct fault *f)
{
  if (!whole_warp(w, m, e, f)) return false;
  uint32_t lanes = address_lanes(u);
  struct mem_effect *me = mem_begin(e, lanes, MEM_SHARED, MEM_STORE, MATRIX_ROW_BYTES, false);
  const uint32_t *b = row_src(w, u->b);
  mem_addr_near(w, u, me);
  for (unsigned j = 0; j < matrices(u); j++) {
    for (unsigned row = 0; row < ROW_ELEMENTS; row++) {
      for (unsigned col = 0; col < ROW_ELEMENTS; col++) {
        unsigned r = transposed(u) ? col : row, c = transposed(u) ? row : col;
        uint32_t word = b[j * LANES + r * 4 + c / 2];
        uint32_t half = c & 1 ? word >> 16 : word & 0xffff;
        mem_word *to = &mem_row(me, col / 2)[j * ROW_ELEMENTS + row];
        *to = col & 1 ? *to | half << 16 : half;
      }
    }
  }
  return mem_aligned(w, e, lanes, MATRIX_ROW_BYTES, f);
}

bool mem_stsm_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                      struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  (void)u, (void)v;
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    uint8_t *p = mem_near(w, e, MEM_SHARED, i, me->addr[i], MATRIX_ROW_BYTES, f);
    if (!p) return false;
    for (unsigned k = 0; k < 4; k++) memcpy(p + 4 * k, mem_row(me, k) + i, 4);
  }
  return true;
}

/* LDGSTS. A false Pnz makes a lane write zeros without reading. With ZFILL the low address bits are
 * the number of bytes to fill with zeros, the rest of the address is the aligned source. */
bool mem_ldgsts(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  unsigned bytes = u->t->mem.bytes;
  struct mem_effect *me = mem_begin(e, m, MEM_GLOBAL, MEM_LDGSTS, bytes, false);
  uint32_t soff = (uint32_t)bits_sext(sass_get(u->s, FLD_LDGSTS_SOFF), 20) - cluster_base(w->cta);
  if (u->s->src[2].kind == SRC_UREG) soff += warp_uniform(w, u->s->src[2].index);
  bool zfill = sass_get(u->s, FLD_LDGSTS_ZFILL);
  const uint32_t *to = row_src(w, u->b);
  mem_addr_global(w, u, me->addr, &me->shape);
  mem_word *zeros = mem_row(me, COMPARE_WORD);
  for (unsigned i = 0; i < LANES; i++) {
    me->shared_addr[i] = to[i] + soff;
    zeros[i] = 0;
    if (zfill) {
      zeros[i] = (uint32_t)me->addr[i] & (bytes - 1);
      me->addr[i] &= ~(uint64_t)(bytes - 1);
    }
  }
  uint32_t copy = m & pred_read(w, u->pp, u->pp_xor);
  me->lanes = copy;
  me->near_lanes = m & ~copy;
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    if (!(me->shared_addr[i] & (bytes - 1))) continue;
    return func_fault(w, e, f, FAULT_MISALIGNED, i, me->shared_addr[i],
                      "shared address 0x%x is not a multiple of %u", (unsigned)me->shared_addr[i],
                      bytes);
  }
  return mem_aligned(w, e, copy, bytes, f);
}

bool mem_ldgsts_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                        struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  const mem_word *zeros = mem_row(me, COMPARE_WORD);
  (void)u;
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    uint8_t buf[MEM_MAX_BYTES] = {0};
    uint8_t *to = mem_near(w, e, MEM_SHARED, i, me->shared_addr[i], me->bytes, f);
    if (!to) return false;
    bool copy = me->lanes >> i & 1;
    if (copy && !gmem_view_read(v, me->addr[i], buf, me->bytes)) {
      return mem_unmapped(w, e, i, me->addr[i], f);
    }
    if (copy && zeros[i]) memset(buf + me->bytes - zeros[i], 0, zeros[i]);
    memcpy(to, buf, me->bytes);
  }
  return true;
}
