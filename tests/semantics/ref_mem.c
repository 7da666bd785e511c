/* Reference: loads, stores, atomics, matrix loads and stores. Rules: PTX ISA 9.0 (ld, st, atom,
 * red, ldmatrix, stmatrix, cp.async, isspacep), addresses as Mesa NAK encodes them. Lanes that
 * meet at one address do so in ascending order (PTX leaves the order open).
 */
#include "mem.h"
#include "ref_atom.h"

#define EACH_LANE for (unsigned i = 0; i < SEM_LANES; i++)

bool mem_wanted(unsigned sem)
{
  switch (sem) {
  case SEM_LDG:
  case SEM_STG:
  case SEM_LD:
  case SEM_ST:
  case SEM_LDS:
  case SEM_STS:
  case SEM_LDL:
  case SEM_STL:
  case SEM_LDC:
  case SEM_ULDC:
  case SEM_ATOM:
  case SEM_ATOM_CAS:
  case SEM_ATOMG:
  case SEM_ATOMG_CAS:
  case SEM_ATOMS:
  case SEM_ATOMS_CAS:
  case SEM_ATOMS_POPC_INC:
  case SEM_RED:
  case SEM_LDSM:
  case SEM_STSM:
  case SEM_LDGSTS:
  case SEM_QSPC:
  case SEM_ATOM_POPC_INC: return true;
  default: return false;
  }
}

static bool is_atomic(unsigned sem)
{
  return (sem >= SEM_ATOM && sem <= SEM_RED) || sem == SEM_ATOM_POPC_INC;
}

/* Of shared or local memory, or constants: 32-bit addresses. */
static bool is_near(unsigned sem)
{
  switch (sem) {
  case SEM_LDS:
  case SEM_STS:
  case SEM_LDL:
  case SEM_STL:
  case SEM_LDC:
  case SEM_ULDC:
  case SEM_ATOMS:
  case SEM_ATOMS_CAS:
  case SEM_ATOMS_POPC_INC:
  case SEM_LDSM:
  case SEM_STSM: return true;
  default: return false;
  }
}

static unsigned size_code(const struct sass_inst *s)
{
  return (unsigned)(sass_has(s, FLD_LDGSTS_SIZE) ? sass_get(s, FLD_LDGSTS_SIZE)
                                                 : sass_get(s, FLD_MEM_SIZE));
}

unsigned mem_bytes(const struct sass_inst *s)
{
  static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 0};
  if (s->sem == SEM_ATOMS_POPC_INC || s->sem == SEM_ATOM_POPC_INC) return 4;
  if (is_atomic(s->sem)) {
    enum sass_atom_type t = sass_atom_type(s);
    return t == ATOM_INVALID ? 0 : 4 * ref_atom_words(t);
  }
  if (s->sem == SEM_LDSM || s->sem == SEM_STSM) return 16;
  if (s->sem == SEM_QSPC) return 1;
  if (s->sem == SEM_LDGSTS && size_code(s) < 4) return 0;
  return bytes[size_code(s)];
}

struct mem_form mem_form(const struct sass_inst *s)
{
  static const uint8_t strides[4] = {1, 4, 8, 16};
  struct mem_form f = {.stride = 1, .offset = s->offset};
  f.ur = s->ua != SASS_URZ && !s->ua_is_descriptor;
  if (sass_has(s, FLD_LDS_STRIDE)) f.stride = strides[sass_get(s, FLD_LDS_STRIDE)];
  f.wide = !is_near(s->sem);
  f.wide_a = f.wide;
  static const enum sass_field_id width[] = {FLD_ATOM_A64_70, FLD_ATOM_A64, FLD_MEM_A64}; /* the last one decides */
  for (unsigned k = 0; k < 3 && s->sem != SEM_LDGSTS; k++)
    if (sass_has(s, width[k])) f.wide_a = f.wide && sass_get(s, width[k]);
  return f;
}

static uint64_t reg64(const uint32_t (*file)[SEM_LANES], unsigned r, unsigned none, unsigned lane,
                      bool wide)
{
  if (r == none) return 0;
  return file[r][lane] | (wide ? (uint64_t)file[r + 1][lane] << 32 : 0);
}

uint64_t mem_address(const struct sass_inst *s, const struct mem_form *f, const struct state *st,
                     unsigned lane)
{
  uint64_t a = (uint64_t)f->offset;
  if (s->src[0].kind == SRC_REG)
    a += reg64(st->reg, s->src[0].index, SASS_RZ, lane, f->wide_a) * f->stride;
  if (f->ur) a += reg64(st->ureg, s->ua, SASS_URZ, lane, f->wide);
  return f->wide ? a : (uint32_t)a;
}

/* The bytes a lane's address means; NULL: outside what the tests set up. */
static uint8_t *place(const struct mem_in *in, struct mem_state *m, uint64_t a, unsigned lane)
{
  switch (in->s->sem) {
  case SEM_LDS:
  case SEM_STS:
  case SEM_ATOMS:
  case SEM_ATOMS_CAS:
  case SEM_ATOMS_POPC_INC:
  case SEM_LDSM:
  case SEM_STSM: return a < SHARED_BYTES ? m->shared + a : NULL;
  case SEM_LDL:
  case SEM_STL: return a < LOCAL_BYTES ? m->local[lane] + a : NULL;
  default: break;
  }
  const bool generic = in->s->sem == SEM_LD || in->s->sem == SEM_ST || in->s->sem == SEM_ATOM ||
                       in->s->sem == SEM_ATOM_CAS || in->s->sem == SEM_ATOM_POPC_INC;
  if (generic && a >> 32 == SHARED_WINDOW >> 32) return m->shared + (uint32_t)a % SHARED_BYTES;
  if (generic && a >> 32 == LOCAL_WINDOW >> 32) return m->local[lane] + (uint32_t)a % LOCAL_BYTES;
  a -= in->global_base;
  return a < GLOBAL_BYTES ? m->global + a : NULL;
}

static void extend(uint32_t v[4], unsigned code)
{
  if (code == 1) v[0] = (uint32_t)(int32_t)(int8_t)v[0];
  if (code == 3) v[0] = (uint32_t)(int32_t)(int16_t)v[0];
}

static void put(struct mem_state *m, unsigned dst, unsigned lane, const uint32_t *v, unsigned bytes)
{
  for (unsigned k = 0; dst != SASS_RZ && 4 * k < bytes; k++) m->s.reg[dst + k][lane] = v[k];
}

static void data(const struct state *st, const struct sass_src *s, unsigned lane, unsigned bytes,
                 uint32_t v[4])
{
  memset(v, 0, 16);
  for (unsigned k = 0; s->index != SASS_RZ && 4 * k < bytes; k++)
    v[k] = st->reg[s->index + k][lane];
}

static bool load_store(const struct mem_in *in, struct mem_state *m, const struct state *old)
{
  const struct sass_inst *s = in->s;
  const unsigned bytes = mem_bytes(s);
  const unsigned code = size_code(s);
  const bool store =
      s->sem == SEM_STG || s->sem == SEM_ST || s->sem == SEM_STS || s->sem == SEM_STL;
  EACH_LANE
  {
    uint32_t v[4] = {0};
    if (!lane_of(in->exec, i)) continue;
    uint8_t *p = place(in, m, mem_address(s, &in->form, old, i), i);
    if (!p) return false;
    if (store) {
      data(old, &s->src[1], i, bytes, v);
      memcpy(p, v, bytes);
    } else {
      memcpy(v, p, bytes);
      extend(v, code);
      put(m, s->dst, i, v, bytes);
    }
  }
  return true;
}

static bool constant(const struct mem_in *in, struct mem_state *m, const struct state *old)
{
  const struct sass_inst *s = in->s;
  const unsigned bytes = mem_bytes(s);
  const bool uniform = s->sem == SEM_ULDC;
  const unsigned bank = s->src[uniform ? 0 : 1].bank, code = size_code(s);
  EACH_LANE
  {
    uint32_t v[4] = {0};
    if (!lane_of(in->active, i)) continue;
    uint64_t a = uniform
                     ? (uint32_t)(s->offset + (int64_t)reg64(old->ureg, s->ua, SASS_URZ, i, false))
                     : mem_address(s, &in->form, old, i);
    if (a + bytes > CONST_BYTES || bank >= N_BANK) return false;
    memcpy(v, in->bank[bank] + a, bytes);
    extend(v, code);
    if (!uniform && lane_of(in->exec, i)) put(m, s->dst, i, v, bytes);
    for (unsigned k = 0; uniform && s->udst != SASS_URZ && 4 * k < bytes; k++)
      m->s.ureg[s->udst + k][i] = v[k];
  }
  return true;
}

static enum atom_code atom_code(const struct sass_inst *s)
{
  static const enum atom_code floats[16] = {
      ATOM_ADD,  ATOM_BAD, ATOM_MIN, ATOM_BAD, ATOM_MAX, ATOM_BAD, ATOM_BAD, ATOM_BAD,
      ATOM_EXCH, ATOM_BAD, ATOM_BAD, ATOM_BAD, ATOM_BAD, ATOM_BAD, ATOM_BAD, ATOM_BAD};
  const uint64_t cas = sass_get(s, FLD_CAS_OP);
  if (sass_has(s, FLD_CAS_OP)) return cas == 0 ? ATOM_CAS : cas == 3 ? ATOM_CAST : ATOM_BAD;
  if (sass_has(s, FLD_POPC_OP)) return ATOM_ADD;
  if (sass_has(s, FLD_ATOM_FOP)) return floats[sass_get(s, FLD_ATOM_FOP)];
  if (sass_has(s, FLD_RED_FOP)) return floats[sass_get(s, FLD_RED_FOP)];
  if (sass_has(s, FLD_RED_OP)) return (enum atom_code)sass_get(s, FLD_RED_OP);
  uint64_t op = sass_get(s, FLD_ATOM_OP);
  return op <= ATOM_EXCH ? (enum atom_code)op : ATOM_BAD;
}

/* Pu, where there is one, is only known for CAST.SPIN; POPC.INC has no known result. */
static bool atomic(const struct mem_in *in, struct mem_state *m, const struct state *old)
{
  const struct sass_inst *s = in->s;
  const bool popc = sass_has(s, FLD_POPC_OP);
  const enum atom_code op = atom_code(s);
  const enum sass_atom_type type = popc ? ATOM_U32 : sass_atom_type(s);
  const unsigned bytes = mem_bytes(s), words = bytes / 4;
  if (op == ATOM_BAD || (popc && s->dst != SASS_RZ)) return false;
  if (s->pu != SASS_PT && (op != ATOM_CAST || s->sem != SEM_ATOMS_CAS)) return false;
  EACH_LANE
  {
    uint32_t was[4] = {0}, v[4] = {1}, cmp[4] = {0}, r[4], ret[4];
    const bool cas = op == ATOM_CAS || op == ATOM_CAST;
    if (!lane_of(in->exec, i)) continue;
    uint8_t *p = place(in, m, mem_address(s, &in->form, old, i), i);
    if (!p) return false;
    memcpy(was, p, bytes);
    if (!popc) data(old, &s->src[cas ? 2 : 1], i, bytes, v);
    if (cas) data(old, &s->src[1], i, bytes, cmp);
    ref_atom(op, type, was, v, cmp, r, ret);
    memcpy(p, r, bytes);
    if (op == ATOM_CAST && s->pu != SASS_PT) {
      m->s.pred[s->pu] = (m->s.pred[s->pu] & ~(1u << i)) | ret[0] << i;
      continue;
    }
    if (s->sem != SEM_RED) put(m, s->dst, i, ret, 4 * words);
  }
  return true;
}

/* Number `col` of a row of FP6 or FP4 numbers, bit by bit, as a byte: FP4 starts at its bit 2. */
static uint8_t narrow(const uint8_t *row, unsigned col, unsigned bits)
{
  unsigned v = 0;
  for (unsigned k = 0; k < bits; k++) {
    const unsigned at = col * bits + k;
    v |= (unsigned)(row[at / 8] >> at % 8 & 1) << k;
  }
  return (uint8_t)(bits == 4 ? v << 2 : v);
}

/* LDSM of 16 x 16 numbers: byte k of lane i is row 4 (i % 4) + k of column i / 4, in every other register 8 to the right. */
static bool square_matrix(const struct mem_in *in, struct mem_state *m, const struct state *old)
{
  static const uint8_t bits[8] = {[5] = 4, [6] = 6, [7] = 8};
  const struct sass_inst *s = in->s;
  const unsigned count = 1u << sass_get(s, FLD_LDSM_COUNT), width = bits[sass_get(s, FLD_LDSM_FMT)];
  if (count > 2 || !width || in->exec != UINT32_MAX) return false;
  for (unsigned n = 0; n < 2 * count; n++) EACH_LANE
    {
      uint32_t v = 0;
      for (unsigned k = 0; k < 4; k++) {
        const uint8_t *p = place(in, m, mem_address(s, &in->form, old, n / 2 * 16 + 4 * (i % 4) + k), i);
        v |= (uint32_t)narrow(p, i / 4 + n % 2 * 8, width) << 8 * k;
      }
      if (s->dst != SASS_RZ) m->s.reg[s->dst + n][i] = v;
    }
  return true;
}

/* LDSM of FP4, FP6: byte k of lane i is number 4 (i % 4) + k of row i / 4. STSM of bytes: byte k of lane i is row
 * i / 4 + 8 (k / 2), column 2 (i % 4) + k % 2; columns go to the addresses. */
static bool matrix_of_bytes(const struct mem_in *in, struct mem_state *m, const struct state *old)
{
  enum { U4 = 5, U6 = 6, M816 = 2, STSM_8 = 5 };
  const struct sass_inst *s = in->s;
  const unsigned count = 1u << sass_get(s, FLD_LDSM_COUNT), fmt = (unsigned)sass_get(s, FLD_LDSM_FMT);
  const bool store = s->sem == SEM_STSM;
  if (count > 4 || in->exec != UINT32_MAX) return false;
  if (store ? sass_get(s, FLD_STSM_FMT) != STSM_8
            : (fmt != U4 && fmt != U6) || sass_get(s, FLD_LDSM_TRANS100) != M816)
    return false;
  for (unsigned j = 0; j < count; j++) EACH_LANE
    {
      uint32_t word[4];
      if (store) data(old, &s->src[1], i, 4 * count, word);
      for (unsigned k = 0; k < 4; k++) {
        const unsigned from = 8 * j + (store ? 2 * (i % 4) + k % 2 : i / 4);
        uint8_t *p = place(in, m, mem_address(s, &in->form, old, from), i);
        if (store) {
          p[i / 4 + 8 * (k / 2)] = (uint8_t)(word[j] >> 8 * k);
        } else if (s->dst != SASS_RZ) {
          uint32_t *d = &m->s.reg[s->dst + j][i];
          *d = (*d & ~(0xffu << 8 * k)) | (uint32_t)narrow(p, 4 * (i % 4) + k, fmt == U4 ? 4 : 6) << 8 * k;
        }
      }
    }
  return true;
}

/* Lane 8j + r has the address of row r of matrix j; lane i holds elements 2 (i % 4) and one more
 * of row i / 4, of the transposed matrix with .MT88. */
static bool matrix(const struct mem_in *in, struct mem_state *m, const struct state *old)
{
  const struct sass_inst *s = in->s;
  const unsigned count = 1u << sass_get(s, FLD_LDSM_COUNT),
                 format = (unsigned)(sass_get(s, FLD_LDSM_FMT) | (sass_get(s, FLD_STSM_FMT) & 1)),
                 trans = (unsigned)(sass_get(s, FLD_LDSM_TRANS) | sass_get(s, FLD_LDSM_TRANS100) |
                                    sass_get(s, FLD_STSM_FMT) >> 1);
  if (sass_get(s, FLD_LDSM_TRANS100) == 4) return square_matrix(in, m, old);
  if (format) return matrix_of_bytes(in, m, old);
  if (count > 4 || trans > 1 || in->exec != UINT32_MAX) return false;
  for (unsigned j = 0; j < count; j++) EACH_LANE
    {
      uint32_t word[4];
      if (s->sem == SEM_STSM) data(old, &s->src[1], i, 4 * count, word);
      for (unsigned h = 0; h < 2; h++) {
        const unsigned row = i / 4, col = 2 * (i % 4) + h, r = trans ? col : row,
                       c = trans ? row : col;
        uint8_t *p = place(in, m, mem_address(s, &in->form, old, 8 * j + r), i) + 2 * c;
        uint16_t v = (uint16_t)(word[j] >> 16 * h);
        if (s->sem == SEM_STSM) {
          memcpy(p, &v, 2);
        } else if (s->dst != SASS_RZ) {
          uint32_t *d = &m->s.reg[s->dst + j][i];
          memcpy(&v, p, 2);
          *d = (*d & ~(0xffffu << 16 * h)) | (uint32_t)v << 16 * h;
        }
      }
    }
  return true;
}

uint32_t ldgsts_base(const struct sass_inst *s, const struct state *st)
{
  const int64_t off = (int64_t)(sass_get(s, FLD_LDGSTS_SOFF) << 44) >> 44;
  const bool uniform = s->src[2].kind == SRC_UREG;
  return (uint32_t)off + (uint32_t)(uniform ? reg64(st->ureg, s->src[2].index, SASS_URZ, 0, false) : 0);
}

/* Without ZFILL: a copy where Pp holds, else zeros. */
static bool copy(const struct mem_in *in, struct mem_state *m, const struct state *old)
{
  const struct sass_inst *s = in->s;
  const unsigned bytes = mem_bytes(s), shared = s->src[1].index;
  if (sass_get(s, FLD_LDGSTS_ZFILL)) return false;
  EACH_LANE
  {
    if (!lane_of(in->exec, i)) continue;
    const uint32_t to = ldgsts_base(s, old) + (shared == SASS_RZ ? 0 : old->reg[shared][i]);
    const uint8_t *p = place(in, m, mem_address(s, &in->form, old, i), i);
    if (!p || to + bytes > SHARED_BYTES) return false;
    if (lane_of(in->pp, i))
      memcpy(m->shared + to, p, bytes);
    else
      memset(m->shared + to, 0, bytes);
  }
  return true;
}

static bool query(const struct mem_in *in, struct mem_state *m, const struct state *old)
{
  const struct sass_inst *s = in->s;
  const uint64_t space = sass_get(s, FLD_QSPC_SPACE);
  if (s->dst != SASS_RZ) return false;
  EACH_LANE
  {
    const uint64_t top = mem_address(s, &in->form, old, i) >> 32;
    const bool shared = top == SHARED_WINDOW >> 32, local = top == LOCAL_WINDOW >> 32;
    const bool in_space[4] = {!shared && !local, local, shared,
                              shared}; /* the cluster is one CTA */
    if (!lane_of(in->exec, i) || s->pu == SASS_PT) continue;
    uint32_t *p = &m->s.pred[s->pu];
    *p = (*p & ~(1u << i)) | (uint32_t)in_space[space] << i;
  }
  return true;
}

bool ref_mem(const struct mem_in *in, struct mem_state *m)
{
  const struct state old = m->s;
  if (!mem_bytes(in->s)) return false;
  if (is_atomic(in->s->sem)) return atomic(in, m, &old);
  switch (in->s->sem) {
  case SEM_LDC:
  case SEM_ULDC: return constant(in, m, &old);
  case SEM_LDSM:
  case SEM_STSM: return matrix(in, m, &old);
  case SEM_LDGSTS: return copy(in, m, &old);
  case SEM_QSPC: return query(in, m, &old);
  default: return load_store(in, m, &old);
  }
}
