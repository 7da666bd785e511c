/* Arrays, textures and surfaces in the structures of the runtime. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/array_bytes.h"
#include "cuda/core/enqueue.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/runtime_forms.h"

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
struct copy_end {
  CUarray array;
  size_t x, y;
  const void *memory;
  size_t pitch;
};

static CUresult fill_side(struct shim *s, const struct copy_end *p, size_t width, size_t height,
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

static CUresult copy(struct shim *s, struct copy_end dst, struct copy_end src, size_t width, size_t height,
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

static struct copy_end in_array(CUarray a, size_t x, size_t y)
{
  return (struct copy_end){ .array = a, .x = x, .y = y };
}

static struct copy_end in_memory(const void *p, size_t pitch)
{
  return (struct copy_end){ .memory = p, .pitch = pitch };
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

/* Between arrays there are blocking copies alone: in the legacy stream, or with _ptds in the thread's own. */
#define BETWEEN_ARRAYS(name, stream)                                                               \
  CUresult name(CUarray dst, size_t dst_x, size_t dst_y, CUarray src, size_t src_x, size_t src_y,  \
                size_t width, size_t height, int kind)                                             \
  {                                                                                                \
    RUNTIME(NEED_CONTEXT, copy(s, in_array(dst, dst_x, dst_y), in_array(src, src_x, src_y), width, \
                               height, kind, stream, true));                                       \
  }
BETWEEN_ARRAYS(cudaMemcpy2DArrayToArray, NULL)
BETWEEN_ARRAYS(cudaMemcpy2DArrayToArray_ptds, STREAM_PER_THREAD)

static uint64_t number(const void *p)
{
  return (uint64_t)(uintptr_t)p;
}

CUresult cudaMemcpyToArray(CUarray dst, size_t x, size_t y, const void *src, size_t bytes, int kind)
{
  RUNTIME(NEED_CONTEXT, array_bytes_copy(s, dst, x, y, number(src), bytes, true, kind, NULL, true));
}

CUresult cudaMemcpyToArrayAsync(CUarray dst, size_t x, size_t y, const void *src, size_t bytes,
                                int kind, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, array_bytes_copy(s, dst, x, y, number(src), bytes, true, kind, stream, false));
}

CUresult cudaMemcpyFromArray(void *dst, CUarray src, size_t x, size_t y, size_t bytes, int kind)
{
  RUNTIME(NEED_CONTEXT, array_bytes_copy(s, src, x, y, number(dst), bytes, false, kind, NULL, true));
}

CUresult cudaMemcpyFromArrayAsync(void *dst, CUarray src, size_t x, size_t y, size_t bytes, int kind,
                                  CUstream stream)
{
  RUNTIME(NEED_CONTEXT, array_bytes_copy(s, src, x, y, number(dst), bytes, false, kind, stream, false));
}

#define BYTES_BETWEEN_ARRAYS(name, stream)                                                         \
  CUresult name(CUarray dst, size_t dst_x, size_t dst_y, CUarray src, size_t src_x, size_t src_y,  \
                size_t bytes, int kind)                                                            \
  {                                                                                                \
    RUNTIME(NEED_CONTEXT,                                                                          \
            array_bytes_between(s, dst, dst_x, dst_y, src, src_x, src_y, bytes, kind, stream));    \
  }
BYTES_BETWEEN_ARRAYS(cudaMemcpyArrayToArray, NULL)
BYTES_BETWEEN_ARRAYS(cudaMemcpyArrayToArray_ptds, STREAM_PER_THREAD)

/* Objects ----------------------------------------------------------------------------------------- */

static CUresult read_resource(const void *from, struct resource *r)
{
  const cudaResourceDesc *d = from;
  r->type = d->type;
  if (d->type == RESOURCE_ARRAY) r->array = d->array;
  if (d->type == RESOURCE_MIPMAP) r->mipmap = d->mipmap;
  if (d->type == RESOURCE_ARRAY || d->type == RESOURCE_MIPMAP) return CUDA_SUCCESS;
  if (d->type != RESOURCE_LINEAR && d->type != RESOURCE_PITCHED) return CUDA_ERROR_INVALID_VALUE;
  r->addr = number(d->memory.p);
  r->bytes = r->width = d->memory.width_or_bytes;
  r->height = d->memory.height, r->pitch = d->memory.pitch;
  return format(&d->memory.desc, &r->texel, &r->bits, &r->channels);
}

static bool read_sampler(const void *from, const struct image *m, struct sampler *out)
{
  const cudaTextureDesc *d = from;
  *out = (struct sampler){ .seamless = d->seamless_cube && m->shape == IMAGE_CUBE, .linear = d->filter,
                           .normalized = d->normalized, .read_float = d->read_normalized,
                           .srgb = d->srgb, .mip_linear = d->mip_filter, .lod_bias = d->mip_bias,
                           .lod_min = d->mip_min, .lod_max = d->mip_max };
  memcpy(out->border, d->border, sizeof out->border);
  return texture_object_modes(d->address, out);
}

const struct object_forms runtime_object_forms = {
  .list = NOTES_OF_RUNTIME,
  .resource_bytes = sizeof(cudaResourceDesc),
  .texture_bytes = sizeof(cudaTextureDesc),
  .lenient = true,
  .read_resource = read_resource,
  .read_sampler = read_sampler,
};
