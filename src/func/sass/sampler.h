/* Texture sampling without memory: which texels a coordinate touches, with which weights, and what
 * comes of their values. Rules: CUDA C++ Programming Guide, "Texture Fetching" (filters, address
 * modes, 1.8 fixed-point weights) and "Texture and Surface Memory" (cube faces, gather). Levels of detail: OpenGL 4.6,
 * 8.14 "Texture Minification": the larger of both gradients, in texels; not anisotropic.
 *
 * The position in texels is rounded to 1/256; hardware's rounding of the product of a normalised
 * coordinate and the extent is not documented, here it is exact.
 */
#ifndef WS_FUNC_SASS_SAMPLER_H
#define WS_FUNC_SASS_SAMPLER_H

#include "func/texture_desc.h"

enum {
  LEVEL_TEXELS = 8,
  FOOTPRINT_MAX = 2 * LEVEL_TEXELS,
  TEXEL_MAX_BYTES = 16,
  TEXEL_BORDER = 0 /* no address: border colour */
};

enum sample_mode {
  SAMPLE_FILTER, /* TEX, TXD: as the sampler says */
  SAMPLE_GATHER, /* TLD4: the four texels of a linear filter, one component */
  SAMPLE_FETCH,  /* TLD: integer coordinates, no sampler; zero outside */
};

/* Level of detail of an instruction that names none: the first level, whatever the bias (compiler output, CUDA
 * 13.0). */
#define SAMPLE_LOD_FIRST (-32.0f)

/* Where an instruction samples. */
struct sample_at {
  uint32_t xyz[3];  /* bits of the coordinates, FP32, or integers for SAMPLE_FETCH */
  int8_t offset[3]; /* texels */
  uint32_t layer;   /* ignored when there is none */
  float lod;        /* before bias and limits; SAMPLE_FETCH: number of a level. Only of mipmapped images */
};

/* Texel k of a level lies at the upper neighbour in x when k & 1, in y when k & 2, in z when k & 4; those of the
 * second level follow those of the first. */
struct footprint {
  uint8_t n;                    /* of a level: 1, 2, 4, 8 */
  uint8_t between;              /* weight of the second level, 1/256; 0: there is none */
  uint8_t frac[2][3];           /* by level: weight of the upper neighbour, 1/256 */
  uint64_t addr[FOOTPRINT_MAX]; /* TEXEL_BORDER: outside */
};

static inline unsigned footprint_texels(const struct footprint *fp)
{
  return fp->between ? 2u * fp->n : fp->n;
}

/* Level of detail where coordinates xyz change by dx and dy from one pixel to the next. */
float sampler_lod(const struct tex_object *, const float xyz[3], const float dx[3], const float dy[3]);

void sampler_footprint(const struct tex_object *, enum sample_mode, const struct sample_at *, struct footprint *);

/* The four components (zeros beyond the image's channels) from the bytes of the footprint's texels.
 * Texel k is at texel + k * TEXEL_MAX_BYTES; not read where addr[k] is TEXEL_BORDER. */
void sampler_blend(const struct tex_object *, enum sample_mode, const struct footprint *,
                   const uint8_t *texel, uint32_t out[4]);
/* TLD4: component c of texels (0,1) (1,1) (1,0) (0,0), in (x,y). */
void sampler_gather(const struct tex_object *, unsigned c, const struct footprint *,
                    const uint8_t *texel, uint32_t out[4]);

#endif
