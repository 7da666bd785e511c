#include "host/fill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

struct buffer_fill fill_default(void)
{
  return (struct buffer_fill){ .kind = FILL_ZERO, .value = number_int(0), .start = number_int(0),
                        .step = number_int(1), .min = number_int(0), .max = number_int(1) };
}

bool fill_kind_parse(const char *name, enum fill_kind *kind)
{
  static const char *const names[] = { "zero", "const", "iota", "uniform", "chain" };
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i], name) == 0) {
      *kind = (enum fill_kind)i;
      return true;
    }
  return false;
}

static bool check_number(enum value_type t, struct number n, const char *key, struct err *e)
{
  uint8_t scratch[8];
  if (value_store(t, n, scratch)) return true;
  return err_set(e, "%s does not fit %s; use a value of that type", key, value_name(t));
}

static uint64_t splitmix64(uint64_t seed, uint64_t i)
{
  uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* Integers count modulo 2^64 and are stored in the low bytes. */
static uint64_t int_element(const struct buffer_fill *f, uint64_t i)
{
  switch (f->kind) {
  case FILL_ZERO:
  case FILL_CHAIN: /* fill_chain */
    return 0;
  case FILL_CONST:
    return f->value.bits;
  case FILL_IOTA:
    return f->start.bits + i * f->step.bits;
  case FILL_UNIFORM: {
    uint64_t z = splitmix64(f->seed, i), range = f->max.bits - f->min.bits + 1;
    return f->min.bits + (range ? z % range : z); /* range 0: all 2^64 values */
  }
  }
  return 0;
}

static double uniform_element(const struct buffer_fill *f, uint64_t i)
{
  double u = (double)(splitmix64(f->seed, i) >> 11) * 0x1p-53;
  double scaled = u * (f->max.f - f->min.f); /* a statement of its own keeps compilers from fusing multiply and add */
  return f->min.f + scaled;
}

static double real_element(const struct buffer_fill *f, uint64_t i)
{
  double scaled; /* as above */
  switch (f->kind) {
  case FILL_ZERO:
  case FILL_CHAIN:
    return 0.0;
  case FILL_CONST:
    return f->value.f;
  case FILL_IOTA:
    scaled = (double)i * f->step.f;
    return f->start.f + scaled;
  case FILL_UNIFORM:
    return uniform_element(f, i);
  }
  return 0.0;
}

/* Whether start + i * step stays in the type up to the last element; both ends decide. */
static bool iota_fits(const struct buffer_fill *f, enum value_type t, uint64_t count)
{
  uint8_t scratch[8];
  bool down = f->step.negative;
  uint64_t step = down ? 0 - f->step.bits : f->step.bits, span;
  if (__builtin_mul_overflow(step, count - 1, &span)) return false;
  __int128 start = f->start.negative ? (__int128)(int64_t)f->start.bits : (__int128)f->start.bits;
  __int128 last = down ? start - span : start + span;
  if (last > (__int128)UINT64_MAX || last < (__int128)INT64_MIN) return false;
  struct number n = last < 0 ? number_int((int64_t)last) : number_unsigned((uint64_t)last);
  return value_store(t, n, scratch);
}

bool fill_check(const struct buffer_fill *f, enum value_type t, uint64_t count, struct err *e)
{
  bool is_float = value_class(t) == VALUE_FLOAT;
  switch (f->kind) {
  case FILL_ZERO:
    return true;
  case FILL_CONST:
    return check_number(t, f->value, "value", e);
  case FILL_IOTA:
    TRY(check_number(t, f->start, "start", e));
    if (!is_float && f->step.real)
      return err_set(e, "step is not an integer; use one for a buffer of %s", value_name(t));
    if (!is_float && count && !iota_fits(f, t, count))
      return err_set(e, "the last element does not fit %s; use fewer elements or a smaller step",
                     value_name(t));
    return true;
  case FILL_UNIFORM:
    TRY(check_number(t, f->min, "min", e));
    TRY(check_number(t, f->max, "max", e));
    if (is_float ? !(f->min.f <= f->max.f)
                 : f->min.negative != f->max.negative ? f->max.negative
                                                      : f->min.bits > f->max.bits)
      return err_set(e, "min is greater than max; swap them");
    if (is_float && !isfinite(f->max.f - f->min.f))
      return err_set(e, "min and max are not finite; use finite bounds");
    return true;
  case FILL_CHAIN:
    if (t != VALUE_U64) return err_set(e, "a chain holds addresses; use type u64");
    if (f->step.real || f->step.negative || f->step.bits == 0 || f->step.bits > count ||
        count / f->step.bits > UINT32_MAX)
      return err_set(e, "step is the number of elements of a line, 1 to count; at most 2^32 lines");
    return true;
  }
  return true;
}

/* Most buffers: without asking for type and kind of each element. */
static void write_f32(const struct buffer_fill *f, uint64_t first, uint64_t n, uint8_t *to)
{
  const struct buffer_fill fill = *f; /* what is written cannot change a copy */
  if (fill.kind == FILL_UNIFORM)
    for (uint64_t i = 0; i < n; i++) {
      float x = (float)uniform_element(&fill, first + i);
      memcpy(to + i * sizeof x, &x, sizeof x);
    }
  else
    for (uint64_t i = 0; i < n; i++) {
      float x = (float)real_element(&fill, first + i);
      memcpy(to + i * sizeof x, &x, sizeof x);
    }
}

void fill_write(const struct buffer_fill *f, enum value_type t, uint64_t first, uint64_t n, void *to)
{
  uint8_t *p = to;
  size_t size = value_bytes(t);
  bool is_float = value_class(t) == VALUE_FLOAT;
  if (f->kind == FILL_ZERO) {
    memset(to, 0, n * size); /* of every type */
    return;
  }
  if (t == VALUE_F32) {
    write_f32(f, first, n, to);
    return;
  }
  for (uint64_t i = first; i < first + n; i++, p += size) {
    uint64_t v;
    if (is_float) value_store_real(t, real_element(f, i), p);
    else v = int_element(f, i), memcpy(p, &v, size);
  }
}

enum { CHAIN_SLOTS = 16 };

void fill_chain(const struct buffer_fill *f, uint64_t count, uint64_t base,
                void (*put)(void *ctx, uint64_t i, uint64_t value), void *ctx)
{
  uint64_t step = f->step.bits, lines = count / step;
  uint64_t slots = step < CHAIN_SLOTS ? step : CHAIN_SLOTS;
  uint32_t *order = malloc(lines * sizeof *order);
  NO_MEMORY_IF(!order);
  for (uint64_t i = 0; i < lines; i++) order[i] = (uint32_t)i;
  for (uint64_t i = lines - 1; i > 1; i--) { /* line 0 stays first */
    uint64_t k = 1 + splitmix64(f->seed, i) % i;
    uint32_t other = order[k];
    order[k] = order[i];
    order[i] = other;
  }
  for (uint64_t s = 0; s < slots; s++)
    for (uint64_t i = 0; i < lines; i++) {
      uint64_t next = i + 1 < lines ? order[i + 1] * step + s : (s + 1) % slots;
      put(ctx, order[i] * step + s, base + next * sizeof next);
    }
  free(order);
}
