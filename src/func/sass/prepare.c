/* Prepared operations: operands to rows, handlers chosen (func/sass/uop.h).
 *
 * The pool holds pairs of rows, one pair per distinct 64-bit value: immediates and constants are
 * broadcast here once per launch. Programs of many short launches have modules of many kernels: without time only
 * code that a warp comes to is prepared. An instruction that cannot be prepared (undecoded, no
 * semantics, registers or constants out of range) gets a handler that faults when it is
 * executed; the rest of the code works.
 */
#include "func/sass/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "func/sass/guest_fault.h"
#include "isa/sass/sass.h"

struct row_pool {
  uint8_t *rows;     /* the launch's … */
  struct kept_array *kept; /* … which lie here */
  uint64_t *value;   /* of pair i: low row | high row << 32 */
  uint32_t n, cap;
  uint32_t *slot;    /* hash table of pair numbers + 1 */
  uint32_t n_slots;  /* power of two */
};

/* How a source's negate and absolute-value bits act on its raw bits. */
enum modifier_family { MOD_INT, MOD_F32, MOD_HALF2, MOD_F64 };

enum { POOL_FIRST = WIDE_ROWS * ROW_BYTES, PAIR_BYTES = 2 * ROW_BYTES };

static uint32_t pool_hash(uint64_t v)
{
  return (uint32_t)((v * 0x9e3779b97f4a7c15ull) >> 32);
}

static void pool_grow(struct row_pool *p)
{
  p->cap = p->cap ? 2 * p->cap : 256;
  p->n_slots = 4 * p->cap;
  p->value = mem_resize(p->value, p->cap, sizeof *p->value);
  mem_free(p->slot);
  p->slot = mem_zeroed(p->n_slots, sizeof *p->slot);
  for (uint32_t i = 0; i < p->n; i++) {
    uint32_t h = pool_hash(p->value[i]) & (p->n_slots - 1);
    while (p->slot[h]) h = (h + 1) & (p->n_slots - 1);
    p->slot[h] = i + 1;
  }
}

static void put_pair(const struct row_pool *p, uint32_t i)
{
  const size_t at = POOL_FIRST + (size_t)i * PAIR_BYTES;
  uint32_t *row = (uint32_t *)(void *)(p->rows + at);
  kept_touch(p->kept, at / ROOM_POOL_BYTES);
  kept_touch(p->kept, (at + PAIR_BYTES - 1) / ROOM_POOL_BYTES);
  for (unsigned k = 0; k < LANES; k++) {
    row[k] = (uint32_t)p->value[i];
    row[LANES + k] = (uint32_t)(p->value[i] >> 32);
  }
}

/* Row reference of the pair {lo, hi}. */
static struct row_ref pool_pair(struct row_pool *p, uint32_t lo, uint32_t hi)
{
  uint64_t v = lo | (uint64_t)hi << 32;
  if (!v) return (struct row_ref){BASE_POOL, 0};
  if (p->n == p->cap) pool_grow(p);
  uint32_t h = pool_hash(v) & (p->n_slots - 1);
  while (p->slot[h] && p->value[p->slot[h] - 1] != v) h = (h + 1) & (p->n_slots - 1);
  if (!p->slot[h]) {
    p->value[p->n] = v;
    put_pair(p, p->n);
    p->slot[h] = ++p->n;
  }
  return (struct row_ref){BASE_POOL, POOL_FIRST + (p->slot[h] - 1) * PAIR_BYTES};
}

/* Room for as many pairs as there can be: memory that nobody touches costs nothing, and the rows must not move. */
static void pool_begin(struct func_launch *l, uint64_t n_insts)
{
  enum { SOURCES = 3 };
  size_t bytes = POOL_FIRST + (size_t)n_insts * SOURCES * PAIR_BYTES + POOL_FIRST; /* slack: wide reads */
  l->pool = kept_begin(&l->room->pool, div_up(bytes, ROOM_POOL_BYTES), ROOM_POOL_BYTES);
  l->values = mem_zeroed(1, sizeof *l->values);
  l->values->rows = l->pool;
  l->values->kept = &l->room->pool;
}

static enum modifier_family family_of(unsigned sem)
{
  switch (sem) {
  case SEM_FADD:
  case SEM_FMUL:
  case SEM_FFMA:
  case SEM_FHADD:
  case SEM_FHFMA:
  case SEM_FSWZADD:
  case SEM_FMNMX:
  case SEM_FSEL:
  case SEM_FSET: case SEM_FSETP: case SEM_FCHK: case SEM_MUFU: case SEM_F2F: case SEM_F2I:
  case SEM_FRND: case SEM_F2FP: case SEM_F2IP: case SEM_UF2FP:
  case SEM_FADD2: case SEM_FMUL2: case SEM_FFMA2: case SEM_FMNMX3: case SEM_UFADD: case SEM_UFMUL:
  case SEM_UFFMA: case SEM_UFSETP: case SEM_UFSEL:
  case SEM_UFRND: case SEM_UF2F: case SEM_UF2I:
    return MOD_F32;
  case SEM_HADD2: case SEM_HMUL2: case SEM_HFMA2: case SEM_HSET2: case SEM_HSETP2: case SEM_HMNMX2: case SEM_VHMNMX:
    return MOD_HALF2;
  case SEM_DADD: case SEM_DMUL: case SEM_DFMA: case SEM_DSETP: case SEM_DSETP_MNMX:
    return MOD_F64;
  default:
    return MOD_INT;
  }
}

static void source_modifiers(const struct sass_src *s, enum modifier_family m, uint32_t *and_,
                             uint32_t *xor_)
{
  static const uint32_t sign[] = {
      [MOD_F32] = 0x80000000u, [MOD_HALF2] = 0x80008000u, [MOD_F64] = 0x80000000u};
  *and_ = FULL_MASK;
  *xor_ = 0;
  if (m == MOD_INT) {
    if (s->neg) *xor_ = FULL_MASK;
    return;
  }
  if (s->abs) *and_ = ~sign[m];
  if (s->neg) *xor_ = sign[m];
}

/* A constant of such an instruction is the upper word of a 64-bit number: FP64, and what I2F converts (ptxas writes
 * 2^63 as 0x80000000 and keeps 5 in constant memory). */
static bool constant_is_upper(const struct sass_inst *s)
{
  enum { SIZE_64 = 3 }; /* of both fields */
  return family_of(s->sem) == MOD_F64 || sass_get(s, FLD_CVT_SRC_FSIZE) == SIZE_64 ||
         sass_get(s, FLD_CVT_SRC_ISIZE) == SIZE_64;
}

/* Row of one source. False: it cannot be read (register or constant outside the kernel's). */
static bool source_row(const struct func_launch *l, struct row_pool *p, const struct sass_inst *s,
                       const struct sass_src *src, struct row_ref *r)
{
  uint32_t lo = 0, hi = 0;
  *r = (struct row_ref){BASE_POOL, 0};
  switch (src->kind) {
  case SRC_NONE:
    return true;
  case SRC_REG:
    if (src->index == SASS_RZ) return true;
    *r = (struct row_ref){BASE_REG, (uint32_t)src->index * ROW_BYTES};
    return src->index < l->n_regs;
  case SRC_UREG:
    if (src->index == SASS_URZ) return true;
    *r = (struct row_ref){BASE_UREG, (uint32_t)src->index * ROW_BYTES};
    return src->index < N_UREGS;
  case SRC_IMM:
    *r = constant_is_upper(s) ? pool_pair(p, 0, src->imm) : pool_pair(p, src->imm, src->imm_hi);
    return true;
  case SRC_CONST:
    if (s->sem == SEM_LDC || s->sem == SEM_ULDC) return true; /* an address, not an operand */
    if (!func_const(l, src->bank, src->imm, &lo, 4)) return false;
    func_const(l, src->bank, src->imm + 4, &hi, 4); /* past the end: only a 32-bit operand */
    *r = pool_pair(p, lo, hi);
    return true;
  default:
    return false;
  }
}

static bool is_uniform_op(unsigned sem)
{
  return sem >= SEM_UMOV && sem <= SEM_UF2FP;
}

static bool operand_fits(const struct func_launch *l, const struct operand *o)
{
  const unsigned end = (unsigned)o->index + o->width;
  return o->file == FILE_R ? end <= l->n_regs : o->file != FILE_UR || end <= N_UREGS;
}

/* A register of t's lists outside the kernel's registers would be another warp's state; so would a uniform one that
 * there is not: the fields of later targets have room for 255. */
static bool registers_fit(const struct func_launch *l, const struct inst *t)
{
  for (unsigned i = 0; i < t->n_src; i++)
    if (!operand_fits(l, &t->src[i])) return false;
  for (unsigned i = 0; i < t->n_dst; i++)
    if (!operand_fits(l, &t->dst[i])) return false;
  return true;
}

static bool illegal(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                    struct fault *f)
{
  char text[160];
  unsigned lane = m ? bits_first(m) : bits_first(e->active);
  unsigned opcode = (unsigned)(bits_get(u->s->word, 0, 12) | bits_get(u->s->word, 91, 1) << 12);
  if (u->s->row) {
    sass_print(u->s, u->t, false, text, sizeof text);
  } else {
    snprintf(text, sizeof text, "%016llx %016llx", (unsigned long long)u->s->word.hi,
             (unsigned long long)u->s->word.lo);
  }
  bool known = u->s->row && registers_fit(w->launch, u->t);
  const char *why = !u->s->row ? "no such instruction" : !known ? "register outside the kernel's" : "not simulated";
  return func_fault(w, e, f, known ? FAULT_UNSUPPORTED : FAULT_ILLEGAL_INST, lane, 0, "%s: opcode 0x%03x, %s", why,
                    opcode, text);
}

static uint8_t pred_index(const struct sass_pred *p)
{
  return (uint8_t)((p->index & 7u) + (p->uniform ? PRED_UNIFORM : 0));
}

static void pred_source(const struct sass_pred *p, uint8_t *index, uint32_t *xor_)
{
  *index = pred_index(p);
  *xor_ = p->neg ? FULL_MASK : 0;
}

static void destination(unsigned n_regs, const struct sass_inst *s, struct uop *u)
{
  bool uniform = is_uniform_op(s->sem) || s->udst != SASS_URZ;
  u->d = uniform ? (struct row_ref){BASE_UREG, N_UREGS * ROW_BYTES}
                 : (struct row_ref){BASE_REG, n_regs * ROW_BYTES};
  if (s->udst != SASS_URZ && s->udst < N_UREGS) u->d.off = (uint32_t)s->udst * ROW_BYTES;
  if (!uniform && s->dst != SASS_RZ) u->d.off = (uint32_t)s->dst * ROW_BYTES;
  unsigned file = s->pu_uniform ? PRED_UNIFORM : 0;
  u->pu = s->pu == SASS_PT ? PRED_NONE : (uint8_t)(s->pu + file);
  u->pv = s->pv == SASS_PT ? PRED_NONE : (uint8_t)(s->pv + file);
}

/* Handlers that ignore the effect and never fault mark their operation as straight. */
static uop_fn *pick(const struct sem_table *sem, const struct sass_inst *s, struct uop *u)
{
  static sem_picker *const own[] = {sem_ctrl_handler, sem_mem_handler, sem_atom_handler,
                                    sem_sync_handler, sem_warp_handler, sem_sys_handler,
                                    sem_tex_handler, sem_surf_handler, sem_tensor_handler, sem_bulk_handler,
                                    sem_fill_handler, sem_tmem_handler, sem_work_handler, sem_multicast_handler};
  uop_fn *fn = NULL;
  for (unsigned i = 0; !fn && i < sizeof own / sizeof *own; i++) fn = own[i](s, u);
  if (fn) return fn;
  fn = sem_pack_handler(s, u);
  for (unsigned i = 0; !fn && i < SEM_PICKERS; i++) fn = sem->pick[i](s, u);
  u->straight = fn && !(u->flags & ~(unsigned)UOP_UNIFORM);
  return fn;
}

/* From one bit to the length of the run that starts there; `behind`: of the run behind them. */
static void join_straight(struct uop *u, uint64_t n, unsigned behind)
{
  unsigned run = behind;
  while (n--) {
    run = !u[n].straight ? 0 : run < UINT8_MAX ? run + 1 : run;
    u[n].straight = (uint8_t)run;
  }
}

/* Everything that does not depend on the launch's constants. */
static void describe(const struct sass_inst *s, const struct inst *t, unsigned n_regs, struct uop *u)
{
  enum modifier_family fam = family_of(s->sem);
  *u = (struct uop){.s = s, .t = t, .fn = illegal};
  pred_source(&s->guard, &u->guard, &u->guard_xor);
  pred_source(&s->pp, &u->pp, &u->pp_xor);
  pred_source(&s->pq, &u->pq, &u->pq_xor);
  pred_source(&s->pr, &u->pr, &u->pr_xor);
  destination(n_regs, s, u);
  source_modifiers(&s->src[0], fam, &u->a_and, &u->a_xor);
  source_modifiers(&s->src[1], fam, &u->b_and, &u->b_xor);
  source_modifiers(&s->src[2], fam, &u->c_and, &u->c_xor);
}

bool func_executes(const struct sass_inst *s, const struct inst *t)
{
  struct uop u;
  if (!s->row) return false;
  describe(s, t, SASS_RZ, &u);
  return s->sem != SEM_TODO && pick(sem_select(0), s, &u);
}

static void prepare(struct func_launch *l, const struct sem_table *sem, const struct sass_inst *s,
                    const struct inst *t, struct uop *u)
{
  struct row_pool *const p = l->values;
  *u = (struct uop){.s = s, .t = t, .guard = PRED_NONE, .fn = illegal};
  if (!s->row && s->sem != SEM_SYSCALL) {
    u->flags = UOP_CONTROL; /* its guard is unknown: fault in any case */
    return;
  }
  describe(s, t, l->n_regs, u);
  bool ok = source_row(l, p, s, &s->src[0], &u->a) && source_row(l, p, s, &s->src[1], &u->b) &&
            source_row(l, p, s, &s->src[2], &u->c) && registers_fit(l, t) &&
            (s->dst == SASS_RZ || s->dst < l->n_regs);
  if (!ok || s->sem == SEM_TODO) return;
  if (is_uniform_op(s->sem)) u->flags = UOP_UNIFORM;
  uop_fn *fn = pick(sem, s, u);
  if (fn) u->fn = fn;
  else u->flags = u->straight = 0;
}

static void note_uregs(struct func_launch *l, const struct uop *u)
{
  const unsigned top = u->d.off / ROW_BYTES + WIDE_ROWS;
  if (u->fn == illegal || u->d.base != BASE_UREG || u->d.off >= N_UREGS * ROW_BYTES || top <= l->n_uregs) return;
  l->n_uregs = top < N_UREGS ? top : N_UREGS;
}

static void prepare_one(struct func_launch *l, const struct sem_table *sem, uint64_t i)
{
  kept_touch(&l->room->ops, i / ROOM_OPS);
  prepare(l, sem, &func_sass(l)[i], &l->p.code.inst[i], &l->uop[i]);
  note_uregs(l, &l->uop[i]);
}

static bool is_unconditional(const struct uop *u)
{
  return u->guard == PRED_NONE && !u->guard_xor;
}

/* The path does not go on behind it, as far as is easily seen. */
static bool leaves(const struct uop *u)
{
  return u->flags & UOP_CONTROL && is_unconditional(u) && (u->s->sem == SEM_EXIT || u->s->sem == SEM_BRA);
}

static uint64_t n_insts(const struct func_launch *l)
{
  return l->code_bytes >> l->p.code.shift;
}

void prepare_from(struct func_launch *l, uint64_t i)
{
  const struct sem_table *sem = sem_select(l->p.host_level);
  const uint64_t first = i, n = n_insts(l);
  bool left = false;
  for (; i < n && !l->uop[i].fn && !left; i++) {
    code_want(&l->p.code, i);
    prepare_one(l, sem, i);
    left = leaves(&l->uop[i]);
  }
  join_straight(&l->uop[first], i - first, i < n ? l->uop[i].straight : 0);
}

static void prepare_span(struct func_launch *l, struct code_span at)
{
  const struct sem_table *sem = sem_select(l->p.host_level);
  for (uint64_t i = at.first; i < at.first + at.n; i++)
    if (!l->uop[i].fn) prepare_one(l, sem, i);
  join_straight(&l->uop[at.first], at.n, 0);
}

void prepare_reach(struct func_launch *l)
{
  const struct code_reach *r = &l->p.reach;
  if (!r->own.n) {
    code_want_all(&l->p.code);
    prepare_span(l, (struct code_span){0, n_insts(l)});
    return;
  }
  prepare_span(l, r->own);
  for (uint32_t k = 0; k < r->n_shared; k++) prepare_span(l, r->shared[k]);
}

struct late {
  struct func_launch *l;
  uint64_t i;
};

/* Spin detection and digests go on to look at the registers of the code in reach: which threads come here first must
 * not show. */
static void make_late(void *context)
{
  const struct late *late = context;
  struct func_launch *l = late->l;
  struct uop *const u = &l->uop[late->i], made;
  if (u->fn) return;
  prepare(l, sem_select(l->p.host_level), &func_sass(l)[late->i], &l->p.code.inst[late->i], &made);
  uop_fn *const fn = made.fn;
  made.fn = NULL;
  made.straight = 0;
  __atomic_store_n(&l->wild, true, __ATOMIC_RELAXED);
  kept_touch(&l->room->ops, late->i / ROOM_OPS);
  *u = made;
  __atomic_store_n(&u->fn, fn, __ATOMIC_RELEASE);
}

void prepare_late(struct func_launch *l, uint64_t i)
{
  struct late late = {l, i};
  code_want(&l->p.code, i);
  pthread_mutex_lock(&l->late_lock);
  const bool made = memory_try(heap_current(), make_late, &late);
  pthread_mutex_unlock(&l->late_lock);
  NO_MEMORY_IF(!made);
}

void prepare_launch(struct func_launch *l)
{
  l->ops = sem_select(l->p.host_level)->ops;
  l->uop = kept_begin(&l->room->ops, div_up(n_insts(l), ROOM_OPS), ROOM_OPS * sizeof *l->uop);
  pool_begin(l, n_insts(l));
  if (l->p.on_demand) prepare_from(l, (l->p.entry_pc - l->code_base) / FUNC_INST_BYTES);
  else prepare_reach(l);
}

void prepare_end(struct func_launch *l)
{
  pthread_mutex_destroy(&l->late_lock);
  kept_end(&l->room->ops, ROOM_OPS * sizeof *l->uop);
  kept_end(&l->room->pool, ROOM_POOL_BYTES);
  if (!l->values) return;
  mem_free(l->values->value);
  mem_free(l->values->slot);
  mem_free(l->values);
}

/* Instructions that may see registers of lanes that have exited. */
static bool crosses_lanes(const struct sass_inst *s, const struct inst *t)
{
  if (t->pipe == PIPE_TENSOR || t->lat == LAT_SHFL || t->lat == LAT_VOTE) return true;
  if (t->mem.space == MEM_TEXTURE || t->flags & (INST_GMMA | INST_SYSCALL)) return true;
  return s->sem == SEM_FSWZADD || s->sem == SEM_MOVM || s->sem == SEM_CALL_REL || s->sem == SEM_CALL_ABS;
}

/* The instruction behind the function that starts at i: compilers end each with a jump to itself. 0: it has
 * calls, or instructions that see other lanes. */
static uint64_t function_end(const struct func_launch *l, uint64_t i)
{
  const uint64_t n = l->code_bytes / FUNC_INST_BYTES;
  for (; i < n; i++) {
    const struct sass_inst *s = &func_sass(l)[i];
    code_want(&l->p.code, i);
    if (crosses_lanes(s, &l->p.code.inst[i])) return 0;
    if (s->row && s->sem == SEM_BRA && pred_index(&s->guard) == PRED_NONE && s->offset == -FUNC_INST_BYTES)
      return i + 1;
  }
  return 0;
}

/* Marks the registers of an operand in set. */
static void add_registers(uint64_t set[4], const struct operand *o)
{
  for (unsigned r = o->index; o->file == FILE_R && r < o->index + (unsigned)o->width && r < SASS_RZ; r++)
    set[r / 64] |= UINT64_C(1) << r % 64;
}

/* Registers that code from `first` on, which all threads execute, writes before it reads them. */
static void find_stale(const struct func_launch *l, uint64_t first, uint64_t end, uint64_t stale[4])
{
  uint64_t seen[4] = {0};
  for (uint64_t i = first; i < end; i++) {
    const struct uop *u = &l->uop[i];
    const struct inst *t = u->t;
    const bool exits = u->s && u->s->sem == SEM_EXIT, always = is_unconditional(u);
    if (!u->fn || (u->flags & UOP_CONTROL && !exits && u->s->sem != SEM_BSSY) || (exits && always)) return;
    for (unsigned k = 0; k < t->n_src; k++) add_registers(seen, &t->src[k]);
    uint64_t written[4] = {0};
    for (unsigned k = 0; k < t->n_dst; k++) add_registers(always ? written : seen, &t->dst[k]);
    for (unsigned k = 0; k < 4; k++) {
      stale[k] |= written[k] & ~seen[k];
      seen[k] |= written[k];
    }
  }
}

void prepare_stale(struct func_launch *l)
{
  uint64_t stale[4] = {0};
  const uint64_t first = (l->p.entry_pc - l->code_base) / FUNC_INST_BYTES;
  find_stale(l, first, function_end(l, first), stale);
  l->n_clear = 0;
  bool open = false;
  for (unsigned r = 0; r < l->n_regs; r++) {
    const bool cleared = !(stale[r / 64] >> r % 64 & 1);
    if (cleared && !open) {
      l->clear[l->n_clear].at = r * ROW_BYTES;
      l->clear[l->n_clear++].bytes = 0;
    }
    if (cleared) l->clear[l->n_clear - 1].bytes += ROW_BYTES;
    open = cleared;
  }
}
