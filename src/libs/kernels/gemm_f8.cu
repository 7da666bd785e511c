// Products of FP8 on tensor cores, A and B along k, as half precision.
#include "gemm_end8.cuh"

MMA_KERNEL(warpstep_f8gemm_kk_128x128, __half, from_fp8, end8<4>, true, true, 128, 128, 64, 64, 3)
MMA_KERNEL(warpstep_f8gemm_kk_64x64, __half, from_fp8, end8<4>, true, true, 64, 64, 32, 32, 3)

PARTS_KERNEL(warpstep_f8gemm_parts, end8<4>, 128, 128)
PARTS_KERNEL(warpstep_f8gemm_parts, end8<4>, 64, 64)
