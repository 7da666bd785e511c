// Fused attention on tensor cores: a CTA has 64 rows of the matrix of scores (of its transposed one for the gradients of k
// and v), 16 for each warp, and goes along it tile by tile. Scores stay in registers: what a warp's product puts out is the
// left operand of its next one. The softmax is made on the way (Dao et al., FlashAttention-2, 2023). Gradients are two
// kernels, each with its own scores, so that nothing is added by atomics.
// A tile has rows of D numbers, zeros behind those that memory has, chunks of 16 bytes permuted so that eight rows lie in
// different banks.
#include "attention_args.h"
#include "gemm_mma.cuh"
#include "random_bits.cuh"

enum { THREADS = 128, BLOCK = 64 };
constexpr float LOG2_E = 1.4426950408889634f, LN_2 = 0.6931471805599453f;

template <typename T> struct pair_of;
template <> struct pair_of<__half> {
  static __device__ unsigned pack(float x, float y)
  {
    const __half2 v = __floats2half2_rn(x, y);
    return *(const unsigned *)&v;
  }
};
template <> struct pair_of<__nv_bfloat16> {
  static __device__ unsigned pack(float x, float y)
  {
    const __nv_bfloat162 v = __floats2bfloat162_rn(x, y);
    return *(const unsigned *)&v;
  }
};

// The matrix of a batch and a head of q.
__device__ inline int64_t start_of(const ws_attention_side &s, int batch, int head, int heads)
{
  int64_t at = (int64_t)(head / (heads / s.heads)) * s.head;
  if (!s.begins) return at + batch * s.batch;
  const int64_t i = batch * s.begins_step;
  return at + (s.begins_wide ? ((const int64_t *)s.begins)[i] : ((const int *)s.begins)[i]) * s.begins_unit;
}

// Which scores of a batch are kept: row < rows, column < columns, least <= column - row <= most.
struct region {
  int rows, columns, most, least;
  __device__ region(const ws_attention_args &p, int batch)
  {
    const int64_t far = 1 << 30;
    int64_t n[4] = {p.rows, p.columns, far, -far};
    for (int i = 0; i < p.bounds; i++) {
      const ws_attention_bound &b = p.bound[i];
      int64_t value = b.base;
      for (int t = 0; t < WS_LIMIT_TERMS && b.sign[t]; t++) value += (int64_t)b.sign[t] * b.at[t][batch * b.step[t]];
      if (b.limit == WS_AT_LEAST) n[3] = max(n[3], min(value, far));
      else n[b.limit] = min(n[b.limit], max(value, b.limit == WS_AT_MOST ? -far : 0));
    }
    rows = (int)n[0], columns = (int)n[1], most = (int)n[2], least = (int)n[3];
  }
  __device__ bool has(int row, int column) const
  {
    return row < rows && column < columns && column - row <= most && column - row >= least;
  }
  // All of a tile.
  __device__ bool has_all(int row, int column, int height, int width) const
  {
    return row + height <= rows && column + width <= columns && column + width - 1 - row <= most &&
           column - (row + height - 1) >= least;
  }
};

// What is added to scores and which weights stay, of 16 rows of a warp and 32 columns at a time: in shared memory, so that
// what it is made of is not there again for each register.
enum { PART = 32, PITCH = PART + 8 };
struct extras {
  float more[BLOCK][PITCH];
  unsigned stay[BLOCK][BLOCK / PART];
};

struct scoring {
  const ws_attention_args &p;
  const region kept;
  extras &extra;
  int64_t bias, element;
  float slope;
  __device__ scoring(const ws_attention_args &p, int batch, void *extra) : p(p), kept(p, batch), extra(*(extras *)extra) {}
  __device__ bool plain() const { return !p.bias && !p.slope && !p.seed; }
  __device__ void take_head(int batch, int head)
  {
    bias = batch * p.bias_stride[0] + head * p.bias_stride[1];
    slope = p.slope ? p.slope[head * p.slope_step] : 0;
    element = ((int64_t)batch * p.heads + head) * p.rows * p.columns;
  }
  __device__ float bias_at(int row, int column) const
  {
    const int64_t at = bias + row * p.bias_stride[2] + column * p.bias_stride[3];
    if (p.bias_type == WS_F32) return ((const float *)p.bias)[at];
    const unsigned short v = ((const unsigned short *)p.bias)[at];
    return p.bias_type == WS_BF16 ? __uint_as_float((unsigned)v << 16) : __half2float(__ushort_as_half(v));
  }
  // The warp's lines of the tile at `line`, `across`; TURNED: lines are columns.
  template <bool TURNED> __device__ void make(int warp_line, int line, int across, int part) const
  {
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < 16; i++) {
      const int down = line + warp_line + i, over = across + part * PART + lane, r = TURNED ? over : down, c = TURNED ? down : over;
      float more = 0;
      bool stay = true;
      if (kept.has(r, c)) {
        if (p.bias) more = bias_at(r, c);
        more = (more + slope * (c - r)) * LOG2_E;
        if (p.seed) stay = stays(*p.seed, *p.offset, element + (int64_t)r * p.columns + c, p.keep);
      }
      const unsigned all = __ballot_sync(~0u, stay);
      extra.more[warp_line + i][lane] = more;
      if (lane == 0) extra.stay[warp_line + i][part] = all;
    }
    __syncwarp();
  }
  // What make() found for two neighbours of a line.
  __device__ float2 more(int line, int at) const { return *(const float2 *)&extra.more[line][at]; }
  __device__ unsigned stay(int line, int at) const { return extra.stay[line][at / PART] >> at % PART; }
};

// Scores in powers of 2; -inf where they are not kept. `line`, `across`: the thread's first one.
template <bool TURNED, int N> __device__ inline void score(const scoring &of, float (&s)[N / 8][4], int warp_line, int line0, int across0, bool whole)
{
  const float scale = of.p.scale * LOG2_E;
  const int own = warp_line + threadIdx.x % 32 / 4, place = threadIdx.x % 4 * 2;
#pragma unroll
  for (int part = 0; part < N / PART; part++) {
    if (!of.plain()) of.make<TURNED>(warp_line, line0, across0, part);
#pragma unroll
    for (int j = part * PART / 8; j < (part + 1) * PART / 8; j++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const float2 more = of.plain() ? float2{0, 0} : of.more(own + half * 8, j * 8 % PART + place);
        s[j][half * 2] = s[j][half * 2] * scale + more.x, s[j][half * 2 + 1] = s[j][half * 2 + 1] * scale + more.y;
      }
  }
  if (whole) return;
#pragma unroll
  for (int j = 0; j < N / 8; j++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int down = line0 + own + i / 2 * 8, over = across0 + j * 8 + place + i % 2;
      if (!of.kept.has(TURNED ? over : down, TURNED ? down : over)) s[j][i] = -INFINITY;
    }
}

// Tiles begin at a multiple of their rows' bytes, so that the place of chunk c ^ n is that of chunk c, n flipped.
template <int D> __device__ inline unsigned chunk_at(unsigned tile, int row, int chunk)
{
  return tile + row * (D * 2) + ((chunk ^ (row & 7)) << 4);
}

__device__ inline float power_of_2(float v)
{
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(v));
  return v;
}

// Rows `first` to before `end` of a matrix into a tile of ROWS rows.
template <int D, int ROWS> __device__ inline void bring_tile(unsigned tile, const ws_attention_side &s, int64_t start, int first, int end)
{
  const unsigned short *all = (const unsigned short *)s.at, *p = all + start;
  if (s.vector && start % 8 == 0) {
    constexpr int STEP = THREADS / (D / 8);
    static_assert(STEP % 8 == 0, "all chunks of a thread are permuted alike");
    const int c = threadIdx.x % (D / 8), r = threadIdx.x / (D / 8), bytes = max(0, min(8, s.columns - c * 8)) * 2;
    const unsigned short *from = p + (first + r) * s.row + c * 8;
    const unsigned to = chunk_at<D>(tile, r, c);
#pragma unroll
    for (int i = 0; i < ROWS / STEP; i++, from += STEP * s.row) {
      const bool there = bytes && first + r + i * STEP < end;
      bring(to + i * STEP * (D * 2), there ? from : all, there ? bytes : 0);
    }
    return;
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < ROWS * (D / 8); i += THREADS) {
    const int r = i / (D / 8), c = i % (D / 8);
    unsigned v[4] = {0, 0, 0, 0};
#pragma unroll
    for (int e = 0; e < 8; e++)
      if (first + r < end && c * 8 + e < s.columns) v[e / 2] |= (unsigned)p[(first + r) * s.row + c * 8 + e] << 16 * (e % 2);
    keep(chunk_at<D>(tile, r, c), v);
  }
}

// c = a b^T: 16 rows of the tile a from `row` on, N rows of b.
template <typename T, int D, int N> __device__ inline void rows_by_rows(float (&c)[N / 8][4], unsigned a, int row, unsigned b)
{
  const int lane = threadIdx.x % 32;
  const unsigned left_at = chunk_at<D>(a, row + lane % 16, lane / 16);
  const unsigned right_at = chunk_at<D>(b, lane % 8 + lane / 16 * 8, lane / 8 % 2);
#pragma unroll
  for (int j = 0; j < N / 8; j++)
    for (int i = 0; i < 4; i++) c[j][i] = 0;
#pragma unroll
  for (int k = 0; k < D / 8; k += 2) {
    unsigned left[4], right[4];
    load_matrices<false>(left, left_at ^ k << 4);
#pragma unroll
    for (int j = 0; j < N / 8; j += 2) {
      load_matrices<false>(right, (right_at ^ k << 4) + j * 8 * (D * 2));
      multiply<T>(c[j], left, right), multiply<T>(c[j + 1], left, right + 2);
    }
  }
}

// c += w b: 16 rows of w, which the warp has as a product put it out, N rows of b.
template <typename T, int D, int N> __device__ inline void weights_by_rows(float (&c)[D / 8][4], const float (&w)[N / 8][4], unsigned b)
{
  const unsigned right_at = chunk_at<D>(b, threadIdx.x % 16, threadIdx.x % 32 / 16);
#pragma unroll
  for (int k = 0; k < N / 8; k += 2) {
    const unsigned left[4] = {pair_of<T>::pack(w[k][0], w[k][1]), pair_of<T>::pack(w[k][2], w[k][3]),
                              pair_of<T>::pack(w[k + 1][0], w[k + 1][1]), pair_of<T>::pack(w[k + 1][2], w[k + 1][3])};
#pragma unroll
    for (int j = 0; j < D / 8; j += 2) {
      unsigned right[4];
      load_matrices<true>(right, (right_at ^ j << 4) + k * 8 * (D * 2));
      multiply<T>(c[j], left, right), multiply<T>(c[j + 1], left, right + 2);
    }
  }
}

// What a warp has: rows `row` and `row` + 8 of a thread, times `scale` of each. Rows behind `end` are not the matrix's.
template <typename T, int D> __device__ inline void put_rows(const ws_attention_side &s, int64_t start, int row, int end, const float (&c)[D / 8][4], float scale0, float scale1)
{
  T *p = (T *)s.at + start;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int r = row + half * 8;
    const float scale = half ? scale1 : scale0;
    if (r >= end) continue;
#pragma unroll
    for (int j = 0; j < D / 8; j++) {
      const int column = j * 8 + threadIdx.x % 4 * 2;
      const unsigned v = pair_of<T>::pack(c[j][half * 2] * scale, c[j][half * 2 + 1] * scale);
      unsigned short *to = (unsigned short *)p + r * s.row + column;
      if (s.vector && start % 2 == 0 && column + 1 < s.columns) *(unsigned *)to = v;
      else {
        if (column < s.columns) to[0] = (unsigned short)v;
        if (column + 1 < s.columns) to[1] = (unsigned short)(v >> 16);
      }
    }
  }
}

// Rows that are a sequence's: others behind them may be the next one's.
__device__ inline int rows_of(const ws_attention_side &s, int of_sequence, int all) { return s.begins ? of_sequence : all; }

// The tile of a CTA: the last ones of a matrix, which have the longest rows below a diagonal, begin first.
struct my_tile {
  int batch, head, row;
  __device__ my_tile(int rows, int heads)
  {
    const int tiles = (rows + BLOCK - 1) / BLOCK;
    const unsigned matrix = blockIdx.x % (gridDim.x / tiles);
    row = (tiles - 1 - (int)(blockIdx.x / (gridDim.x / tiles))) * BLOCK;
    batch = matrix / heads, head = matrix % heads;
  }
};

__device__ inline float most_of_four(float v)
{
  v = fmaxf(v, __shfl_xor_sync(~0u, v, 1));
  return fmaxf(v, __shfl_xor_sync(~0u, v, 2));
}
__device__ inline float sum_of_four(float v)
{
  v += __shfl_xor_sync(~0u, v, 1);
  return v + __shfl_xor_sync(~0u, v, 2);
}

template <typename T, int D> __device__ void attention_forward(const ws_attention_args &p)
{
  extern __shared__ __align__(256) char shared[];
  constexpr int N = BLOCK, BYTES = BLOCK * D * 2;
  const unsigned qs = shared_at(shared), ks = qs + BYTES, vs = ks + BYTES;
  const my_tile mine(p.rows, p.heads);
  scoring scores(p, mine.batch, shared + 3 * BYTES);
  const region &kept = scores.kept;
  scores.take_head(mine.batch, mine.head);
  const int warp_row = threadIdx.x / 32 * 16, row = mine.row + warp_row + threadIdx.x % 32 / 4;
  const int64_t k_start = start_of(p.k, mine.batch, mine.head, p.heads), v_start = start_of(p.v, mine.batch, mine.head, p.heads);
  const int last = min(mine.row + BLOCK, kept.rows) - 1, end = min(kept.columns, last + kept.most + 1);
  const int first = max(0, mine.row + kept.least) / N * N;
  float out[D / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
  if (mine.row < kept.rows && first < end) {
    bring_tile<D, BLOCK>(qs, p.q, start_of(p.q, mine.batch, mine.head, p.heads), mine.row, kept.rows);
    bring_tile<D, N>(ks, p.k, k_start, first, kept.columns);
    commit();
    for (int column = first; column < end; column += N) {
      wait<0>();
      __syncthreads();
      bring_tile<D, N>(vs, p.v, v_start, column, kept.columns);
      commit();
      float s[N / 8][4];
      rows_by_rows<T, D, N>(s, qs, warp_row, ks);
      wait<0>();
      __syncthreads();
      if (column + N < end) bring_tile<D, N>(ks, p.k, k_start, column + N, kept.columns);
      commit();
      score<false, N>(scores, s, warp_row, mine.row, column, kept.has_all(mine.row, column, BLOCK, N));
      float top[2] = {most[0], most[1]};
#pragma unroll
      for (int j = 0; j < N / 8; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) top[i / 2] = fmaxf(top[i / 2], s[j][i]);
      float part[2] = {0, 0};
#pragma unroll
      for (int half = 0; half < 2; half++) {
        top[half] = most_of_four(top[half]);
        const float shrink = most[half] == -INFINITY ? 0.0f : power_of_2(most[half] - top[half]);
        most[half] = top[half], sum[half] *= shrink;
#pragma unroll
        for (int j = 0; j < D / 8; j++) out[j][half * 2] *= shrink, out[j][half * 2 + 1] *= shrink;
      }
      const float base[2] = {most[0] == -INFINITY ? 0 : most[0], most[1] == -INFINITY ? 0 : most[1]};
#pragma unroll
      for (int j = 0; j < N / 8; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) s[j][i] = power_of_2(s[j][i] - base[i / 2]), part[i / 2] += s[j][i];
      if (p.seed) {
        const unsigned place = threadIdx.x % 4 * 2;
#pragma unroll
        for (int j = 0; j < N / 8; j++)
#pragma unroll
          for (int i = 0; i < 4; i++)
            if (!(scores.stay(row - mine.row + i / 2 * 8, j * 8 + place) >> i % 2 & 1)) s[j][i] = 0;
      }
      sum[0] += part[0], sum[1] += part[1];
      weights_by_rows<T, D, N>(out, s, vs);
    }
  }
  for (int half = 0; half < 2; half++) sum[half] = sum_of_four(sum[half]);
  put_rows<T, D>(p.o, start_of(p.o, mine.batch, mine.head, p.heads), row, rows_of(p.o, kept.rows, p.rows), out,
                 sum[0] == 0 ? 0 : p.weight_scale / sum[0], sum[1] == 0 ? 0 : p.weight_scale / sum[1]);
  if (!p.stats.at || threadIdx.x % 4) return;
  const int64_t stats = start_of(p.stats, mine.batch, mine.head, p.heads);
  for (int half = 0; half < 2; half++)
    if (row + half * 8 < rows_of(p.stats, kept.rows, p.rows))
      ((float *)p.stats.at)[stats + (row + half * 8) * p.stats.row] = sum[half] == 0 ? -INFINITY : most[half] * LN_2 + logf(sum[half]);
}

// Weights and gradients of scores in the place of products of q and k and of d_o and v.
template <bool TURNED, int N> __device__ inline void slopes_of(const scoring &of, float (&s)[N / 8][4], float (&d)[N / 8][4], int warp_line, int line0, int across0, int64_t stats, int64_t sums)
{
  const ws_attention_args &p = of.p;
  const int own = warp_line + threadIdx.x % 32 / 4, place = threadIdx.x % 4 * 2;
  const int height = TURNED ? N : BLOCK, width = TURNED ? BLOCK : N;
  score<TURNED, N>(of, s, warp_line, line0, across0, of.kept.has_all(TURNED ? across0 : line0, TURNED ? line0 : across0, height, width));
  float total[TURNED ? N / 4 : 2], less[TURNED ? N / 4 : 2];
#pragma unroll
  for (int i = 0; i < (TURNED ? N / 4 : 2); i++) {
    const int r = TURNED ? across0 + i / 2 * 8 + place + i % 2 : line0 + own + i * 8;
    const bool there = r < of.kept.rows;
    total[i] = there ? ((const float *)p.stats.at)[stats + r * p.stats.row] * LOG2_E : 0;
    less[i] = there ? ((const float *)p.sums.at)[sums + r * p.sums.row] : 0;
  }
#pragma unroll
  for (int j = 0; j < N / 8; j++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int r = TURNED ? j * 2 + i % 2 : i / 2;
      const bool stay = !p.seed || of.stay(own + i / 2 * 8, j * 8 + place) >> i % 2 & 1;
      const float weight = s[j][i] == -INFINITY ? 0 : power_of_2(s[j][i] - total[r]);
      d[j][i] = ((stay ? d[j][i] : 0) - less[r]) * weight * p.slope_scale;
      s[j][i] = stay ? weight * p.weight_scale : 0;
    }
}

template <typename T, int D> __device__ void attention_d_q(const ws_attention_args &p)
{
  extern __shared__ __align__(256) char shared[];
  constexpr int N = 32, BYTES = BLOCK * D * 2;
  const unsigned qs = shared_at(shared), os = qs + BYTES, ks = os + BYTES, vs = ks + N * D * 2;
  const my_tile mine(p.rows, p.heads);
  scoring scores(p, mine.batch, shared + 2 * BYTES + 2 * N * D * 2);
  const region &kept = scores.kept;
  scores.take_head(mine.batch, mine.head);
  const int warp_row = threadIdx.x / 32 * 16, row = mine.row + warp_row + threadIdx.x % 32 / 4;
  const int64_t k_start = start_of(p.k, mine.batch, mine.head, p.heads), v_start = start_of(p.v, mine.batch, mine.head, p.heads);
  const int64_t stats = start_of(p.stats, mine.batch, mine.head, p.heads), sums = start_of(p.sums, mine.batch, mine.head, p.heads);
  const int last = min(mine.row + BLOCK, kept.rows) - 1, end = min(kept.columns, last + kept.most + 1);
  float out[D / 8][4] = {};
  if (mine.row < kept.rows) {
    bring_tile<D, BLOCK>(qs, p.q, start_of(p.q, mine.batch, mine.head, p.heads), mine.row, kept.rows);
    bring_tile<D, BLOCK>(os, p.d_o, start_of(p.d_o, mine.batch, mine.head, p.heads), mine.row, kept.rows);
    for (int column = max(0, mine.row + kept.least) / N * N; column < end; column += N) {
      __syncthreads();
      bring_tile<D, N>(ks, p.k, k_start, column, kept.columns);
      bring_tile<D, N>(vs, p.v, v_start, column, kept.columns);
      commit();
      wait<0>();
      __syncthreads();
      float s[N / 8][4], d[N / 8][4];
      rows_by_rows<T, D, N>(s, qs, warp_row, ks);
      rows_by_rows<T, D, N>(d, os, warp_row, vs);
      slopes_of<false, N>(scores, s, d, warp_row, mine.row, column, stats, sums);
      weights_by_rows<T, D, N>(out, d, ks);
    }
  }
  put_rows<T, D>(p.d_q, start_of(p.d_q, mine.batch, mine.head, p.heads), row, rows_of(p.d_q, kept.rows, p.rows), out, 1, 1);
}

// Heads of q that share k and v are added here.
template <typename T, int D> __device__ void attention_d_kv(const ws_attention_args &p)
{
  extern __shared__ __align__(256) char shared[];
  constexpr int N = 32, BYTES = BLOCK * D * 2;
  const unsigned ks = shared_at(shared), vs = ks + BYTES, qs = vs + BYTES, os = qs + N * D * 2;
  const my_tile mine(p.columns, p.k.heads);
  scoring scores(p, mine.batch, shared + 2 * BYTES + 2 * N * D * 2);
  const region &kept = scores.kept;
  const int warp_row = threadIdx.x / 32 * 16, column = mine.row + warp_row + threadIdx.x % 32 / 4;
  const int group = p.heads / p.k.heads, head0 = mine.head * group;
  const int last = min(mine.row + BLOCK, kept.columns) - 1, end = min(kept.rows, last - kept.least + 1);
  float d_k[D / 8][4] = {}, d_v[D / 8][4] = {};
  if (mine.row < kept.columns) {
    bring_tile<D, BLOCK>(ks, p.k, start_of(p.k, mine.batch, head0, p.heads), mine.row, kept.columns);
    bring_tile<D, BLOCK>(vs, p.v, start_of(p.v, mine.batch, head0, p.heads), mine.row, kept.columns);
    for (int head = head0; head < head0 + group; head++) {
      const int64_t q_start = start_of(p.q, mine.batch, head, p.heads), o_start = start_of(p.d_o, mine.batch, head, p.heads);
      const int64_t stats = start_of(p.stats, mine.batch, head, p.heads), sums = start_of(p.sums, mine.batch, head, p.heads);
      scores.take_head(mine.batch, head);
      for (int row = max(0, mine.row - kept.most) / N * N; row < end; row += N) {
        __syncthreads();
        bring_tile<D, N>(qs, p.q, q_start, row, kept.rows);
        bring_tile<D, N>(os, p.d_o, o_start, row, kept.rows);
        commit();
        wait<0>();
        __syncthreads();
        float s[N / 8][4], d[N / 8][4];
        rows_by_rows<T, D, N>(s, ks, warp_row, qs);
        rows_by_rows<T, D, N>(d, vs, warp_row, os);
        slopes_of<true, N>(scores, s, d, warp_row, mine.row, row, stats, sums);
        weights_by_rows<T, D, N>(d_v, s, os);
        weights_by_rows<T, D, N>(d_k, d, qs);
      }
    }
  }
  put_rows<T, D>(p.d_k, start_of(p.d_k, mine.batch, head0, p.heads), column, rows_of(p.d_k, kept.columns, p.columns), d_k, 1, 1);
  put_rows<T, D>(p.d_v, start_of(p.d_v, mine.batch, head0, p.heads), column, rows_of(p.d_v, kept.columns, p.columns), d_v, 1, 1);
}

#define KERNEL(name, body)                                                                                             \
  extern "C" __global__ void __launch_bounds__(THREADS) name(const __grid_constant__ ws_attention_args p) { body(p); }
#define KERNELS(letters, T, D)                                                                                         \
  KERNEL(warpstep_attention_##letters##_##D, (attention_forward<T, D>))                                                \
  KERNEL(warpstep_attention_d_q_##letters##_##D, (attention_d_q<T, D>))                                                \
  KERNEL(warpstep_attention_d_kv_##letters##_##D, (attention_d_kv<T, D>))

KERNELS(f16, __half, 64)
KERNELS(f16, __half, 128)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
KERNELS(bf16, __nv_bfloat16, 64)
KERNELS(bf16, __nv_bfloat16, 128)
#endif

// A warp per row: the sum of o d_o.
extern "C" __global__ void __launch_bounds__(256) warpstep_attention_sums(const __grid_constant__ ws_attention_args p)
{
  const int64_t all = (int64_t)p.batches * p.heads * p.rows;
  for (int64_t i = (int64_t)blockIdx.x * 8 + threadIdx.x / 32; i < all; i += (int64_t)gridDim.x * 8) {
    const int row = (int)(i % p.rows), head = (int)(i / p.rows % p.heads), batch = (int)(i / p.rows / p.heads);
    const region kept(p, batch);
    const int64_t o = start_of(p.o, batch, head, p.heads) + row * p.o.row, d = start_of(p.d_o, batch, head, p.heads) + row * p.d_o.row;
    float sum = 0;
    if (row < kept.rows)
      for (int c = threadIdx.x % 32; c < p.o.columns; c += 32)
        sum += read_as<float>(p.o.at, p.o.type, o + c) * read_as<float>(p.d_o.at, p.d_o.type, d + c);
    for (int by = 16; by; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    if (threadIdx.x % 32 == 0 && row < rows_of(p.sums, kept.rows, p.rows))
      ((float *)p.sums.at)[start_of(p.sums, batch, head, p.heads) + row * p.sums.row] = sum * p.sums_scale;
  }
}
