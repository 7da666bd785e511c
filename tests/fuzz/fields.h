/* Input of structural fuzz targets: fields one after the other; those behind the end are 0. */
#ifndef WS_FUZZ_FIELDS_H
#define WS_FUZZ_FIELDS_H

#include <stdint.h>
#include <string.h>

struct fields {
  const uint8_t *p;
  size_t n;
};

static inline uint64_t field(struct fields *in, unsigned bytes)
{
  uint64_t v = 0;
  const size_t n = in->n < bytes ? in->n : bytes;
  memcpy(&v, in->p, n);
  in->p += n, in->n -= n;
  return v;
}

static inline unsigned field8(struct fields *in)
{
  return (unsigned)field(in, 1);
}

/* 0 to n - 1. */
static inline unsigned choice(struct fields *in, unsigned n)
{
  return field8(in) % n;
}

/* A number where sizes, signs and sums change, or any. */
static inline uint64_t number(struct fields *in)
{
  const unsigned how = field8(in);
  const int64_t near = (int64_t)(how >> 6) - 1;
  switch (how & 7) {
  case 0: return field(in, 8);
  case 1: return field8(in);
  case 2: return field(in, 2);
  case 3: return field(in, 4);
  case 4: return ((uint64_t)1 << choice(in, 64)) + (uint64_t)near;
  case 5: return (uint64_t)0 - field8(in);
  case 6: return (uint64_t)field8(in) << choice(in, 57);
  default: return (uint64_t)near;
  }
}

#endif
