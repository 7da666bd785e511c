/* How a dimension of n elements is transformed: by passes of up to 2048 elements each, whose sizes multiply to n, or
 * where n has a large prime factor as a convolution (Bluestein 1970) of `padded` elements, which is transformed so.
 */
#ifndef WS_FFT_LENGTH_H
#define WS_FFT_LENGTH_H

#include "libs/host/kernel_set.h"
#include "libs/kernels/fft_args.h"

enum { FFT_PARTS = 3, FFT_MOST_PRIME = 61 /* of a pass; its time goes with the prime */ };

struct fft_part {
  int32_t n;
  uint64_t roots;        /* on the device: n of them */
  uint64_t coarse, fine; /* of order n * what follows; 0 in the last part */
};

struct fft_length {
  int64_t n, padded; /* 0: no convolution */
  int parts;         /* of n, or of `padded` */
  struct fft_part part[FFT_PARTS];
  uint64_t chirp;          /* exp(-pi i d^2 / n), n of them */
  uint64_t filter, unchirp; /* what the spectrum is multiplied by, padded; chirp / padded */
};

/* Plans n elements for numbers of the given type (WS_F32 or WS_F64), without tables. False: there is no way. */
bool fft_length_plan(struct fft_length *l, int64_t n, int type);
/* Puts its tables on the device. False: no memory. */
bool fft_length_tables(struct fft_length *l, int type);
void fft_length_free(struct fft_length *l);
/* The elements of the work array along this dimension; `arrays`: how many such arrays its passes need. */
int64_t fft_length_work(const struct fft_length *l, int *arrays);
/* Fills in the stages of a pass of n elements. */
void fft_length_stages(struct ws_fft_args *a, int32_t n);

#endif
