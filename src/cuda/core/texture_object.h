/* Texture and surface objects, as both interfaces make, describe and destroy them. They write resources and textures in
 * structures of their own (struct object_forms), which are kept for the program to ask back (object_note.h).
 */
#ifndef WS_CUDA_TEXTURE_OBJECT_H
#define WS_CUDA_TEXTURE_OBJECT_H

#include "cuda/core/array.h"
#include "cuda/core/object_note.h"

/* A resource, whoever described it. */
struct resource {
  int type; /* RESOURCE_…: which of the rest counts */
  CUarray array;
  CUmipmappedArray mipmap;
  uint64_t addr; /* of memory */
  enum texel_type texel;
  unsigned bits, channels;
  size_t bytes;                /* of a linear one */
  size_t width, height, pitch; /* of a pitched one: texels, rows, bytes */
};

struct object_forms {
  enum note_list list;
  size_t resource_bytes, texture_bytes;
  bool lenient; /* object 0, and one that the other interface made, can be destroyed */
  CUresult (*read_resource)(const void *resource, struct resource *);
  bool (*read_sampler)(const void *texture, const struct image *,
                       struct sampler *); /* modes of addresses: texture_object_modes */
};

/* cudaTextureAddressMode, one for each direction. False: no such mode. */
bool texture_object_modes(const int mode[3], struct sampler *);

CUresult texture_object_create(struct shim *, const struct object_forms *, unsigned long long *out,
                               const void *resource, const void *texture, const CUDA_RESOURCE_VIEW_DESC *);
CUresult surface_object_create(struct shim *, const struct object_forms *, unsigned long long *out,
                               const void *resource);
CUresult texture_object_destroy(struct shim *, const struct object_forms *, unsigned long long handle, bool is_surface);

/* What the program said. CUDA_ERROR_INVALID_VALUE: the interface made no such object, or nothing was said of that. */
CUresult texture_object_resource(struct shim *, const struct object_forms *, void *out, unsigned long long handle,
                                 bool is_surface);
CUresult texture_object_texture(struct shim *, const struct object_forms *, void *out, unsigned long long handle);
CUresult texture_object_view(struct shim *, const struct object_forms *, CUDA_RESOURCE_VIEW_DESC *out,
                             unsigned long long handle);

#endif
