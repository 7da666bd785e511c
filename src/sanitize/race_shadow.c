#include "sanitize/race_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

static uint64_t cells_of(const struct race_table *t)
{
  return t->by_byte ? t->bytes : t->bytes / 4;
}

bool race_table_init(struct race_table *t, uint64_t bytes)
{
  *t = (struct race_table){.bytes = bytes, .cell = calloc(bytes / 4 + 1, sizeof *t->cell)};
  return t->cell;
}

void race_table_free(struct race_table *t)
{
  free(t->cell);
  *t = (struct race_table){0};
}

void race_table_clear(struct race_table *t)
{
  memset(t->cell, 0, cells_of(t) * sizeof *t->cell);
}

bool race_table_split(struct race_table *t)
{
  struct race_cell *fine = calloc(t->bytes + 1, sizeof *fine);
  if (t->by_byte || !fine) {
    free(fine);
    return t->by_byte;
  }
  for (uint64_t i = 0; i < t->bytes; i++) fine[i] = t->cell[i / 4];
  free(t->cell);
  t->cell = fine;
  t->by_byte = true;
  return true;
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
  s->last = NULL;
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
  const uint64_t bytes = RACE_PAGE / 4 * sizeof(struct race_cell);
  if (s->bytes + bytes > s->limit) return NULL;
  if (2 * s->n >= s->size) grow(s);
  struct race_page *p = calloc(1, sizeof *p);
  NO_MEMORY_IF(!p || !race_table_init(&p->table, RACE_PAGE));
  p->number = number;
  p->launch = s->launch;
  s->bytes += bytes;
  s->n++;
  return *place_of(s->slot, s->size, number) = p;
}

struct race_table *race_shadow_page(struct race_shadow *s, uint64_t addr)
{
  const uint64_t number = addr >> RACE_PAGE_BITS;
  struct race_page *p = s->last;
  if (!p || p->number != number) p = *place_of(s->slot, s->size, number);
  if (!p && !(p = new_page(s, number))) return NULL;
  if (p->launch != s->launch) {
    race_table_clear(&p->table);
    p->launch = s->launch;
  }
  s->last = p;
  return &p->table;
}

bool race_shadow_split(struct race_shadow *s, struct race_table *t)
{
  const uint64_t more = t->bytes * sizeof *t->cell - t->bytes / 4 * sizeof *t->cell;
  if (t->by_byte) return true;
  if (s->bytes + more > s->limit || !race_table_split(t)) return false;
  s->bytes += more;
  return true;
}
