// multimem.ld_reduce of FP8 on a machine with switches that send to several: every form that ptxas 13.0 takes for
// sm_100a, with teams of 2, 4 and 8 GPUs, against what the host finds by looking for the nearest of all numbers.
#include "multicast.h"
#include <cmath>

enum op { ADD, MIN, MAX, WIDE_ADD };
enum { THREADS = 64 };

struct form {
  const char *name;
  op how;
  bool e4m3;
  int words; // of a thread
};

#define GLOBAL(p) (uint64_t)__cvta_generic_to_global(p)
#define LOAD_1(ins) asm volatile("multimem.ld_reduce." ins " %0, [%1];" : "=r"(v[0]) : "l"(at) : "memory")
#define LOAD_2(ins) asm volatile("multimem.ld_reduce." ins " {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "l"(at) : "memory")
#define LOAD_4(ins)                                                                                                    \
  asm volatile("multimem.ld_reduce." ins " {%0,%1,%2,%3}, [%4];"                                                       \
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])                                                        \
               : "l"(at)                                                                                               \
               : "memory")

// X(instruction behind the state space, operation, E4M3, words)
#define VECTORS(X, o, O, type, e4m3)                                                                                   \
  X(o "." type "x4", O, e4m3, 1) X(o ".v2." type "x4", O, e4m3, 2) X(o ".v4." type "x4", O, e4m3, 4)
#define OPS(X, type, e4m3)                                                                                             \
  VECTORS(X, "add", ADD, type, e4m3) VECTORS(X, "min", MIN, type, e4m3) VECTORS(X, "max", MAX, type, e4m3)             \
  VECTORS(X, "add.acc::f16", WIDE_ADD, type, e4m3)
#define LOADS(X) OPS(X, "e4m3", true) OPS(X, "e5m2", false)

#define ROW(ins, how, e4m3, words) {ins, how, e4m3, words},
static const form loads[] = {LOADS(ROW)};
enum { N_LOADS = sizeof loads / sizeof *loads };

__device__ void load_form(int which, uint64_t at, uint32_t v[4])
{
  int i = 0;
#define LOAD(ins, how, e4m3, words)                                                                                    \
  if (which == i++) LOAD_##words("relaxed.sys.global." ins);
  LOADS(LOAD)
}

__global__ void load(int which, int words, const uint32_t *all, uint32_t *out)
{
  uint32_t v[4] = {0};
  const int i = (blockIdx.x * THREADS + threadIdx.x) * words;
  load_form(which, GLOBAL(all + i), v);
  for (int k = 0; k < words; k++) out[i + k] = v[k];
}

// --- the host's own sums -------------------------------------------------------------------------

static uint32_t state = 12345;

static uint32_t random32()
{
  state = state * 1664525 + 1013904223;
  return state >> 8 ^ state << 13;
}

// Of a format with so many bits of fraction and this bias: OCP 8-bit floating point specification, IEEE 754.
struct format {
  int frac, bias, finite; // codes from `finite` on are no numbers
};

static const format E4M3 = {3, 7, 0x7f}, E5M2 = {2, 15, 0x7c}, F16 = {10, 15, 0x7c00};

static double value(const format &f, int code) // of a magnitude
{
  const int exp = code >> f.frac, m = code & ((1 << f.frac) - 1);
  return exp ? std::ldexp((1 << f.frac) + m, exp - f.bias - f.frac) : std::ldexp(m, 1 - f.bias - f.frac);
}

static double decode(const format &f, int bits)
{
  const double v = value(f, bits & 0x7f);
  return bits & 0x80 ? -v : v;
}

// The nearest of all numbers, of two the one with an even code. A sum here is at most the largest one.
static double nearest(const format &f, double x)
{
  int low = 0, high = f.finite - 1;
  const double a = std::fabs(x);
  while (high - low > 1) (value(f, (low + high) / 2) <= a ? low : high) = (low + high) / 2;
  const double down = a - value(f, low), up = value(f, high) - a;
  const int code = up < down || (up == down && high % 2 == 0) ? high : low;
  return std::copysign(value(f, code), x);
}

static double combined(const form &f, const format &t, const double *x, int n)
{
  double r = x[0];
  for (int k = 1; k < n; k++) {
    if (f.how == MIN) r = std::fmin(r, x[k]);
    else if (f.how == MAX) r = std::fmax(r, x[k]);
    else r = nearest(f.how == WIDE_ADD ? F16 : t, r + x[k]);
  }
  return nearest(t, r);
}

// Finite, of all sizes that eight of them may have: an eighth of the largest number.
static uint32_t random_numbers(const format &t)
{
  uint32_t r = 0;
  for (int shift = 0; shift < 32; shift += 8)
    r |= (random32() % (uint32_t)(t.finite - (3 << t.frac)) | (random32() & 0x80)) << shift;
  return r;
}

static void check(const form &f, const std::vector<std::vector<uint32_t>> &in, const std::vector<uint32_t> &got)
{
  const format &t = f.e4m3 ? E4M3 : E5M2;
  for (size_t i = 0; i < got.size() * 4; i++) {
    double x[8];
    const int shift = i % 4 * 8, n = (int)in.size();
    for (int k = 0; k < n; k++) x[k] = decode(t, in[k][i / 4] >> shift & 0xff);
    const double want = combined(f, t, x, n), is = decode(t, got[i / 4] >> shift & 0xff);
    if (is == want) continue;
    printf("%s, %d GPUs, number %zu: %.10g, not %.10g\n", f.name, n, i, is, want);
    exit(1);
  }
}

// --- tests ---------------------------------------------------------------------------------------

static std::vector<uint32_t> reduced(const team &t, int which, const std::vector<std::vector<uint32_t>> &in)
{
  const size_t words = in[0].size();
  std::vector<uint32_t> got(words);
  uint32_t *out;
  const int gpu = which % t.n;
  for (int i = 0; i < t.n; i++) {
    CUDA(cudaSetDevice(i));
    CU(cuMemcpyHtoD(t.own[i] + 256, in[i].data(), words * 4));
  }
  CUDA(cudaSetDevice(gpu));
  CUDA(cudaMalloc(&out, words * 4));
  load<<<1, THREADS, 0, t.stream[gpu]>>>(which, loads[which].words, (uint32_t *)(t.all + 256), out);
  CUDA(cudaStreamSynchronize(t.stream[gpu]));
  CUDA(cudaMemcpy(got.data(), out, words * 4, cudaMemcpyDeviceToHost));
  CUDA(cudaFree(out));
  return got;
}

static void test_random(const team &t)
{
  for (int which = 0; which < N_LOADS; which++) {
    const form &f = loads[which];
    std::vector<std::vector<uint32_t>> in(t.n, std::vector<uint32_t>(f.words * THREADS));
    for (auto &x : in)
      for (uint32_t &v : x) v = random_numbers(f.e4m3 ? E4M3 : E5M2);
    check(f, in, reduced(t, which, in));
  }
}

static int find(const char *name)
{
  for (int i = 0; i < N_LOADS; i++)
    if (strcmp(loads[i].name, name) == 0) return i;
  exit(1);
}

// By hand, of four GPUs. E4M3: 16 + 3/4 + 3/4 + 3/4 stays 16 where each step is rounded (a step is 2 there), and is
// 18 1/4, so 18, where halves hold the sum. E5M2: 8 + 7/8 + 7/8 + 7/8, steps of 2: 8 and 10 5/8, so 10.
static void test_steps(const team &t)
{
  static const struct {
    const char *name;
    uint32_t big, small, want;
  } rows[] = {{"add.e4m3x4", 0x58, 0x34, 0x58},
              {"add.acc::f16.e4m3x4", 0x58, 0x34, 0x59},
              {"add.e5m2x4", 0x48, 0x3b, 0x48},
              {"add.acc::f16.e5m2x4", 0x48, 0x3b, 0x49}};
  for (const auto &r : rows) {
    const int which = find(r.name);
    std::vector<std::vector<uint32_t>> in(4, std::vector<uint32_t>(THREADS, r.small * 0x01010101u));
    in[0].assign(THREADS, r.big * 0x01010101u);
    for (const uint32_t got : reduced(t, which, in)) CHECK(got == r.want * 0x01010101u);
  }
}

int main()
{
  CUDA(cudaFree(0));
  for (int n = 2; n <= 8; n *= 2) {
    team t = make_team(n, 1);
    test_random(t);
    if (n == 4) test_steps(t);
    end_team(t);
    printf("%d GPUs: %d loads as expected\n", n, N_LOADS);
  }
}
