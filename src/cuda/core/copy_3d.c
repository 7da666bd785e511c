#include "cuda/core/copy_3d.h"

#include "cuda/core/array.h"

/* One side of a 2D or 3D copy as the driver describes it. */
struct described {
  unsigned type;
  const void *host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, height;
};

/* Where a copy begins, and the bytes from slice to slice. False: they do not fit 64 bits. */
static bool place(struct copy_side *out, uint64_t base, size_t x, size_t y, size_t z, size_t pitch, size_t rows)
{
  uint64_t row, slice;
  out->pitch = pitch;
  return !__builtin_mul_overflow(pitch, rows, &out->slice) && !__builtin_mul_overflow(y, pitch, &row) &&
         !__builtin_mul_overflow(z, out->slice, &slice) && !__builtin_add_overflow(base, x, &out->addr) &&
         !__builtin_add_overflow(out->addr, row, &out->addr) && !__builtin_add_overflow(out->addr, slice, &out->addr);
}

/* Rows that are told apart lie within their pitch, those of a slice within its height (driver API, cuMemcpy3D). */
static bool lies_within(const struct described *d, const struct copy *c)
{
  uint64_t end, bottom;
  if (__builtin_add_overflow(d->x, c->width, &end) || __builtin_add_overflow(d->y, c->height, &bottom)) return false;
  return (!d->pitch || (c->height < 2 && c->depth < 2) || end <= d->pitch) && (c->depth < 2 || bottom <= d->height);
}

static CUresult side(struct shim *s, const struct described *d, const struct copy *c,
                     struct copy_side *out)
{
  if (d->type == MEM_ARRAY) {
    const struct array *a = array_of(s, d->array);
    if (!a) return CUDA_ERROR_INVALID_HANDLE;
    return array_side(a, d->x, d->y, d->z, c->width, c->height, c->depth, out)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  }
  if (d->type != MEM_HOST && d->type != MEM_DEVICE && d->type != MEM_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  if (!lies_within(d, c)) return CUDA_ERROR_INVALID_VALUE;
  size_t pitch = d->pitch ? d->pitch : c->width;
  uint64_t base = d->type == MEM_HOST ? (uint64_t)(uintptr_t)d->host : d->device;
  *out = (struct copy_side){0};
  if (!place(out, base, d->x, d->y, d->z, pitch, d->height)) return CUDA_ERROR_INVALID_VALUE;
  const bool said = d->type == MEM_DEVICE || (d->type == MEM_UNIFIED && memory_is_device(s, base));
  out->device = copy_side_of_gpu(s, base, said);
  return CUDA_SUCCESS;
}

CUresult copy_from_3d(struct shim *s, struct copy *c, const CUDA_MEMCPY3D *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const struct described src = { p->src_type, p->src_host, p->src_device, p->src_array, p->src_x,
                                 p->src_y, p->src_z, p->src_pitch, p->src_height };
  const struct described dst = { p->dst_type, p->dst_host, p->dst_device, p->dst_array, p->dst_x,
                                 p->dst_y, p->dst_z, p->dst_pitch, p->dst_height };
  *c = (struct copy){ .width = p->width, .height = p->height, .depth = p->depth };
  CUresult r = side(s, &src, c, &c->src);
  return r == CUDA_SUCCESS ? side(s, &dst, c, &c->dst) : r;
}

static bool side_in_memory(const cudaPitchedPtr *p, const cudaPos *at, struct copy_side *out)
{
  return place(out, (uint64_t)(uintptr_t)p->ptr, at->x, at->y, at->z, p->pitch, p->ysize);
}

/* Positions in arrays count texels, elsewhere bytes. */
static bool side_in_array(const struct array *a, const cudaPos *at, const struct copy *c,
                          struct copy_side *out)
{
  uint64_t x;
  return !__builtin_mul_overflow(at->x, texel_bytes(&a->image), &x) &&
         array_side(a, x, at->y, at->z, c->width, c->height, c->depth, out);
}

/* One source and one destination, and between arrays elements of one size (runtime API, cudaMemcpy3D). */
static bool sides_fit(const cudaMemcpy3DParms *p, const struct array *dst, const struct array *src)
{
  if ((dst && p->dst.ptr) || (src && p->src.ptr)) return false;
  return !dst || !src || texel_bytes(&dst->image) == texel_bytes(&src->image);
}

CUresult copy_from_3d_parms(struct shim *s, struct copy *c, const cudaMemcpy3DParms *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const struct array *dst = array_of(s, p->dst_array), *src = array_of(s, p->src_array);
  if ((p->dst_array && !dst) || (p->src_array && !src)) return CUDA_ERROR_INVALID_HANDLE;
  bool to_device = p->kind == COPY_HOST_TO_DEVICE || p->kind == COPY_DEVICE_TO_DEVICE;
  bool from_device = p->kind == COPY_DEVICE_TO_HOST || p->kind == COPY_DEVICE_TO_DEVICE;
  if (p->kind != COPY_DEFAULT && ((dst && !to_device) || (src && !from_device)))
    return cudaErrorInvalidMemcpyDirection;
  if (!sides_fit(p, dst, src)) return CUDA_ERROR_INVALID_VALUE;
  unsigned texel = dst ? texel_bytes(&dst->image) : src ? texel_bytes(&src->image) : 1;
  *c = (struct copy){ .height = p->extent.height, .depth = p->extent.depth };
  if (__builtin_mul_overflow(p->extent.width, texel, &c->width)) return CUDA_ERROR_INVALID_VALUE;
  bool ok = dst ? side_in_array(dst, &p->dst_pos, c, &c->dst) : side_in_memory(&p->dst, &p->dst_pos, &c->dst);
  ok = ok && (src ? side_in_array(src, &p->src_pos, c, &c->src) : side_in_memory(&p->src, &p->src_pos, &c->src));
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
