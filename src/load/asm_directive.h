/* Directives of assembler files (docs/assembly.md): what they make of the cubin that the reader builds. */
#ifndef WS_LOAD_ASM_DIRECTIVE_H
#define WS_LOAD_ASM_DIRECTIVE_H

#include "load/asm_reader.h"

/* The position is at the dot of a directive: reads the rest of the line and does what it says. False: error. */
bool asm_directive(struct asm_reader *);
/* An error without a section that what follows goes to. */
bool asm_need_section(struct asm_reader *);
/* Pads the section that was open, if it is code, with NOPs to whole 128-byte lines. False: error. */
bool asm_pad_code(struct asm_reader *);

#endif
