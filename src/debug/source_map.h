/* Machine code and source, both ways: the frames that a pc is in, inlined functions included, and the addresses of a
 * source line. From what nvcc writes with -lineinfo or -G (load/line_table.h).
 */
#ifndef WS_DEBUG_SOURCE_MAP_H
#define WS_DEBUG_SOURCE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "load/line_table.h"
#include "load/module.h"
#include "view/source_text.h"

enum { SOURCE_FRAMES = 32, SOURCE_NAME = 256 };

/* Code of one name. */
struct source_function {
  const char *symbol; /* as linkers know it, without the kernel that it is in */
  uint64_t pc, end;
};

struct source_map {
  const struct module *module;
  struct arena arena;
  struct source_function *function; /* ascending pcs */
  size_t n_functions;
  struct line_table lines;
  struct source_text *text; /* of each file, as it was asked for */
  bool *asked;
};

/* A function, or what was inlined into one. */
struct source_frame {
  char function[SOURCE_NAME]; /* plain name */
  const struct line_row *row; /* where it is; NULL: not known */
  bool inlined;
};

/* False with e filled: the line table is malformed. Close it in either case. The module outlives the map. */
bool source_map_open(struct source_map *, const struct module *, const struct code_view *, struct err *e);
void source_map_close(struct source_map *);

/* The frames of pc, innermost first; returns how many, at least 1. */
unsigned source_map_frames(const struct source_map *, uint64_t pc, struct source_frame out[SOURCE_FRAMES]);

/* "k.cu:14" of a row; "" when there is none. */
void source_map_place(const struct source_map *, const struct line_row *, char *buf, size_t size);
/* File of a row, its last component only; NULL: none. */
const char *source_map_file(const struct source_map *, const struct line_row *);

/* Text of line `line` of the row's file; "" when it cannot be read. */
const char *source_map_text(struct source_map *, const struct line_row *, uint32_t line);

/* Addresses at which a line begins: of each function, and of each place that one was inlined to, the first, or `every`
 * one that comes from another line. `file` may be the end of a path; NULL: any. Where the line has no code, the next
 * one that has counts; *line becomes it. Writes at most `most`; returns how many there are. */
size_t source_map_find(const struct source_map *, const char *file, uint32_t *line, bool every, uint64_t *pc,
                       size_t most);

/* The function whose code pc is; NULL: none. */
const struct source_function *source_map_function_at(const struct source_map *, uint64_t pc);

/* First pc of the named function or kernel, by its symbol or its plain name; 0: none. */
uint64_t source_map_function(const struct source_map *, const char *name);

#endif
