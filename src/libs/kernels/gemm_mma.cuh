// Products of 16-bit numbers on tensor cores: mma.sync fed by ldmatrix from tiles that cp.async brings, three deep. A
// tile is kept as memory has it, rows along k or along m (n); ldmatrix turns the latter. Chunks of 16 bytes are
// permuted within their rows so that eight rows' chunks lie in different banks.
#pragma once
#include "elements.cuh"

__device__ inline unsigned shared_at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// 16 bytes into shared memory, of which the first `bytes` are read and the others 0.
__device__ inline void bring(unsigned to, const void *p, int bytes)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(p), "r"(bytes));
#else
  uint4 v = {0, 0, 0, 0};
  if (bytes == 16) v = *(const uint4 *)p;
  else
    for (int i = 0; i < bytes / 2; i++) ((unsigned short *)&v)[i] = ((const unsigned short *)p)[i];
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
#endif
}
__device__ inline void bring_each(unsigned to, const unsigned short *p, int n)
{
  unsigned v[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 8; i++)
    if (i < n) v[i / 2] |= (unsigned)p[i] << 16 * (i & 1);
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]));
}
__device__ inline void commit()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}
template <int N> __device__ inline void wait()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N));
#endif
}

template <bool TURN> __device__ inline void load_matrices(unsigned (&r)[4], unsigned at)
{
  if (TURN)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}

template <typename T> __device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned *b);
template <> __device__ inline void multiply<__half>(float (&d)[4], const unsigned (&a)[4], const unsigned *b)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  for (int i = 0; i < 2; i++)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
#endif
}
template <> __device__ inline void multiply<__nv_bfloat16>(float (&d)[4], const unsigned (&a)[4], const unsigned *b)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap(); // the host takes another kernel
#endif
}

// A tile of W lines (rows of A, columns of B) by 32 of k. A thread brings COUNT chunks, STEP rows of the tile apart.
template <int W, bool ALONG_K, int THREADS> struct tile {
  static constexpr int BK = 32, BYTES = W * BK * 2, PER_ROW = ALONG_K ? 4 : W / 8, STEP = THREADS / PER_ROW;
  static constexpr int COUNT = W * BK / 8 / THREADS, NEXT = STEP * PER_ROW * 16;
  static_assert(STEP % 8 == 0 && COUNT * THREADS * 8 == W * BK, "all chunks of a thread are permuted alike");
  const unsigned short *at; // the thread's first chunk of the next tile
  int64_t ld;
  int k_end, lines, row, inner; // inner: of k along k, else the first line of the chunk
  bool vector, whole;           // whole: all lines of the tile are the matrix's

  __device__ tile(const unsigned short *base, int64_t ld_, int lines_, int first, int k0, int k_end_, bool vector_)
      : ld(ld_), k_end(k_end_), lines(lines_), vector(vector_ && on_border(base)), whole(first + W <= lines_)
  {
    row = threadIdx.x / PER_ROW + (ALONG_K ? first : 0);
    inner = threadIdx.x % PER_ROW * 8 + (ALONG_K ? 0 : first);
    at = base + (ALONG_K ? row * ld + k0 + inner : (k0 + row) * ld + inner);
  }
  static __device__ unsigned place(int row, int chunk)
  {
    if (ALONG_K) return row * 64 + (chunk ^ (row >> 1 & 3)) * 16;
    return row * (W * 2) + (chunk ^ (row & 7)) * 16;
  }
  // At the matrix's edges: elements of each chunk that are there.
  __device__ void fetch_edge(unsigned to, int k0) const
  {
#pragma unroll 1
    for (int c = 0; c < COUNT; c++) {
      const bool there = ALONG_K ? row + c * STEP < lines : k0 + row + c * STEP < k_end;
      const int n = there ? max(0, min(8, ALONG_K ? k_end - k0 - inner : lines - inner)) : 0;
      const unsigned short *p = n ? at + c * STEP * ld : at;
      if (vector && n) bring(to + c * NEXT, p, n * 2);
      else bring_each(to + c * NEXT, p, n);
    }
  }
  __device__ void fetch(unsigned to, int k0)
  {
    to += place(threadIdx.x / PER_ROW, threadIdx.x % PER_ROW);
    if (vector && whole && k0 + BK <= k_end) {
#pragma unroll
      for (int c = 0; c < COUNT; c++) bring(to + c * NEXT, at + c * STEP * ld, 16);
    } else {
      fetch_edge(to, k0);
    }
    at += ALONG_K ? BK : BK * ld;
  }
  // Fragments of 16 lines by 16 of k, in the order of A's registers.
  static __device__ void as_a(unsigned (&r)[4], unsigned at, int line, int k)
  {
    const int lane = threadIdx.x & 31;
    if (ALONG_K) load_matrices<false>(r, at + place(line + lane % 16, k / 8 + lane / 16));
    else load_matrices<true>(r, at + place(k + lane % 8 + lane / 16 * 8, line / 8 + (lane / 8 & 1)));
  }
  // The same of B: two registers each of lines 0 to 7 and 8 to 15.
  static __device__ void as_b(unsigned (&r)[4], unsigned at, int line, int k)
  {
    const int lane = threadIdx.x & 31;
    if (ALONG_K) load_matrices<false>(r, at + place(line + lane % 8 + lane / 16 * 8, k / 8 + (lane / 8 & 1)));
    else load_matrices<true>(r, at + place(k + lane % 16, line / 8 + lane / 16));
  }
};

// Sixteen rows of a warp's sums from shared memory to D, or to where the splits of k are added.
template <int WN>
__device__ void put_rows(const ws_gemm_args &p, const ender<float, float, 4> &end, int64_t z,
                                      const float *own, int row, int col)
{
  float *to = p.splits > 1 ? (float *)p.partial + ((z * p.splits + blockIdx.y) * (int64_t)p.m) * p.n : nullptr;
#pragma unroll 1
  for (int i = threadIdx.x % 32; i < 16 * WN / 4; i += 32) {
    const int r = i / (WN / 4), c = i % (WN / 4) * 4;
    float v[4];
    *(float4 *)v = *(const float4 *)&own[r * (WN + 4) + c];
    if (!to) {
      end.put(p, row + r, col + c, v);
      continue;
    }
    for (int e = 0; e < 4; e++)
      if (row + r < p.m && col + c + e < p.n) to[(int64_t)(row + r) * p.n + col + c + e] = v[e];
  }
}

template <typename T, bool AK, bool BKK, int BM, int BN, int WM, int WN>
__device__ void gemm_mma(const ws_gemm_args &p)
{
  constexpr int THREADS = BM / WM * (BN / WN) * 32, STAGES = 3, BK = 32, MT = WM / 16, NT = WN / 16;
  using tile_a = tile<BM, AK, THREADS>;
  using tile_b = tile<BN, BKK, THREADS>;
  constexpr int STAGE = tile_a::BYTES + tile_b::BYTES;
  __shared__ __align__(128) unsigned char ring[STAGES * STAGE];
  const int64_t z = blockIdx.z + p.batch0;
  int row, col;
  tile_of((p.m + BM - 1) / BM, (p.n + BN - 1) / BN, row, col);
  const int k0 = blockIdx.y * p.k_per_split, k_end = min(p.k, k0 + p.k_per_split);
  tile_a a(of_batch<const unsigned short>(p.a, p.stride_a, p.pointers, z), p.lda, p.m, row * BM, k0, k_end, p.a_vector);
  tile_b b(of_batch<const unsigned short>(p.b, p.stride_b, p.pointers, z), p.ldb, p.n, col * BN, k0, k_end, p.b_vector);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;
  const unsigned base = shared_at(ring);
  float sum[MT][NT * 2][4] = {};

  int next = k0; // the next k to bring
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++, next += BK) {
    if (next < k_end) {
      a.fetch(base + s * STAGE, next);
      b.fetch(base + s * STAGE + tile_a::BYTES, next);
    }
    commit();
  }
  int read = 0, write = STAGES - 1;
  for (int k = k0; k < k_end; k += BK) {
    wait<STAGES - 2>();
    __syncthreads();
    if (next < k_end) {
      a.fetch(base + write * STAGE, next);
      b.fetch(base + write * STAGE + tile_a::BYTES, next);
    }
    commit();
    next += BK;
    const unsigned at = base + read * STAGE;
#pragma unroll
    for (int kk = 0; kk < BK; kk += 16) {
      unsigned x[MT][4], y[NT][4];
#pragma unroll
      for (int i = 0; i < MT; i++) tile_a::as_a(x[i], at, wm + i * 16, kk);
#pragma unroll
      for (int j = 0; j < NT; j++) tile_b::as_b(y[j], at + tile_a::BYTES, wn + j * 16, kk);
#pragma unroll
      for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT * 2; j++) multiply<T>(sum[i][j], x[i], &y[j / 2][j % 2 * 2]);
    }
    read = read == STAGES - 1 ? 0 : read + 1;
    write = write == STAGES - 1 ? 0 : write + 1;
  }
  wait<0>();

  // Sums reach memory by way of shared memory, sixteen rows of a warp at a time, so that lanes store neighbours.
  __syncthreads();
  constexpr int PITCH = WN + 4;
  static_assert(BM / WM * (BN / WN) * 16 * PITCH * 4 <= STAGES * STAGE, "fits");
  float *own = (float *)ring + warp * 16 * PITCH;
  const ender<float, float, 4> end(p, z);
#pragma unroll
  for (int i = 0; i < MT; i++) {
    __syncwarp();
#pragma unroll
    for (int j = 0; j < NT * 2; j++) {
      *(float2 *)&own[lane / 4 * PITCH + j * 8 + lane % 4 * 2] = make_float2(sum[i][j][0], sum[i][j][1]);
      *(float2 *)&own[(lane / 4 + 8) * PITCH + j * 8 + lane % 4 * 2] = make_float2(sum[i][j][2], sum[i][j][3]);
    }
    __syncwarp();
    put_rows<WN>(p, end, z, own, row * BM + wm + i * 16, col * BN + wn);
  }
}

#define MMA_KERNEL(name, T, AK, BKK, BM, BN, WM, WN)                                                   \
  extern "C" __global__ void __launch_bounds__(BM / WM *(BN / WN) * 32) name(const __grid_constant__ ws_gemm_args p) \
  {                                                                                                    \
    gemm_mma<T, AK, BKK, BM, BN, WM, WN>(p);                                                           \
  }
// The letters: whether rows of A and columns of B lie along k in memory (k) or not (x).
#define MMA_KERNELS(prefix, T)                                                  \
  MMA_KERNEL(prefix##_kk_128x128, T, true, true, 128, 128, 64, 64)              \
  MMA_KERNEL(prefix##_kx_128x128, T, true, false, 128, 128, 64, 64)             \
  MMA_KERNEL(prefix##_xk_128x128, T, false, true, 128, 128, 64, 64)             \
  MMA_KERNEL(prefix##_xx_128x128, T, false, false, 128, 128, 64, 64)            \
  MMA_KERNEL(prefix##_kk_64x64, T, true, true, 64, 64, 32, 32)                  \
  MMA_KERNEL(prefix##_kx_64x64, T, true, false, 64, 64, 32, 32)                 \
  MMA_KERNEL(prefix##_xk_64x64, T, false, true, 64, 64, 32, 32)                 \
  MMA_KERNEL(prefix##_xx_64x64, T, false, false, 64, 64, 32, 32)
