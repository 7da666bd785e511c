/* What the readers of operands share: fields by class, values, addresses. Private to isa/sass/asm_*.c. A reader that
 * fails keeps its message (asm_fail) and returns false; `at` is the place in the text that a message points to. */
#ifndef WS_ISA_SASS_ASM_OPERAND_H
#define WS_ISA_SASS_ASM_OPERAND_H

#include "isa/sass/asm_parse.h"

/* How a field is written; most are plain numbers. */
enum field_class {
  CLASS_NUMBER, CLASS_REG, CLASS_UREG, CLASS_PRED, CLASS_NOT, CLASS_FILE, CLASS_OFFSET,
  CLASS_TARGET, CLASS_BYTE_TARGET, CLASS_BREG, CLASS_DESC, CLASS_CHOICE, CLASS_BANK, CLASS_BANK_OFFSET,
  CLASS_SR, CLASS_WIDTH,
};

/* ---- asm_field.c ---- */
enum field_class asm_class_of(unsigned id);
/* Fields of the operand, found by class; FLD_NONE where it has none. */
unsigned asm_field_of_class(const uint16_t *fields, enum field_class);
bool asm_fail_operand(const struct attempt *, enum asm_severity, const char *at, const char *what);
/* The field gets the value, unless ?FIELD= gave one. False: the instruction has no such field, or has another value
 * there. */
bool asm_put(struct attempt *, unsigned id, uint64_t v, const char *at);
/* The field's value, one of 0..n-1, is found by printing. */
void asm_add_choice(struct attempt *, unsigned id, unsigned n);

/* ---- asm_value.c ---- */
bool asm_read_reg(struct attempt *, struct text_span *, unsigned id);
bool asm_read_ureg(struct attempt *, struct text_span *, unsigned id);
/* Rest of an operand: suffixes, closing bars. .reuse is taken here (slot -1: there is none), others are checked
 * later. */
bool asm_read_suffixes(struct attempt *, struct text_span, int reuse_slot);
bool asm_read_number(struct attempt *, struct text_span, unsigned id);
bool asm_read_offset(struct attempt *, struct asm_number, unsigned id, const char *at);
/* Of halves two elements of the list. */
bool asm_read_immediate(struct attempt *, struct text_span, struct text_span *list);

/* ---- asm_address.c ---- */
/* Constant operand of an ALU instruction: whole words. */
bool asm_read_constant(struct attempt *, struct text_span *, bool bindless);
/* Address in a constant bank: LDC, ULDC. */
bool asm_read_constant_address(struct attempt *, struct text_span, const uint16_t *fields);
bool asm_read_address(struct attempt *, struct text_span, const uint16_t *fields);
/* Relative to the next instruction or not, as the disassembler says. */
bool asm_read_target(struct attempt *, struct text_span, unsigned id, struct asm_used *);

/* ---- asm_single.c ---- */
/* PPZPPNNP: two letters for each lane, lane 3 first; or the number of the field. */
bool asm_read_swizzle_signs(struct attempt *, struct text_span);
/* SB0, 0x1, {5,4}; a list alone waits for all that it names. */
bool asm_read_depbar(struct attempt *, struct text_span, struct text_span *list);
bool asm_read_special_register(struct attempt *, struct text_span);
bool asm_read_breg(struct attempt *, struct text_span, unsigned id);
/* [UR4], desc[UR4] */
bool asm_read_bulk(struct attempt *, struct text_span, unsigned id);
/* gdesc[UR4].negB.tnspB */
bool asm_read_descriptors(struct attempt *, struct text_span, const uint16_t *fields);
/* gdesc[UR4].A_KEEP, tmem[UR4+0x10], idesc[UR5] */
bool asm_read_bracketed(struct attempt *, struct text_span, unsigned kind);
/* gsb0; in WARPGROUP.DEPBAR a number follows: gsb0, 0x1 */
bool asm_read_group_counter(struct attempt *, struct text_span, unsigned kind, struct text_span *list);
/* [R4] of a surface access: the first of its coordinates. */
bool asm_read_surface_address(struct attempt *, struct text_span);

#endif
