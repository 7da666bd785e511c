/* Tensor copies whose map is forged in guest memory: boxes, strides and places that no cuTensorMapEncode* makes end in a
 * fault that names the field, and nothing outside the CTA's shared memory is read or written. Limits: CUDA Driver API
 * 13.0, "Tensor Map Object Management". */
#include "func_rig.h"
#include "func/tensor_map.h"

/* UTMALDG.5D, UTMASTG.5D, UTMAREDG.5D.ADD [UR12], [UR4] and UTMAPF.L2.5D [UR12], [UR4]: the 2D words of compiler output for
 * sm_90 with the field of the dimensions set to 5. */
#define HI_5D(hi) (((hi) & ~(7ull << 15)) | 4ull << 15)
enum { UR_MAP = 4, UR_AT = 12, MAP_AT = 1024, DATA_AT = 4096 };

static const uint64_t load_words[] = {HI_5D(0x0007f00008008000ull), 0x0000000c040075b4ull, W_EXIT};
static const uint64_t store_words[] = {HI_5D(0x0007e40008008000ull), 0x0000000c040073b5ull, W_EXIT};
static const uint64_t reduce_words[] = {HI_5D(0x0007d80008008000ull), 0x0000000c040073b6ull, W_EXIT};
static const uint64_t prefetch_words[] = {HI_5D(0x0005e20008008000ull), 0x0000000c040075b8ull, W_EXIT};

static void set_uniform(struct rig *r, unsigned reg, uint32_t v)
{
  for (unsigned i = 0; i < LANES; i++) warp_ureg(r->w, reg)[i] = v;
}

/* A box of 16 bytes in five dimensions, legal in all fields. */
static struct tensor_map small_map(const struct rig *r)
{
  struct tensor_map m = {.kind = TENSOR_TILED, .type = TENSOR_U32, .rank = 5, .address = r->buf + DATA_AT};
  for (unsigned i = 0; i < TENSOR_DIMS; i++) {
    m.dim[i] = i ? 1 : 4;
    m.stride[i] = i ? 16 : 0;
    m.box[i] = i ? 1 : 4;
    m.step[i] = 1;
  }
  return m;
}

/* One copy at the origin to and from shared address 0, its mbarrier at 2048. */
static struct rig *begin(const uint64_t *words)
{
  struct rig *r = rig_new_sm(90, words, 2, 32);
  const unsigned addresses = sass_tensor_addresses(&r->sass[0]);
  assert_int_equal(sass_tensor_coords(&r->sass[0]), 5);
  set_uniform(r, UR_MAP, (uint32_t)(r->buf + MAP_AT));
  set_uniform(r, UR_MAP + 1, (uint32_t)((r->buf + MAP_AT) >> 32));
  if (addresses > 1) set_uniform(r, UR_AT + 1, 2048);
  return r;
}

static void put_map(struct rig *r, const struct tensor_map *m)
{
  uint8_t bytes[TENSOR_MAP_BYTES];
  tensor_map_write(m, bytes);
  assert_true(gmem_write(r->mem, r->buf + MAP_AT, bytes, sizeof bytes));
}

static void faults_at(struct rig *r, const struct tensor_map *m, const char *field)
{
  put_map(r, m);
  assert_false(rig_step(r));
  if (!strstr(r->f.text, field)) fail_msg("'%s' does not name %s", r->f.text, field);
}

/* 2,048 bytes times 2^21 rows are 2^32: nothing, in 32 bits. */
static void test_box_overflow(void **state)
{
  static const uint64_t *const words[] = {load_words, store_words, reduce_words, prefetch_words};
  static const unsigned boxes[][TENSOR_DIMS] = {{256, 256, 256, 32, 1}, {256, 256, 256, 256, 256}, {2, 256, 256, 256, 256}};
  (void)state;
  for (unsigned k = 0; k < 4; k++)
    for (unsigned b = 0; b < 3; b++) {
      struct rig *r = begin(words[k]);
      struct tensor_map m = small_map(r);
      m.type = TENSOR_U64;
      memcpy(m.box, boxes[b], sizeof m.box);
      faults_at(r, &m, "box");
      rig_free(r);
    }
}

enum { ADD, MIN, MAX, INC, DEC, AND, OR, XOR, OPERATIONS };

/* Which operations a type has by the PTX ISA's table of cp.reduce.async.bulk: a bit for each. Sums of S64, of which the
 * table says nothing, are those of U64. */
static unsigned operations_of(enum tensor_type t)
{
  enum { EXTREMES = 1 << MIN | 1 << MAX, BITS = 1 << AND | 1 << OR | 1 << XOR };
  switch (t) {
  case TENSOR_U32: return (1 << OPERATIONS) - 1;
  case TENSOR_S32:
  case TENSOR_U64:
  case TENSOR_S64: return 1 << ADD | EXTREMES | BITS;
  case TENSOR_F16:
  case TENSOR_BF16: return 1 << ADD | EXTREMES;
  case TENSOR_F32:
  case TENSOR_F32_FTZ:
  case TENSOR_F64: return 1 << ADD;
  default: return 0;
  }
}

/* Every type with every operation: those of the table are performed, all others refused, 4-bit numbers, whose size in
 * bytes is 0, among them. */
static void test_reductions(void **state)
{
  (void)state;
  for (unsigned t = 0; t < TENSOR_TYPE__N; t++)
    for (unsigned op = 0; op < OPERATIONS; op++) {
      const uint64_t words[] = {reduce_words[0] | (uint64_t)op << (87 - 64), reduce_words[1], W_EXIT};
      struct rig *r = begin(words);
      struct tensor_map m = small_map(r);
      m.type = t;
      m.dim[0] = m.box[0] = 128;
      for (unsigned i = 1; i < TENSOR_DIMS; i++) m.stride[i] = 1024;
      m.address -= m.address % 32;
      if (operations_of(t) >> op & 1) {
        put_map(r, &m);
        if (!rig_step(r)) fail_msg("type %u, operation %u: %s", t, op, r->f.text);
      } else {
        faults_at(r, &m, "no such reduction");
      }
      rig_free(r);
    }
}

/* Bulk reductions name the type in the instruction: what there is none of is no instruction. */
static void test_bulk_reductions(void **state)
{
  static const enum tensor_type type[] = {TENSOR_U32, TENSOR_S32, TENSOR_U64,     TENSOR_S64, TENSOR_F16,
                                          TENSOR_F32, TENSOR_F32_FTZ, TENSOR_F64, TENSOR_BF16};
  enum { TYPES = sizeof type / sizeof *type, CODES = 16, UR_TO = 6, UR_FROM = 4 };
  (void)state;
  for (unsigned t = 0; t < CODES; t++)
    for (unsigned op = 0; op < OPERATIONS; op++) {
      const uint64_t kind = (uint64_t)op << (87 - 64) | (uint64_t)t << (81 - 64);
      const uint64_t words[] = {0x0001d80008000405ull | kind, 0x00000006040073bbull, W_EXIT};
      struct rig *r = rig_new_sm(90, words, 2, 32);
      set_uniform(r, UR_TO, (uint32_t)(r->buf + DATA_AT));
      set_uniform(r, UR_TO + 1, (uint32_t)((r->buf + DATA_AT) >> 32));
      set_uniform(r, UR_FROM + 1, 1); /* units of 16 bytes; shared address 0 */
      const bool there = t < TYPES && operations_of(type[t]) >> op & 1;
      if (rig_step(r) != there) fail_msg("type %u, operation %u: %s", t, op, r->f.text);
      rig_free(r);
    }
}

/* What lies in front of and behind the CTA's shared memory stays as it was, and is not sent to global memory. */
static void test_box_beyond_shared(void **state)
{
  (void)state;
  for (unsigned rows = 1; rows <= 65; rows++) {
    struct rig *r = begin(load_words);
    struct tensor_map m = small_map(r);
    m.box[0] = 32, m.dim[0] = 32, m.box[1] = rows; /* 128 bytes a row; the CTA has 4,096 and begins at line 1 */
    set_uniform(r, UR_AT, 128);
    put_map(r, &m);
    assert_int_equal(rig_step(r), rows <= RIG_SHARED / 128 - 1);
    rig_free(r);
  }
}

static void test_fields(void **state)
{
  (void)state;
  struct rig *r = begin(load_words);
  struct tensor_map m = small_map(r);
  put_map(r, &m);
  assert_true(rig_step(r)); /* before it is broken, it works */
  rig_free(r);
#define BROKEN(change, field)                                                                                     \
  do {                                                                                                            \
    r = begin(load_words);                                                                                        \
    m = small_map(r);                                                                                             \
    change;                                                                                                       \
    faults_at(r, &m, field);                                                                                      \
    rig_free(r);                                                                                                  \
  } while (0)
  BROKEN(m.address += 8, "address");
  BROKEN(m.box[0] = 3, "not a multiple of 16 bytes");
  BROKEN(m.box[0] = 16; m.swizzle = SWIZZLE_32, "swizzle");
  BROKEN(m.nan_fill = true, "fill");
  BROKEN(m.type = TENSOR_U4; m.box[0] = 32; m.dim[0] = 33, "extent");
  BROKEN(m.interleave = TENSOR_BY_32, "swizzle");
  BROKEN(m.kind = TENSOR_IM2COL; m.pixels = 1; m.lower[0] = 7, "corner");
  BROKEN(m.address = ~15ull, "no memory");
#undef BROKEN
}

/* Types with gaps: boxes begin at multiples of 128 elements; those of four bits are for loads alone. */
static void test_gaps(void **state)
{
  (void)state;
  for (unsigned k = 0; k < 3; k++) {
    struct rig *r = begin(k < 2 ? load_words : store_words);
    struct tensor_map m = small_map(r);
    m.type = k < 2 ? TENSOR_U6_GAPS : TENSOR_U4_GAPS, m.box[0] = 128, m.dim[0] = 256;
    for (unsigned i = 1; i < TENSOR_DIMS; i++) m.stride[i] = 192;
    if (k == 1) set_uniform(r, UR_AT + sass_tensor_addresses(&r->sass[0]), 64);
    if (k == 0) {
      put_map(r, &m);
      assert_true(rig_step(r));
    } else {
      faults_at(r, &m, k == 1 ? "no multiple of 128" : "16U4_ALIGN16B is for loads alone");
    }
    rig_free(r);
  }
}

/* Codes that no field of struct tensor_map can hold. */
static void test_codes(void **state)
{
  static const struct {
    unsigned byte;
    uint8_t bits;
    const char *field;
  } bad[] = {{8, 0x70, "rank"}, {9, 0x07, "type"}, {9, 0x18, "interleave"}};
  (void)state;
  for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    struct rig *r = begin(load_words);
    struct tensor_map m = small_map(r);
    uint8_t b;
    put_map(r, &m);
    gmem_read(r->mem, r->buf + MAP_AT + bad[k].byte, &b, 1);
    b |= bad[k].bits;
    gmem_write(r->mem, r->buf + MAP_AT + bad[k].byte, &b, 1);
    assert_false(rig_step(r));
    if (!strstr(r->f.text, bad[k].field)) fail_msg("'%s' does not name %s", r->f.text, bad[k].field);
    rig_free(r);
  }
}

/* What a store makes of shared memory whose words are their number, its rows swizzled by an atom; `large`: bit 21. */
static void stored(enum tensor_atom atom, bool large, uint32_t out[8 * 32])
{
  struct rig *r = begin(store_words);
  struct tensor_map m = small_map(r);
  uint32_t kind;
  m.dim[0] = m.box[0] = 32, m.dim[1] = m.box[1] = 8, m.stride[1] = 128;
  for (unsigned i = 2; i < TENSOR_DIMS; i++) m.stride[i] = 1024;
  m.swizzle = SWIZZLE_128, m.atom = atom;
  m.address -= m.address % 128;
  put_map(r, &m);
  gmem_read(r->mem, r->buf + MAP_AT + 8, &kind, sizeof kind);
  kind |= (uint32_t)large << 21;
  gmem_write(r->mem, r->buf + MAP_AT + 8, &kind, sizeof kind);
  for (uint32_t i = 0; i < 8 * 32; i++) memcpy((uint8_t *)r->cta->shared + 4 * i, &i, 4);
  if (!rig_step(r)) fail_msg("atom %u, bit 21 %d: %s", (unsigned)atom, large, r->f.text);
  gmem_read(r->mem, m.address, out, 8 * 32 * 4);
  rig_free(r);
}

/* Bit 21 says that the tensor has 128 KiB or more, and is no part of the atom beside it: libraries that make maps without
 * the driver set it (CuTe DSL; CUTLASS's make_tma_copy_desc takes it from small ones). Column c of row r of 16-byte chunks
 * lies in chunk c ^ r % 8, by the rule of 128-byte swizzles (PTX ISA, "Swizzling modes"). */
static void test_large_tensors(void **state)
{
  uint32_t small[8 * 32], large[8 * 32];
  (void)state;
  for (unsigned atom = ATOM_16; atom <= ATOM_64; atom++) {
    stored((enum tensor_atom)atom, false, small);
    stored((enum tensor_atom)atom, true, large);
    assert_memory_equal(small, large, sizeof small);
    for (unsigned i = 0; atom == ATOM_16 && i < 8 * 32; i++)
      assert_int_equal(large[i], i / 32 * 32 + ((i / 4 % 8) ^ i / 32 % 8) * 4 + i % 4);
  }
}

/* Coordinates as far out as 32 bits reach: zeros arrive, no address is made of them. */
static void test_far_coordinates(void **state)
{
  static const uint32_t far[] = {0x80000000u, 0x7fffffffu, 0xffffff00u, 1u << 30};
  (void)state;
  for (unsigned k = 0; k < 4; k++)
    for (unsigned d = 0; d < 5; d++) {
      struct rig *r = begin(load_words);
      struct tensor_map m = small_map(r);
      uint8_t zeros[16] = {0};
      for (unsigned i = 0; i < 5; i++) m.dim[i] = d == i ? (uint64_t)1 << 20 : m.dim[i], m.stride[i] = i ? 0xfffffffff0ull : 0;
      put_map(r, &m);
      set_uniform(r, UR_AT + 2 + d, far[k]);
      memset(r->cta->shared, 0xff, 16);
      assert_true(rig_step(r));
      assert_memory_equal(r->cta->shared, zeros, sizeof zeros);
      rig_free(r);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_box_overflow), cmocka_unit_test(test_reductions),   cmocka_unit_test(test_box_beyond_shared),
      cmocka_unit_test(test_fields),       cmocka_unit_test(test_gaps),         cmocka_unit_test(test_codes),
      cmocka_unit_test(test_far_coordinates), cmocka_unit_test(test_bulk_reductions), cmocka_unit_test(test_large_tensors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
