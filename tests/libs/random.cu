// libcurand. Sequences against what their authors published, against std::mt19937 and the functions for kernels in NVIDIA's
// headers; generators of the host against those of the GPU; distributions by mean, variance, chi-square, Kolmogorov and Smirnov.
#include <curand.h>
#include <curand_kernel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include "libs/kernels/rand_sequences.h"

static int failures, cases;
enum { LANES = 4096 };

static void check(bool right, const char *what)
{
  cases++;
  if (right) return;
  failures++;
  printf("wrong: %s\n", what);
}

typedef std::vector<unsigned> words;
static const curandRngType_t pseudo[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MT19937,
                                         CURAND_RNG_PSEUDO_PHILOX4_32_10};

// n numbers that `f` makes, by a generator of the GPU or of the host.
template <typename T, typename F> static std::vector<T> numbers(curandRngType_t type, bool host, size_t n, unsigned long long seed, F f)
{
  curandGenerator_t g;
  std::vector<T> v(n);
  T *at = v.data();
  if (!host) cudaMalloc(&at, n * sizeof(T));
  bool right = host ? !curandCreateGeneratorHost(&g, type) : !curandCreateGenerator(&g, type);
  if (type < CURAND_RNG_QUASI_DEFAULT) right = right && !curandSetPseudoRandomGeneratorSeed(g, seed);
  right = right && !f(g, at);
  if (!host) cudaMemcpy(v.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost), cudaFree(at);
  check(right && !curandDestroyGenerator(g), "a generator's calls");
  return v;
}

static words raw(curandRngType_t type, size_t n, unsigned long long seed, unsigned long long offset = 0, bool host = false)
{
  return numbers<unsigned>(type, host, n, seed, [=](curandGenerator_t g, unsigned *at) {
    const curandStatus_t s = offset ? curandSetGeneratorOffset(g, offset) : CURAND_STATUS_SUCCESS;
    return s ? s : curandGenerate(g, at, n);
  });
}

__global__ void known_philox(philox_block *out)
{
  const philox_block counter[3] = {{{0, 0, 0, 0}}, {{~0u, ~0u, ~0u, ~0u}}, {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}};
  const uint32_t key[3][2] = {{0, 0}, {~0u, ~0u}, {0xa4093822, 0x299f31d0}};
  out[threadIdx.x] = philox(counter[threadIdx.x], key[threadIdx.x][0], key[threadIdx.x][1]);
}
__global__ void nvidia_philox(unsigned long long seed, unsigned long long offset, unsigned *out, int n)
{
  curandStatePhilox4_32_10_t s;
  curand_init(seed, 0, offset, &s);
  for (int i = 0; i < n; i++) out[i] = curand(&s);
}
__global__ void nvidia_xorwow(curandStateXORWOW s, unsigned long long sequence, unsigned long long steps, unsigned *out, int n)
{
  skipahead_sequence(sequence, &s);
  skipahead(steps, &s);
  for (int i = 0; i < n; i++) out[i] = curand(&s);
}

static void published()
{
  // Random123's known answers.
  static const uint32_t answers[3][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  philox_block *at, got[3];
  cudaMalloc(&at, sizeof got);
  known_philox<<<1, 3>>>(at);
  cudaMemcpy(got, at, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 3; i++) check(std::equal(got[i].word, got[i].word + 4, answers[i]), "Philox, a known answer");
  words w = raw(CURAND_RNG_PSEUDO_PHILOX4_32_10, 4, 0);
  check(std::equal(w.begin(), w.end(), answers[0]), "Philox, of seed 0");

  // The number 10,000 that the C++ standard states, and all of std::mt19937.
  w = raw(CURAND_RNG_PSEUDO_MT19937, 10000, 5489);
  std::mt19937 mt(5489);
  check(w[0] == 3499211612u && w[9999] == 4123659995u, "MT19937, published");
  check(std::all_of(w.begin(), w.end(), [&](unsigned x) { return x == mt(); }), "MT19937, all");

  // L'Ecuyer's RngStreams: the first of its stream, and of its next substream, 2^76 further.
  static const double first[3] = {0.12701112204657714, 0.3185275653967945, 0.3091860155832701};
  static const double next[3] = {0.07939898979733463, 0.4803395047575741, 0.8583222470551328};
  w = raw(CURAND_RNG_PSEUDO_MRG32K3A, 3 * LANES, 0);
  for (int i = 0; i < 3; i++) {
    check(fabs(w[i * LANES] / 4294967088.0 - first[i]) < 1e-15, "MRG32k3a, published");
    check(fabs(w[i * LANES + 1] / 4294967088.0 - next[i]) < 1e-15, "MRG32k3a, the next substream");
  }
}

// Against NVIDIA's functions for kernels.
static void nvidia()
{
  unsigned *at;
  words want(64);
  cudaMalloc(&at, want.size() * 4);
  for (unsigned long long offset : {0ull, 1ull, 7ull, (1ull << 40) + 6}) {
    nvidia_philox<<<1, 1>>>(0x123456789abcdefull, offset, at, 64);
    cudaMemcpy(want.data(), at, 256, cudaMemcpyDeviceToHost);
    check(raw(CURAND_RNG_PSEUDO_PHILOX4_32_10, 64, 0x123456789abcdefull, offset) == want, "Philox of curand_kernel.h");
  }
  const unsigned long long seed = 42;
  unsigned long long s = seed;
  curandStateXORWOW state = {};
  unsigned part[6];
  for (unsigned &p : part) { // the state of a seed: the upper halves of SplitMix64
    unsigned long long z = s += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    p = (unsigned)((z ^ (z >> 31)) >> 32);
  }
  for (int i = 0; i < 5; i++) state.v[i] = part[i];
  state.d = part[5];
  const words w = raw(CURAND_RNG_PSEUDO_XORWOW, 8 * LANES, seed);
  const unsigned long long far = (1ull << 45) + 5ull;
  const words v = raw(CURAND_RNG_PSEUDO_XORWOW, 3 * LANES, seed, far * LANES + 100);
  for (unsigned lane : {0u, 1u, 77u, 4095u}) {
    nvidia_xorwow<<<1, 1>>>(state, lane, 0, at, 8);
    cudaMemcpy(want.data(), at, 32, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < 8; i++) right = right && w[i * LANES + lane] == want[i];
    check(right, "XORWOW of curand_kernel.h, a lane");
    nvidia_xorwow<<<1, 1>>>(state, lane, far + (lane < 100), at, 2);
    cudaMemcpy(want.data(), at, 8, cudaMemcpyDeviceToHost);
    right = true;
    for (int i = 0; i < 2; i++) right = right && v[i * LANES + (lane + LANES - 100) % LANES] == want[i];
    check(right, "XORWOW of curand_kernel.h, far away");
  }
}

// Offsets and calls in parts go on in one sequence; host and GPU have the same.
static void one_sequence(curandRngType_t type)
{
  const words all = raw(type, 20000, 77), host = raw(type, 20000, 77, 0, true), other = raw(type, 20000, 78);
  const words wide = raw(type, 1000, 77 + (1ull << 32));
  check(all == host, "the host's sequence");
  check(all != other && !std::equal(wide.begin(), wide.end(), all.begin()), "another seed");
  if (type != CURAND_RNG_PSEUDO_MT19937) {
    const words later = raw(type, 9000, 77, 5003), on_host = raw(type, 9000, 77, 5003, true);
    check(std::equal(later.begin(), later.end(), all.begin() + 5003) && later == on_host, "from an offset on");
  }
  const words parts = numbers<unsigned>(type, false, 20000, 77, [](curandGenerator_t g, unsigned *at) {
    for (int n : {1, 4999, 3, 7000, 7997}) {
      if (curandGenerate(g, at, n)) return 1;
      at += n;
    }
    return 0;
  });
  check(parts == all, "in parts");
}

static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }

// Numbers that shall be uniform: mean and variance within 4.5 standard deviations, chi-square of 64 classes (63 degrees of freedom)
// between 25 and 125, Kolmogorov and Smirnov's statistic below 2.2: each is met by chance in all but some 0.01 % of the cases.
static bool uniform(std::vector<double> u)
{
  const double n = (double)u.size();
  double sum = 0, squares = 0, chi = 0, far = 0;
  std::vector<double> count(64);
  for (double x : u) {
    if (!(x > 0 && x <= 1)) return false;
    sum += x - 0.5, squares += (x - 0.5) * (x - 0.5);
    count[std::min(63, (int)(x * 64))]++;
  }
  for (double c : count) chi += (c - n / 64) * (c - n / 64) / (n / 64);
  std::sort(u.begin(), u.end());
  for (size_t i = 0; i < u.size(); i++) far = std::max({far, fabs(u[i] - i / n), fabs(u[i] - (i + 1) / n)});
  return fabs(sum / n) < 4.5 * sqrt(1 / 12.0 / n) && fabs(squares / n - 1 / 12.0) < 4.5 * sqrt(1 / 180.0 / n) && chi > 25 && chi < 125 &&
         far * sqrt(n) < 2.2;
}

template <typename T, typename F> static void forms(curandRngType_t type, F uniforms, const char *what, std::function<double(double)> cdf)
{
  const size_t n = 20000;
  auto make = [&](curandGenerator_t g, T *at) { return uniforms(g, at, n); };
  const std::vector<T> gpu = numbers<T>(type, false, n, 99, make), host = numbers<T>(type, true, n, 99, make);
  bool near = true;
  std::vector<double> u;
  for (size_t i = 0; i < n; i++) {
    near = near && fabs((double)gpu[i] - (double)host[i]) <= (sizeof(T) == 8 ? 1e-13 : 2e-5) * (1 + fabs((double)host[i]));
    u.push_back(cdf((double)gpu[i]));
  }
  check(near, what);
  check(uniform(u), what);
}

static void distributions(curandRngType_t type)
{
  auto same = [](double x) { return x; };
  auto normal = [](double x) { return normal_cdf((x - 3) / 2); };
  auto log_normal = [](double x) { return normal_cdf((log(x) - 0.5) / 0.25); };
  forms<float>(type, curandGenerateUniform, "uniform", same);
  forms<double>(type, curandGenerateUniformDouble, "uniform, double", same);
  forms<float>(type, [](curandGenerator_t g, float *at, size_t n) { return curandGenerateNormal(g, at, n, 3, 2); }, "normal", normal);
  forms<double>(type, [](curandGenerator_t g, double *at, size_t n) { return curandGenerateNormalDouble(g, at, n, 3, 2); }, "normal, double", normal);
  forms<float>(type, [](curandGenerator_t g, float *at, size_t n) { return curandGenerateLogNormal(g, at, n, 0.5f, 0.25f); }, "log-normal", log_normal);
  forms<double>(type, [](curandGenerator_t g, double *at, size_t n) { return curandGenerateLogNormalDouble(g, at, n, 0.5, 0.25); },
                "log-normal, double", log_normal);
}

static void poisson(double lambda)
{
  const size_t n = 20000;
  const words k = numbers<unsigned>(CURAND_RNG_PSEUDO_PHILOX4_32_10, false, n, 5,
                                    [=](curandGenerator_t g, unsigned *at) { return curandGeneratePoisson(g, at, n, lambda); });
  double sum = 0, squares = 0, chi = 0, classes = 0, rest = n, rest_seen = n;
  for (unsigned x : k) sum += x - lambda, squares += (x - lambda) * (x - lambda);
  check(fabs(sum / n) < 4.5 * sqrt(lambda / n), "Poisson's mean");
  check(fabs(squares / n - lambda) < 4.5 * sqrt((2 * lambda * lambda + lambda) / n), "Poisson's variance");
  for (int i = 0; i < 4 * lambda + 20; i++) {
    const double want = n * exp(i * log(lambda) - lambda - lgamma(i + 1.0)), seen = (double)std::count(k.begin(), k.end(), (unsigned)i);
    if (want < 10) continue;
    chi += (seen - want) * (seen - want) / want, classes++, rest -= want, rest_seen -= seen;
  }
  if (rest > 1) chi += (rest_seen - rest) * (rest_seen - rest) / rest, classes++;
  check(chi < classes - 1 + 4.5 * sqrt(2 * classes), "Poisson's chi-square");
}

static void sobol()
{
  // The first points in three dimensions as Joe and Kuo print them.
  static const double points[8][3] = {{0, 0, 0}, {0.5, 0.5, 0.5}, {0.75, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.375, 0.375, 0.625},
                                      {0.875, 0.875, 0.125}, {0.625, 0.125, 0.875}, {0.125, 0.625, 0.375}};
  const int dimensions = 160, n = 256;
  for (bool host : {false, true}) {
    const words w = numbers<unsigned>(CURAND_RNG_QUASI_SOBOL32, host, (size_t)dimensions * n, 0, [=](curandGenerator_t g, unsigned *at) {
      return curandSetQuasiRandomGeneratorDimensions(g, dimensions) || curandGenerate(g, at, (size_t)dimensions * n);
    });
    bool right = true;
    for (int d = 0; d < 3; d++)
      for (int i = 0; i < 8; i++) right = right && w[d * n + i] * 0x1p-32 == points[i][d];
    check(right, "Sobol, the first points");
    right = true;
    for (int d = 0; d < dimensions; d++) { // each of 256 points has a 256th of each dimension for itself
      std::vector<int> taken(n);
      for (int i = 0; i < n; i++) taken[w[d * n + i] >> 24]++;
      right = right && *std::max_element(taken.begin(), taken.end()) == 1;
    }
    check(right, "Sobol, each dimension");
    const std::vector<unsigned long long> v = numbers<unsigned long long>(CURAND_RNG_QUASI_SOBOL64, host, 5 * 100, 0,
      [](curandGenerator_t g, unsigned long long *at) {
        return curandSetQuasiRandomGeneratorDimensions(g, 5) || curandSetGeneratorOffset(g, 3) || curandGenerateLongLong(g, at, 200) ||
               curandGenerateLongLong(g, at + 200, 300);
      });
    right = true;
    for (int d = 0; d < 5; d++)
      for (int i = 0; i < 100; i++) {
        const unsigned long long x = i < 40 ? v[d * 40 + i] : v[200 + d * 60 + i - 40];
        right = right && x >> 32 == w[d * n + i + 3];
      }
    check(right, "Sobol of 64 bits, from an offset on, in parts");
  }
  std::vector<float> f = numbers<float>(CURAND_RNG_QUASI_SOBOL32, false, 20000, 0, [](curandGenerator_t g, float *at) {
    return curandGenerateUniform(g, at, 20000);
  });
  double far = 0; // the discrepancy of van der Corput's sequence is below (log2 n + 2) / n
  std::sort(f.begin(), f.end());
  for (int i = 0; i < 20000; i++) far = std::max({far, fabs(f[i] - i / 20000.0), fabs(f[i] - (i + 1) / 20000.0)});
  check(f[0] > 0 && far < (log2(20000.0) + 2) / 20000, "Sobol, uniform");
  const size_t m = 4095; // without the first point, whose quantile is far out
  const std::vector<double> x = numbers<double>(CURAND_RNG_QUASI_SOBOL64, false, m, 0, [=](curandGenerator_t g, double *at) {
    return curandSetGeneratorOffset(g, 1) || curandGenerateNormalDouble(g, at, m, 0, 1);
  });
  const std::vector<double> u = numbers<double>(CURAND_RNG_QUASI_SOBOL64, false, m, 0, [=](curandGenerator_t g, double *at) {
    return curandSetGeneratorOffset(g, 1) || curandGenerateUniformDouble(g, at, m);
  });
  bool right = true;
  for (size_t i = 0; i < m; i++) right = right && fabs(normal_cdf(x[i]) - u[i]) < 1e-14 + 1e-12 * std::min(u[i], 1 - u[i]);
  check(right, "quantiles of the normal distribution");
}

// Directions of a dimension by Joe and Kuo's recurrence, from a line of their table.
static std::vector<unsigned long long> directions(int degree, unsigned inner, std::vector<unsigned long long> m)
{
  for (int j = degree; j < 64; j++) {
    unsigned long long next = m[j - degree] ^ m[j - degree] << degree;
    for (int k = 1; k < degree; k++) next ^= (inner >> (degree - 1 - k) & 1) * (m[j - k] << k);
    m.push_back(next);
  }
  for (int j = 0; j < 64; j++) m[j] <<= 63 - j;
  return m;
}

static const int far_dimension = 19999; // the last

// Dimension `first`, and the next one, of a table, by the functions of curand_kernel.h.
static __global__ void kernel_points(curandDirectionVectors32_t *v, const unsigned *constants, unsigned *out)
{
  if (constants) {
    curandStateScrambledSobol32_t s;
    curand_init(v[threadIdx.x], constants[threadIdx.x], 5, &s);
    for (int i = 0; i < 40; i++) out[threadIdx.x * 40 + i] = curand(&s);
  } else {
    curandStateSobol32_t s;
    curand_init(v[threadIdx.x], 5, &s);
    for (int i = 0; i < 40; i++) out[threadIdx.x * 40 + i] = curand(&s);
  }
}
static __global__ void kernel_points_64(curandDirectionVectors64_t *v, const unsigned long long *constants, unsigned long long *out)
{
  if (constants) {
    curandStateScrambledSobol64_t s;
    curand_init(v[threadIdx.x], constants[threadIdx.x], 5, &s);
    for (int i = 0; i < 40; i++) out[threadIdx.x * 40 + i] = curand(&s);
  } else {
    curandStateSobol64_t s;
    curand_init(v[threadIdx.x], 5, &s);
    for (int i = 0; i < 40; i++) out[threadIdx.x * 40 + i] = curand(&s);
  }
}

template <typename T> static T *up(const T *from, size_t n)
{
  T *to;
  cudaMalloc(&to, n * sizeof(T));
  cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}

// What kernels draw by the tables of the host is what its generators draw.
static void tables()
{
  curandDirectionVectors32_t *v;
  curandDirectionVectors64_t *w;
  unsigned *constants;
  unsigned long long *constants_64;
  const std::vector<unsigned long long> last = directions(18, 110614, {1, 3, 1, 15, 27, 37, 63, 253, 1, 855, 1651, 3111, 6693, 1825, 22549, 64189, 18347, 253425});
  check(!curandGetDirectionVectors32(&v, CURAND_DIRECTION_VECTORS_32_JOEKUO6) &&
        !curandGetDirectionVectors64(&w, CURAND_DIRECTION_VECTORS_64_JOEKUO6), "tables of directions");
  bool right = true;
  for (int j = 0; j < 64; j++) right = right && w[far_dimension][j] == last[j] && (j >= 32 || v[far_dimension][j] == last[j] >> 32);
  check(right, "directions of dimension 20,000");
  check(!curandGetScrambleConstants32(&constants) && !curandGetScrambleConstants64(&constants_64), "constants");
  for (bool scrambled : {false, true}) {
    right = !curandGetDirectionVectors32(&v, scrambled ? CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 : CURAND_DIRECTION_VECTORS_32_JOEKUO6) &&
            !curandGetDirectionVectors64(&w, scrambled ? CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6 : CURAND_DIRECTION_VECTORS_64_JOEKUO6);
    for (int d = 0; d < 20000; d++)
      for (int j = 0; j < 64; j++) right = right && (j >= 32 || v[d][j] == w[d][j] >> 32) && (scrambled || w[d][j] << j == 1ull << 63);
    for (int d = 0; d < 20000; d += 97) { // 256 points have an interval each, scrambled or not
      std::vector<int> taken(256);
      unsigned x = 0;
      for (int i = 0; i < 256; x ^= v[d][__builtin_ctz(~i)], i++) taken[x >> 24]++;
      right = right && *std::max_element(taken.begin(), taken.end()) == 1;
    }
    const int n = 50;
    const words x = numbers<unsigned>(scrambled ? CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 : CURAND_RNG_QUASI_SOBOL32, false, 100 * n, 0,
      [=](curandGenerator_t g, unsigned *at) { return curandSetQuasiRandomGeneratorDimensions(g, 100) || curandGenerate(g, at, 100 * n); });
    const std::vector<unsigned long long> y = numbers<unsigned long long>(scrambled ? CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 : CURAND_RNG_QUASI_SOBOL64,
      true, 100 * n, 0, [=](curandGenerator_t g, unsigned long long *at) {
        return curandSetQuasiRandomGeneratorDimensions(g, 100) || curandGenerateLongLong(g, at, 100 * n);
      });
    words got(100 * 40);
    std::vector<unsigned long long> got_64(100 * 40);
    unsigned *out = up(got.data(), got.size());
    unsigned long long *out_64 = up(got_64.data(), got_64.size());
    kernel_points<<<1, 100>>>(up(v, 100), scrambled ? up(constants, 100) : nullptr, out);
    kernel_points_64<<<1, 100>>>(up(w, 100), scrambled ? up(constants_64, 100) : nullptr, out_64);
    cudaMemcpy(got.data(), out, got.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaMemcpy(got_64.data(), out_64, got_64.size() * 8, cudaMemcpyDeviceToHost);
    for (int d = 0; d < 100; d++)
      for (int i = 0; i < 40; i++)
        right = right && got[d * 40 + i] == x[d * n + i + 5] && got_64[d * 40 + i] == y[d * n + i + 5] && got_64[d * 40 + i] >> 32 == got[d * 40 + i];
    check(right && (x[n] != x[2 * n]) == scrambled, scrambled ? "kernels with scrambled directions" : "kernels with directions");
  }
  check(curandGetDirectionVectors32(&v, CURAND_DIRECTION_VECTORS_64_JOEKUO6) == CURAND_STATUS_OUT_OF_RANGE, "a table of the other width");
}

static void statuses()
{
  curandGenerator_t g, q;
  int version = 0;
  unsigned *at;
  cudaMalloc(&at, 64);
  check(curandCreateGenerator(&g, (curandRngType_t)7) == CURAND_STATUS_TYPE_ERROR, "a type");
  check(curandGenerate(nullptr, at, 4) == CURAND_STATUS_NOT_INITIALIZED, "no generator");
  check(!curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT) && !curandCreateGenerator(&q, CURAND_RNG_QUASI_DEFAULT), "create");
  check(curandGenerateNormal(g, (float *)at, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE, "an odd number of normal ones");
  check(!curandSetQuasiRandomGeneratorDimensions(q, 3) && curandGenerate(q, at, 4) == CURAND_STATUS_LENGTH_NOT_MULTIPLE, "parts of points");
  check(curandSetQuasiRandomGeneratorDimensions(q, 0) == CURAND_STATUS_OUT_OF_RANGE, "no dimensions");
  check(curandSetQuasiRandomGeneratorDimensions(g, 2) == CURAND_STATUS_TYPE_ERROR, "dimensions of pseudorandom numbers");
  check(curandSetPseudoRandomGeneratorSeed(q, 2) == CURAND_STATUS_TYPE_ERROR, "a seed of quasirandom numbers");
  check(curandGeneratePoisson(g, at, 4, -1) == CURAND_STATUS_OUT_OF_RANGE, "a negative mean");
  check(curandGenerateLongLong(g, (unsigned long long *)at, 4) == CURAND_STATUS_TYPE_ERROR, "64 bits of a sequence of 32");
  check(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT) == CURAND_STATUS_OUT_OF_RANGE, "an order");
  check(!curandGetVersion(&version) && version >= 10000, "version");
  check(!curandDestroyGenerator(g) && !curandDestroyGenerator(q), "destroy");
}

int main()
{
  published();
  nvidia();
  for (curandRngType_t type : pseudo) {
    one_sequence(type);
    distributions(type);
  }
  for (double lambda : {0.5, 10.0, 1000.0}) poisson(lambda);
  sobol();
  tables();
  statuses();
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
