#include "cuda/copy_3d.h"

#include "cuda/array.h"

/* One side of a 2D or 3D copy as the driver describes it. */
struct described {
  unsigned type;
  const void *host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, height;
};

static CUresult side(struct shim *s, const struct described *d, const struct copy *c,
                     struct copy_side *out)
{
  if (d->type == MEM_ARRAY) {
    const struct cu_array *a = array_of(s, d->array);
    if (!a) return CUDA_ERROR_INVALID_HANDLE;
    return array_side(a, d->x, d->y, d->z, c->width, c->height, c->depth, out)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  }
  if (d->type != MEM_HOST && d->type != MEM_DEVICE && d->type != MEM_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  size_t pitch = d->pitch ? d->pitch : c->width;
  uint64_t base = d->type == MEM_HOST ? (uint64_t)(uintptr_t)d->host : d->device;
  *out = (struct copy_side){ .pitch = pitch, .slice = pitch * d->height,
                             .addr = base + d->x + d->y * pitch + d->z * pitch * d->height };
  out->device = d->type == MEM_DEVICE || (d->type == MEM_UNIFIED && memory_is_device(s, base));
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

static struct copy_side side_3d(const cudaPitchedPtr *p, const cudaPos *at)
{
  uint64_t slice = p->pitch * p->ysize;
  return (struct copy_side){ .addr = (uint64_t)(uintptr_t)p->ptr + at->x + at->y * p->pitch +
                                     at->z * slice,
                             .pitch = p->pitch, .slice = slice };
}

/* Positions in arrays count texels, elsewhere bytes. */
static bool side_in_array(const struct cu_array *a, const cudaPos *at, const struct copy *c,
                          struct copy_side *out)
{
  return array_side(a, at->x * texel_bytes(&a->image), at->y, at->z, c->width, c->height, c->depth,
                    out);
}

CUresult copy_from_3d_parms(struct shim *s, struct copy *c, const cudaMemcpy3DParms *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const struct cu_array *dst = array_of(s, p->dst_array), *src = array_of(s, p->src_array);
  if ((p->dst_array && !dst) || (p->src_array && !src)) return CUDA_ERROR_INVALID_HANDLE;
  bool to_device = p->kind == COPY_HOST_TO_DEVICE || p->kind == COPY_DEVICE_TO_DEVICE;
  bool from_device = p->kind == COPY_DEVICE_TO_HOST || p->kind == COPY_DEVICE_TO_DEVICE;
  if (p->kind != COPY_DEFAULT && ((dst && !to_device) || (src && !from_device)))
    return cudaErrorInvalidMemcpyDirection;
  unsigned texel = dst ? texel_bytes(&dst->image) : src ? texel_bytes(&src->image) : 1;
  *c = (struct copy){ .dst = side_3d(&p->dst, &p->dst_pos), .src = side_3d(&p->src, &p->src_pos),
                      .width = p->extent.width * texel, .height = p->extent.height,
                      .depth = p->extent.depth };
  return (!dst || side_in_array(dst, &p->dst_pos, c, &c->dst)) &&
                 (!src || side_in_array(src, &p->src_pos, c, &c->src))
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}
