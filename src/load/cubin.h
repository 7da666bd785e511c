/* A cubin to be written: what an assembler file describes, and its image as an ELF file laid out like
 * the compiler's (CUDA 13.0): one .text, .nv.info, .nv.constant0 and .nv.shared section per kernel.
 *
 * Not written: debugging information, notes, and the lists of warp-wide instructions that only
 * debuggers and code rewriters read.
 */
#ifndef WS_LOAD_CUBIN_H
#define WS_LOAD_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { CUBIN_NONE = -1 };

struct cubin_section {
  const char *name;
  bool nobits, writable;
  uint32_t align;      /* bytes, power of two */
  int32_t kernel;      /* the kernel it belongs to, or CUBIN_NONE */
  uint8_t *data;       /* NULL when nobits */
  uint64_t size, room; /* bytes */
};

enum cubin_bind { CUBIN_LOCAL, CUBIN_GLOBAL, CUBIN_WEAK };

struct cubin_symbol {
  const char *name;
  int32_t section; /* CUBIN_NONE: undefined */
  uint64_t value, size;
  enum cubin_bind bind;
  bool function, entry;
  int32_t regs, frame, stack; /* of functions, bytes; CUBIN_NONE: not stated */
};

struct cubin_reloc {
  int32_t section, symbol;
  uint64_t offset;
  uint32_t type;
  int64_t addend;
};

struct cubin_param {
  uint16_t offset, bytes;
};

struct cubin_kernel {
  const char *name;
  int32_t text, symbol;
  uint32_t shared;    /* static shared memory, bytes, as the section's size (module.h) */
  uint32_t barriers;  /* 0: none */
  uint32_t max_threads[3], req_threads[3], cluster[3]; /* first 0: not stated */
  bool explicit_cluster, tile;
  uint32_t n_params, param_room;
  struct cubin_param *param;
};

struct cubin {
  struct arena *arena;
  unsigned sm;
  uint32_t n_sections, n_symbols, n_relocs, n_kernels; /* in use */
  uint32_t section_room, symbol_room, reloc_room, kernel_room;
  struct cubin_section *section;
  struct cubin_symbol *symbol;
  struct cubin_reloc *reloc;
  struct cubin_kernel *kernel;
};

/* Adds an element; its index. Pointers into the lists are valid until the next call. */
int32_t cubin_add_section(struct cubin *, const char *name, uint32_t align);
int32_t cubin_add_symbol(struct cubin *, const char *name, int32_t section, uint64_t value);
int32_t cubin_add_kernel(struct cubin *, const char *name);
/* A parameter; every one lies within PARAM_LIMIT. */
void cubin_add_param(struct cubin *, struct cubin_kernel *, struct cubin_param);
void cubin_add_reloc(struct cubin *, struct cubin_reloc);
/* Appends bytes (zeros when bytes is NULL) to a section. */
void cubin_append(struct cubin *, int32_t section, const void *bytes, size_t n);
/* Index of a section or symbol of this name, or CUBIN_NONE. */
int32_t cubin_find_section(const struct cubin *, const char *name, size_t n);
int32_t cubin_find_symbol(const struct cubin *, const char *name, size_t n);

/* Offset of the parameters in constant bank 0 of a target; 0: the target cannot be written. */
uint32_t cubin_param_base(unsigned sm);

/* The file, in the cubin's arena. */
const uint8_t *cubin_image(struct cubin *, size_t *bytes);

#endif
