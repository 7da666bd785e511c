/* Rotations: rot of complex vectors, rotg, rotm, rotmg. */
#include "libs/cublas/blas_elements.h"
#include "libs/kernels/rotation_args.h"

struct vectors {
  int64_t n, incx, incy;
  void *x, *y;
  unsigned bytes; /* of an element */
};

static blas_status launch(struct blas *h, enum lib_kernel k, const struct vectors *v, struct ws_rotation_args *a)
{
  a->n = v->n, a->incx = v->incx, a->incy = v->incy;
  a->x = first(v->x, v->n, v->incx, v->bytes);
  a->y = first(v->y, v->n, v->incy, v->bytes);
  return kernel_set_launch(&h->kernels, k, blas_lines(v->n), h->stream, a) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

static blas_status rotate(struct blas *h, enum lib_kernel k, const struct vectors *v, const void *c, int c_type,
                          const void *s, int s_type)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (v->n <= 0) return BLAS_SUCCESS;
  if (!c || !s) return BLAS_INVALID_VALUE;
  const bool device = h->pointer_mode == BLAS_DEVICE;
  struct ws_rotation_args a = {.c = blas_scalar(c, c_type, device), .s = blas_scalar(s, s_type, device)};
  return launch(h, k, v, &a);
}

static double number(const void *p, int i, bool wide)
{
  return wide ? ((const double *)p)[i] : (double)((const float *)p)[i];
}

static blas_status rotate_modified(struct blas *h, enum lib_kernel k, const struct vectors *v, const void *param)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (v->n <= 0) return BLAS_SUCCESS;
  if (!param) return BLAS_INVALID_VALUE;
  struct ws_rotation_args a = {.param = param};
  if (h->pointer_mode == BLAS_HOST) {
    const bool wide = v->bytes == 8;
    a.param = NULL;
    a.flag = number(param, 0, wide);
    a.h11 = number(param, 1, wide), a.h21 = number(param, 2, wide);
    a.h12 = number(param, 3, wide), a.h22 = number(param, 4, wide);
  }
  return launch(h, k, v, &a);
}

struct made {
  void *at;
  size_t bytes;
};

/* The numbers are the host's or the device's; the same kernel makes them there. */
static blas_status make(struct blas *h, enum lib_kernel k, const struct made *m, int n)
{
  enum { APART = 64 };
  struct ws_make_rotation_args a = {0};
  size_t room_bytes;
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  for (int i = 0; i < n; i++)
    if (!m[i].at) return BLAS_INVALID_VALUE;
  const bool device = h->pointer_mode == BLAS_DEVICE;
  const uint64_t room = device ? 0 : blas_room(h, h->stream, (size_t)n * APART, &room_bytes);
  if (!device && !room) return BLAS_ALLOC_FAILED;
  for (int i = 0; i < n; i++) {
    a.at[i] = device ? m[i].at : (void *)(uintptr_t)(room + (uint64_t)i * APART);
    if (!device && cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)a.at[i], m[i].at, m[i].bytes, h->stream) != DRIVER_OK)
      return BLAS_EXECUTION_FAILED;
  }
  const struct launch_shape one = {1, 1, 1, 1};
  if (!kernel_set_launch(&h->kernels, k, one, h->stream, &a)) return BLAS_EXECUTION_FAILED;
  if (device) return BLAS_SUCCESS;
  for (int i = 0; i < n; i++)
    if (cuMemcpyDtoHAsync_v2(m[i].at, (uint64_t)(uintptr_t)a.at[i], m[i].bytes, h->stream) != DRIVER_OK)
      return BLAS_EXECUTION_FAILED;
  return cuStreamSynchronize(h->stream) == DRIVER_OK ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

#define F PUBLIC blas_status
#define ROT(name, kernel, bytes, real, sine)                                                                          \
  F name(struct blas *h, INT n, void *x, INT incx, void *y, INT incy, const void *c, const void *s)                   \
  {                                                                                                                   \
    const struct vectors v = {n, incx, incy, x, y, bytes};                                                            \
    return rotate(h, kernel, &v, c, real, s, sine);                                                                   \
  }
#define ROTM(name, kernel, bytes)                                                                                     \
  F name(struct blas *h, INT n, void *x, INT incx, void *y, INT incy, const void *param)                              \
  {                                                                                                                   \
    const struct vectors v = {n, incx, incy, x, y, bytes};                                                            \
    return rotate_modified(h, kernel, &v, param);                                                                     \
  }
#define WIDTHS(w)                                                                \
  ROT(cublasCrot_v2##w, KERNEL_crot, 8, DATA_R_32F, DATA_C_32F)                  \
  ROT(cublasCsrot_v2##w, KERNEL_csrot, 8, DATA_R_32F, DATA_R_32F)                \
  ROT(cublasZrot_v2##w, KERNEL_zrot, 16, DATA_R_64F, DATA_C_64F)                 \
  ROT(cublasZdrot_v2##w, KERNEL_zdrot, 16, DATA_R_64F, DATA_R_64F)               \
  ROTM(cublasSrotm_v2##w, KERNEL_srotm, 4)                                       \
  ROTM(cublasDrotm_v2##w, KERNEL_drotm, 8)
#define INT int
WIDTHS()
#undef INT
#define INT int64_t
WIDTHS(_64)
#undef INT

#define ROTG(name, kernel, bytes, real)                                                                               \
  F name(struct blas *h, void *a, void *b, void *c, void *s)                                                          \
  {                                                                                                                   \
    const struct made m[] = {{a, bytes}, {b, bytes}, {c, real}, {s, bytes}};                                          \
    return make(h, kernel, m, 4);                                                                                     \
  }
#define ROTMG(name, kernel, bytes)                                                                                    \
  F name(struct blas *h, void *d1, void *d2, void *x1, const void *y1, void *param)                                   \
  {                                                                                                                   \
    void *y = (void *)(uintptr_t)y1;                                                                                  \
    const struct made m[] = {{d1, bytes}, {d2, bytes}, {x1, bytes}, {y, bytes}, {param, 5 * bytes}};                  \
    return make(h, kernel, m, 5);                                                                                     \
  }
ROTG(cublasSrotg_v2, KERNEL_srotg, 4, 4)
ROTG(cublasDrotg_v2, KERNEL_drotg, 8, 8)
ROTG(cublasCrotg_v2, KERNEL_crotg, 8, 4)
ROTG(cublasZrotg_v2, KERNEL_zrotg, 16, 8)
ROTMG(cublasSrotmg_v2, KERNEL_srotmg, 4)
ROTMG(cublasDrotmg_v2, KERNEL_drotmg, 8)
