/* Reference of tmem_mma: what is multiplied, and what comes out. */
#include "../common/ref_tcgen05_run.h"

static const struct test tests[] = {
    {"f16", KIND_F16, F16, F16, D_F32, 128, 64, .swizzle_a = SWIZZLE_128, .swizzle_b = SWIZZLE_128, .add = 1},
    {"f16 into f16, lanes stay", KIND_F16, F16, F16, D_F16, 64, 24, .add = 1, .masked = 1},
    {"f16 of 64 rows in the upper lanes", KIND_F16, F16, F16, D_F32, 64, 64, .swizzle_a = SWIZZLE_32,
     .swizzle_b = SWIZZLE_64, .upper_lanes = 1},
    {"bf16, A in tensor memory", KIND_F16, BF16, BF16, D_F32, 128, 48, .a_in_tmem = 1, .add = 1, .negate_b = 1},
    {"bf16 of 64 rows, A in tensor memory", KIND_F16, BF16, BF16, D_F32, 64, 16, .a_in_tmem = 1},
    {"f16, rows contiguous", KIND_F16, F16, F16, D_F32, 128, 64, SWIZZLE_128, 1, SWIZZLE_64, 1, .negate_a = 1},
    {"f16, rows contiguous, no swizzle", KIND_F16, F16, F16, D_F32, 64, 32, SWIZZLE_NONE, 1, SWIZZLE_NONE, 1, .add = 1},
    {"f16, D / 8", KIND_F16, F16, F16, D_F32, 128, 32, .swizzle_a = SWIZZLE_64, .swizzle_b = SWIZZLE_32, .add = 1, .shift = 3},
    {"tf32", KIND_F16, TF32, TF32, D_F32, 128, 32, .swizzle_a = SWIZZLE_128, .add = 1},
    {"tf32, rows contiguous", KIND_F16, TF32, TF32, D_F32, 64, 32, SWIZZLE_128_32, 1, SWIZZLE_128_32, 1, .add = 1},
    {"s8", KIND_I8, S8, S8, D_S32, 128, 64, .swizzle_a = SWIZZLE_128, .swizzle_b = SWIZZLE_32, .add = 1},
    {"u8 and s8, clamped", KIND_I8, U8, S8, D_S32, 64, 32, .add = 1, .saturate = 1},
    {"s8, rows contiguous", KIND_I8, S8, U8, D_S32, 128, 32, SWIZZLE_32, 1, SWIZZLE_32, 1, .add = 0},
    {"s8, A in tensor memory", KIND_I8, S8, S8, D_S32, 128, 16, .a_in_tmem = 1, .add = 1},
    {"e4m3", KIND_F8F6F4, E4M3, E4M3, D_F32, 128, 64, .swizzle_a = SWIZZLE_128, .swizzle_b = SWIZZLE_128, .add = 1},
    {"e5m2 and e4m3 into f16", KIND_F8F6F4, E5M2, E4M3, D_F16, 64, 32, .add = 1, .negate_a = 1},
    {"e2m3 and e3m2", KIND_F8F6F4, E2M3, E3M2, D_F32, 128, 32, .swizzle_a = SWIZZLE_64, .add = 1},
    {"e2m1 and e2m1", KIND_F8F6F4, E2M1, E2M1, D_F32, 128, 16, .swizzle_b = SWIZZLE_128},
    {"e2m1 in tensor memory", KIND_F8F6F4, E2M1, E5M2, D_F32, 128, 32, .a_in_tmem = 1, .add = 1},
    {"e5m2, rows contiguous", KIND_F8F6F4, E5M2, E5M2, D_F32, 64, 64, SWIZZLE_64, 1, SWIZZLE_NONE, 1, .add = 1},
};

int main(int argc, char **argv)
{
    run(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
    return 0;
}
