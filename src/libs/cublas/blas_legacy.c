/* The interface of before 2010 (cublas.h): no handles, factors and results by value, letters for operations, and an
 * error that stays until it is asked for. Each function is the one with a handle, on one handle of the process.
 */
#include <pthread.h>

#include "libs/cublas/blas_types.h"

struct single {
  float x, y;
};
struct two {
  double x, y;
};

/* Where the program has one library it has one of these; the interface has no place for it. */
static struct {
  pthread_mutex_t lock;
  struct blas *handle; /* NULL: cublasInit was not called */
  blas_status last;    /* the newest error since cublasGetError */
} the_legacy = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct blas *current(void)
{
  pthread_mutex_lock(&the_legacy.lock);
  struct blas *h = the_legacy.handle;
  pthread_mutex_unlock(&the_legacy.lock);
  return h;
}

static blas_status keep(blas_status s)
{
  if (s == BLAS_SUCCESS) return s;
  pthread_mutex_lock(&the_legacy.lock);
  the_legacy.last = s;
  pthread_mutex_unlock(&the_legacy.lock);
  return s;
}

PUBLIC blas_status cublasInit(void)
{
  blas_status s = BLAS_SUCCESS;
  pthread_mutex_lock(&the_legacy.lock);
  if (!the_legacy.handle) s = blas_open(&the_legacy.handle);
  pthread_mutex_unlock(&the_legacy.lock);
  return s;
}

PUBLIC blas_status cublasShutdown(void)
{
  pthread_mutex_lock(&the_legacy.lock);
  const blas_status s = blas_close(the_legacy.handle);
  the_legacy.handle = NULL;
  pthread_mutex_unlock(&the_legacy.lock);
  return s;
}

/* And forgets it. */
PUBLIC blas_status cublasGetError(void)
{
  pthread_mutex_lock(&the_legacy.lock);
  const blas_status s = the_legacy.last;
  the_legacy.last = BLAS_SUCCESS;
  pthread_mutex_unlock(&the_legacy.lock);
  return s;
}

PUBLIC blas_status cublasGetVersion(int *version)
{
  if (!version) return BLAS_INVALID_VALUE;
  if (!current()) return BLAS_NOT_INITIALIZED;
  *version = BLAS_VERSION;
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasAlloc(int n, int element, void **out)
{
  uint64_t at = 0;
  if (!current()) return BLAS_NOT_INITIALIZED;
  if (n <= 0 || element <= 0 || !out) return BLAS_INVALID_VALUE;
  if (cuMemAlloc_v2(&at, (size_t)n * (size_t)element) != DRIVER_OK) return BLAS_ALLOC_FAILED;
  *out = (void *)(uintptr_t)at;
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasFree(void *p)
{
  if (!current()) return BLAS_NOT_INITIALIZED;
  if (!p) return BLAS_SUCCESS;
  return cuMemFree_v2((uint64_t)(uintptr_t)p) == DRIVER_OK ? BLAS_SUCCESS : BLAS_INTERNAL_ERROR;
}

PUBLIC blas_status cublasSetKernelStream(driver_stream stream)
{
  struct blas *h = current();
  if (h) h->stream = stream;
  return h ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

/* Letters: an unknown one is a number that the functions with a handle refuse. */
enum { UNKNOWN = 99 };
static int op_of(char c)
{
  switch (c) {
  case 'n': case 'N': return BLAS_OP_N;
  case 't': case 'T': return BLAS_OP_T;
  case 'c': case 'C': return BLAS_OP_C;
  default: return UNKNOWN;
  }
}
static int side_of(char c) { return c == 'l' || c == 'L' ? BLAS_LEFT : c == 'r' || c == 'R' ? BLAS_RIGHT : UNKNOWN; }
static int fill_of(char c) { return c == 'l' || c == 'L' ? BLAS_LOWER : c == 'u' || c == 'U' ? BLAS_UPPER : UNKNOWN; }
static int unit_of(char c) { return c == 'n' || c == 'N' ? BLAS_NON_UNIT : c == 'u' || c == 'U' ? BLAS_UNIT : UNKNOWN; }

/* What the functions without a handle call: those with one (blas_vector.c, blas_gemm.c). */
#define WITH_HANDLE(l)                                                                                               \
  blas_status cublas##l##axpy_v2(struct blas *, int, const void *, const void *, int, void *, int);                  \
  blas_status cublas##l##copy_v2(struct blas *, int, const void *, int, void *, int);                                \
  blas_status cublas##l##swap_v2(struct blas *, int, void *, int, void *, int);                                      \
  blas_status cublas##l##scal_v2(struct blas *, int, const void *, void *, int);                                     \
  blas_status cublas##l##gemv_v2(struct blas *, int, int, int, const void *, const void *, int, const void *, int,   \
                                 const void *, void *, int);                                                         \
  blas_status cublas##l##trsm_v2(struct blas *, int, int, int, int, int, int, const void *, const void *, int,       \
                                 void *, int);                                                                       \
  blas_status cublas##l##gemm_v2(struct blas *, int, int, int, int, int, const void *, const void *, int,            \
                                 const void *, int, const void *, void *, int);
WITH_HANDLE(S) WITH_HANDLE(D) WITH_HANDLE(C) WITH_HANDLE(Z)

#define LEGACY_EVERY(l, T)                                                                                           \
  PUBLIC void cublas##l##axpy(int n, T alpha, const void *x, int incx, void *y, int incy)                            \
  {                                                                                                                  \
    keep(cublas##l##axpy_v2(current(), n, &alpha, x, incx, y, incy));                                                \
  }                                                                                                                  \
  PUBLIC void cublas##l##copy(int n, const void *x, int incx, void *y, int incy)                                     \
  {                                                                                                                  \
    keep(cublas##l##copy_v2(current(), n, x, incx, y, incy));                                                        \
  }                                                                                                                  \
  PUBLIC void cublas##l##swap(int n, void *x, int incx, void *y, int incy)                                           \
  {                                                                                                                  \
    keep(cublas##l##swap_v2(current(), n, x, incx, y, incy));                                                        \
  }                                                                                                                  \
  PUBLIC void cublas##l##scal(int n, T alpha, void *x, int incx)                                                     \
  {                                                                                                                  \
    keep(cublas##l##scal_v2(current(), n, &alpha, x, incx));                                                         \
  }                                                                                                                  \
  PUBLIC void cublas##l##gemv(char trans, int m, int n, T alpha, const void *a, int lda, const void *x, int incx,    \
                              T beta, void *y, int incy)                                                             \
  {                                                                                                                  \
    keep(cublas##l##gemv_v2(current(), op_of(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy));                \
  }                                                                                                                  \
  PUBLIC void cublas##l##trsm(char side, char uplo, char trans, char diag, int m, int n, T alpha, const void *a,     \
                              int lda, void *b, int ldb)                                                             \
  {                                                                                                                  \
    keep(cublas##l##trsm_v2(current(), side_of(side), fill_of(uplo), op_of(trans), unit_of(diag), m, n, &alpha, a,   \
                            lda, b, ldb));                                                                           \
  }                                                                                                                  \
  PUBLIC void cublas##l##gemm(char transa, char transb, int m, int n, int k, T alpha, const void *a, int lda,        \
                              const void *b, int ldb, T beta, void *c, int ldc)                                      \
  {                                                                                                                  \
    keep(cublas##l##gemm_v2(current(), op_of(transa), op_of(transb), m, n, k, &alpha, a, lda, b, ldb, &beta, c,      \
                            ldc));                                                                                   \
  }
LEGACY_EVERY(S, float) LEGACY_EVERY(D, double) LEGACY_EVERY(C, struct single) LEGACY_EVERY(Z, struct two)

/* Numbers out of vectors. */
#define LEGACY_SUM(name, R)                                                                                          \
  blas_status name##_v2(struct blas *, int, const void *, int, void *);                                              \
  PUBLIC R name(int n, const void *x, int incx)                                                                      \
  {                                                                                                                  \
    R r = {0};                                                                                                       \
    keep(name##_v2(current(), n, x, incx, &r));                                                                      \
    return r;                                                                                                        \
  }
LEGACY_SUM(cublasSnrm2, float) LEGACY_SUM(cublasDnrm2, double) LEGACY_SUM(cublasScnrm2, float)
LEGACY_SUM(cublasDznrm2, double) LEGACY_SUM(cublasSasum, float) LEGACY_SUM(cublasDasum, double)
LEGACY_SUM(cublasScasum, float) LEGACY_SUM(cublasDzasum, double)
LEGACY_SUM(cublasIsamax, int) LEGACY_SUM(cublasIdamax, int) LEGACY_SUM(cublasIcamax, int) LEGACY_SUM(cublasIzamax, int)
LEGACY_SUM(cublasIsamin, int) LEGACY_SUM(cublasIdamin, int) LEGACY_SUM(cublasIcamin, int) LEGACY_SUM(cublasIzamin, int)

#define LEGACY_DOT(name, R)                                                                                          \
  blas_status name##_v2(struct blas *, int, const void *, int, const void *, int, void *);                           \
  PUBLIC R name(int n, const void *x, int incx, const void *y, int incy)                                             \
  {                                                                                                                  \
    R r = {0};                                                                                                       \
    keep(name##_v2(current(), n, x, incx, y, incy, &r));                                                             \
    return r;                                                                                                        \
  }
LEGACY_DOT(cublasSdot, float) LEGACY_DOT(cublasDdot, double) LEGACY_DOT(cublasCdotu, struct single)
LEGACY_DOT(cublasCdotc, struct single) LEGACY_DOT(cublasZdotu, struct two) LEGACY_DOT(cublasZdotc, struct two)

#define LEGACY_SCALE_REAL(name, R)                                                                                   \
  blas_status name##_v2(struct blas *, int, const void *, void *, int);                                              \
  PUBLIC void name(int n, R alpha, void *x, int incx) { keep(name##_v2(current(), n, &alpha, x, incx)); }
LEGACY_SCALE_REAL(cublasCsscal, float) LEGACY_SCALE_REAL(cublasZdscal, double)

#define LEGACY_ROT(name, R, T)                                                                                       \
  blas_status name##_v2(struct blas *, int, void *, int, void *, int, const void *, const void *);                   \
  PUBLIC void name(int n, void *x, int incx, void *y, int incy, R c, T s)                                            \
  {                                                                                                                  \
    keep(name##_v2(current(), n, x, incx, y, incy, &c, &s));                                                         \
  }
LEGACY_ROT(cublasSrot, float, float) LEGACY_ROT(cublasDrot, double, double)

#define LEGACY_GER(name, T)                                                                                          \
  blas_status name##_v2(struct blas *, int, int, const void *, const void *, int, const void *, int, void *, int);   \
  PUBLIC void name(int m, int n, T alpha, const void *x, int incx, const void *y, int incy, void *a, int lda)        \
  {                                                                                                                  \
    keep(name##_v2(current(), m, n, &alpha, x, incx, y, incy, a, lda));                                              \
  }
LEGACY_GER(cublasSger, float) LEGACY_GER(cublasDger, double) LEGACY_GER(cublasCgeru, struct single)
LEGACY_GER(cublasCgerc, struct single) LEGACY_GER(cublasZgeru, struct two) LEGACY_GER(cublasZgerc, struct two)

LEGACY_ROT(cublasCrot, float, struct single) LEGACY_ROT(cublasZrot, double, struct two)
LEGACY_ROT(cublasCsrot, float, float) LEGACY_ROT(cublasZdrot, double, double)

#define LEGACY_ROTG(name)                                                                                            \
  blas_status name##_v2(struct blas *, void *, void *, void *, void *);                                              \
  PUBLIC void name(void *a, void *b, void *c, void *s) { keep(name##_v2(current(), a, b, c, s)); }
LEGACY_ROTG(cublasSrotg) LEGACY_ROTG(cublasDrotg) LEGACY_ROTG(cublasCrotg) LEGACY_ROTG(cublasZrotg)

#define LEGACY_ROTM(name)                                                                                            \
  blas_status name##_v2(struct blas *, int, void *, int, void *, int, const void *);                                 \
  PUBLIC void name(int n, void *x, int incx, void *y, int incy, const void *param)                                   \
  {                                                                                                                  \
    keep(name##_v2(current(), n, x, incx, y, incy, param));                                                          \
  }
#define LEGACY_ROTMG(name)                                                                                           \
  blas_status name##_v2(struct blas *, void *, void *, void *, const void *, void *);                                \
  PUBLIC void name(void *d1, void *d2, void *x1, const void *y1, void *param)                                        \
  {                                                                                                                  \
    keep(name##_v2(current(), d1, d2, x1, y1, param));                                                               \
  }
LEGACY_ROTM(cublasSrotm) LEGACY_ROTM(cublasDrotm) LEGACY_ROTMG(cublasSrotmg) LEGACY_ROTMG(cublasDrotmg)

/* Level 3 of which one half counts (blas_level3.c); trmm is in place. */
#define LEGACY_SYMM(name, T)                                                                                         \
  blas_status name##_v2(struct blas *, int, int, int, int, const void *, const void *, int, const void *, int,       \
                        const void *, void *, int);                                                                  \
  PUBLIC void name(char side, char uplo, int m, int n, T alpha, const void *a, int lda, const void *b, int ldb,      \
                   T beta, void *c, int ldc)                                                                         \
  {                                                                                                                  \
    keep(name##_v2(current(), side_of(side), fill_of(uplo), m, n, &alpha, a, lda, b, ldb, &beta, c, ldc));           \
  }
#define LEGACY_RANK_1(name, R)                                                                                       \
  blas_status name##_v2(struct blas *, int, int, int, int, const void *, const void *, int, const void *, void *,    \
                        int);                                                                                        \
  PUBLIC void name(char uplo, char trans, int n, int k, R alpha, const void *a, int lda, R beta, void *c, int ldc)   \
  {                                                                                                                  \
    keep(name##_v2(current(), fill_of(uplo), op_of(trans), n, k, &alpha, a, lda, &beta, c, ldc));                    \
  }
#define LEGACY_RANK_2(name, T, R)                                                                                    \
  blas_status name##_v2(struct blas *, int, int, int, int, const void *, const void *, int, const void *, int,       \
                        const void *, void *, int);                                                                  \
  PUBLIC void name(char uplo, char trans, int n, int k, T alpha, const void *a, int lda, const void *b, int ldb,     \
                   R beta, void *c, int ldc)                                                                         \
  {                                                                                                                  \
    keep(name##_v2(current(), fill_of(uplo), op_of(trans), n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));            \
  }
#define LEGACY_TRMM(name, T)                                                                                         \
  blas_status name##_v2(struct blas *, int, int, int, int, int, int, const void *, const void *, int, const void *,  \
                        int, void *, int);                                                                           \
  PUBLIC void name(char side, char uplo, char transa, char diag, int m, int n, T alpha, const void *a, int lda,      \
                   void *b, int ldb)                                                                                 \
  {                                                                                                                  \
    keep(name##_v2(current(), side_of(side), fill_of(uplo), op_of(transa), unit_of(diag), m, n, &alpha, a, lda, b,   \
                   ldb, b, ldb));                                                                                    \
  }
#define LEGACY_HALVES(l, T)                                                                                          \
  LEGACY_SYMM(cublas##l##symm, T) LEGACY_RANK_1(cublas##l##syrk, T) LEGACY_RANK_2(cublas##l##syr2k, T, T)            \
  LEGACY_TRMM(cublas##l##trmm, T)
#define LEGACY_HERMITIAN(l, T, R)                                                                                    \
  LEGACY_SYMM(cublas##l##hemm, T) LEGACY_RANK_1(cublas##l##herk, R) LEGACY_RANK_2(cublas##l##her2k, T, R)
LEGACY_HALVES(S, float) LEGACY_HALVES(D, double) LEGACY_HALVES(C, struct single) LEGACY_HALVES(Z, struct two)
LEGACY_HERMITIAN(C, struct single, float) LEGACY_HERMITIAN(Z, struct two, double)

/* Level 2 of stored parts (blas_stored.c, blas_update.c): triangles in three storages, their systems, bands, ... */
#define LEGACY_TRIANGLE(l, verb)                                                                                     \
  blas_status cublas##l##tr##verb##_v2(struct blas *, int, int, int, int, const void *, int, void *, int);           \
  blas_status cublas##l##tb##verb##_v2(struct blas *, int, int, int, int, int, const void *, int, void *, int);      \
  blas_status cublas##l##tp##verb##_v2(struct blas *, int, int, int, int, const void *, void *, int);                \
  PUBLIC void cublas##l##tr##verb(char uplo, char trans, char diag, int n, const void *a, int lda, void *x,          \
                                  int incx)                                                                          \
  {                                                                                                                  \
    keep(cublas##l##tr##verb##_v2(current(), fill_of(uplo), op_of(trans), unit_of(diag), n, a, lda, x, incx));       \
  }                                                                                                                  \
  PUBLIC void cublas##l##tb##verb(char uplo, char trans, char diag, int n, int k, const void *a, int lda, void *x,   \
                                  int incx)                                                                          \
  {                                                                                                                  \
    keep(cublas##l##tb##verb##_v2(current(), fill_of(uplo), op_of(trans), unit_of(diag), n, k, a, lda, x, incx));    \
  }                                                                                                                  \
  PUBLIC void cublas##l##tp##verb(char uplo, char trans, char diag, int n, const void *ap, void *x, int incx)        \
  {                                                                                                                  \
    keep(cublas##l##tp##verb##_v2(current(), fill_of(uplo), op_of(trans), unit_of(diag), n, ap, x, incx));           \
  }
LEGACY_TRIANGLE(S, mv) LEGACY_TRIANGLE(D, mv) LEGACY_TRIANGLE(C, mv) LEGACY_TRIANGLE(Z, mv)
LEGACY_TRIANGLE(S, sv) LEGACY_TRIANGLE(D, sv) LEGACY_TRIANGLE(C, sv) LEGACY_TRIANGLE(Z, sv)

#define LEGACY_BAND(l, T)                                                                                            \
  blas_status cublas##l##gbmv_v2(struct blas *, int, int, int, int, int, const void *, const void *, int,            \
                                 const void *, int, const void *, void *, int);                                      \
  PUBLIC void cublas##l##gbmv(char trans, int m, int n, int kl, int ku, T alpha, const void *a, int lda,             \
                              const void *x, int incx, T beta, void *y, int incy)                                    \
  {                                                                                                                  \
    keep(cublas##l##gbmv_v2(current(), op_of(trans), m, n, kl, ku, &alpha, a, lda, x, incx, &beta, y, incy));        \
  }
LEGACY_BAND(S, float) LEGACY_BAND(D, double) LEGACY_BAND(C, struct single) LEGACY_BAND(Z, struct two)

/* ... symmetric matrices, or Hermitian ones, whose names begin with f, b and p by storage, times vectors, ... */
#define LEGACY_SYMMETRIC(l, f, b, p, T)                                                                              \
  blas_status cublas##l##f##mv_v2(struct blas *, int, int, const void *, const void *, int, const void *, int,       \
                                  const void *, void *, int);                                                        \
  blas_status cublas##l##b##mv_v2(struct blas *, int, int, int, const void *, const void *, int, const void *, int,  \
                                  const void *, void *, int);                                                        \
  blas_status cublas##l##p##mv_v2(struct blas *, int, int, const void *, const void *, const void *, int,            \
                                  const void *, void *, int);                                                        \
  PUBLIC void cublas##l##f##mv(char uplo, int n, T alpha, const void *a, int lda, const void *x, int incx, T beta,   \
                               void *y, int incy)                                                                    \
  {                                                                                                                  \
    keep(cublas##l##f##mv_v2(current(), fill_of(uplo), n, &alpha, a, lda, x, incx, &beta, y, incy));                 \
  }                                                                                                                  \
  PUBLIC void cublas##l##b##mv(char uplo, int n, int k, T alpha, const void *a, int lda, const void *x, int incx,    \
                               T beta, void *y, int incy)                                                            \
  {                                                                                                                  \
    keep(cublas##l##b##mv_v2(current(), fill_of(uplo), n, k, &alpha, a, lda, x, incx, &beta, y, incy));              \
  }                                                                                                                  \
  PUBLIC void cublas##l##p##mv(char uplo, int n, T alpha, const void *ap, const void *x, int incx, T beta, void *y,  \
                               int incy)                                                                             \
  {                                                                                                                  \
    keep(cublas##l##p##mv_v2(current(), fill_of(uplo), n, &alpha, ap, x, incx, &beta, y, incy));                     \
  }
LEGACY_SYMMETRIC(S, sy, sb, sp, float) LEGACY_SYMMETRIC(D, sy, sb, sp, double)
LEGACY_SYMMETRIC(C, he, hb, hp, struct single) LEGACY_SYMMETRIC(Z, he, hb, hp, struct two)

/* ... and their updates; R: the factor of rank 1. */
#define LEGACY_UPDATE(l, f, p, T, R)                                                                                 \
  blas_status cublas##l##f##r_v2(struct blas *, int, int, const void *, const void *, int, void *, int);             \
  blas_status cublas##l##p##r_v2(struct blas *, int, int, const void *, const void *, int, void *);                  \
  blas_status cublas##l##f##r2_v2(struct blas *, int, int, const void *, const void *, int, const void *, int,       \
                                  void *, int);                                                                      \
  blas_status cublas##l##p##r2_v2(struct blas *, int, int, const void *, const void *, int, const void *, int,       \
                                  void *);                                                                           \
  PUBLIC void cublas##l##f##r(char uplo, int n, R alpha, const void *x, int incx, void *a, int lda)                  \
  {                                                                                                                  \
    keep(cublas##l##f##r_v2(current(), fill_of(uplo), n, &alpha, x, incx, a, lda));                                  \
  }                                                                                                                  \
  PUBLIC void cublas##l##p##r(char uplo, int n, R alpha, const void *x, int incx, void *ap)                          \
  {                                                                                                                  \
    keep(cublas##l##p##r_v2(current(), fill_of(uplo), n, &alpha, x, incx, ap));                                      \
  }                                                                                                                  \
  PUBLIC void cublas##l##f##r2(char uplo, int n, T alpha, const void *x, int incx, const void *y, int incy,          \
                               void *a, int lda)                                                                     \
  {                                                                                                                  \
    keep(cublas##l##f##r2_v2(current(), fill_of(uplo), n, &alpha, x, incx, y, incy, a, lda));                        \
  }                                                                                                                  \
  PUBLIC void cublas##l##p##r2(char uplo, int n, T alpha, const void *x, int incx, const void *y, int incy,          \
                               void *ap)                                                                             \
  {                                                                                                                  \
    keep(cublas##l##p##r2_v2(current(), fill_of(uplo), n, &alpha, x, incx, y, incy, ap));                            \
  }
LEGACY_UPDATE(S, sy, sp, float, float) LEGACY_UPDATE(D, sy, sp, double, double)
LEGACY_UPDATE(C, he, hp, struct single, float) LEGACY_UPDATE(Z, he, hp, struct two, double)
