// libcufft against transforms on the host in long double: sizes of every kind, batches, gaps, one to three dimensions, in and out
// of place, real and complex, both directions. The bound of the relative error (norm of the difference by norm of the result) is
// 2 eps log2(n) + 2 eps; for lengths with a prime factor above 61, which are convolutions of up to four times the length, 5 eps
// log2(n) + 2 eps.
#include <cufft.h>
#include <cufftXt.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "checks.cuh"

typedef std::complex<long double> number;

static const long double pi = 3.141592653589793238462643383279502884L;
static number root(long long k, long long n)
{
  const long double a = 2 * pi * (long double)(k % n) / (long double)n;
  return {cosl(a), sinl(a)};
}

// All n of them; kept, as the same lengths come again and again.
static const std::vector<number> &roots(long long n)
{
  static std::map<long long, std::vector<number>> kept;
  std::vector<number> &w = kept[n];
  for (long long k = (long long)w.size(); k < n; k++) w.push_back(root(k, n));
  return w;
}

// By the smallest prime factor; by the definition where n is prime.
static std::vector<number> transform(const std::vector<number> &x, int sign)
{
  const long long n = (long long)x.size();
  long long r = 2;
  while (r * r <= n && n % r) r++;
  if (r * r > n) r = n;
  if (n <= 1) return x;
  const long long m = n / r;
  std::vector<std::vector<number>> part(r);
  const std::vector<number> &w = roots(n);
  std::vector<number> y(n);
  for (long long j = 0; j < r; j++) {
    std::vector<number> t(m);
    for (long long i = 0; i < m; i++) t[i] = x[i * r + j];
    part[j] = transform(t, sign);
  }
  for (long long k = 0; k < n; k++)
    for (long long j = 0; j < r; j++) y[k] += part[j][k % m] * (sign < 0 ? std::conj(w[j * k % n]) : w[j * k % n]);
  return y;
}

struct grid {
  int rank, n[3];
  long long all() const
  {
    long long a = 1;
    for (int d = 0; d < rank; d++) a *= n[d];
    return a;
  }
};

static std::vector<number> transform_grid(const grid &g, std::vector<number> x, int sign)
{
  long long inner = 1;
  for (int d = g.rank - 1; d >= 0; inner *= g.n[d--])
    for (long long at = 0; at < g.all(); at++) {
      if (at / inner % g.n[d]) continue;
      std::vector<number> line(g.n[d]);
      for (int i = 0; i < g.n[d]; i++) line[i] = x[at + i * inner];
      line = transform(line, sign);
      for (int i = 0; i < g.n[d]; i++) x[at + i * inner] = line[i];
    }
  return x;
}

static unsigned state = 1;
static double next()
{
  state = state * 1664525u + 1013904223u;
  return (double)(int)(state >> 8) / (1 << 23) - 1;
}

struct difference {
  long double off = 0, all = 0;
  void add(number got, number want) { off += std::norm(got - want), all += std::norm(want); }
  bool within(long double bound) const { return off <= bound * bound * all; }
};

static long double bound(const grid &g, long double eps)
{
  long long rough = 1;
  for (int d = 0; d < g.rank; d++) {
    long long m = g.n[d];
    for (int p = 2; p <= 61; p++)
      while (m % p == 0) m /= p;
    rough *= m;
  }
  return eps * ((rough > 1 ? 5 : 2) * log2l((long double)g.all()) + 2);
}

template <typename T> struct type;
template <> struct type<float> {
  typedef cufftReal real;
  typedef cufftComplex complex;
  static const cufftType c2c = CUFFT_C2C, r2c = CUFFT_R2C, c2r = CUFFT_C2R;
  static constexpr long double eps = 0x1p-23L;
  static cufftResult run(cufftHandle p, complex *i, complex *o, int d) { return cufftExecC2C(p, i, o, d); }
  static cufftResult run(cufftHandle p, real *i, complex *o) { return cufftExecR2C(p, i, o); }
  static cufftResult run(cufftHandle p, complex *i, real *o) { return cufftExecC2R(p, i, o); }
};
template <> struct type<double> {
  typedef cufftDoubleReal real;
  typedef cufftDoubleComplex complex;
  static const cufftType c2c = CUFFT_Z2Z, r2c = CUFFT_D2Z, c2r = CUFFT_Z2D;
  static constexpr long double eps = 0x1p-52L;
  static cufftResult run(cufftHandle p, complex *i, complex *o, int d) { return cufftExecZ2Z(p, i, o, d); }
  static cufftResult run(cufftHandle p, real *i, complex *o) { return cufftExecD2Z(p, i, o); }
  static cufftResult run(cufftHandle p, complex *i, real *o) { return cufftExecZ2D(p, i, o); }
};

// Elements on the device, all of them a mark where nothing is put.
template <typename C> struct memory {
  C *at;
  size_t count;
  explicit memory(size_t n) : count(n) { cudaMalloc(&at, n * sizeof(C)); }
  ~memory() { cudaFree(at); }
  void put(const std::vector<C> &v) { cudaMemcpy(at, v.data(), v.size() * sizeof(C), cudaMemcpyHostToDevice); }
  std::vector<C> get() const
  {
    std::vector<C> v(count);
    cudaMemcpy(v.data(), at, count * sizeof(C), cudaMemcpyDeviceToHost);
    return v;
  }
};

// Where element `at` of a grid lies in a layout with gaps (or none).
struct layout {
  int embed[3], stride, dist;
  long long of(const grid &g, long long at, int batch) const
  {
    long long rest = at, index[3], to = 0;
    for (int d = g.rank - 1; d >= 0; d--) index[d] = rest % g.n[d], rest /= g.n[d];
    for (int d = 0; d < g.rank; d++) to = to * embed[d] + index[d];
    return to * stride + (long long)batch * dist;
  }
};

static layout tight(const grid &g)
{
  layout l = {{1, 1, 1}, 1, 1};
  for (int d = 0; d < g.rank; d++) l.embed[d] = g.n[d], l.dist *= g.n[d];
  return l;
}
static layout loose(const grid &g, int stride, int more)
{
  layout l = {{1, 1, 1}, stride, stride};
  for (int d = 0; d < g.rank; d++) l.embed[d] = g.n[d] + more, l.dist *= g.n[d] + more;
  l.dist += 3;
  return l;
}

template <typename T> static void complex_case(grid g, int batch, bool in_place, const layout *in, const layout *out)
{
  typedef typename type<T>::complex C;
  char what[200];
  const layout i = in ? *in : tight(g), o = out ? *out : tight(g);
  memory<C> a(i.of(g, g.all() - 1, batch - 1) + 1), b(o.of(g, g.all() - 1, batch - 1) + 1);
  std::vector<C> x(a.count, C{7, 7});
  std::vector<std::vector<number>> want[2];
  for (int k = 0; k < batch; k++) {
    std::vector<number> v(g.all());
    for (long long e = 0; e < g.all(); e++) {
      C &c = x[i.of(g, e, k)];
      c.x = (T)next(), c.y = (T)next();
      v[e] = {c.x, c.y};
    }
    want[0].push_back(transform_grid(g, v, -1));
    want[1].push_back(transform_grid(g, v, 1));
  }
  cufftHandle plan;
  int embed[2][3];
  for (int d = 0; d < 3; d++) embed[0][d] = i.embed[d], embed[1][d] = o.embed[d];
  const bool made = !cufftPlanMany(&plan, g.rank, g.n, in ? embed[0] : nullptr, i.stride, i.dist, out ? embed[1] : nullptr, o.stride,
                                   o.dist, type<T>::c2c, batch);
  for (int inverse = 0; inverse < 2; inverse++) {
    difference d;
    a.put(x);
    b.put(std::vector<C>(b.count, C{9, 9}));
    const bool ran = made && !type<T>::run(plan, a.at, in_place ? a.at : b.at, inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
    std::vector<C> got = in_place ? a.get() : b.get();
    for (int k = 0; k < batch; k++)
      for (long long e = 0; e < g.all(); e++) {
        C &c = got[o.of(g, e, k)];
        d.add(number(c.x, c.y), want[inverse][k][e]);
        c = {9, 9};
      }
    bool untouched = true;
    for (const C &c : got) untouched = untouched && (in_place || (c.x == 9 && c.y == 9));
    snprintf(what, sizeof what, "c2c of %d bytes, rank %d: %d %d %d, batch %d, %s, direction %d: error %.2Lf of the bound%s", (int)sizeof(T),
             g.rank, g.n[0], g.n[1], g.n[2], batch, in_place ? "in place" : "out of place", inverse,
             sqrtl(d.off / d.all) / bound(g, type<T>::eps), untouched ? "" : ", writes into gaps");
    check(ran && untouched && d.within(bound(g, type<T>::eps)), what);
  }
  check(made && !cufftDestroy(plan), "destroy");
}

// Real to complex and back, in the basic layouts, which the reference describes: half the last dimension, padded in place.
template <typename T> static void real_case(grid g, int batch, bool in_place)
{
  typedef typename type<T>::complex C;
  char what[200];
  const int last = g.n[g.rank - 1], half = last / 2 + 1;
  const long long lines = g.all() / last * batch;
  const int pitch = in_place ? 2 * half : last;
  memory<C> spectrum(lines * half);
  memory<T> reals(lines * pitch);
  T *in = in_place ? (T *)spectrum.at : reals.at;
  std::vector<T> x(lines * pitch, 7);
  std::vector<number> want, whole;
  for (int k = 0; k < batch; k++) {
    std::vector<number> v(g.all());
    for (long long e = 0; e < g.all(); e++) {
      T &c = x[(k * g.all() + e) / last * pitch + e % last];
      c = (T)next();
      v[e] = c;
    }
    whole.insert(whole.end(), v.begin(), v.end());
    v = transform_grid(g, v, -1);
    want.insert(want.end(), v.begin(), v.end());
  }
  cufftHandle there, back;
  bool made = !cufftPlanMany(&there, g.rank, g.n, nullptr, 1, 0, nullptr, 1, 0, type<T>::r2c, batch);
  made = !cufftPlanMany(&back, g.rank, g.n, nullptr, 1, 0, nullptr, 1, 0, type<T>::c2r, batch) && made;
  cudaMemcpy(in, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice);
  bool ran = made && !type<T>::run(there, in, spectrum.at);
  std::vector<C> got = spectrum.get();
  difference d, e;
  for (long long line = 0; line < lines; line++)
    for (int i = 0; i < half; i++) {
      const C c = got[line * half + i];
      d.add(number(c.x, c.y), want[line * last + i]);
    }
  ran = ran && !type<T>::run(back, spectrum.at, in);
  std::vector<T> again(x.size());
  cudaMemcpy(again.data(), in, x.size() * sizeof(T), cudaMemcpyDeviceToHost);
  for (long long at = 0; at < lines * last; at++)
    e.add(again[at / last * pitch + at % last], whole[at] * (long double)g.all());
  snprintf(what, sizeof what, "real of %d bytes, rank %d: %d %d %d, batch %d, %s: error %.2Lf and %.2Lf of the bound", (int)sizeof(T), g.rank,
           g.n[0], g.n[1], g.n[2], batch, in_place ? "in place" : "out of place", sqrtl(d.off / d.all) / bound(g, type<T>::eps),
           sqrtl(e.off / e.all) / (2 * bound(g, type<T>::eps)));
  check(ran && d.within(bound(g, type<T>::eps)) && e.within(2 * bound(g, type<T>::eps)), what);
  cufftDestroy(there);
  cufftDestroy(back);
}

static void lengths()
{
  // All small ones, products of each radix, primes, passes of two and three parts, convolutions of one and several.
  for (int n = 1; n <= 36; n++) complex_case<float>({1, {n}}, 3, n % 2, nullptr, nullptr);
  static const int more[] = {49, 61, 64, 67, 100, 125, 127, 128, 210, 256, 343, 360, 512, 521, 729, 1000, 1009, 1024, 2047, 2048};
  for (int n : more) complex_case<float>({1, {n}}, 2, n % 2, nullptr, nullptr);
  for (int n : {2, 7, 30, 61, 67, 256, 1000, 1024, 1031}) complex_case<double>({1, {n}}, 2, n % 2, nullptr, nullptr);
  for (int n : {2050, 2187, 4096, 4099, 6000, 16384, 30030}) complex_case<float>({1, {n}}, 1, n == 4096, nullptr, nullptr);
  for (int n : {1026, 2039, 4096, 10000}) complex_case<double>({1, {n}}, 2, n == 4096, nullptr, nullptr);
  complex_case<float>({1, {1 << 19}}, 1, false, nullptr, nullptr);
  complex_case<float>({1, {10007}}, 1, true, nullptr, nullptr);
}

static void shapes()
{
  complex_case<float>({2, {16, 24}}, 1, false, nullptr, nullptr);
  complex_case<float>({2, {67, 20}}, 2, true, nullptr, nullptr);
  complex_case<float>({2, {20, 67}}, 2, false, nullptr, nullptr);
  complex_case<double>({2, {30, 21}}, 2, true, nullptr, nullptr);
  complex_case<float>({3, {5, 6, 7}}, 3, false, nullptr, nullptr);
  complex_case<double>({3, {8, 4, 67}}, 1, true, nullptr, nullptr);
  complex_case<float>({2, {3, 4096}}, 1, true, nullptr, nullptr);
  complex_case<float>({2, {4096, 3}}, 2, false, nullptr, nullptr);
  const grid g = {1, {60}}, h = {3, {4, 6, 10}}, m = {2, {2200, 3}};
  const layout wide = loose(g, 3, 0), wider = loose(g, 2, 5), deep = loose(h, 2, 1), deeper = loose(h, 1, 2);
  const layout column = {{60}, 7, 1}, split = loose(m, 2, 1); // 7 transforms side by side: element stride 7, distance 1
  complex_case<float>(g, 4, false, &wide, &wider);
  complex_case<double>(g, 4, false, &wider, &wide);
  complex_case<float>(g, 7, true, &column, &column);
  complex_case<float>(h, 2, false, &deep, &deeper);
  complex_case<float>(m, 2, false, &split, &split);
}

static void reals()
{
  for (int n : {1, 2, 3, 4, 5, 8, 15, 61, 67, 100, 256, 1001, 2048}) {
    real_case<float>({1, {n}}, 3, false);
    real_case<float>({1, {n}}, 3, true);
    real_case<double>({1, {n}}, 2, n % 2);
  }
  for (int n : {2049, 4096, 4099, 5000}) real_case<float>({1, {n}}, 2, n % 2);
  for (bool in_place : {false, true}) {
    real_case<float>({2, {12, 10}}, 1, in_place);
    real_case<double>({2, {9, 15}}, 2, in_place);
    real_case<float>({3, {6, 5, 8}}, 2, in_place);
    real_case<double>({3, {4, 67, 7}}, 1, in_place);
    real_case<float>({2, {3, 4096}}, 1, in_place);
    real_case<float>({2, {4096, 4}}, 1, in_place);
  }
}

// Streams, memory of the program's, several steps to a plan, 16-bit numbers, the same bits twice.
static void ways()
{
  const int n = 4096;
  cufftHandle plan;
  size_t room = 0, guess = 0;
  cudaStream_t stream;
  std::vector<cufftComplex> x(n);
  for (cufftComplex &c : x) c = {(float)next(), (float)next()};
  memory<cufftComplex> a(n), b(n), c(n);
  a.put(x);
  cudaStreamCreate(&stream);
  check(!cufftCreate(&plan) && !cufftSetAutoAllocation(plan, 0) && !cufftMakePlan1d(plan, n, CUFFT_C2C, 1, &room), "create, make");
  check(!cufftEstimate1d(n, CUFFT_C2C, 1, &guess) && guess == room && room >= n * sizeof(cufftComplex), "room of two passes");
  check(cufftExecC2C(plan, a.at, b.at, CUFFT_FORWARD) != CUFFT_SUCCESS, "no work area");
  memory<char> work(room);
  check(!cufftSetWorkArea(plan, work.at) && !cufftSetStream(plan, stream), "set");
  check(!cufftExecC2C(plan, a.at, b.at, CUFFT_FORWARD) && !cufftExecC2C(plan, a.at, c.at, CUFFT_FORWARD), "two runs");
  cudaStreamSynchronize(stream);
  const std::vector<cufftComplex> first = b.get(), second = c.get();
  bool same = true;
  for (int i = 0; i < n; i++) same = same && first[i].x == second[i].x && first[i].y == second[i].y;
  check(same, "the same bits");
  cufftDestroy(plan);

  long long size[2] = {8, 16};
  memory<cufftDoubleComplex> spectrum(2 * 8 * 9);
  memory<double> reals(2 * 8 * 16);
  std::vector<double> y(2 * 8 * 16);
  for (double &v : y) v = next();
  reals.put(y);
  check(!cufftCreate(&plan) && !cufftXtMakePlanMany(plan, 2, size, nullptr, 1, 0, CUDA_R_64F, nullptr, 1, 0, CUDA_C_64F, 2, &room, CUDA_C_64F),
        "XtMakePlanMany");
  check(!cufftXtExec(plan, reals.at, spectrum.at, CUFFT_FORWARD), "XtExec");
  check(!cufftExecD2Z(plan, reals.at, spectrum.at) && cufftExecZ2D(plan, spectrum.at, reals.at) == CUFFT_INVALID_VALUE, "and by type");
  difference d;
  for (int k = 0; k < 2; k++) {
    const std::vector<number> want = transform_grid({2, {8, 16}}, std::vector<number>(y.begin() + k * 128, y.begin() + (k + 1) * 128), -1);
    const std::vector<cufftDoubleComplex> got = spectrum.get();
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 9; j++) d.add(number(got[(k * 8 + i) * 9 + j].x, got[(k * 8 + i) * 9 + j].y), want[i * 16 + j]);
  }
  check(d.within(bound({2, {8, 16}}, 0x1p-52L)), "XtExec's values");
  cufftDestroy(plan);
  const std::vector<cufftDoubleComplex> before = spectrum.get();
  check(!cufftCreate(&plan) && !cufftXtMakePlanMany(plan, 2, size, nullptr, 1, 0, CUDA_R_64F, nullptr, 1, 0, CUDA_C_64F, 2, &room, CUDA_R_64F) &&
          !cufftXtExec(plan, reals.at, spectrum.at, CUFFT_FORWARD) && !memcmp(before.data(), spectrum.get().data(), before.size() * sizeof before[0]),
        "computed in the input's type, a real one");
  cufftDestroy(plan);
  check(!cufftCreate(&plan) && cufftXtMakePlanMany(plan, 2, size, nullptr, 1, 0, CUDA_C_64F, nullptr, 1, 0, CUDA_R_64F, 2, &room, CUDA_R_64F) == CUFFT_INVALID_TYPE,
        "a complex input computed in a real type");
  cufftDestroy(plan);

  // Rounded to 16 bits at both ends, nothing else.
  long long one = 128;
  std::vector<__half2> z(one);
  std::vector<number> exact(one);
  for (int i = 0; i < one; i++) z[i] = __floats2half2_rn((float)next(), (float)next()), exact[i] = number(__low2float(z[i]), __high2float(z[i]));
  memory<__half2> halves(one);
  halves.put(z);
  check(!cufftCreate(&plan) && !cufftXtMakePlanMany(plan, 1, &one, nullptr, 1, 0, CUDA_C_16F, nullptr, 1, 0, CUDA_C_16F, 1, &room, CUDA_C_16F) &&
          !cufftXtExec(plan, halves.at, halves.at, CUFFT_INVERSE), "16 bits");
  exact = transform(exact, 1);
  z = halves.get();
  difference e;
  for (int i = 0; i < one; i++) e.add(number(__low2float(z[i]), __high2float(z[i])), exact[i]);
  check(e.within(0x1p-11L), "16-bit values");
  cufftDestroy(plan);
}

static void statuses()
{
  cufftHandle plan;
  size_t room;
  int version = 0, size[3] = {4, 4, 4};
  check(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE, "no elements");
  check(cufftPlan1d(&plan, -5, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE, "a negative size");
  check(cufftPlan1d(&plan, 8, CUFFT_C2C, 0) == CUFFT_INVALID_SIZE, "no batch");
  check(cufftPlan1d(&plan, 8, (cufftType)3, 1) == CUFFT_INVALID_TYPE, "a type");
  check(cufftPlan3d(&plan, 1 << 30, 1 << 30, 1 << 30, CUFFT_C2C) == CUFFT_INVALID_SIZE, "more than there can be");
  check(cufftPlanMany(&plan, 4, size, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE, "a rank");
  check(cufftPlanMany(&plan, 1, nullptr, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE, "no sizes");
  check(cufftDestroy(12345) == CUFFT_INVALID_PLAN && cufftExecC2C(-1, nullptr, nullptr, CUFFT_FORWARD) == CUFFT_INVALID_PLAN, "no plan");
  check(cufftPlan1d(&plan, 8, CUFFT_C2C, 1) == CUFFT_SUCCESS, "a plan");
  memory<cufftComplex> a(8);
  check(cufftExecC2C(plan, a.at, a.at, 0) == CUFFT_INVALID_VALUE, "a direction");
  check(cufftExecC2C(plan, nullptr, a.at, CUFFT_FORWARD) == CUFFT_INVALID_VALUE, "no data");
  check(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &room) == CUFFT_INVALID_PLAN, "made twice");
  check(cufftXtSetCallback(plan, nullptr, CUFFT_CB_LD_COMPLEX, nullptr) == CUFFT_NOT_SUPPORTED, "callbacks");
  check(!cufftDestroy(plan) && cufftDestroy(plan) == CUFFT_INVALID_PLAN, "destroyed twice");
  check(!cufftGetVersion(&version) && version >= 11000, "version");
}

int main()
{
  lengths();
  shapes();
  reals();
  ways();
  statuses();
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
