#include "host/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "host/gpu_advice.h"
#include "host/snapshot_check.h"
#include "load/target.h"

enum { CHUNK = 64 << 10, GRAIN = 64, WORD = 4, RUN_HEAD = 16 };

/* Runs ----------------------------------------------------------------------------------------------- */

/* A list of runs that grows. */
struct runs {
  uint8_t *data;
  size_t bytes, cap;
};

static void append(struct runs *r, const void *data, size_t bytes)
{
  if (bytes > r->cap - r->bytes) {
    r->cap = 2 * r->cap + bytes + CHUNK;
    r->data = realloc(r->data, r->cap);
    NO_MEMORY_IF(!r->data);
  }
  memcpy(r->data + r->bytes, data, bytes);
  r->bytes += bytes;
}

/* Appends what of [addr, addr + n) is not as in `before`, in runs of whole grains. */
static void append_changes(struct runs *r, uint64_t addr, const uint8_t *now, const uint8_t *before,
                           size_t n)
{
  for (size_t at = 0; at < n;) {
    size_t end = at;
    while (end < n && memcmp(now + end, before + end, n - end < GRAIN ? n - end : GRAIN) != 0)
      end += n - end < GRAIN ? n - end : GRAIN;
    if (end == at) {
      at += GRAIN;
      continue;
    }
    uint64_t head[2] = { addr + at, end - at };
    append(r, head, sizeof head);
    append(r, now + at, end - at);
    at = end;
  }
}

/* A place in a list of runs, for questions in ascending order. */
struct reader {
  const struct snapshot_bytes *runs;
  size_t at;
};

/* Puts into to[0..n) what the runs say of [addr, addr + n); the rest stays as it is. */
static void overlay(struct reader *r, uint64_t addr, uint8_t *to, size_t n)
{
  while (r->at < r->runs->bytes) {
    uint64_t head[2];
    memcpy(head, r->runs->data + r->at, sizeof head);
    uint64_t from = head[0], end = head[0] + head[1];
    const uint8_t *data = r->runs->data + r->at + RUN_HEAD;
    if (from >= addr + n) return;
    uint64_t lo = from > addr ? from : addr, hi = end < addr + n ? end : addr + n;
    if (lo < hi) memcpy(to + (lo - addr), data + (lo - from), hi - lo);
    if (end > addr + n) return;
    r->at += RUN_HEAD + head[1];
  }
}

/* Taking ---------------------------------------------------------------------------------------------- */

static size_t chunk_bytes(const struct gmem_range *r, uint64_t at)
{
  return r->bytes - at < CHUNK ? (size_t)(r->bytes - at) : CHUNK;
}

/* All ranges against `before`; NULL: against zeros. */
static struct snapshot_bytes changes(const struct snapshot *s, const struct gmem *mem,
                                     const struct snapshot_bytes *before)
{
  struct runs out = {0};
  struct reader old = { before, 0 };
  uint8_t *now = malloc(CHUNK), *was = malloc(CHUNK);
  NO_MEMORY_IF(!now || !was);
  for (size_t i = 0; i < s->n_ranges; i++) {
    for (uint64_t at = 0; at < s->range[i].bytes; at += CHUNK) {
      uint64_t addr = s->range[i].addr + at;
      size_t n = chunk_bytes(&s->range[i], at);
      BUG_ON(!gmem_read(mem, addr, now, n));
      memset(was, 0, n);
      if (before) overlay(&old, addr, was, n);
      append_changes(&out, addr, now, was, n);
    }
  }
  free(now);
  free(was);
  return (struct snapshot_bytes){ out.data, out.bytes };
}

static void take_ranges(struct snapshot *s, const struct gmem *mem)
{
  struct gmem_range r;
  size_t n = 0;
  for (size_t at = 0; gmem_next_range(mem, &at, &r);) n++;
  s->range = ARENA_ARRAY(&s->arena, struct gmem_range, n + 1);
  for (size_t at = 0; gmem_next_range(mem, &at, &r);) {
    r.name = arena_strdup(&s->arena, r.name);
    s->range[s->n_ranges++] = r;
  }
  s->next_address = gmem_next_address(mem);
}

static void take_objects(struct snapshot *s, const struct device *d)
{
  s->n_heap = func_heap_save(d->heap, NULL, 0);
  s->heap = ARENA_ARRAY(&s->arena, struct func_heap_block, s->n_heap + 1);
  func_heap_save(d->heap, s->heap, s->n_heap);
  s->n_textures = d->textures.table.n;
  s->texture = ARENA_ARRAY(&s->arena, struct tex_object, s->n_textures + 1u);
  for (uint32_t i = 0; i < s->n_textures; i++) {
    s->texture[i] = d->textures.table.object[i];
    s->texture[i].name = s->texture[i].surface ? "surface object" : "texture object";
  }
}

static struct snapshot_bytes copy_bytes(struct arena *a, const void *data, size_t bytes)
{
  uint8_t *copy = arena_alloc(a, bytes + 1, 16);
  if (bytes) memcpy(copy, data, bytes);
  return (struct snapshot_bytes){ copy, bytes };
}

struct snapshot *snapshot_take(const struct device *d, const struct launch_desc *l, const char *gpu,
                               const struct snapshot_bytes *code, unsigned n_code)
{
  struct snapshot *s = calloc(1, sizeof *s);
  NO_MEMORY_IF(!s);
  s->gpu = arena_strdup(&s->arena, gpu);
  s->kernel = arena_strdup(&s->arena, l->kernel->name);
  memcpy(s->grid, l->grid, sizeof s->grid);
  memcpy(s->block, l->block, sizeof s->block);
  memcpy(s->cluster, l->cluster, sizeof s->cluster);
  s->shared = l->shared_dynamic;
  s->stack = l->stack_bytes;
  s->module_memory = module_memory(l->code);
  s->module_managed = module_managed(l->code);
  s->some_sms = l->cores;
  if (l->cores) s->sms = *l->cores;
  s->n_code = n_code;
  s->code = ARENA_ARRAY(&s->arena, struct snapshot_bytes, n_code);
  for (unsigned i = 0; i < n_code; i++)
    s->code[i] = copy_bytes(&s->arena, code[i].data, code[i].bytes);
  s->part[SNAPSHOT_PARAMS] = copy_bytes(&s->arena, l->params, l->param_bytes);
  take_ranges(s, d->mem);
  take_objects(s, d);
  s->part[SNAPSHOT_BEFORE] = changes(s, d->mem, NULL);
  return s;
}

void snapshot_finish(struct snapshot *s, const struct device *d, const struct sim_result *r,
                     const char *print, size_t print_bytes)
{
  s->fault = r->end == RUN_FAULT ? r->fault.kind : FAULT_NONE;
  s->warp_insts = r->warp_insts;
  s->timed = r->timed;
  s->cycles = r->cycles;
  if (s->fault != FAULT_NONE) return;
  s->part[SNAPSHOT_AFTER] = changes(s, d->mem, &s->part[SNAPSHOT_BEFORE]);
  s->part[SNAPSHOT_PRINT] = copy_bytes(&s->arena, print, print_bytes);
}

void snapshot_free(struct snapshot *s)
{
  if (!s) return;
  free((void *)(uintptr_t)s->part[SNAPSHOT_BEFORE].data);
  free((void *)(uintptr_t)s->part[SNAPSHOT_AFTER].data);
  arena_free(&s->arena);
  free(s);
}

/* Restoring ------------------------------------------------------------------------------------------- */

static bool contradiction(struct err *e, const char *what)
{
  return err_set(e, "damaged capture: %.400s; capture the launch again", what);
}

static bool place_code(const struct snapshot *s, struct device *d, struct device_code *code,
                       struct err *e)
{
  struct module_file *file = calloc(s->n_code, sizeof *file);
  NO_MEMORY_IF(!file);
  for (unsigned i = 0; i < s->n_code; i++)
    file[i] = (struct module_file){ "captured code", s->code[i].data, s->code[i].bytes };
  struct module *m = module_link(file, s->n_code, e);
  free(file);
  if (!m) return false;
  if (!target_runs_on(module_sm(m), TARGET_PLAIN, d->config.sm)) {
    char advice[240];
    err_fill(e, "the capture holds code for sm_%u, which sm_%u does not run: %s", module_sm(m), d->config.sm,
             gpu_advice(d->config.presets, module_sm(m), TARGET_PLAIN, advice, sizeof advice));
    module_free(m);
    return false;
  }
  if (s->module_memory) gmem_set_next_address(d->mem, s->module_memory);
  TRY(device_place_managed(d, m, s->module_managed, code, e));
  return module_memory(code->instance) == s->module_memory ||
         contradiction(e, "the module's variables lie elsewhere");
}

static bool place_ranges(const struct snapshot *s, struct gmem *mem, struct err *e)
{
  for (size_t i = 0; i < s->n_ranges; i++) {
    const struct gmem_range *r = &s->range[i];
    uint64_t is = gmem_allocated(mem, r->addr); /* the module's own */
    if (is && is != r->bytes) return contradiction(e, "the module's variables have another size");
    if (is) continue;
    gmem_set_next_address(mem, r->addr);
    if (gmem_alloc(mem, r->bytes, r->name) != r->addr)
      return contradiction(e, "an allocation does not fit its address");
  }
  gmem_set_next_address(mem, s->next_address);
  return true;
}

/* Where the next run begins; UINT64_MAX: there is none. */
static uint64_t next_run(const struct reader *r)
{
  uint64_t addr = UINT64_MAX;
  if (r->at < r->runs->bytes) memcpy(&addr, r->runs->data + r->at, sizeof addr);
  return addr;
}

/* Zeros are written where the module has put initial values that the program changed to zeros, not where
 * memory is new: that would take host memory, and time, for nothing. */
static void write_before(const struct snapshot *s, struct gmem *mem)
{
  struct reader r = { &s->part[SNAPSHOT_BEFORE], 0 };
  uint8_t *chunk = malloc(2 * CHUNK), *is = chunk + CHUNK;
  NO_MEMORY_IF(!chunk);
  for (size_t i = 0; i < s->n_ranges; i++) {
    for (uint64_t at = 0; at < s->range[i].bytes; at += CHUNK) {
      uint64_t addr = s->range[i].addr + at;
      size_t n = chunk_bytes(&s->range[i], at);
      if (next_run(&r) >= addr + n && s->range[i].addr != s->module_memory) continue;
      memset(chunk, 0, n);
      overlay(&r, addr, chunk, n);
      BUG_ON(!gmem_read(mem, addr, is, n));
      if (memcmp(is, chunk, n) != 0) BUG_ON(!gmem_write(mem, addr, chunk, n));
    }
  }
  free(chunk);
}

static void place_heap(const struct snapshot *s, struct device *d)
{
  if (s->n_heap == 0) return;
  d->heap_base = s->heap[0].addr;
  d->config.heap_bytes = gmem_allocated(d->mem, d->heap_base);
  d->heap = func_heap_restore(s->heap, s->n_heap);
}

bool snapshot_restore(const struct snapshot *s, struct device *d, struct device_code *code,
                      struct err *e)
{
  *code = (struct device_code){0};
  struct err why = {""};
  if (!snapshot_check(s, &why)) return contradiction(e, why.msg);
  TRY(place_code(s, d, code, e));
  TRY(place_ranges(s, d->mem, e));
  write_before(s, d->mem);
  place_heap(s, d);
  tex_objects_copy(&d->textures, s->texture, s->n_textures);
  module_refresh_constants(code->instance);
  return true;
}

/* Comparing ------------------------------------------------------------------------------------------- */

static void compare_chunk(struct snapshot_result *out, uint64_t at, const uint8_t *got,
                          const uint8_t *want, const uint8_t *before, size_t n)
{
  for (size_t i = 0; i < n; i += WORD) {
    size_t bytes = n - i < WORD ? n - i : WORD;
    out->changed += memcmp(want + i, before + i, bytes) != 0;
    if (memcmp(got + i, want + i, bytes) == 0) continue;
    if (out->wrong++) continue;
    out->first_wrong = at + i;
    memcpy(&out->got, got + i, bytes);
    memcpy(&out->want, want + i, bytes);
  }
}

void snapshot_compare(const struct snapshot *s, const struct device *d, size_t i,
                      struct snapshot_result *out)
{
  const struct gmem_range *r = &s->range[i];
  struct reader before = { &s->part[SNAPSHOT_BEFORE], 0 }, after = { &s->part[SNAPSHOT_AFTER], 0 };
  uint8_t *chunk = malloc(3 * CHUNK);
  NO_MEMORY_IF(!chunk);
  uint8_t *got = chunk, *want = chunk + CHUNK, *was = chunk + 2 * CHUNK;
  *out = (struct snapshot_result){ .name = r->name, .addr = r->addr };
  for (uint64_t at = 0; at < r->bytes; at += CHUNK) {
    size_t n = chunk_bytes(r, at);
    memset(was, 0, n);
    overlay(&before, r->addr + at, was, n);
    memcpy(want, was, n);
    overlay(&after, r->addr + at, want, n);
    BUG_ON(!gmem_read(d->mem, r->addr + at, got, n));
    compare_chunk(out, at, got, want, was, n);
  }
  free(chunk);
}
