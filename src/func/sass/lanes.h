/* Lane loops: the one way an ALU handler walks the 32 lanes of a warp.
 *
 * A handler reads whole rows (128 bytes) and writes whole rows. With all lanes active the loop
 * writes the destination directly and vectorises; with some lanes inactive it computes into a
 * temporary row, which is blended in, so that inactive lanes keep their value. Handler files are
 * compiled three times (-march=x86-64, x86-64-v3, x86-64-v4; -fopenmp-simd -ffp-contract=off
 * -fno-trapping-math -fno-math-errno) with SEM_LEVEL set to v1, v3, v4; a file exports its
 * picker as SEM_NAME(sem_int_handler). The three must be bit-identical: no reassociation, no
 * contraction.
 *
 * Example, with the picker:
 *
 *   static bool iadd3(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
 *                     struct fault *f)
 *   {
 *     LANE_UNUSED;                            // e and f are not used
 *     LANE_SRC(a); LANE_SRC(b); LANE_SRC(c);  // rows and modifiers of the three sources
 *     const uint32_t carry = u->imm;          // complements need + 1 each
 *     LANE_ROWS(1, d[i] = LANE(a) + LANE(b) + LANE(c) + carry;);
 *     return true;
 *   }
 *   static bool isetp_lt(…)
 *   {
 *     LANE_UNUSED;
 *     LANE_SRC(a); LANE_SRC(b);
 *     LANE_BITS(lt, (int32_t)LANE(a) < (int32_t)LANE(b));   // declares uint32_t lt
 *     pred_write(w, u->pu, m, lt & pred_read(w, u->pp, u->pp_xor));
 *     return true;
 *   }
 *   static bool dadd(…)
 *   {
 *     LANE_UNUSED;
 *     LANE_SRC(a); LANE_SRC(b);
 *     LANE_ROWS(2, lane_put64(d, i, f64_bits(bits_f64(LANE64(a)) + bits_f64(LANE64(b)))););
 *     return true;
 *   }
 *   uop_fn *SEM_NAME(sem_int_handler)(const struct sass_inst *s, struct uop *u)
 *   {
 *     switch (s->sem) { case SEM_IADD3: u->imm = …; return iadd3; … default: return NULL; }
 *   }
 */
#ifndef WS_FUNC_SASS_LANES_H
#define WS_FUNC_SASS_LANES_H

#include <immintrin.h>
#include <string.h>

#include "func/sass/func_warp.h"
#include "func/sass/uop.h"

#ifdef SEM_LEVEL
#define SEM_PASTE_(x, level) x##_##level
#define SEM_PASTE(x, level) SEM_PASTE_(x, level)
#define SEM_NAME(x) SEM_PASTE(x, SEM_LEVEL)
#define LANES_SIMD _Pragma("omp simd")
#define LANES_SIMD_OR _Pragma("omp simd reduction(|:lane_acc)")
#ifdef __clang__
/* A loop clang cannot vectorise is slower, not wrong. */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#else
#define LANES_SIMD
#define LANES_SIMD_OR
#endif

#define LANE_UNUSED (void)e, (void)f

/* lane_bit[i] = 1 << i. A table, because SSE2 has no per-lane shift. */
static const uint32_t lane_bit[LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* Rows of an operand; a wide operand continues in the next rows (row r at [r * LANES]). */
static inline const uint32_t *row_src(const struct func_warp *w, struct row_ref r)
{
  return __builtin_assume_aligned(w->base[r.base] + r.off, ROW_BYTES);
}

static inline uint32_t *row_dst(const struct func_warp *w, struct row_ref r)
{
  return __builtin_assume_aligned(w->base[r.base] + r.off, ROW_BYTES);
}

/* Bit 31 of each lane. An OR over lanes, which compilers make of a loop, takes a chain of shuffles. */
static inline uint32_t row_signs(const uint32_t *row)
{
  uint32_t bits = 0;
#if defined __AVX512DQ__
  for (unsigned i = 0; i < LANES; i += 16)
    bits |= (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(row + i)) << i;
#elif defined __AVX__
  for (unsigned i = 0; i < LANES; i += 8)
    bits |=
        (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_load_si256((const __m256i *)(const void *)(row + i))))
        << i;
#else
  for (unsigned i = 0; i < LANES; i += 4)
    bits |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_load_si128((const __m128i *)(const void *)(row + i)))) << i;
#endif
  return bits;
}

/* d = t in the lanes of m, for `rows` consecutive rows. */
static inline void row_blend(uint32_t *d, const uint32_t *t, unsigned rows, uint32_t m)
{
  for (unsigned r = 0; r < rows; r++, d += LANES, t += LANES) {
    LANES_SIMD
    for (unsigned i = 0; i < LANES; i++) {
      uint32_t keep = (m & lane_bit[i]) ? 0 : FULL_MASK;
      d[i] = (t[i] & ~keep) | (d[i] & keep);
    }
  }
}

/* Predicate p (0..6 = P, 8..14 = UP, 7 and 15 = true), inverted where x has ones. */
static inline uint32_t pred_read(const struct func_warp *w, unsigned p, uint32_t x)
{
  return w->pred[p] ^ x;
}

/* Writes the lanes of m; p = PRED_NONE (7) drops the value. Uniform handlers pass the lanes of the path
 * and bits = 0 or FULL_MASK. */
static inline void pred_write(struct func_warp *w, unsigned p, uint32_t m, uint32_t bits)
{
  if (p != PRED_NONE) w->pred[p] = (w->pred[p] & ~m) | (bits & m);
}

/* Declares the row and the modifiers of source x (a, b or c) of uop u in warp w. */
#define LANE_SRC(x)                                                                                \
  const uint32_t *const row_##x = row_src(w, u->x);                                                \
  const uint32_t and_##x = u->x##_and, xor_##x = u->x##_xor

/* Value of source x in lane i, after modifiers; LANE_RAW: before; LANE_HI: second row, raw. */
#define LANE(x) ((row_##x[i] & and_##x) ^ xor_##x)
#define LANE_RAW(x) (row_##x[i])
/* 64-bit source. Modifiers apply to the high word (sign tricks); LANE64_NOT: to both words. */
#define LANE64(x) lane_join(row_##x[i], (row_##x[LANES + i] & and_##x) ^ xor_##x)
#define LANE64_RAW(x) lane_join(row_##x[i], row_##x[LANES + i])
#define LANE64_NOT(x) lane_join(LANE(x), (row_##x[LANES + i] & and_##x) ^ xor_##x)

/* Runs the statements for every lane i. They write d[i] (and d[LANES + i] … for `rows` > 1) and
 * must read all their sources before the first write: destination rows may be source rows. Needs
 * w, u and m in scope. Side effects other than writes to d are not masked. */
#define LANE_ROWS(rows, ...)                                                                       \
  do {                                                                                             \
    uint32_t *const lane_out = row_dst(w, u->d);                                                   \
    if (m == FULL_MASK) {                                                                          \
      uint32_t *const d = lane_out;                                                                \
      LANES_SIMD                                                                                   \
      for (unsigned i = 0; i < LANES; i++) {                                                       \
        __VA_ARGS__                                                                                \
      }                                                                                            \
    } else {                                                                                       \
      _Alignas(64) uint32_t d[(rows) * LANES];                                                     \
      LANES_SIMD                                                                                   \
      for (unsigned i = 0; i < LANES; i++) {                                                       \
        __VA_ARGS__                                                                                \
      }                                                                                            \
      row_blend(lane_out, d, (rows), m);                                                           \
    }                                                                                              \
  } while (0)

/* Declares uint32_t `bits`: bit i = condition in lane i, for all 32 lanes. */
#define LANE_BITS(bits, ...)                                                                       \
  uint32_t bits;                                                                                   \
  do {                                                                                             \
    _Alignas(64) uint32_t lane_test[LANES];                                                        \
    LANES_SIMD                                                                                     \
    for (unsigned i = 0; i < LANES; i++) lane_test[i] = (__VA_ARGS__) ? FULL_MASK : 0;             \
    bits = row_signs(lane_test);                                                                   \
  } while (0)

static inline uint64_t lane_join(uint32_t lo, uint32_t hi)
{
  return lo | (uint64_t)hi << 32;
}

static inline void lane_put64(uint32_t *d, unsigned i, uint64_t v)
{
  d[i] = (uint32_t)v;
  d[LANES + i] = (uint32_t)(v >> 32);
}

static inline float bits_f32(uint32_t v)
{
  float x;
  memcpy(&x, &v, sizeof x);
  return x;
}

static inline uint32_t f32_bits(float x)
{
  uint32_t v;
  memcpy(&v, &x, sizeof v);
  return v;
}

static inline double bits_f64(uint64_t v)
{
  double x;
  memcpy(&x, &v, sizeof x);
  return x;
}

static inline uint64_t f64_bits(double x)
{
  uint64_t v;
  memcpy(&v, &x, sizeof v);
  return v;
}

#endif
