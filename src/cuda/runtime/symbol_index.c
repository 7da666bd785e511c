#include "cuda/runtime/symbol_index.h"

#include <stdint.h>
#include <stdlib.h>

#include "cuda/core/shim.h"

struct symbol_entry {
  const void *key; /* NULL: empty */
  struct rt_symbol *symbol;
};

/* The entry of the key, or the empty one where it belongs. Fibonacci hashing: code and blocks of the heap lie at
 * multiples of 16, so that the low bits alone tell little. */
static struct symbol_entry *place(const struct symbol_index *x, const void *key)
{
  size_t i = (size_t)(((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u) >> 20) & (x->room - 1);
  while (x->at[i].key && x->at[i].key != key) i = (i + 1) & (x->room - 1);
  return &x->at[i];
}

static void grow(struct symbol_index *x)
{
  const struct symbol_index old = *x;
  x->room = old.room ? 2 * old.room : 64;
  x->at = shim_alloc(x->room * sizeof *x->at);
  for (size_t i = 0; i < x->room; i++) x->at[i] = (struct symbol_entry){0};
  for (size_t i = 0; i < old.room; i++)
    if (old.at[i].key) *place(x, old.at[i].key) = old.at[i];
  free(old.at);
}

void symbol_index_put(struct symbol_index *x, const void *key, struct rt_symbol *symbol)
{
  if (2 * (x->used + 1) > x->room) grow(x);
  struct symbol_entry *e = place(x, key);
  if (!e->key) x->used++;
  *e = (struct symbol_entry){key, symbol};
}

struct rt_symbol *symbol_index_find(const struct symbol_index *x, const void *key)
{
  return x->room && key ? place(x, key)->symbol : NULL;
}

void symbol_index_clear(struct symbol_index *x)
{
  free(x->at);
  *x = (struct symbol_index){0};
}
