/* Rows, addresses and data of all lanes at once, for handlers that are compiled once; this file is compiled per
 * x86 level (lanes.h). */
#include "func/sass/lanes.h"

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

/* Each step is a bijection: one word that differs makes a digest that differs. */
static inline uint32_t mixed(uint32_t h, uint32_t word)
{
  return ((h << 13 | h >> 19) ^ word) * 0x9e3779b1u;
}

static void digest(uint32_t *digest, const uint32_t *rows, unsigned n, const uint32_t *bits, unsigned n_bits)
{
  uint32_t h[LANES];
  memcpy(h, digest, sizeof h);
  for (unsigned k = 0; k < n; k++, rows += LANES) {
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) h[i] = mixed(h[i], rows[i]);
  }
  for (unsigned k = 0; k < n_bits; k++) {
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) h[i] = mixed(h[i], bits[k] & lane_bit[i] ? 1 : 0);
  }
  memcpy(digest, h, sizeof h);
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

#define STRIDE_MAX (1 << 26)

/* An even progression of 32-bit words that does not wrap around. */
static inline bool is_progression(uint32_t first, uint32_t step, uint32_t odd)
{
  const int32_t stride = (int32_t)step;
  const int64_t last = first + (int64_t)stride * (LANES - 1);
  return !odd && stride > -STRIDE_MAX && stride < STRIDE_MAX && last >= 0 && last <= UINT32_MAX;
}

/* The shape and both ends of addresses that form a progression. True: the others are not wanted. */
static inline bool put_ends(uint64_t *out, struct lane_shape *shape, uint64_t first, uint32_t step, unsigned dense)
{
  const uint64_t stride = (uint64_t)(int64_t)(int32_t)step;
  *shape = (struct lane_shape){.bits = first | stride, .stride = stride, .even = true};
  out[0] = first, out[LANES - 1] = first + stride * (LANES - 1);
  return dense && (!stride || stride == dense);
}

/* out[i] = at(i) for all lanes, whose words, the parts that differ, are word(i); odd: those are no progression. */
#define ADDRESSES(at, word, odd)                                                                   \
  do {                                                                                             \
    const uint32_t step = word(1) - word(0);                                                       \
    uint64_t bits = 0;                                                                             \
    if (is_progression(word(0), step, odd)) {                                                      \
      if (put_ends(out, shape, at(0), step, dense)) return;                                        \
      LANES_SIMD                                                                                   \
      for (unsigned i = 0; i < LANES; i++) out[i] = at(i);                                         \
      return;                                                                                      \
    }                                                                                              \
    _Pragma("omp simd reduction(|:bits)")                                                          \
    for (unsigned i = 0; i < LANES; i++) bits |= out[i] = at(i);                                   \
    *shape = (struct lane_shape){.bits = bits};                                                    \
  } while (0)

static void add_wide(uint64_t *restrict out, struct lane_shape *restrict shape, const uint32_t *restrict lo,
                     const uint32_t *restrict hi, uint64_t base, unsigned dense)
{
  const uint32_t first = lo[0], by = lo[1] - first, top = hi[0];
  LANE_BITS(odd, ((lo[i] ^ (first + i * by)) | (hi[i] ^ top)) != 0);
#define WORD(i) lo[i]
#define AT(i) ((lo[i] | (uint64_t)hi[i] << 32) + base)
  ADDRESSES(AT, WORD, odd);
#undef AT
#undef WORD
}

static void add_word(uint64_t *restrict out, struct lane_shape *restrict shape, const uint32_t *restrict a,
                     uint64_t base, unsigned dense)
{
  const uint32_t first = a[0], by = a[1] - first;
  LANE_BITS(odd, a[i] != first + i * by);
#define WORD(i) a[i]
#define AT(i) (a[i] + base)
  ADDRESSES(AT, WORD, odd);
#undef AT
#undef WORD
}

static void add_near(uint64_t *restrict out, struct lane_shape *restrict shape, const uint32_t *restrict a,
                     unsigned shift, uint32_t base, unsigned dense)
{
#define WORD(i) ((a[i] << shift) + base)
#define AT(i) ((uint64_t)WORD(i))
  const uint32_t first = WORD(0), by = WORD(1) - first;
  LANE_BITS(odd, WORD(i) != first + i * by);
  ADDRESSES(AT, WORD, odd);
#undef AT
#undef WORD
}

static uint32_t outside(const uint64_t *addr, uint64_t first, uint64_t last)
{
  LANE_BITS(bits, (int64_t)((addr[i] - first) | (last - (addr[i] - first))) < 0);
  return bits;
}

/* One access. `row`, the words of a row, and `bytes` are constants wherever these are inlined. */
#define INLINE static inline __attribute__((always_inline))

INLINE uint8_t *lane_at(const struct lane_block *b, const uint64_t *addr, unsigned i)
{
  return b->base + i * b->apart + (addr[i] & b->in);
}

INLINE void load_words(uint32_t *restrict rows, unsigned row, const uint8_t *restrict p, unsigned i, unsigned bytes)
{
  for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
    uint32_t v = 0;
    memcpy(&v, p + 4 * k, bytes < 4 ? bytes : 4);
    rows[k * row + i] = v;
  }
}

INLINE void store_words(const uint32_t *restrict rows, unsigned row, uint8_t *restrict p, unsigned i, unsigned bytes)
{
  for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
    uint32_t v = rows[k * row + i];
    memcpy(p + 4 * k, &v, bytes < 4 ? bytes : 4);
  }
}

/* Eight bytes go at once where there are so many: the GPU of another process may look at them meanwhile, and no GPU
 * shows half of such a store (NCCL's protocol LL has a number and its flag there). Loads are such that the compiler
 * reads each but once; of plain ones it read some twice, a half each time. */
typedef uint64_t __attribute__((may_alias, aligned(1))) whole;

INLINE void load_lane(uint32_t *restrict rows, unsigned row, const uint8_t *restrict p, unsigned i, unsigned bytes)
{
  if (bytes < sizeof(whole)) return load_words(rows, row, p, i, bytes);
  for (unsigned k = 0; k < bytes / sizeof(whole); k++) {
    const uint64_t v = ((const volatile whole *)(const void *)p)[k];
    rows[2 * k * row + i] = (uint32_t)v;
    rows[(2 * k + 1) * row + i] = (uint32_t)(v >> 32);
  }
}

INLINE void store_lane(const uint32_t *restrict rows, unsigned row, uint8_t *restrict p, unsigned i, unsigned bytes)
{
  if (bytes < 8) return store_words(rows, row, p, i, bytes);
  for (unsigned k = 0; k < bytes / 8; k++) {
    const uint64_t v = rows[2 * k * row + i] | (uint64_t)rows[(2 * k + 1) * row + i] << 32;
    memcpy(p + 8 * k, &v, sizeof v);
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

#if defined __AVX512F__
enum { PIECE = 64 };
#elif defined __AVX2__
enum { PIECE = 32 };
#else
enum { PIECE = 16 };
#endif
typedef uint64_t __attribute__((vector_size(PIECE), may_alias, aligned(1))) piece; /* its parts of 8 bytes are whole */

/* What lies at p, read once: the compiler cannot know that v is still what lies there. */
INLINE void copy_once(uint8_t *restrict to, const uint8_t *restrict p, unsigned bytes)
{
#pragma GCC unroll 16
  for (unsigned k = 0; k < bytes; k += PIECE) {
    uint64_t __attribute__((vector_size(PIECE))) v = *(const piece *)(const void *)(p + k);
    __asm__("" : "+v"(v));
    *(piece *)(void *)(to + k) = v;
  }
}

INLINE void load_dense_sized(uint32_t *restrict rows, unsigned row, const uint8_t *restrict p, unsigned bytes)
{
  _Alignas(64) uint8_t once[LANES * MEM_MAX_BYTES];
  if (bytes < sizeof(whole)) {
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) load_words(rows, row, p + i * bytes, i, bytes);
    return;
  }
  copy_once(once, p, LANES * bytes);
  for (unsigned k = 0; k < bytes / 4; k++) {
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) memcpy(&rows[k * row + i], once + i * bytes + 4 * k, 4);
  }
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
  uint32_t v[MEM_MAX_BYTES / 4];
  load_lane(v, 1, p, 0, bytes);
  for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) rows[k * row + i] = v[k];
  }
}

static void load_even(uint32_t *d, const uint8_t *p, uint64_t stride, unsigned bytes, uint32_t m)
{
  _Alignas(64) uint32_t t[4 * LANES];
  uint32_t *const to = m == FULL_MASK ? d : t;
  if (stride) BY_SIZE(load_dense_sized, to, LANES, p);
  else BY_SIZE(load_same_sized, to, LANES, p);
  if (to != d) row_blend(d, t, (bytes + 3) / 4, m);
}

static void load_regs(uint32_t *d, const struct lane_block *b, const uint64_t *addr, unsigned bytes)
{
  BY_SIZE(load_sized, d, LANES, b, addr);
}

static void store_regs(const uint32_t *s, const struct lane_block *b, const uint64_t *addr, unsigned bytes)
{
  BY_SIZE(store_sized, s, LANES, b, addr);
}

static void store_even(const uint32_t *s, uint8_t *p, unsigned bytes)
{
  BY_SIZE(store_dense_sized, s, LANES, p);
}

const struct lane_ops SEM_NAME(sem_lane_ops) = {
    blend, fill, equal, digest, commit, sample, add_wide, add_word, add_near, outside, load, store, load_dense,
    store_dense, load_regs, store_regs, load_even, store_even,
};
