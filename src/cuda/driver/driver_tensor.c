/* Tensor maps of the driver: the rules of CUDA Driver API 13.0, "Tensor Map Object Management". Not checked,
 * because only an example of how strides come about says it: that rows do not overlap. */
#include "cuda/core/call.h"
#include "cuda/core/features.h"
#include "func/tensor_map.h"

enum { MAP_ALIGN = 64, MAX_BOX = 256, MAX_STEP = 8, MAX_PIXELS = 1024, MAX_L2 = 3 };
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

static bool take_swizzle(struct tensor_map *m, unsigned code)
{
  if (code >= CODE_SWIZZLE__N) return false;
  m->swizzle = code > CODE_128 ? SWIZZLE_128 : (enum tensor_swizzle)code;
  m->atom = code > CODE_128 ? (enum tensor_atom)(code - CODE_128) : ATOM_16;
  return true;
}

static bool take_extents(struct tensor_map *m, const struct tensor_request *q)
{
  for (unsigned i = 0; i < m->rank; i++) {
    m->dim[i] = q->dim[i];
    m->step[i] = !i && m->interleave == TENSOR_PLAIN ? 1 : q->step[i]; /* not looked at */
    if (!m->dim[i] || m->dim[i] > (uint64_t)1 << 32 || !m->step[i] || m->step[i] > MAX_STEP) return false;
    if (!i) continue;
    m->stride[i] = q->stride[i - 1];
    if (m->stride[i] >> 40) return false;
  }
  return true;
}

static bool take_common(struct tensor_map *m, const struct tensor_request *q)
{
  if (!q->out || (uintptr_t)q->out % MAP_ALIGN || !q->dim || !q->step || (q->rank > 1 && !q->stride)) return false;
  if (q->type >= sizeof codes / sizeof codes[0] || !q->rank || q->rank > TENSOR_DIMS) return false;
  if (q->interleave > TENSOR_BY_32 || q->l2 > MAX_L2 || q->fill > codes[q->type].real) return false;
  m->type = codes[q->type].type, m->tf32 = codes[q->type].tf32;
  m->rank = q->rank, m->interleave = q->interleave, m->l2_promotion = q->l2, m->nan_fill = q->fill;
  m->address = (uint64_t)(uintptr_t)q->address;
  if (m->interleave != TENSOR_PLAIN && m->rank < 3) return false;
  return take_swizzle(m, q->swizzle) && take_extents(m, q);
}

/* The fields have the widths of the map by now. */
static CUresult finish(const struct tensor_map *m, void *out)
{
  if (!tensor_map_check(m, NULL)) return CUDA_ERROR_INVALID_VALUE;
  tensor_map_write(m, out);
  return CUDA_SUCCESS;
}

static CUresult supported(struct shim *s, enum gpu_feature f)
{
  return gpu_has(&board_current(s)->preset.params, f) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult tiled(struct shim *s, const struct tensor_request *q, const uint32_t *box)
{
  struct tensor_map m = {.kind = TENSOR_TILED};
  if (supported(s, GPU_TENSOR_MAPS)) return supported(s, GPU_TENSOR_MAPS);
  if (!box || !take_common(&m, q)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < m.rank; i++) {
    m.box[i] = box[i];
    if (!box[i] || box[i] > MAX_BOX) return CUDA_ERROR_INVALID_VALUE;
  }
  return finish(&m, q->out);
}

/* Corners, both offsets: from the first and behind the last element. Their order is that of the dimensions, W first:
 * so does NVIDIA CUTLASS, which runs on silicon, give them (lower_corner_whd in
 * cute/atom/copy_traits_sm90_im2col.hpp), although cuTensorMapEncodeIm2col's reference lists them as {D, H, W}. */
static bool take_corners(struct tensor_map *m, const int *lower, const int *upper)
{
  static const int limit[] = {0, 32768, 128, 16}; /* by their number */
  unsigned n = tensor_map_spatial(m);
  for (unsigned i = 0; i < n; i++) {
    int lo = lower[i], up = upper[i];
    if (lo < -limit[n] || lo >= limit[n] || up < -limit[n] || up >= limit[n]) return false;
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
  if (!take_corners(m, lower, upper)) return CUDA_ERROR_INVALID_VALUE;
  return finish(m, q->out);
}

static CUresult plain_im2col(struct shim *s, const struct tensor_request *q, const int *lower,
                             const int *upper, unsigned channels, unsigned pixels)
{
  struct tensor_map m = {.kind = TENSOR_IM2COL};
  if (supported(s, GPU_TENSOR_MAPS)) return supported(s, GPU_TENSOR_MAPS);
  return im2col(q, &m, lower, upper, channels, pixels);
}

static CUresult wide_im2col(struct shim *s, const struct tensor_request *q, int lower, int upper,
                            unsigned channels, unsigned pixels, unsigned mode)
{
  struct tensor_map m = {.kind = mode ? TENSOR_IM2COL_W128 : TENSOR_IM2COL_W};
  if (supported(s, GPU_TENSOR_MAPS_IM2COL_WIDE)) return supported(s, GPU_TENSOR_MAPS_IM2COL_WIDE);
  if (mode > 1 || (q->swizzle != CODE_64 && q->swizzle != CODE_128 && q->swizzle != CODE_128_ATOM_32))
    return CUDA_ERROR_INVALID_VALUE;
  return im2col(q, &m, &lower, &upper, channels, mode ? 128 : pixels);
}

static CUresult replace_address(struct shim *s, void *map, const void *address)
{
  struct tensor_map m;
  if (supported(s, GPU_TENSOR_MAPS)) return supported(s, GPU_TENSOR_MAPS);
  if (!map || (uintptr_t)map % MAP_ALIGN || !tensor_map_read(&m, map, NULL)) return CUDA_ERROR_INVALID_VALUE;
  m.address = (uint64_t)(uintptr_t)address;
  return m.address % tensor_map_grain(&m) ? CUDA_ERROR_INVALID_VALUE : finish(&m, map);
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
