// Reductions of numbers as the PTX ISA has them (cp.reduce.async.bulk, cp.reduce.async.bulk.tensor), by the bits of the numbers; values
// to try them with.
#pragma once
#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

enum Kind { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, KINDS };
enum Op { ADD, MIN, MAX, INC, DEC, AND, OR, XOR, NONE };

static int size_of(Kind t)
{
  const int size[KINDS] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4};
  return size[t];
}

// What stands for a number out of bounds; 0: the kind has no NaN.
static uint64_t nan_of(Kind t)
{
  const uint64_t nan[KINDS] = {0, 0, 0, 0, 0, 0, 0x7fff, 0x7fffffff, 0x7fffffffffffffff, 0x7fff, 0x7fffffff};
  return nan[t];
}

static uint64_t flushed(Kind t, uint64_t x)
{
  return t == F32_FTZ && !(x & 0x7f800000) ? x & 0x80000000 : x;
}

static uint64_t state;

static unsigned draw(unsigned n) // 0 to n - 1
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)((state >> 33) % n);
}

static int between(int low, int high)
{
  return low + (int)draw(high - low + 1);
}

template <typename T> static T combine_integers(Op op, T a, T b)
{
  switch (op) {
  case ADD: return a + b;
  case MIN: return a < b ? a : b;
  case MAX: return a > b ? a : b;
  case INC: return a >= b ? 0 : a + 1;
  case DEC: return a == 0 || a > b ? b : a - 1;
  case AND: return a & b;
  case OR: return a | b;
  default: return a ^ b;
  }
}

static float float_of(uint64_t v)
{
  uint32_t x = (uint32_t)v;
  float f;
  memcpy(&f, &x, 4);
  return f;
}

static double value(Kind t, uint64_t v)
{
  double d;
  switch (t) {
  case F16: return __half2float(__half(__half_raw{(unsigned short)v}));
  case BF16: return float_of(v << 16);
  case F64: memcpy(&d, &v, 8); return d;
  default: return float_of(v);
  }
}

// The sum of two numbers in double is exact, or rounded to odd enough for FP16 and BF16; of FP32 the host rounds itself.
static uint64_t sum(Kind t, uint64_t a, uint64_t b)
{
  uint64_t r = 0;
  const double exact = value(t, a) + value(t, b);
  if (t == F16) {
    const __half_raw h = __double2half(exact);
    return h.x;
  }
  if (t == BF16) {
    const __nv_bfloat16_raw h = __float2bfloat16_rn((float)exact);
    return h.x;
  }
  if (t == F64) {
    memcpy(&r, &exact, 8);
    return r;
  }
  const float f = float_of(flushed(t, a)) + float_of(flushed(t, b));
  memcpy(&r, &f, 4);
  return flushed(t, r);
}

static bool is_float(Kind t)
{
  return nan_of(t);
}

static bool is_nan(Kind t, uint64_t v)
{
  return is_float(t) && value(t, v) != value(t, v);
}

static uint64_t combine(Kind t, Op op, uint64_t a, uint64_t b)
{
  if (op == NONE) return b;
  if (is_float(t)) {
    if (op == ADD) return sum(t, a, b);
    if (is_nan(t, a) || is_nan(t, b)) return is_nan(t, a) ? b : a;
    return (value(t, a) < value(t, b)) == (op == MIN) ? a : b;
  }
  switch (t) {
  case U32: return combine_integers<uint32_t>(op, a, b);
  case S32: return (uint32_t)combine_integers<int32_t>(op, a, b);
  case S64: return combine_integers<int64_t>(op, a, b);
  default: return combine_integers<uint64_t>(op, a, b);
  }
}

// PTX ISA, cp.reduce.async.bulk.tensor: which types an operation has.
static bool possible(Kind t, Op op)
{
  const bool half = t == F16 || t == BF16;
  if (op == NONE) return true;
  if (size_of(t) == 1 || t == U16) return false;
  if (op == INC || op == DEC) return t == U32;
  if (op == AND || op == OR || op == XOR) return !is_float(t);
  if (op == ADD) return t != S64;
  return !is_float(t) || half;
}

static bool same(Kind t, Op op, uint64_t have, uint64_t want)
{
  if (have == want || (op != NONE && is_nan(t, have) && is_nan(t, want))) return true;
  return (op == MIN || op == MAX) && is_float(t) && value(t, have) == 0 && value(t, want) == 0; // which zero is not promised
}

// Both numbers of a reduction: small ones, equal ones, ends of ranges, two subnormal ones (v's pairs are those of `other`, over again).
static void draw_values(Kind t, std::vector<unsigned char> &v, std::vector<unsigned char> &other)
{
  const int size = size_of(t);
  for (size_t i = 0; i + size <= v.size(); i += size) {
    const uint64_t edges[] = {0, 1, ~0ull, 1ull << (size * 8 - 1), 3, 7};
    const uint64_t x = edges[draw(6)];
    unsigned char *pair = &other[i % (other.size() / 8 * 8)];
    switch (draw(5)) {
    case 0: memcpy(&v[i], &x, size); break;
    case 1: memcpy(&v[i], pair, size); break;
    case 2: v[i + size - 1] &= 0x80, pair[size - 1] &= 0x80; break; // or nearly subnormal
    default: break;
    }
  }
}
