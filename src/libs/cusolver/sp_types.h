/* cuSOLVER's sparse part: handles, matrices as the host sees them, numbers of the four types. */
#ifndef WS_CUSOLVER_SP_TYPES_H
#define WS_CUSOLVER_SP_TYPES_H

#include <complex.h>

#include "libs/cusolver/solver_types.h"

enum { SOLVER_MATRIX_TYPE_NOT_SUPPORTED = 8, SOLVER_ZERO_PIVOT = 10 };

struct blas;
struct description; /* of a matrix, cuSPARSE's (libs/cusparse) */
int cusparseGetMatIndexBase(const struct description *d);
int cusparseGetMatType(const struct description *d);

struct sp_handle {
  uint64_t magic;
  struct kernel_set kernels;
  struct solver *dense; /* for QR of wide fronts, from the first of them on */
  driver_stream stream;
};

bool sp_handle_is(const struct sp_handle *h);

/* The numbers of the host's functions: all four types are reckoned in the widest. */
typedef double complex sp_number;

static inline sp_number sp_complex(double re, double im)
{
  const union {
    double parts[2];
    sp_number number;
  } v = {{re, im}};
  return v.number;
}
/* The product, without the recovery of infinities that C's operator has. */
static inline sp_number sp_times(sp_number a, sp_number b)
{
  return sp_complex(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
static inline double sp_square(sp_number a)
{
  return creal(a) * creal(a) + cimag(a) * cimag(a);
}

/* Bytes of a number of type t, SOLVER_S to SOLVER_Z. */
size_t sp_bytes(int t);
sp_number sp_get(int t, const void *p, int64_t i);
void sp_put(int t, void *p, int64_t i, sp_number v);

/* A matrix as programs hand it over; arrays on the host or on the device. */
struct sp_csr {
  int m, n, count;
  const struct description *d;
  const void *values;
  const int *offsets, *ends; /* ends NULL: the next row's beginning */
  const int *columns;
};

/* Compressed rows from 0 on, on the host, checked. */
struct sp_pattern {
  int m, n;
  int *offsets, *columns;
};

/* Of arrays on the host. Every row is inside the matrix, every column too; otherwise INVALID_VALUE and a line that says
 * where. The pattern's places are the program's, in its order. */
solver_status sp_pattern_read(struct sp_pattern *out, const struct sp_csr *a, const char *function);
/* The same of arrays on the device, when all before in the handle's stream is done. */
solver_status sp_pattern_fetch(struct sp_pattern *out, const struct sp_handle *h, const struct sp_csr *a,
                               const char *function);
void sp_pattern_free(struct sp_pattern *);
/* Where elements (i, i) and the like lie: the transposed pattern; `source`, when wanted, says where each place
 * came from. */
bool sp_pattern_turn(struct sp_pattern *out, const struct sp_pattern *a, int **source);
/* The matrix's values; NULL: no memory. */
sp_number *sp_values_read(int t, const struct sp_csr *a);

/* back[p[i]] = i. False: p is no permutation of 0 to n - 1. */
bool sp_invert(const int *p, int n, int *back);

bool sp_fetch(const struct sp_handle *h, void *to, const void *from, size_t bytes);
/* Device memory with these bytes; 0: there is none. */
uint64_t sp_upload(const struct sp_handle *h, const void *from, size_t bytes);
static inline void *sp_pointer(uint64_t at)
{
  return (void *)(uintptr_t)at; // NOLINT(performance-no-int-to-ptr)
}

/* calloc of n elements and one more, so that an empty array is one, too. */
void *sp_room(int64_t n, size_t each);

#endif
