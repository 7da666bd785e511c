#include "host/texture.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

enum { CUBE_FACES = 6 };

/* Largest extents in x, y, z and layers (programming guide, technical specifications, compute capability
 * 7.5 and later). A buffer of 2^28 texels is the largest linear texture. */
static const struct {
  uint32_t extent[3], layered[3], layers;
} limits[] = {
  [IMAGE_1D] = {{131072, 1, 1}, {32768, 1, 1}, 2048},
  [IMAGE_2D] = {{131072, 65536, 1}, {32768, 32768, 1}, 2048},
  [IMAGE_3D] = {{16384, 16384, 16384}, {0, 0, 0}, 0},
  [IMAGE_CUBE] = {{32768, 32768, 1}, {32768, 32768, 1}, 2046 / CUBE_FACES},
  [IMAGE_BUFFER] = {{1u << 28, 1, 1}, {0, 0, 0}, 0},
};

static bool check_format(const struct image_desc *d, struct err *e)
{
  bool bits_ok = d->bits == 16 || d->bits == 32 || (d->bits == 8 && d->type != TEXEL_FLOAT);
  if (!bits_ok)
    return err_set(e, "%u-bit %s channels; choose %s", d->bits,
                   d->type == TEXEL_FLOAT ? "floating-point" : "integer",
                   d->type == TEXEL_FLOAT ? "16 or 32" : "8, 16 or 32");
  if (d->channels != 1 && d->channels != 2 && d->channels != 4)
    return err_set(e, "%u channels; choose 1, 2 or 4", d->channels);
  return true;
}

static bool check_extent(const struct image_desc *d, const uint32_t extent[3], struct err *e)
{
  static const char axis[3] = {'x', 'y', 'z'};
  const uint32_t *most = d->layers ? limits[d->shape].layered : limits[d->shape].extent;
  for (unsigned i = 0; i < 3; i++)
    if (extent[i] == 0 || extent[i] > most[i])
      return err_set(e, "extent %c is %u; choose 1 to %u", axis[i], extent[i], most[i]);
  if (d->layers > limits[d->shape].layers)
    return err_set(e, "%u layers; this shape has at most %u", d->layers, limits[d->shape].layers);
  if (d->shape == IMAGE_CUBE && extent[0] != extent[1])
    return err_set(e, "the faces of a cube map are square, not %u x %u", extent[0], extent[1]);
  return true;
}

/* The last level is one texel. */
static unsigned most_levels(const uint32_t extent[3])
{
  unsigned n = 1;
  for (uint32_t all = extent[0] | extent[1] | extent[2]; all > 1; all /= 2) n++;
  return n;
}

bool image_layout(const struct image_desc *d, uint64_t base, struct image *m, uint64_t *bytes,
                  struct err *e)
{
  uint32_t extent[3];
  for (unsigned i = 0; i < 3; i++) extent[i] = d->extent[i] ? d->extent[i] : i > 0;
  if (!check_format(d, e) || !check_extent(d, extent, e)) return false;
  unsigned texel = d->bits / 8 * d->channels;
  uint64_t tight = (uint64_t)extent[0] * texel, row = d->pitch ? d->pitch : tight;
  if (row < tight || row % texel)
    return err_set(e, "pitch %llu; rows have %llu bytes of texels of %u", (unsigned long long)row,
                   (unsigned long long)tight, texel);
  if (base % texel)
    return err_set(e, "address 0x%llx is not a multiple of the texel's %u bytes",
                   (unsigned long long)base, texel);
  *m = (struct image){
    .base = base, .layers = d->layers, .row_bytes = row, .slice_bytes = row * extent[1],
    .shape = (uint8_t)d->shape, .type = (uint8_t)d->type, .bits = (uint8_t)d->bits,
    .channels = (uint8_t)d->channels,
  };
  memcpy(m->extent, extent, sizeof extent);
  unsigned most = most_levels(extent);
  m->levels = (uint8_t)(!d->levels ? 1 : d->levels < most ? d->levels : most);
  if (m->levels > 1 && (d->pitch || d->shape == IMAGE_BUFFER))
    return err_set(e, "an image of linear memory has one level");
  if (bytes) *bytes = image_level(m, m->levels).base - base; /* where one more would begin */
  return true;
}

static bool reads_float(const struct image *m, const struct sampler *s)
{
  return m->type == TEXEL_FLOAT || s->read_float;
}

static bool check_sampler(const struct image *m, const struct sampler *s, struct err *e)
{
  if ((s->linear || (s->mip_linear && m->levels > 1)) && !reads_float(m, s))
    return err_set(e, "linear filtering needs texels that are read as floats");
  if (s->read_float && m->type != TEXEL_FLOAT && m->bits == 32)
    return err_set(e, "32-bit texels cannot be read as normalised floats");
  if (s->srgb && (m->type != TEXEL_UINT || m->bits != 8 || !s->read_float))
    return err_set(e, "sRGB needs 8-bit unsigned texels that are read as floats");
  if (!s->normalized && (m->shape == IMAGE_CUBE || m->levels > 1))
    return err_set(e, "%s need normalised coordinates", m->levels > 1 ? "mipmapped images" : "cube maps");
  if (s->seamless && m->shape != IMAGE_CUBE) return err_set(e, "only cube maps are filtered across edges");
  return true;
}

static bool add(struct tex_objects *t, const struct tex_object *o, uint64_t *handle, struct err *e)
{
  if (t->table.n == TEX_MAX_OBJECTS - 1)
    return err_set(e, "more than %d texture and surface objects", TEX_MAX_OBJECTS - 1);
  t->table.object = t->object = mem_more(t->object, t->table.n, &t->cap, sizeof *t->object);
  t->object[t->table.n++] = *o;
  *handle = t->table.n;
  return true;
}

bool texture_create(struct tex_objects *t, const struct image *m, const struct sampler *s,
                    const char *name, uint64_t *handle, struct err *e)
{
  if (!check_sampler(m, s, e)) return false;
  return add(t, &(struct tex_object){.name = name, .image = *m, .sampler = *s}, handle, e);
}

bool surface_create(struct tex_objects *t, const struct image *m, const char *name,
                    uint64_t *handle, struct err *e)
{
  if (m->shape == IMAGE_BUFFER) return err_set(e, "a linear buffer cannot be a surface");
  return add(t, &(struct tex_object){.surface = true, .name = name, .image = *m}, handle, e);
}

/* Rows and slices as far apart as they must be: tight between levels (image_level), below 2^48 as a whole. The numbers
 * stay below 2^17 rows of at most 2^48 bytes, so 128 bits hold every product. */
static bool check_place(const struct image *m, struct err *e)
{
  const uint64_t end = UINT64_C(1) << 48, texel = texel_bytes(m), tight = m->extent[0] * texel;
  if (m->base >= end || m->row_bytes >= end || m->slice_bytes >= end)
    return err_set(e, "it lies above all device memory");
  if (m->base % texel || m->row_bytes % texel || m->slice_bytes % texel)
    return err_set(e, "its address or a pitch is not a multiple of the texel's %u bytes", texel_bytes(m));
  if (m->row_bytes < tight || m->slice_bytes / m->extent[1] < m->row_bytes)
    return err_set(e, "rows or slices reach into the next one");
  if (m->levels > 1 && (m->row_bytes != tight || m->slice_bytes != tight * m->extent[1]))
    return err_set(e, "levels of a mipmapped image lie behind each other without gaps");
  unsigned __int128 bytes = (unsigned __int128)image_slices(m) * m->slice_bytes * 2; /* with all levels less */
  return bytes <= end - m->base || err_set(e, "it reaches beyond all device memory");
}

static bool check_image(const struct image *m, struct err *e)
{
  const struct image_desc d = { .shape = m->shape, .type = m->type, .bits = m->bits, .channels = m->channels,
                                .layers = m->layers };
  if (m->shape > IMAGE_BUFFER || m->type > TEXEL_FLOAT) return err_set(e, "an unknown shape or type of texels");
  if (!check_format(&d, e) || !check_extent(&d, m->extent, e)) return false;
  if (m->levels > most_levels(m->extent) || (m->levels > 1 && m->shape == IMAGE_BUFFER))
    return err_set(e, "%u levels; this size has at most %u", m->levels, most_levels(m->extent));
  return check_place(m, e);
}

bool tex_object_check(const struct tex_object *o, struct err *e)
{
  const struct image *m = &o->image;
  if (m->channels == 0) return true; /* destroyed: nothing looks at the rest */
  if (!check_image(m, e)) return false;
  if (o->surface) return m->shape != IMAGE_BUFFER || err_set(e, "a linear buffer cannot be a surface");
  for (unsigned i = 0; i < 3; i++)
    if (o->sampler.address[i] > ADDRESS_BORDER) return err_set(e, "an unknown address mode");
  return check_sampler(m, &o->sampler, e);
}

void tex_objects_copy(struct tex_objects *t, const struct tex_object *object, uint32_t n)
{
  tex_objects_free(t);
  if (n == 0) return;
  t->object = mem_zeroed(n, sizeof *t->object);
  memcpy(t->object, object, n * sizeof *object);
  t->cap = n;
  t->table = (struct tex_table){ t->object, n };
}

bool tex_object_destroy(struct tex_objects *t, uint64_t handle)
{
  if (handle == 0 || handle > t->table.n || !t->object[handle - 1].image.channels) return false;
  t->object[handle - 1].image.channels = 0;
  return true;
}

void tex_objects_free(struct tex_objects *t)
{
  mem_free(t->object);
  *t = (struct tex_objects){0};
}
