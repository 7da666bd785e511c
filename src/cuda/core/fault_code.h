/* Faults of kernels as errors of the CUDA interface. */
#ifndef WS_CUDA_FAULT_CODE_H
#define WS_CUDA_FAULT_CODE_H

#include "cuda/core/api.h"

/* kind: enum fault_kind. */
CUresult fault_code(unsigned kind);

#endif
