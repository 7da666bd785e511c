/* Matrices of which a triangle is stored, as level 2's argument lists have them. */
#ifndef WS_BLAS_STORED_H
#define WS_BLAS_STORED_H

#include "libs/cublas/blas_elements.h"
#include "libs/kernels/stored_args.h"

struct blas_triangle {
  int fill;
  int64_t n;
  int storage;  /* WS_FULL, WS_BAND, or WS_PACKED_LOWER for both packed ones */
  int64_t ld;   /* not of packed ones */
  int64_t k;    /* diagonals beside the main one: of bands alone */
};

/* Whether such a triangle can be. */
bool blas_triangle_fits(const struct blas_triangle *t);
/* Whether it is beyond what the kernels reckon with, 2^31 lines. */
bool blas_triangle_huge(const struct blas_triangle *t);
struct ws_stored blas_triangle_at(const struct blas_triangle *t, const void *a);
/* The kernel of type t (S to Z), given that of S; a launch's result as a status. */
blas_status blas_stored_launch(struct blas *h, enum lib_kernel of_s, int t, struct launch_shape shape,
                               const void *args);

#endif
