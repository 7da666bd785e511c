/* Host memory that launches of a device have one behind the other: the next one finds what one with memory of its own
 * finds, whatever the one before has written. */
#include "func_rig.h"

#include "func/sass/func_launch.h"

enum { REGS = 32, THREADS = 64, SLOTS = 3, MANY = 12 };

/* IADD R0, R0, immediate: each has a value of its own in the pool (CUDA 13.0, sm_86: IADD3 R0, R0, 0x…, RZ). */
#define W_ADD(value) 0x000fca0007ffe0ffull, ((uint64_t)(value) << 32 | 0x0000000000007810ull)

struct code {
  struct sass_inst sass[RIG_MAX];
  struct inst inst[RIG_MAX];
  unsigned n;
};

static void decode(struct code *c, const uint64_t *words, unsigned n)
{
  struct err e = {""};
  c->n = n;
  for (unsigned i = 0; i < n; i++) {
    const struct word128 w = {words[2 * i + 1], words[2 * i]};
    if (!sass_decode(86, w, RIG_BASE + 16 * i, &c->sass[i], &c->inst[i], &e)) fail_msg("%s", e.msg);
  }
}

static struct func_launch *launch(const struct code *c, struct gmem *mem, unsigned threads, struct func_rooms *rooms)
{
  struct err e = {""};
  struct func_launch *l = func_launch_new(
      &(struct func_params){
          .sm = 86, .code = {.base = RIG_BASE, .end = RIG_BASE + 16 * c->n, .shift = 4, .inst = c->inst,
                             .decoded = c->sass},
          .entry_pc = RIG_BASE, .grid = {MANY, 1, 1}, .block = {threads, 1, 1}, .regs_per_thread = REGS,
          .shared_static = RIG_SHARED, .local_bytes = RIG_LOCAL, .shared_window = RIG_SHARED_WINDOW,
          .local_window = RIG_LOCAL_WINDOW, .image = mem, .n_workers = 1, .slots_per_worker = SLOTS,
          .kernel_name = "rooms", .rooms = rooms}, &e);
  if (!l) fail_msg("%s", e.msg);
  return l;
}

/* All that a CTA may write: its warps' registers, shared and local memory, a barrier. */
static void write_cta(struct func_launch *l, unsigned slot)
{
  struct step_source *s = func_source(l);
  struct func_cta *c = (struct func_cta *)s->ops->cta_begin(s, slot, 0, slot, 0);
  for (unsigned i = 0; i < s->warps_per_cta; i++) {
    memset(c->warps[i].base[BASE_REG], 0xa5, (size_t)REGS * ROW_BYTES);
    memset(c->warps[i].base[BASE_UREG], 0xa5, (size_t)N_UREGS * ROW_BYTES);
    memset(c->warps[i].local, 0xa5, (size_t)LANES * s->local_bytes);
    c->warps[i].called = c->warps[i].watched = true;
  }
  memset(c->shared, 0xa5, l->shared_limit);
  memset(&c->barrier[1], 0xa5, sizeof c->barrier[1]);
  c->barrier[1].busy = false; /* as a CTA leaves it that does not come back */
  c->local_dirty = true;
  s->ops->cta_end(s, &c->step);
}

static void assert_same(const struct func_launch *l, const struct func_launch *fresh)
{
  const size_t ctas = SLOTS * fresh->cta_stride, ops = (fresh->code_bytes >> FUNC_INST_SHIFT) * sizeof(struct uop);
  assert_int_equal(l->cta_stride, fresh->cta_stride);
  assert_memory_equal(l->cta_mem, fresh->cta_mem, ctas);
  assert_memory_equal(l->uop, fresh->uop, ops);
  assert_memory_equal(l->pool, fresh->pool, fresh->room->pool.n * fresh->room->pool.part);
}

/* The second kernel is shorter, has fewer constants and CTAs of another size. */
static void next_finds_nothing(void **state)
{
  (void)state;
  static const uint64_t many[] = {W_ADD(1), W_ADD(2), W_ADD(3), W_ADD(4), W_ADD(5), W_EXIT};
  static const uint64_t few[] = {W_ADD(7), W_EXIT};
  static struct code a, b;
  struct func_rooms rooms;
  struct gmem *mem = gmem_new(16);
  decode(&a, many, 6);
  decode(&b, few, 2);
  func_rooms_init(&rooms);
  struct func_launch *first = launch(&a, mem, 2 * THREADS, &rooms);
  const uint8_t *ctas = first->cta_mem;
  assert_int_equal(kept_next(&first->room->pool, 0), 0); /* it has constants */
  for (unsigned slot = 0; slot < SLOTS; slot += 2) write_cta(first, slot);
  func_launch_free(first);
  assert_int_equal(rooms.n, 1);
  struct func_launch *second = launch(&b, mem, THREADS, &rooms), *fresh = launch(&b, mem, THREADS, NULL);
  assert_ptr_equal(second->cta_mem, ctas);
  assert_same(second, fresh);
  assert_int_equal(rooms.n, 0);
  func_launch_free(second);
  func_launch_free(fresh);
  func_rooms_free(&rooms);
  gmem_free(mem);
}

/* Launches that are there at the same time have memory of their own, and few of many keep it. */
static void several_at_once(void **state)
{
  (void)state;
  static const uint64_t words[] = {W_ADD(1), W_EXIT};
  static struct code c;
  struct func_launch *l[MANY];
  struct func_rooms rooms;
  struct gmem *mem = gmem_new(16);
  decode(&c, words, 2);
  func_rooms_init(&rooms);
  for (unsigned i = 0; i < MANY; i++) {
    l[i] = launch(&c, mem, THREADS, &rooms);
    for (unsigned k = 0; k < i; k++) assert_ptr_not_equal(l[i]->cta_mem, l[k]->cta_mem);
  }
  for (unsigned i = 0; i < MANY; i++) func_launch_free(l[i]);
  assert_in_range(rooms.n, 1, MANY - 1);
  func_rooms_free(&rooms);
  assert_int_equal(rooms.n, 0);
  gmem_free(mem);
}

static void use_in_heap(void *ctx)
{
  static const uint64_t words[] = {W_ADD(1), W_EXIT};
  static struct code c;
  struct gmem *mem = gmem_new(16);
  decode(&c, words, 2);
  func_launch_free(launch(&c, mem, THREADS, ctx));
  gmem_free(mem);
}

/* Memory of a launch's own heap goes with that heap: the device does not keep it. */
static void other_heap(void **state)
{
  (void)state;
  struct func_rooms rooms;
  struct heap *h = heap_new();
  func_rooms_init(&rooms);
  assert_true(memory_try(h, use_in_heap, &rooms));
  assert_int_equal(rooms.n, 0);
  heap_free(h);
  func_rooms_free(&rooms);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(next_finds_nothing),
      cmocka_unit_test(several_at_once),
      cmocka_unit_test(other_heap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
