#include "cuda/core/linker.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/shim.h"
#include "load/elf.h"
#include "load/fatbin.h"

enum { NAME_BYTES = 100 };

/* Machine code, or PTX, of one source. */
struct link_part {
  struct link_part *next;
  char name[NAME_BYTES];
  char *ptx;      /* NULL: it was machine code */
  struct jit jit; /* to translate it with */
  struct link_file code;
};

/* One line for the error log. */
__attribute__((format(printf, 3, 4))) static CUresult refuse(struct link_state *l, CUresult r,
                                                             const char *fmt, ...)
{
  char text[sizeof(struct err) + 8];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (!jit_log_error(&l->jit, text)) shim_say("%s", text);
  return r;
}

void link_init(struct link_state *l)
{
  l->last = &l->first;
}

static struct link_part *new_part(const char *name)
{
  struct link_part *p = shim_alloc(sizeof *p);
  snprintf(p->name, sizeof p->name, "%s", name);
  return p;
}

static void free_part(struct link_part *p)
{
  free(p->ptx);
  free(p->code.elf);
  free(p);
}

/* Takes the part over; r: what became of it. */
static CUresult add_part(struct link_state *l, struct link_part *p, CUresult r)
{
  if (r != CUDA_SUCCESS) {
    free_part(p);
    return r;
  }
  *l->last = p;
  l->last = &p->next;
  l->n_parts++;
  return CUDA_SUCCESS;
}

/* The logs of a translation lie in the link. */
static CUresult translate(struct shim *s, struct link_state *l, struct link_part *p, bool relocatable)
{
  CUresult r = CUDA_SUCCESS;
  p->jit.relocatable = relocatable;
  p->jit.info_used = l->jit.info_used;
  p->jit.error_used = l->jit.error_used;
  free(p->code.elf);
  p->code.elf = ptx_translate(board_current(s)->device.config.sm, p->ptx, &p->jit, &p->code.bytes, &r);
  l->jit.info_used = p->jit.info_used;
  l->jit.error_used = p->jit.error_used;
  return p->code.elf ? CUDA_SUCCESS : r;
}

/* What a whole program lacks, other inputs may have: only the second attempt's errors count. */
static CUresult translate_first(struct shim *s, struct link_state *l, struct link_part *p)
{
  char *const errors = p->jit.error;
  p->jit.error = NULL;
  p->jit.silent = true;
  CUresult r = translate(s, l, p, false);
  p->jit.error = errors;
  p->jit.silent = false;
  return r == CUDA_ERROR_INVALID_PTX ? translate(s, l, p, true) : r;
}

/* Takes text over, PTX with a 0 at its end. */
static CUresult add_ptx(struct shim *s, struct link_state *l, char *text, const char *name,
                        const struct jit *own)
{
  struct link_part *p = new_part(name);
  p->ptx = text;
  p->jit = *own;
  return add_part(l, p, l->first ? translate(s, l, p, true) : translate_first(s, l, p));
}

/* Takes image over. */
static CUresult add_code(struct link_state *l, uint8_t *image, size_t bytes, const char *name)
{
  if (module_is_service(image, bytes)) { /* libcudadevrt.a */
    free(image);
    return CUDA_SUCCESS;
  }
  struct link_part *p = new_part(name);
  p->code = (struct link_file){image, bytes};
  return add_part(l, p, CUDA_SUCCESS);
}

static uint8_t *copy_of(const void *data, size_t bytes)
{
  uint8_t *to = shim_alloc(bytes + 1);
  memcpy(to, data, bytes);
  return to;
}

static CUresult add_fatbin(struct shim *s, struct link_state *l, const uint8_t *container,
                           const char *name, const struct jit *own)
{
  uint8_t *entry;
  size_t bytes;
  CUresult r = module_pick(s, board_current(s), container, &entry, &bytes);
  if (r != CUDA_SUCCESS)
    return refuse(l, r, "%s: has no code for sm_%u", name, board_current(s)->device.config.sm);
  if (bytes >= SELFMAG && memcmp(entry, ELFMAG, SELFMAG) == 0)
    return add_code(l, entry, bytes, name);
  return add_ptx(s, l, (char *)entry, name, own);
}

/* Every fat binary in an object or an archive: one for each source. */
static CUresult add_sources(struct shim *s, struct link_state *l, const uint8_t *data, size_t bytes,
                            const char *name, const struct jit *own)
{
  const uint8_t *end = data + bytes;
  unsigned n = 0;
  for (const uint8_t *p = data; (p = fatbin_find(p, (size_t)(end - p)));
       p += fatbin_bytes(p), n++) {
    CUresult r = add_fatbin(s, l, p, name, own);
    if (r != CUDA_SUCCESS) return r;
  }
  return n ? CUDA_SUCCESS
           : refuse(l, CUDA_ERROR_INVALID_IMAGE,
                    "%s: no code for GPUs in it; compile it with nvcc -dc", name);
}

static CUresult add_text(struct shim *s, struct link_state *l, const char *data, size_t bytes,
                         const char *name, const struct jit *own)
{
  char *text = (char *)copy_of(data, bytes);
  if (strstr(text, ".version")) return add_ptx(s, l, text, name, own);
  free(text);
  return refuse(l, CUDA_ERROR_INVALID_IMAGE, "%s: is not PTX: it has no .version", name);
}

CUresult link_add(struct shim *s, struct link_state *l, enum link_input kind, const void *data,
                  size_t bytes, const char *name, const struct jit *own)
{
  static const char archive[] = "!<arch>\n";
  switch (kind) {
  case LINK_CUBIN:
    if (bytes > sizeof(Elf64_Ehdr) && elf_is_cubin(data, bytes))
      return add_code(l, copy_of(data, bytes), bytes, name);
    return refuse(l, CUDA_ERROR_INVALID_IMAGE, "%s: is not a cubin", name);
  case LINK_PTX: return add_text(s, l, data, bytes, name, own);
  case LINK_FATBINARY:
    if (fatbin_at(data, bytes)) return add_fatbin(s, l, data, name, own);
    return refuse(l, CUDA_ERROR_INVALID_IMAGE, "%s: is not a fat binary", name);
  case LINK_OBJECT: return add_sources(s, l, data, bytes, name, own);
  case LINK_LIBRARY:
    if (bytes >= sizeof archive - 1 && memcmp(data, archive, sizeof archive - 1) == 0)
      return add_sources(s, l, data, bytes, name, own);
    return refuse(l, CUDA_ERROR_INVALID_IMAGE,
                  "%s: is not an archive; make it with ar, or add it as an object", name);
  default: return shim_unsupported(s, "cuLink… of NVVM code (link-time optimisation)");
  }
}

/* Whether the parts fit each other, and none is missing. Nothing of it is kept: loading the image does it again. */
static CUresult check(struct shim *s, struct link_state *l, const struct link_file *file)
{
  struct err e = {""};
  struct module_file *list = shim_alloc(l->n_parts * sizeof *list);
  unsigned n = 0;
  for (const struct link_part *p = l->first; p; p = p->next, n++)
    list[n] = (struct module_file){p->name, file[n].elf, file[n].bytes};
  struct module *m = module_link(list, n, &e);
  struct gmem *memory = gmem_new(s->boards.page_bits);
  struct module_instance *code = m ? module_instantiate(m, memory, &e) : NULL;
  CUresult r = code ? CUDA_SUCCESS : refuse(l, CUDA_ERROR_INVALID_IMAGE, "%s", e.msg);
  module_instance_free(code);
  gmem_free(memory);
  module_free(m);
  free(list);
  return r;
}

/* The first input was a whole program as long as it was the only one. */
static CUresult make_first_a_part(struct shim *s, struct link_state *l)
{
  struct link_part *p = l->first;
  return l->n_parts > 1 && p->ptx && !p->jit.relocatable ? translate(s, l, p, true) : CUDA_SUCCESS;
}

CUresult link_finish(struct shim *s, struct link_state *l, void **image, size_t *bytes)
{
  CUresult r = make_first_a_part(s, l);
  if (r != CUDA_SUCCESS) return r;
  struct link_file *file = shim_alloc(l->n_parts * sizeof *file);
  unsigned n = 0;
  for (const struct link_part *p = l->first; p; p = p->next) file[n++] = p->code;
  r = check(s, l, file);
  free(l->image);
  l->image = NULL;
  if (r == CUDA_SUCCESS) {
    l->image = n == 1 ? copy_of(file[0].elf, file[0].bytes) : module_join(file, n, bytes);
    if (n == 1) *bytes = file[0].bytes;
    *image = l->image;
  }
  free(file);
  return r;
}

void link_free(struct link_state *l)
{
  for (struct link_part *p = l->first, *next; p; p = next) {
    next = p->next;
    free_part(p);
  }
  free(l->image);
  free(l);
}
