/* Instruction tables, expanded from fields.def and opcodes.def, and the questions about them. */
#include "isa/sass/row.h"

#include <string.h>

#include "base/bug.h"

#define P(pos, width) {pos, width}
#define HIDE .show = SHOW_HIDE
#define NUM .show = SHOW_NUM
#define NAMES(...) .show = SHOW_NAMES, .names = {__VA_ARGS__}
#define FIELD(name, how, ...) [FLD_##name] = {.id = #name, how, .piece = {__VA_ARGS__}},

const struct sass_field sass_fields[FLD__N] = {
#include "isa/sass/fields.def"
};

#undef P
#undef HIDE
#undef NUM
#undef NAMES
#undef FIELD

/* Applies m to up to 12 names. */
#define MAP_1(m, a) m(a)
#define MAP_2(m, a, ...) m(a), MAP_1(m, __VA_ARGS__)
#define MAP_3(m, a, ...) m(a), MAP_2(m, __VA_ARGS__)
#define MAP_4(m, a, ...) m(a), MAP_3(m, __VA_ARGS__)
#define MAP_5(m, a, ...) m(a), MAP_4(m, __VA_ARGS__)
#define MAP_6(m, a, ...) m(a), MAP_5(m, __VA_ARGS__)
#define MAP_7(m, a, ...) m(a), MAP_6(m, __VA_ARGS__)
#define MAP_8(m, a, ...) m(a), MAP_7(m, __VA_ARGS__)
#define MAP_9(m, a, ...) m(a), MAP_8(m, __VA_ARGS__)
#define MAP_10(m, a, ...) m(a), MAP_9(m, __VA_ARGS__)
#define MAP_PICK(a, b, c, d, e, f, g, h, i, j, name, ...) name
#define MAP(m, ...)                                                                                \
  MAP_PICK(__VA_ARGS__, MAP_10, MAP_9, MAP_8, MAP_7, MAP_6, MAP_5, MAP_4, MAP_3, MAP_2, MAP_1, 0)  \
  (m, __VA_ARGS__)

#define AS_OPD(x) OPD_##x
#define AS_FLD(x) FLD_##x

/* Targets of a row, first and last. */
#define SM(first, last) .sm_min = first, .sm_max = last
#define ALL SM(70, 121)
#define SM72 SM(72, 121)
#define SM75 SM(75, 121)
#define PRE80 SM(70, 75)
#define SM80 SM(80, 121)
#define SM86 SM(86, 121)
#define SM86_89 SM(86, 89)
#define SM80_80 SM(80, 80)
#define SM80_89 SM(80, 89)
#define SM80_90 SM(80, 90)
#define PRE90 SM(70, 89)
#define SM75_89 SM(75, 89)
#define SM90 SM(90, 121)
#define SM90_90 SM(90, 90)
#define PRE100 SM(70, 90)
#define SM75_90 SM(75, 90)
#define SM100 SM(100, 121)
#define SM10X SM(100, 110)
#define SM120 SM(120, 121)

#define FORM(n) (1u << (n))
#define VALUE(v) (1u << (v))
#define F_B (FORM(1) | FORM(4) | FORM(5) | FORM(13) | FORM(14))   /* b varies */
#define F_C (FORM(1) | FORM(2) | FORM(3) | FORM(11) | FORM(15))   /* the last varies */
#define F_C2 (FORM(2) | FORM(3) | FORM(11) | FORM(15))
#define F_BC (F_B | F_C)
#define F_BC_NO_IMM (F_BC & ~(FORM(2) | FORM(4)))
#define F_UB (FORM(9) | FORM(12))
#define F_UBC (F_UB | FORM(10))
#define F_UMOV (FORM(4) | FORM(14))
#define ALU(number, mask) .base = number, .forms = mask
#define U(number, mask) ALU(number, mask)
#define OP(x) .base = (x) & 0x1ff, .forms = FORM(((x) >> 9 & 7) | (x) >> 12 << 3)
#define LAY(where, constant) .layout = LAY_##where, .imm = IMM_##constant
#define SLOTS .layout = LAY_NONE
#define OPS(...) .op = {MAP(AS_OPD, __VA_ARGS__)}
#define MODS(...) .field = {MAP(AS_FLD, __VA_ARGS__)}

enum {
  FLAG_0,
  FLAG_HALF_RATE_PORT = INST_HALF_RATE_PORT,
  FLAG_BAR = INST_BAR,
  FLAG_EXIT = INST_EXIT,
  FLAG_BRANCH = INST_BRANCH,
  FLAG_CONVERGE = INST_CONVERGE,
  FLAG_YIELD = INST_YIELD,
  FLAG_SLEEP = INST_SLEEP,
  FLAG_DEPBAR = INST_DEPBAR,
  FLAG_LDGDEPBAR = INST_LDGDEPBAR,
  FLAG_MEMBAR = INST_MEMBAR,
  FLAG_AFTER_LDGSTS = INST_AFTER_LDGSTS,
  FLAG_GMMA = INST_GMMA,
  FLAG_TMEM = INST_TMEM,
};
#define FL(flag) .flags = FLAG_##flag
#define UNI(flag) FL(flag), .traits = ROW_UREGS | ROW_UPRED_D | ROW_UPRED_S
#define UREGS(flag) FL(flag), .traits = ROW_UREGS
#define UPD(flag) FL(flag), .traits = ROW_UPRED_D
#define UPS(flag) FL(flag), .traits = ROW_UPRED_S
#define UPDS(flag) FL(flag), .traits = ROW_UPRED_D | ROW_UPRED_S
#define UPSMEM(space, operation, flag)                                                             \
  MEM(space, operation, flag), .traits = ROW_UPRED_S
#define HALFC(flag) FL(flag), .traits = ROW_HALF_C
#define HALFC3(flag) FL(flag), .traits = ROW_HALF_C | ROW_HALF_C3
#define MEM(space, operation, flag)                                                                \
  FL(flag), .mem_space = MEM_##space, .mem_op = MEM_##operation

/* Up to sm_89 the notation leaves out the descriptor. */
#define MEM80(space, operation, flag) MEM(space, operation, flag), .traits = ROW_QUIET_DESC

#define OPC(text, targets, number, layout, ops, mods, w, p, l, s, flag)                            \
  {.name = text, targets, number, layout, ops, mods, .width = W_##w, .pipe = PIPE_##p,             \
   .lat = LAT_##l, .sem = SEM_##s, flag},
#define OPC_WHEN(fld, values, text, targets, number, layout, ops, mods, w, p, l, s, flag)          \
  {.name = text, targets, number, layout, ops, mods, .width = W_##w, .pipe = PIPE_##p,             \
   .lat = LAT_##l, .sem = SEM_##s, .when_field = FLD_##fld, .when_mask = values, flag},

const struct sass_row sass_rows[] = {
#include "isa/sass/opcodes.def"
};

const unsigned sass_n_rows = sizeof sass_rows / sizeof sass_rows[0];

/* The uniform datapath, its registers as operands and bindless constants, which are forms 8 to 15, came with sm_75
 * (compiler output of CUDA 11.8 for sm_70 and of CUDA 13.0). */
enum { UNIFORM_SINCE = 75, PLAIN_FORMS = 0xff };

unsigned row_forms(const struct sass_row *row, unsigned sm)
{
  if (sm < row->sm_min || sm > row->sm_max) return 0;
  return sm < UNIFORM_SINCE ? row->forms & PLAIN_FORMS : row->forms;
}

const struct row_suffix row_suffixes[] = {
  {FLD_F8_UPPER, OPD_B, {"", ".H1"}},
  {FLD_F8_BYTE, OPD_B, {"", "", ".H1", ".H1"}},
  {FLD_F8_C_UPPER, OPD_C, {"", ".H1"}},
  {FLD_FH_UPPER_A, OPD_A, {"", ".H1"}},
  {FLD_FH_UPPER_B, OPD_B, {"", ".H1"}},
  {FLD_I2IP_C, OPD_C, {"", ".H1", ".24", ".28"}},
  {FLD_HMMA884_A_COL, OPD_A, {".ROW", ".COL"}},
  {FLD_HMMA884_B_COL, OPD_B, {".ROW", ".COL"}},
  {FLD_NONE, 0, {NULL}},
};

/* What slot B holds in each form. */
static const uint8_t slot_b[16] = {
    [1] = AT_B_REG, [2] = AT_B_IMM,  [3] = AT_B_CONST, [4] = AT_B_IMM, [5] = AT_B_CONST,
    [9] = AT_B_REG, [10] = AT_B_IMM, [11] = AT_B_CX,   [12] = AT_B_IMM, [13] = AT_B_CX,
    [14] = AT_B_UR, [15] = AT_B_UR,
};

enum src_place row_place(const struct sass_row *row, unsigned form, unsigned n)
{
  /* Forms 2, 3, 7 and their uniform and bindless twins put the last source in slot B. */
  bool last_in_b = form == 2 || form == 3 || form == 10 || form == 11 || form == 15;
  switch (row->layout) {
  case LAY_ABC:
    if (n == 0) return AT_A;
    return (n == 2) == last_in_b ? slot_b[form] : AT_C;
  case LAY_AB:
  case LAY_AL:
    return n == 0 ? AT_A : n == 1 ? slot_b[form] : AT_NONE;
  case LAY_AC:
    if (n == 1) return last_in_b ? slot_b[form] : AT_C;
    return n == 0 ? AT_A : AT_NONE;
  case LAY_A:
    return n == 0 ? AT_A : AT_NONE;
  case LAY_B:
    return n == 0 ? slot_b[form] : AT_NONE;
  default:
    return AT_NONE;
  }
}

unsigned row_position(const struct sass_row *row, unsigned n)
{
  bool last = n == 1 && (row->layout == LAY_AL || row->layout == LAY_AC);
  return last ? 2 : row->layout == LAY_B ? 1 : n;
}

struct list {
  uint16_t *field;
  unsigned n;
};

static void add(struct list *l, unsigned id)
{
  BUG_ON(l->n >= SASS_MAX_FIELDS);
  l->field[l->n++] = (uint16_t)id;
}

/* Swizzle field of an FP32 pair; the second source of FADD2 counts as the third. */
unsigned row_f2_swizzle(const struct sass_row *row, unsigned op)
{
  unsigned kind = op & OM_KIND;
  if (kind == OPD_A) return FLD_F2_SWZ_A;
  return kind == OPD_C || row->layout == LAY_AL ? FLD_F2_SWZ_C : FLD_F2_SWZ_B;
}

unsigned row_f2_sign(const struct sass_row *row, unsigned op)
{
  const unsigned swizzle = row_f2_swizzle(row, op);
  return swizzle == FLD_F2_SWZ_A ? FLD_F2_NP_A : swizzle == FLD_F2_SWZ_C ? FLD_F2_NP_C : FLD_NONE;
}

unsigned row_half_swizzle(const struct sass_row *row, enum src_place at)
{
  if (at == AT_A) return FLD_HSWZ_A;
  return at != AT_C ? FLD_HSWZ_B : row->traits & ROW_HALF_C3 ? FLD_HSWZ_C3 : FLD_HSWZ_C;
}

/* Modifier bits of one source. A constant has none, as its bits are the number's; beside FP32 pairs it
 * says that it is one number for both halves. */
static void source_modifiers(struct list *l, const struct sass_row *row, enum src_place at,
                             unsigned op)
{
  bool half_c = row->traits & ROW_HALF_C;
  if (at == AT_B_IMM && op & OM_F2) add(l, row_f2_swizzle(row, op));
  if (at == AT_NONE || at == AT_B_IMM) return;
  if (op & (OM_NEG | OM_INV))
    add(l, at == AT_A ? FLD_A_NEG : at != AT_C ? FLD_B_NEG : half_c ? FLD_HC_NEG : FLD_C_NEG);
  if (op & OM_ABS)
    add(l, at == AT_A ? FLD_A_ABS : at != AT_C ? FLD_B_ABS : half_c ? FLD_HC_ABS : FLD_C_ABS);
  if (op & OM_SWZ) add(l, row_half_swizzle(row, at));
  if (op & OM_SEL) add(l, FLD_CVT_SEL);
  if (!(op & OM_F2)) return;
  add(l, row_f2_swizzle(row, op));
  if (row_f2_sign(row, op) != FLD_NONE) add(l, row_f2_sign(row, op));
}

static void source_fields(struct list *l, const struct sass_row *row, unsigned form, unsigned op)
{
  unsigned kind = op & OM_KIND;
  unsigned n = kind == OPD_A ? 0 : kind == OPD_B ? 1 : 2;
  enum src_place at = row_place(row, form, n);
  bool u = row->traits & ROW_UREGS && form >= 8 && at != AT_B_UR;
  switch (at) {
  case AT_A: add(l, u ? FLD_URA : FLD_RA); break;
  case AT_C: add(l, u ? FLD_URC : FLD_RC); break;
  case AT_B_REG: add(l, u ? FLD_URB : FLD_RB); break;
  case AT_B_UR: add(l, FLD_URB); break;
  case AT_B_IMM: add(l, FLD_IMM32); break;
  case AT_B_CONST: add(l, FLD_COFF), add(l, FLD_CBANK); break;
  case AT_B_CX: add(l, FLD_COFF), add(l, FLD_URB); break;
  case AT_NONE: BUG("row %s: operand without a place", row->name);
  }
  source_modifiers(l, row, at, op);
}

enum { OPD_FIELDS = 6 }; /* with the end */

/* Fields of the operands that name their own slots. */
static const uint16_t opd_fields[OPD__N][OPD_FIELDS] = {
    [OPD_D] = {FLD_RD}, [OPD_DQ] = {FLD_RD}, [OPD_UD] = {FLD_URD},
    [OPD_PU] = {FLD_PU}, [OPD_PUQ] = {FLD_PU}, [OPD_PV] = {FLD_PV}, [OPD_PVQ] = {FLD_PV},
    [OPD_PP] = {FLD_PP, FLD_PP_NOT}, [OPD_PPQ] = {FLD_PP, FLD_PP_NOT},
    [OPD_PPX] = {FLD_PP, FLD_PP_NOT}, [OPD_PPRED] = {FLD_PP, FLD_PP_NOT},
    [OPD_PQ] = {FLD_PQ, FLD_PQ_NOT}, [OPD_PQX] = {FLD_PQ, FLD_PQ_NOT},
    [OPD_PREX] = {FLD_PR, FLD_PR_NOT}, [OPD_PRU] = {FLD_PR, FLD_PR_NOT, FLD_PR_U},
    [OPD_LUT] = {FLD_LUT}, [OPD_PLUT] = {FLD_PLUT}, [OPD_PLUT2] = {FLD_PLUT2},
    [OPD_SHIFT] = {FLD_LEA_SHIFT}, [OPD_MASK] = {FLD_MOV_MASK}, [OPD_FSWZ] = {FLD_FSWZ_LANE},
    [OPD_SR] = {FLD_SR},
    [OPD_DATA_B] = {FLD_RB}, [OPD_DATA_C] = {FLD_RC}, [OPD_SWAP_C] = {FLD_RC},
    [OPD_ADDR] = {FLD_RA, FLD_MEM_OFFSET},
    [OPD_ADDR_DB] = {FLD_RA, FLD_URB, FLD_MEM_DESC, FLD_MEM_OFFSET},
    [OPD_ADDR_DC] = {FLD_RA, FLD_URC, FLD_MEM_DESC, FLD_MEM_OFFSET},
    [OPD_ADDR_AC] = {FLD_RA, FLD_URC6, FLD_MEM_OFFSET},
    [OPD_ADDR_UC] = {FLD_RA, FLD_URC6, FLD_MEM_OFFSET},
    [OPD_ADDR_AC100] = {FLD_RA, FLD_URC, FLD_MEM_OFFSET23, FLD_ATOM_A64},
    [OPD_ADDR_RC100] = {FLD_RA, FLD_URC, FLD_RED_DESC, FLD_MEM_OFFSET},
    [OPD_ADDR_MC100] = {FLD_RA, FLD_URC, FLD_MEM_OFFSET},
    [OPD_ADDR_L256] = {FLD_RA, FLD_URB, FLD_MEM_DESC, FLD_OFFSET_L256},
    [OPD_ADDR_S256] = {FLD_RA, FLD_URC, FLD_MEM_DESC, FLD_OFFSET_S256},
    [OPD_D_HI] = {FLD_RD_HI}, [OPD_DATA_HI] = {FLD_RD}, [OPD_MASK256] = {FLD_MASK_L256},
    [OPD_ADDR_O32] = {FLD_RA, FLD_OFFSET32},
    [OPD_SADDR] = {FLD_RA, FLD_MEM_OFFSET}, [OPD_SADDR_B] = {FLD_RA, FLD_URB, FLD_MEM_OFFSET},
    [OPD_SADDR_C] = {FLD_RA, FLD_URC, FLD_MEM_OFFSET},
    [OPD_SADDR_C6] = {FLD_RA, FLD_URC6, FLD_MEM_OFFSET},
    [OPD_USADDR] = {FLD_URA, FLD_MEM_OFFSET}, [OPD_UDATA_B] = {FLD_URB},
    [OPD_XADDR] = {FLD_RA, FLD_LDS_STRIDE, FLD_MEM_OFFSET},
    [OPD_XADDR_B] = {FLD_RA, FLD_LDS_STRIDE, FLD_URB, FLD_MEM_OFFSET},
    [OPD_XADDR_C] = {FLD_RA, FLD_LDS_STRIDE, FLD_URC, FLD_MEM_OFFSET},
    [OPD_LDGSTS_S] = {FLD_RD, FLD_LDGSTS_SOFF},
    [OPD_LDGSTS_G] = {FLD_RA, FLD_URC6, FLD_MEM_DESC, FLD_LDGSTS_GOFF},
    [OPD_LDGSTS_G100] = {FLD_RA, FLD_URC, FLD_LDGSTS_DESC, FLD_LDGSTS_A64, FLD_LDGSTS_GOFF},
    [OPD_LDGSTS_SU] = {FLD_RD, FLD_URC6, FLD_LDGSTS_SOFF},
    [OPD_LDGSTS_SU100] = {FLD_RD, FLD_URC, FLD_LDGSTS_SOFF},
    [OPD_LDGSTS_GN] = {FLD_RA, FLD_URC6, FLD_MEM_DESC, FLD_LDGSTS_GOFF},
    [OPD_LDGSTS_GN100] = {FLD_RA, FLD_URC, FLD_LDGSTS_DESC, FLD_LDGSTS_A64, FLD_LDGSTS_GOFF},
    [OPD_LDCU] = {FLD_URA, FLD_CBANK_LDC, FLD_COFF_LDCU},
    [OPD_UMASK100] = {FLD_URA},
    [OPD_UDQ] = {FLD_URD}, [OPD_IMM64] = {FLD_IMM64},
    [OPD_CADDR] = {FLD_RA, FLD_CBANK_LDC, FLD_COFF_LDC},
    [OPD_UCADDR] = {FLD_CBANK_LDC, FLD_COFF_LDC},
    [OPD_UCADDR_UR] = {FLD_URA, FLD_CBANK_LDC, FLD_COFF_LDC},
    [OPD_CCTL] = {FLD_RA, FLD_OFFSET32},
    [OPD_T48] = {FLD_TARGET48}, [OPD_T56] = {FLD_TARGET56}, [OPD_T30] = {FLD_TARGET30},
    [OPD_TLEPC] = {FLD_TARGET_LEPC},
    [OPD_BREG_D] = {FLD_BREG}, [OPD_BREG_S] = {FLD_BREG},
    [OPD_BSTATE_D] = {FLD_BMOV_STATE}, [OPD_BSTATE_S] = {FLD_BMOV_STATE},
    [OPD_UMASK] = {FLD_URA_MASK, FLD_URA_NOT},
    [OPD_LANE_R] = {FLD_RB}, [OPD_LANE_I] = {FLD_SHFL_LANE},
    [OPD_CLAMP_R] = {FLD_RC}, [OPD_CLAMP_I] = {FLD_SHFL_C},
    [OPD_BAR_R] = {FLD_RB}, [OPD_BAR_I] = {FLD_BAR_ID},
    [OPD_COUNT_R] = {FLD_RB}, [OPD_COUNT_I] = {FLD_BAR_COUNT},
    [OPD_DEPBAR] = {FLD_DEPBAR_LE, FLD_DEPBAR_SB, FLD_DEPBAR_COUNT, FLD_DEPBAR_MASK},
    [OPD_TD2] = {FLD_TEX_RD2}, [OPD_TA] = {FLD_RA}, [OPD_TB] = {FLD_RB},
    [OPD_TBANK] = {FLD_CBANK}, [OPD_TOFF] = {FLD_COFF}, [OPD_TUR] = {FLD_TEX_URH},
    [OPD_TUOFF] = {FLD_TEX_UOFF}, [OPD_HC] = {FLD_RC}, [OPD_TDIM] = {FLD_TEX_DIM},
    [OPD_TMASK] = {FLD_TEX_MASK}, [OPD_TQUERY] = {FLD_TXQ_QUERY}, [OPD_SUADDR] = {FLD_RA},
    [OPD_MAXREG] = {FLD_MAXREG_COUNT}, [OPD_PMIMM] = {FLD_PMTRIG_IMM}, [OPD_BPTIMM] = {FLD_BPT_IMM},
    [OPD_META] = {FLD_HMMA_META}, [OPD_META_KEPT] = {FLD_HMMA_META, FLD_HMMA_META_REUSE},
    [OPD_SCALE_A] = {FLD_SCALE_A}, [OPD_SCALE_B] = {FLD_SCALE_B, FLD_SCALE_B_REUSE}, [OPD_SCALE_U] = {FLD_SCALE_UR},
    [OPD_BULK_A] = {FLD_URA}, [OPD_BULK_B] = {FLD_URB}, [OPD_BULK_C] = {FLD_URC},
    [OPD_TMA_A] = {FLD_URA}, [OPD_TMA_B] = {FLD_URB}, [OPD_TMA_C] = {FLD_URC}, [OPD_TMA_HINT] = {FLD_TMA_HINT},
    [OPD_GDESC_A] = {FLD_URA, FLD_A_NEG, FLD_B_NEG, FLD_GMMA_TNSP_A, FLD_GMMA_TNSP_B},
    [OPD_GDESC_B] = {FLD_URB, FLD_B_NEG, FLD_GMMA_TNSP_B},
    [OPD_GSCALE] = {FLD_GMMA_UP, FLD_PP_NOT}, [OPD_GSB] = {FLD_GMMA_GSB},
    [OPD_GDEPBAR] = {FLD_DEPBAR_LE, FLD_DEPBAR_SB, FLD_GMMA_DEPBAR_COUNT},
    [OPD_TC_GA] = {FLD_URA, FLD_TC_A_REUSE, FLD_TC_A_KEEP}, [OPD_TC_TA] = {FLD_URA, FLD_TC_A_REUSE, FLD_TC_A_KEEP},
    [OPD_TC_GB] = {FLD_URB, FLD_TC_B_REUSE, FLD_TC_B_KEEP, FLD_TC_BUFFER},
    [OPD_TC_D] = {FLD_URC}, [OPD_TC_META] = {FLD_TC_META}, [OPD_TC_IDESC] = {FLD_TC_META},
    [OPD_TC_MASK] = {FLD_TC_AUX}, [OPD_TC_SCALES] = {FLD_TC_AUX}, [OPD_TC_SHIFT] = {FLD_TC_SHIFT},
    [OPD_TC_TO] = {FLD_URA, FLD_TMEM_OFFSET}, [OPD_TC_FROM] = {FLD_URB}, [OPD_TC_BAR] = {FLD_URA},
    [OPD_WORK_BAR] = {FLD_URA},
    [OPD_TC_CTAS] = {FLD_URC},
    [OPD_TMEM_L] = {FLD_URB, FLD_TMEM_OFFSET}, [OPD_TMEM_S] = {FLD_URC, FLD_TMEM_OFFSET}, [OPD_D_STAT] = {FLD_RA},
    [OPD_WORD] = {FLD_IMM32},
    [OPD_SEL] = {FLD_HMMA_SEL}, [OPD_RPC] = {FLD_RPC_HI}, [OPD_UPA] = {FLD_BRA_UP, FLD_BRA_UP_NOT},
};

const uint16_t *row_operand_fields(unsigned kind)
{
  return opd_fields[kind];
}

const char *row_bracket(unsigned kind)
{
  static const char *const open[OPD__N] = {
      [OPD_TC_GA] = "gdesc[", [OPD_TC_GB] = "gdesc[", [OPD_TC_FROM] = "gdesc[", [OPD_TC_TA] = "tmem[",
      [OPD_TC_D] = "tmem[", [OPD_TC_META] = "tmem[", [OPD_TC_SCALES] = "tmem[", [OPD_TC_TO] = "tmem[",
      [OPD_TMEM_L] = "tmem[", [OPD_TMEM_S] = "tmem[", [OPD_TC_IDESC] = "idesc[", [OPD_TC_BAR] = "[",
      [OPD_WORK_BAR] = "["};
  return open[kind];
}

bool row_is_behind(unsigned kind)
{
  return kind == OPD_TC_IDESC || kind == OPD_WORK_BAR;
}

/* Global accesses with a uniform register also have the bit that tells Ra's width. */
static bool has_a64(unsigned kind)
{
  return kind == OPD_ADDR_DB || kind == OPD_ADDR_DC;
}

static bool listed(const struct list *l, unsigned id)
{
  for (unsigned i = 0; i < l->n; i++)
    if (l->field[i] == id) return true;
  return false;
}

unsigned row_fields(const struct sass_row *row, unsigned form, uint16_t field[SASS_MAX_FIELDS])
{
  struct list l = {field, 0};
  add(&l, FLD_OPCODE), add(&l, FLD_GUARD), add(&l, FLD_GUARD_NOT), add(&l, FLD_PM);
  for (unsigned i = 0; i < ROW_OPS && row->op[i]; i++) {
    unsigned kind = row->op[i] & OM_KIND;
    if (kind == OPD_A || kind == OPD_B || kind == OPD_C || kind == OPD_CHI) {
      source_fields(&l, row, form, row->op[i]);
      continue;
    }
    /* BAR with number and count in one register names Rb twice. */
    for (unsigned k = 0; k < OPD_FIELDS && opd_fields[kind][k]; k++)
      if (!listed(&l, opd_fields[kind][k])) add(&l, opd_fields[kind][k]);
    if (has_a64(kind)) add(&l, FLD_MEM_A64);
  }
  for (unsigned i = 0; i < ROW_FIELDS && row->field[i]; i++) add(&l, row->field[i]);
  return l.n;
}

bool row_has_opcode(const struct sass_row *row, unsigned sm, unsigned opcode)
{
  return row->base == (opcode & 0x1ff) && row_forms(row, sm) >> opcode_form(opcode) & 1;
}

bool row_has_word(const struct sass_row *row, struct word128 w)
{
  return !row->when_field || row->when_mask >> field_get(w, row->when_field) & 1;
}

static bool names_uniform_register(unsigned field)
{
  return field == FLD_URD || field == FLD_URA || field == FLD_URB || field == FLD_URC || field == FLD_TEX_URH;
}

/* The first row of this name. Most of those before it differ in the first letter. */
static uint16_t mnemonic_of(const struct sass_row *row)
{
  const char first = row->name[0];
  unsigned i = 0;
  while (&sass_rows[i] != row && (sass_rows[i].name[0] != first || strcmp(sass_rows[i].name, row->name) != 0)) i++;
  return (uint16_t)i;
}

void row_plan(const struct sass_row *row, unsigned form, struct row_plan *p)
{
  *p = (struct row_plan){.row = row, .mnemonic = mnemonic_of(row)};
  p->known.hi = bits_ones(20) << (105 - 64); /* control information; opcode and guard are fields */
  p->n_fields = (uint8_t)row_fields(row, form, p->field);
  for (unsigned i = 0; i < p->n_fields; i++) {
    const struct word128 bits = field_mask(p->field[i]);
    p->known = (struct word128){p->known.lo | bits.lo, p->known.hi | bits.hi};
    if (names_uniform_register(p->field[i])) p->uregs |= UINT32_C(1) << i;
  }
}

uint64_t field_get(struct word128 w, unsigned id)
{
  const struct field_piece *p = sass_fields[id].piece;
  uint64_t v = 0;
  unsigned shift = 0;
  for (unsigned i = 0; i < FIELD_PIECES && p[i].width; i++) {
    v |= bits_get(w, p[i].pos, p[i].width) << shift;
    shift += p[i].width;
  }
  return v;
}

bool field_put(struct word128 *w, unsigned id, uint64_t v)
{
  const struct field_piece *p = sass_fields[id].piece;
  if (v & ~bits_ones(field_width(id))) return false;
  for (unsigned i = 0; i < FIELD_PIECES && p[i].width; i++) {
    bits_or(w, p[i].pos, p[i].width, v & bits_ones(p[i].width));
    v >>= p[i].width;
  }
  return true;
}

struct word128 field_mask(unsigned id)
{
  struct word128 w = {0, 0};
  BUG_ON(!field_put(&w, id, bits_ones(field_width(id))));
  return w;
}

unsigned field_width(unsigned id)
{
  unsigned n = 0;
  for (unsigned i = 0; i < FIELD_PIECES; i++) n += sass_fields[id].piece[i].width;
  return n;
}

enum sass_imm row_immediate(const struct sass_inst *s)
{
  enum { RCP64H = 6, RSQ64H = 7 }; /* FLD_MUFU_OP */
  enum { FSIZE_F16 = 1, FSIZE_F32 = 2, FSIZE_BF16 = 4 };
  switch (sass_get(s, FLD_CVT_SRC_FSIZE)) {
  case FSIZE_F16: return IMM_F16;
  case FSIZE_F32: return IMM_F32;
  case FSIZE_BF16: return IMM_BF16;
  default: break;
  }
  unsigned op = s->sem == SEM_MUFU ? (unsigned)sass_get(s, FLD_MUFU_OP) : 0;
  return op == RCP64H || op == RSQ64H ? IMM_F64 : s->row->imm;
}
