/* Texture sampling: address modes, filter weights, formats. Expected values follow from the formulas of
 * the CUDA C++ Programming Guide, "Texture Fetching", worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "func/sass/sampler.h"
#include "host/texture.h"

enum { BASE = 4096 };

static uint32_t bits_of(float f)
{
  uint32_t v;
  memcpy(&v, &f, sizeof v);
  return v;
}

static float float_of(uint32_t v)
{
  float f;
  memcpy(&f, &v, sizeof f);
  return f;
}

static struct tex_object line_of(unsigned n, enum sampler_address mode, bool linear)
{
  return (struct tex_object){
    .image = {.base = BASE, .extent = {n, 1, 1}, .row_bytes = 4 * n, .slice_bytes = 4 * n,
              .shape = IMAGE_1D, .type = TEXEL_FLOAT, .bits = 32, .channels = 1},
    .sampler = {.address = {mode, mode, mode}, .linear = linear, .normalized = true},
  };
}

static int texel(const struct footprint *fp, unsigned k)
{
  return fp->addr[k] == TEXEL_BORDER ? -1 : (int)(fp->addr[k] - BASE) / 4;
}

/* Four texels; coordinates in quarters of a texel below and above the image. */
static void test_address_modes(void **state)
{
  static const struct {
    float x;
    int wrap, clamp, mirror, border;
  } want[] = {
    {-1.125f, 3, 0, 3, -1}, {-0.25f, 3, 0, 0, -1}, {-0.0625f, 3, 0, 0, -1}, {0.0f, 0, 0, 0, 0},
    {0.249f, 0, 0, 0, 0},   {0.25f, 1, 1, 1, 1},   {0.999f, 3, 3, 3, 3},   {1.0f, 0, 3, 3, -1},
    {1.25f, 1, 3, 2, -1},   {1.75f, 3, 3, 0, -1},  {2.0f, 0, 3, 0, -1},    {INFINITY, 0, 3, 0, -1},
  };
  (void)state;
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    const int expect[4] = {want[i].wrap, want[i].clamp, want[i].mirror, want[i].border};
    for (unsigned mode = 0; mode < 4; mode++) {
      struct tex_object o = line_of(4, (enum sampler_address)mode, false);
      struct footprint fp;
      bool endless = isinf(want[i].x) && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR);
      if (endless) continue;
      sampler_footprint(&o, SAMPLE_FILTER, &(struct sample_at){.xyz = {bits_of(want[i].x)}}, &fp);
      assert_int_equal(fp.n, 1);
      assert_int_equal(texel(&fp, 0), expect[mode]);
    }
  }
}

/* x - 0.5 = i + weight, the weight in 256ths, rounded to nearest. */
static void test_weights(void **state)
{
  static const struct {
    float x;
    int lo, hi, frac;
  } want[] = {
    {0.5f, 0, 1, 0}, {1.0f, 0, 1, 128}, {1.25f, 0, 1, 192}, {1.4999f, 1, 2, 0}, {0.0f, 0, 0, 128},
    {0.503f, 0, 1, 1}, {0.5019f, 0, 1, 0}, {3.75f, 3, 3, 64}, {-5.0f, 0, 0, 128},
  };
  struct tex_object o = line_of(4, ADDRESS_CLAMP, true);
  (void)state;
  o.sampler.normalized = false;
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    struct footprint fp;
    sampler_footprint(&o, SAMPLE_FILTER, &(struct sample_at){.xyz = {bits_of(want[i].x)}}, &fp);
    assert_int_equal(fp.n, 2);
    assert_int_equal(texel(&fp, 0), want[i].lo);
    assert_int_equal(texel(&fp, 1), want[i].hi);
    assert_int_equal(fp.frac[0][0], want[i].frac);
  }
}

/* 16 x 8 texels and their levels: how far the level is from the first, in 256ths, and the extents and the place of each. */
static void test_levels(void **state)
{
  static const struct {
    float lod, bias;
    bool linear;
    int level, between;
  } want[] = {
    {-3, 0, true, 0, 0}, {0.25f, 0, true, 0, 64}, {1, 0, true, 1, 0},       {2.999f, 0, true, 3, 0}, {9, 0, true, 4, 0},
    {1, 0.5f, true, 1, 128}, {0.5f, 0, false, 0, 0}, {0.51f, 0, false, 1, 0}, {NAN, 0, true, 0, 0},  {SAMPLE_LOD_FIRST, 9, true, 0, 0},
  };
  static const unsigned starts[] = {0, 128, 160, 168, 170}, widths[] = {16, 8, 4, 2, 1}, heights[] = {8, 4, 2, 1, 1};
  struct image_desc d = {.shape = IMAGE_2D, .type = TEXEL_FLOAT, .bits = 32, .channels = 1, .extent = {16, 8}, .levels = 99};
  struct tex_object o = {.sampler = {.normalized = true, .lod_max = 20}};
  struct err e;
  uint64_t bytes;
  (void)state;
  assert_true(image_layout(&d, BASE, &o.image, &bytes, &e));
  assert_int_equal(o.image.levels, 5);
  assert_int_equal(bytes, 4 * 171);
  for (unsigned l = 0; l < 5; l++) {
    struct image m = image_level(&o.image, l);
    assert_int_equal(m.base, BASE + 4 * starts[l]);
    assert_int_equal(m.extent[0], widths[l]);
    assert_int_equal(m.extent[1], heights[l]);
  }
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    struct footprint fp;
    o.sampler.lod_bias = want[i].bias;
    o.sampler.mip_linear = want[i].linear;
    sampler_footprint(&o, SAMPLE_FILTER, &(struct sample_at){.lod = want[i].lod}, &fp);
    assert_int_equal(fp.addr[0], BASE + 4 * starts[want[i].level]);
    assert_int_equal(fp.between, want[i].between);
    assert_int_equal(footprint_texels(&fp), want[i].between ? 2 : 1);
    if (want[i].between) assert_int_equal(fp.addr[1], BASE + 4 * starts[want[i].level + 1]);
  }
  /* One texel is 1 / 16 wide and 1 / 8 high; the longer way counts. */
  const float at[3] = {0.5f, 0.5f}, one[3] = {1 / 16.0f}, two[3] = {0, 2 / 8.0f}, none[3] = {0};
  assert_float_equal(sampler_lod(&o, at, one, none), 0, 0);
  assert_float_equal(sampler_lod(&o, at, one, two), 1, 0);
  assert_float_equal(sampler_lod(&o, at, (float[3]){3 / 16.0f, 4 / 8.0f}, one), log2f(5), 1e-6);
}

static float read_one(struct tex_object *o, uint32_t raw, unsigned channel)
{
  uint8_t bytes[FOOTPRINT_MAX * TEXEL_MAX_BYTES] = {0};
  struct footprint fp = {.n = 1, .addr = {BASE}};
  uint32_t out[4];
  memcpy(bytes + channel * o->image.bits / 8u, &raw, o->image.bits / 8u);
  sampler_blend(o, SAMPLE_FILTER, &fp, bytes, out);
  return float_of(out[channel]);
}

static void set_format(struct tex_object *o, enum texel_type type, unsigned bits, bool srgb)
{
  o->image.type = (uint8_t)type;
  o->image.bits = (uint8_t)bits;
  o->image.channels = 4;
  o->sampler.read_float = true;
  o->sampler.srgb = srgb;
}

static void test_formats(void **state)
{
  struct tex_object o = line_of(4, ADDRESS_CLAMP, false);
  (void)state;
  set_format(&o, TEXEL_UINT, 8, false);
  assert_float_equal(read_one(&o, 255, 0), 1.0f, 0);
  assert_float_equal(read_one(&o, 51, 1), 0.2f, 1e-7);
  set_format(&o, TEXEL_SINT, 8, false);
  assert_float_equal(read_one(&o, 0x80, 0), -1.0f, 0); /* -128 / 127 is clamped */
  assert_float_equal(read_one(&o, 0x81, 0), -1.0f, 0);
  set_format(&o, TEXEL_UINT, 16, false);
  assert_float_equal(read_one(&o, 65535, 2), 1.0f, 0);
  set_format(&o, TEXEL_SINT, 16, false);
  assert_float_equal(read_one(&o, 0x8001, 2), -1.0f, 0);
  set_format(&o, TEXEL_FLOAT, 16, false);
  assert_float_equal(read_one(&o, 0x3555, 3), 0.333251953125f, 0);
  /* IEC 61966-2-1: 10 lies on the straight part, 188 is close to half; alpha is linear. */
  set_format(&o, TEXEL_UINT, 8, true);
  assert_float_equal(read_one(&o, 10, 0), 10 / 255.0 / 12.92, 1e-8);
  assert_float_equal(read_one(&o, 188, 0), 0.50289, 1e-5);
  assert_float_equal(read_one(&o, 188, 3), 188 / 255.0, 1e-7);
}

/* Directions that no program means: every texel lies in the image, and a number beyond the integers is one beyond the
 * edge on its side (of +z and s: +x; of -z, whose s runs the other way, -x). */
static void test_seamless_directions(void **state)
{
  enum { N = 4, FACE = N * N, PLUS_X = 0, MINUS_X = 1 };
  static const float odd[] = {0, -0.0f, 1, -1, 1e30f, -1e30f, 1e-40f, INFINITY, -INFINITY, NAN};
  static const struct {
    float v[3];
    int face;
  } beyond[] = {{{1e30f, NAN, 1}, PLUS_X}, {{-1e30f, NAN, 1}, MINUS_X}, {{1e30f, NAN, -1}, PLUS_X}, {{-1e30f, NAN, -1}, MINUS_X}};
  enum { ODD = sizeof odd / sizeof odd[0] };
  struct tex_object o = line_of(N, ADDRESS_WRAP, true);
  struct footprint fp;
  (void)state;
  o.image.shape = IMAGE_CUBE;
  o.image.extent[1] = N;
  o.image.slice_bytes = 4 * FACE;
  o.sampler.seamless = true;
  for (unsigned i = 0; i < ODD * ODD * ODD; i++) {
    const struct sample_at at = {.xyz = {bits_of(odd[i % ODD]), bits_of(odd[i / ODD % ODD]), bits_of(odd[i / ODD / ODD])}};
    sampler_footprint(&o, SAMPLE_FILTER, &at, &fp);
    for (unsigned k = 0; k < footprint_texels(&fp); k++) assert_in_range(texel(&fp, k) + 1, 0, 6 * FACE);
  }
  for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
    const float *v = beyond[i].v;
    sampler_footprint(&o, SAMPLE_FILTER, &(struct sample_at){.xyz = {bits_of(v[0]), bits_of(v[1]), bits_of(v[2])}}, &fp);
    for (unsigned k = 0; k < fp.n; k++)
      if (fp.addr[k] != TEXEL_BORDER) assert_int_equal(texel(&fp, k) / FACE, beyond[i].face);
  }
}

static void test_objects(void **state)
{
  struct tex_objects t = {0};
  struct image_desc d = {.shape = IMAGE_2D, .type = TEXEL_UINT, .bits = 8, .channels = 4,
                         .extent = {10, 3}, .pitch = 64};
  struct sampler s = {.linear = true};
  struct image m;
  struct err e = {""};
  uint64_t handle, bytes;
  (void)state;
  assert_true(image_layout(&d, BASE, &m, &bytes, &e));
  assert_int_equal(bytes, 3 * 64);
  assert_false(texture_create(&t, &m, &s, "x", &handle, &e)); /* linear on integers */
  s.read_float = true;
  assert_true(texture_create(&t, &m, &s, "x", &handle, &e));
  assert_non_null(tex_object_of(&t.table, (uint32_t)handle));
  assert_null(tex_object_of(&t.table, 0));
  assert_null(tex_object_of(&t.table, (uint32_t)handle + 1));
  assert_true(tex_object_destroy(&t, handle));
  assert_false(tex_object_destroy(&t, handle));
  assert_null(tex_object_of(&t.table, (uint32_t)handle));
  s.seamless = true;
  assert_false(texture_create(&t, &m, &s, "x", &handle, &e)); /* no cube */
  d.pitch = 38;
  assert_false(image_layout(&d, BASE, &m, &bytes, &e)); /* shorter than a row */
  d.pitch = 0, d.channels = 3;
  assert_false(image_layout(&d, BASE, &m, &bytes, &e));
  tex_objects_free(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_address_modes),
      cmocka_unit_test(test_weights), cmocka_unit_test(test_levels),
      cmocka_unit_test(test_formats), cmocka_unit_test(test_seamless_directions),
      cmocka_unit_test(test_objects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
