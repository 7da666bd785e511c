/* Instruction rows: private to isa/sass.
 *
 * A row describes one instruction: its opcode, operand forms, operands in assembly order and
 * modifier fields. The fields of an instruction are, in this order (the order of sass_inst.val):
 * the four common fields, those of its operands, those of its modifier list. row_fields() is the
 * only place that knows; decoder, encoder and disassembler go through it.
 *
 * Opcode numbers have 13 bits, {bit 91, bits 11:0}: 8:0 are the operation, the form number is
 * {bit 91, bits 11:9} (Mesa NAK; compiler output, CUDA 13.0):
 *
 *   form                     slot B (63:32)      slot C (71:64)
 *   1, 9 (uniform path)      register b          register c
 *   2, 10                    32-bit constant c   register b
 *   3, 11 (bindless)         c[bank][offset] c   register b
 *   4, 12                    32-bit constant b   register c
 *   5, 13 (bindless)         c[bank][offset] b   register c
 *   14                       uniform b           register c
 *   15                       uniform c           register b
 */
#ifndef WS_ISA_SASS_ROW_H
#define WS_ISA_SASS_ROW_H

#include <stddef.h>

#include "isa/sass/sass.h"

enum { FIELD_PIECES = 3, FIELD_NAMES = 16, ROW_OPS = 10, ROW_FIELDS = 12 };

enum field_show { SHOW_HIDE, SHOW_NUM, SHOW_NAMES };

struct field_piece {
  uint8_t pos, width; /* width 0: unused */
};

struct sass_field {
  const char *id;
  uint8_t show; /* enum field_show */
  struct field_piece piece[FIELD_PIECES];
  const char *names[FIELD_NAMES];
};

extern const struct sass_field sass_fields[FLD__N];

/* Where the logical sources a, b, c of an ALU instruction are encoded. */
enum sass_layout {
  LAY_NONE, /* operands name their slots themselves */
  LAY_ABC,  /* a in slot A; b and c as in the table above */
  LAY_AB,   /* a in slot A, b always in slot B */
  LAY_AL,   /* the same, but b counts as the last of three: forms 2, 3, 15; reuse bit 2 (FADD) */
  LAY_AC,   /* as AL, but b in slot C in form 1 (DADD) */
  LAY_A,    /* a in slot A */
  LAY_B,    /* a in slot B: unary instructions */
};

/* How a 32-bit constant is written. */
enum sass_imm { IMM_NONE, IMM_U, IMM_S, IMM_F32, IMM_F64, IMM_F16X2, IMM_F16, IMM_BF16 };

/* Place of one source. */
enum src_place { AT_NONE, AT_A, AT_B_REG, AT_B_IMM, AT_B_CONST, AT_B_UR, AT_B_CX, AT_C };

/* Operands in assembly order. Q: written only when not PT / RZ; X: only with the X modifier. */
enum sass_opd {
  OPD_NONE,
  OPD_D, OPD_DQ, OPD_UD, OPD_A, OPD_B, OPD_C,
  OPD_CHI,                                  /* c of LEA: only with .HI and without .SX32 */
  OPD_PU, OPD_PUQ, OPD_PV, OPD_PVQ,
  OPD_PP, OPD_PPQ, OPD_PPX, OPD_PQ, OPD_PQX, OPD_PREX /* with .EX */, OPD_PRU /* P or UP */,
  OPD_PPRED /* BAR.RED */,
  OPD_LUT, OPD_PLUT, OPD_PLUT2, OPD_SHIFT, OPD_MASK, OPD_FSWZ, OPD_PRS, OPD_PRD, OPD_SR,
  OPD_UDATA_B,                              /* src[1], pair of UR */
  OPD_DATA_B, OPD_DATA_C, OPD_SWAP_C,       /* src[1], src[1], src[2] */
  OPD_ADDR,                                 /* [R.64 + offset] */
  OPD_ADDR_DB, OPD_ADDR_DC,                 /* descriptor or UR base in slot B, C */
  OPD_ADDR_AC,                              /* atomics: descriptor in slot C, no flag bits */
  OPD_ADDR_O32,                             /* offset of 32 bits */
  OPD_SADDR, OPD_SADDR_B, OPD_SADDR_C,      /* shared, local: 32-bit R + offset, UR in B, C */
  OPD_SADDR_C6, OPD_USADDR,                 /* UR in C, bits 71:70 apart; UR in A, no R (SYNCS) */
  OPD_XADDR, OPD_XADDR_B, OPD_XADDR_C,      /* the same with a stride */
  OPD_LDGSTS_S, OPD_LDGSTS_G,
  OPD_CADDR, OPD_UCADDR, OPD_UCADDR_UR,     /* LDC, ULDC */
  OPD_CCTL,
  OPD_T48, OPD_T56, OPD_T30, OPD_TLEPC,     /* branch targets */
  OPD_BREG_D, OPD_BREG_S, OPD_BSTATE_D, OPD_BSTATE_S, OPD_UMASK,
  OPD_LANE_R, OPD_LANE_I, OPD_CLAMP_R, OPD_CLAMP_I,
  OPD_BAR_R, OPD_BAR_I, OPD_COUNT_R, OPD_COUNT_I,
  OPD_DEPBAR, OPD_MAXREG, OPD_PMIMM, OPD_BPTIMM, OPD_META, OPD_META_KEPT, OPD_SEL, OPD_UPA, OPD_RPC,
  OPD_SCALE_A, OPD_SCALE_B, OPD_SCALE_U,    /* QMMA.SF, OMMA.SF */
  OPD_BULK_A, OPD_BULK_B, OPD_BULK_C,       /* bulk copies: [UR] in slots A and B, bytes in C */
  OPD_TMA_A, OPD_TMA_B, OPD_TMA_C, OPD_TMA_HINT, /* tensor copies: the same; desc[UR] */
  OPD_GDESC_A, OPD_GDESC_B,                 /* GMMA: descriptors of A and B, of B alone */
  OPD_GSCALE, OPD_GSB, OPD_GDEPBAR,         /* is C added; group counter; WARPGROUP.DEPBAR */
  OPD_UDQ, OPD_IMM64,
  OPD_ADDR_UC,                              /* sm_75 atomics: the uniform register is added */
  OPD_ADDR_AC100, OPD_ADDR_RC100, OPD_ADDR_MC100, /* sm_100+: ATOM, ATOMG; REDG; LDGMC */
  OPD_LDGSTS_G100, OPD_LDGSTS_SU, OPD_LDGSTS_SU100, OPD_LDGSTS_GN,
  OPD_LDGSTS_GN100 /* shared address in UR, descriptor in the next */,
  OPD_LDCU, OPD_UMASK100,
  OPD_TD2, OPD_TA, OPD_TB,                  /* TEX …: second result, arguments */
  OPD_TBANK, OPD_TOFF, OPD_TUR, OPD_TUOFF, OPD_HC, /* handle: constant, uniform register, Rc */
  OPD_TDIM, OPD_TMASK, OPD_TQUERY, OPD_SUADDR, /* SULD …: [R4] */
  OPD_ADDR_L256, OPD_ADDR_S256,             /* 256-bit LDG, STG: offset in units of 32 bytes */
  OPD_D_HI, OPD_DATA_HI, OPD_MASK256,       /* upper four registers; words that are loaded */
  OPD_TC_GA, OPD_TC_TA, OPD_TC_GB,          /* UTC*MMA: gdesc[UR] or tmem[UR] of A, gdesc[UR] of B */
  OPD_TC_D, OPD_TC_META, OPD_TC_IDESC,      /* tmem[UR] of D, of sparsity metadata; idesc[UR], the register behind */
  OPD_TC_MASK, OPD_TC_SCALES, OPD_TC_SHIFT, /* disabled lanes or zero columns; tmem[UR] of the scales; D * 2^-n */
  OPD_TC_TO, OPD_TC_FROM,                   /* UTCCP, UTCSHIFT: tmem[UR], gdesc[UR] */
  OPD_TC_BAR, OPD_TC_CTAS,                  /* UTCBAR: [UR], CTAs of a multicast */
  OPD_WORK_BAR,                             /* UGETNEXTWORKID: [UR], the register behind that of TC_BAR */
  OPD_TMEM_L, OPD_TMEM_S, OPD_D_STAT,       /* LDTM, STTM: tmem[UR + offset]; the reduced value */
  OPD_WORD,                                 /* a 32-bit number */
  OPD__N,
  /* modifiers of A, B, C, or-ed in */
  OM_NEG = 1 << 8,  /* negated by the slot's neg bit */
  OM_ABS = 1 << 9,
  OM_INV = 1 << 10,  /* the neg bit inverts: written ~ */
  OM_XINV = 1 << 11, /* inverts only with the X modifier */
  OM_SWZ = 1 << 12, /* FP16 pair swizzle */
  OM_SEL = 1 << 13, /* CVT_SEL */
  OM_F2 = 1 << 14,  /* FP32 pair swizzle */
  OM_KIND = (1 << 8) - 1,
  OPD_nA = OPD_A | OM_NEG, OPD_nB = OPD_B | OM_NEG, OPD_nC = OPD_C | OM_NEG,
  OPD_naA = OPD_nA | OM_ABS, OPD_naB = OPD_nB | OM_ABS, OPD_naC = OPD_nC | OM_ABS,
  OPD_vA = OPD_A | OM_INV, OPD_xA = OPD_A | OM_NEG | OM_XINV, OPD_xB = OPD_B | OM_NEG | OM_XINV,
  OPD_xC = OPD_C | OM_NEG | OM_XINV,
  OPD_hA = OPD_naA | OM_SWZ, OPD_hB = OPD_naB | OM_SWZ, OPD_hC = OPD_naC | OM_SWZ,
  OPD_pA = OPD_nA | OM_F2, OPD_pB = OPD_nB | OM_F2, OPD_pC = OPD_nC | OM_F2,
  OPD_sA = OPD_A | OM_SEL, OPD_snaA = OPD_naA | OM_SEL,
};

/* In tables by operand: the kinds that are an address in brackets, of what memory instructions read and write. */
#define OPD_ADDRESSES(...)                                                                         \
  [OPD_ADDR] = __VA_ARGS__, [OPD_ADDR_DB] = __VA_ARGS__, [OPD_ADDR_DC] = __VA_ARGS__,              \
  [OPD_ADDR_AC] = __VA_ARGS__, [OPD_ADDR_O32] = __VA_ARGS__, [OPD_ADDR_UC] = __VA_ARGS__,          \
  [OPD_ADDR_AC100] = __VA_ARGS__, [OPD_ADDR_RC100] = __VA_ARGS__, [OPD_ADDR_L256] = __VA_ARGS__,   \
  [OPD_ADDR_MC100] = __VA_ARGS__,                                                                  \
  [OPD_ADDR_S256] = __VA_ARGS__, [OPD_SADDR] = __VA_ARGS__, [OPD_SADDR_B] = __VA_ARGS__,           \
  [OPD_SADDR_C] = __VA_ARGS__, [OPD_SADDR_C6] = __VA_ARGS__, [OPD_USADDR] = __VA_ARGS__,           \
  [OPD_XADDR] = __VA_ARGS__, [OPD_XADDR_B] = __VA_ARGS__, [OPD_XADDR_C] = __VA_ARGS__,             \
  [OPD_CCTL] = __VA_ARGS__, [OPD_LDGSTS_G] = __VA_ARGS__, [OPD_LDGSTS_G100] = __VA_ARGS__,         \
  [OPD_LDGSTS_GN] = __VA_ARGS__, [OPD_LDGSTS_GN100] = __VA_ARGS__

/* Register widths of the operands of a row (operand_width.c). */
enum sass_width {
  W_1,    /* one register each */
  W_64,   /* pairs */
  W_WIDE, /* d and c pairs */
  W_HI,   /* c pair */
  W_D2, W_A2,
  W_MEM, W_256 /* eight registers in two groups */, W_ATOM, W_ATOM4 /* sm_90 codes */, W_ATOMF, W_ATOMS, W_CAS, W_LDSM,
  W_CVT, W_F2 /* FP32 pairs */, W_CS2R, W_MATCH, W_HMMA, W_HMMA884 /* pairs */,
  W_IMMA, W_BMMA, W_DMMA, W_QMMA, W_MOVM, W_MXMMA, W_GMMA,
  W_ARRIVE, /* 64-bit mbarrier: d pair */
  W_EXCH,   /* the same: data pair */
  W_STAS,   /* a pair, data by MEM_SIZE */
  W_REDAS,  /* the same, data by ATOM_ITYPE */
  W_TEX,    /* arguments by sass_tex_args(), results by TEX_MASK */
  W_SUST_P, /* data by SURF_MASK */
  W_SURED,
  W_LDGMC,  /* data by LDGMC_ITYPE, LDGMC_FTYPE, LDGMC_F8TYPE */
  W_TMEM,   /* data by TMEM_SHAPE, TMEM_N */
};

enum row_trait {
  ROW_UREGS = 1 << 0,   /* a, b, c are uniform registers */
  ROW_UPRED_D = 1 << 1, /* Pu, Pv are uniform predicates */
  ROW_UPRED_S = 1 << 2, /* the guard and Pp, Pq, Pr are uniform predicates */
  ROW_HALF_C = 1 << 3,  /* slot C modifiers at 84:83 (HFMA2) */
  ROW_HALF_C3 = 1 << 4, /* and its swizzle at 77:76 (VHMNMX) */
  ROW_QUIET_DESC = 1 << 7, /* the descriptor is not written */
};

struct sass_row {
  const char *name;
  uint8_t sm_min, sm_max;
  uint16_t base;   /* opcode bits 8:0 */
  uint16_t forms;  /* mask of form numbers */
  uint16_t when_field; /* FLD_NONE, or the row only matches when the value of this field is */
  uint32_t when_mask; /* one of these: bit v set for value v */
  uint8_t layout, imm, width, traits;
  uint16_t op[ROW_OPS];
  uint16_t field[ROW_FIELDS];
  uint8_t pipe, lat;
  uint16_t sem, flags;
  uint8_t mem_space, mem_op;
};

extern const struct sass_row sass_rows[];
extern const unsigned sass_n_rows;

/* Form number of a 13-bit opcode. */
static inline unsigned opcode_form(unsigned opcode)
{
  return (opcode >> 9 & 7) | (opcode >> 12 & 1) << 3;
}

/* Operand forms of a row that target sm has, as a mask; 0: the row is not for this target. */
unsigned row_forms(const struct sass_row *row, unsigned sm);

/* Register-read position of source n, which is also the number of its reuse bit: the logical
 * position a, b, c, not the slot of the encoding (compiler output, CUDA 13.0). */
unsigned row_position(const struct sass_row *row, unsigned n);

/* How this instruction's 32-bit constant is written: as its row says, but MUFU's operations on the
 * upper word of an FP64 number take that. */
enum sass_imm row_immediate(const struct sass_inst *);

/* Where source n (0 = a) of a row lies in this form. */
enum src_place row_place(const struct sass_row *row, unsigned form, unsigned n);

/* A modifier that is written behind a source and not in the mnemonic: FLD_NONE ends the list. */
struct row_suffix {
  uint16_t field;
  uint8_t operand;         /* OPD_A, OPD_B, OPD_C */
  const char *name[4];     /* by value; NULL: no such value */
};
extern const struct row_suffix row_suffixes[];

/* Lists the fields of an instruction in the order of sass_inst.val; returns how many. */
unsigned row_fields(const struct sass_row *row, unsigned form, uint16_t field[SASS_MAX_FIELDS]);

/* What an operand of tensor memory's instructions writes before its uniform register: "gdesc["; NULL: it is none. */
const char *row_bracket(unsigned kind);
/* It is the register behind the one that its field names. */
bool row_is_behind(unsigned kind);

/* Swizzle field of an OM_F2 operand. */
unsigned row_f2_swizzle(const struct sass_row *row, unsigned op);
/* Swizzle field of an FP16 pair in a place. */
unsigned row_half_swizzle(const struct sass_row *row, enum src_place at);
/* FLD_NONE: this operand has no .NP. */
unsigned row_f2_sign(const struct sass_row *row, unsigned op);

uint64_t field_get(struct word128 w, unsigned id);
/* ORs v into the field's bits; false when v does not fit. */
bool field_put(struct word128 *w, unsigned id, uint64_t v);
struct word128 field_mask(unsigned id);
unsigned field_width(unsigned id);

/* Whether the words with this opcode are of the row, as far as the opcode says; then row_has_word tells. */
bool row_has_opcode(const struct sass_row *row, unsigned sm, unsigned opcode);
bool row_has_word(const struct sass_row *row, struct word128 w);

/* What decoding asks of a row in one form, for each word alike. */
struct row_plan {
  const struct sass_row *row;
  struct word128 known; /* bits that its fields and the control information account for */
  uint32_t uregs;       /* which of the fields name uniform registers, as a mask */
  uint16_t mnemonic;    /* inst.mnemonic: rows of one mnemonic share the number of the first */
  uint8_t n_fields;
  uint16_t field[SASS_MAX_FIELDS]; /* row_fields() */
};
void row_plan(const struct sass_row *row, unsigned form, struct row_plan *);
/* sass_decode() of a word whose row is found; plan NULL: it has none. */
bool row_decode(const struct row_plan *, unsigned sm, struct word128 w, uint64_t pc, struct sass_inst *s,
                struct inst *t, struct err *e);

/* Fills the timing view from the semantic view (timing.c). */
void sass_fill_timing(const struct sass_inst *s, struct inst *t);

/* Fields of an operand kind (without OM_ flags) that names its own slots, in the order of
 * sass_inst.val; ends with FLD_NONE. None for OPD_A, OPD_B, OPD_C. */
const uint16_t *row_operand_fields(unsigned kind);

/* Parts of the disassembly (print.c). The assembler looks for the field values that print as its
 * input, so that it follows whatever the disassembler writes. */
/* What modifier field `id` with value v adds to the mnemonic; may look at fields before it. */
int sass_print_modifier(const struct sass_inst *, unsigned id, uint64_t v, char *buf, size_t size);
int sass_print_operand(const struct sass_inst *, const struct inst *, unsigned op, char *buf,
                       size_t size);
/* The operand is not written because it says nothing. */
bool sass_operand_is_quiet(const struct sass_inst *, unsigned op);

/* How FSWZADD writes the two bits of a lane. */
extern const char *const sass_fswz_names[4];

/* Name of special register sr ("SR_TID.X"), or NULL (names.c). */
const char *sass_special_register(unsigned sr);

#endif
