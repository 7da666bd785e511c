/* Reference of tmem_mma_sparse: what is multiplied, and what comes out. */
#include "../common/ref_tcgen05_run.h"

static const struct test tests[] = {
    {"f16", KIND_F16, F16, F16, D_F32, 128, 64, .swizzle_a = SWIZZLE_128, .swizzle_b = SWIZZLE_128, .add = 1,
     .sparse = 1},
    {"f16 into f16, the other column of metadata", KIND_F16, F16, F16, D_F16, 128, 24, .add = 1, .selector = 1,
     .sparse = 1},
    {"bf16 of 64 rows, lanes stay", KIND_F16, BF16, BF16, D_F32, 64, 32, .swizzle_b = SWIZZLE_64, .add = 1,
     .masked = 1, .sparse = 1},
    {"f16 of 64 rows in the upper lanes", KIND_F16, F16, F16, D_F32, 64, 64, .upper_lanes = 1, .selector = 1,
     .sparse = 1},
    {"bf16, A in tensor memory", KIND_F16, BF16, BF16, D_F32, 128, 48, .a_in_tmem = 1, .add = 1, .negate_b = 1,
     .sparse = 1},
    {"f16, rows contiguous", KIND_F16, F16, F16, D_F32, 128, 64, SWIZZLE_128, 1, SWIZZLE_64, 1, .negate_a = 1,
     .sparse = 1},
    {"tf32", KIND_F16, TF32, TF32, D_F32, 128, 32, .swizzle_a = SWIZZLE_128, .add = 1, .sparse = 1},
    {"tf32 of 64 rows, the other column", KIND_F16, TF32, TF32, D_F32, 64, 16, .swizzle_b = SWIZZLE_128,
     .selector = 1, .sparse = 1},
    {"s8", KIND_I8, S8, S8, D_S32, 128, 64, .swizzle_a = SWIZZLE_128, .add = 1, .sparse = 1},
    {"u8 of 64 rows, clamped", KIND_I8, U8, S8, D_S32, 64, 32, .add = 1, .saturate = 1, .sparse = 1},
    {"e4m3", KIND_F8F6F4, E4M3, E4M3, D_F32, 128, 64, .swizzle_a = SWIZZLE_128, .swizzle_b = SWIZZLE_128, .add = 1,
     .sparse = 1},
    {"e5m2 into f16, 64 rows", KIND_F8F6F4, E5M2, E4M3, D_F16, 64, 32, .add = 1, .negate_a = 1, .sparse = 1},
    {"e2m3 in tensor memory, and e3m2", KIND_F8F6F4, E2M3, E3M2, D_F32, 128, 32, .a_in_tmem = 1, .add = 1, .sparse = 1},
    {"e2m1 and e5m2, rows of B contiguous", KIND_F8F6F4, E2M1, E5M2, D_F32, 128, 64, .swizzle_a = SWIZZLE_64,
     .swizzle_b = SWIZZLE_64, .transposed_b = 1, .sparse = 1},
    {"mxf8f6f4", KIND_MXF8F6F4, E4M3, E5M2, D_F32, 128, 64, .swizzle_a = SWIZZLE_32, .add = 1, .ue8m0 = 1,
     .scale_id_a = 1,
     .scale_id_b = 3, .sparse = 1},
    {"mxf4", KIND_MXF4, E2M1, E2M1, D_F32, 128, 64, .swizzle_b = SWIZZLE_128, .add = 1, .ue8m0 = 1, .scale_id_b = 2,
     .sparse = 1},
    {"mxf4, A in tensor memory", KIND_MXF4, E2M1, E2M1, D_F32, 128, 24, .a_in_tmem = 1, .add = 1, .ue8m0 = 1,
     .negate_a = 1, .sparse = 1},
    {"mxf4nvf4, 4X", KIND_MXF4NVF4, E2M1, E2M1, D_F32, 128, 64, .swizzle_b = SWIZZLE_64, .add = 1, .sparse = 1},
};

int main(int argc, char **argv)
{
    run(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
    return 0;
}
