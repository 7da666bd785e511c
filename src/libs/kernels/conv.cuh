// Convolutions as products of a matrix with one that is gathered from a tensor while it is brought (conv_args.h).
#pragma once
#include "conv_args.h"
#include "memory.cuh"

enum { OUTSIDE = -(1 << 30) }; // a coordinate that no tensor has, alone or added to another

struct place {
  int source, other, at[3];
};

__device__ inline unsigned divide(unsigned n, ws_divider by) { return (__umulhi(n, by.mul) + n) >> by.shift; }

__device__ inline place place_of(const ws_digits &d, unsigned index)
{
  place p = {0, 0, {0, 0, 0}};
#pragma unroll
  for (int i = 3; i >= 0; i--) {
    const unsigned rest = i ? divide(index, d.by[i]) : 0;
    const int digit = (int)(index - rest * (i ? d.size[i] : 0));
    p.source += digit * d.source[i];
    p.other += digit * d.other[i];
#pragma unroll
    for (int c = 0; c < 3; c++) p.at[c] += digit * d.coordinate[i][c];
    index = rest;
  }
  return p;
}

// The element that a column's and a term's place together are; -1: outside.
template <bool STRIDED> __device__ inline int element_of(const ws_conv_args &p, const place &a, const int4 &b)
{
  int at[3] = {a.at[0] + b.y, a.at[1] + b.z, a.at[2] + b.w};
  int from = a.source + b.x;
  if (!STRIDED) {
    const bool in = (unsigned)at[0] < (unsigned)p.size[0] && (unsigned)at[1] < (unsigned)p.size[1] &&
                    (unsigned)at[2] < (unsigned)p.size[2];
    return in ? from : -1;
  }
  bool in = true;
#pragma unroll
  for (int i = 0; i < 3; i++) {
    const int q = at[i] < 0 ? 0 : (int)divide((unsigned)at[i], p.divide[i]);
    in = in && at[i] >= 0 && q < p.size[i] && q * p.divisor[i] == at[i];
    from += q * p.step[i];
  }
  return in ? from : -1;
}

// What becomes of a sum, `at` elements into out, of the given row of all groups.
template <typename T, typename C> __device__ inline void end_sum(const ws_conv_args &p, int64_t at, int row, C sum)
{
  C v = (C)p.alpha * sum;
  if (p.beta != 0) v += (C)p.beta * (C)memory<T>::load((const T *)p.out + at, 0, p.type);
  if (p.add) v += (C)p.add_alpha * (C)memory<T>::load((const T *)p.add + at, 0, p.type);
  if (p.bias) v += (C)memory<T>::load(p.bias, row, p.type);
  if (p.relu && v < 0) v = 0;
  memory<T>::store(p.out, at, v, p.type);
}

template <typename T, typename C, bool STRIDED, int BM, int BN, int BK, int TM, int TN> struct convolution {
  static constexpr int THREADS = BM * BN / TM / TN, GA = BM * BK / THREADS, GB = BN * BK / THREADS;
  static_assert(THREADS % BN == 0 && THREADS % BK == 0 && THREADS >= 32 + 0, "a thread has one column and one term");
  struct room {
    C a[2][BK][BM + 4], b[2][BK][BN + 4];
    int4 term[2][BK]; // places of the terms of the tile that is brought next, and of the one after
    int lhs[2][BK];
    int out[BN];
  };
  const ws_conv_args &p;
  room &s;
  const T *lhs, *source;
  place column;
  int first_row, k_end;
  C held_a[GA], held_b[GB];

  __device__ convolution(const ws_conv_args &p_, room &s_, int row, int col) : p(p_), s(s_)
  {
    lhs = (const T *)p.lhs + (int64_t)blockIdx.z * p.group_lhs;
    source = (const T *)p.source + (int64_t)blockIdx.z * p.group_source;
    first_row = row * BM + threadIdx.x / BK;
    const unsigned c = col * BN + threadIdx.x % BN;
    column = place_of(p.column, c);
    column.source += p.origin_source;
    for (int i = 0; i < 3; i++) column.at[i] = c < p.column.count ? column.at[i] + p.origin[i] : OUTSIDE;
    if (threadIdx.x < BN) s.out[threadIdx.x] = c < p.column.count ? column.other : -1;
  }
  // Places of the terms from `k` on.
  __device__ void locate(int slot, int k)
  {
    if (threadIdx.x >= BK) return;
    const int term = k + threadIdx.x;
    const place t = place_of(p.term, term);
    s.term[slot][threadIdx.x] = term < k_end ? make_int4(t.source, t.at[0], t.at[1], t.at[2])
                                             : make_int4(0, OUTSIDE, OUTSIDE, OUTSIDE);
    s.lhs[slot][threadIdx.x] = term < k_end ? t.other : -1;
  }
  __device__ void fetch(int slot)
  {
    const int from = s.lhs[slot][threadIdx.x % BK];
#pragma unroll
    for (int g = 0; g < GA; g++) {
      const int row = first_row + g * (THREADS / BK);
      held_a[g] = from >= 0 && row < p.rows ? (C)memory<T>::load(lhs, from + row * p.lhs_row, p.type) : (C)0;
    }
#pragma unroll
    for (int g = 0; g < GB; g++) {
      const int at = element_of<STRIDED>(p, column, s.term[slot][threadIdx.x / BN + g * (THREADS / BN)]);
      held_b[g] = at >= 0 ? (C)memory<T>::load(source, at, p.type) : (C)0;
    }
  }
  __device__ void keep(int slot)
  {
#pragma unroll
    for (int g = 0; g < GA; g++) s.a[slot][threadIdx.x % BK][threadIdx.x / BK + g * (THREADS / BK)] = held_a[g];
#pragma unroll
    for (int g = 0; g < GB; g++) s.b[slot][threadIdx.x / BN + g * (THREADS / BN)][threadIdx.x % BN] = held_b[g];
  }
  __device__ void multiply(C (&sum)[TM][TN], int slot) const
  {
    const int ty = threadIdx.x / (BN / TN) * TM, tx = threadIdx.x % (BN / TN) * TN;
#pragma unroll
    for (int kk = 0; kk < BK; kk++) {
      const group<C, TM> x = *(const group<C, TM> *)&s.a[slot][kk][ty];
      const group<C, TN> y = *(const group<C, TN> *)&s.b[slot][kk][tx];
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) sum[i][j] += x.v[i] * y.v[j];
    }
  }
  __device__ void put(const C (&sum)[TM][TN], int row, int col) const
  {
    const int ty = threadIdx.x / (BN / TN) * TM, tx = threadIdx.x % (BN / TN) * TN;
    C *part = (C *)p.partial + ((int64_t)blockIdx.z * p.splits + blockIdx.y) * p.rows * p.column.count;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int j = 0; j < TN; j++) {
        const int r = row * BM + ty + i, to = s.out[tx + j];
        if (r >= p.rows || to < 0) continue;
        if (p.splits > 1)
          part[(int64_t)r * p.column.count + col * BN + tx + j] = sum[i][j];
        else
          end_sum<T, C>(p, (int64_t)blockIdx.z * p.group_out + (int64_t)r * p.out_row + to,
                        blockIdx.z * p.rows + r, sum[i][j]);
      }
  }
};

template <typename T, typename C, bool STRIDED, int BM, int BN, int BK, int TM, int TN>
__device__ void convolve(const ws_conv_args &p)
{
  using conv = convolution<T, C, STRIDED, BM, BN, BK, TM, TN>;
  __shared__ __align__(16) typename conv::room room;
  int row, col;
  tile_of((p.rows + BM - 1) / BM, (p.column.count + BN - 1) / BN, row, col);
  conv c(p, room, row, col);
  const int k0 = blockIdx.y * p.per_split;
  c.k_end = min((int)p.term.count, k0 + p.per_split);
  C sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) sum[i][j] = 0;
  c.locate(0, k0);
  c.locate(1, k0 + BK);
  __syncthreads();
  c.fetch(0);
  c.keep(0);
  __syncthreads();
  int at = 0;
  for (int k = k0; k < c.k_end; k += BK, at ^= 1) {
    const bool more = k + BK < c.k_end;
    if (more) c.fetch(at ^ 1);
    c.locate(at, k + 2 * BK);
    c.multiply(sum, at);
    if (more) c.keep(at ^ 1);
    __syncthreads();
  }
  c.put(sum, row, col);
}

#define CONV_KERNEL(name, T, C, STRIDED, BM, BN, BK, TM, TN)                                                  \
  extern "C" __global__ void __launch_bounds__(BM *BN / TM / TN) name(const __grid_constant__ ws_conv_args p) \
  {                                                                                                           \
    convolve<T, C, STRIDED, BM, BN, BK, TM, TN>(p);                                                           \
  }
