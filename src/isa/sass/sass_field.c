/* What the fields of a decoded instruction say: their values, and numbers that several of them make together. */
#include "isa/sass/sass.h"

static int find_field(const struct sass_inst *s, unsigned id)
{
  for (unsigned i = 0; i < s->n_fields; i++)
    if (s->field[i] == id) return (int)i;
  return -1;
}

uint64_t sass_get(const struct sass_inst *s, enum sass_field_id id)
{
  int i = find_field(s, id);
  return i < 0 ? 0 : s->val[i];
}

bool sass_has(const struct sass_inst *s, enum sass_field_id id)
{
  return find_field(s, id) >= 0;
}

bool sass_address_is_wide(const struct sass_inst *s)
{
  static const enum sass_field_id width[] = {FLD_MEM_A64, FLD_ATOM_A64, FLD_ATOM_A64_70, FLD_LDGMC_A64, FLD_LDGSTS_A64,
                                              FLD_MEM_E};
  for (unsigned i = 0; i < sizeof width / sizeof width[0]; i++)
    if (sass_has(s, width[i])) return sass_get(s, width[i]);
  return true;
}

unsigned sass_urz_code(unsigned sm)
{
  return sm < 100 ? 63 : 255;
}

/* IGMMA and BGMMA have 8, 16, 24, then multiples of 16 (compiler output, CUDA 13.0). IGMMA's number says k, too. */
unsigned sass_gmma_columns(const struct sass_inst *s)
{
  if (s->sem == SEM_HGMMA || s->sem == SEM_QGMMA) return 8 * ((unsigned)sass_get(s, FLD_GMMA_N) + 1);
  unsigned n = (unsigned)sass_get(s, s->sem == SEM_IGMMA ? FLD_IGMMA_N : FLD_GMMA_N);
  if (s->sem == SEM_IGMMA) {
    if (n % 3 != sass_get(s, FLD_GMMA_SP)) return 0;
    n /= 3;
  }
  return n < 3 ? 8 * (n + 1) : n < 18 ? 16 * (n - 1) : 0;
}

unsigned sass_gmma_registers(const struct sass_inst *s)
{
  unsigned n = sass_gmma_columns(s) / 2;
  return sass_has(s, FLD_GMMA_F32) && !sass_get(s, FLD_GMMA_F32) ? n / 2 : n;
}

/* PTX ISA, tcgen05.ld: registers of a thread for each shape. */
unsigned sass_tmem_registers(const struct sass_inst *s)
{
  static const uint8_t once[8] = {2, 4, 1, 1, 1, 1, 0, 0};
  unsigned n = (unsigned)once[sass_get(s, FLD_TMEM_SHAPE)] << sass_get(s, FLD_TMEM_N);
  return n <= TMEM_MAX_REGISTERS ? n : 0;
}

unsigned sass_asks_registers(const struct sass_inst *s)
{
  enum { TRY_ALLOC = 2 };
  if (!s->row || s->sem != SEM_USETMAXREG || sass_get(s, FLD_MAXREG_OP) != TRY_ALLOC) return 0;
  return (unsigned)sass_get(s, FLD_MAXREG_COUNT);
}

unsigned sass_tensor_coords(const struct sass_inst *s)
{
  enum { GATHER4 = 4, SCATTER4 = 2, GATHER_COORDS = 5 };
  bool store = sass_has(s, FLD_TMA_STORE_MODE);
  unsigned mode = (unsigned)sass_get(s, store ? FLD_TMA_STORE_MODE : FLD_TMA_MODE);
  if (mode == (store ? SCATTER4 : GATHER4)) return GATHER_COORDS;
  return (unsigned)sass_get(s, FLD_TMA_DIM) + 1;
}

unsigned sass_tensor_addresses(const struct sass_inst *s)
{
  return s->sem == SEM_UTMALDG ? 2 : s->sem == SEM_UTMAPF ? 0 : 1;
}

/* Codes: sm_75..89 {75:73}; sm_90 integer {75:73} and floating point {76:73}; shared {74:73}. */
enum sass_atom_type sass_atom_type(const struct sass_inst *s)
{
  static const uint8_t old[8] = {ATOM_U32, ATOM_S32, ATOM_U64, ATOM_F32,
                                 ATOM_F16X2, ATOM_S64, ATOM_F64, ATOM_BF16X2};
  static const uint8_t integer[4] = {ATOM_U32, ATOM_S32, ATOM_U64, ATOM_S64};
  if (sass_has(s, FLD_ATOM_TYPE)) return old[sass_get(s, FLD_ATOM_TYPE)];
  static const uint8_t size[8] = {ATOM_U32, ATOM_INVALID, ATOM_U64, ATOM_INVALID, ATOM_B128,
                                  ATOM_INVALID, ATOM_INVALID, ATOM_INVALID};
  if (sass_get(s, FLD_ATOM_ITYPE) == 4 || sass_get(s, FLD_ATOMS_TYPE) == 4) return ATOM_B128;
  if (sass_has(s, FLD_ATOM_ITYPE) && sass_get(s, FLD_ATOM_ITYPE) < 4)
    return integer[sass_get(s, FLD_ATOM_ITYPE)];
  if (sass_has(s, FLD_ATOMS_TYPE) && sass_get(s, FLD_ATOMS_TYPE) < 3)
    return integer[sass_get(s, FLD_ATOMS_TYPE)];
  if (sass_has(s, FLD_CAS_64)) return size[sass_get(s, FLD_CAS_64)];
  if (!sass_has(s, FLD_ATOM_FTYPE)) return ATOM_INVALID;
  switch (sass_get(s, FLD_ATOM_FTYPE)) {
  case 0: return ATOM_F16X2;
  case 1: return ATOM_F16X4;
  case 2: return ATOM_F16X8;
  case 3: return ATOM_BF16X2;
  case 4: return ATOM_BF16X4;
  case 5: return ATOM_BF16X8;
  case 9: return ATOM_F32;
  case 10: return ATOM_F32X2;
  case 11: return ATOM_F32X4;
  case 15: return ATOM_F64;
  default: return ATOM_INVALID;
  }
}
