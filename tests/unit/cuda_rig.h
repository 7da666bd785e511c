/* The CUDA shims without nvcc: src/cuda linked into the test (mk/tests.mk), entry points called as a program does. Include
 * after cmocka.h. Expected values are those of the CUDA Driver API and CUDA Runtime API references (13.0). */
#ifndef TESTS_UNIT_CUDA_RIG_H
#define TESTS_UNIT_CUDA_RIG_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/api.h"

/* Published signatures; src/cuda defines them. */
CUresult cuInit(unsigned);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxGetCurrent(CUcontext *);
CUresult cuCtxSynchronize(void);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
CUresult cuMemsetD32_v2(CUdeviceptr, unsigned, size_t);
CUresult cuModuleLoad(CUmodule *, const char *);
CUresult cuModuleUnload(CUmodule);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamQuery(CUstream);
CUresult cuEventCreate(CUevent *, unsigned);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventQuery(CUevent);
CUresult cuEventSynchronize(CUevent);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,
                        void **);

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

/* Options of `warpstep exec` for the simulated GPU; before the first call. */
static inline void cuda_options(const char *options)
{
  setenv("WARPSTEP_EXEC", options, 1);
}

/* A GeForce RTX 3070, launches without time unless the test says otherwise; a context. */
static inline int cuda_setup(void **state)
{
  CUcontext context;
  (void)state;
  if (!getenv("WARPSTEP_EXEC")) cuda_options("gpu=rtx-3070\nquiet=1\nmode=functional");
  return cuInit(0) != CUDA_SUCCESS || cuCtxCreate_v2(&context, 0, 0) != CUDA_SUCCESS;
}

/* z = x + y of kernels/vecadd. */
static inline CUfunction cuda_vecadd(CUmodule *module)
{
  CUfunction f;
  OK(cuModuleLoad(module, WS_SOURCE_DIR "/kernels/vecadd/vecadd.sm_86.cubin"));
  OK(cuModuleGetFunction(&f, *module, "vecadd"));
  return f;
}

static inline CUdeviceptr cuda_floats(unsigned n, float first, float step)
{
  CUdeviceptr p;
  float *host = malloc(n * sizeof *host);
  for (unsigned i = 0; i < n; i++) host[i] = first + step * (float)i;
  OK(cuMemAlloc_v2(&p, n * sizeof *host));
  OK(cuMemcpyHtoD_v2(p, host, n * sizeof *host));
  free(host);
  return p;
}

#endif
