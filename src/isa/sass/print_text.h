/* Private to the disassembler: text of a listing, and what all operands are written with. */
#ifndef WS_ISA_SASS_PRINT_TEXT_H
#define WS_ISA_SASS_PRINT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "isa/sass/sass.h"

/* Where the text goes; n counts what an unlimited buffer would hold. */
struct print_text {
  char *buf;
  size_t size, n;
};

void print(struct print_text *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void print_reg(struct print_text *, unsigned r);
void print_ureg(struct print_text *, unsigned r);
void print_pred(struct print_text *, struct sass_pred);
/* The guard or operand that is not written. */
static inline bool print_is_true(struct sass_pred p)
{
  return p.index == SASS_PT && !p.neg;
}
/* With its sign in front of "0x". */
void print_hex(struct print_text *, int64_t v);
void print_double(struct print_text *, double v);
/* Bits of a float; of a half, or with bf16 of a bfloat16. */
void print_float(struct print_text *, uint32_t bits);
void print_half(struct print_text *, unsigned bits, bool bf16);

#endif
