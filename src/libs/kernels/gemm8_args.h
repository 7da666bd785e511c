/* What the product kernels of FP8 take beside what all do:
 * D = scale_d * epilogue(alpha * scale_a * scale_b * A B + beta * scale_c * C), all factors on the device. A and B are
 * those of the program here: its A's rows are the columns of D as the kernel sees it (gemm_args.h).
 */
#ifndef WS_GEMM8_ARGS_H
#define WS_GEMM8_ARGS_H

#include "libs/kernels/gemm_args.h"

/* Types behind those of enum ws_type, which only these kernels know. */
enum { WS_E4M3 = WS_TYPES, WS_E5M2, WS_E2M1, WS_TYPES_WITH_NARROW };

/* Factors of blocks along k: blocks of so many elements, factors of one byte. Those of 128 lines (rows of A, columns of
 * B) by four blocks lie together, 512 bytes: of lines 0, 32, 64 and 96 four factors each, then of 1, 33 and so on.
 * These tiles follow each other along k, then along the lines; they are whole at both edges. Those of the matrices of a
 * batch follow each other. Factors of D lie alike: its lines are the program's columns, blocks go along its rows. */
enum { WS_BLOCK_UE4M3 = 16, WS_BLOCK_UE8M0 = 32, WS_BLOCK_F32 = 128, WS_FACTOR_LINES = 128, WS_FACTOR_BLOCKS = 4 };

struct ws_gemm8_args {
  struct ws_gemm_args g;            /* its scale_a and scale_b are 0 */
  const float *scale_a, *scale_b;   /* or 0: one factor, or */
  int32_t vector_a, vector_b;       /* ... one for each row of A, each column of B */
  const float *scale_c, *scale_d;   /* or 0 */
  float *amax;                      /* or 0: gets the largest absolute value before scale_d; is 0 before */
  const float *scale_aux;           /* or 0: of what WS_AUX leaves in FP8 */
  float *amax_aux;                  /* or 0: the largest absolute value of that before its factor; is 0 before */
  int32_t type_a, type_b;           /* as the kernel sees them: WS_E4M3, WS_E5M2, WS_E2M1 */
  const void *blocks_a, *blocks_b;  /* or 0: factors of blocks, as the kernel sees them */
  int32_t squares_a, squares_b;     /* those in FP32: one for 128 lines */
  void *factors_d;                  /* or 0: D is FP8 or FP4 with factors of blocks that the kernel works out */
};

#endif
