// Products on tensor cores, of 16-bit numbers, of FP32 rounded to TF32, of FP8 made half precision on its way: mma.sync fed
// by ldmatrix from tiles that cp.async brings, three or four deep. A tile is kept as memory has it, rows along k or along m (n);
// ldmatrix turns the latter where elements have 16 bits. Chunks of 16 bytes are permuted within their rows so that the
// rows that are read at once lie in different banks.
#pragma once
#include "gemm8_args.h"
#include "gemm_parts.cuh"

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
  int64_t ld, step;             // step: from one of its chunks to the next
  unsigned own;                 // the place of the first
  int k_end, lines, row, inner; // inner: of k along k, else the first line of the chunk
  bool vector, whole;           // whole: all lines of the tile are the matrix's
  WAY way;

  __device__ tile(const memory *base, int64_t ld_, int lines_, int first, int k0, int k_end_, bool vector_, int type)
      : ld(ld_), step(STEP * ld_), own(place(threadIdx.x / PER_ROW, threadIdx.x % PER_ROW)), k_end(k_end_), lines(lines_), vector(vector_ && on_border(base)), whole(first + W <= lines_), way(type)
  {
    row = threadIdx.x / PER_ROW + (ALONG_K ? first : 0);
    inner = threadIdx.x % PER_ROW * PER + (ALONG_K ? 0 : first);
    at = base + (ALONG_K ? row * ld + k0 + inner : (k0 + row) * ld + inner);
    asm("" : "+r"(own), "+l"(step));
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
  __device__ bool plain() const { return vector && whole; }
  // A tile of which all is there.
  __device__ void fetch_plain(unsigned to)
  {
    const memory *p = at;
#pragma unroll
    for (int c = 0; c < COUNT; c++, p += step) way.bring(to + own + c * NEXT, p, PER);
    at += ALONG_K ? BK : BK * ld;
  }
  __device__ void fetch(unsigned to, int k0)
  {
    if (plain() && k0 + BK <= k_end) return fetch_plain(to);
    fetch_edge(to + own, k0);
    at += ALONG_K ? BK : BK * ld;
  }
};

// What a warp reads of a tile: fragments of 16 lines from W on by two chunks of k, in the order of A's registers or of B's (two
// registers each of lines 0 to 7 and 8 to 15). Places are worked out once; the rest of an address is known to the compiler.
template <typename TILE, int W, bool ALONG_K, bool B, int LINES> struct reader {
  static constexpr int SIZE = TILE::SIZE, STEP_K = 2 * TILE::PER, ROW = W * SIZE;
  static constexpr int COUNT = ALONG_K ? 2 : SIZE == 2 ? LINES / 16 : 4;
  unsigned off[COUNT];

  __device__ reader(int from)
  {
    const int lane = threadIdx.x & 31, half = lane / 16, quarter = lane / 8 & 1;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      if (ALONG_K) off[i] = TILE::place(from + (B ? lane % 8 + half * 8 : lane % 16), i * 2 + (B ? quarter : half));
      else if (SIZE == 2)
        off[i] = TILE::place(B ? lane % 16 : lane % 8 + half * 8, from / 8 + i * 2 + (B ? half : quarter));
      else
        off[i] = TILE::place(lane % 4, from / 4 + i % 2 * 4 + i / 2 * 2 + half) + lane / 4 % 4 * 4;
      asm("" : "+r"(off[i])); // kept, not worked out again
    }
  }
  static __device__ unsigned word(unsigned at)
  {
    unsigned v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
  }
  // Fragment i of those at k step kk, of the tile at `at`.
  __device__ void load(unsigned (&r)[4], unsigned at, int i, int kk) const
  {
    if (ALONG_K) load_matrices<false>(r, at + off[kk] + i * 16 * 64);
    else if (SIZE == 2) load_matrices<true>(r, at + off[i] + kk * STEP_K * ROW);
    else
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const int second_lines = B ? e / 2 : e % 2, second_k = B ? e % 2 : e / 2;
        r[e] = word(at + off[second_lines * 2 + i % 2] + i / 2 * 128 + (kk * STEP_K + second_k * 4) * ROW);
      }
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

// Sixteen rows of a warp's sums into shared memory.
template <int NT, int PITCH> __device__ inline void keep_sums(float *own, const float (&sum)[NT * 2][4])
{
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < NT * 2; j++) {
    *(float2 *)&own[lane / 4 * PITCH + j * 8 + lane % 4 * 2] = make_float2(sum[j][0], sum[j][1]);
    *(float2 *)&own[(lane / 4 + 8) * PITCH + j * 8 + lane % 4 * 2] = make_float2(sum[j][2], sum[j][3]);
  }
}

// Sixteen rows of a warp's sums from shared memory to where the splits of k are added, rows of WIDTH.
template <int WN, int WIDTH> __device__ inline void put_part(float *to, const float *own)
{
#pragma unroll
  for (int j = 0; j < WN / 8; j++) {
    const int i = j * 32 + threadIdx.x % 32, r = i / (WN / 4), c = i % (WN / 4) * 4;
    *(float4 *)&to[r * WIDTH + c] = *(const float4 *)&own[r * (WN + 4) + c];
  }
}

// Sixteen rows of a warp's sums from shared memory to D.
template <int WN, typename END>
__device__ void put_rows(const ws_gemm_args &p, const END &end, const float *own, int row, int col)
{
  if (end.plain && row + 16 <= p.m && col + WN <= p.n) {
#pragma unroll
    for (int j = 0; j < WN / 8; j++) {
      const int i = j * 32 + threadIdx.x % 32, r = i / (WN / 4), c = i % (WN / 4) * 4;
      end.put_plain(p, row + r, col + c, *(const float4 *)&own[r * (WN + 4) + c]);
    }
    return;
  }
#pragma unroll 1
  for (int i = threadIdx.x % 32; i < 16 * WN / 4; i += 32) {
    const int r = i / (WN / 4), c = i % (WN / 4) * 4;
    float v[4];
    *(float4 *)v = *(const float4 *)&own[r * (WN + 4) + c];
    end.put(p, row + r, col + c, v);
  }
}

// The fragments of one step of k.
template <typename T, int MT, int NT> struct fragments {
  unsigned x[MT][4], y[NT][4];
  template <typename RA, typename RB> __device__ void load(const RA &a, const RB &b, unsigned at, unsigned bt, int kk)
  {
#pragma unroll
    for (int i = 0; i < MT; i++) a.load(x[i], at, i, kk), round_to<T>(x[i]);
#pragma unroll
    for (int j = 0; j < NT; j++) b.load(y[j], bt, j, kk), round_to<T>(y[j]);
  }
  __device__ void add_to(float (&sum)[MT][NT * 2][4]) const
  {
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
      for (int j = 0; j < NT * 2; j++) multiply<T>(sum[i][j], x[i], &y[j / 2][j % 2 * 2]);
  }
};

// Tiles come into a ring of STAGES; fragments of a step are read while those of the step before are multiplied, and a
// tile takes the place of the one whose last fragments have been read.
// F: the fragments; they add themselves to what they are given.
template <typename F, typename A, typename B, typename RA, typename RB, int STAGES> struct pipeline {
  static constexpr int BK = A::BK, STAGE = A::BYTES + B::BYTES;
  A &a;
  B &b;
  const RA &ra;
  const RB &rb;
  unsigned base, at;
  int next, k_end; // next: the next k to bring
  F f[2];

  __device__ pipeline(A &a_, B &b_, const RA &ra_, const RB &rb_, unsigned ring, int k0, int end)
      : a(a_), b(b_), ra(ra_), rb(rb_), base(ring), at(ring), next(k0), k_end(end)
  {
#pragma unroll 1
    for (int s = 0; s < STAGES; s++) bring<false>(base + s * STAGE);
    wait<STAGES - 1>();
    __syncthreads();
    f[0].load(ra, rb, at, at + A::BYTES, 0);
  }
  template <bool PLAIN> __device__ void bring(unsigned to)
  {
    if (PLAIN) {
      a.fetch_plain(to);
      b.fetch_plain(to + A::BYTES);
    } else if (next < k_end) {
      a.fetch(to, next);
      b.fetch(to + A::BYTES, next);
    }
    commit();
    next += BK;
  }
  template <bool PLAIN, typename SUM> __device__ void turn(SUM &sum)
  {
    f[1].load(ra, rb, at, at + A::BYTES, 1);
    f[0].add_to(sum);
    wait<STAGES - 2>();
    __syncthreads();
    bring<PLAIN>(at);
    at = at == base + (STAGES - 1) * STAGE ? base : at + STAGE;
    // Behind the last tile this reads what nobody uses.
    f[0].load(ra, rb, at, at + A::BYTES, 0);
    f[1].add_to(sum);
  }
  template <typename SUM> __device__ void run(int k0, SUM &sum)
  {
    int k = k0;
    // Without a branch as long as whole tiles are to be brought.
    if (a.plain() && b.plain())
#pragma unroll 1
      for (; next + BK <= k_end; k += BK) turn<true>(sum);
#pragma unroll 1
    for (; k < k_end; k += BK) turn<false>(sum);
    wait<0>();
  }
};

template <typename T, typename WAY, typename END, bool AK, bool BKK, int BM, int BN, int WM, int WN, int STAGES>
__device__ void gemm_mma(const typename END::args &args)
{
  constexpr int THREADS = BM / WM * (BN / WN) * 32, MT = WM / 16, NT = WN / 16;
  using tile_a = tile<WAY, BM, AK, THREADS>;
  using tile_b = tile<WAY, BN, BKK, THREADS>;
  using memory = typename WAY::memory;
  const ws_gemm_args &p = END::product(args);
  extern __shared__ __align__(128) unsigned char ring[]; // STAGES * (BM + BN) * 64 bytes
  const int64_t z = blockIdx.z + p.batch0;
  const part q = part_of<BM, BN>(p, z);
  tile_a a(of_batch<const memory>(p.a, p.stride_a, p.pointers, z), p.lda, p.m, q.row, q.k0, q.k_end, p.a_vector,
           END::type_a(args));
  tile_b b(of_batch<const memory>(p.b, p.stride_b, p.pointers, z), p.ldb, p.n, q.col, q.k0, q.k_end, p.b_vector,
           END::type_b(args));
  const int warp = threadIdx.x / 32;
  const int wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;
  float sum[MT][NT * 2][4] = {};
  {
    const reader<tile_a, BM, AK, false, WM> ra(wm);
    const reader<tile_b, BN, BKK, true, WN> rb(wn);
    pipeline<fragments<T, MT, NT>, tile_a, tile_b, decltype(ra), decltype(rb), STAGES>(a, b, ra, rb, shared_at(ring), q.k0, q.k_end).run(q.k0, sum);
  }

  // Sums reach memory by way of shared memory, sixteen rows of a warp at a time, so that lanes store neighbours.
  __syncthreads();
  constexpr int PITCH = WN + 4;
  static_assert(BM / WM * (BN / WN) * 16 * PITCH * 4 <= STAGES * (BM + BN) * 64, "fits");
  float *own = (float *)ring + warp * 16 * PITCH;
  const END end(args, z);
#pragma unroll 1
  for (int i = 0; i < MT; i++) {
    __syncwarp();
#pragma unroll
    for (int r = 0; r < MT; r++)
      if (r == i) keep_sums<NT, PITCH>(own, sum[r]);
    __syncwarp();
    if (q.partial) put_part<WN, BN>(q.partial + (wm + i * 16) * BN + wn, own);
    else put_rows<WN>(p, end, own, q.row + wm + i * 16, q.col + wn);
  }
}

#define MMA_KERNEL(name, T, WAY, END, AK, BKK, BM, BN, WM, WN, STAGES)                                 \
  extern "C" __global__ void __launch_bounds__(BM / WM *(BN / WN) * 32) name(const __grid_constant__ END::args p) \
  {                                                                                                    \
    gemm_mma<T, WAY, END, AK, BKK, BM, BN, WM, WN, STAGES>(p);                                         \
  }
// The letters: whether rows of A and columns of B lie along k in memory (k) or not (x). The largest tile wants more shared
// memory than GPUs before 8.0 have; the host takes another one there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define MMA_LARGE(prefix, T, E, letters, AK, BKK) \
  extern "C" __global__ void prefix##_##letters##_128x256(const __grid_constant__ plain_end::args) { __trap(); }
#else
#define MMA_LARGE(prefix, T, E, letters, AK, BKK) \
  MMA_KERNEL(prefix##_##letters##_128x256, T, as_it_is<E>, plain_end, AK, BKK, 128, 256, 64, 64, 4)
#endif
#define MMA_LETTERS(prefix, T, E, letters, AK, BKK)                                                    \
  MMA_LARGE(prefix, T, E, letters, AK, BKK)                                                            \
  MMA_KERNEL(prefix##_##letters##_128x128, T, as_it_is<E>, plain_end, AK, BKK, 128, 128, 64, 64, 3)    \
  MMA_KERNEL(prefix##_##letters##_64x64, T, as_it_is<E>, plain_end, AK, BKK, 64, 64, 32, 32, 3)
#define MMA_KERNELS(prefix, T, E)             \
  MMA_LETTERS(prefix, T, E, kk, true, true)   \
  MMA_LETTERS(prefix, T, E, kx, true, false)  \
  MMA_LETTERS(prefix, T, E, xk, false, true)  \
  MMA_LETTERS(prefix, T, E, xx, false, false)
