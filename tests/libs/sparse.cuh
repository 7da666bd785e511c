// What the programs on libcusparse share: random matrices by coordinates, and descriptors of them in three formats.
#pragma once
#include <cusparse.h>

#include <complex>
#include <cstdio>
#include <vector>

#include "checks.cuh"

static unsigned state = 7;
static unsigned next()
{
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}
static double real_number() { return (int)(next() % 2001) / 500.0 - 2; }

typedef std::complex<double> number;
template <typename T> struct type;
template <> struct type<float> {
  static constexpr cudaDataType data = CUDA_R_32F;
  static constexpr double eps = 0x1p-23;
  static float make() { return (float)real_number(); }
};
template <> struct type<double> {
  static constexpr cudaDataType data = CUDA_R_64F;
  static constexpr double eps = 0x1p-52;
  static double make() { return real_number(); }
};
template <> struct type<std::complex<float>> {
  static constexpr cudaDataType data = CUDA_C_32F;
  static constexpr double eps = 0x1p-22;
  static std::complex<float> make() { return {(float)real_number(), (float)real_number()}; }
};
template <> struct type<std::complex<double>> {
  static constexpr cudaDataType data = CUDA_C_64F;
  static constexpr double eps = 0x1p-51;
  static std::complex<double> make() { return {real_number(), real_number()}; }
};

// A matrix by coordinates in the order of its rows; some rows are empty, one is full.
template <typename T> struct matrix {
  int rows, cols;
  std::vector<int> row, column;
  std::vector<T> values;
  matrix(int m, int n) : rows(m), cols(n)
  {
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        if (i % 5 != 3 && (i == 1 || next() % 6 == 0)) row.push_back(i), column.push_back(j), values.push_back(type<T>::make());
  }
  matrix turned() const
  {
    matrix t(0, 0);
    t.rows = cols, t.cols = rows;
    for (int j = 0; j < cols; j++)
      for (size_t k = 0; k < row.size(); k++)
        if (column[k] == j) t.row.push_back(j), t.column.push_back(row[k]), t.values.push_back(values[k]);
    return t;
  }
  template <typename I> std::vector<I> offsets(int base) const
  {
    std::vector<I> o(rows + 1, (I)base);
    for (int r : row)
      for (int i = r + 1; i <= rows; i++) o[i]++;
    return o;
  }
};

template <typename I> static std::vector<I> based(const std::vector<int> &v, int base)
{
  std::vector<I> r;
  for (int x : v) r.push_back((I)(x + base));
  return r;
}

template <typename T, typename I> static cusparseSpMatDescr_t describe(const matrix<T> &a, int format, int base)
{
  const cusparseIndexType_t index = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  const cusparseIndexBase_t b = base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  cusparseSpMatDescr_t d = nullptr;
  const matrix<T> t = format == CUSPARSE_FORMAT_CSC ? a.turned() : a;
  I *offsets = device(t.template offsets<I>(base)), *row = device(based<I>(t.row, base)), *column = device(based<I>(t.column, base));
  T *values = device(t.values);
  const int64_t nnz = (int64_t)a.row.size();
  cusparseStatus_t s;
  if (format == CUSPARSE_FORMAT_COO) s = cusparseCreateCoo(&d, a.rows, a.cols, nnz, row, column, values, index, b, type<T>::data);
  else if (format == CUSPARSE_FORMAT_CSR) s = cusparseCreateCsr(&d, a.rows, a.cols, nnz, offsets, column, values, index, index, b, type<T>::data);
  else s = cusparseCreateCsc(&d, a.rows, a.cols, nnz, offsets, column, values, index, index, b, type<T>::data);
  check(s == CUSPARSE_STATUS_SUCCESS, "a descriptor");
  return d;
}

static number maybe_conj(number v, int op) { return op == 2 ? std::conj(v) : v; }

template <typename T> static bool near(T got, number want, double size, double terms)
{
  return std::abs(number(got) - want) <= (terms + 2) * type<T>::eps * (size + std::abs(want));
}
