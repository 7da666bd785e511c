/* Functions of libcublas that are not there: each says so and returns the documented status, so that programs load and
 * those that call one of them know. */
#include "libs/cublas/blas_types.h"

#define REFUSE(name) \
  PUBLIC blas_status name(void) { return blas_refuse(#name, "this function"); }
#define PLAIN(which, n) which(n, ) which(n, _64)
#define NAME(n, e) REFUSE(n##e)

PLAIN(NAME, cublasUint8gemmBias)
REFUSE(cublasGetLoggerCallback)

/* Products of groups of matrices whose sizes are on the device (13.2). */
REFUSE(cublasLtGroupedMatrixLayoutCreate)
REFUSE(cublasLtGroupedMatrixLayoutInit_internal)

/* Emulation of FP64 and FP32 by lower precision (13.0), and a name that no reference has: libcusolver is bound to them
 * when it is loaded. */
NAME(cublasGetEnvironmentMode, )
NAME(cublasSetEnvironmentMode, )
NAME(cublasGetEmulationStrategy, )
NAME(cublasSetEmulationStrategy, )
NAME(cublasGetEmulationSpecialValuesSupport, )
NAME(cublasSetEmulationSpecialValuesSupport, )
NAME(cublasGetFixedPointEmulationMantissaControl, )
NAME(cublasSetFixedPointEmulationMantissaControl, )
NAME(cublasGetFixedPointEmulationMaxMantissaBitCount, )
NAME(cublasSetFixedPointEmulationMaxMantissaBitCount, )
NAME(cublasGetFixedPointEmulationMantissaBitOffset, )
NAME(cublasSetFixedPointEmulationMantissaBitOffset, )
NAME(cublasGetFixedPointEmulationMantissaBitCountPointer, )
NAME(cublasSetFixedPointEmulationMantissaBitCountPointer, )
REFUSE(cublasLtEmulationDescCreate)
REFUSE(cublasLtEmulationDescDestroy)
REFUSE(cublasLtEmulationDescGetAttribute)
REFUSE(cublasLtEmulationDescSetAttribute)
REFUSE(cublasLtEmulationDescInit_internal)
