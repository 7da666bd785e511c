/* Tensor cores: which part has an instruction; and MOVM, which transposes or widens a matrix in registers.
 *
 * Compiled once per x86-64 level (lanes.h).
 */
#include "func/sass/sem_fp_part.h"

/* MOVM: transposes an 8 x 8 matrix of 16-bit elements. */
LANE_HANDLER(movm)
{
  LANE_UNUSED;
  LANE_ROW(a);
  uint32_t r[LANES];
  for (unsigned i = 0; i < LANES; i++) {
    const unsigned g = i >> 2, t = i & 3; /* element (row, col) is in lane 4 row + col / 2 */
    const uint32_t lo = row_a[4 * (2 * t) + g / 2], hi = row_a[4 * (2 * t + 1) + g / 2];
    r[i] = (lo >> 16 * (g & 1) & 0xffffu) | (hi >> 16 * (g & 1)) << 16;
  }
  LANE_ROWS(1, d[i] = r[i];);
  return true;
}

/* MOVM.U4TO8.M832: an 8 x 32 matrix of nibbles, dealt like an operand of IMMA (row g in the lanes 4g to
 * 4g + 3, eight elements each), becomes one of bytes: two registers, columns 0..15 and 16..31, four
 * elements in each lane. */
LANE_HANDLER(movm_u4to8)
{
  LANE_UNUSED;
  LANE_ROW(a);
  _Alignas(64) uint32_t out[2 * LANES];
  for (unsigned i = 0; i < LANES; i++)
    for (unsigned h = 0; h < 2; h++) {
      const unsigned t = i & 3, from = (i & ~3u) + 2 * h + t / 2;
      const uint32_t nibbles = row_a[from] >> 16 * (t & 1);
      out[h * LANES + i] = (nibbles & 0xfu) | (nibbles & 0xf0u) << 4 | (nibbles & 0xf00u) << 8 |
                           (nibbles & 0xf000u) << 12;
    }
  row_blend(row_dst(w, u->d), out, 2, m);
  return true;
}

static uop_fn *pick_movm(const struct sass_inst *s)
{
  enum { U4TO8 = 2, MT88 = 0, M832 = 1 };
  const unsigned type = (unsigned)sass_get(s, FLD_MOVM_TYPE), op = (unsigned)sass_get(s, FLD_MOVM_OP);
  if (type == 0 && op == MT88) return movm;
  return type == U4TO8 && op == M832 ? movm_u4to8 : NULL;
}

sem_picker SEM_NAME(sem_mma_handler);

uop_fn *SEM_NAME(sem_mma_handler)(const struct sass_inst *s, struct uop *u)
{
  u->imm = u->imm2 = 0;
  switch (s->sem) {
  case SEM_HMMA: return SEM_NAME(sem_hmma_part)(s, u);
  case SEM_HMMA_884: return SEM_NAME(sem_hmma884_part)(s, u);
  case SEM_IMMA: case SEM_BMMA: return SEM_NAME(sem_imma_part)(s, u);
  case SEM_DMMA: return SEM_NAME(sem_dmma_part)(s, u);
  case SEM_MOVM: return pick_movm(s);
  case SEM_QMMA: case SEM_QMMA_SF: return SEM_NAME(sem_qmma_part)(s, u);
  case SEM_HGMMA: case SEM_QGMMA: case SEM_IGMMA: case SEM_BGMMA: return SEM_NAME(sem_gmma_part)(s, u);
  case SEM_UTCHMMA: case SEM_UTCIMMA: case SEM_UTCQMMA: case SEM_UTCQMMA_SF: case SEM_UTCOMMA:
    return SEM_NAME(sem_utcmma_part)(s, u);
  case SEM_OMMA_SF: return SEM_NAME(sem_omma_part)(s, u);
  default: return NULL;
  }
}
