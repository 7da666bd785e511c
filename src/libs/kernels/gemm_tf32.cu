// Products of FP32 rounded to TF32 on tensor cores.
#include "gemm_mma.cuh"

MMA_KERNELS(warpstep_tgemm, tf32, unsigned)
