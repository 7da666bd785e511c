#include "cuda/copy_3d.h"

#include "cuda/array.h"

/* One side of a 2D or 3D copy. False: an array, or no such memory type. */
static bool side(struct shim *s, struct copy_side *out, unsigned type, const void *host,
                 CUdeviceptr device, const size_t at[3], size_t pitch, size_t height)
{
  if (type != MEM_HOST && type != MEM_DEVICE && type != MEM_UNIFIED) return false;
  uint64_t base = type == MEM_HOST ? (uint64_t)(uintptr_t)host : device;
  *out = (struct copy_side){ .pitch = pitch, .slice = pitch * height,
                             .addr = base + at[0] + at[1] * pitch + at[2] * pitch * height };
  out->device = type == MEM_DEVICE || (type == MEM_UNIFIED && memory_is_device(s, base));
  return true;
}

CUresult copy_from_3d(struct shim *s, struct copy *c, const CUDA_MEMCPY3D *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (p->src_type == MEM_ARRAY || p->dst_type == MEM_ARRAY)
    return shim_unsupported(s, "cuMemcpy of an array");
  const size_t from[3] = { p->src_x, p->src_y, p->src_z }, to[3] = { p->dst_x, p->dst_y, p->dst_z };
  size_t src_pitch = p->src_pitch ? p->src_pitch : p->width;
  size_t dst_pitch = p->dst_pitch ? p->dst_pitch : p->width;
  *c = (struct copy){ .width = p->width, .height = p->height, .depth = p->depth };
  if (!side(s, &c->src, p->src_type, p->src_host, p->src_device, from, src_pitch, p->src_height) ||
      !side(s, &c->dst, p->dst_type, p->dst_host, p->dst_device, to, dst_pitch, p->dst_height))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
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
