/* The bytes of tensor maps: tensor_map.h. */
#include "func/tensor_map.h"

#include <string.h>

enum { WORD_ADDRESS = 0, WORD_KIND = 2, WORD_STRIDE = 3, WORD_STRIDE_HIGH = 7, WORD_DIM = 8,
       WORD_STEP = 13, WORD_BOX = 14, WORD_PIXELS = 15, WORDS = TENSOR_MAP_BYTES / 4 };
enum { IM2COL_AT = 0, VERSION_AT = 1, RANK_AT = 4, TYPE_AT = 7, INTERLEAVE_AT = 11, SWIZZLE_AT = 13, NAN_AT = 15,
       TF32_AT = 16, L2_AT = 17, ATOM_AT = 19, WALK_AT = 23, BOX0_AT = 24 };
enum { VERSION = 1 };

static const uint8_t type_bits[TENSOR_TYPE__N] = {8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 4, 4, 6};
static const uint8_t shared_bits[TENSOR_TYPE__N] = {8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 4, 8, 8};

unsigned tensor_type_bits(enum tensor_type t)
{
  return type_bits[t];
}

unsigned tensor_type_shared_bits(enum tensor_type t)
{
  return shared_bits[t];
}

unsigned tensor_map_spatial(const struct tensor_map *m)
{
  if (m->kind == TENSOR_TILED) return 0;
  return m->kind == TENSOR_IM2COL && m->rank > 2 ? m->rank - 2 : 1;
}

static unsigned corner_bits(const struct tensor_map *m)
{
  static const uint8_t bits[] = {16, 16, 8, 5};
  return bits[tensor_map_spatial(m)];
}

static uint32_t corners(const struct tensor_map *m)
{
  unsigned n = tensor_map_spatial(m), bits = corner_bits(m);
  uint32_t mask = (1u << bits) - 1, v = 0;
  for (unsigned i = 0; i < n; i++) {
    v |= ((uint32_t)m->lower[i] & mask) << i * bits;
    v |= ((uint32_t)m->upper[i] & mask) << (n + i) * bits;
  }
  return v;
}

void tensor_map_write(const struct tensor_map *m, uint8_t out[TENSOR_MAP_BYTES])
{
  uint32_t w[WORDS] = {0};
  w[WORD_ADDRESS] = (uint32_t)m->address, w[WORD_ADDRESS + 1] = (uint32_t)(m->address >> 32);
  const bool im2col = m->kind != TENSOR_TILED;
  const uint32_t walk = im2col ? (uint32_t)m->kind - TENSOR_IM2COL : 0;
  w[WORD_KIND] = (uint32_t)im2col << IM2COL_AT | VERSION << VERSION_AT | walk << WALK_AT |
                 (m->rank - 1) << RANK_AT | (uint32_t)m->type << TYPE_AT |
                 (uint32_t)m->interleave << INTERLEAVE_AT | (uint32_t)m->swizzle << SWIZZLE_AT |
                 (uint32_t)m->nan_fill << NAN_AT | (uint32_t)m->tf32 << TF32_AT |
                 (uint32_t)m->atom << ATOM_AT | m->l2_promotion << L2_AT;
  w[WORD_STEP] = (m->box[0] - 1) << BOX0_AT;
  for (unsigned i = 0; i < m->rank; i++) {
    w[WORD_DIM + i] = (uint32_t)(m->dim[i] - 1);
    w[WORD_STEP] |= (m->step[i] - 1) << 3 * i;
    if (!i) continue;
    w[WORD_STRIDE + i - 1] = (uint32_t)(m->stride[i] >> 4);
    w[WORD_STRIDE_HIGH] |= (uint32_t)(m->stride[i] >> 36) << 4 * (i - 1);
    if (m->kind == TENSOR_TILED) w[WORD_BOX] |= (m->box[i] - 1) << 8 * (i - 1);
  }
  if (m->kind != TENSOR_TILED) w[WORD_BOX] = corners(m), w[WORD_PIXELS] = m->pixels - 1;
  memcpy(out, w, sizeof w);
}

static int sign_extend(uint32_t v, unsigned bits)
{
  return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

static void read_im2col(struct tensor_map *m, const uint32_t *w)
{
  unsigned n = tensor_map_spatial(m), bits = corner_bits(m);
  for (unsigned i = 0; i < n; i++) {
    m->lower[i] = sign_extend(w[WORD_BOX] >> i * bits, bits);
    m->upper[i] = sign_extend(w[WORD_BOX] >> (n + i) * bits, bits);
  }
  m->pixels = (w[WORD_PIXELS] & 1023) + 1;
}

static bool codes_mean_something(const struct tensor_map *m, struct err *e)
{
  if (m->rank > TENSOR_DIMS) return err_set(e, "rank %u; there are 1 to %d", m->rank, TENSOR_DIMS);
  if (m->type >= TENSOR_TYPE__N) return err_set(e, "type %u; there are 0 to %d", (unsigned)m->type, TENSOR_TYPE__N - 1);
  if (m->interleave > TENSOR_BY_32) return err_set(e, "interleave %u; there are 0 to 2", (unsigned)m->interleave);
  if ((m->kind != TENSOR_TILED || m->interleave != TENSOR_PLAIN) && m->rank < 3)
    return err_set(e, "rank %u; im2col and interleaved layouts have 3 to %d", m->rank, TENSOR_DIMS);
  return true;
}

bool tensor_map_read(struct tensor_map *m, const uint8_t in[TENSOR_MAP_READ], struct err *e)
{
  uint32_t w[TENSOR_MAP_READ / sizeof(uint32_t)], k;
  memcpy(w, in, sizeof w);
  k = w[WORD_KIND];
  const unsigned walk = k >> WALK_AT & 3;
  if ((k >> IM2COL_AT & 1) && walk > TENSOR_IM2COL_W128 - TENSOR_IM2COL)
    return err_set(e, "im2col %u; there are 0 to 2", walk);
  *m = (struct tensor_map){
      .kind = k >> IM2COL_AT & 1 ? TENSOR_IM2COL + walk : TENSOR_TILED,
      .type = k >> TYPE_AT & 15, .rank = (k >> RANK_AT & 7) + 1,
      .interleave = k >> INTERLEAVE_AT & 3, .swizzle = k >> SWIZZLE_AT & 3, .atom = k >> ATOM_AT & 3,
      .nan_fill = k >> NAN_AT & 1, .tf32 = k >> TF32_AT & 1, .l2_promotion = k >> L2_AT & 3,
      .address = (uint64_t)w[WORD_ADDRESS + 1] << 32 | w[WORD_ADDRESS],
  };
  TRY(codes_mean_something(m, e));
  m->box[0] = (w[WORD_STEP] >> BOX0_AT) + 1;
  for (unsigned i = 0; i < m->rank; i++) {
    m->dim[i] = (uint64_t)w[WORD_DIM + i] + 1;
    m->step[i] = (w[WORD_STEP] >> 3 * i & 7) + 1;
    if (!i) continue;
    m->stride[i] = ((uint64_t)w[WORD_STRIDE + i - 1] | (uint64_t)(w[WORD_STRIDE_HIGH] >> 4 * (i - 1) & 15) << 32) << 4;
    if (m->kind == TENSOR_TILED) m->box[i] = (w[WORD_BOX] >> 8 * (i - 1) & 255) + 1;
  }
  if (m->kind != TENSOR_TILED) read_im2col(m, w);
  return true;
}

bool tensor_type_gaps(enum tensor_type t)
{
  return t == TENSOR_U4_GAPS || t == TENSOR_U6_GAPS;
}

static bool gaps(const struct tensor_map *m)
{
  return tensor_type_gaps(m->type);
}

unsigned tensor_map_grain(const struct tensor_map *m)
{
  return m->interleave == TENSOR_BY_32 || gaps(m) ? 32 : 16;
}

static bool swizzle_fits(const struct tensor_map *m, struct err *e)
{
  const bool wide = m->swizzle == SWIZZLE_128, none = m->swizzle == SWIZZLE_NONE;
  bool ok = m->interleave != TENSOR_BY_32 || m->swizzle == SWIZZLE_32;
  if (m->type == TENSOR_U4_GAPS) ok &= none || (wide && (m->atom == ATOM_16 || m->atom == ATOM_32));
  if (m->type == TENSOR_U6_GAPS) ok &= m->interleave == TENSOR_PLAIN && (none || (wide && m->atom != ATOM_32_FLIP));
  return ok || err_set(e, "swizzle: not one that this type and interleave have");
}

static bool places_fit(const struct tensor_map *m, struct err *e)
{
  enum { PACKED = 128 };
  const unsigned grain = tensor_map_grain(m), whole = gaps(m) ? PACKED : m->type == TENSOR_U4 ? 2 : 1;
  if (m->address % grain)
    return err_set(e, "address 0x%llx is not a multiple of %u", (unsigned long long)m->address, grain);
  if (m->dim[0] % whole)
    return err_set(e, "extent of dimension 0 is %llu elements, not a multiple of %u", (unsigned long long)m->dim[0],
                   whole);
  for (unsigned i = 1; i < m->rank; i++)
    if (m->stride[i] % grain)
      return err_set(e, "stride of dimension %u is %llu bytes, not a multiple of %u", i,
                     (unsigned long long)m->stride[i], grain);
  return true;
}

/* The inner dimension of the box: whole chunks, and within the swizzle. */
static bool inner_fits(const struct tensor_map *m, struct err *e)
{
  enum { PACKED_BOX = 128, CHUNK_BITS = 128, BYTE_BITS = 8 };
  static const uint16_t span[] = {[SWIZZLE_32] = 32, [SWIZZLE_64] = 64, [SWIZZLE_128] = 128};
  const unsigned bits = m->box[0] * tensor_type_shared_bits(m->type);
  if (gaps(m) && m->box[0] != PACKED_BOX)
    return err_set(e, "box of dimension 0 is %u elements; packed types with gaps have %d", m->box[0], PACKED_BOX);
  if (m->interleave != TENSOR_PLAIN) return true;
  if (bits % (m->kind == TENSOR_TILED ? CHUNK_BITS : BYTE_BITS))
    return err_set(e, "box of dimension 0 is %u elements of %u bits, not a multiple of %d bytes", m->box[0],
                   tensor_type_shared_bits(m->type), m->kind == TENSOR_TILED ? CHUNK_BITS / BYTE_BITS : 1);
  if (m->swizzle != SWIZZLE_NONE && bits > BYTE_BITS * (unsigned)span[m->swizzle])
    return err_set(e, "swizzle over %u bytes, less than the %u of the box in dimension 0", span[m->swizzle],
                   bits / BYTE_BITS);
  return true;
}

static bool corners_fit(const struct tensor_map *m, struct err *e)
{
  const unsigned n = m->kind == TENSOR_TILED ? 0 : tensor_map_spatial(m);
  for (unsigned i = 0; i < n; i++)
    if ((int64_t)m->dim[1 + i] + m->upper[i] - m->lower[i] <= 0)
      return err_set(e, "corners %d and %d of dimension %u leave nothing of its %llu elements", m->lower[i],
                     m->upper[i], 1 + i, (unsigned long long)m->dim[1 + i]);
  return true;
}

bool tensor_map_check(const struct tensor_map *m, struct err *e)
{
  const bool real = m->type == TENSOR_F16 || m->type == TENSOR_F32 || m->type == TENSOR_F32_FTZ ||
                    m->type == TENSOR_F64 || m->type == TENSOR_BF16;
  if (m->nan_fill && !real) return err_set(e, "fill with NaN of a type that has none");
  return swizzle_fits(m, e) && places_fit(m, e) && inner_fits(m, e) && corners_fit(m, e);
}
