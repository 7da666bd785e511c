// What the programs about products of FP8 and FP4 share: calls of cublasLt, operands with a factor for each block.
#pragma once
#include <cublasLt.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include "products.cuh"

template <typename T> struct code;
template <> struct code<__nv_fp8_e4m3> { static const cudaDataType t = CUDA_R_8F_E4M3; };
template <> struct code<__nv_fp8_e5m2> { static const cudaDataType t = CUDA_R_8F_E5M2; };
template <> struct code<__half> { static const cudaDataType t = CUDA_R_16F; };
template <> struct code<__nv_bfloat16> { static const cudaDataType t = CUDA_R_16BF; };
template <> struct code<float> { static const cudaDataType t = CUDA_R_32F; };
template <> struct code<double> { static const cudaDataType t = CUDA_R_64F; };

template <typename T> static T *put(const std::vector<T> &v)
{
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

struct lt_call {
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t la, lb, lc, ld;
  lt_call(cublasOperation_t ta, cublasOperation_t tb)
  {
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    set(CUBLASLT_MATMUL_DESC_TRANSA, ta), set(CUBLASLT_MATMUL_DESC_TRANSB, tb);
  }
  ~lt_call()
  {
    cublasLtMatmulDescDestroy(desc);
    cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(lc), cublasLtMatrixLayoutDestroy(ld);
  }
  template <typename V> void set(cublasLtMatmulDescAttributes_t what, V v) { cublasLtMatmulDescSetAttribute(desc, what, &v, sizeof v); }
};

// Operands along k with a factor for each block of it: every code of the elements, and of the factors those of `codes`. The
// host keeps factors by line and block; where the device has them is written down here once more, from cuBLAS's reference.
template <bool FP4> struct blocks {
  static const int BLOCK = FP4 ? 16 : 32;
  int k, ld, per_line;
  cudaDataType type;
  std::vector<unsigned char> data, factors, there; // there: factors as they lie on the device
  unsigned char *at, *factors_at;

  // numbers: codes of the elements, two in one of FP4; none: all.
  blocks(int lines, int k_, int pad, cudaDataType t, std::vector<unsigned char> codes, unsigned seed, std::vector<unsigned char> numbers = {})
      : k(k_), ld(k_ + pad), per_line((k_ + BLOCK - 1) / BLOCK), type(t), data((size_t)lines * (k_ + pad) / (FP4 ? 2 : 1)), factors((size_t)lines * per_line)
  {
    unsigned state = seed;
    auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 24; };
    for (unsigned char &v : data) {
      v = numbers.empty() ? next() : numbers[next() % numbers.size()];
      while (!FP4 && numbers.empty() && !std::isfinite(number(v))) v = next();
    }
    for (unsigned char &v : factors) v = codes[next() % codes.size()];
    const int across = (lines + 127) / 128, along = (per_line + 3) / 4;
    there.assign((size_t)across * along * 512, 0xff); // what belongs to no line is not a number
    for (int line = 0; line < lines; line++)
      for (int b = 0; b < per_line; b++)
        there[((size_t)(line / 128) * along + b / 4) * 512 + line % 32 * 16 + line / 32 % 4 * 4 + b % 4] = factors[(size_t)line * per_line + b];
    at = put(data), factors_at = put(there);
  }
  blocks(const blocks &) = delete;
  ~blocks() { cudaFree(at), cudaFree(factors_at); }
  double number(unsigned char v) const
  {
    if (type == CUDA_R_8F_E5M2) return __half2float(__half(__nv_cvt_fp8_to_halfraw(v, __NV_E5M2)));
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(v, __NV_E4M3)));
  }
  double element(int line, int i) const
  {
    const size_t n = (size_t)line * ld + i;
    return FP4 ? __half2float(__half(__nv_cvt_fp4_to_halfraw(data[n / 2] >> n % 2 * 4 & 15, __NV_E2M1))) : number(data[n]);
  }
  double factor(int line, int i) const
  {
    const unsigned char v = factors[(size_t)line * per_line + i / BLOCK];
    if (!FP4) return v == 255 ? NAN : ldexp(1, v - 127);
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(v & 0x7f, __NV_E4M3)));
  }
};
