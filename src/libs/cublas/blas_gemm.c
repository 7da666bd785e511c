/* Products of libcublas: the names and argument lists of its reference, each a struct blas_product. */
#include "libs/cublas/blas_product.h"

static blas_status multiply(struct blas *h, struct blas_product p, const char *function)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  /* Plain functions have no compute type (0). The mode changes products of FP32 alone. */
  if ((h->math_mode & ~BLAS_MATH_FLAG) == BLAS_TF32_MATH && (p.compute == 0 || p.compute == COMPUTE_32F))
    p.compute = COMPUTE_32F_FAST_TF32;
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

/* gemm of one type; GEMM: and gemmStridedBatched, gemmBatched. */
#define PLAIN_GEMM(name, plain, T)                                                                                    \
  PUBLIC blas_status plain(SHAPE, const void *alpha, const void *a, INT lda, const void *b, INT ldb,                  \
                                  const void *beta, void *c, INT ldc)                                                 \
  {                                                                                                                   \
    return multiply(h, (struct blas_product){PRODUCT(T), .batch = 1, .a = {a, lda, 0, T}, .b = {b, ldb, 0, T},        \
                                             .c = {c, ldc, 0, T}}, #name);                                            \
  }
#define GEMM(name, plain, strided, arrays, T)                                                                         \
  PLAIN_GEMM(name, plain, T)                                                                                          \
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

#define EX(one, strided, arrays, s_ex)                                                                                \
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
  }

#define C_EX(name, fn)                                                                                                \
  PUBLIC blas_status fn(SHAPE, const void *alpha, const void *a, int at, INT lda, const void *b, int bt,              \
                               INT ldb, const void *beta, void *c, int ct, INT ldc)                                   \
  {                                                                                                                   \
    return multiply(h, (struct blas_product){PRODUCT(DATA_C_32F), .compute = COMPUTE_32F, .batch = 1,                 \
                                             .a = {a, lda, 0, at}, .b = {b, ldb, 0, bt}, .c = {c, ldc, 0, ct}},       \
                    #name);                                                                                           \
  }

#define INT int
GEMM(cublasSgemm, cublasSgemm_v2, cublasSgemmStridedBatched, cublasSgemmBatched, DATA_R_32F)
GEMM(cublasDgemm, cublasDgemm_v2, cublasDgemmStridedBatched, cublasDgemmBatched, DATA_R_64F)
GEMM(cublasCgemm, cublasCgemm_v2, cublasCgemmStridedBatched, cublasCgemmBatched, DATA_C_32F)
GEMM(cublasZgemm, cublasZgemm_v2, cublasZgemmStridedBatched, cublasZgemmBatched, DATA_C_64F)
GEMM(cublasHgemm, cublasHgemm, cublasHgemmStridedBatched, cublasHgemmBatched, DATA_R_16F)
EX(cublasGemmEx, cublasGemmStridedBatchedEx, cublasGemmBatchedEx, cublasSgemmEx)
C_EX(cublasCgemmEx, cublasCgemmEx)
/* Complex numbers by three multiplications, where cuBLAS has them: here by four. */
GEMM(cublasCgemm3m, cublasCgemm3m, cublasCgemm3mStridedBatched, cublasCgemm3mBatched, DATA_C_32F)
C_EX(cublasCgemm3mEx, cublasCgemm3mEx)
PLAIN_GEMM(cublasZgemm3m, cublasZgemm3m, DATA_C_64F)
#undef INT

#define INT int64_t
GEMM(cublasSgemm, cublasSgemm_v2_64, cublasSgemmStridedBatched_64, cublasSgemmBatched_64, DATA_R_32F)
GEMM(cublasDgemm, cublasDgemm_v2_64, cublasDgemmStridedBatched_64, cublasDgemmBatched_64, DATA_R_64F)
GEMM(cublasCgemm, cublasCgemm_v2_64, cublasCgemmStridedBatched_64, cublasCgemmBatched_64, DATA_C_32F)
GEMM(cublasZgemm, cublasZgemm_v2_64, cublasZgemmStridedBatched_64, cublasZgemmBatched_64, DATA_C_64F)
GEMM(cublasHgemm, cublasHgemm_64, cublasHgemmStridedBatched_64, cublasHgemmBatched_64, DATA_R_16F)
EX(cublasGemmEx_64, cublasGemmStridedBatchedEx_64, cublasGemmBatchedEx_64, cublasSgemmEx_64)
C_EX(cublasCgemmEx, cublasCgemmEx_64)
GEMM(cublasCgemm3m, cublasCgemm3m_64, cublasCgemm3mStridedBatched_64, cublasCgemm3mBatched_64, DATA_C_32F)
C_EX(cublasCgemm3mEx, cublasCgemm3mEx_64)
PLAIN_GEMM(cublasZgemm3m, cublasZgemm3m_64, DATA_C_64F)
#undef INT

/* Groups of products of one shape each, by pointers: one launch for each group. Shapes and factors are arrays of the
 * host, the pointers of all groups follow each other in arrays of the device. */
struct groups {
  const int *op_a, *op_b;
  const void *alpha, *beta; /* arrays of the scale type */
  const void *const *a, *const *b;
  void *const *c;
  int type_a, type_b, type_c, compute, n;
  const char *function;
};

static blas_status multiply_group(struct blas *h, const struct groups *g, int i, int64_t first, const int64_t shape[7])
{
  const int scale = scale_of(g->compute, g->type_a);
  const size_t bytes = scale == DATA_R_64F ? 8 : 4;
  const struct blas_product p = {
      .op_a = g->op_a[i], .op_b = g->op_b[i], .m = shape[0], .n = shape[1], .k = shape[2], .batch = shape[6],
      .alpha = (const char *)g->alpha + (size_t)i * bytes, .beta = (const char *)g->beta + (size_t)i * bytes,
      .scale = scale, .compute = g->compute, .pointers = true, .a = {g->a + first, shape[3], 0, g->type_a},
      .b = {g->b + first, shape[4], 0, g->type_b}, .c = {g->c + first, shape[5], 0, g->type_c}};
  return multiply(h, p, g->function);
}

static blas_status grouped_valid(struct blas *h, const struct groups *g)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (g->n < 0) return BLAS_INVALID_VALUE;
  if (h->pointer_mode == BLAS_DEVICE) return blas_refuse(g->function, "factors on the device");
  const int scale = scale_of(g->compute, g->type_a);
  if (g->type_a != g->type_b || g->type_a != g->type_c || (scale != DATA_R_32F && scale != DATA_R_64F))
    return blas_refuse(g->function, "products of these types");
  return BLAS_SUCCESS;
}

#define GROUP_SHAPES                                                                                                  \
  struct blas *h, const int op_a[], const int op_b[], const INT m[], const INT n[], const INT k[]
#define GROUPS(...)                                                                                                   \
  const struct groups g = {op_a, op_b, alpha, beta, a, b, c, __VA_ARGS__};                                            \
  blas_status s = n_groups > INT32_MAX ? BLAS_INVALID_VALUE : grouped_valid(h, &g);                                   \
  int64_t first = 0;                                                                                                  \
  for (int i = 0; s == BLAS_SUCCESS && i < g.n; first += size[i++]) {                                                 \
    const int64_t shape[7] = {m[i], n[i], k[i], lda[i], ldb[i], ldc[i], size[i]};                                     \
    s = multiply_group(h, &g, i, first, shape);                                                                       \
  }                                                                                                                   \
  return s;
#define GROUPED(name, T, type, compute)                                                                               \
  PUBLIC blas_status name(GROUP_SHAPES, const T alpha[], const void *const *a, const INT lda[], const void *const *b, \
                          const INT ldb[], const T beta[], void *const *c, const INT ldc[], INT n_groups,             \
                          const INT size[])                                                                           \
  {                                                                                                                   \
    GROUPS(type, type, type, compute, (int)n_groups, #name)                                                           \
  }
#define GROUPED_EX(name)                                                                                              \
  PUBLIC blas_status name(GROUP_SHAPES, const void *alpha, const void *const *a, int ta, const INT lda[],             \
                          const void *const *b, int tb, const INT ldb[], const void *beta, void *const *c, int tc,    \
                          const INT ldc[], INT n_groups, const INT size[], int compute)                               \
  {                                                                                                                   \
    GROUPS(ta, tb, tc, compute, (int)n_groups, #name)                                                                 \
  }

#define INT int
GROUPED(cublasSgemmGroupedBatched, float, DATA_R_32F, COMPUTE_32F)
GROUPED(cublasDgemmGroupedBatched, double, DATA_R_64F, COMPUTE_64F)
GROUPED_EX(cublasGemmGroupedBatchedEx)
#undef INT

#define INT int64_t
GROUPED(cublasSgemmGroupedBatched_64, float, DATA_R_32F, COMPUTE_32F)
GROUPED(cublasDgemmGroupedBatched_64, double, DATA_R_64F, COMPUTE_64F)
GROUPED_EX(cublasGemmGroupedBatchedEx_64)
#undef INT
