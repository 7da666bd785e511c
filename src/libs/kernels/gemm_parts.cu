// The sums of tiles split in k, of all products on tensor cores but those of FP8.
#include "gemm_mma.cuh"

PARTS_KERNEL(warpstep_gemm_parts, plain_end, 128, 256)
PARTS_KERNEL(warpstep_gemm_parts, plain_end, 128, 128)
PARTS_KERNEL(warpstep_gemm_parts, plain_end, 64, 64)
