#include "host/device.h"

#include "host/abi.h"
#include "load/file.h"

struct device_config device_config_default(unsigned sm)
{
  return (struct device_config){
    .sm = sm, .page_bits = 16, .n_workers = 1, .slots_per_worker = 1,
    .heap_bytes = UINT64_C(8) << 20, /* cudaLimitMallocHeapSize, CUDA programming guide */
  };
}

bool device_init(struct device *d, const struct device_config *config, struct err *e)
{
  *d = (struct device){ .config = *config, .next_grid_id = 1 };
  if (!abi_supported(config->sm))
    return err_set(e, "sm_%u is not a known target; choose sm_80, sm_86 or sm_90", config->sm);
  if (d->config.n_smids == 0) d->config.n_smids = config->n_workers;
  d->mem = gmem_new(config->page_bits);
  if (config->heap_bytes) {
    d->heap_base = gmem_alloc(d->mem, config->heap_bytes, "device heap");
    if (!d->heap_base)
      return err_set(e, "no guest memory for a device heap of %llu bytes; make it smaller",
                     (unsigned long long)config->heap_bytes);
  }
  return true;
}

bool device_load(struct device *d, const char *path, const char *kernel, struct err *e)
{
  if (d->module) return err_set(e, "%s: the device already has a module", path);
  struct code_file *f = code_file_open(path, e);
  if (!f) return false;
  d->module = code_file_load(f, d->config.sm, kernel, e);
  code_file_free(f);
  if (!d->module) return false;
  d->instance = module_instantiate(d->module, d->mem, e);
  return d->instance != NULL;
}

void device_free(struct device *d)
{
  module_instance_free(d->instance);
  module_free(d->module);
  gmem_free(d->mem);
  *d = (struct device){0};
}
