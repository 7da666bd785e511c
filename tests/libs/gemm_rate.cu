// One product of libcublas, for its rate: gemm_rate TYPE M N K [OPS], TYPE s, d, h, b or t (TF32), OPS like nt. Prints what the
// events say, which is the simulated time of the kernels.
#include <cublas_v2.h>
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv)
{
  if (argc < 5) return 2;
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
  cudaEvent_t from, to;
  cudaMalloc(&a, size * m * k), cudaMalloc(&b, size * k * n), cudaMalloc(&c, size * m * n);
  cudaMemset(a, 0, size * m * k), cudaMemset(b, 0, size * k * n);
  cudaEventCreate(&from), cudaEventCreate(&to);
  if (cublasCreate(&h)) return 1;
  cudaEventRecord(from);
  const cublasStatus_t s =
    cublasGemmEx(h, ta, tb, m, n, k, type == 'd' ? (void *)&one64 : (void *)&one, a, data, ta == CUBLAS_OP_N ? m : k, b, data,
                 tb == CUBLAS_OP_N ? k : n, type == 'd' ? (void *)&zero64 : (void *)&zero, c, data, m, compute,
                 CUBLAS_GEMM_DEFAULT);
  cudaEventRecord(to);
  if (s || cudaEventSynchronize(to)) return 1;
  float ms;
  cudaEventElapsedTime(&ms, from, to);
  printf("%cgemm %s %d %d %d: %.1f us, %.2f TFLOP/s\n", type, ops, m, n, k, ms * 1e3, 2.0 * m * n * k / ms / 1e9);
  return 0;
}
