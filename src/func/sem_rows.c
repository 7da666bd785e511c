/* Rows, addresses and data of all lanes at once, for handlers that are compiled once; this file is compiled per
 * x86 level (lanes.h). */
#include "func/lanes.h"

static void blend(uint32_t *d, const uint32_t *t, uint32_t m)
{
  row_blend(d, t, 1, m);
}

static void fill(uint32_t *d, uint32_t value, uint32_t m)
{
  LANES_SIMD
  for (unsigned i = 0; i < LANES; i++) d[i] = m & lane_bit[i] ? value : d[i];
}

static uint32_t equal(const uint32_t *row, uint32_t value)
{
  LANE_BITS(bits, row[i] == value);
  return bits;
}

static void commit(uint32_t *d, const uint32_t *data, unsigned rows, uint32_t m)
{
  for (unsigned k = 0; k < rows; k++, d += LANES, data += LANES_MAX) {
    if (m != FULL_MASK) {
      row_blend(d, data, 1, m);
      continue;
    }
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) d[i] = data[i];
  }
}

static void sample(uint32_t *data, const uint32_t *s, unsigned rows)
{
  for (unsigned k = 0; k < rows; k++, s += LANES, data += LANES_MAX) {
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) data[i] = s[i];
  }
}

/* out[i] = at(i) for all lanes, and their shape, in one pass: what was just written is not read again. */
#define ADDRESSES(at)                                                                              \
  do {                                                                                             \
    const uint64_t first = at(0), step = at(1) - first;                                            \
    uint64_t bits = 0, off = 0, want = first;                                                      \
    _Pragma("omp simd reduction(|:bits,off) linear(want:step)")                                    \
    for (unsigned i = 0; i < LANES; i++) {                                                         \
      const uint64_t v = at(i);                                                                    \
      out[i] = v;                                                                                  \
      bits |= v;                                                                                   \
      off |= v ^ want;                                                                             \
      want += step;                                                                                \
    }                                                                                              \
    *shape = (struct lane_shape){bits, step, !off && step + STRIDE_MAX < 2 * STRIDE_MAX};          \
  } while (0)

#define STRIDE_MAX (UINT64_C(1) << 26)

static void add_wide(uint64_t *restrict out, struct lane_shape *restrict shape,
                     const uint32_t *restrict lo, const uint32_t *restrict hi, uint64_t base)
{
#define AT(i) ((lo[i] | (uint64_t)hi[i] << 32) + base)
  ADDRESSES(AT);
#undef AT
}

static void add_word(uint64_t *restrict out, struct lane_shape *restrict shape,
                     const uint32_t *restrict a, uint64_t base)
{
#define AT(i) (a[i] + base)
  ADDRESSES(AT);
#undef AT
}

static void add_near(uint64_t *restrict out, struct lane_shape *restrict shape,
                     const uint32_t *restrict a, unsigned shift, uint32_t base)
{
#define AT(i) ((uint64_t)(uint32_t)((a[i] << shift) + base))
  ADDRESSES(AT);
#undef AT
}

static uint32_t outside(const uint64_t *addr, uint64_t first, uint64_t last)
{
  uint32_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < LANES; i++) {
    uint64_t off = addr[i] - first;
    lane_acc |= (int64_t)(off | (last - off)) < 0 ? lane_bit[i] : 0;
  }
  return lane_acc;
}

/* One access. `row`, the words of a row, and `bytes` are constants wherever these are inlined. */
#define INLINE static inline __attribute__((always_inline))

INLINE uint8_t *lane_at(const struct lane_block *b, const uint64_t *addr, unsigned i)
{
  return b->base + i * b->apart + (addr[i] & b->in);
}

INLINE void load_lane(uint32_t *restrict rows, unsigned row, const uint8_t *restrict p, unsigned i, unsigned bytes)
{
  for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
    uint32_t v = 0;
    memcpy(&v, p + 4 * k, bytes < 4 ? bytes : 4);
    rows[k * row + i] = v;
  }
}

INLINE void store_lane(const uint32_t *restrict rows, unsigned row, uint8_t *restrict p, unsigned i, unsigned bytes)
{
  for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
    uint32_t v = rows[k * row + i];
    memcpy(p + 4 * k, &v, bytes < 4 ? bytes : 4);
  }
}

INLINE void load_sized(uint32_t *rows, unsigned row, const struct lane_block *from, const uint64_t *addr,
                       unsigned bytes)
{
  const struct lane_block b = *from; /* rows cannot change a copy */
  if (b.lanes == FULL_MASK) {
    const uint8_t *p = b.base;
#pragma GCC unroll 8
    for (unsigned i = 0; i < LANES; i++, p += b.apart) load_lane(rows, row, p + (addr[i] & b.in), i, bytes);
    return;
  }
  for (uint32_t r = b.lanes; r; r &= r - 1) {
    unsigned i = (unsigned)__builtin_ctz(r);
    load_lane(rows, row, lane_at(&b, addr, i), i, bytes);
  }
}

INLINE void store_sized(const uint32_t *rows, unsigned row, const struct lane_block *to, const uint64_t *addr,
                        unsigned bytes)
{
  const struct lane_block b = *to;
  if (b.lanes == FULL_MASK) {
    uint8_t *p = b.base;
#pragma GCC unroll 8
    for (unsigned i = 0; i < LANES; i++, p += b.apart) store_lane(rows, row, p + (addr[i] & b.in), i, bytes);
    return;
  }
  for (uint32_t r = b.lanes; r; r &= r - 1) {
    unsigned i = (unsigned)__builtin_ctz(r);
    store_lane(rows, row, lane_at(&b, addr, i), i, bytes);
  }
}

INLINE void load_dense_sized(uint32_t *restrict rows, unsigned row, const uint8_t *restrict p, unsigned bytes)
{
  LANES_SIMD
  for (unsigned i = 0; i < LANES; i++) load_lane(rows, row, p + i * bytes, i, bytes);
}

INLINE void store_dense_sized(const uint32_t *restrict rows, unsigned row, uint8_t *restrict p, unsigned bytes)
{
  LANES_SIMD
  for (unsigned i = 0; i < LANES; i++) store_lane(rows, row, p + i * bytes, i, bytes);
}

/* The size decides once for all lanes. */
#define BY_SIZE(call, ...)                                                                         \
  do {                                                                                             \
    switch (bytes) {                                                                               \
    case 1: call(__VA_ARGS__, 1); break;                                                           \
    case 2: call(__VA_ARGS__, 2); break;                                                           \
    case 4: call(__VA_ARGS__, 4); break;                                                           \
    case 8: call(__VA_ARGS__, 8); break;                                                           \
    case 16: call(__VA_ARGS__, 16); break;                                                         \
    default: call(__VA_ARGS__, 32); break;                                                         \
    }                                                                                              \
  } while (0)

static void load(uint32_t *rows, const struct lane_block *b, const uint64_t *addr, unsigned bytes)
{
  BY_SIZE(load_sized, rows, LANES_MAX, b, addr);
}

static void store(const uint32_t *rows, const struct lane_block *b, const uint64_t *addr, unsigned bytes)
{
  BY_SIZE(store_sized, rows, LANES_MAX, b, addr);
}

static void load_dense(uint32_t *rows, const uint8_t *p, unsigned bytes)
{
  BY_SIZE(load_dense_sized, rows, LANES_MAX, p);
}

static void store_dense(const uint32_t *rows, uint8_t *p, unsigned bytes)
{
  BY_SIZE(store_dense_sized, rows, LANES_MAX, p);
}

/* All lanes read one place. */
INLINE void load_same_sized(uint32_t *restrict rows, unsigned row, const uint8_t *restrict p, unsigned bytes)
{
  for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
    uint32_t v = 0;
    memcpy(&v, p + 4 * k, bytes < 4 ? bytes : 4);
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) rows[k * row + i] = v;
  }
}

static void load_regs(uint32_t *d, const struct lane_block *b, const uint64_t *addr, const struct lane_shape *shape,
                      unsigned bytes)
{
  const uint8_t *const p = b->base + (addr[0] & b->in);
  const bool even = shape->even && b->lanes == FULL_MASK && !b->apart;
  if (even && shape->stride == bytes) BY_SIZE(load_dense_sized, d, LANES, p);
  else if (even && !shape->stride) BY_SIZE(load_same_sized, d, LANES, p);
  else BY_SIZE(load_sized, d, LANES, b, addr);
}

static void store_regs(const uint32_t *s, const struct lane_block *b, const uint64_t *addr,
                       const struct lane_shape *shape, unsigned bytes)
{
  const bool even = shape->even && b->lanes == FULL_MASK && !b->apart;
  if (even && shape->stride == bytes) BY_SIZE(store_dense_sized, s, LANES, b->base + (addr[0] & b->in));
  else BY_SIZE(store_sized, s, LANES, b, addr);
}

const struct lane_ops SEM_NAME(sem_lane_ops) = {
    blend, fill, equal, commit, sample, add_wide, add_word, add_near, outside, load, store, load_dense, store_dense,
    load_regs, store_regs,
};
