/* Value types of buffers and arguments: names, sizes, conversion from and to bytes. */
#ifndef WS_HOST_VALUE_H
#define WS_HOST_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* id, name, bytes, class */
#define VALUE_LIST(X)                                                                              \
  X(U8, "u8", 1, UNSIGNED)                                                                         \
  X(I8, "i8", 1, SIGNED)                                                                           \
  X(U16, "u16", 2, UNSIGNED)                                                                       \
  X(I16, "i16", 2, SIGNED)                                                                         \
  X(U32, "u32", 4, UNSIGNED)                                                                       \
  X(I32, "i32", 4, SIGNED)                                                                         \
  X(U64, "u64", 8, UNSIGNED)                                                                       \
  X(I64, "i64", 8, SIGNED)                                                                         \
  X(F16, "f16", 2, FLOAT)                                                                          \
  X(BF16, "bf16", 2, FLOAT)                                                                        \
  X(F32, "f32", 4, FLOAT)                                                                          \
  X(F64, "f64", 8, FLOAT)

enum value_type {
#define X(id, name, bytes, cls) VALUE_##id,
  VALUE_LIST(X)
#undef X
  VALUE__N
};

enum value_class { VALUE_UNSIGNED, VALUE_SIGNED, VALUE_FLOAT };

const char *value_name(enum value_type);
size_t value_bytes(enum value_type);
enum value_class value_class(enum value_type);
/* False when no type has this name. */
bool value_type_parse(const char *name, enum value_type *type);

/* A number as written by the user: an integer of up to 64 bits, or a real. */
struct number {
  bool real;
  bool negative; /* integer: bits is a two's-complement negative number */
  uint64_t bits; /* integer */
  double f;      /* real; for an integer its nearest double */
};

struct number number_real(double);
struct number number_int(int64_t);
struct number number_unsigned(uint64_t);
/* Reads all of s: decimal or 0x hexadecimal integer, real, inf, nan. */
bool number_parse(const char *s, struct number *n);

/* Stores n as `type`: integers must be in range and not real, reals round to nearest even. False
 * when n does not fit. */
bool value_store(enum value_type type, struct number n, void *to);
/* Rounds to nearest even into a float type (VALUE_F16 … VALUE_F64). */
void value_store_real(enum value_type type, double v, void *to);
double value_load_real(enum value_type type, const void *from); /* float types */
uint64_t value_load_bits(enum value_type type, const void *from); /* zero-extended raw bits */
/* "-1.5", "0x…" never: decimal with enough digits to tell any two values apart. */
int value_print(enum value_type type, const void *from, char *buf, size_t size);

#endif
