// Products of packed FP4 with k of 96 (sm_103a): rows of 384 bytes in three swizzled parts of 128, of which a product
// takes 48 bytes, so that two of eight go on in the next part; their scales go on in the next columns of tensor memory.
#include <vector>

#include "../../kernels/common/tcgen05.cuh"
#include "check.h"

enum { ROWS = 128, COLUMNS = 64, PRODUCTS = 8, STEP = 48, PART = 128, PARTS = 3, ROW = PART * PARTS, DEPTH = 2 * ROW };
enum { A_PART = ROWS * PART, B_PART = COLUMNS * PART, SHARED = PARTS * (A_PART + B_PART) + 1024 };
enum { SCALES_A = 64, SCALES_B = 128, ALLOCATED = 256, SCALE_COLUMNS = 48 };

__device__ u64 descriptor(unsigned at, unsigned next) // k contiguous, swizzle of 128 bytes, goes on at `next`
{
  return (u64)(at >> 4 & 0x3fff) | (u64)(next >> 4 & 0x3fff) << 16 | (u64)(1024 >> 4) << 32 | 1ull << 46 | 1ull << 52 |
         2ull << 61;
}

// Product i of rows that lie in parts of `size` bytes.
__device__ u64 of_product(unsigned start, unsigned size, int i)
{
  const unsigned part = i * STEP / PART, inside = i * STEP % PART;
  const bool goes_on = inside + STEP > PART;
  return descriptor(start + part * size + inside, start + (part + goes_on) * size);
}

template <int VECTOR> __device__ void multiply(unsigned d, u64 a, u64 b, unsigned sa, unsigned sb, unsigned id_a, unsigned id_b, bool add)
{
  const unsigned powers = VECTOR == 32;
  const unsigned idesc = id_b << 4 | 1 << 7 | 1 << 10 | COLUMNS / 8 << 17 | powers << 23 | ROWS / 16 << 24 | id_a << 29 | 1u << 31;
  if (VECTOR == 32)
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 [%0], %1, %2, %3, [%5], [%6], p;}" ::"r"(d),
                 "l"(a), "l"(b), "r"(idesc), "r"((unsigned)add), "r"(sa), "r"(sb)
                 : "memory");
  else
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%0], %1, %2, %3, [%5], [%6], p;}" ::"r"(d),
                 "l"(a), "l"(b), "r"(idesc), "r"((unsigned)add), "r"(sa), "r"(sb)
                 : "memory");
}

// Rows of a matrix to the swizzled parts.
__device__ void place(unsigned char *to, const unsigned char *rows, int n)
{
  for (int i = threadIdx.x; i < n * ROW; i += blockDim.x) {
    const int row = i / ROW, part = i % ROW / PART, k = i % PART;
    to[part * n * PART + row / 8 * 1024 + row % 8 * 128 + (k / 16 ^ row % 8) * 16 + k % 16] = rows[i];
  }
}

// Scale s of row i: byte s % 4 of lane i % 32 of each quarter, column i / 32 + s / 4 * 4.
__device__ void place_scales(unsigned at, const unsigned char *scales, int rows, int n)
{
  for (int first = 0; first < 64; first += 32) {
    unsigned r[32];
    for (int c = 0; c < 32; c++) {
      const int column = first + c, row = column % 4 * 32 + threadIdx.x % 32, s = column / 4 * 4;
      r[c] = 0;
      for (int j = 0; j < 4; j++)
        if (row < rows && s + j < n) r[c] |= (unsigned)scales[row * n + s + j] << 8 * j;
    }
    tmem_store32(own_lanes(at) + first, r);
  }
}

template <int VECTOR>
__global__ void long_k(const unsigned char *a, const unsigned char *b, const unsigned char *sa, const unsigned char *sb, float *d)
{
  enum { SCALES = DEPTH / VECTOR, EACH = SCALES / PRODUCTS };
  extern __shared__ unsigned char raw[];
  __shared__ unsigned where;
  __shared__ u64 done;
  unsigned char *const shared = raw + (1024 - shared_address(raw) % 1024) % 1024;
  const unsigned start = shared_address(shared);
  if (threadIdx.x == 0) barrier_init(&done, 1);
  if (threadIdx.x < 32) tmem_allocate(&where, ALLOCATED);
  place(shared, a, ROWS);
  place(shared + PARTS * A_PART, b, COLUMNS);
  shared_written();
  tmem_barrier();
  place_scales(where + SCALES_A, sa, ROWS, SCALES);
  place_scales(where + SCALES_B, sb, COLUMNS, SCALES);
  tmem_barrier();
  if (threadIdx.x < 32 && elect_one()) {
    for (int i = 0; i < PRODUCTS; i++) {
      const unsigned s = i * EACH, column = s / 4 * 4;
      multiply<VECTOR>(where, of_product(start, A_PART, i), of_product(start + PARTS * A_PART, B_PART, i),
                       where + SCALES_A + column, where + SCALES_B + column, s % 4, s % 4, i > 0);
    }
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(&done)) : "memory");
  }
  barrier_wait(&done, 0);
  fence_after();
  for (int c = 0; c < COLUMNS; c += 32) {
    unsigned r[32];
    tmem_load32(own_lanes(where) + c, r);
    for (int i = 0; i < 32; i++) d[threadIdx.x * COLUMNS + c + i] = __uint_as_float(r[i]);
  }
  tmem_barrier();
  if (threadIdx.x < 32) tmem_free(where, ALLOCATED);
}

static unsigned seed = 1;

static unsigned random_bits(unsigned n)
{
  seed = seed * 1664525 + 1013904223;
  return seed >> (32 - n);
}

static unsigned char *on_device(const std::vector<unsigned char> &v)
{
  unsigned char *p;
  CUDA(cudaMalloc(&p, v.size()));
  CUDA(cudaMemcpy(p, v.data(), v.size(), cudaMemcpyHostToDevice));
  return p;
}

static double element(const std::vector<unsigned char> &rows, int i, int k)
{
  static const double value[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const unsigned code = rows[i * ROW + k / 2] >> k % 2 * 4;
  return code & 8 ? -value[code & 7] : value[code & 7];
}

// Elements and scales of few bits: sums are exact.
template <int VECTOR> static void run()
{
  enum { SCALES = DEPTH / VECTOR };
  static const unsigned char powers[4] = {126, 127, 128, 127}, e4m3[4] = {0x30, 0x38, 0x3c, 0x40};
  static const double power_value[4] = {0.5, 1, 2, 1}, e4m3_value[4] = {0.5, 1, 1.5, 2};
  std::vector<unsigned char> a(ROWS * ROW), b(COLUMNS * ROW), sa(ROWS * SCALES), sb(COLUMNS * SCALES);
  std::vector<int> ia(sa.size()), ib(sb.size());
  for (auto &v : a) v = (unsigned char)random_bits(8);
  for (auto &v : b) v = (unsigned char)random_bits(8);
  for (size_t i = 0; i < sa.size(); i++) ia[i] = random_bits(2), sa[i] = VECTOR == 32 ? powers[ia[i]] : e4m3[ia[i]];
  for (size_t i = 0; i < sb.size(); i++) ib[i] = random_bits(2), sb[i] = VECTOR == 32 ? powers[ib[i]] : e4m3[ib[i]];
  const double *value = VECTOR == 32 ? power_value : e4m3_value;
  std::vector<float> got(ROWS * COLUMNS);
  float *d;
  CUDA(cudaMalloc(&d, got.size() * 4));
  CUDA(cudaFuncSetAttribute(long_k<VECTOR>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  long_k<VECTOR><<<1, 128, SHARED>>>(on_device(a), on_device(b), on_device(sa), on_device(sb), d);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemcpy(got.data(), d, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < ROWS; i++)
    for (int n = 0; n < COLUMNS; n++) {
      double sum = 0;
      for (int k = 0; k < DEPTH; k++)
        sum += element(a, i, k) * element(b, n, k) * value[ia[i * SCALES + k / VECTOR]] * value[ib[n * SCALES + k / VECTOR]];
      CHECK(got[i * COLUMNS + n] == (float)sum);
    }
}

int main()
{
  run<32>();
  run<16>();
  printf("k of 96 with scales for 32 and 16\n");
  return 0;
}
