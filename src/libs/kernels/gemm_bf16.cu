// Products of bfloat16 on tensor cores.
#include "gemm_mma.cuh"

MMA_KERNELS(warpstep_bgemm, __nv_bfloat16, unsigned short)
