#include "host/snapshot_check.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "load/target.h"

enum { ALLOC_ALIGN = 512, RUN_HEAD = 16, RUN_ROOM = 64 };
/* What a replay allocates itself (host/launch.c): the grid's barrier, and a copy of the parameters, which may begin
 * within its alignment. */
enum { REPLAY_BYTES = ALLOC_ALIGN + (PARAM_LIMIT + 2 * ALLOC_ALIGN) / ALLOC_ALIGN * ALLOC_ALIGN };
#define ADDRESS_END (UINT64_C(1) << 48)

static bool check_launch(const struct snapshot *s, struct err *e)
{
  if (s->part[SNAPSHOT_PARAMS].bytes > PARAM_LIMIT)
    return err_set(e, "%zu bytes of arguments, a kernel takes up to %d", s->part[SNAPSHOT_PARAMS].bytes, PARAM_LIMIT);
  if (!text_is_safe(s->kernel) || !text_is_safe(s->gpu)) return err_set(e, "a name is not printable text");
  if (s->fault >= FAULT__N) return err_set(e, "fault %u is of no known kind", s->fault);
  return true;
}

static bool check_ranges(const struct snapshot *s, struct err *e)
{
  uint64_t behind = 0, total = 0, next = s->next_address;
  bool module = s->module_memory == 0, next_is_free = next % ALLOC_ALIGN == 0 && next < ADDRESS_END;
  for (size_t i = 0; i < s->n_ranges; i++) {
    const struct gmem_range *r = &s->range[i];
    if (!text_is_safe(r->name)) return err_set(e, "the name of allocation %zu is not printable text", i);
    if (r->bytes == 0 || r->addr % ALLOC_ALIGN || r->addr == 0 || r->addr >= ADDRESS_END ||
        r->bytes > ADDRESS_END - r->addr)
      return err_set(e, "allocation %zu is not at an address that there can be", i);
    if (r->addr < behind) return err_set(e, "allocations overlap");
    behind = r->addr + r->bytes;
    total += r->bytes; /* below 2^48: they do not overlap */
    module |= r->addr == s->module_memory;
    next_is_free &= next >= behind || (r->addr >= next && r->addr - next >= REPLAY_BYTES);
  }
  if (total > SNAPSHOT_MEMORY_MAX)
    return err_set(e, "allocations of %" PRIu64 " bytes together, at most %" PRIu64 " are read", total,
                   SNAPSHOT_MEMORY_MAX);
  if (!module) return err_set(e, "the module's variables lie in no allocation");
  if (!next_is_free)
    return err_set(e, "the next allocation would lie in another one, or nowhere");
  return true;
}

static const struct gmem_range *range_at(const struct snapshot *s, uint64_t addr)
{
  for (size_t i = 0; i < s->n_ranges; i++)
    if (s->range[i].addr == addr) return &s->range[i];
  return NULL;
}

static bool check_heap(const struct snapshot *s, struct err *e)
{
  if (s->n_heap == 0) return true;
  const struct gmem_range *r = range_at(s, s->heap[0].addr);
  uint64_t left = r ? r->bytes : 0;
  if (!r) return err_set(e, "the device's heap is not an allocation");
  for (size_t i = 0; i < s->n_heap; i++) {
    const struct func_heap_block *b = &s->heap[i];
    if (b->addr != r->addr + (r->bytes - left) || b->bytes == 0 || b->bytes > left)
      return err_set(e, "the device's heap has holes");
    left -= b->bytes;
  }
  return left == 0 || err_set(e, "the device's heap does not fill its allocation");
}

/* Runs ascend, as allocations do. */
static bool check_runs(const struct snapshot *s, enum snapshot_part part, struct err *e)
{
  const struct snapshot_bytes *b = &s->part[part];
  uint64_t last = 0;
  size_t in = 0;
  for (size_t at = 0; at < b->bytes;) {
    uint64_t head[2]; /* address, bytes */
    if (b->bytes - at < RUN_HEAD) return err_set(e, "a list of contents is cut off");
    memcpy(head, b->data + at, sizeof head);
    if (head[1] == 0 || head[1] > b->bytes - at - RUN_HEAD || head[0] < last || head[0] >= ADDRESS_END)
      return err_set(e, "a list of contents is cut off or not in order");
    while (in < s->n_ranges && s->range[in].addr + s->range[in].bytes <= head[0]) in++;
    if (in == s->n_ranges || head[0] < s->range[in].addr ||
        head[1] > s->range[in].bytes - (head[0] - s->range[in].addr))
      return err_set(e, "there are contents outside of the allocations");
    last = head[0] + head[1];
    at += RUN_HEAD + head[1];
  }
  return true;
}

static bool check_textures(const struct snapshot *s, struct err *e)
{
  struct err why = {""};
  if (s->n_textures >= TEX_MAX_OBJECTS) return err_set(e, "%u textures and surfaces", s->n_textures);
  for (uint32_t i = 0; i < s->n_textures; i++)
    if (!tex_object_check(&s->texture[i], &why))
      return err_set(e, "%s %u: %.300s", s->texture[i].surface ? "surface" : "texture", i + 1, why.msg);
  return true;
}

bool snapshot_check(const struct snapshot *s, struct err *e)
{
  return check_launch(s, e) && check_ranges(s, e) && check_heap(s, e) && check_runs(s, SNAPSHOT_BEFORE, e) &&
         check_runs(s, SNAPSHOT_AFTER, e) && check_textures(s, e);
}

uint64_t snapshot_runs_max(const struct snapshot *s)
{
  uint64_t bytes = 0;
  for (size_t i = 0; i < s->n_ranges; i++) bytes += s->range[i].bytes + s->range[i].bytes / 4 + RUN_ROOM;
  return bytes;
}
