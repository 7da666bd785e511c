/* A line of an assembler file as its words, and what has been read of the file so far: what directives
 * (asm_directive.h) and the loop over the file's lines (asm_source.c) share; private to these.
 *
 * The position is `p` in `line`; functions that take something leave it behind what they took, and blanks before a word
 * are skipped. Errors read FILE:LINE:COLUMN: reason, with the column of the position, and are returned as false.
 */
#ifndef WS_LOAD_ASM_READER_H
#define WS_LOAD_ASM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "load/cubin.h"

enum { ASM_INST_BYTES = 16, ASM_CODE_ALIGN = 128 };

/* Of a place in a section. */
struct asm_label {
  const char *name;
  size_t length;
  int32_t section;
  uint64_t offset;
};

/* An instruction, assembled when all labels are known. */
struct asm_statement {
  const char *text; /* ends at the line's end */
  unsigned line;
  size_t column;    /* of text in the line, from 0 */
  int32_t section;
  uint64_t offset;
};

/* Relocation by name; the symbol may come later. */
struct asm_pending {
  struct cubin_reloc reloc;
  const char *symbol;
};

struct asm_reader {
  struct cubin c;   /* what has been built so far */
  const char *file; /* for errors */
  struct err *e;
  /* position: the line, a string without comments and line end; where in it; its number from 1 */
  const char *line, *p;
  unsigned number;
  /* what directives apply to: numbers in c; CUBIN_NONE: none yet */
  int32_t section, kernel, function;
  uint32_t n_labels, n_statements, n_pending, pending_room;
  struct asm_label *label;
  struct asm_statement *statement;
  struct asm_pending *pending;
};

/* An error at the position. Always false. */
bool reader_bad(struct asm_reader *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void reader_skip_blanks(struct asm_reader *);
/* Whether nothing but blanks is left of the line. */
bool reader_at_end(struct asm_reader *);
bool reader_is_name(char); /* a character of names */
/* A name, copied; NULL after an error. */
const char *reader_take_name(struct asm_reader *);
/* False: there is no comma, which is no error. */
bool reader_take_comma(struct asm_reader *);
/* Decimal or 0x number, in [-2^63, 2^64). */
bool reader_take_integer(struct asm_reader *, uint64_t *);
/* The same, in [0, max]. */
bool reader_take_limited(struct asm_reader *, uint64_t max, uint64_t *);
/* An error if something is left of the line. */
bool reader_take_end(struct asm_reader *);

#endif
