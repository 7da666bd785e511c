#include "host/texturefile.h"

#include <string.h>

#include "host/casebuild.h"
#include "host/literals.h"

struct word {
  const char *name;
  int value;
};

static const struct word shapes[] = {
  { "1d", IMAGE_1D }, { "2d", IMAGE_2D }, { "3d", IMAGE_3D }, { "cube", IMAGE_CUBE },
  { "linear", IMAGE_BUFFER }, { NULL, 0 },
};
static const struct word addresses[] = {
  { "wrap", ADDRESS_WRAP }, { "clamp", ADDRESS_CLAMP }, { "mirror", ADDRESS_MIRROR },
  { "border", ADDRESS_BORDER }, { NULL, 0 },
};
static const struct word filters[] = { { "point", false }, { "linear", true }, { NULL, 0 } };
static const struct word reads[] = { { "element", false }, { "float", true }, { NULL, 0 } };

static bool read_word(const config_setting_t *s, const struct word *words, int *v, struct err *e)
{
  const char *text = config_setting_get_string(s);
  char list[80] = "";
  for (const struct word *w = words; w->name; w++) {
    if (text && strcmp(w->name, text) == 0) return *v = w->value, true;
    strncat(list, w == words ? " " : ", ", sizeof list - strlen(list) - 1);
    strncat(list, w->name, sizeof list - strlen(list) - 1);
  }
  return err_set(e, "%s must be one of%s", config_setting_name(s), list);
}

static bool read_count(const config_setting_t *s, uint64_t least, uint64_t most, uint64_t *v,
                       struct err *e)
{
  struct number n;
  if (!literals_number(s, &n) || n.real || n.negative || n.bits < least || n.bits > most)
    return err_set(e, "%s must be an integer from %llu to %llu",
                   config_setting_name(s) ? config_setting_name(s) : "a size",
                   (unsigned long long)least, (unsigned long long)most);
  *v = n.bits;
  return true;
}

static bool is_sequence(const config_setting_t *s, int least, int most)
{
  int n = config_setting_length(s);
  return (config_setting_is_array(s) || config_setting_is_list(s)) && n >= least && n <= most;
}

static bool read_size(const config_setting_t *s, struct image_desc *d, struct err *e)
{
  if (!is_sequence(s, 1, 3))
    return err_set(e, "size must be a list of one to three extents, for example [64, 32]");
  for (int i = 0; i < config_setting_length(s); i++) {
    uint64_t v;
    if (!read_count(config_setting_get_elem(s, (unsigned)i), 1, UINT32_MAX, &v, e)) return false;
    d->extent[i] = (uint32_t)v;
  }
  return true;
}

/* "u8x4": the type of a channel, and how many. */
static bool read_format(const config_setting_t *s, struct image_desc *d, struct err *e)
{
  const char *text = config_setting_get_string(s);
  char name[8] = "";
  const char *x = text ? strchr(text, 'x') : NULL;
  size_t len = x ? (size_t)(x - text) : text ? strlen(text) : 0;
  enum value_type type;
  if (len && len < sizeof name) memcpy(name, text, len);
  bool known = value_type_parse(name, &type) && type != VALUE_BF16 && value_bytes(type) <= 4;
  bool counted = !x || (x[1] >= '1' && x[1] <= '9' && !x[2]);
  if (!known || !counted)
    return err_set(e, "format must be a type (u8 i8 u16 i16 u32 i32 f16 f32) with the number of "
                   "channels, for example \"u8x4\"");
  d->type = value_class(type) == VALUE_FLOAT    ? TEXEL_FLOAT
            : value_class(type) == VALUE_SIGNED ? TEXEL_SINT
                                                : TEXEL_UINT;
  d->bits = 8 * (unsigned)value_bytes(type);
  d->channels = x ? (unsigned)(x[1] - '0') : 1;
  return true;
}

/* One mode for all axes, or a list. */
static bool read_address(const config_setting_t *s, struct sampler *to, struct err *e)
{
  int v;
  if (config_setting_type(s) == CONFIG_TYPE_STRING) {
    if (!read_word(s, addresses, &v, e)) return false;
    for (unsigned i = 0; i < 3; i++) to->address[i] = (uint8_t)v;
    return true;
  }
  if (!is_sequence(s, 1, 3))
    return err_set(e, "address must be a mode or a list of up to three, for example "
                   "[\"wrap\", \"clamp\"]");
  for (int i = 0; i < config_setting_length(s); i++) {
    if (!read_word(config_setting_get_elem(s, (unsigned)i), addresses, &v, e)) return false;
    to->address[i] = (uint8_t)v;
  }
  return true;
}

static bool read_border(const config_setting_t *s, struct sampler *to, struct err *e)
{
  if (!is_sequence(s, 1, 4)) return err_set(e, "border must be a list of one to four numbers");
  for (int i = 0; i < config_setting_length(s); i++) {
    struct number n;
    if (!literals_number(config_setting_get_elem(s, (unsigned)i), &n))
      return err_set(e, "border must be a list of numbers");
    to->border[i] = (float)n.f;
  }
  return true;
}

static bool read_flag(const config_setting_t *s, bool *v, struct err *e)
{
  if (config_setting_type(s) != CONFIG_TYPE_BOOL)
    return err_set(e, "%s must be true or false", config_setting_name(s));
  *v = config_setting_get_bool(s);
  return true;
}

static bool read_image_key(struct case_texture *t, const config_setting_t *s, const char *key,
                           bool *known, struct err *e)
{
  int v;
  uint64_t n;
  *known = true;
  if (strcmp(key, "buffer") == 0) {
    t->buffer = config_setting_get_string(s);
    return t->buffer || err_set(e, "buffer must be a name");
  }
  if (strcmp(key, "shape") == 0) {
    if (!read_word(s, shapes, &v, e)) return false;
    t->image.shape = (enum image_shape)v;
    return true;
  }
  if (strcmp(key, "size") == 0) return read_size(s, &t->image, e);
  if (strcmp(key, "format") == 0) return read_format(s, &t->image, e);
  if (strcmp(key, "layers") == 0) {
    if (!read_count(s, 1, UINT32_MAX, &n, e)) return false;
    t->image.layers = (uint32_t)n;
    return true;
  }
  if (strcmp(key, "pitch") == 0) return read_count(s, 1, UINT32_MAX, &t->image.pitch, e);
  *known = false;
  return true;
}

static bool read_sampler_key(struct case_texture *t, const config_setting_t *s, const char *key,
                             bool *known, struct err *e)
{
  int v;
  *known = true;
  if (strcmp(key, "filter") == 0) {
    if (!read_word(s, filters, &v, e)) return false;
    t->sampler.linear = v;
    return true;
  }
  if (strcmp(key, "read") == 0) {
    if (!read_word(s, reads, &v, e)) return false;
    t->sampler.read_float = v;
    return true;
  }
  if (strcmp(key, "address") == 0) return read_address(s, &t->sampler, e);
  if (strcmp(key, "border") == 0) return read_border(s, &t->sampler, e);
  if (strcmp(key, "normalized") == 0) return read_flag(s, &t->sampler.normalized, e);
  if (strcmp(key, "srgb") == 0) return read_flag(s, &t->sampler.srgb, e);
  *known = false;
  return true;
}

bool texturefile_read(struct launch_case *c, const config_setting_t *s, const char *where,
                      bool surface, int *line, struct err *e)
{
  struct case_texture t = { .name = config_setting_name(s), .where = where, .surface = surface,
                            .image = { .shape = IMAGE_2D, .channels = 1, .bits = 32,
                                       .type = TEXEL_FLOAT } };
  for (unsigned i = 0; i < 3; i++) t.sampler.address[i] = ADDRESS_CLAMP;
  if (!config_setting_is_group(s))
    return err_set(e, "must be a group, for example { buffer = \"x\"; size = [64, 32]; }");
  for (int i = 0; i < config_setting_length(s); i++) {
    const config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
    const char *key = config_setting_name(item);
    bool known;
    *line = (int)config_setting_source_line(item);
    if (!read_image_key(&t, item, key, &known, e)) return false;
    if (!known && !surface && !read_sampler_key(&t, item, key, &known, e)) return false;
    if (!known)
      return err_set(e, "unknown key '%.40s'; use buffer shape size format layers pitch%s", key,
                     surface ? "" : " filter address normalized read srgb border");
  }
  *line = (int)config_setting_source_line(s);
  return texture_add(c, &t, e);
}
