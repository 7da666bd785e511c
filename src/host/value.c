#include "host/value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

static const struct {
  const char *name;
  uint8_t bytes, cls;
} types[VALUE__N] = {
#define X(id, name, bytes, cls) { name, bytes, VALUE_##cls },
  VALUE_LIST(X)
#undef X
};

const char *value_name(enum value_type t)
{
  return types[t].name;
}

size_t value_bytes(enum value_type t)
{
  return types[t].bytes;
}

enum value_class value_class(enum value_type t)
{
  return (enum value_class)types[t].cls;
}

bool value_type_parse(const char *name, enum value_type *type)
{
  for (unsigned i = 0; i < VALUE__N; i++)
    if (strcmp(types[i].name, name) == 0) {
      *type = (enum value_type)i;
      return true;
    }
  return false;
}

struct number number_real(double f)
{
  return (struct number){ .real = true, .f = f };
}

struct number number_int(int64_t v)
{
  return (struct number){ .negative = v < 0, .bits = (uint64_t)v, .f = (double)v };
}

struct number number_unsigned(uint64_t v)
{
  return (struct number){ .bits = v, .f = (double)v };
}

bool number_parse(const char *s, struct number *n)
{
  char *end;
  if (*s == '\0' || *s == ' ') return false;
  errno = 0;
  int base = strncmp(s + (*s == '-' || *s == '+'), "0x", 2) == 0 ? 16 : 10;
  if (*s == '-') {
    long long v = strtoll(s, &end, base);
    if (*end == '\0' && errno == 0) return *n = number_int(v), true;
  } else {
    unsigned long long v = strtoull(s, &end, base);
    if (*end == '\0' && errno == 0 && end != s) return *n = number_unsigned(v), true;
  }
  if (errno == ERANGE && *end == '\0') return false; /* an integer, but too large */
  errno = 0;
  double f = strtod(s, &end);
  if (end == s || *end != '\0' || (errno == ERANGE && isinf(f))) return false;
  *n = number_real(f);
  return true;
}

/* Narrow floats ------------------------------------------------------------------------- */

struct narrow {
  int digits;  /* significant bits, with the hidden one */
  int min_exp; /* of the smallest subnormal: value = 2^min_exp */
  int max_exp; /* values from 2^max_exp on are infinite */
};

static const struct narrow f16_format = { 11, -24, 16 };
static const struct narrow bf16_format = { 8, -133, 128 };

/* Rounds a double once (no step through float: that would round twice). */
static uint16_t narrow_from_double(const struct narrow *n, double v)
{
  unsigned frac_bits = (unsigned)n->digits - 1;
  unsigned sign = signbit(v) ? 0x8000u : 0, inf = 0x7fffu >> frac_bits << frac_bits;
  if (isnan(v)) return 0x7fff; /* the NaN that NVIDIA hardware produces */
  double a = fabs(v);
  if (isinf(v)) return (uint16_t)(sign | inf);
  if (a == 0) return (uint16_t)sign; /* frexp gives 0 an exponent of 0 */
  int e;
  frexp(a, &e); /* a < 2^e */
  int q = e - n->digits > n->min_exp ? e - n->digits : n->min_exp;
  double units = nearbyint(ldexp(a, -q)); /* exact scaling, one rounding to nearest even */
  /* Encodings of one sign are consecutive: exponent steps add 2^frac_bits units. */
  uint64_t bits = (uint64_t)units + ((uint64_t)(q - n->min_exp) << frac_bits);
  if (ldexp(units, q) >= ldexp(1.0, n->max_exp)) bits = inf;
  return (uint16_t)(sign | bits);
}

static double narrow_to_double(const struct narrow *n, uint16_t h)
{
  unsigned frac_bits = (unsigned)n->digits - 1;
  unsigned exp = (h & 0x7fffu) >> frac_bits, frac = h & ((1u << frac_bits) - 1);
  double v;
  if (exp == 0x7fffu >> frac_bits) v = frac ? (double)NAN : (double)INFINITY;
  else if (exp == 0) v = ldexp(frac, n->min_exp);
  else v = ldexp((double)(frac + (1u << frac_bits)), n->min_exp + (int)exp - 1);
  return h & 0x8000 ? -v : v;
}

/* Storing and loading ------------------------------------------------------------------- */

void value_store_real(enum value_type t, double v, void *to)
{
  uint16_t h;
  float f = (float)v;
  switch (t) {
  case VALUE_F64:
    memcpy(to, &v, sizeof v);
    return;
  case VALUE_F32:
    memcpy(to, &f, sizeof f);
    return;
  case VALUE_F16:
  case VALUE_BF16:
    h = narrow_from_double(t == VALUE_F16 ? &f16_format : &bf16_format, v);
    memcpy(to, &h, sizeof h);
    return;
  default:
    BUG("value type %d is not a float", (int)t);
  }
}

uint64_t value_load_bits(enum value_type t, const void *from)
{
  uint64_t v = 0;
  memcpy(&v, from, value_bytes(t)); /* hosts are little-endian */
  return v;
}

double value_load_real(enum value_type t, const void *from)
{
  double d;
  float f;
  switch (t) {
  case VALUE_F64:
    memcpy(&d, from, sizeof d);
    return d;
  case VALUE_F32:
    memcpy(&f, from, sizeof f);
    return (double)f;
  case VALUE_F16:
    return narrow_to_double(&f16_format, (uint16_t)value_load_bits(t, from));
  case VALUE_BF16:
    return narrow_to_double(&bf16_format, (uint16_t)value_load_bits(t, from));
  default:
    BUG("value type %d is not a float", (int)t);
  }
}

bool value_store(enum value_type t, struct number n, void *to)
{
  if (value_class(t) == VALUE_FLOAT) {
    value_store_real(t, n.f, to);
    return true;
  }
  unsigned width = (unsigned)value_bytes(t) * 8;
  if (n.real) return false;
  if (n.negative) {
    if (value_class(t) == VALUE_UNSIGNED || (int64_t)n.bits < INT64_MIN >> (64 - width))
      return false;
  } else if (n.bits > UINT64_MAX >> (64 - width + (value_class(t) == VALUE_SIGNED))) {
    return false;
  }
  memcpy(to, &n.bits, value_bytes(t));
  return true;
}

int value_print(enum value_type t, const void *from, char *buf, size_t size)
{
  static const int digits[VALUE__N] = { [VALUE_F16] = 5, [VALUE_BF16] = 4, [VALUE_F32] = 9,
                                        [VALUE_F64] = 17 };
  uint64_t bits = value_load_bits(t, from);
  unsigned shift = 64 - (unsigned)value_bytes(t) * 8;
  switch (value_class(t)) {
  case VALUE_UNSIGNED:
    return snprintf(buf, size, "%llu", (unsigned long long)bits);
  case VALUE_SIGNED:
    return snprintf(buf, size, "%lld", (long long)((int64_t)(bits << shift) >> shift));
  case VALUE_FLOAT:
    return snprintf(buf, size, "%.*g", digits[t], value_load_real(t, from));
  }
  BUG("value class");
}
