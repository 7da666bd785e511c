/* Modules, kernels, variables. */
#include <limits.h>
#include <string.h>

#include "api/api_internal.h"
#include "base/nearest.h"
#include "load/file.h"
#include "load/plain_name.h"

/* Loads every part of the file that this device runs. */
static bool load_parts(ws_module *m, const struct code_file *f, struct err *e)
{
  unsigned sm = m->device->device.config.sm, at = 0;
  int i;

  m->part = ARENA_ARRAY(&m->arena, struct device_code, code_file_count(f) + 1);
  while ((i = code_file_pick(f, sm, at, &at)) >= 0) {
    struct module *parsed = code_file_load_image(f, (unsigned)i, e);
    if (!parsed) return false;
    TRY(device_place(&m->device->device, parsed, &m->part[m->n_parts++], e));
  }
  if (m->n_parts) return true;
  code_file_no_code(f, sm, e);
  return false;
}

static void list_kernels(ws_module *m)
{
  unsigned n = 0;

  for (unsigned p = 0; p < m->n_parts; p++) n += module_kernel_count(m->part[p].module);
  m->kernel = ARENA_ARRAY(&m->arena, struct ws_kernel, n + 1);
  for (unsigned p = 0; p < m->n_parts; p++)
    for (unsigned k = 0; k < module_kernel_count(m->part[p].module); k++)
      m->kernel[m->n_kernels++] =
          (struct ws_kernel){m, &m->part[p], module_kernel_at(m->part[p].module, k)};
}

static bool load_linked(ws_module *m, const char *const *path, size_t n, struct err *e)
{
  m->part = ARENA_ARRAY(&m->arena, struct device_code, 1);
  m->n_parts = 1;
  return device_link(&m->device->device, path, (unsigned)n, NULL, &m->part[0], e);
}

static ws_module *new_module(ws_device *d)
{
  ws_module *m = mem_zeroed(1, sizeof *m);
  m->device = d;
  m->next = d->modules;
  d->modules = m;
  return m;
}

static void take_apart(ws_module *m)
{
  for (ws_module **at = &m->device->modules; *at; at = &(*at)->next)
    if (*at == m) {
      *at = m->next;
      break;
    }
  for (unsigned i = 0; i < m->n_parts; i++) device_unload(&m->part[i]);
  arena_free(&m->arena);
  mem_free(m);
}

/* Where the code comes from: an image, or n files, which are linked when they are several. */
struct load_call {
  const char *const *path;
  size_t n;
  const void *image;
  size_t bytes;
  const char *name; /* of the image */
  ws_module *made;
};

static struct code_file *open_code(const struct load_call *c, struct err *e)
{
  return c->image ? code_file_open_memory(c->image, c->bytes, c->name, e) : code_file_open(c->path[0], e);
}

static bool load_one(ws_module *m, const struct load_call *c, struct err *e)
{
  struct code_file *f = open_code(c, e);
  bool ok = f && load_parts(m, f, e);

  code_file_free(f);
  return ok;
}

static int load(ws_device *d, void *call, ws_error *error)
{
  struct load_call *c = call;
  struct err e = {0};
  ws_module *m = new_module(d);

  if (c->n > 1 ? load_linked(m, c->path, c->n, &e) : load_one(m, c, &e)) {
    list_kernels(m);
    c->made = m;
    return WS_OK;
  }
  take_apart(m);
  return ws_fail_err(error, WS_BAD_FILE, &e);
}

static int load_into(ws_device *d, struct load_call *c, ws_module **out, ws_error *error)
{
  int status = ws_device_change(d, load, c, error);

  if (!status) *out = c->made;
  return status;
}

int ws_module_load(ws_device *d, const char *path, ws_module **out, ws_error *error)
{
  if (!d || !path || !out) return ws_fail(error, WS_BAD_ARGUMENT, "device, path or output is NULL");
  return load_into(d, &(struct load_call){.path = &path, .n = 1}, out, error);
}

int ws_module_link(ws_device *d, const char *const *path, size_t n, ws_module **out, ws_error *error)
{
  if (!d || !path || !out || n == 0 || n > UINT_MAX)
    return ws_fail(error, WS_BAD_ARGUMENT, "device, paths or output is NULL, or there are no paths");
  for (size_t i = 0; i < n; i++)
    if (!path[i]) return ws_fail(error, WS_BAD_ARGUMENT, "a path is NULL");
  return load_into(d, &(struct load_call){.path = path, .n = n}, out, error);
}

int ws_module_load_memory(ws_device *d, const void *image, size_t bytes, const char *name,
                          ws_module **out, ws_error *error)
{
  if (!d || !image || !out) return ws_fail(error, WS_BAD_ARGUMENT, "device, image or output is NULL");
  return load_into(d, &(struct load_call){.image = image, .bytes = bytes, .name = name ? name : "memory"}, out, error);
}

static int unload(ws_device *d, void *call, ws_error *error)
{
  (void)d, (void)error;
  take_apart(call);
  return WS_OK;
}

/* What a lost device has goes with it. */
void ws_module_unload(ws_module *m)
{
  if (m) (void)ws_device_change(m->device, unload, m, NULL);
}

/* ---- kernels ---- */

size_t ws_module_kernel_count(const ws_module *m)
{
  return m ? m->n_kernels : 0;
}

const ws_kernel *ws_module_kernel_at(const ws_module *m, size_t i)
{
  return m && i < m->n_kernels ? &m->kernel[i] : NULL;
}

/* A full name before plain ones. */
static const ws_kernel *find_kernel(const ws_module *m, const char *name, unsigned *n)
{
  const ws_kernel *found = NULL;

  *n = 1;
  for (unsigned i = 0; i < m->n_kernels; i++)
    if (strcmp(m->kernel[i].kernel->name, name) == 0) return &m->kernel[i];
  *n = 0;
  for (unsigned i = 0; i < m->n_kernels; i++)
    if (module_kernel(m->kernel[i].part->module, name, NULL) == m->kernel[i].kernel) {
      found = &m->kernel[i];
      ++*n;
    }
  return found;
}

/* None, or several. */
static int no_kernel(const ws_module *m, const char *name, bool several, ws_error *error)
{
  char names[300] = "", hint[NEAREST_HINT];
  struct nearest near;
  size_t used = 0;

  nearest_start(&near, name);
  for (size_t i = 0; i < m->n_kernels; i++) {
    const char *symbol = m->kernel[i].kernel->name;
    plain_name_offer(&near, symbol);
    if (used < sizeof names) used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", symbol);
  }
  return ws_fail(error, WS_NOT_FOUND, "%s '%.80s'; there is: %s%s",
                 several ? "several kernels are called" : "no kernel", name, names,
                 several ? "" : nearest_hint(&near, hint));
}

int ws_module_kernel(const ws_module *m, const char *name, const ws_kernel **out, ws_error *error)
{
  unsigned n;

  if (!m || !name || !out) return ws_fail(error, WS_BAD_ARGUMENT, "module, name or output is NULL");
  const ws_kernel *k = find_kernel(m, name, &n);
  if (n != 1) return no_kernel(m, name, n != 0, error);
  *out = k;
  return WS_OK;
}

const char *ws_kernel_name(const ws_kernel *k)
{
  return k ? k->kernel->name : NULL;
}

size_t ws_kernel_parameter_count(const ws_kernel *k)
{
  return k ? k->kernel->n_params : 0;
}

size_t ws_kernel_parameter(const ws_kernel *k, size_t i, size_t *offset)
{
  if (!k || i >= k->kernel->n_params) return 0;
  if (offset) *offset = k->kernel->param[i].offset;
  return k->kernel->param[i].bytes;
}

uint64_t ws_kernel_attribute(const ws_kernel *k, int attribute)
{
  const struct module_kernel *m = k ? k->kernel : NULL;

  if (!m) return 0;
  switch (attribute) {
  case WS_KERNEL_REGISTERS: return m->regs;
  case WS_KERNEL_SHARED_BYTES: return m->shared_static;
  case WS_KERNEL_STACK_BYTES:
    return m->stack_bytes > m->frame_bytes ? m->stack_bytes : m->frame_bytes;
  case WS_KERNEL_MAX_THREADS:
    return (uint64_t)m->max_threads[0] * m->max_threads[1] * m->max_threads[2];
  default: return 0;
  }
}

/* ---- variables ---- */

static const struct module_symbol *find_variable(const ws_module *m, const char *name,
                                                 const struct device_code **part)
{
  for (unsigned i = 0; m && name && i < m->n_parts; i++) {
    const struct module_symbol *y = module_variable(m->part[i].module, name);
    if (!y) continue;
    *part = &m->part[i];
    return y;
  }
  return NULL;
}

static int no_variable(const char *name, ws_error *error)
{
  return ws_fail(error, WS_NOT_FOUND, "no variable '%.200s'", name ? name : "");
}

int ws_variable(const ws_module *m, const char *name, ws_address *addr, uint64_t *bytes,
                ws_error *error)
{
  const struct device_code *part;
  const struct module_symbol *y = find_variable(m, name, &part);

  if (!y || y->space != MODULE_GLOBAL) return no_variable(name, error);
  if (addr) *addr = module_address(part->instance, y);
  if (bytes) *bytes = y->bytes;
  return WS_OK;
}

int ws_variable_write(ws_module *m, const char *name, const void *from, size_t bytes,
                      ws_error *error)
{
  const struct device_code *part;
  const struct module_symbol *y = find_variable(m, name, &part);

  if (!y) return no_variable(name, error);
  if (from && module_variable_write(part->instance, y, from, bytes)) return WS_OK;
  return ws_fail(error, WS_BAD_ARGUMENT, "%zu bytes for variable '%.200s' of %llu", bytes, name,
                 (unsigned long long)y->bytes);
}

int ws_variable_read(const ws_module *m, const char *name, void *to, size_t bytes, ws_error *error)
{
  const struct device_code *part;
  const struct module_symbol *y = find_variable(m, name, &part);

  if (!y) return no_variable(name, error);
  if (to && module_variable_read(part->instance, y, to, bytes)) return WS_OK;
  return ws_fail(error, WS_BAD_ARGUMENT, "%zu bytes of variable '%.200s' of %llu", bytes, name,
                 (unsigned long long)y->bytes);
}
