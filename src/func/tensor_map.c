/* The bytes of tensor maps: tensor_map.h. */
#include "func/tensor_map.h"

#include <string.h>

enum { WORD_ADDRESS = 0, WORD_KIND = 2, WORD_STRIDE = 3, WORD_STRIDE_HIGH = 7, WORD_DIM = 8,
       WORD_STEP = 13, WORD_BOX = 14, WORD_PIXELS = 15, WORDS = TENSOR_MAP_BYTES / 4 };
enum { KIND_AT = 0, RANK_AT = 4, TYPE_AT = 7, INTERLEAVE_AT = 11, SWIZZLE_AT = 13, NAN_AT = 15, TF32_AT = 16,
       ATOM_AT = 19, L2_AT = 23, BOX0_AT = 24 };

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
  w[WORD_KIND] = (uint32_t)m->kind << KIND_AT | (m->rank - 1) << RANK_AT | (uint32_t)m->type << TYPE_AT |
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

bool tensor_map_read(struct tensor_map *m, const uint8_t in[TENSOR_MAP_BYTES])
{
  uint32_t w[WORDS], k;
  memcpy(w, in, sizeof w);
  k = w[WORD_KIND];
  *m = (struct tensor_map){
      .kind = k >> KIND_AT & 3, .type = k >> TYPE_AT & 15, .rank = (k >> RANK_AT & 7) + 1,
      .interleave = k >> INTERLEAVE_AT & 3, .swizzle = k >> SWIZZLE_AT & 3, .atom = k >> ATOM_AT & 7,
      .nan_fill = k >> NAN_AT & 1, .tf32 = k >> TF32_AT & 1, .l2_promotion = k >> L2_AT & 3,
      .address = (uint64_t)w[WORD_ADDRESS + 1] << 32 | w[WORD_ADDRESS],
  };
  if (m->rank > TENSOR_DIMS || m->type >= TENSOR_TYPE__N || m->interleave > TENSOR_BY_32 || m->atom > ATOM_64 ||
      (m->kind != TENSOR_TILED && m->rank < 3))
    return false;
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
