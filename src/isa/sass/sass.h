/* 128-bit SASS (sm_70 and later): rows, fields, decode, encode, disassembly.
 *
 * fields.def  one line per bit field: id, name, bit pieces
 * opcodes.def one row per instruction: name, architectures, match, fields, pipe, latency class,
 *             semantics, flags
 * Everything else - decoder, encoder, disassembler, coverage - derives from the two. A word whose
 * bits are not all accounted for by the fields of its row does not decode: ignored bits would
 * compute wrong results silently.
 */
#ifndef WS_ISA_SASS_SASS_H
#define WS_ISA_SASS_SASS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/err.h"
#include "isa/inst.h"

/* Field ids, from fields.def. FLD_NONE = 0. */
enum sass_field_id {
  FLD_NONE,
#define FIELD(id, ...) FLD_##id,
#include "isa/sass/fields.def"
#undef FIELD
  FLD__N
};

/* Semantics ids, from opcodes.def through sem.def: what func/ executes. Several rows (operand forms,
 * architectures) share one. */
enum sass_sem {
#define SEM(id) SEM_##id,
#include "isa/sass/sem.def"
#undef SEM
  SEM__N
};

struct sass_row; /* private to isa/sass; questions go through the functions below */

/* Where a source operand comes from, after the operand form (bits 11:9) is resolved. */
enum sass_src_kind {
  SRC_NONE,
  SRC_REG,   /* R[index]; index 255 = RZ */
  SRC_UREG,  /* UR[index]; index SASS_URZ = URZ on every architecture */
  SRC_IMM,   /* imm: raw 32 bits, zero-extended (FP64 instructions: the high word) */
  SRC_CONST, /* c[bank][imm]; imm = byte offset */
  SRC_CONST_UR, /* cx[UR[index]][imm]: bindless */
};

enum { SASS_RZ = 255, SASS_URZ = 255, SASS_PT = 7, SASS_MAX_FIELDS = 25 /* HFMA2's */ };
enum { SASS_CROSSED = 4 }; /* sass_src.swz: b of HFMA2 with its halves exchanged (.H0_NH1) */
enum { SASS_UPPER_NEG = 4 }; /* sass_src.swz of an FP32 pair: the upper half has the other sign (.NP) */

struct sass_src {
  uint8_t kind;  /* enum sass_src_kind */
  uint8_t index;
  uint8_t bank;  /* SRC_CONST */
  bool neg, abs; /* slot modifiers; neg means NOT in IADD3.X, LEA.X, IMAD.X, POPC, FLO */
  uint8_t swz;   /* FP16 pairs: HSWZ code of this source, plus SASS_CROSSED; conversions, MUFU: CVT_SEL */
  uint32_t imm;
  uint32_t imm_hi; /* SRC_IMM of 64-bit integer instructions: upper half */
};

/* Predicate source: index 7 = true (PT), `uniform` = UP file. */
struct sass_pred {
  uint8_t index;
  bool neg, uniform;
};

/* Where the operands of particular instructions land (beside dst, guard, fields by FLD_ id):
 *
 *   ISETP, FSETP, DSETP, HSETP2   pu, pv results; pp combined; ISETP.EX: pr = result of the low words
 *   DSETP.MIN, DSETP.MAX          SEM_DSETP_MNMX: pu = a is the result, pv = both are NaN
 *   IADD3.X, UIADD3.X             pp, pq carries in; pu, pv carries out
 *   IMAD, IMAD.WIDE, LEA with .X  pp carry in; pu carry out
 *   IMAD.WIDE, IMAD.HI            src[2] is a register pair (low register named); WIDE: dst pair too
 *   LEA                           src[2] = high word (.HI), FLD_LEA_SHIFT
 *   SEL, FSEL, FMNMX, IMNMX, …    pp selects
 *   LOP3                          FLD_LUT; pu result, pp, FLD_LOP3_PAND
 *   PLOP3                         pp, pq, pr sources; pu by FLD_PLUT, pv by FLD_PLUT2
 *   P2R, R2P                      src[0] register, src[1] mask, FLD_PR_BYTE
 *   HGMMA IGMMA BGMMA QGMMA       src[0] A: registers, or the first of four uniform ones: descriptors of A and B;
 *                                 src[1] else the first of four, of which the last two describe B; src[2]
 *                                 accumulators, added when pp
 *   UTC*MMA                       src[0] A: descriptor, or address in tensor memory; src[1] B's descriptor; src[2] D;
 *                                 FLD_TC_META, FLD_TC_AUX; added to D when pp
 *   UTCBAR                        src[0] mbarrier, src[2] CTAs of a multicast
 *   UGETNEXTWORKID                src[0] shared address; the mbarrier's is in the next register
 *   UTCCP UTCSHIFT                ua + offset: address in tensor memory; src[1] descriptor
 *   LDTM STTM                     ua + offset: address in tensor memory; src[1] data; .STAT: FLD_RA the reduced value
 *   SHFL                          src[0] value, src[1] lane, src[2] clamp and mask; pu
 *   VOTE, VOTEU                   pp source; pu and dst / udst results
 *   MATCH                         src[0]; pu result of .ALL
 *   S2R, CS2R, S2UR               FLD_SR
 *   BAR                           src[0] barrier, src[1] thread count (imm 0 = all); a register holds
 *                                 both: bits 27:16 count, 3:0 number; pp = input of .RED
 *   B2R.RESULT                    dst, pu
 *   PLOP3 with .SIGN              SEM_PLOP3_SIGN: sign bits of src[0..2] instead of pp, pq, pr;
 *                                 FLD_LUT, FLD_PLUT2
 *   BRA.U with a uniform predicate  pq: taken when guard AND pp AND pq
 *   SYNCS, ARRIVES                src[0] + ua + offset: shared address of the mbarrier; src[1] operand
 *   STAS                          src[0] pair: shared address, mbarrier; src[1] data
 *   LDG LD LDS LDL ATOM* RED …    src[0] address (pair when global or generic), offset, ua
 *   STG ST STS STL STSM           src[1] data
 *   ATOM*, RED                    src[1] operand; compare-and-swap: src[1] compare, src[2] swap
 *   LDG, STG of 256 bits          words 4..7 in FLD_RD_HI, src[2]; FLD_MASK_L256
 *   LDS, STS, ATOMS               src[0] is multiplied by 1, 4, 8, 16: FLD_LDS_STRIDE
 *   LDGSTS                        src[0] global address pair, offset; src[1] shared address register,
 *                                 FLD_LDGSTS_SOFF (20 bits, signed); pp false: no copy (or zero fill)
 *   LDC                           src[0] offset register, offset (bytes), src[1].bank
 *   ULDC                          src[0] SRC_CONST bank and byte offset; ua offset register or SASS_URZ
 *   QSPC                          src[0] address pair, offset; pu result
 *   TEX TLD TLD4 TXD              sass_tex_args(); src[2] handle unless it is an argument; results: dst
 *                                 and FLD_TEX_RD2, two components each; pu: not resident
 *   TXQ                           src[0] level, with .B behind the handle; src[2] handle
 *   SULD SUST SURED               src[0] coordinates, src[1] data, src[2] handle
 *   BRA                           offset; taken when guard AND pp; 1947 form: ua, FLD_URA_NOT,
 *                                 FLD_BRA_COND
 *   BRX, JMX, CALL, RET           src[0] address pair, offset; SRC_NONE: direct. CALL.ABS, JMP: offset
 *                                 is the absolute address
 *   BSSY, BSYNC, BREAK            bar; BSSY: offset
 *   BMOV                          dst (FLD_BMOV_STATE read), or src[0] (FLD_BMOV_STATE written)
 *   WARPSYNC                      src[0] mask; SRC_NONE: all lanes; .COLLECTIVE: offset
 *   NANOSLEEP                     src[0] time
 *   LEPC                          dst pair = pc; with FLD_TARGET_LEPC (sm_90): pc + 16 + offset
 */

/* Operation type of ATOM, ATOMG, ATOMS, RED, whatever code the architecture has for it. */
enum sass_atom_type {
  ATOM_U32, ATOM_S32, ATOM_U64, ATOM_S64, ATOM_F32 /* flushes subnormals */, ATOM_F64, ATOM_F16X2,
  ATOM_BF16X2, ATOM_F32X2, ATOM_F32X4, ATOM_F16X4, ATOM_F16X8, ATOM_BF16X4, ATOM_BF16X8, ATOM_B128,
  ATOM_INVALID
};

/* A decoded instruction in logical operand order: src[0], src[1], src[2] are a, b, c of the
 * semantics whatever slots they were encoded in (a constant sits in slot B, the register it replaces in slot C).
 * For FADD/HADD2/DADD/DSETP the second addend is src[1]; src[2] is SRC_NONE.
 * For unary instructions (MOV, MUFU, F2F, POPC, …) the source is src[0].
 * Memory: src[0] = address register, src[1] = store data / atomic operand, src[2] = compare-and-swap
 * second operand; ua = uniform register of the address or descriptor. */
struct sass_inst {
  const struct sass_row *row;  /* NULL: undecoded */
  uint16_t sem;                /* enum sass_sem */
  uint8_t sm;                  /* target the word was decoded for */
  uint8_t n_fields;
  uint8_t dst;                 /* Rd, 255 = RZ (no result) */
  uint8_t udst;                /* URd, SASS_URZ = none */
  uint8_t bar;                 /* convergence barrier register B0..B15 */
  struct sass_pred guard, pp, pq, pr;  /* guard; sources Pp (89:87), Pq (79:77), Pr (70:68) */
  uint8_t pu, pv;              /* predicate destinations, 7 = none */
  bool pu_uniform;             /* pu, pv name uniform predicates (uniform datapath) */
  struct sass_src src[3];
  uint8_t ua;                  /* uniform register of the address, SASS_URZ = none */
  bool ua_is_descriptor;       /* ua is a memory descriptor: it does not enter the address (trap 6) */
  int64_t offset;              /* memory: signed byte offset; branches: target - (pc + 16), bytes */
  struct word128 word;         /* as read from the file */
  uint16_t field[SASS_MAX_FIELDS]; /* enum sass_field_id of row's fields, in row order */
  uint64_t val[SASS_MAX_FIELDS];   /* their values */
};

/* Decodes one word for target `sm` (70, 75, 80, …) located at `pc`. Fills both the timing and the
 * semantic view. Returns false, with a reason in e, when no row matches or bits are left over; `t` is
 * then marked INST_UNDECODED but its control information is still valid. */
bool sass_decode(unsigned sm, struct word128 w, uint64_t pc, struct sass_inst *s, struct inst *t,
                 struct err *e);

/* The same for many words of one target, faster. It lives in the arena; one thread at a time uses it. */
struct sass_decoder;
struct sass_decoder *sass_decoder_new(struct arena *, unsigned sm);
bool sass_decoder_decode(struct sass_decoder *, struct word128 w, uint64_t pc, struct sass_inst *s, struct inst *t,
                         struct err *e);

/* Number that means URZ in the instruction word: 63 up to sm_90, 255 from sm_100 on. */
unsigned sass_urz_code(unsigned sm);

/* Rebuilds the word from row and field values alone. */
struct word128 sass_encode(const struct sass_inst *s, const struct inst_ctrl *ctrl);

/* Value of a field, or 0 when the row does not have it. */
uint64_t sass_get(const struct sass_inst *s, enum sass_field_id id);
bool sass_has(const struct sass_inst *s, enum sass_field_id id);

/* Ra of a global or generic address is a pair: a bit says so where the address has a uniform register. */
bool sass_address_is_wide(const struct sass_inst *s);

/* Arguments of TEX, TLD, TLD4, TXD: argument i is register i of src[0] when i < n_a, else register
 * i - n_a of src[1]. layer, handle, lod: which argument it is, or -1. The layer is an integer; TXD
 * has it last, the others first. The value .DC compares with is the last argument. With .SCR the arguments are divided
 * evenly (compiler output, CUDA
 * 13.0). TXD's gradients, all of src[1], are not listed. Surfaces: the coordinates x, y, z or x, y,
 * layer are the registers of src[0]; src[2] is the handle. */
struct sass_tex_args {
  uint8_t n, n_a, n_coords; /* in all; in src[0]; coordinates without the layer */
  uint8_t first;            /* argument that is x; y, z follow */
  int8_t layer, handle, lod;
  int8_t offset;            /* in texels, packed: .AOFFI; TXD: bits 31:16 of this one, maybe the layer's */
};
struct sass_tex_args sass_tex_args(const struct sass_inst *s);
/* Coordinates of a surface access with its layer, 1..3. */
unsigned sass_surface_coords(const struct sass_inst *s);

/* Columns of a warpgroup's product, 8..256; 0: no such number. */
unsigned sass_gmma_columns(const struct sass_inst *s);
/* Its accumulators in a thread's registers: one of 32 bits each, or FP16 pairs. */
unsigned sass_gmma_registers(const struct sass_inst *s);

/* Registers of a thread that LDTM or STTM moves; 0: there is no such shape. */
enum { TMEM_MAX_REGISTERS = 128 };
unsigned sass_tmem_registers(const struct sass_inst *s);
/* Registers that a thread has once this instruction has found them (USETMAXREG.TRY_ALLOC); 0: another instruction. */
unsigned sass_asks_registers(const struct sass_inst *);

/* Tensor copies: the uniform registers of the first operand hold shared addresses (data, then a load's mbarrier),
 * then coordinates: one for each dimension, or a column and four rows. */
unsigned sass_tensor_addresses(const struct sass_inst *s);
unsigned sass_tensor_coords(const struct sass_inst *s);

/* Operation type of an atomic; ATOM_INVALID for other instructions and unknown codes. */
enum sass_atom_type sass_atom_type(const struct sass_inst *s);

/* Writes "[B------:R-:W0:-:S04] @P0 IADD3 R1, R2, 0x10, RZ ;" without newline; ctrl notation only when
 * with_ctrl. Returns the number of characters (as snprintf). */
int sass_print(const struct sass_inst *s, const struct inst *t, bool with_ctrl, char *buf,
               size_t size);
/* The mnemonic with all modifiers: "LDG.E.64.CONSTANT". */
int sass_print_mnemonic(const struct sass_inst *, char *buf, size_t size);
/* The control information that the word has. That of its inst is what it does: see SB_DRAIN. */
struct inst_ctrl sass_ctrl(struct word128);
/* CuAssembler's notation of the control information: [B------:R-:W0:-:S04]. */
int sass_print_ctrl(const struct inst_ctrl *c, char *buf, size_t size);

/* Mnemonic without modifiers ("IMAD.WIDE") of a struct inst's mnemonic id; "?" for undecoded. */
const char *sass_mnemonic(unsigned id);
unsigned sass_mnemonic_count(void);

/* Coverage report: rows known, decoded, executable (sem != TODO), timed, per target; what does not
 * execute, with the reason. */
void sass_coverage(FILE *out);
/* Costs more than an issue slot: a latency, a way through the memory pipeline, a rule of its own. */
bool sass_is_timed(const struct sass_row *);
/* Why (some forms of) a mnemonic do not execute, or NULL. */
const char *sass_why_not_executed(const char *mnemonic);

/* Self-check of the tables: overlapping rows, fields that collide, unused ids. Used by tests. */
bool sass_tables_check(struct err *e);

#endif
