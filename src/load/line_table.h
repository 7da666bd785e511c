/* Source lines of machine code: the line program that nvcc writes with -lineinfo or -G into .debug_line (DWARF 2), with
 * the extended opcode by which it says what was inlined where. Addresses are pcs of the module's code space.
 *
 * Opcode 0x90 has two operands: the number, from 1, of the row of this sequence that is the call site (0: not inlined),
 * and the name of the inlined function in .debug_str. Source: compiler output (CUDA 13.0).
 */
#ifndef WS_LOAD_LINE_TABLE_H
#define WS_LOAD_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "load/module.h"

enum { LINE_NONE = UINT32_MAX };

/* From pc on, up to the next row's. */
struct line_row {
  uint64_t pc;
  uint32_t line;        /* 0: the compiler names none */
  uint32_t file;        /* index into the table's files; LINE_NONE: none */
  uint32_t call;        /* index of the row that is the call site of what was inlined here; LINE_NONE: not inlined */
  const char *function; /* name of the inlined function, as linkers know it; NULL: none */
  bool ends;            /* no code of the sequence lies here any more */
};

/* As the compiler was given them. */
struct line_file {
  const char *folder; /* "": none */
  const char *name;
};

struct line_table {
  struct arena arena;
  struct line_row *row; /* in the order of the line program */
  uint32_t *by_pc;      /* indices of rows */
  uint32_t n_rows, n_files;
  struct line_file *file;
};

/* The lines of a module, which must outlive the table: at most 192 bytes for each byte of .debug_line and its
 * relocations. A table without rows: it has none. False with e filled: they are malformed. The caller frees the table
 * in either case. */
bool line_table_read(const struct module *, struct line_table *, struct err *e);
void line_table_free(struct line_table *);

/* The innermost row of a pc; NULL: none. */
const struct line_row *line_table_find(const struct line_table *, uint64_t pc);

/* " in file.cu:34", fit for a terminal, or "" where the compiler names no line (row may be NULL). Returns buf. */
const char *line_row_source(const struct line_table *, const struct line_row *row, char *buf, size_t size);
/* As module_where, and the innermost source line where the module has lines: "kernel+0x100 in file.cu:34". Reads them
 * anew: for what happens once. */
void line_table_where(const struct module *, uint64_t pc, char *buf, size_t size);

#endif
