#include "sanitize/race_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

static uint64_t cells_of(const struct race_table *t)
{
  return t->by_byte ? t->bytes : t->bytes / 4;
}

void race_table_free(struct race_table *t)
{
  for (unsigned i = 0; i < RACE_LAYERS; i++) free(t->layer[i]);
  *t = (struct race_table){0};
}

static void race_table_clear(struct race_table *t)
{
  for (unsigned i = 0; i < RACE_LAYERS; i++)
    if (t->layer[i]) memset(t->layer[i], 0, cells_of(t) * sizeof *t->layer[i]);
}

bool race_table_add(struct race_table *t, unsigned layer)
{
  t->layer[layer] = calloc(cells_of(t) + 1, sizeof *t->layer[layer]);
  return t->layer[layer];
}

/* NULL: the host has no memory, or there is nothing to split. */
static struct race_entry *split_layer(const struct race_table *t, unsigned layer)
{
  if (!t->layer[layer]) return NULL;
  struct race_entry *fine = malloc((t->bytes + 1) * sizeof *fine);
  for (uint64_t i = 0; fine && i < t->bytes; i++) fine[i] = t->layer[layer][i / 4];
  return fine;
}

bool race_table_split(struct race_table *t)
{
  struct race_entry *fine[RACE_LAYERS];
  bool ok = !t->by_byte;
  for (unsigned i = 0; i < RACE_LAYERS; i++) {
    fine[i] = ok ? split_layer(t, i) : NULL;
    ok = ok && (fine[i] || !t->layer[i]);
  }
  for (unsigned i = 0; i < RACE_LAYERS; i++) {
    free(ok ? t->layer[i] : fine[i]);
    if (ok) t->layer[i] = fine[i];
  }
  t->by_byte |= ok;
  return t->by_byte;
}

void race_shadow_init(struct race_shadow *s, uint64_t limit)
{
  *s = (struct race_shadow){.size = 1 << 10, .limit = limit};
  s->slot = calloc(s->size, sizeof *s->slot);
  NO_MEMORY_IF(!s->slot);
}

void race_shadow_free(struct race_shadow *s)
{
  for (uint64_t i = 0; i < s->size; i++) {
    if (!s->slot[i]) continue;
    race_table_free(&s->slot[i]->table);
    free(s->slot[i]);
  }
  free(s->slot);
  *s = (struct race_shadow){0};
}

void race_shadow_next_launch(struct race_shadow *s)
{
  s->launch++;
  memset(s->near, 0, sizeof s->near);
}

static struct race_page **place_of(struct race_page **slot, uint64_t size, uint64_t number)
{
  uint64_t i = (number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (size - 1);
  while (slot[i] && slot[i]->number != number) i = (i + 1) & (size - 1);
  return &slot[i];
}

static void grow(struct race_shadow *s)
{
  const uint64_t size = 2 * s->size;
  struct race_page **slot = calloc(size, sizeof *slot);
  NO_MEMORY_IF(!slot);
  for (uint64_t i = 0; i < s->size; i++)
    if (s->slot[i]) *place_of(slot, size, s->slot[i]->number) = s->slot[i];
  free(s->slot);
  s->slot = slot;
  s->size = size;
}

static struct race_page *new_page(struct race_shadow *s, uint64_t number)
{
  if (2 * s->n >= s->size) grow(s);
  struct race_page *p = aligned_alloc(_Alignof(struct race_page), sizeof *p);
  NO_MEMORY_IF(!p);
  *p = (struct race_page){.number = number, .launch = s->launch, .table = race_table_of(RACE_PAGE)};
  s->n++;
  return *place_of(s->slot, s->size, number) = p;
}

struct race_table *race_shadow_page(struct race_shadow *s, uint64_t addr)
{
  const uint64_t number = addr >> RACE_PAGE_BITS;
  struct race_page **near = &s->near[(number ^ number >> 10) % RACE_NEAR], *p = *near;
  if (p && p->number == number) return &p->table;
  p = *place_of(s->slot, s->size, number);
  if (!p) p = new_page(s, number);
  if (p->launch != s->launch) {
    race_table_clear(&p->table);
    p->launch = s->launch;
  }
  *near = p;
  return &p->table;
}

/* Accounts for so many more bytes of layers. */
static bool take(struct race_shadow *s, uint64_t bytes)
{
  if (s->bytes + bytes > s->limit) return false;
  s->bytes += bytes;
  return true;
}

bool race_shadow_add(struct race_shadow *s, struct race_table *t, unsigned layer)
{
  return take(s, cells_of(t) * sizeof *t->layer[layer]) && race_table_add(t, layer);
}

bool race_shadow_split(struct race_shadow *s, struct race_table *t)
{
  uint64_t layers = 0;
  if (t->by_byte) return true;
  for (unsigned i = 0; i < RACE_LAYERS; i++) layers += t->layer[i] != NULL;
  return take(s, layers * (t->bytes - t->bytes / 4) * sizeof *t->layer[0]) && race_table_split(t);
}
