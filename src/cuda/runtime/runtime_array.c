/* Arrays, textures and surfaces of the runtime. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/enqueue.h"
#include "cuda/runtime/runtime.h"

/* Formats ----------------------------------------------------------------------------------------- */

enum { KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT };

/* All channels have the bits of the first; they are x, x y, or x y z w. */
static CUresult format(const cudaChannelFormatDesc *d, enum texel_type *type, unsigned *bits,
                       unsigned *channels)
{
  static const enum texel_type types[] = { [KIND_SIGNED] = TEXEL_SINT, [KIND_UNSIGNED] = TEXEL_UINT,
                                           [KIND_FLOAT] = TEXEL_FLOAT };
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  const int size[4] = { d->x, d->y, d->z, d->w };
  unsigned n = 0;
  while (n < 4 && size[n]) n++;
  for (unsigned i = 0; i < 4; i++)
    if (size[i] != (i < n ? size[0] : 0)) return cudaErrorInvalidChannelDescriptor;
  bool bits_ok = size[0] == 16 || size[0] == 32 || (size[0] == 8 && d->kind != KIND_FLOAT);
  if (d->kind < KIND_SIGNED || d->kind > KIND_FLOAT || !bits_ok || n == 3)
    return cudaErrorInvalidChannelDescriptor;
  *type = types[d->kind];
  *bits = (unsigned)size[0];
  *channels = n;
  return CUDA_SUCCESS;
}

static cudaChannelFormatDesc desc_of(const struct image *m)
{
  static const int kinds[] = { [TEXEL_SINT] = KIND_SIGNED, [TEXEL_UINT] = KIND_UNSIGNED,
                               [TEXEL_FLOAT] = KIND_FLOAT };
  return (cudaChannelFormatDesc){ .x = m->bits, .y = m->channels > 1 ? m->bits : 0,
                                  .z = m->channels > 2 ? m->bits : 0,
                                  .w = m->channels > 3 ? m->bits : 0, .kind = kinds[m->type] };
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
  return (cudaChannelFormatDesc){ x, y, z, w, kind };
}

/* Arrays ------------------------------------------------------------------------------------------ */

static CUresult create(struct shim *s, CUarray *out, const cudaChannelFormatDesc *d, size_t width,
                       size_t height, size_t depth, unsigned flags)
{
  const size_t extent[3] = { width, height, depth };
  enum texel_type type;
  unsigned bits, channels;
  CUresult r = format(d, &type, &bits, &channels);
  return r == CUDA_SUCCESS ? array_create(s, out, type, bits, channels, extent, flags) : r;
}

CUresult cudaMallocArray(CUarray *out, const cudaChannelFormatDesc *d, size_t width, size_t height,
                         unsigned flags)
{
  RUNTIME(NEED_CONTEXT, create(s, out, d, width, height, 0, flags));
}

CUresult cudaMalloc3DArray(CUarray *out, const cudaChannelFormatDesc *d, cudaExtent e, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, create(s, out, d, e.width, e.height, e.depth, flags));
}

CUresult cudaFreeArray(CUarray array)
{
  RUNTIME(NEED_CONTEXT, array ? array_destroy(s, array) : CUDA_SUCCESS);
}

static CUresult create_mipmap(struct shim *s, CUmipmappedArray *out, const cudaChannelFormatDesc *d, cudaExtent e,
                              unsigned levels, unsigned flags)
{
  const size_t extent[3] = { e.width, e.height, e.depth };
  enum texel_type type;
  unsigned bits, channels;
  CUresult r = format(d, &type, &bits, &channels);
  if (r == CUDA_SUCCESS && !levels) r = CUDA_ERROR_INVALID_VALUE;
  return r == CUDA_SUCCESS ? mipmap_create(s, out, type, bits, channels, extent, levels, flags) : r;
}

CUresult cudaMallocMipmappedArray(CUmipmappedArray *out, const cudaChannelFormatDesc *d, cudaExtent e, unsigned levels,
                                  unsigned flags)
{
  RUNTIME(NEED_CONTEXT, create_mipmap(s, out, d, e, levels, flags));
}

CUresult cudaFreeMipmappedArray(CUmipmappedArray array)
{
  RUNTIME(NEED_CONTEXT, array ? mipmap_destroy(s, array) : CUDA_SUCCESS);
}

CUresult cudaGetMipmappedArrayLevel(CUarray *out, CUmipmappedArray array, unsigned level)
{
  RUNTIME(NEED_CONTEXT, mipmap_level(s, out, array, level));
}

static CUresult info(struct shim *s, cudaChannelFormatDesc *d, cudaExtent *e, unsigned *flags,
                     CUarray array)
{
  const struct array *a = array_of(s, array);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  if (d) *d = desc_of(&a->image);
  if (e) *e = (cudaExtent){ a->extent[0], a->extent[1], a->extent[2] };
  if (flags) *flags = a->flags;
  return CUDA_SUCCESS;
}

CUresult cudaArrayGetInfo(cudaChannelFormatDesc *d, cudaExtent *e, unsigned *flags, CUarray array)
{
  RUNTIME(NEED_CONTEXT, info(s, d, e, flags, array));
}

CUresult cudaGetChannelDesc(cudaChannelFormatDesc *d, CUarray array)
{
  RUNTIME(NEED_CONTEXT, d ? info(s, d, NULL, NULL, array) : CUDA_ERROR_INVALID_VALUE);
}

/* Copies ------------------------------------------------------------------------------------------ */

/* One side of a copy: of an array from byte x of row y on, or memory. */
struct place {
  CUarray array;
  size_t x, y;
  const void *memory;
  size_t pitch;
};

static CUresult fill_side(struct shim *s, const struct place *p, size_t width, size_t height,
                          bool memory_is_dev, struct copy_side *out)
{
  if (!p->array) {
    if (height > 1 && width > p->pitch) return cudaErrorInvalidPitchValue;
    *out = (struct copy_side){ .addr = (uint64_t)(uintptr_t)p->memory, .pitch = p->pitch,
                               .device = memory_is_dev };
    return CUDA_SUCCESS;
  }
  const struct array *a = array_of(s, p->array);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  return array_side(a, p->x, p->y, 0, width, height, 1, out) ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy(struct shim *s, struct place dst, struct place src, size_t width, size_t height,
                     int kind, CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  struct copy c = { .dst.addr = (uint64_t)(uintptr_t)dst.memory,
                    .src.addr = (uint64_t)(uintptr_t)src.memory };
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!copy_direct(s, &c, kind)) return cudaErrorInvalidMemcpyDirection;
  CUresult r = fill_side(s, &dst, width, height, c.dst.device, &c.dst);
  if (r == CUDA_SUCCESS) r = fill_side(s, &src, width, height, c.src.device, &c.src);
  c.width = width;
  c.height = height;
  c.depth = 1;
  return r == CUDA_SUCCESS ? enqueue_copy(s, &c, st, blocking) : r;
}

static struct place in_array(CUarray a, size_t x, size_t y)
{
  return (struct place){ .array = a, .x = x, .y = y };
}

static struct place in_memory(const void *p, size_t pitch)
{
  return (struct place){ .memory = p, .pitch = pitch };
}

CUresult cudaMemcpy2DToArray(CUarray dst, size_t x, size_t y, const void *src, size_t pitch,
                             size_t width, size_t height, int kind)
{
  RUNTIME(NEED_CONTEXT, copy(s, in_array(dst, x, y), in_memory(src, pitch), width, height, kind,
                             NULL, true));
}

CUresult cudaMemcpy2DToArrayAsync(CUarray dst, size_t x, size_t y, const void *src, size_t pitch,
                                  size_t width, size_t height, int kind, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, copy(s, in_array(dst, x, y), in_memory(src, pitch), width, height, kind,
                             stream, false));
}

CUresult cudaMemcpy2DFromArray(void *dst, size_t pitch, CUarray src, size_t x, size_t y, size_t width,
                               size_t height, int kind)
{
  RUNTIME(NEED_CONTEXT, copy(s, in_memory(dst, pitch), in_array(src, x, y), width, height, kind,
                             NULL, true));
}

CUresult cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, CUarray src, size_t x, size_t y,
                                    size_t width, size_t height, int kind, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, copy(s, in_memory(dst, pitch), in_array(src, x, y), width, height, kind,
                             stream, false));
}

CUresult cudaMemcpy2DArrayToArray(CUarray dst, size_t dst_x, size_t dst_y, CUarray src, size_t src_x,
                                  size_t src_y, size_t width, size_t height, int kind)
{
  RUNTIME(NEED_CONTEXT, copy(s, in_array(dst, dst_x, dst_y), in_array(src, src_x, src_y), width,
                             height, kind, NULL, true));
}

/* `bytes` from a place on, over the ends of rows: rows have no gaps. */
static CUresult copy_bytes(struct shim *s, CUarray array, size_t x, size_t y, const void *memory,
                           size_t bytes, bool to_array, int kind, CUstream stream, bool blocking)
{
  const struct array *a = array_of(s, array);
  struct stream *st = stream_of(s, stream);
  if (!a || !st) return CUDA_ERROR_INVALID_HANDLE;
  uint64_t at = y * a->image.row_bytes + x, all = a->image.slice_bytes;
  if (at > all || bytes > all - at) return CUDA_ERROR_INVALID_VALUE;
  uint64_t in = a->image.base + at, out = (uint64_t)(uintptr_t)memory;
  struct copy c = to_array ? copy_linear(in, out, bytes) : copy_linear(out, in, bytes);
  if (!copy_direct(s, &c, kind)) return cudaErrorInvalidMemcpyDirection;
  *(to_array ? &c.dst.device : &c.src.device) = true;
  return enqueue_copy(s, &c, st, blocking);
}

CUresult cudaMemcpyToArray(CUarray dst, size_t x, size_t y, const void *src, size_t bytes, int kind)
{
  RUNTIME(NEED_CONTEXT, copy_bytes(s, dst, x, y, src, bytes, true, kind, NULL, true));
}

CUresult cudaMemcpyToArrayAsync(CUarray dst, size_t x, size_t y, const void *src, size_t bytes,
                                int kind, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, copy_bytes(s, dst, x, y, src, bytes, true, kind, stream, false));
}

CUresult cudaMemcpyFromArray(void *dst, CUarray src, size_t x, size_t y, size_t bytes, int kind)
{
  RUNTIME(NEED_CONTEXT, copy_bytes(s, src, x, y, dst, bytes, false, kind, NULL, true));
}

CUresult cudaMemcpyFromArrayAsync(void *dst, CUarray src, size_t x, size_t y, size_t bytes, int kind,
                                  CUstream stream)
{
  RUNTIME(NEED_CONTEXT, copy_bytes(s, src, x, y, dst, bytes, false, kind, stream, false));
}

/* Objects ----------------------------------------------------------------------------------------- */

/* What the program said when it made one. */
struct object {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
  CUDA_RESOURCE_VIEW_DESC view;
  bool has_view;
};

static void remember(struct shim *s, uint64_t handle, bool surface, const cudaResourceDesc *resource,
                     const cudaTextureDesc *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
  struct object o = { .resource = *resource, .has_view = view };
  if (texture) o.texture = *texture;
  if (view) o.view = *view;
  object_note_keep(s, NOTES_OF_RUNTIME, handle, surface, &o, sizeof o);
}

static const struct object *object_of(struct shim *s, uint64_t handle, bool surface)
{
  return object_note_find(s, NOTES_OF_RUNTIME, handle, surface);
}

static CUresult image_of(struct shim *s, const cudaResourceDesc *d, struct image *m)
{
  enum texel_type type;
  unsigned bits, channels;
  if (d->type == RESOURCE_ARRAY) {
    const struct array *a = array_of(s, d->array);
    if (!a) return CUDA_ERROR_INVALID_HANDLE;
    *m = a->image;
    return CUDA_SUCCESS;
  }
  if (d->type == RESOURCE_MIPMAP) {
    const struct mipmap *p = mipmap_of(s, d->mipmap);
    if (p) *m = p->image;
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  if (d->type != RESOURCE_LINEAR && d->type != RESOURCE_PITCHED) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = format(&d->memory.desc, &type, &bits, &channels);
  if (r != CUDA_SUCCESS) return r;
  uint64_t addr = (uint64_t)(uintptr_t)d->memory.p;
  if (d->type == RESOURCE_LINEAR)
    return array_view_memory(s, addr, type, bits, channels,
                             d->memory.width_or_bytes / (bits / 8 * channels), 0, 0, m);
  return array_view_memory(s, addr, type, bits, channels, d->memory.width_or_bytes,
                           d->memory.height, d->memory.pitch, m);
}

static CUresult texture(struct shim *s, unsigned long long *out, const cudaResourceDesc *resource,
                        const cudaTextureDesc *d, const CUDA_RESOURCE_VIEW_DESC *view)
{
  struct sampler sampler = {0};
  struct image m;
  uint64_t handle;
  if (!out || !resource || !d) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = image_of(s, resource, &m);
  if (r == CUDA_SUCCESS && view) r = array_resource_view(s, view, &m);
  if (r != CUDA_SUCCESS) return r;
  for (unsigned i = 0; i < 3; i++) {
    if (d->address[i] < ADDRESS_WRAP || d->address[i] > ADDRESS_BORDER)
      return CUDA_ERROR_INVALID_VALUE;
    sampler.address[i] = (uint8_t)d->address[i];
  }
  sampler.linear = d->filter;
  sampler.normalized = d->normalized;
  sampler.read_float = d->read_normalized;
  sampler.srgb = d->srgb;
  sampler.mip_linear = d->mip_filter;
  sampler.lod_bias = d->mip_bias;
  sampler.lod_min = d->mip_min;
  sampler.lod_max = d->mip_max;
  memcpy(sampler.border, d->border, sizeof sampler.border);
  r = array_texture(s, &m, sampler, &handle);
  if (r != CUDA_SUCCESS) return r;
  remember(s, handle, false, resource, d, view);
  *out = handle;
  return CUDA_SUCCESS;
}

CUresult cudaCreateTextureObject(unsigned long long *out, const cudaResourceDesc *resource,
                                 const cudaTextureDesc *d, const CUDA_RESOURCE_VIEW_DESC *view)
{
  RUNTIME(NEED_CONTEXT, texture(s, out, resource, d, view));
}

/* Also of an object that the driver interface made. */
static CUresult destroy(struct shim *s, unsigned long long handle, bool is_surface)
{
  if (handle == 0) return CUDA_SUCCESS;
  if (!tex_object_destroy(&s->device.textures, handle)) return CUDA_ERROR_INVALID_VALUE;
  object_note_drop(s, NOTES_OF_RUNTIME, handle, is_surface);
  return CUDA_SUCCESS;
}

static CUresult get_resource(struct shim *s, cudaResourceDesc *d, unsigned long long handle, bool surface)
{
  const struct object *o = object_of(s, handle, surface);
  if (!d || !o) return CUDA_ERROR_INVALID_VALUE;
  *d = o->resource;
  return CUDA_SUCCESS;
}

static CUresult get_texture(struct shim *s, cudaTextureDesc *d, unsigned long long handle)
{
  const struct object *o = object_of(s, handle, false);
  if (!d || !o) return CUDA_ERROR_INVALID_VALUE;
  *d = o->texture;
  return CUDA_SUCCESS;
}

CUresult cudaGetTextureObjectResourceDesc(cudaResourceDesc *d, unsigned long long handle)
{
  RUNTIME(NEED_CONTEXT, get_resource(s, d, handle, false));
}

CUresult cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *d, unsigned long long handle)
{
  RUNTIME(NEED_CONTEXT, get_resource(s, d, handle, true));
}

CUresult cudaGetTextureObjectTextureDesc(cudaTextureDesc *d, unsigned long long handle)
{
  RUNTIME(NEED_CONTEXT, get_texture(s, d, handle));
}

static CUresult get_view(struct shim *s, CUDA_RESOURCE_VIEW_DESC *d, unsigned long long handle)
{
  const struct object *o = object_of(s, handle, false);
  if (!d || !o || !o->has_view) return CUDA_ERROR_INVALID_VALUE;
  *d = o->view;
  return CUDA_SUCCESS;
}

CUresult cudaGetTextureObjectResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *d, unsigned long long handle)
{
  RUNTIME(NEED_CONTEXT, get_view(s, d, handle));
}

CUresult cudaDestroyTextureObject(unsigned long long handle)
{
  RUNTIME(NEED_CONTEXT, destroy(s, handle, false));
}

static CUresult surface(struct shim *s, unsigned long long *out, const cudaResourceDesc *d)
{
  uint64_t handle;
  if (!out || !d || d->type != RESOURCE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  const struct array *a = array_of(s, d->array);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = array_surface(s, a, &handle);
  if (r != CUDA_SUCCESS) return r;
  remember(s, handle, true, d, NULL, NULL);
  *out = handle;
  return CUDA_SUCCESS;
}

CUresult cudaCreateSurfaceObject(unsigned long long *out, const cudaResourceDesc *d)
{
  RUNTIME(NEED_CONTEXT, surface(s, out, d));
}

CUresult cudaDestroySurfaceObject(unsigned long long handle)
{
  RUNTIME(NEED_CONTEXT, destroy(s, handle, true));
}
