/* A launch file from fields; a small one is set up on a device, with its buffers, textures and arguments. */
#include <string.h>

#include "base/bug.h"
#include "draw.h"
#include "fuzz.h"
#include "host/case.h"

enum { MAX_BUFFERS = 4, MAX_ARGS = 5, SMALL = 1 << 16 };

static const char *const types[] = {"f32", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f64", "x"};

static const char *type_of(struct draw *f)
{
  return types[field_pick(f, sizeof types / sizeof types[0])];
}

static void add_dims(struct fuzz_text *t, struct draw *f, const char *what)
{
  char n[3][40];
  if (field_byte(f) < 128) fuzz_add(t, "%s = [%u];\n", what, 1 + field_pick(f, 8));
  else fuzz_add(t, "%s = [%s, %s, %s];\n", what, field_numeral(f, n[0]), field_numeral(f, n[1]), field_numeral(f, n[2]));
}

static void add_buffer(struct fuzz_text *t, struct draw *f, unsigned i)
{
  static const char *const fills[] = {"zero", "const", "iota", "uniform", "chain", "x"};
  static const char *const keys[] = {"value", "start", "step", "seed", "min", "max", "rel", "abs"};
  char n[40];
  fuzz_add(t, "  b%u = { type = \"%s\"; ", i, type_of(f));
  if (field_byte(f) < 192) fuzz_add(t, "count = %u; ", 64 * (1 + field_pick(f, 16)));
  else fuzz_add(t, "count = %s; ", field_numeral(f, n));
  fuzz_add(t, "fill = \"%s\"; ", fills[field_pick(f, 6)]);
  for (unsigned k = field_pick(f, 4); k; k--) fuzz_add(t, "%s = %s; ", keys[field_pick(f, 8)], field_numeral(f, n));
  fuzz_add(t, "};\n");
}

static void add_texture(struct fuzz_text *t, struct draw *f, unsigned i)
{
  static const char *const shapes[] = {"1d", "2d", "3d", "cube", "linear", "x"};
  static const char *const formats[] = {"f32", "u8x4", "f16x2", "i16", "u32x4", "f32x4", "u8x3", "f64", "u8x", "bf16"};
  static const char *const modes[] = {"\"wrap\"", "\"clamp\"", "[\"mirror\", \"border\"]", "\"x\"", "[]", "[1]"};
  char n[3][40];
  fuzz_add(t, "  t%u = { buffer = \"b%u\"; shape = \"%s\"; format = \"%s\"; ", i, field_pick(f, MAX_BUFFERS),
           shapes[field_pick(f, 6)], formats[field_pick(f, 10)]);
  if (field_byte(f) < 128) fuzz_add(t, "size = [%u, %u]; ", 1 + field_pick(f, 8), 1 + field_pick(f, 8));
  else fuzz_add(t, "size = [%s, %s, %s]; ", field_numeral(f, n[0]), field_numeral(f, n[1]), field_numeral(f, n[2]));
  if (field_byte(f) < 64) fuzz_add(t, "layers = %s; ", field_numeral(f, n[0]));
  if (field_byte(f) < 64) fuzz_add(t, "pitch = %s; ", field_numeral(f, n[0]));
  if (field_byte(f) < 64) fuzz_add(t, "address = %s; ", modes[field_pick(f, 6)]);
  if (field_byte(f) < 64) fuzz_add(t, "border = [%s]; ", field_numeral(f, n[0]));
  if (field_byte(f) < 64) fuzz_add(t, "filter = \"linear\"; read = \"float\"; normalized = true; ");
  if (field_byte(f) < 32) fuzz_add(t, "srgb = true; ");
  fuzz_add(t, "};\n");
}

static void add_args(struct fuzz_text *t, struct draw *f)
{
  char n[40];
  unsigned k = field_pick(f, MAX_ARGS);
  fuzz_add(t, "args = (");
  for (unsigned i = 0; i < k; i++) {
    const char *comma = i ? ", " : "";
    switch (field_pick(f, 5)) {
    case 0: fuzz_add(t, "%s{ buffer = \"b%u\"; }", comma, field_pick(f, MAX_BUFFERS + 1)); break;
    case 1: fuzz_add(t, "%s{ %s = %s; }", comma, type_of(f), field_numeral(f, n)); break;
    case 2: fuzz_add(t, "%s{ %s = \"t%u\"; }", comma, i & 1 ? "surface" : "texture", field_pick(f, 3)); break;
    case 3: fuzz_add(t, "%s{ bytes = \"%016llx\"; }", comma, (unsigned long long)field_number(f)); break;
    default: fuzz_add(t, "%s{ buffer = \"b%u\"; }", comma, i); break;
    }
  }
  fuzz_add(t, ");\n");
}

static void set_up(const struct launch_case *c)
{
  struct device_config config = device_config_default(86);
  struct err e = {""};
  uint64_t elements = 0;
  config.page_bits = 16;
  config.heap_bytes = 0;
  for (unsigned i = 0; i < c->n_buffers; i++) {
    if (c->buffer[i].count > SMALL) return;
    elements += c->buffer[i].count;
  }
  if (elements > SMALL) return;
  struct case_run *r = case_setup(c, &config, &e);
  BUG_ON(!r && e.msg[0] == '\0');
  case_free(r);
}

void fuzz_launch(const uint8_t *data, size_t size)
{
  struct draw f = {data, size};
  struct fuzz_text t = {.n = 0};
  struct fuzz_file file;
  struct launch_case c;
  struct err e = {""};
  char n[40];
  unsigned extra = field_byte(&f);
  fuzz_add(&t, "cubin = \"" WS_SOURCE_DIR "/kernels/vecadd/vecadd.sm_86.cubin\";\n");
  add_dims(&t, &f, "grid");
  add_dims(&t, &f, "block");
  if (extra & 1) add_dims(&t, &f, "cluster");
  if (extra & 2) fuzz_add(&t, "shmem = %s;\n", field_numeral(&f, n));
  if (extra & 4) fuzz_add(&t, "stack = %s;\n", field_numeral(&f, n));
  fuzz_add(&t, "buffers = {\n");
  for (unsigned i = 0; i < MAX_BUFFERS && f.left; i++) add_buffer(&t, &f, i);
  fuzz_add(&t, "};\n%s = {\n", extra & 8 ? "surfaces" : "textures");
  for (unsigned i = field_pick(&f, 3); i; i--) add_texture(&t, &f, i);
  fuzz_add(&t, "};\n");
  add_args(&t, &f);
  fuzz_file_open(&file, "", t.at, t.n);
  bool ok = launchfile_read(&c, file.path, &e) && launch_case_check(&c, &e);
  BUG_ON(!ok && e.msg[0] == '\0');
  if (ok) set_up(&c);
  launch_case_free(&c);
  fuzz_file_close(&file);
}
