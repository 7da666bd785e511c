/* Tensor maps of the driver: the rules of CUDA Driver API 13.0, "Tensor Map Object Management". Not checked,
 * because only an example of how strides come about says it: that rows do not overlap. */
#include "cuda/shim.h"
#include "func/tensor_map.h"

enum { MAP_ALIGN = 64, MAX_BOX = 256, MAX_STEP = 8, MAX_PIXELS = 1024, MAX_L2 = 3, PACKED_BOX = 128 };
enum { CC_TENSOR = 90, CC_WIDE = 100 };

/* CUtensorMapSwizzle. */
enum swizzle_code { CODE_NONE, CODE_32, CODE_64, CODE_128, CODE_128_ATOM_32, CODE_128_FLIP, CODE_128_ATOM_64,
                    CODE_SWIZZLE__N };

/* By CUtensorMapDataType. */
static const struct tensor_code {
  uint8_t type;
  bool real, tf32;
} codes[] = {
    {TENSOR_U8, 0, 0},      {TENSOR_U16, 0, 0}, {TENSOR_U32, 0, 0},     {TENSOR_S32, 0, 0},
    {TENSOR_U64, 0, 0},     {TENSOR_S64, 0, 0}, {TENSOR_F16, 1, 0},     {TENSOR_F32, 1, 0},
    {TENSOR_F64, 1, 0},     {TENSOR_BF16, 1, 0}, {TENSOR_F32_FTZ, 1, 0}, {TENSOR_F32, 1, 1},
    {TENSOR_F32_FTZ, 1, 1}, {TENSOR_U4, 0, 0},  {TENSOR_U4_GAPS, 0, 0}, {TENSOR_U6_GAPS, 0, 0},
};

/* What the three forms have in common, as the program gives it. */
struct tensor_request {
  void *out;
  unsigned type, rank;
  const void *address;
  const uint64_t *dim, *stride;
  const uint32_t *step;
  unsigned interleave, swizzle, l2, fill;
};

static bool gaps(const struct tensor_map *m)
{
  return m->type == TENSOR_U4_GAPS || m->type == TENSOR_U6_GAPS;
}

/* Bytes that addresses and strides are multiples of. */
static unsigned grain(const struct tensor_map *m)
{
  return m->interleave == TENSOR_BY_32 || gaps(m) ? 32 : 16;
}

static bool take_swizzle(struct tensor_map *m, unsigned code)
{
  if (code >= CODE_SWIZZLE__N) return false;
  m->swizzle = code > CODE_128 ? SWIZZLE_128 : (enum tensor_swizzle)code;
  m->atom = code > CODE_128 ? (enum tensor_atom)(code - CODE_128) : ATOM_16;
  if (m->interleave == TENSOR_BY_32 && code != CODE_32) return false;
  switch (m->type) {
  case TENSOR_U4_GAPS: return code == CODE_NONE || code == CODE_128 || code == CODE_128_ATOM_32;
  case TENSOR_U6_GAPS:
    return m->interleave == TENSOR_PLAIN && (code == CODE_NONE || code == CODE_128 || code == CODE_128_ATOM_32 ||
                                             code == CODE_128_ATOM_64);
  default: return true;
  }
}

static bool take_extents(struct tensor_map *m, const struct tensor_request *q)
{
  for (unsigned i = 0; i < m->rank; i++) {
    m->dim[i] = q->dim[i];
    m->step[i] = !i && m->interleave == TENSOR_PLAIN ? 1 : q->step[i]; /* not looked at */
    if (!m->dim[i] || m->dim[i] > (uint64_t)1 << 32 || !m->step[i] || m->step[i] > MAX_STEP) return false;
    if (!i) continue;
    m->stride[i] = q->stride[i - 1];
    if (m->stride[i] % grain(m) || m->stride[i] >> 40) return false;
  }
  return m->dim[0] % (gaps(m) ? PACKED_BOX : m->type == TENSOR_U4 ? 2 : 1) == 0;
}

static bool take_common(struct tensor_map *m, const struct tensor_request *q)
{
  if (!q->out || (uintptr_t)q->out % MAP_ALIGN || !q->dim || !q->step || (q->rank > 1 && !q->stride)) return false;
  if (q->type >= sizeof codes / sizeof codes[0] || !q->rank || q->rank > TENSOR_DIMS) return false;
  if (q->interleave > TENSOR_BY_32 || q->l2 > MAX_L2 || q->fill > codes[q->type].real) return false;
  m->type = codes[q->type].type, m->tf32 = codes[q->type].tf32;
  m->rank = q->rank, m->interleave = q->interleave, m->l2_promotion = q->l2, m->nan_fill = q->fill;
  m->address = (uint64_t)(uintptr_t)q->address;
  if (m->address % grain(m) || (m->interleave != TENSOR_PLAIN && m->rank < 3)) return false;
  return take_swizzle(m, q->swizzle) && take_extents(m, q);
}

/* The inner dimension of the box: bytes are whole chunks, and within the swizzle. */
static bool inner_fits(const struct tensor_map *m)
{
  static const uint16_t span[] = {[SWIZZLE_32] = 32, [SWIZZLE_64] = 64, [SWIZZLE_128] = 128};
  unsigned bits = m->box[0] * tensor_type_shared_bits(m->type);
  if (gaps(m) && m->box[0] != PACKED_BOX) return false;
  if (m->interleave != TENSOR_PLAIN) return true;
  if (m->kind == TENSOR_TILED && bits % 128) return false;
  return m->swizzle == SWIZZLE_NONE || bits <= 8u * span[m->swizzle];
}

static CUresult finish(const struct tensor_map *m, void *out)
{
  tensor_map_write(m, out);
  return CUDA_SUCCESS;
}

static CUresult supported(const struct shim *s, unsigned cc)
{
  return s->preset.params.arch_sm < cc ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

static CUresult tiled(const struct shim *s, const struct tensor_request *q, const uint32_t *box)
{
  struct tensor_map m = {.kind = TENSOR_TILED};
  if (supported(s, CC_TENSOR)) return supported(s, CC_TENSOR);
  if (!box || !take_common(&m, q)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < m.rank; i++) {
    m.box[i] = box[i];
    if (!box[i] || box[i] > MAX_BOX) return CUDA_ERROR_INVALID_VALUE;
  }
  return inner_fits(&m) ? finish(&m, q->out) : CUDA_ERROR_INVALID_VALUE;
}

/* Corners, in the program's order {D, H, W}; both are offsets, from the first and behind the last element. */
static bool take_corners(struct tensor_map *m, const int *lower, const int *upper)
{
  static const int limit[] = {0, 32768, 128, 16}; /* by their number */
  unsigned n = tensor_map_spatial(m);
  for (unsigned i = 0; i < n; i++) {
    int lo = lower[n - 1 - i], up = upper[n - 1 - i];
    if (lo < -limit[n] || lo >= limit[n] || up < -limit[n] || up >= limit[n]) return false;
    if ((int64_t)m->dim[1 + i] + up - lo <= 0) return false;
    m->lower[i] = lo, m->upper[i] = up;
  }
  return true;
}

static CUresult im2col(const struct tensor_request *q, struct tensor_map *m, const int *lower, const int *upper,
                       unsigned channels, unsigned pixels)
{
  if (q->rank < 3 || !lower || !upper || !take_common(m, q)) return CUDA_ERROR_INVALID_VALUE;
  if (!channels || channels > MAX_BOX || !pixels || pixels > MAX_PIXELS) return CUDA_ERROR_INVALID_VALUE;
  m->box[0] = channels, m->pixels = pixels;
  if (!take_corners(m, lower, upper) || !inner_fits(m)) return CUDA_ERROR_INVALID_VALUE;
  return finish(m, q->out);
}

static CUresult plain_im2col(const struct shim *s, const struct tensor_request *q, const int *lower,
                             const int *upper, unsigned channels, unsigned pixels)
{
  struct tensor_map m = {.kind = TENSOR_IM2COL};
  if (supported(s, CC_TENSOR)) return supported(s, CC_TENSOR);
  return im2col(q, &m, lower, upper, channels, pixels);
}

static CUresult wide_im2col(const struct shim *s, const struct tensor_request *q, int lower, int upper,
                            unsigned channels, unsigned pixels, unsigned mode)
{
  struct tensor_map m = {.kind = mode ? TENSOR_IM2COL_W128 : TENSOR_IM2COL_W};
  if (supported(s, CC_WIDE)) return supported(s, CC_WIDE);
  if (mode > 1 || (q->swizzle != CODE_64 && q->swizzle != CODE_128 && q->swizzle != CODE_128_ATOM_32))
    return CUDA_ERROR_INVALID_VALUE;
  return im2col(q, &m, &lower, &upper, channels, mode ? 128 : pixels);
}

static CUresult replace_address(const struct shim *s, void *map, const void *address)
{
  struct tensor_map m;
  if (supported(s, CC_TENSOR)) return supported(s, CC_TENSOR);
  if (!map || (uintptr_t)map % MAP_ALIGN || !tensor_map_read(&m, map)) return CUDA_ERROR_INVALID_VALUE;
  m.address = (uint64_t)(uintptr_t)address;
  return m.address % grain(&m) ? CUDA_ERROR_INVALID_VALUE : finish(&m, map);
}

#define REQUEST                                                                                                  \
  &(struct tensor_request)                                                                                       \
  {                                                                                                              \
    map, type, rank, address, dim, stride, step, interleave, swizzle, l2, fill                                   \
  }

CUresult cuTensorMapEncodeTiled(void *map, unsigned type, uint32_t rank, void *address, const uint64_t *dim,
                                const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                                unsigned interleave, unsigned swizzle, unsigned l2, unsigned fill)
{
  DRIVER(NEED_CONTEXT, tiled(s, REQUEST, box));
}

CUresult cuTensorMapEncodeIm2col(void *map, unsigned type, uint32_t rank, void *address, const uint64_t *dim,
                                 const uint64_t *stride, const int *lower, const int *upper, uint32_t channels,
                                 uint32_t pixels, const uint32_t *step, unsigned interleave, unsigned swizzle,
                                 unsigned l2, unsigned fill)
{
  DRIVER(NEED_CONTEXT, plain_im2col(s, REQUEST, lower, upper, channels, pixels));
}

CUresult cuTensorMapEncodeIm2colWide(void *map, unsigned type, uint32_t rank, void *address, const uint64_t *dim,
                                     const uint64_t *stride, int lower, int upper, uint32_t channels,
                                     uint32_t pixels, const uint32_t *step, unsigned interleave, unsigned mode,
                                     unsigned swizzle, unsigned l2, unsigned fill)
{
  DRIVER(NEED_CONTEXT, wide_im2col(s, REQUEST, lower, upper, channels, pixels, mode));
}

CUresult cuTensorMapReplaceAddress(void *map, void *address)
{
  DRIVER(NEED_CONTEXT, replace_address(s, map, address));
}
