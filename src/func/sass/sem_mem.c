/* Loads, stores and constant loads. Rules: PTX ISA (ld, st, cp.async, isspacep), Mesa NAK,
 * compiler output (CUDA 13.0). The memory model is the caller's: here an access happens when
 * perform is called, in ascending lane order.
 */
#include "func/sass/cluster.h"
#include "func/sass/guest_fault.h"
#include "func/sass/mem.h"

/* A 256-bit access has two groups of four registers. */
enum { HALF_WORDS = 4, ALL_WORDS = 255u };

static unsigned size_bytes(unsigned code)
{
  static const uint8_t bytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
  return bytes[code & 7];
}

/* Moves `bytes` bytes from memory at p to the words of lane i; eight at once, as lane_ops do. */
static inline void lane_load(struct mem_effect *me, unsigned i, const uint8_t *p, unsigned bytes)
{
  mem_word *row = mem_row(me, 0) + i;
  if (bytes < sizeof(uint64_t)) {
    uint32_t v = 0;
    memcpy(&v, p, bytes);
    row[0] = v;
    return;
  }
  for (unsigned k = 0; k < bytes / sizeof(uint64_t); k++, row += 2 * LANES_MAX) {
    uint64_t v;
    memcpy(&v, p + k * sizeof v, sizeof v);
    row[0] = (uint32_t)v, row[LANES_MAX] = (uint32_t)(v >> 32);
  }
}

static inline void lane_value(struct mem_effect *me, unsigned i, uint32_t v[MEM_MAX_WORDS],
                              unsigned bytes)
{
  const mem_word *row = mem_row(me, 0) + i;
  for (unsigned k = 0; k * 4 < bytes; k++) v[k] = row[k * LANES_MAX];
}

/* One lane, wherever its memory is. */
static bool lane_read(struct func_warp *w, struct effect *e, unsigned i, const struct gmem_view *v,
                      struct fault *f)
{
  struct mem_effect *me = e->mem;
  uint8_t buf[MEM_MAX_BYTES];
  const uint8_t *p = buf;
  uint64_t a;
  enum mem_space space = mem_lane_space(w, me, i, &a);
  if (space == MEM_GLOBAL) {
    if (!gmem_view_read(v, a, buf, me->bytes)) return mem_unmapped(w, e, i, a, f);
  } else if (!(p = mem_near(w, e, space, i, a, me->bytes, f))) {
    return false;
  }
  lane_load(me, i, p, me->bytes);
  return true;
}

/* All lanes read what lane 0 does. */
static void load_same(struct mem_effect *me, const uint8_t *p)
{
  lane_load(me, 0, p, me->bytes);
  for (unsigned k = 0; k * 4 < me->bytes; k++) {
    mem_word *row = mem_row(me, k), v = row[0];
    for (unsigned i = 0; i < LANES; i++) row[i] = v;
  }
}

/* Whether all 32 lanes side by side are in block b: then *p is the first one's memory. */
static bool is_dense(const struct mem_effect *me, const struct lane_block *b, uint8_t **p)
{
  *p = b->base + (me->addr[0] & b->in);
  return me->shape.even && b->lanes == FULL_MASK && !b->apart && me->shape.stride == me->bytes;
}

/* The same place for all of them. */
static bool is_uniform(const struct mem_effect *me, const struct lane_block *b)
{
  return me->shape.even && b->lanes == FULL_MASK && !b->apart && !me->shape.stride;
}

bool mem_load_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                         struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  const struct lane_ops *t = w->launch->ops;
  struct lane_block b;
  uint8_t *p;
  (void)u;
  for (; lanes && mem_block(w, me, lanes, false, v, &b); lanes &= ~b.lanes) {
    if (is_dense(me, &b, &p)) t->load_dense(mem_row(me, 0), p, me->bytes);
    else if (is_uniform(me, &b)) load_same(me, p);
    else t->load(mem_row(me, 0), &b, me->addr, me->bytes);
  }
  for (; lanes; lanes &= lanes - 1)
    if (!lane_read(w, e, bits_first(lanes), v, f)) return false;
  return true;
}

static void load_finish(struct func_warp *w, const struct uop *u, struct effect *e)
{
  mem_commit(w, u, e, (e->mem->bytes + 3u) / 4);
}

static void load_finish_s8(struct func_warp *w, const struct uop *u, struct effect *e)
{
  mem_word *row = mem_row(e->mem, 0);
  for (unsigned i = 0; i < LANES; i++) {
    int32_t v = (int8_t)row[i];
    row[i] = (uint32_t)v;
  }
  mem_commit(w, u, e, 1);
}

static void load_finish_s16(struct func_warp *w, const struct uop *u, struct effect *e)
{
  mem_word *row = mem_row(e->mem, 0);
  for (unsigned i = 0; i < LANES; i++) {
    int32_t v = (int16_t)row[i];
    row[i] = (uint32_t)v;
  }
  mem_commit(w, u, e, 1);
}

/* 256-bit load: words 0..3 to Rd, 4..7 to the second destination, packed: a word that the mask does not
 * name has no register. */
static void load_finish_256(struct func_warp *w, const struct uop *u, struct effect *e)
{
  unsigned mask = (unsigned)sass_get(u->s, FLD_MASK_L256);
  unsigned reg[2] = {u->s->dst, (unsigned)sass_get(u->s, FLD_RD_HI)};
  for (unsigned k = 0; k < MEM_MAX_WORDS; k++) {
    unsigned half = k / HALF_WORDS;
    if (!(mask >> k & 1) || reg[half] == SASS_RZ) continue;
    uint32_t row[LANES], *d = row_dst(w, (struct row_ref){BASE_REG, reg[half]++ * ROW_BYTES});
    memcpy(row, mem_row(e->mem, k), ROW_BYTES);
    row_blend(d, row, 1, (uint32_t)e->exec);
  }
}

/* Consecutive lanes with consecutive addresses go out as one write: fewer log entries. */
static bool store_runs(struct func_warp *w, struct effect *e, uint32_t lanes, struct gmem_view *v,
                       struct fault *f)
{
  struct mem_effect *me = e->mem;
  uint8_t buf[LANES * MEM_MAX_BYTES];
  if (lanes == FULL_MASK && me->shape.even && me->shape.stride == me->bytes) {
    w->launch->ops->store_dense(mem_row(me, 0), buf, me->bytes);
    if (gmem_view_write(v, me->addr[0], buf, (size_t)LANES * me->bytes)) return true;
  }
  while (lanes) {
    unsigned first = bits_first(lanes), n = 0;
    uint64_t at = me->addr[first];
    for (unsigned i = first; i < LANES && lanes >> i & 1; i++, n++) {
      uint32_t value[MEM_MAX_WORDS];
      if (me->addr[i] != at + (uint64_t)n * me->bytes) break;
      lane_value(me, i, value, me->bytes);
      memcpy(buf + (size_t)n * me->bytes, value, me->bytes);
      lanes &= lanes - 1;
    }
    if (gmem_view_write(v, at, buf, (size_t)n * me->bytes)) continue;
    for (unsigned i = 0; i < n; i++, at += me->bytes) { /* which lane of the run? */
      if (!gmem_ptr(v->image, at, me->bytes)) return mem_unmapped(w, e, first + i, at, f);
    }
  }
  return true;
}

static bool lane_write(struct func_warp *w, struct effect *e, unsigned i, struct gmem_view *v,
                       struct fault *f)
{
  struct mem_effect *me = e->mem;
  uint32_t value[MEM_MAX_WORDS];
  uint8_t *p;
  uint64_t a;
  enum mem_space space = mem_lane_space(w, me, i, &a);
  lane_value(me, i, value, me->bytes);
  if (space == MEM_GLOBAL)
    return gmem_view_write(v, a, value, me->bytes) || mem_multicast_write(v, a, value, me->bytes) ||
           mem_unmapped(w, e, i, a, f);
  if (!(p = mem_near(w, e, space, i, a, me->bytes, f))) return false;
  memcpy(p, value, me->bytes);
  return true;
}

/* The last lane that writes a byte wins. */
bool mem_store_perform(struct func_warp *w, const struct uop *u, struct effect *e,
                          uint32_t lanes, struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  const struct lane_ops *t = w->launch->ops;
  struct lane_block b;
  uint8_t *p;
  (void)u;
  if (v->log && me->space == MEM_GLOBAL) {
    uint32_t near = lanes & (uint32_t)me->near_lanes;
    if (!store_runs(w, e, lanes & ~near, v, f)) return false;
    lanes = near;
  }
  for (; lanes && mem_block(w, me, lanes, true, v, &b); lanes &= ~b.lanes) {
    if (is_dense(me, &b, &p)) t->store_dense(mem_row(me, 0), p, me->bytes);
    else t->store(mem_row(me, 0), &b, me->addr, me->bytes);
  }
  for (; lanes; lanes &= lanes - 1)
    if (!lane_write(w, e, bits_first(lanes), v, f)) return false;
  return true;
}

void mem_sample_data(const struct func_warp *w, const struct uop *u, struct mem_effect *me)
{
  const unsigned words = (me->bytes + 3u) / 4, low = words < HALF_WORDS ? words : HALF_WORDS;
  w->launch->ops->sample(mem_row(me, 0), row_src(w, u->b), low);
  w->launch->ops->sample(mem_row(me, HALF_WORDS), row_src(w, u->c), words - low);
}

static bool access_global(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                          struct fault *f)
{
  const struct inst_mem *t = &u->t->mem;
  struct mem_effect *me = mem_begin(e, m, MEM_GLOBAL, t->op, t->bytes, t->strong);
  mem_addr_global(w, u, me->addr, &me->shape);
  if (t->op == MEM_STORE) mem_sample_data(w, u, me);
  if (t->space == MEM_GENERIC) mem_resolve(w, me);
  return mem_aligned(w, e, m, t->bytes, f);
}

/* USTGR: one store of the warp. */
static bool store_uniform(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  return access_global(w, u, m & -m, e, f);
}

static bool access_near(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                        struct fault *f)
{
  const struct inst_mem *t = &u->t->mem;
  struct mem_effect *me = mem_begin(e, m, t->space, t->op, t->bytes, false);
  mem_addr_near(w, u, me);
  if (t->op == MEM_STORE) mem_sample_data(w, u, me);
  return mem_aligned(w, e, m, t->bytes, f);
}

/* Dense or uniform addresses in one piece of memory. */
static bool plain_even(struct func_warp *w, const struct uop *u, uint32_t m, const struct mem_effect *me,
                       const struct gmem_view *v)
{
  const struct lane_ops *ops = w->launch->ops;
  const bool store = u->flags & UOP_STORE;
  const uint64_t stride = me->shape.stride;
  if (store && (m != FULL_MASK || !stride)) return false;
  uint8_t *p = mem_even(w, me, store, v);
  if (!p) return false;
  if (store) ops->store_even(row_src(w, u->b), p, me->bytes);
  else ops->load_even(row_dst(w, u->d), p, stride, me->bytes, m);
  return true;
}

bool mem_plain(struct func_warp *w, const struct uop *u, uint32_t m, struct mem_effect *me,
               const struct gmem_view *v)
{
  const struct inst_mem *t = &u->t->mem;
  const struct lane_ops *ops = w->launch->ops;
  const unsigned dense = t->space == MEM_LOCAL ? 0 : t->bytes; /* threads' local memories lie apart */
  struct lane_block b;
  me->space = t->space;
  me->bytes = t->bytes;
  me->near_lanes = 0;
  mem_addr_ends(w, u, me, dense);
  if (me->shape.bits & (t->bytes - 1u)) return false;
  if (dense && me->shape.even && (!me->shape.stride || me->shape.stride == dense)) {
    if (plain_even(w, u, m, me, v)) return true;
    mem_addr_ends(w, u, me, 0);
  }
  if (!mem_block(w, me, m, u->flags & UOP_STORE, v, &b) || b.lanes != m) return false;
  if (u->flags & UOP_STORE) ops->store_regs(row_src(w, u->b), &b, me->addr, t->bytes);
  else ops->load_regs(row_dst(w, u->d), &b, me->addr, t->bytes);
  return true;
}

/* Marks operations for mem_plain: those that move up to four registers as they are. */
static void mark_plain(const struct sass_inst *s, struct uop *u, uint8_t flag)
{
  const struct inst_mem *t = &u->t->mem;
  const unsigned size = (unsigned)sass_get(s, FLD_MEM_SIZE);
  const bool one_space = t->space == MEM_GLOBAL || t->space == MEM_SHARED || t->space == MEM_LOCAL;
  if (one_space && size != SIZE_S8 && size != SIZE_S16 && t->bytes <= 4 * HALF_WORDS) u->flags |= flag;
}

/* Offset in a bank of 64 KiB. The instruction's part has 16 bits and a sign: the upper half of a bank, where large
 * parameter blocks end, has negative numbers. */
static uint32_t bank_offset(uint32_t reg, uint64_t imm)
{
  uint32_t sum = reg + (uint32_t)imm;
  return sum + (sum >> 31 << 16);
}

/* LDC: the address is a byte offset into a bank; the register only adds to it (mode IA). */
static bool ldc(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  struct mem_effect *me = mem_begin(e, m, MEM_CONST, MEM_LOAD, u->t->mem.bytes, false);
  const uint32_t *a = row_src(w, u->a);
  uint64_t bank = (uint64_t)u->imm2 << 32;
  me->shape.bits = 0;
  for (unsigned i = 0; i < LANES; i++) me->shape.bits |= me->addr[i] = bank | bank_offset(a[i], u->imm);
  return mem_aligned(w, e, m, me->bytes, f);
}

static bool const_fault(const struct func_warp *w, const struct effect *e, unsigned lane,
                        uint64_t addr, struct fault *f)
{
  return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, addr,
                    "c[0x%x][0x%x] is outside the constant bank", (unsigned)(addr >> 32),
                    (unsigned)addr);
}

static bool ldc_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                        struct gmem_view *v, struct fault *f)
{
  struct mem_effect *me = e->mem;
  uint8_t buf[MEM_MAX_BYTES];
  uint64_t seen = UINT64_MAX; /* mostly all lanes read the same */
  (void)u, (void)v;
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    uint64_t a = me->addr[i];
    if (a != seen && !func_const(w->launch, (unsigned)(a >> 32), (uint32_t)a, buf, me->bytes)) {
      return const_fault(w, e, i, a, f);
    }
    seen = a;
    lane_load(me, i, buf, me->bytes);
  }
  return true;
}

/* ULDC: fixed latency, no memory effect: the bank is read at once. */
static bool uldc(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  uint32_t v[4] = {0};
  uint32_t off = bank_offset(row_src(w, u->a)[bits_first(e->active)], u->imm);
  unsigned code = (unsigned)sass_get(u->s, FLD_MEM_SIZE), bytes = size_bytes(code);
  (void)m;
  if (off % bytes) {
    return func_fault(w, e, f, FAULT_MISALIGNED, bits_first(e->active), off,
                      "c[0x%x][0x%x] is not a multiple of %u", (unsigned)u->imm2, (unsigned)off,
                      bytes);
  }
  if (!func_const(w->launch, u->imm2, off, v, bytes)) {
    return const_fault(w, e, bits_first(e->active), (uint64_t)u->imm2 << 32 | off, f);
  }
  if (code == SIZE_S8) v[0] = (uint32_t)(int32_t)(int8_t)v[0];
  if (code == SIZE_S16) v[0] = (uint32_t)(int32_t)(int16_t)v[0];
  uint32_t *d = row_dst(w, u->d);
  for (unsigned k = 0; k * 4 < bytes; k++) w->launch->ops->fill(d + k * LANES, v[k], (uint32_t)e->active);
  return true;
}

/* QSPC: predicate of the lanes whose generic address lies in a space (u->imm2's top: 0 global, 1
 * local, 2 shared of the CTA, 3 shared of the cluster). */
static bool qspc(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  uint64_t addr[LANES];
  struct lane_shape shape;
  uint32_t shared = 0, own = 0, local = 0;
  (void)e, (void)f;
  mem_addr_global(w, u, addr, &shape);
  for (unsigned i = 0; i < LANES; i++) {
    if (addr[i] >> 32 == w->launch->p.shared_window >> 32) shared |= 1u << i;
    if (addr[i] >> 32 == w->launch->p.local_window >> 32) local |= 1u << i;
    if ((uint32_t)addr[i] >> CLUSTER_SHIFT == w->cta->rank) own |= shared & 1u << i;
  }
  unsigned space = u->imm2 >> 24;
  pred_write(w, u->pu, m, space == 0 ? ~(shared | local) : space == 1 ? local : space == 2 ? own : shared);
  return true;
}

uop_finish_fn *mem_load_finisher(const struct sass_inst *s)
{
  switch (sass_get(s, FLD_MEM_SIZE)) {
  case SIZE_S8: return load_finish_s8;
  case SIZE_S16: return load_finish_s16;
  default: return load_finish;
  }
}

static uop_fn *pick_load(const struct sass_inst *s, struct uop *u, uop_fn *fn)
{
  /* LDG's zeroing predicate and predicate result have no confirmed meaning. */
  if (sass_has(s, FLD_LDG_ZP) && sass_get(s, FLD_LDG_ZP)) return NULL;
  if (u->pu != PRED_NONE && sass_has(s, FLD_PU)) return NULL;
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  u->perform = mem_load_perform;
  u->finish = mem_load_finisher(s);
  mark_plain(s, u, UOP_LOAD);
  return fn;
}

static uop_fn *pick_load_256(const struct sass_inst *s, struct uop *u)
{
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  u->perform = mem_load_perform;
  u->finish = load_finish_256;
  return access_global;
}

static uop_fn *pick_store(const struct sass_inst *s, struct uop *u, uop_fn *fn)
{
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  u->perform = mem_store_perform;
  mark_plain(s, u, UOP_STORE);
  return fn;
}

static uop_fn *pick_uniform_store(const struct sass_inst *s, struct uop *u)
{
  if (sass_get(s, FLD_MEM_SIZE) > SIZE_64 || !sass_get(s, FLD_UNIFORM_NA)) return NULL; /* not seen */
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  u->perform = mem_store_perform;
  return store_uniform;
}

/* LDC: src[0] offset register, src[1].bank. ULDC: src[0].bank, ua offset register. */
static uop_fn *pick_const(const struct sass_inst *s, struct uop *u)
{
  u->imm = (uint32_t)s->offset;
  if (s->sem == SEM_ULDC) {
    u->imm2 = s->src[0].bank;
    u->a = s->ua == SASS_URZ ? (struct row_ref){BASE_POOL, 0}
                             : (struct row_ref){BASE_UREG, (uint32_t)s->ua * ROW_BYTES};
    return uldc;
  }
  if (sass_get(s, FLD_LDC_MODE)) return NULL;
  u->imm2 = s->src[1].bank;
  u->flags = UOP_MEM;
  u->perform = ldc_perform;
  u->finish = mem_load_finisher(s);
  return ldc;
}

static uop_fn *pick_ldsm(const struct sass_inst *s, struct uop *u)
{
  enum { M88, MT88, M816, MT1616 = 4, FMT_16 = 0, U4X16P64 = 5, U6X16P32, FMT_8 }; /* LDSM_TRANS, LDSM_FMT */
  const unsigned shape = (unsigned)sass_get(s, sass_has(s, FLD_LDSM_FMT) ? FLD_LDSM_TRANS100 : FLD_LDSM_TRANS);
  const unsigned fmt = (unsigned)sass_get(s, FLD_LDSM_FMT);
  const bool padded = fmt == U4X16P64 || fmt == U6X16P32, narrow = padded && shape == M816;
  const bool square = (padded || fmt == FMT_8) && shape == MT1616; /* one or two */
  if (sass_get(s, FLD_LDSM_COUNT) > 2u - square || !(narrow || square || (fmt == FMT_16 && shape <= MT88))) return NULL;
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  u->perform = mem_ldsm_perform;
  u->finish = square ? mem_ldsm_square_finish : narrow ? mem_ldsm_narrow_finish : mem_ldsm_finish;
  return mem_ldsm;
}

static uop_fn *pick_stsm(const struct sass_inst *s, struct uop *u)
{
  enum { FMT_16_M88 = 0, FMT_16_MT88 = 2, FMT_8_MT168 = 5 }; /* STSM_FMT */
  const unsigned fmt = (unsigned)sass_get(s, FLD_STSM_FMT);
  if (sass_get(s, FLD_LDSM_COUNT) > 2 || sass_get(s, FLD_LDSM_TRANS) > 1) return NULL;
  if (fmt != FMT_16_M88 && fmt != FMT_16_MT88 && fmt != FMT_8_MT168) return NULL;
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  u->perform = mem_stsm_perform;
  return fmt == FMT_8_MT168 ? mem_stsm_bytes : mem_stsm;
}

uop_fn *sem_mem_handler(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_LDG: case SEM_LD:
    return pick_load(s, u, access_global);
  case SEM_LDS: case SEM_LDL:
    return pick_load(s, u, access_near);
  case SEM_LDG_256:
    return pick_load_256(s, u);
  case SEM_STG_256:
    return sass_get(s, FLD_UNK_MASK_S256) == ALL_WORDS ? pick_store(s, u, access_global) : NULL;
  case SEM_USTGR:
    return pick_uniform_store(s, u);
  case SEM_STG: case SEM_ST:
    return pick_store(s, u, access_global);
  case SEM_STS: case SEM_STL:
    return pick_store(s, u, access_near);
  case SEM_LDC: case SEM_ULDC:
    return pick_const(s, u);
  case SEM_LDSM:
    return pick_ldsm(s, u);
  case SEM_STSM:
    return pick_stsm(s, u);
  case SEM_LDGSTS:
    mem_prepare(s, u);
    u->flags = UOP_MEM;
    u->perform = mem_ldgsts_perform;
    return mem_ldgsts;
  case SEM_QSPC:
    mem_prepare(s, u);
    u->imm2 |= (uint32_t)sass_get(s, FLD_QSPC_SPACE) << 24;
    return u->s->dst == SASS_RZ ? qspc : NULL;
  default:
    return NULL;
  }
}
