/* The timing view of a decoded instruction: registers with their widths, memory kind, constant
 * operand, flags. Widths follow the operand types (PTX ISA fragment layouts for the tensor cores).
 */
#include <string.h>

#include "base/bug.h"
#include "isa/sass/row.h"

enum { SLOT_A, SLOT_B, SLOT_C };
enum { GMMA_A_REGISTERS = 4, GMMA_ROW_BYTES = 32 };
enum { SURED_U64 = 2, SURED_S64 = 5, MT1616 = 4 };
enum role { ROLE_D, ROLE_A, ROLE_B, ROLE_C };

static void add_operand(struct operand *list, uint8_t *n, unsigned max, struct operand o)
{
  static const uint8_t zero[FILE__N] = {[FILE_R] = SASS_RZ, [FILE_UR] = SASS_URZ,
                                        [FILE_P] = SASS_PT, [FILE_UP] = SASS_PT};
  if (zero[o.file] && o.index == zero[o.file]) return;
  BUG_ON(*n >= max);
  list[(*n)++] = o;
}

static void add_dst(struct inst *t, unsigned file, unsigned index, unsigned width)
{
  add_operand(t->dst, &t->n_dst, INST_MAX_DST,
              (struct operand){.file = (uint8_t)file, .index = (uint8_t)index,
                               .width = (uint8_t)width});
}

static void add_src(struct inst *t, unsigned file, unsigned index, unsigned width, unsigned slot)
{
  uint8_t reuse = file == FILE_R && (t->ctrl.reuse >> slot & 1);
  add_operand(t->src, &t->n_src, INST_MAX_SRC,
              (struct operand){.file = (uint8_t)file, .index = (uint8_t)index,
                               .width = (uint8_t)width, .slot = (uint8_t)slot, .reuse = reuse});
}

static void add_pred(struct inst *t, struct sass_pred p)
{
  add_src(t, p.uniform ? FILE_UP : FILE_P, p.index, 1, 0);
}

static unsigned mem_bytes(const struct sass_inst *s)
{
  static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 16}, copied[4] = {4, 8, 16, 16};
  return sass_has(s, FLD_LDGSTS_SIZE) ? copied[sass_get(s, FLD_LDGSTS_SIZE)] : bytes[sass_get(s, FLD_MEM_SIZE)];
}

static unsigned atom_bytes(const struct sass_inst *s)
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

/* Data bytes per lane of memory instructions. */
static unsigned data_bytes(const struct sass_inst *s)
{
  switch (s->row->width) {
  case W_MEM: return mem_bytes(s);
  case W_256: return 32;
  case W_ATOM: case W_ATOM4: case W_ATOMF: case W_ATOMS: case W_CAS: return atom_bytes(s);
  case W_LDSM: return (sass_get(s, FLD_LDSM_TRANS100) == MT1616 ? 8u : 4u) << sass_get(s, FLD_LDSM_COUNT);
  case W_ARRIVE: case W_EXCH: return 8;
  case W_STAS: return mem_bytes(s);
  case W_REDAS: return atom_bytes(s);
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

/* Registers of src[0] (n = 0) and src[1]. */
static unsigned tex_arg_width(const struct sass_inst *s, unsigned n)
{
  struct sass_tex_args a = sass_tex_args(s);
  if (s->sem == SEM_TXQ) return n ? 0 : 1u + (unsigned)sass_get(s, FLD_TEX_B);
  if (n == 0) return a.n_a;
  return s->sem == SEM_TXD ? 2u * a.n_coords : (unsigned)(a.n - a.n_a);
}

static unsigned tex_results(const struct sass_inst *s, bool second)
{
  unsigned n = bits_count(sass_get(s, FLD_TEX_MASK)), first = n < 2 ? n : 2;
  n = second ? n - first : first;
  return sass_get(s, FLD_TEX_F16) ? (n + 1) / 2 : n; /* a register for two halves */
}

static void add_tex(const struct sass_inst *s, struct inst *t, unsigned kind)
{
  unsigned n;
  switch (kind) {
  case OPD_TD2:
    if ((n = tex_results(s, true))) add_dst(t, FILE_R, (unsigned)sass_get(s, FLD_TEX_RD2), n);
    break;
  case OPD_TA: case OPD_TB:
    n = tex_arg_width(s, kind == OPD_TB);
    if (n) add_src(t, FILE_R, s->src[kind == OPD_TB].index, n, kind == OPD_TB ? SLOT_B : SLOT_A);
    break;
  case OPD_TUR: /* textures: the sampler's handle beside the image's */
    add_src(t, FILE_UR, s->src[2].index, sass_has(s, FLD_TEX_DIM) ? 2 : 1, SLOT_C);
    break;
  case OPD_HC: add_src(t, FILE_R, s->src[2].index, 1, SLOT_C); break;
  case OPD_SUADDR: add_src(t, FILE_R, s->src[0].index, sass_surface_coords(s), SLOT_A); break;
  default: break;
  }
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

/* The register of the metadata is then the first of two, with the scales of A. */
static bool is_sparse_scaled(const struct sass_inst *s)
{
  return sass_get(s, FLD_QMMA_SF_SHAPE) || sass_get(s, FLD_OMMA_SF_SHAPE);
}

static unsigned pick_mma(struct mma_width w, enum role r)
{
  return r == ROLE_A ? w.a : r == ROLE_B ? w.b : w.cd;
}

/* Registers of a conversion: two for 64-bit numbers. */
static unsigned cvt_width(const struct sass_inst *s, enum role r)
{
  if (r == ROLE_D) return sass_get(s, FLD_CVT_DST_FSIZE) == 3 || sass_get(s, FLD_CVT_DST_ISIZE) == 3
                              ? 2 : 1;
  return sass_get(s, FLD_CVT_SRC_FSIZE) == 3 || sass_get(s, FLD_CVT_SRC_ISIZE) == 3 ? 2 : 1;
}

/* FP32 pairs; the F32 swizzle reads one register. */
static unsigned f2_width(const struct sass_inst *s, enum role r)
{
  return r == ROLE_D || (s->src[r - ROLE_A].swz & 3) < 2 ? 2 : 1;
}

/* Registers a 256-bit load writes: the words its mask names, packed (compiler output, CUDA 13.0). */
static unsigned words_256(const struct sass_inst *s, bool high)
{
  return bits_count(sass_get(s, FLD_MASK_L256) >> (high ? 4 : 0) & 15);
}

static unsigned reg_width(const struct sass_inst *s, enum role r)
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
  case W_MXMMA: return pick_mma((struct mma_width){4, is_sparse_scaled(s) ? 4 : 2, 4}, r);
  case W_QMMA: return pick_mma(qmma_width(s), r);
  case W_HMMA: return pick_mma(hmma_width(s), r);
  case W_IMMA: return pick_mma(imma_width(s), r);
  case W_BMMA: return pick_mma(bmma_width(s), r);
  case W_DMMA: return pick_mma(dmma_width(s), r);
  case W_ARRIVE: return r == ROLE_D ? 2 : 1;
  case W_GMMA: return r == ROLE_A ? GMMA_A_REGISTERS : sass_gmma_registers(s);
  case W_MOVM: return r == ROLE_D && sass_get(s, FLD_MOVM_TYPE) ? 2 : 1; /* twice as wide */
  case W_TEX: return tex_results(s, false);
  case W_256: return r == ROLE_D ? words_256(s, false) : 4;
  case W_1: return 1;
  case W_TMEM: return sass_tmem_registers(s);
  default: return (data_bytes(s) + 3) / 4;
  }
}

static void add_source(const struct sass_inst *s, struct inst *t, unsigned n)
{
  const struct sass_src *src = &s->src[n];
  unsigned slot = row_position(s->row, n);
  enum role r = n == 0 ? ROLE_A : n == 1 ? ROLE_B : ROLE_C;
  switch (src->kind) {
  case SRC_REG: add_src(t, FILE_R, src->index, reg_width(s, r), slot); break;
  case SRC_UREG: add_src(t, FILE_UR, src->index, reg_width(s, r), slot); break;
  case SRC_CONST_UR: add_src(t, FILE_UR, src->index, 2, slot); break;
  case SRC_CONST:
    add_src(t, FILE_CONST, 0, reg_width(s, r), slot);
    t->has_const = true;
    t->const_bank = src->bank;
    t->const_off = src->imm;
    break;
  default: break;
  }
}

static void add_address(const struct sass_inst *s, struct inst *t, unsigned kind)
{
  bool wide = s->row->width == W_STAS || s->row->width == W_REDAS || kind == OPD_ADDR || kind == OPD_ADDR_AC ||
              kind == OPD_ADDR_O32 || kind == OPD_LDGSTS_G || kind == OPD_LDGSTS_GN || kind == OPD_LDGSTS_GN100 ||
              kind == OPD_ADDR_UC || kind == OPD_ADDR_AC100 || kind == OPD_ADDR_RC100 ||
              kind == OPD_ADDR_MC100 || kind == OPD_LDGSTS_G100 || kind == OPD_ADDR_L256 || kind == OPD_ADDR_S256 ||
              (kind == OPD_CCTL && sass_get(s, FLD_MEM_E)) ||
              ((kind == OPD_ADDR_DB || kind == OPD_ADDR_DC) && sass_get(s, FLD_MEM_A64));
  bool uniform = s->row->sem == SEM_USTGR || s->row->sem == SEM_UREDGR; /* USADDR of global memory */
  bool shared = kind >= OPD_SADDR && kind <= OPD_XADDR_C && !uniform; /* SADDR_C6, USADDR, too */
  add_src(t, FILE_R, s->src[0].index, wide ? 2 : 1, SLOT_A);
  if (s->ua == SASS_URZ) return;
  bool behind = kind == OPD_LDGSTS_GN || kind == OPD_LDGSTS_GN100; /* an uneven pair, behind the shared address */
  add_src(t, FILE_UR, s->ua, shared || behind ? 1 : 2, SLOT_B);
  if (behind) add_src(t, FILE_UR, s->ua + 1u, 1, SLOT_B);
}

static void add_constant(const struct sass_inst *s, struct inst *t, unsigned kind)
{
  const struct sass_src *c = &s->src[kind == OPD_CADDR];
  if (kind == OPD_CADDR) add_src(t, FILE_R, s->src[0].index, 1, SLOT_A);
  if (kind == OPD_UCADDR_UR || kind == OPD_LDCU) add_src(t, FILE_UR, s->ua, 1, SLOT_A);
  t->const_bank = c->bank;
  t->const_off = c->imm;
  t->has_const = kind != OPD_CADDR; /* LDC is a memory instruction */
}

/* The predicates a constant mask of P2R or R2P names, as runs of neighbours: four at most. */
static void add_pred_set(const struct sass_inst *s, struct inst *t, unsigned file, bool written)
{
  enum { ALL_PREDS = 0x7f };
  unsigned mask = s->src[1].kind == SRC_IMM ? s->src[1].imm & ALL_PREDS : ALL_PREDS;
  for (unsigned first = 0; mask >> first; first++) {
    unsigned n = 0;
    while (mask >> (first + n) & 1) n++;
    if (n && written)
      add_dst(t, file, first, n);
    else if (n)
      add_src(t, file, first, n, 0);
    first += n;
  }
}

/* What one operand adds: arg is a register file and slot, or a field. */
typedef void operand_adder(const struct sass_inst *, struct inst *, unsigned kind, unsigned arg);

static void op_dst(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned file)
{
  (void)kind;
  add_dst(t, file, file == FILE_UR ? s->udst : s->dst, reg_width(s, ROLE_D));
}

static void op_dst_high(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  (void)kind;
  add_dst(t, FILE_R, (unsigned)sass_get(s, field), words_256(s, true));
}

static void op_source(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned n)
{
  (void)kind;
  add_source(s, t, n);
}

/* Predicates; those that only some modifier needs are left out without it. */
static void op_predicate(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  unsigned file = s->pu_uniform ? FILE_UP : FILE_P;
  if (field && !sass_get(s, field)) return;
  switch (kind) {
  case OPD_PU: case OPD_PUQ: add_dst(t, file, s->pu, 1); break;
  case OPD_PV: case OPD_PVQ: add_dst(t, file, s->pv, 1); break;
  case OPD_PPRED: if (sass_get(s, FLD_BAR_OP) == 2) add_pred(t, s->pp); break;
  case OPD_PQ: case OPD_PQX: case OPD_UPA: add_pred(t, s->pq); break;
  case OPD_PREX: case OPD_PRU: add_pred(t, s->pr); break;
  default: add_pred(t, s->pp); break;
  }
}

static void op_pred_set(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned written)
{
  unsigned uniform = written ? s->pu_uniform : s->row->traits & ROW_UPRED_S;
  (void)kind;
  add_pred_set(s, t, uniform ? FILE_UP : FILE_P, written);
}

/* src[n] as a vector register in a slot, as wide as the data, or one register. */
#define DATA(n, slot) ((n) << 4 | (slot))
#define ONE(n, slot) (DATA(n, slot) | 1 << 8)

static void op_reg(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  unsigned n = arg >> 4 & 15;
  enum role r = n == 0 ? ROLE_A : n == 1 ? ROLE_B : ROLE_C;
  (void)kind;
  add_src(t, FILE_R, s->src[n].index, arg >> 8 ? 1 : reg_width(s, r), arg & 15);
}

static void op_reg_field(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  unsigned reg = (unsigned)sass_get(s, field);
  if (kind != OPD_SCALE_U)
    add_src(t, FILE_R, reg, kind == OPD_META && is_sparse_scaled(s) ? 2 : 1, SLOT_B);
  else if (reg != sass_urz_code(s->sm))
    add_src(t, FILE_UR, reg, 1, SLOT_B);
}

static void op_shared_ureg(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)kind, (void)arg;
  if (s->src[1].index != SASS_RZ) add_src(t, FILE_R, s->src[1].index, 1, SLOT_B);
  add_src(t, FILE_UR, s->src[2].index, 1, SLOT_C);
}

static void op_udata(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)kind, (void)arg;
  const unsigned bytes = s->row->sem == SEM_USTGR ? mem_bytes(s) : s->row->sem == SEM_UREDGR ? atom_bytes(s) : 4;
  add_src(t, FILE_UR, s->src[1].index, s->row->width == W_EXCH || bytes > 4 ? 2 : 1, SLOT_B);
}

static void op_address(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)arg;
  add_address(s, t, kind);
}

static void op_constant(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)arg;
  add_constant(s, t, kind);
}

static void op_descriptors(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  bool both = kind == OPD_GDESC_A;
  (void)arg;
  unsigned first = s->src[both ? 0 : 1].index;
  if (first == SASS_URZ) return;
  if (both) add_src(t, FILE_UR, first, 2, SLOT_A);
  add_src(t, FILE_UR, first + 2, 2, SLOT_B); /* where it lies beside A's, which may hold something else */
}

/* Tensor copies: the map's address; addresses in shared memory, then coordinates. */
static void op_tensor(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  unsigned ur = (unsigned)sass_get(s, arg), n = kind == OPD_TMA_C ? 1 : 2;
  if (ur == sass_urz_code(s->sm)) return;
  if (kind == OPD_TMA_B) n = sass_tensor_addresses(s) + sass_tensor_coords(s);
  add_src(t, FILE_UR, ur, n, kind == OPD_TMA_A ? SLOT_A : kind == OPD_TMA_B ? SLOT_B : SLOT_C);
}

/* Bulk copies: the destination, a global address or one in shared memory with the mbarrier behind it; the source;
 * bytes. A source in shared memory (.G.S, .S.S) is one register. */
static void op_bulk(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  const unsigned ur = (unsigned)sass_get(s, arg);
  const bool has_way = s->row->sem == SEM_UBLKCP || s->row->sem == SEM_UBLKRED;
  const bool from_shared = has_way && (sass_get(s, FLD_BULK_WAY) & 2);
  const unsigned n = kind == OPD_BULK_C || (kind == OPD_BULK_A && from_shared) ? 1 : 2;
  if (ur == sass_urz_code(s->sm)) return;
  add_src(t, FILE_UR, ur, n, kind == OPD_BULK_A ? SLOT_A : kind == OPD_BULK_B ? SLOT_B : SLOT_C);
}

static void op_stat(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  (void)kind;
  add_dst(t, FILE_R, (unsigned)sass_get(s, field), 1);
}

static void op_tmem(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)kind, (void)arg;
  add_src(t, FILE_UR, s->ua, 1, SLOT_B);
}

/* Registers of a descriptor: two; of the others one, but for masks and scales. */
static unsigned tc_width(const struct sass_inst *s, unsigned kind)
{
  enum { LANE_MASK = 4, COLUMN_MASK = 2 };
  switch (kind) {
  case OPD_TC_GA: case OPD_TC_GB: case OPD_TC_FROM: case OPD_TC_META: case OPD_TC_SCALES: return 2;
  case OPD_TC_MASK:
    return sass_get(s, FLD_TC_WS) ? (unsigned)COLUMN_MASK : (unsigned)LANE_MASK << sass_get(s, FLD_TMA_2CTA);
  default: return 1;
  }
}

static void op_tc(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  unsigned ur = (unsigned)sass_get(s, field);
  if (ur != sass_urz_code(s->sm)) add_src(t, FILE_UR, ur, tc_width(s, kind), SLOT_A);
}

static void op_behind(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned field)
{
  const unsigned ur = (unsigned)sass_get(s, field);
  (void)kind;
  if (ur != sass_urz_code(s->sm)) add_src(t, FILE_UR, ur + 1, 1, SLOT_A);
}

static void op_breg(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)arg;
  if (kind == OPD_BREG_D) add_dst(t, FILE_B, s->bar, 1);
  else add_src(t, FILE_B, s->bar, 1, 0);
}

static void op_umask(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)kind, (void)arg;
  add_src(t, FILE_UR, s->ua, 1, SLOT_A);
}

static void op_tex(const struct sass_inst *s, struct inst *t, unsigned kind, unsigned arg)
{
  (void)arg;
  add_tex(s, t, kind);
}

/* Operands that are not listed name no register. */
static const struct {
  operand_adder *add;
  uint16_t arg;
} adders[OPD__N] = {
    [OPD_D] = {op_dst, FILE_R}, [OPD_DQ] = {op_dst, FILE_R},
    [OPD_UD] = {op_dst, FILE_UR}, [OPD_UDQ] = {op_dst, FILE_UR}, [OPD_D_HI] = {op_dst_high, FLD_RD_HI},
    [OPD_A] = {op_source, 0}, [OPD_B] = {op_source, 1}, [OPD_C] = {op_source, 2},
    [OPD_CHI] = {op_source, 2},
    [OPD_PU] = {op_predicate, 0}, [OPD_PUQ] = {op_predicate, 0}, [OPD_PV] = {op_predicate, 0},
    [OPD_PVQ] = {op_predicate, 0}, [OPD_PP] = {op_predicate, 0}, [OPD_PPQ] = {op_predicate, 0},
    [OPD_PPX] = {op_predicate, FLD_X}, [OPD_PPRED] = {op_predicate, 0}, [OPD_PQ] = {op_predicate, 0},
    [OPD_PQX] = {op_predicate, FLD_X}, [OPD_PREX] = {op_predicate, FLD_ISETP_EX},
    [OPD_PRU] = {op_predicate, 0}, [OPD_UPA] = {op_predicate, 0},
    [OPD_PRS] = {op_pred_set, false}, [OPD_PRD] = {op_pred_set, true},
    [OPD_DATA_B] = {op_reg, DATA(1, SLOT_B)}, [OPD_DATA_C] = {op_reg, DATA(1, SLOT_C)},
    [OPD_SWAP_C] = {op_reg, DATA(2, SLOT_C)}, [OPD_DATA_HI] = {op_reg, DATA(2, SLOT_C)},
    [OPD_LDGSTS_S] = {op_reg, ONE(1, SLOT_B)}, [OPD_LANE_R] = {op_reg, ONE(1, SLOT_B)},
    [OPD_COUNT_R] = {op_reg, ONE(1, SLOT_B)}, [OPD_CLAMP_R] = {op_reg, ONE(2, SLOT_C)},
    [OPD_BAR_R] = {op_reg, ONE(0, SLOT_B)}, [OPD_UDATA_B] = {op_udata, 0},
    OPD_ADDRESSES({op_address, 0}),
    [OPD_LDGSTS_SU] = {op_shared_ureg, 0},
    [OPD_LDGSTS_SU100] = {op_shared_ureg, 0},
    [OPD_CADDR] = {op_constant, 0}, [OPD_UCADDR] = {op_constant, 0},
    [OPD_UCADDR_UR] = {op_constant, 0}, [OPD_LDCU] = {op_constant, 0},
    [OPD_GDESC_A] = {op_descriptors, 0}, [OPD_GDESC_B] = {op_descriptors, 0}, [OPD_GSCALE] = {op_predicate, 0},
    [OPD_BULK_A] = {op_bulk, FLD_URA}, [OPD_BULK_B] = {op_bulk, FLD_URB}, [OPD_BULK_C] = {op_bulk, FLD_URC},
    [OPD_TMA_A] = {op_tensor, FLD_URA}, [OPD_TMA_B] = {op_tensor, FLD_URB}, [OPD_TMA_C] = {op_tensor, FLD_URC},
    [OPD_TMA_HINT] = {op_tensor, FLD_TMA_HINT},
    [OPD_TC_GA] = {op_tc, FLD_URA}, [OPD_TC_TA] = {op_tc, FLD_URA}, [OPD_TC_GB] = {op_tc, FLD_URB},
    [OPD_TC_D] = {op_tc, FLD_URC}, [OPD_TC_META] = {op_tc, FLD_TC_META}, [OPD_TC_MASK] = {op_tc, FLD_TC_AUX},
    [OPD_TC_SCALES] = {op_tc, FLD_TC_AUX}, [OPD_TC_TO] = {op_tc, FLD_URA}, [OPD_TC_FROM] = {op_tc, FLD_URB},
    [OPD_TC_BAR] = {op_tc, FLD_URA}, [OPD_WORK_BAR] = {op_behind, FLD_URA},
    [OPD_TC_CTAS] = {op_tc, FLD_URC}, [OPD_TMEM_L] = {op_tmem, 0},
    [OPD_TMEM_S] = {op_tmem, 0}, [OPD_D_STAT] = {op_stat, FLD_RA},
    [OPD_BREG_D] = {op_breg, 0}, [OPD_BREG_S] = {op_breg, 0},
    [OPD_UMASK] = {op_umask, 0}, [OPD_UMASK100] = {op_umask, 0},
    [OPD_SCALE_A] = {op_reg_field, FLD_SCALE_A}, [OPD_SCALE_B] = {op_reg_field, FLD_SCALE_B},
    [OPD_SCALE_U] = {op_reg_field, FLD_SCALE_UR}, [OPD_META] = {op_reg_field, FLD_HMMA_META},
    [OPD_META_KEPT] = {op_reg_field, FLD_HMMA_META},
    [OPD_TD2] = {op_tex, 0}, [OPD_TA] = {op_tex, 0}, [OPD_TB] = {op_tex, 0}, [OPD_TUR] = {op_tex, 0},
    [OPD_HC] = {op_tex, 0}, [OPD_SUADDR] = {op_tex, 0},
};

static void add_one(const struct sass_inst *s, struct inst *t, unsigned kind)
{
  if (adders[kind].add) adders[kind].add(s, t, kind, adders[kind].arg);
}

/* Convergence-barrier registers moved by BMOV; the other states are not scoreboarded. */
static void add_bstate(const struct sass_inst *s, struct inst *t, unsigned kind)
{
  unsigned state = (unsigned)sass_get(s, FLD_BMOV_STATE);
  if (state >= 16) return;
  if (kind == OPD_BSTATE_D || sass_get(s, FLD_BMOV_CLEAR)) add_dst(t, FILE_B, state, 1);
  if (kind == OPD_BSTATE_S) add_src(t, FILE_B, state, 1, 0);
}

static uint8_t address_kind(const struct sass_inst *s)
{
  bool has_reg = s->src[0].index != SASS_RZ;
  bool has_ureg = s->ua != SASS_URZ && !s->ua_is_descriptor;
  return has_reg ? ADDR_REGULAR : has_ureg ? ADDR_UNIFORM : ADDR_IMMEDIATE;
}

/* What an access says of its order: weak, or strong in a scope. CTA and SM are one scope: L1 serves both. */
struct order {
  bool strong;
  enum mem_scope scope;
};

static struct order memory_order(const struct sass_inst *s)
{
  static const uint8_t scope[] = {SCOPE_CTA, SCOPE_CTA, SCOPE_GPU, SCOPE_SYS};
  if (sass_has(s, FLD_MEM_ORDER75)) {
    unsigned v = (unsigned)sass_get(s, FLD_MEM_ORDER75), strong = 8;
    return v < strong ? (struct order){0} : (struct order){true, scope[v & 3]};
  }
  switch (sass_get(s, FLD_MEM_ORDER)) {
  case 5: return (struct order){true, SCOPE_CTA};
  case 7: return (struct order){true, SCOPE_GPU};
  case 10: case 12: return (struct order){true, SCOPE_SYS};
  default: return (struct order){0};
  }
}

/* Field BULK_WAY of copies between shared and global memory. */
static enum mem_copy_way bulk_way(const struct sass_inst *s)
{
  enum { S_G = 1, G_S, S_S };
  switch (sass_get(s, FLD_BULK_WAY)) {
  case S_G: return COPY_LOAD;
  case G_S: return s->sem == SEM_UBLKRED ? COPY_REDUCE : COPY_STORE;
  case S_S: return COPY_SHARED;
  default: return COPY_NONE;
  }
}

static enum mem_copy_way copy_way(const struct sass_inst *s)
{
  switch (s->sem) {
  case SEM_UBLKCP: case SEM_UBLKRED: return bulk_way(s);
  case SEM_UTMALDG: return COPY_LOAD;
  case SEM_UTMASTG: return COPY_STORE;
  case SEM_UTMAREDG: return COPY_REDUCE;
  case SEM_UBLKPF: case SEM_UTMAPF: return COPY_PREFETCH;
  case SEM_UTCBAR: return COPY_COMMIT;
  case SEM_UGETNEXTWORKID: return COPY_WORK;
  default: return COPY_NONE;
  }
}

static bool atomic_of_floats(const struct sass_inst *s)
{
  const enum sass_atom_type type = sass_atom_type(s);
  return type >= ATOM_F32 && type <= ATOM_BF16X8;
}

static void fill_mem(const struct sass_inst *s, struct inst *t)
{
  static const uint8_t copy_op[COPY_WORK + 1] = {
      [COPY_COMMIT] = MEM_STORE, [COPY_WORK] = MEM_STORE,
      [COPY_STORE] = MEM_STORE, [COPY_REDUCE] = MEM_RED, [COPY_PREFETCH] = MEM_PREFETCH};
  struct order order = memory_order(s);
  bool near = s->row->mem_space == MEM_SHARED || s->row->mem_space == MEM_LOCAL;
  bool atomic = s->row->mem_op == MEM_ATOMIC || s->row->mem_op == MEM_RED;
  /* Surface loads and stores say STRONG.SM or .CTA, but L1 serves them. */
  if (sass_has(s, FLD_SURF_DIM) && order.scope == SCOPE_CTA) order.strong = false;
  t->mem.space = s->row->mem_space;
  /* LEA four cycles before them, five before other addresses (compiler output, CUDA 13.0, sm_90 to sm_120). */
  t->mem.late_address = s->sem == SEM_SYNCS_PHASECHK || s->sem == SEM_SYNCS_ARRIVE;
  t->mem.may_wait = s->sem == SEM_SYNCS_PHASECHK && sass_get(s, FLD_SYNCS_TRY);
  t->mem.fill = s->sem == SEM_UMEMSETS;
  t->mem.copy = (uint8_t)copy_way(s);
  t->mem.copy_map = s->sem >= SEM_UTMALDG && s->sem <= SEM_UTMAPF;
  t->mem.op = t->mem.copy ? copy_op[t->mem.copy] : s->row->mem_op;
  t->mem.bytes = (uint8_t)data_bytes(s);
  t->mem.addr = address_kind(s);
  t->mem.image = t->mem.space == MEM_TEXTURE || sass_has(s, FLD_SURF_DIM);
  t->mem.floats = atomic_of_floats(s);
  t->mem.counts = s->sem == SEM_ATOMS_POPC_INC || s->sem == SEM_ATOM_POPC_INC;
  t->mem.no_filter = s->sem == SEM_TLD || s->sem == SEM_TXQ;
  t->mem.strong = !near && (atomic || order.strong);
  /* Atomics without an order are relaxed in the scope of the GPU (PTX ISA, atom). */
  if (t->mem.strong) t->scope = order.strong ? (uint8_t)order.scope : SCOPE_GPU;
  /* .STRONG.SM is served by L1; gpu scope and wider are not. */
  t->mem.bypass_l1 = !near && (atomic || (order.strong && order.scope != SCOPE_CTA));
  if (t->mem.op == MEM_LDGSTS && sass_has(s, FLD_LDGSTS_ACCESS) && !sass_get(s, FLD_LDGSTS_ACCESS))
    t->mem.bypass_l1 = true;
}

static void fill_gmma(const struct sass_inst *s, struct inst *t)
{
  enum { GSB_NONE = 7 };
  t->gmma = (struct inst_gmma){
    .columns = (uint16_t)sass_gmma_columns(s),
    .row_bytes = GMMA_ROW_BYTES,
    .column_bytes = sass_get(s, FLD_GMMA_SP) ? 2 * GMMA_ROW_BYTES : GMMA_ROW_BYTES,
    .a_shared = s->src[0].kind == SRC_UREG,
    .ends_group = sass_get(s, FLD_GMMA_GSB) != GSB_NONE,
  };
}

static void fill_tmem(const struct sass_inst *s, struct inst *t)
{
  enum { HALF_WARP = 16, WARP = 32, FIRST_HALF = 4 }; /* TMEM_SHAPE: from this one on half of the threads */
  static const uint8_t op[SEM__N] = {[SEM_STTM] = TMEM_STORE, [SEM_FENCE_TMEM] = TMEM_FENCE, [SEM_UTCCP] = TMEM_COPY,
                                     [SEM_UTCSHIFT] = TMEM_COPY,
                                     [SEM_UTCHMMA] = TMEM_PRODUCT, [SEM_UTCIMMA] = TMEM_PRODUCT,
                                     [SEM_UTCQMMA] = TMEM_PRODUCT, [SEM_UTCQMMA_SF] = TMEM_PRODUCT,
                                     [SEM_UTCOMMA] = TMEM_PRODUCT};
  t->tmem = (struct inst_tmem){.op = op[s->sem]}; /* the others load */
  if (!sass_has(s, FLD_TMEM_SHAPE)) return;
  t->tmem.registers = (uint8_t)sass_tmem_registers(s);
  t->tmem.lanes = sass_get(s, FLD_TMEM_SHAPE) < FIRST_HALF ? WARP : HALF_WARP;
}

/* Special registers that read the SM clock or the global timer. */
static bool reads_clock(const struct sass_inst *s)
{
  return sass_has(s, FLD_SR) && sass_get(s, FLD_SR) >= 80 && sass_get(s, FLD_SR) <= 83;
}

static uint8_t hmma_latency(const struct sass_inst *s)
{
  if (sass_has(s, FLD_HMMA884_D)) return sass_get(s, FLD_HMMA884_D) ? LAT_MMA_884_F32 : LAT_MMA_884_F16;
  if (hmma_width(s).a < 4) return LAT_MMA_1688; /* sparse 16816, too: its distances in kernels/mma_sparse */
  return sass_get(s, FLD_HMMA_F32) ? LAT_MMA_16816_F32 : LAT_MMA_16816_F16;
}

/* .VC is no scope of the memory model; it orders what leaves the SM. */
static uint8_t fence_scope(const struct sass_inst *s)
{
  static const uint8_t scope[] = {SCOPE_CTA, SCOPE_CTA, SCOPE_GPU, SCOPE_SYS,
                                  SCOPE_SYS, SCOPE_GPU, SCOPE_SYS, SCOPE_SYS};
  return scope[sass_get(s, FLD_MEMBAR_SCOPE)];
}

/* CCTL.IVALL. Local memory has an instruction of its own, without a choice of caches. */
static bool empties_l1(const struct sass_inst *s)
{
  enum { CCTL_IVALL = 4 };
  return s->sem == SEM_CCTL && sass_has(s, FLD_CCTL_CACHE) && sass_get(s, FLD_CCTL_OP) == CCTL_IVALL;
}

/* DEPBAR: the counter is at most so much, and those of the mask are zero. */
static void fill_hold(struct inst *t, unsigned counter, uint64_t at_most, uint8_t zero)
{
  t->hold_for = zero;
  if (counter == SB_NONE) return;
  t->n_limits = 1;
  t->limit[0] = (struct inst_limit){(uint8_t)counter, zero >> counter & 1 ? 0 : (uint8_t)at_most};
  t->hold_for |= (uint8_t)(1u << counter);
}

void sass_fill_timing(const struct sass_inst *s, struct inst *t)
{
  const struct sass_row *row = s->row;
  t->pipe = row->pipe;
  t->lat = row->width == W_HMMA || row->width == W_HMMA884 ? hmma_latency(s) : row->lat;
  t->flags = row->flags;
  if (t->flags & INST_MEMBAR) t->scope = fence_scope(s);
  if (empties_l1(s)) t->flags |= INST_EMPTIES_L1;
  /* struct inst's guard names a vector predicate; a uniform guard is an ordinary source. */
  if (s->guard.uniform) {
    add_pred(t, s->guard);
  } else {
    t->guard = s->guard.index;
    t->guard_not = s->guard.neg;
  }
  for (unsigned i = 0; i < ROW_OPS && row->op[i]; i++) {
    unsigned kind = row->op[i] & OM_KIND;
    add_one(s, t, kind);
    if (kind == OPD_BSTATE_D || kind == OPD_BSTATE_S) add_bstate(s, t, kind);
    if (kind == OPD_GDEPBAR) fill_hold(t, SB_GMMA, sass_get(s, FLD_GMMA_DEPBAR_COUNT), 0);
    if (kind == OPD_DEPBAR)
      fill_hold(t, (unsigned)sass_get(s, FLD_DEPBAR_SB), sass_get(s, FLD_DEPBAR_COUNT),
                (uint8_t)sass_get(s, FLD_DEPBAR_MASK));
  }
  if (row->mem_space) fill_mem(s, t);
  if (t->flags & INST_GMMA) fill_gmma(s, t);
  if (t->flags & INST_TMEM) fill_tmem(s, t);
  if (reads_clock(s)) t->flags |= INST_CLOCK;
}
