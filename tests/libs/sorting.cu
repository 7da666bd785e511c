// libcusparse: coordinates, compressed rows and columns sorted, and sums of matrices with compressed rows, against std::stable_sort
// and a map on the host. Orders are exact; an element of a sum is two products and may be wrong by three eps of their sizes.
#include <algorithm>
#include <map>
#include <numeric>

#include "sparse.cuh"

struct places {
  int m, n;
  std::vector<int> row, column;
  // With some places twice, which must keep their order.
  places(int m, int n, int nnz) : m(m), n(n)
  {
    for (int k = 0; k < nnz; k++) {
      row.push_back(next() % m), column.push_back(next() % n);
      if (k && next() % 7 == 0) row[k] = row[k - 1], column[k] = column[k - 1];
    }
  }
};

static std::vector<int> order_of(const std::vector<int> &major, const std::vector<int> &minor)
{
  std::vector<int> p(major.size());
  std::iota(p.begin(), p.end(), 0);
  std::stable_sort(p.begin(), p.end(), [&](int a, int b) {
    return major[a] != major[b] ? major[a] < major[b] : minor[a] < minor[b];
  });
  return p;
}

static std::vector<int> by(const std::vector<int> &p, const std::vector<int> &v)
{
  std::vector<int> r;
  for (int k : p) r.push_back(v[k]);
  return r;
}

static void coordinates(cusparseHandle_t h, int m, int n, int nnz, bool columns, int numbers)
{
  const places x(m, n, nnz);
  const std::vector<int> p = columns ? order_of(x.column, x.row) : order_of(x.row, x.column);
  std::vector<int> given(nnz);
  for (int k = 0; k < nnz; k++) given[k] = numbers == 1 ? k : 1000 + 3 * k;
  int *row = device(x.row), *column = device(x.column), *dp = numbers ? device(given) : NULL;
  size_t bytes = 0;
  char what[100];
  bool right = !cusparseXcoosort_bufferSizeExt(h, m, n, nnz, row, column, &bytes);
  char *room = device(std::vector<char>(bytes));
  if (numbers == 1) right = right && !cusparseCreateIdentityPermutation(h, nnz, dp);
  right = right && !(columns ? cusparseXcoosortByColumn : cusparseXcoosortByRow)(h, m, n, nnz, row, column, dp, room);
  right = right && host(row, nnz) == by(p, x.row) && host(column, nnz) == by(p, x.column);
  if (numbers) right = right && host(dp, nnz) == by(p, given);
  snprintf(what, sizeof what, "Xcoosort %d x %d, %d, by %s, numbers %d", m, n, nnz, columns ? "columns" : "rows", numbers);
  check(right, what);
}

// Lines that are there, each with its elements in any order; some are empty.
static void compressed(cusparseHandle_t h, bool columns, int base, int nnz)
{
  const int m = 37, n = 211, lines = columns ? n : m;
  const places x(m, n, nnz);
  const std::vector<int> &line = columns ? x.column : x.row, &other = columns ? x.row : x.column;
  std::vector<int> offsets(lines + 1, base), inside, of;
  for (int l = 0; l < lines; l++) {
    for (int k = 0; k < nnz; k++)
      if (line[k] == l) inside.push_back(other[k] + base), of.push_back(l);
    offsets[l + 1] = base + (int)inside.size();
  }
  const std::vector<int> p = order_of(of, inside);
  std::vector<int> numbers(nnz);
  std::iota(numbers.begin(), numbers.end(), 0);
  int *o = device(offsets), *i = device(inside), *dp = device(numbers);
  cusparseMatDescr_t d;
  size_t bytes = 0;
  char what[100];
  bool right = !cusparseCreateMatDescr(&d) && !cusparseSetMatIndexBase(d, (cusparseIndexBase_t)base);
  right = right && !(columns ? cusparseXcscsort_bufferSizeExt : cusparseXcsrsort_bufferSizeExt)(h, m, n, nnz, o, i, &bytes);
  char *room = device(std::vector<char>(bytes));
  right = right && !(columns ? cusparseXcscsort : cusparseXcsrsort)(h, m, n, nnz, d, o, i, dp, room);
  snprintf(what, sizeof what, "%s of %d, base %d", columns ? "Xcscsort" : "Xcsrsort", nnz, base);
  check(right && host(i, nnz) == by(p, inside) && host(dp, nnz) == p, what);
  cusparseDestroyMatDescr(d);
}

// A matrix as csrgeam2 takes it.
template <typename T> struct by_rows {
  cusparseMatDescr_t d;
  int nnz, *offsets, *columns;
  T *values;
  by_rows(const matrix<T> &a, int base) : nnz((int)a.row.size())
  {
    std::vector<int> o(a.rows + 1, base), c;
    for (int k = 0; k < nnz; k++) o[a.row[k] + 1]++, c.push_back(a.column[k] + base);
    for (int i = 0; i < a.rows; i++) o[i + 1] += o[i] - base;
    offsets = device(o), columns = device(c), values = device(a.values);
    cusparseCreateMatDescr(&d);
    cusparseSetMatIndexBase(d, (cusparseIndexBase_t)base);
  }
};

#define GEAM(letter, T)                                                                                                        \
  static cusparseStatus_t room_of(cusparseHandle_t h, int m, int n, const T *alpha, const by_rows<T> &a, const T *beta,        \
                                  const by_rows<T> &b, const by_rows<T> &c, size_t *bytes)                                     \
  {                                                                                                                            \
    return cusparse##letter##csrgeam2_bufferSizeExt(h, m, n, (const cu##letter *)alpha, a.d, a.nnz, (cu##letter *)a.values,    \
                                                    a.offsets, a.columns, (const cu##letter *)beta, b.d, b.nnz,                \
                                                    (cu##letter *)b.values, b.offsets, b.columns, c.d,                         \
                                                    (cu##letter *)c.values, c.offsets, c.columns, bytes);                      \
  }                                                                                                                            \
  static cusparseStatus_t add(cusparseHandle_t h, int m, int n, const T *alpha, const by_rows<T> &a, const T *beta,            \
                              const by_rows<T> &b, const by_rows<T> &c, void *room)                                            \
  {                                                                                                                            \
    return cusparse##letter##csrgeam2(h, m, n, (const cu##letter *)alpha, a.d, a.nnz, (cu##letter *)a.values, a.offsets,       \
                                      a.columns, (const cu##letter *)beta, b.d, b.nnz, (cu##letter *)b.values, b.offsets,      \
                                      b.columns, c.d, (cu##letter *)c.values, c.offsets, c.columns, room);                     \
  }
typedef float cuS;
typedef double cuD;
typedef cuComplex cuC;
typedef cuDoubleComplex cuZ;
GEAM(S, float)
GEAM(D, double)
GEAM(C, std::complex<float>)
GEAM(Z, std::complex<double>)

template <typename T> static void sum(cusparseHandle_t h, int m, int n, int base, int base_c, bool on_device)
{
  const matrix<T> a(m, n), b(m, n);
  by_rows<T> da(a, base), db(b, 1 - base), dc(a, base_c);
  std::map<std::pair<int, int>, number> want, size;
  const T factor[2] = {type<T>::make(), type<T>::make()};
  for (size_t k = 0; k < a.row.size(); k++) {
    const number v = number(factor[0]) * number(a.values[k]);
    want[{a.row[k], a.column[k]}] += v, size[{a.row[k], a.column[k]}] += std::abs(v);
  }
  for (size_t k = 0; k < b.row.size(); k++) {
    const number v = number(factor[1]) * number(b.values[k]);
    want[{b.row[k], b.column[k]}] += v, size[{b.row[k], b.column[k]}] += std::abs(v);
  }
  const int nnz = (int)want.size();
  const T *scalars = on_device ? device(std::vector<T>(factor, factor + 2)) : factor;
  int *total = on_device ? device(std::vector<int>(1, -1)) : new int(-1);
  dc.offsets = device(std::vector<int>(m + 1, -1)), dc.columns = device(std::vector<int>(nnz)), dc.values = device(std::vector<T>(nnz));
  size_t bytes = 0;
  char what[100];
  bool right = !cusparseSetPointerMode(h, on_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST);
  right = right && !room_of(h, m, n, scalars, da, scalars + 1, db, dc, &bytes);
  char *room = device(std::vector<char>(bytes));
  right = right && !cusparseXcsrgeam2Nnz(h, m, n, da.d, da.nnz, da.offsets, da.columns, db.d, db.nnz, db.offsets, db.columns, dc.d,
                                         dc.offsets, total, room);
  right = right && (on_device ? host(total, 1)[0] : *total) == nnz;
  right = right && !add(h, m, n, scalars, da, scalars + 1, db, dc, room);
  const std::vector<int> offsets = host(dc.offsets, m + 1), columns = host(dc.columns, nnz);
  const std::vector<T> values = host(dc.values, nnz);
  int k = 0, row = 0;
  for (auto &w : want) { // by rows, then columns
    for (; row <= w.first.first; row++) right = right && offsets[row] == k + base_c;
    right = right && columns[k] == w.first.second + base_c && near(values[k], w.second, size[w.first].real(), 3);
    k++;
  }
  for (; row <= m; row++) right = right && offsets[row] == nnz + base_c;
  snprintf(what, sizeof what, "csrgeam2 of type %d, %d x %d, bases %d %d, scalars %s", type<T>::data, m, n, base, base_c, on_device ? "there" : "here");
  check(right, what);
  cusparseSetPointerMode(h, CUSPARSE_POINTER_MODE_HOST);
}

template <typename T> static void sums(cusparseHandle_t h)
{
  for (int base = 0; base < 2; base++)
    for (int base_c = 0; base_c < 2; base_c++)
      for (int on_device = 0; on_device < 2; on_device++) sum<T>(h, 61, 83, base, base_c, on_device);
  sum<T>(h, 4, 1, 0, 0, false);
}

int main()
{
  cusparseHandle_t h;
  if (cusparseCreate(&h)) return 1;
  const int counts[] = {0, 1, 2, 63, 1000, 3001};
  for (int nnz : counts)
    for (int columns = 0; columns < 2; columns++) {
      for (int numbers = 0; numbers < 3; numbers++) coordinates(h, 97, 41, nnz, columns, numbers);
      for (int base = 0; base < 2; base++) compressed(h, columns, base, nnz);
    }
  sums<float>(h);
  sums<double>(h);
  sums<std::complex<float>>(h);
  sums<std::complex<double>>(h);
  size_t bytes;
  check(cusparseXcoosort_bufferSizeExt(h, -1, 1, 1, NULL, NULL, &bytes) == CUSPARSE_STATUS_INVALID_VALUE, "rows below 0");
  check(cusparseXcoosortByRow(h, 1, 1, 1, NULL, NULL, NULL, NULL) == CUSPARSE_STATUS_INVALID_VALUE, "no coordinates");
  cusparseDestroy(h);
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
