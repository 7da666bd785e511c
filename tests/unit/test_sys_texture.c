/* tex3DGrad as nvcc calls it from sm_90 on, as a runtime service: registers and stack in, components out. Expected values from
 * the filter formulas of the CUDA C++ Programming Guide, "Texture Fetching", by hand. */
#include "func_rig.h"

#include "func/sass/func_launch.h"
#include "func/sass/sampler.h"
#include "func/sass/sys.h"

static const uint64_t exit_words[] = {W_EXIT};
enum { HANDLE = 1, STACK = 1, OBJECT = 4, ARGUMENT = 8, RIGHT = 12, LANE = 3, AT = 512 };

static uint32_t bits_of(float v)
{
  uint32_t b;
  memcpy(&b, &v, sizeof b);
  return b;
}

static float float_of(uint32_t b)
{
  float v;
  memcpy(&v, &b, sizeof v);
  return v;
}

/* 2 x 2 x 2 texels of two channels: 2^i and -2^i at texel i, in the order x, y, z. */
static struct tex_object cube_of(struct rig *r)
{
  float texel[8][2];
  for (unsigned i = 0; i < 8; i++) texel[i][0] = (float)(1u << i), texel[i][1] = -texel[i][0];
  gmem_write(r->mem, r->buf + AT, texel, sizeof texel);
  return (struct tex_object){
      .image = {.base = r->buf + AT, .extent = {2, 2, 2}, .row_bytes = 16, .slice_bytes = 32, .shape = IMAGE_3D,
                .type = TEXEL_FLOAT, .bits = 32, .channels = 2},
      .sampler = {.address = {ADDRESS_CLAMP, ADDRESS_CLAMP, ADDRESS_CLAMP}, .linear = true, .normalized = true},
      .name = "cube"};
}

static bool sample(struct rig *r, bool layered, float x, float y, float z)
{
  const float at[3] = {x, y, z};
  for (unsigned k = 0; k < 3; k++) {
    rig_set(r, ARGUMENT + layered + k, LANE, bits_of(at[k]));
    rig_set(r, RIGHT + k, LANE, 0);
  }
  for (unsigned k = 0; k < 5; k++) rig_set(r, OBJECT + k, LANE, k ? 0x55 : HANDLE);
  for (unsigned k = 0; k < 3; k++) rig_set(r, ARGUMENT + layered + k, LANE, bits_of(at[k]));
  rig_set(r, STACK, LANE, 0);
  return sys_tex_grad(r->w, layered, LANE, &r->e, &r->f);
}

static void weights(void **state)
{
  static const struct {
    float x, y, z, want;
  } row[] = {{0.25f, 0.25f, 0.25f, 1},  {0.75f, 0.25f, 0.25f, 2},  {0.25f, 0.75f, 0.25f, 4}, {0.25f, 0.25f, 0.75f, 16},
             {0.75f, 0.75f, 0.75f, 128}, {0.5f, 0.25f, 0.25f, 1.5f}, {0.25f, 0.5f, 0.25f, 2.5f}, {0.25f, 0.25f, 0.5f, 8.5f},
             {0.5f, 0.5f, 0.5f, 255.0f / 8}, {0.625f, 0.25f, 0.25f, 1.75f}, {-5, -5, -5, 1}, {5, 5, 5, 128}};
  (void)state;
  struct rig *r = rig_new(exit_words, 1, 32);
  struct tex_object cube = cube_of(r);
  struct tex_table table = {.object = &cube, .n = 1};
  r->l->p.textures = &table;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    assert_true(sample(r, false, row[i].x, row[i].y, row[i].z));
    assert_int_equal(rig_get(r, OBJECT, LANE), 1); /* resident */
    assert_true(float_of(rig_get(r, OBJECT + 1, LANE)) == row[i].want);
    assert_true(float_of(rig_get(r, OBJECT + 2, LANE)) == -row[i].want);
    assert_int_equal(rig_get(r, OBJECT + 3, LANE), 0); /* channels that there are not */
    assert_int_equal(rig_get(r, OBJECT + 4, LANE), 0);
  }
  rig_free(r);
}

/* What does not fit is a fault that says so. */
static void faults(void **state)
{
  (void)state;
  struct rig *r = rig_new(exit_words, 1, 32);
  struct tex_object cube = cube_of(r);
  struct tex_table table = {.object = &cube, .n = 1};
  r->l->p.textures = &table;
  assert_false(sample(r, true, 0, 0, 0)); /* layered: another shape */
  assert_int_equal(r->f.kind, FAULT_ILLEGAL_ADDRESS);
  cube.image.shape = IMAGE_2D;
  assert_false(sample(r, false, 0, 0, 0));
  cube.image.shape = IMAGE_3D;
  r->f = (struct fault){0};
  assert_true(sample(r, false, 0, 0, 0));
  cube.image.base = 0x10; /* not mapped */
  assert_false(sample(r, false, 0, 0, 0));
  assert_int_equal(r->f.kind, FAULT_ILLEGAL_ADDRESS);
  cube = cube_of(r);
  cube.surface = true;
  cube.name = "colours";
  r->f = (struct fault){0};
  assert_false(sample(r, false, 0, 0, 0));
  assert_non_null(strstr(r->f.text, "handle 0x1 is the surface 'colours', not a texture"));
  table.n = 0;
  r->f = (struct fault){0};
  assert_false(sample(r, false, 0, 0, 0));
  assert_non_null(strstr(r->f.text, "handle 0x1 names no texture"));
  rig_free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights),
      cmocka_unit_test(faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
