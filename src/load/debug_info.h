/* Variables of the source, as nvcc -G describes them (DWARF 2: .debug_info, .debug_abbrev, .debug_loc), and where the
 * assembler put the registers they are named by (.nv_debug_info_reg_sass).
 *
 * nvcc's location of a variable is a register of PTX: operand of DW_OP_regx, whose bytes are its name ("%r1"). The
 * second section lists the registers of SASS by function, PTX register and range of code: name of the function, 0,
 * number of entries; of each: piece (0: low word, 1: high word), name, 0, file << 24 | register, first address and the
 * one behind the last. Source: compiler output (CUDA 13.0). Addresses count from the start of the function.
 */
#ifndef WS_LOAD_DEBUG_INFO_H
#define WS_LOAD_DEBUG_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "load/module.h"
#include "load/source_type.h"

enum debug_place_kind {
  DEBUG_PLACE_NONE,     /* not known, or of a kind that is not read */
  DEBUG_PLACE_REGISTER, /* `at` is DW_OP_regx's operand */
  DEBUG_PLACE_PARAM,    /* constant bank 0, offset `at` */
  DEBUG_PLACE_SHARED,   /* shared memory, offset `at` */
  DEBUG_PLACE_VARIABLE, /* of the file, `at` bytes into what its module calls it */
  DEBUG_PLACE_FRAME,    /* local memory, `at` (signed) bytes from the stack pointer that the function was called with */
};

/* Where a variable is, in [from, to) of its function. */
struct debug_place {
  uint64_t from, to, at;
  uint8_t kind; /* enum debug_place_kind */
};

struct debug_variable {
  const char *function, *name; /* function: its symbol; NULL: a variable of the file */
  const char *linkage;         /* its own symbol; NULL: none is said */
  uint64_t from, to;           /* its scope */
  struct debug_place *place;
  uint32_t n_places;
  uint32_t type; /* of source_types */
};

/* A register of PTX in a range of code. */
struct debug_register {
  const char *function, *name;
  uint32_t piece;
  uint8_t file; /* 5: R, 2: P; others are not known */
  uint32_t number;
  uint64_t from, to;
};

struct debug_info {
  struct arena arena;
  struct source_types types;
  struct debug_variable *variable;
  struct debug_register *reg;
  uint32_t n_variables, n_registers;
};

/* What the module says, as far as it is well-formed: reading ends at the first mistake. The module must outlive it. */
void debug_info_read(const struct module *, struct debug_info *);
void debug_info_free(struct debug_info *);

/* The innermost variable of that name at `offset` of the function, or one of the file; NULL: none. function == NULL:
 * only those of the file. */
const struct debug_variable *debug_info_find(const struct debug_info *, const char *function, uint64_t offset,
                                             const char *name);
/* Its place there; NULL: it has none. */
const struct debug_place *debug_variable_place(const struct debug_variable *, uint64_t offset);
/* Where the PTX register of a DEBUG_PLACE_REGISTER is at `offset`; NULL: nowhere. */
const struct debug_register *debug_info_register(const struct debug_info *, const char *function, uint64_t offset,
                                                 uint64_t regx, uint32_t piece);

#endif
