/* Where pages are: against a list of what was said, last word first; whole leaves are shared until a page of one differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/place.h"

enum { PAGE = 1 << PLACE_PAGE_BITS, SAID = 300 };
#define LEAF (UINT64_C(1) << PLACE_LEAF_BITS)

static unsigned expected(const uint64_t (*said)[3], unsigned n, uint64_t addr)
{
  for (unsigned i = n; i-- > 0;)
    if (addr - said[i][0] < said[i][1]) return (unsigned)said[i][2];
  return PLACE_OWN;
}

static void last_word_holds(void **state)
{
  (void)state;
  static uint64_t said[SAID][3]; /* address, bytes, node + 1 */
  struct places *p = places_new();
  srand(5);
  for (unsigned i = 0; i < SAID; i++) {
    const uint64_t r = (uint64_t)rand();
    said[i][0] = r % 6 * LEAF + (i % 3 ? (uint64_t)rand() % (LEAF / PAGE) * PAGE : 0);
    said[i][1] = i % 4 == 0 ? (1 + r % 3) * LEAF : (1 + (uint64_t)rand() % (LEAF / PAGE)) * PAGE;
    said[i][2] = r / 64 % 4;
    places_set(p, said[i][0], said[i][1], (int)said[i][2] - 1);
    for (unsigned k = 0; k <= i; k++) {
      const uint64_t at[] = {said[k][0], said[k][0] - PAGE, said[k][0] + said[k][1] - 1, said[k][0] + said[k][1]};
      for (unsigned a = 0; a < 4; a++)
        if (place_of(p, at[a]) != expected(said, i + 1, at[a])) fail_msg("%u, 0x%llx", i, (unsigned long long)at[a]);
    }
  }
  places_free(p);
}

/* Half of the address space costs a leaf of it. */
static void large_parts(void **state)
{
  (void)state;
  struct places *p = places_new();
  const uint64_t half = UINT64_C(1) << (PLACE_ADDRESS_BITS - 1);
  places_set(p, 0, half, 3);
  places_set(p, half, half, 4);
  for (uint64_t leaf = 1; leaf < half / LEAF; leaf++) assert_ptr_equal(p->leaf[leaf], p->leaf[0]);
  assert_int_equal(place_of(p, half - 1), 4);
  assert_int_equal(place_of(p, half), 5);
  places_free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(last_word_holds), cmocka_unit_test(large_parts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
