/* Arena: alignment, zeroing, chunk edges, growing lists, release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/host_memory.h"

enum { CHUNK = 1 << 20 }; /* size at which the arena starts a block of its own */

static void test_aligned_and_zero(void **state)
{
  (void)state;
  struct arena a = {0};
  for (size_t align = 1; align <= 128; align *= 2) {
    for (size_t bytes = 0; bytes < 300; bytes += 37) {
      unsigned char *p = arena_alloc(&a, bytes, align);
      assert_int_equal((uintptr_t)p % align, 0);
      for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
      memset(p, 0xff, bytes); /* the next one must not see this */
    }
  }
  arena_free(&a);
}

static void test_blocks_do_not_overlap(void **state)
{
  (void)state;
  struct arena a = {0};
  enum { N = 64 };
  unsigned char *p[N];
  const size_t bytes = CHUNK / 16 - 8; /* several chunks, with a tail left in each */
  for (int i = 0; i < N; i++) {
    p[i] = arena_alloc(&a, bytes, 8);
    memset(p[i], i, bytes);
  }
  for (int i = 0; i < N; i++) {
    assert_int_equal(p[i][0], i);
    assert_int_equal(p[i][bytes - 1], i);
  }
  assert_int_equal(a.used, N * bytes);
  arena_free(&a);
}

static void test_larger_than_a_chunk(void **state)
{
  (void)state;
  struct arena a = {0};
  uint64_t *small = ARENA_NEW(&a, uint64_t);
  unsigned char *big = arena_alloc(&a, 3 * (size_t)CHUNK, 128);
  uint64_t *after = ARENA_ARRAY(&a, uint64_t, 1000);
  memset(big, 1, 3 * (size_t)CHUNK);
  assert_int_equal(*small, 0);
  assert_int_equal(after[999], 0);
  arena_free(&a);
}

static void test_strdup(void **state)
{
  (void)state;
  struct arena a = {0};
  char text[] = "warp";
  char *copy = arena_strdup(&a, text);
  text[0] = 'W';
  assert_string_equal(copy, "warp");
  assert_string_equal(arena_strdup(&a, ""), "");
  arena_free(&a);
}

static void test_reuse_after_free(void **state)
{
  (void)state;
  struct arena a = {0};
  arena_free(&a); /* empty: nothing to do */
  (void)arena_alloc(&a, 100, 8);
  arena_free(&a);
  assert_null(a.head);
  assert_int_equal(a.used, 0);
  assert_non_null(arena_alloc(&a, 1, 1));
  arena_free(&a);
}

/* What is small is kept, zero; what is not goes back to the host. */
static void test_reset(void **state)
{
  (void)state;
  enum { SMALL = 1 << 14 };
  struct arena a = {0};
  arena_reset(&a);
  unsigned char *first = arena_alloc(&a, SMALL, 128);
  memset(first, 0xff, SMALL);
  arena_reset(&a);
  assert_int_equal(a.used, 0);
  assert_ptr_equal(arena_alloc(&a, SMALL, 128), first);
  for (unsigned i = 0; i < SMALL; i++) assert_int_equal(first[i], 0);
  (void)arena_alloc(&a, 2 * (size_t)CHUNK, 8);
  arena_reset(&a);
  assert_null(a.head);
  (void)arena_alloc(&a, CHUNK / 2, 8);
  arena_reset(&a);
  assert_null(a.head);
}

/* Both kinds of growing lists: elements stay, room doubles, nothing moves while there is some. */
static void test_lists_grow(void **state)
{
  (void)state;
  struct arena a = {0};
  uint32_t *in_arena = NULL, *on_heap = NULL, room = 0, heap_room = 0, moves = 0;
  for (uint32_t n = 0; n < 1000; n++) {
    uint32_t *was = in_arena;
    in_arena = arena_more(&a, in_arena, n, &room, sizeof *in_arena);
    on_heap = mem_more(on_heap, n, &heap_room, sizeof *on_heap);
    moves += in_arena != was;
    assert_true(n < room && n < heap_room);
    assert_int_equal(in_arena[n], 0);
    in_arena[n] = on_heap[n] = 3 * n;
  }
  for (uint32_t n = 0; n < 1000; n++) {
    assert_int_equal(in_arena[n], 3 * n);
    assert_int_equal(on_heap[n], 3 * n);
  }
  assert_int_equal(room, 1024);
  assert_int_equal(heap_room, 1024);
  assert_int_equal(moves, 7); /* 16, 32, ... 1024 */
  mem_free(on_heap);
  arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_aligned_and_zero),
      cmocka_unit_test(test_blocks_do_not_overlap),
      cmocka_unit_test(test_larger_than_a_chunk),
      cmocka_unit_test(test_strdup),
      cmocka_unit_test(test_reuse_after_free),
      cmocka_unit_test(test_reset),
      cmocka_unit_test(test_lists_grow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
