/* Tensor maps: what the driver takes and refuses (CUDA Driver API reference, Tensor Map Object Management), where the fields lie
 * that tensormap.replace writes (func/tensor_map.h: from what ptxas emits), and that a map is read as it was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdalign.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"
#include "func/tensor_map.h"

CUresult cuTensorMapEncodeTiled(void *, unsigned, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                                const uint32_t *, unsigned, unsigned, unsigned, unsigned);
CUresult cuTensorMapEncodeIm2col(void *, unsigned, uint32_t, void *, const uint64_t *, const uint64_t *, const int *,
                                 const int *, uint32_t, uint32_t, const uint32_t *, unsigned, unsigned, unsigned, unsigned);
CUresult cuTensorMapReplaceAddress(void *, void *);

/* CUtensorMapDataType */
enum { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ, U4_ALIGN8, U4_ALIGN16, U6_ALIGN16, TYPES };

struct request {
  unsigned type, rank, interleave, swizzle, l2, fill;
  uint64_t address, dim[5], stride[4];
  uint32_t box[5], step[5];
};

/* Three dimensions of 64 x 32 x 8 words. */
static struct request good(void)
{
  return (struct request){.type = U32, .rank = 3, .address = 0x700000000, .dim = {64, 32, 8}, .stride = {256, 8192},
                          .box = {16, 8, 2}, .step = {1, 1, 1}};
}

static alignas(64) uint8_t map[TENSOR_MAP_BYTES];

static CUresult encode(struct request q)
{
  return cuTensorMapEncodeTiled(map, q.type, q.rank, (void *)q.address, q.dim, q.stride, q.box, q.step, q.interleave,
                                q.swizzle, q.l2, q.fill);
}

#define REFUSED(field, value)                                  \
  do {                                                         \
    struct request q_ = good();                                \
    q_.field = value;                                          \
    assert_int_equal(encode(q_), CUDA_ERROR_INVALID_VALUE);    \
  } while (0)
#define TAKEN(field, value)   \
  do {                        \
    struct request q_ = good(); \
    q_.field = value;         \
    OK(encode(q_));           \
  } while (0)

static void what_is_taken(void **state)
{
  (void)state;
  OK(encode(good()));
  REFUSED(rank, 0);
  REFUSED(rank, 6); /* 1 to 5 */
  REFUSED(type, TYPES);
  REFUSED(address, 0x700000008); /* 16 bytes */
  TAKEN(address, 0x700000010);
  REFUSED(dim[1], 0);
  REFUSED(dim[1], ((uint64_t)1 << 32) + 1); /* 1 to 2^32 */
  TAKEN(dim[2], (uint64_t)1 << 32);
  REFUSED(stride[0], 264); /* multiples of 16 below 2^40 */
  TAKEN(stride[0], 272);
  REFUSED(stride[1], (uint64_t)1 << 40);
  TAKEN(stride[1], ((uint64_t)1 << 40) - 16);
  REFUSED(box[1], 0);
  REFUSED(box[1], 257); /* 1 to 256 */
  TAKEN(box[1], 256);
  REFUSED(box[0], 3); /* whole 16 bytes */
  TAKEN(box[0], 4);
  REFUSED(step[1], 0);
  REFUSED(step[1], 9); /* 1 to 8 */
  TAKEN(step[1], 8);
  REFUSED(interleave, 3);
  REFUSED(swizzle, 7);
  REFUSED(l2, 4);
  REFUSED(fill, 1); /* NaN: of floating types only */
  struct request q = good();
  q.type = F32, q.fill = 1;
  OK(encode(q));
  q.fill = 2;
  assert_int_equal(encode(q), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuTensorMapEncodeTiled(map + 8, U32, 3, (void *)q.address, q.dim, q.stride, q.box, q.step, 0, 0, 0, 0),
                   CUDA_ERROR_INVALID_VALUE); /* the map is 64-byte aligned */
  assert_int_equal(cuTensorMapEncodeTiled(NULL, U32, 3, (void *)q.address, q.dim, q.stride, q.box, q.step, 0, 0, 0, 0),
                   CUDA_ERROR_INVALID_VALUE);
}

/* Bytes of the types: the inner dimension of the box is a multiple of 16 bytes, with a swizzle at most its span. */
static void sizes_of_types(void **state)
{
  static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  (void)state;
  for (unsigned t = 0; t < sizeof bytes; t++) {
    struct request q = good();
    q.type = t;
    for (unsigned n = 1; n <= 256; n++) {
      q.box[0] = n;
      q.swizzle = 0;
      bool whole = n * bytes[t] % 16 == 0;
      assert_int_equal(encode(q) == CUDA_SUCCESS, whole);
      for (q.swizzle = 1; q.swizzle <= 3; q.swizzle++) /* 32, 64, 128 bytes */
        assert_int_equal(encode(q) == CUDA_SUCCESS, whole && n * bytes[t] <= 16u << q.swizzle);
    }
  }
  struct request q = good(); /* two numbers of 4 bits in a byte */
  q.type = U4_ALIGN8, q.box[0] = 32;
  OK(encode(q));
  q.box[0] = 16;
  assert_int_equal(encode(q), CUDA_ERROR_INVALID_VALUE);
  q.box[0] = 32, q.dim[0] = 63;
  assert_int_equal(encode(q), CUDA_ERROR_INVALID_VALUE); /* "a multiple of 2" */
  q = good(); /* packed with gaps: 32-byte addresses, extents and boxes of 128 */
  q.type = U4_ALIGN16, q.dim[0] = 256, q.box[0] = 128;
  OK(encode(q));
  q.address += 16;
  assert_int_equal(encode(q), CUDA_ERROR_INVALID_VALUE);
  q.address -= 16, q.box[0] = 64;
  assert_int_equal(encode(q), CUDA_ERROR_INVALID_VALUE);
  q.box[0] = 128, q.dim[0] = 192;
  assert_int_equal(encode(q), CUDA_ERROR_INVALID_VALUE);
  q.dim[0] = 256, q.swizzle = 1;
  assert_int_equal(encode(q), CUDA_ERROR_INVALID_VALUE); /* none or 128 bytes */
}

static uint64_t bits(unsigned byte, unsigned at, unsigned n)
{
  uint64_t v;
  memcpy(&v, map + byte, 8);
  return n == 64 ? v : v >> at & (((uint64_t)1 << n) - 1);
}

static void where_fields_lie(void **state)
{
  struct request q = good();
  (void)state;
  q.rank = 5, q.type = F32, q.fill = 1, q.l2 = 2, q.swizzle = 2;
  q.dim[3] = 5, q.dim[4] = 7;
  q.stride[0] = 0x1234567890, q.stride[1] = 0x2000000040, q.stride[2] = 0x30000000f0, q.stride[3] = 0xf000000100;
  q.box[3] = 3, q.box[4] = 6;
  for (unsigned i = 0; i < 5; i++) q.step[i] = i ? i + 2 : 1;
  OK(encode(q));
  assert_int_equal(bits(0, 0, 64), q.address);
  assert_int_equal(bits(8, 0, 1), 0);            /* tiled; here and for the next and L2: TensorRT-LLM, tmaDescriptor.h */
  assert_int_equal(bits(8, 1, 3), 1);            /* version */
  assert_int_equal(bits(8, 17, 2), q.l2);
  assert_int_equal(bits(8, 4, 3), 4);            /* rank - 1 */
  assert_int_equal(bits(8, 7, 4), TENSOR_F32);
  assert_int_equal(bits(8, 11, 2), 0);
  assert_int_equal(bits(8, 13, 2), SWIZZLE_64);
  assert_int_equal(bits(8, 15, 1), 1);
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(bits(12 + 4 * i, 0, 32), q.stride[i] >> 4 & 0xffffffff);
    assert_int_equal(bits(28, 4 * i, 4), q.stride[i] >> 36);
    assert_int_equal(bits(56, 8 * i, 8), q.box[i + 1] - 1);
  }
  for (unsigned i = 0; i < 5; i++) {
    assert_int_equal(bits(32 + 4 * i, 0, 32), q.dim[i] - 1);
    assert_int_equal(bits(52, 3 * i, 3), q.step[i] - 1);
  }
  assert_int_equal(bits(52, 24, 8), q.box[0] - 1);
  assert_int_equal(cuTensorMapReplaceAddress(map, (void *)0x700000008), CUDA_ERROR_INVALID_VALUE);
  OK(cuTensorMapReplaceAddress(map, (void *)0x7123456780));
  assert_int_equal(bits(0, 0, 64), 0x7123456780);
  assert_int_equal(bits(52, 24, 8), q.box[0] - 1);
}

/* Corners are 16 bits of one dimension, 8 of two, 5 of three; W first in the map, last in the call. */
static void im2col(void **state)
{
  static const int limit[] = {0, 32768, 128, 16};
  (void)state;
  for (unsigned spatial = 1; spatial <= 3; spatial++) {
    uint64_t dim[5] = {64, 40000, 40000, 40000, 2}, stride[4] = {128, 5120, 204800, 8192000};
    uint32_t step[5] = {1, 1, 1, 1, 1};
    int lower[3] = {-3, -2, -1}, upper[3] = {2, -1, 3};
    struct tensor_map m;
    OK(cuTensorMapEncodeIm2col(map, U16, spatial + 2, (void *)0x700000000, dim, stride, lower, upper, 64, 1003, step, 0, 0, 0, 0));
    assert_int_equal(bits(8, 0, 1), 1);
    if (spatial == 3) assert_int_equal(bits(56, 30, 2), 0); /* six corners of 5 bits */
    assert_true(tensor_map_read(&m, map, NULL));
    assert_int_equal(m.kind, TENSOR_IM2COL);
    assert_int_equal(m.pixels, 1003);
    assert_int_equal(m.box[0], 64);
    for (unsigned i = 0; i < spatial; i++) {
      assert_int_equal(m.lower[i], lower[i]);
      assert_int_equal(m.upper[i], upper[i]);
    }
    for (unsigned i = 0; i < 2 * spatial; i++) { /* the limits of each corner */
      int *corner = i < spatial ? &lower[i] : &upper[i - spatial], old = *corner;
      static const int step_out[] = {0, 1};
      for (unsigned out = 0; out < 2; out++) {
        *corner = -limit[spatial] - step_out[out];
        bool inside = i >= spatial ? 40000 + *corner - lower[i - spatial] > 0 : true;
        assert_int_equal(cuTensorMapEncodeIm2col(map, U16, spatial + 2, (void *)0x700000000, dim, stride, lower, upper, 64,
                                                 1000, step, 0, 0, 0, 0) == CUDA_SUCCESS, !out && inside);
        *corner = limit[spatial] - 1 + step_out[out];
        inside = i < spatial ? 40000 + upper[i] - *corner > 0 : true;
        assert_int_equal(cuTensorMapEncodeIm2col(map, U16, spatial + 2, (void *)0x700000000, dim, stride, lower, upper, 64,
                                                 1000, step, 0, 0, 0, 0) == CUDA_SUCCESS, !out && inside);
      }
      *corner = old;
    }
    static const uint32_t bad[][2] = {{0, 8}, {257, 8}, {64, 0}, {64, 1025}}; /* channels to 256, pixels to 1024 */
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(cuTensorMapEncodeIm2col(map, U16, spatial + 2, (void *)0x700000000, dim, stride, lower, upper, bad[i][0],
                                               bad[i][1], step, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  }
}

/* tensor_map_read gives back what tensor_map_write was given. */
static void round_trip(void **state)
{
  uint64_t x = 88172645463325252ull;
  (void)state;
#define DRAW(n) (x ^= x << 13, x ^= x >> 7, x ^= x << 17, (x >> 11) % (n))
  for (unsigned i = 0; i < 20000; i++) {
    struct tensor_map m = {.kind = TENSOR_TILED}, back;
    m.type = DRAW(TENSOR_TYPE__N), m.rank = (unsigned)DRAW(5) + 1, m.interleave = m.rank < 3 ? 0 : DRAW(3);
    m.swizzle = DRAW(4), m.atom = DRAW(4), m.tf32 = DRAW(2), m.nan_fill = DRAW(2), m.l2_promotion = (unsigned)DRAW(4);
    m.address = DRAW((uint64_t)1 << 52);
    for (unsigned k = 0; k < m.rank; k++) {
      m.dim[k] = DRAW((uint64_t)1 << 32) + 1;
      m.stride[k] = k ? DRAW((uint64_t)1 << 36) << 4 : 0;
      m.box[k] = (unsigned)DRAW(256) + 1, m.step[k] = (unsigned)DRAW(8) + 1;
    }
    tensor_map_write(&m, map);
    assert_true(tensor_map_read(&back, map, NULL));
    assert_true(m.type == back.type && m.rank == back.rank && m.interleave == back.interleave && m.swizzle == back.swizzle);
    assert_true(m.atom == back.atom && m.tf32 == back.tf32 && m.nan_fill == back.nan_fill && m.address == back.address);
    assert_int_equal(m.l2_promotion, back.l2_promotion);
    assert_memory_equal(m.dim, back.dim, sizeof m.dim);
    assert_memory_equal(m.stride, back.stride, sizeof m.stride);
    assert_memory_equal(m.box, back.box, sizeof m.box);
    assert_memory_equal(m.step, back.step, sizeof m.step);
  }
#undef DRAW
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_taken), cmocka_unit_test(sizes_of_types), cmocka_unit_test(where_fields_lie),
      cmocka_unit_test(im2col), cmocka_unit_test(round_trip),
  };
  cuda_options("gpu=h200\nquiet=1\nmode=functional"); /* compute capability 9.0 */
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
