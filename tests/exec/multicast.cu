// Multicast objects on a machine with switches that send to several: every form of multimem.ld_reduce, .red and .st that
// ptxas 13.0 takes for sm_90, with teams of 2, 4 and 8 GPUs, against sums that the host forms by itself.
#include "multicast.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum type { U32, S32, U64, S64, F16, BF16, F32, F64 };
enum op { ADD, MIN, MAX, AND, OR, XOR };
enum { THREADS = 64 };

struct form {
  const char *name;
  op how;
  type of;
  bool wide; // .acc::f32
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
#define LOAD_L(ins)                                                                                                    \
  {                                                                                                                    \
    uint64_t x;                                                                                                        \
    asm volatile("multimem.ld_reduce." ins " %0, [%1];" : "=l"(x) : "l"(at) : "memory");                               \
    memcpy(v, &x, sizeof x);                                                                                           \
  }
#define RED_1(ins) asm volatile("multimem.red." ins " [%0], %1;" : : "l"(at), "r"(v[0]) : "memory")
#define RED_2(ins) asm volatile("multimem.red." ins " [%0], {%1,%2};" : : "l"(at), "r"(v[0]), "r"(v[1]) : "memory")
#define RED_4(ins)                                                                                                     \
  asm volatile("multimem.red." ins " [%0], {%1,%2,%3,%4};"                                                             \
               :                                                                                                       \
               : "l"(at), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])                                                   \
               : "memory")
#define RED_L(ins)                                                                                                     \
  {                                                                                                                    \
    uint64_t x;                                                                                                        \
    memcpy(&x, v, sizeof x);                                                                                           \
    asm volatile("multimem.red." ins " [%0], %1;" : : "l"(at), "l"(x) : "memory");                                     \
  }

// X(instruction behind the state space, kind of operands, operation, type, .acc::f32, words)
#define HALVES(X, o, O, half, HALF)                                                                                    \
  X(#o "." half "x2", 1, O, HALF, 0, 1) X(#o ".v2." half "x2", 2, O, HALF, 0, 2) X(#o ".v4." half "x2", 4, O, HALF, 0, 4)
#define WIDE(X, half, HALF)                                                                                            \
  X("add.acc::f32." half "x2", 1, ADD, HALF, 1, 1) X("add.acc::f32.v2." half "x2", 2, ADD, HALF, 1, 2)                 \
  X("add.acc::f32.v4." half "x2", 4, ADD, HALF, 1, 4)
#define INTEGERS(X)                                                                                                    \
  X("add.u32", 1, ADD, U32, 0, 1) X("add.s32", 1, ADD, S32, 0, 1) X("add.u64", L, ADD, U64, 0, 2)                       \
  X("min.u32", 1, MIN, U32, 0, 1) X("min.s32", 1, MIN, S32, 0, 1) X("min.u64", L, MIN, U64, 0, 2)                       \
  X("min.s64", L, MIN, S64, 0, 2) X("max.u32", 1, MAX, U32, 0, 1) X("max.s32", 1, MAX, S32, 0, 1)                       \
  X("max.u64", L, MAX, U64, 0, 2) X("max.s64", L, MAX, S64, 0, 2) X("and.b32", 1, AND, U32, 0, 1)                       \
  X("and.b64", L, AND, U64, 0, 2) X("or.b32", 1, OR, U32, 0, 1) X("or.b64", L, OR, U64, 0, 2)                           \
  X("xor.b32", 1, XOR, U32, 0, 1) X("xor.b64", L, XOR, U64, 0, 2)
#define REALS(X)                                                                                                       \
  X("add.f32", 1, ADD, F32, 0, 1) X("add.v2.f32", 2, ADD, F32, 0, 2) X("add.v4.f32", 4, ADD, F32, 0, 4)                 \
  X("add.f64", L, ADD, F64, 0, 2) HALVES(X, add, ADD, "f16", F16) HALVES(X, add, ADD, "bf16", BF16)
#define LOADS(X)                                                                                                       \
  INTEGERS(X) REALS(X) WIDE(X, "f16", F16) WIDE(X, "bf16", BF16) HALVES(X, min, MIN, "f16", F16)                       \
  HALVES(X, max, MAX, "f16", F16) HALVES(X, min, MIN, "bf16", BF16) HALVES(X, max, MAX, "bf16", BF16)
// Minimum and maximum of a single pair of halves: ptxas takes them as vectors of halves alone.
#define PAIRS(X, o, O, half, HALF)                                                                                     \
  X(#o ".v2." half "x2", 2, O, HALF, 0, 2) X(#o ".v4." half "x2", 4, O, HALF, 0, 4)
#define REDS(X)                                                                                                        \
  INTEGERS(X) REALS(X) PAIRS(X, min, MIN, "f16", F16) PAIRS(X, max, MAX, "f16", F16) PAIRS(X, min, MIN, "bf16", BF16)  \
  PAIRS(X, max, MAX, "bf16", BF16)

#define ROW(ins, kind, how, of, wide, words) {ins, how, of, wide, words},
static const form loads[] = {LOADS(ROW)}, reds[] = {REDS(ROW)};
enum { N_LOADS = sizeof loads / sizeof *loads, N_REDS = sizeof reds / sizeof *reds };

__device__ void load_form(int which, uint64_t at, uint32_t v[4])
{
  int i = 0;
#define LOAD(ins, kind, how, of, wide, words)                                                                          \
  if (which == i++) LOAD_##kind("relaxed.sys.global." ins);
  LOADS(LOAD)
}

__device__ void red_form(int which, uint64_t at, const uint32_t v[4])
{
  int i = 0;
#define RED(ins, kind, how, of, wide, words)                                                                           \
  if (which == i++) RED_##kind("relaxed.sys.global." ins);
  REDS(RED)
}

__global__ void load(int which, int words, const uint32_t *all, uint32_t *out)
{
  uint32_t v[4] = {0};
  const int i = (blockIdx.x * THREADS + threadIdx.x) * words;
  load_form(which, GLOBAL(all + i), v);
  for (int k = 0; k < words; k++) out[i + k] = v[k];
}

__global__ void reduce(int which, int words, uint32_t *all, const uint32_t *operand)
{
  uint32_t v[4];
  const int i = threadIdx.x * words;
  for (int k = 0; k < words; k++) v[k] = operand[i + k];
  red_form(which, GLOBAL(all + i), v);
}

// Words of all three sizes; a line is written by several instructions, another in part.
__global__ void store(uint32_t *all, uint32_t seed)
{
  const uint32_t t = threadIdx.x, a = seed + t;
  uint32_t *one = all + t, *two = all + 64 + 2 * t, *four = all + 256 + 4 * t;
  if (t % 3 != 1) asm volatile("multimem.st.weak.global.b32 [%0], %1;" : : "l"(GLOBAL(one)), "r"(a) : "memory");
  asm volatile("multimem.st.relaxed.sys.global.v2.f32 [%0], {%1,%2};"
               :
               : "l"(GLOBAL(two)), "f"(__uint_as_float(a)), "f"(__uint_as_float(~a))
               : "memory");
  asm volatile("multimem.st.release.gpu.global.v4.f16x2 [%0], {%1,%2,%3,%4};"
               :
               : "l"(GLOBAL(four)), "r"(a), "r"(a * 3), "r"(a ^ seed), "r"(t)
               : "memory");
}

// --- the host's own sums -------------------------------------------------------------------------

static uint32_t state = 12345;

static uint32_t random32()
{
  state = state * 1664525 + 1013904223;
  return state >> 8 ^ state << 13;
}

// Finite, of many sizes; with `small`: of a few bits, whose sums are exact in any order.
static uint16_t random_half(type of, bool small)
{
  const float x = (int)(random32() % 512) - 256, scale = small ? 1.0f / 16 : 1.0f / (1 << random32() % 12);
  const float y = small ? (int)(random32() % 15) - 7.5f : x * 1.37f * scale;
  uint16_t bits;
  if (of == F16) {
    const __half h = __float2half_rn(y);
    memcpy(&bits, &h, 2);
  } else {
    const __nv_bfloat16 h = __float2bfloat16_rn(y);
    memcpy(&bits, &h, 2);
  }
  return bits;
}

static void fill(uint32_t *p, size_t words, type of, bool small)
{
  for (size_t i = 0; i < words; i++) {
    const float f = small ? (int)(random32() % 1000) - 500.5f : (random32() - 2147483648.0f) * 1e-7f;
    if (of == F16 || of == BF16) p[i] = random_half(of, small) | (uint32_t)random_half(of, small) << 16;
    else if (of == F32) memcpy(&p[i], &f, 4);
    else if (of == F64 && i % 2 == 0) {
      const double d = small ? f : f * 1.000000123;
      memcpy(&p[i], &d, 8);
    } else if (of != F64) p[i] = random32();
  }
}

template <typename T> static T combine(op how, T a, T b)
{
  return how == ADD ? a + b : how == MIN ? (b < a ? b : a) : (a < b ? b : a);
}

template <typename T> static T bitwise(op how, T a, T b)
{
  return how == AND ? a & b : how == OR ? a | b : how == XOR ? a ^ b : combine(how, a, b);
}

template <typename T, typename F> static void fold(uint32_t *out, const std::vector<const uint32_t *> &in, int i, F f)
{
  T r, x;
  memcpy(&r, in[0] + i, sizeof r);
  for (size_t k = 1; k < in.size(); k++) {
    memcpy(&x, in[k] + i, sizeof x);
    r = f(r, x);
  }
  memcpy(out, &r, sizeof r);
}

static float half_value(type of, uint32_t bits)
{
  const uint16_t b = (uint16_t)bits;
  __half h;
  __nv_bfloat16 g;
  memcpy(&h, &b, 2), memcpy(&g, &b, 2);
  return of == F16 ? __half2float(h) : __bfloat162float(g);
}

static uint32_t half_bits(type of, float x)
{
  const __half h = __float2half_rn(x);
  const __nv_bfloat16 g = __float2bfloat16_rn(x);
  uint16_t b;
  if (of == F16) memcpy(&b, &h, 2);
  else memcpy(&b, &g, 2);
  return b;
}

static uint32_t fold_half(const form &f, const std::vector<const uint32_t *> &in, int i, int shift)
{
  float r = half_value(f.of, in[0][i] >> shift);
  for (size_t k = 1; k < in.size(); k++) {
    r = combine(f.how, r, half_value(f.of, in[k][i] >> shift));
    if (!f.wide) r = half_value(f.of, half_bits(f.of, r));
  }
  return half_bits(f.of, r) << shift;
}

// The element that begins at word i, of all of them in order.
static int expected(const form &f, const std::vector<const uint32_t *> &in, int i, uint32_t out[2])
{
  const op how = f.how;
  switch (f.of) {
  case U32: fold<uint32_t>(out, in, i, [=](uint32_t a, uint32_t b) { return bitwise(how, a, b); }); return 1;
  case S32:
    if (how == ADD) fold<uint32_t>(out, in, i, [](uint32_t a, uint32_t b) { return a + b; });
    else fold<int32_t>(out, in, i, [=](int32_t a, int32_t b) { return combine(how, a, b); });
    return 1;
  case U64: fold<uint64_t>(out, in, i, [=](uint64_t a, uint64_t b) { return bitwise(how, a, b); }); return 2;
  case S64: fold<int64_t>(out, in, i, [=](int64_t a, int64_t b) { return combine(how, a, b); }); return 2;
  case F32: fold<float>(out, in, i, [](float a, float b) { return a + b; }); return 1;
  case F64: fold<double>(out, in, i, [](double a, double b) { return a + b; }); return 2;
  default: out[0] = fold_half(f, in, i, 0) | fold_half(f, in, i, 16); return 1;
  }
}

static bool same(const form &f, const char *what, int team, const std::vector<const uint32_t *> &in, const uint32_t *got,
                 int words)
{
  uint32_t want[2];
  for (int i = 0, n; i < words; i += n) {
    n = expected(f, in, i, want);
    if (memcmp(want, got + i, n * 4) == 0) continue;
    printf("%s.%s, %d GPUs, word %d: %08x, not %08x\n", what, f.name, team, i, got[i], want[0]);
    return false;
  }
  return true;
}

// --- tests ---------------------------------------------------------------------------------------

static std::vector<const uint32_t *> pointers(const std::vector<std::vector<uint32_t>> &v)
{
  std::vector<const uint32_t *> p;
  for (const auto &x : v) p.push_back(x.data());
  return p;
}

static void test_loads(const team &t)
{
  for (int which = 0; which < N_LOADS; which++) {
    const form &f = loads[which];
    const int words = f.words * THREADS;
    std::vector<std::vector<uint32_t>> in(t.n, std::vector<uint32_t>(words));
    std::vector<uint32_t> got(words);
    uint32_t *out;
    const int gpu = which % t.n;
    for (int i = 0; i < t.n; i++) {
      fill(in[i].data(), words, f.of, false);
      CUDA(cudaSetDevice(i));
      CU(cuMemcpyHtoD(t.own[i] + 256, in[i].data(), words * 4));
    }
    CUDA(cudaSetDevice(gpu));
    CUDA(cudaMalloc(&out, words * 4));
    load<<<1, THREADS, 0, t.stream[gpu]>>>(which, f.words, (uint32_t *)(t.all + 256), out);
    CUDA(cudaStreamSynchronize(t.stream[gpu]));
    CUDA(cudaMemcpy(got.data(), out, words * 4, cudaMemcpyDeviceToHost));
    CHECK(same(f, "ld_reduce", t.n, pointers(in), got.data(), words));
    CUDA(cudaFree(out));
  }
}

// All GPUs at once; floating point has sums that are exact in any order.
static void test_reds(const team &t)
{
  for (int which = 0; which < N_REDS; which++) {
    const form &f = reds[which];
    const int words = f.words * THREADS;
    std::vector<std::vector<uint32_t>> in(t.n + 1, std::vector<uint32_t>(words));
    std::vector<uint32_t *> operand(t.n);
    for (auto &x : in) fill(x.data(), words, f.of, true);
    for (int i = 0; i < t.n; i++) {
      CUDA(cudaSetDevice(i));
      CUDA(cudaMalloc(&operand[i], words * 4));
      CUDA(cudaMemcpy(operand[i], in[i + 1].data(), words * 4, cudaMemcpyHostToDevice));
      CU(cuMemcpyHtoD(t.own[i], in[0].data(), words * 4));
    }
    for (int i = 0; i < t.n; i++) {
      CUDA(cudaSetDevice(i));
      reduce<<<1, THREADS, 0, t.stream[i]>>>(which, f.words, (uint32_t *)t.all, operand[i]);
    }
    finish(t);
    for (int i = 0; i < t.n; i++) {
      std::vector<uint32_t> got(words);
      CUDA(cudaSetDevice(i));
      CU(cuMemcpyDtoH(got.data(), t.own[i], words * 4));
      CHECK(same(f, "red", t.n, pointers(in), got.data(), words));
      CUDA(cudaFree(operand[i]));
    }
  }
}

static void test_stores(const team &t)
{
  enum { WORDS = 512 };
  for (int i = 0; i < t.n; i++) {
    CUDA(cudaSetDevice(i));
    CU(cuMemsetD32(t.own[i], 0xabababab, WORDS * t.n));
  }
  for (int i = 0; i < t.n; i++) {
    CUDA(cudaSetDevice(i));
    store<<<1, 64, 0, t.stream[i]>>>((uint32_t *)t.all + WORDS * i, 1000 * (i + 1));
  }
  finish(t);
  for (int i = 0; i < t.n; i++) {
    std::vector<uint32_t> got(WORDS * t.n);
    CUDA(cudaSetDevice(i));
    CU(cuMemcpyDtoH(got.data(), t.own[i], got.size() * 4));
    for (uint32_t k = 0; k < 64u * t.n; k++) {
      const uint32_t *w = &got[k / 64 * WORDS], j = k % 64, seed = 1000 * (k / 64 + 1), a = seed + j;
      CHECK(w[j] == (j % 3 != 1 ? a : 0xabababab));
      CHECK(w[64 + 2 * j] == a && w[64 + 2 * j + 1] == ~a);
      CHECK(w[256 + 4 * j] == a && w[257 + 4 * j] == a * 3 && w[258 + 4 * j] == (a ^ seed) && w[259 + 4 * j] == j);
    }
  }
}

int main(int argc, char **argv)
{
  int supported = 0;
  CUDA(cudaFree(0));
  CU(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
  CHECK(supported == 1);
  for (int n = 2; n <= 8; n *= 2) {
    team t = make_team(n, 1);
    test_loads(t);
    test_stores(t);
    test_reds(t);
    end_team(t);
    printf("%d GPUs: %d loads, %d reductions, stores as expected\n", n, N_LOADS, N_REDS);
  }
}
