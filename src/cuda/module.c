#include "cuda/module.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "load/fatbin.h"

enum { WRAPPER_MAGIC = 0x466243b1, DEFAULT_DYNAMIC_SHARED = 48 << 10 };

/* What nvcc emits into .nvFatBinSegment (24 bytes). */
struct wrapper {
  uint32_t magic, version;
  const void *data;
  const void *extra;
};

static CUresult broken(const struct err *e)
{
  shim_say("%s", e->msg);
  return CUDA_ERROR_INVALID_IMAGE;
}

CUresult module_open_cubin(struct shim *s, const void *cubin, size_t bytes, struct cu_module **out)
{
  struct err e = {""};
  struct module *parsed = module_load_memory(cubin, bytes, "module", &e);
  if (!parsed) return broken(&e);
  if (!target_runs_on(module_sm(parsed), TARGET_PLAIN, s->device.config.sm)) {
    module_free(parsed);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  struct cu_module *m = shim_alloc(sizeof *m);
  if (!device_place(&s->device, parsed, &m->code, &e)) {
    device_unload(&m->code);
    free(m);
    return broken(&e);
  }
  m->next = s->modules;
  s->modules = m;
  *out = m;
  return CUDA_SUCCESS;
}

/* Fat binaries ---------------------------------------------------------------------------------- */

static bool is_better(const struct fatbin_entry *a, const struct fatbin_entry *best, unsigned sm)
{
  if (a->kind == FATBIN_SASS && target_runs_on(a->sm, a->form, sm))
    return best->kind != FATBIN_SASS || a->sm > best->sm;
  return a->kind == FATBIN_PTX && a->sm <= sm && best->kind != FATBIN_SASS &&
         (best->kind != FATBIN_PTX || a->sm > best->sm);
}

static void explain_targets(const uint8_t *container, unsigned sm)
{
  struct err e = {""};
  struct fatbin_entry entry;
  char list[200] = "";
  size_t used = 0;
  for (size_t pos = 0; fatbin_next(container, &pos, &entry, &e) && used < sizeof list;)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s_%u", used ? ", " : "",
                             entry.kind == FATBIN_PTX ? "compute" : "sm", entry.sm);
  shim_say("the program has code for %s, not for sm_%u; choose another --gpu, or compile with "
           "-gencode arch=compute_%u,code=sm_%u", list, sm, sm, sm);
}

static CUresult open_fatbin(struct shim *s, const uint8_t *container, struct jit *jit,
                            struct cu_module **out)
{
  struct err e = {""};
  struct fatbin_entry entry, best = {0};
  unsigned sm = s->device.config.sm;
  for (size_t pos = 0; fatbin_next(container, &pos, &entry, &e);)
    if (is_better(&entry, &best, sm)) best = entry;
  if (e.msg[0]) return broken(&e);
  if (best.kind == 0) {
    explain_targets(container, sm);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  uint8_t *image = fatbin_unpack(&best, &e);
  if (!image) return broken(&e);
  CUresult r;
  if (best.kind == FATBIN_SASS) {
    r = module_open_cubin(s, image, best.bytes, out);
  } else {
    image[best.bytes] = '\0'; /* fatbin_unpack leaves room for it */
    r = module_open(s, image, jit, out);
  }
  free(image);
  return r;
}

/* End of the last thing an ELF file's headers speak of: its size. */
static size_t elf_size(const void *image)
{
  const Elf64_Ehdr *h = image;
  size_t end = sizeof *h, tables = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
  if (tables > end) end = tables;
  const Elf64_Shdr *sec = (const Elf64_Shdr *)((const char *)image + h->e_shoff);
  for (unsigned i = 0; i < h->e_shnum && h->e_shentsize == sizeof *sec; i++)
    if (sec[i].sh_type != SHT_NOBITS && sec[i].sh_offset + sec[i].sh_size > end)
      end = sec[i].sh_offset + sec[i].sh_size;
  size_t program = h->e_phoff + (size_t)h->e_phnum * h->e_phentsize;
  return program > end ? program : end;
}

CUresult module_open(struct shim *s, const void *image, struct jit *jit, struct cu_module **out)
{
  const struct wrapper *w = image;
  struct jit none = {0};
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  if (!jit) jit = &none;
  if (w->magic == WRAPPER_MAGIC) image = w->data;
  if (fatbin_at(image, SIZE_MAX / 2)) return open_fatbin(s, image, jit, out);
  if (memcmp(image, ELFMAG, SELFMAG) == 0)
    return module_open_cubin(s, image, elf_size(image), out);
  CUresult r = CUDA_SUCCESS;
  size_t bytes;
  void *cubin = ptx_translate(s, image, jit, &bytes, &r);
  if (!cubin) return r;
  r = module_open_cubin(s, cubin, bytes, out);
  free(cubin);
  return r;
}

/* Kernels and variables --------------------------------------------------------------------------- */

static void free_module(struct cu_module *m)
{
  for (struct cu_function *f = m->functions, *next; f; f = next) {
    next = f->next;
    free(f);
  }
  device_unload(&m->code);
  free(m);
}

void module_close(struct shim *s, struct cu_module *m)
{
  for (struct cu_module **at = &s->modules; *at; at = &(*at)->next) {
    if (*at != m) continue;
    *at = m->next;
    free_module(m);
    return;
  }
}

void module_close_all(struct shim *s)
{
  while (s->modules) module_close(s, s->modules);
}

bool module_is_open(const struct shim *s, const struct cu_module *m)
{
  const struct cu_module *at = s->modules;
  while (at && at != m) at = at->next;
  return at != NULL;
}

CUresult module_get_function(struct shim *s, struct cu_module *m, const char *name,
                             struct cu_function **out)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  if (!name || !out) return CUDA_ERROR_INVALID_VALUE;
  for (struct cu_function *f = m->functions; f; f = f->next)
    if (strcmp(f->kernel->name, name) == 0) return *out = f, CUDA_SUCCESS;
  for (unsigned i = 0; i < module_kernel_count(m->code.module); i++) {
    const struct module_kernel *k = module_kernel_at(m->code.module, i);
    if (strcmp(k->name, name) != 0) continue;
    struct cu_function *f = shim_alloc(sizeof *f);
    *f = (struct cu_function){ .next = m->functions, .module = m, .kernel = k, .carveout = -1 };
    f->max_dynamic_shared =
        k->shared_static < DEFAULT_DYNAMIC_SHARED ? DEFAULT_DYNAMIC_SHARED - k->shared_static : 0;
    *out = m->functions = f;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

bool module_is_function(const struct shim *s, const struct cu_function *f)
{
  for (const struct cu_module *m = s->modules; m; m = m->next)
    for (const struct cu_function *at = m->functions; at; at = at->next)
      if (at == f) return true;
  return false;
}

CUresult module_get_variable(struct shim *s, struct cu_module *m, const char *name, CUdeviceptr *addr,
                             size_t *bytes)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  if (!name || (!addr && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  const struct module_symbol *y = module_variable(m->code.module, name);
  if (!y) return CUDA_ERROR_NOT_FOUND;
  if (addr) *addr = module_address(m->code.instance, y);
  if (bytes) *bytes = y->bytes;
  return CUDA_SUCCESS;
}
