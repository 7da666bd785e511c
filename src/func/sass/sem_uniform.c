/* Uniform datapath: one value for all lanes of a path.
 *
 * Uniform registers are rows with the value in every lane of the path that wrote it, and uniform predicates are masks
 * likewise (func_warp.h), so a uniform instruction is the vector instruction run for all lanes of the path. This file
 * says which. Those that depend on the lanes that execute (VOTEU, R2UR, REDUX) belong to sem_warp.c,
 * constant loads to sem_mem.c.
 */
#include "func/sass/sem_int.h"

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
  case SEM_USEL_64: return SEM_SEL_64;
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

/* Chooses the handler of a uniform instruction; NULL: another file's, or not executable. */
uop_fn *SEM_NAME(sem_uniform_handler)(const struct sass_inst *s, struct uop *u)
{
  struct sass_inst v = *s;
  switch (s->sem) {
  case SEM_UF2FP: v.sem = SEM_F2FP; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UI2F: v.sem = SEM_I2F; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UI2FP: v.sem = SEM_I2FP; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UF2F: v.sem = SEM_F2F; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UF2I: v.sem = SEM_F2I; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UFADD: v.sem = SEM_FADD; return SEM_NAME(sem_fp_handler)(&v, u);
  case SEM_UFMUL: v.sem = SEM_FMUL; return SEM_NAME(sem_fp_handler)(&v, u);
  case SEM_UFFMA: v.sem = SEM_FFMA; return SEM_NAME(sem_fp_handler)(&v, u);
  case SEM_UFSEL: v.sem = SEM_FSEL; return SEM_NAME(sem_fp_handler)(&v, u);
  case SEM_UFRND: v.sem = SEM_FRND; return SEM_NAME(sem_conv_handler)(&v, u);
  case SEM_UFSETP: v.sem = SEM_FSETP; return SEM_NAME(sem_fp_handler)(&v, u);
  default: break;
  }
  v.sem = (uint16_t)vector_sem(s->sem);
  return v.sem == SEM_TODO ? NULL : SEM_NAME(sem_int_handler)(&v, u);
}
