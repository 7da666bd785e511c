/* The timing view of a decoded instruction: its registers (operand_registers.c), what it does with memory, flags. */
#include "isa/sass/operand_width.h"

enum { GMMA_ROW_BYTES = 32 };

static uint8_t address_kind(const struct sass_inst *s)
{
  bool has_reg = s->src[0].index != SASS_RZ;
  bool has_ureg = s->ua != SASS_URZ && !s->ua_is_descriptor;
  return has_reg ? ADDR_REGULAR : has_ureg ? ADDR_UNIFORM : ADDR_IMMEDIATE;
}

/* What an access says of its order: weak, or strong in a scope. CTA and SM are one scope: L1 serves both. */
struct order {
  bool strong;
  enum mem_scope scope;
};

static struct order memory_order(const struct sass_inst *s)
{
  static const uint8_t scope[] = {SCOPE_CTA, SCOPE_CTA, SCOPE_GPU, SCOPE_SYS};
  if (sass_has(s, FLD_MEM_ORDER75)) {
    unsigned v = (unsigned)sass_get(s, FLD_MEM_ORDER75), strong = 8;
    return v < strong ? (struct order){0} : (struct order){true, scope[v & 3]};
  }
  switch (sass_get(s, FLD_MEM_ORDER)) {
  case 5: return (struct order){true, SCOPE_CTA};
  case 7: return (struct order){true, SCOPE_GPU};
  case 10: case 12: return (struct order){true, SCOPE_SYS};
  default: return (struct order){0};
  }
}

/* Field BULK_WAY of copies between shared and global memory. */
static enum mem_copy_way bulk_way(const struct sass_inst *s)
{
  enum { S_G = 1, G_S, S_S };
  switch (sass_get(s, FLD_BULK_WAY)) {
  case S_G: return COPY_LOAD;
  case G_S: return s->sem == SEM_UBLKRED ? COPY_REDUCE : COPY_STORE;
  case S_S: return COPY_SHARED;
  default: return COPY_NONE;
  }
}

static enum mem_copy_way copy_way(const struct sass_inst *s)
{
  switch (s->sem) {
  case SEM_UBLKCP: case SEM_UBLKRED: return bulk_way(s);
  case SEM_UTMALDG: return COPY_LOAD;
  case SEM_UTMASTG: return COPY_STORE;
  case SEM_UTMAREDG: return COPY_REDUCE;
  case SEM_UBLKPF: case SEM_UTMAPF: return COPY_PREFETCH;
  case SEM_UTCBAR: return COPY_COMMIT;
  case SEM_UGETNEXTWORKID: return COPY_WORK;
  default: return COPY_NONE;
  }
}

static bool atomic_of_floats(const struct sass_inst *s)
{
  const enum sass_atom_type type = sass_atom_type(s);
  return type >= ATOM_F32 && type <= ATOM_BF16X8;
}

static void fill_mem(const struct sass_inst *s, struct inst *t)
{
  static const uint8_t copy_op[COPY_WORK + 1] = {
      [COPY_COMMIT] = MEM_STORE, [COPY_WORK] = MEM_STORE,
      [COPY_STORE] = MEM_STORE, [COPY_REDUCE] = MEM_RED, [COPY_PREFETCH] = MEM_PREFETCH};
  struct order order = memory_order(s);
  bool near = s->row->mem_space == MEM_SHARED || s->row->mem_space == MEM_LOCAL;
  bool atomic = s->row->mem_op == MEM_ATOMIC || s->row->mem_op == MEM_RED;
  /* Surface loads and stores say STRONG.SM or .CTA, but L1 serves them. */
  if (sass_has(s, FLD_SURF_DIM) && order.scope == SCOPE_CTA) order.strong = false;
  t->mem.space = s->row->mem_space;
  /* LEA four cycles before them, five before other addresses (compiler output, CUDA 13.0, sm_90 to sm_120). */
  t->mem.late_address = s->sem == SEM_SYNCS_PHASECHK || s->sem == SEM_SYNCS_ARRIVE;
  t->mem.may_wait = s->sem == SEM_SYNCS_PHASECHK && sass_get(s, FLD_SYNCS_TRY);
  t->mem.fill = s->sem == SEM_UMEMSETS;
  t->mem.copy = (uint8_t)copy_way(s);
  t->mem.copy_map = s->sem >= SEM_UTMALDG && s->sem <= SEM_UTMAPF;
  t->mem.op = t->mem.copy ? copy_op[t->mem.copy] : s->row->mem_op;
  t->mem.bytes = (uint8_t)sass_data_bytes(s);
  t->mem.addr = address_kind(s);
  t->mem.image = t->mem.space == MEM_TEXTURE || sass_has(s, FLD_SURF_DIM);
  t->mem.floats = atomic_of_floats(s);
  t->mem.counts = s->sem == SEM_ATOMS_POPC_INC || s->sem == SEM_ATOM_POPC_INC;
  t->mem.no_filter = s->sem == SEM_TLD || s->sem == SEM_TXQ;
  t->mem.strong = !near && (atomic || order.strong);
  /* Atomics without an order are relaxed in the scope of the GPU (PTX ISA, atom). */
  if (t->mem.strong) t->scope = order.strong ? (uint8_t)order.scope : SCOPE_GPU;
  /* .STRONG.SM is served by L1; gpu scope and wider are not. */
  t->mem.bypass_l1 = !near && (atomic || (order.strong && order.scope != SCOPE_CTA));
  if (t->mem.op == MEM_LDGSTS && sass_has(s, FLD_LDGSTS_ACCESS) && !sass_get(s, FLD_LDGSTS_ACCESS))
    t->mem.bypass_l1 = true;
}

static void fill_gmma(const struct sass_inst *s, struct inst *t)
{
  enum { GSB_NONE = 7 };
  t->gmma = (struct inst_gmma){
    .columns = (uint16_t)sass_gmma_columns(s),
    .row_bytes = GMMA_ROW_BYTES,
    .column_bytes = sass_get(s, FLD_GMMA_SP) ? 2 * GMMA_ROW_BYTES : GMMA_ROW_BYTES,
    .a_shared = s->src[0].kind == SRC_UREG,
    .ends_group = sass_get(s, FLD_GMMA_GSB) != GSB_NONE,
  };
}

static void fill_tmem(const struct sass_inst *s, struct inst *t)
{
  enum { HALF_WARP = 16, WARP = 32, FIRST_HALF = 4 }; /* TMEM_SHAPE: from this one on half of the threads */
  static const uint8_t op[SEM__N] = {[SEM_STTM] = TMEM_STORE, [SEM_FENCE_TMEM] = TMEM_FENCE, [SEM_UTCCP] = TMEM_COPY,
                                     [SEM_UTCSHIFT] = TMEM_COPY,
                                     [SEM_UTCHMMA] = TMEM_PRODUCT, [SEM_UTCIMMA] = TMEM_PRODUCT,
                                     [SEM_UTCQMMA] = TMEM_PRODUCT, [SEM_UTCQMMA_SF] = TMEM_PRODUCT,
                                     [SEM_UTCOMMA] = TMEM_PRODUCT};
  t->tmem = (struct inst_tmem){.op = op[s->sem]}; /* the others load */
  if (!sass_has(s, FLD_TMEM_SHAPE)) return;
  t->tmem.registers = (uint8_t)sass_tmem_registers(s);
  t->tmem.lanes = sass_get(s, FLD_TMEM_SHAPE) < FIRST_HALF ? WARP : HALF_WARP;
}

/* Special registers that read the SM clock or the global timer. */
static bool reads_clock(const struct sass_inst *s)
{
  return sass_has(s, FLD_SR) && sass_get(s, FLD_SR) >= 80 && sass_get(s, FLD_SR) <= 83;
}

static uint8_t hmma_latency(const struct sass_inst *s)
{
  if (sass_has(s, FLD_HMMA884_D)) return sass_get(s, FLD_HMMA884_D) ? LAT_MMA_884_F32 : LAT_MMA_884_F16;
  if (sass_operand_width(s, ROLE_A) < 4) return LAT_MMA_1688; /* sparse 16816, too (kernels/mma_sparse) */
  return sass_get(s, FLD_HMMA_F32) ? LAT_MMA_16816_F32 : LAT_MMA_16816_F16;
}

/* .VC is no scope of the memory model; it orders what leaves the SM. */
static uint8_t fence_scope(const struct sass_inst *s)
{
  static const uint8_t scope[] = {SCOPE_CTA, SCOPE_CTA, SCOPE_GPU, SCOPE_SYS,
                                  SCOPE_SYS, SCOPE_GPU, SCOPE_SYS, SCOPE_SYS};
  return scope[sass_get(s, FLD_MEMBAR_SCOPE)];
}

/* CCTL.IVALL. Local memory has an instruction of its own, without a choice of caches. */
static bool empties_l1(const struct sass_inst *s)
{
  enum { CCTL_IVALL = 4 };
  return s->sem == SEM_CCTL && sass_has(s, FLD_CCTL_CACHE) && sass_get(s, FLD_CCTL_OP) == CCTL_IVALL;
}

/* DEPBAR: the counter is at most so much, and those of the mask are zero. */
static void hold(struct inst *t, unsigned counter, uint64_t at_most, uint8_t zero)
{
  t->hold_for = zero;
  if (counter == SB_NONE) return;
  t->n_limits = 1;
  t->limit[0] = (struct inst_limit){(uint8_t)counter, zero >> counter & 1 ? 0 : (uint8_t)at_most};
  t->hold_for |= (uint8_t)(1u << counter);
}

static void fill_hold(const struct sass_inst *s, struct inst *t)
{
  for (unsigned i = 0; i < ROW_OPS && s->row->op[i]; i++) {
    unsigned kind = s->row->op[i] & OM_KIND;
    if (kind == OPD_GDEPBAR) hold(t, SB_GMMA, sass_get(s, FLD_GMMA_DEPBAR_COUNT), 0);
    if (kind == OPD_DEPBAR)
      hold(t, (unsigned)sass_get(s, FLD_DEPBAR_SB), sass_get(s, FLD_DEPBAR_COUNT),
           (uint8_t)sass_get(s, FLD_DEPBAR_MASK));
  }
}

/* Stall 0 with yield and no counter: code of -G from nvcc 13.5 has nothing else. */
static bool has_no_bits(const struct inst_ctrl *c)
{
  return !c->stall && c->yield && c->write_sb == SB_NONE && c->read_sb == SB_NONE;
}

/* So it is on something whose time the compiler does not know: loads, too, whose results the next instruction reads. */
static bool drains(const struct inst *t)
{
  bool varies = t->pipe == PIPE_MEM || t->pipe == PIPE_SFU || t->pipe == PIPE_FP64 || t->flags & INST_TMEM;
  return varies && has_no_bits(&t->ctrl);
}

static void drain(struct inst *t)
{
  t->flags |= INST_DRAINS;
  t->hold_for = 1 << SB_DRAIN;
  if (t->n_dst) t->ctrl.write_sb = SB_DRAIN;
  if (t->n_src) t->ctrl.read_sb = SB_DRAIN;
}

void sass_fill_timing(const struct sass_inst *s, struct inst *t)
{
  const struct sass_row *row = s->row;
  t->pipe = row->pipe;
  t->lat = row->width == W_HMMA || row->width == W_HMMA884 ? hmma_latency(s) : row->lat;
  t->flags = row->flags;
  if (t->flags & INST_MEMBAR) t->scope = fence_scope(s);
  if (empties_l1(s)) t->flags |= INST_EMPTIES_L1;
  sass_add_registers(s, t);
  fill_hold(s, t);
  if (row->mem_space) fill_mem(s, t);
  if (t->flags & INST_GMMA) fill_gmma(s, t);
  if (t->flags & INST_TMEM) fill_tmem(s, t);
  if (reads_clock(s)) t->flags |= INST_CLOCK;
  if (drains(t)) drain(t);
  /* What waits for the group in such code is DEPBAR, by this counter. */
  if (t->flags & INST_LDGDEPBAR && has_no_bits(&t->ctrl)) t->ctrl.write_sb = SB_COPIES;
}
