/* Uniform datapath: one value for the whole warp.
 *
 * Uniform registers are rows holding the value 32 times and uniform predicates are masks of equal
 * bits (warp.h), so a uniform instruction is the vector instruction run for all 32 lanes. This file
 * says which, and adds what has no vector counterpart. No uniform instruction depends on the
 * lanes that execute it; those that do (VOTEU, R2UR, REDUX) belong to sem_warp.c.
 */
#include "func/launch.h"
#include "func/sem_int.h"

/* The vector instruction of the same meaning and fields; SEM_TODO: none. */
static enum sass_sem vector_sem(unsigned sem)
{
  switch (sem) {
  case SEM_UMOV: return SEM_MOV;
  case SEM_USEL: return SEM_SEL;
  case SEM_UISETP: return SEM_ISETP;
  case SEM_UIADD3: return SEM_IADD3;
  case SEM_ULEA: return SEM_LEA;
  case SEM_ULOP3: return SEM_LOP3;
  case SEM_UPRMT: return SEM_PRMT;
  case SEM_USHF: return SEM_SHF;
  case SEM_USGXT: return SEM_SGXT;
  case SEM_UBMSK: return SEM_BMSK;
  case SEM_UIMAD: return SEM_IMAD;
  case SEM_UIMAD_WIDE: return SEM_IMAD_WIDE;
  case SEM_UIMAD_HI: return SEM_IMAD_HI;
  case SEM_UFLO: return SEM_FLO;
  case SEM_UBREV: return SEM_BREV;
  case SEM_UPOPC: return SEM_POPC;
  case SEM_UPLOP3: return SEM_PLOP3;
  case SEM_UMOV_64: return SEM_MOV_64;
  case SEM_UISETP_64: return SEM_ISETP_64;
  case SEM_UIADD3_64: return SEM_IADD_64;
  case SEM_UIMNMX_64: return SEM_IMNMX_64;
  case SEM_UVIMNMX: return SEM_VIMNMX;
  case SEM_UP2UR: return SEM_P2R;
  case SEM_UR2UP: return SEM_R2P;
  default: return SEM_TODO;
  }
}

/* ---- ULDC ---------------------------------------------------------------------------------------
 * Sizes as in MEM_SIZE: 0 U8, 1 S8, 2 U16, 3 S16, 4 32 bits, 5 a register pair. The source row
 * holds the word at the byte offset, so narrow values are its low bits. An offset in a uniform
 * register is added when the instruction executes; outside the bank it is a fault. */

enum { ULDC_U8, ULDC_S8, ULDC_U16, ULDC_S16, ULDC_32, ULDC_64, ULDC_128 };

LANE_OP(uldc_32, a)
LANE_OP(uldc_u8, a & 0xff)
LANE_OP(uldc_s8, (uint32_t)((int32_t)(a << 24) >> 24))
LANE_OP(uldc_u16, a & 0xffff)
LANE_OP(uldc_s16, (uint32_t)((int32_t)(a << 16) >> 16))

LANE_HANDLER(uldc_64)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROWS(2, uint32_t lo = LANE_RAW(a); uint32_t hi = row_a[LANES + i]; d[i] = lo;
            d[LANES + i] = hi;);
  return true;
}

/* LDCU.128: four registers. */
LANE_HANDLER(uldc_128)
{
  LANE_UNUSED;
  uint32_t v[4];
  if (!func_const(w->launch, u->s->src[0].bank, u->s->src[0].imm, v, sizeof v)) {
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, bits_first(m), u->s->src[0].imm,
                      "constant outside the bank");
  }
  LANE_ROWS(4, for (unsigned k = 0; k < 4; k++) d[k * LANES + i] = v[k];);
  return true;
}

/* c[bank][UR + offset]: u->imm = size, u->imm2 = uniform register. */
LANE_HANDLER(uldc_indexed)
{
  const struct sass_src *c = &u->s->src[0];
  const unsigned bytes = u->imm == ULDC_64 ? 8 : u->imm == ULDC_32 ? 4 : u->imm < ULDC_U16 ? 1 : 2;
  const uint32_t off = c->imm + warp_ureg(w, u->imm2)[0];
  uint64_t value = 0;
  if (off % bytes) {
    return func_fault(w, e, f, FAULT_MISALIGNED, bits_first(m), off, "c[0x%x][0x%x], %u bytes",
                      c->bank, off, bytes);
  }
  if (!func_const(w->launch, c->bank, off, &value, bytes)) {
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, bits_first(m), off,
                      "c[0x%x][0x%x] lies outside the constant bank", c->bank, off);
  }
  if (u->imm == ULDC_S8 || u->imm == ULDC_S16) value = (uint64_t)bits_sext(value, 8 * bytes);
  uint32_t *d = row_dst(w, u->d);
  for (unsigned i = 0; i < LANES; i++) {
    d[i] = (uint32_t)value;
    if (bytes == 8) d[LANES + i] = (uint32_t)(value >> 32);
  }
  return true;
}

static uop_fn *pick_uldc(const struct sass_inst *s, struct uop *u)
{
  static uop_fn *const fixed[] = {[ULDC_U8] = uldc_u8,   [ULDC_S8] = uldc_s8,
                                  [ULDC_U16] = uldc_u16, [ULDC_S16] = uldc_s16,
                                  [ULDC_32] = uldc_32,   [ULDC_64] = uldc_64,
                                  [ULDC_128] = uldc_128};
  u->imm = (uint32_t)sass_get(s, FLD_MEM_SIZE);
  u->imm2 = s->ua;
  if (s->src[0].kind != SRC_CONST || u->imm > ULDC_128) return NULL; /* else: bindless */
  if (s->ua != SASS_URZ && u->imm == ULDC_128) return NULL;
  return s->ua == SASS_URZ ? fixed[u->imm] : uldc_indexed;
}

/* Chooses the handler of a uniform instruction; NULL: another file's, or not executable. */
uop_fn *SEM_NAME(sem_uniform_handler)(const struct sass_inst *s, struct uop *u)
{
  struct sass_inst v = *s;
  if (s->sem == SEM_ULDC) return pick_uldc(s, u);
  switch (s->sem) {
  case SEM_UF2FP: v.sem = SEM_F2FP; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UI2F: v.sem = SEM_I2F; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UI2FP: v.sem = SEM_I2FP; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UF2I: v.sem = SEM_F2I; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UFADD: v.sem = SEM_FADD; return SEM_NAME(sem_fp_handler)(&v, u);
  case SEM_UFMUL: v.sem = SEM_FMUL; return SEM_NAME(sem_fp_handler)(&v, u);
  default: break;
  }
  v.sem = (uint16_t)vector_sem(s->sem);
  return v.sem == SEM_TODO ? NULL : SEM_NAME(sem_int_handler)(&v, u);
}
