/* Reading assembler text: private to isa/sass/asm*.c. */
#ifndef WS_ISA_SASS_ASM_TEXT_H
#define WS_ISA_SASS_ASM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/inst.h"

/* A piece of the line: [p, end). Reading functions move p behind what they read; on false they leave
 * it where it was. */
struct text_span {
  const char *p, *end;
};

static inline bool span_empty(struct text_span s)
{
  return s.p >= s.end;
}

struct text_span span_trim(struct text_span);
bool span_is(struct text_span, const char *text);
/* Skips blanks, then c when it comes next. */
bool span_char(struct text_span *, char c);
/* Skips blanks, then the word when it comes next and ends there (no letter, digit or _ follows). */
bool span_word(struct text_span *, const char *word);
/* [A-Za-z0-9_$]+ */
bool span_name(struct text_span *, struct text_span *name);
/* Integer: decimal or 0x…, with sign; the value is in [-2^63, 2^64). */
struct asm_number {
  uint64_t magnitude;
  bool neg;
};
bool span_integer(struct text_span *, struct asm_number *);
/* Whether the value fits `width` bits, as a signed or an unsigned number; *bits gets them. */
bool number_fits(struct asm_number, unsigned width, bool as_signed, uint64_t *bits);
/* Register of a file: prefix "R", digits; or prefix "Z" (*index = zero). */
bool span_register(struct text_span *, const char *prefix, unsigned zero, unsigned *index);

/* The next operand of a list: up to a comma outside brackets. */
struct text_span span_operand(struct text_span *);

/* Bits of a floating-point constant: decimal, [+-]INF, [+-]QNAN, or 0x… for the bits themselves.
 * digits: 32, 64 (the upper word of a double; false when the lower one is not 0), 16, or 17 for
 * bfloat16. */
enum float_format { FLOAT_F32, FLOAT_F64_HIGH, FLOAT_F16, FLOAT_BF16 };
bool span_float(struct text_span *, enum float_format, uint32_t *bits);

/* Control notation in brackets. On failure *at is the offending place. */
bool span_control(struct text_span *, struct inst_ctrl *, const char **at);

/* Suffixes (".64.X4", without ".reuse") and signs of an operand, the part of its text that does not
 * name registers or numbers. Empty for numbers. */
void operand_marks(struct text_span, char *buf, size_t size);

#endif
