/* RV64GC (I, M, A, F, D, C, Zicsr, Zifencei): instruction words decoded once, to what an interpreter or a pipeline
 * model reads.
 *
 * Source: The RISC-V Instruction Set Manual, volume I, version 20191213.
 */
#ifndef WS_ISA_RV64_RV64_H
#define WS_ISA_RV64_RV64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operations. The first ones are no instructions of the set: places that were not decoded yet, that hold no
 * instruction, and what control runs into at the end of a page of decoded code. */
enum rv64_op {
  RV64_UNDECODED,
  RV64_ILLEGAL,
  RV64_PAGE_END,
#define RV64INST(id, name, mask, match, format) RV64_##id,
#include "isa/rv64/rv64.def"
#undef RV64INST
  RV64_OP__N
};

/* Layout of the 32-bit word: where its operands lie. */
enum rv64_format {
  RV64_FORMAT_R,   /* rd, rs1, rs2 */
  RV64_FORMAT_RF,  /* the same, rd is a floating-point register */
  RV64_FORMAT_RM,  /* R with a rounding mode */
  RV64_FORMAT_RMF, /* RF with a rounding mode */
  RV64_FORMAT_R4,  /* floating-point rd, rs1, rs2, rs3, rounding mode */
  RV64_FORMAT_I,   /* rd, rs1, 12-bit immediate */
  RV64_FORMAT_IF,  /* the same, rd is a floating-point register */
  RV64_FORMAT_SH6, /* rd, rs1, shift of 6 bits */
  RV64_FORMAT_SH5, /* rd, rs1, shift of 5 bits */
  RV64_FORMAT_S,   /* rs1, rs2, 12-bit immediate */
  RV64_FORMAT_B,   /* rs1, rs2, 13-bit offset */
  RV64_FORMAT_U,   /* rd, upper 20 bits */
  RV64_FORMAT_J,   /* rd, 21-bit offset */
  RV64_FORMAT_CSR, /* rd, rs1 (or a 5-bit immediate in its place), CSR number as immediate */
  RV64_FORMAT_N,   /* no operands */
};

/* Rounding modes of floating-point instructions (table 11.1). */
enum rv64_rounding { RV64_RNE, RV64_RTZ, RV64_RDN, RV64_RUP, RV64_RMM, RV64_DYN = 7 };

/* Writes to x0 go nowhere: decoded instructions name another register, which nobody reads. */
enum { RV64_NOWHERE = 32, RV64_REGS };

/* A decoded instruction. */
struct rv64_inst {
  uint16_t op;                 /* enum rv64_op */
  uint8_t rd;                  /* integer: 1..31 or RV64_NOWHERE; floating point: 0..31 */
  uint8_t rs1, rs2, rs3;       /* 0..31; of CSR*I instructions rs1 is the immediate */
  uint8_t rm;                  /* enum rv64_rounding, where the format has one */
  uint8_t parcels;             /* its length in 16-bit parcels: 1 or 2 */
  int64_t imm;                 /* sign-extended; offsets in bytes from this instruction */
};

/* Decodes one instruction. `word` holds its bytes, little endian: 32 bits, of which a compressed one is the lower 16.
 * What is no instruction of RV64GC becomes RV64_ILLEGAL, of the length that its lowest bits say. */
void rv64_decode(uint32_t word, struct rv64_inst *to);

/* Whether the instruction that begins with this parcel is compressed: 2 bytes long. */
static inline bool rv64_is_compressed(uint16_t parcel)
{
  return (parcel & 3) != 3;
}

/* The 32-bit word that means the same as a compressed one; 0: there is none, it is illegal. */
uint32_t rv64_expand(uint16_t parcel);

#endif
