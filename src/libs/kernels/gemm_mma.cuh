// Products on tensor cores, of 16-bit numbers, of FP32 rounded to TF32, of FP8 made half precision on its way: mma.sync fed
// by ldmatrix from tiles that cp.async brings, three deep. A tile is kept as memory has it, rows along k or along m (n);
// ldmatrix turns the latter where elements have 16 bits. Chunks of 16 bytes are permuted within their rows so that the
// rows that are read at once lie in different banks.
#pragma once
#include "elements.cuh"
#include "gemm8_args.h"

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
__device__ inline void keep(unsigned to, const unsigned (&v)[4])
{
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]));
}

// How a chunk gets from memory, elements of type `memory`, into a tile, elements of type `kept`. Either at once, or
// its first n elements one by one.
template <typename E> struct as_it_is {
  using memory = E;
  using kept = E;
  __device__ as_it_is(int) {}
  __device__ void bring(unsigned to, const E *p, int n) const { ::bring(to, p, n * (int)sizeof(E)); }
  __device__ void bring_each(unsigned to, const E *p, int n) const
  {
    constexpr int IN_WORD = 4 / sizeof(E);
    unsigned v[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 4 * IN_WORD; i++)
      if (i < n) v[i / IN_WORD] |= (unsigned)p[i] << 16 * (i % IN_WORD);
    keep(to, v);
  }
};

// FP8 becomes half precision, which holds all its numbers.
struct from_fp8 {
  using memory = unsigned char;
  using kept = unsigned short;
  bool e5m2;
  __device__ from_fp8(int type) : e5m2(type == WS_E5M2) {}
  // Two numbers, in the low 16 bits.
  __device__ unsigned widen(unsigned two) const
  {
    if (e5m2) return (two & 0xff) << 8 | (two & 0xff00) << 16;
#if __CUDA_ARCH__ >= 900
    unsigned r;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((unsigned short)two));
    return r;
#else
    // Its exponent counts from 7, that of half precision from 15; subnormal ones come right by the product, too.
    const unsigned bits = (two & 0x7f) << 7 | (two & 0x7f00) << 15;
    const __half2 v = __hmul2(*(const __half2 *)&bits, __half2half2(__ushort_as_half(0x5c00))); // 256
    unsigned r = *(const unsigned *)&v;
    if ((two & 0x7f) == 0x7f) r |= 0x7fff; // not a number
    if ((two & 0x7f00) == 0x7f00) r |= 0x7fff0000;
    return r | (two & 0x80) << 8 | (two & 0x8000) << 16;
#endif
  }
  __device__ void put(unsigned to, uint2 w) const
  {
    const unsigned v[4] = {widen(w.x & 0xffff), widen(w.x >> 16), widen(w.y & 0xffff), widen(w.y >> 16)};
    keep(to, v);
  }
  __device__ void bring(unsigned to, const memory *p, int n) const
  {
    if (n == 8) put(to, *(const uint2 *)p);
    else bring_each(to, p, n);
  }
  __device__ void bring_each(unsigned to, const memory *p, int n) const
  {
    uint2 w = {0, 0};
#pragma unroll
    for (int i = 0; i < 8; i++)
      if (i < n) (i < 4 ? w.x : w.y) |= (unsigned)p[i] << 8 * (i & 3);
    put(to, w);
  }
};
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
struct tf32;
template <> __device__ inline void multiply<tf32>(float (&d)[4], const unsigned (&a)[4], const unsigned *b)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap(); // the host takes another kernel
#endif
}

// What a product reads of a fragment: FP32 is rounded to the nearest TF32, ties away from 0.
template <typename T> __device__ inline void round_to(unsigned (&)[4]) {}
template <> __device__ inline void round_to<tf32>(unsigned (&r)[4])
{
#if __CUDA_ARCH__ >= 800
#pragma unroll
  for (int i = 0; i < 4; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r[i]) : "f"(__uint_as_float(r[i])));
#endif
}

// A tile of W lines (rows of A, columns of B) by BK of k. A thread brings COUNT chunks, STEP rows of the tile apart.
template <typename WAY, int W, bool ALONG_K, int THREADS> struct tile {
  using memory = typename WAY::memory;
  static constexpr int SIZE = sizeof(typename WAY::kept), PER = 16 / SIZE, BK = 64 / SIZE, BYTES = W * 64;
  static constexpr int PER_ROW = ALONG_K ? 4 : W / PER, STEP = THREADS / PER_ROW;
  static constexpr int COUNT = W * 4 / THREADS, NEXT = STEP * PER_ROW * 16;
  static_assert(STEP % (ALONG_K || SIZE == 2 ? 8 : 4) == 0 && COUNT * THREADS == W * 4, "all chunks of a thread are permuted alike");
  const memory *at; // the thread's first chunk of the next tile
  int64_t ld;
  int k_end, lines, row, inner; // inner: of k along k, else the first line of the chunk
  bool vector, whole;           // whole: all lines of the tile are the matrix's
  WAY way;

  __device__ tile(const memory *base, int64_t ld_, int lines_, int first, int k0, int k_end_, bool vector_, int type)
      : ld(ld_), k_end(k_end_), lines(lines_), vector(vector_ && on_border(base)), whole(first + W <= lines_), way(type)
  {
    row = threadIdx.x / PER_ROW + (ALONG_K ? first : 0);
    inner = threadIdx.x % PER_ROW * PER + (ALONG_K ? 0 : first);
    at = base + (ALONG_K ? row * ld + k0 + inner : (k0 + row) * ld + inner);
  }
  static __device__ unsigned place(int row, int chunk)
  {
    if (ALONG_K) return row * 64 + (chunk ^ (row >> 1 & 3)) * 16;
    return row * (W * SIZE) + (chunk ^ (SIZE == 2 ? row & 7 : (row & 3) * 2)) * 16;
  }
  // At the matrix's edges: elements of each chunk that are there.
  __device__ void fetch_edge(unsigned to, int k0) const
  {
#pragma unroll 1
    for (int c = 0; c < COUNT; c++) {
      const bool there = ALONG_K ? row + c * STEP < lines : k0 + row + c * STEP < k_end;
      const int n = there ? max(0, min(PER, ALONG_K ? k_end - k0 - inner : lines - inner)) : 0;
      const memory *p = n ? at + c * STEP * ld : at;
      if (vector && n) way.bring(to + c * NEXT, p, n);
      else way.bring_each(to + c * NEXT, p, n);
    }
  }
  __device__ void fetch(unsigned to, int k0)
  {
    to += place(threadIdx.x / PER_ROW, threadIdx.x % PER_ROW);
    if (vector && whole && k0 + BK <= k_end) {
#pragma unroll
      for (int c = 0; c < COUNT; c++) way.bring(to + c * NEXT, at + c * STEP * ld, PER);
    } else {
      fetch_edge(to, k0);
    }
    at += ALONG_K ? BK : BK * ld;
  }
  // An element of 32 bits, in a tile whose rows lie along m (n).
  static __device__ unsigned word(unsigned at, int line, int k)
  {
    unsigned v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at + place(k, line / 4) + line % 4 * 4));
    return v;
  }
  // Fragments of 16 lines by two chunks of k, in the order of A's registers.
  static __device__ void as_a(unsigned (&r)[4], unsigned at, int line, int k)
  {
    const int lane = threadIdx.x & 31;
    if (ALONG_K) load_matrices<false>(r, at + place(line + lane % 16, k / PER + lane / 16));
    else if (SIZE == 2) load_matrices<true>(r, at + place(k + lane % 8 + lane / 16 * 8, line / 8 + (lane / 8 & 1)));
    else
#pragma unroll
      for (int i = 0; i < 4; i++) r[i] = word(at, line + lane / 4 + i % 2 * 8, k + lane % 4 + i / 2 * 4);
  }
  // The same of B: two registers each of lines 0 to 7 and 8 to 15.
  static __device__ void as_b(unsigned (&r)[4], unsigned at, int line, int k)
  {
    const int lane = threadIdx.x & 31;
    if (ALONG_K) load_matrices<false>(r, at + place(line + lane % 8 + lane / 16 * 8, k / PER + (lane / 8 & 1)));
    else if (SIZE == 2) load_matrices<true>(r, at + place(k + lane % 16, line / 8 + lane / 16));
    else
#pragma unroll
      for (int i = 0; i < 4; i++) r[i] = word(at, line + lane / 4 + i / 2 * 8, k + lane % 4 + i % 2 * 4);
  }
};

// The end of a product whose arguments are no more than those of all products.
struct plain_end : ender<float, float, 4> {
  using args = ws_gemm_args;
  static __device__ const ws_gemm_args &product(const args &p) { return p; }
  static __device__ int type_a(const args &) { return 0; }
  static __device__ int type_b(const args &) { return 0; }
  __device__ plain_end(const args &p, int64_t z) : ender<float, float, 4>(p, z) {}
};

// Sixteen rows of a warp's sums from shared memory to D, or to where the splits of k are added.
template <int WN, typename END>
__device__ void put_rows(const ws_gemm_args &p, const END &end, int64_t z, const float *own, int row, int col)
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

template <typename T, typename WAY, typename END, bool AK, bool BKK, int BM, int BN, int WM, int WN>
__device__ void gemm_mma(const typename END::args &args)
{
  constexpr int THREADS = BM / WM * (BN / WN) * 32, STAGES = 3, MT = WM / 16, NT = WN / 16;
  using tile_a = tile<WAY, BM, AK, THREADS>;
  using tile_b = tile<WAY, BN, BKK, THREADS>;
  using memory = typename WAY::memory;
  constexpr int BK = tile_a::BK;
  const ws_gemm_args &p = END::product(args);
  constexpr int STAGE = tile_a::BYTES + tile_b::BYTES;
  __shared__ __align__(128) unsigned char ring[STAGES * STAGE];
  const int64_t z = blockIdx.z + p.batch0;
  int row, col;
  tile_of((p.m + BM - 1) / BM, (p.n + BN - 1) / BN, row, col);
  const int k0 = blockIdx.y * p.k_per_split, k_end = min(p.k, k0 + p.k_per_split);
  tile_a a(of_batch<const memory>(p.a, p.stride_a, p.pointers, z), p.lda, p.m, row * BM, k0, k_end, p.a_vector,
           END::type_a(args));
  tile_b b(of_batch<const memory>(p.b, p.stride_b, p.pointers, z), p.ldb, p.n, col * BN, k0, k_end, p.b_vector,
           END::type_b(args));
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
    for (int kk = 0; kk < BK; kk += 2 * tile_a::PER) {
      unsigned x[MT][4], y[NT][4];
#pragma unroll
      for (int i = 0; i < MT; i++) tile_a::as_a(x[i], at, wm + i * 16, kk), round_to<T>(x[i]);
#pragma unroll
      for (int j = 0; j < NT; j++) tile_b::as_b(y[j], at + tile_a::BYTES, wn + j * 16, kk), round_to<T>(y[j]);
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
  const END end(args, z);
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

#define MMA_KERNEL(name, T, WAY, END, AK, BKK, BM, BN, WM, WN)                                         \
  extern "C" __global__ void __launch_bounds__(BM / WM *(BN / WN) * 32) name(const __grid_constant__ END::args p) \
  {                                                                                                    \
    gemm_mma<T, WAY, END, AK, BKK, BM, BN, WM, WN>(p);                                                 \
  }
// The letters: whether rows of A and columns of B lie along k in memory (k) or not (x).
#define MMA_KERNELS(prefix, T, E)                                                                  \
  MMA_KERNEL(prefix##_kk_128x128, T, as_it_is<E>, plain_end, true, true, 128, 128, 64, 64)         \
  MMA_KERNEL(prefix##_kx_128x128, T, as_it_is<E>, plain_end, true, false, 128, 128, 64, 64)        \
  MMA_KERNEL(prefix##_xk_128x128, T, as_it_is<E>, plain_end, false, true, 128, 128, 64, 64)        \
  MMA_KERNEL(prefix##_xx_128x128, T, as_it_is<E>, plain_end, false, false, 128, 128, 64, 64)       \
  MMA_KERNEL(prefix##_kk_64x64, T, as_it_is<E>, plain_end, true, true, 64, 64, 32, 32)             \
  MMA_KERNEL(prefix##_kx_64x64, T, as_it_is<E>, plain_end, true, false, 64, 64, 32, 32)            \
  MMA_KERNEL(prefix##_xk_64x64, T, as_it_is<E>, plain_end, false, true, 64, 64, 32, 32)            \
  MMA_KERNEL(prefix##_xx_64x64, T, as_it_is<E>, plain_end, false, false, 64, 64, 32, 32)
