#include "cuda/core/modules.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/host_memory.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/mps.h"
#include "cuda/core/shim.h"
#include "host/gpu_advice.h"
#include "load/fatbin.h"

enum { DEFAULT_DYNAMIC_SHARED = 48 << 10 };

static CUresult broken(const struct err *e)
{
  shim_say("%s", e->msg);
  return CUDA_ERROR_INVALID_IMAGE;
}

/* What a module is made of, and for which GPU. */
struct opening {
  struct board *board;
  struct jit *jit;
  struct managed_variables *managed; /* of another instance; NULL: there is none */
  uint64_t managed_at; /* where they are wanted then; 0: anywhere */
};

static void managed_leave(struct shim *s, struct managed_variables *v)
{
  if (!v || --v->users) return;
  memory_free(s, v->addr, 1u << BLOCK_MANAGED);
  free(v);
}

/* Those of another instance, or new ones. CUDA_SUCCESS with *out NULL: the module has none. */
static CUresult managed_join(struct shim *s, const struct module *parsed, const struct opening *how,
                             struct managed_variables **out)
{
  const uint64_t bytes = module_managed_bytes(parsed);
  void *block;
  *out = bytes ? how->managed : NULL;
  if (*out) (*out)->users++;
  if (*out || !bytes) return CUDA_SUCCESS;
  const CUresult r = memory_alloc_managed_at(s, &block, bytes, how->managed_at);
  if (r != CUDA_SUCCESS) return r;
  module_managed_fill(parsed, block);
  *out = shim_alloc(sizeof **out);
  **out = (struct managed_variables){ (uintptr_t)block, 1 };
  return CUDA_SUCCESS;
}

/* Takes a parsed module over; files: what it was made of. */
static CUresult place(struct shim *s, const struct opening *how, struct module *parsed, const struct link_file *file,
                      unsigned n, struct loaded_module **out)
{
  struct board *const b = how->board;
  struct err e = {""};
  if (!target_runs_on(module_sm(parsed), TARGET_PLAIN, b->device.config.sm)) {
    module_free(parsed);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  struct loaded_module *m = shim_alloc(sizeof *m);
  const CUresult r = managed_join(s, parsed, how, &m->managed);
  if (r != CUDA_SUCCESS) {
    module_free(parsed);
    free(m);
    return r;
  }
  if (!device_place_managed(&b->device, parsed, m->managed ? m->managed->addr : 0, &m->code, &e)) {
    device_unload(&m->code);
    managed_leave(s, m->managed);
    free(m);
    return broken(&e);
  }
  if (s->options.capture) {
    m->file = shim_alloc(n * sizeof *m->file);
    for (unsigned i = 0; i < n; i++) {
      m->file[i] = (struct link_file){ shim_alloc(file[i].bytes), file[i].bytes };
      memcpy(m->file[i].elf, file[i].elf, file[i].bytes);
    }
    m->n_files = n;
  }
  m->board = b;
  m->id = ++s->modules_made;
  m->next = s->modules;
  s->modules = m;
  *out = m;
  peers_refresh_all(s, b);
  return CUDA_SUCCESS;
}

static CUresult open_files(struct shim *s, const struct opening *how, const struct link_file *file, unsigned n,
                           struct loaded_module **out)
{
  struct err e = {""};
  struct module_file *list = shim_alloc(n * sizeof *list);
  for (unsigned i = 0; i < n; i++)
    list[i] = (struct module_file){ "module", file[i].elf, file[i].bytes };
  struct module *parsed = module_link(list, n, &e);
  free(list);
  return parsed ? place(s, how, parsed, file, n, out) : broken(&e);
}

/* Linked files ----------------------------------------------------------------------------------- */

uint8_t *module_join(const struct link_file *file, unsigned n, size_t *bytes)
{
  uint64_t head[3] = {0};
  *bytes = sizeof head;
  for (unsigned i = 0; i < n; i++) *bytes += sizeof head[0] + file[i].bytes;
  uint8_t *image = shim_alloc(*bytes), *at = image + sizeof head;
  memcpy(head, image_joined_magic, sizeof image_joined_magic);
  head[2] = n;
  memcpy(image, head, sizeof head);
  for (unsigned i = 0; i < n; i++) {
    const uint64_t size = file[i].bytes;
    memcpy(at, &size, sizeof size);
    memcpy(at + sizeof size, file[i].elf, file[i].bytes);
    at += sizeof size + file[i].bytes;
  }
  return image;
}

static CUresult open_joined(struct shim *s, const struct opening *how, const uint8_t *image, struct loaded_module **out)
{
  uint64_t head[3];
  memcpy(head, image, sizeof head);
  struct link_file *file = shim_alloc(head[2] * sizeof *file);
  image += sizeof head;
  for (uint64_t i = 0; i < head[2]; i++) {
    uint64_t size;
    memcpy(&size, image, sizeof size);
    file[i] = (struct link_file){ (uint8_t *)(uintptr_t)image + sizeof size, size };
    image += sizeof size + size;
  }
  CUresult r = open_files(s, how, file, (unsigned)head[2], out);
  free(file);
  return r;
}

/* Fat binaries ---------------------------------------------------------------------------------- */

static bool is_better(const struct fatbin_entry *a, const struct fatbin_entry *best, unsigned sm)
{
  if (a->kind == FATBIN_SASS && target_runs_on(a->sm, a->form, sm))
    return best->kind != FATBIN_SASS || target_closer(a->sm, a->form, best->sm, best->form);
  const bool usable = a->form == TARGET_PLAIN ? a->sm <= sm : target_runs_on(a->sm, a->form, sm);
  return a->kind == FATBIN_PTX && usable && best->kind != FATBIN_SASS &&
         (best->kind != FATBIN_PTX || target_closer(a->sm, a->form, best->sm, best->form));
}

/* Once for each list of targets: NCCL has ten files for later GPUs alone, and asks for the kernels of each. */
static void explain_targets(struct shim *s, unsigned sm, const uint8_t *container)
{
  struct err e = {""};
  struct fatbin_entry entry;
  char list[200] = "", advice[240];
  size_t used = 0;
  unsigned newest = 0;
  enum target_form form = TARGET_PLAIN;
  for (size_t pos = 0; fatbin_next(container, &pos, &entry, &e) && used < sizeof list;) {
    if (entry.kind == FATBIN_SASS || entry.form != TARGET_PLAIN) newest = entry.sm, form = entry.form;
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s_%u%s", used ? ", " : "",
                             entry.kind == FATBIN_PTX ? "compute" : "sm", entry.sm, target_suffix(entry.form));
  }
  if (!shim_first_time(s, list)) return;
  const char *choose = s->options.machine ? "choose another --machine (warpstep machines)"
                       : newest           ? gpu_advice(s->options.presets, newest, form, advice, sizeof advice)
                                          : "choose a newer --gpu";
  shim_say("the program has code for %s, not for sm_%u: compile with -gencode arch=compute_%u,code=sm_%u, or %s", list,
           sm, sm, sm, choose);
}

CUresult module_pick(struct shim *s, const struct board *b, const uint8_t *container, uint8_t **image, size_t *bytes)
{
  struct err e = {""};
  struct fatbin_entry entry, best = {0};
  unsigned sm = b->device.config.sm;
  for (size_t pos = 0; fatbin_next(container, &pos, &entry, &e);)
    if (is_better(&entry, &best, sm)) best = entry;
  if (e.msg[0]) return broken(&e);
  if (best.kind == 0) {
    explain_targets(s, sm, container);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  uint8_t *unpacked = shim_alloc(best.bytes + 1);
  if (!fatbin_unpack(&best, unpacked, &e)) {
    free(unpacked);
    return broken(&e);
  }
  unpacked[best.bytes] = '\0'; /* PTX is text */
  *image = unpacked;
  *bytes = best.bytes;
  return CUDA_SUCCESS;
}

static CUresult translate(const struct board *b, const void *ptx, struct jit *jit, uint8_t **elf,
                          size_t *bytes)
{
  CUresult r = CUDA_SUCCESS;
  *elf = ptx_translate(b->device.config.sm, ptx, jit, bytes, &r);
  return *elf ? CUDA_SUCCESS : r;
}

static CUresult extract_fatbin(struct shim *s, const struct board *b, const uint8_t *container, struct jit *jit,
                               uint8_t **elf, size_t *bytes)
{
  uint8_t *entry;
  CUresult r = module_pick(s, b, container, &entry, bytes);
  if (r != CUDA_SUCCESS) return r;
  if (*bytes >= SELFMAG && memcmp(entry, ELFMAG, SELFMAG) == 0) return *elf = entry, CUDA_SUCCESS;
  r = translate(b, entry, jit, elf, bytes);
  free(entry);
  return r;
}

/* The machine code in an image that this GPU runs: an ELF file, which the caller frees. */
static CUresult extract(struct shim *s, const struct board *b, const struct image_extent *image, struct jit *jit,
                        uint8_t **elf, size_t *bytes)
{
  if (image->kind == IMAGE_FATBIN) return extract_fatbin(s, b, image->bytes, jit, elf, bytes);
  if (image->kind == IMAGE_TEXT) return translate(b, image->bytes, jit, elf, bytes);
  *bytes = image->n;
  *elf = shim_alloc(*bytes);
  memcpy(*elf, image->bytes, *bytes);
  return CUDA_SUCCESS;
}

static CUresult open_image(struct shim *s, const struct opening *how, const void *image, size_t room,
                           struct loaded_module **out)
{
  struct image_extent extent;
  struct link_file file;
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  if (!image_measure(image, room, &extent)) {
    shim_say("a module's image is damaged: its headers speak of more than there is at %p; build it again", image);
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (extent.kind == IMAGE_JOINED) return open_joined(s, how, extent.bytes, out);
  CUresult r = extract(s, how->board, &extent, how->jit, &file.elf, &file.bytes);
  if (r != CUDA_SUCCESS) return r;
  r = open_files(s, how, &file, 1, out);
  free(file.elf);
  return r;
}

CUresult module_open(struct shim *s, struct board *b, const void *image, size_t room, struct jit *jit,
                     struct loaded_module **out)
{
  struct jit none = {0};
  const struct opening how = { .board = b, .jit = jit ? jit : &none };
  return open_image(s, &how, image, room, out);
}

CUresult module_open_beside(struct shim *s, struct board *b, const struct loaded_module *first, uint64_t managed_at,
                            const void *image, size_t room, struct loaded_module **out)
{
  struct jit none = {0};
  const struct opening how = { .board = b, .jit = &none, .managed = first ? first->managed : NULL,
                               .managed_at = managed_at };
  return open_image(s, &how, image, room, out);
}

char *module_read_file(const char *path, size_t *bytes, CUresult *r)
{
  FILE *f = path ? fopen(path, "rb") : NULL;
  long size = -1;
  char *data = NULL;
  *r = !path ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_FILE_NOT_FOUND;
  NO_MEMORY_IF(path && !f && errno == ENOMEM);
  if (!f) return NULL;
  struct stat is; /* a folder can be opened, and its size is no number of bytes */
  const bool folder = fstat(fileno(f), &is) != 0 || S_ISDIR(is.st_mode);
  if (!folder && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
    data = shim_alloc((size_t)size + 1);
    if (fread(data, 1, (size_t)size, f) != (size_t)size) {
      free(data);
      data = NULL;
    }
  }
  fclose(f);
  *bytes = size > 0 ? (size_t)size : 0;
  return data;
}

/* Kernels and variables --------------------------------------------------------------------------- */

static void free_module(struct shim *s, struct loaded_module *m)
{
  for (struct function *f = m->functions, *next; f; f = next) {
    next = f->next;
    free(f->kept);
    free(f);
  }
  mps_forget_code(s);
  device_unload(&m->code);
  managed_leave(s, m->managed);
  for (unsigned i = 0; i < m->n_files; i++) free(m->file[i].elf);
  free(m->file);
  free(m);
}

static void close_one(struct shim *s, struct loaded_module *m)
{
  struct board *b = m->board;
  for (struct loaded_module **at = &s->modules; *at; at = &(*at)->next) {
    if (*at != m) continue;
    *at = m->next;
    free_module(s, m);
    peers_refresh_all(s, b);
    return;
  }
}

void module_close(struct shim *s, struct loaded_module *m)
{
  struct library *l = m->library;
  if (!l || l->first != m) {
    if (l) l->on[m->board->number] = NULL;
    close_one(s, m);
    return;
  }
  for (unsigned i = 0; i < BOARDS_MAX; i++)
    if (l->on[i]) close_one(s, l->on[i]);
  free(l->image);
  free(l);
}

static void reset(struct shim *s, struct board *b)
{
  for (struct loaded_module *m = s->modules; m;) {
    struct loaded_module *const gone = m->board == b ? m : NULL;
    if (gone) module_close(s, gone);
    m = gone ? s->modules : m->next; /* a library took others with it */
  }
}

/* Libraries ---------------------------------------------------------------------------------------- */

void module_make_library(struct loaded_module *m, const void *image, size_t room)
{
  struct image_extent extent;
  if (!image_measure(image, room, &extent)) return; /* it was measured when it was opened */
  struct library *l = shim_alloc(sizeof *l);
  *l = (struct library){ .first = m, .image = shim_alloc(extent.n), .bytes = extent.n };
  memcpy(l->image, extent.bytes, extent.n);
  l->on[m->board->number] = m;
  m->library = l;
}

CUresult module_on(struct shim *s, struct loaded_module *m, struct board *b, struct loaded_module **out)
{
  struct library *l = m->library;
  if (m->board == b) return *out = m, CUDA_SUCCESS;
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  if (!l->on[b->number]) {
    CUresult r = module_open_beside(s, b, l->first, 0, l->image, l->bytes, &l->on[b->number]);
    if (r != CUDA_SUCCESS) return r;
    l->on[b->number]->library = l;
  }
  *out = l->on[b->number];
  return CUDA_SUCCESS;
}

CUresult function_on(struct shim *s, struct function *f, struct board *b, struct function **out)
{
  struct loaded_module *m;
  if (f->module->board == b) return *out = f, CUDA_SUCCESS;
  CUresult r = module_on(s, f->module, b, &m);
  return r == CUDA_SUCCESS ? module_get_function(s, m, f->kernel->name, out) : r;
}

bool module_is_open(const struct shim *s, const struct loaded_module *m)
{
  const struct loaded_module *at = s->modules;
  while (at && at != m) at = at->next;
  return at != NULL;
}

/* NVIDIA's driver loads such a module and then does not find the function. */
static CUresult refuse_table_reader(const char *name)
{
  shim_say("'%.200s' asks for a format, a number of layers or levels, or a sampler's state (txq, suq), which the "
           "driver does not offer: such a function is not found", name);
  return CUDA_ERROR_NOT_FOUND;
}

CUresult module_give_function(struct loaded_module *m, const char *name, struct function *f)
{
  for (unsigned i = 0; i < module_kernel_count(m->code.module); i++) {
    const struct module_kernel *k = module_kernel_at(m->code.module, i);
    if (strcmp(k->name, name) != 0) continue;
    if (k->reads_tables) return refuse_table_reader(name);
    *f = (struct function){ .next = m->functions, .module = m, .kernel = k, .carveout = -1 };
    f->max_dynamic_shared =
        k->shared_static < DEFAULT_DYNAMIC_SHARED ? DEFAULT_DYNAMIC_SHARED - k->shared_static : 0;
    m->functions = f;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

void module_take_function(struct function *f)
{
  if (!f->module) return;
  struct function **at = &f->module->functions;
  while (*at != f) at = &(*at)->next;
  *at = f->next;
  free(f->kept);
  f->kept = NULL;
  f->module = NULL;
}

CUresult module_get_function(struct shim *s, struct loaded_module *m, const char *name,
                             struct function **out)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  if (!name || !out) return CUDA_ERROR_INVALID_VALUE;
  for (struct function *f = m->functions; f; f = f->next)
    if (strcmp(f->kernel->name, name) == 0) return *out = f, CUDA_SUCCESS;
  struct function *f = shim_alloc(sizeof *f);
  CUresult r = module_give_function(m, name, f);
  if (r == CUDA_SUCCESS) *out = f;
  else free(f);
  return r;
}

bool module_is_function(const struct shim *s, const struct function *f)
{
  for (const struct loaded_module *m = s->modules; m; m = m->next)
    for (const struct function *at = m->functions; at; at = at->next)
      if (at == f) return true;
  return false;
}

CUresult module_get_variable(struct shim *s, struct loaded_module *m, const char *name, CUdeviceptr *addr,
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

static bool variable_has(const struct loaded_module *m, uint64_t addr)
{
  const struct module *file = m->code.module;
  for (unsigned i = 0; i < module_symbol_count(file); i++) {
    const struct module_symbol *y = module_symbol_at(file, i);
    const uint64_t at = y->bytes ? module_address(m->code.instance, y) : 0;
    if (at && addr - at < y->bytes) return true;
  }
  return false;
}

bool module_has_address(const struct shim *s, uint64_t addr)
{
  for (const struct loaded_module *m = s->modules; m; m = m->next)
    if (variable_has(m, addr)) return true;
  return false;
}

const struct shim_part module_part = { .reset = reset };
