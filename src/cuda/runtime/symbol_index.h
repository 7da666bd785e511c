/* Which registered function a pointer of the program stands for. A framework registers a hundred thousand kernels and
 * asks at every launch, so each question is one probe of a table instead of a walk along the lists.
 */
#ifndef WS_CUDA_SYMBOL_INDEX_H
#define WS_CUDA_SYMBOL_INDEX_H

#include <stddef.h>

struct rt_symbol;

/* Pointers and their symbols: open addressing, at most half full. All zero: empty. */
struct symbol_index {
  struct symbol_entry *at;
  size_t room, used; /* room: 0 or a power of two */
};

/* From now on `key`, which is not NULL, stands for the symbol, whatever it stood for before. */
void symbol_index_put(struct symbol_index *, const void *key, struct rt_symbol *);
/* NULL: it stands for none. */
struct rt_symbol *symbol_index_find(const struct symbol_index *, const void *key);
void symbol_index_clear(struct symbol_index *);

#endif
