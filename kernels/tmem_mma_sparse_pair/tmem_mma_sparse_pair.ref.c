/* Reference of tmem_mma_sparse_pair: what is multiplied, and what comes out. */
#include "../common/ref_tcgen05_run.h"

static const struct test tests[] = {
    {"f16, 256 rows", KIND_F16, F16, F16, D_F32, 256, 64, .swizzle_a = SWIZZLE_128, .swizzle_b = SWIZZLE_128,
     .add = 1, .sparse = 1},
    {"bf16, 128 rows", KIND_F16, BF16, BF16, D_F32, 128, 64, .swizzle_a = SWIZZLE_64, .add = 1, .masked = 1,
     .selector = 1, .sparse = 1},
    {"tf32, 256 rows", KIND_F16, TF32, TF32, D_F32, 256, 32, .selector = 1, .sparse = 1},
    {"s8, 128 rows", KIND_I8, S8, S8, D_S32, 128, 32, .swizzle_b = SWIZZLE_64, .add = 1, .sparse = 1},
    {"e4m3, 256 rows", KIND_F8F6F4, E4M3, E4M3, D_F32, 256, 32, .swizzle_a = SWIZZLE_128, .add = 1, .sparse = 1},
    {"mxf8f6f4, 128 rows", KIND_MXF8F6F4, E4M3, E2M3, D_F32, 128, 64, .add = 1, .ue8m0 = 1, .scale_id_b = 1,
     .sparse = 1},
    {"mxf4nvf4, 256 rows", KIND_MXF4NVF4, E2M1, E2M1, D_F32, 256, 64, .swizzle_b = SWIZZLE_128, .add = 1, .sparse = 1},
    {"mxf4, 128 rows", KIND_MXF4, E2M1, E2M1, D_F32, 128, 32, .swizzle_a = SWIZZLE_32, .add = 1, .ue8m0 = 1,
     .sparse = 1},
};

int main(int argc, char **argv)
{
    run(tests, sizeof tests / sizeof tests[0], 2, argc, argv);
    return 0;
}
