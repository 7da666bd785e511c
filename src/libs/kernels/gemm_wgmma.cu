// Products of 16-bit numbers by the tensor cores of sm_90a, rows of A and columns of B along k: each of two warpgroups
// multiplies 64 rows by 256 columns (wgmma), from tiles of 64 in k that cp.async brings, four deep. A row of a tile has 128 bytes;
// its chunks of 16 are permuted as the 128-byte swizzle of wgmma's descriptors has it.
#include "gemm_mma.cuh"

enum { WG_ROWS = 128, WG_COLUMNS = 256, WG_K = 64, WG_STAGES = 4, WG_LINE = 128, WG_THREADS = 256 };

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// Lines of a matrix, of which a thread brings a chunk of every 32nd.
template <int LINES> struct swizzled {
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
};

// Lines along k, the 128-byte swizzle, eight lines 1024 bytes apart.
__device__ inline uint64_t descriptor(unsigned at)
{
  return (uint64_t)(at >> 4 & 0x3fff) | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

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
#define WG_MULTIPLY(type)                                                                                 \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " " WG_NUMBERS                \
               ", %128, %129, 1, 1, 1, 0, 0;"                                                             \
               : WG_64(sum, 0), WG_64(sum, 16)                                                            \
               : "l"(a), "l"(b))
template <typename T> __device__ inline void multiply_group(float (&sum)[32][4], uint64_t a, uint64_t b);
template <> __device__ inline void multiply_group<__half>(float (&sum)[32][4], uint64_t a, uint64_t b)
{
  WG_MULTIPLY("f16");
}
template <> __device__ inline void multiply_group<__nv_bfloat16>(float (&sum)[32][4], uint64_t a, uint64_t b)
{
  WG_MULTIPLY("bf16");
}

template <typename T> __device__ void multiply_stage(float (&sum)[32][4], unsigned a, unsigned b)
{
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int k = 0; k < WG_K / 16; k++) multiply_group<T>(sum, descriptor(a + k * 32), descriptor(b + k * 32));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <typename T>
__device__ void multiply_all(float (&sum)[32][4], const ws_gemm_args &p, unsigned ring, int64_t z, const part &q)
{
  enum { STAGE = (WG_ROWS + WG_COLUMNS) * WG_LINE, AHEAD = 2 };
  const int k0 = q.k0, k_end = q.k_end;
  swizzled<WG_ROWS> a((const unsigned short *)p.a + p.stride_a * z, p.lda, p.m, q.row, k0);
  swizzled<WG_COLUMNS> b((const unsigned short *)p.b + p.stride_b * z, p.ldb, p.n, q.col, k0);
  const unsigned group = threadIdx.x / 128 * 64 * WG_LINE;
  int next = k0, write = 0, read = 0;
  auto bring_next = [&] {
    if (next < k_end) {
      a.fetch(ring + write * STAGE, k_end - next);
      b.fetch(ring + write * STAGE + WG_ROWS * WG_LINE, k_end - next);
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
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    // All have done the products of the turn before the last one, whose place this takes.
    bring_next();
    const unsigned at = ring + read * STAGE;
    multiply_stage<T>(sum, at + group, at + WG_ROWS * WG_LINE);
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    read = (read + 1) % WG_STAGES;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  wait<0>();
}

template <typename T> __device__ void gemm_wgmma(const ws_gemm_args &p)
{
  extern __shared__ __align__(1024) unsigned char ring[];
  const int64_t z = blockIdx.z + p.batch0;
  const part q = part_of<WG_ROWS, WG_COLUMNS>(p, z);
  float sum[32][4] = {};
  multiply_all<T>(sum, p, shared_at(ring), z, q);
  __syncthreads();
  constexpr int PITCH = WG_COLUMNS + 4;
  static_assert(WG_THREADS / 32 * 16 * PITCH * 4 <= WG_STAGES * (WG_ROWS + WG_COLUMNS) * WG_LINE, "fits");
  float *own = (float *)ring + threadIdx.x / 32 * 16 * PITCH;
  keep_sums<16, PITCH>(own, sum);
  __syncwarp();
  const int row = threadIdx.x / 32 * 16;
  if (q.partial) put_part<WG_COLUMNS, WG_COLUMNS>(q.partial + row * WG_COLUMNS, own);
  else put_rows<WG_COLUMNS>(p, plain_end(p, z), own, q.row + row, q.col);
}
#else
template <typename T> __device__ void gemm_wgmma(const ws_gemm_args &) { __trap(); } // the host takes another kernel
#endif

extern "C" __global__ void __launch_bounds__(WG_THREADS, 1) warpstep_hgemm_kk_wgmma(const __grid_constant__ ws_gemm_args p)
{
  gemm_wgmma<__half>(p);
}
extern "C" __global__ void __launch_bounds__(WG_THREADS, 1) warpstep_bgemm_kk_wgmma(const __grid_constant__ ws_gemm_args p)
{
  gemm_wgmma<__nv_bfloat16>(p);
}
