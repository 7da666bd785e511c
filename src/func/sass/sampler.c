#include "func/sass/sampler.h"

#include <math.h>
#include <string.h>

#include "func/sass/fpbits.h"

enum { FRAC_BITS = 8, FRAC_ONE = 1 << FRAC_BITS, CUBE_FACES = 6, LEVEL_CUBE_TEXELS = 4, X = 0, Y = 1, Z = 2 };

/* The one or two texels of an axis. -1: outside. */
struct taps {
  int64_t i[2];
  uint8_t frac;
};

static float as_float(uint32_t bits)
{
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static uint32_t as_bits(float f)
{
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static int64_t modulo(int64_t i, int64_t n)
{
  int64_t r = i % n;
  return r < 0 ? r + n : r;
}

static int64_t addressed(enum sampler_address mode, int64_t i, int64_t n)
{
  if (i >= 0 && i < n) return i;
  switch (mode) {
  case ADDRESS_WRAP: return modulo(i, n);
  case ADDRESS_MIRROR: {
    int64_t r = modulo(i, 2 * n);
    return r < n ? r : 2 * n - 1 - r;
  }
  case ADDRESS_CLAMP: return i < 0 ? 0 : i >= n ? n - 1 : i;
  default: return i < 0 || i >= n ? -1 : i;
  }
}

/* Position in texels, small enough for integers. Wrapping and mirroring repeat after 2 n. */
static double position(const struct sampler *s, enum sampler_address mode, float c, uint32_t n)
{
  const double limit = 1099511627776.0; /* far outside of any image */
  if (fabsf(c) < 16777216) { /* as below, mostly */
    const double near = s->normalized ? (double)c * n : (double)c;
    if (fabs(near) < (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR ? 2.0 * n : limit)) return near;
  }
  double x = isnan(c) ? 0 : (double)c;
  if (isinf(x)) x = copysign(limit, x);
  if (s->normalized) x *= n; /* exact: 24 and 32 bits */
  if (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR) return fabs(x) < 2.0 * n ? x : fmod(x, 2.0 * n);
  return x > limit ? limit : x < -limit ? -limit : x;
}

/* Largest integer not above x, which is small enough for it. */
static int64_t whole(double x)
{
  const int64_t i = (int64_t)x;
  return i - ((double)i > x);
}

static struct taps axis_taps(const struct sampler *s, unsigned axis, bool linear, float c, int offset,
                             uint32_t n)
{
  enum sampler_address mode = s->seamless ? ADDRESS_CLAMP : (enum sampler_address)s->address[axis];
  if (!s->normalized && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR)) mode = ADDRESS_CLAMP;
  double x = position(s, mode, c, n);
  struct taps t = {.frac = 0};
  int64_t i;
  if (linear) {
    int64_t fixed = whole((x - 0.5) * FRAC_ONE + 0.5);
    t.frac = (uint8_t)(fixed & (FRAC_ONE - 1));
    i = (fixed - t.frac) / FRAC_ONE + offset;
  } else {
    i = whole(x) + offset;
  }
  t.i[0] = addressed(mode, i, n);
  t.i[1] = linear ? addressed(mode, i + 1, n) : t.i[0];
  return t;
}

/* Faces of a cube map (programming guide, "Cubemap Textures"): the axes, with their signs, of s, t and the
 * distance m; s and t of the face are (s / m + 1) / 2 and (t / m + 1) / 2. */
static const struct face {
  uint8_t axis[3]; /* s, t, m */
  int8_t sign[3];
} faces[CUBE_FACES] = {
  {{Z, Y, X}, {-1, -1, 1}}, {{Z, Y, X}, {1, -1, -1}}, {{X, Z, Y}, {1, 1, 1}},
  {{X, Z, Y}, {1, -1, -1}}, {{X, Y, Z}, {1, -1, 1}},  {{X, Y, Z}, {-1, -1, -1}},
};

static unsigned cube_face(const float v[3])
{
  float ax = fabsf(v[0]), ay = fabsf(v[1]), az = fabsf(v[2]);
  unsigned axis = ax >= ay && ax >= az ? X : ay >= az ? Y : Z;
  return 2 * axis + (signbit(v[axis]) ? 1 : 0);
}

/* Component i (s, t, m) of a vector as a face sees it. */
static float on_face(unsigned face, unsigned i, const float v[3])
{
  return (float)faces[face].sign[i] * v[faces[face].axis[i]];
}

static unsigned filtered_axes(const struct image *m)
{
  return m->shape == IMAGE_3D ? 3 : m->shape == IMAGE_2D || m->shape == IMAGE_CUBE ? 2 : 1;
}

static uint64_t slice_of(const struct image *m, uint32_t layer, unsigned face)
{
  uint64_t l = m->layers == 0 ? 0 : layer < m->layers ? layer : m->layers - 1;
  return m->shape == IMAGE_CUBE ? l * CUBE_FACES + face : l;
}

static void place(const struct image *m, const struct taps t[3], unsigned axes, bool linear,
                  uint64_t slice, bool second, struct footprint *fp)
{
  fp->n = (uint8_t)(linear ? 1u << axes : 1);
  uint64_t *addr = &fp->addr[second ? fp->n : 0];
  for (unsigned k = 0; k < fp->n; k++) {
    int64_t x = t[0].i[k & 1], y = t[1].i[k >> 1 & 1], z = t[2].i[k >> 2 & 1];
    bool outside = x < 0 || y < 0 || z < 0;
    addr[k] = outside ? TEXEL_BORDER
                          : m->base + (slice + (uint64_t)z) * m->slice_bytes +
                                (uint64_t)y * m->row_bytes + (uint64_t)x * texel_bytes(m);
  }
  for (unsigned a = 0; a < 3; a++) fp->frac[second][a] = t[a].frac;
}

/* A texel one step beyond an edge of its face, as the face at the other side of the edge has it. In halves of texels
 * the cube reaches from -n to n, and centres lie two apart; what was one beyond the edge is one below it there. */
static void cross_edge(unsigned *face, int64_t st[2], int64_t n)
{
  const struct face *from = &faces[*face];
  const unsigned out = st[0] < 0 || st[0] >= n ? 0 : 1;
  int64_t v[3], at[3];
  for (unsigned i = 0; i < 2; i++) at[i] = 2 * st[i] + 1 - n;
  at[out] = at[out] < 0 ? -n : n;
  at[2] = n - 1;
  for (unsigned i = 0; i < 3; i++) v[from->axis[i]] = from->sign[i] * at[i];
  *face = 2u * from->axis[out] + (v[from->axis[out]] < 0);
  const struct face *to = &faces[*face];
  for (unsigned i = 0; i < 2; i++) st[i] = (to->sign[i] * v[to->axis[i]] + n - 1) / 2;
}

static uint64_t texel_at(const struct image *m, uint64_t slice, int64_t x, int64_t y)
{
  return m->base + slice * m->slice_bytes + (uint64_t)y * m->row_bytes + (uint64_t)x * texel_bytes(m);
}

/* The four texels around (s, t) of a face, which may be anything where a part of the direction is no number; those
 * beyond its edges come from its neighbours. Three faces meet in a corner,
 * where there is no fourth texel: TEXEL_BORDER, which a seamless cube map has nowhere else. */
static void place_seamless(const struct image *m, const struct sampler *s, const float st[2], uint32_t layer,
                           unsigned face, bool second, struct footprint *fp)
{
  const int64_t n = m->extent[0];
  uint64_t *addr = &fp->addr[second ? LEVEL_CUBE_TEXELS : 0];
  int64_t first[2];
  fp->n = LEVEL_CUBE_TEXELS;
  for (unsigned a = 0; a < 2; a++) {
    const double x = position(s, ADDRESS_CLAMP, st[a], (uint32_t)n);
    const int64_t fixed = whole((x - 0.5) * FRAC_ONE + 0.5);
    fp->frac[second][a] = (uint8_t)(fixed & (FRAC_ONE - 1));
    first[a] = (fixed - fp->frac[second][a]) / FRAC_ONE;
  }
  fp->frac[second][2] = 0;
  for (unsigned k = 0; k < LEVEL_CUBE_TEXELS; k++) {
    int64_t at[2] = {first[0] + (k & 1), first[1] + (k >> 1)};
    const bool out[2] = {at[0] < 0 || at[0] >= n, at[1] < 0 || at[1] >= n};
    unsigned f = face;
    if (out[0] != out[1]) cross_edge(&f, at, n);
    addr[k] = out[0] && out[1] ? TEXEL_BORDER : texel_at(m, slice_of(m, layer, f), at[0], at[1]);
  }
}

static void fetch(const struct image *m, const struct sample_at *at, struct footprint *fp)
{
  struct taps t[3] = {0};
  for (unsigned a = 0; a < filtered_axes(m); a++) {
    uint32_t i = (uint32_t)((int64_t)at->xyz[a] + at->offset[a]);
    t[a].i[0] = i < m->extent[a] ? (int64_t)i : -1; /* negative ones are large */
  }
  if (m->layers && at->layer >= m->layers) t[0].i[0] = -1;
  place(m, t, 0, false, slice_of(m, at->layer, 0), false, fp);
}

static void filter(const struct image *m, const struct sampler *s, bool linear, const struct sample_at *at, bool second,
                   struct footprint *fp)
{
  unsigned axes = filtered_axes(m), face = 0;
  float v[3], c[3];
  for (unsigned a = 0; a < 3; a++) c[a] = v[a] = as_float(at->xyz[a]);
  if (m->shape == IMAGE_CUBE) {
    face = cube_face(v);
    for (unsigned i = 0; i < 2; i++) c[i] = (on_face(face, i, v) / on_face(face, 2, v) + 1) / 2;
  }
  if (s->seamless && linear && m->shape == IMAGE_CUBE) {
    place_seamless(m, s, c, at->layer, face, second, fp);
    return;
  }
  struct taps t[3] = {0};
  for (unsigned a = 0; a < axes; a++) t[a] = axis_taps(s, a, linear, c[a], at->offset[a], m->extent[a]);
  place(m, t, axes, linear, slice_of(m, at->layer, face), second, fp);
}

/* Levels of detail ------------------------------------------------------------------------- */

/* Change of coordinates s and t of a cube's face: the derivative of the quotients that make them. */
static void face_gradient(const float v[3], const float d[3], double st[2])
{
  unsigned face = cube_face(v);
  double m = (double)on_face(face, 2, v), dm = (double)on_face(face, 2, d);
  for (unsigned i = 0; i < 2; i++)
    st[i] = ((double)on_face(face, i, d) * m - (double)on_face(face, i, v) * dm) / (2 * m * m);
}

/* Square of the length of a gradient, in texels. */
static double texels_squared(const struct tex_object *o, const float v[3], const float d[3])
{
  const struct image *m = &o->image;
  double g[3] = {(double)d[0], (double)d[1], (double)d[2]}, sum = 0;
  if (m->shape == IMAGE_CUBE) face_gradient(v, d, g);
  for (unsigned a = 0; a < filtered_axes(m); a++) {
    double texels = o->sampler.normalized ? g[a] * m->extent[a] : g[a];
    sum += texels * texels;
  }
  return sum;
}

float sampler_lod(const struct tex_object *o, const float xyz[3], const float dx[3], const float dy[3])
{
  return (float)(log2(fmax(texels_squared(o, xyz, dx), texels_squared(o, xyz, dy))) / 2);
}

/* Number of the first level, in 1/256: whole where levels are not mixed. */
static unsigned level_of(const struct tex_object *o, enum sample_mode mode, float lod)
{
  const struct sampler *s = &o->sampler;
  double most = o->image.levels - 1, l = isnan(lod) ? 0 : (double)lod;
  if (mode != SAMPLE_FETCH) l = fmax(fmin(l + (double)s->lod_bias, (double)s->lod_max), (double)s->lod_min);
  l = fmax(fmin(l, most), 0);
  if (mode == SAMPLE_FILTER && s->mip_linear) return (unsigned)floor(l * FRAC_ONE + 0.5);
  return FRAC_ONE * (unsigned)(ceil(l + 0.5) - 1); /* half of the way: the finer one */
}

void sampler_footprint(const struct tex_object *o, enum sample_mode mode, const struct sample_at *at,
                       struct footprint *fp)
{
  bool linear = mode == SAMPLE_GATHER || o->sampler.linear;
  fp->between = 0;
  if (o->image.levels <= 1) {
    if (mode == SAMPLE_FETCH) fetch(&o->image, at, fp);
    else filter(&o->image, &o->sampler, linear, at, false, fp);
    return;
  }
  unsigned level = level_of(o, mode, at->lod);
  struct image m = image_level(&o->image, level / FRAC_ONE);
  fp->between = (uint8_t)(level % FRAC_ONE);
  if (mode == SAMPLE_FETCH) {
    fetch(&m, at, fp);
    return;
  }
  filter(&m, &o->sampler, linear, at, false, fp);
  if (!fp->between) return;
  m = image_level(&m, 1);
  filter(&m, &o->sampler, linear, at, true, fp);
}

/* Values ----------------------------------------------------------------------------------- */

static uint32_t channel_bits(const struct image *m, const uint8_t *texel, unsigned c)
{
  uint32_t v = 0;
  memcpy(&v, texel + c * (m->bits / 8u), m->bits / 8u);
  if (m->type != TEXEL_SINT || m->bits == 32) return v;
  uint32_t sign = 1u << (m->bits - 1u);
  return (v ^ sign) - sign;
}

static bool reads_float(const struct tex_object *o)
{
  return o->image.type == TEXEL_FLOAT || o->sampler.read_float;
}

/* IEC 61966-2-1. */
static double from_srgb(double c)
{
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double channel_value(const struct tex_object *o, const uint8_t *texel, unsigned c)
{
  enum { ALPHA = 3 };
  const struct image *m = &o->image;
  uint32_t v = channel_bits(m, texel, c);
  if (m->type == TEXEL_FLOAT)
    return m->bits == 16 ? (double)as_float(f32_from_f16(v)) : (double)as_float(v);
  if (m->type == TEXEL_UINT) {
    double f = v / (double)((UINT64_C(1) << m->bits) - 1);
    return o->sampler.srgb && c != ALPHA ? from_srgb(f) : f;
  }
  double f = (int32_t)v / (double)((UINT64_C(1) << (m->bits - 1u)) - 1);
  return f < -1 ? -1 : f;
}

/* A border colour, any float, for texels that are read as integers: the nearest one there is. */
static uint32_t border_integer(float f, bool has_sign)
{
  const double v = (double)f, least = has_sign ? (double)INT32_MIN : 0;
  const double most = has_sign ? (double)INT32_MAX : (double)UINT32_MAX;
  if (isnan(v)) return 0;
  return (uint32_t)(int64_t)(v < least ? least : v > most ? most : v);
}

/* Component c of texel k: a float where the object reads floats, else the integer. */
static uint32_t component(const struct tex_object *o, const struct footprint *fp,
                          const uint8_t *texel, unsigned k, unsigned c)
{
  if (c >= o->image.channels) return 0;
  if (fp->addr[k] == TEXEL_BORDER) {
    if (reads_float(o)) return as_bits(o->sampler.border[c]);
    return border_integer(o->sampler.border[c], o->image.type == TEXEL_SINT);
  }
  texel += (size_t)k * TEXEL_MAX_BYTES;
  if (!reads_float(o)) return channel_bits(&o->image, texel, c);
  return as_bits((float)channel_value(o, texel, c));
}

/* Weights of texels, 1/256^axes and, between levels, 1/256 more: exact. */
static double weight(const struct footprint *fp, unsigned k)
{
  bool second = k >= fp->n;
  double w = (second ? fp->between : FRAC_ONE - fp->between) / (double)FRAC_ONE;
  for (unsigned a = 0; a < 3 && fp->n >> a > 1; a++)
    w *= (k >> a & 1 ? fp->frac[second][a] : FRAC_ONE - fp->frac[second][a]) / (double)FRAC_ONE;
  return w;
}

/* Of the four texels of one level, two axes. */
static void plane_weights(const uint8_t frac[3], double weights[4])
{
  for (unsigned k = 0; k < 4; k++) {
    const int x = k & 1 ? frac[0] : FRAC_ONE - frac[0], y = k & 2 ? frac[1] : FRAC_ONE - frac[1];
    weights[k] = (double)(x * y) / (FRAC_ONE * FRAC_ONE);
  }
}

/* The texel that a corner of a seamless cube map lacks is the mean of the three others (OpenGL 4.6, "Seamless Cube Map
 * Filtering", recommends it and leaves it open). */
static void corner_weights(const struct footprint *fp, double *weights)
{
  for (unsigned k = 0; k < footprint_texels(fp); k++) {
    if (fp->addr[k] != TEXEL_BORDER) continue;
    const unsigned level = k / LEVEL_CUBE_TEXELS * LEVEL_CUBE_TEXELS;
    for (unsigned i = level; i < level + LEVEL_CUBE_TEXELS; i++)
      if (i != k) weights[i] += weights[k] / 3;
    weights[k] = 0;
  }
}

/* A texel without weight is left out: its infinity or NaN does not count. */
static uint32_t blend(const struct tex_object *o, const struct footprint *fp, const double *weights,
                      const uint8_t *texel, unsigned c)
{
  const unsigned n = footprint_texels(fp);
  double sum = 0;
  for (unsigned k = 0; k < n; k++) {
    if (weights[k] == 0) continue;
    bool inside = fp->addr[k] != TEXEL_BORDER;
    const uint8_t *p = texel + (size_t)k * TEXEL_MAX_BYTES;
    sum += weights[k] * (inside ? channel_value(o, p, c) : (double)o->sampler.border[c]);
  }
  return f32_canon((float)sum);
}

void sampler_blend(const struct tex_object *o, enum sample_mode mode, const struct footprint *fp,
                   const uint8_t *texel, uint32_t out[4])
{
  const bool zero = mode == SAMPLE_FETCH && fp->addr[0] == TEXEL_BORDER;
  const unsigned n = footprint_texels(fp), channels = zero ? 0 : o->image.channels;
  double weights[FOOTPRINT_MAX];
  if (n == 4 && !fp->between)
    plane_weights(fp->frac[0], weights);
  else
    for (unsigned k = 0; n > 1 && k < n; k++) weights[k] = weight(fp, k);
  if (o->sampler.seamless && n > 1) corner_weights(fp, weights);
  for (unsigned c = 0; c < 4; c++)
    out[c] = c >= channels ? 0 : n == 1 ? component(o, fp, texel, 0, c) : blend(o, fp, weights, texel, c);
}

void sampler_gather(const struct tex_object *o, unsigned c, const struct footprint *fp,
                    const uint8_t *texel, uint32_t out[4])
{
  static const uint8_t order[4] = {2, 3, 1, 0};
  for (unsigned k = 0; k < 4; k++) {
    const unsigned at = order[k] < fp->n ? order[k] : 0;
    double weights[FOOTPRINT_MAX] = {0};
    weights[at] = 1;
    if (o->sampler.seamless && fp->addr[at] == TEXEL_BORDER) corner_weights(fp, weights);
    out[k] = weights[at] != 0 ? component(o, fp, texel, at, c) : blend(o, fp, weights, texel, c);
  }
}
