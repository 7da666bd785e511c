#include "cuda/core/array.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/shim.h"
#include "cuda/core/stream_capture.h"

enum { CUBE_FACES = 6 };

struct array *array_of(struct shim *s, CUarray h)
{
  struct array *at = s->arrays.first;
  while (at && at != h) at = at->next;
  return at;
}

/* CUDA Runtime API, cudaMalloc3DArray: "Extents" of each kind of array. False: none of them. */
static bool describe(struct image_desc *d, const size_t extent[3], unsigned flags)
{
  bool layered = flags & ARRAY_LAYERED, cube = flags & ARRAY_CUBE;
  for (unsigned i = 0; i < 3; i++) {
    if (extent[i] > UINT32_MAX) return false;
    d->extent[i] = (uint32_t)extent[i];
  }
  d->shape = extent[1] == 0 ? IMAGE_1D : extent[2] == 0 || layered ? IMAGE_2D : IMAGE_3D;
  if (cube) {
    if (extent[2] % CUBE_FACES || (!layered && extent[2] != CUBE_FACES)) return false;
    d->shape = IMAGE_CUBE;
  } else if (d->shape == IMAGE_1D && extent[2] && !layered) {
    return false;
  }
  if (layered) d->layers = (uint32_t)extent[2] / (cube ? CUBE_FACES : 1);
  if (layered || cube) d->extent[2] = 0;
  return !layered || d->layers;
}

/* Lays the image out behind memory of its own. */
static CUresult place(struct shim *s, struct board *b, const struct image_desc *d, struct image *m)
{
  struct err e = {""};
  uint64_t bytes, base;
  CUresult r;
  if (capture_forbids_unsafe(s, &r)) return r;
  if (!image_layout(d, 0, m, &bytes, &e)) {
    shim_say("array: %s", e.msg);
    return CUDA_ERROR_INVALID_VALUE;
  }
  r = memory_alloc(s, b, &base, bytes);
  if (r == CUDA_SUCCESS) m->base = base;
  return r;
}

static CUresult make(struct shim *s, struct image_desc *d, const size_t extent[3], unsigned flags, struct image *m)
{
  bool ok = flags <= (ARRAY_LAYERED | ARRAY_SURFACE | ARRAY_CUBE | ARRAY_GATHER) && describe(d, extent, flags);
  return ok ? place(s, board_current(s), d, m) : CUDA_ERROR_INVALID_VALUE;
}

static struct array *add(struct shim *s, const struct image *m, const size_t extent[3], unsigned flags)
{
  struct array *a = shim_alloc(sizeof *a);
  *a = (struct array){ .next = s->arrays.first, .board = board_of(s, m->base), .image = *m, .flags = flags };
  memcpy(a->extent, extent, sizeof a->extent);
  s->arrays.first = a;
  return a;
}

CUresult array_create(struct shim *s, struct array **out, enum texel_type type, unsigned bits,
                      unsigned channels, const size_t extent[3], unsigned flags)
{
  struct image_desc d = { .type = type, .bits = bits, .channels = channels };
  struct image m;
  CUresult r = out ? make(s, &d, extent, flags, &m) : CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS) *out = add(s, &m, extent, flags);
  return r;
}

static void forget(struct shim *s, struct array *a)
{
  struct array **at = &s->arrays.first;
  while (*at != a) at = &(*at)->next;
  *at = a->next;
  free(a);
}

CUresult array_destroy(struct shim *s, CUarray h)
{
  struct array *a = array_of(s, h);
  if (!a || a->owner) return CUDA_ERROR_INVALID_HANDLE;
  parts_settle(s);
  memory_free(s, a->image.base, 1u << BLOCK_DEVICE);
  forget(s, a);
  return CUDA_SUCCESS;
}

/* Mipmapped arrays ------------------------------------------------------------------------------- */

struct mipmap *mipmap_of(struct shim *s, CUmipmappedArray h)
{
  struct mipmap *at = s->arrays.mipmaps;
  while (at && at != h) at = at->next;
  return at;
}

/* Layers and faces stay as they are. */
static struct array *add_level(struct shim *s, struct mipmap *p, unsigned level, const size_t extent[3],
                                  unsigned flags)
{
  struct image m = image_level(&p->image, level);
  size_t own[3];
  for (unsigned i = 0; i < 3; i++)
    own[i] = !extent[i] || (i == 2 && m.shape != IMAGE_3D) ? extent[i] : m.extent[i];
  m.levels = 1;
  struct array *a = add(s, &m, own, flags);
  a->owner = p;
  return a;
}

CUresult mipmap_create(struct shim *s, struct mipmap **out, enum texel_type type, unsigned bits, unsigned channels,
                       const size_t extent[3], unsigned levels, unsigned flags)
{
  struct image_desc d = { .type = type, .bits = bits, .channels = channels, .levels = levels };
  struct image m;
  CUresult r = out ? make(s, &d, extent, flags, &m) : CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS) return r;
  struct mipmap *p = shim_alloc(sizeof *p + m.levels * sizeof p->level[0]);
  *p = (struct mipmap){ .next = s->arrays.mipmaps, .image = m };
  for (unsigned i = 0; i < m.levels; i++) p->level[i] = add_level(s, p, i, extent, flags);
  *out = s->arrays.mipmaps = p;
  return CUDA_SUCCESS;
}

CUresult mipmap_destroy(struct shim *s, CUmipmappedArray h)
{
  struct mipmap **at = &s->arrays.mipmaps;
  while (*at && *at != h) at = &(*at)->next;
  if (!*at) return CUDA_ERROR_INVALID_HANDLE;
  parts_settle(s);
  *at = h->next;
  memory_free(s, h->image.base, 1u << BLOCK_DEVICE);
  for (unsigned i = 0; i < h->image.levels; i++) forget(s, h->level[i]);
  free(h);
  return CUDA_SUCCESS;
}

CUresult mipmap_level(struct shim *s, CUarray *out, CUmipmappedArray h, unsigned level)
{
  const struct mipmap *p = mipmap_of(s, h);
  if (!p) return CUDA_ERROR_INVALID_HANDLE;
  if (!out || level >= p->image.levels) return CUDA_ERROR_INVALID_VALUE;
  *out = p->level[level];
  return CUDA_SUCCESS;
}

/* Views ------------------------------------------------------------------------------------------ */

/* CUresourceViewFormat: of each type one, two and four channels; compressed blocks come behind. */
static bool read_view_format(int format, struct image *m)
{
  static const struct {
    uint8_t type, bits;
  } of[] = {{TEXEL_UINT, 8}, {TEXEL_SINT, 8}, {TEXEL_UINT, 16}, {TEXEL_SINT, 16}, {TEXEL_UINT, 32}, {TEXEL_SINT, 32},
            {TEXEL_FLOAT, 16}, {TEXEL_FLOAT, 32}};
  enum { FIRST = 1, CHANNELS = 3, LAST = FIRST + CHANNELS * sizeof of / sizeof of[0] - 1 };
  unsigned bytes = texel_bytes(m), i = (unsigned)(format - FIRST);
  if (!format) return true;
  if (format < FIRST || format > LAST) return false;
  m->type = of[i / CHANNELS].type;
  m->bits = of[i / CHANNELS].bits;
  m->channels = (uint8_t)(1u << i % CHANNELS);
  return texel_bytes(m) == bytes;
}

CUresult array_resource_view(struct shim *s, const CUDA_RESOURCE_VIEW_DESC *v, struct image *m)
{
  unsigned n = v->last_layer - v->first_layer + 1;
  bool part = m->layers && n != m->layers;
  if (!read_view_format(v->format, m)) return shim_unsupported(s, "a resource view of blocks or of other texel sizes");
  if (v->width != m->extent[0] || v->height > m->extent[1] || v->first_level > v->last_level ||
      v->last_level >= m->levels || (part && (v->last_layer >= m->layers || v->first_layer > v->last_layer)))
    return CUDA_ERROR_INVALID_VALUE;
  if (part && m->levels > 1) return shim_unsupported(s, "a resource view of some layers of a mipmapped array");
  *m = image_level(m, v->first_level);
  m->levels = (uint8_t)(v->last_level - v->first_level + 1);
  if (!part) return CUDA_SUCCESS;
  uint64_t each = image_slices(m) / m->layers * m->slice_bytes;
  m->base += v->first_layer * each;
  m->layers = n;
  return CUDA_SUCCESS;
}

/* Sides of copies, objects ---------------------------------------------------------------------- */

bool array_side(const struct array *a, uint64_t x, uint64_t y, uint64_t z, uint64_t width,
                uint64_t height, uint64_t depth, struct copy_side *out)
{
  const struct image *m = &a->image;
  uint64_t rows = m->extent[1], slices = a->extent[2] ? a->extent[2] : 1;
  if (x % texel_bytes(m) || x > m->row_bytes || width > m->row_bytes - x || y > rows || height > rows - y ||
      z > slices || depth > slices - z)
    return false;
  *out = (struct copy_side){ .addr = m->base + z * m->slice_bytes + y * m->row_bytes + x,
                             .pitch = m->row_bytes, .slice = m->slice_bytes, .device = true };
  return true;
}

CUresult array_view_memory(struct shim *s, uint64_t addr, enum texel_type type, unsigned bits,
                           unsigned channels, size_t width, size_t height, size_t pitch,
                           struct image *m)
{
  const struct block *b = memory_find(s, addr);
  struct image_desc d = { .shape = pitch ? IMAGE_2D : IMAGE_BUFFER, .type = type, .bits = bits,
                          .channels = channels, .pitch = pitch };
  struct err e = {""};
  uint64_t bytes;
  if (width > UINT32_MAX || height > UINT32_MAX || !memory_is_device(s, addr))
    return CUDA_ERROR_INVALID_VALUE;
  d.extent[0] = (uint32_t)width;
  d.extent[1] = (uint32_t)height;
  if (b) addr = b->device + (addr - (addr - b->addr < b->bytes ? b->addr : b->device));
  if (!image_layout(&d, addr, m, &bytes, &e)) {
    shim_say("texture: %s", e.msg);
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult array_texture(struct shim *s, const struct image *m, struct sampler sampler, uint64_t *handle)
{
  struct err e = {""};
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  if (m->type == TEXEL_FLOAT) sampler.read_float = false; /* asked for, and so anyway */
  if (m->shape == IMAGE_BUFFER) { /* read by number: the sampler counts for nothing */
    sampler.linear = sampler.normalized = false;
  }
  if (texture_create(&board_current(s)->device.textures, m, &sampler, "texture object", handle, &e))
    return CUDA_SUCCESS;
  shim_say("texture: %s", e.msg);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult array_surface(struct shim *s, const struct array *a, uint64_t *handle)
{
  struct err e = {""};
  if (!handle || !(a->flags & ARRAY_SURFACE)) return CUDA_ERROR_INVALID_VALUE;
  if (surface_create(&board_current(s)->device.textures, &a->image, "surface object", handle, &e))
    return CUDA_SUCCESS;
  shim_say("surface: %s", e.msg);
  return CUDA_ERROR_INVALID_VALUE;
}

static void reset(struct shim *s, struct board *b)
{
  for (struct mipmap *m = s->arrays.mipmaps, *next; m; m = next) {
    next = m->next;
    if (board_of(s, m->image.base) == b) mipmap_destroy(s, m);
  }
  for (struct array *a = s->arrays.first, *next; a; a = next) {
    next = a->next;
    if (a->board == b) array_destroy(s, a);
  }
  tex_objects_free(&b->device.textures);
}

const struct shim_part array_part = { .reset = reset };
