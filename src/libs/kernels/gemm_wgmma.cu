// Products by the tensor cores of sm_90a: each of two warpgroups multiplies 64 rows by 256 columns (wgmma). Operands lie in
// shared memory, stages of 128 bytes of k (64 numbers of 16 bits, 32 of TF32) for 128 rows and 256 columns, in pieces of
// 1024 bytes: eight rows of 128 bytes whose chunks of 16 are permuted as the 128-byte swizzle of wgmma's descriptors has it.
//
// Numbers of 16 bits are brought by cp.async, four stages deep, as they lie in memory: along k (a row of a piece is a line), or
// across it (a row is one k of 64 lines; wgmma turns those). TF32 has to lie along k and to be rounded: it comes by way of
// registers, which turn it where it lies across, one stage ahead.
#include "gemm_mma.cuh"

enum { WG_ROWS = 128, WG_COLUMNS = 256, WG_K = 64, WG_STAGES = 4, WG_LINE = 128, WG_THREADS = 256, WG_PIECE = 8 * WG_LINE };
enum { WG_STAGE = (WG_ROWS + WG_COLUMNS) * WG_LINE, WG_GROUP = 64 * WG_LINE }; // bytes: a stage, 64 lines of one

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// Lines of a matrix, of which a thread brings a chunk of every 32nd.
template <int LINES, bool ALONG_K> struct swizzled {
  enum { COUNT = LINES / 32 };
  const unsigned short *at;
  int64_t step;
  unsigned own;
  int line, lines, inner;
  bool whole; // all lines are the matrix's

  __device__ swizzled(const unsigned short *base, int64_t ld, int n, int first, int k0) : step(32 * ld), lines(n)
  {
    const int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
    whole = first + LINES <= n;
    own = row * WG_LINE + (chunk ^ (row & 7)) * 16;
    line = first + row;
    inner = chunk * 8;
    at = base + line * ld + k0 + inner;
  }
  // `left`: of k from this tile on. What is not there is 0.
  __device__ void fetch(unsigned to, int left)
  {
    if (whole && left >= WG_K) fetch_all(to);
    else fetch_edge(to, left);
    at += WG_K;
  }
  __device__ void fetch_all(unsigned to) const
  {
    const unsigned short *p = at;
#pragma unroll
    for (int c = 0; c < COUNT; c++, p += step) bring(to + own + c * 32 * WG_LINE, p, 16);
  }
  __device__ void fetch_edge(unsigned to, int left) const
  {
    const int n = max(0, min(8, left - inner)) * 2;
    const unsigned short *p = at;
#pragma unroll 1
    for (int c = 0; c < COUNT; c++, p += step) {
      const int bytes = line + c * 32 < lines ? n : 0;
      bring(to + own + c * 32 * WG_LINE, bytes ? p : at - inner, bytes);
    }
  }
  // Eight lines 1024 bytes apart; from one product to the next 32 bytes of each line.
  static __device__ uint64_t descriptor(unsigned at, int k)
  {
    return (uint64_t)((at + k * 32) >> 4 & 0x3fff) | 1ull << 16 | (uint64_t)(WG_PIECE >> 4) << 32 | 1ull << 62;
  }
};

// The same across k: a thread brings a chunk of eight lines, of two k of each 64 lines.
template <int LINES> struct swizzled<LINES, false> {
  enum { COUNT = LINES / 64 };
  const unsigned short *at;
  int64_t ld;
  unsigned own;
  int row, line, lines;
  bool whole;

  __device__ swizzled(const unsigned short *base, int64_t ld_, int n, int first, int k0) : ld(ld_), lines(n)
  {
    const int chunk = threadIdx.x % 8;
    row = threadIdx.x / 8;
    whole = first + LINES <= n;
    own = row * WG_LINE + (chunk ^ (row & 7)) * 16;
    line = first + chunk * 8;
    at = base + (k0 + row) * ld + line;
  }
  __device__ void fetch(unsigned to, int left)
  {
    if (whole && left >= WG_K) fetch_all(to);
    else fetch_edge(to, left);
    at += WG_K * ld;
  }
  __device__ void fetch_all(unsigned to) const
  {
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      bring(to + own + c * WG_GROUP, at + c * 64, 16);
      bring(to + own + c * WG_GROUP + 32 * WG_LINE, at + 32 * ld + c * 64, 16);
    }
  }
  __device__ void fetch_edge(unsigned to, int left) const
  {
#pragma unroll 1
    for (int c = 0; c < COUNT * 2; c++) {
      const int k = c % 2 * 32, first = c / 2 * 64;
      const int bytes = row + k < left ? max(0, min(8, lines - line - first)) * 2 : 0;
      bring(to + own + c / 2 * WG_GROUP + k * WG_LINE, bytes ? at + k * ld + first : at - row * ld - line, bytes);
    }
  }
  // Groups of 64 lines 8192 bytes apart, eight k 1024 bytes; a product takes sixteen k.
  static __device__ uint64_t descriptor(unsigned at, int k)
  {
    return (uint64_t)((at + k * 2 * WG_PIECE) >> 4 & 0x3fff) | (uint64_t)(WG_GROUP >> 4) << 16 |
           (uint64_t)(WG_PIECE >> 4) << 32 | 1ull << 62;
  }
};

#define WG_4(s, i) "+f"(s[i][0]), "+f"(s[i][1]), "+f"(s[i][2]), "+f"(s[i][3])
#define WG_16(s, i) WG_4(s, i), WG_4(s, i + 1), WG_4(s, i + 2), WG_4(s, i + 3)
#define WG_64(s, i) WG_16(s, i), WG_16(s, i + 4), WG_16(s, i + 8), WG_16(s, i + 12)
#define WG_NUMBERS                                                                                              \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,"     \
  "%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,"    \
  "%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"    \
  "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,"   \
  "%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,"   \
  "%126,%127}"
// Of 16 bits, where the operands lie across k, if they do; TF32, along k.
#define WG_MULTIPLY(type)                                                                                 \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " " WG_NUMBERS                \
               ", %128, %129, 1, 1, 1, %130, %131;"                                                       \
               : WG_64(sum, 0), WG_64(sum, 16)                                                            \
               : "l"(a), "l"(b), "n"(TURN_A), "n"(TURN_B))
template <typename T, int TURN_A, int TURN_B> struct group_product;
template <int TURN_A, int TURN_B> struct group_product<__half, TURN_A, TURN_B> {
  static __device__ void add(float (&sum)[32][4], uint64_t a, uint64_t b) { WG_MULTIPLY("f16"); }
};
template <int TURN_A, int TURN_B> struct group_product<__nv_bfloat16, TURN_A, TURN_B> {
  static __device__ void add(float (&sum)[32][4], uint64_t a, uint64_t b) { WG_MULTIPLY("bf16"); }
};
template <> struct group_product<tf32, 0, 0> {
  static __device__ void add(float (&sum)[32][4], uint64_t a, uint64_t b)
  {
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " WG_NUMBERS ", %128, %129, 1, 1, 1;"
                 : WG_64(sum, 0), WG_64(sum, 16)
                 : "l"(a), "l"(b));
  }
};

// The products of a stage, 32 bytes of k each.
template <typename T, typename A, typename B> __device__ void multiply_stage(float (&sum)[32][4], unsigned a, unsigned b)
{
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int k = 0; k < WG_LINE / 32; k++)
    group_product<T, A::TURN, B::TURN>::add(sum, A::tile::descriptor(a, k), B::tile::descriptor(b, k));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int LINES, bool ALONG_K> struct operand {
  using tile = swizzled<LINES, ALONG_K>;
  static constexpr int TURN = !ALONG_K;
};

__device__ inline void products_see_shared_memory() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int N> __device__ inline void wait_products() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

template <typename T, bool AK, bool BK>
__device__ void multiply_all(float (&sum)[32][4], const ws_gemm_args &p, unsigned ring, int64_t z, const part &q)
{
  enum { AHEAD = 2 };
  using in_a = operand<WG_ROWS, AK>;
  using in_b = operand<WG_COLUMNS, BK>;
  const int k0 = q.k0, k_end = q.k_end;
  typename in_a::tile a((const unsigned short *)p.a + p.stride_a * z, p.lda, p.m, q.row, k0);
  typename in_b::tile b((const unsigned short *)p.b + p.stride_b * z, p.ldb, p.n, q.col, k0);
  const unsigned group = threadIdx.x / 128 * WG_GROUP;
  int next = k0, write = 0, read = 0;
  auto bring_next = [&] {
    if (next < k_end) {
      a.fetch(ring + write * WG_STAGE, k_end - next);
      b.fetch(ring + write * WG_STAGE + WG_ROWS * WG_LINE, k_end - next);
    }
    commit();
    next += WG_K;
    write = (write + 1) % WG_STAGES;
  };
#pragma unroll 1
  for (int s = 0; s < AHEAD; s++) bring_next();
#pragma unroll 1
  for (int k = k0; k < k_end; k += WG_K) {
    wait<AHEAD - 1>();
    products_see_shared_memory();
    __syncthreads();
    // All have done the products of the turn before the last one, whose place this takes.
    bring_next();
    const unsigned at = ring + read * WG_STAGE;
    multiply_stage<T, in_a, in_b>(sum, at + group, at + WG_ROWS * WG_LINE);
    wait_products<1>();
    read = (read + 1) % WG_STAGES;
  }
  wait_products<0>();
  wait<0>();
}

// FP32 that becomes TF32: chunks of four numbers, in registers while the stage before is multiplied.
template <int LINES, bool ALONG_K> struct rounded {
  enum { COUNT = LINES / 32, K = WG_LINE / 4 };
  const float *at;
  int64_t ld;
  int row, line, lines, inner; // row: of 32 k across k; inner: k of the chunk along it
  float4 held[COUNT];

  __device__ rounded(const float *base, int64_t ld_, int n, int first, int k0) : ld(ld_), lines(n)
  {
    if (ALONG_K) {
      line = first + threadIdx.x / 8, inner = threadIdx.x % 8 * 4;
      at = base + line * ld + k0 + inner;
    } else {
      // A warp has 32 lines of four k, so that it can turn them.
      row = threadIdx.x / 32 * 4 + threadIdx.x / 8 % 4;
      line = first + threadIdx.x % 8 * 4;
      at = base + (k0 + row) * ld + line;
    }
  }
  __device__ void fetch(int left)
  {
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      const bool there = (ALONG_K ? inner : row) < left && line + c * 32 < lines;
      const float *p = at + (ALONG_K ? c * 32 * ld : c * 32);
      const int n = ALONG_K ? left - inner : lines - line - c * 32;
      held[c] = make_float4(0, 0, 0, 0);
      if (there && n >= 4) held[c] = *(const float4 *)p;
      else if (there) held[c] = make_float4(p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0);
    }
    at += ALONG_K ? K : K * ld;
  }
  static __device__ float in_turn(const float4 &v, int i) { return i & 2 ? (i & 1 ? v.w : v.z) : (i & 1 ? v.y : v.x); }
  __device__ void put(unsigned to) const
  {
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      unsigned w[4] = {__float_as_uint(held[c].x), __float_as_uint(held[c].y), __float_as_uint(held[c].z), __float_as_uint(held[c].w)};
      round_to<tf32>(w);
      if (ALONG_K) {
        const int r = threadIdx.x / 8;
        keep(to + (c * 32 + r) * WG_LINE + (threadIdx.x % 8 ^ (r & 7)) * 16, w);
      } else {
        // Lanes begin with different lines of their four, so that eight lines differ in where their chunks lie.
        const float4 v = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])};
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int turn = (i + threadIdx.x % 8 / 2) & 3, r = c * 32 + threadIdx.x % 8 * 4 + turn;
          asm volatile("st.shared.f32 [%0], %1;" ::"r"(to + r * WG_LINE + (row / 4 ^ (r & 7)) * 16 + row % 4 * 4), "f"(in_turn(v, turn)));
        }
      }
    }
  }
};

template <bool AK, bool BK>
__device__ void multiply_tf32(float (&sum)[32][4], const ws_gemm_args &p, unsigned ring, int64_t z, const part &q)
{
  enum { K = WG_LINE / 4 };
  using in_a = operand<WG_ROWS, true>;
  using in_b = operand<WG_COLUMNS, true>;
  rounded<WG_ROWS, AK> a((const float *)p.a + p.stride_a * z, p.lda, p.m, q.row, q.k0);
  rounded<WG_COLUMNS, BK> b((const float *)p.b + p.stride_b * z, p.ldb, p.n, q.col, q.k0);
  const unsigned group = threadIdx.x / 128 * WG_GROUP;
  unsigned at = ring;
  a.fetch(q.k_end - q.k0), b.fetch(q.k_end - q.k0);
#pragma unroll 1
  for (int k = q.k0; k < q.k_end; k += K) {
    a.put(at), b.put(at + WG_ROWS * WG_LINE);
    products_see_shared_memory();
    __syncthreads(); // all have done the products of the turn before the last one, too
    if (k + K < q.k_end) a.fetch(q.k_end - k - K), b.fetch(q.k_end - k - K);
    multiply_stage<tf32, in_a, in_b>(sum, at + group, at + WG_ROWS * WG_LINE);
    wait_products<1>();
    at = at == ring + 2 * WG_STAGE ? ring : at + WG_STAGE;
  }
  wait_products<0>();
}

template <typename T> constexpr bool is_tf32 = false;
template <> constexpr bool is_tf32<tf32> = true;

template <typename T, bool AK, bool BK> __device__ void gemm_wgmma(const ws_gemm_args &p)
{
  extern __shared__ __align__(1024) unsigned char ring[];
  const int64_t z = blockIdx.z + p.batch0;
  const part q = part_of<WG_ROWS, WG_COLUMNS>(p, z);
  float sum[32][4] = {};
  if constexpr (is_tf32<T>) multiply_tf32<AK, BK>(sum, p, shared_at(ring), z, q);
  else multiply_all<T, AK, BK>(sum, p, shared_at(ring), z, q);
  __syncthreads();
  constexpr int PITCH = WG_COLUMNS + 4;
  static_assert(WG_THREADS / 32 * 16 * PITCH * 4 <= WG_STAGES * WG_STAGE, "fits");
  float *own = (float *)ring + threadIdx.x / 32 * 16 * PITCH;
  keep_sums<16, PITCH>(own, sum);
  __syncwarp();
  const int row = threadIdx.x / 32 * 16;
  if (q.partial) put_part<WG_COLUMNS, WG_COLUMNS>(q.partial + row * WG_COLUMNS, own);
  else put_rows<WG_COLUMNS>(p, plain_end(p, z), own, q.row + row, q.col);
}
#else
template <typename T, bool AK, bool BK> __device__ void gemm_wgmma(const ws_gemm_args &) { __trap(); } // the host takes another kernel
#endif

// The letters: whether rows of A and columns of B lie along k in memory (k) or not (x).
#define WG_KERNEL(letter, T, letters, AK, BK)                                                                      \
  extern "C" __global__ void __launch_bounds__(WG_THREADS, 1)                                                      \
    warpstep_##letter##gemm_##letters##_wgmma(const __grid_constant__ ws_gemm_args p)                              \
  {                                                                                                                \
    gemm_wgmma<T, AK, BK>(p);                                                                                      \
  }
#define WG_KERNELS(letter, T)            \
  WG_KERNEL(letter, T, kk, true, true)   \
  WG_KERNEL(letter, T, kx, true, false)  \
  WG_KERNEL(letter, T, xk, false, true)  \
  WG_KERNEL(letter, T, xx, false, false)
WG_KERNELS(h, __half)
WG_KERNELS(b, __nv_bfloat16)
WG_KERNELS(t, tf32)
