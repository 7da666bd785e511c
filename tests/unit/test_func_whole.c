/* Eight bytes that are loaded or stored at once are whole for others who look at the same memory meanwhile, as another
 * process's GPU does: a thread writes them with one store each while a warp loads them, and reads them with one load each
 * while a warp stores them. Both halves of every value are the same number, so a torn one shows. */
#include <pthread.h>

#include "func_rig.h"
#include "func/sass/uop.h"

enum { LANE_COUNT = 32, ROUNDS = 20000, SLOT_COUNT = LANE_COUNT * 4, WIDE = 32 };
#define TWICE (UINT64_C(1) << 32 | 1)
#define SIZE(hi, code) (((hi) & ~0xe00ull) | (uint64_t)(code) << 9) /* field 75:73 */

static const uint64_t ldg[] = {0x000ea2000c1e1900, 0x0000000402057981, W_EXIT}; /* R5, [R2.64] */
static const uint64_t stg[] = {0x0001e2000c101904, 0x0000000704007986, W_EXIT}; /* [R4.64], R7 */

/* Who looks at a warp's memory. */
struct other {
  uint64_t *slot;
  unsigned n, torn;
  bool reads, stop;
  pthread_t thread;
};

static bool is_torn(uint64_t v)
{
  return (uint32_t)v != v >> 32;
}

static void *look(void *ctx)
{
  struct other *o = ctx;
  for (uint32_t round = 1; !__atomic_load_n(&o->stop, __ATOMIC_RELAXED); round++) {
    for (unsigned i = 0; i < o->n; i++) {
      if (o->reads) o->torn += is_torn(__atomic_load_n(&o->slot[i], __ATOMIC_RELAXED));
      else __atomic_store_n(&o->slot[i], round * TWICE, __ATOMIC_RELAXED);
    }
  }
  return NULL;
}

static void begin(struct other *o, bool reads, uint64_t *slot, unsigned n)
{
  *o = (struct other){.slot = slot, .n = n, .reads = reads};
  memset(slot, 0, n * sizeof *slot);
  assert_int_equal(pthread_create(&o->thread, NULL, look, o), 0);
}

static unsigned end(struct other *o)
{
  __atomic_store_n(&o->stop, true, __ATOMIC_RELAXED);
  assert_int_equal(pthread_join(o->thread, NULL), 0);
  return o->torn;
}

/* One access of the table of operations: its rows are `row` words apart. */
struct access {
  const char *name;
  bool store;
  unsigned row, most; /* bytes of a lane */
  void (*once)(const struct lane_ops *, uint32_t *rows, uint8_t *p, const uint64_t *addr, unsigned bytes);
};

static struct lane_block block_at(uint8_t *p, uint32_t lanes)
{
  return (struct lane_block){.base = p, .in = UINT64_MAX, .lanes = lanes};
}

#define ACCESS(name) \
  static void name(const struct lane_ops *t, uint32_t *rows, uint8_t *p, const uint64_t *addr, unsigned bytes)

ACCESS(load_all) { struct lane_block b = block_at(p, FULL_MASK); t->load(rows, &b, addr, bytes); }
ACCESS(load_some) { struct lane_block b = block_at(p, FULL_MASK - 1); t->load(rows, &b, addr, bytes); }
ACCESS(load_dense) { (void)addr; t->load_dense(rows, p, bytes); }
ACCESS(load_regs) { struct lane_block b = block_at(p, FULL_MASK); t->load_regs(rows, &b, addr, bytes); }
ACCESS(load_even) { (void)addr; t->load_even(rows, p, bytes, bytes, FULL_MASK); }
ACCESS(load_same) { (void)addr; t->load_even(rows, p, 0, bytes, FULL_MASK); }
ACCESS(store_all) { struct lane_block b = block_at(p, FULL_MASK); t->store(rows, &b, addr, bytes); }
ACCESS(store_some) { struct lane_block b = block_at(p, FULL_MASK - 1); t->store(rows, &b, addr, bytes); }
ACCESS(store_dense) { (void)addr; t->store_dense(rows, p, bytes); }
ACCESS(store_regs) { struct lane_block b = block_at(p, FULL_MASK); t->store_regs(rows, &b, addr, bytes); }
ACCESS(store_even) { (void)addr; t->store_even(rows, p, bytes); }

static const struct access accesses[] = {
  {"load", false, LANES_MAX, WIDE, load_all}, {"load of some", false, LANES_MAX, WIDE, load_some},
  {"load_dense", false, LANES_MAX, WIDE, load_dense}, {"load_regs", false, LANE_COUNT, 16, load_regs},
  {"load_even", false, LANE_COUNT, 16, load_even}, {"load_even of one place", false, LANE_COUNT, 16, load_same},
  {"store", true, LANES_MAX, WIDE, store_all}, {"store of some", true, LANES_MAX, WIDE, store_some},
  {"store_dense", true, LANES_MAX, WIDE, store_dense}, {"store_regs", true, LANE_COUNT, 16, store_regs},
  {"store_even", true, LANE_COUNT, 16, store_even},
};

static unsigned torn_rows(const uint32_t *rows, unsigned row, unsigned bytes)
{
  unsigned torn = 0;
  for (unsigned k = 0; k < bytes / 4; k += 2)
    for (unsigned i = 0; i < LANE_COUNT; i++) torn += rows[k * row + i] != rows[(k + 1) * row + i];
  return torn;
}

static unsigned torn_by(const struct lane_ops *t, const struct access *a, unsigned bytes)
{
  static _Alignas(64) uint64_t slot[SLOT_COUNT];
  _Alignas(64) uint32_t rows[WIDE / 4 * LANES_MAX] = {0};
  uint64_t addr[LANE_COUNT];
  struct other o;
  unsigned torn = 0;
  for (unsigned i = 0; i < LANE_COUNT; i++) addr[i] = (uint64_t)(LANE_COUNT - 1 - i) * bytes; /* backwards */
  begin(&o, a->store, slot, LANE_COUNT * bytes / 8);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (unsigned i = 0; a->store && i < WIDE / 4 * LANES_MAX; i++) rows[i] = round;
    a->once(t, rows, (uint8_t *)slot, addr, bytes);
    if (!a->store) torn += torn_rows(rows, a->row, bytes);
  }
  return torn + end(&o);
}

static void test_rows(void **state)
{
  static const unsigned levels[] = {1, 3, 4};
  (void)state;
  for (unsigned l = 0; l < 3; l++) {
    const struct sem_table *t = sem_select(levels[l]);
    for (unsigned i = 0; t && i < sizeof accesses / sizeof *accesses; i++)
      for (unsigned bytes = 8; bytes <= accesses[i].most; bytes *= 2) {
        const unsigned torn = torn_by(t->ops, &accesses[i], bytes);
        if (torn) fail_msg("%s: %s of %u bytes: %u are torn", t->level, accesses[i].name, bytes, torn);
      }
  }
}

/* Instructions: side by side, all at one place, apart, and one lane alone. */
static unsigned torn_by_instruction(bool store, unsigned code, unsigned stride, unsigned threads)
{
  const uint64_t *op = store ? stg : ldg;
  const uint64_t words[] = {SIZE(op[0], code), op[1], W_EXIT};
  const unsigned bytes = code == 5 ? 8 : 16, value = store ? 7 : 5, address = store ? 4 : 2;
  struct rig *r = rig_new(words, 2, threads);
  struct other o;
  unsigned torn = 0;
  begin(&o, store, (uint64_t *)(void *)gmem_ptr(r->mem, r->buf, 4096), LANE_COUNT * 4);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    r->w->step.paths.p[0].pc = RIG_BASE;
    for (unsigned i = 0; i < threads; i++) {
      rig_set64(r, address, i, r->buf + i * stride);
      for (unsigned k = 0; store && k < bytes / 4; k++) rig_set(r, value + k, i, round);
    }
    assert_true(rig_step(r));
    for (unsigned i = 0; !store && i < threads; i++)
      for (unsigned k = 0; k < bytes / 4; k += 2) torn += rig_get(r, value + k, i) != rig_get(r, value + k + 1, i);
  }
  torn += end(&o);
  rig_free(r);
  return torn;
}

static void test_instructions(void **state)
{
  static const unsigned strides[] = {8, 16, 0, 32};
  (void)state;
  for (int store = 0; store < 2; store++)
    for (unsigned code = 5; code < 7; code++)
      for (unsigned s = 0; s < 8; s++) {
        const unsigned stride = strides[s / 2], threads = s % 2 ? 1 : 32;
        if (code == 6 && stride % 16) continue;
        const unsigned torn = torn_by_instruction(store, code, stride, threads);
        if (torn) fail_msg("%s %u, stride %u, %u threads: %u are torn", store ? "stg" : "ldg", code, stride, threads, torn);
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_instructions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
