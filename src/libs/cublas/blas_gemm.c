/* Products of libcublas: the names and argument lists of its reference, each a struct blas_product. */
#include "libs/cublas/blas_product.h"

static blas_status multiply(struct blas *h, struct blas_product p, const char *function)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  p.on_device = h->pointer_mode == BLAS_DEVICE;
  p.d = p.c;
  return blas_multiply(h, &p, h->stream, function);
}

/* cudaDataType of alpha and beta; -1: not a compute type. */
static int scale_of(int compute, int type)
{
  const bool complex = type == DATA_C_32F || type == DATA_C_64F;
  switch (compute) {
  case COMPUTE_16F:
  case COMPUTE_16F_PEDANTIC: return DATA_R_16F;
  case COMPUTE_32F:
  case COMPUTE_32F_PEDANTIC:
  case COMPUTE_32F_FAST_16F:
  case COMPUTE_32F_FAST_16BF:
  case COMPUTE_32F_FAST_TF32: return complex ? DATA_C_32F : DATA_R_32F;
  case COMPUTE_64F:
  case COMPUTE_64F_PEDANTIC: return complex ? DATA_C_64F : DATA_R_64F;
  case COMPUTE_32I:
  case COMPUTE_32I_PEDANTIC: return DATA_R_32I;
  default: return -1;
  }
}

#define SHAPE struct blas *h, int op_a, int op_b, INT m, INT n, INT k
#define PRODUCT(T)                                                                                                    \
  .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .scale = (T)

/* gemm, gemmStridedBatched, gemmBatched of one type. */
#define GEMM(name, plain, strided, arrays, T)                                                                         \
  PUBLIC blas_status plain(SHAPE, const void *alpha, const void *a, INT lda, const void *b, INT ldb,                  \
                                  const void *beta, void *c, INT ldc)                                                 \
  {                                                                                                                   \
    return multiply(h, (struct blas_product){PRODUCT(T), .batch = 1, .a = {a, lda, 0, T}, .b = {b, ldb, 0, T},        \
                                             .c = {c, ldc, 0, T}}, #name);                                            \
  }                                                                                                                   \
  PUBLIC blas_status strided(SHAPE, const void *alpha, const void *a, INT lda, long long stride_a,                    \
                                    const void *b, INT ldb, long long stride_b, const void *beta, void *c, INT ldc,   \
                                    long long stride_c, INT batch)                                                    \
  {                                                                                                                   \
    return multiply(h, (struct blas_product){PRODUCT(T), .batch = batch, .a = {a, lda, stride_a, T},                  \
                                             .b = {b, ldb, stride_b, T}, .c = {c, ldc, stride_c, T}}, #name);         \
  }                                                                                                                   \
  PUBLIC blas_status arrays(SHAPE, const void *alpha, const void *const *a, INT lda, const void *const *b,            \
                                   INT ldb, const void *beta, void *const *c, INT ldc, INT batch)                     \
  {                                                                                                                   \
    return multiply(h, (struct blas_product){PRODUCT(T), .batch = batch, .pointers = true, .a = {a, lda, 0, T},       \
                                             .b = {b, ldb, 0, T}, .c = {c, ldc, 0, T}}, #name);                       \
  }

#define EX(one, strided, arrays, s_ex, c_ex)                                                                          \
  PUBLIC blas_status one(SHAPE, const void *alpha, const void *a, int at, INT lda, const void *b, int bt,             \
                             INT ldb, const void *beta, void *c, int ct, INT ldc, int compute, int algo)              \
  {                                                                                                                   \
    (void)algo;                                                                                                       \
    const int scale = scale_of(compute, at);                                                                          \
    return multiply(h, (struct blas_product){PRODUCT(scale), .compute = compute, .batch = 1, .a = {a, lda, 0, at},    \
                                             .b = {b, ldb, 0, bt}, .c = {c, ldc, 0, ct}}, "cublasGemmEx");            \
  }                                                                                                                   \
  PUBLIC blas_status strided(SHAPE, const void *alpha, const void *a, int at, INT lda, long long stride_a,            \
                                     const void *b, int bt, INT ldb, long long stride_b, const void *beta, void *c,   \
                                     int ct, INT ldc, long long stride_c, INT batch, int compute, int algo)           \
  {                                                                                                                   \
    (void)algo;                                                                                                       \
    const int scale = scale_of(compute, at);                                                                          \
    return multiply(h, (struct blas_product){PRODUCT(scale), .compute = compute, .batch = batch,                      \
                                             .a = {a, lda, stride_a, at}, .b = {b, ldb, stride_b, bt},                \
                                             .c = {c, ldc, stride_c, ct}}, "cublasGemmStridedBatchedEx");             \
  }                                                                                                                   \
  PUBLIC blas_status arrays(SHAPE, const void *alpha, const void *const *a, int at, INT lda,                          \
                                    const void *const *b, int bt, INT ldb, const void *beta, void *const *c, int ct,  \
                                    INT ldc, INT batch, int compute, int algo)                                        \
  {                                                                                                                   \
    (void)algo;                                                                                                       \
    const int scale = scale_of(compute, at);                                                                          \
    return multiply(h, (struct blas_product){PRODUCT(scale), .compute = compute, .batch = batch, .pointers = true,    \
                                             .a = {a, lda, 0, at}, .b = {b, ldb, 0, bt}, .c = {c, ldc, 0, ct}},       \
                    "cublasGemmBatchedEx");                                                                           \
  }                                                                                                                   \
  PUBLIC blas_status s_ex(SHAPE, const float *alpha, const void *a, int at, INT lda, const void *b, int bt,           \
                               INT ldb, const float *beta, void *c, int ct, INT ldc)                                  \
  {                                                                                                                   \
    return multiply(h, (struct blas_product){PRODUCT(DATA_R_32F), .compute = COMPUTE_32F, .batch = 1,                 \
                                             .a = {a, lda, 0, at}, .b = {b, ldb, 0, bt}, .c = {c, ldc, 0, ct}},       \
                    "cublasSgemmEx");                                                                                 \
  }                                                                                                                   \
  PUBLIC blas_status c_ex(SHAPE, const void *alpha, const void *a, int at, INT lda, const void *b, int bt,            \
                               INT ldb, const void *beta, void *c, int ct, INT ldc)                                   \
  {                                                                                                                   \
    return multiply(h, (struct blas_product){PRODUCT(DATA_C_32F), .compute = COMPUTE_32F, .batch = 1,                 \
                                             .a = {a, lda, 0, at}, .b = {b, ldb, 0, bt}, .c = {c, ldc, 0, ct}},       \
                    "cublasCgemmEx");                                                                                 \
  }

#define INT int
GEMM(cublasSgemm, cublasSgemm_v2, cublasSgemmStridedBatched, cublasSgemmBatched, DATA_R_32F)
GEMM(cublasDgemm, cublasDgemm_v2, cublasDgemmStridedBatched, cublasDgemmBatched, DATA_R_64F)
GEMM(cublasCgemm, cublasCgemm_v2, cublasCgemmStridedBatched, cublasCgemmBatched, DATA_C_32F)
GEMM(cublasZgemm, cublasZgemm_v2, cublasZgemmStridedBatched, cublasZgemmBatched, DATA_C_64F)
GEMM(cublasHgemm, cublasHgemm, cublasHgemmStridedBatched, cublasHgemmBatched, DATA_R_16F)
EX(cublasGemmEx, cublasGemmStridedBatchedEx, cublasGemmBatchedEx, cublasSgemmEx, cublasCgemmEx)
#undef INT

#define INT int64_t
GEMM(cublasSgemm, cublasSgemm_v2_64, cublasSgemmStridedBatched_64, cublasSgemmBatched_64, DATA_R_32F)
GEMM(cublasDgemm, cublasDgemm_v2_64, cublasDgemmStridedBatched_64, cublasDgemmBatched_64, DATA_R_64F)
GEMM(cublasCgemm, cublasCgemm_v2_64, cublasCgemmStridedBatched_64, cublasCgemmBatched_64, DATA_C_32F)
GEMM(cublasZgemm, cublasZgemm_v2_64, cublasZgemmStridedBatched_64, cublasZgemmBatched_64, DATA_C_64F)
GEMM(cublasHgemm, cublasHgemm_64, cublasHgemmStridedBatched_64, cublasHgemmBatched_64, DATA_R_16F)
EX(cublasGemmEx_64, cublasGemmStridedBatchedEx_64, cublasGemmBatchedEx_64, cublasSgemmEx_64, cublasCgemmEx_64)
#undef INT
