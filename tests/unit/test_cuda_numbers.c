/* Sizes, pitches and positions of the host interface whose sums and products do not fit 64 bits: each is refused, or done at
 * once where there is nothing to do (docs/guest-numbers.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda/core/errors.h"
#include "cuda_rig.h"

CUresult cudaMalloc(void **, size_t);
CUresult cudaMallocPitch(void **, size_t *, size_t, size_t);
CUresult cudaMalloc3D(cudaPitchedPtr *, cudaExtent);
CUresult cudaMalloc3DArray(CUarray *, const cudaChannelFormatDesc *, cudaExtent, unsigned);
CUresult cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
CUresult cudaMemcpy3D(const cudaMemcpy3DParms *);
CUresult cudaMemset2D(void *, size_t, int, size_t, size_t);
CUresult cudaMemset3D(cudaPitchedPtr, int, cudaExtent);
CUresult cuMemsetD2D32_v2(CUdeviceptr, size_t, unsigned, size_t, size_t);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *);

enum { BYTES = 1 << 16 };

static void allocations(void **state)
{
  void *p;
  size_t pitch;
  cudaPitchedPtr q;
  CUarray a;
  const cudaChannelFormatDesc d = {.x = 32, .kind = 0};
  (void)state;
  assert_int_not_equal(cudaMalloc(&p, SIZE_MAX), CUDA_SUCCESS);
  assert_int_not_equal(cudaMalloc(&p, (size_t)1 << 48), CUDA_SUCCESS);
  assert_int_not_equal(cudaMallocPitch(&p, &pitch, SIZE_MAX, 2), CUDA_SUCCESS);
  assert_int_not_equal(cudaMallocPitch(&p, &pitch, (size_t)1 << 33, (size_t)1 << 31), CUDA_SUCCESS); /* 2^64 */
  assert_int_not_equal(cudaMalloc3D(&q, (cudaExtent){1, (size_t)1 << 32, (size_t)1 << 32}), CUDA_SUCCESS);
  assert_int_not_equal(cudaMalloc3D(&q, (cudaExtent){512, (size_t)1 << 32, (size_t)1 << 23}), CUDA_SUCCESS);
  assert_int_not_equal(cudaMalloc3DArray(&a, &d, (cudaExtent){((size_t)1 << 32) + 4, 4, 0}, 0), CUDA_SUCCESS);
  assert_int_not_equal(cudaMalloc3DArray(&a, &d, (cudaExtent){16384, 16384, 16384}, 0), CUDA_SUCCESS);
}

static void fills(void **state)
{
  void *p;
  (void)state;
  OK(cudaMalloc(&p, BYTES));
  cudaPitchedPtr q = {.ptr = p, .pitch = 512, .xsize = 512, .ysize = 4};
  OK(cudaMemset2D(p, 512, 1, 0, SIZE_MAX));
  OK(cudaMemset3D(q, 1, (cudaExtent){0, 4, SIZE_MAX}));
  OK(cudaMemset3D(q, 1, (cudaExtent){512, 0, SIZE_MAX}));
  assert_int_not_equal(cudaMemset2D(p, SIZE_MAX, 1, 1, 3), CUDA_SUCCESS);
  assert_int_not_equal(cudaMemset2D(p, (size_t)1 << 63, 1, 1, 3), CUDA_SUCCESS); /* the third row is the first */
  assert_int_not_equal(cudaMemset3D(q, 1, (cudaExtent){512, 4, SIZE_MAX}), CUDA_SUCCESS);
  assert_int_not_equal(cuMemsetD2D32_v2((CUdeviceptr)(uintptr_t)p, 512, 1, ((size_t)1 << 62) + 1, 1), CUDA_SUCCESS);
}

static void copies(void **state)
{
  void *p;
  static uint8_t host[BYTES];
  (void)state;
  OK(cudaMalloc(&p, BYTES));
  enum { TO_DEVICE = 1 };
  OK(cudaMemcpy2D(p, 512, host, 512, 0, SIZE_MAX, TO_DEVICE));
  assert_int_not_equal(cudaMemcpy2D(p, (size_t)1 << 63, host, 512, 1, 3, TO_DEVICE), CUDA_SUCCESS);
  assert_int_not_equal(cudaMemcpy2D(p, 512, host, 512, 512, ((size_t)1 << 55) + 1, TO_DEVICE), CUDA_SUCCESS);
  cudaMemcpy3DParms m = {.src = {host, 512, 512, 4}, .dst = {p, 512, 512, 4}, .extent = {512, 4, 1}, .kind = TO_DEVICE};
  OK(cudaMemcpy3D(&m));
  m.extent.depth = SIZE_MAX;
  assert_int_not_equal(cudaMemcpy3D(&m), CUDA_SUCCESS);
  m.extent.depth = 1, m.dst_pos.z = SIZE_MAX / 2048;
  assert_int_not_equal(cudaMemcpy3D(&m), CUDA_SUCCESS);
}

/* Widths and positions in texels, as bytes. */
static void arrays(void **state)
{
  static uint8_t host[BYTES];
  const cudaChannelFormatDesc d = {.x = 32, .kind = 0};
  CUarray a;
  (void)state;
  OK(cudaMalloc3DArray(&a, &d, (cudaExtent){8, 8, 0}, 0));
  cudaMemcpy3DParms m = {.src = {host, 32, 32, 8}, .dst_array = a, .extent = {8, 8, 1}, .kind = 1};
  OK(cudaMemcpy3D(&m));
  m.extent.width = ((size_t)1 << 62) + 1; /* 4 bytes, in 64 bits */
  assert_int_not_equal(cudaMemcpy3D(&m), CUDA_SUCCESS);
  m.extent.width = 1, m.dst_pos.x = (size_t)1 << 62; /* 0 */
  assert_int_not_equal(cudaMemcpy3D(&m), CUDA_SUCCESS);
  m.dst_pos.x = 0, m.dst_pos.y = SIZE_MAX;
  assert_int_not_equal(cudaMemcpy3D(&m), CUDA_SUCCESS);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(allocations), cmocka_unit_test(fills), cmocka_unit_test(copies), cmocka_unit_test(arrays),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
