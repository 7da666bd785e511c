/* Private to the disassembler: operands. */
#ifndef WS_ISA_SASS_PRINT_OPERAND_H
#define WS_ISA_SASS_PRINT_OPERAND_H

#include "isa/sass/print_text.h"

/* op: of the row, OPD_… with its OM_… bits (row.h). */
void print_operand(struct print_text *, const struct sass_inst *, const struct inst *, unsigned op);
/* Whether an operand of that kind is what its absence says, and not written. */
bool print_is_quiet(const struct sass_inst *, unsigned kind);

#endif
