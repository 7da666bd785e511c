// Textbook kernels of R100001/Programming-Massively-Parallel-Processors, launched one behind the other as its benchmarks do (nvbench's batches) on
// memory that is zero. Arguments: KERNEL SIZE THREADS LAUNCHES; prints microseconds of a launch, the first one left out.
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
};

int main(int argc, char **argv)
{
  if (argc != 5) return fprintf(stderr, "usage: textbook_boards KERNEL SIZE THREADS LAUNCHES\n") > 0;
  const int launches = atoi(argv[4]);
  cudaEvent_t from, to;
  float ms = 0;
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  for (const auto &k : kernels) {
    if (strcmp(k.name, argv[1]) != 0) continue;
    work w = { atoi(argv[2]), atoi(argv[3]) };
    const size_t elements = k.plane ? (size_t)w.size * w.size : w.size;
    w.ctas = (w.size + w.threads - 1) / w.threads;
    w.in = zeros<word>(elements);
    w.in2 = k.plane ? zeros<word>(elements) : nullptr;
    w.out = zeros<word>(k.plane ? elements : BINS);
    k.launch(w);
    CUDA(cudaEventRecord(from));
    for (int i = 0; i < launches; i++) k.launch(w);
    CUDA(cudaEventRecord(to));
    CUDA(cudaEventSynchronize(to));
    CUDA(cudaEventElapsedTime(&ms, from, to));
    printf("%.3f\n", 1e3 * ms / launches);
    return 0;
  }
  return fprintf(stderr, "textbook_boards: no kernel %s\n", argv[1]) > 0;
}
