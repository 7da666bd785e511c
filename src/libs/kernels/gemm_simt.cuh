// Products without tensor cores: tiles of A and B in shared memory, both with k outside, the next ones on their way in
// registers meanwhile; each thread has TM x TN sums in blocks of four rows and columns.
#pragma once
#include "elements.cuh"

template <typename T> __device__ inline void load4(T (&out)[4], const T *p, int64_t at, int valid, bool vector)
{
  if (vector && valid >= 4) {
    const group<T, 4> g = *(const group<T, 4> *)(p + at);
#pragma unroll
    for (int i = 0; i < 4; i++) out[i] = g.v[i];
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) out[i] = i < valid ? p[at + i] : zero<T>();
}

// One operand: W lines (rows of A, columns of B) by BK, of which a thread brings G groups of four.
template <typename T, typename C, int W, int BK, int THREADS> struct operand {
  static constexpr int G = W * BK / 4 / THREADS, PITCH = W + 4;
  static_assert(G * 4 * THREADS == W * BK, "a tile is whole groups");
  const T *base;
  int64_t ld;
  int lines, first; // of the matrix; of this CTA
  bool along_k, vector, conj;
  T held[G][4];

  __device__ void fetch(int k0, int k_end)
  {
#pragma unroll
    for (int g = 0; g < G; g++) {
      const int i = threadIdx.x + g * THREADS;
      if (along_k) {
        const int line = first + i / (BK / 4), k = k0 + i % (BK / 4) * 4;
        load4(held[g], base, line * ld + k, line < lines ? k_end - k : 0, vector);
      } else {
        const int k = k0 + i / (W / 4), line = first + i % (W / 4) * 4;
        load4(held[g], base, k * ld + line, k < k_end ? lines - line : 0, vector);
      }
    }
  }
  __device__ void keep(C (*tile)[PITCH]) const
  {
#pragma unroll
    for (int g = 0; g < G; g++) {
      const int i = threadIdx.x + g * THREADS;
      C v[4];
#pragma unroll
      for (int j = 0; j < 4; j++) v[j] = conj ? conjugate(from<C>(held[g][j])) : from<C>(held[g][j]);
      if (along_k) {
#pragma unroll
        for (int j = 0; j < 4; j++) tile[i % (BK / 4) * 4 + j][i / (BK / 4)] = v[j];
      } else {
        group<C, 4> w;
#pragma unroll
        for (int j = 0; j < 4; j++) w.v[j] = v[j];
        *(group<C, 4> *)&tile[i / (W / 4)][i % (W / 4) * 4] = w;
      }
    }
  }
};

template <typename T, typename C, typename S, int BM, int BN, int BK, int TM, int TN>
__device__ void gemm_simt(const ws_gemm_args &p)
{
  constexpr int THREADS = BM * BN / TM / TN, ACROSS = BN / TN;
  __shared__ __align__(16) C as[2][BK][BM + 4], bs[2][BK][BN + 4];
  const int64_t z = blockIdx.z + p.batch0;
  int row, col;
  tile_of((p.m + BM - 1) / BM, (p.n + BN - 1) / BN, row, col);
  const int k0 = blockIdx.y * p.k_per_split, k_end = min(p.k, k0 + p.k_per_split);
  operand<T, C, BM, BK, THREADS> a = {of_batch<const T>(p.a, p.stride_a, p.pointers, z), p.lda, p.m, row * BM,
                                      p.a_along_k != 0, p.a_vector != 0, p.conj_a != 0};
  operand<T, C, BN, BK, THREADS> b = {of_batch<const T>(p.b, p.stride_b, p.pointers, z), p.ldb, p.n, col * BN,
                                      p.b_along_k != 0, p.b_vector != 0, p.conj_b != 0};
  a.vector = a.vector && on_border(a.base);
  b.vector = b.vector && on_border(b.base);
  const int ty = threadIdx.x / ACROSS * 4, tx = threadIdx.x % ACROSS * 4;
  C sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) sum[i][j] = zero<C>();

  if (k0 < k_end) {
    a.fetch(k0, k_end);
    b.fetch(k0, k_end);
    a.keep(as[0]);
    b.keep(bs[0]);
  }
  __syncthreads();
  int at = 0;
  for (int k = k0; k < k_end; k += BK, at ^= 1) {
    const bool more = k + BK < k_end;
    if (more) {
      a.fetch(k + BK, k_end);
      b.fetch(k + BK, k_end);
    }
#pragma unroll
    for (int kk = 0; kk < BK; kk++) {
      C x[TM], y[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) *(group<C, 4> *)&x[i] = *(group<C, 4> *)&as[at][kk][ty + i * (BM / TM)];
#pragma unroll
      for (int j = 0; j < TN; j += 4) *(group<C, 4> *)&y[j] = *(group<C, 4> *)&bs[at][kk][tx + j * (BN / TN)];
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) madd(sum[i][j], x[i], y[j]);
    }
    if (more) {
      a.keep(as[at ^ 1]);
      b.keep(bs[at ^ 1]);
    }
    __syncthreads();
  }

  if (p.splits > 1) {
    C *to = (C *)p.partial + ((z * p.splits + blockIdx.y) * (int64_t)p.m) * p.n;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int j = 0; j < TN; j++) {
        const int r = row * BM + ty + i / 4 * 4 * (BM / TM) + i % 4, c = col * BN + tx + j / 4 * 4 * (BN / TN) + j % 4;
        if (r < p.m && c < p.n) to[(int64_t)r * p.n + c] = sum[i][j];
      }
    return;
  }
  const ender<S, C, 4> end(p, z);
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j += 4)
      end.put(p, row * BM + ty + i / 4 * 4 * (BM / TM) + i % 4, col * BN + tx + j * (BN / TN), &sum[i][j]);
}

#define SIMT_KERNEL(name, T, C, S, BM, BN, BK, TM, TN)                                                  \
  extern "C" __global__ void __launch_bounds__(BM *BN / TM / TN, 2) name(const __grid_constant__ ws_gemm_args p) \
  {                                                                                                    \
    gemm_simt<T, C, S, BM, BN, BK, TM, TN>(p);                                                         \
  }
