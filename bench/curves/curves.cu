// Memory curves: latency against size, L1 load cycles against stride, L1, L2 and DRAM bandwidth.
// They ask what the suites named in data/curves/README.md ask, in code of our own; tools/curves/curves.py
// runs them and compares.

// One thread follows pointers: `warm` loads untimed, then `timed` (both multiples of 32).
extern "C" __global__ void chase(unsigned long long *start, unsigned warm, unsigned timed,
                                 unsigned long long *out)
{
  unsigned long long *p = start;
#pragma unroll 1
  for (unsigned i = 0; i < warm; i += 32)
#pragma unroll
    for (unsigned k = 0; k < 32; k++) p = (unsigned long long *)*p;
  long long from = clock64();
#pragma unroll 1
  for (unsigned i = 0; i < timed; i += 32)
#pragma unroll
    for (unsigned k = 0; k < 32; k++) p = (unsigned long long *)*p;
  out[0] = clock64() - from;
  out[1] = (unsigned long long)p;
}

// Every lane loads at (thread mod 64) * stride, from eight offsets 16 bytes apart.
extern "C" __global__ void __launch_bounds__(1024) strides(const float *a, float *out, int zero,
                                                           int stride, int rounds)
{
  const float *p = a + (threadIdx.x % 64) * stride;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    p += zero;
    sum += p[0] * p[4] + p[8] * p[12];
    sum += p[16] * p[20] + p[24] * p[28];
  }
  if (sum == 123.5f) out[threadIdx.x] = sum;
}

enum { THREADS = 1024 };

// A CTA of 1,024 threads reads a buffer of n elements (a multiple of 8,192) again and again; all CTAs the
// same one.
template <typename T> __device__ T add(T a, T b) { return a + b; }
template <> __device__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
template <> __device__ float4 add(float4 a, float4 b)
{
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

template <typename T>
__device__ void read_again(const T *a, T *out, int zero, unsigned n, unsigned rounds)
{
  T sum = a[0];
#pragma unroll 1
  for (unsigned r = 0; r < rounds; r++) {
    a += zero;
#pragma unroll 1
    for (const T *p = a + threadIdx.x; p < a + n; p += 8 * THREADS) {
      T v[8];
#pragma unroll
      for (unsigned k = 0; k < 8; k++) v[k] = p[k * THREADS];
#pragma unroll
      for (unsigned k = 0; k < 8; k++) sum = add(sum, v[k]);
    }
  }
  if (zero) out[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(1024) read32(const float *a, float *out, int zero,
                                                          unsigned n, unsigned rounds)
{
  read_again(a, out, zero, n, rounds);
}

extern "C" __global__ void __launch_bounds__(1024) read64(const float2 *a, float2 *out, int zero,
                                                          unsigned n, unsigned rounds)
{
  read_again(a, out, zero, n, rounds);
}

extern "C" __global__ void __launch_bounds__(1024) read128(const float4 *a, float4 *out, int zero,
                                                           unsigned n, unsigned rounds)
{
  read_again(a, out, zero, n, rounds);
}

// Shared memory, stores back to back.
template <typename T> __device__ void store_again(T v, T *out, int zero, unsigned rounds)
{
  __shared__ T s[1024];
#pragma unroll 1
  for (unsigned r = 0; r < rounds; r++) {
#pragma unroll
    for (unsigned k = 0; k < 8; k++) ((volatile T *)s)[(threadIdx.x + zero * k) & 1023] = v;
  }
  if (zero) out[threadIdx.x] = s[threadIdx.x ^ 1];
}

extern "C" __global__ void __launch_bounds__(1024) sts32(float *out, int zero, unsigned rounds)
{
  store_again((float)threadIdx.x, out, zero, rounds);
}

extern "C" __global__ void __launch_bounds__(1024) sts64(double *out, int zero, unsigned rounds)
{
  store_again((double)threadIdx.x, out, zero, rounds);
}

// One element per thread; dynamic shared memory bounds the CTAs of an SM.
extern "C" __global__ void stream_read(double *a, const double *b, unsigned n)
{
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  double v = b[i];
  if (v == 123.0) a[i] = v;
}

extern "C" __global__ void stream_init(double *a, const double *b, unsigned n)
{
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) a[i] = 0.23;
}

extern "C" __global__ void stream_scale(double *a, const double *b, unsigned n)
{
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) a[i] = b[i] * 1.2;
}

// A CTA reads its share of `shares` shares of `share` doubles; the CTAs take them in turn.
extern "C" __global__ void __launch_bounds__(1024) read_shares(const double *b, double *out,
                                                               unsigned shares, unsigned share)
{
  unsigned step = 2 * blockDim.x * shares;
  const double *p = b + 2 * (blockIdx.x % shares) * blockDim.x + threadIdx.x;
  double sum = 0;
  for (unsigned i = 0; i < share; i += 2 * blockDim.x, p += step) sum += p[0] * p[blockDim.x];
  if (sum == 123.5) out[threadIdx.x] = sum;
}

// Streams over arrays that stay in L2, again and again; as in the source their length is known to the compiler.
enum { L2_STREAM_DOUBLES = 98304 };

extern "C" __global__ void l2_write(double *a, const double *, const double *, const double *, unsigned n)
{
  unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % L2_STREAM_DOUBLES;
  if (i >= n) return;
  a[i] = 0.5;
}

extern "C" __global__ void l2_scale(double *a, const double *b, const double *, const double *, unsigned n)
{
  unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % L2_STREAM_DOUBLES;
  if (i >= n) return;
  a[i] = 1.5 * b[i];
}

extern "C" __global__ void l2_triad(double *a, const double *b, const double *c, const double *d, unsigned n)
{
  unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % L2_STREAM_DOUBLES;
  if (i >= n) return;
  a[i] = b[i] * c[i] + d[i];
}
