/* The interface without handles (cublas.h), which cuBLAS still has: each function says so and returns a status that is
 * no success, so that programs load and those that call one know. */
#include "libs/cublas/blas_types.h"

#define LEGACY(name) \
  PUBLIC blas_status name(void) { return blas_refuse(#name, "the interface without handles; include cublas_v2.h"); }
#define REAL(n)    LEGACY(cublasS##n) LEGACY(cublasD##n)
#define COMPLEX(n) LEGACY(cublasC##n) LEGACY(cublasZ##n)
#define EVERY(n)   REAL(n) COMPLEX(n)

EVERY(axpy) EVERY(copy) EVERY(gbmv) EVERY(gemm) EVERY(gemv) EVERY(rot) EVERY(rotg) EVERY(scal) EVERY(swap)
EVERY(symm) EVERY(syr2k) EVERY(syrk) EVERY(tbmv) EVERY(tbsv) EVERY(tpmv) EVERY(tpsv) EVERY(trmm) EVERY(trmv)
EVERY(trsm) EVERY(trsv)
REAL(asum) REAL(dot) REAL(ger) REAL(nrm2) REAL(rotm) REAL(rotmg) REAL(sbmv) REAL(spmv) REAL(spr) REAL(spr2)
REAL(symv) REAL(syr) REAL(syr2)
COMPLEX(dotc) COMPLEX(dotu) COMPLEX(gerc) COMPLEX(geru) COMPLEX(hbmv) COMPLEX(hemm) COMPLEX(hemv) COMPLEX(her)
COMPLEX(her2) COMPLEX(her2k) COMPLEX(herk) COMPLEX(hpmv) COMPLEX(hpr) COMPLEX(hpr2)
LEGACY(cublasAlloc) LEGACY(cublasCsrot) LEGACY(cublasCsscal) LEGACY(cublasDzasum) LEGACY(cublasDznrm2)
LEGACY(cublasFree) LEGACY(cublasGetError) LEGACY(cublasGetVersion) LEGACY(cublasIcamax) LEGACY(cublasIcamin)
LEGACY(cublasIdamax) LEGACY(cublasIdamin) LEGACY(cublasInit) LEGACY(cublasIsamax) LEGACY(cublasIsamin)
LEGACY(cublasIzamax) LEGACY(cublasIzamin) LEGACY(cublasScasum) LEGACY(cublasScnrm2)
LEGACY(cublasSetKernelStream) LEGACY(cublasShutdown) LEGACY(cublasZdrot) LEGACY(cublasZdscal)
