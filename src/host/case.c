#include "host/case.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "host/abi.h"
#include "host/capture.h"
#include "host/datafile.h"
#include "host/snapshot.h"
#include "load/target.h"

enum { FILL_CHUNK = 1 << 20 }; /* bytes filled at a time */

/* A buffer of the case in this device's memory, or a variable of the module. */
struct run_buffer {
  const struct case_buffer *spec;
  const struct module_symbol *symbol; /* NULL: a buffer */
  uint64_t addr;
};

struct case_run {
  struct arena arena;
  const struct launch_case *c;
  struct device device;
  struct device_code code;
  const struct module_kernel *kernel;
  struct capture print;
  uint64_t *handle;             /* of the case's textures and surfaces */
  unsigned n_buffers;           /* buffers, then symbols */
  struct run_buffer *buffer;
  struct launch launch;
  bool launched;
  struct case_result *result;
};

static size_t spec_bytes(const struct case_buffer *b)
{
  return (size_t)b->count * value_bytes(b->type); /* limited when the case was built */
}

static void *host_alloc(size_t bytes)
{
  void *p = malloc(bytes ? bytes : 1);
  NO_MEMORY_IF(!p);
  return p;
}

/* Replaces every "%d" of the cubin's path by the SM number. */
static char *cubin_named(struct arena *a, const char *pattern, unsigned sm)
{
  size_t n = strlen(pattern);
  char *path = arena_alloc(a, 2 * n + 16, 1), *out = path;
  for (const char *p = pattern; *p;) {
    if (p[0] == '%' && p[1] == 'd') {
      out += sprintf(out, "%u", sm % 1000); /* at most 3 digits for 2 characters */
      p += 2;
    } else {
      *out++ = *p++;
    }
  }
  *out = '\0';
  return path;
}

/* The cubin for the GPU's own target or, when there is no such file, for the nearest older one that runs there. */
static char *cubin_path(struct arena *a, const char *pattern, unsigned sm)
{
  struct stat st;
  for (unsigned older = sm; target_runs_on(older, TARGET_PLAIN, sm); older--) {
    char *path = cubin_named(a, pattern, older);
    if (stat(path, &st) == 0) return path;
  }
  return cubin_named(a, pattern, sm);
}

/* Contents ------------------------------------------------------------------------------- */

static bool put_bytes(struct case_run *r, const struct run_buffer *b, uint64_t offset,
                      const void *data, size_t bytes)
{
  if (!b->symbol) return gmem_write(r->device.mem, b->addr + offset, data, bytes);
  /* Symbols are written at once: offset is 0. */
  return module_variable_write(r->code.instance, b->symbol, data, bytes);
}

static void get_bytes(const struct case_run *r, const struct run_buffer *b, void *data)
{
  size_t bytes = spec_bytes(b->spec);
  BUG_ON(b->symbol ? !module_variable_read(r->code.instance, b->symbol, data, bytes)
                   : !gmem_read(r->device.mem, b->addr, data, bytes));
}

struct chain_target {
  struct gmem *mem;
  uint64_t addr;
};

static void put_link(void *ctx, uint64_t i, uint64_t value)
{
  struct chain_target *t = ctx;
  BUG_ON(!gmem_write(t->mem, t->addr + i * sizeof value, &value, sizeof value));
}

static void fill_buffer(struct case_run *r, const struct run_buffer *b)
{
  const struct case_buffer *s = b->spec;
  size_t size = value_bytes(s->type);
  uint64_t step = b->symbol ? s->count : FILL_CHUNK / size;
  if (s->fill.kind == FILL_ZERO && !b->symbol) return; /* guest memory starts zeroed */
  if (s->fill.kind == FILL_CHAIN) {
    struct chain_target t = { r->device.mem, b->addr };
    fill_chain(&s->fill, s->count, b->addr, put_link, &t);
    return;
  }
  uint8_t *chunk = host_alloc((size_t)(step < s->count ? step : s->count) * size);
  for (uint64_t i = 0; i < s->count; i += step) {
    uint64_t n = s->count - i < step ? s->count - i : step;
    fill_write(&s->fill, s->type, i, n, chunk);
    BUG_ON(!put_bytes(r, b, i * size, chunk, (size_t)n * size));
  }
  free(chunk);
}

static bool init_contents(struct case_run *r, const struct run_buffer *b, struct err *e)
{
  const struct case_buffer *s = b->spec;
  uint8_t *data;
  if (!s->initialised) return true;
  if (!s->file) {
    fill_buffer(r, b);
    return true;
  }
  TRY(datafile_read_exact(s->file, s->where, spec_bytes(s), &data, e));
  BUG_ON(!put_bytes(r, b, 0, data, spec_bytes(s)));
  free(data);
  return true;
}

static bool make_buffer(struct case_run *r, const struct case_buffer *s, struct run_buffer *b,
                        struct err *e)
{
  size_t bytes = spec_bytes(s);
  *b = (struct run_buffer){ .spec = s, .addr = gmem_alloc(r->device.mem, bytes, s->name) };
  if (!b->addr || b->addr + bytes > ABI_SHARED_WINDOW)
    return err_set(e, "%s: no guest memory for buffer '%.60s' of %zu bytes; make it smaller",
                   s->where, s->name, bytes);
  return init_contents(r, b, e);
}

static bool find_symbol(struct case_run *r, const struct case_buffer *s, struct run_buffer *b,
                        struct err *e)
{
  const struct module_symbol *y = module_variable(r->code.module, s->name);
  if (!y)
    return err_set(e, "%s: %s has no variable '%.60s'; use its name in the symbol table "
                   "(readelf -s)", s->where, module_name(r->code.module), s->name);
  if (y->bytes != spec_bytes(s))
    return err_set(e, "%s: variable '%.60s' has %llu bytes, not %zu; correct type or count",
                   s->where, s->name, (unsigned long long)y->bytes, spec_bytes(s));
  *b = (struct run_buffer){ .spec = s, .symbol = y,
                            .addr = module_address(r->code.instance, y) };
  return init_contents(r, b, e);
}

static bool make_buffers(struct case_run *r, struct err *e)
{
  const struct launch_case *c = r->c;
  r->buffer = ARENA_ARRAY(&r->arena, struct run_buffer, c->n_buffers + c->n_symbols + 1u);
  for (unsigned i = 0; i < c->n_buffers; i++)
    TRY(make_buffer(r, &c->buffer[i], &r->buffer[r->n_buffers++], e));
  for (unsigned i = 0; i < c->n_symbols; i++)
    TRY(find_symbol(r, &c->symbol[i], &r->buffer[r->n_buffers++], e));
  return true;
}

uint64_t case_buffer_address(const struct case_run *r, const char *name)
{
  for (unsigned i = 0; i < r->n_buffers; i++)
    if (!r->buffer[i].symbol && strcmp(r->buffer[i].spec->name, name) == 0)
      return r->buffer[i].addr;
  return 0;
}

static uint64_t find_handle(const struct case_run *r, const char *name)
{
  unsigned i = 0;
  while (strcmp(r->c->texture[i].name, name) != 0) i++; /* launch_case_check has found it */
  return r->handle[i];
}

static const struct case_buffer *find_spec(const struct launch_case *c, const char *name)
{
  unsigned i = 0;
  while (strcmp(c->buffer[i].name, name) != 0) i++;
  return &c->buffer[i];
}

static bool make_texture(struct case_run *r, const struct case_texture *t, uint64_t *handle,
                         struct err *e)
{
  struct image m;
  uint64_t bytes;
  const struct case_buffer *b = find_spec(r->c, t->buffer);
  if (!image_layout(&t->image, case_buffer_address(r, t->buffer), &m, &bytes, e)) return false;
  if (bytes > spec_bytes(b))
    return err_set(e, "it takes %llu bytes, buffer '%.60s' has %zu", (unsigned long long)bytes,
                   b->name, spec_bytes(b));
  return t->surface ? surface_create(&r->device.textures, &m, t->name, handle, e)
                    : texture_create(&r->device.textures, &m, &t->sampler, t->name, handle, e);
}

static bool make_textures(struct case_run *r, struct err *e)
{
  r->handle = ARENA_ARRAY(&r->arena, uint64_t, r->c->n_textures + 1u);
  for (unsigned i = 0; i < r->c->n_textures; i++) {
    const struct case_texture *t = &r->c->texture[i];
    struct err inner = { "" };
    if (!make_texture(r, t, &r->handle[i], &inner))
      return err_set(e, "%s: %s '%.60s': %.300s", t->where, t->surface ? "surface" : "texture",
                     t->name, inner.msg);
  }
  return true;
}

/* Launch --------------------------------------------------------------------------------- */

static bool pack_arg(struct case_run *r, unsigned i, uint8_t *params, struct err *e)
{
  static const char *const kinds[] = { "a pointer", "", "raw bytes", "a texture or surface" };
  const struct case_arg *a = &r->c->arg[i];
  const struct module_param *p = &r->kernel->param[i];
  if (a->bytes != p->bytes)
    return err_set(e, "%s: argument %u is %s of %zu bytes, the parameter of kernel '%.100s' has "
                   "%u; use the type of the kernel's source", a->where, i + 1,
                   a->kind == ARG_VALUE ? value_name(a->type) : kinds[a->kind], a->bytes,
                   r->kernel->name, p->bytes);
  uint64_t word = a->kind == ARG_BUFFER    ? case_buffer_address(r, a->buffer)
                  : a->kind == ARG_TEXTURE ? find_handle(r, a->buffer)
                                           : 0;
  memcpy(params + p->offset, a->data ? (const void *)a->data : &word, p->bytes);
  return true;
}

static bool launch_kernel(struct case_run *r, struct err *e)
{
  const struct launch_case *c = r->c;
  const struct module_kernel *k = r->kernel;
  if (c->n_args != k->n_params)
    return err_set(e, "%s: %u arguments; kernel '%.200s' takes %u: state each (--arg, or args in a launch file)%s",
                   c->origin, c->n_args, k->name, k->n_params,
                   c->n_args ? "" : "; a program as a whole runs under 'warpstep exec'");
  uint8_t *params = arena_alloc(&r->arena, k->param_bytes + 1u, 16);
  for (unsigned i = 0; i < c->n_args; i++) TRY(pack_arg(r, i, params, e));
  struct launch_desc desc = { .code = r->code.instance, .kernel = k, .shared_dynamic = c->shmem,
                              .stack_bytes = c->stack, .params = params,
                              .param_bytes = k->param_bytes };
  memcpy(desc.grid, c->grid, sizeof desc.grid);
  memcpy(desc.block, c->block, sizeof desc.block);
  memcpy(desc.cluster, c->cluster, sizeof desc.cluster);
  struct err inner = { "" };
  r->launched = launch_init(&r->launch, &r->device, &desc, &inner);
  return r->launched || err_set(e, "%.150s: %.350s", c->origin, inner.msg);
}

static bool load_code(struct case_run *r, unsigned sm, struct err *e)
{
  const char **path = ARENA_ARRAY(&r->arena, const char *, r->c->n_cubins);
  for (unsigned i = 0; i < r->c->n_cubins; i++)
    path[i] = cubin_path(&r->arena, r->c->cubin[i], sm);
  return device_link(&r->device, path, r->c->n_cubins, r->c->kernel, &r->code, e);
}

static bool choose_kernel(struct case_run *r, struct err *e)
{
  const struct module *m = r->code.module;
  if (!r->c->kernel && module_kernel_count(m) == 1) r->kernel = module_kernel_at(m, 0);
  else r->kernel = module_kernel(m, r->c->kernel, e);
  return r->kernel != NULL;
}

/* A launch that was captured on some SMs of its GPU runs on the same ones. */
static bool take_sms(const struct case_run *r, unsigned gpu, struct launch_desc *desc, struct err *e)
{
  const struct core_set *s = &r->c->snapshot->sms;
  for (unsigned i = gpu; i < CORE_SET_MAX; i++)
    if (core_set_has(s, i))
      return err_set(e, "%.150s: it was captured on SM %u, among others; this GPU has %u", r->c->origin, i, gpu);
  desc->cores = s;
  return true;
}

/* A captured launch: memory, arguments and all at the addresses they had. */
static bool setup_captured(struct case_run *r, const struct device_config *config, struct err *e)
{
  const struct snapshot *s = r->c->snapshot;
  struct device_config without_heap = *config;
  without_heap.print = &r->print.stream;
  without_heap.heap_bytes = 0; /* the capture has its own */
  TRY(device_init(&r->device, &without_heap, e));
  TRY(snapshot_restore(s, &r->device, &r->code, e));
  if (!(r->kernel = module_kernel(r->code.module, s->kernel, e))) return false;
  struct launch_desc desc = { .code = r->code.instance, .kernel = r->kernel,
                              .shared_dynamic = s->shared, .stack_bytes = s->stack,
                              .params = s->part[SNAPSHOT_PARAMS].data,
                              .param_bytes = (uint32_t)s->part[SNAPSHOT_PARAMS].bytes };
  memcpy(desc.grid, s->grid, sizeof desc.grid);
  memcpy(desc.block, s->block, sizeof desc.block);
  memcpy(desc.cluster, s->cluster, sizeof desc.cluster);
  if (s->some_sms) TRY(take_sms(r, config->n_smids ? config->n_smids : config->n_workers, &desc, e));
  struct err inner = { "" };
  r->launched = launch_init(&r->launch, &r->device, &desc, &inner);
  return r->launched || err_set(e, "%.150s: %.350s", r->c->origin, inner.msg);
}

static bool setup(struct case_run *r, const struct device_config *config, struct err *e)
{
  struct device_config with_print = *config;
  capture_open(&r->print, config->print ? *config->print : NULL);
  if (r->c->snapshot) return setup_captured(r, config, e);
  with_print.print = &r->print.stream;
  TRY(launch_case_check(r->c, e));
  TRY(device_init(&r->device, &with_print, e));
  TRY(load_code(r, config->sm, e));
  TRY(choose_kernel(r, e));
  TRY(make_buffers(r, e));
  TRY(make_textures(r, e));
  return launch_kernel(r, e);
}

struct case_run *case_setup(const struct launch_case *c, const struct device_config *config,
                            struct err *e)
{
  struct case_run *r = host_alloc(sizeof *r);
  *r = (struct case_run){ .c = c };
  if (setup(r, config, e)) return r;
  case_free(r);
  return NULL;
}

void case_flush(struct case_run *r)
{
  capture_flush(&r->print);
}

void case_print_again(struct case_run *r, FILE *print)
{
  capture_open_again(&r->print, print);
}

void case_free(struct case_run *r)
{
  if (!r) return;
  if (r->launched) launch_free(&r->launch);
  device_unload(&r->code);
  device_free(&r->device);
  capture_close(&r->print);
  arena_free(&r->arena);
  free(r);
}

struct launch *case_launch(struct case_run *r)
{
  return &r->launch;
}

struct device *case_device(struct case_run *r)
{
  return &r->device;
}

struct device_code *case_code(struct case_run *r)
{
  return &r->code;
}

/* Checking ------------------------------------------------------------------------------- */

static void describe(const struct case_buffer *s, struct case_result *out)
{
  const struct compare_result *v = &out->values;
  size_t used;
  if (out->ok) {
    snprintf(out->text, sizeof out->text, "%.60s: %llu elements as expected", s->name,
             (unsigned long long)v->count);
    return;
  }
  used = (size_t)snprintf(out->text, sizeof out->text, "%.60s: %llu of %llu differ", s->name,
                          (unsigned long long)v->mismatches, (unsigned long long)v->count);
  for (unsigned i = 0; i < v->n_shown; i++) {
    char one[128];
    size_t n = (size_t)compare_print(s->type, &v->shown[i], one, sizeof one);
    if (used + n + 3 > sizeof out->text) break;
    used += (size_t)snprintf(out->text + used, sizeof out->text - used, "; %s", one);
  }
}

static bool check_buffer(const struct case_run *r, const struct run_buffer *b,
                         struct case_result *out, struct err *e)
{
  const struct case_buffer *s = b->spec;
  uint8_t *want;
  TRY(datafile_read_exact(s->expect, s->where, spec_bytes(s), &want, e));
  uint8_t *got = host_alloc(spec_bytes(s));
  get_bytes(r, b, got);
  compare_values(s->type, s->count, got, want, s->tol, &out->values);
  free(got);
  free(want);
  out->name = s->name;
  out->ok = out->values.mismatches == 0;
  describe(s, out);
  return true;
}

static bool check_stdout(struct case_run *r, struct case_result *out, struct err *e)
{
  char why[180] = "";
  uint8_t *want;
  size_t bytes;
  TRY(datafile_read(r->c->stdout_file, r->c->origin, &want, &bytes, e));
  capture_flush(&r->print);
  out->name = "stdout";
  out->ok = compare_text(r->print.text ? r->print.text : "", r->print.bytes, (const char *)want,
                         bytes, !r->c->stdout_exact, why, sizeof why);
  free(want);
  snprintf(out->text, sizeof out->text, "stdout: %s", out->ok ? "as expected" : why);
  return true;
}

static void describe_memory(const struct snapshot_result *m, struct case_result *out)
{
  if (out->ok)
    snprintf(out->text, sizeof out->text, "%s: %llu words changed as in the capture", m->name,
             (unsigned long long)m->changed);
  else
    snprintf(out->text, sizeof out->text, "%s: %llu words differ from the capture; +0x%llx got "
             "0x%08x, want 0x%08x", m->name, (unsigned long long)m->wrong,
             (unsigned long long)m->first_wrong, m->got, m->want);
}

static void check_captured_stdout(struct case_run *r, struct case_result *out)
{
  const struct snapshot_bytes *want = &r->c->snapshot->part[SNAPSHOT_PRINT];
  char why[180] = "";
  capture_flush(&r->print);
  out->name = "stdout";
  out->ok = compare_text(r->print.text ? r->print.text : "", r->print.bytes,
                         (const char *)want->data, want->bytes, true, why, sizeof why);
  snprintf(out->text, sizeof out->text, "stdout: %s", out->ok ? "as in the capture" : why);
}

/* One result for each allocation that changed then or is different now; one for the printed text. */
static void check_captured(struct case_run *r, const struct case_result **list, unsigned *n)
{
  const struct snapshot *s = r->c->snapshot;
  if (!r->result) r->result = ARENA_ARRAY(&r->arena, struct case_result, s->n_ranges + 2);
  memset(r->result, 0, (s->n_ranges + 2) * sizeof r->result[0]);
  *list = r->result;
  *n = 0;
  if (s->fault != FAULT_NONE) {
    struct case_result *out = &r->result[(*n)++];
    *out = (struct case_result){ .name = "fault" };
    snprintf(out->text, sizeof out->text, "the captured launch faulted, this one did not");
    return;
  }
  for (size_t i = 0; i < s->n_ranges; i++) {
    struct snapshot_result m;
    snapshot_compare(s, &r->device, i, &m);
    if (!m.changed && !m.wrong) continue;
    struct case_result *out = &r->result[(*n)++];
    *out = (struct case_result){ .name = m.name, .ok = m.wrong == 0 };
    describe_memory(&m, out);
  }
  if (s->part[SNAPSHOT_PRINT].bytes || r->print.bytes) check_captured_stdout(r, &r->result[(*n)++]);
}

bool case_check(struct case_run *r, const struct case_result **list, unsigned *n, struct err *e)
{
  if (r->c->snapshot) {
    check_captured(r, list, n);
    return true;
  }
  if (!r->result) r->result = ARENA_ARRAY(&r->arena, struct case_result, r->n_buffers + 1u);
  *list = r->result;
  *n = 0;
  memset(r->result, 0, (r->n_buffers + 1u) * sizeof r->result[0]);
  for (unsigned i = 0; i < r->n_buffers; i++)
    if (r->buffer[i].spec->expect)
      TRY(check_buffer(r, &r->buffer[i], &r->result[(*n)++], e));
  if (r->c->stdout_file) TRY(check_stdout(r, &r->result[(*n)++], e));
  return true;
}

/* Saving --------------------------------------------------------------------------------- */

static char *save_path(struct case_run *r, const char *dir, const char *name, const char *suffix)
{
  size_t n = strlen(dir) + strlen(name) + strlen(suffix) + 2;
  char *path = arena_alloc(&r->arena, n, 1);
  snprintf(path, n, "%s/%s%s", dir, name, suffix);
  return path;
}

static bool save_buffer(struct case_run *r, const struct run_buffer *b, const char *dir,
                        struct err *e)
{
  size_t bytes = spec_bytes(b->spec);
  if (strchr(b->spec->name, '/'))
    return err_set(e, "%s: name '%.60s' cannot be a file name; rename the buffer", b->spec->where,
                   b->spec->name);
  uint8_t *data = host_alloc(bytes);
  get_bytes(r, b, data);
  bool ok = datafile_write(save_path(r, dir, b->spec->name, ".bin"), data, bytes, e);
  free(data);
  return ok;
}

/* Allocations are named by their address: ADDRESS.bin. */
static bool save_captured(struct case_run *r, const char *dir, struct err *e)
{
  const struct snapshot *s = r->c->snapshot;
  for (size_t i = 0; i < s->n_ranges; i++) {
    char name[24];
    uint8_t *data = host_alloc(s->range[i].bytes);
    snprintf(name, sizeof name, "0x%llx", (unsigned long long)s->range[i].addr);
    BUG_ON(!gmem_read(r->device.mem, s->range[i].addr, data, s->range[i].bytes));
    bool ok = datafile_write(save_path(r, dir, name, ".bin"), data, s->range[i].bytes, e);
    free(data);
    if (!ok) return false;
  }
  return true;
}

bool case_save(struct case_run *r, const char *dir, struct err *e)
{
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return err_set(e, "%s: cannot create: %s; choose another folder", dir, host_error());
  for (unsigned i = 0; i < r->n_buffers; i++) TRY(save_buffer(r, &r->buffer[i], dir, e));
  if (r->c->snapshot) TRY(save_captured(r, dir, e));
  capture_flush(&r->print);
  if (r->print.bytes == 0) return true;
  return datafile_write(save_path(r, dir, "stdout", ".txt"), r->print.text, r->print.bytes, e);
}
