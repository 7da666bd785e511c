/* Reference of tmem_mma_ws: what is multiplied, and what comes out. */
#include "../common/ref_tcgen05_run.h"

/* Spans are counts of columns; first: bit for each part, 1 where it begins with zeros; starts: a byte for each. */
#define ZEROS(use, skip, first, starts, move)                                                                       \
    ((uint64_t)(move) << 56 | (uint64_t)((use) - 1) << 48 | (uint64_t)((skip) - 1) << 40 | 1ull << 39 |                \
     (uint64_t)(first) << 32 | (starts))
#define MOVE(move) ((uint64_t)(move) << 56)

static const struct test tests[] = {
    {"f16, 128 rows", KIND_F16, F16, F16, D_F32, 128, 64, .swizzle_a = SWIZZLE_128, .add = 1, .stationary = 1},
    {"bf16, 64 rows", KIND_F16, BF16, BF16, D_F32, 64, 128, .swizzle_b = SWIZZLE_64, .add = 1, .stationary = 1},
    {"f16 into f16, 32 rows", KIND_F16, F16, F16, D_F16, 32, 256, .swizzle_b = SWIZZLE_32, .add = 1, .stationary = 1},
    {"tf32, 64 rows, A in tensor memory", KIND_F16, TF32, TF32, D_F32, 64, 64, .a_in_tmem = 1, .stationary = 1},
    {"s8, 32 rows, A in tensor memory", KIND_I8, S8, S8, D_S32, 32, 128, .a_in_tmem = 1, .add = 1, .stationary = 1},
    {"e4m3 and e2m3, 64 rows", KIND_F8F6F4, E4M3, E2M3, D_F32, 64, 128, .add = 1, .stationary = 1},
    {"e5m2, 32 rows, rows contiguous", KIND_F8F6F4, E5M2, E5M2, D_F32, 32, 64, SWIZZLE_32, 1, SWIZZLE_32, 1,
     .stationary = 1},
    {"f16, sparse, 64 rows", KIND_F16, F16, F16, D_F32, 64, 128, .swizzle_b = SWIZZLE_64, .add = 1, .stationary = 1,
     .sparse = 1, .selector = 1},
    {"tf32, sparse, 32 rows", KIND_F16, TF32, TF32, D_F32, 32, 64, .add = 1, .stationary = 1, .sparse = 1},
    {"u8, sparse, 32 rows", KIND_I8, U8, S8, D_S32, 32, 128, .add = 1, .saturate = 1, .stationary = 1, .sparse = 1},
    {"e4m3, sparse, 128 rows", KIND_F8F6F4, E4M3, E4M3, D_F32, 128, 64, .add = 1, .stationary = 1, .sparse = 1},
    {"bf16, 32 rows, another A in tensor memory for each part", KIND_F16, BF16, BF16, D_F32, 32, 256, .a_in_tmem = 1,
     .add = 1, .stationary = 1, .apart = 1},
    {"u8, 64 rows, another A for each part", KIND_I8, U8, S8, D_S32, 64, 64, .a_in_tmem = 1, .stationary = 1, .apart = 1},
    {"f16 into f16, 64 rows, another A for each part", KIND_F16, F16, F16, D_F16, 64, 128, .a_in_tmem = 1, .add = 1,
     .stationary = 1, .apart = 1},
    /* the examples of the PTX ISA (zero-column mask descriptor), of which the last moves columns by two */
    {"f16, 128 rows, zero columns", KIND_F16, F16, F16, D_F32, 128, 64, .add = 1, .stationary = 1,
     .zeros = ZEROS(4, 3, 0, 0, 0)},
    {"bf16, 64 rows, zero columns first", KIND_F16, BF16, BF16, D_F32, 64, 128, .swizzle_b = SWIZZLE_64, .add = 1,
     .stationary = 1, .zeros = ZEROS(4, 3, 1, 0, 0)},
    {"s8, 32 rows, spans from their middle, columns that move", KIND_I8, S8, S8, D_S32, 32, 128, .add = 1,
     .stationary = 1, .most = 1, .zeros = ZEROS(4, 3, 3, 0x01020100, 2)},
    {"e4m3, 64 rows, A in tensor memory, columns that move alone", KIND_F8F6F4, E4M3, E4M3, D_F32, 64, 64,
     .a_in_tmem = 1, .add = 1, .stationary = 1, .most = 3, .zeros = MOVE(32)},
    {"e5m2, 32 rows, rows contiguous, columns that move", KIND_F8F6F4, E5M2, E5M2, D_F32, 32, 64, SWIZZLE_32, 1,
     SWIZZLE_32, 1, .stationary = 1, .most = 2, .zeros = ZEROS(7, 200, 5, 0x06c70406, 16)},
    {"f16, sparse, 64 rows, zero columns", KIND_F16, F16, F16, D_F32, 64, 64, .add = 1, .stationary = 1, .sparse = 1,
     .selector = 1, .zeros = ZEROS(1, 1, 2, 0, 0)},
};

int main(int argc, char **argv)
{
    run(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
    return 0;
}
