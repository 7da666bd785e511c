// What the programs about libcudnn share: numbers that every type holds, tensors on both sides, comparisons.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cudnn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef std::vector<double> numbers;
static int failures, cases;
static cudnnHandle_t handle;

#define CHECK(call)                                                                             \
  do {                                                                                          \
    const cudnnStatus_t s_ = (call);                                                            \
    if (s_ != CUDNN_STATUS_SUCCESS) {                                                           \
      printf("wrong: line %d: %s: %s\n", __LINE__, #call, cudnnGetErrorString(s_));             \
      failures++;                                                                               \
    }                                                                                           \
  } while (0)

static unsigned state = 12345;
static double number()
{
  state = state * 1664525u + 1013904223u;
  return (int)(state >> 16 & 31) / 8.0 - 2; // exact in all types
}
static numbers random_numbers(size_t n, double scale = 1)
{
  numbers v(n);
  for (double &x : v) x = number() * scale;
  return v;
}

struct buffer { // on the device, of one cudnn type
  cudnnDataType_t type;
  size_t n;
  void *at = nullptr;
  size_t bytes() const { return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2; }
  buffer(cudnnDataType_t t, const numbers &v) : type(t), n(v.size())
  {
    std::vector<char> host(n * 8 + 8);
    for (size_t i = 0; i < n; i++) {
      if (t == CUDNN_DATA_DOUBLE) ((double *)host.data())[i] = v[i];
      else if (t == CUDNN_DATA_FLOAT) ((float *)host.data())[i] = (float)v[i];
      else if (t == CUDNN_DATA_HALF) ((__half *)host.data())[i] = __half((float)v[i]);
      else ((__nv_bfloat16 *)host.data())[i] = __nv_bfloat16((float)v[i]);
    }
    cudaMalloc(&at, n * bytes() + 16);
    cudaMemcpy(at, host.data(), n * bytes(), cudaMemcpyHostToDevice);
  }
  buffer(const buffer &) = delete;
  ~buffer() { cudaFree(at); }
  numbers get() const
  {
    std::vector<char> host(n * 8 + 8);
    numbers v(n);
    cudaMemcpy(host.data(), at, n * bytes(), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; i++)
      v[i] = type == CUDNN_DATA_DOUBLE  ? ((double *)host.data())[i]
             : type == CUDNN_DATA_FLOAT ? ((float *)host.data())[i]
             : type == CUDNN_DATA_HALF  ? __half2float(((__half *)host.data())[i])
                                        : __bfloat162float(((__nv_bfloat16 *)host.data())[i]);
    return v;
  }
};

static double limit_of(cudnnDataType_t t)
{
  return t == CUDNN_DATA_DOUBLE ? 1e-12 : t == CUDNN_DATA_FLOAT ? 1e-5 : t == CUDNN_DATA_HALF ? 2e-3 : 1e-2;
}

static void same(const std::string &what, const numbers &got, const numbers &want, double limit)
{
  double most = 1e-9, off = 0;
  cases++;
  for (double v : want) most = fmax(most, fabs(v));
  for (size_t i = 0; i < want.size(); i++) off = fmax(off, std::isfinite(got[i]) ? fabs(got[i] - want[i]) : INFINITY);
  if (got.size() == want.size() && off <= limit * most) return;
  failures++;
  printf("wrong: %s: off by %g of %g\n", what.c_str(), off, most);
}

// Three dimensions of space; `last`: channels are the fastest.
struct shape {
  int n, c, s[3];
  bool last;
  size_t count() const { return (size_t)n * c * s[0] * s[1] * s[2]; }
  size_t at(int i, int ch, int z, int y, int x) const
  {
    const size_t place = ((size_t)z * s[1] + y) * s[2] + x, all = (size_t)s[0] * s[1] * s[2];
    return last ? (i * all + place) * c + ch : ((size_t)i * c + ch) * all + place;
  }
};

struct tensor {
  cudnnTensorDescriptor_t d;
  tensor(cudnnDataType_t t, const shape &s, int dims)
  {
    const int all[5] = {s.n, s.c, s.s[0], s.s[1], s.s[2]}, two[4] = {s.n, s.c, s.s[1], s.s[2]};
    cudnnCreateTensorDescriptor(&d);
    CHECK(cudnnSetTensorNdDescriptorEx(d, s.last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, t, dims, dims == 5 ? all : two));
  }
  ~tensor() { cudnnDestroyTensorDescriptor(d); }
};

struct scale { // alpha or beta in the type that a call takes
  float f;
  double d;
  bool twice;
  scale(cudnnDataType_t t, double v) : f((float)v), d(v), twice(t == CUDNN_DATA_DOUBLE) {}
  const void *at() const { return twice ? (const void *)&d : &f; }
};
