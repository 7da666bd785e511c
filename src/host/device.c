#include "host/device.h"

#include "base/host_memory.h"
#include "host/abi.h"
#include "host/gpu_advice.h"
#include "load/file.h"
#include "load/target.h"

struct device_config device_config_default(unsigned sm)
{
  return (struct device_config){
    .sm = sm, .page_bits = 16, .n_workers = 1, .slots_per_worker = 1, .n_warpids = 64,
    .heap_bytes = UINT64_C(8) << 20, /* cudaLimitMallocHeapSize, CUDA programming guide */
  };
}

static void drop_heap(struct device *d)
{
  func_heap_free(d->heap);
  if (d->heap_base) gmem_release(d->mem, d->heap_base);
  d->heap = NULL;
  d->heap_base = 0;
}

bool device_set_heap(struct device *d, uint64_t bytes, struct err *e)
{
  uint64_t base = bytes ? gmem_alloc(d->mem, bytes, "device heap") : 0;
  if (bytes && !base)
    return err_set(e, "no guest memory for a device heap of %llu bytes; make it smaller",
                   (unsigned long long)bytes);
  drop_heap(d);
  d->heap_base = base;
  d->heap = base ? func_heap_new(base, bytes) : NULL;
  d->config.heap_bytes = bytes;
  return true;
}

bool device_init(struct device *d, const struct device_config *config, struct err *e)
{
  char list[160];
  *d = (struct device){ .config = *config, .next_grid_id = 1 };
  func_rooms_init(&d->rooms);
  if (!abi_supported(config->sm))
    return err_set(e, "sm_%u is not a known target; choose one of %s", config->sm, target_list(list, sizeof list));
  if (d->config.n_smids == 0) d->config.n_smids = config->n_workers;
  d->mem = config->shared ? config->shared : gmem_new(config->page_bits);
  gmem_set_gap(d->mem, config->gap_bytes);
  if (config->memory_end) gmem_set_range(d->mem, config->memory_first, config->memory_end);
  return device_set_heap(d, config->heap_bytes, e);
}

bool device_place(struct device *d, struct module *m, struct device_code *out, struct err *e)
{
  return device_place_managed(d, m, 0, out, e);
}

bool device_place_managed(struct device *d, struct module *m, uint64_t managed, struct device_code *out, struct err *e)
{
  *out = (struct device_code){ .module = m, .instance = module_instantiate_managed(m, d->mem, managed, e) };
  return out->instance != NULL;
}

/* Why none of the file's code runs on this device, and on which it would. */
static bool no_code_here(const struct device *d, const struct code_file *f, struct err *e)
{
  char advice[240];
  struct err why = {""};
  code_file_no_code(f, d->config.sm, &why);
  for (unsigned i = 0; i < code_file_count(f); i++) {
    const struct code_image *c = code_file_image(f, i);
    if (!c->ptx)
      return err_set(e, "%s, or %s", why.msg,
                     gpu_advice(d->config.presets, c->sm, c->form, advice, sizeof advice));
  }
  return err_set(e, "%s", why.msg);
}

bool device_load(struct device *d, const char *path, const char *kernel, struct device_code *out,
                 struct err *e)
{
  *out = (struct device_code){ 0 };
  struct code_file *f = code_file_open(path, e);
  if (!f) return false;
  struct module *m = NULL;
  if (code_file_has(f, d->config.sm, false)) m = code_file_load(f, d->config.sm, kernel, e);
  else no_code_here(d, f, e);
  code_file_free(f);
  return m && device_place(d, m, out, e);
}

bool device_link(struct device *d, const char *const *path, unsigned n, const char *kernel,
                 struct device_code *out, struct err *e)
{
  if (n == 1) return device_load(d, path[0], kernel, out, e);
  *out = (struct device_code){ 0 };
  struct module *m = code_file_link_paths(path, n, d->config.sm, e);
  return m && device_place(d, m, out, e);
}

void device_unload(struct device_code *c)
{
  module_instance_free(c->instance);
  module_free(c->module);
  *c = (struct device_code){ 0 };
}

void device_free(struct device *d)
{
  func_heap_free(d->heap);
  func_rooms_free(&d->rooms);
  tex_objects_free(&d->textures);
  if (!d->config.shared) gmem_free(d->mem);
  *d = (struct device){0};
}
