/* Compressed instructions (extension C) as the 32-bit words that mean the same (isa/rv64/rv64.h).
 *
 * Source: The RISC-V Instruction Set Manual, volume I, version 20191213, chapter 16 (tables 16.5 to 16.7).
 */
#include "isa/rv64/rv64.h"

enum { LOAD = 0x03, LOAD_FP = 0x07, OP_IMM = 0x13, OP_IMM_32 = 0x1b, STORE = 0x23, STORE_FP = 0x27, OP = 0x33,
       LUI = 0x37, OP_32 = 0x3b, BRANCH = 0x63, JALR = 0x67, JAL = 0x6f };
enum { EBREAK = 0x00100073, RA = 1, SP = 2 };
enum { F3_W = 2, F3_D = 3 };

/* Bits [low, low + n) of the parcel, moved to bit `to`. */
static uint32_t field(uint32_t c, unsigned low, unsigned n, unsigned to)
{
  return (c >> low & ((1u << n) - 1)) << to;
}

/* The registers of 3-bit fields: x8..x15. */
static uint32_t reg3(uint32_t c, unsigned low)
{
  return 8 + field(c, low, 3, 0);
}

static uint32_t reg5(uint32_t c, unsigned low)
{
  return field(c, low, 5, 0);
}

/* The 6-bit immediate of CI, sign-extended to 32 bits. */
static uint32_t imm6(uint32_t c)
{
  const uint32_t value = field(c, 2, 5, 0) | field(c, 12, 1, 5);
  return value | (value & 0x20 ? ~0x3fu : 0);
}

static uint32_t shift6(uint32_t c)
{
  return field(c, 2, 5, 0) | field(c, 12, 1, 5);
}

static uint32_t type_i(unsigned opcode, unsigned f3, uint32_t rd, uint32_t rs1, uint32_t imm)
{
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | imm << 20;
}

static uint32_t type_r(unsigned opcode, unsigned f3, unsigned f7, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | (uint32_t)f7 << 25;
}

static uint32_t type_s(unsigned opcode, unsigned f3, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
  return opcode | (imm & 31) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | (imm >> 5 & 127) << 25;
}

/* Offsets: of C.LW and C.SW, of C.LD and C.SD, of C.LWSP, C.LDSP, C.SWSP, C.SDSP. */
static uint32_t offset_w(uint32_t c)
{
  return field(c, 6, 1, 2) | field(c, 10, 3, 3) | field(c, 5, 1, 6);
}

static uint32_t offset_d(uint32_t c)
{
  return field(c, 10, 3, 3) | field(c, 5, 2, 6);
}

static uint32_t offset_lwsp(uint32_t c)
{
  return field(c, 4, 3, 2) | field(c, 12, 1, 5) | field(c, 2, 2, 6);
}

static uint32_t offset_ldsp(uint32_t c)
{
  return field(c, 5, 2, 3) | field(c, 12, 1, 5) | field(c, 2, 3, 6);
}

static uint32_t offset_swsp(uint32_t c)
{
  return field(c, 9, 4, 2) | field(c, 7, 2, 6);
}

static uint32_t offset_sdsp(uint32_t c)
{
  return field(c, 10, 3, 3) | field(c, 7, 3, 6);
}

/* JAL x0 with the offset of C.J. */
static uint32_t jump(uint32_t c)
{
  uint32_t o = field(c, 3, 3, 1) | field(c, 11, 1, 4) | field(c, 2, 1, 5) | field(c, 7, 1, 6) | field(c, 6, 1, 7) |
               field(c, 9, 2, 8) | field(c, 8, 1, 10) | field(c, 12, 1, 11);
  if (o & 0x800) o |= ~0xfffu;
  return JAL | (o >> 12 & 0xff) << 12 | (o >> 11 & 1) << 20 | (o >> 1 & 0x3ff) << 21 | (o >> 20 & 1) << 31;
}

/* BEQ or BNE with x0 and the offset of C.BEQZ. */
static uint32_t branch(uint32_t c, unsigned f3)
{
  uint32_t o = field(c, 3, 2, 1) | field(c, 10, 2, 3) | field(c, 2, 1, 5) | field(c, 5, 2, 6) | field(c, 12, 1, 8);
  if (o & 0x100) o |= ~0x1ffu;
  return BRANCH | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | f3 << 12 | reg3(c, 7) << 15 | (o >> 5 & 63) << 25 |
         (o >> 12 & 1) << 31;
}

static uint32_t quadrant0(uint32_t c)
{
  const uint32_t rd = reg3(c, 2), rs1 = reg3(c, 7);
  const uint32_t add = field(c, 6, 1, 2) | field(c, 5, 1, 3) | field(c, 11, 2, 4) | field(c, 7, 4, 6);
  switch (c >> 13) {
  case 0: return add ? type_i(OP_IMM, 0, rd, SP, add) : 0; /* C.ADDI4SPN */
  case 1: return type_i(LOAD_FP, F3_D, rd, rs1, offset_d(c));
  case 2: return type_i(LOAD, F3_W, rd, rs1, offset_w(c));
  case 3: return type_i(LOAD, F3_D, rd, rs1, offset_d(c));
  case 5: return type_s(STORE_FP, F3_D, rs1, rd, offset_d(c));
  case 6: return type_s(STORE, F3_W, rs1, rd, offset_w(c));
  case 7: return type_s(STORE, F3_D, rs1, rd, offset_d(c));
  default: return 0;
  }
}

/* C.SRLI to C.ADDW: both operands are x8..x15, the first is the result, too. */
static uint32_t arithmetic(uint32_t c)
{
  const uint32_t rd = reg3(c, 7), rs2 = reg3(c, 2);
  switch (c >> 10 & 3) {
  case 0: return type_i(OP_IMM, 5, rd, rd, shift6(c));
  case 1: return type_i(OP_IMM, 5, rd, rd, shift6(c) | 0x400);
  case 2: return type_i(OP_IMM, 7, rd, rd, imm6(c) & 0xfff);
  default: break;
  }
  switch (field(c, 5, 2, 0) | field(c, 12, 1, 2)) {
  case 0: return type_r(OP, 0, 0x20, rd, rd, rs2);    /* C.SUB */
  case 1: return type_r(OP, 4, 0, rd, rd, rs2);       /* C.XOR */
  case 2: return type_r(OP, 6, 0, rd, rd, rs2);       /* C.OR */
  case 3: return type_r(OP, 7, 0, rd, rd, rs2);       /* C.AND */
  case 4: return type_r(OP_32, 0, 0x20, rd, rd, rs2); /* C.SUBW */
  case 5: return type_r(OP_32, 0, 0, rd, rd, rs2);    /* C.ADDW */
  default: return 0;
  }
}

/* C.ADDI16SP, else C.LUI. An immediate of zero is reserved. */
static uint32_t upper(uint32_t c)
{
  const uint32_t rd = reg5(c, 7);
  if (imm6(c) == 0) return 0;
  if (rd != SP) return LUI | rd << 7 | imm6(c) << 12;
  uint32_t add = field(c, 6, 1, 4) | field(c, 2, 1, 5) | field(c, 5, 1, 6) | field(c, 3, 2, 7) | field(c, 12, 1, 9);
  if (add & 0x200) add |= ~0x3ffu;
  return type_i(OP_IMM, 0, SP, SP, add & 0xfff);
}

static uint32_t quadrant1(uint32_t c)
{
  const uint32_t rd = reg5(c, 7);
  switch (c >> 13) {
  case 0: return type_i(OP_IMM, 0, rd, rd, imm6(c) & 0xfff);                 /* C.ADDI, C.NOP */
  case 1: return rd ? type_i(OP_IMM_32, 0, rd, rd, imm6(c) & 0xfff) : 0;     /* C.ADDIW */
  case 2: return type_i(OP_IMM, 0, rd, 0, imm6(c) & 0xfff);                  /* C.LI */
  case 3: return upper(c);
  case 4: return arithmetic(c);
  case 5: return jump(c);
  case 6: return branch(c, 0);
  default: return branch(c, 1);
  }
}

/* C.JR, C.MV, C.EBREAK, C.JALR, C.ADD. */
static uint32_t moves(uint32_t c)
{
  const uint32_t rd = reg5(c, 7), rs2 = reg5(c, 2);
  if (!(c >> 12 & 1)) {
    if (rs2) return type_r(OP, 0, 0, rd, 0, rs2);
    return rd ? type_i(JALR, 0, 0, rd, 0) : 0;
  }
  if (rs2) return type_r(OP, 0, 0, rd, rd, rs2);
  return rd ? type_i(JALR, 0, RA, rd, 0) : EBREAK;
}

static uint32_t quadrant2(uint32_t c)
{
  const uint32_t rd = reg5(c, 7), rs2 = reg5(c, 2);
  switch (c >> 13) {
  case 0: return type_i(OP_IMM, 1, rd, rd, shift6(c)); /* C.SLLI */
  case 1: return type_i(LOAD_FP, F3_D, rd, SP, offset_ldsp(c));
  case 2: return rd ? type_i(LOAD, F3_W, rd, SP, offset_lwsp(c)) : 0;
  case 3: return rd ? type_i(LOAD, F3_D, rd, SP, offset_ldsp(c)) : 0;
  case 4: return moves(c);
  case 5: return type_s(STORE_FP, F3_D, SP, rs2, offset_sdsp(c));
  case 6: return type_s(STORE, F3_W, SP, rs2, offset_swsp(c));
  default: return type_s(STORE, F3_D, SP, rs2, offset_sdsp(c));
  }
}

uint32_t rv64_expand(uint16_t parcel)
{
  switch (parcel & 3) {
  case 0: return quadrant0(parcel);
  case 1: return quadrant1(parcel);
  case 2: return quadrant2(parcel);
  default: return 0;
  }
}
