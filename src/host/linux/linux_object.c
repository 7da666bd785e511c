/* Which file lies where in a process (host/linux/linux_object.h). */
#include "host/linux/linux_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/host_memory.h"
#include "base/text.h"

enum { MOST_OBJECTS = 4096 };

void linux_object_note(struct linux_process *p, const char *path, uint64_t start, uint64_t end, uint64_t offset)
{
  if (p->n_objects == MOST_OBJECTS) return;
  const size_t n = strlen(path) + 1;
  struct linux_object o = {mem_alloc(n), start, end, offset, false};
  memcpy(o.path, path, n);
  p->object = mem_more(p->object, p->n_objects, &p->object_room, sizeof *p->object);
  p->object[p->n_objects++] = o;
}

void linux_object_note_whole(struct linux_process *p, const char *path, const struct linux_elf *f, uint64_t bias)
{
  const uint32_t n = p->n_objects;
  linux_object_note(p, path, bias + f->low, bias + f->high, f->low);
  if (p->n_objects > n) p->object[n].whole = true;
}

void linux_objects_free(struct linux_process *p)
{
  for (uint32_t i = 0; i < p->n_objects; i++) mem_free(p->object[i].path);
  mem_free(p->object);
}

/* The newest that covers addr. */
static const struct linux_object *find(const struct linux_process *p, uint64_t addr)
{
  for (uint32_t i = p->n_objects; i-- > 0;)
    if (addr - p->object[i].start < p->object[i].end - p->object[i].start) return &p->object[i];
  return NULL;
}

void linux_object_describe(const struct linux_process *p, uint64_t addr, char *buf, size_t size)
{
  const struct linux_object *o = find(p, addr);
  struct linux_image im;
  struct err ignored;
  char name[128], path[256];
  uint64_t in_file, offset;
  snprintf(buf, size, "0x%" PRIx64, addr);
  if (!o) return;
  const char *base = strrchr(o->path, '/');
  text_safe(base ? base + 1 : o->path, path, sizeof path);
  snprintf(buf, size, "0x%" PRIx64 " in %s", addr, path);
  if (!linux_image_read(&im, o->path, &ignored)) return;
  in_file = addr - o->start + o->offset;
  if ((o->whole || linux_elf_address(im.data, im.bytes, in_file, &in_file)) &&
      linux_elf_symbol(im.data, im.bytes, in_file, name, sizeof name, &offset))
    snprintf(buf, size, "0x%" PRIx64 " (%s + 0x%" PRIx64 " in %s)", addr, name, offset, path);
  linux_image_free(&im);
}
