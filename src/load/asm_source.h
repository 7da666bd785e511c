/* Assembler files: text with directives to a cubin, and back. docs/assembly.md describes the
 * language.
 */
#ifndef WS_LOAD_ASM_SOURCE_H
#define WS_LOAD_ASM_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "isa/schedule.h"
#include "load/module.h"

/* Assembles `bytes` bytes of text; `file` is used in errors, which read FILE:LINE:COLUMN: reason. With
 * rules the control information is computed and what the text says of it is ignored; NULL: it is as
 * written. The image of a cubin, allocated from a; NULL with e filled. */
const uint8_t *asm_source_assemble(struct arena *a, const char *text, size_t bytes,
                                   const char *file, const struct schedule_rules *rules,
                                   size_t *image_bytes, struct err *e);

/* Writes a module as an assembler file: all code, parameters, constants, variables, relocations.
 * Assembling it gives the same code bytes. False with e filled: a word that does not decode, a file
 * that is not linked. */
bool asm_source_write(const struct module *, FILE *out, struct err *e);

#endif
