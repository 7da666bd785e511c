// Numbers, real and complex alike, as the kernels on dense matrices handle them, and sums over a warp.
#pragma once
#include "elements.cuh"

template <typename R> __device__ inline R size_of(R v) { return v < 0 ? -v : v; }
template <typename R> __device__ inline R size_of(complex_of<R> v) { return size_of(v.x) + size_of(v.y); }
template <typename R> __device__ inline R square(R v) { return v * v; }
template <typename R> __device__ inline R square(complex_of<R> v) { return v.x * v.x + v.y * v.y; }
template <typename R> __device__ inline R real(R v) { return v; }
template <typename R> __device__ inline R real(complex_of<R> v) { return v.x; }
template <typename R> __device__ inline R imaginary(R) { return 0; }
template <typename R> __device__ inline R imaginary(complex_of<R> v) { return v.y; }
template <typename T> __device__ inline T number(typename traits<T>::real x, typename traits<T>::real y)
{
  if constexpr (traits<T>::complex) return {x, y};
  else return x;
}
template <typename R> __device__ inline R down(R v, int by) { return __shfl_down_sync(~0u, v, by); }
template <typename R> __device__ inline complex_of<R> down(complex_of<R> v, int by) { return {down(v.x, by), down(v.y, by)}; }
template <typename R> __device__ inline R first(R v) { return __shfl_sync(~0u, v, 0); }
template <typename R> __device__ inline complex_of<R> first(complex_of<R> v) { return {first(v.x), first(v.y)}; }
template <typename T> __device__ inline T over_warp(T v)
{
  for (int by = 16; by; by /= 2) v = v + down(v, by);
  return first(v);
}
