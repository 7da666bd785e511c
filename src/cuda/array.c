#include "cuda/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { CUBE_FACES = 6 };

struct cu_array *array_of(struct shim *s, CUarray h)
{
  struct cu_array *at = s->arrays;
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
static CUresult place(struct shim *s, const struct image_desc *d, struct image *m)
{
  struct err e = {""};
  uint64_t bytes, base;
  if (!image_layout(d, 0, m, &bytes, &e)) {
    shim_say("array: %s", e.msg);
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUresult r = memory_alloc(s, &base, bytes);
  if (r == CUDA_SUCCESS) m->base = base;
  return r;
}

CUresult array_create(struct shim *s, struct cu_array **out, enum texel_type type, unsigned bits,
                      unsigned channels, const size_t extent[3], unsigned flags)
{
  struct image_desc d = { .type = type, .bits = bits, .channels = channels };
  struct image m;
  if (!out || flags > (ARRAY_LAYERED | ARRAY_SURFACE | ARRAY_CUBE | ARRAY_GATHER))
    return CUDA_ERROR_INVALID_VALUE;
  if (!describe(&d, extent, flags)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = place(s, &d, &m);
  if (r != CUDA_SUCCESS) return r;
  struct cu_array *a = shim_alloc(sizeof *a);
  *a = (struct cu_array){ .next = s->arrays, .image = m, .flags = flags };
  memcpy(a->extent, extent, sizeof a->extent);
  *out = s->arrays = a;
  return CUDA_SUCCESS;
}

CUresult array_destroy(struct shim *s, CUarray h)
{
  for (struct cu_array **at = &s->arrays; *at; at = &(*at)->next) {
    if (*at != h) continue;
    *at = h->next;
    memory_free(s, h->image.base, 1u << BLOCK_DEVICE);
    free(h);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_HANDLE;
}

void array_destroy_all(struct shim *s)
{
  while (s->arrays) array_destroy(s, s->arrays);
  array_forget_objects(s);
  rt_forget_objects(s);
  tex_objects_free(&s->device.textures);
}

bool array_side(const struct cu_array *a, uint64_t x, uint64_t y, uint64_t z, uint64_t width,
                uint64_t height, uint64_t depth, struct copy_side *out)
{
  const struct image *m = &a->image;
  uint64_t rows = m->extent[1], slices = a->extent[2] ? a->extent[2] : 1;
  if (x > m->row_bytes || width > m->row_bytes - x || y > rows || height > rows - y || z > slices ||
      depth > slices - z)
    return false;
  *out = (struct copy_side){ .addr = m->base + z * m->slice_bytes + y * m->row_bytes + x,
                             .pitch = m->row_bytes, .slice = m->slice_bytes, .device = true };
  return true;
}

CUresult array_view_memory(struct shim *s, uint64_t addr, enum texel_type type, unsigned bits,
                           unsigned channels, size_t width, size_t height, size_t pitch,
                           struct image *m)
{
  const struct cu_block *b = memory_find(s, addr);
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
  if (texture_create(&s->device.textures, m, &sampler, "texture object", handle, &e))
    return CUDA_SUCCESS;
  shim_say("texture: %s", e.msg);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult array_surface(struct shim *s, const struct cu_array *a, uint64_t *handle)
{
  struct err e = {""};
  if (!handle || !(a->flags & ARRAY_SURFACE)) return CUDA_ERROR_INVALID_VALUE;
  if (surface_create(&s->device.textures, &a->image, "surface object", handle, &e))
    return CUDA_SUCCESS;
  shim_say("surface: %s", e.msg);
  return CUDA_ERROR_INVALID_VALUE;
}
