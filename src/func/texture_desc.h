/* Texture and surface objects as instructions see them: the seam between the host, which owns the
 * table (host/texture.h), and the handlers (sem_tex.c, sem_surf.c).
 *
 * A handle is the number of an object, from 1 on, in its low 20 bits; the bits above are 0: compiler
 * output (CUDA 13.0) hands instructions the low 32 bits of the 64-bit object. An image lies in device
 * memory row by row: texel (x, y) of slice z is at base + z * slice_bytes + y * row_bytes + x *
 * texel size. Slices are the z of a 3-D image, the layers of a layered one, the faces of a cube map
 * (+x -x +y -y +z -z, layer after layer). Each level of a mipmapped image lies behind the one before, without gaps.
 */
#ifndef WS_FUNC_TEXTURE_H
#define WS_FUNC_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_shape { IMAGE_1D, IMAGE_2D, IMAGE_3D, IMAGE_CUBE, IMAGE_BUFFER /* tex1Dfetch only */ };
enum texel_type { TEXEL_UINT, TEXEL_SINT, TEXEL_FLOAT };

struct image {
  uint64_t base;      /* a multiple of the texel size, as the two pitches are */
  uint32_t extent[3]; /* texels; 1 in directions that the shape lacks */
  uint32_t layers;    /* 0: not layered */
  uint64_t row_bytes, slice_bytes;
  uint8_t shape;      /* enum image_shape */
  uint8_t type;       /* enum texel_type */
  uint8_t bits;       /* per channel: 8, 16, 32 */
  uint8_t channels;   /* 1, 2, 4 */
  uint8_t levels;     /* 0, 1: not mipmapped */
};

enum sampler_address { ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER };

struct sampler {
  uint8_t address[3]; /* enum sampler_address; wrap and mirror only with normalised coordinates */
  bool seamless;      /* filters across the edges of a cube map's faces; then nothing else is asked of `address` */
  bool linear;        /* filter; else the nearest texel. Only for floating-point results */
  bool normalized;    /* coordinates from 0 to 1 */
  bool read_float;    /* integer texels become [0, 1] or [-1, 1] */
  bool srgb;          /* the first three channels of 8-bit texels that are read as floats */
  bool mip_linear;    /* between levels; else the nearest level. Only for floating-point results */
  float lod_bias, lod_min, lod_max; /* of the level of detail, in levels; only for mipmapped images */
  float border[4];
};

struct tex_object {
  bool surface;           /* no sampler */
  const char *name;       /* for messages */
  struct image image;
  struct sampler sampler;
};

struct tex_table {
  const struct tex_object *object; /* of handle i + 1; image.channels == 0: destroyed */
  uint32_t n;
};

static inline unsigned texel_bytes(const struct image *m)
{
  return m->bits / 8u * m->channels;
}

static inline uint64_t image_slices(const struct image *m)
{
  enum { CUBE_FACES = 6 };
  uint64_t slices = m->layers ? m->layers : m->extent[2];
  return m->shape == IMAGE_CUBE ? slices * CUBE_FACES : slices;
}

/* The image without its `level` first levels: each direction is half of the one before, rounded down, at least 1. */
static inline struct image image_level(const struct image *m, unsigned level)
{
  struct image at = *m;
  for (; level; level--) {
    at.base += image_slices(&at) * at.slice_bytes;
    for (unsigned a = 0; a < 3; a++) at.extent[a] -= at.extent[a] > 1 ? (at.extent[a] + 1) / 2 : 0;
    at.row_bytes = (uint64_t)at.extent[0] * texel_bytes(&at);
    at.slice_bytes = at.row_bytes * at.extent[1];
    at.levels--;
  }
  return at;
}

/* NULL: the handle names nothing. */
static inline const struct tex_object *tex_object_of(const struct tex_table *t, uint32_t handle)
{
  if (!t || handle == 0 || handle > t->n) return NULL;
  const struct tex_object *o = &t->object[handle - 1];
  return o->image.channels ? o : NULL;
}

#endif
