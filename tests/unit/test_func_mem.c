/* Loads, stores, atomics and their faults, one instruction at a time. */
#include "func_rig.h"

#define SIZE(hi, code) (((hi) & ~0xe00ull) | (uint64_t)(code) << 9) /* field 75:73 */

static const uint64_t ldg[] = {0x000ea2000c1e1900, 0x0000000402057981, W_EXIT}; /* R5, [R2.64] */
static const uint64_t stg[] = {0x0001e2000c101904, 0x0000000704007986, W_EXIT}; /* [R4.64], R7 */
static const uint64_t ld[] = {0x000ea4000c101900, 0x0000080402007980, W_EXIT};  /* R0, [R2.64+8] */
static const uint64_t st[] = {0x0041e8000c101904, 0x0000040502007985, W_EXIT};  /* [R2.64+4], R5 */
static const uint64_t lds[] = {0x000e240000000800, 0x0000000000067984, W_EXIT}; /* R6, [R0] */

static void test_load_sizes(void **state)
{
  (void)state;
  for (unsigned code = 0; code < 7; code++) {
    const uint64_t words[] = {SIZE(ldg[0], code), ldg[1], W_EXIT};
    struct rig *r = rig_new(words, 2, 32);
    unsigned bytes = code < 2 ? 1 : code < 4 ? 2 : code == 4 ? 4 : code == 5 ? 8 : 16;
    uint8_t data[4096];
    for (unsigned i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 37 + 129);
    assert_true(gmem_write(r->mem, r->buf, data, sizeof data));
    unsigned at[32];
    for (unsigned i = 0; i < 32; i++) {
      at[i] = (i * 11 % 64) * bytes;
      rig_set64(r, 2, i, r->buf + at[i]);
    }
    assert_true(rig_step(r));
    for (unsigned i = 0; i < 32; i++) {
      uint32_t want[4] = {0};
      memcpy(want, data + at[i], bytes);
      if (code == 1) want[0] = (uint32_t)(int32_t)(int8_t)data[at[i]];
      if (code == 3) want[0] = (uint32_t)(int32_t)(int16_t)want[0];
      for (unsigned k = 0; k * 4 < bytes; k++) assert_int_equal(rig_get(r, 5 + k, i), want[k]);
    }
    rig_free(r);
  }
}

/* Every stride takes a path of its own through the load: contiguous, equal, strided, backwards. */
static void test_load_strides(void **state)
{
  (void)state;
  static const int strides[] = {4, 0, 8, -4, 128, -256, 65536 / 32};
  for (unsigned s = 0; s < sizeof strides / sizeof *strides; s++) {
    struct rig *r = rig_new(ldg, 2, 32);
    int64_t start = strides[s] < 0 ? 32768 : 0;
    for (unsigned i = 0; i < 16384; i++) gmem_write(r->mem, r->buf + 4 * i, &i, 4);
    for (int i = 0; i < 32; i++) {
      rig_set64(r, 2, (unsigned)i, r->buf + (uint64_t)(start + i * strides[s]));
    }
    assert_true(rig_step(r));
    for (int i = 0; i < 32; i++) {
      assert_int_equal(rig_get(r, 5, (unsigned)i), (start + i * strides[s]) / 4);
    }
    rig_free(r);
  }
}

/* LDGSTS: the shared address is a register and a uniform one together; the global base may be a uniform pair, and the
 * size is two bits wide (sm_100; texts of nvdisasm in test_sass_decode.c). */
static void test_copy_bases(void **state)
{
  /* .128 [R11+UR6+0x20], [R4.64+0x40]; .64 [R11+0x20], [R4.64+UR6+0x40] */
  static const uint64_t both[] = {0x0003e2000b9a0806, 0x00020040040b7dae, W_EXIT};
  static const uint64_t base[] = {0x0003e2000b9a0406, 0x00020040040b7fae, W_EXIT};
  (void)state;
  for (int i = 0; i < 2; i++) {
    const unsigned bytes = i ? 8 : 16, uniform = 512;
    struct rig *r = rig_new_sm(100, i ? base : both, 2, 32);
    uint8_t data[4096];
    for (unsigned k = 0; k < sizeof data; k++) data[k] = (uint8_t)(k * 37 + 129);
    assert_true(gmem_write(r->mem, r->buf, data, sizeof data));
    for (unsigned lane = 0; lane < 32; lane++) warp_ureg(r->w, 6)[lane] = uniform, warp_ureg(r->w, 7)[lane] = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
      rig_set(r, 11, lane, lane * 16);
      rig_set64(r, 4, lane, r->buf + lane * 64);
    }
    assert_true(rig_step(r));
    for (unsigned lane = 0; lane < 32; lane++)
      assert_memory_equal(r->cta->shared + lane * 16 + 0x20 + (i ? 0 : uniform),
                          data + lane * 64 + 0x40 + (i ? uniform : 0), bytes);
    rig_free(r);
  }
}

static void test_partial_warp(void **state)
{
  (void)state;
  struct rig *r = rig_new(stg, 2, 5);
  for (unsigned i = 0; i < 32; i++) {
    rig_set64(r, 4, i, i < 5 ? r->buf + 4 * i : 0); /* lanes without a thread must not access */
    rig_set(r, 7, i, 100 + i);
  }
  assert_true(rig_step(r));
  for (unsigned i = 0; i < 8; i++) {
    uint32_t v;
    gmem_read(r->mem, r->buf + 4 * i, &v, 4);
    assert_int_equal(v, i < 5 ? 100 + i : 0);
  }
  rig_free(r);
}

static void test_faults(void **state)
{
  (void)state;
  struct rig *r = rig_new(ldg, 2, 32);
  for (unsigned i = 0; i < 32; i++) rig_set64(r, 2, i, r->buf + 4 * i);
  rig_set64(r, 2, 9, r->buf + 2);
  assert_false(rig_step(r));
  assert_int_equal(r->f.kind, FAULT_MISALIGNED);
  assert_int_equal(r->f.thread[0], 9);
  rig_free(r);

  r = rig_new(ldg, 2, 32);
  for (unsigned i = 0; i < 32; i++) rig_set64(r, 2, i, r->buf + 4 * i);
  rig_set64(r, 2, 3, r->buf + 65536 + 64);
  assert_false(rig_step(r));
  assert_int_equal(r->f.kind, FAULT_ILLEGAL_ADDRESS);
  assert_int_equal(r->f.thread[0], 3);
  assert_true(r->f.addr == r->buf + 65536 + 64);
  assert_non_null(strstr(r->f.text, "64 bytes past the end of buffer 'buf'"));
  assert_non_null(strstr(r->f.text, "rig+0x0"));
  rig_free(r);

  /* A stack pointer of -16, as an offset of 32 bits in the window of local memory, and an element 24 bytes above it. */
  r = rig_new(ldg, 2, 32);
  for (unsigned i = 0; i < 32; i++) rig_set64(r, 2, i, RIG_LOCAL_WINDOW + (uint32_t)-16 + 24);
  assert_false(rig_step(r));
  assert_int_equal(r->f.kind, FAULT_ILLEGAL_ADDRESS);
  assert_non_null(strstr(r->f.text, "stack has run over its 256 bytes"));
  rig_free(r);

  r = rig_new(lds, 2, 32);
  rig_set(r, 0, 7, RIG_SHARED);
  assert_false(rig_step(r));
  assert_int_equal(r->f.kind, FAULT_SHARED_RANGE);
  assert_int_equal(r->f.thread[0], 7);
  rig_free(r);
}

/* LDSM.16.MT88.4 R20, [R2+0x300]: four matrices of 8 rows of 16 bytes, one address a row, lanes 8 j to 8 j + 7 those of matrix j.
 * Transposed, thread i gets column i / 4 of each, its rows 2 (i % 4) and one more (PTX ISA, ldmatrix). */
static void test_matrices(void **state)
{
  static const uint64_t ldsm[] = {0x000e220000004200, 0x000300000214783b, W_EXIT};
  enum { BASE = 0x300, ROW = 16 };
  (void)state;
  struct rig *r = rig_new(ldsm, 2, 32);
  for (unsigned lane = 0; lane < 32; lane++) {
    rig_set(r, 2, lane, ROW * (31 - lane)); /* rows lie the other way round */
    for (unsigned c = 0; c < 8; c++) {
      const uint16_t v = (uint16_t)(lane * 8 + c);
      memcpy(r->cta->shared + BASE + ROW * (31 - lane) + 2 * c, &v, 2);
    }
  }
  assert_true(rig_step(r));
  for (unsigned j = 0; j < 4; j++)
    for (unsigned i = 0; i < 32; i++) {
      const unsigned row = 8 * j + 2 * (i % 4), col = i / 4;
      assert_int_equal(rig_get(r, 20 + j, i), (row * 8 + col) | ((row + 1) * 8 + col) << 16);
    }
  rig_free(r);
  static const struct {
    unsigned lane, offset;
    enum fault_kind kind;
  } wrong[] = {{0, 8, FAULT_MISALIGNED}, {31, 8, FAULT_MISALIGNED}, {9, RIG_SHARED - BASE, FAULT_SHARED_RANGE},
               {31, RIG_SHARED - BASE, FAULT_SHARED_RANGE}};
  for (unsigned k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    r = rig_new(ldsm, 2, 32);
    for (unsigned lane = 0; lane < 32; lane++) rig_set(r, 2, lane, lane == wrong[k].lane ? wrong[k].offset : ROW * lane);
    assert_false(rig_step(r));
    assert_int_equal(r->f.kind, wrong[k].kind);
    assert_int_equal(r->f.thread[0], wrong[k].lane);
    rig_free(r);
  }
  r = rig_new(ldsm, 2, 32); /* the last row that there is */
  for (unsigned lane = 0; lane < 32; lane++) rig_set(r, 2, lane, RIG_SHARED - BASE - ROW);
  assert_true(rig_step(r));
  rig_free(r);
}

/* Generic addresses: one instruction, lanes in global, shared and local memory. */
static void test_generic(void **state)
{
  (void)state;
  struct rig *r = rig_new(st, 2, 32);
  for (unsigned i = 0; i < 32; i++) {
    uint64_t a = i % 3 == 0 ? r->buf : i % 3 == 1 ? RIG_SHARED_WINDOW : RIG_LOCAL_WINDOW;
    rig_set64(r, 2, i, a + 4 * i);
    rig_set(r, 5, i, 1000 + i);
  }
  assert_true(rig_step(r));
  assert_int_equal(r->me.space, MEM_GLOBAL);
  assert_int_equal(r->me.lanes & r->me.near_lanes, 0);
  for (unsigned i = 0; i < 32; i++) {
    uint32_t v = 0;
    if (i % 3 == 0) gmem_read(r->mem, r->buf + 4 * i + 4, &v, 4);
    if (i % 3 == 1) memcpy(&v, r->cta->shared + 4 * i + 4, 4);
    if (i % 3 == 2) memcpy(&v, r->w->local + i * RIG_LOCAL + 4 * i + 4, 4);
    assert_int_equal(v, 1000 + i);
  }
  rig_free(r);

  r = rig_new(ld, 2, 32); /* all lanes in shared memory: a plain shared access */
  for (unsigned i = 0; i < 32; i++) {
    rig_set64(r, 2, i, RIG_SHARED_WINDOW + 4 * i);
    memcpy(r->cta->shared + 4 * i + 8, &i, 4);
  }
  assert_true(rig_step(r));
  assert_int_equal(r->me.space, MEM_SHARED);
  for (unsigned i = 0; i < 32; i++) assert_int_equal(rig_get(r, 0, i), i);
  rig_free(r);
}

/* Stores go to the log, loads see them, the image does not. */
static void test_view(void **state)
{
  (void)state;
  const uint64_t words[] = {stg[0], stg[1], 0x000ea2000c1e1900, 0x0000000404057981, W_EXIT};
  struct rig *r = rig_new(words, 3, 32);
  struct gmem_log log;
  gmem_log_init(&log);
  r->view.log = &log;
  for (unsigned i = 0; i < 32; i++) {
    rig_set64(r, 4, i, r->buf + 4 * i);
    rig_set(r, 7, i, i + 1);
  }
  assert_true(rig_step(r));
  assert_int_equal(log.n, 1); /* contiguous: one entry */
  assert_int_equal(log.entry[0].len, 128);
  assert_int_equal(*gmem_ptr(r->mem, r->buf, 1), 0);
  rig_set64(r, 4, 0, r->buf + 128); /* R5:R4 is overwritten by the load: check lane by lane */
  assert_true(rig_step(r));
  assert_int_equal(rig_get(r, 5, 0), 0);
  for (unsigned i = 1; i < 32; i++) assert_int_equal(rig_get(r, 5, i), i + 1);
  gmem_log_free(&log);
  rig_free(r);
}

/* ATOMG R5, [R10.64], R2: operation 90:87, type 75:73. */
static uint32_t atomic(unsigned op, unsigned type, uint32_t old, uint32_t v, uint32_t *ret)
{
  uint64_t hi = 0x000ea200089ee3c6;
  hi = (hi & ~(0xfull << 23) & ~0xe00ull) | (uint64_t)op << 23 | (uint64_t)type << 9;
  const uint64_t words[] = {hi, 0x000000020a0579a8, W_EXIT};
  struct rig *r = rig_new(words, 2, 1);
  gmem_write(r->mem, r->buf, &old, 4);
  rig_set64(r, 10, 0, r->buf);
  rig_set(r, 2, 0, v);
  assert_true(rig_step(r));
  *ret = rig_get(r, 5, 0);
  uint32_t now;
  gmem_read(r->mem, r->buf, &now, 4);
  rig_free(r);
  return now;
}

/* Expected values: PTX ISA, atom. */
static void test_atomics(void **state)
{
  (void)state;
  static const struct {
    unsigned op, type;
    uint32_t old, v, now;
  } t[] = {
      {0, 0, 0xffffffff, 2, 1},        {1, 0, 0xffffffff, 2, 2},
      {1, 1, 0xffffffff, 2, 0xffffffff}, {2, 1, 0xffffffff, 2, 2},
      {2, 0, 0xffffffff, 2, 0xffffffff}, {3, 0, 5, 5, 0},
      {3, 0, 4, 5, 5},                 {4, 0, 0, 5, 5},
      {4, 0, 9, 5, 5},                 {4, 0, 3, 5, 2},
      {5, 0, 0xff, 0x0f, 0x0f},        {6, 0, 0xf0, 0x0f, 0xff},
      {7, 0, 0xff, 0x0f, 0xf0},        {8, 0, 7, 9, 9},
      {0, 3, 0x3f800000, 0x40000000, 0x40400000}, /* 1 + 2 = 3 */
      {0, 3, 0x00000001, 0x00000001, 0},          /* subnormals flush */
      {0, 4, 0x3c003c00, 0x40003c00, 0x42004000}, /* {1,1} + {1,2} in half: {2,3} */
  };
  for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
    uint32_t ret, now = atomic(t[i].op, t[i].type, t[i].old, t[i].v, &ret);
    assert_int_equal(now, t[i].now);
    assert_int_equal(ret, t[i].old);
  }
}

/* All lanes on one address: each sees the sum of the lanes before it. */
static void test_atomic_order(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000ea200081ee1c6, 0x000000020a0579a8, W_EXIT}; /* ADD */
  struct rig *r = rig_new(words, 2, 32);
  for (unsigned i = 0; i < 32; i++) {
    rig_set64(r, 10, i, r->buf + 64);
    rig_set(r, 2, i, i);
  }
  assert_true(rig_step(r));
  for (unsigned i = 0, sum = 0; i < 32; sum += i++) assert_int_equal(rig_get(r, 5, i), sum);
  rig_free(r);
}

/* Of a generic atomic of 64 bits P0 says where it is performed; elsewhere neither memory nor result change. ptxas has
 * for the others: of ADD a loop that asks for shared memory, of EXCH and CAS a plain load and store. */
static void test_generic_atomic_spaces(void **state)
{
  (void)state;
  enum { GLOBAL = 0, SHARED, LOCAL, SPACES };
  static const struct {
    uint64_t words[4];
    unsigned data, address, result;
    bool cas, in_shared;
  } t[] = {
      {{0x004ea2000010e506, 0x00000004080a738b, W_EXIT}, 6, 8, 10, true, true},  /* CAS.64 P0, R10, [R8], R4, R6 */
      {{0x004ea2000c10e5c4, 0x000000060408798a, W_EXIT}, 6, 4, 8, false, true},  /* EXCH.64 P0, R8, [R4.64], R6 */
      {{0x004ea2000810e5c4, 0x000000060408798a, W_EXIT}, 6, 4, 8, false, false}, /* ADD.64 */
  };
  for (unsigned k = 0; k < sizeof t / sizeof *t; k++)
    for (unsigned which = 0; which <= SPACES; which++) { /* one space, or all three in turn */
      struct rig *r = rig_new(t[k].words, 2, 32);
      for (unsigned i = 0; i < 32; i++) {
        const unsigned s = which < SPACES ? which : i % SPACES;
        const uint64_t base[] = {r->buf, RIG_SHARED_WINDOW, RIG_LOCAL_WINDOW};
        rig_set64(r, t[k].address, i, base[s] + 8 * i);
        rig_set64(r, t[k].data, i, 1ull << 40 | i);
        rig_set64(r, t[k].result, i, t[k].result == t[k].address ? base[s] + 8 * i : 77);
        if (t[k].cas) rig_set64(r, 4, i, 0);
      }
      assert_true(rig_step(r));
      for (unsigned i = 0; i < 32; i++) {
        const unsigned s = which < SPACES ? which : i % SPACES;
        const bool done = s == GLOBAL || (s == SHARED && t[k].in_shared);
        uint64_t v = 0;
        if (s == GLOBAL) gmem_read(r->mem, r->buf + 8 * i, &v, 8);
        if (s == SHARED) memcpy(&v, r->cta->shared + 8 * i, 8);
        if (s == LOCAL) memcpy(&v, r->w->local + i * RIG_LOCAL + 8 * i, 8);
        assert_int_equal(v, done ? 1ull << 40 | i : 0);
        assert_int_equal(r->w->pred[0] >> i & 1, done);
        if (done) assert_int_equal(rig_get(r, t[k].result, i), 0);
      }
      rig_free(r);
    }
}

/* ATOMS.CAST.SPIN R7, [R0], R6, R7: 1 in the lane that swapped. */
static void test_cast_spin(void **state)
{
  (void)state;
  const uint64_t words[] = {0x000e240001800007, 0x000000060007738d, W_EXIT};
  struct rig *r = rig_new(words, 2, 2);
  for (unsigned i = 0; i < 2; i++) rig_set(r, 7, i, 5 + i); /* swap in 5, 6 for 0 at [0] */
  assert_true(rig_step(r));
  assert_int_equal(rig_get(r, 7, 0), 1);
  assert_int_equal(rig_get(r, 7, 1), 0);
  uint32_t v;
  memcpy(&v, r->cta->shared, 4);
  assert_int_equal(v, 5);
  rig_free(r);
}

/* LDGSTS.128.ZFILL [R5], [R2.64+3]: three zero bytes at the end; a false Pnz: sixteen. */
static void test_ldgsts(void **state)
{
  (void)state;
  static const uint64_t pt[] = {0x0003e2000b941c44, 0x0000000302057fae, W_EXIT};
  static const uint64_t not_pt[] = {0x0003e2000f901c44, 0x0000000002057fae, W_EXIT};
  for (unsigned k = 0; k < 2; k++) {
    struct rig *r = rig_new(k ? not_pt : pt, 2, 1);
    uint8_t data[16];
    memset(data, 0x55, sizeof data);
    gmem_write(r->mem, r->buf, data, 16);
    memset(r->cta->shared, 0xee, 64);
    rig_set64(r, 2, 0, r->buf);
    rig_set(r, 5, 0, 32);
    assert_true(rig_step(r));
    for (unsigned i = 0; i < 16; i++) {
      assert_int_equal(r->cta->shared[32 + i], k || i >= 13 ? 0 : 0x55);
    }
    assert_int_equal(r->cta->shared[48], 0xee);
    rig_free(r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_load_sizes),   cmocka_unit_test(test_load_strides),
      cmocka_unit_test(test_copy_bases), cmocka_unit_test(test_partial_warp), cmocka_unit_test(test_faults),
      cmocka_unit_test(test_matrices), cmocka_unit_test(test_generic),      cmocka_unit_test(test_view),
      cmocka_unit_test(test_atomics),      cmocka_unit_test(test_atomic_order),
      cmocka_unit_test(test_generic_atomic_spaces),
      cmocka_unit_test(test_cast_spin),    cmocka_unit_test(test_ldgsts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
