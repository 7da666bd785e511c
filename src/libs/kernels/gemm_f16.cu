// Products of half precision on tensor cores.
#include "gemm_mma.cuh"

MMA_KERNELS(warpstep_hgemm, __half, unsigned short)
