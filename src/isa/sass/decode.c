/* From the instruction word to the semantic view. */
#include <string.h>

#include "base/bug.h"
#include "isa/sass/row.h"

static struct word128 word_and(struct word128 a, struct word128 b)
{
  return (struct word128){a.lo & b.lo, a.hi & b.hi};
}

/* Control information: bits 124:105 (Huerta et al., MICRO 2025; compiler output, CUDA 13.0). */
struct inst_ctrl sass_ctrl(struct word128 w)
{
  return (struct inst_ctrl){
      .stall = (uint8_t)bits_get(w, 105, 4),
      .yield = !bits_get(w, 109, 1),
      .write_sb = (uint8_t)bits_get(w, 110, 3),
      .read_sb = (uint8_t)bits_get(w, 113, 3),
      .wait = (uint8_t)bits_get(w, 116, 6),
      .reuse = (uint8_t)bits_get(w, 122, 3),
  };
}

static bool leftover_error(const struct sass_row *row, struct word128 w, struct err *e)
{
  char bits[128] = "";
  size_t n = 0;
  for (unsigned i = 0; i < 128 && n + 8 < sizeof bits; i++)
    if (bits_get(w, i, 1))
      n += (size_t)snprintf(bits + n, sizeof bits - n, "%s%u", n ? "," : "", i);
  return err_set(e, "bits %s not accounted for by %s", bits, row->name);
}

/* Up to sm_90 the two bits above the number of a uniform register are not part of it. */
static bool check_uregs(const struct sass_inst *s, uint32_t uregs, struct err *e)
{
  for (; uregs; uregs &= uregs - 1) {
    const unsigned i = (unsigned)__builtin_ctz(uregs);
    if (s->val[i] > sass_urz_code(s->sm))
      return err_set(e, "bits not accounted for by %s: there is no UR%u on sm_%u", s->row->name,
                     (unsigned)s->val[i], s->sm);
  }
  return true;
}

static bool read_fields(struct sass_inst *s, const struct row_plan *plan, struct err *e)
{
  s->n_fields = plan->n_fields;
  memcpy(s->field, plan->field, plan->n_fields * sizeof *s->field);
  for (unsigned i = 0; i < s->n_fields; i++) s->val[i] = field_get(s->word, s->field[i]);
  if (!check_uregs(s, plan->uregs, e)) return false;
  struct word128 rest = word_and(s->word, (struct word128){~plan->known.lo, ~plan->known.hi});
  if (rest.lo | rest.hi) return leftover_error(s->row, rest, e);
  return true;
}

static uint8_t ureg(const struct sass_inst *s, uint64_t field)
{
  return field == sass_urz_code(s->sm) ? SASS_URZ : (uint8_t)field;
}

static struct sass_src src_reg(uint64_t index)
{
  return (struct sass_src){.kind = SRC_REG, .index = (uint8_t)index};
}

static struct sass_src src_imm(uint64_t value)
{
  return (struct sass_src){.kind = SRC_IMM, .imm = (uint32_t)value};
}

static void fill_modifiers(struct sass_inst *s, struct sass_src *src, enum src_place at)
{
  bool half_c = s->row->traits & ROW_HALF_C;
  unsigned neg = at == AT_A ? FLD_A_NEG : at != AT_C ? FLD_B_NEG : half_c ? FLD_HC_NEG : FLD_C_NEG;
  unsigned abs = at == AT_A ? FLD_A_ABS : at != AT_C ? FLD_B_ABS : half_c ? FLD_HC_ABS : FLD_C_ABS;
  src->neg = sass_get(s, neg);
  src->abs = sass_get(s, abs);
  src->swz = (uint8_t)(sass_has(s, FLD_CVT_SEL) ? sass_get(s, FLD_CVT_SEL)
                                                : sass_get(s, row_half_swizzle(s->row, at)));
}

/* Upper half of a 32-bit constant in a 64-bit integer instruction: its sign. */
static uint32_t imm_upper(const struct sass_inst *s, uint32_t imm)
{
  if (s->row->width != W_64 || s->row->imm != IMM_S) return 0;
  bool negative = sass_has(s, FLD_IMM33_SIGN) ? sass_get(s, FLD_IMM33_SIGN) : imm >> 31;
  return negative ? ~0u : 0;
}

/* Source n of an ALU instruction. */
static void fill_source(struct sass_inst *s, unsigned op, unsigned n)
{
  unsigned form = opcode_form((unsigned)s->val[0]);
  enum src_place at = row_place(s->row, form, n);
  bool u = s->row->traits & ROW_UREGS && form >= 8;
  struct sass_src *src = &s->src[n];
  *src = (struct sass_src){0};
  switch (at) {
  case AT_A: *src = src_reg(sass_get(s, u ? FLD_URA : FLD_RA)); break;
  case AT_C: *src = src_reg(sass_get(s, u ? FLD_URC : FLD_RC)); break;
  case AT_B_REG: *src = src_reg(sass_get(s, u ? FLD_URB : FLD_RB)); break;
  case AT_B_UR: *src = src_reg(sass_get(s, FLD_URB)); u = true; break;
  case AT_B_IMM: /* its bits are no modifiers */
    *src = src_imm(sass_get(s, FLD_IMM32));
    src->imm_hi = imm_upper(s, src->imm);
    return;
  case AT_B_CONST:
    src->kind = SRC_CONST;
    src->bank = (uint8_t)sass_get(s, FLD_CBANK);
    src->imm = (uint32_t)sass_get(s, FLD_COFF) * 4;
    u = false;
    break;
  case AT_B_CX:
    src->kind = SRC_CONST_UR;
    src->index = ureg(s, sass_get(s, FLD_URB));
    src->imm = (uint32_t)sass_get(s, FLD_COFF) * 4;
    u = false;
    break;
  case AT_NONE: BUG("row %s: source %u has no place", s->row->name, n);
  }
  if (u) src->kind = SRC_UREG, src->index = ureg(s, src->index);
  if (op > OM_KIND) fill_modifiers(s, src, at);
  if ((op & OM_KIND) == OPD_B && sass_get(s, FLD_HFMA_CROSS)) src->swz |= SASS_CROSSED;
  if (!(op & OM_F2)) return;
  src->swz = (uint8_t)sass_get(s, row_f2_swizzle(s->row, op));
  if (sass_get(s, row_f2_sign(s->row, op))) src->swz |= SASS_UPPER_NEG;
}

static struct sass_pred get_pred(const struct sass_inst *s, unsigned id, unsigned not_id)
{
  return (struct sass_pred){.index = (uint8_t)sass_get(s, id), .neg = sass_get(s, not_id),
                            .uniform = s->row->traits & ROW_UPRED_S};
}

static int64_t get_signed(const struct sass_inst *s, unsigned id)
{
  return bits_sext(sass_get(s, id), field_width(id));
}

/* What an address operand has beside its register: fields of the uniform register and of the signed offset (FLD_NONE:
 * no such part; FLD_MEM_OFFSET is in every row of these kinds that has one), whether the uniform register is a
 * descriptor. */
struct address_form {
  uint16_t ureg, offset, descriptor; /* descriptor: field that says so; FLD_NONE: never */
  uint8_t unit;                      /* bytes of an offset's step */
  bool next; /* the uniform register behind the named one, or none (compiler output, CUDA 13.0) */
};

enum { BYTES_256 = 32 };

static const struct address_form address_forms[] = {
  [OPD_ADDR_DB] = {FLD_URB, FLD_MEM_OFFSET, FLD_MEM_DESC, 1, false},
  [OPD_SADDR_B] = {FLD_URB, FLD_MEM_OFFSET, FLD_MEM_DESC, 1, false},
  [OPD_XADDR_B] = {FLD_URB, FLD_MEM_OFFSET, FLD_MEM_DESC, 1, false},
  [OPD_ADDR_DC] = {FLD_URC, FLD_MEM_OFFSET, FLD_MEM_DESC, 1, false},
  [OPD_SADDR_C] = {FLD_URC, FLD_MEM_OFFSET, FLD_MEM_DESC, 1, false},
  [OPD_XADDR_C] = {FLD_URC, FLD_MEM_OFFSET, FLD_MEM_DESC, 1, false},
  [OPD_SADDR_C6] = {FLD_URC6, FLD_MEM_OFFSET, FLD_NONE, 1, false},
  [OPD_ADDR_L256] = {FLD_URB, FLD_OFFSET_L256, FLD_MEM_DESC, BYTES_256, false},
  [OPD_ADDR_S256] = {FLD_URC, FLD_OFFSET_S256, FLD_MEM_DESC, BYTES_256, false},
  [OPD_USADDR] = {FLD_URA, FLD_MEM_OFFSET, FLD_NONE, 1, false},
  [OPD_ADDR_UC] = {FLD_URC6, FLD_MEM_OFFSET, FLD_NONE, 1, false}, /* sm_75 */
  [OPD_LDGSTS_GN] = {FLD_URC6, FLD_LDGSTS_GOFF, FLD_MEM_DESC, 1, true},
  [OPD_LDGSTS_GN100] = {FLD_URC, FLD_LDGSTS_GOFF, FLD_LDGSTS_DESC, 1, true},
  [OPD_ADDR_AC100] = {FLD_URC, FLD_MEM_OFFSET23, FLD_NONE, 1, false}, /* ATOM_DESC76, ATOM_DESC90 */
  [OPD_ADDR_RC100] = {FLD_URC, FLD_MEM_OFFSET, FLD_RED_DESC, 1, false},
  [OPD_ADDR_MC100] = {FLD_URC, FLD_MEM_OFFSET, FLD_NONE, 1, false},
  [OPD_LDGSTS_G100] = {FLD_URC, FLD_LDGSTS_GOFF, FLD_LDGSTS_DESC, 1, false},
  [OPD_ADDR_AC] = {FLD_URC6, FLD_MEM_OFFSET, FLD_ATOM_DESC71, 1, false},
  [OPD_ADDR_O32] = {FLD_NONE, FLD_OFFSET32, FLD_NONE, 1, false},
  [OPD_CCTL] = {FLD_NONE, FLD_OFFSET32, FLD_NONE, 1, false},
  [OPD_LDGSTS_G] = {FLD_URC6, FLD_LDGSTS_GOFF, FLD_MEM_DESC, 1, false},
};

/* Memory addresses: register, uniform register, signed offset. */
static void fill_address(struct sass_inst *s, unsigned kind)
{
  static const struct address_form plain = {FLD_NONE, FLD_MEM_OFFSET, FLD_NONE, 1, false};
  size_t n = sizeof address_forms / sizeof address_forms[0];
  const struct address_form *f = kind < n && address_forms[kind].unit ? &address_forms[kind] : &plain;
  s->src[0] = src_reg(kind == OPD_USADDR ? SASS_RZ : sass_get(s, FLD_RA));
  s->offset = get_signed(s, f->offset) * f->unit;
  s->ua_is_descriptor = (f->descriptor && sass_get(s, f->descriptor)) ||
                        sass_get(s, FLD_ATOM_DESC76) || sass_get(s, FLD_ATOM_DESC90);
  if (f->ureg && (!f->next || s->ua_is_descriptor)) s->ua = ureg(s, sass_get(s, f->ureg) + f->next);
}

static void fill_constant_address(struct sass_inst *s, unsigned kind)
{
  unsigned field = kind == OPD_LDCU ? FLD_COFF_LDCU : FLD_COFF_LDC;
  s->offset = get_signed(s, field);
  struct sass_src c = {.kind = SRC_CONST, .bank = (uint8_t)sass_get(s, FLD_CBANK_LDC),
                       .imm = (uint32_t)sass_get(s, field)};
  if (kind == OPD_LDCU) c.imm = (uint32_t)s->offset;
  if (kind == OPD_CADDR) {
    s->src[0] = src_reg(sass_get(s, FLD_RA));
    s->src[1] = c;
    return;
  }
  s->src[0] = c;
  if (kind == OPD_UCADDR_UR || kind == OPD_LDCU) s->ua = ureg(s, sass_get(s, FLD_URA));
}

static void fill_predicate(struct sass_inst *s, unsigned kind)
{
  switch (kind) {
  case OPD_PU: case OPD_PUQ: s->pu = (uint8_t)sass_get(s, FLD_PU); break;
  case OPD_PV: case OPD_PVQ: s->pv = (uint8_t)sass_get(s, FLD_PV); break;
  case OPD_PQ: case OPD_PQX: s->pq = get_pred(s, FLD_PQ, FLD_PQ_NOT); break;
  case OPD_PREX: s->pr = get_pred(s, FLD_PR, FLD_PR_NOT); break;
  case OPD_PRU:
    s->pr = get_pred(s, FLD_PR, FLD_PR_NOT);
    if (sass_get(s, FLD_PR_U)) s->pr.uniform = true;
    break;
  default: s->pp = get_pred(s, FLD_PP, FLD_PP_NOT); break;
  }
}

/* How one operand is filled in: arg is a field, or SRC(source, field). */
typedef void operand_filler(struct sass_inst *, unsigned op, unsigned arg);

enum { SRC_SHIFT = 12, SRC_FIELD = (1 << SRC_SHIFT) - 1 };
#define SRC(n, field) ((n) << SRC_SHIFT | (field))
_Static_assert((int)FLD__N <= (int)SRC_FIELD, "field numbers fit beside the source's");

static void op_dst(struct sass_inst *s, unsigned op, unsigned field)
{
  (void)op;
  s->dst = (uint8_t)sass_get(s, field);
}

static void op_udst(struct sass_inst *s, unsigned op, unsigned field)
{
  (void)op;
  s->udst = ureg(s, sass_get(s, field));
}

static void op_source(struct sass_inst *s, unsigned op, unsigned n)
{
  fill_source(s, op, n);
}

static void op_predicate(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)arg;
  fill_predicate(s, op & OM_KIND);
}

static void op_upred(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)op, (void)arg;
  s->pq = get_pred(s, FLD_BRA_UP, FLD_BRA_UP_NOT);
  s->pq.uniform = true;
}

static void op_reg(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)op;
  s->src[arg >> SRC_SHIFT] = src_reg(sass_get(s, arg & SRC_FIELD));
}

static void op_imm(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)op;
  s->src[arg >> SRC_SHIFT] = src_imm(sass_get(s, arg & SRC_FIELD));
}

static void op_imm64(struct sass_inst *s, unsigned op, unsigned field)
{
  (void)op;
  s->src[0] = src_imm(sass_get(s, field));
  s->src[0].imm_hi = (uint32_t)(sass_get(s, field) >> 32);
}

static void op_usource(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)op;
  s->src[arg >> SRC_SHIFT] =
      (struct sass_src){.kind = SRC_UREG, .index = ureg(s, sass_get(s, arg & SRC_FIELD))};
}

/* LDGSTS whose shared address is a uniform register. */
static void op_shared_ureg(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)op, (void)arg;
  s->src[1] = src_reg(sass_get(s, FLD_RD));
  s->src[2] = (struct sass_src){.kind = SRC_UREG,
                                .index = ureg(s, sass_get(s, sass_has(s, FLD_URC) ? FLD_URC : FLD_URC6))};
}

/* The handle of a texture or surface in a constant bank. */
static void op_handle_constant(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)op, (void)arg;
  s->src[2] = (struct sass_src){.kind = SRC_CONST, .bank = (uint8_t)sass_get(s, FLD_CBANK),
                                .imm = (uint32_t)sass_get(s, FLD_COFF) * 4};
}

static void op_address(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)arg;
  fill_address(s, op & OM_KIND);
}

static void op_constant_address(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)arg;
  fill_constant_address(s, op & OM_KIND);
}

static void op_target(struct sass_inst *s, unsigned op, unsigned field)
{
  (void)op;
  s->offset = get_signed(s, field) * 4;
}

static void op_lepc_target(struct sass_inst *s, unsigned op, unsigned field)
{
  (void)op;
  s->offset = get_signed(s, field);
}

static void op_breg(struct sass_inst *s, unsigned op, unsigned field)
{
  (void)op;
  s->bar = (uint8_t)sass_get(s, field);
}

static void op_umask(struct sass_inst *s, unsigned op, unsigned field)
{
  (void)op;
  s->ua = ureg(s, sass_get(s, field));
}

/* Products of a warpgroup: descriptors in four uniform registers, A's first; B's is in the last two, whether there
 * is one of A or not (compiler output, CUDA 13.0). */
static void op_descriptors(struct sass_inst *s, unsigned op, unsigned arg)
{
  op_usource(s, op, arg);
  s->src[1].neg = sass_get(s, FLD_B_NEG);
  if ((op & OM_KIND) == OPD_GDESC_A) s->src[0].neg = sass_get(s, FLD_A_NEG);
}

/* LDTM, STTM: a uniform register, a signed offset. */
static void op_tmem(struct sass_inst *s, unsigned op, unsigned field)
{
  (void)op;
  s->ua = ureg(s, sass_get(s, field));
  s->offset = get_signed(s, FLD_TMEM_OFFSET);
}

static void op_scale(struct sass_inst *s, unsigned op, unsigned arg)
{
  (void)op, (void)arg;
  s->pp = (struct sass_pred){.index = (uint8_t)(SASS_PT - sass_get(s, FLD_GMMA_UP)),
                             .neg = sass_get(s, FLD_PP_NOT), .uniform = true};
}

/* Operands that are not listed are read through their fields. */
static const struct {
  operand_filler *fill;
  uint16_t arg;
} fillers[OPD__N] = {
    [OPD_D] = {op_dst, FLD_RD}, [OPD_DQ] = {op_dst, FLD_RD},
    [OPD_UD] = {op_udst, FLD_URD}, [OPD_UDQ] = {op_udst, FLD_URD},
    [OPD_A] = {op_source, 0}, [OPD_B] = {op_source, 1}, [OPD_C] = {op_source, 2},
    [OPD_CHI] = {op_source, 2},
    [OPD_PU] = {op_predicate, 0}, [OPD_PUQ] = {op_predicate, 0}, [OPD_PV] = {op_predicate, 0},
    [OPD_PVQ] = {op_predicate, 0}, [OPD_PP] = {op_predicate, 0}, [OPD_PPQ] = {op_predicate, 0},
    [OPD_PPX] = {op_predicate, 0}, [OPD_PPRED] = {op_predicate, 0}, [OPD_PQ] = {op_predicate, 0},
    [OPD_PQX] = {op_predicate, 0}, [OPD_PREX] = {op_predicate, 0}, [OPD_PRU] = {op_predicate, 0},
    [OPD_UPA] = {op_upred, 0},
    [OPD_TA] = {op_reg, SRC(0, FLD_RA)}, [OPD_SUADDR] = {op_reg, SRC(0, FLD_RA)},
    [OPD_TB] = {op_reg, SRC(1, FLD_RB)}, [OPD_TOFF] = {op_handle_constant, 0},
    [OPD_TUR] = {op_usource, SRC(2, FLD_TEX_URH)}, [OPD_HC] = {op_reg, SRC(2, FLD_RC)},
    [OPD_DATA_B] = {op_reg, SRC(1, FLD_RB)}, [OPD_DATA_C] = {op_reg, SRC(1, FLD_RC)},
    [OPD_SWAP_C] = {op_reg, SRC(2, FLD_RC)}, [OPD_UDATA_B] = {op_usource, SRC(1, FLD_URB)},
    OPD_ADDRESSES({op_address, 0}),
    [OPD_DATA_HI] = {op_reg, SRC(2, FLD_RD)},
    [OPD_LDGSTS_S] = {op_reg, SRC(1, FLD_RD)}, [OPD_LDGSTS_SU] = {op_shared_ureg, 0},
    [OPD_LDGSTS_SU100] = {op_shared_ureg, 0},
    [OPD_CADDR] = {op_constant_address, 0}, [OPD_UCADDR] = {op_constant_address, 0},
    [OPD_UCADDR_UR] = {op_constant_address, 0}, [OPD_LDCU] = {op_constant_address, 0},
    [OPD_T48] = {op_target, FLD_TARGET48}, [OPD_T56] = {op_target, FLD_TARGET56},
    [OPD_T30] = {op_target, FLD_TARGET30}, [OPD_TLEPC] = {op_lepc_target, FLD_TARGET_LEPC},
    [OPD_BREG_D] = {op_breg, FLD_BREG}, [OPD_BREG_S] = {op_breg, FLD_BREG},
    [OPD_UMASK] = {op_umask, FLD_URA_MASK}, [OPD_UMASK100] = {op_umask, FLD_URA},
    [OPD_IMM64] = {op_imm64, FLD_IMM64},
    [OPD_GDESC_A] = {op_descriptors, SRC(0, FLD_URA)}, [OPD_GDESC_B] = {op_descriptors, SRC(1, FLD_URB)},
    [OPD_GSCALE] = {op_scale, 0},
    [OPD_TC_GA] = {op_usource, SRC(0, FLD_URA)}, [OPD_TC_TA] = {op_usource, SRC(0, FLD_URA)},
    [OPD_TC_GB] = {op_usource, SRC(1, FLD_URB)}, [OPD_TC_D] = {op_usource, SRC(2, FLD_URC)},
    [OPD_TC_TO] = {op_tmem, FLD_URA}, [OPD_TC_FROM] = {op_usource, SRC(1, FLD_URB)},
    [OPD_TC_BAR] = {op_usource, SRC(0, FLD_URA)}, [OPD_TC_CTAS] = {op_usource, SRC(2, FLD_URC)},
    [OPD_TMEM_L] = {op_tmem, FLD_URB}, [OPD_TMEM_S] = {op_tmem, FLD_URC},
    [OPD_LANE_R] = {op_reg, SRC(1, FLD_RB)}, [OPD_LANE_I] = {op_imm, SRC(1, FLD_SHFL_LANE)},
    [OPD_CLAMP_R] = {op_reg, SRC(2, FLD_RC)}, [OPD_CLAMP_I] = {op_imm, SRC(2, FLD_SHFL_C)},
    [OPD_BAR_R] = {op_reg, SRC(0, FLD_RB)}, [OPD_BAR_I] = {op_imm, SRC(0, FLD_BAR_ID)},
    [OPD_COUNT_R] = {op_reg, SRC(1, FLD_RB)}, [OPD_COUNT_I] = {op_imm, SRC(1, FLD_BAR_COUNT)},
};

static void fill_operand(struct sass_inst *s, unsigned op)
{
  unsigned kind = op & OM_KIND;
  if (fillers[kind].fill) fillers[kind].fill(s, op, fillers[kind].arg);
}

static void fill_semantic(struct sass_inst *s)
{
  s->sem = s->row->sem;
  s->guard = get_pred(s, FLD_GUARD, FLD_GUARD_NOT);
  s->pu_uniform = s->row->traits & ROW_UPRED_D;
  for (unsigned i = 0; i < ROW_OPS && s->row->op[i]; i++) fill_operand(s, s->row->op[i]);
}

static void start(unsigned sm, struct word128 w, uint64_t pc, struct sass_inst *s, struct inst *t)
{
  memset(s, 0, sizeof *s);
  memset(t, 0, sizeof *t);
  s->word = w;
  s->sm = (uint8_t)sm;
  s->dst = SASS_RZ;
  s->udst = s->ua = SASS_URZ;
  s->pu = s->pv = SASS_PT;
  s->guard.index = s->pp.index = s->pq.index = s->pr.index = SASS_PT;
  t->pc = pc;
  t->bytes = t->next = sizeof w;
  t->ctrl = sass_ctrl(w);
  t->guard = SASS_PT;
  t->pipe = PIPE_FRONT;
  t->lat = LAT_NONE;
  t->mnemonic = (uint16_t)sass_n_rows;
}

bool row_decode(const struct row_plan *plan, unsigned sm, struct word128 w, uint64_t pc, struct sass_inst *s,
                struct inst *t, struct err *e)
{
  start(sm, w, pc, s, t);
  s->row = plan ? plan->row : NULL;
  if (plan && read_fields(s, plan, e)) {
    fill_semantic(s);
    sass_fill_timing(s, t);
    t->mnemonic = plan->mnemonic;
    return true;
  }
  if (!plan) err_set(e, "no instruction with opcode 0x%04x on sm_%u", (unsigned)field_get(w, FLD_OPCODE), sm);
  s->row = NULL;
  s->n_fields = 0;
  t->flags = INST_UNDECODED;
  return false;
}

bool sass_decode(unsigned sm, struct word128 w, uint64_t pc, struct sass_inst *s, struct inst *t,
                 struct err *e)
{
  const unsigned opcode = (unsigned)field_get(w, FLD_OPCODE);
  struct row_plan plan;
  for (unsigned i = 0; i < sass_n_rows; i++) {
    if (!row_has_opcode(&sass_rows[i], sm, opcode) || !row_has_word(&sass_rows[i], w)) continue;
    row_plan(&sass_rows[i], opcode_form(opcode), &plan);
    return row_decode(&plan, sm, w, pc, s, t, e);
  }
  return row_decode(NULL, sm, w, pc, s, t, e);
}
