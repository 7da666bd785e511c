// A pass of a Fourier transform: lines are loaded into shared memory, transformed there by Stockham's algorithm (results in
// order, two buffers), and stored. Radices 2, 3, 4, 5, 7 and 8 are written out, other primes are sums over a table of roots.
#include "elements.cuh"
#include "fft_args.h"

template <typename R> struct fft_room;
template <> struct fft_room<float> { static constexpr int elements = WS_FFT_ROOM_F32; };
template <> struct fft_room<double> { static constexpr int elements = WS_FFT_ROOM_F64; };

// i / x for small numbers, by ceil(2^32 / x); 0 stands for x = 1.
__device__ inline int quotient(int i, uint32_t magic) { return magic ? (int)__umulhi((uint32_t)i, magic) : i; }

// cos and sin of 2 pi k / r
template <typename R> __device__ constexpr R cosine(int r, int k)
{
  if (k == 0) return 1;
  if (r == 3) return -0.5;
  if (r == 5) return k == 1 || k == 4 ? (R)0.30901699437494742410 : (R)-0.80901699437494742410;
  if (k > 3) k = 7 - k;
  return k == 1 ? (R)0.62348980185873353053 : k == 2 ? (R)-0.22252093395631440429 : (R)-0.90096886790241912624;
}
template <typename R> __device__ constexpr R sine(int r, int k)
{
  const R sign = 2 * k > r ? -1 : 1;
  if (k == 0) return 0;
  if (2 * k > r) k = r - k;
  if (r == 3) return sign * (R)0.86602540378443864676;
  if (r == 5) return sign * (k == 1 ? (R)0.95105651629515357212 : (R)0.58778525229247312917);
  return sign * (k == 1 ? (R)0.78183148246802980871 : k == 2 ? (R)0.97492791218182360702 : (R)0.43388373911755812048);
}

// v[k] = sum over j of v[j] exp(-2 pi i j k / r), r odd: pairs j and r - j share their products.
template <int r, typename R> __device__ inline void small_odd(complex_of<R> *v)
{
  complex_of<R> plus[(r + 1) / 2], minus[(r + 1) / 2];
  const complex_of<R> first = v[0];
#pragma unroll
  for (int j = 1; j <= r / 2; j++) {
    plus[j] = v[j] + v[r - j];
    minus[j] = v[j] - v[r - j];
    v[0] = v[0] + plus[j];
  }
#pragma unroll
  for (int k = 1; k <= r / 2; k++) {
    complex_of<R> even = first, odd = {0, 0};
#pragma unroll
    for (int j = 1; j <= r / 2; j++) {
      const R c = cosine<R>(r, j * k % r), s = sine<R>(r, j * k % r);
      even = {even.x + c * plus[j].x, even.y + c * plus[j].y};
      odd = {odd.x + s * minus[j].x, odd.y + s * minus[j].y};
    }
    v[k] = {even.x + odd.y, even.y - odd.x};
    v[r - k] = {even.x - odd.y, even.y + odd.x};
  }
}

template <typename R> __device__ inline void two(complex_of<R> &a, complex_of<R> &b)
{
  const complex_of<R> d = a - b;
  a = a + b;
  b = d;
}
template <typename R> __device__ inline complex_of<R> by_minus_i(complex_of<R> v) { return {v.y, -v.x}; }

template <typename R> __device__ inline void four(complex_of<R> &a, complex_of<R> &b, complex_of<R> &c, complex_of<R> &d)
{
  two(a, c);
  two(b, d);
  d = by_minus_i(d);
  two(a, b);
  two(c, d);
  const complex_of<R> t = b; // a, b, c, d hold numbers 0, 2, 1, 3
  b = c;
  c = t;
}

template <int r, typename R> __device__ inline void small(complex_of<R> *v)
{
  if constexpr (r == 2) {
    two(v[0], v[1]);
  } else if constexpr (r == 4) {
    four(v[0], v[1], v[2], v[3]);
  } else if constexpr (r == 8) {
    const R h = (R)0.70710678118654752440;
    complex_of<R> e[4] = {v[0], v[2], v[4], v[6]}, o[4] = {v[1], v[3], v[5], v[7]};
    four(e[0], e[1], e[2], e[3]);
    four(o[0], o[1], o[2], o[3]);
    o[1] = {h * (o[1].x + o[1].y), h * (o[1].y - o[1].x)};
    o[2] = by_minus_i(o[2]);
    o[3] = {h * (o[3].y - o[3].x), -h * (o[3].x + o[3].y)};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      v[k] = e[k] + o[k];
      v[k + 4] = e[k] - o[k];
    }
  } else {
    small_odd<r>(v);
  }
}

// One stage with a radix of its own: number t of each line's n / r butterflies.
template <int r, typename R>
__device__ inline void stage(const ws_fft_args &p, const ws_fft_stage &s, const complex_of<R> *from, complex_of<R> *to)
{
  const complex_of<R> *roots = (const complex_of<R> *)p.roots;
  const int rest = p.n / r, all = rest << p.lines_bits;
  for (int i = threadIdx.x; i < all; i += blockDim.x) {
    const int line = quotient(i, s.magic_rest), t = i - line * rest;
    const int q = quotient(t, s.magic_done), at = t - q * s.done;
    const complex_of<R> *x = from + line * p.pitch + t;
    complex_of<R> *y = to + line * p.pitch + q * s.done * r + at, v[r];
#pragma unroll
    for (int k = 0; k < r; k++) v[k] = x[k * rest];
    if (s.done > 1) {
#pragma unroll
      for (int k = 1; k < r; k++) v[k] = v[k] * roots[k * at * s.step];
    }
    small<r>(v);
#pragma unroll
    for (int k = 0; k < r; k++) y[k * s.done] = v[k];
  }
}

// One with any prime: a thread makes number k of butterfly t.
template <typename R>
__device__ void any_stage(const ws_fft_args &p, const ws_fft_stage &s, const complex_of<R> *from, complex_of<R> *to)
{
  const complex_of<R> *roots = (const complex_of<R> *)p.roots;
  const int r = s.radix, rest = p.n / r, all = p.n << p.lines_bits;
  for (int i = threadIdx.x; i < all; i += blockDim.x) {
    const int line = quotient(i, p.magic_n), u = i - line * p.n;
    const int k = quotient(u, s.magic_rest), t = u - k * rest;
    const int q = quotient(t, s.magic_done), at = t - q * s.done;
    const complex_of<R> *x = from + line * p.pitch + t;
    int turn = at * s.step + k * rest, now = 0;
    if (turn >= p.n) turn -= p.n;
    complex_of<R> sum = x[0];
    for (int j = 1; j < r; j++) {
      now += turn;
      if (now >= p.n) now -= p.n;
      madd(sum, x[j * rest], roots[now]);
    }
    to[line * p.pitch + q * s.done * r + at + k * s.done] = sum;
  }
}

// What the lines of a CTA add to the index of a side and to d, and their twist.
struct line_place {
  int64_t in, out, in_d, out_d, twist;
};

__device__ inline line_place place_of(const ws_fft_args &p, int64_t line)
{
  line_place at = {};
  for (int k = 0; k < p.dims; k++) {
    const int64_t next = k + 1 < p.dims ? line / p.size[k] : 0, i = line - next * p.size[k];
    at.in += i * p.in.dim[k];
    at.out += i * p.out.dim[k];
    at.in_d += i * p.in.d_dim[k];
    at.out_d += i * p.out.d_dim[k];
    at.twist += i * p.twist[k];
    line = next;
  }
  return at;
}

template <typename R> __device__ inline complex_of<R> load(const ws_fft_side &s, int64_t base, int64_t d)
{
  if (d >= s.limit) return {0, 0};
  const bool mirror = s.half >= 0 && d > s.half;
  const int64_t at = base + (mirror ? s.full - d : d) * s.stride;
  complex_of<R> v = {0, 0};
  if (s.real) v.x = read_as<R>(s.at, s.type, at);
  else if (s.type == (sizeof(R) == 8 ? WS_F64 : WS_F32)) v = ((const complex_of<R> *)s.at)[at];
  else v = {read_as<R>(s.at, s.type, 2 * at), read_as<R>(s.at, s.type, 2 * at + 1)};
  if (mirror != (s.conj != 0)) v = conjugate(v);
  return s.factor ? v * ((const complex_of<R> *)s.factor)[d] : v;
}

template <typename R> __device__ inline void store(const ws_fft_side &s, int64_t base, int64_t d, complex_of<R> v)
{
  if (d >= s.limit) return;
  const int64_t at = base + d * s.stride;
  if (s.conj) v = conjugate(v);
  if (s.factor) v = v * ((const complex_of<R> *)s.factor)[d];
  if (s.conj_after) v = conjugate(v);
  if (s.real) write_as<R>(s.at, s.type, at, v.x);
  else if (s.type == (sizeof(R) == 8 ? WS_F64 : WS_F32)) ((complex_of<R> *)s.at)[at] = v;
  else write_as<R>(s.at, s.type, 2 * at, v.x), write_as<R>(s.at, s.type, 2 * at + 1, v.y);
}

template <typename R> __device__ inline complex_of<R> twisted(const ws_fft_args &p, complex_of<R> v, int64_t turns)
{
  const complex_of<R> a = ((const complex_of<R> *)p.coarse)[turns >> WS_FFT_ROOT_BITS];
  return v * (a * ((const complex_of<R> *)p.fine)[turns & ((1 << WS_FFT_ROOT_BITS) - 1)]);
}

template <typename R> __device__ void fft_pass(const ws_fft_args &p)
{
  __shared__ __align__(16) char room[2 * (fft_room<R>::elements + WS_FFT_LINES) * sizeof(complex_of<R>)];
  __shared__ line_place place[WS_FFT_LINES];
  complex_of<R> *from = (complex_of<R> *)room, *to = from + (p.pitch << p.lines_bits);
  const int64_t first = (int64_t)blockIdx.x << p.lines_bits;
  const int count = (int)min((int64_t)1 << p.lines_bits, p.lines - first), all = p.n << p.lines_bits;
  if (threadIdx.x < count) place[threadIdx.x] = place_of(p, first + threadIdx.x);
  __syncthreads();
  for (int i = threadIdx.x; i < all; i += blockDim.x) {
    const int e = p.in.by_line ? i >> p.lines_bits : i - quotient(i, p.magic_n) * p.n;
    const int line = p.in.by_line ? i & ((1 << p.lines_bits) - 1) : quotient(i, p.magic_n);
    complex_of<R> v = {0, 0};
    if (line < count) v = load<R>(p.in, place[line].in, e * p.in.each + place[line].in_d);
    from[line * p.pitch + e] = v;
  }
  for (int k = 0; k < p.stages; k++) {
    const ws_fft_stage &s = p.stage[k];
    __syncthreads();
    switch (s.radix) {
    case 2: stage<2>(p, s, from, to); break;
    case 3: stage<3>(p, s, from, to); break;
    case 4: stage<4>(p, s, from, to); break;
    case 5: stage<5>(p, s, from, to); break;
    case 7: stage<7>(p, s, from, to); break;
    case 8: stage<8>(p, s, from, to); break;
    default: any_stage(p, s, from, to);
    }
    complex_of<R> *t = from;
    from = to;
    to = t;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < all; i += blockDim.x) {
    const int e = p.out.by_line ? i >> p.lines_bits : i - quotient(i, p.magic_n) * p.n;
    const int line = p.out.by_line ? i & ((1 << p.lines_bits) - 1) : quotient(i, p.magic_n);
    if (line >= count) continue;
    complex_of<R> v = from[line * p.pitch + e];
    if (p.coarse) v = twisted(p, v, e * place[line].twist);
    store(p.out, place[line].out, e * p.out.each + place[line].out_d, v);
  }
}

extern "C" __global__ void __launch_bounds__(WS_FFT_THREADS) warpstep_fft_f32(const __grid_constant__ ws_fft_args p)
{
  fft_pass<float>(p);
}
extern "C" __global__ void __launch_bounds__(WS_FFT_THREADS) warpstep_fft_f64(const __grid_constant__ ws_fft_args p)
{
  fft_pass<double>(p);
}
