/* Reference of tmem_mma_scaled: what is multiplied, and what comes out. */
#include "../common/ref_tcgen05_run.h"

static const struct test tests[] = {
    {"mxf8f6f4: e4m3", KIND_MXF8F6F4, E4M3, E4M3, D_F32, 128, 64, .swizzle_a = SWIZZLE_128, .swizzle_b = SWIZZLE_128,
     .add = 1, .ue8m0 = 1},
    {"mxf8f6f4: e5m2 and e2m3", KIND_MXF8F6F4, E5M2, E2M3, D_F32, 128, 24, .add = 1, .ue8m0 = 1, .scale_id_a = 1,
     .scale_id_b = 3},
    {"mxf8f6f4: e3m2 in tensor memory, and e2m1", KIND_MXF8F6F4, E3M2, E2M1, D_F32, 128, 32, .a_in_tmem = 1, .ue8m0 = 1,
     .scale_id_a = 2},
    {"mxf4", KIND_MXF4, E2M1, E2M1, D_F32, 128, 64, .swizzle_a = SWIZZLE_128, .add = 1, .ue8m0 = 1},
    {"mxf4, upper scales, A in tensor memory", KIND_MXF4, E2M1, E2M1, D_F32, 128, 16, .a_in_tmem = 1, .add = 1,
     .ue8m0 = 1, .scale_id_a = 2, .scale_id_b = 2, .negate_a = 1},
    {"mxf4nvf4, 4X", KIND_MXF4NVF4, E2M1, E2M1, D_F32, 128, 64, .swizzle_b = SWIZZLE_64, .add = 1},
    {"mxf4nvf4, 4X of powers of two", KIND_MXF4NVF4, E2M1, E2M1, D_F32, 128, 32, .ue8m0 = 1},
};

int main(int argc, char **argv)
{
    run(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
    return 0;
}
