/* Arrays, textures and surfaces in the structures of the driver. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/array_bytes.h"
#include "cuda/core/call.h"
#include "cuda/driver/driver_forms.h"

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

static uint64_t number(const void *p)
{
  return (uint64_t)(uintptr_t)p;
}

/* Elements of one size, and whole ones (driver API, cuMemcpyAtoA). */
static CUresult array_to_array(struct shim *s, CUarray dst, size_t to, CUarray src, size_t from, size_t bytes,
                               CUstream stream)
{
  const struct array *d = array_of(s, dst), *f = array_of(s, src);
  if (!d || !f) return CUDA_ERROR_INVALID_HANDLE;
  const unsigned texel = texel_bytes(&d->image);
  if (texel != texel_bytes(&f->image) || bytes % texel) return CUDA_ERROR_INVALID_VALUE;
  return array_bytes_between(s, dst, to, 0, src, from, 0, bytes, COPY_DEVICE_TO_DEVICE, stream);
}

/* Blocking copies alone: in the legacy stream, or with _ptds in the thread's own. */
#define INSIDE_DEVICE(suffix, stream)                                                                      \
  CUresult cuMemcpyAtoA_v2##suffix(CUarray dst, size_t to, CUarray src, size_t from, size_t bytes)         \
  {                                                                                                        \
    DRIVER(NEED_CONTEXT, array_to_array(s, dst, to, src, from, bytes, stream));                            \
  }                                                                                                        \
  CUresult cuMemcpyDtoA_v2##suffix(CUarray dst, size_t to, CUdeviceptr src, size_t bytes)                  \
  {                                                                                                        \
    DRIVER(NEED_CONTEXT,                                                                                   \
           array_bytes_copy(s, dst, to, 0, src, bytes, true, COPY_DEVICE_TO_DEVICE, stream, true));        \
  }                                                                                                        \
  CUresult cuMemcpyAtoD_v2##suffix(CUdeviceptr dst, CUarray src, size_t from, size_t bytes)                \
  {                                                                                                        \
    DRIVER(NEED_CONTEXT,                                                                                   \
           array_bytes_copy(s, src, from, 0, dst, bytes, false, COPY_DEVICE_TO_DEVICE, stream, true));     \
  }
INSIDE_DEVICE(, NULL)
INSIDE_DEVICE(_ptds, STREAM_PER_THREAD)

CUresult cuMemcpyHtoA_v2(CUarray dst, size_t to, const void *src, size_t bytes)
{
  DRIVER(NEED_CONTEXT, array_bytes_copy(s, dst, to, 0, number(src), bytes, true, COPY_HOST_TO_DEVICE, NULL, true));
}

CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t from, size_t bytes)
{
  DRIVER(NEED_CONTEXT, array_bytes_copy(s, src, from, 0, number(dst), bytes, false, COPY_DEVICE_TO_HOST, NULL, true));
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t to, const void *src, size_t bytes, CUstream stream)
{
  DRIVER(NEED_CONTEXT,
         array_bytes_copy(s, dst, to, 0, number(src), bytes, true, COPY_HOST_TO_DEVICE, stream, false));
}

CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t from, size_t bytes, CUstream stream)
{
  DRIVER(NEED_CONTEXT,
         array_bytes_copy(s, src, from, 0, number(dst), bytes, false, COPY_DEVICE_TO_HOST, stream, false));
}

/* Objects ----------------------------------------------------------------------------------------- */

static CUresult read_resource(const void *from, struct resource *r)
{
  const CUDA_RESOURCE_DESC *d = from;
  r->type = d->type;
  if (d->type == RESOURCE_ARRAY) r->array = d->of.array;
  if (d->type == RESOURCE_MIPMAP) r->mipmap = d->of.mipmap;
  if (d->type == RESOURCE_ARRAY || d->type == RESOURCE_MIPMAP) return CUDA_SUCCESS;
  /* Both kinds of memory begin with address, format and channels. */
  if ((d->type != RESOURCE_LINEAR && d->type != RESOURCE_PITCHED) ||
      !read_format(d->of.linear.format, d->of.linear.channels, &r->texel, &r->bits))
    return CUDA_ERROR_INVALID_VALUE;
  r->addr = d->of.linear.p;
  r->channels = d->of.linear.channels;
  r->bytes = d->of.linear.bytes;
  r->width = d->of.pitched.width, r->height = d->of.pitched.height, r->pitch = d->of.pitched.pitch;
  return CUDA_SUCCESS;
}

/* CUDA Driver API, cuTexObjectCreate: integers of 8 and 16 bits become floats unless they are read as integers;
 * those of 32 bits never do. */
static bool read_sampler(const void *from, const struct image *m, struct sampler *out)
{
  const CUDA_TEXTURE_DESC *d = from;
  *out = (struct sampler){ .seamless = (d->flags & TEXTURE_SEAMLESS) && m->shape == IMAGE_CUBE,
                           .linear = d->filter != 0,
                           .normalized = (d->flags & TEXTURE_NORMALIZED) != 0,
                           .srgb = (d->flags & TEXTURE_SRGB) != 0, .mip_linear = d->mip_filter != 0,
                           .lod_bias = d->mip_bias, .lod_min = d->mip_min, .lod_max = d->mip_max };
  out->read_float = !(d->flags & TEXTURE_READ_AS_INTEGER) && m->type != TEXEL_FLOAT && m->bits < 32;
  memcpy(out->border, d->border, sizeof out->border);
  return texture_object_modes(d->address, out);
}

const struct object_forms driver_object_forms = {
  .list = NOTES_OF_DRIVER,
  .resource_bytes = sizeof(CUDA_RESOURCE_DESC),
  .texture_bytes = sizeof(CUDA_TEXTURE_DESC),
  .read_resource = read_resource,
  .read_sampler = read_sampler,
};
