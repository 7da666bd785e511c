/* Fields of captured launches that contradict their ranges or each other, under checksums that are right: refused,
 * each of them. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/checksum.h"
#include "host/datafile.h"
#include "host/snapshot.h"
#include "host/snapshot_check.h"

#define CASE WS_SOURCE_DIR "/tests/exec/cases/textures-0001-_Z6read2dyffPf.case"
#define HEAP WS_SOURCE_DIR "/tests/exec/cases/heap-0002-_Z4givePi.case"
#define BIG (INT64_C(1) << 48)

/* A capture in memory: its manifest as JSON, its parts as they are. */
struct file {
  json_t *manifest;
  uint8_t *data;
  size_t bytes, body; /* where the parts begin */
};

static struct file open_file(const char *path)
{
  struct file f = {0};
  struct err e = {""};
  size_t n;
  if (!datafile_read(path, NULL, &f.data, &f.bytes, &e)) fail_msg("%s", e.msg);
  const char *line = memchr(f.data, '\n', f.bytes);
  assert_int_equal(sscanf((const char *)f.data, "warpstep-case 1 %zu", &n), 1);
  f.manifest = json_loadb(line + 1, n, 0, NULL);
  assert_non_null(f.manifest);
  f.body = (size_t)((const uint8_t *)line + 1 - f.data) + n;
  return f;
}

static void close_file(struct file *f)
{
  json_decref(f->manifest);
  free(f->data);
}

static struct snapshot *read_back(const struct file *f, struct err *e)
{
  char *text = json_dumps(f->manifest, JSON_COMPACT), head[80];
  size_t n = strlen(text), at;
  at = (size_t)snprintf(head, sizeof head, "warpstep-case 1 %zu %016" PRIx64 "\n", n, checksum64(text, n));
  uint8_t *all = malloc(at + n + f->bytes - f->body);
  memcpy(all, head, at);
  memcpy(all + at, text, n);
  memcpy(all + at + n, f->data + f->body, f->bytes - f->body);
  struct snapshot *s = snapshot_read_memory(all, at + n + f->bytes - f->body, "forged", e);
  free(all);
  free(text);
  return s;
}

static void refused(const struct file *f, const char *what, long field, int64_t value)
{
  struct err e = {""};
  struct snapshot *s = read_back(f, &e);
  if (s) fail_msg("%s %ld = %" PRId64 " was accepted", what, field, value);
  assert_non_null(strstr(e.msg, "damaged capture"));
}

/* As host/snapshot_file.c writes them: surface, base, extents 2 to 4, layers, pitches 6 and 7, shape, type, bits,
 * channels, address modes 12 to 14, four flags, border, level of detail, levels, mip filter. */
static void test_textures(void **state)
{
  (void)state;
  static const struct {
    unsigned field;
    int64_t value;
  } bad[] = {
    {0, 2}, {0, -1}, {1, -1}, {1, BIG}, {1, 3}, {2, 0}, {2, 1 << 20}, {2, UINT32_MAX}, {2, INT64_MAX}, {3, 0},
    {3, 1 << 20}, {3, -1}, {4, 0}, {4, 2}, {4, UINT32_MAX}, {5, 5000}, {5, UINT32_MAX}, {6, 0}, {6, 3}, {6, BIG},
    {6, INT64_MAX}, {7, 0}, {7, 5}, {7, BIG}, {7, INT64_MAX}, {8, 5}, {8, 255}, {8, 256}, {8, -1}, {9, 3}, {9, 255},
    {10, 0}, {10, 8}, {10, 64}, {10, 248}, {10, 256}, {11, 3}, {11, 5}, {11, 8}, {11, 255}, {11, 260}, {12, 4},
    {12, 255}, {13, 4}, {14, 256}, {15, 2}, {16, -1}, {17, 7}, {18, 1}, {19, -1}, {19, BIG}, {25, BIG}, {26, 200},
    {26, 256}, {27, 2},
  };
  struct file f = open_file(CASE);
  struct err e = {""};
  json_t *one = json_array_get(json_object_get(f.manifest, "textures"), 0);
  while (json_array_size(one) < 28) json_array_append_new(one, json_integer(0)); /* one without levels */
  snapshot_free(read_back(&f, &e));
  assert_string_equal(e.msg, "");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    json_t *was = json_incref(json_array_get(one, bad[i].field));
    json_array_set_new(one, bad[i].field, json_integer(bad[i].value));
    refused(&f, "texture field", bad[i].field, bad[i].value);
    json_array_set_new(one, bad[i].field, was);
  }
  json_array_set_new(one, 10, json_string("32"));
  refused(&f, "texture field as text", 10, 32);
  close_file(&f);
}

/* Parts have names that are known. */
static void test_unknown_part(void **state)
{
  (void)state;
  struct file f = open_file(CASE);
  json_t *parts = json_object_get(f.manifest, "parts");
  for (size_t i = 0; i < json_array_size(parts); i++) {
    json_t *part = json_array_get(parts, i), *was = json_incref(json_object_get(part, "part"));
    json_object_set_new(part, "part", json_string("nothing of the kind"));
    refused(&f, "name of part", (long)i, 0);
    json_object_set_new(part, "part", was);
  }
  close_file(&f);
}

/* Every field of a texture object is read as it was written. */
static void test_texture_round_trip(void **state)
{
  char path[] = "/tmp/warpstep-texture-XXXXXX";
  struct err e = {""};
  (void)state;
  struct snapshot *s = snapshot_read(CASE, &e), *back = NULL;
  if (!s) fail_msg("%s", e.msg);
  struct tex_object *o = &s->texture[0];
  o->sampler = (struct sampler){.address = {ADDRESS_CLAMP, ADDRESS_BORDER, ADDRESS_CLAMP}, .linear = true,
                                .border = {0.5f, -1.25f, 2.0f, 3.5f}, .lod_bias = 0.75f, .lod_min = 1.5f, .lod_max = 6.25f,
                                .mip_linear = true};
  for (unsigned flags = 0; flags < 8; flags++) {
    o->sampler.normalized = flags & 1, o->sampler.mip_linear = flags & 2, o->sampler.linear = flags & 4;
    int file = mkstemp(strcpy(path, "/tmp/warpstep-texture-XXXXXX"));
    assert_true(file >= 0);
    close(file);
    remove(path); /* never over another file */
    bool taken;
    if (!snapshot_write(s, path, &taken, &e) || !(back = snapshot_read(path, &e))) fail_msg("%s", e.msg);
    const struct tex_object *b = &back->texture[0];
    assert_int_equal(back->n_textures, s->n_textures);
    assert_int_equal(b->surface, o->surface);
    assert_true(b->image.base == o->image.base && b->image.row_bytes == o->image.row_bytes &&
                b->image.slice_bytes == o->image.slice_bytes);
    assert_memory_equal(b->image.extent, o->image.extent, sizeof o->image.extent);
    assert_true(b->image.layers == o->image.layers && b->image.shape == o->image.shape && b->image.type == o->image.type &&
                b->image.bits == o->image.bits && b->image.channels == o->image.channels);
    assert_memory_equal(b->sampler.address, o->sampler.address, sizeof o->sampler.address);
    assert_memory_equal(b->sampler.border, o->sampler.border, sizeof o->sampler.border);
    assert_true(b->sampler.linear == o->sampler.linear && b->sampler.normalized == o->sampler.normalized &&
                b->sampler.mip_linear == o->sampler.mip_linear);
    assert_true(b->sampler.lod_bias == 0.75f && b->sampler.lod_min == 1.5f && b->sampler.lod_max == 6.25f);
    snapshot_free(back);
    remove(path);
  }
  snapshot_free(s);
}

/* Four channels of 32 bits are the largest texel; wider ones once overflowed a buffer of the sampler. */
static void test_texel_size(void **state)
{
  (void)state;
  struct file f = open_file(CASE);
  json_t *one = json_array_get(json_object_get(f.manifest, "textures"), 0);
  for (int bits = 40; bits < 256; bits += 8)
    for (int channels = 1; channels < 256; channels++) {
      json_array_set_new(one, 6, json_integer(1 << 20));
      json_array_set_new(one, 7, json_integer(INT64_C(1) << 30));
      json_array_set_new(one, 10, json_integer(bits));
      json_array_set_new(one, 11, json_integer(channels));
      refused(&f, "channels", channels, bits);
    }
  close_file(&f);
}

static void test_numbers(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    int64_t value;
  } bad[] = {
    {"launch", -1}, {"shared", -1}, {"shared", INT64_C(1) << 32}, {"stack", -1}, {"stack", INT64_C(1) << 32},
    {"module_memory", -1}, {"module_managed", -1}, {"module_memory", 512}, {"next_address", -1},
    {"next_address", BIG}, {"fault", -1},
    {"fault", 11}, {"fault", 256}, {"warp_insts", -1}, {"cycles", -1},
  };
  struct file f = open_file(CASE);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    json_t *was = json_incref(json_object_get(f.manifest, bad[i].name));
    json_object_set_new(f.manifest, bad[i].name, json_integer(bad[i].value));
    refused(&f, bad[i].name, 0, bad[i].value);
    json_object_set_new(f.manifest, bad[i].name, was);
  }
  close_file(&f);
}

/* Element k of entry i of a list of the manifest. */
static void refuse_entry(struct file *f, const char *list, size_t i, size_t k, int64_t value)
{
  json_t *one = json_array_get(json_object_get(f->manifest, list), i);
  json_t *was = json_incref(json_array_get(one, k));
  assert_non_null(was);
  json_array_set_new(one, k, json_integer(value));
  refused(f, list, (long)k, value);
  json_array_set_new(one, k, was);
}

static void test_memory(void **state)
{
  (void)state;
  struct file f = open_file(HEAP);
  struct err e = {""};
  json_t *heap = json_object_get(f.manifest, "heap"), *ranges = json_object_get(f.manifest, "allocations");
  snapshot_free(read_back(&f, &e));
  assert_string_equal(e.msg, "");
  int64_t base = json_integer_value(json_array_get(json_array_get(ranges, 0), 0));
  static const int64_t sizes[] = {-1, 0, 1, BIG - 1, BIG, INT64_MAX};
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    refuse_entry(&f, "allocations", 0, 1, sizes[i]); /* the heap no longer fills it, or it reaches into the next */
    refuse_entry(&f, "heap", 0, 1, sizes[i]);
    refuse_entry(&f, "heap", json_array_size(heap) - 1, 1, sizes[i]);
    refuse_entry(&f, "allocations", 0, 0, sizes[i]);
    refuse_entry(&f, "heap", 0, 0, sizes[i]);
  }
  refuse_entry(&f, "allocations", 0, 0, base + 1); /* not where memory is given out */
  /* 2 TiB behind all others */
  json_array_append_new(ranges, json_pack("[I,I,s]", (json_int_t)1 << 44, (json_int_t)1 << 41, "large"));
  refused(&f, "allocations", 0, INT64_C(1) << 41);
  close_file(&f);
}

/* Contents lie in one allocation, up to its last byte. */
static void test_contents(void **state)
{
  enum { HEAD = 16, BYTES = 40 };
  uint8_t run[HEAD + BYTES] = {0};
  (void)state;
  struct file f = open_file(HEAP);
  struct err e = {""};
  struct snapshot *s = read_back(&f, &e);
  const struct snapshot_bytes was = s->part[SNAPSHOT_BEFORE];
  s->part[SNAPSHOT_BEFORE] = (struct snapshot_bytes){run, sizeof run};
  for (size_t i = 0; i < s->n_ranges; i++) {
    const struct gmem_range *r = &s->range[i];
    const struct {
      uint64_t at, bytes;
      bool good;
    } try[] = {{r->addr, BYTES, true}, {r->addr + 3, BYTES, true}, {r->addr + r->bytes - BYTES, BYTES, true},
               {r->addr + r->bytes - BYTES + 1, BYTES, false}, {r->addr + r->bytes - 1, BYTES, false}, {r->addr, 0, false},
               {r->addr, BYTES + 1, false}};
    assert_true(r->bytes > BYTES + 3);
    for (unsigned k = 0; k < sizeof try / sizeof try[0]; k++) {
      memcpy(run, &try[k], HEAD);
      if (snapshot_check(s, &e) != try[k].good) fail_msg("allocation %zu, try %u: %s", i, k, e.msg);
    }
  }
  s->part[SNAPSHOT_BEFORE].bytes = HEAD - 1;
  assert_false(snapshot_check(s, &e));
  s->part[SNAPSHOT_BEFORE] = was;
  snapshot_free(s);
  close_file(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_unknown_part), cmocka_unit_test(test_textures), cmocka_unit_test(test_texture_round_trip), cmocka_unit_test(test_texel_size),
    cmocka_unit_test(test_numbers), cmocka_unit_test(test_memory), cmocka_unit_test(test_contents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
