#include "load/file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/host_memory.h"
#include "base/nearest.h"
#include "load/elf.h"
#include "load/fatbin.h"
#include "load/load_internal.h"
#include "load/plain_name.h"

enum { IMAGE_LIMIT = 1 << 20 };

struct file_image {
  struct code_image info;
  struct fatbin_entry entry; /* a cubin: plain, the whole file */
};

struct code_file {
  const char *name;
  const uint8_t *data;
  size_t bytes;
  bool mapped;
  struct arena arena;
  unsigned n, room, n_groups;
  struct file_image *image;
};

/* Finding images --------------------------------------------------------------------------- */

static bool add_image(struct code_file *f, const struct fatbin_entry *entry, bool object,
                      struct err *e)
{
  if (f->n >= IMAGE_LIMIT) return err_set(e, "%s: more than %d images; split the program", f->name, IMAGE_LIMIT);
  f->image = arena_more(&f->arena, f->image, f->n, &f->room, sizeof *f->image);
  f->image[f->n++] = (struct file_image){
    .info = { .sm = entry->sm, .form = entry->form, .ptx = entry->kind == FATBIN_PTX,
              .object = object, .group = f->n_groups, .bytes = entry->bytes },
    .entry = *entry,
  };
  return true;
}

static bool add_container(struct code_file *f, const uint8_t *p, bool object, struct err *e)
{
  struct fatbin_entry entry;
  struct err inner = { "" };
  for (size_t pos = 0; fatbin_next(p, &pos, &entry, &inner);)
    if (entry.kind == FATBIN_PTX || entry.kind == FATBIN_SASS)
      TRY(add_image(f, &entry, object, e));
  f->n_groups++;
  return inner.msg[0] ? err_set(e, "%.200s: %.250s", f->name, inner.msg) : true;
}

static bool add_containers(struct code_file *f, const uint8_t *p, size_t bytes, bool object,
                           struct err *e)
{
  const uint8_t *end = p + bytes;
  while ((p = fatbin_find(p, (size_t)(end - p)))) {
    TRY(add_container(f, p, object, e));
    p += fatbin_bytes(p);
  }
  return true;
}

/* Sections of a host program that hold fat binaries: linked code, and what nvcc -rdc=true keeps for
 * a later link. */
static bool add_section(struct code_file *f, Elf *elf, Elf_Scn *scn, size_t names, struct err *e)
{
  GElf_Shdr h;
  if (!gelf_getshdr(scn, &h) || h.sh_type == SHT_NOBITS) return true;
  const char *name = elf_strptr(elf, names, h.sh_name);
  bool object = name && strcmp(name, "__nv_relfatbin") == 0;
  if (!object && !(name && strcmp(name, ".nv_fatbin") == 0)) return true;
  if (h.sh_offset > f->bytes || h.sh_size > f->bytes - h.sh_offset)
    return err_set(e, "%s: damaged program: section %s reaches past its end; build it again",
                   f->name, name);
  return add_containers(f, f->data + h.sh_offset, h.sh_size, object, e);
}

static void end_elf(void *elf)
{
  elf_end(elf);
}

static bool add_sections(struct code_file *f, struct err *e)
{
  size_t names;
  if (elf_version(EV_CURRENT) == EV_NONE) return true;
  errno = 0;
  Elf *elf = elf_memory((char *)(uintptr_t)f->data, f->bytes); /* only read */
  NO_MEMORY_IF(!elf && errno == ENOMEM);
  if (!elf) return true;
  heap_keep(elf, end_elf);
  bool ok = true;
  if (elf_getshdrstrndx(elf, &names) == 0)
    for (Elf_Scn *scn = NULL; ok && (scn = elf_nextscn(elf, scn));)
      ok = add_section(f, elf, scn, names, e);
  heap_forget(elf);
  elf_end(elf);
  return ok;
}

static bool is_elf(const struct code_file *f)
{
  return f->bytes >= sizeof(Elf64_Ehdr) && memcmp(f->data, ELFMAG, SELFMAG) == 0;
}

/* The target is read again, and checked, when the cubin is loaded. */
static bool add_cubin(struct code_file *f, struct err *e)
{
  struct fatbin_entry entry = { .kind = FATBIN_SASS, .payload = f->data, .stored = f->bytes,
                                .bytes = f->bytes };
  TRY(elf_target(f->data, f->bytes, f->name, &entry.sm, e));
  return add_image(f, &entry, false, e);
}

static bool find_images(struct code_file *f, struct err *e)
{
  if (is_elf(f)) {
    if (elf_is_cubin(f->data, f->bytes)) return add_cubin(f, e);
    TRY(add_sections(f, e));
  }
  if (f->n == 0) TRY(add_containers(f, f->data, f->bytes, false, e));
  return f->n || err_set(e, "%s: not a cubin, and no machine code for GPUs in it; compile with "
                         "nvcc -cubin, or build the program with nvcc", f->name);
}

/* Opening ---------------------------------------------------------------------------------- */

static struct code_file *new_file(const char *name)
{
  struct arena a = { 0 };
  struct code_file *f = ARENA_NEW(&a, struct code_file);
  f->arena = a;
  f->name = arena_strdup(&f->arena, name);
  return f;
}

static void end_file(void *f)
{
  code_file_free(f);
}

static struct code_file *finish(struct code_file *f, struct err *e)
{
  if (find_images(f, e)) return f;
  code_file_free(f);
  return NULL;
}

struct code_file *code_file_open_memory(const void *data, size_t bytes, const char *name,
                                        struct err *e)
{
  struct code_file *f = new_file(name);
  f->data = data;
  f->bytes = bytes;
  return finish(f, e);
}

/* Maps a whole regular file; false with errno set. */
static bool map_file(struct code_file *f, const char *path)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
  struct stat st;
  if (fd < 0) return false;
  bool ok = fstat(fd, &st) == 0;
  if (ok && !S_ISREG(st.st_mode)) {
    errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    ok = false;
  }
  if (ok && st.st_size > 0) {
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    ok = f->mapped = data != MAP_FAILED;
    if (ok) f->data = data;
    f->bytes = ok ? (size_t)st.st_size : 0;
  }
  int saved = errno;
  close(fd);
  errno = saved;
  return ok;
}

struct code_file *code_file_open(const char *path, struct err *e)
{
  struct code_file *f = new_file(path);
  heap_keep(f, end_file);
  if (map_file(f, path)) return finish(f, e);
  err_fill(e, "%s: cannot read: %s; check the path", path, host_error());
  code_file_free(f);
  return NULL;
}

void code_file_free(struct code_file *f)
{
  if (!f) return;
  heap_forget(f);
  if (f->mapped) munmap((void *)(uintptr_t)f->data, f->bytes);
  struct arena a = f->arena; /* the file lies in its own arena */
  arena_free(&a);
}

/* Questions -------------------------------------------------------------------------------- */

unsigned code_file_count(const struct code_file *f)
{
  return f->n;
}

const struct code_image *code_file_image(const struct code_file *f, unsigned i)
{
  return i < f->n ? &f->image[i].info : NULL;
}

static bool runs_on(const struct code_image *i, unsigned sm)
{
  return !i->ptx && target_runs_on(i->sm, i->form, sm);
}

bool code_file_has(const struct code_file *f, unsigned sm, bool exact)
{
  for (unsigned i = 0; i < f->n; i++)
    if (exact ? !f->image[i].info.ptx && f->image[i].info.sm == sm : runs_on(&f->image[i].info, sm))
      return true;
  return false;
}

static bool listed_before(const struct code_file *f, unsigned i)
{
  const struct code_image *a = &f->image[i].info;
  for (unsigned k = 0; k < i; k++) {
    const struct code_image *b = &f->image[k].info;
    if (a->sm == b->sm && a->form == b->form && a->ptx == b->ptx) return true;
  }
  return false;
}

char *code_file_targets(const struct code_file *f, char *buf, size_t size)
{
  size_t used = 0;
  buf[0] = '\0';
  for (unsigned i = 0; i < f->n && used < size; i++) {
    const struct code_image *a = &f->image[i].info;
    if (listed_before(f, i)) continue;
    used += (size_t)snprintf(buf + used, size - used, "%s%s_%u%s%s", used ? ", " : "",
                             a->ptx ? "compute" : "sm", a->sm, target_suffix(a->form),
                             a->ptx ? " (PTX)" : "");
  }
  return buf;
}

/* Loading ---------------------------------------------------------------------------------- */

/* Whether there is PTX that a driver would compile for this GPU. */
static bool has_ptx_for(const struct code_file *f, unsigned sm)
{
  for (unsigned i = 0; i < f->n; i++) {
    const struct code_image *a = &f->image[i].info;
    if (a->ptx && (a->form == TARGET_PLAIN ? a->sm <= sm : target_runs_on(a->sm, a->form, sm)))
      return true;
  }
  return false;
}

const char *code_file_name(const struct code_file *f)
{
  return f->name;
}

const uint8_t *code_file_contents(const struct code_file *f, unsigned i, void **owned, struct err *e)
{
  const struct file_image *im = &f->image[i];
  struct err inner = { "" };
  *owned = NULL;
  if (im->info.ptx) {
    err_fill(e, "%s: PTX is not machine code; build it with -gencode arch=compute_%u,code=sm_%u",
             f->name, im->info.sm, im->info.sm);
    return NULL;
  }
  if (im->entry.packing == FATBIN_PLAIN) return im->entry.payload;
  uint8_t *data = mem_alloc(im->entry.bytes);
  if (fatbin_unpack(&im->entry, data, &inner)) return *owned = data;
  err_fill(e, "%.200s: %.250s", f->name, inner.msg);
  mem_free(data);
  return NULL;
}

struct module *code_file_load_image(const struct code_file *f, unsigned i, struct err *e)
{
  void *owned;
  const uint8_t *data = code_file_contents(f, i, &owned, e);
  if (!data) return NULL;
  struct module *m = module_load_memory(data, f->image[i].entry.bytes, f->name, e);
  mem_free(owned);
  return m;
}

/* The image of a group that a GPU of this SM runs; -1: none. */
static int choose_image(const struct code_file *f, unsigned first, unsigned sm)
{
  int best = -1;
  for (unsigned i = first; i < f->n && f->image[i].info.group == f->image[first].info.group; i++)
    if (runs_on(&f->image[i].info, sm) &&
        (best < 0 || target_closer(f->image[i].info.sm, f->image[i].info.form, f->image[best].info.sm,
                                   f->image[best].info.form)))
      best = (int)i;
  return best;
}

static bool any_linked(const struct code_file *f, unsigned sm)
{
  for (unsigned i = 0; i < f->n; i++)
    if (runs_on(&f->image[i].info, sm) && !f->image[i].info.object) return true;
  return false;
}

int code_file_pick(const struct code_file *f, unsigned sm, unsigned from, unsigned *next)
{
  bool linked = any_linked(f, sm);
  for (unsigned i = from; i < f->n;) {
    unsigned group = f->image[i].info.group, first = i;
    while (i < f->n && f->image[i].info.group == group) i++;
    int best = linked && f->image[first].info.object ? -1 : choose_image(f, first, sm);
    *next = i;
    if (best >= 0) return best;
  }
  return -1;
}

/* The search for the module that has the kernel. */
struct search {
  const struct code_file *f;
  unsigned sm;
  const char *kernel;
  struct module *found;      /* the best so far */
  bool exact;                /* it has the full name */
  unsigned matches, parts;   /* modules that have the name; that have any kernel */
  char names[240];           /* of the kernels seen */
  struct nearest near;       /* of these, when the one asked for is not there */
  struct err broken;         /* of the first image that does not load */
};

static void note_names(struct search *s, const struct module *m)
{
  size_t used = strlen(s->names);
  for (unsigned i = 0; s->kernel && i < module_kernel_count(m); i++)
    plain_name_offer(&s->near, module_kernel_at(m, i)->name);
  for (unsigned i = 0; i < module_kernel_count(m) && used < sizeof s->names; i++)
    used += (size_t)snprintf(s->names + used, sizeof s->names - used, "%s%s", used ? ", " : "",
                             module_kernel_at(m, i)->name);
}

/* Takes m over. */
static void judge(struct search *s, struct module *m)
{
  bool exact = false;
  unsigned hits = s->kernel ? module_kernel_matches(m, s->kernel, &exact) : module_kernel_count(m);
  note_names(s, m);
  s->parts += module_kernel_count(m) > 0;
  if (hits == 0 || (s->exact && !exact)) {
    module_free(m);
    return;
  }
  if (exact && !s->exact) s->matches = 0;
  s->exact = exact;
  s->matches++;
  module_free(s->found);
  s->found = m;
}

static void search_groups(struct search *s, bool objects)
{
  const struct code_file *f = s->f;
  for (unsigned i = 0; i < f->n; i++) {
    if (i && f->image[i].info.group == f->image[i - 1].info.group) continue;
    int best = f->image[i].info.object == objects ? choose_image(f, i, s->sm) : -1;
    if (best < 0) continue;
    struct module *m = code_file_load_image(f, (unsigned)best,
                                            s->broken.msg[0] ? NULL : &s->broken);
    if (m) judge(s, m);
  }
}

void code_file_no_code(const struct code_file *f, unsigned sm, struct err *e)
{
  char targets[200];
  code_file_targets(f, targets, sizeof targets);
  if (has_ptx_for(f, sm))
    err_fill(e, "%s: only PTX for this GPU: rebuild with -gencode arch=compute_%u,code=sm_%u "
             "(there is: %s)", f->name, sm, sm, targets);
  else
    err_fill(e, "%s: compiled for %s, which does not run on sm_%u; rebuild with -gencode "
             "arch=compute_%u,code=sm_%u", f->name, targets, sm, sm, sm);
}

static void not_found(const struct search *s, struct err *e)
{
  char hint[NEAREST_HINT];
  const char *more = strlen(s->names) == sizeof s->names - 1 ? " …" : "";
  if (s->broken.msg[0]) *e = s->broken;
  else if (s->parts == 0)
    err_fill(e, "%s: has no kernels for sm_%u; compile a file with a __global__ function",
             s->f->name, s->sm);
  else
    err_fill(e, "%s: has no kernel '%.80s'; choose one of: %s%s%s", s->f->name, s->kernel, s->names,
             more, nearest_hint(&s->near, hint));
}

static struct module *conclude(struct search *s, struct err *e)
{
  if (s->matches == 1) return s->found;
  if (s->matches == 0) not_found(s, e);
  else if (s->kernel)
    err_fill(e, "%s: several kernels are called '%.80s'; choose one of: %s", s->f->name, s->kernel,
             s->names);
  else
    err_fill(e, "%s: several kernels; choose one with its name (--kernel): %s", s->f->name,
             s->names);
  module_free(s->found);
  return NULL;
}

struct module *code_file_load(const struct code_file *f, unsigned sm, const char *kernel,
                              struct err *e)
{
  struct err ignored;
  if (!e) e = &ignored;
  if (f->n == 1 && runs_on(&f->image[0].info, sm)) return code_file_load_image(f, 0, e);
  if (!code_file_has(f, sm, false)) {
    code_file_no_code(f, sm, e);
    return NULL;
  }
  struct search s = { .f = f, .sm = sm, .kernel = kernel };
  if (kernel) nearest_start(&s.near, kernel);
  search_groups(&s, false);
  if (s.matches == 0) search_groups(&s, true);
  return conclude(&s, e);
}
