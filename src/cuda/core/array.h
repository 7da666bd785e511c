/* Arrays of the program, and what texture and surface objects refer to: an array, or memory of the
 * program. Texels lie row by row without gaps (func/texture_desc.h).
 */
#ifndef WS_CUDA_ARRAY_H
#define WS_CUDA_ARRAY_H

#include "cuda/core/copy.h"
#include "host/texture.h"

/* Flags of both interfaces. */
enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBE = 4, ARRAY_GATHER = 8 };

struct array {
  struct board *board;
  struct array *next;
  struct image image;
  size_t extent[3]; /* as the program asked: 0 where there is no such direction */
  unsigned flags;
  struct mipmap *owner; /* it is a level of this one, and goes with it; NULL: of none */
};

/* A mipmapped array. */
struct mipmap {
  struct mipmap *next;
  struct image image; /* all levels */
  struct array *level[]; /* image.levels */
};

struct arrays {
  struct array *first;
  struct mipmap *mipmaps;
};

/* Extents in texels; depth counts layers, or faces of cube maps. CUDA_ERROR_INVALID_VALUE: no such
 * array, said on stderr why. */
CUresult array_create(struct shim *, struct array **out, enum texel_type, unsigned bits,
                      unsigned channels, const size_t extent[3], unsigned flags);
CUresult array_destroy(struct shim *, CUarray);
/* NULL: the program holds no such array. */
struct array *array_of(struct shim *, CUarray);

/* As array_create, with at most `levels` levels, as many as there can be. */
CUresult mipmap_create(struct shim *, struct mipmap **out, enum texel_type, unsigned bits, unsigned channels,
                       const size_t extent[3], unsigned levels, unsigned flags);
CUresult mipmap_destroy(struct shim *, CUmipmappedArray);
CUresult mipmap_level(struct shim *, CUarray *out, CUmipmappedArray, unsigned level);
/* NULL: the program holds none such. */
struct mipmap *mipmap_of(struct shim *, CUmipmappedArray);

/* A part of an array as a side of a copy: from byte x of row y of slice z on. False: width bytes, height
 * rows and depth slices do not lie inside, or x is within a texel (driver API, cuMemcpy3D). */
bool array_side(const struct array *, uint64_t x, uint64_t y, uint64_t z, uint64_t width,
                uint64_t height, uint64_t depth, struct copy_side *);

/* Memory of the program as an image: `pitch` 0: a buffer of width texels. */
CUresult array_view_memory(struct shim *, uint64_t addr, enum texel_type, unsigned bits,
                           unsigned channels, size_t width, size_t height, size_t pitch,
                           struct image *);
/* The part of an array's or a mipmapped array's image that a view names, in another format of texels as large. */
CUresult array_resource_view(struct shim *, const CUDA_RESOURCE_VIEW_DESC *, struct image *);
CUresult array_texture(struct shim *, const struct image *, struct sampler, uint64_t *handle);
CUresult array_surface(struct shim *, const struct array *, uint64_t *handle);

extern const struct shim_part array_part;

#endif
