#include "func/sass/launch_room.h"

#include "base/host_memory.h"

/* Launches that are there at the same time; each keeps a few MiB at most. */
enum { MOST_ROOMS = 8 };

static void free_room(struct launch_room *r)
{
  arena_free(&r->arena);
  kept_free(&r->ops);
  kept_free(&r->pool);
  kept_free(&r->ctas);
  mem_free(r);
}

/* A launch may belong to another heap than its device, which it does not outlive: its memory is not kept. */
struct launch_room *launch_room_take(struct func_rooms *home)
{
  if (home && home->heap != heap_current()) home = NULL;
  struct launch_room *r = home ? home->room : NULL;
  if (r) {
    home->room = r->next;
    home->n--;
    return r;
  }
  r = mem_zeroed(1, sizeof *r);
  r->home = home;
  return r;
}

void launch_room_give(struct launch_room *r)
{
  struct func_rooms *home = r->home;
  if (!home || home->n == MOST_ROOMS) {
    free_room(r);
    return;
  }
  arena_reset(&r->arena);
  r->next = home->room;
  home->room = r;
  home->n++;
}

void func_rooms_init(struct func_rooms *home)
{
  *home = (struct func_rooms){.heap = heap_current()};
}

void func_rooms_free(struct func_rooms *home)
{
  for (struct launch_room *r = home->room, *next; r; r = next) {
    next = r->next;
    free_room(r);
  }
  home->room = NULL;
  home->n = 0;
}
