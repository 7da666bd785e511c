/* What users write to name values: conditions of breakpoints, `print`, addresses.
 *
 *   R4  UR3  P0  UP0  R4[7] (lane 7)      registers of the lane; numbers are 32 bits, without sign
 *   tid.x ctaid.y ntid.x nctaid.x lane warp pc position   (threadIdx, blockIdx, blockDim, gridDim as well)
 *   s32(x) f32(x) f16(x)                  the low bits of x as another type
 *   u64(R4) s64(R4) f64(R4)               a pair of registers
 *   TYPE SPACE[address]                   memory: u8 … s64, f32, f64; global, shared, local, const
 *                                         (bank << 32 | offset); without TYPE u32
 *   name s.m p->m a[i][j] p[i] *p         a variable of the source, a member, an element, what a pointer points to,
 *                                         where -G tells
 *   12 0x1f 1.5, ( ), C's operators ! ~ - * / % + - << >> < <= > >= == != & ^ | && ||
 *
 * Integers are computed in 64 bits, floating-point numbers in double precision. A negative number that is shifted to
 * the right stays negative, as in C. In operations a pointer or an array is a number, its address: what is added to it
 * are bytes.
 */
#ifndef WS_DEBUG_EXPRESSION_H
#define WS_DEBUG_EXPRESSION_H

#include "debug/lane_view.h"

enum debug_kind { DEBUG_INT, DEBUG_FLOAT, DEBUG_OBJECT /* a structure: no number */ };

struct debug_value {
  enum debug_kind kind;
  unsigned bytes; /* of the type it was read as; 8: computed */
  bool is_signed;
  int64_t i; /* of an array and a structure: its address */
  double f;
  uint32_t type;         /* of the source (source_type.h); 0: none */
  enum view_space space; /* of an array and a structure */
};

/* What stands behind names that are no registers; NULL functions: nothing. False with e filled: it is not there. */
struct expression_names {
  void *ctx;
  bool (*find)(void *ctx, const struct lane_view *, const char *name, struct debug_value *, struct err *e);
  /* A member of a structure, or of what a pointer to one points to (`through`). */
  bool (*member)(void *ctx, const struct lane_view *, const struct debug_value *of, const char *name, bool through,
                 struct debug_value *, struct err *e);
  /* An element of an array, or of what a pointer points to, in the order of memory. */
  bool (*element)(void *ctx, const struct lane_view *, const struct debug_value *of, int64_t index,
                  struct debug_value *, struct err *e);
};

/* Evaluates the whole text for a lane; v == NULL: only checks how it is written, and every value is 1. False with e
 * filled: a mistake, or something that it names is not there. */
bool expression_evaluate(const char *text, const struct lane_view *v, const struct expression_names *,
                         struct debug_value *, struct err *e);

bool debug_value_true(const struct debug_value *);
/* "4294967295 = 0xffffffff", "-1", "1.5". Returns buf. */
char *debug_value_text(const struct debug_value *, char *buf, size_t size);

/* A type of memory by its name: u8 … s64, f16, f32, f64. False: none. */
struct debug_type {
  enum debug_kind kind;
  unsigned bytes;
  bool is_signed;
};
bool debug_type_find(const char *name, struct debug_type *);
/* The value of `type` that the bytes at `p` hold. */
struct debug_value debug_value_from(const struct debug_type *, const void *p);
/* The other way; returns how many bytes. */
unsigned debug_value_store(const struct debug_type *, const struct debug_value *, void *p);

/* A memory space by its name; -1: none. */
int view_space_find(const char *name);

#endif
