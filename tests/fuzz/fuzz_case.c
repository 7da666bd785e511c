/* A captured launch with fields of its manifest and contents changed, its checksums right again: read, restored, run
 * for some instructions, compared. The first byte chooses the capture; then three fields each: which value of the
 * manifest (or word of a part), what happens to it, the new value. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bug.h"
#include "base/checksum.h"
#include "draw.h"
#include "fuzz.h"
#include "host/case.h"
#include "host/datafile.h"
#include "host/simulate.h"
#include "host/snapshot.h"

enum { MAX_EDITS = 24, MAX_INSTS = 20000, MAX_CTAS = 64, MAX_THREADS = 256, PARTS_ROOM = 1 << 20 };
#define MEMORY_MAX (UINT64_C(64) << 20)

static const char *const captures[] = {
  "textures-0001-_Z6read2dyffPf", "mipmaps-0011-_Z12read_textureILi11EEvyPK5pointPf", "heap-0002-_Z4givePi",
  "driver_textures-0001-sample", "vecadd-0001-_Z3addPKfS0_Pfi", "symbols-0002-_Z3usePi",
};

static bool is_leaf(const json_t *o)
{
  return !json_is_object(o) && !json_is_array(o);
}

static void change(json_t *o, struct draw *f)
{
  json_integer_set(o, (json_int_t)field_number(f)); /* no integer: nothing */
  if (json_is_string(o)) json_string_setn(o, "/dev/zero", field_pick(f, 10));
}

static void edit_array(json_t *a, size_t i, struct draw *f)
{
  switch (field_pick(f, 8)) {
  case 0: json_array_remove(a, i); break;
  case 1: json_array_insert_new(a, i, json_deep_copy(json_array_get(a, i))); break;
  case 2: json_array_set_new(a, i, json_string("x")); break;
  case 3: json_array_set_new(a, i, json_true()); break;
  default: change(json_array_get(a, i), f); break;
  }
}

/* The nth value in the order of the file, itself or changed. False: it was none of these, n counts on. */
static bool edit(json_t *o, unsigned *n, struct draw *f)
{
  const char *key;
  json_t *v;
  void *next;
  size_t i;
  json_array_foreach(o, i, v) {
    if (is_leaf(v) && (*n)-- == 0) return edit_array(o, i, f), true;
    if (!is_leaf(v) && edit(v, n, f)) return true;
  }
  json_object_foreach_safe(o, next, key, v) {
    if (is_leaf(v) && (*n)-- == 0) {
      if (field_pick(f, 16)) change(v, f);
      else json_object_del(o, key);
      return true;
    }
    if (!is_leaf(v) && edit(v, n, f)) return true;
  }
  return false;
}

struct parts {
  uint8_t *data;
  size_t n;
};

enum { MAX_CAPTURE_PARTS = 64 };

/* A captured launch as it is: read, parsed and unpacked once. */
struct capture {
  json_t *manifest;
  uint8_t *file;
  const uint8_t *stored[MAX_CAPTURE_PARTS]; /* parts as they lie in the file */
  uint8_t *raw[MAX_CAPTURE_PARTS];          /* unpacked */
};

/* A part unpacked, words of it changed, packed again; as it lies in the file when nothing changes. */
static void add_part(json_t *one, const struct capture *c, unsigned at, struct parts *to, struct draw *f)
{
  size_t n = (size_t)json_integer_value(json_object_get(one, "stored"));
  size_t bytes = (size_t)json_integer_value(json_object_get(one, "bytes")), room = PARTS_ROOM - to->n;
  bool code = !strcmp(json_string_value(json_object_get(one, "part")), "code");
  unsigned words = code ? 0 : field_pick(f, 4);
  uint8_t *raw = malloc(bytes + 1);
  char sum[20];
  BUG_ON(n > room);
  memcpy(raw, c->raw[at], bytes);
  for (unsigned i = words; i && bytes >= 8; i--) {
    uint64_t v = field_number(f);
    memcpy(raw + field_pick(f, (unsigned)(bytes / 8)) * 8, &v, sizeof v);
  }
  bool cut = !code && field_pick(f, 16) == 15 && bytes;
  if (words || cut) n = ZSTD_compress(to->data + to->n, room, raw, bytes -= cut, 1);
  else memcpy(to->data + to->n, c->stored[at], n);
  BUG_ON(ZSTD_isError(n));
  free(raw);
  snprintf(sum, sizeof sum, "%016" PRIx64, checksum64(to->data + to->n, n));
  json_object_set_new(one, "stored", json_integer((json_int_t)n));
  json_object_set_new(one, "bytes", json_integer((json_int_t)bytes));
  json_object_set_new(one, "checksum", json_string(sum));
  to->n += n;
}

/* The heap as small as can be, where nothing of it is in use, and managed memory: most of the time of a run went to
 * comparing their zeros. */
static void shrink(json_t *m)
{
  enum { SMALL_HEAP = 4096, SMALL_MANAGED = 1 << 14 };
  json_t *heap = json_object_get(m, "heap"), *range;
  size_t i;
  json_array_foreach(json_object_get(m, "allocations"), i, range) {
    const char *name = json_string_value(json_array_get(range, 2));
    if (name && !strncmp(name, "managed memory", 14)) json_array_set_new(range, 1, json_integer(SMALL_MANAGED));
  }
  if (json_array_size(heap) != 1) return;
  json_array_set_new(json_array_get(heap, 0), 1, json_integer(SMALL_HEAP));
  json_array_set_new(json_array_get(json_object_get(m, "allocations"), 0), 1, json_integer(SMALL_HEAP));
}

static struct capture *capture(unsigned which, bool *first)
{
  static struct capture all[sizeof captures / sizeof captures[0]];
  struct capture *c = &all[which];
  struct err e = {""};
  char path[300];
  size_t bytes, size, at;
  json_t *one;
  *first = !c->manifest;
  if (c->manifest) return c;
  snprintf(path, sizeof path, "%s/tests/exec/cases/%s.case", WS_SOURCE_DIR, captures[which]);
  BUG_ON(!datafile_read(path, NULL, &c->file, &bytes, &e));
  BUG_ON(sscanf((const char *)c->file, "warpstep-case 1 %zu", &size) != 1);
  const uint8_t *body = (const uint8_t *)memchr(c->file, '\n', bytes) + 1;
  c->manifest = json_loadb((const char *)body, size, 0, NULL);
  shrink(c->manifest);
  body += size;
  json_array_foreach(json_object_get(c->manifest, "parts"), at, one) {
    size_t stored = (size_t)json_integer_value(json_object_get(one, "stored"));
    size_t n = (size_t)json_integer_value(json_object_get(one, "bytes"));
    BUG_ON(at >= MAX_CAPTURE_PARTS);
    c->stored[at] = body;
    c->raw[at] = malloc(n + 1);
    BUG_ON(ZSTD_decompress(c->raw[at], n, body, stored) != n);
    body += stored;
  }
  return c;
}

static struct snapshot *build(const struct capture *c, struct draw *f, struct err *e)
{
  static uint8_t room[PARTS_ROOM];
  struct parts parts = {room, 0};
  json_t *m = json_deep_copy(c->manifest), *one;
  size_t at, size;
  char head[80];
  json_array_foreach(json_object_get(m, "parts"), at, one) add_part(one, c, (unsigned)at, &parts, f);
  for (unsigned i = 0; i < MAX_EDITS && f->left; i++) {
    unsigned n = field_byte(f);
    edit(m, &n, f);
  }
  char *text = json_dumps(m, JSON_COMPACT);
  BUG_ON(!text);
  size = strlen(text);
  at = (size_t)snprintf(head, sizeof head, "warpstep-case 1 %zu %016" PRIx64 "\n", size, checksum64(text, size));
  uint8_t *all = malloc(at + size + parts.n);
  memcpy(all, head, at);
  memcpy(all + at, text, size);
  memcpy(all + at + size, parts.data, parts.n);
  struct snapshot *s = snapshot_read_memory(all, at + size + parts.n, "fuzz", e);
  free(all);
  free(text);
  json_decref(m);
  return s;
}

/* Large ones are legal, and slow. */
static bool is_small(const struct snapshot *s)
{
  uint64_t memory = 0, ctas = (uint64_t)s->grid[0] * s->grid[1], threads = (uint64_t)s->block[0] * s->block[1];
  for (size_t i = 0; i < s->n_ranges; i++) memory += s->range[i].bytes;
  return memory <= MEMORY_MAX && ctas <= MAX_CTAS && ctas * s->grid[2] <= MAX_CTAS && threads <= MAX_THREADS &&
         threads * s->block[2] <= MAX_THREADS;
}

static void run(struct snapshot *s)
{
  struct launch_case c = {.snapshot = s, .origin = "fuzz"};
  struct device_config config = device_config_default(86);
  const struct case_result *list;
  struct err e = {""};
  struct fault fault;
  struct func_stats stats = {0};
  struct run_watch watch = {.max_insts = MAX_INSTS};
  unsigned n;
  config.page_bits = 16;
  struct case_run *r = case_setup(&c, &config, &e);
  BUG_ON(!r && e.msg[0] == '\0');
  if (!r) return;
  func_run_watched(case_launch(r)->func, &watch, &stats, &fault);
  BUG_ON(!case_check(r, &list, &n, &e));
  case_free(r);
}

void fuzz_case(const uint8_t *data, size_t size)
{
  struct draw f = {data, size};
  struct err e = {""};
  bool first;
  const struct capture *c = capture(field_pick(&f, sizeof captures / sizeof captures[0]), &first);
  struct snapshot *s = first ? build(c, &(struct draw){NULL, 0}, &e) : NULL;
  BUG_ON(first && !s); /* as it is it must be right, or nothing behind its reading is tried */
  snapshot_free(s);
  s = build(c, &f, &e);
  BUG_ON(!s && e.msg[0] == '\0');
  if (s && is_small(s)) run(s);
  snapshot_free(s);
}
