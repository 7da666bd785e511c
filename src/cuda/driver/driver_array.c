/* Arrays, textures and surfaces of the driver. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/call.h"
#include "cuda/core/enqueue.h"

/* Formats ----------------------------------------------------------------------------------------- */

static const struct {
  int format;
  enum texel_type type;
  unsigned bits;
} formats[] = {
  {FORMAT_U8, TEXEL_UINT, 8},   {FORMAT_U16, TEXEL_UINT, 16},  {FORMAT_U32, TEXEL_UINT, 32},
  {FORMAT_S8, TEXEL_SINT, 8},   {FORMAT_S16, TEXEL_SINT, 16},  {FORMAT_S32, TEXEL_SINT, 32},
  {FORMAT_HALF, TEXEL_FLOAT, 16}, {FORMAT_FLOAT, TEXEL_FLOAT, 32},
};

enum { N_FORMATS = sizeof formats / sizeof formats[0] };

/* False: no such format, or it is one of video planes or compressed blocks, which are not served. */
static bool read_format(int format, unsigned channels, enum texel_type *type, unsigned *bits)
{
  for (unsigned i = 0; i < N_FORMATS; i++) {
    if (formats[i].format != format) continue;
    *type = formats[i].type;
    *bits = formats[i].bits;
    return channels == 1 || channels == 2 || channels == 4;
  }
  return false;
}

static int format_of(const struct image *m)
{
  for (unsigned i = 0; i < N_FORMATS; i++)
    if (formats[i].type == (enum texel_type)m->type && formats[i].bits == m->bits)
      return formats[i].format;
  return 0;
}

/* Arrays ------------------------------------------------------------------------------------------ */

static CUresult create(struct shim *s, CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
  enum texel_type type;
  unsigned bits;
  if (!out || !d || !read_format(d->format, d->channels, &type, &bits))
    return CUDA_ERROR_INVALID_VALUE;
  return array_create(s, out, type, bits, d->channels,
                      (const size_t[3]){ d->width, d->height, d->depth }, d->flags);
}

CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
  DRIVER(NEED_CONTEXT, create(s, out, d));
}

static CUresult create_2d(struct shim *s, CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR full = { .width = d->width, .height = d->height, .format = d->format,
                                   .channels = d->channels };
  return create(s, out, &full);
}

CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
  DRIVER(NEED_CONTEXT, create_2d(s, out, d));
}

CUresult cuArrayDestroy(CUarray array)
{
  DRIVER(NEED_CONTEXT, array_destroy(s, array));
}

static CUresult create_mipmap(struct shim *s, CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
  enum texel_type type;
  unsigned bits;
  if (!out || !d || !levels || !read_format(d->format, d->channels, &type, &bits)) return CUDA_ERROR_INVALID_VALUE;
  return mipmap_create(s, out, type, bits, d->channels, (const size_t[3]){ d->width, d->height, d->depth }, levels,
                       d->flags);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
  DRIVER(NEED_CONTEXT, create_mipmap(s, out, d, levels));
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
  DRIVER(NEED_CONTEXT, mipmap_destroy(s, array));
}

CUresult cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray array, unsigned level)
{
  DRIVER(NEED_CONTEXT, mipmap_level(s, out, array, level));
}

static CUresult describe(struct shim *s, CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array)
{
  const struct array *a = array_of(s, array);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  *d = (CUDA_ARRAY3D_DESCRIPTOR){ .width = a->extent[0], .height = a->extent[1],
                                  .depth = a->extent[2], .format = format_of(&a->image),
                                  .channels = a->image.channels, .flags = a->flags };
  return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array)
{
  DRIVER(NEED_CONTEXT, describe(s, d, array));
}

static CUresult describe_2d(struct shim *s, CUDA_ARRAY_DESCRIPTOR *d, CUarray array)
{
  CUDA_ARRAY3D_DESCRIPTOR full;
  CUresult r = describe(s, &full, array);
  if (r != CUDA_SUCCESS || !d) return r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r;
  *d = (CUDA_ARRAY_DESCRIPTOR){ full.width, full.height, full.format, full.channels };
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *d, CUarray array)
{
  DRIVER(NEED_CONTEXT, describe_2d(s, d, array));
}

/* Copies of bytes from an offset on: rows have no gaps. --------------------------------------------- */

static CUresult place(struct shim *s, CUarray array, size_t offset, size_t bytes, uint64_t *addr)
{
  const struct array *a = array_of(s, array);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  if (offset > a->image.slice_bytes || bytes > a->image.slice_bytes - offset)
    return CUDA_ERROR_INVALID_VALUE;
  *addr = a->image.base + offset;
  return CUDA_SUCCESS;
}

static CUresult copy_bytes(struct shim *s, uint64_t dst, uint64_t src, size_t bytes, int kind,
                           CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  struct copy c = copy_linear(dst, src, bytes);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  copy_direct(s, &c, kind);
  return enqueue_copy(s, &c, st, blocking);
}

static CUresult to_array(struct shim *s, CUarray dst, size_t offset, uint64_t src, size_t bytes,
                         int kind, CUstream stream, bool blocking)
{
  uint64_t at = 0;
  CUresult r = place(s, dst, offset, bytes, &at);
  return r == CUDA_SUCCESS ? copy_bytes(s, at, src, bytes, kind, stream, blocking) : r;
}

static CUresult from_array(struct shim *s, uint64_t dst, CUarray src, size_t offset, size_t bytes,
                           int kind, CUstream stream, bool blocking)
{
  uint64_t at = 0;
  CUresult r = place(s, src, offset, bytes, &at);
  return r == CUDA_SUCCESS ? copy_bytes(s, dst, at, bytes, kind, stream, blocking) : r;
}

static CUresult array_to_array(struct shim *s, CUarray dst, size_t to, CUarray src, size_t from,
                               size_t bytes)
{
  uint64_t at = 0;
  CUresult r = place(s, dst, to, bytes, &at);
  return r == CUDA_SUCCESS ? from_array(s, at, src, from, bytes, COPY_DEVICE_TO_DEVICE, NULL, true) : r;
}

CUresult cuMemcpyAtoA_v2(CUarray dst, size_t to, CUarray src, size_t from, size_t bytes)
{
  DRIVER(NEED_CONTEXT, array_to_array(s, dst, to, src, from, bytes));
}

CUresult cuMemcpyDtoA_v2(CUarray dst, size_t to, CUdeviceptr src, size_t bytes)
{
  DRIVER(NEED_CONTEXT, to_array(s, dst, to, src, bytes, COPY_DEVICE_TO_DEVICE, NULL, true));
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t from, size_t bytes)
{
  DRIVER(NEED_CONTEXT, from_array(s, dst, src, from, bytes, COPY_DEVICE_TO_DEVICE, NULL, true));
}

CUresult cuMemcpyHtoA_v2(CUarray dst, size_t to, const void *src, size_t bytes)
{
  DRIVER(NEED_CONTEXT, to_array(s, dst, to, (uint64_t)(uintptr_t)src, bytes, COPY_HOST_TO_DEVICE,
                                NULL, true));
}

CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t from, size_t bytes)
{
  DRIVER(NEED_CONTEXT, from_array(s, (uint64_t)(uintptr_t)dst, src, from, bytes, COPY_DEVICE_TO_HOST,
                                  NULL, true));
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t to, const void *src, size_t bytes, CUstream stream)
{
  DRIVER(NEED_CONTEXT, to_array(s, dst, to, (uint64_t)(uintptr_t)src, bytes, COPY_HOST_TO_DEVICE,
                                stream, false));
}

CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t from, size_t bytes, CUstream stream)
{
  DRIVER(NEED_CONTEXT, from_array(s, (uint64_t)(uintptr_t)dst, src, from, bytes, COPY_DEVICE_TO_HOST,
                                  stream, false));
}

/* Objects ----------------------------------------------------------------------------------------- */

/* What the program said when it made one. */
struct object {
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC texture;
  CUDA_RESOURCE_VIEW_DESC view;
  bool has_view;
};

static void remember(struct shim *s, uint64_t handle, bool surface, const CUDA_RESOURCE_DESC *resource,
                     const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
  struct object o = { .resource = *resource, .has_view = view };
  if (texture) o.texture = *texture;
  if (view) o.view = *view;
  object_note_keep(s, NOTES_OF_DRIVER, handle, surface, &o, sizeof o);
}

static const struct object *object_of(struct shim *s, uint64_t handle, bool surface)
{
  return object_note_find(s, NOTES_OF_DRIVER, handle, surface);
}

static CUresult image_of(struct shim *s, const CUDA_RESOURCE_DESC *d, struct image *m)
{
  enum texel_type type;
  unsigned bits;
  if (d->type == RESOURCE_ARRAY) {
    const struct array *a = array_of(s, d->of.array);
    if (a) *m = a->image;
    return a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  if (d->type == RESOURCE_MIPMAP) {
    const struct mipmap *p = mipmap_of(s, d->of.mipmap);
    if (p) *m = p->image;
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  /* Both kinds begin with address, format and channels. */
  if ((d->type != RESOURCE_LINEAR && d->type != RESOURCE_PITCHED) ||
      !read_format(d->of.linear.format, d->of.linear.channels, &type, &bits))
    return CUDA_ERROR_INVALID_VALUE;
  if (d->type == RESOURCE_LINEAR)
    return array_view_memory(s, d->of.linear.p, type, bits, d->of.linear.channels,
                             d->of.linear.bytes / (bits / 8 * d->of.linear.channels), 0, 0, m);
  return array_view_memory(s, d->of.pitched.p, type, bits, d->of.pitched.channels,
                           d->of.pitched.width, d->of.pitched.height, d->of.pitched.pitch, m);
}

/* CUDA Driver API, cuTexObjectCreate: integers of 8 and 16 bits become floats unless they are read as integers;
 * those of 32 bits never do. */
static bool read_sampler(const CUDA_TEXTURE_DESC *d, const struct image *m, struct sampler *out)
{
  *out = (struct sampler){ .linear = d->filter != 0,
                           .normalized = (d->flags & TEXTURE_NORMALIZED) != 0,
                           .srgb = (d->flags & TEXTURE_SRGB) != 0, .mip_linear = d->mip_filter != 0,
                           .lod_bias = d->mip_bias, .lod_min = d->mip_min, .lod_max = d->mip_max };
  out->read_float = !(d->flags & TEXTURE_READ_AS_INTEGER) && m->type != TEXEL_FLOAT && m->bits < 32;
  for (unsigned i = 0; i < 3; i++) {
    if (d->address[i] < ADDRESS_WRAP || d->address[i] > ADDRESS_BORDER) return false;
    out->address[i] = (uint8_t)d->address[i];
  }
  memcpy(out->border, d->border, sizeof out->border);
  return true;
}

static CUresult texture(struct shim *s, unsigned long long *out, const CUDA_RESOURCE_DESC *resource,
                        const CUDA_TEXTURE_DESC *d, const CUDA_RESOURCE_VIEW_DESC *view)
{
  struct sampler sampler;
  struct image m;
  uint64_t handle;
  if (!out || !resource || !d) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = image_of(s, resource, &m);
  if (r == CUDA_SUCCESS && view) r = array_resource_view(s, view, &m);
  if (r != CUDA_SUCCESS) return r;
  if (!read_sampler(d, &m, &sampler)) return CUDA_ERROR_INVALID_VALUE;
  r = array_texture(s, &m, sampler, &handle);
  if (r != CUDA_SUCCESS) return r;
  remember(s, handle, false, resource, d, view);
  *out = handle;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(unsigned long long *out, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *d, const CUDA_RESOURCE_VIEW_DESC *view)
{
  DRIVER(NEED_CONTEXT, texture(s, out, resource, d, view));
}

static CUresult surface(struct shim *s, unsigned long long *out, const CUDA_RESOURCE_DESC *resource)
{
  uint64_t handle;
  if (!out || !resource || resource->type != RESOURCE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  const struct array *a = array_of(s, resource->of.array);
  CUresult r = a ? array_surface(s, a, &handle) : CUDA_ERROR_INVALID_HANDLE;
  if (r != CUDA_SUCCESS) return r;
  remember(s, handle, true, resource, NULL, NULL);
  *out = handle;
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(unsigned long long *out, const CUDA_RESOURCE_DESC *resource)
{
  DRIVER(NEED_CONTEXT, surface(s, out, resource));
}

static CUresult destroy(struct shim *s, unsigned long long handle, bool is_surface)
{
  if (!object_of(s, handle, is_surface) || !tex_object_destroy(&s->device.textures, handle))
    return CUDA_ERROR_INVALID_VALUE;
  object_note_drop(s, NOTES_OF_DRIVER, handle, is_surface);
  return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(unsigned long long handle)
{
  DRIVER(NEED_CONTEXT, destroy(s, handle, false));
}

CUresult cuSurfObjectDestroy(unsigned long long handle)
{
  DRIVER(NEED_CONTEXT, destroy(s, handle, true));
}

static CUresult get_resource(struct shim *s, CUDA_RESOURCE_DESC *d, uint64_t handle, bool is_surface)
{
  const struct object *o = object_of(s, handle, is_surface);
  if (!o || !d) return CUDA_ERROR_INVALID_VALUE;
  *d = o->resource;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *d, unsigned long long handle)
{
  DRIVER(NEED_CONTEXT, get_resource(s, d, handle, false));
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *d, unsigned long long handle)
{
  DRIVER(NEED_CONTEXT, get_resource(s, d, handle, true));
}

static CUresult get_texture(struct shim *s, CUDA_TEXTURE_DESC *d, uint64_t handle)
{
  const struct object *o = object_of(s, handle, false);
  if (!o || !d) return CUDA_ERROR_INVALID_VALUE;
  *d = o->texture;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *d, unsigned long long handle)
{
  DRIVER(NEED_CONTEXT, get_texture(s, d, handle));
}

static CUresult get_view(struct shim *s, CUDA_RESOURCE_VIEW_DESC *d, uint64_t handle)
{
  const struct object *o = object_of(s, handle, false);
  if (!o || !d || !o->has_view) return CUDA_ERROR_INVALID_VALUE;
  *d = o->view;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *d, unsigned long long handle)
{
  DRIVER(NEED_CONTEXT, get_view(s, d, handle));
}
