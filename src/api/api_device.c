/* Devices and their memory. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"
#include "base/host_memory.h"
#include "host/abi.h"
#include "time/msg.h"

/* ---- printf of the device ---- */

static ssize_t print_write(void *cookie, const char *text, size_t bytes)
{
  ws_device *d = cookie;
  d->print_fn(d->print_context, text, bytes);
  return (ssize_t)bytes;
}

static void open_print(ws_device *d, const struct ws_device_options *o)
{
  if (!o->print) return;
  d->print_fn = o->print;
  d->print_context = o->print_context;
  d->print = fopencookie(d, "w", (cookie_io_functions_t){.write = print_write});
  NO_MEMORY_IF(!d->print);
}

/* ---- creation ---- */

static bool load_preset(ws_device *d, const struct ws_device_options *o, struct err *e)
{
  char dir[PATH_MAX];

  TRY(presets_dir(o->preset_dir, dir, sizeof dir, e));
  TRY(preset_load(o->preset, dir, &d->preset, e));
  d->preset_name = arena_strdup(&d->preset.strings, o->preset);
  for (size_t i = 0; i < o->n_overrides; i++)
    TRY(preset_override(&d->preset, o->overrides[i], e));
  return params_check(&d->preset.params, e);
}

static void request(void *ctx, const struct outer_request *r)
{
  const ws_device *d = ctx;
  const struct ws_memory_request q = {.size = sizeof q, .id = r->id, .time_ps = r->at, .address = r->line * LINE_BYTES,
                                      .sectors = r->sectors, .partial = r->partial};
  d->memory_fn(d->memory_context, &q);
}

static void open_memory(ws_device *d, const struct ws_device_options *o)
{
  if (!o->memory) return;
  d->memory_fn = o->memory;
  d->memory_context = o->memory_context;
  d->port = (struct outer_port){request, d};
  simulator_set_memory(d->simulator, &d->port);
}

static bool build(ws_device *d, const struct ws_device_options *o, struct err *e)
{
  TRY(load_preset(d, o, e));
  open_print(d, o);
  struct device_config config = device_config_for(&d->preset.params, true);
  if (o->heap_bytes) config.heap_bytes = o->heap_bytes;
  config.print = d->print ? &d->print : NULL;
  TRY(device_init(&d->device, &config, e));
  d->simulator = simulator_new(&d->preset.params);
  open_memory(d, o);
  return true;
}

/* `call`: the options. */
static int set_up(ws_device *d, void *call, ws_error *error)
{
  const struct ws_device_options *o = call;
  struct err e = {0};
  return build(d, o, &e) ? WS_OK : ws_fail_err(error, WS_BAD_PRESET, &e);
}

int ws_device_create(const struct ws_device_options *options, ws_device **out, ws_error *error)
{
  struct ws_device_options o;

  if (!options || !out) return ws_fail(error, WS_BAD_ARGUMENT, "options or output is NULL");
  if (!ws_struct_in(&o, sizeof o, options))
    return ws_fail(error, WS_BAD_ARGUMENT, "ws_device_options has a size this library does not know");
  if (!o.preset) return ws_fail(error, WS_BAD_ARGUMENT, "no preset is named");
  ws_device *d = calloc(1, sizeof *d);
  if (!d || !(d->heap = heap_new())) {
    free(d);
    return ws_fail_memory(error);
  }
  int status = ws_device_change(d, set_up, &o, error);
  if (status) ws_device_destroy(d);
  else *out = d;
  return status;
}

/* The heap has everything, modules, too: nothing is taken apart piece by piece. */
void ws_device_destroy(ws_device *d)
{
  if (!d) return;
  if (d->run) ws_run_drop(d->run);
  heap_free(d->heap);
  if (d->print) fclose(d->print);
  free(d);
}

/* ---- changes ---- */

struct change {
  ws_device *d;
  ws_change *change;
  void *call;
  ws_error *error;
  int status;
};

static void make_change(void *ctx)
{
  struct change *c = ctx;

  c->status = c->change(c->d, c->call, c->error);
}

int ws_device_change(ws_device *d, ws_change *change, void *call, ws_error *error)
{
  if (d->run) return ws_fail(error, WS_BAD_ARGUMENT, "a run is open on this device; end it by ws_run_end first");
  return ws_run_change(d, change, call, error);
}

int ws_run_change(ws_device *d, ws_change *change, void *call, ws_error *error)
{
  struct change c = {d, change, call, error, WS_OK};

  if (d->lost) return ws_fail_memory(error);
  if (memory_try(d->heap, make_change, &c)) return c.status;
  d->lost = true;
  return ws_fail_memory(error);
}

const char *ws_device_parameter(ws_device *d, const char *key)
{
  struct param_key k;

  if (!d || !key || param_key_find(key, &k) < 0) return NULL;
  param_print(&d->preset.params, k, d->text, sizeof d->text);
  return d->text;
}

/* ---- memory ---- */

struct alloc_call {
  uint64_t bytes;
  ws_address addr;
};

static int alloc(ws_device *d, void *call, ws_error *error)
{
  struct alloc_call *c = call;

  c->addr = gmem_alloc(d->device.mem, c->bytes, NULL);
  if (c->addr && c->addr + c->bytes <= ABI_SHARED_WINDOW) return WS_OK;
  if (c->addr) gmem_release(d->device.mem, c->addr);
  return ws_fail(error, WS_OUT_OF_MEMORY, "the address space of the device is used up");
}

int ws_alloc(ws_device *d, uint64_t bytes, ws_address *out, ws_error *error)
{
  if (!d || !out || !bytes) return ws_fail(error, WS_BAD_ARGUMENT, "no device, no output or no bytes");
  uint64_t have = params_memory_bytes(&d->preset.params);
  if (bytes > have || d->allocated > have - bytes)
    return ws_fail(error, WS_OUT_OF_MEMORY,
                   "%llu bytes do not fit the %u MiB of device memory of %s (%llu bytes are in use)",
                   (unsigned long long)bytes, (unsigned)(have >> 20),
                   d->preset.params.name, (unsigned long long)d->allocated);
  struct alloc_call c = {.bytes = bytes};
  int status = ws_device_change(d, alloc, &c, error);
  if (status) return status;
  d->allocated += bytes;
  *out = c.addr;
  return WS_OK;
}

int ws_free(ws_device *d, ws_address addr, ws_error *error)
{
  if (d && d->lost) return ws_fail_memory(error);
  uint64_t bytes = d ? gmem_allocated(d->device.mem, addr) : 0;
  if (!bytes || !gmem_release(d->device.mem, addr))
    return ws_fail(error, WS_BAD_ARGUMENT, "0x%llx is not the start of an allocation",
                   (unsigned long long)addr);
  d->allocated -= bytes < d->allocated ? bytes : d->allocated;
  return WS_OK;
}

static int outside(ws_device *d, ws_address addr, size_t bytes, ws_error *error)
{
  char near[256] = "no device";

  if (d && d->lost) return ws_fail_memory(error);
  if (d) gmem_describe(d->device.mem, addr, near, sizeof near);
  return ws_fail(error, WS_BAD_ARGUMENT, "%zu bytes at 0x%llx are not all in memory: %s", bytes,
                 (unsigned long long)addr, near);
}

int ws_copy_in(ws_device *d, ws_address to, const void *from, size_t bytes, ws_error *error)
{
  if (!bytes) return WS_OK;
  if (d && !d->lost && from && gmem_write(d->device.mem, to, from, bytes)) return WS_OK;
  return outside(d, to, bytes, error);
}

int ws_copy_out(ws_device *d, void *to, ws_address from, size_t bytes, ws_error *error)
{
  if (!bytes) return WS_OK;
  if (d && !d->lost && to && gmem_read(d->device.mem, from, to, bytes)) return WS_OK;
  return outside(d, from, bytes, error);
}

int ws_copy(ws_device *d, ws_address to, ws_address from, size_t bytes, ws_error *error)
{
  if (!bytes) return WS_OK;
  void *between = malloc(bytes);
  if (!between) return ws_fail_memory(error);
  int status = ws_copy_out(d, between, from, bytes, error);
  if (!status) status = ws_copy_in(d, to, between, bytes, error);
  free(between);
  return status;
}

int ws_fill(ws_device *d, ws_address to, const void *pattern, size_t pattern_bytes, size_t count,
            ws_error *error)
{
  size_t bytes;

  if (!d || !pattern || pattern_bytes < 1 || pattern_bytes > 16)
    return ws_fail(error, WS_BAD_ARGUMENT, "a pattern has 1 to 16 bytes");
  if (!count) return WS_OK;
  if (__builtin_mul_overflow(pattern_bytes, count, &bytes)) return outside(d, to, SIZE_MAX, error);
  uint8_t *all = malloc(bytes);
  if (!all) return ws_fail_memory(error);
  for (size_t i = 0; i < count; i++) memcpy(all + i * pattern_bytes, pattern, pattern_bytes);
  int status = ws_copy_in(d, to, all, bytes, error);
  free(all);
  return status;
}
