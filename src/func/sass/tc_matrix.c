#include "func/sass/tc_matrix.h"

#include <string.h>

#include "base/bits.h"

enum { LINE_SHIFT = 7, GROUP = 8, WIDE_GROUP = 4 };

static uint32_t bits_of(uint64_t d, unsigned at, unsigned n)
{
  return (uint32_t)(d >> at & bits_ones(n));
}

bool tc_matrix_read(struct tc_matrix *x, uint64_t d, bool transposed)
{
  static const uint8_t chunks[8] = {1, 8, 8, 0, 4, 0, 2, 0}; /* none; 128 in atoms of 32, 128, 64, 32 bytes */
  enum { ADDRESS_BITS = 14, WIDE_ATOMS = 1, CONTINUED_AT = 52, MODE_AT = 61 };
  *x = (struct tc_matrix){
      .start = bits_of(d, 0, ADDRESS_BITS) * TC_CHUNK,
      .leading = bits_of(d, 16, ADDRESS_BITS) * TC_CHUNK,
      .stride = bits_of(d, 32, ADDRESS_BITS) * TC_CHUNK,
      .base = bits_of(d, 49, 3),
      .chunks = chunks[d >> MODE_AT],
      .wide_atoms = d >> MODE_AT == WIDE_ATOMS,
      .transposed = transposed,
      .continued = bits_of(d, CONTINUED_AT, 1),
  };
  return x->chunks && (!x->wide_atoms || transposed) && (!x->continued || (x->chunks == GROUP && !transposed));
}

static uint32_t swizzled(const struct tc_matrix *x, uint32_t at)
{
  if (x->wide_atoms) return at ^ (((at >> LINE_SHIFT) - x->base) & 3) * (2 * TC_CHUNK);
  return at ^ (((at >> LINE_SHIFT) - x->base) & (x->chunks - 1u)) * TC_CHUNK;
}

static const uint8_t *chunk_at(const struct tc_shared *s, const struct tc_matrix *x, uint32_t where, uint32_t *at)
{
  *at = swizzled(x, where);
  return *at + TC_CHUNK <= s->limit ? s->memory + *at : NULL;
}

static bool read_rows(const struct tc_shared *s, const struct tc_matrix *x, unsigned n, unsigned chunks,
                      uint8_t (*rows)[TC_ROW_MAX], uint32_t *at)
{
  const uint32_t along = x->chunks == 1 ? x->leading : TC_CHUNK;
  const unsigned here = x->continued ? GROUP - x->start / TC_CHUNK % GROUP : chunks; /* columns in this atom */
  for (unsigned i = 0; i < n; i++)
    for (unsigned c = 0; c < chunks; c++) {
      const uint32_t column = c < here ? x->start + c * along : x->leading + (c - here) * along;
      const uint8_t *p = chunk_at(s, x, column + i % GROUP * TC_CHUNK * x->chunks + i / GROUP * x->stride, at);
      if (!p) return false;
      memcpy(rows[i] + c * TC_CHUNK, p, TC_CHUNK);
    }
  return true;
}

/* Where the rows t v … t v + t - 1 of one k are. */
static uint32_t column_offset(const struct tc_matrix *x, unsigned v, unsigned k)
{
  const uint32_t wide = x->chunks == 1 ? x->stride : x->leading, deep = x->chunks == 1 ? x->leading : x->stride;
  const unsigned group = x->wide_atoms ? WIDE_GROUP : GROUP;
  return v % x->chunks * TC_CHUNK + v / x->chunks * wide + k % group * TC_CHUNK * x->chunks + k / group * deep;
}

static bool read_columns(const struct tc_shared *s, const struct tc_matrix *x, unsigned n, unsigned chunks,
                         unsigned bytes, uint8_t (*rows)[TC_ROW_MAX], uint32_t *at)
{
  const unsigned together = TC_CHUNK / bytes, depth = chunks * TC_CHUNK / bytes;
  for (unsigned v = 0; v * together < n; v++)
    for (unsigned k = 0; k < depth; k++) {
      const uint8_t *p = chunk_at(s, x, x->start + column_offset(x, v, k), at);
      if (!p) return false;
      for (unsigned i = 0; i < together && v * together + i < n; i++)
        memcpy(rows[v * together + i] + k * bytes, p + i * bytes, bytes);
    }
  return true;
}

bool tc_rows(const struct tc_shared *s, const struct tc_matrix *x, unsigned n, unsigned chunks, unsigned bytes,
             uint8_t (*rows)[TC_ROW_MAX], uint32_t *at)
{
  return x->transposed ? read_columns(s, x, n, chunks, bytes, rows, at) : read_rows(s, x, n, chunks, rows, at);
}
