/* Link of the objects that lie in several files. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/host_memory.h"
#include "load/file.h"

struct parts {
  struct arena arena;
  unsigned n, room;
  struct module_file *file;
  void **owned; /* of unpacked ones */
};

static bool add_parts(struct parts *p, const struct code_file *f, unsigned sm, struct err *e)
{
  unsigned at = 0, before = p->n;
  for (int i; (i = code_file_pick(f, sm, at, &at)) >= 0; p->n++) {
    const uint8_t *data = code_file_contents(f, (unsigned)i, &p->owned[p->n], e);
    if (!data) return false;
    p->file[p->n] = (struct module_file){ code_file_name(f), data,
                                          code_file_image(f, (unsigned)i)->bytes };
  }
  if (p->n == before) code_file_no_code(f, sm, e);
  return p->n > before;
}

/* Links what a GPU of this SM runs of n files, objects of nvcc -rdc=true all of them, to one module
 * (load/link.h); one file alone: all of its parts. NULL with e filled. */
static struct module *code_file_link(struct code_file *const *f, unsigned n, unsigned sm, struct err *e)
{
  struct parts p = { .room = 0 };
  bool ok = true;
  for (unsigned i = 0; i < n; i++) p.room += code_file_count(f[i]);
  p.file = ARENA_ARRAY(&p.arena, struct module_file, p.room + 1u);
  p.owned = ARENA_ARRAY(&p.arena, void *, p.room + 1u);
  for (unsigned i = 0; ok && i < n; i++) ok = add_parts(&p, f[i], sm, e);
  struct module *m = ok ? module_link(p.file, p.n, e) : NULL;
  for (unsigned i = 0; i < p.room; i++) mem_free(p.owned[i]);
  arena_free(&p.arena);
  return m;
}

struct module *code_file_link_paths(const char *const *path, unsigned n, unsigned sm, struct err *e)
{
  struct arena a = { 0 };
  struct code_file **f = ARENA_ARRAY(&a, struct code_file *, n + 1u);
  bool ok = true;
  for (unsigned i = 0; ok && i < n; i++) ok = (f[i] = code_file_open(path[i], e)) != NULL;
  struct module *m = ok ? code_file_link(f, n, sm, e) : NULL;
  for (unsigned i = 0; i < n; i++) code_file_free(f[i]);
  arena_free(&a);
  return m;
}
