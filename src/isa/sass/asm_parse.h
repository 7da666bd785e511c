/* One attempt to read an instruction as one row in one operand form. Private to isa/sass/asm*.c. */
#ifndef WS_ISA_SASS_ASM_PARSE_H
#define WS_ISA_SASS_ASM_PARSE_H

#include "isa/sass/asm.h"
#include "isa/sass/asm_text.h"
#include "isa/sass/row.h"

enum { ASM_OVERRIDES = 16, ASM_CHOICES = 6, ASM_CHOICE_VALUES = 64, ASM_MARKS = 64 };

/* The message of the attempt that got furthest. A wrong value says more than a wrong kind of
 * operand, which may only be another form's. */
struct asm_failure {
  unsigned progress;
  const char *at;
  char msg[300];
};

enum asm_progress { AT_MODIFIER = 1, AT_OPERAND = 100, AT_WORD = 10000 };
enum { ANY_SOURCES = -1 };
enum asm_severity { WRONG_KIND, WRONG_VALUE };

/* ?FIELD=value; field FLD_NONE: the reuse bits. */
struct asm_override {
  uint16_t field;
  uint64_t value;
};

/* What the statement says besides the mnemonic and operands. */
struct asm_line {
  const struct sass_asm *env;
  struct inst_ctrl ctrl;
  struct sass_pred guard;
  struct text_span mnemonic, operands;
  unsigned n_overrides;
  struct asm_override override[ASM_OVERRIDES];
  bool strict; /* an address names all registers that its form has */
  bool bare;   /* no operands are known: sass_like */
  int n_sources; /* bare: vector registers wanted, ANY_SOURCES: any number */
  struct asm_failure *fail;
};

/* How an operand's text is compared with what the word prints as. */
enum asm_compare { COMPARE_NONE, COMPARE_MARKS, COMPARE_TEXT, COMPARE_NUMBER };

struct asm_used {
  uint8_t op;      /* index into row->op */
  uint8_t compare; /* enum asm_compare */
  uint64_t number;
  struct text_span text;
};

/* A field whose value is found by printing: all that the text can mean. */
struct asm_choice {
  uint8_t index, n;
  uint64_t value[ASM_CHOICE_VALUES];
};

struct attempt {
  const struct asm_line *line;
  const struct sass_row *row;
  unsigned form, n;
  uint16_t field[SASS_MAX_FIELDS];
  uint64_t val[SASS_MAX_FIELDS];
  uint32_t fixed, set; /* bit i: field i was given by ?FIELD=, by an operand */
  uint8_t reuse;
  bool alias;          /* the mnemonic has a part that is no modifier: IMAD.MOV */
  unsigned n_used, n_choices, position; /* position: operands of the text read so far */
  struct asm_used used[ROW_OPS];
  uint32_t skipped;    /* bit i: row->op[i] is not written */
  struct asm_choice choice[ASM_CHOICES];
};

/* Keeps the message if this attempt got further than those before; returns false. */
bool asm_fail(const struct attempt *a, unsigned progress, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Index of a field in the attempt, or -1. */
int asm_field(const struct attempt *a, unsigned id);

/* Reads operand number `op` of the row from the list; most take one element of it. */
bool asm_operand(struct attempt *a, unsigned op, struct text_span *list);

/* Value of a field that the text does not mention: what the compiler writes. */
uint64_t asm_default(const struct attempt *a, unsigned id);

/* Number of URZ in this field. */
unsigned asm_urz(const struct attempt *a, unsigned id);

/* Starts an attempt with defaults and the line's overrides. False: an override excludes it. */
bool asm_start(struct attempt *a, const struct asm_line *line, const struct sass_row *row,
               unsigned form);

/* The view the disassembler prints from, without decoding: modifiers only. */
struct sass_inst asm_view(const struct attempt *a);
struct word128 asm_word(const struct attempt *a);

/* Valid forms of rows called like this, and mnemonics like this one: " (FADD R0, R2, R4; …)". */
void asm_list_forms(unsigned sm, struct text_span mnemonic, char *buf, size_t size);
void asm_list_similar(unsigned sm, struct text_span mnemonic, char *buf, size_t size);
/* Whether the row's name opens the mnemonic and ends at a dot; *rest is what follows. */
bool asm_row_named(const struct sass_row *row, struct text_span mnemonic, struct text_span *rest);

#endif
