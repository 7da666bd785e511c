/* Files of captured launches: one line "warpstep-case 1 BYTES CHECKSUM", BYTES bytes of JSON (the manifest,
 * with this checksum), then the parts one behind the other, each a Zstandard frame whose stored size,
 * size and checksum the manifest states. Numbers in the parts are little-endian.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bug.h"
#include "base/checksum.h"
#include "base/host_memory.h"
#include "base/output.h"
#include "base/regular.h"
#include "host/datafile.h"
#include "host/snapshot_check.h"

#define MAGIC "warpstep-case"
enum { VERSION = 1, HEAD_MAX = 96, SMALL = 1 << 18, LEVEL_SMALL = 19, LEVEL_LARGE = 3, MAX_CODE = 256,
       TEXTURE_FIELDS = 29, TEXTURE_FIELDS_APART = 28 /* before cube maps without seams */,
       TEXTURE_FIELDS_FLAT = 23 /* before there were levels */ };

static const char *const part_name[SNAPSHOT__N] = {
  [SNAPSHOT_PARAMS] = "params", [SNAPSHOT_BEFORE] = "before", [SNAPSHOT_AFTER] = "after",
  [SNAPSHOT_PRINT] = "stdout",
};

/* Writing --------------------------------------------------------------------------------------------- */

/* Compressed parts, one behind the other. */
struct body {
  uint8_t *data;
  size_t bytes;
  json_t *list;
};

static void add_part(struct body *b, const char *name, struct snapshot_bytes part)
{
  size_t bound = ZSTD_compressBound(part.bytes);
  b->data = realloc(b->data, b->bytes + bound);
  NO_MEMORY_IF(!b->data);
  size_t n = ZSTD_compress(b->data + b->bytes, bound, part.data, part.bytes,
                           part.bytes <= SMALL ? LEVEL_SMALL : LEVEL_LARGE);
  BUG_ON(ZSTD_isError(n));
  char sum[20];
  snprintf(sum, sizeof sum, "%016" PRIx64, checksum64(b->data + b->bytes, n));
  json_array_append_new(b->list, json_pack("{s:s, s:I, s:I, s:s}", "part", name, "stored",
                                           (json_int_t)n, "bytes", (json_int_t)part.bytes,
                                           "checksum", sum));
  b->bytes += n;
}

static json_t *triple(const uint32_t v[3])
{
  return json_pack("[I,I,I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static void texture_fields(const struct tex_object *o, uint64_t v[TEXTURE_FIELDS])
{
  const struct image *m = &o->image;
  const struct sampler *t = &o->sampler;
  const uint64_t fields[] = {
    o->surface, m->base, m->extent[0], m->extent[1], m->extent[2], m->layers, m->row_bytes,
    m->slice_bytes, m->shape, m->type, m->bits, m->channels, t->address[0], t->address[1],
    t->address[2], t->linear, t->normalized, t->read_float, t->srgb,
  };
  const float floats[] = {t->border[0], t->border[1], t->border[2], t->border[3], t->lod_bias, t->lod_min, t->lod_max};
  uint32_t bits[sizeof floats / sizeof *floats];
  memcpy(bits, floats, sizeof bits);
  memcpy(v, fields, sizeof fields);
  v += sizeof fields / sizeof *fields;
  for (unsigned i = 0; i < sizeof bits / sizeof *bits; i++) *v++ = bits[i];
  v[0] = m->levels;
  v[1] = t->mip_linear;
  v[2] = t->seamless;
}

static json_t *textures(const struct snapshot *s)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < s->n_textures; i++) {
    uint64_t v[TEXTURE_FIELDS];
    json_t *one = json_array();
    texture_fields(&s->texture[i], v);
    for (unsigned k = 0; k < TEXTURE_FIELDS; k++)
      json_array_append_new(one, json_integer((json_int_t)v[k]));
    json_array_append_new(list, one);
  }
  return list;
}

static json_t *manifest(const struct snapshot *s, json_t *parts)
{
  json_t *ranges = json_array(), *heap = json_array();
  for (size_t i = 0; i < s->n_ranges; i++)
    json_array_append_new(ranges, json_pack("[I,I,s]", (json_int_t)s->range[i].addr,
                                            (json_int_t)s->range[i].bytes, s->range[i].name));
  for (size_t i = 0; i < s->n_heap; i++)
    json_array_append_new(heap, json_pack("[I,I,b]", (json_int_t)s->heap[i].addr,
                                          (json_int_t)s->heap[i].bytes, s->heap[i].used));
  return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:i, s:I, s:b, s:I, s:o, s:o, s:o, s:o}",
                   "kernel", s->kernel, "gpu", s->gpu, "launch", (json_int_t)s->number,
                   "grid", triple(s->grid), "block", triple(s->block),
                   "cluster", triple(s->cluster),
                   "shared", (json_int_t)s->shared, "stack", (json_int_t)s->stack,
                   "module_memory", (json_int_t)s->module_memory,
                   "next_address", (json_int_t)s->next_address, "fault", s->fault,
                   "warp_insts", (json_int_t)s->warp_insts, "timed", s->timed,
                   "cycles", (json_int_t)s->cycles, "allocations", ranges, "heap", heap,
                   "textures", textures(s), "parts", parts);
}

/* Numbers, ascending. */
static json_t *sms(const struct core_set *s)
{
  json_t *list = json_array();
  for (unsigned i = 0; i < CORE_SET_MAX; i++)
    if (core_set_has(s, i)) json_array_append_new(list, json_integer((json_int_t)i));
  return list;
}

bool snapshot_write(const struct snapshot *s, const char *path, bool *taken, struct err *e)
{
  *taken = false;
  struct body body = { .list = json_array() };
  for (unsigned i = 0; i < SNAPSHOT__N; i++) add_part(&body, part_name[i], s->part[i]);
  for (unsigned i = 0; i < s->n_code; i++) add_part(&body, "code", s->code[i]);
  json_t *m = manifest(s, body.list);
  if (s->some_sms) json_object_set_new(m, "sms", sms(&s->sms));
  if (s->module_managed) json_object_set_new(m, "module_managed", json_integer((json_int_t)s->module_managed));
  char *text = m ? json_dumps(m, JSON_COMPACT) : NULL;
  NO_MEMORY_IF(!text);
  json_decref(m);
  struct output out;
  FILE *f = output_open(&out, path, e);
  if (f) {
    fprintf(f, MAGIC " %d %zu %016" PRIx64 "\n", VERSION, strlen(text),
            checksum64(text, strlen(text)));
    fputs(text, f);
    fwrite(body.data, 1, body.bytes, f);
  }
  free(text);
  free(body.data);
  return f && output_close_new(&out, taken, e); /* never over another capture */
}

/* Reading --------------------------------------------------------------------------------------------- */

struct input {
  const char *path;
  const uint8_t *data;
  size_t bytes, at;
};

static bool damaged(const struct input *in, struct err *e, const char *what)
{
  return err_set(e, "%.200s: damaged capture: %.200s; capture the launch again", in->path, what);
}

bool snapshot_is_file(const char *path)
{
  char head[sizeof MAGIC] = "";
  FILE *f = file_is_regular(path, NULL) ? fopen(path, "rb") : NULL;
  if (!f) return false;
  size_t n = fread(head, 1, sizeof MAGIC - 1, f);
  fclose(f);
  return n == sizeof MAGIC - 1 && strcmp(head, MAGIC) == 0;
}

/* The manifest behind the first line. */
static json_t *read_manifest(struct input *in, struct err *e)
{
  char head[HEAD_MAX] = "";
  size_t bytes, n = in->bytes < HEAD_MAX - 1 ? in->bytes : HEAD_MAX - 1;
  uint64_t sum;
  int version;
  memcpy(head, in->data, n);
  char *end = strchr(head, '\n');
  if (!end || sscanf(head, MAGIC " %d %zu %" SCNx64, &version, &bytes, &sum) != 3) {
    damaged(in, e, "its first line is not that of a capture");
    return NULL;
  }
  if (version != VERSION) {
    err_fill(e, "%s: a capture of version %d; this program reads version %d", in->path, version,
             VERSION);
    return NULL;
  }
  in->at = (size_t)(end - head) + 1;
  if (bytes > in->bytes - in->at || checksum64(in->data + in->at, bytes) != sum) {
    damaged(in, e, "the manifest is cut off or its checksum is wrong");
    return NULL;
  }
  json_t *m = json_loadb((const char *)in->data + in->at, bytes, 0, NULL);
  in->at += bytes;
  if (!m) damaged(in, e, "the manifest is not JSON");
  return m;
}

/* Memory for what a frame unpacks to: what the frame itself says, no more than the host has (a few bytes of a file
 * can unpack to gigabytes), and of a list of runs no more than the allocations hold. */
static uint8_t *room_for(const struct input *in, const struct snapshot *s, const char *name, const uint8_t *frame,
                         size_t stored, uint64_t bytes, struct err *e)
{
  const uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  bool runs = strcmp(name, part_name[SNAPSHOT_BEFORE]) == 0 || strcmp(name, part_name[SNAPSHOT_AFTER]) == 0;
  if (ZSTD_getFrameContentSize(frame, stored) != bytes || (runs && bytes > snapshot_runs_max(s))) {
    damaged(in, e, "a part is larger than it can be");
    return NULL;
  }
  uint8_t *to = bytes < host ? malloc((size_t)bytes + 1) : NULL;
  if (!to) err_fill(e, "%.200s: no host memory for %" PRIu64 " bytes", in->path, bytes);
  return to;
}

static bool unpack(struct input *in, const struct snapshot *s, const json_t *o, const char **name,
                   struct snapshot_bytes *out, struct err *e)
{
  json_int_t stored, bytes;
  const char *sum_text;
  if (json_unpack((json_t *)(uintptr_t)o, "{s:s, s:I, s:I, s:s}", "part", name, "stored", &stored,
                  "bytes", &bytes, "checksum", &sum_text) != 0 ||
      stored < 0 || bytes < 0)
    return damaged(in, e, "a part is not described");
  if ((size_t)stored > in->bytes - in->at) return damaged(in, e, "it is cut off");
  const uint8_t *from = in->data + in->at;
  in->at += (size_t)stored;
  if (checksum64(from, (size_t)stored) != strtoull(sum_text, NULL, 16))
    return damaged(in, e, "the checksum of a part is wrong");
  uint8_t *to = room_for(in, s, *name, from, (size_t)stored, (uint64_t)bytes, e);
  if (!to) return false;
  *out = (struct snapshot_bytes){ to, (size_t)bytes };
  if (ZSTD_decompress(to, (size_t)bytes, from, (size_t)stored) == (size_t)bytes) return true;
  free(to);
  return damaged(in, e, "a part does not unpack");
}

/* BEFORE and AFTER stay as they are, the others move into the arena. */
static void keep_part(struct snapshot *s, unsigned which, struct snapshot_bytes part)
{
  struct snapshot_bytes *to = which < SNAPSHOT__N ? &s->part[which] : &s->code[s->n_code++];
  if (which == SNAPSHOT_BEFORE || which == SNAPSHOT_AFTER) {
    free((void *)(uintptr_t)to->data);
    *to = part;
    return;
  }
  uint8_t *copy = arena_alloc(&s->arena, part.bytes + 1, 16);
  memcpy(copy, part.data, part.bytes);
  *to = (struct snapshot_bytes){ copy, part.bytes };
  free((void *)(uintptr_t)part.data);
}

static bool read_parts(struct snapshot *s, struct input *in, const json_t *list, struct err *e)
{
  s->code = ARENA_ARRAY(&s->arena, struct snapshot_bytes, MAX_CODE);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *name;
    struct snapshot_bytes part = {0};
    unsigned which = 0;
    TRY(unpack(in, s, json_array_get(list, i), &name, &part, e));
    while (which < SNAPSHOT__N && strcmp(name, part_name[which]) != 0) which++;
    bool known = which < SNAPSHOT__N || (strcmp(name, "code") == 0 && s->n_code < MAX_CODE);
    if (known) keep_part(s, which, part);
    else free((void *)(uintptr_t)part.data);
    if (!known) return damaged(in, e, "it has a part of an unknown kind");
  }
  if (in->at != in->bytes) return damaged(in, e, "there is something behind its end");
  return s->n_code > 0 || damaged(in, e, "it holds no code");
}

/* An integer from 0 to most. */
static bool read_number(const json_t *o, uint64_t most, uint64_t *v)
{
  json_int_t n = json_integer_value(o);
  *v = (uint64_t)n;
  return json_is_integer(o) && n >= 0 && *v <= most;
}

static bool read_u32(const json_t *o, uint32_t *v)
{
  uint64_t n;
  bool ok = read_number(o, UINT32_MAX, &n);
  if (ok) *v = (uint32_t)n;
  return ok;
}

static bool read_triple(const json_t *a, uint32_t out[3])
{
  for (unsigned i = 0; i < 3; i++)
    if (!read_u32(json_array_get(a, i), &out[i])) return false;
  return json_array_size(a) == 3;
}

static bool read_ranges(struct snapshot *s, const json_t *list)
{
  s->n_ranges = json_array_size(list);
  s->range = ARENA_ARRAY(&s->arena, struct gmem_range, s->n_ranges + 1);
  for (size_t i = 0; i < s->n_ranges; i++) {
    json_int_t addr, bytes;
    const char *name;
    if (json_unpack(json_array_get(list, i), "[I,I,s]", &addr, &bytes, &name) != 0 || addr < 0 || bytes < 0)
      return false;
    s->range[i] = (struct gmem_range){ (uint64_t)addr, (uint64_t)bytes,
                                       arena_strdup(&s->arena, name) };
  }
  return true;
}

static bool read_heap(struct snapshot *s, const json_t *list)
{
  s->n_heap = json_array_size(list);
  s->heap = ARENA_ARRAY(&s->arena, struct func_heap_block, s->n_heap + 1);
  for (size_t i = 0; i < s->n_heap; i++) {
    json_int_t addr, bytes;
    int used;
    if (json_unpack(json_array_get(list, i), "[I,I,b]", &addr, &bytes, &used) != 0 || addr < 0 || bytes < 0)
      return false;
    s->heap[i] = (struct func_heap_block){ (uint64_t)addr, (uint64_t)bytes, used != 0 };
  }
  return true;
}

/* Fields of one byte have it to themselves; what the kinds and numbers mean is tex_object_check's. */
static bool texture_from(const uint64_t v[TEXTURE_FIELDS], struct tex_object *o)
{
  static const uint64_t most[TEXTURE_FIELDS] = {
    1, UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX, UINT8_MAX, UINT8_MAX,
    UINT8_MAX, UINT8_MAX, UINT8_MAX, UINT8_MAX, UINT8_MAX, 1, 1, 1, 1, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
    UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT8_MAX, 1, 1,
  };
  enum { FLOATS = 19, N_FLOATS = 7, BORDER = 4 };
  float floats[N_FLOATS];
  for (unsigned i = 0; i < TEXTURE_FIELDS; i++)
    if (v[i] > most[i]) return false;
  for (unsigned i = 0; i < N_FLOATS; i++) {
    uint32_t bits = (uint32_t)v[FLOATS + i];
    memcpy(&floats[i], &bits, sizeof bits);
  }
  *o = (struct tex_object){
    .surface = v[0] != 0, .name = v[0] ? "surface object" : "texture object",
    .image = { .base = v[1], .extent = { (uint32_t)v[2], (uint32_t)v[3], (uint32_t)v[4] },
               .layers = (uint32_t)v[5], .row_bytes = v[6], .slice_bytes = v[7],
               .shape = (uint8_t)v[8], .type = (uint8_t)v[9], .bits = (uint8_t)v[10],
               .channels = (uint8_t)v[11], .levels = (uint8_t)v[26] },
    .sampler = { .address = { (uint8_t)v[12], (uint8_t)v[13], (uint8_t)v[14] },
                 .linear = v[15] != 0, .normalized = v[16] != 0, .read_float = v[17] != 0,
                 .srgb = v[18] != 0, .mip_linear = v[27] != 0, .seamless = v[28] != 0, .lod_bias = floats[BORDER],
                 .lod_min = floats[BORDER + 1], .lod_max = floats[BORDER + 2] },
  };
  memcpy(o->sampler.border, floats, sizeof o->sampler.border);
  return true;
}

static bool read_textures(struct snapshot *s, const json_t *list)
{
  s->n_textures = (uint32_t)json_array_size(list);
  s->texture = ARENA_ARRAY(&s->arena, struct tex_object, s->n_textures + 1u);
  for (uint32_t i = 0; i < s->n_textures; i++) {
    const json_t *one = json_array_get(list, i);
    uint64_t v[TEXTURE_FIELDS] = {0};
    size_t n = json_array_size(one);
    if (n != TEXTURE_FIELDS && n != TEXTURE_FIELDS_APART && n != TEXTURE_FIELDS_FLAT) return false;
    for (unsigned k = 0; k < n; k++)
      if (!read_number(json_array_get(one, k), INT64_MAX, &v[k])) return false;
    if (!texture_from(v, &s->texture[i])) return false;
  }
  return true;
}

/* NULL: all of the GPU. */
static bool read_sms(struct snapshot *s, const json_t *list)
{
  s->some_sms = list;
  for (size_t i = 0; i < json_array_size(list); i++) {
    uint64_t n;
    if (!read_number(json_array_get(list, i), CORE_SET_MAX - 1, &n)) return false;
    core_set_add(&s->sms, (unsigned)n);
  }
  return !list || json_array_size(list);
}

/* The plain numbers of a manifest. */
static bool read_numbers(struct snapshot *s, const json_t *m)
{
  uint64_t fault = 0;
  const json_t *timed = json_object_get(m, "timed"), *managed = json_object_get(m, "module_managed");
  bool ok = (!managed || read_number(managed, INT64_MAX, &s->module_managed)) &&
            read_number(json_object_get(m, "launch"), INT64_MAX, &s->number) &&
            read_u32(json_object_get(m, "shared"), &s->shared) && read_u32(json_object_get(m, "stack"), &s->stack) &&
            read_number(json_object_get(m, "module_memory"), INT64_MAX, &s->module_memory) &&
            read_number(json_object_get(m, "next_address"), INT64_MAX, &s->next_address) &&
            read_number(json_object_get(m, "fault"), UINT8_MAX, &fault) &&
            read_number(json_object_get(m, "warp_insts"), INT64_MAX, &s->warp_insts) &&
            read_number(json_object_get(m, "cycles"), INT64_MAX, &s->cycles) && json_is_boolean(timed);
  s->fault = (uint8_t)fault;
  s->timed = json_is_true(timed);
  return ok;
}

static bool take_manifest(struct snapshot *s, struct input *in, json_t *m, struct err *e)
{
  json_t *grid, *block, *cluster = NULL, *ranges, *heap, *texture, *parts;
  const char *kernel, *gpu;
  struct err why = {""};
  if (json_unpack(m, "{s:s, s:s, s:o, s:o, s?o, s:o, s:o, s:o, s:o}", "kernel", &kernel, "gpu", &gpu, "grid", &grid,
                  "block", &block, "cluster", &cluster, "allocations", &ranges, "heap", &heap, "textures", &texture,
                  "parts", &parts) != 0)
    return damaged(in, e, "the manifest lacks something");
  s->kernel = arena_strdup(&s->arena, kernel);
  s->gpu = arena_strdup(&s->arena, gpu);
  if (!read_numbers(s, m) || !read_triple(grid, s->grid) || !read_triple(block, s->block) ||
      (cluster && !read_triple(cluster, s->cluster)) || !read_ranges(s, ranges) ||
      !read_heap(s, heap) || !read_textures(s, texture) || !read_sms(s, json_object_get(m, "sms")))
    return damaged(in, e, "the manifest lacks a value, or has one that cannot be");
  TRY(read_parts(s, in, parts, e));
  return snapshot_check(s, &why) || damaged(in, e, why.msg);
}

struct snapshot *snapshot_read_memory(const uint8_t *data, size_t bytes, const char *name, struct err *e)
{
  struct input in = { .path = name, .data = data, .bytes = bytes };
  struct snapshot *s = calloc(1, sizeof *s);
  NO_MEMORY_IF(!s);
  json_t *m = read_manifest(&in, e);
  bool ok = m && take_manifest(s, &in, m, e);
  json_decref(m);
  if (ok) return s;
  snapshot_free(s);
  return NULL;
}

struct snapshot *snapshot_read(const char *path, struct err *e)
{
  uint8_t *data;
  size_t bytes;
  if (!datafile_read(path, NULL, &data, &bytes, e)) return NULL;
  struct snapshot *s = snapshot_read_memory(data, bytes, path, e);
  free(data);
  return s;
}
