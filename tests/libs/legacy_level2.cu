// The same without handles (cublas.h): letters, factors by value, errors that stay until they are asked for.
#include <cublas.h>

#include "level2.cuh"

static char old(cublasFillMode_t half) { return half == CUBLAS_FILL_MODE_LOWER ? 'L' : 'u'; }
static char old(cublasOperation_t op) { return op == CUBLAS_OP_N ? 'n' : op == CUBLAS_OP_T ? 'T' : 'c'; }
static char old(cublasDiagType_t diag) { return diag == CUBLAS_DIAG_UNIT ? 'U' : 'n'; }
static int old(int n) { return n; }
template <typename V> static V *old(V *matrix) { return matrix; }
template <typename V> static V old(const V *factor) { return *factor; }

#define OLD(l, name)                                                                     \
  template <typename... A> static cublasStatus_t name(cublasHandle_t, A... a)            \
  {                                                                                      \
    cublas##l##name(old(a)...);                                                          \
    return cublasGetError();                                                             \
  }
#define EVERY(l) \
  static const bool complex_symmetric = false; \
  OLD(l, trmv) OLD(l, tbmv) OLD(l, tpmv) OLD(l, trsv) OLD(l, tbsv) OLD(l, tpsv) OLD(l, gbmv)
#define REAL(l, V)   \
  typedef V at;      \
  typedef V real_at; \
  EVERY(l) OLD(l, symv) OLD(l, sbmv) OLD(l, spmv) OLD(l, syr) OLD(l, syr2) OLD(l, spr) OLD(l, spr2)
#define COMPLEX(l, V, R) \
  typedef V at;          \
  typedef R real_at;     \
  EVERY(l) OLD(l, hemv) OLD(l, hbmv) OLD(l, hpmv) OLD(l, her) OLD(l, her2) OLD(l, hpr) OLD(l, hpr2)
template <> struct blas<float> { REAL(S, float) };
template <> struct blas<double> { REAL(D, double) };
template <> struct blas<std::complex<float>> { COMPLEX(C, cuComplex, float) };
template <> struct blas<std::complex<double>> { COMPLEX(Z, cuDoubleComplex, double) };

int main()
{
  float *p = device(std::vector<float>(64, 1));
  cublasStrsv('l', 'n', 'n', 4, p, 4, p, 1);
  check(cublasGetError() == CUBLAS_STATUS_NOT_INITIALIZED, "before cublasInit");
  if (cublasInit()) return 1;
  all_of<float>(nullptr);
  all_of<double>(nullptr);
  all_of<std::complex<float>>(nullptr);
  all_of<std::complex<double>>(nullptr);
  cublasStrsv('x', 'n', 'n', 4, p, 4, p, 1);
  check(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE, "a letter that is none");
  cublasSsyr('u', 4, 1, p, 0, p, 4);
  check(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE, "an increment of 0");
  check(!cublasGetError() && !cublasShutdown(), "the end");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
