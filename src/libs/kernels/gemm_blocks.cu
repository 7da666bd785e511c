// Products of FP8 and FP4 whose operands have a factor for each block of 128, 32 or 16 elements along k. On compute capability
// 12 the tensor cores' own products with factors (mma with .block_scale) do them. Elsewhere they are on tensor cores as half
// precision, which holds all numbers of both: sums over sixteen k come from the tensor cores, are multiplied by the product
// of their two factors and added in FP32.
#include "gemm_end8.cuh"

#define WS_SCALED_MMA (__CUDA_ARCH__ >= 1200 && __CUDA_ARCH__ < 1300)

#if __CUDA_ARCH__ < 1000
using block_end = end8<4>;
#else
using block_end = end8<4, true>;
#endif

template <typename WAY, int N> struct tiled_factors;
template <int N> struct plain_factors;

// Eight neighbours along k as they lie in memory, and as half precision; their factors.
struct block_fp8 {
  using raw = uint2;
  static constexpr int BLOCK = WS_BLOCK_UE8M0, IN_BYTE = 1;
  template <int N> using factors = tiled_factors<block_fp8, N>;
  from_fp8 way;
  __device__ block_fp8(int type) : way(type) {}
  static __device__ raw nothing() { return make_uint2(0, 0); }
  __device__ void put(unsigned to, raw v) const { way.put(to, v); }
  static __device__ float factor(unsigned code) { return ue8m0(code); }
};

struct block_fp8_f32 : block_fp8 {
  template <int N> using factors = plain_factors<N>;
  __device__ block_fp8_f32(int type) : block_fp8(type) {}
};

struct block_fp4 {
  using raw = unsigned;
  template <int N> using factors = tiled_factors<block_fp4, N>;
  static constexpr int BLOCK = WS_BLOCK_UE4M3, IN_BYTE = 2;
  __device__ block_fp4(int) {}
  static __device__ raw nothing() { return 0; }
  // The two numbers of a byte. Their exponent counts from 1, that of half precision from 15; subnormal ones come right by
  // the product, too.
  static __device__ unsigned widen(unsigned two)
  {
    const unsigned bits = (two & 7) << 9 | (two & 0x70) << 21;
    const __half2 v = __hmul2(*(const __half2 *)&bits, __half2half2(__ushort_as_half(0x7400))); // 2^14
    return *(const unsigned *)&v | (two & 8) << 12 | (two & 0x80) << 24;
  }
  __device__ void put(unsigned to, raw v) const
  {
    const unsigned w[4] = {widen(v & 0xff), widen(v >> 8 & 0xff), widen(v >> 16 & 0xff), widen(v >> 24)};
    keep(to, w);
  }
  // e4m3 whose sign does not count.
  static __device__ float factor(unsigned code) { return __half2float(__nv_cvt_fp8_to_halfraw(code & 0x7f, __NV_E4M3)); }
};

// A tile of W lines by BK of k: chunks of eight elements wait in registers while the tile before is multiplied.
template <typename WAY, int W, int THREADS> struct block_tile {
  static constexpr int SIZE = 2, PER = 8, BK = 32, BYTES = W * 64, COUNT = W * 4 / THREADS, STEP = THREADS / 4;
  typename WAY::raw held[COUNT];
  const unsigned char *at;
  int64_t line; // bytes
  int lines, row, inner, k_end;
  WAY way;

  __device__ block_tile(const void *base, int64_t ld, int lines_, int first, int k_end_, int type)
      : line(ld / WAY::IN_BYTE), lines(lines_), row(first + threadIdx.x / 4), inner(threadIdx.x % 4 * PER),
        k_end(k_end_), way(type)
  {
    at = (const unsigned char *)base + row * line;
  }
  static __device__ unsigned place(int r, int chunk) { return r * 64 + (chunk ^ (r >> 1 & 3)) * 16; }
  __device__ void fetch(int k0)
  {
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      const bool there = row + c * STEP < lines && k0 + inner < k_end;
      const unsigned char *p = at + c * STEP * line + (k0 + inner) / WAY::IN_BYTE;
      held[c] = there ? *(const typename WAY::raw *)p : WAY::nothing();
    }
  }
  __device__ void put(unsigned to) const
  {
#pragma unroll
    for (int c = 0; c < COUNT; c++) way.put(to + place(threadIdx.x / 4 + c * STEP, threadIdx.x % 4), held[c]);
  }
};

// Factors of N lines of a thread, four blocks at a time.
template <typename WAY, int N> struct tiled_factors {
  static constexpr int GROUP = WAY::BLOCK * WS_FACTOR_BLOCKS; // of k
  const unsigned *at[N];
  unsigned word[N];

  __device__ void aim(const ws_gemm8_args &q, bool of_a, int i, int line, int64_t z)
  {
    constexpr int TILE = WS_FACTOR_LINES * WS_FACTOR_BLOCKS;
    const int64_t along_k = (q.g.k + GROUP - 1) / GROUP;
    const int64_t across = ((of_a ? q.g.m : q.g.n) + WS_FACTOR_LINES - 1) / WS_FACTOR_LINES;
    const int64_t tile = (z * across + line / WS_FACTOR_LINES) * along_k;
    at[i] = (const unsigned *)((const char *)(of_a ? q.blocks_a : q.blocks_b) + tile * TILE + line % 32 * 16 +
                               line % WS_FACTOR_LINES / 32 * 4);
  }
  __device__ void load(int k)
  {
#pragma unroll
    for (int i = 0; i < N; i++) word[i] = at[i][k / GROUP * (WS_FACTOR_LINES * WS_FACTOR_BLOCKS / 4)];
  }
  __device__ float get(int i, int k) const { return WAY::factor(word[i] >> k % GROUP / WAY::BLOCK * 8 & 0xff); }
};

// In FP32, of blocks of 128 along k: of each line, those of all lines together; or of 128 lines, those along k together,
// their number rounded up to four.
template <int N> struct plain_factors {
  static constexpr int GROUP = WS_BLOCK_F32;
  const float *at[N];
  float value[N];
  int64_t step;

  __device__ void aim(const ws_gemm8_args &q, bool of_a, int i, int line, int64_t)
  {
    const int lines = of_a ? q.g.m : q.g.n, along_k = ((q.g.k + GROUP - 1) / GROUP + 3) / 4 * 4;
    const bool squares = of_a ? q.squares_a : q.squares_b;
    line = min(line, lines - 1); // what is behind the last one is not stored
    step = squares ? 1 : lines;
    at[i] = (const float *)(of_a ? q.blocks_a : q.blocks_b) + (squares ? (int64_t)(line / GROUP) * along_k : line);
  }
  __device__ void load(int k)
  {
#pragma unroll
    for (int i = 0; i < N; i++) value[i] = at[i][k / GROUP * step];
  }
  __device__ float get(int i, int) const { return value[i]; }
};

// The sums of a warp, MT by 2 NT products of 16 by 8.
template <typename WAY, int MT, int NT> struct block_sums {
  float sum[MT][NT * 2][4];
  typename WAY::template factors<MT * 2> fa;
  typename WAY::template factors<NT * 4> fb;

  __device__ block_sums(const ws_gemm8_args &q, int row, int col, int64_t z) : sum{}
  {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < MT * 2; i++) fa.aim(q, true, i, row + i * 8 + lane / 4, z);
#pragma unroll
    for (int i = 0; i < NT * 4; i++) fb.aim(q, false, i, col + i / 2 * 8 + lane % 4 * 2 + i % 2, z);
  }
  __device__ void load(int k) { fa.load(k), fb.load(k); }
  // Of sixteen k from k on.
  __device__ void add(const fragments<__half, MT, NT> &f, int k)
  {
    float b[NT * 4];
#pragma unroll
    for (int i = 0; i < NT * 4; i++) b[i] = fb.get(i, k);
#pragma unroll
    for (int i = 0; i < MT; i++) {
      const float up = fa.get(i * 2, k), down = fa.get(i * 2 + 1, k);
#pragma unroll
      for (int j = 0; j < NT * 2; j++) {
        float t[4] = {};
        multiply<__half>(t, f.x[i], &f.y[j / 2][j % 2 * 2]);
#pragma unroll
        for (int e = 0; e < 4; e++) sum[i][j][e] += t[e] * ((e < 2 ? up : down) * b[j * 2 + e % 2]);
      }
    }
  }
};

template <typename WAY, int BM, int BN, int WM, int WN> __device__ void gemm_blocks(const ws_gemm8_args &args)
{
  constexpr int THREADS = BM / WM * (BN / WN) * 32, MT = WM / 16, NT = WN / 16, PITCH = WN + 4;
  using tile_a = block_tile<WAY, BM, THREADS>;
  using tile_b = block_tile<WAY, BN, THREADS>;
  constexpr int BK = tile_a::BK, STAGE = tile_a::BYTES + tile_b::BYTES;
  const ws_gemm_args &p = args.g;
  extern __shared__ __align__(128) unsigned char ring[]; // two tiles of each, then the sums
  const int64_t z = blockIdx.z + p.batch0;
  const part q = part_of<BM, BN>(p, z);
  const int warp = threadIdx.x / 32, wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;
  const char *const from_a = (const char *)p.a + p.stride_a * z / WAY::IN_BYTE;
  const char *const from_b = (const char *)p.b + p.stride_b * z / WAY::IN_BYTE;
  tile_a a(from_a, p.lda, p.m, q.row, q.k_end, args.type_a);
  tile_b b(from_b, p.ldb, p.n, q.col, q.k_end, args.type_b);
  const reader<tile_a, BM, true, false, WM> ra(wm);
  const reader<tile_b, BN, true, true, WN> rb(wn);
  block_sums<WAY, MT, NT> s(args, q.row + wm, q.col + wn, z);
  unsigned at = shared_at(ring), other = at + STAGE;
  a.fetch(q.k0), b.fetch(q.k0);
  a.put(at), b.put(at + tile_a::BYTES);
  __syncthreads();
#pragma unroll 1
  for (int k = q.k0; k < q.k_end; k += BK) {
    fragments<__half, MT, NT> f;
    a.fetch(k + BK), b.fetch(k + BK); // nothing is read behind the end
    if (k == q.k0 || k % decltype(s.fa)::GROUP == 0) s.load(k);
#pragma unroll
    for (int kk = 0; kk < 2; kk++) {
      f.load(ra, rb, at, at + tile_a::BYTES, kk);
      s.add(f, k + kk * 16);
    }
    a.put(other), b.put(other + tile_a::BYTES);
    __syncthreads();
    const unsigned last = at;
    at = other, other = last;
  }
  float *own = (float *)ring + warp * 16 * PITCH;
  const block_end end(args, z);
#pragma unroll 1
  for (int i = 0; i < MT; i++) {
    __syncwarp();
#pragma unroll
    for (int r = 0; r < MT; r++)
      if (r == i) keep_sums<NT, PITCH>(own, s.sum[r]);
    __syncwarp();
    if (q.partial) put_part<WN, BN>(q.partial + (wm + i * 16) * BN + wn, own);
    else put_rows<WN>(p, end, own, q.row + wm + i * 16, q.col + wn);
  }
}

#if WS_SCALED_MMA
// What an instruction takes of each operand: STEP elements along k, IN_WORD of them in 16 bits, and their factors, bytes of the
// word that lane 0 of four has of a row of A or a column of B, lane 1 of the row eight below.
struct scaled_fp8 {
  static constexpr int STEP = 32, IN_WORD = 2, BLOCK = WS_BLOCK_UE8M0;
  int kinds; // which operand is E5M2: 1 A, 2 B
  __device__ scaled_fp8(const ws_gemm8_args &q) : kinds((q.type_a == WS_E5M2) + 2 * (q.type_b == WS_E5M2)) {}
  static __device__ unsigned factors(unsigned word, int k) { return word >> k % (BLOCK * WS_FACTOR_BLOCKS) / BLOCK * 8; }
#define MMA_FP8(a, b)                                                                                                     \
  asm("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32." #a "." #b ".f32.ue8m0 "           \
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {0, 0}, %11, {0, 0};"                         \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                                    \
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(fx), "r"(fy))
  template <int KINDS> static __device__ void multiply(float (&d)[4], const unsigned (&x)[4], const unsigned *y, unsigned fx, unsigned fy)
  {
    if (KINDS == 0) MMA_FP8(e4m3, e4m3);
    else if (KINDS == 1) MMA_FP8(e5m2, e4m3);
    else MMA_FP8(e4m3, e5m2);
  }
  template <typename SUMS, typename F> __device__ void add(SUMS &s, const F &f) const
  {
    if (kinds == 0) s.template add_all<0>(f);
    else if (kinds == 1) s.template add_all<1>(f);
    else s.template add_all<2>(f);
  }
};

struct scaled_fp4 {
  static constexpr int STEP = 64, IN_WORD = 4, BLOCK = WS_BLOCK_UE4M3;
  __device__ scaled_fp4(const ws_gemm8_args &) {}
  static __device__ unsigned factors(unsigned word, int) { return word; }
  template <int> static __device__ void multiply(float (&d)[4], const unsigned (&x)[4], const unsigned *y, unsigned fx, unsigned fy)
  {
    asm("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {0, 0}, %11, {0, 0};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(fx), "r"(fy));
  }
  template <typename SUMS, typename F> __device__ void add(SUMS &s, const F &f) const { s.template add_all<0>(f); }
};

// Factors of N lines, DISTANCE apart, that begin on a border of 32 and lie in one tile of factors; four blocks at a time, and
// the next four on their way.
template <typename WAY, int N, int DISTANCE> struct group_factors {
  static constexpr int GROUP = WAY::BLOCK * WS_FACTOR_BLOCKS; // of k
  const unsigned *at;
  unsigned word[N], next[N];

  __device__ void aim(const ws_gemm8_args &q, bool of_a, int line, int64_t z)
  {
    constexpr int TILE = WS_FACTOR_LINES * WS_FACTOR_BLOCKS;
    const int64_t along_k = (q.g.k + GROUP - 1) / GROUP;
    const int64_t across = ((of_a ? q.g.m : q.g.n) + WS_FACTOR_LINES - 1) / WS_FACTOR_LINES;
    const int64_t tile = (z * across + line / WS_FACTOR_LINES) * along_k;
    at = (const unsigned *)((const char *)(of_a ? q.blocks_a : q.blocks_b) + tile * TILE + line % 32 * 16 +
                            line % WS_FACTOR_LINES / 32 * 4);
  }
  // Behind the last group that again: without a condition nobody waits for what is on its way.
  __device__ void fetch(int k, int k_all)
  {
    const unsigned *const from = at + min(k, k_all - 1) / GROUP * (WS_FACTOR_LINES * WS_FACTOR_BLOCKS / 4);
#pragma unroll
    for (int i = 0; i < N; i++) next[i] = from[i * DISTANCE % 32 * 4 + i * DISTANCE / 32];
  }
  // What was fetched of k is looked at here and not before. Behind the last block there are none, whatever is stored.
  __device__ void turn(int k, int k_all)
  {
    const int blocks = (k_all - k / GROUP * GROUP + WAY::BLOCK - 1) / WAY::BLOCK;
    const unsigned there = blocks < WS_FACTOR_BLOCKS ? (1u << blocks * 8) - 1 : ~0u;
#pragma unroll
    for (int i = 0; i < N; i++) word[i] = next[i] & there;
  }
};

template <typename WAY, int MT, int NT> struct scaled_sums {
  float sum[MT][NT * 2][4];
  group_factors<WAY, MT, 16> fa;
  group_factors<WAY, NT * 2, 8> fb;
  const WAY way;
  int k, k_end, k_all;

  __device__ scaled_sums(const ws_gemm8_args &q, int row, int col, int64_t z, int k0, int end) : sum{}, way(q), k(k0), k_end(end), k_all(q.g.k)
  {
    const int lane = threadIdx.x % 32;
    fa.aim(q, true, row + lane / 4 + lane % 2 * 8, z), fb.aim(q, false, col + lane / 4, z);
    fetch(k);
  }
  __device__ void fetch(int at) { fa.fetch(at, k_all), fb.fetch(at, k_all); }
  template <int KINDS, typename F> __device__ void add_all(const F &f)
  {
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
      for (int j = 0; j < NT * 2; j++)
        WAY::template multiply<KINDS>(sum[i][j], f.x[i], &f.y[j / 2][j % 2 * 2], WAY::factors(fa.word[i], k), WAY::factors(fb.word[j], k));
  }
  // Each step in its turn; behind the end of k there is nothing, and no factors are.
  template <typename F> __device__ void add(const F &f, int k0)
  {
    if (k < k_end) {
      if (k == k0 || k % decltype(fa)::GROUP == 0) {
        fa.turn(k, k_all), fb.turn(k, k_all);
        fetch(k / decltype(fa)::GROUP * decltype(fa)::GROUP + decltype(fa)::GROUP);
      }
      way.add(*this, f);
    }
    k += WAY::STEP;
  }
};

// The sums of a part of k, and where that begins.
template <typename SUMS> struct steps {
  SUMS &sums;
  int k0;
};
template <int MT, int NT> struct scaled_fragments : fragments<__half, MT, NT> {
  template <typename SUMS> __device__ void add_to(steps<SUMS> &s) const { s.sums.add(*this, s.k0); }
};

template <typename WAY, int BM, int BN, int WM, int WN> __device__ void gemm_scaled(const ws_gemm8_args &args)
{
  constexpr int THREADS = BM / WM * (BN / WN) * 32, MT = WM / 16, NT = WN / 16, PITCH = WN + 4, STAGES = 3;
  using tile_a = tile<as_it_is<unsigned short>, BM, true, THREADS>;
  using tile_b = tile<as_it_is<unsigned short>, BN, true, THREADS>;
  const ws_gemm_args &p = args.g;
  extern __shared__ __align__(128) unsigned char ring[]; // STAGES * (BM + BN) * 64 bytes, then the sums
  const int64_t z = blockIdx.z + p.batch0;
  const part q = part_of<BM, BN>(p, z);
  const int warp = threadIdx.x / 32, wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;
  const int first = q.k0 / WAY::IN_WORD, end_k = q.k_end / WAY::IN_WORD;
  tile_a a((const unsigned short *)p.a + p.stride_a * z / WAY::IN_WORD, p.lda / WAY::IN_WORD, p.m, q.row, first, end_k, true, 0);
  tile_b b((const unsigned short *)p.b + p.stride_b * z / WAY::IN_WORD, p.ldb / WAY::IN_WORD, p.n, q.col, first, end_k, true, 0);
  scaled_sums<WAY, MT, NT> s(args, q.row + wm, q.col + wn, z, q.k0, q.k_end);
  {
    const reader<tile_a, BM, true, false, WM> ra(wm);
    const reader<tile_b, BN, true, true, WN> rb(wn);
    steps<scaled_sums<WAY, MT, NT>> each = {s, q.k0};
    pipeline<scaled_fragments<MT, NT>, tile_a, tile_b, decltype(ra), decltype(rb), STAGES>(a, b, ra, rb, shared_at(ring), first, end_k).run(first, each);
  }
  __syncthreads();
  static_assert(BM / WM * (BN / WN) * 16 * PITCH * 4 <= STAGES * (BM + BN) * 64, "fits");
  float *own = (float *)ring + warp * 16 * PITCH;
  const block_end end(args, z);
#pragma unroll 1
  for (int i = 0; i < MT; i++) {
    __syncwarp();
#pragma unroll
    for (int r = 0; r < MT; r++)
      if (r == i) keep_sums<NT, PITCH>(own, s.sum[r]);
    __syncwarp();
    if (q.partial) put_part<WN, BN>(q.partial + (wm + i * 16) * BN + wn, own);
    else put_rows<WN>(p, end, own, q.row + wm + i * 16, q.col + wn);
  }
}
#define BLOCKS_KERNEL(letter, WAY, BM, BN, WM, WN)                                               \
  extern "C" __global__ void __launch_bounds__(BM / WM *(BN / WN) * 32)                          \
    warpstep_##letter##gemm_blocks_##BM##x##BN(const __grid_constant__ ws_gemm8_args p)          \
  {                                                                                              \
    gemm_scaled<scaled_fp##WAY, BM, BN, WM, WN>(p);                                              \
  }
BLOCKS_KERNEL(f8, 8, 128, 128, 64, 32)
BLOCKS_KERNEL(f8, 8, 64, 64, 32, 32)
BLOCKS_KERNEL(f4, 4, 128, 128, 64, 32)
BLOCKS_KERNEL(f4, 4, 64, 64, 32, 32)
#else
#define BLOCKS_KERNEL(letter, WAY, BM, BN, WM, WN)                                               \
  extern "C" __global__ void __launch_bounds__(BM / WM *(BN / WN) * 32)                          \
    warpstep_##letter##gemm_blocks_##BM##x##BN(const __grid_constant__ ws_gemm8_args p)          \
  {                                                                                              \
    gemm_blocks<WAY, BM, BN, WM, WN>(p);                                                         \
  }
#if __CUDA_ARCH__ < 1000 // one kind on each GPU
BLOCKS_KERNEL(f8f32, block_fp8_f32, 128, 128, 64, 32)
BLOCKS_KERNEL(f8f32, block_fp8_f32, 64, 64, 32, 32)
#else
BLOCKS_KERNEL(f8, block_fp8, 128, 128, 64, 32)
BLOCKS_KERNEL(f8, block_fp8, 64, 64, 32, 32)
BLOCKS_KERNEL(f4, block_fp4, 128, 128, 64, 32)
BLOCKS_KERNEL(f4, block_fp4, 64, 64, 32, 32)
#endif
#endif

PARTS_KERNEL(warpstep_f8gemm_block_parts, block_end, 128, 128)
PARTS_KERNEL(warpstep_f8gemm_block_parts, block_end, 64, 64)
