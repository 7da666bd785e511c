/* Which words of machine code may name a place of a constant bank, told by their opcode: code can be searched for such
 * names without decoding all of it. */
#ifndef WS_ISA_SASS_CONSTANT_FIELDS_H
#define WS_ISA_SASS_CONSTANT_FIELDS_H

#include <stdint.h>

#include "base/bits.h"

enum { SASS_OPCODES = 1 << 13 };

/* Fields (enum sass_field_id) of the instructions of an opcode; FLD_NONE: they have no such. Where rows share an
 * opcode, decoding tells which of them a word is of. */
struct sass_constant_fields {
  uint16_t operand; /* offset of an operand, in units of 4 bytes */
  uint16_t load;    /* offset of a load, in bytes, without its register */
  uint16_t number;  /* number that is moved to a register */
};

/* For target sm_`sm`; the table is zero before. */
void sass_constant_fields(unsigned sm, struct sass_constant_fields of[SASS_OPCODES]);
/* Opcode of a word, below SASS_OPCODES. */
unsigned sass_opcode(struct word128);
/* A field of a word, as it stands there. */
uint64_t sass_word_field(struct word128, unsigned field);

#endif
