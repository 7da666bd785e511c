/* Which L2 slice holds a line, and its line number there: one function, which the crossbar uses.
 *
 *   linear    line mod slices: strides that share a factor with the number of slices fall on few
 *             of them
 *   permuted  as linear, then rotated by a hash of the line number inside the slice
 *   ipoly     as linear, then moved by the residue of that line number modulo an irreducible polynomial over
 *             GF(2) (Rau, Pseudo-randomly interleaved memory, ISCA 1991): XORed when the number of slices is
 *             a power of two, which is Rau's scheme, else added modulo the slices
 *
 * Where l2.slice_lines is not 1, so many neighbouring lines stay together: the hash is of such runs, not of lines.
 *
 * With permuted and ipoly each aligned run of as many lines as there are slices still covers every slice
 * once, and strides spread. Any number of slices will do, and (slice, local) is as good as the line. The
 * silicon's hash is not published; what is known is that strides do not camp on a slice.
 */
#ifndef WS_TIME_MEM_L2_MAP_H
#define WS_TIME_MEM_L2_MAP_H

#include "config/params.h"

/* Two partitions: slices of the lower numbers are those of the lower SMs. A line has its home, where its
 * memory is; the slice of the same number in the other partition may hold a copy, whose line number
 * there has this bit. */
#define L2_FAR_LINE ((uint64_t)1 << 62)

static inline unsigned l2_partition_of_sm(const struct params *p, unsigned sm)
{
  return sm * p->l2_partitions / p->gpu_sms;
}

static inline unsigned l2_partition_of_slice(const struct params *p, unsigned slice)
{
  return slice * p->l2_partitions / p->l2_slices;
}

/* The slice of the other partition that answers for the same lines. */
static inline unsigned l2_peer(const struct params *p, unsigned slice)
{
  return (slice + p->l2_slices / 2) % p->l2_slices;
}

/* Residue of `line` * x^degree modulo a polynomial over GF(2) of that degree. */
static inline uint32_t l2_residue(uint64_t line, uint32_t poly, unsigned degree)
{
  uint32_t r = 0, top = 1u << degree;
  for (unsigned i = line ? 64 - (unsigned)__builtin_clzll(line) : 0; i-- > 0;) {
    r = r << 1 ^ (uint32_t)(line >> i & 1) << degree;
    if (r & top) r ^= poly;
  }
  return r;
}

struct l2_place {
  uint32_t slice;
  uint64_t local; /* line number inside the slice, dense */
};

static inline struct l2_place l2_place(const struct params *p, uint64_t line)
{
  const uint32_t n = p->l2_slices, together = p->l2_slice_lines;
  const uint64_t run = line / together, local = run / n;
  uint32_t slice = (uint32_t)(run - local * n);
  if (p->l2_slice_hash == L2_SLICE_HASH_PERMUTED) {
    uint32_t x = (uint32_t)(local ^ local >> 32) * 0x9e3779b9u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    slice = (slice + (x >> 8)) % n;
  }
  if (p->l2_slice_hash == L2_SLICE_HASH_IPOLY) {
    unsigned degree = 31 - (unsigned)__builtin_clz(p->l2_slice_poly);
    uint32_t r = l2_residue(local, p->l2_slice_poly, degree);
    slice = 1u << degree == n ? slice ^ r : (slice + r) % n;
  }
  return (struct l2_place){slice, local * together + line % together};
}

/* The line that lies there. */
static inline uint64_t l2_line_at(const struct params *p, struct l2_place at)
{
  const uint32_t n = p->l2_slices, together = p->l2_slice_lines;
  const uint64_t first = at.local / together * n; /* run, of those of which each slice has one */
  const uint32_t moved = l2_place(p, first * together).slice;
  const bool xored = p->l2_slice_hash == L2_SLICE_HASH_IPOLY && (n & (n - 1)) == 0;
  return (first + (xored ? at.slice ^ moved : (at.slice + n - moved) % n)) * together + at.local % together;
}

#endif
