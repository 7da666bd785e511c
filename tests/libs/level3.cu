// Level 3 of libcublas for matrices of which one half counts, of all types: symm, hemm, trmm, syrk, syrkx, syr2k, herk, herkx, her2k
// against the definition in binary64. What must not be read is not a number, what must not be written stays as it was to the bit.
#include "products.cuh"

static const double not_a_number = NAN;

// How a type's functions are called: factors and matrices of T.
template <typename T> struct functions;
#define REAL(L, T)                                                                                                          \
  template <> struct functions<T> {                                                                                         \
    static constexpr auto symm = cublas##L##symm_v2, symm_hermitian = cublas##L##symm_v2;                                   \
    static constexpr auto trmm = cublas##L##trmm_v2;                                                                        \
    static constexpr auto syrk = cublas##L##syrk_v2, herk = cublas##L##syrk_v2;                                             \
    static constexpr auto syr2k = cublas##L##syr2k_v2, her2k = cublas##L##syr2k_v2;                                         \
    static constexpr auto syrkx = cublas##L##syrkx, herkx = cublas##L##syrkx;                                               \
    static constexpr auto syrk_64 = cublas##L##syrk_v2_64;                                                                  \
    static constexpr auto trmm_64 = cublas##L##trmm_v2_64;                                                                  \
    static constexpr auto symm_64 = cublas##L##symm_v2_64;                                                                  \
    static constexpr auto syr2k_64 = cublas##L##syr2k_v2_64;                                                                \
    static constexpr bool complex = false;                                                                                  \
    typedef T pointed;                                                                                                      \
    typedef T real;                                                                                                         \
  };
#define COMPLEX(L, R, P)                                                                                                    \
  template <> struct functions<std::complex<R>> {                                                                           \
    static constexpr auto symm = cublas##L##symm_v2, symm_hermitian = cublas##L##hemm_v2;                                   \
    static constexpr auto trmm = cublas##L##trmm_v2;                                                                        \
    static constexpr auto syrk = cublas##L##syrk_v2;                                                                        \
    static constexpr auto herk = cublas##L##herk_v2;                                                                        \
    static constexpr auto syr2k = cublas##L##syr2k_v2;                                                                      \
    static constexpr auto her2k = cublas##L##her2k_v2;                                                                      \
    static constexpr auto syrkx = cublas##L##syrkx;                                                                         \
    static constexpr auto herkx = cublas##L##herkx;                                                                         \
    static constexpr auto syrk_64 = cublas##L##syrk_v2_64;                                                                  \
    static constexpr auto trmm_64 = cublas##L##trmm_v2_64;                                                                  \
    static constexpr auto symm_64 = cublas##L##symm_v2_64;                                                                  \
    static constexpr auto syr2k_64 = cublas##L##syr2k_v2_64;                                                                \
    static constexpr bool complex = true;                                                                                   \
    typedef P pointed;                                                                                                      \
    typedef R real;                                                                                                         \
  };
REAL(S, float)
REAL(D, double)
COMPLEX(C, float, cuComplex)
COMPLEX(Z, double, cuDoubleComplex)

template <typename T> static auto *pointed(T *p) { return (typename functions<T>::pointed *)p; }
template <typename T> static const typename functions<T>::pointed *pointed(const T *p) { return (const typename functions<T>::pointed *)p; }

template <typename T> static bool close(wide got, wide want, double scale)
{
  const double eps = sizeof(typename functions<T>::real) == 4 ? 1e-6 : 1e-14;
  return std::abs(got - want) <= eps * (scale + std::abs(want) + 1); // of what is not a number: no
}

// A matrix that is all NaN but for what `keeps` says is read.
template <typename T> struct half_matrix : matrix<T> {
  template <typename F> half_matrix(int rows, int cols, int ld, F keeps) : matrix<T>(rows, cols, ld, 1)
  {
    for (int c = 0; c < cols; c++)
      for (int r = 0; r < ld; r++)
        if (r >= rows || !keeps(r, c)) put(r, c, wide(not_a_number, functions<T>::complex ? not_a_number : 0));
    send();
  }
  void put(int r, int c, wide v) { this->host[(long long)c * this->ld + r] = as<T>::from(v); }
  void send() { cudaMemcpy(this->at, this->host.data(), this->host.size() * sizeof(T), cudaMemcpyHostToDevice); }
};

static bool everything(int, int) { return true; }
static bool stored(bool upper, int r, int c) { return r == c || (r < c) == upper; }

template <typename T> static T random_factor()
{
  return as<T>::from(wide(number() + 0.125, number()));
}

// A factor where the handle looks for it.
template <typename P> struct given {
  P value, *on_device = nullptr;
  given(cublasHandle_t h, P v) : value(v)
  {
    cublasPointerMode_t mode;
    cublasGetPointerMode(h, &mode);
    if (mode == CUBLAS_POINTER_MODE_HOST) return;
    cudaMalloc(&on_device, sizeof(P));
    cudaMemcpy(on_device, &value, sizeof(P), cudaMemcpyHostToDevice);
  }
  ~given() { cudaFree(on_device); }
  const P *at() const { return on_device ? on_device : &value; }
};

enum kind { TRIANGULAR, SYMMETRIC, HERMITIAN };

// Element (r, c) of the whole matrix whose half is A.
template <typename T> static wide whole(const matrix<T> &a, kind k, bool upper, bool unit, int r, int c)
{
  if (r == c) return unit ? 1 : k == HERMITIAN ? a.get(r, r, 0).real() : a.get(r, r, 0);
  if (stored(upper, r, c)) return a.get(r, c, 0);
  if (k == TRIANGULAR) return 0;
  return k == HERMITIAN ? std::conj(a.get(c, r, 0)) : a.get(c, r, 0);
}

struct half_case {
  kind k;
  bool left, upper, unit;
  cublasOperation_t op;
  bool in_place, beta_0, wide_sizes;
};

template <typename T> static std::vector<wide> whole_turned(const matrix<T> &a, const half_case &q, int n)
{
  std::vector<wide> v((size_t)n * n);
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++)
      v[(size_t)c * n + r] = q.op == CUBLAS_OP_N ? whole(a, q.k, q.upper, q.unit, r, c) : turn(q.op, whole(a, q.k, q.upper, q.unit, c, r));
  return v;
}

template <typename T> static cublasStatus_t call_half(cublasHandle_t h, const half_case &q, int m, int n, const T *alpha, const matrix<T> &a,
                                                      const matrix<T> &b, const T *beta, const matrix<T> &c)
{
  typedef functions<T> f;
  const cublasSideMode_t side = q.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const cublasFillMode_t fill = q.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const cublasDiagType_t unit = q.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  if (q.k == TRIANGULAR && q.wide_sizes)
    return f::trmm_64(h, side, fill, q.op, unit, m, n, pointed(alpha), pointed(a.at), a.ld, pointed(b.at), b.ld, pointed(c.at), c.ld);
  if (q.k == TRIANGULAR)
    return f::trmm(h, side, fill, q.op, unit, m, n, pointed(alpha), pointed(a.at), a.ld, pointed(b.at), b.ld, pointed(c.at), c.ld);
  if (q.k == SYMMETRIC && q.wide_sizes)
    return f::symm_64(h, side, fill, m, n, pointed(alpha), pointed(a.at), a.ld, pointed(b.at), b.ld, pointed(beta), pointed(c.at), c.ld);
  const auto symm = q.k == HERMITIAN ? f::symm_hermitian : f::symm;
  return symm(h, side, fill, m, n, pointed(alpha), pointed(a.at), a.ld, pointed(b.at), b.ld, pointed(beta), pointed(c.at), c.ld);
}

template <typename T> static void half_product(cublasHandle_t h, const half_case &q, int m, int n)
{
  const int size = q.left ? m : n;
  const half_matrix<T> a(size, size, size + 3, [&](int r, int c) { return stored(q.upper, r, c) && !(r == c && q.unit); });
  const half_matrix<T> b(m, n, m + 5, everything);
  half_matrix<T> own(m, n, m + 2, [&](int, int) { return q.k != TRIANGULAR && !q.beta_0; });
  matrix<T> &c = q.in_place ? (matrix<T> &)b : own;
  const std::vector<T> before = c.host;
  const given<T> alpha(h, random_factor<T>()), beta(h, q.beta_0 ? T(0) : random_factor<T>());
  const std::vector<wide> full = whole_turned(a, q, size), b_was = [&] {
    std::vector<wide> v((size_t)m * n);
    for (int i = 0; i < m * n; i++) v[i] = b.get(i % m, i / m, 0);
    return v;
  }();
  bool right = call_half<T>(h, q, m, n, alpha.at(), a, b, beta.at(), c) == CUBLAS_STATUS_SUCCESS;
  c.fetch();
  for (int col = 0; col < n; col++)
    for (int r = 0; r < c.ld; r++) {
      const size_t at = (size_t)col * c.ld + r;
      if (r >= m) {
        right = right && !memcmp(&c.host[at], &before[at], sizeof(T));
        continue;
      }
      wide s = 0;
      for (int i = 0; i < size; i++)
        s += q.left ? full[(size_t)i * m + r] * b_was[(size_t)col * m + i] : b_was[(size_t)i * m + r] * full[(size_t)col * n + i];
      s *= as<T>::to(alpha.value);
      if (q.k != TRIANGULAR && !q.beta_0) s += as<T>::to(beta.value) * as<T>::to(before[at]);
      right = right && close<T>(c.get(r, col, 0), s, 4 * size);
    }
  static const char *const names[] = {"trmm", "symm", "hemm"};
  char what[100];
  snprintf(what, sizeof what, "%s of %d bytes, %s, %s%s%s%s", names[q.k], (int)sizeof(T), q.left ? "left" : "right", q.upper ? "upper" : "lower",
           q.unit ? ", unit" : "", q.in_place ? ", in place" : "", q.beta_0 ? ", beta 0" : "");
  say(right, what, m, n, size, q.op, 0);
}

enum rank_kind { RANK, RANK_X, RANK_2 };
struct rank_case {
  rank_kind what;
  bool hermitian, upper;
  cublasOperation_t op;
  bool beta_0, wide_sizes;
};

// Factors of a Hermitian result: beta is real, and alpha, too, of a product with itself.
template <typename T> static cublasStatus_t call_rank(cublasHandle_t h, const rank_case &q, int n, int k, T alpha, const matrix<T> &a,
                                                      const matrix<T> &b, T beta, const matrix<T> &c)
{
  typedef functions<T> f;
  typedef typename f::real R;
  const given<T> full_alpha(h, alpha), full_beta(h, beta);
  const given<R> real_alpha(h, (R)as<T>::to(alpha).real()), real_beta(h, (R)as<T>::to(beta).real());
  const cublasFillMode_t fill = q.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const auto x = pointed(full_alpha.at()), y = pointed(full_beta.at());
  const auto pa = pointed(a.at), pb = pointed(b.at), pc = pointed(c.at);
  cublasStatus_t s;
  if (q.hermitian) {
    if (q.what == RANK) s = f::herk(h, fill, q.op, n, k, real_alpha.at(), pa, a.ld, real_beta.at(), pc, c.ld);
    else s = (q.what == RANK_X ? f::herkx : f::her2k)(h, fill, q.op, n, k, x, pa, a.ld, pb, b.ld, real_beta.at(), pc, c.ld);
  } else if (q.wide_sizes && q.what == RANK) s = f::syrk_64(h, fill, q.op, n, k, x, pa, a.ld, y, pc, c.ld);
  else if (q.wide_sizes && q.what == RANK_2) s = f::syr2k_64(h, fill, q.op, n, k, x, pa, a.ld, pb, b.ld, y, pc, c.ld);
  else if (q.what == RANK) s = f::syrk(h, fill, q.op, n, k, x, pa, a.ld, y, pc, c.ld);
  else s = (q.what == RANK_X ? f::syrkx : f::syr2k)(h, fill, q.op, n, k, x, pa, a.ld, pb, b.ld, y, pc, c.ld);
  cudaDeviceSynchronize();
  return s;
}

template <typename T> static void rank_product(cublasHandle_t h, const rank_case &q, int n, int k)
{
  const bool plain = q.op == CUBLAS_OP_N;
  const int rows = plain ? n : k, cols = plain ? k : n;
  const half_matrix<T> a(rows, cols, rows + 1, everything), other(rows, cols, rows + 4, everything);
  const matrix<T> &b = q.what == RANK ? (const matrix<T> &)a : other;
  half_matrix<T> c(n, n, n + 3, [&](int r, int col) { return !q.beta_0 && stored(q.upper, r, col); });
  const std::vector<T> before = c.host;
  const T full_alpha = random_factor<T>(), alpha = q.hermitian && q.what == RANK ? T(as<T>::to(full_alpha).real()) : full_alpha;
  const T beta = q.beta_0 ? T(0) : q.hermitian ? T(0.75) : random_factor<T>();
  const wide x = as<T>::to(alpha);
  bool right = call_rank<T>(h, q, n, k, alpha, a, b, beta, c) == CUBLAS_STATUS_SUCCESS;
  c.fetch();
  auto conj_if = [&](wide v) { return q.hermitian ? std::conj(v) : v; };
  auto row_of = [&](const matrix<T> &m, int r, int i) { return plain ? m.get(r, i, 0) : conj_if(m.get(i, r, 0)); };
  for (int col = 0; col < n; col++)
    for (int r = 0; r < c.ld; r++) {
      const size_t at = (size_t)col * c.ld + r;
      if (r >= n || !stored(q.upper, r, col)) {
        right = right && !memcmp(&c.host[at], &before[at], sizeof(T));
        continue;
      }
      wide s = 0, t = 0;
      for (int i = 0; i < k; i++) {
        s += row_of(a, r, i) * conj_if(row_of(b, col, i));
        t += row_of(b, r, i) * conj_if(row_of(a, col, i));
      }
      s = x * s + (q.what == RANK_2 ? conj_if(x) * t : 0);
      const wide was = as<T>::to(before[at]);
      if (!q.beta_0) s += as<T>::to(beta) * (q.hermitian && r == col ? wide(was.real()) : was);
      if (q.hermitian && r == col) s = s.real(), right = right && c.get(r, r, 0).imag() == 0;
      right = right && close<T>(c.get(r, col, 0), s, 8 * k);
    }
  static const char *const names[] = {"rk", "rkx", "r2k"};
  char what[100];
  snprintf(what, sizeof what, "%s%s of %d bytes, %s%s", q.hermitian ? "he" : "sy", names[q.what], (int)sizeof(T), q.upper ? "upper" : "lower",
           q.beta_0 ? ", beta 0" : "");
  say(right, what, n, n, k, q.op, 0);
}

template <typename T> static void halves(cublasHandle_t h, int m, int n)
{
  const bool complex = functions<T>::complex;
  unsigned turn_of = (unsigned)(m + n);
  for (int v = 0; v < 4; v++) {
    half_case q = {SYMMETRIC, (v & 1) != 0, (v & 2) != 0, false, CUBLAS_OP_N, false, false, (turn_of++ & 1) != 0};
    for (int beta_0 = 0; beta_0 < 2; beta_0++) {
      q.beta_0 = beta_0;
      q.k = SYMMETRIC, half_product<T>(h, q, m, n);
      if (complex) q.k = HERMITIAN, half_product<T>(h, q, m, n);
    }
    q.k = TRIANGULAR, q.beta_0 = false;
    for (int op = 0; op < 3; op++)
      for (int w = 0; w < 4; w++) {
        q.op = (cublasOperation_t)op, q.unit = w & 1, q.in_place = w & 2;
        half_product<T>(h, q, m, n);
      }
  }
}

template <typename T> static void ranks(cublasHandle_t h, int n, int k)
{
  for (int v = 0; v < 8; v++)
    for (int what = RANK; what <= RANK_2; what++) {
      rank_case q = {(rank_kind)what, false, (v & 1) != 0, v & 2 ? CUBLAS_OP_T : CUBLAS_OP_N, (v & 4) != 0, (n & 1) != 0};
      rank_product<T>(h, q, n, k);
      if (!functions<T>::complex) continue;
      q.hermitian = true;
      if (q.op == CUBLAS_OP_T) q.op = CUBLAS_OP_C;
      rank_product<T>(h, q, n, k);
    }
}

template <typename T> static void all_of(cublasHandle_t h)
{
  static const int sizes[][2] = {{1, 1}, {31, 33}, {33, 31}, {130, 7}, {9, 130}};
  for (const auto &s : sizes) halves<T>(h, s[0], s[1]), ranks<T>(h, s[0], s[1]);
  ranks<T>(h, 130, 9);
  ranks<T>(h, 5, 0);
  // Several blocks, the last cut off: one operation of each.
  for (int v = 0; v < 8; v++) {
    const bool left = v & 1, upper = v & 2;
    const cublasOperation_t op = v & 4 ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int m = left ? 300 + 257 * (v == 1) : 11, n = left ? 11 : 300;
    half_product<T>(h, {TRIANGULAR, left, upper, false, op, true, false, false}, m, n);
    half_product<T>(h, {SYMMETRIC, left, upper, false, CUBLAS_OP_N, false, false, false}, m, n);
    if (functions<T>::complex) half_product<T>(h, {HERMITIAN, left, upper, false, CUBLAS_OP_N, false, false, false}, m, n);
    rank_product<T>(h, {(rank_kind)(v % 3), false, upper, op, false, false}, m > n ? m : n, 10);
    if (functions<T>::complex)
      rank_product<T>(h, {(rank_kind)(v % 3), true, upper, op == CUBLAS_OP_N ? op : CUBLAS_OP_C, false, false}, m > n ? m : n, 10);
  }
}

// Factors on the device, of each function once.
template <typename T> static void with_factors_on_device(cublasHandle_t h)
{
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  half_product<T>(h, {TRIANGULAR, true, true, false, CUBLAS_OP_T, true, false, false}, 140, 5);
  half_product<T>(h, {SYMMETRIC, false, false, false, CUBLAS_OP_N, false, true, false}, 6, 140);
  for (int what = RANK; what <= RANK_2; what++)
    for (int hermitian = 0; hermitian <= functions<T>::complex; hermitian++)
      rank_product<T>(h, {(rank_kind)what, hermitian != 0, false, CUBLAS_OP_N, false, false}, 140, 5);
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
}

// In a graph, which runs twice, in a workspace of the program that is too small: what it makes is what a call makes.
static void in_a_graph(cublasHandle_t h)
{
  const int n = 200, k = 20, ld = 203;
  matrix<float> a(n, n, ld, 1), b(n, k, ld, 1), b2(n, k, ld, 1), c(n, n, ld, 1), c2(n, n, ld, 1);
  const float alpha = 0.5f, beta = 0.25f;
  b2.host = b.host, c2.host = c.host;
  cudaMemcpy(b2.at, b.host.data(), b.host.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(c2.at, c.host.data(), c.host.size() * sizeof(float), cudaMemcpyHostToDevice);
  auto work = [&](matrix<float> &x, matrix<float> &y) {
    bool ok = !cublasStrmm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, n, k, &alpha, a.at, ld, x.at,
                           ld, x.at, ld);
    return ok && !cublasSsyrk(h, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, n, k, &alpha, x.at, ld, &beta, y.at, ld);
  };
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  void *room;
  cudaMalloc(&room, 4096);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cublasSetStream(h, stream);
  cublasSetWorkspace(h, room, 4096);
  bool right = !cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) && work(b, c) && !cudaStreamEndCapture(stream, &graph) &&
               !cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 2; i++) right = right && !cudaGraphLaunch(exec, stream);
  right = right && !cudaStreamSynchronize(stream) && work(b2, c2) && work(b2, c2) && !cudaStreamSynchronize(stream);
  b.fetch(), b2.fetch(), c.fetch(), c2.fetch();
  say(right && !memcmp(b.host.data(), b2.host.data(), b.host.size() * sizeof(float)) &&
          !memcmp(c.host.data(), c2.host.data(), c.host.size() * sizeof(float)),
      "in a graph", n, k, n, 0, 0);
  cublasSetStream(h, nullptr);
  cudaFree(room);
}

// Functions of other names: each gives what its neighbour gives.
static void other_names(cublasHandle_t h)
{
  typedef std::complex<float> T;
  const int n = 40, k = 6;
  const matrix<T> a(n, k, n, 1), b(k, n, k, 1), c0(n, n, n, 1);
  const cuComplex alpha = {0.5f, -1}, beta = {2, 0.25f};
  const auto pa = pointed(a.at), pb = pointed(b.at);
  auto same = [&](const char *what, auto one, auto other) {
    matrix<T> x(n, n, n, 1), y(n, n, n, 1);
    for (matrix<T> *m : {&x, &y}) cudaMemcpy(m->at, c0.host.data(), c0.host.size() * sizeof(T), cudaMemcpyHostToDevice);
    const bool ok = !one(pointed(x.at)) && !other(pointed(y.at));
    x.fetch(), y.fetch();
    const size_t bytes = sizeof(T) * n * n;
    say(ok && !memcmp(x.host.data(), y.host.data(), bytes) && memcmp(x.host.data(), c0.host.data(), bytes), what, n, n, k, 0, 0);
  };
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  const auto N = CUBLAS_OP_N;
  auto syrk = [&](cuComplex *c) { return cublasCsyrk(h, lower, N, n, k, &alpha, pa, n, &beta, c, n); };
  auto herk = [&](cuComplex *c) { return cublasCherk(h, lower, N, n, k, &alpha.x, pa, n, &beta.x, c, n); };
  auto gemm = [&](cuComplex *c) { return cublasCgemm(h, N, N, n, n, k, &alpha, pa, n, pb, k, &beta, c, n); };
  same("CsyrkEx", syrk, [&](cuComplex *c) { return cublasCsyrkEx(h, lower, N, n, k, &alpha, pa, CUDA_C_32F, n, &beta, c, CUDA_C_32F, n); });
  same("Csyrk3mEx", syrk, [&](cuComplex *c) { return cublasCsyrk3mEx(h, lower, N, n, k, &alpha, pa, CUDA_C_32F, n, &beta, c, CUDA_C_32F, n); });
  same("CherkEx", herk, [&](cuComplex *c) { return cublasCherkEx(h, lower, N, n, k, &alpha.x, pa, CUDA_C_32F, n, &beta.x, c, CUDA_C_32F, n); });
  same("Cherk3mEx", herk, [&](cuComplex *c) { return cublasCherk3mEx_64(h, lower, N, n, k, &alpha.x, pa, CUDA_C_32F, n, &beta.x, c, CUDA_C_32F, n); });
  same("Cgemm3m", gemm, [&](cuComplex *c) { return cublasCgemm3m(h, N, N, n, n, k, &alpha, pa, n, pb, k, &beta, c, n); });
  same("Cgemm3mEx", gemm,
       [&](cuComplex *c) { return cublasCgemm3mEx(h, N, N, n, n, k, &alpha, pa, CUDA_C_32F, n, pb, CUDA_C_32F, k, &beta, c, CUDA_C_32F, n); });
  same("Cgemm3mStridedBatched", gemm,
       [&](cuComplex *c) { return cublasCgemm3mStridedBatched(h, N, N, n, n, k, &alpha, pa, n, 0, pb, k, 0, &beta, c, n, 0, 1); });
}

// A of signed bytes: sums are whole numbers below 2^24, so results are exact but for alpha and beta, which are, too.
static void of_bytes(cublasHandle_t h, int n, int k, bool hermitian, bool turned, bool upper, bool on_device)
{
  typedef std::complex<float> T;
  const int rows = turned ? k : n, cols = turned ? n : k, lda = rows + 3;
  std::vector<signed char> bytes(2 * (size_t)lda * cols + 1);
  unsigned state = n * 31 + k;
  for (signed char &b : bytes) state = state * 1664525u + 1013904223u, b = (signed char)((int)(state >> 24 & 15) - 8);
  char *da;
  cudaMalloc(&da, bytes.size());
  cudaMemcpy(da, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  const signed char *a = bytes.data() + 1; // not on a border of two bytes
  matrix<T> c(n, n, n + 1, 1);
  const std::vector<T> before = c.host;
  const cuComplex alpha = {2, hermitian ? 0.0f : -1}, beta = {-1, hermitian ? 0.0f : 2};
  cuComplex *factors;
  cudaMalloc(&factors, 2 * sizeof alpha);
  cudaMemcpy(factors, &alpha, sizeof alpha, cudaMemcpyHostToDevice), cudaMemcpy(factors + 1, &beta, sizeof beta, cudaMemcpyHostToDevice);
  cublasSetPointerMode(h, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  const cuComplex *f = on_device ? factors : &alpha, *g = on_device ? factors + 1 : &beta;
  const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const auto op = !turned ? CUBLAS_OP_N : hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
  bool ok = hermitian ? !cublasCherkEx(h, fill, op, n, k, &f->x, da + 1, CUDA_C_8I, lda, &g->x, pointed(c.at), CUDA_C_32F, n + 1)
                      : !cublasCsyrk3mEx_64(h, fill, op, n, k, f, da + 1, CUDA_C_8I, lda, g, pointed(c.at), CUDA_C_32F, n + 1);
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  c.fetch();
  auto element = [&](int i, int t) { // of op(A)
    const size_t at = 2 * (turned ? (size_t)i * lda + t : (size_t)t * lda + i);
    const std::complex<double> v(a[at], a[at + 1]);
    return turned && hermitian ? conj(v) : v;
  };
  const std::complex<double> wide_alpha(alpha.x, alpha.y), wide_beta(beta.x, beta.y);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const size_t at = (size_t)j * (n + 1) + i;
      std::complex<double> s = 0, old(before[at]);
      if (i != j && (i < j) != upper) {
        ok = ok && !memcmp(&c.host[at], &before[at], sizeof(T));
        continue;
      }
      for (int t = 0; t < k; t++) s += element(i, t) * (hermitian ? conj(element(j, t)) : element(j, t));
      if (hermitian && i == j) old = old.real();
      ok = ok && std::abs(std::complex<double>(c.host[at]) - (wide_alpha * s + wide_beta * old)) <= 1e-6 * (1 + std::abs(wide_alpha * s));
    }
  say(ok, hermitian ? "herk of bytes" : "syrk of bytes", n, n, k, upper, turned);
  cudaFree(da), cudaFree(factors);
}

static void expect(bool right, const char *what) { say(right, what, 0, 0, 0, 0, 0); }

static void statuses(cublasHandle_t h)
{
  typedef std::complex<float> T;
  const matrix<T> c(4, 4, 4, 1);
  const cuComplex one = {1, 0};
  cuComplex *p = pointed(c.at);
  const auto L = CUBLAS_FILL_MODE_LOWER;
  const auto N = CUBLAS_OP_N, C = CUBLAS_OP_C, X = CUBLAS_OP_T;
  const auto left = CUBLAS_SIDE_LEFT, right = CUBLAS_SIDE_RIGHT;
  const auto bad = CUBLAS_STATUS_INVALID_VALUE, good = CUBLAS_STATUS_SUCCESS;
  expect(cublasCsyrk(nullptr, L, N, 4, 4, &one, p, 4, &one, p, 4) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  expect(cublasCsyrk(h, (cublasFillMode_t)2, N, 4, 4, &one, p, 4, &one, p, 4) == bad, "a half that there is not");
  expect(cublasCsyrk(h, L, C, 4, 4, &one, p, 4, &one, p, 4) == bad, "syrk of the conjugate");
  expect(cublasCherk(h, L, X, 4, 4, &one.x, p, 4, &one.x, p, 4) == bad, "herk of the transpose");
  expect(cublasCsyrk(h, L, N, -1, 4, &one, p, 4, &one, p, 4) == bad, "n below 0");
  expect(cublasCsyrk(h, L, N, 4, -1, &one, p, 4, &one, p, 4) == bad, "k below 0");
  expect(cublasCsyrk(h, L, N, 4, 2, &one, p, 3, &one, p, 4) == bad, "lda below n");
  expect(cublasCsyrk(h, L, X, 4, 5, &one, p, 4, &one, p, 4) == bad, "lda below k");
  expect(cublasCsyr2k(h, L, N, 4, 2, &one, p, 4, p, 3, &one, p, 4) == bad, "ldb below n");
  expect(cublasCsyrk(h, L, N, 4, 2, &one, p, 4, &one, p, 3) == bad, "ldc below n");
  expect(cublasCsyrk(h, L, N, 4, 2, nullptr, p, 4, &one, p, 4) == bad, "no alpha");
  expect(cublasCsyrk(h, L, N, 4, 2, &one, p, 4, nullptr, p, 4) == bad, "no beta");
  expect(cublasCsyrk(h, L, N, 0, 2, &one, p, 1, &one, p, 1) == good, "nothing");
  expect(cublasCsymm(h, (cublasSideMode_t)2, L, 4, 4, &one, p, 4, p, 4, &one, p, 4) == bad, "a side that there is not");
  expect(cublasCsymm(h, left, L, 4, 2, &one, p, 3, p, 4, &one, p, 4) == bad, "symm, lda below m");
  expect(cublasCsymm(h, right, L, 2, 4, &one, p, 3, p, 4, &one, p, 4) == bad, "symm, lda below n");
  expect(cublasCsymm(h, left, L, 4, 2, &one, p, 4, p, 3, &one, p, 4) == bad, "symm, ldb below m");
  expect(cublasCsymm(h, left, L, 4, 2, &one, p, 4, p, 4, &one, p, 3) == bad, "symm, ldc below m");
  expect(cublasCsymm(h, left, L, 0, 2, &one, p, 4, p, 4, &one, p, 4) == good, "symm of nothing");
  expect(cublasCtrmm(h, left, L, (cublasOperation_t)3, CUBLAS_DIAG_UNIT, 4, 4, &one, p, 4, p, 4, p, 4) == bad, "an operation that there is not");
  expect(cublasCtrmm(h, left, L, N, (cublasDiagType_t)2, 4, 4, &one, p, 4, p, 4, p, 4) == bad, "a diagonal that there is not");
  expect(cublasCtrmm(h, left, L, N, CUBLAS_DIAG_UNIT, 4, -1, &one, p, 4, p, 4, p, 4) == bad, "trmm, n below 0");
  expect(cublasCsyrkEx(h, L, N, 4, 4, &one, p, CUDA_C_32F, 4, &one, p, CUDA_C_64F, 4) == CUBLAS_STATUS_NOT_SUPPORTED, "a result in FP64");
  expect(cublasCherkEx(h, L, N, 4, 4, &one.x, p, CUDA_C_16F, 4, &one.x, p, CUDA_C_32F, 4) == CUBLAS_STATUS_NOT_SUPPORTED, "herk of halves");
  expect(cublasCsyrkEx(h, L, N, 4, 2, &one, p, CUDA_C_8I, 3, &one, p, CUDA_C_32F, 4) == bad, "bytes, lda below n");
  matrix<T> after(4, 4, 4, 1);
  cudaMemcpy(after.host.data(), c.at, 16 * sizeof(T), cudaMemcpyDeviceToHost);
  expect(!memcmp(after.host.data(), c.host.data(), 16 * sizeof(T)), "nothing of these calls wrote");
}

// Factors that are 0 keep what they are of from being read.
static void zeros(cublasHandle_t h)
{
  const int n = 150;
  matrix<double> c(n, n, n, 1);
  const double zero = 0, two = 2;
  const std::vector<double> before = c.host;
  bool right = !cublasDsyrk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, 7, &zero, nullptr, n, &two, c.at, n);
  c.fetch();
  for (int i = 0; i < n * n; i++) right = right && c.host[i] == (i % n >= i / n ? 2 * before[i] : before[i]);
  say(right, "syrk, alpha 0", n, n, 7, 0, 0);
  right = !cublasDtrmm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, n, &zero, nullptr, n, nullptr, n,
                       c.at, n);
  c.fetch();
  for (int i = 0; i < n * n; i++) right = right && c.host[i] == 0;
  say(right, "trmm, alpha 0", n, n, n, 0, 0);
}

// In the math mode of TF32 operands have 10 bits behind the point, on GPUs that have it.
static void in_tf32(cublasHandle_t h)
{
  const float near_1 = 1 + 1 / 4096.f, one = 1, zero = 0;
  float *a, *c, full = 0, in_mode = 0;
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaMalloc(&a, sizeof(float)), cudaMalloc(&c, sizeof(float));
  cudaMemcpy(a, &near_1, sizeof(float), cudaMemcpyHostToDevice);
  bool right = !cublasSsyrk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 1, 1, &one, a, 1, &zero, c, 1);
  cudaMemcpy(&full, c, sizeof(float), cudaMemcpyDeviceToHost);
  right = right && !cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH) &&
          !cublasSsyrk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 1, 1, &one, a, 1, &zero, c, 1);
  cudaMemcpy(&in_mode, c, sizeof(float), cudaMemcpyDeviceToHost);
  cublasSetMathMode(h, CUBLAS_DEFAULT_MATH);
  expect(right && full == near_1 * near_1 && in_mode == (major >= 8 ? 1 : full), "syrk in TF32");
}

int main()
{
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  all_of<float>(h), all_of<double>(h), all_of<std::complex<float>>(h), all_of<std::complex<double>>(h);
  with_factors_on_device<float>(h), with_factors_on_device<double>(h);
  with_factors_on_device<std::complex<float>>(h), with_factors_on_device<std::complex<double>>(h);
  // More than a workspace holds of a whole matrix.
  for (int v = 0; v < 4; v++)
    for (kind k : {SYMMETRIC, HERMITIAN})
      half_product<std::complex<double>>(h, {k, (v & 1) != 0, (v & 2) != 0, false, CUBLAS_OP_N, false, false, false}, v & 1 ? 1100 : 2, v & 1 ? 2 : 1100);
  // More than a workspace holds of a copy.
  half_product<std::complex<double>>(h, {TRIANGULAR, true, true, false, CUBLAS_OP_C, true, false, false}, 16, 70000);
  half_product<std::complex<double>>(h, {TRIANGULAR, false, false, false, CUBLAS_OP_N, true, false, false}, 70000, 16);
  // Sums split in k, whose parts lie beside the blocks on the diagonal.
  rank_product<float>(h, {RANK_2, false, true, CUBLAS_OP_T, false, false}, 140, 1500);
  rank_product<double>(h, {RANK_2, false, false, CUBLAS_OP_N, false, false}, 140, 1500);
  half_product<float>(h, {TRIANGULAR, true, false, false, CUBLAS_OP_T, true, false, false}, 1100, 3);
  in_a_graph(h);
  other_names(h);
  for (int i = 0; i < 16; i++) of_bytes(h, i & 8 ? 150 : 37, i & 8 ? 21 : 130, i & 1, i & 2, i & 4, (i ^ i >> 2) & 1);
  of_bytes(h, 40, 0, true, false, true, true);
  for (int i = 0; i < 2; i++) of_bytes(h, 40, 53000, i, i, i, i); // widened in two parts
  statuses(h);
  zeros(h);
  in_tf32(h);
  cublasDestroy(h);
  printf("%d of %d cases right\n", cases - failures, cases);
  return failures != 0;
}
