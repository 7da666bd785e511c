// Textbook kernels of R100001/Programming-Massively-Parallel-Processors, launched one behind the other as its benchmarks do (nvbench's batches) on
// memory that is zero. Arguments: KERNEL SIZE THREADS LAUNCHES; prints microseconds of a launch, the first one left out. LAUNCHES of 0: what twice the
// size takes beyond SIZE, each with an array of its own that no cache has (its benchmarks of reductions and scans have work of the host in them).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define MAX_MASK_WIDTH 121
__constant__ float M[MAX_MASK_WIDTH];

#include "array_add/array_add_kernels.cuh"
#include "convolution/convolution_kernels.cuh"
#include "histogram/histogram_kernels.cuh"
#include "image_to_grayscale/img_to_gray_kernels.cuh"
#include "mat_mat_mul/mat_mat_mul_kernels.cuh"
#include "mat_vec_mul/mat_vec_mul_kernels.cuh"
#include "reduction/reduction_kernels.cuh"

namespace nvbench {
struct launch; // named by the host functions of scan_kernels.cuh alone, which are not called
}
#include "scan/scan_kernels.cuh"

#define CUDA(call)                                                                                                     \
  do {                                                                                                                 \
    const cudaError_t failed = (call);                                                                                 \
    if (failed) exit(fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(failed)) > 0);                              \
  } while (0)

typedef uint32_t word;

// What a launch works on: an axis of SIZE elements, or SIZE elements, and CTAs of THREADS (an axis of them where grids have two).
struct work {
  int size, threads, ctas;
  word *in, *in2, *out;
};

template <class T> static T *zeros(size_t count)
{
  void *memory = nullptr;
  CUDA(cudaMalloc(&memory, count * sizeof(T)));
  CUDA(cudaMemset(memory, 0, count * sizeof(T)));
  return static_cast<T *>(memory);
}

static void add_coalesced(const work &w)
{
  const dim3 grid(w.ctas, w.ctas), block(w.threads, w.threads);
  array_add_coalesced<float><<<grid, block>>>((float *)w.in, (float *)w.in2, (float *)w.out, w.size, w.size);
}

static void add_not_coalesced(const work &w)
{
  const dim3 grid(w.ctas, w.ctas), block(w.threads, w.threads);
  array_add_not_coalesced<float><<<grid, block>>>((float *)w.in, (float *)w.in2, (float *)w.out, w.size, w.size);
}

static void gray(const work &w)
{
  const dim3 grid(w.ctas, w.ctas), block(w.threads, w.threads);
  color_to_grayscale_conversion<<<grid, block>>>((uint8_t *)w.in, (uint8_t *)w.out, w.size, w.size);
}

static void product(const work &w)
{
  const dim3 grid(w.ctas, w.ctas), block(w.threads, w.threads);
  mat_mat_mul<word><<<grid, block>>>(w.in, w.in2, w.out, w.size, w.size, w.size, w.size);
}

static void product_tiles(const work &w)
{
  const dim3 grid(w.ctas, w.ctas), block(w.threads, w.threads);
  const size_t shared = 2 * w.threads * w.threads * sizeof(word);
  mat_mat_mul_tiles<word><<<grid, block, shared>>>(w.in, w.in2, w.out, w.size, w.size, w.size, w.size);
}

static void vector(const work &w)
{
  mat_vec_mul<word><<<w.ctas, w.threads>>>(w.out, w.in, w.in2, w.size, w.size);
}

static void vector_tiles(const work &w)
{
  mat_vec_mul_tiles<word><<<w.ctas, w.threads, w.threads * sizeof(word)>>>(w.out, w.in, w.in2, w.size, w.size);
}

enum { BINS = 512, MASK = 5 };

static void histogram(const work &w)
{
  simple_histogram<<<w.ctas, w.threads>>>(w.in, w.out, w.size, BINS);
}

static void histogram_in_shared(const work &w)
{
  histogram_shared<<<w.ctas, w.threads, BINS * sizeof(word)>>>(w.in, w.out, w.size, BINS);
}

static void convolution(const work &w)
{
  const dim3 grid(w.ctas, w.ctas), block(w.threads, w.threads);
  convolution_2D_basic_kernel<<<grid, block>>>((float *)w.in, (float *)w.in2, (float *)w.out, MASK, MASK, w.size, w.size, 1);
}

enum { WIDTH = 5 }; // of the masks along one axis

static void convolution_1d(const work &w)
{
  convolution_1D_basic_kernel<<<w.ctas, w.threads>>>((float *)w.in, (float *)w.in2, (float *)w.out, WIDTH, w.size);
}

static void convolution_1d_constant(const work &w)
{
  convolution_1D_constant_memory_kernel<<<w.ctas, w.threads>>>((float *)w.in, (float *)w.out, WIDTH, w.size);
}

static void convolution_1d_tiled(const work &w)
{
  const size_t shared = (w.threads + WIDTH - 1) * sizeof(float);
  convolution_1D_tiled_kernel<<<w.ctas, w.threads, shared>>>((float *)w.in, (float *)w.out, WIDTH, w.size);
}

static void convolution_1d_caching(const work &w)
{
  const size_t shared = w.threads * sizeof(float);
  convolution_1D_tiled_caching_kernel<<<w.ctas, w.threads, shared>>>((float *)w.in, (float *)w.out, WIDTH, w.size);
}

static void convolution_constant(const work &w)
{
  const dim3 grid(w.ctas, w.ctas), block(w.threads, w.threads);
  convolution_2D_constant_memory_kernel<<<grid, block>>>((float *)w.in, (float *)w.out, MASK, MASK, w.size, w.size, 1);
}

static void convolution_tiled(const work &w)
{
  const int tile = w.threads - MASK + 1, tiles = (w.size + tile - 1) / tile;
  const dim3 grid(tiles, tiles), block(w.threads, w.threads);
  const size_t shared = w.threads * w.threads * sizeof(float);
  convolution_2D_tiled_kernel<<<grid, block, shared>>>((float *)w.in, (float *)w.out, MASK, MASK, w.size, w.size, 1);
}

typedef void reduction_kernel(word *, uint32_t, word *);

// One sum of each CTA, then sums of these until one is left.
template <reduction_kernel *kernel, int loads> static void reduction(const work &w)
{
  const int span = loads * w.threads;
  word *from = w.in, *to = w.out;
  for (int left = w.size; left > 1;) {
    const int ctas = (left + span - 1) / span;
    kernel<<<ctas, w.threads, w.threads * sizeof(word)>>>(from, left, to);
    from = to;
    to = w.out + (to == w.out ? w.size / 2 : 0);
    left = ctas;
  }
}

static void kogge_stone_launch(const work &w, word *x, word *y, int n, int ctas, word *sums)
{
  Kogge_Stone_inclusive_scan<word><<<ctas, w.threads, 1024 * sizeof(word)>>>(x, y, n, sums);
}

static void brent_kung_launch(const work &w, word *x, word *y, int n, int ctas, word *sums)
{
  Brent_Kung_inclusive_scan<word><<<ctas, w.threads, 2048 * sizeof(word)>>>(x, y, n, sums);
}

static void three_phase_launch(const work &w, word *x, word *y, int n, int ctas, word *sums)
{
  three_phase_parallel_inclusive_scan<word><<<ctas, w.threads, 4096 * sizeof(word)>>>(x, y, n, 4096, sums);
}

typedef void scan_launch_of(const work &, word *x, word *y, int n, int ctas, word *sums);

// As hierarchical_scan_… of the source, without its allocations.
static void scan_from(const work &w, scan_launch_of *launch, int span, word *x, word *y, int n, word *sums)
{
  const int ctas = (n + span - 1) / span;
  launch(w, x, y, n, ctas, sums);
  if (ctas > span) scan_from(w, launch, span, sums, sums, ctas, sums + ctas);
  if (ctas == 1) return;
  if (ctas <= span) launch(w, sums, sums, ctas, 1, nullptr);
  add_intermediate_results<word><<<ctas - 1, w.threads>>>(y + span, n - span, sums, span);
}

template <scan_launch_of *launch, int span> static void scan(const work &w)
{
  scan_from(w, launch, span, w.in, w.out, w.size, w.in2);
}

static const struct {
  const char *name;
  void (*launch)(const work &);
  bool plane; // SIZE is the length of an axis
} kernels[] = {
  { "add_coalesced", add_coalesced, true }, { "add_not_coalesced", add_not_coalesced, true },
  { "gray", gray, true },                   { "product", product, true },
  { "product_tiles", product_tiles, true }, { "vector", vector, true },
  { "vector_tiles", vector_tiles, true },   { "histogram", histogram, false },
  { "histogram_shared", histogram_in_shared, false }, { "convolution", convolution, true },
  { "convolution_1d", convolution_1d, false },
  { "convolution_1d_constant", convolution_1d_constant, false },
  { "convolution_1d_tiled", convolution_1d_tiled, false },
  { "convolution_1d_caching", convolution_1d_caching, false },
  { "convolution_constant", convolution_constant, true },
  { "convolution_tiled", convolution_tiled, true },
  { "reduction1", reduction<reduction1<word>, 1>, false },
  { "reduction2", reduction<reduction2<word>, 1>, false },
  { "reduction3", reduction<reduction3<word>, 1>, false },
  { "reduction4", reduction<reduction4<word>, 2>, false },
  { "reduction5", reduction<reduction5<word>, 2>, false },
  { "reduction6", reduction<reduction6<word>, 2>, false },
  { "reduction7", reduction<reduction7<word>, 2>, false },
  { "kogge_stone", scan<kogge_stone_launch, 512>, false },
  { "brent_kung", scan<brent_kung_launch, 1024>, false },
  { "three_phase", scan<three_phase_launch, 4096>, false },
};

typedef void launch_of(const work &);

// All of a work's arrays, zero; its histograms have few words.
static work work_of(const char *name, bool plane, int size, int threads)
{
  work w = { size, threads };
  const size_t elements = plane ? (size_t)size * size : size;
  const bool bins = strncmp(name, "histogram", 9) == 0;
  w.ctas = (size + threads - 1) / threads;
  w.in = zeros<word>(elements);
  w.in2 = bins ? nullptr : zeros<word>(elements);
  w.out = zeros<word>(bins ? BINS : elements);
  return w;
}

static float microseconds(launch_of *launch, const work &w, int launches)
{
  cudaEvent_t from, to;
  float ms = 0;
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  CUDA(cudaEventRecord(from));
  for (int i = 0; i < launches; i++) launch(w);
  CUDA(cudaEventRecord(to));
  CUDA(cudaEventSynchronize(to));
  CUDA(cudaEventElapsedTime(&ms, from, to));
  return 1e3f * ms / launches;
}

int main(int argc, char **argv)
{
  if (argc != 5) return fprintf(stderr, "usage: textbook_boards KERNEL SIZE THREADS LAUNCHES\n") > 0;
  const int size = atoi(argv[2]), threads = atoi(argv[3]), launches = atoi(argv[4]);
  for (const auto &k : kernels) {
    if (strcmp(k.name, argv[1]) != 0) continue;
    if (launches) {
      const work w = work_of(k.name, k.plane, size, threads);
      k.launch(w);
      printf("%.3f\n", microseconds(k.launch, w, launches));
    } else {
      const work first = work_of(k.name, k.plane, threads * 4, threads), one = work_of(k.name, k.plane, size, threads);
      const work two = work_of(k.name, k.plane, 2 * size, threads);
      k.launch(first);
      const float us = microseconds(k.launch, one, 1);
      printf("%.3f\n", microseconds(k.launch, two, 1) - us);
    }
    return 0;
  }
  return fprintf(stderr, "textbook_boards: no kernel %s\n", argv[1]) > 0;
}
