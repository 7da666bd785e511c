/* The registers that an instruction reads and writes: what each operand of its row adds to the timing view. */
#include "isa/sass/operand_width.h"

#include "base/bug.h"

enum { SLOT_A, SLOT_B, SLOT_C };

static void add_operand(struct operand *list, uint8_t *n, unsigned max, struct operand o)
{
  static const uint8_t zero[FILE__N] = {[FILE_R] = SASS_RZ, [FILE_UR] = SASS_URZ,
                                        [FILE_P] = SASS_PT, [FILE_UP] = SASS_PT};
  if (zero[o.file] && o.index == zero[o.file]) return;
  BUG_ON(*n >= max);
  list[(*n)++] = o;
}

static void add_dst(struct inst *t, unsigned file, unsigned index, unsigned width)
{
  add_operand(t->dst, &t->n_dst, INST_MAX_DST,
              (struct operand){.file = (uint8_t)file, .index = (uint8_t)index,
                               .width = (uint8_t)width});
}

static void add_src(struct inst *t, unsigned file, unsigned index, unsigned width, unsigned slot)
{
  uint8_t reuse = file == FILE_R && (t->ctrl.reuse >> slot & 1);
  add_operand(t->src, &t->n_src, INST_MAX_SRC,
              (struct operand){.file = (uint8_t)file, .index = (uint8_t)index,
                               .width = (uint8_t)width, .slot = (uint8_t)slot, .reuse = reuse});
}

static void add_pred(struct inst *t, struct sass_pred p)
{
  add_src(t, p.uniform ? FILE_UP : FILE_P, p.index, 1, 0);
}

static void add_tex(const struct sass_inst *s, struct inst *t, unsigned kind)
{
  unsigned n;
  switch (kind) {
  case OPD_TD2:
    if ((n = sass_tex_results(s, true))) add_dst(t, FILE_R, (unsigned)sass_get(s, FLD_TEX_RD2), n);
    break;
  case OPD_TA: case OPD_TB:
    n = sass_tex_arg_width(s, kind == OPD_TB);
    if (n) add_src(t, FILE_R, s->src[kind == OPD_TB].index, n, kind == OPD_TB ? SLOT_B : SLOT_A);
    break;
  case OPD_TUR: /* textures: the sampler's handle beside the image's */
    add_src(t, FILE_UR, s->src[2].index, sass_has(s, FLD_TEX_DIM) ? 2 : 1, SLOT_C);
    break;
  case OPD_HC: add_src(t, FILE_R, s->src[2].index, 1, SLOT_C); break;
  case OPD_SUADDR: add_src(t, FILE_R, s->src[0].index, sass_surface_coords(s), SLOT_A); break;
  default: break;
  }
}

static void add_source(const struct sass_inst *s, struct inst *t, unsigned n)
{
  const struct sass_src *src = &s->src[n];
  unsigned slot = row_position(s->row, n);
  enum operand_role r = n == 0 ? ROLE_A : n == 1 ? ROLE_B : ROLE_C;
  switch (src->kind) {
  case SRC_REG: add_src(t, FILE_R, src->index, sass_operand_width(s, r), slot); break;
  case SRC_UREG: add_src(t, FILE_UR, src->index, sass_operand_width(s, r), slot); break;
  case SRC_CONST_UR: add_src(t, FILE_UR, src->index, 2, slot); break;
  case SRC_CONST:
    add_src(t, FILE_CONST, 0, sass_operand_width(s, r), slot);
    t->has_const = true;
    t->const_bank = src->bank;
    t->const_off = src->imm;
    break;
  default: break;
  }
}

static void add_address(const struct sass_inst *s, struct inst *t, unsigned kind)
{
  bool wide = s->row->width == W_STAS || s->row->width == W_REDAS || kind == OPD_ADDR || kind == OPD_ADDR_AC ||
              kind == OPD_ADDR_O32 || kind == OPD_LDGSTS_G || kind == OPD_LDGSTS_GN || kind == OPD_LDGSTS_GN100 ||
              kind == OPD_ADDR_UC || kind == OPD_ADDR_AC100 || kind == OPD_ADDR_RC100 ||
              kind == OPD_ADDR_MC100 || kind == OPD_LDGSTS_G100 || kind == OPD_ADDR_L256 || kind == OPD_ADDR_S256 ||
              (kind == OPD_CCTL && sass_get(s, FLD_MEM_E)) ||
              ((kind == OPD_ADDR_DB || kind == OPD_ADDR_DC) && sass_get(s, FLD_MEM_A64));
  bool uniform = s->row->sem == SEM_USTGR || s->row->sem == SEM_UREDGR; /* USADDR of global memory */
  bool shared = kind >= OPD_SADDR && kind <= OPD_XADDR_C && !uniform; /* SADDR_C6, USADDR, too */
  add_src(t, FILE_R, s->src[0].index, wide ? 2 : 1, SLOT_A);
  if (s->ua == SASS_URZ) return;
  bool behind = kind == OPD_LDGSTS_GN || kind == OPD_LDGSTS_GN100; /* an uneven pair, behind the shared address */
  add_src(t, FILE_UR, s->ua, shared || behind ? 1 : 2, SLOT_B);
  if (behind) add_src(t, FILE_UR, s->ua + 1u, 1, SLOT_B);
}

static void add_constant(const struct sass_inst *s, struct inst *t, unsigned kind)
{
  const struct sass_src *c = &s->src[kind == OPD_CADDR];
  if (kind == OPD_CADDR) add_src(t, FILE_R, s->src[0].index, 1, SLOT_A);
  if (kind == OPD_UCADDR_UR || kind == OPD_LDCU) add_src(t, FILE_UR, s->ua, 1, SLOT_A);
  t->const_bank = c->bank;
  t->const_off = c->imm;
  t->has_const = kind != OPD_CADDR; /* LDC is a memory instruction */
}

/* The predicates a constant mask of P2R or R2P names, as runs of neighbours: four at most. */
static void add_pred_set(const struct sass_inst *s, struct inst *t, unsigned file, bool written)
{
  enum { ALL_PREDS = 0x7f };
  unsigned mask = s->src[1].kind == SRC_IMM ? s->src[1].imm & ALL_PREDS : ALL_PREDS;
  for (unsigned first = 0; mask >> first; first++) {
    unsigned n = 0;
    while (mask >> (first + n) & 1) n++;
    if (n && written)
      add_dst(t, file, first, n);
    else if (n)
      add_src(t, file, first, n, 0);
    first += n;
  }
}

/* What one operand adds: arg is a register file and slot, or a field. */
typedef void operand_adder(const struct sass_inst *, struct inst *, unsigned kind, unsigned arg);

static void op_dst(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned file)
{
  (void)kind;
  add_dst(t, file, file == FILE_UR ? s->udst : s->dst, sass_operand_width(s, ROLE_D));
}

static void op_dst_high(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  (void)kind;
  add_dst(t, FILE_R, (unsigned)sass_get(s, field), sass_words_256(s, true));
}

static void op_source(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned n)
{
  (void)kind;
  add_source(s, t, n);
}

/* Predicates; those that only some modifier needs are left out without it. */
static void op_predicate(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  unsigned file = s->pu_uniform ? FILE_UP : FILE_P;
  if (field && !sass_get(s, field)) return;
  switch (kind) {
  case OPD_PU: case OPD_PUQ: add_dst(t, file, s->pu, 1); break;
  case OPD_PV: case OPD_PVQ: add_dst(t, file, s->pv, 1); break;
  case OPD_PPRED: if (sass_get(s, FLD_BAR_OP) == 2) add_pred(t, s->pp); break;
  case OPD_PQ: case OPD_PQX: case OPD_UPA: add_pred(t, s->pq); break;
  case OPD_PREX: case OPD_PRU: add_pred(t, s->pr); break;
  default: add_pred(t, s->pp); break;
  }
}

static void op_pred_set(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned written)
{
  unsigned uniform = written ? s->pu_uniform : s->row->traits & ROW_UPRED_S;
  (void)kind;
  add_pred_set(s, t, uniform ? FILE_UP : FILE_P, written);
}

/* src[n] as a vector register in a slot, as wide as the data, or one register. */
#define DATA(n, slot) ((n) << 4 | (slot))
#define ONE(n, slot) (DATA(n, slot) | 1 << 8)

static void op_reg(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  unsigned n = arg >> 4 & 15;
  enum operand_role r = n == 0 ? ROLE_A : n == 1 ? ROLE_B : ROLE_C;
  (void)kind;
  add_src(t, FILE_R, s->src[n].index, arg >> 8 ? 1 : sass_operand_width(s, r), arg & 15);
}

static void op_reg_field(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  unsigned reg = (unsigned)sass_get(s, field);
  if (kind != OPD_SCALE_U)
    add_src(t, FILE_R, reg, kind == OPD_META && sass_is_sparse_scaled(s) ? 2 : 1, SLOT_B);
  else if (reg != sass_urz_code(s->sm))
    add_src(t, FILE_UR, reg, 1, SLOT_B);
}

static void op_shared_ureg(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)kind, (void)arg;
  if (s->src[1].index != SASS_RZ) add_src(t, FILE_R, s->src[1].index, 1, SLOT_B);
  add_src(t, FILE_UR, s->src[2].index, 1, SLOT_C);
}

static void op_udata(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)kind, (void)arg;
  const unsigned sem = s->row->sem;
  const unsigned bytes = sem == SEM_USTGR ? sass_mem_bytes(s) : sem == SEM_UREDGR ? sass_atom_bytes(s) : 4;
  add_src(t, FILE_UR, s->src[1].index, s->row->width == W_EXCH || bytes > 4 ? 2 : 1, SLOT_B);
}

static void op_address(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)arg;
  add_address(s, t, kind);
}

static void op_constant(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)arg;
  add_constant(s, t, kind);
}

static void op_descriptors(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  bool both = kind == OPD_GDESC_A;
  (void)arg;
  unsigned first = s->src[both ? 0 : 1].index;
  if (first == SASS_URZ) return;
  if (both) add_src(t, FILE_UR, first, 2, SLOT_A);
  add_src(t, FILE_UR, first + 2, 2, SLOT_B); /* where it lies beside A's, which may hold something else */
}

/* Tensor copies: the map's address; addresses in shared memory, then coordinates. */
static void op_tensor(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  unsigned ur = (unsigned)sass_get(s, arg), n = kind == OPD_TMA_C ? 1 : 2;
  if (ur == sass_urz_code(s->sm)) return;
  if (kind == OPD_TMA_B) n = sass_tensor_addresses(s) + sass_tensor_coords(s);
  add_src(t, FILE_UR, ur, n, kind == OPD_TMA_A ? SLOT_A : kind == OPD_TMA_B ? SLOT_B : SLOT_C);
}

/* Bulk copies: the destination, a global address or one in shared memory with the mbarrier behind it; the source;
 * bytes. A source in shared memory (.G.S, .S.S) is one register. */
static void op_bulk(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  const unsigned ur = (unsigned)sass_get(s, arg);
  const bool has_way = s->row->sem == SEM_UBLKCP || s->row->sem == SEM_UBLKRED;
  const bool from_shared = has_way && (sass_get(s, FLD_BULK_WAY) & 2);
  const unsigned n = kind == OPD_BULK_C || (kind == OPD_BULK_A && from_shared) ? 1 : 2;
  if (ur == sass_urz_code(s->sm)) return;
  add_src(t, FILE_UR, ur, n, kind == OPD_BULK_A ? SLOT_A : kind == OPD_BULK_B ? SLOT_B : SLOT_C);
}

static void op_stat(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  (void)kind;
  add_dst(t, FILE_R, (unsigned)sass_get(s, field), 1);
}

static void op_tmem(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)kind, (void)arg;
  add_src(t, FILE_UR, s->ua, 1, SLOT_B);
}

/* Registers of a descriptor: two; of the others one, but for masks and scales. */
static unsigned tc_width(const struct sass_inst *s, unsigned kind)
{
  enum { LANE_MASK = 4, COLUMN_MASK = 2 };
  switch (kind) {
  case OPD_TC_GA: case OPD_TC_GB: case OPD_TC_FROM: case OPD_TC_META: case OPD_TC_SCALES: return 2;
  case OPD_TC_MASK:
    return sass_get(s, FLD_TC_WS) ? (unsigned)COLUMN_MASK : (unsigned)LANE_MASK << sass_get(s, FLD_TMA_2CTA);
  default: return 1;
  }
}

static void op_tc(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  unsigned ur = (unsigned)sass_get(s, field);
  if (ur != sass_urz_code(s->sm)) add_src(t, FILE_UR, ur, tc_width(s, kind), SLOT_A);
}

static void op_behind(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  const unsigned ur = (unsigned)sass_get(s, field);
  (void)kind;
  if (ur != sass_urz_code(s->sm)) add_src(t, FILE_UR, ur + 1, 1, SLOT_A);
}

static void op_breg(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)arg;
  if (kind == OPD_BREG_D) add_dst(t, FILE_B, s->bar, 1);
  else add_src(t, FILE_B, s->bar, 1, 0);
}

/* Convergence-barrier registers moved by BMOV; the other states are not scoreboarded. */
static void op_bstate(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  enum { B_REGISTERS = 16 };
  unsigned state = (unsigned)sass_get(s, FLD_BMOV_STATE);
  (void)arg;
  if (state >= B_REGISTERS) return;
  if (kind == OPD_BSTATE_D || sass_get(s, FLD_BMOV_CLEAR)) add_dst(t, FILE_B, state, 1);
  if (kind == OPD_BSTATE_S) add_src(t, FILE_B, state, 1, 0);
}

static void op_umask(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)kind, (void)arg;
  add_src(t, FILE_UR, s->ua, 1, SLOT_A);
}

static void op_tex(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)arg;
  add_tex(s, t, kind);
}

/* Operands that are not listed name no register. */
static const struct {
  operand_adder *add;
  uint16_t arg;
} adders[OPD__N] = {
    [OPD_D] = {op_dst, FILE_R}, [OPD_DQ] = {op_dst, FILE_R},
    [OPD_UD] = {op_dst, FILE_UR}, [OPD_UDQ] = {op_dst, FILE_UR}, [OPD_D_HI] = {op_dst_high, FLD_RD_HI},
    [OPD_A] = {op_source, 0}, [OPD_B] = {op_source, 1}, [OPD_C] = {op_source, 2},
    [OPD_CHI] = {op_source, 2},
    [OPD_PU] = {op_predicate, 0}, [OPD_PUQ] = {op_predicate, 0}, [OPD_PV] = {op_predicate, 0},
    [OPD_PVQ] = {op_predicate, 0}, [OPD_PP] = {op_predicate, 0}, [OPD_PPQ] = {op_predicate, 0},
    [OPD_PPX] = {op_predicate, FLD_X}, [OPD_PPRED] = {op_predicate, 0}, [OPD_PQ] = {op_predicate, 0},
    [OPD_PQX] = {op_predicate, FLD_X}, [OPD_PREX] = {op_predicate, FLD_ISETP_EX},
    [OPD_PRU] = {op_predicate, 0}, [OPD_UPA] = {op_predicate, 0},
    [OPD_PRS] = {op_pred_set, false}, [OPD_PRD] = {op_pred_set, true},
    [OPD_DATA_B] = {op_reg, DATA(1, SLOT_B)}, [OPD_DATA_C] = {op_reg, DATA(1, SLOT_C)},
    [OPD_SWAP_C] = {op_reg, DATA(2, SLOT_C)}, [OPD_DATA_HI] = {op_reg, DATA(2, SLOT_C)},
    [OPD_LDGSTS_S] = {op_reg, ONE(1, SLOT_B)}, [OPD_LANE_R] = {op_reg, ONE(1, SLOT_B)},
    [OPD_COUNT_R] = {op_reg, ONE(1, SLOT_B)}, [OPD_CLAMP_R] = {op_reg, ONE(2, SLOT_C)},
    [OPD_BAR_R] = {op_reg, ONE(0, SLOT_B)}, [OPD_UDATA_B] = {op_udata, 0},
    OPD_ADDRESSES({op_address, 0}),
    [OPD_LDGSTS_SU] = {op_shared_ureg, 0},
    [OPD_LDGSTS_SU100] = {op_shared_ureg, 0},
    [OPD_CADDR] = {op_constant, 0}, [OPD_UCADDR] = {op_constant, 0},
    [OPD_UCADDR_UR] = {op_constant, 0}, [OPD_LDCU] = {op_constant, 0},
    [OPD_GDESC_A] = {op_descriptors, 0}, [OPD_GDESC_B] = {op_descriptors, 0}, [OPD_GSCALE] = {op_predicate, 0},
    [OPD_BULK_A] = {op_bulk, FLD_URA}, [OPD_BULK_B] = {op_bulk, FLD_URB}, [OPD_BULK_C] = {op_bulk, FLD_URC},
    [OPD_TMA_A] = {op_tensor, FLD_URA}, [OPD_TMA_B] = {op_tensor, FLD_URB}, [OPD_TMA_C] = {op_tensor, FLD_URC},
    [OPD_TMA_HINT] = {op_tensor, FLD_TMA_HINT},
    [OPD_TC_GA] = {op_tc, FLD_URA}, [OPD_TC_TA] = {op_tc, FLD_URA}, [OPD_TC_GB] = {op_tc, FLD_URB},
    [OPD_TC_D] = {op_tc, FLD_URC}, [OPD_TC_META] = {op_tc, FLD_TC_META}, [OPD_TC_MASK] = {op_tc, FLD_TC_AUX},
    [OPD_TC_SCALES] = {op_tc, FLD_TC_AUX}, [OPD_TC_TO] = {op_tc, FLD_URA}, [OPD_TC_FROM] = {op_tc, FLD_URB},
    [OPD_TC_BAR] = {op_tc, FLD_URA}, [OPD_WORK_BAR] = {op_behind, FLD_URA},
    [OPD_TC_CTAS] = {op_tc, FLD_URC}, [OPD_TMEM_L] = {op_tmem, 0},
    [OPD_TMEM_S] = {op_tmem, 0}, [OPD_D_STAT] = {op_stat, FLD_RA},
    [OPD_BREG_D] = {op_breg, 0}, [OPD_BREG_S] = {op_breg, 0},
    [OPD_BSTATE_D] = {op_bstate, 0}, [OPD_BSTATE_S] = {op_bstate, 0},
    [OPD_UMASK] = {op_umask, 0}, [OPD_UMASK100] = {op_umask, 0},
    [OPD_SCALE_A] = {op_reg_field, FLD_SCALE_A}, [OPD_SCALE_B] = {op_reg_field, FLD_SCALE_B},
    [OPD_SCALE_U] = {op_reg_field, FLD_SCALE_UR}, [OPD_META] = {op_reg_field, FLD_HMMA_META},
    [OPD_META_KEPT] = {op_reg_field, FLD_HMMA_META},
    [OPD_TD2] = {op_tex, 0}, [OPD_TA] = {op_tex, 0}, [OPD_TB] = {op_tex, 0}, [OPD_TUR] = {op_tex, 0},
    [OPD_HC] = {op_tex, 0}, [OPD_SUADDR] = {op_tex, 0},
};

/* struct inst's guard names a vector predicate; a uniform guard is an ordinary source. */
static void add_guard(const struct sass_inst *s, struct inst *t)
{
  if (s->guard.uniform) {
    add_pred(t, s->guard);
    return;
  }
  t->guard = s->guard.index;
  t->guard_not = s->guard.neg;
}

void sass_add_registers(const struct sass_inst *s, struct inst *t)
{
  const struct sass_row *row = s->row;
  add_guard(s, t);
  for (unsigned i = 0; i < ROW_OPS && row->op[i]; i++) {
    unsigned kind = row->op[i] & OM_KIND;
    if (adders[kind].add) adders[kind].add(s, t, kind, adders[kind].arg);
  }
}
