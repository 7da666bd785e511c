#include "isa/sass/print_operand.h"

#include <string.h>

#include "base/bug.h"
#include "isa/sass/row.h"

const char *const sass_fswz_names[4] = {"PP", "PN", "NP", "ZP"};

static void put_constant(struct print_text *o, const struct sass_inst *s, uint32_t v)
{
  switch (row_immediate(s)) {
  case IMM_S: print_hex(o, (int32_t)v); break;
  case IMM_F32: print_float(o, v); break;
  case IMM_F64: {
    uint64_t bits = (uint64_t)v << 32;
    double d;
    memcpy(&d, &bits, sizeof d);
    print_double(o, d);
    break;
  }
  case IMM_F16: print_half(o, v & 0xffff, false); break; /* the upper half has no meaning */
  case IMM_BF16: print_half(o, v & 0xffff, true); break;
  case IMM_F16X2: {
    bool bf16 = sass_get(s, FLD_HBF16) || sass_get(s, FLD_HCMP_BF16);
    print_half(o, v >> 16, bf16);
    print(o, ", ");
    print_half(o, v & 0xffff, bf16);
    break;
  }
  default: print(o, "0x%x", v); break;
  }
}

static void put_swizzle(struct print_text *o, const struct sass_inst *s, unsigned op, const struct sass_src *src)
{
  static const char *const half[8] = {"", ".F32", ".H0_H0", ".H1_H1", ".H0_NH1", ".?5", ".?6", ".?7"};
  static const char *const pair[4] = {".F32x2.HI_LO", ".F32x2.LO_HI", ".F32", ".?3"};
  if (op & OM_F2 && src->kind != SRC_IMM)
    print(o, "%s%s", pair[src->swz & 3], src->swz & SASS_UPPER_NEG ? ".NP" : "");
  if (op & OM_SWZ) print(o, "%s", half[src->swz & 7]);
  if (!(op & OM_SEL) || !src->swz) return;
  print(o, sass_has(s, FLD_CVT_SRC_ISIZE) && sass_get(s, FLD_CVT_SRC_ISIZE) == 0 ? ".B%u" : ".H%u",
      src->swz);
}

/* Of FP4 pairs there are four in a word. */
static const char *suffix_name(const struct sass_inst *s, const struct row_suffix *x)
{
  enum { FROM_E2M1 = 5 };
  static const char *const byte[4] = {"", ".B1", ".B2", ".B3"};
  const uint64_t v = sass_get(s, x->field);
  return x->field == FLD_F8_BYTE && sass_get(s, FLD_F8_UNPACK100) == FROM_E2M1 ? byte[v] : x->name[v];
}

static void put_suffix(struct print_text *o, const struct sass_inst *s, unsigned operand)
{
  for (const struct row_suffix *x = row_suffixes; x->field; x++)
    if (x->operand == operand && sass_has(s, x->field)) print(o, "%s", suffix_name(s, x));
}

static bool reused(const struct inst *t, unsigned slot)
{
  return t->ctrl.reuse >> slot & 1;
}

static void put_offset(struct print_text *o, int64_t offset, bool first)
{
  if (!offset && !first) return;
  if (!first) print(o, "+");
  print_hex(o, offset);
}

static void put_source(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned n)
{
  const struct sass_src *src = &s->src[n];
  bool invert = op & OM_INV || (op & OM_XINV && sass_get(s, FLD_X));
  print(o, "%s%s", src->neg ? invert ? "~" : "-" : "", src->abs ? "|" : "");
  switch (src->kind) {
  case SRC_REG: print_reg(o, src->index); break;
  case SRC_UREG: print_ureg(o, src->index); break;
  case SRC_CONST: /* offsets have 16 bits and are written with a sign */
    print(o, "c[0x%x][", src->bank);
    put_offset(o, (int16_t)src->imm, true);
    print(o, "]");
    break;
  case SRC_CONST_UR: print(o, "cx[UR%u][0x%x]", src->index, src->imm); break;
  case SRC_IMM: put_constant(o, s, src->imm); break;
  default: break;
  }
  if (src->kind == SRC_UREG) put_swizzle(o, s, op, src);
  if (src->abs) print(o, "|");
  if (src->kind == SRC_REG && reused(t, row_position(s->row, n))) print(o, ".reuse");
  if (src->kind != SRC_UREG) put_swizzle(o, s, op, src);
  if (s->sem == SEM_PLOP3_SIGN) print(o, ".SIGN");
  put_suffix(o, s, op & OM_KIND);
  if ((op & OM_KIND) == OPD_A && (s->sem == SEM_R2P || s->sem == SEM_UR2UP))
    print(o, "%s", sass_fields[FLD_PR_BYTE].names[sass_get(s, FLD_PR_BYTE)]);
  if (s->row->width == W_IMMA || s->row->width == W_BMMA || sass_has(s, FLD_QMMA_A))
    print(o, "%s", n == 0 ? ".ROW" : n == 1 ? ".COL" : "");
}

static void put_plain(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned n, unsigned slot)
{
  const struct sass_src *src = &s->src[n];
  if (src->kind == SRC_IMM) {
    print(o, "0x%x", src->imm);
    return;
  }
  print_reg(o, src->index);
  if (reused(t, slot)) print(o, ".reuse");
}

/* [R2.X4+UR4+0x10], desc[UR4][R2.64+0x10] */
static void put_address(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned kind)
{
  static const char *const stride[4] = {"", ".X4", ".X8", ".X16"};
  bool near = kind >= OPD_SADDR && kind <= OPD_XADDR_C;
  bool indexed = kind == OPD_XADDR_B || kind == OPD_XADDR_C ||
                 s->sem == SEM_SYNCS_CCTL || s->sem == SEM_SYNCS_ARRIVE ||
                 s->sem == SEM_SYNCS_PHASECHK || s->sem == SEM_LDGSTSBAR ||
                 s->sem == SEM_LDGMC; /* URZ is written here */
  bool wide = sass_address_is_wide(s);
  bool narrow_base = !near && !wide && s->ua != SASS_URZ && !s->ua_is_descriptor;
  bool has_reg = s->src[0].index != SASS_RZ || (s->ua == SASS_URZ && !s->offset && !indexed) || narrow_base;
  bool quiet = s->row->traits & ROW_QUIET_DESC && !sass_get(s, FLD_MEM_HINT);
  if (s->ua_is_descriptor && !quiet) {
    print(o, "desc[");
    print_ureg(o, s->ua);
    print(o, "]");
  }
  print(o, "[");
  if (has_reg) {
    print_reg(o, s->src[0].index);
    if ((s->ua != SASS_URZ || s->sem == SEM_LDGMC || s->sem == SEM_LDGSTS) && !near) print(o, wide ? ".64" : ".U32");
    if (s->row->width == W_STAS || s->row->width == W_REDAS) print(o, ".64");
    if (sass_has(s, FLD_LDS_STRIDE)) print(o, "%s", stride[sass_get(s, FLD_LDS_STRIDE)]);
    if (reused(t, 0)) print(o, ".reuse");
  }
  if ((s->ua != SASS_URZ || indexed) && !s->ua_is_descriptor) {
    if (has_reg) print(o, "+");
    print_ureg(o, s->ua);
    has_reg = true;
  }
  put_offset(o, s->offset, !has_reg);
  print(o, "]");
}

static void put_constant_address(struct print_text *o, const struct sass_inst *s, unsigned kind)
{
  print(o, "c[0x%x][", (unsigned)sass_get(s, FLD_CBANK_LDC));
  if (kind == OPD_CADDR && (s->src[0].index != SASS_RZ || !s->offset)) {
    print_reg(o, s->src[0].index);
    put_offset(o, s->offset, false);
  } else if (kind == OPD_UCADDR_UR ||
             (kind == OPD_LDCU && (s->ua != SASS_URZ || !s->offset))) {
    print_ureg(o, s->ua);
    put_offset(o, s->offset, false);
  } else {
    put_offset(o, s->offset, true);
  }
  print(o, "]");
}

static void put_bstate(struct print_text *o, unsigned state)
{
  static const char *const names[] = {"MEXITED", "MKILL", "MACTIVE", "MATEXIT", "OPT_STACK",
                                      "API_CALL_DEPTH", "ATEXIT_PC.LO", "ATEXIT_PC.HI"};
  if (state < 16) print(o, "B%u", state);
  else if (state >= 24 && state < 32) print(o, "%s", names[state - 24]);
  else print(o, "STATE%u", state);
}

static void put_depbar(struct print_text *o, const struct sass_inst *s)
{
  bool counts = sass_get(s, FLD_DEPBAR_LE);
  unsigned mask = (unsigned)sass_get(s, FLD_DEPBAR_MASK);
  if (counts || !mask)
    print(o, "SB%u, 0x%x", (unsigned)sass_get(s, FLD_DEPBAR_SB), (unsigned)sass_get(s, FLD_DEPBAR_COUNT));
  if (!mask) return;
  print(o, counts ? ", {" : "{");
  for (int i = 5, first = 1; i >= 0; i--)
    if (mask >> i & 1) print(o, first ? "%d" : ",%d", i), first = 0;
  print(o, "}");
}

/* F2FP kinds (FLD_F2FP_KIND): 0 packs a and b; 4 and 5 convert b; 8 to 11 convert b or a and b into c. */
static bool is_quiet_f2fp(const struct sass_inst *s, unsigned kind)
{
  unsigned f2fp = (unsigned)sass_get(s, FLD_F2FP_KIND);
  if (s->sem != SEM_F2FP) return false;
  if (kind == OPD_C && sass_get(s, FLD_F2FP_RS)) return false;
  if (kind == OPD_C) return f2fp == 0 ? !sass_get(s, FLD_F2FP_MERGE) : f2fp < 8;
  if (f2fp == 0) return sass_get(s, FLD_F2FP_MERGE);
  const unsigned from_pair = 1; /* the low bit of F8_SOURCE and F8_SOURCE100: 1 FP16, 5 BF16; 3 and 7 are free */
  return f2fp == 4 || f2fp == 5 || sass_get(s, FLD_F8_SOURCE) & from_pair || sass_get(s, FLD_F8_SOURCE100) & from_pair;
}

/* R2P, UR2UP: all predicates are written. */
static bool is_whole_mask(const struct sass_inst *s)
{
  return (s->sem == SEM_R2P || s->sem == SEM_UR2UP) && s->src[1].kind == SRC_IMM && s->src[1].imm == 0xff;
}

/* Operands that are only written when they say something. */
bool print_is_quiet(const struct sass_inst *s, unsigned kind)
{
  switch (kind) {
  case OPD_DQ: return s->dst == SASS_RZ;
  case OPD_UDQ: return s->udst == SASS_URZ;
  case OPD_PUQ: return s->pu == SASS_PT && s->pv == SASS_PT;
  case OPD_PVQ: return s->pv == SASS_PT;
  case OPD_PPQ: case OPD_GSCALE: return print_is_true(s->pp);
  case OPD_TC_MASK: return sass_get(s, FLD_TC_AUX) == sass_urz_code(s->sm);
  case OPD_TC_CTAS: return s->src[2].index == SASS_URZ;
  case OPD_TC_SHIFT: return !sass_get(s, FLD_TC_SHIFT);
  case OPD_GSB: return sass_get(s, FLD_GMMA_GSB) == 7;
  case OPD_PPX: case OPD_PQX: return !sass_get(s, FLD_X);
  case OPD_PREX: return !sass_get(s, FLD_ISETP_EX);
  case OPD_PPRED: return sass_get(s, FLD_BAR_OP) != 2;
  case OPD_CHI: return !sass_get(s, FLD_LEA_HI) || sass_get(s, FLD_LEA_SX32);
  case OPD_MASK: return sass_get(s, FLD_MOV_MASK) == 15;
  case OPD_TB: return s->src[1].index == SASS_RZ;
  case OPD_TMASK: return sass_get(s, FLD_TEX_MASK) == 15;
  case OPD_MASK256: return sass_get(s, FLD_MASK_L256) == 255;
  case OPD_COUNT_I: return !s->src[1].imm;
  case OPD_CCTL: return s->src[0].index == SASS_RZ && !s->offset;
  case OPD_T48: return s->sem == SEM_CALL_ABS && s->src[0].kind == SRC_REG && !s->offset;
  case OPD_T56: /* WARPSYNC without .COLLECTIVE goes nowhere */
    if (s->sem == SEM_CALL_ABS) return s->src[0].kind == SRC_REG && !s->offset;
    return sass_has(s, FLD_WARPSYNC_COLLECTIVE) && !sass_get(s, FLD_WARPSYNC_COLLECTIVE);
  case OPD_B: return is_whole_mask(s);
  case OPD_A: case OPD_C: return is_quiet_f2fp(s, kind);
  default: return false;
  }
}

static void put_pred_operand(struct print_text *o, const struct sass_inst *s, unsigned kind)
{
  switch (kind) {
  case OPD_PU: case OPD_PUQ:
    print_pred(o, (struct sass_pred){.index = s->pu, .uniform = s->pu_uniform});
    break;
  case OPD_PV: case OPD_PVQ:
    print_pred(o, (struct sass_pred){.index = s->pv, .uniform = s->pu_uniform});
    break;
  case OPD_PQ: case OPD_PQX: print_pred(o, s->pq); break;
  case OPD_PREX: case OPD_PRU: print_pred(o, s->pr); break;
  default: print_pred(o, s->pp); break;
  }
}

static void put_special_register(struct print_text *o, const struct sass_inst *s)
{
  unsigned sr = (unsigned)sass_get(s, FLD_SR);
  const char *name = sass_special_register(sr);
  if (name) print(o, "%s", name);
  else print(o, "SR%u", sr);
}

static void put_target(struct print_text *o, const struct sass_inst *s, const struct inst *t)
{
  bool direct = s->src[0].kind == SRC_NONE || s->sem == SEM_WARPSYNC;
  bool relative = (s->sem == SEM_RET && !sass_get(s, FLD_RET_ABS)) || s->sem == SEM_CALL_REL ||
                  (direct && s->sem != SEM_CALL_ABS && s->sem != SEM_JMP);
  print_hex(o, relative ? (int64_t)t->pc + 16 + s->offset : s->offset);
}

/* Bulk and tensor copies: addresses in brackets, other uniform registers without, a cache hint. */
static void put_bulk(struct print_text *o, const struct sass_inst *s, unsigned kind)
{
  bool plain = kind == OPD_BULK_C || kind == OPD_TMA_C;
  unsigned ur = (unsigned)sass_get(s, row_operand_fields(kind)[0]);
  print(o, "%s", plain ? "" : kind == OPD_TMA_HINT ? "desc[" : "[");
  print_ureg(o, ur == sass_urz_code(s->sm) ? SASS_URZ : ur);
  print(o, "%s", plain ? "" : "]");
}

/* How one operand is written: a writer and what it needs to know, a field or PLAIN(source, slot). */
typedef void operand_writer(struct print_text *, const struct sass_inst *, const struct inst *, unsigned op,
                            unsigned arg);

enum { NO_SLOT = 3 }; /* texture arguments are not cached: nvdisasm writes no .reuse, though nvcc sets the bit */
#define PLAIN(n, slot) ((n) << 4 | (slot))

static void op_dst(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print_reg(o, s->dst);
}

static void op_udst(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print_ureg(o, s->udst);
}

static void op_source(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned n)
{
  put_source(o, s, t, op, n);
}

static void op_plain(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)op;
  put_plain(o, s, t, arg >> 4, arg & 15);
}

static void op_pred(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)arg;
  put_pred_operand(o, s, op & OM_KIND);
}

/* Signs of the two terms in each lane of a quad, lane 3 first; Z: the first one counts as zero. */
static void op_swizzle_signs(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op,
                             unsigned arg)
{
  uint64_t v = sass_get(s, FLD_FSWZ_LANE);
  (void)t, (void)op, (void)arg;
  for (int lane = 3; lane >= 0; lane--) print(o, "%s", sass_fswz_names[v >> (2 * lane) & 3]);
}

static void op_reg(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned field)
{
  (void)t, (void)op;
  print_reg(o, (unsigned)sass_get(s, field));
}

static void op_number(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op,
                      unsigned field)
{
  (void)t, (void)op;
  print(o, "0x%llx", (unsigned long long)sass_get(s, field));
}

static void op_name(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned field)
{
  (void)t, (void)op;
  print(o, "%s", sass_fields[field].names[sass_get(s, field)]);
}

/* A uniform register of src[n]. */
static void op_usource(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned n)
{
  (void)t, (void)op;
  print_ureg(o, s->src[n].index);
}

static void op_surface_address(struct print_text *o, const struct sass_inst *s, const struct inst *t,
                               unsigned op, unsigned arg)
{
  (void)op, (void)arg;
  print(o, "[");
  put_plain(o, s, t, 0, 0);
  print(o, "]");
}

static void op_rpc(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print(o, sass_get(s, FLD_RPC_HI) ? "Rpc.HI" : "Rpc.LO");
}

static void op_upred(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print_pred(o, s->pq);
}

static void op_pred_set(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op,
                        unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print(o, s->row->traits & ROW_UREGS ? "UPR" : "PR");
}

static void op_special(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  put_special_register(o, s);
}

static void op_address(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)arg;
  put_address(o, s, t, op & OM_KIND);
}

static void op_ldgsts_shared(struct print_text *o, const struct sass_inst *s, const struct inst *t,
                             unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print(o, "[");
  const bool uniform = s->src[2].kind == SRC_UREG, has_reg = !uniform || s->src[1].index != SASS_RZ;
  if (has_reg) print_reg(o, s->src[1].index);
  if (uniform && has_reg) print(o, "+");
  if (uniform) print_ureg(o, s->src[2].index);
  put_offset(o, bits_sext(sass_get(s, FLD_LDGSTS_SOFF), 20), false);
  print(o, "]");
}

static void op_constant_address(struct print_text *o, const struct sass_inst *s, const struct inst *t,
                                unsigned op, unsigned arg)
{
  (void)t, (void)arg;
  put_constant_address(o, s, op & OM_KIND);
}

static void op_target(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)op, (void)arg;
  put_target(o, s, t);
}

static void op_breg(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print(o, "B%u", s->bar);
}

static void op_bstate(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  put_bstate(o, (unsigned)sass_get(s, FLD_BMOV_STATE));
}

static void op_umask(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print(o, "%s", sass_get(s, FLD_URA_NOT) ? "~" : "");
  print_ureg(o, s->ua);
}

static void op_depbar(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  put_depbar(o, s);
}

static void op_meta_kept(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op,
                         unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print_reg(o, (unsigned)sass_get(s, FLD_HMMA_META));
  if (sass_get(s, FLD_HMMA_META_REUSE)) print(o, ".reuse");
}

static void op_scale_b(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)op, (void)arg;
  print_reg(o, (unsigned)sass_get(s, FLD_SCALE_B));
  if (sass_get(s, FLD_SCALE_B_REUSE)) print(o, ".reuse");
}

static void op_scale_lanes(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op,
                           unsigned arg)
{
  (void)t, (void)op, (void)arg;
  unsigned ur = (unsigned)sass_get(s, FLD_SCALE_UR);
  print_ureg(o, ur == sass_urz_code(s->sm) ? SASS_URZ : ur);
}

/* gdesc[UR4].negA.negB.tnspA.tnspB */
static void op_descriptors(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op,
                           unsigned arg)
{
  bool both = (op & OM_KIND) == OPD_GDESC_A;
  (void)t, (void)arg;
  print(o, "gdesc[");
  print_ureg(o, s->src[both ? 0 : 1].index);
  print(o, "]%s%s", both && sass_get(s, FLD_A_NEG) ? ".negA" : "", sass_get(s, FLD_B_NEG) ? ".negB" : "");
  print(o, "%s%s", sass_get(s, FLD_GMMA_TNSP_A) ? ".tnspA" : "", sass_get(s, FLD_GMMA_TNSP_B) ? ".tnspB" : "");
}

static void op_group_counter(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op,
                             unsigned arg)
{
  (void)t, (void)op;
  print(o, "gsb%u", (unsigned)sass_get(s, arg));
  if (arg == FLD_DEPBAR_SB) print(o, ", 0x%x", (unsigned)sass_get(s, FLD_GMMA_DEPBAR_COUNT));
}

static void op_bulk(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  (void)t, (void)arg;
  put_bulk(o, s, op & OM_KIND);
}

/* gdesc[UR4].A_REUSE, tmem[UR4+0x10], idesc[UR5]: the instruction descriptor is behind the register named. */
static void op_bracket(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned arg)
{
  unsigned kind = op & OM_KIND, ur = (unsigned)sass_get(s, arg);
  const uint16_t *more = row_operand_fields(kind) + 1;
  (void)t;
  print(o, "%s", row_bracket(kind));
  print_ureg(o, ur == sass_urz_code(s->sm) ? SASS_URZ : ur + row_is_behind(kind));
  if (*more == FLD_TMEM_OFFSET) {
    put_offset(o, s->offset, false);
    more++;
  }
  print(o, "]");
  for (; *more; more++) print(o, "%s", sass_fields[*more].names[sass_get(s, *more)]);
}

static void op_ureg(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op, unsigned field)
{
  unsigned ur = (unsigned)sass_get(s, field);
  (void)t, (void)op;
  print_ureg(o, ur == sass_urz_code(s->sm) ? SASS_URZ : ur);
}

static const struct {
  operand_writer *put;
  uint16_t arg;
} writers[OPD__N] = {
    [OPD_D] = {op_dst, 0}, [OPD_DQ] = {op_dst, 0}, [OPD_UD] = {op_udst, 0}, [OPD_UDQ] = {op_udst, 0},
    [OPD_A] = {op_source, 0}, [OPD_B] = {op_source, 1}, [OPD_C] = {op_source, 2},
    [OPD_CHI] = {op_source, 2},
    [OPD_PU] = {op_pred, 0}, [OPD_PUQ] = {op_pred, 0}, [OPD_PV] = {op_pred, 0},
    [OPD_PVQ] = {op_pred, 0}, [OPD_PP] = {op_pred, 0}, [OPD_PPQ] = {op_pred, 0},
    [OPD_PPX] = {op_pred, 0}, [OPD_PPRED] = {op_pred, 0}, [OPD_PQ] = {op_pred, 0},
    [OPD_PQX] = {op_pred, 0}, [OPD_PREX] = {op_pred, 0}, [OPD_PRU] = {op_pred, 0},
    [OPD_UPA] = {op_upred, 0}, [OPD_PRS] = {op_pred_set, 0}, [OPD_PRD] = {op_pred_set, 0},
    [OPD_TA] = {op_plain, PLAIN(0, NO_SLOT)}, [OPD_TB] = {op_plain, PLAIN(1, NO_SLOT)},
    [OPD_HC] = {op_plain, PLAIN(2, 2)}, [OPD_DATA_B] = {op_plain, PLAIN(1, 1)},
    [OPD_LANE_R] = {op_plain, PLAIN(1, 1)}, [OPD_LANE_I] = {op_plain, PLAIN(1, 1)},
    [OPD_COUNT_R] = {op_plain, PLAIN(1, 1)}, [OPD_COUNT_I] = {op_plain, PLAIN(1, 1)},
    [OPD_DATA_C] = {op_plain, PLAIN(1, 2)}, [OPD_SWAP_C] = {op_plain, PLAIN(2, 2)},
    [OPD_CLAMP_R] = {op_plain, PLAIN(2, 2)}, [OPD_CLAMP_I] = {op_plain, PLAIN(2, 2)},
    [OPD_BAR_R] = {op_plain, PLAIN(0, 1)}, [OPD_BAR_I] = {op_plain, PLAIN(0, 1)},
    [OPD_TD2] = {op_reg, FLD_TEX_RD2}, [OPD_META] = {op_reg, FLD_HMMA_META},
    [OPD_META_KEPT] = {op_meta_kept, 0},
    [OPD_SCALE_A] = {op_reg, FLD_SCALE_A}, [OPD_SCALE_B] = {op_scale_b, 0},
    [OPD_SCALE_U] = {op_scale_lanes, 0}, [OPD_SEL] = {op_number, FLD_HMMA_SEL},
    [OPD_TBANK] = {op_number, FLD_CBANK}, [OPD_TOFF] = {op_number, FLD_COFF},
    [OPD_TUR] = {op_usource, 2}, [OPD_TUOFF] = {op_number, FLD_TEX_UOFF},
    [OPD_TMASK] = {op_number, FLD_TEX_MASK}, [OPD_TDIM] = {op_name, FLD_TEX_DIM},
    [OPD_TQUERY] = {op_name, FLD_TXQ_QUERY}, [OPD_SUADDR] = {op_surface_address, 0},
    [OPD_LUT] = {op_number, FLD_LUT}, [OPD_PLUT] = {op_number, FLD_PLUT},
    [OPD_PLUT2] = {op_number, FLD_PLUT2}, [OPD_SHIFT] = {op_number, FLD_LEA_SHIFT},
    [OPD_MASK] = {op_number, FLD_MOV_MASK}, [OPD_FSWZ] = {op_swizzle_signs, 0},
    [OPD_MAXREG] = {op_number, FLD_MAXREG_COUNT}, [OPD_PMIMM] = {op_number, FLD_PMTRIG_IMM},
    [OPD_BPTIMM] = {op_number, FLD_BPT_IMM},
    [OPD_IMM64] = {op_number, FLD_IMM64},
    [OPD_RPC] = {op_rpc, 0}, [OPD_SR] = {op_special, 0}, [OPD_UDATA_B] = {op_usource, 1},
    OPD_ADDRESSES({op_address, 0}),
    [OPD_D_HI] = {op_reg, FLD_RD_HI}, [OPD_DATA_HI] = {op_plain, PLAIN(2, 2)},
    [OPD_MASK256] = {op_number, FLD_MASK_L256},
    [OPD_LDGSTS_S] = {op_ldgsts_shared, 0}, [OPD_LDGSTS_SU] = {op_ldgsts_shared, 0},
    [OPD_LDGSTS_SU100] = {op_ldgsts_shared, 0},
    [OPD_CADDR] = {op_constant_address, 0}, [OPD_UCADDR] = {op_constant_address, 0},
    [OPD_UCADDR_UR] = {op_constant_address, 0}, [OPD_LDCU] = {op_constant_address, 0},
    [OPD_T48] = {op_target, 0}, [OPD_T56] = {op_target, 0}, [OPD_T30] = {op_target, 0},
    [OPD_TLEPC] = {op_target, 0},
    [OPD_BREG_D] = {op_breg, 0}, [OPD_BREG_S] = {op_breg, 0},
    [OPD_BSTATE_D] = {op_bstate, 0}, [OPD_BSTATE_S] = {op_bstate, 0},
    [OPD_UMASK] = {op_umask, 0}, [OPD_UMASK100] = {op_umask, 0}, [OPD_DEPBAR] = {op_depbar, 0},
    [OPD_GDESC_A] = {op_descriptors, 0}, [OPD_GDESC_B] = {op_descriptors, 0}, [OPD_GSCALE] = {op_pred, 0},
    [OPD_TC_GA] = {op_bracket, FLD_URA}, [OPD_TC_TA] = {op_bracket, FLD_URA}, [OPD_TC_GB] = {op_bracket, FLD_URB},
    [OPD_TC_D] = {op_bracket, FLD_URC}, [OPD_TC_META] = {op_bracket, FLD_TC_META},
    [OPD_TC_IDESC] = {op_bracket, FLD_TC_META}, [OPD_TC_MASK] = {op_ureg, FLD_TC_AUX},
    [OPD_TC_SCALES] = {op_bracket, FLD_TC_AUX}, [OPD_TC_SHIFT] = {op_number, FLD_TC_SHIFT},
    [OPD_TC_TO] = {op_bracket, FLD_URA}, [OPD_TC_FROM] = {op_bracket, FLD_URB}, [OPD_TC_BAR] = {op_bracket, FLD_URA},
    [OPD_WORK_BAR] = {op_bracket, FLD_URA},
    [OPD_TC_CTAS] = {op_ureg, FLD_URC}, [OPD_TMEM_L] = {op_bracket, FLD_URB}, [OPD_TMEM_S] = {op_bracket, FLD_URC},
    [OPD_D_STAT] = {op_reg, FLD_RA}, [OPD_WORD] = {op_number, FLD_IMM32},
    [OPD_GSB] = {op_group_counter, FLD_GMMA_GSB}, [OPD_GDEPBAR] = {op_group_counter, FLD_DEPBAR_SB},
    [OPD_BULK_A] = {op_bulk, 0}, [OPD_BULK_B] = {op_bulk, 0}, [OPD_BULK_C] = {op_bulk, 0},
    [OPD_TMA_A] = {op_bulk, 0}, [OPD_TMA_B] = {op_bulk, 0}, [OPD_TMA_C] = {op_bulk, 0}, [OPD_TMA_HINT] = {op_bulk, 0},
};

void print_operand(struct print_text *o, const struct sass_inst *s, const struct inst *t, unsigned op)
{
  unsigned kind = op & OM_KIND;
  BUG_ON(!writers[kind].put);
  writers[kind].put(o, s, t, op, writers[kind].arg);
}
