/* Assembler: the text of one instruction to its word.
 *
 * The text is what sass_print writes, with the control notation in front:
 *
 *   [B0-----:R-:W2:-:S04] @!P0 LDG.E.64 R4, desc[UR4][R2.64+0x10] ?MEM_HINT=1 ;
 *
 * The parts of the control notation may be given alone and in any order ([S04], [W0:S02]); what is
 * missing is neutral, the stall count then 1. `?FIELD=value` sets a field (fields.def) whose value
 * the text does not show; without it such fields have the value the compiler writes.
 *
 * Everything derives from the rows: operand order and fields from the row, modifiers and suffixes by
 * asking the disassembler which field values print as the input.
 */
#ifndef WS_ISA_SASS_ASM_H
#define WS_ISA_SASS_ASM_H

#include "isa/sass/sass.h"

/* What the text refers to. */
struct sass_asm {
  unsigned sm;
  uint64_t pc; /* of the instruction, bytes from the start of its section */
  /* Address of a label of n characters in the same space as pc; false: unknown. NULL: no labels. */
  bool (*label)(void *context, const char *name, size_t n, uint64_t *pc);
  void *context;
};

/* Assembles one line. False: e says why and what would be valid (without file and line), *column is
 * the offset in `text` of the offending character. */
bool sass_assemble(const struct sass_asm *, const char *text, struct word128 *w, size_t *column,
                   struct err *e);

/* The timing view of an instruction of which only the mnemonic with its modifiers is known, and how many vector
 * registers it names as sources (a form with as many is preferred): pipe, latency, memory kind, widths.
 * Registers are numbered as they come: mark them before use. False: no row has such a name. */
bool sass_like(unsigned sm, const char *mnemonic, unsigned n_sources, struct inst *t);

/* Writes text that sass_assemble turns back into exactly this word: the disassembly, and a
 * ?FIELD=value for every field that it does not show. `target` (may be NULL) replaces the target of
 * a direct branch (sass_branch_target). False: the word does not decode, or e says what is wrong. */
bool sass_print_exact(unsigned sm, struct word128 w, uint64_t pc, const char *target, char *buf,
                      size_t size, struct err *e);

/* Target of a branch that is relative to its own address, in the space of pc. */
bool sass_branch_target(unsigned sm, struct word128 w, uint64_t pc, uint64_t *target);

#endif
