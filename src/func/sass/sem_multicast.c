/* Multicast objects: LDGMC (multimem.ld_reduce), and what stores and reductions do at their addresses. Rules: PTX ISA
 * (multimem), compiler output (CUDA 13.0): multimem.st and .red are STG and REDG.
 *
 *   load     each GPU's bytes, one after the other in the order of the object's GPUs (no order is documented), to the
 *            element's precision at each step or, with .acc::f32 (FP8: .acc::f16), in that and rounded once. What an
 *            FP8 sum beyond the largest number becomes is not documented: f8_nearest
 *   store    the same bytes to each GPU
 *   in time  a switch does it (time/link/cast_table.h): lanes run on the line that it made
 */
#include "func/sass/fpbits.h"
#include "func/sass/guest_fault.h"
#include "func/sass/mem.h"
#include "func/sass/remote.h"

/* line_op.type: LDGMC_ITYPE, and behind it LDGMC_FTYPE, LDGMC_F8TYPE */
enum { WORD = 4, LANE_WORDS = 4, INTEGERS = 0, FLOATS = 16, FP8S = 32 };
enum { FP8_E5M2X4 = 1, FP8_E4M3X4 = 4, FP8_NONE = 7 }; /* LDGMC_F8TYPE: four numbers, 8, 16 */
enum { FLOAT_F16X2 = 0, FLOAT_BF16X2 = 3, FLOAT_NONE = 6, FLOAT_F32 = 12, FLOAT_F64 = 15 }; /* LDGMC_FTYPE */
enum { FLOAT_ADD, FLOAT_MIN, FLOAT_MAX, FLOAT_WIDE_ADD };                                   /* LDGMC_OP, LDGMC_OP90 */
enum { REDUCE_ADD = 0, REDUCE_MIN = 1, REDUCE_MAX = 2, REDUCE_INC = 3, REDUCE_DEC = 4 };    /* RED_OP, atom_reduce */

static bool is_half(unsigned type)
{
  return type >= FLOATS + FLOAT_F16X2 && type < FLOATS + FLOAT_NONE;
}

static bool is_fp8(unsigned type)
{
  return type >= FP8S + FP8_E5M2X4 && type < FP8S + FP8_NONE;
}

/* Words of an element, a pair of halves or four FP8 numbers being one. */
static unsigned element_words(unsigned type)
{
  const bool wide_integer = type < FLOATS && type & 2;
  return wide_integer || type == FLOATS + FLOAT_F64 ? 2 : 1;
}

static enum sass_atom_type atom_type(unsigned type)
{
  static const uint8_t integer[4] = {ATOM_U32, ATOM_S32, ATOM_U64, ATOM_S64};
  if (type < FLOATS) return (enum sass_atom_type)integer[type & 3];
  if (type == FLOATS + FLOAT_F64) return ATOM_F64;
  return type >= FLOATS + FLOAT_BF16X2 ? ATOM_BF16X2 : ATOM_F16X2;
}

/* A pair of halves, summed in FP32. */
static uint32_t wide_sum(unsigned n, const uint32_t (*v)[LANE_WORDS], unsigned k, bool bf16)
{
  uint32_t r = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    float sum = 0;
    for (unsigned i = 0; i < n; i++) {
      const uint32_t h = v[i][k] >> shift & 0xffff;
      const float x = bits_f32(bf16 ? h << 16 : f32_from_f16(h));
      sum = i ? sum + x : x;
    }
    r |= (bf16 ? bf16_from_f32(f32_bits(sum)) : f16_from_f32(f32_bits(sum))) << shift;
  }
  return r;
}

/* The smaller or larger one, of a NaN and a number the number, of zeros by their sign. */
static uint32_t select_f16(uint32_t a, uint32_t b, bool max)
{
  const float x = bits_f32(f32_from_f16(a)), y = bits_f32(f32_from_f16(b));
  if (x != x) return b;
  if (y != y) return a;
  const bool b_less = y < x || (y == x && (b & 0x8000u));
  return b_less == max ? a : b;
}

/* FP16 holds every FP8 number; a sum of two of them is rounded to FP8 from FP32, which holds it but for bits that
 * cannot turn a nearest number into another one. */
static uint32_t fp8_step(uint32_t sum, uint32_t x, unsigned op, bool e4m3)
{
  if (op == FLOAT_MIN || op == FLOAT_MAX) return select_f16(sum, x, op == FLOAT_MAX);
  const uint32_t s = f32_bits(bits_f32(f32_from_f16(sum)) + bits_f32(f32_from_f16(x)));
  return op == FLOAT_WIDE_ADD ? f16_from_f32(s) : f16_from_f8(f8_nearest(s, e4m3), e4m3);
}

/* Four FP8 numbers. */
static uint32_t reduce_fp8(const struct line_op *o, unsigned n, const uint32_t (*v)[LANE_WORDS], unsigned k)
{
  const bool e4m3 = o->type >= FP8S + FP8_E4M3X4;
  uint32_t r = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    uint32_t sum = 0;
    for (unsigned i = 0; i < n; i++) {
      const uint32_t x = f16_from_f8(v[i][k] >> shift & 0xff, e4m3);
      sum = i ? fp8_step(sum, x, o->op, e4m3) : x;
    }
    r |= f8_nearest(f32_from_f16(sum), e4m3) << shift;
  }
  return r;
}

/* The element that starts at word k. */
static void reduce_element(const struct line_op *o, unsigned n, const uint32_t (*v)[LANE_WORDS], unsigned k,
                           uint32_t r[2])
{
  if (is_half(o->type) && o->op == FLOAT_WIDE_ADD) {
    r[0] = wide_sum(n, v, k, o->type >= FLOATS + FLOAT_BF16X2);
    return;
  }
  if (is_fp8(o->type)) {
    r[0] = reduce_fp8(o, n, v, k);
    return;
  }
  const bool f32 = o->type >= FLOATS + FLOAT_F32 && o->type < FLOATS + FLOAT_F64;
  for (unsigned i = 0; i < n; i++) {
    const uint32_t x[2] = {v[i][k], k + 1 < LANE_WORDS ? v[i][k + 1] : 0};
    if (i == 0) memcpy(r, x, sizeof x);
    else if (f32) r[0] = f32_canon(bits_f32(r[0]) + bits_f32(x[0]));
    else atom_reduce(o->op, atom_type(o->type), false, r, x);
  }
}

static void reduce_lane(const struct line_op *o, unsigned n, const uint32_t (*v)[LANE_WORDS], uint32_t out[LANE_WORDS])
{
  const unsigned step = element_words(o->type);
  for (unsigned k = 0; k * WORD < o->bytes; k += step) {
    uint32_t r[2] = {0};
    reduce_element(o, n, v, k, r);
    memcpy(out + k, r, step * sizeof *r);
  }
}

void multicast_line_reduce(const struct line_op *o, unsigned n, const uint8_t (*line)[LINE_OP_BYTES],
                           uint8_t out[LINE_OP_BYTES])
{
  if (o->bytes > LANE_WORDS * WORD || n > MULTICAST_LEGS || o->lanes > LINE_OP_LANES) return;
  for (unsigned i = 0; i < o->lanes; i++) {
    const uint32_t at = o->lane[i].offset;
    uint32_t v[MULTICAST_LEGS][LANE_WORDS] = {{0}}, r[LANE_WORDS] = {0};
    if (at + (uint64_t)o->bytes > LINE_OP_BYTES) continue;
    for (unsigned k = 0; k < n; k++) memcpy(v[k], line[k] + at, o->bytes);
    reduce_lane(o, n, (const uint32_t (*)[LANE_WORDS])v, r);
    memcpy(out + at, r, o->bytes);
  }
}

/* --- loads -------------------------------------------------------------------------------------- */

/* How its lanes reduce. */
static struct line_op reduction(const struct uop *u)
{
  const struct sass_inst *s = u->s;
  const bool integer = sass_has(s, FLD_LDGMC_ITYPE);
  const bool fp8 = sass_has(s, FLD_LDGMC_F8TYPE);
  const unsigned type = (unsigned)(integer ? INTEGERS + sass_get(s, FLD_LDGMC_ITYPE)
                                   : fp8   ? FP8S + sass_get(s, FLD_LDGMC_F8TYPE)
                                           : FLOATS + sass_get(s, FLD_LDGMC_FTYPE));
  const unsigned op = (unsigned)sass_get(s, integer ? FLD_RED_OP : sass_has(s, FLD_LDGMC_OP90) ? FLD_LDGMC_OP90
                                                                                             : FLD_LDGMC_OP);
  return (struct line_op){.op = (uint8_t)op, .type = (uint8_t)type, .bytes = u->t->mem.bytes};
}

static bool ldgmc(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  struct mem_effect *me = mem_begin(e, m, MEM_GLOBAL, MEM_LOAD, u->t->mem.bytes, true);
  mem_addr_global(w, u, me->addr, &me->shape);
  for (uint32_t r = m; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    if (multicast_span(gmem_multicast(w->launch->p.image), me->addr[i], 1)) continue;
    e->flags &= ~(uint32_t)EFF_MEM;
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, i, me->addr[i],
                      "thread (%u,%u,%u): multimem.ld_reduce at 0x%llx, which is no multicast object's address",
                      w->tid[0][i], w->tid[1][i], w->tid[2][i], (unsigned long long)me->addr[i]);
  }
  return mem_aligned(w, e, m, me->bytes, f);
}

static bool ldgmc_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                          struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  const struct line_op how = reduction(u);
  if (v->window) return mem_load_perform(w, u, e, lanes, v, f);
  for (; lanes; lanes &= lanes - 1) {
    const unsigned i = bits_first(lanes);
    const struct multicast_span *s = multicast_span(gmem_multicast(v->image), me->addr[i], me->bytes);
    uint32_t value[MULTICAST_LEGS][LANE_WORDS] = {{0}}, r[LANE_WORDS] = {0};
    for (unsigned k = 0; s && k < s->n; k++)
      if (!gmem_read(s->leg[k].image, s->leg[k].addr + (me->addr[i] - s->addr), value[k], me->bytes)) s = NULL;
    if (!s) return mem_unmapped(w, e, i, me->addr[i], f);
    reduce_lane(&how, s->n, (const uint32_t (*)[LANE_WORDS])value, r);
    for (unsigned k = 0; k * WORD < me->bytes; k++) mem_row(me, k)[i] = r[k];
  }
  return true;
}

static void ldgmc_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  mem_commit(w, u, e, e->mem->bytes / WORD);
}

bool multicast_line_op(const struct uop *u, struct mem_effect *me, uint32_t lanes, struct line_op *o)
{
  if (u->perform != ldgmc_perform) return false;
  *o = reduction(u);
  for (; lanes; lanes &= lanes - 1)
    o->lane[o->lanes++].offset = (uint32_t)(me->addr[bits_first(lanes)] % LINE_OP_BYTES);
  return true;
}

uop_fn *sem_multicast_handler(const struct sass_inst *s, struct uop *u)
{
  if (s->sem != SEM_LDGMC) return NULL;
  const struct line_op o = reduction(u);
  const unsigned real = o.type - FLOATS;
  if (o.type < FLOATS && (o.type > 3 || o.op == REDUCE_INC || o.op == REDUCE_DEC)) return NULL;
  if (o.type >= FP8S && (!is_fp8(o.type) || o.op > FLOAT_WIDE_ADD)) return NULL;
  if (o.type >= FLOATS && o.type < FP8S && !is_half(o.type) && (real < FLOAT_F32 || o.op != FLOAT_ADD)) return NULL;
  if (is_half(o.type) && o.op > FLOAT_WIDE_ADD) return NULL;
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  u->perform = ldgmc_perform;
  u->finish = ldgmc_finish;
  return ldgmc;
}

/* --- stores ------------------------------------------------------------------------------------- */

const struct multicast_span *mem_multicast(const struct gmem_view *v, uint64_t addr, unsigned bytes)
{
  return v->log || v->window ? NULL : multicast_span(gmem_multicast(v->image), addr, bytes);
}

bool mem_multicast_write(const struct gmem_view *v, uint64_t addr, const void *value, unsigned bytes)
{
  const struct multicast_span *s = mem_multicast(v, addr, bytes);
  for (unsigned k = 0; s && k < s->n; k++)
    if (!gmem_write(s->leg[k].image, s->leg[k].addr + (addr - s->addr), value, bytes)) return false;
  return s != NULL;
}
