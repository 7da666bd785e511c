// libcusparse: incomplete factors. In every place of the matrix the product of the factors is the matrix (that is what
// makes them), with sums of the host in binary64; other places are not there, and what Cholesky does not own stays.
#include <cstring>

#include "sparse.cuh"

static float conjugate(float v) { return v; }
static double conjugate(double v) { return v; }
template <typename R> static std::complex<R> conjugate(std::complex<R> v) { return std::conj(v); }

// Rows that are dominated by their diagonals, each with places of its own; Hermitian ones where asked. With a border the
// places are its first rows, its first columns and the diagonal: all rows behind it can be made at once.
template <typename T> static matrix<T> dominated(int n, bool hermitian, int border)
{
  std::vector<T> dense(n * n, T(0));
  std::vector<char> there(n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (hermitian && j > i) continue;
      if (i != j && (border ? i >= border && j >= border : next() % 6 != 0)) continue;
      T v = type<T>::make();
      if (i == j) v = T(std::abs(number(v)) + 12);
      dense[i * n + j] = v, there[i * n + j] = 1;
      if (hermitian) dense[j * n + i] = conjugate(v), there[j * n + i] = 1;
    }
  matrix<T> a(0, 0);
  a.rows = a.cols = n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (there[i * n + j]) a.row.push_back(i), a.column.push_back(j), a.values.push_back(dense[i * n + j]);
  return a;
}

// The functions of the four types.
template <typename T> struct calls;
#define CALLS(T, C, l)                                                                                                    \
  template <> struct calls<T> {                                                                                           \
    static constexpr auto lu_size = cusparse##l##csrilu02_bufferSize;                                                     \
    static constexpr auto lu_analysis = cusparse##l##csrilu02_analysis;                                                   \
    static constexpr auto lu = cusparse##l##csrilu02;                                                                     \
    static constexpr auto boost = cusparse##l##csrilu02_numericBoost;                                                     \
    static constexpr auto ic_size = cusparse##l##csric02_bufferSize;                                                      \
    static constexpr auto ic_analysis = cusparse##l##csric02_analysis;                                                    \
    static constexpr auto ic = cusparse##l##csric02;                                                                      \
    typedef C value;                                                                                                      \
  };
CALLS(float, float, S)
CALLS(double, double, D)
CALLS(std::complex<float>, cuComplex, C)
CALLS(std::complex<double>, cuDoubleComplex, Z)

enum { LU, CHOLESKY };

struct said {
  cusparseStatus_t after_analysis, after;
  int structural, numerical;
};

// Factors in place; what zeroPivot says after the analysis and at the end.
template <typename T> static said factors(cusparseHandle_t h, int what, const matrix<T> &a, int base, std::vector<T> &out, bool boosted)
{
  typedef typename calls<T>::value V;
  const int n = a.rows, nnz = (int)a.row.size();
  int *offsets = device(a.template offsets<int>(base)), *columns = device(based<int>(a.column, base)), bytes = 0;
  V *values = (V *)device(a.values);
  cusparseMatDescr_t d;
  csrilu02Info_t lu;
  csric02Info_t ic;
  const auto policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  said s = {CUSPARSE_STATUS_SUCCESS, CUSPARSE_STATUS_SUCCESS, -7, -7};
  bool right = !cusparseCreateMatDescr(&d) && !cusparseSetMatIndexBase(d, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO);
  right = right && !cusparseCreateCsrilu02Info(&lu) && !cusparseCreateCsric02Info(&ic);
#define MATRIX h, n, nnz, d, values, offsets, columns
  if (what == LU) {
    right = right && !calls<T>::lu_size(MATRIX, lu, &bytes);
    void *room = device(std::vector<char>(bytes));
    right = right && calls<T>::lu(MATRIX, lu, policy, room) == CUSPARSE_STATUS_INVALID_VALUE; // not analysed
    right = right && !calls<T>::lu_analysis(MATRIX, lu, policy, room);
    s.after_analysis = cusparseXcsrilu02_zeroPivot(h, lu, &s.structural);
    double tol = 1e-3;
    T value = T(5);
    if (boosted) right = right && !calls<T>::boost(h, lu, 1, &tol, (V *)&value);
    cudaMemset(room, 0xff, bytes); // the buffer is the program's between the calls
    right = right && !calls<T>::lu(MATRIX, lu, policy, room);
    s.after = cusparseXcsrilu02_zeroPivot(h, lu, &s.numerical);
  } else {
    right = right && !calls<T>::ic_size(MATRIX, ic, &bytes);
    void *room = device(std::vector<char>(bytes));
    right = right && !calls<T>::ic_analysis(MATRIX, ic, policy, room);
    s.after_analysis = cusparseXcsric02_zeroPivot(h, ic, &s.structural);
    right = right && !calls<T>::ic(MATRIX, ic, policy, room);
    s.after = cusparseXcsric02_zeroPivot(h, ic, &s.numerical);
  }
  out = host((T *)values, nnz);
  right = right && !cusparseDestroyCsrilu02Info(lu) && !cusparseDestroyCsric02Info(ic) && !cusparseDestroyMatDescr(d);
  check(right, "the calls");
  return s;
}

// Sums over k of the factors' elements, in binary64, beside each element of the matrix.
template <typename T> static bool multiply_to(const matrix<T> &a, const std::vector<T> &f, int what)
{
  const int n = a.rows;
  std::vector<number> left(n * n), up(n * n);
  for (size_t e = 0; e < f.size(); e++) {
    const int i = a.row[e], j = a.column[e];
    const number v = f[e];
    if (what == CHOLESKY) {
      if (j <= i) left[i * n + j] = v, up[j * n + i] = std::conj(v);
    } else {
      (j < i ? left : up)[i * n + j] = v;
    }
  }
  if (what == LU)
    for (int i = 0; i < n; i++) left[i * n + i] = 1;
  for (size_t e = 0; e < f.size(); e++) {
    const int i = a.row[e], j = a.column[e];
    if (what == CHOLESKY && j > i) {
      if (memcmp(&f[e], &a.values[e], sizeof(T))) return false; // not looked at, not written
      continue;
    }
    number sum = 0;
    double size = 0;
    int terms = 0;
    for (int k = 0; k < n; k++) {
      const number v = left[i * n + k] * up[k * n + j];
      sum += v, size += std::abs(v), terms += v != number(0);
    }
    if (std::abs(sum - number(a.values[e])) > (terms + 4) * type<T>::eps * size) return false;
  }
  return true;
}

template <typename T> static void factor_case(cusparseHandle_t h, int what, int n, int base, int border = 0)
{
  const matrix<T> a = dominated<T>(n, what == CHOLESKY, border);
  std::vector<T> f;
  const said s = factors(h, what, a, base, f, false);
  char text[100];
  snprintf(text, sizeof text, "%s of type %d, %d rows, border %d, base %d", what == LU ? "LU" : "Cholesky", type<T>::data, n, border, base);
  check(!s.after_analysis && !s.after && s.structural == -1 && s.numerical == -1 && multiply_to(a, f, what), text);
}

// A row without a diagonal, and a pivot that comes to 0: the first of them, counted from the base.
template <typename T> static void pivot_cases(cusparseHandle_t h, int what, int base)
{
  matrix<T> a(0, 0);
  a.rows = a.cols = 5;
  const auto put = [&](int i, int j, double v) { a.row.push_back(i), a.column.push_back(j), a.values.push_back(T(v)); };
  put(0, 0, 4), put(0, 2, 2), put(1, 1, 1), put(2, 0, 2), put(2, 2, 1), put(3, 3, 3), put(4, 2, 0), put(4, 4, 1);
  std::vector<T> f;
  said s = factors(h, what, a, base, f, false); // row 2: 1 - 2 * 2 / 4
  check(!s.after_analysis && s.structural == -1 && s.after == CUSPARSE_STATUS_ZERO_PIVOT && s.numerical == 2 + base, "a pivot of 0");
  if (what == LU) {
    s = factors(h, what, a, base, f, true);
    check(!s.after && s.numerical == -1 && f[4] == T(5) && f[3] == T(0.5), "a pivot of 0 that is replaced");
  }
  a.column[5] = 4; // row 3 has no diagonal
  s = factors(h, what, a, base, f, false);
  check(s.after_analysis == CUSPARSE_STATUS_ZERO_PIVOT && s.structural == 3 + base, "no diagonal");
  check(s.after == CUSPARSE_STATUS_ZERO_PIVOT && s.numerical == 2 + base, "the first of two");
}

template <typename T> static void all(cusparseHandle_t h)
{
  for (int what : {LU, CHOLESKY})
    for (int base = 0; base < 2; base++) {
      factor_case<T>(h, what, 1, base), factor_case<T>(h, what, 20, base), factor_case<T>(h, what, 90, base);
      factor_case<T>(h, what, 140, base);      // a warp for each row
      factor_case<T>(h, what, 120, base, 10);  // 110 such rows in several CTAs
      factor_case<T>(h, what, 1300, base, 1);  // 1,299 rows of a thread each, too
      pivot_cases<T>(h, what, base);
    }
}

int main()
{
  cusparseHandle_t h;
  if (cusparseCreate(&h)) return 1;
  all<float>(h), all<double>(h), all<std::complex<float>>(h), all<std::complex<double>>(h);
  csrilu02Info_t info;
  int position = 5, *there = device(std::vector<int>(1, 9));
  check(!cusparseCreateCsrilu02Info(&info) && cusparseXcsric02_zeroPivot(h, (csric02Info_t)info, &position) == CUSPARSE_STATUS_INVALID_VALUE,
        "a plan of the other kind");
  cusparseSetPointerMode(h, CUSPARSE_POINTER_MODE_DEVICE);
  check(!cusparseXcsrilu02_zeroPivot(h, info, there) && host(there, 1)[0] == -1, "a number on the device");
  check(cusparseDestroy(h) == CUSPARSE_STATUS_SUCCESS, "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
