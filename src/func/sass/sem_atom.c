/* Atomics and reductions: global, shared and generic. Lanes perform in ascending order, each one a
 * read, an operation and a write through the caller's view. Rules: PTX ISA (atom, red), compiler
 * output (CUDA 13.0): operation and type codes, CAST.SPIN, POPC.INC.
 */
#include "base/swap_quad.h"
#include "func/sass/cluster.h"
#include "func/sass/mbarrier.h"
#include "func/sass/mem.h"
#include "func/sass/remote.h"

enum atom_op { OP_ADD, OP_MIN, OP_MAX, OP_INC, OP_DEC, OP_AND, OP_OR, OP_XOR, OP_EXCH, OP_CAS,
               OP_CAST /* CAS that returns success */, OP_ARRIVE /* at an mbarrier */, OP_BAD };

struct type_info {
  uint8_t words;
  bool f, half, bf16;
};

static const struct type_info types[] = {
    [ATOM_U32] = {.words = 1}, [ATOM_S32] = {.words = 1}, [ATOM_U64] = {.words = 2},
    [ATOM_S64] = {.words = 2}, [ATOM_B128] = {.words = 4},
    [ATOM_F32] = {.words = 1, .f = true}, [ATOM_F32X2] = {.words = 2, .f = true},
    [ATOM_F32X4] = {.words = 4, .f = true}, [ATOM_F64] = {.words = 2, .f = true},
    [ATOM_F16X2] = {.words = 1, .f = true, .half = true},
    [ATOM_F16X4] = {.words = 2, .f = true, .half = true},
    [ATOM_F16X8] = {.words = 4, .f = true, .half = true},
    [ATOM_BF16X2] = {.words = 1, .f = true, .half = true, .bf16 = true},
    [ATOM_BF16X4] = {.words = 2, .f = true, .half = true, .bf16 = true},
    [ATOM_BF16X8] = {.words = 4, .f = true, .half = true, .bf16 = true},
};

/* Operation and type share u->imm2 with the address form, which uses bits 0..23. */
enum { OP_SHIFT = 24, TYPE_SHIFT = 28 };

static enum atom_op op_of(const struct uop *u)
{
  return (enum atom_op)(u->imm2 >> OP_SHIFT & 15);
}

static enum sass_atom_type type_of(const struct uop *u)
{
  return (enum sass_atom_type)(u->imm2 >> TYPE_SHIFT);
}

static float flush(float x)
{
  return (f32_bits(x) & 0x7f800000u) ? x : bits_f32(f32_bits(x) & 0x80000000u);
}

static uint32_t f32_result(float x)
{
  return x != x ? 0x7fffffffu : f32_bits(x);
}

static float half_to_f32(uint32_t h)
{
  uint32_t sign = (h & 0x8000u) << 16, exp = h >> 10 & 31, man = h & 0x3ff;
  if (exp == 31) return bits_f32(sign | 0x7f800000u | man << 13);
  if (exp) return bits_f32(sign | (exp + 112) << 23 | man << 13);
  float x = (float)man * 0x1p-24f;
  return sign ? -x : x;
}

/* Round to nearest even. */
static uint32_t f32_to_half(float x)
{
  uint32_t v = f32_bits(x), sign = v >> 16 & 0x8000u, mag = v & 0x7fffffffu;
  if (mag > 0x7f800000u) return 0x7fff;
  if (mag >= 0x47800000u) return sign | 0x7c00;
  if (mag < 0x38800000u) { /* subnormal: adding 0.5 leaves the rounded value in the low bits */
    return sign | (f32_bits(bits_f32(mag) + 0.5f) - f32_bits(0.5f));
  }
  uint32_t r = mag - (112u << 23) + 0xfff + (mag >> 13 & 1);
  return sign | r >> 13;
}

static uint32_t f32_to_bf16(float x)
{
  uint32_t v = f32_bits(x);
  if (x != x) return 0x7fff;
  return (v + 0x7fff + (v >> 16 & 1)) >> 16;
}

/* FP32 holds twice the bits of the narrow formats plus two, so rounding twice is exact. */
static uint32_t add_pair(uint32_t a, uint32_t b, bool bf16)
{
  uint32_t r = 0;
  for (unsigned s = 0; s < 32; s += 16) {
    uint32_t x = a >> s & 0xffff, y = b >> s & 0xffff;
    float sum = bf16 ? bits_f32(x << 16) + bits_f32(y << 16) : half_to_f32(x) + half_to_f32(y);
    r |= (bf16 ? f32_to_bf16(sum) : f32_to_half(sum)) << s;
  }
  return r;
}

/* Minimum or maximum of each half: -0 < +0, a NaN loses against a number (PTX ISA, min). */
static uint32_t extreme_pair(uint32_t a, uint32_t b, bool bf16, bool max)
{
  const uint32_t inf = bf16 ? 0x7f80 : 0x7c00;
  uint32_t r = 0;
  for (unsigned s = 0; s < 32; s += 16) {
    uint32_t x = a >> s & 0xffff, y = b >> s & 0xffff, pick;
    bool x_nan = (x & 0x7fff) > inf, y_nan = (y & 0x7fff) > inf;
    int32_t kx = x & 0x8000 ? -(int32_t)(x & 0x7fff) - 1 : (int32_t)x;
    int32_t ky = y & 0x8000 ? -(int32_t)(y & 0x7fff) - 1 : (int32_t)y;
    if (x_nan || y_nan) pick = x_nan && y_nan ? 0x7fff : x_nan ? y : x;
    else pick = (kx < ky) != max ? x : y;
    r |= pick << s;
  }
  return r;
}

static void apply_float(enum atom_op op, enum sass_atom_type t, const uint32_t *old,
                        const uint32_t *v, uint32_t *r)
{
  if (t == ATOM_F64) {
    double x = bits_f64(lane_join(old[0], old[1])) + bits_f64(lane_join(v[0], v[1]));
    uint64_t y = x != x ? 0x7fffffffffffffffull : f64_bits(x);
    r[0] = (uint32_t)y, r[1] = (uint32_t)(y >> 32);
    return;
  }
  for (unsigned k = 0; k < types[t].words; k++) {
    if (types[t].half && op != OP_ADD)
      r[k] = extreme_pair(old[k], v[k], types[t].bf16, op == OP_MAX);
    else if (types[t].half) r[k] = add_pair(old[k], v[k], types[t].bf16);
    else r[k] = f32_result(flush(flush(bits_f32(old[k])) + flush(bits_f32(v[k]))));
  }
}

static uint64_t apply_int(enum atom_op op, enum sass_atom_type t, uint64_t old, uint64_t v)
{
  bool wide = types[t].words == 2, s = t == ATOM_S32 || t == ATOM_S64;
  int64_t so = wide ? (int64_t)old : (int32_t)old, sv = wide ? (int64_t)v : (int32_t)v;
  switch (op) {
  case OP_ADD: return old + v;
  case OP_MIN: return s ? (so < sv ? old : v) : (old < v ? old : v);
  case OP_MAX: return s ? (so > sv ? old : v) : (old > v ? old : v);
  case OP_INC: return old >= v ? 0 : old + 1;
  case OP_DEC: return old == 0 || old > v ? v : old - 1;
  case OP_AND: return old & v;
  case OP_OR: return old | v;
  case OP_XOR: return old ^ v;
  default: return v;
  }
}

/* New value r from old value and operands; `ret` is what the instruction returns. */
static void apply(enum atom_op op, enum sass_atom_type t, const uint32_t old[4], const uint32_t v[4],
                  const uint32_t cmp[4], uint32_t r[4], uint32_t ret[4])
{
  size_t bytes = 4u * types[t].words;
  memcpy(ret, old, 16);
  if (op == OP_CAS || op == OP_CAST) {
    bool same = !memcmp(old, cmp, bytes);
    memcpy(r, same ? v : old, 16);
    if (op == OP_CAST) ret[0] = same, ret[1] = 0;
  } else if (op == OP_EXCH) {
    memcpy(r, v, 16);
  } else if (op == OP_ARRIVE) {
    uint64_t x = mbar_apply80(lane_join(old[0], old[1]), (struct mbar_event){.arrivals = 1});
    r[0] = (uint32_t)x, r[1] = (uint32_t)(x >> 32);
  } else if (types[t].f) {
    apply_float(op, t, old, v, r);
  } else {
    uint64_t x = apply_int(op, t, lane_join(old[0], old[1]), lane_join(v[0], v[1]));
    r[0] = (uint32_t)x, r[1] = (uint32_t)(x >> 32);
  }
}

bool atom_reduces(unsigned op, enum sass_atom_type t)
{
  if (op == OP_INC || op == OP_DEC) return t == ATOM_U32;
  return t != ATOM_INVALID && (!types[t].f || op == OP_ADD || (types[t].half && op <= OP_MAX));
}

void atom_reduce(unsigned op, enum sass_atom_type t, bool flush, uint32_t p[2], const uint32_t v[2])
{
  uint32_t r[4] = {0};
  if (t == ATOM_F32 && !flush) {
    r[0] = f32_result(bits_f32(p[0]) + bits_f32(v[0]));
  } else if (types[t].f) {
    apply_float((enum atom_op)op, t, p, v, r);
  } else {
    uint64_t x = apply_int((enum atom_op)op, t, lane_join(p[0], p[1]), lane_join(v[0], v[1]));
    r[0] = (uint32_t)x, r[1] = (uint32_t)(x >> 32);
  }
  memcpy(p, r, 2 * sizeof *p);
}

static bool atom_perform(struct func_warp *, const struct uop *, struct effect *, uint32_t lanes, struct gmem_view *,
                         struct fault *);

static void row_get(struct mem_effect *me, unsigned first, unsigned words, unsigned lane,
                    uint32_t v[4])
{
  for (unsigned k = 0; k < words; k++) v[k] = mem_row(me, first + k)[lane];
}

/* One lane, whose memory is at p. */
static void atom_lane(const struct uop *u, struct mem_effect *me, unsigned i, uint8_t *p)
{
  unsigned words = types[type_of(u)].words;
  uint32_t old[4] = {0}, val[4] = {0}, cmp[4] = {0}, r[4] = {0}, ret[4];
  row_get(me, 0, words, i, val);
  row_get(me, COMPARE_WORD, words, i, cmp);
  memcpy(old, p, me->bytes);
  apply(op_of(u), type_of(u), old, val, cmp, r, ret);
  memcpy(p, r, me->bytes);
  for (unsigned k = 0; k < words; k++) mem_row(me, k)[i] = ret[k];
}

bool atom_line_op(const struct uop *u, struct mem_effect *me, uint32_t lanes, struct line_op *o)
{
  unsigned words = types[type_of(u)].words;
  if (u->perform != atom_perform) return false;
  *o = (struct line_op){.op = (uint8_t)op_of(u), .type = (uint8_t)type_of(u), .bytes = me->bytes};
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    struct line_operand *x = &o->lane[o->lanes++];
    x->offset = (uint32_t)(me->addr[i] % LINE_OP_BYTES);
    row_get(me, 0, words, i, x->value);
    row_get(me, COMPARE_WORD, words, i, x->compare);
  }
  return true;
}

void atom_line_apply(const struct line_op *o, uint8_t *line)
{
  for (unsigned i = 0; i < o->lanes; i++) {
    const struct line_operand *x = &o->lane[i];
    uint32_t old[4] = {0}, r[4] = {0}, ret[4];
    if (o->op >= OP_BAD || o->type >= sizeof types / sizeof *types || o->bytes > sizeof old) return;
    if (x->offset + (uint64_t)o->bytes > LINE_OP_BYTES) continue;
    memcpy(old, line + x->offset, o->bytes);
    apply((enum atom_op)o->op, (enum sass_atom_type)o->type, old, x->value, x->compare, r, ret);
    memcpy(line + x->offset, r, o->bytes);
  }
}

/* Operations on one number of 32 or 64 bits, the common case: no copies. */
static bool is_number(const struct uop *u)
{
  const struct type_info t = types[type_of(u)];
  return t.words <= 2 && !t.half && type_of(u) != ATOM_F32X2 && op_of(u) <= OP_CAS;
}

/* Exchanges and compare-and-swap, which take the operand as it is. */
static bool swaps(const struct uop *u)
{
  return op_of(u) == OP_EXCH || op_of(u) == OP_CAS;
}

#define ATOM_INLINE static inline __attribute__((always_inline))

/* New value of a number; op and t are constants wherever this matters. */
ATOM_INLINE uint64_t apply_number(enum atom_op op, enum sass_atom_type t, uint64_t old, uint64_t v, uint64_t cmp)
{
  if (op == OP_CAS) return old == cmp ? v : old;
  if (op == OP_EXCH) return v;
  if (t == ATOM_F32) return f32_result(flush(flush(bits_f32((uint32_t)old)) + flush(bits_f32((uint32_t)v))));
  if (t != ATOM_F64) return apply_int(op, t, old, v);
  double x = bits_f64(old) + bits_f64(v);
  return x != x ? 0x7fffffffffffffffull : f64_bits(x);
}

/* The word at p gets its new value while other threads do so; returns the old one. */
static uint32_t swap_word(enum atom_op op, enum sass_atom_type t, uint8_t *p, uint32_t v, uint32_t cmp)
{
  mem_word *word = (mem_word *)(void *)p, old = __atomic_load_n(word, __ATOMIC_RELAXED), new;
  do new = (uint32_t)apply_number(op, t, old, v, cmp);
  while (!__atomic_compare_exchange_n(word, &old, new, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

/* Puts `new` in the place of what is thought to be there; false: *old is what is there. */
static bool swap_bytes(uint8_t *p, unsigned words, uint64_t *old, uint64_t new)
{
  enum { RELAXED = __ATOMIC_RELAXED };
  if (words == 2) return __atomic_compare_exchange_n((mem_pair *)(void *)p, old, new, false, RELAXED, RELAXED);
  uint32_t word = (uint32_t)*old;
  const bool done = __atomic_compare_exchange_n((mem_word *)(void *)p, &word, (uint32_t)new, false, RELAXED, RELAXED);
  *old = word;
  return done;
}

/* Sixteen bytes of one lane. */
static void swap_wide_lane(const struct uop *u, struct mem_effect *me, unsigned i, uint8_t *p)
{
  const unsigned words = types[type_of(u)].words;
  uint32_t v[4], cmp[4], old[4], r[4], ret[4];
  quad was, now;
  row_get(me, 0, words, i, v);
  row_get(me, COMPARE_WORD, words, i, cmp);
  memcpy(&was, p, sizeof was);
  do {
    memcpy(old, &was, sizeof old);
    apply(op_of(u), type_of(u), old, v, cmp, r, ret);
    memcpy(&now, r, sizeof now);
  } while (!swap_quad((quad *)(void *)p, &was, now));
  for (unsigned k = 0; k < words; k++) mem_row(me, k)[i] = ret[k];
}

/* Any operation of one lane while others do so. Its first guess of what is there costs nothing. */
static void swap_lane(const struct uop *u, struct mem_effect *me, unsigned i, uint8_t *p)
{
  if (types[type_of(u)].words == 4) {
    if ((uintptr_t)p % sizeof(quad)) atom_lane(u, me, i, p); /* a copy of memory, which nobody else sees */
    else swap_wide_lane(u, me, i, p);
    return;
  }
  const unsigned words = types[type_of(u)].words;
  uint32_t v[4] = {0}, cmp[4] = {0}, r[4], ret[4];
  uint64_t old = 0;
  row_get(me, 0, words, i, v);
  row_get(me, COMPARE_WORD, words, i, cmp);
  memcpy(&old, p, 4 * words);
  do {
    const uint32_t was[4] = {(uint32_t)old, (uint32_t)(old >> 32)};
    apply(op_of(u), type_of(u), was, v, cmp, r, ret);
  } while (!swap_bytes(p, words, &old, words == 2 ? lane_join(r[0], r[1]) : r[0]));
  for (unsigned k = 0; k < words; k++) mem_row(me, k)[i] = ret[k];
}

ATOM_INLINE uint64_t number_get(const mem_word *row, unsigned i, unsigned words)
{
  return words == 2 ? lane_join(row[i], row[LANES_MAX + i]) : row[i];
}

ATOM_INLINE void number_put(mem_word *row, unsigned i, unsigned words, uint64_t v)
{
  row[i] = (uint32_t)v;
  if (words == 2) row[LANES_MAX + i] = (uint32_t)(v >> 32);
}

/* The lanes of a block, in ascending order. Where all name one place the number is kept in between. */
ATOM_INLINE void atom_numbers(struct mem_effect *me, const struct lane_block *b, enum atom_op op,
                              enum sass_atom_type t, unsigned words)
{
  mem_word *const row = mem_row(me, 0), *const cmp = mem_row(me, COMPARE_WORD);
  const bool one = me->shape.even && !me->shape.stride && !b->apart;
  uint8_t *const place = b->base + (me->addr[0] & b->in);
  uint64_t now = 0;
  if (one) memcpy(&now, place, 4 * words);
  for (uint32_t r = b->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    uint8_t *p = b->base + i * b->apart + (me->addr[i] & b->in);
    uint64_t old = one ? now : 0;
    if (!one) memcpy(&old, p, 4 * words);
    now = apply_number(op, t, old, number_get(row, i, words), op == OP_CAS ? number_get(cmp, i, words) : 0);
    if (words == 1) now = (uint32_t)now;
    if (!one) memcpy(p, &now, 4 * words);
    number_put(row, i, words, old);
  }
  if (one) memcpy(place, &now, 4 * words);
}

static void atom_number_block(const struct uop *u, struct mem_effect *me, const struct lane_block *b)
{
  const enum atom_op op = op_of(u);
  const enum sass_atom_type t = type_of(u);
  const bool wide = types[t].words == 2;
  if (op == OP_ADD && (t == ATOM_U32 || t == ATOM_S32)) atom_numbers(me, b, OP_ADD, ATOM_U32, 1);
  else if (op == OP_ADD && t == ATOM_F32) atom_numbers(me, b, OP_ADD, ATOM_F32, 1);
  else if (op == OP_ADD && t == ATOM_F64) atom_numbers(me, b, OP_ADD, ATOM_F64, 2);
  else if (op == OP_ADD) atom_numbers(me, b, OP_ADD, ATOM_U64, 2);
  else if (op == OP_CAS && !wide) atom_numbers(me, b, OP_CAS, ATOM_U32, 1);
  else if (op == OP_CAS) atom_numbers(me, b, OP_CAS, ATOM_U64, 2);
  else if (!wide) atom_numbers(me, b, op, t, 1);
  else atom_numbers(me, b, op, t, 2);
}

/* Others may be at the same place: threads of the launch, GPUs of other processes; with the scope of the system the
 * host, too. */
static bool contended(const struct uop *u, const struct gmem_view *v)
{
  return v->concurrent || u->t->scope == SCOPE_SYS;
}

/* The lanes of a block, in ascending order. */
static void atom_block(const struct uop *u, struct mem_effect *me, const struct lane_block *b,
                       const struct gmem_view *v)
{
  const bool number = is_number(u), swap = me->space == MEM_GLOBAL && contended(u, v);
  if (number && !swap) {
    atom_number_block(u, me, b);
    return;
  }
  mem_word *row = mem_row(me, 0), *cmp = mem_row(me, COMPARE_WORD);
  for (uint32_t r = b->lanes; r; r &= r - 1) {
    unsigned i = bits_first(r);
    uint8_t *p = b->base + i * b->apart + (me->addr[i] & b->in);
    if (number && types[type_of(u)].words == 1) row[i] = swap_word(op_of(u), type_of(u), p, row[i], cmp[i]);
    else if (swap) swap_lane(u, me, i, p);
    else atom_lane(u, me, i, p);
  }
}

/* multimem.red: the same operand at each memory. */
static bool red_multicast(const struct uop *u, struct mem_effect *me, unsigned i, const struct gmem_view *v)
{
  const struct multicast_span *s = mem_multicast(v, me->addr[i], me->bytes);
  const unsigned words = types[type_of(u)].words;
  uint32_t operand[4];
  if (!s || me->op != MEM_RED) return false;
  row_get(me, 0, words, i, operand);
  for (unsigned k = 0; k < s->n; k++) {
    uint8_t *p = gmem_ptr(s->leg[k].image, s->leg[k].addr + (me->addr[i] - s->addr), me->bytes);
    if (!p) return false;
    for (unsigned j = 0; j < words; j++) mem_row(me, j)[i] = operand[j];
    if (contended(u, v)) swap_lane(u, me, i, p);
    else atom_lane(u, me, i, p);
  }
  return true;
}

static bool atom_perform(struct func_warp *w, const struct uop *u, struct effect *e,
                         uint32_t lanes, struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  struct lane_block b;
  for (; lanes && mem_block(w, me, lanes, true, v, &b); lanes &= ~b.lanes)
    atom_block(u, me, &b, v);
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    uint64_t a;
    uint8_t buf[MEM_MAX_BYTES], *near;
    enum mem_space space = mem_lane_space(w, me, i, &a);
    if (space == MEM_GLOBAL) {
      const bool mapped = gmem_view_read(v, a, buf, me->bytes);
      if (!mapped && red_multicast(u, me, i, v)) continue;
      if (!mapped) return mem_unmapped(w, e, i, a, f);
      atom_lane(u, me, i, buf);
      gmem_view_write(v, a, buf, me->bytes);
    } else {
      if (!(near = mem_near(w, e, space, i, a, me->bytes, f))) return false;
      atom_lane(u, me, i, near);
    }
  }
  return true;
}

/* ATOMS.CAST.SPIN of sm_100+: Pu says whether the swap was done. */
static void cast_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  uint32_t done = 0, lanes = (uint32_t)e->mem->lanes;
  for (uint32_t m = lanes; m; m &= m - 1)
    if (mem_row(e->mem, 0)[bits_first(m)]) done |= m & -m;
  pred_write(w, u->pu, lanes, done);
}

static void atom_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  mem_commit(w, u, e, types[type_of(u)].words);
}

/* Can hardware perform it where the lane's address lies? Global memory: yes. Shared memory of another CTA: all but sums
 * of F32 and F64. The own: exchanges and compare-and-swap. Local memory: no. */
static bool lane_performs(const struct func_warp *w, const struct uop *u, const struct mem_effect *me, unsigned lane)
{
  uint64_t a;
  const enum mem_space space = mem_lane_space(w, me, lane, &a);
  const bool other = space == MEM_CLUSTER && a >> CLUSTER_SHIFT != w->cta->rank;
  if (space == MEM_GLOBAL || space == MEM_LOCAL) return space == MEM_GLOBAL;
  return swaps(u) || (other && type_of(u) != ATOM_F32 && type_of(u) != ATOM_F64);
}

/* A generic atomic with a predicate result is performed where hardware can, and the predicate says where; the
 * compiler's own code does the rest (CUDA 13.0): a loop of ATOMS.CAST.SPIN where QSPC.S finds the CTA's shared memory,
 * one of ATOM.CAST.SPIN where QSPC.D finds another CTA's, otherwise a plain load and store, which only a thread's own
 * memory allows. What has no such loop must have been performed: it is atomic there (PTX ISA). The predicate depends on
 * the address alone and is written at once: compiler output (sm_90) waits only for the sources to be read before it
 * uses it. */
static bool performs_some(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e)
{
  struct mem_effect *me = e->mem;
  if (u->pu == PRED_NONE) return true;
  uint32_t done = (uint32_t)(me->lanes | me->near_lanes);
  for (uint32_t r = me->space == MEM_GLOBAL ? (uint32_t)me->near_lanes : done; r; r &= r - 1)
    if (!lane_performs(w, u, me, bits_first(r))) done &= ~(r & -r);
  me->lanes &= done;
  me->near_lanes &= done;
  me->far &= done;
  pred_write(w, u->pu, m, done);
  if (!done) e->flags &= ~(uint32_t)EFF_MEM;
  return done;
}

static void sample(const struct func_warp *w, struct mem_effect *me, struct row_ref r,
                   unsigned first, unsigned words)
{
  w->launch->ops->sample(mem_row(me, first), row_src(w, r), words);
}

static bool atom(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  const struct inst_mem *t = &u->t->mem;
  unsigned words = types[type_of(u)].words;
  bool cas = op_of(u) >= OP_CAS;
  enum mem_space space = t->space == MEM_SHARED ? MEM_SHARED : MEM_GLOBAL;
  struct mem_effect *me = mem_begin(e, m, space, t->op, 4 * words, true);
  if (space == MEM_SHARED) mem_addr_near(w, u, me);
  else mem_addr_global(w, u, me->addr, &me->shape);
  sample(w, me, cas ? u->c : u->b, 0, words);
  if (cas) sample(w, me, u->b, COMPARE_WORD, words);
  if (t->space == MEM_GENERIC) {
    mem_resolve(w, me);
    if (!performs_some(w, u, m, e)) return true;
  } else {
    pred_write(w, u->pu, m, FULL_MASK);
  }
  return mem_aligned(w, e, m, 4 * words, f);
}

/* UREDGR: one reduction of the warp. */
static bool red_uniform(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  return atom(w, u, m & -m, e, f);
}

/* POPC.INC adds one for each lane that hits the address; ARRIVE arrives at an mbarrier of sm_80. */
static bool atom_popc_inc(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                          struct fault *f)
{
  unsigned bytes = 4u * types[type_of(u)].words;
  bool generic = u->t->mem.space == MEM_GENERIC;
  struct mem_effect *me = mem_begin(e, m, generic ? MEM_GLOBAL : MEM_SHARED, u->t->mem.op, bytes,
                                    true);
  if (generic) mem_addr_global(w, u, me->addr, &me->shape);
  else mem_addr_near(w, u, me);
  mem_word *one = mem_row(me, 0);
  for (unsigned i = 0; i < LANES; i++) one[i] = 1;
  if (generic) mem_resolve(w, me);
  return mem_aligned(w, e, m, bytes, f);
}

static uop_fn *pick_atom(const struct sass_inst *s, struct uop *u, enum atom_op op,
                         enum sass_atom_type t, uop_fn *fn)
{
  bool arithmetic = op != OP_CAS && op != OP_CAST && op != OP_EXCH;
  bool float_ok = op == OP_ADD || !arithmetic ||
                  (t != ATOM_INVALID && types[t].half && (op == OP_MIN || op == OP_MAX));
  if (t == ATOM_INVALID || op > OP_ARRIVE || (types[t].f && !float_ok)) return NULL;
  if (t == ATOM_B128 && arithmetic) return NULL;
  mem_prepare(s, u);
  u->imm2 |= (uint32_t)op << OP_SHIFT | (uint32_t)t << TYPE_SHIFT;
  u->flags = UOP_MEM;
  u->perform = atom_perform;
  if (u->t->mem.op != MEM_RED) u->finish = atom_finish;
  return fn;
}

static uop_fn *pick_cas(const struct sass_inst *s, struct uop *u)
{
  enum { CAS = 0, CAST_SPIN = 3 }; /* field CAS_OP */
  const unsigned code = (unsigned)sass_get(s, FLD_CAS_OP);
  if (code != CAS && code != CAST_SPIN) return NULL;
  uop_fn *fn = pick_atom(s, u, code == CAS ? OP_CAS : OP_CAST, sass_atom_type(s), atom);
  if (code == CAST_SPIN && s->sem == SEM_ATOMS_CAS && u->pu != PRED_NONE) u->finish = cast_finish;
  return fn;
}

static uop_fn *pick_op(const struct sass_inst *s, struct uop *u)
{
  bool fp_row = sass_has(s, FLD_ATOM_FTYPE);
  bool red = s->sem == SEM_RED;
  static const uint8_t float_op[16] = {OP_ADD, OP_BAD, OP_MIN, OP_BAD, OP_MAX, OP_BAD, OP_BAD, OP_BAD,
                                       OP_EXCH, OP_BAD, OP_BAD, OP_BAD, OP_BAD, OP_BAD, OP_BAD,
                                       OP_BAD};
  unsigned code = (unsigned)bits_get(s->word, 87, red || sass_has(s, FLD_ATOM_DESC90) ? 3 : 4);
  enum atom_op op = (enum atom_op)(fp_row ? float_op[code] : code);
  return pick_atom(s, u, op, sass_atom_type(s), atom);
}

/* The type of .SD32 is the surface's, which is not known before it runs. */
uop_fn *atom_pick_surface(const struct sass_inst *s, struct uop *u, uop_fn *fn)
{
  static const uint8_t type[8] = {ATOM_U32, ATOM_S32, ATOM_U64, ATOM_INVALID, ATOM_INVALID,
                                  ATOM_INVALID, ATOM_INVALID, ATOM_INVALID};
  return pick_atom(s, u, (enum atom_op)sass_get(s, FLD_RED_OP), type[sass_get(s, FLD_SURED_TYPE)],
                   fn);
}

/* REDAS: a reduction in shared memory of the cluster, whose bytes then count at an mbarrier (PTX ISA, red.async). */
static bool redas(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  unsigned words = types[type_of(u)].words;
  struct mem_effect *me = mem_begin(e, m, MEM_SHARED, MEM_RED, 4 * words, true);
  mem_addr_near(w, u, me);
  mem_resolve_cluster(w, me);
  sample(w, me, u->b, 0, words);
  sync_sample_barrier(w, u, me);
  return mem_aligned(w, e, m, 4 * words, f);
}

static bool redas_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                          struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  (void)v;
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    uint8_t *p = mem_near(w, e, me->space, i, me->addr[i], me->bytes, f);
    if (!p) return false;
    atom_lane(u, me, i, p);
    if (!sync_complete_tx(w, e, i, f)) return false;
  }
  return true;
}

static uop_fn *pick_redas(const struct sass_inst *s, struct uop *u)
{
  uop_fn *fn = pick_atom(s, u, (enum atom_op)sass_get(s, FLD_RED_OP), sass_atom_type(s), redas);
  u->perform = redas_perform;
  u->finish = NULL;
  return fn;
}

uop_fn *sem_atom_handler(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_ATOM: case SEM_ATOMG: case SEM_ATOMS: case SEM_RED:
    return pick_op(s, u);
  case SEM_ATOM_CAS: case SEM_ATOMG_CAS: case SEM_ATOMS_CAS:
    return pick_cas(s, u);
  case SEM_ATOMS_POPC_INC: case SEM_ATOM_POPC_INC:
    return pick_atom(s, u, OP_ADD, ATOM_U32, atom_popc_inc);
  case SEM_REDAS:
    return pick_redas(s, u);
  case SEM_UREDGR: /* others were not seen */
    return sass_get(s, FLD_RED_OP) || !sass_get(s, FLD_UNIFORM_NA)
               ? NULL
               : pick_atom(s, u, OP_ADD, sass_atom_type(s), red_uniform);
  case SEM_ATOM_ARRIVE:
    return pick_atom(s, u, OP_ARRIVE, ATOM_U64, atom_popc_inc);
  default:
    return NULL;
  }
}
