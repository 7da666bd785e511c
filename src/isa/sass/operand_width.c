/* How many bytes and registers the operands of an instruction have. Widths follow the operand types (PTX ISA: fragment
 * layouts of the tensor cores, vectors of textures).
 */
#include "isa/sass/operand_width.h"

enum { GMMA_A_REGISTERS = 4 };
enum { SURED_U64 = 2, SURED_S64 = 5, MT1616 = 4 };

unsigned sass_mem_bytes(const struct sass_inst *s)
{
  static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 16}, copied[4] = {4, 8, 16, 16};
  return sass_has(s, FLD_LDGSTS_SIZE) ? copied[sass_get(s, FLD_LDGSTS_SIZE)] : bytes[sass_get(s, FLD_MEM_SIZE)];
}

unsigned sass_atom_bytes(const struct sass_inst *s)
{
  switch (sass_atom_type(s)) {
  case ATOM_U64: case ATOM_S64: case ATOM_F64: case ATOM_F32X2: case ATOM_F16X4: case ATOM_BF16X4:
    return 8;
  case ATOM_F32X4: case ATOM_F16X8: case ATOM_BF16X8: case ATOM_B128: return 16;
  default: return 4;
  }
}

static unsigned ldgmc_bytes(const struct sass_inst *s)
{
  static const uint8_t floating[16] = {4, 8, 16, 4, 8, 16, [12] = 4, 8, 16, 8}, fp8[16] = {[1] = 4, 8, 16, 4, 8, 16};
  unsigned bytes = sass_get(s, FLD_LDGMC_ITYPE) & 2 ? 8 : 4;
  if (sass_has(s, FLD_LDGMC_FTYPE)) bytes = floating[sass_get(s, FLD_LDGMC_FTYPE)];
  if (sass_has(s, FLD_LDGMC_F8TYPE)) bytes = fp8[sass_get(s, FLD_LDGMC_F8TYPE)];
  return bytes ? bytes : 4;
}

unsigned sass_data_bytes(const struct sass_inst *s)
{
  switch (s->row->width) {
  case W_MEM: return sass_mem_bytes(s);
  case W_256: return 32;
  case W_ATOM: case W_ATOM4: case W_ATOMF: case W_ATOMS: case W_CAS: return sass_atom_bytes(s);
  case W_LDSM: return (sass_get(s, FLD_LDSM_TRANS100) == MT1616 ? 8u : 4u) << sass_get(s, FLD_LDSM_COUNT);
  case W_ARRIVE: case W_EXCH: return 8;
  case W_STAS: return sass_mem_bytes(s);
  case W_REDAS: return sass_atom_bytes(s);
  case W_LDGMC: return ldgmc_bytes(s);
  case W_SUST_P: return 4 * bits_count(sass_get(s, FLD_SURF_MASK));
  case W_SURED: {
    unsigned type = (unsigned)sass_get(s, FLD_SURED_TYPE);
    return type == SURED_U64 || type == SURED_S64 ? 8 : 4;
  }
  default: return 4;
  }
}

/* ---- textures and surfaces ---- */

struct sass_tex_args sass_tex_args(const struct sass_inst *s)
{
  static const uint8_t coords[8] = {1, 2, 3, 3, 1, 2, 3, 3};
  enum { ARRAY = 4, LZ = 1, LOD_FIELD = 7, LL100 = 9 };
  unsigned dim = (unsigned)sass_get(s, FLD_TEX_DIM), lod = (unsigned)sass_get(s, FLD_TEX_LOD);
  bool has_lod = lod > LZ || (sass_get(s, FLD_TEX_LOD100) & LOD_FIELD) || sass_get(s, FLD_TLD_LOD100);
  bool txd = s->sem == SEM_TXD, array = dim & ARRAY;
  struct sass_tex_args a = {.n_coords = coords[dim], .layer = -1, .handle = -1, .lod = -1, .offset = -1};
  bool offset = sass_get(s, FLD_TEX_AOFFI) || sass_get(s, FLD_TEX_AOFFI100);
  if (txd && sass_get(s, FLD_TEX_B)) a.handle = (int8_t)a.n++;
  if (!txd && array) a.layer = (int8_t)a.n++;
  a.first = a.n;
  a.n = (uint8_t)(a.n + a.n_coords);
  if (txd && offset) a.offset = (int8_t)a.n;
  if (txd && array) a.layer = (int8_t)a.n;
  if (txd) a.n = (uint8_t)(a.n + (array || offset));
  a.n_a = a.n;
  if (!txd && sass_get(s, FLD_TEX_B)) a.handle = (int8_t)a.n++;
  if (has_lod) a.lod = (int8_t)a.n++;
  if (!txd && offset) a.offset = (int8_t)a.n++;
  if (sass_get(s, FLD_TEX_DC)) a.n++;
  if (sass_get(s, FLD_TEX_SCR)) a.n_a = (uint8_t)((a.n + 1) / 2);
  return a;
}

unsigned sass_surface_coords(const struct sass_inst *s)
{
  static const uint8_t coords[8] = {1, 1, 2, 2, 3, 3, 3, 3};
  return coords[sass_get(s, FLD_SURF_DIM)];
}

unsigned sass_tex_arg_width(const struct sass_inst *s, unsigned n)
{
  struct sass_tex_args a = sass_tex_args(s);
  if (s->sem == SEM_TXQ) return n ? 0 : 1u + (unsigned)sass_get(s, FLD_TEX_B);
  if (n == 0) return a.n_a;
  return s->sem == SEM_TXD ? 2u * a.n_coords : (unsigned)(a.n - a.n_a);
}

unsigned sass_tex_results(const struct sass_inst *s, bool second)
{
  unsigned n = bits_count(sass_get(s, FLD_TEX_MASK)), first = n < 2 ? n : 2;
  n = second ? n - first : first;
  return sass_get(s, FLD_TEX_F16) ? (n + 1) / 2 : n; /* a register for two halves */
}

struct mma_width {
  uint8_t a, b, cd; /* registers */
};

static struct mma_width hmma_width(const struct sass_inst *s)
{
  unsigned cd = sass_get(s, FLD_HMMA_F32) ? 4 : 2;
  /* 16816, and tf32 1688 whose elements are twice as wide. A sparse A is half as wide. */
  bool big = sass_get(s, FLD_HMMA_SHAPE) == 1 ||
             (sass_get(s, FLD_HMMA_SHAPE) == 0 && sass_get(s, FLD_HMMA_TYPE) == 2);
  if (sass_get(s, FLD_HMMA_SP)) { /* B covers all of k, A half of it */
    bool deep = sass_get(s, FLD_HMMA_SHAPE) == 3 ||
                (sass_get(s, FLD_HMMA_SHAPE) == 1 && sass_get(s, FLD_HMMA_TYPE) == 2);
    return deep ? (struct mma_width){4, 4, (uint8_t)cd} : (struct mma_width){2, 2, (uint8_t)cd};
  }
  return big ? (struct mma_width){4, 2, (uint8_t)cd} : (struct mma_width){2, 1, (uint8_t)cd};
}

static struct mma_width imma_width(const struct sass_inst *s)
{
  bool nibbles = sass_get(s, FLD_IMMA_A) >= 4;
  if (sass_get(s, FLD_IMMA_SP)) { /* 16832, 16864 on bytes, 16864, 168128 on nibbles */
    bool deep = sass_get(s, FLD_IMMA_SHAPE) == (nibbles ? 7u : 6u);
    return deep ? (struct mma_width){4, 4, 4} : (struct mma_width){2, 2, 4};
  }
  switch (sass_get(s, FLD_IMMA_SHAPE)) {
  case 0: case 2: return (struct mma_width){1, 1, 2};
  case 4: return (struct mma_width){2, 1, 4};
  case 5: return nibbles ? (struct mma_width){2, 1, 4} : (struct mma_width){4, 2, 4};
  default: return (struct mma_width){4, 2, 4};
  }
}

static struct mma_width bmma_width(const struct sass_inst *s)
{
  static const struct mma_width w[4] = {{1, 1, 2}, {2, 1, 4}, {4, 2, 4}, {4, 2, 4}};
  return w[sass_get(s, FLD_BMMA_SHAPE)];
}

static struct mma_width dmma_width(const struct sass_inst *s)
{
  static const struct mma_width w[4] = {{2, 2, 4}, {4, 2, 8}, {8, 4, 8}, {16, 8, 8}};
  return w[sass_get(s, FLD_DMMA_SHAPE)];
}

static struct mma_width qmma_width(const struct sass_inst *s)
{
  uint8_t cd = sass_get(s, FLD_QMMA_F32) ? 4 : 2;
  if (sass_get(s, FLD_QMMA_SP)) return (struct mma_width){4, 4, cd};
  if (sass_has(s, FLD_QMMA_SHAPE120) && sass_get(s, FLD_QMMA_SHAPE120))
    return (struct mma_width){4, 2, cd};
  return sass_get(s, FLD_QMMA_SHAPE) ? (struct mma_width){4, 2, cd} : (struct mma_width){2, 1, cd};
}

bool sass_is_sparse_scaled(const struct sass_inst *s)
{
  return sass_get(s, FLD_QMMA_SF_SHAPE) || sass_get(s, FLD_OMMA_SF_SHAPE);
}

static unsigned pick_mma(struct mma_width w, enum operand_role r)
{
  return r == ROLE_A ? w.a : r == ROLE_B ? w.b : w.cd;
}

/* Registers of a conversion: two for 64-bit numbers. */
static unsigned cvt_width(const struct sass_inst *s, enum operand_role r)
{
  if (r == ROLE_D) return sass_get(s, FLD_CVT_DST_FSIZE) == 3 || sass_get(s, FLD_CVT_DST_ISIZE) == 3
                              ? 2 : 1;
  return sass_get(s, FLD_CVT_SRC_FSIZE) == 3 || sass_get(s, FLD_CVT_SRC_ISIZE) == 3 ? 2 : 1;
}

/* FP32 pairs; the F32 swizzle reads one register. */
static unsigned f2_width(const struct sass_inst *s, enum operand_role r)
{
  return r == ROLE_D || (s->src[r - ROLE_A].swz & 3) < 2 ? 2 : 1;
}

unsigned sass_words_256(const struct sass_inst *s, bool high)
{
  return bits_count(sass_get(s, FLD_MASK_L256) >> (high ? 4 : 0) & 15);
}

unsigned sass_operand_width(const struct sass_inst *s, enum operand_role r)
{
  switch (s->row->width) {
  case W_64: case W_HMMA884: return 2;
  case W_WIDE: return r == ROLE_D || r == ROLE_C ? 2 : 1;
  case W_HI: return r == ROLE_C ? 2 : 1;
  case W_D2: return r == ROLE_D ? 2 : 1;
  case W_A2: return r == ROLE_A ? 2 : 1;
  case W_CVT: return cvt_width(s, r);
  case W_CS2R: return sass_get(s, FLD_CS2R_64) ? 2 : 1;
  case W_MATCH: return r == ROLE_A && sass_get(s, FLD_MATCH_U64) ? 2 : 1;
  case W_F2: return f2_width(s, r);
  case W_MXMMA: return pick_mma((struct mma_width){4, sass_is_sparse_scaled(s) ? 4 : 2, 4}, r);
  case W_QMMA: return pick_mma(qmma_width(s), r);
  case W_HMMA: return pick_mma(hmma_width(s), r);
  case W_IMMA: return pick_mma(imma_width(s), r);
  case W_BMMA: return pick_mma(bmma_width(s), r);
  case W_DMMA: return pick_mma(dmma_width(s), r);
  case W_ARRIVE: return r == ROLE_D ? 2 : 1;
  case W_GMMA: return r == ROLE_A ? GMMA_A_REGISTERS : sass_gmma_registers(s);
  case W_MOVM: return r == ROLE_D && sass_get(s, FLD_MOVM_TYPE) ? 2 : 1; /* twice as wide */
  case W_TEX: return sass_tex_results(s, false);
  case W_256: return r == ROLE_D ? sass_words_256(s, false) : 4;
  case W_1: return 1;
  case W_TMEM: return sass_tmem_registers(s);
  default: return (sass_data_bytes(s) + 3) / 4;
  }
}
