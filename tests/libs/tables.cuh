// What programs that test dense matrices share: matrices on the host in binary64, on the device in the type that is tested, and the
// bound of what may be between them.
#pragma once
#include <cuComplex.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <type_traits>
#include <vector>

#include "checks.cuh"

static unsigned state = 3;
static double next()
{
  state = state * 1664525u + 1013904223u;
  return (double)(int)(state >> 8) / (1 << 23) - 1;
}

typedef std::complex<double> number;
typedef std::complex<float> c32;
typedef std::complex<double> c64;

// A matrix on the host in binary64.
struct table {
  int m, n;
  std::vector<number> v;
  table(int rows, int cols) : m(rows), n(cols), v((size_t)rows * cols) {}
  number &at(int i, int j) { return v[(size_t)j * m + i]; }
  const number &at(int i, int j) const { return v[(size_t)j * m + i]; }
  double norm() const
  {
    double s = 0;
    for (number x : v) s += std::norm(x);
    return sqrt(s);
  }
  table op(int o) const // 0: as it is, 1: transposed, 2: conjugate transposed
  {
    if (!o) return *this;
    table t(n, m);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) t.at(j, i) = o == 2 ? std::conj(at(i, j)) : at(i, j);
    return t;
  }
};
static table operator*(const table &a, const table &b)
{
  table c(a.m, b.n);
  for (int j = 0; j < b.n; j++)
    for (int k = 0; k < a.n; k++)
      for (int i = 0; i < a.m; i++) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}
static double distance(const table &a, const table &b)
{
  table d = a;
  for (size_t i = 0; i < d.v.size(); i++) d.v[i] -= b.v[i];
  return d.norm();
}

// How the toolkit's headers name a type, and what it rounds by (complex products: twice).
template <typename T> struct native;
#define NATIVE(T, N, e)                   \
  template <> struct native<T> {          \
    typedef N nv;                         \
    static constexpr double eps = e;      \
  };
NATIVE(float, float, 0x1p-23)
NATIVE(double, double, 0x1p-52)
NATIVE(c32, cuComplex, 0x1p-22)
NATIVE(c64, cuDoubleComplex, 0x1p-51)

template <typename T> static T made() { return (T)next(); }
template <> c32 made() { return {(float)next(), (float)next()}; }
template <> c64 made() { return {next(), next()}; }

// Numbers with `gap` rows more below each column, and as a table.
template <typename T> struct matrix {
  int m, n, ld;
  std::vector<T> v;
  typename native<T>::nv *at = nullptr;
  matrix(int rows, int cols, int gap = 3) : m(rows), n(cols), ld(rows + gap), v((size_t)(rows + gap) * cols)
  {
    for (T &x : v) x = made<T>();
  }
  void up() { at = (typename native<T>::nv *)device(v); }
  void back() { v = host((T *)at, v.size()); }
  table get() const
  {
    table t(m, n);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) t.at(i, j) = number(v[(size_t)j * ld + i]);
    return t;
  }
};

static int info_of(int *info) { return host(info, 1)[0]; }
static bool below(double off, int n, double eps, double norm) { return off <= 8 * n * eps * norm; }
