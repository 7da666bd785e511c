/* Texture sampling without memory: which texels a coordinate touches, with which weights, and what
 * comes of their values. Rules: CUDA C++ Programming Guide, "Texture Fetching" (filters, address
 * modes, 1.8 fixed-point weights) and "Texture and Surface Memory" (cube faces, gather).
 *
 * The position in texels is rounded to 1/256; hardware's rounding of the product of a normalised
 * coordinate and the extent is not documented, here it is exact.
 */
#ifndef WS_FUNC_SAMPLER_H
#define WS_FUNC_SAMPLER_H

#include "func/texture.h"

enum { FOOTPRINT_MAX = 8, TEXEL_MAX_BYTES = 16, TEXEL_BORDER = 0 /* no address: border colour */ };

enum sample_mode {
  SAMPLE_FILTER, /* TEX, TXD: as the sampler says */
  SAMPLE_GATHER, /* TLD4: the four texels of a linear filter, one component */
  SAMPLE_FETCH,  /* TLD: integer coordinates, no sampler; zero outside */
};

/* Texel k lies at the upper neighbour in x when k & 1, in y when k & 2, in z when k & 4. */
struct footprint {
  uint8_t n;                    /* 1, 2, 4, 8 */
  uint16_t frac[3];             /* weight of the upper neighbour, 1/256 */
  uint64_t addr[FOOTPRINT_MAX]; /* TEXEL_BORDER: outside */
};

/* xyz: bits of the coordinates, FP32, or integers for SAMPLE_FETCH. layer: ignored when there is none. */
void sampler_footprint(const struct tex_object *, enum sample_mode, const uint32_t xyz[3], const int8_t offset[3],
                       uint32_t layer, struct footprint *);

/* The four components (zeros beyond the image's channels) from the bytes of the footprint's texels.
 * Texel k is at texel + k * TEXEL_MAX_BYTES; not read where addr[k] is TEXEL_BORDER. */
void sampler_blend(const struct tex_object *, enum sample_mode, const struct footprint *,
                   const uint8_t *texel, uint32_t out[4]);
/* TLD4: component c of texels (0,1) (1,1) (1,0) (0,0), in (x,y). */
void sampler_gather(const struct tex_object *, unsigned c, const struct footprint *,
                    const uint8_t *texel, uint32_t out[4]);

#endif
