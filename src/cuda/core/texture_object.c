#include "cuda/core/texture_object.h"

#include <string.h>

#include "cuda/core/shim.h"

/* What the program said when it made one. */
struct object {
  union {
    CUDA_RESOURCE_DESC driver;
    cudaResourceDesc runtime;
  } resource;
  union {
    CUDA_TEXTURE_DESC driver;
    cudaTextureDesc runtime;
  } texture;
  CUDA_RESOURCE_VIEW_DESC view;
  bool has_view;
};

static void remember(struct shim *s, const struct object_forms *f, uint64_t handle, bool is_surface,
                     const void *resource, const void *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
  struct object o = {.has_view = view};
  memcpy(&o.resource, resource, f->resource_bytes);
  if (texture) memcpy(&o.texture, texture, f->texture_bytes);
  if (view) o.view = *view;
  object_note_keep(s, f->list, handle, is_surface, &o, sizeof o);
}

static const struct object *object_of(struct shim *s, const struct object_forms *f, uint64_t handle, bool is_surface)
{
  return object_note_find(s, f->list, handle, is_surface);
}

bool texture_object_modes(const int mode[3], struct sampler *out)
{
  for (unsigned i = 0; i < 3; i++) {
    if (mode[i] < ADDRESS_WRAP || mode[i] > ADDRESS_BORDER) return false;
    out->address[i] = (uint8_t)mode[i];
  }
  return true;
}

static CUresult image_of(struct shim *s, const struct resource *r, struct image *m)
{
  const struct array *a = r->type == RESOURCE_ARRAY ? array_of(s, r->array) : NULL;
  const struct mipmap *p = r->type == RESOURCE_MIPMAP ? mipmap_of(s, r->mipmap) : NULL;
  if (a) *m = a->image;
  if (p) *m = p->image;
  if (r->type == RESOURCE_ARRAY || r->type == RESOURCE_MIPMAP) return a || p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  const unsigned texel = r->bits / 8 * r->channels;
  return r->type == RESOURCE_LINEAR
             ? array_view_memory(s, r->addr, r->texel, r->bits, r->channels, r->bytes / texel, 0, 0, m)
             : array_view_memory(s, r->addr, r->texel, r->bits, r->channels, r->width, r->height, r->pitch, m);
}

CUresult texture_object_create(struct shim *s, const struct object_forms *f, unsigned long long *out,
                               const void *resource, const void *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
  struct sampler sampler = {0};
  struct resource of = {0};
  struct image m;
  uint64_t handle;
  if (!out || !resource || !texture) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = f->read_resource(resource, &of);
  if (r == CUDA_SUCCESS) r = image_of(s, &of, &m);
  if (r == CUDA_SUCCESS && view) r = array_resource_view(s, view, &m);
  if (r == CUDA_SUCCESS && !f->read_sampler(texture, &m, &sampler)) r = CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS) r = array_texture(s, &m, sampler, &handle);
  if (r != CUDA_SUCCESS) return r;
  remember(s, f, handle, false, resource, texture, view);
  *out = handle;
  return CUDA_SUCCESS;
}

CUresult surface_object_create(struct shim *s, const struct object_forms *f, unsigned long long *out,
                               const void *resource)
{
  struct resource of = {0};
  uint64_t handle;
  if (!out || !resource || f->read_resource(resource, &of) != CUDA_SUCCESS || of.type != RESOURCE_ARRAY)
    return CUDA_ERROR_INVALID_VALUE;
  const struct array *a = array_of(s, of.array);
  CUresult r = a ? array_surface(s, a, &handle) : CUDA_ERROR_INVALID_HANDLE;
  if (r != CUDA_SUCCESS) return r;
  remember(s, f, handle, true, resource, NULL, NULL);
  *out = handle;
  return CUDA_SUCCESS;
}

CUresult texture_object_destroy(struct shim *s, const struct object_forms *f, unsigned long long handle,
                                bool is_surface)
{
  if (f->lenient && handle == 0) return CUDA_SUCCESS;
  if (!f->lenient && !object_of(s, f, handle, is_surface)) return CUDA_ERROR_INVALID_VALUE;
  parts_settle(s);
  if (!tex_object_destroy(&board_current(s)->device.textures, handle)) return CUDA_ERROR_INVALID_VALUE;
  object_note_drop(s, f->list, handle, is_surface);
  return CUDA_SUCCESS;
}

CUresult texture_object_resource(struct shim *s, const struct object_forms *f, void *out, unsigned long long handle,
                                 bool is_surface)
{
  const struct object *o = object_of(s, f, handle, is_surface);
  if (!out || !o) return CUDA_ERROR_INVALID_VALUE;
  memcpy(out, &o->resource, f->resource_bytes);
  return CUDA_SUCCESS;
}

CUresult texture_object_texture(struct shim *s, const struct object_forms *f, void *out, unsigned long long handle)
{
  const struct object *o = object_of(s, f, handle, false);
  if (!out || !o) return CUDA_ERROR_INVALID_VALUE;
  memcpy(out, &o->texture, f->texture_bytes);
  return CUDA_SUCCESS;
}

CUresult texture_object_view(struct shim *s, const struct object_forms *f, CUDA_RESOURCE_VIEW_DESC *out,
                             unsigned long long handle)
{
  const struct object *o = object_of(s, f, handle, false);
  if (!out || !o || !o->has_view) return CUDA_ERROR_INVALID_VALUE;
  *out = o->view;
  return CUDA_SUCCESS;
}
