/* Arrays, textures and surfaces of a device: what cuArrayCreate, cuTexObjectCreate and
 * cuSurfObjectCreate need. The table of objects belongs to the device; func/texture_desc.h says how an
 * image lies in memory. An object only refers to its image: the memory must outlive it.
 */
#ifndef WS_HOST_TEXTURE_H
#define WS_HOST_TEXTURE_H

#include "base/err.h"
#include "base/gmem.h"
#include "func/texture_desc.h"

enum { TEX_MAX_OBJECTS = 1 << 20 }; /* handles have 20 bits */

struct tex_objects {
  struct tex_table table; /* what launches look handles up in */
  struct tex_object *object;
  uint32_t cap;
};

/* What an image is; pitch and slice_pitch 0: rows (slices) follow each other without gaps. */
struct image_desc {
  enum image_shape shape;
  enum texel_type type;
  unsigned bits, channels; /* 8, 16, 32 (floats: 16, 32); 1, 2, 4 */
  uint32_t extent[3];      /* texels; directions that the shape lacks: 0 or 1 */
  uint32_t layers;         /* 0: not layered; a layered cube map: cubes */
  unsigned levels;         /* 0, 1: not mipmapped; more than there can be are as many as there can be */
  uint64_t pitch;          /* bytes from row to row */
};

/* Checks a description and lays it out at guest address base (0: only the size is wanted); *bytes (may
 * be NULL) is the memory it takes. Limits: CUDA programming guide, technical specifications. */
bool image_layout(const struct image_desc *, uint64_t base, struct image *, uint64_t *bytes,
                  struct err *e);

/* New objects. *handle is what the kernel gets as its 64-bit texture or surface object. Errors: a
 * sampler that does not fit the texels (linear filtering of integers, sRGB of other than 8-bit
 * unsigned texels), no surface of this shape. Wrap and mirror without normalised coordinates mean clamp
 * (CUDA runtime API, cudaTextureDesc). The name must outlive the object. */
bool texture_create(struct tex_objects *, const struct image *, const struct sampler *,
                    const char *name, uint64_t *handle, struct err *e);
bool surface_create(struct tex_objects *, const struct image *, const char *name, uint64_t *handle,
                    struct err *e);
/* Whether an object that somebody else described can be one of those above, or a destroyed one: kinds and formats
 * that exist, extents, layers and levels within the limits, texels that do not reach into each other and lie
 * below 2^48. Its memory need not be allocated: a kernel that touches it then faults. */
bool tex_object_check(const struct tex_object *, struct err *e);
/* A copy of a whole table, with the same handles, in place of what there was. Names must outlive it. */
void tex_objects_copy(struct tex_objects *, const struct tex_object *, uint32_t n);
/* The handle names nothing afterwards and is not used again. False: it named nothing before. */
bool tex_object_destroy(struct tex_objects *, uint64_t handle);
void tex_objects_free(struct tex_objects *);

#endif
