#include "cuda/core/object_note.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/shim.h"

struct object_note {
  struct object_note *next;
  const struct board *board;
  uint64_t handle;
  bool surface;
  void *said;
};

/* The link to a note; NULL is there: none. */
static struct object_note **find(struct shim *s, enum note_list list, uint64_t handle, bool surface)
{
  struct object_note **at = &s->object_notes.first[list];
  const struct board *b = board_current(s);
  while (*at && ((*at)->handle != handle || (*at)->surface != surface || (*at)->board != b)) at = &(*at)->next;
  return at;
}

static void drop(struct object_note **at)
{
  struct object_note *o = *at;
  *at = o->next;
  free(o->said);
  free(o);
}

void object_note_keep(struct shim *s, enum note_list list, uint64_t handle, bool surface, const void *said,
                      size_t bytes)
{
  struct object_note *o = shim_alloc(sizeof *o);
  *o = (struct object_note){ s->object_notes.first[list], board_current(s), handle, surface, shim_alloc(bytes) };
  memcpy(o->said, said, bytes);
  s->object_notes.first[list] = o;
}

const void *object_note_find(struct shim *s, enum note_list list, uint64_t handle, bool surface)
{
  const struct object_note *o = *find(s, list, handle, surface);
  return o ? o->said : NULL;
}

void object_note_drop(struct shim *s, enum note_list list, uint64_t handle, bool surface)
{
  struct object_note **at = find(s, list, handle, surface);
  if (*at) drop(at);
}

static void reset(struct shim *s, struct board *b)
{
  for (unsigned list = 0; list < NOTES__N; list++)
    for (struct object_note **at = &s->object_notes.first[list]; *at;) {
      if ((*at)->board == b) drop(at);
      else at = &(*at)->next;
    }
}

const struct shim_part object_note_part = { .reset = reset };
