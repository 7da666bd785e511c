/* Bytes and registers of an instruction's operands, and the registers that it reads and writes: private to isa/sass. */
#ifndef WS_ISA_SASS_OPERAND_WIDTH_H
#define WS_ISA_SASS_OPERAND_WIDTH_H

#include "isa/sass/row.h"

enum operand_role { ROLE_D, ROLE_A, ROLE_B, ROLE_C };

/* Registers of an operand, by the width rule of the row: 1 or more where the operand is there. */
unsigned sass_operand_width(const struct sass_inst *s, enum operand_role r);

/* Bytes a lane moves: of a memory instruction; of MEM_SIZE or LDGSTS_SIZE alone; of an atomic's type. */
unsigned sass_data_bytes(const struct sass_inst *s);
unsigned sass_mem_bytes(const struct sass_inst *s);
unsigned sass_atom_bytes(const struct sass_inst *s);

/* Registers that a 256-bit load writes, of the lower or the higher four words: those its mask names, packed (compiler
 * output, CUDA 13.0). */
unsigned sass_words_256(const struct sass_inst *s, bool high);

/* Textures: registers of src[0] (n = 0) and src[1]; of the first result and the second. */
unsigned sass_tex_arg_width(const struct sass_inst *s, unsigned n);
unsigned sass_tex_results(const struct sass_inst *s, bool second);

/* A sparse product with factors: the register of the metadata is the first of two, with the factors of A. */
bool sass_is_sparse_scaled(const struct sass_inst *s);

/* Adds the registers that an instruction reads and writes to its timing view, the guard first (operand_registers.c). */
void sass_add_registers(const struct sass_inst *s, struct inst *t);

#endif
