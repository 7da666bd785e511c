/* Which reference computes which semantics. */
#include "sem.h"

unsigned ref_vector_sem(unsigned sem)
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
  case SEM_UP2UR: return SEM_P2R;
  case SEM_UR2UP: return SEM_R2P;
  case SEM_UMOV_64: return SEM_MOV_64;
  case SEM_UISETP_64: return SEM_ISETP_64;
  case SEM_UIADD3_64: return SEM_IADD_64;
  case SEM_UIMNMX_64: return SEM_IMNMX_64;
  case SEM_UVIMNMX: return SEM_VIMNMX;
  case SEM_UFADD: return SEM_FADD;
  case SEM_UFMUL: return SEM_FMUL;
  case SEM_UFFMA: return SEM_FFMA;
  case SEM_UFSETP: return SEM_FSETP;
  case SEM_UFSEL: return SEM_FSEL;
  case SEM_UFRND: return SEM_FRND;
  case SEM_USEL_64: return SEM_SEL_64;
  case SEM_UI2F: return SEM_I2F;
  case SEM_UF2F: return SEM_F2F;
  case SEM_UF2I: return SEM_F2I;
  case SEM_UI2FP: return SEM_I2FP;
  case SEM_UF2FP: return SEM_F2FP;
  default: return sem;
  }
}

static ref_fn *const refs[SEM__N] = {
    [SEM_MOV] = ref_int,       [SEM_SEL] = ref_int,        [SEM_IADD3] = ref_int,
    [SEM_LEA] = ref_int,       [SEM_LOP3] = ref_int,       [SEM_IABS] = ref_int,
    [SEM_VABSDIFF] = ref_int,  [SEM_VABSDIFF4] = ref_int,  [SEM_PRMT] = ref_int,
    [SEM_IMNMX] = ref_int,     [SEM_SHF] = ref_int,        [SEM_SGXT] = ref_int,
    [SEM_BMSK] = ref_int,      [SEM_IDP] = ref_int,        [SEM_ISETP] = ref_int,
    [SEM_PLOP3] = ref_int,     [SEM_PLOP3_SIGN] = ref_int, [SEM_P2R] = ref_int,
    [SEM_R2P] = ref_int,       [SEM_IMAD] = ref_int,       [SEM_IMAD_WIDE] = ref_int,
    [SEM_IMAD_HI] = ref_int,   [SEM_FLO] = ref_int,        [SEM_BREV] = ref_int,
    [SEM_POPC] = ref_int,      [SEM_VIADD] = ref_int,      [SEM_VIMNMX] = ref_int,
    [SEM_VIMNMX3] = ref_int,   [SEM_VIADDMNMX] = ref_int,  [SEM_I2I] = ref_int,
    [SEM_I2IP] = ref_int,      [SEM_MOV_64] = ref_int64,   [SEM_SEL_64] = ref_int64,
    [SEM_IADD_64] = ref_int64, [SEM_ISETP_64] = ref_int64, [SEM_IMNMX_64] = ref_int64, [SEM_CLMAD] = ref_int64,
    [SEM_FADD] = ref_f32,      [SEM_FMUL] = ref_f32,       [SEM_FFMA] = ref_f32,
    [SEM_FHADD] = ref_f32,     [SEM_FHFMA] = ref_f32,
    [SEM_FSWZADD] = ref_f32,   [SEM_FMNMX] = ref_f32,      [SEM_FMNMX3] = ref_f32,
    [SEM_FSEL] = ref_f32,      [SEM_FSET] = ref_f32,       [SEM_FSETP] = ref_f32,
    [SEM_FCHK] = ref_f32,      [SEM_FADD2] = ref_f32,      [SEM_FMUL2] = ref_f32,
    [SEM_FFMA2] = ref_f32,     [SEM_HADD2] = ref_half,     [SEM_HMUL2] = ref_half,
    [SEM_HFMA2] = ref_half,    [SEM_HSET2] = ref_half,     [SEM_HSETP2] = ref_half,
    [SEM_HMNMX2] = ref_half,   [SEM_VHMNMX] = ref_half,    [SEM_DMUL] = ref_f64,
    [SEM_DADD] = ref_f64,
    [SEM_DFMA] = ref_f64,      [SEM_DSETP] = ref_f64,      [SEM_DSETP_MNMX] = ref_f64,
    [SEM_F2F] = ref_cvt,       [SEM_F2I] = ref_cvt,        [SEM_I2F] = ref_cvt,
    [SEM_FRND] = ref_cvt,      [SEM_F2FP] = ref_cvt,       [SEM_I2FP] = ref_cvt,
    [SEM_F2IP] = ref_cvt,      [SEM_MUFU] = ref_mufu,      [SEM_HMMA] = ref_mma,
    [SEM_IMMA] = ref_mma,      [SEM_BMMA] = ref_mma,       [SEM_DMMA] = ref_mma,
    [SEM_HMMA_884] = ref_mma,
    [SEM_MOVM] = ref_mma,      [SEM_QMMA] = ref_mma,       [SEM_SHFL] = ref_warp,
    [SEM_VOTE] = ref_warp,     [SEM_VOTEU] = ref_warp,     [SEM_MATCH] = ref_warp,
    [SEM_REDUX] = ref_warp,    [SEM_CREDUX] = ref_warp,    [SEM_R2UR] = ref_warp,
    [SEM_ELECT] = ref_warp,
};

ref_fn *ref_of(unsigned sem)
{
  return refs[sem];
}
