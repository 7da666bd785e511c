// One product of libcublas, for its rate: gemm_rate TYPE M N K [OPS], TYPE s, d, h, b or t (TF32), OPS like nt; or m (MXFP8) or
// n (NVFP4), with factors of blocks, tn. Prints what the events say, which is the simulated time of the kernels.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cstdio>
#include <cstdlib>

static cudaEvent_t from, to;

static int said(char type, const char *ops, int m, int n, int k)
{
  float ms;
  if (cudaEventSynchronize(to)) return 1;
  cudaEventElapsedTime(&ms, from, to);
  printf("%cgemm %s %d %d %d: %.1f us, %.2f TFLOP/s\n", type, ops, m, n, k, ms * 1e3, 2.0 * m * n * k / ms / 1e9);
  return 0;
}

// Elements and factors are 0; m, n and k are multiples of 128.
static int with_blocks(bool fp4, int m, int n, int k)
{
  const cudaDataType t = fp4 ? CUDA_R_4F_E2M1 : CUDA_R_8F_E4M3;
  const int mode = fp4 ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 : CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
  const size_t block = fp4 ? 16 : 32, bytes_a = (size_t)m * k / (fp4 ? 2 : 1), bytes_b = (size_t)n * k / (fp4 ? 2 : 1);
  const cublasOperation_t turned = CUBLAS_OP_T;
  const float one = 1, zero = 0;
  char *a, *b, *d, *fa, *fb;
  cublasLtHandle_t h;
  cublasLtMatmulDesc_t q;
  cublasLtMatrixLayout_t la, lb, ld;
  cudaMalloc(&a, bytes_a), cudaMalloc(&b, bytes_b), cudaMalloc(&d, (size_t)m * n * 2), cudaMalloc(&fa, m * k / block), cudaMalloc(&fb, n * k / block);
  cudaMemset(a, 0, bytes_a), cudaMemset(b, 0, bytes_b), cudaMemset(fa, 0, m * k / block), cudaMemset(fb, 0, n * k / block);
  if (cublasLtCreate(&h) || cublasLtMatmulDescCreate(&q, CUBLAS_COMPUTE_32F, CUDA_R_32F)) return 1;
  cublasLtMatrixLayoutCreate(&la, t, k, m, k), cublasLtMatrixLayoutCreate(&lb, t, k, n, k), cublasLtMatrixLayoutCreate(&ld, CUDA_R_16BF, m, n, m);
  cublasLtMatmulDescSetAttribute(q, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned);
  for (auto what : {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_MODE}) cublasLtMatmulDescSetAttribute(q, what, &mode, sizeof mode);
  cublasLtMatmulDescSetAttribute(q, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &fa, sizeof fa);
  cublasLtMatmulDescSetAttribute(q, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &fb, sizeof fb);
  cudaEventRecord(from);
  if (cublasLtMatmul(h, q, &one, a, la, b, lb, &zero, d, ld, d, ld, nullptr, nullptr, 0, 0)) return 1;
  cudaEventRecord(to);
  return said(fp4 ? 'n' : 'm', "tn", m, n, k);
}

int main(int argc, char **argv)
{
  if (argc < 5) return 2;
  cudaEventCreate(&from), cudaEventCreate(&to);
  if (*argv[1] == 'm' || *argv[1] == 'n') return with_blocks(*argv[1] == 'n', atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
  const char type = argv[1][0];
  const int m = atoi(argv[2]), n = atoi(argv[3]), k = atoi(argv[4]);
  const char *ops = argc > 5 ? argv[5] : "nn";
  const cudaDataType data = type == 's' || type == 't' ? CUDA_R_32F : type == 'd' ? CUDA_R_64F : type == 'h' ? CUDA_R_16F : CUDA_R_16BF;
  const size_t size = type == 's' || type == 't' ? 4 : type == 'd' ? 8 : 2;
  const cublasComputeType_t compute = type == 'd' ? CUBLAS_COMPUTE_64F : type == 't' ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const cublasOperation_t ta = ops[0] == 't' ? CUBLAS_OP_T : CUBLAS_OP_N, tb = ops[1] == 't' ? CUBLAS_OP_T : CUBLAS_OP_N;
  const float one = 1, zero = 0;
  const double one64 = 1, zero64 = 0;
  void *a, *b, *c;
  cublasHandle_t h;
  cudaMalloc(&a, size * m * k), cudaMalloc(&b, size * k * n), cudaMalloc(&c, size * m * n);
  cudaMemset(a, 0, size * m * k), cudaMemset(b, 0, size * k * n);
  if (cublasCreate(&h)) return 1;
  cudaEventRecord(from);
  const cublasStatus_t s =
    cublasGemmEx(h, ta, tb, m, n, k, type == 'd' ? (void *)&one64 : (void *)&one, a, data, ta == CUBLAS_OP_N ? m : k, b, data,
                 tb == CUBLAS_OP_N ? k : n, type == 'd' ? (void *)&zero64 : (void *)&zero, c, data, m, compute,
                 CUBLAS_GEMM_DEFAULT);
  cudaEventRecord(to);
  return s ? 1 : said(type, ops, m, n, k);
}
